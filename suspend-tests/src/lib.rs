//! A thread is suspended at each step of publishing, and of notifying, while others go on: what
//! they publish is handled all the same.
//!
//! The steps are in `ringbuf` (`step!`). They are compiled into the copies of `ringbuf` and of
//! `executor` that are members of this folder, and into no other: a Cargo feature would be unified
//! over the workspace.
//!
//! | module | holds |
//! |---|---|
//! | `harness` | a worker on a separate thread, and a thread that is suspended |
//! | `publishing` | messages: each kind of queue, each step |
//! | `notifying` | guard conditions, tasks, timers and calls |
//! | `changing` | entities that are created and destroyed while the worker works |
//! | `reclaiming` | memory of parts that left the graph |
//! | `sharing` | workers that several threads run in turns |

#![forbid(unsafe_code)]

#[cfg(test)]
mod changing;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod notifying;
#[cfg(test)]
mod publishing;
#[cfg(test)]
mod reclaiming;
#[cfg(test)]
mod sharing;
