//! Memory of readers: flat on large recordings, bounded on hostile ones.

use std::fs;

use crate::common::{messages, topic, write};
use ringspin_bag::{Bag, Compression, Order, ReadOptions, WriteOptions, Writer};
use ringspin_executor::Time;

/// The most bytes that were allocated at a time.
fn bytes_max(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).bytes_max
}

#[test]
fn memory_of_a_reader_does_not_grow_with_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let mut writer =
        Writer::create(&path, WriteOptions { compression: Some(Compression::Zstd) }).unwrap();
    let topic = writer.add_topic(&topic(0)).unwrap();
    for n in 0..3_000 {
        let time = Time::from_nanos(u64::from(n) * 1000);
        writer.write(topic, time, time, n, &vec![n as u8; 50_000]).unwrap();
    }
    writer.finish().unwrap();
    for order in [Order::LogTime, Order::PublishTime] {
        let bytes = bytes_max(|| {
            let bag = Bag::open(&path).unwrap();
            let options = ReadOptions { order, ..ReadOptions::default() };
            assert_eq!(bag.read(&options).unwrap().count(), 3_000);
        });
        assert!(bytes < 4 << 20, "{bytes} bytes for 150 MB");
    }
}

#[test]
fn lengths_that_a_file_claims_are_not_allocated() {
    claim_lengths(11);
}

#[test]
#[ignore = "slow: every third place"]
fn slow_lengths_that_a_file_claims_are_not_allocated() {
    claim_lengths(3);
}

/// Four bytes at every multiple of `step` claim to be a length of 4 GB; most are no length.
fn claim_lengths(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claims.mcap");
    write(&path, WriteOptions::default(), &messages(20, 40));
    let whole = fs::read(&path).unwrap();
    for at in (8..whole.len() - 4).step_by(step) {
        let mut bytes = whole.clone();
        bytes[at..at + 4].fill(0xff);
        let path = folder.path().join(format!("{at}.mcap"));
        fs::write(&path, &bytes).unwrap();
        let bytes = bytes_max(|| {
            if let Ok(bag) = Bag::open(&path) {
                let _ = bag.read(&ReadOptions::default()).map(Iterator::count);
            }
        });
        assert!(bytes < 4 << 20, "{bytes} bytes with a length at byte {at}");
        fs::remove_file(path).unwrap();
    }
}
