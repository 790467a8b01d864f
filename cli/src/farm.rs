//! Lists of jobs, recordings and seeds that several machines share.
//!
//! A [shard](crate::shard) is the part of a list that this process does. Results are kept in a
//! folder, and a run with a result is skipped, so the engine only has to start the processes, and
//! to start a killed one again. `run`, `verify` and `replay` start one process for each
//! [item](items), because `verify` starts the program again, and because a crash is a result of one
//! item. `explore` has its seeds on threads of one process.

mod explore;
mod items;
mod junit;
mod merge;
mod page;
mod results;

#[cfg(feature = "bag")]
pub(crate) use items::expand;
pub(crate) use items::{Item, List, listed};
#[cfg(feature = "bag")]
pub(crate) use results::hash_of_files;
pub(crate) use results::{Seen, hash_of_text};
