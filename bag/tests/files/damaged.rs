//! Damaged and hostile files: errors or warnings, never a panic, and bounded memory.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::common::{Message, Random, messages, read_all, write};
use mcap::records::MessageHeader;
use ringspin_bag::{Bag, Compression, Order, ReadOptions, WriteOptions};
use ringspin_executor::{Error, ErrorKind, Time};

const COMPRESSIONS: [Option<Compression>; 3] =
    [None, Some(Compression::Zstd), Some(Compression::Lz4)];

/// The messages of a file as far as they can be read.
fn try_read(path: &Path) -> Result<Vec<Message>, String> {
    let bag = Bag::open(path).map_err(|error| error.to_string())?;
    let reader = bag.read(&ReadOptions::default()).map_err(|error| error.to_string())?;
    reader.collect::<Result<_, _>>().map_err(|error: Error| error.to_string())
}

/// Reads the parts of a damaged file that can be read.
fn read_damaged(path: &Path) {
    if let Ok(bag) = Bag::open_damaged(path) {
        let _ = bag.read(&ReadOptions::default()).map(|reader| reader.for_each(drop));
    }
}

/// Messages in the order of their times.
fn ordered(count: u64, bytes: u64) -> Vec<Message> {
    let mut messages = messages(count, bytes);
    messages.sort_by_key(|message| message.log_time);
    messages
}

#[test]
fn truncated_file_is_read_up_to_its_end() {
    truncate(17);
}

#[test]
#[ignore = "slow: every length"]
fn slow_truncated_file_is_read_up_to_its_end() {
    truncate(1);
}

/// Cuts the file at every length that is a multiple of `step` from its end.
fn truncate(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    for compression in COMPRESSIONS {
        let path = folder.path().join("cut.mcap");
        let written = ordered(8, 16);
        write(&path, WriteOptions { compression }, &written);
        let whole = fs::read(&path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = written[4].log_time.as_nanos().to_le_bytes();
        let fourth = whole.windows(8).position(|bytes| bytes == time).unwrap_or(0);
        let mut last = written.len();
        for length in (0..whole.len()).rev().step_by(step) {
            file.set_len(length as u64).unwrap();
            let bag = match Bag::open(&path) {
                Ok(bag) => bag,
                Err(_) if length < 8 => continue,
                Err(error) => panic!("{length}: {error}"),
            };
            // The index can be missing without a loss.
            assert_eq!(bag.warnings().len(), 1, "{length}");
            let read = read_all(&bag, &ReadOptions::default());
            assert_eq!(read, written[..read.len()], "{length}");
            assert_eq!(bag.message_count(), read.len() as u64);
            assert!(read.len() <= last, "{length}");
            last = read.len();
            if compression.is_none() && (fourth..fourth + step).contains(&length) {
                assert_eq!(last, 4, "the messages before the cut");
            }
        }
        assert_eq!(last, 0);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn truncated_file_keeps_the_chunks_before_the_break() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.mcap");
    let written = ordered(400, 20_000);
    write(&path, WriteOptions { compression: Some(Compression::Zstd) }, &written);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let bag = Bag::open(&path).unwrap();
    let warning = &bag.warnings()[0];
    assert!(warning.contains("the end of the file is missing: messages up to byte "), "{warning}");
    let read = read_all(&bag, &ReadOptions::default());
    assert_eq!(read, written[..read.len()]);
    assert!((150..250).contains(&read.len()), "{}", read.len());
}

#[test]
fn flipped_bit_is_an_error_or_leaves_correct_messages() {
    flip_bits(17);
}

#[test]
#[ignore = "slow: a bit of every byte"]
fn slow_flipped_bit_is_an_error_or_leaves_correct_messages() {
    flip_bits(1);
}

/// Flips a bit of every byte at a multiple of `step`.
fn flip_bits(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.mcap");
    for compression in COMPRESSIONS {
        let written = ordered(10, 16);
        write(&path, WriteOptions { compression }, &written);
        let whole = fs::read(&path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let mut errors = 0;
        for (at, byte) in whole.iter().enumerate().step_by(step) {
            file.write_all_at(&[byte ^ 1 << (at % 8)], at as u64).unwrap();
            match try_read(&path) {
                // Checksums cover all messages: none is wrong.
                Ok(read) => assert!(written.starts_with(&read), "byte {at}"),
                Err(_) => errors += 1,
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
        fs::remove_file(&path).unwrap();
        assert!(errors * step > 140, "{errors}");
    }
}

#[test]
fn random_damage_does_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.mcap");
    write(&path, WriteOptions { compression: None }, &ordered(30, 40));
    let whole = fs::read(&path).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut random = Random(7);
    for _ in 0..500 {
        for _ in 0..1 + random.below(8) {
            let byte = [0, 0xff, random.below(256) as u8][random.below(3) as usize];
            file.write_all_at(&[byte], random.below(whole.len() as u64)).unwrap();
        }
        let _ = try_read(&path);
        read_damaged(&path);
        file.write_all_at(&whole, 0).unwrap();
    }
}

/// Writes a file with the crate `mcap`.
fn with_mcap(path: &Path, options: mcap::WriteOptions, count: u64) {
    let mut writer = options.create(fs::File::create(path).unwrap()).unwrap();
    let schema = writer.add_schema("std_msgs/msg/String", "ros2msg", b"string data").unwrap();
    let channel = writer.add_channel(schema, "/topic", "cdr", &Default::default()).unwrap();
    for n in 0..count {
        let header = MessageHeader {
            channel_id: channel,
            sequence: n as u32,
            log_time: n + 1,
            publish_time: n,
        };
        writer.write_to_known_channel(&header, &[n as u8; 100]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn files_without_index_or_chunks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.mcap");
    let options = || mcap::WriteOptions::new().compression_threads(0);
    for (options, name) in [
        (options().emit_summary_records(false), "no summary"),
        (options().emit_summary_records(false).emit_message_indexes(false), "no message index"),
        (options().emit_chunk_indexes(false), "no chunk index"),
        (options().emit_statistics(false), "no statistics"),
        (options().repeat_channels(false), "no channels in the summary"),
        (options().emit_message_indexes(false), "chunk index only"),
        (options().use_chunks(false), "no chunks"),
        (options().use_chunks(false).emit_summary_records(false), "nothing"),
        (options().calculate_chunk_crcs(false).calculate_summary_section_crc(false), "no checksum"),
    ] {
        with_mcap(&path, options.chunk_size(Some(2_000)), 4_000);
        let bag = Bag::open(&path).unwrap();
        assert_eq!(bag.warnings(), [""; 0], "{name}");
        assert_eq!((bag.message_count(), bag.topics().len()), (4_000, 1), "{name}");
        let read = read_all(&bag, &ReadOptions::default());
        assert!(read.iter().enumerate().all(|(n, record)| record.sequence == n as u32), "{name}");
        assert_eq!(read.len(), 4_000, "{name}");
    }
}

/// A record of an MCAP file.
fn record(opcode: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), &body].concat()
}

/// A chunk record of these records, and its chunk index for a chunk at `offset`.
fn chunk(offset: u64, times: [u64; 2], crc: bool, records: &[u8]) -> [Vec<u8>; 2] {
    let [first, last, size] = [times[0], times[1], records.len() as u64].map(u64::to_le_bytes);
    let crc = if crc { crc32fast::hash(records) } else { 0 };
    let header = [&first[..], &last, &size, &crc.to_le_bytes(), &[0; 4], &size].concat();
    let chunk = record(6, &[&header, records]);
    let [offset, length] = [offset, chunk.len() as u64].map(u64::to_le_bytes);
    // Without message indexes and compression.
    let index = [&first[..], &last, &offset, &length, &[0; 16], &size, &size].concat();
    [chunk, record(8, &[&index])]
}

/// A file of ten messages, three of five in chunks and two of five between them; with the
/// checksums that are asked for. The statistics count all of them.
fn with_messages_between_chunks(path: &Path, summary: bool, chunk_crc: bool, data_crc: bool) {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let parts = ["std_msgs/msg/String", "ros2msg", "string data"].map(text);
    let schema = record(3, &[&1u16.to_le_bytes(), &parts.concat()]);
    let parts = ["/topic", "cdr", ""].map(text);
    let channel = record(4, &[&[0, 0, 1, 0], &parts.concat()]);
    let message = |n: u32| {
        let [log_time, publish_time] = [n, n + 1].map(|n| u64::from(n).to_le_bytes());
        record(5, &[&[0; 2], &n.to_le_bytes(), &log_time, &publish_time, &[n as u8; 30]])
    };
    let messages = |range: std::ops::Range<u32>| range.flat_map(message).collect::<Vec<_>>();
    let mut bytes = [&b"\x89MCAP0\r\n"[..], &record(1, &[&[0; 8]]), &schema, &channel].concat();
    let mut indexes = Vec::new();
    for first in [0, 5] {
        bytes.extend(messages(first..first + 1));
        let times = [first + 1, first + 3].map(u64::from);
        let records = messages(first + 1..first + 4);
        let [chunk, index] = chunk(bytes.len() as u64, times, chunk_crc, &records);
        bytes.extend([chunk, record(12, &[&[0; 8]]), messages(first + 4..first + 5)].concat());
        indexes.extend(index);
    }
    let crc = if data_crc { crc32fast::hash(&bytes) } else { 0 };
    bytes.extend(record(15, &[&crc.to_le_bytes()]));
    let start = if summary { bytes.len() as u64 } else { 0 };
    if summary {
        // Ten messages, a schema, a channel, two chunks, times from 0 to 9, ten of channel 0.
        let mut statistics = vec![10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
        statistics.extend([0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]);
        statistics.extend([0u64, 9].map(u64::to_le_bytes).concat());
        statistics.extend([10, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([schema, channel, indexes, record(11, &[&statistics])].concat());
    }
    bytes.extend(record(2, &[&start.to_le_bytes(), &[0; 12]]));
    bytes.extend(b"\x89MCAP0\r\n");
    fs::write(path, bytes).unwrap();
}

#[test]
fn messages_between_the_chunks_of_an_index_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("between.mcap");
    for summary in [true, false] {
        with_messages_between_chunks(&path, summary, true, true);
        let bag = Bag::open(&path).unwrap();
        assert_eq!((bag.message_count(), bag.warnings()), (10, &[][..]));
        for order in [Order::LogTime, Order::PublishTime] {
            let options = ReadOptions { order, ..ReadOptions::default() };
            let read: Vec<_> = read_all(&bag, &options).iter().map(|of| of.sequence).collect();
            assert_eq!(read, (0..10).collect::<Vec<_>>());
        }
        let options = ReadOptions { start: Some(Time::from_nanos(4)), ..ReadOptions::default() };
        assert_eq!(read_all(&bag, &options).len(), 6);
    }
}

#[test]
fn flipped_bit_of_a_file_without_an_index_is_an_error_or_leaves_all_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.mcap");
    let with_mcap = |options: mcap::WriteOptions| {
        with_mcap(&path, options.emit_summary_records(false).compression_threads(0), 10);
    };
    let options = || mcap::WriteOptions::new().chunk_size(Some(400)).compression(None);
    let files: [&dyn Fn(); 6] = [
        &|| with_mcap(options()),
        &|| with_mcap(options().use_chunks(false)),
        &|| with_mcap(options().compression(Some(mcap::Compression::Zstd))),
        &|| with_messages_between_chunks(&path, false, true, true),
        &|| with_messages_between_chunks(&path, false, false, true),
        // With an index, up to the summary.
        &|| with_messages_between_chunks(&path, true, true, true),
    ];
    for (number, create) in files.iter().enumerate() {
        create();
        let expected = try_read(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        let footer = whole.len() - 8 - 20;
        let summary = u64::from_le_bytes(whole[footer..footer + 8].try_into().unwrap()) as usize;
        let end = if summary == 0 { whole.len() } else { summary };
        let file = fs::File::options().write(true).open(&path).unwrap();
        let mut errors = 0;
        for bit in (0..end * 8).step_by(3) {
            let (at, byte) = (bit / 8, whole[bit / 8]);
            file.write_all_at(&[byte ^ 1 << (bit % 8)], at as u64).unwrap();
            match try_read(&path) {
                Ok(read) => assert!(read == expected, "file {number}, bit {bit}"),
                Err(_) => errors += 1,
            }
            file.write_all_at(&[byte], at as u64).unwrap();
        }
        assert!(errors > end, "{errors} errors");
    }
}

#[test]
fn damaged_chunk_is_left_out_of_a_damaged_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.mcap");
    for summary in [true, false] {
        let options = mcap::WriteOptions::new().emit_summary_records(summary);
        with_mcap(&path, options.compression(None).chunk_size(Some(300)), 20);
        let expected = try_read(&path).unwrap();
        assert_eq!(expected, read_all(&Bag::open_damaged(&path).unwrap(), &Default::default()));
        let whole = fs::read(&path).unwrap();
        let data = whole.windows(50).position(|bytes| bytes == [9; 50]).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[8], data as u64).unwrap();
        let bag = Bag::open_damaged(&path).unwrap();
        let read = read_all(&bag, &ReadOptions::default());
        let lost: Vec<_> = expected.iter().filter(|message| !read.contains(message)).collect();
        assert!((1..4).contains(&lost.len()) && lost.contains(&&expected[9]), "{}", lost.len());
        assert_eq!(read.len() + lost.len(), 20);
        let [warning] = bag.warnings() else { panic!("{:?}", bag.warnings()) };
        let problem = ": the chunk does not have its checksum";
        assert!(warning.contains("lost: byte ") && warning.contains(problem), "{warning}");
        if summary {
            assert!(warning.ends_with("; it has messages of /topic"), "{warning}");
            assert_eq!(bag.recorded_counts(), [20]);
        }
        // Whichever bit is damaged, no message is another one.
        for bit in (64..whole.len() * 8).step_by(41) {
            let (at, byte) = (bit / 8, whole[bit / 8]);
            let mut bytes = whole.clone();
            bytes[at] = byte ^ 1 << (bit % 8);
            fs::write(&path, bytes).unwrap();
            let read = read_all(&Bag::open_damaged(&path).unwrap(), &ReadOptions::default());
            assert!(read.iter().all(|message| expected.contains(message)), "bit {bit}");
        }
    }
}

/// A file of a chunk record with the given header.
fn with_chunk(path: &Path, compression: &str, size: u64, records: &[u8]) {
    let mut chunk = Vec::new();
    chunk.extend([0; 16]);
    chunk.extend(size.to_le_bytes());
    chunk.extend(0u32.to_le_bytes());
    chunk.extend((compression.len() as u32).to_le_bytes());
    chunk.extend(compression.as_bytes());
    chunk.extend((records.len() as u64).to_le_bytes());
    chunk.extend(records);
    let mut bytes = b"\x89MCAP0\r\n\x01\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x06".to_vec();
    bytes.extend((chunk.len() as u64).to_le_bytes());
    bytes.extend(chunk);
    fs::write(path, bytes).unwrap();
}

/// The warning or error of a file.
fn problem(path: &Path) -> String {
    match Bag::open(path) {
        Ok(bag) => bag.warnings().join("\n"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn chunk_that_lies_about_its_size_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lie.mcap");
    let zeros = vec![0; 1 << 20];
    let zstd = zstd::encode_all(&*zeros, 1).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut lz4, &zeros).unwrap();
    let lz4 = lz4.finish().unwrap();
    for (compression, records) in [("", &zeros), ("zstd", &zstd), ("lz4", &lz4)] {
        for size in [0, 10, (1 << 20) - 1, (1 << 20) + 1, 200 << 20] {
            with_chunk(&path, compression, size, records);
            assert!(problem(&path).contains("up to byte"), "{compression} {size}");
        }
        for size in [1 << 40, u64::MAX] {
            with_chunk(&path, compression, size, records);
            let problem = problem(&path);
            assert!(problem.contains("at most 268435456 are read"), "{problem}");
        }
    }
    with_chunk(&path, "brotli", 10, &zstd);
    assert!(problem(&path).contains("unknown compression `brotli`"));
}

#[test]
fn small_file_does_not_become_a_large_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.mcap");
    // 1 GiB of zeros in 34 kB, as a chunk and as a file.
    let mut bomb = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..1024 {
        std::io::Write::write_all(&mut bomb, &[0; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 200_000);
    with_chunk(&path, "zstd", 1 << 30, &bomb);
    assert!(problem(&path).contains("chunk of 1073741824 bytes"), "{}", problem(&path));
    with_chunk(&path, "zstd", 1 << 20, &bomb);
    assert!(problem(&path).contains("up to byte"), "{}", problem(&path));
}

#[test]
fn records_of_huge_length_are_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.mcap");
    for opcode in [1u8, 3, 4, 5, 6, 7, 8, 9, 0xb, 0xff] {
        for length in [u64::MAX, 1 << 62, 1 << 33, 100] {
            let mut bytes = b"\x89MCAP0\r\n".to_vec();
            bytes.push(opcode);
            bytes.extend(length.to_le_bytes());
            bytes.extend([0xff; 60]);
            fs::write(&path, &bytes).unwrap();
            assert!(problem(&path).contains("up to byte"), "{opcode} {length}");
        }
    }
}

#[test]
fn index_that_points_elsewhere_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cycle.mcap");
    let options = mcap::WriteOptions::new().calculate_summary_section_crc(false);
    with_mcap(&path, options.compression(None).compression_threads(0), 10);
    let expected = try_read(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The index says where the chunk begins: at the index itself, among others.
    let footer = bytes.len() - 8 - 20;
    let summary = u64::from_le_bytes(bytes[footer..footer + 8].try_into().unwrap());
    let chunk_at = bytes.windows(9).position(|w| w[0] == 6 && w[1..] != [0; 8]).unwrap() as u64;
    let place = bytes.windows(8).rposition(|w| w == chunk_at.to_le_bytes()).unwrap();
    for target in [summary, 0, 8, chunk_at + 1, u64::MAX] {
        bytes[place..place + 8].copy_from_slice(&target.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        assert_eq!(try_read(&path).unwrap(), expected, "{target}");
        let problem = problem(&path);
        assert!(problem.contains(": the file was read whole instead"), "{target}: {problem}");
    }
}

#[test]
fn index_that_names_a_chunk_twice_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.mcap");
    let options = mcap::WriteOptions::new().calculate_summary_section_crc(false);
    let options = options.compression(None).compression_threads(0).chunk_size(Some(200));
    with_mcap(&path, options, 10);
    let expected = try_read(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The offset of a chunk index follows two times.
    let footer = bytes.len() - 8 - 20;
    let summary = u64::from_le_bytes(bytes[footer..footer + 8].try_into().unwrap()) as usize;
    let (mut at, mut places) = (summary, Vec::new());
    while at < footer {
        let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap()) as usize;
        places.extend((bytes[at] == 8).then_some(at + 9 + 16));
        at += 9 + length;
    }
    assert!(places.len() > 1, "one chunk only");
    let first = bytes[places[0]..places[0] + 8].to_vec();
    bytes[places[1]..places[1] + 8].copy_from_slice(&first);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(try_read(&path).unwrap(), expected);
    let bag = Bag::open(&path).unwrap();
    let [warning] = bag.warnings() else { panic!("{:?}", bag.warnings()) };
    assert!(warning.contains("a chunk of the index is not between records"), "{warning}");
}

#[test]
fn damaged_sqlite_file_does_not_panic() {
    damage_sqlite(397, 250);
}

#[test]
#[ignore = "slow: more lengths and rounds"]
fn slow_damaged_sqlite_file_does_not_panic() {
    damage_sqlite(97, 1_000);
}

/// Cuts the file at every multiple of `step`, then damages it so many times.
fn damage_sqlite(step: usize, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db3");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type, serialization_format); \
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data); \
             CREATE INDEX timestamp_idx ON messages (timestamp ASC); \
             INSERT INTO topics VALUES (1, '/topic', 'std_msgs/msg/String', 'cdr'); \
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 300) \
             INSERT INTO messages SELECT id, 1, id, randomblob(id) FROM n;",
        )
        .unwrap();
    drop(connection);
    assert_eq!(try_read(&path).unwrap().len(), 300);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(step) {
        fs::write(&path, &whole[..length]).unwrap();
        let _ = try_read(&path);
    }
    fs::write(&path, &whole).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut random = Random(9);
    for round in 0..rounds {
        for _ in 0..1 + random.below(20) {
            // The headers of pages are the interesting places.
            let page = 4096 * random.below(whole.len() as u64 / 4096);
            file.write_all_at(&[random.below(256) as u8], page + random.below(120)).unwrap();
        }
        let _ = try_read(&path);
        // It tries many keys, which takes a while.
        if round % 20 == 0 {
            read_damaged(&path);
        }
        file.write_all_at(&whole, 0).unwrap();
    }
}

#[test]
fn problem_of_a_file_names_the_file_and_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.mcap");
    write(&path, WriteOptions::default(), &ordered(30, 40));
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let bag = Bag::open(&path).unwrap();
    let mut reader = bag.read(&ReadOptions::default()).unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Parse, Some(&*path)));
    let text = error.to_string();
    let (_, place) = text.split_once("flipped.mcap: damaged at byte ").unwrap();
    let offset: u64 = place.split(':').next().unwrap().parse().unwrap();
    assert!(offset >= 24, "{text}");
    assert!(reader.next().is_none(), "the reader ends after an error");
    let options = ReadOptions { skip_checksums: true, ..ReadOptions::default() };
    assert_eq!(read_all(&bag, &options).len(), 30, "the damage is in the data of a message");
    fs::write(&path, "\u{89}MCAP").unwrap();
    let error = Bag::open(&path).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("neither MCAP nor SQLite3; name a rosbag2"), "{error}");
}
