//! Wait sets: a thread waits until an entity of its lists has something, or for a time.
//!
//! A wait is one of the world, so it takes no real time, and its end depends on the events of the
//! run alone. A triggered guard condition is reset by the wait that returns it.

use crate::bindings::*;
use crate::bus::{self, Bus};
use crate::context::Guard;
use crate::durations;
use crate::endpoint::endpoint_of;
use crate::events;
use crate::ffi::{Failure, array, code, identifier, own, pointer, take_back, to_data};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

#[unsafe(no_mangle)]
extern "C" fn rmw_create_wait_set(
    context: Option<&rmw_context_t>,
    _: usize,
) -> *mut rmw_wait_set_t {
    pointer(own(context).map(|_| rmw_wait_set_t {
        implementation_identifier: identifier(),
        guard_conditions: null_mut(),
        data: to_data(0u8),
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_destroy_wait_set(set: *mut rmw_wait_set_t) -> rmw_ret_t {
    // SAFETY: null, or a wait set, by the contract of rmw.
    let data = own(unsafe { set.as_ref() }).map(|set| set.data);
    code(data.map(|data| {
        // SAFETY: a wait set of this middleware, which its owner gives back.
        let _: u8 = unsafe { take_back(set, data) };
    }))
}

/// The entries of a list of a wait set.
type Entries<'a> = &'a mut [*mut c_void];

/// The lists of a wait.
struct Lists<'a> {
    endpoints: [Entries<'a>; 3],
    guards: Entries<'a>,
    events: Entries<'a>,
}

impl Lists<'_> {
    /// Whether an entry has something.
    fn is_ready(&self, bus: &Bus) -> bool {
        let endpoints = self.endpoints.iter().flat_map(|list| list.iter());
        let mut guards = self.guards.iter().filter_map(|guard| guard_of(*guard));
        let mut events = self.events.iter();
        guards.any(|guard| bus.is_triggered(guard))
            || events.any(|event| events::is_ready(bus, *event))
            || endpoints.into_iter().any(|one| has(bus, *one))
    }

    /// Leaves the entries that have something, and resets guard conditions.
    fn keep_ready(&mut self, bus: &mut Bus) {
        for entry in self.endpoints.iter_mut().flat_map(|list| list.iter_mut()) {
            if !has(bus, *entry) {
                *entry = null_mut();
            }
        }
        for entry in self.guards.iter_mut() {
            match guard_of(*entry).filter(|guard| bus.is_triggered(*guard)) {
                Some(guard) => bus.set_guard(guard, false),
                None => *entry = null_mut(),
            }
        }
        for entry in self.events.iter_mut().filter(|event| !events::is_ready(bus, **event)) {
            *entry = null_mut();
        }
    }
}

/// Whether the endpoint of an entry has something to take.
fn has(bus: &Bus, entry: *mut c_void) -> bool {
    // SAFETY: null, or the data of an entity of the wait set, by the contract of rmw.
    let endpoint = unsafe { endpoint_of(entry) };
    endpoint.is_some_and(|endpoint| bus.has_message(endpoint.gid.number))
}

/// The number of an entry that is a guard condition.
fn guard_of(entry: *mut c_void) -> Option<u32> {
    // SAFETY: null, or the data of a guard condition, by the contract of rmw.
    unsafe { entry.cast::<Guard>().as_ref() }.map(|guard| guard.0)
}

#[unsafe(no_mangle)]
extern "C" fn rmw_wait(
    subscriptions: Option<&mut rmw_subscriptions_t>,
    guards: Option<&mut rmw_guard_conditions_t>,
    services: Option<&mut rmw_services_t>,
    clients: Option<&mut rmw_clients_t>,
    events: Option<&mut rmw_events_t>,
    set: Option<&rmw_wait_set_t>,
    timeout: Option<&rmw_time_t>,
) -> rmw_ret_t {
    if let Err(failure) = own(set) {
        return code(Err(failure));
    }
    durations::end_callback();
    // SAFETY: each list has so many entries, by the contract of rmw; nothing else uses them.
    let lists = unsafe {
        Lists {
            endpoints: [
                subscriptions.map_or(&mut [], |all| array(all.subscribers, all.subscriber_count)),
                services.map_or(&mut [], |all| array(all.services, all.service_count)),
                clients.map_or(&mut [], |all| array(all.clients, all.client_count)),
            ],
            guards: guards
                .map_or(&mut [], |all| array(all.guard_conditions, all.guard_condition_count)),
            events: events.map_or(&mut [], |all| array(all.events, all.event_count)),
        }
    };
    match wait(lists, timeout) {
        Ok(true) => code(Ok(())),
        Ok(false) => RMW_RET_TIMEOUT as rmw_ret_t,
        Err(failure) => code(Err(failure)),
    }
}

/// Waits; false if the time is over and no entry has something.
fn wait(mut lists: Lists<'_>, timeout: Option<&rmw_time_t>) -> Result<bool, Failure> {
    let nanos =
        |time: &rmw_time_t| time.sec.saturating_mul(1_000_000_000).saturating_add(time.nsec);
    let end = timeout.map(|time| bus::now().saturating_add(nanos(time)));
    loop {
        let left = end.map(|end| end.saturating_sub(bus::now()));
        let is_over = left == Some(0);
        let is_ready = bus::with(|bus| {
            let is_ready = lists.is_ready(bus);
            if is_ready || is_over {
                lists.keep_ready(bus);
            }
            is_ready
        });
        if is_ready || is_over {
            return Ok(is_ready);
        }
        bus::wait(left.map(Duration::from_nanos));
    }
}
