//! The functions of rcl that ringspin uses, made safe: every handle frees itself, keeps alive what
//! it needs, and turns what rcl reports into errors that name the entity. All `unsafe` is here.
//!
//! | what | where |
//! |---|---|
//! | [`Context`], [`Node`] | the connection to the middleware, and a name in its graph |
//! | [`Publisher`], [`Subscription`] | of a type known when the program is compiled |
//! | [`Service`], [`Client`] | requests and responses, likewise |
//! | [`ErasedPublisher`], [`ErasedSubscription`] | of a type known by its table, [`CdrType`] |
//! | [`ErasedService`], [`ErasedClient`] | likewise, by a [`CdrService`] |
//! | [`RawPublisher`], [`RawSubscription`] | CDR bytes, of a type known by its name |
//! | [`RawService`], [`RawClient`] | likewise |
//! | [`fast_dds`] | settings of Fast DDS that ROS has no names for |
//! | [`Event`] | what happened to the quality of service of a publisher or subscription |
//!
//! Nothing here waits, except [`Node::wait_for`] and the thread of a connection that watches the
//! graph for its clients: who wants to know that something has come says
//! so (`on_new_message` and its like) and is called, on a thread of the middleware or, within one
//! process, on the thread that publishes.
//!
//! Messages go to and from rcl as CDR bytes. Only its services want C structs: those are made and
//! converted by what the libraries of their types say about them.
//!
//! [`CdrType`]: ringspin_messages::CdrType
//! [`CdrService`]: ringspin_messages::CdrService
//!
//! # Threads
//! Making and freeing entities, and looking at the graph, is done under one lock for the whole
//! process, because rcl and the layers below it share tables. Publishing, taking and answering
//! take no such lock.
#![allow(unsafe_code)]

/// Implements `Deref` of a handle to a field.
macro_rules! deref_to {
    ($handle:ident$(<$parameter:ident>)?, $($field:ident).+: $target:ty) => {
        impl$(<$parameter>)? std::ops::Deref for $handle$(<$parameter>)? {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.$($field).+
            }
        }
    };
}

/// Shows a handle as errors name its entity.
macro_rules! debug_as_entity {
    ($handle:ty) => {
        impl std::fmt::Debug for $handle {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.rcl.entity.text())
            }
        }
    };
}

mod callback;
mod client;
mod context;
mod entity;
mod error;
mod event;
mod exit;
pub mod fast_dds;
mod ffi;
mod graph;
mod graph_watch;
mod lock;
mod logging;
mod native;
mod node;
mod owned;
mod publisher;
mod qos;
mod raw;
mod serialized;
mod service;
mod subscription;
mod type_support;

pub use client::{Client, ErasedClient, RawClient};
pub use context::{Context, ContextOptions, Reach};
pub use error::RosError;
pub use event::{Event, PublisherEvent, QosEvent, SubscriptionEvent};
pub(crate) use exit::at_exit;
pub use graph::{Endpoint, NodeName};
pub(crate) use graph_watch::{GraphWatch, GraphWatchError};
pub use logging::{LogLine, Severity, log};
pub use native::live_messages;
pub(crate) use node::WeakNode;
pub use node::{Node, NodeOptions};
pub use publisher::{ErasedPublisher, Publisher, PublisherEndpoint};
pub use qos::middleware;
pub use raw::{RawPublisher, RawSubscription};
pub use service::{ErasedService, RawService, RequestId, Service};
pub use subscription::{
    ErasedSubscription, Locals, MessageInfo, Subscription, SubscriptionEndpoint,
};
pub use type_support::{check_type_hash, type_hash, type_names};
