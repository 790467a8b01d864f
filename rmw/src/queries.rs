//! Questions about the graph: names and types, counts, endpoints with their QoS.

use crate::bindings::*;
use crate::bus;
use crate::ffi::{Failure, allocate, code, copy, given, own, text};
use crate::qos;
use ringspin_process_protocol::{Entity, Kind};
use std::collections::BTreeMap;
use std::ffi::c_char;

/// A list of texts by an allocator of C.
fn texts(
    texts: &[String],
    allocator: &rcutils_allocator_t,
) -> Result<rcutils_string_array_t, Failure> {
    let data = allocate::<*mut c_char>(allocator, texts.len())?;
    for (index, text) in texts.iter().enumerate() {
        let copy = copy(allocator, text)?;
        // SAFETY: there is room for so many.
        unsafe { data.add(index).write(copy) };
    }
    Ok(rcutils_string_array_t { size: texts.len(), data, allocator: *allocator })
}

/// The names of the entities that `is_it` of, with their types.
fn names_and_types(
    target: Option<&mut rmw_names_and_types_t>,
    allocator: Option<&rcutils_allocator_t>,
    is_it: impl Fn(&Entity) -> bool,
) -> Result<(), Failure> {
    let target = given(target, "the list of names and types")?;
    let allocator = given(allocator, "the allocator")?;
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    bus::with(|bus| {
        for entity in bus.entities().filter(|entity| is_it(entity)) {
            let types = all.entry(entity.name.clone()).or_default();
            if !types.contains(&entity.type_name) {
                types.push(entity.type_name.clone());
            }
        }
    });
    let names: Vec<_> = all.keys().cloned().collect();
    target.names = texts(&names, allocator)?;
    target.types = allocate(allocator, names.len())?;
    for (index, types) in all.values().enumerate() {
        let types = texts(types, allocator)?;
        // SAFETY: there is room for so many.
        unsafe { target.types.add(index).write(types) };
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_get_topic_names_and_types(
    node: Option<&rmw_node_t>,
    allocator: Option<&rcutils_allocator_t>,
    _: bool,
    target: Option<&mut rmw_names_and_types_t>,
) -> rmw_ret_t {
    let is_it = |entity: &Entity| matches!(entity.kind, Kind::Publisher | Kind::Subscription);
    code(own(node).and_then(|_| names_and_types(target, allocator, is_it)))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_get_service_names_and_types(
    node: Option<&rmw_node_t>,
    allocator: Option<&rcutils_allocator_t>,
    target: Option<&mut rmw_names_and_types_t>,
) -> rmw_ret_t {
    let is_it = |entity: &Entity| entity.kind == Kind::Service;
    code(own(node).and_then(|_| names_and_types(target, allocator, is_it)))
}

/// The names and types of the endpoints of this kind that a node has.
fn of_node(
    node: Option<&rmw_node_t>,
    (name, namespace): (*const c_char, *const c_char),
    kind: Kind,
    allocator: Option<&rcutils_allocator_t>,
    target: Option<&mut rmw_names_and_types_t>,
) -> Result<(), Failure> {
    own(node)?;
    let (name, namespace) = (text(name), text(namespace));
    let is_of = |entity: &Entity| entity.node == name && entity.namespace == namespace;
    if !bus::with(|bus| bus.entities().any(|entity| entity.kind == Kind::Node && is_of(entity))) {
        let text = format!("there is no node `{name}` in `{namespace}`");
        return Err(Failure(RMW_RET_NODE_NAME_NON_EXISTENT, text));
    }
    names_and_types(target, allocator, |entity| entity.kind == kind && is_of(entity))
}

macro_rules! by_node {
    ($($function:ident $kind:ident $(, $is_raw:ty)?;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            node: Option<&rmw_node_t>,
            allocator: Option<&rcutils_allocator_t>,
            name: *const c_char,
            namespace: *const c_char,
            $(_: $is_raw,)?
            target: Option<&mut rmw_names_and_types_t>,
        ) -> rmw_ret_t {
            code(of_node(node, (name, namespace), Kind::$kind, allocator, target))
        }
    )*};
}
by_node! {
    rmw_get_publisher_names_and_types_by_node Publisher, bool;
    rmw_get_subscriber_names_and_types_by_node Subscription, bool;
    rmw_get_client_names_and_types_by_node Client;
    rmw_get_service_names_and_types_by_node Service;
}

macro_rules! counts {
    ($($function:ident $kind:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            node: Option<&rmw_node_t>,
            name: *const c_char,
            count: Option<&mut usize>,
        ) -> rmw_ret_t {
            let counted = || {
                own(node)?;
                let (name, count) = (text(name), given(count, "the count")?);
                let is_it = |entity: &&Entity| entity.kind == Kind::$kind && entity.name == name;
                *count = bus::with(|bus| bus.entities().filter(is_it).count());
                Ok(())
            };
            code(counted())
        }
    )*};
}
counts! {
    rmw_count_publishers Publisher
    rmw_count_subscribers Subscription
    rmw_count_clients Client
    rmw_count_services Service
}

/// Lists names, namespaces and enclaves of all nodes.
fn nodes(
    node: Option<&rmw_node_t>,
    targets: [Option<&mut rcutils_string_array_t>; 2],
    enclaves: Option<&mut rcutils_string_array_t>,
) -> Result<(), Failure> {
    let node = own(node)?;
    // SAFETY: a node has the context of which it was created.
    let context = own(unsafe { node.context.as_ref() })?;
    let allocator = &context.options.allocator;
    let all: Vec<_> = bus::with(|bus| {
        let nodes = bus.entities().filter(|entity| entity.kind == Kind::Node);
        nodes.map(|node| (node.node.clone(), node.namespace.clone())).collect()
    });
    let (names, namespaces): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let roots = vec!["/".to_owned(); names.len()];
    for (target, list) in targets.into_iter().zip([names, namespaces]) {
        *given(target, "a list")? = texts(&list, allocator)?;
    }
    if let Some(enclaves) = enclaves {
        *enclaves = texts(&roots, allocator)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_get_node_names(
    node: Option<&rmw_node_t>,
    names: Option<&mut rcutils_string_array_t>,
    namespaces: Option<&mut rcutils_string_array_t>,
) -> rmw_ret_t {
    code(nodes(node, [names, namespaces], None))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_get_node_names_with_enclaves(
    node: Option<&rmw_node_t>,
    names: Option<&mut rcutils_string_array_t>,
    namespaces: Option<&mut rcutils_string_array_t>,
    enclaves: Option<&mut rcutils_string_array_t>,
) -> rmw_ret_t {
    code(nodes(node, [names, namespaces], enclaves))
}

/// Lists the endpoints of this kind on a topic.
fn infos(
    kind: Kind,
    topic: *const c_char,
    allocator: Option<&rcutils_allocator_t>,
    target: Option<&mut rmw_topic_endpoint_info_array_t>,
) -> Result<(), Failure> {
    let (topic, allocator) = (text(topic), given(allocator, "the allocator")?);
    let target = given(target, "the list")?;
    let all: Vec<_> = bus::with(|bus| {
        let is_it = |entity: &&Entity| entity.kind == kind && entity.name == topic;
        bus.entities().filter(is_it).cloned().collect()
    });
    let list = allocate::<rmw_topic_endpoint_info_t>(allocator, all.len())?;
    for (index, entity) in all.iter().enumerate() {
        let [name, namespace, type_name] =
            [&entity.node, &entity.namespace, &entity.type_name].map(|text| copy(allocator, text));
        // SAFETY: there is room for so many, and they are zeroed.
        let info = unsafe { &mut *list.add(index) };
        (info.node_name, info.node_namespace, info.topic_type) = (name?, namespace?, type_name?);
        if let Some((version, value)) = entity.type_hash.split_first() {
            info.topic_type_hash.version = *version;
            let count = value.len().min(info.topic_type_hash.value.len());
            info.topic_type_hash.value[..count].copy_from_slice(&value[..count]);
        }
        info.endpoint_type = match kind {
            Kind::Publisher => RMW_ENDPOINT_PUBLISHER,
            _ => RMW_ENDPOINT_SUBSCRIPTION,
        };
        info.endpoint_gid = entity.gid.bytes();
        info.qos_profile = qos::profile(&entity.qos);
    }
    *target = rmw_topic_endpoint_info_array_t { size: all.len(), info_array: list };
    Ok(())
}

macro_rules! infos_by_topic {
    ($($function:ident $kind:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            node: Option<&rmw_node_t>,
            allocator: Option<&rcutils_allocator_t>,
            topic: *const c_char,
            _: bool,
            target: Option<&mut rmw_topic_endpoint_info_array_t>,
        ) -> rmw_ret_t {
            code(own(node).and_then(|_| infos(Kind::$kind, topic, allocator, target)))
        }
    )*};
}
infos_by_topic! {
    rmw_get_publishers_info_by_topic Publisher
    rmw_get_subscriptions_info_by_topic Subscription
}
