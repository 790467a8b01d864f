//! Recordings as files: formats, damage, directories, memory, comparison, independent libraries.

mod common;
mod damaged;
mod diff;
mod directories;
mod mcap;
mod memory;
mod peers;
mod sqlite;
