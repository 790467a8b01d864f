//! Fuzzing of the readers of recordings: no panic, no endless read, bounded memory.
//!
//! `scripts/fuzz` runs it, with seeds from `seeds.rs`.

#![forbid(unsafe_code)]

use ringspin_bag::{Bag, Order, ReadOptions};
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Writes `data` to a file in memory and reads it as a recording. `directory` is read if the file
/// describes one.
pub fn read(data: &[u8], name: &str, directory: bool) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir_in("/dev/shm").expect("shared memory"));
    let path = folder.path().join(name);
    std::fs::write(&path, data).expect("room in memory");
    open(if directory { folder.path() } else { &path });
}

fn open(path: &Path) {
    for bag in [Bag::open(path), Bag::open_damaged(path)].into_iter().flatten() {
        for order in [Order::LogTime, Order::PublishTime] {
            let options = ReadOptions { order, ..ReadOptions::default() };
            let Ok(reader) = bag.read(&options) else { continue };
            reader.map_while(Result::ok).for_each(drop);
        }
    }
}
