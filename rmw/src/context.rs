//! Options, contexts, nodes and guard conditions.

use crate::bindings::*;
use crate::bus::{self, Bus};
use crate::ffi::{
    Failure, allocate, code, copy, free, given, identifier, name, own, pointer, take_back, text,
    to_data,
};
use crate::process;
use ringspin_process_protocol::{Entity, Gid, Kind, Qos};
use std::ffi::{CString, c_char};
use std::ptr::null_mut;

/// `RMW_DEFAULT_DOMAIN_ID`: none was chosen.
const NO_DOMAIN: usize = usize::MAX;

/// The data of a node.
struct NodeData {
    gid: Gid,
    guard: *mut rmw_guard_condition_t,
    name: CString,
    namespace: CString,
}

/// The data of a guard condition: its number in the bus.
pub(crate) struct Guard(pub(crate) u32);

#[unsafe(no_mangle)]
extern "C" fn rmw_get_implementation_identifier() -> *const c_char {
    identifier()
}

#[unsafe(no_mangle)]
extern "C" fn rmw_get_serialization_format() -> *const c_char {
    c"cdr".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn rmw_feature_supported(feature: rmw_feature_t) -> bool {
    feature == RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER
        || feature == RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER
}

#[unsafe(no_mangle)]
extern "C" fn rmw_set_log_severity(_: rmw_log_severity_t) -> rmw_ret_t {
    code(Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_init_options_init(
    options: Option<&mut rmw_init_options_t>,
    allocator: rcutils_allocator_t,
) -> rmw_ret_t {
    code(given(options, "the options").and_then(|options| {
        if !options.implementation_identifier.is_null() {
            return Err(Failure(RMW_RET_INVALID_ARGUMENT, "the options are in use".into()));
        }
        // SAFETY: plain data, of which all zeros is a value.
        *options = unsafe { std::mem::zeroed() };
        options.implementation_identifier = identifier();
        options.domain_id = NO_DOMAIN;
        options.allocator = allocator;
        options.discovery_options.allocator = allocator;
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_init_options_copy(
    source: Option<&rmw_init_options_t>,
    target: Option<&mut rmw_init_options_t>,
) -> rmw_ret_t {
    let copied = || {
        let (source, target) = (own(source)?, given(target, "the target")?);
        if !target.implementation_identifier.is_null() {
            return Err(Failure(RMW_RET_INVALID_ARGUMENT, "the target is in use".into()));
        }
        copy_options(source, target)
    };
    code(copied())
}

fn copy_options(
    source: &rmw_init_options_t,
    target: &mut rmw_init_options_t,
) -> Result<(), Failure> {
    let allocator = source.allocator;
    let copied = |of: *mut c_char| match of.is_null() {
        true => Ok(null_mut()),
        false => copy(&allocator, &text(of)),
    };
    let (enclave, root) =
        (copied(source.enclave)?, copied(source.security_options.security_root_path)?);
    let peers = &source.discovery_options;
    let list = allocate(&allocator, peers.static_peers_count)?;
    if peers.static_peers_count > 0 {
        // SAFETY: so many peers are in both lists.
        unsafe {
            std::ptr::copy_nonoverlapping(peers.static_peers, list, peers.static_peers_count)
        };
    }
    *target = *source;
    (target.enclave, target.security_options.security_root_path) = (enclave, root);
    target.discovery_options.static_peers = list;
    Ok(())
}

fn free_options(options: &mut rmw_init_options_t) {
    let allocator = options.allocator;
    free(&allocator, options.enclave);
    free(&allocator, options.security_options.security_root_path);
    free(&allocator, options.discovery_options.static_peers);
    // SAFETY: plain data, of which all zeros is a value.
    *options = unsafe { std::mem::zeroed() };
}

#[unsafe(no_mangle)]
extern "C" fn rmw_init_options_fini(options: Option<&mut rmw_init_options_t>) -> rmw_ret_t {
    let freed = || {
        let options = given(options, "the options")?;
        own(Some(&*options))?;
        free_options(options);
        Ok(())
    };
    code(freed())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_init(
    options: Option<&rmw_init_options_t>,
    context: Option<&mut rmw_context_t>,
) -> rmw_ret_t {
    let begun = || {
        let (options, context) = (own(options)?, given(context, "the context")?);
        if let Some(parent) = process::parent() {
            return Err(Failure::new(format!(
                "process {parent} of the run has started this program, which has ROS nodes: add \
                 it to the system as a process of its own"
            )));
        }
        if ringspin_simulated_threads::coordination::now().is_none() {
            return Err(Failure::new(
                "rmw_ringspin is for processes under simulated time: start this one by `ringspin \
                 run`, or with LD_PRELOAD=librmw_ringspin.so and RINGSPIN_MODE=deterministic",
            ));
        }
        crate::bus::with(crate::bus::Bus::begin_in_child);
        copy_options(options, &mut context.options)?;
        context.instance_id = options.instance_id;
        context.implementation_identifier = identifier();
        context.actual_domain_id = match options.domain_id {
            NO_DOMAIN => 0,
            domain => domain,
        };
        context.impl_ = std::ptr::from_mut(context).cast(); // rcl looks whether there is one
        Ok(())
    };
    code(begun())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_shutdown(context: Option<&rmw_context_t>) -> rmw_ret_t {
    code(own(context).map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_context_fini(context: Option<&mut rmw_context_t>) -> rmw_ret_t {
    let ended = || {
        let context = given(context, "the context")?;
        own(Some(&*context))?;
        free_options(&mut context.options);
        // SAFETY: plain data, of which all zeros is a value.
        *context = unsafe { std::mem::zeroed() };
        Ok(())
    };
    code(ended())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_create_node(
    context: *mut rmw_context_t,
    node: *const c_char,
    namespace: *const c_char,
) -> *mut rmw_node_t {
    let created = || {
        let (node, namespace) = (name(node, "the name")?, name(namespace, "the namespace")?);
        let gid = bus::with(Bus::new_gid);
        let entity = Entity {
            gid,
            kind: Kind::Node,
            node: text(node.as_ptr()),
            namespace: text(namespace.as_ptr()),
            name: String::new(),
            type_name: String::new(),
            type_hash: Vec::new(),
            ignores_own: false,
            qos: Qos::default(),
        };
        let guard = pointer(Ok(guard_condition(context, true)));
        bus::change(|bus| bus.add(entity));
        // The texts stay where they are when the data is moved.
        let (name, namespace_) = (node.as_ptr(), namespace.as_ptr());
        let data = to_data(NodeData { gid, guard, name: node, namespace });
        Ok(rmw_node_t { implementation_identifier: identifier(), data, name, namespace_, context })
    };
    pointer(created())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_destroy_node(node: *mut rmw_node_t) -> rmw_ret_t {
    // SAFETY: null, or a node, by the contract of rmw.
    let data = own(unsafe { node.as_ref() }).map(|node| node.data);
    code(data.map(|data| {
        // SAFETY: a node of this middleware, which its owner gives back.
        let NodeData { gid, guard, name, namespace } = unsafe { take_back(node, data) };
        bus::change(|bus| bus.remove(gid));
        rmw_destroy_guard_condition(guard);
        drop((name, namespace));
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_node_get_graph_guard_condition(
    node: Option<&rmw_node_t>,
) -> *const rmw_guard_condition_t {
    match own(node) {
        // SAFETY: a node of this middleware has this data.
        Ok(node) => unsafe { (*node.data.cast::<NodeData>()).guard },
        Err(failure) => {
            code(Err(failure));
            std::ptr::null()
        }
    }
}

fn guard_condition(context: *mut rmw_context_t, of_graph: bool) -> rmw_guard_condition_t {
    let data = to_data(Guard(bus::with(|bus| bus.add_guard(of_graph))));
    rmw_guard_condition_t { implementation_identifier: identifier(), data, context }
}

#[unsafe(no_mangle)]
extern "C" fn rmw_create_guard_condition(
    context: *mut rmw_context_t,
) -> *mut rmw_guard_condition_t {
    pointer(Ok(guard_condition(context, false)))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_destroy_guard_condition(guard: *mut rmw_guard_condition_t) -> rmw_ret_t {
    // SAFETY: null, or a guard condition, by the contract of rmw.
    let data = own(unsafe { guard.as_ref() }).map(|guard| guard.data);
    code(data.map(|data| {
        // SAFETY: a guard condition of this middleware, which its owner gives back.
        let Guard(number) = unsafe { take_back(guard, data) };
        bus::with(|bus| bus.remove_guard(number));
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_trigger_guard_condition(guard: Option<&rmw_guard_condition_t>) -> rmw_ret_t {
    code(own(guard).map(|guard| {
        // SAFETY: a guard condition of this middleware has this data.
        let number = unsafe { (*guard.data.cast::<Guard>()).0 };
        bus::change(|bus| bus.set_guard(number, true));
    }))
}
