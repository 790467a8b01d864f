//! Reading of recordings, compared with the bare crate `mcap` on the same file.
//!
//! # Method
//! A file has 100,000 messages of 100 bytes or 1,000 messages of 64 KiB, on three topics, plain or
//! compressed with zstd. It is opened and read whole in the order of log times, from the page
//! cache. The figure is the time of one message.
//!
//! * `ringspin`: `Bag::open` and `Bag::read`; each message is owned. Checksums are not compared,
//!   as in `mcap`.
//! * `ringspin, checksums`: the same with checksums, the default.
//! * `mcap`: `sans_io::SummaryReader` and `IndexedReader`, with a file and a buffer as in its
//!   documentation; messages are borrowed, checksums are not checked.
//!
//! `scripts/recordings_peer.py speed FILE` reads a file with Python's `mcap`.
//!
//! # Limits
//! The disk is not measured. Half of the content compresses well; real messages differ. Machine as
//! in `delivery.rs`; compare within one run.

use criterion::{BenchmarkId, Criterion, Throughput};
use mcap::sans_io::{IndexedReadEvent, IndexedReader, SummaryReadEvent, SummaryReader};
use ringspin_bag::{Bag, Compression, ReadOptions, Topic, WriteOptions, Writer};
use ringspin_executor::Time;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// Writes a file of `count` messages of `bytes` bytes.
fn write(path: &Path, count: u32, bytes: usize, compression: Option<Compression>) {
    let mut writer = Writer::create(path, WriteOptions { compression }).expect("a new file");
    let topics = ["/imu", "/scan", "/odometry"].map(|name| {
        let topic = Topic {
            name: name.to_owned(),
            type_name: "std_msgs/msg/UInt8MultiArray".to_owned(),
            type_hash: None,
            definition: None,
            serialization_format: "cdr".to_owned(),
            offered_qos: Vec::new(),
        };
        writer.add_topic(&topic).expect("a valid topic")
    });
    let mut random = 1u64;
    for n in 0..count {
        let mut data = vec![0; bytes];
        for word in data.chunks_mut(8).step_by(2) {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            word.copy_from_slice(&random.to_be_bytes()[..word.len()]);
        }
        let time = Time::from_nanos(u64::from(n) * 1000);
        writer.write(topics[n as usize % 3], time, time, n, &data).expect("a writable file");
    }
    writer.finish().expect("a writable file");
}

/// Reads with the bag; returns the messages and their bytes.
fn by_ringspin(path: &Path, skip_checksums: bool) -> (u64, u64) {
    let bag = Bag::open(path).expect("a recording");
    let mut read = (0, 0);
    let options = ReadOptions { skip_checksums, ..ReadOptions::default() };
    for record in bag.read(&options).expect("a readable recording") {
        let record = record.expect("an undamaged recording");
        read = (read.0 + 1, read.1 + record.data.len() as u64);
    }
    read
}

/// Reads with the bare crate.
fn by_mcap(path: &Path) -> mcap::McapResult<(u64, u64)> {
    let mut file = File::open(path)?;
    let mut summary = SummaryReader::new();
    while let Some(event) = summary.next_event() {
        match event? {
            SummaryReadEvent::ReadRequest(need) => {
                let read = file.read(summary.insert(need))?;
                summary.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(to) => summary.notify_seeked(file.seek(to)?),
        }
    }
    let summary = summary.finish().expect("the file has a summary");
    let mut reader = IndexedReader::new(&summary)?;
    let mut buffer = Vec::new();
    let mut read = (0, 0);
    while let Some(event) = reader.next_event() {
        match event? {
            IndexedReadEvent::ReadChunkRequest { offset, length } => {
                file.seek(SeekFrom::Start(offset))?;
                buffer.resize(length, 0);
                file.read_exact(&mut buffer)?;
                reader.insert_chunk_record_data(offset, &buffer)?;
            }
            IndexedReadEvent::Message { data, .. } => {
                read = (read.0 + 1, read.1 + data.len() as u64);
            }
        }
    }
    Ok(read)
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = criterion.benchmark_group("recordings");
    for (count, bytes) in [(100_000u32, 100), (1_000, 64 << 10)] {
        for (name, compression) in [("plain", None), ("zstd", Some(Compression::Zstd))] {
            let path = folder.path().join(format!("{bytes}_{name}.mcap"));
            write(&path, count, bytes, compression);
            let expected = (u64::from(count), u64::from(count) * bytes as u64);
            assert_eq!(by_ringspin(&path, false), expected);
            assert_eq!(by_mcap(&path).expect("a valid file"), expected);
            group.throughput(Throughput::ElementsAndBytes {
                elements: expected.0,
                bytes: expected.1,
            });
            let parameter = format!("{bytes} B, {name}");
            group.bench_function(BenchmarkId::new("ringspin", &parameter), |bencher| {
                bencher.iter(|| by_ringspin(&path, true));
            });
            group.bench_function(BenchmarkId::new("ringspin, checksums", &parameter), |bencher| {
                bencher.iter(|| by_ringspin(&path, false));
            });
            group.bench_function(BenchmarkId::new("mcap", &parameter), |bencher| {
                bencher.iter(|| by_mcap(&path));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
