//! A middleware of ROS 2 for processes under simulated time.
//!
//! The library is loaded into an unmodified program by `LD_PRELOAD`: its `rmw_*` functions come
//! before those of any other middleware, and the functions of libc that
//! [`ringspin_simulated_threads`] defines before libc's. Nothing is sent over a network. Endpoints
//! of one process meet in the bus; between processes the coordinator of the run carries frames,
//! once all threads of a process wait.
//!
//! | module | contents |
//! |---|---|
//! | `bus` | nodes, endpoints, queues |
//! | `process` | turns with the coordinator |
//! | `endpoint` | the object behind publishers, subscriptions, clients and services |
//! | `ffi` | arguments and errors of C functions |
//! | `types`, `cdr` | messages by the tables of their types, as bytes |
//! | `qos` | profiles |
//! | `context` | init, nodes, guard conditions |
//! | `publisher`, `subscription`, `service` | endpoints |
//! | `events` | QoS events |
//! | `durations` | how long callbacks take |
//! | `wait` | wait sets |
//! | `queries` | questions about the graph |
//! | `unsupported` | functions that a middleware need not offer |

/// The C interface of a middleware, of ROS 2 Jazzy.
#[allow(warnings, clippy::all, clippy::undocumented_unsafe_blocks, missing_docs)]
mod bindings {
    include!("../bindings/jazzy.rs");
}
mod bus;
mod cdr;
mod children;
mod context;
mod durations;
mod endpoint;
mod events;
mod ffi;
mod noted_time;
mod process;
mod publisher;
mod qos;
mod queries;
mod service;
mod subscription;
mod types;
mod unsupported;
mod wait;

// The program calls its functions instead of libc's.
pub use ringspin_simulated_threads as threads;
