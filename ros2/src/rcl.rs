//! The functions of rcl that ringspin uses, made safe: every handle frees itself, keeps its
//! dependencies alive, and turns the error states of rcl into errors that name the entity. All
//! `unsafe` is here.
//!
//! | type | content |
//! |---|---|
//! | [`Context`], [`Node`] | the connection to the middleware, and a name in its graph |
//! | [`Publisher`], [`Subscription`] | messages of one type |
//! | [`Service`], [`Client`] | requests and responses |
//! | [`fast_dds`] | settings of Fast DDS that ROS has no names for |
//! | [`Event`] | events of the quality of service of a publisher or subscription |
//!
//! The type of these four is a type parameter where it is known when the program is compiled.
//! Otherwise it is [`Dynamic`]: `of_table` takes the table of a Rust type ([`CdrType`],
//! [`CdrService`]), and `named` the name of a ROS type, whose messages are then CDR bytes.
//!
//! Nothing here waits, except [`Node::wait_for`] and the thread of a connection that watches the
//! graph for its clients: a user that wants to know about new items registers a callback
//! (`on_new_message` and its like), which is called on a thread of the middleware or, within one
//! process, on the thread that publishes.
//!
//! Messages go to and from rcl as CDR bytes. Only its services want C structs: those are made and
//! converted by the type descriptions in the libraries.
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
    ($handle:ident$(<$parameter:ident>)?) => {
        impl$(<$parameter>)? std::fmt::Debug for $handle$(<$parameter>)? {
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
mod sequences;
mod serialized;
mod service;
mod subscription;
mod type_support;

pub use client::Client;
pub use context::{Context, ContextOptions, Reach};
pub use event::Event;
pub(crate) use exit::at_exit;
pub use graph::{Endpoint, NodeName};
pub(crate) use graph_watch::GraphWatch;
pub use logging::{LogLine, log, set_log_level};
pub use native::live_messages;
pub(crate) use node::WeakNode;
pub use node::{Node, NodeOptions};
pub use publisher::{Publisher, PublisherEndpoint};
pub use qos::middleware;
pub use sequences::Sequences;
pub use service::{RequestId, Service};
pub use subscription::{Locals, MessageInfo, Subscription, SubscriptionEndpoint};
pub use type_support::{Dynamic, check_type_hash, type_hash, type_names};
