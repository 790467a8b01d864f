//! Damaged and hostile files: errors or warnings, never a panic, and bounded memory.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{Message, Random, messages, read_all, write};
use mcap::records::MessageHeader;
use ringspin_bag::{Bag, Compression, FileError, OpenError, ReadError, ReadOptions, WriteOptions};

const COMPRESSIONS: [Option<Compression>; 3] =
    [None, Some(Compression::Zstd), Some(Compression::Lz4)];

/// The messages of a file as far as they can be read.
fn try_read(path: &Path) -> Result<Vec<Message>, String> {
    let bag = Bag::open(path).map_err(|error| error.to_string())?;
    let reader = bag.read(&ReadOptions::default()).map_err(|error| error.to_string())?;
    reader.collect::<Result<_, _>>().map_err(|error: ReadError| error.to_string())
}

/// Messages in the order of their times.
fn ordered(count: u64, bytes: u64) -> Vec<Message> {
    let mut messages = messages(count, bytes);
    messages.sort_by_key(|message| message.log_time);
    messages
}

#[test]
fn truncated_file_is_read_up_to_its_end() {
    truncate(7);
}

#[test]
#[ignore = "slow: every length; .ci/run runs it"]
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
    flip_bits(7);
}

#[test]
#[ignore = "slow: a bit of every byte; .ci/run runs it"]
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
        assert!(errors > 20, "{errors}");
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
        with_mcap(&path, options.chunk_size(Some(10_000)), 20_000);
        let bag = Bag::open(&path).unwrap();
        assert_eq!(bag.warnings(), [""; 0], "{name}");
        assert_eq!((bag.message_count(), bag.topics().len()), (20_000, 1), "{name}");
        let read = read_all(&bag, &ReadOptions::default());
        assert!(read.iter().enumerate().all(|(n, record)| record.sequence == n as u32), "{name}");
        assert_eq!(read.len(), 20_000, "{name}");
    }
}

/// A file of a chunk record that says of itself whatever is given.
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
fn index_that_points_elsewhere_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cycle.mcap");
    let options = mcap::WriteOptions::new().calculate_summary_section_crc(false);
    with_mcap(&path, options.compression(None).compression_threads(0), 10);
    let mut bytes = fs::read(&path).unwrap();
    // The index says where the chunk begins: at the index itself, among others.
    let footer = bytes.len() - 8 - 20;
    let summary = u64::from_le_bytes(bytes[footer..footer + 8].try_into().unwrap());
    let chunk_at = bytes.windows(9).position(|w| w[0] == 6 && w[1..] != [0; 8]).unwrap() as u64;
    let place = bytes.windows(8).rposition(|w| w == chunk_at.to_le_bytes()).unwrap();
    for target in [summary, 0, 8, chunk_at + 1, u64::MAX] {
        bytes[place..place + 8].copy_from_slice(&target.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let error = try_read(&path).unwrap_err();
        assert!(error.contains("cycle.mcap: damaged at byte "), "{error}");
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
    assert!(warning.contains("two chunks of the index overlap"), "{warning}");
}

#[test]
fn damaged_sqlite_file_does_not_panic() {
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
    for length in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..length]).unwrap();
        let _ = try_read(&path);
    }
    fs::write(&path, &whole).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut random = Random(9);
    for _ in 0..1_000 {
        for _ in 0..1 + random.below(20) {
            // The headers of pages are the interesting places.
            let page = 4096 * random.below(whole.len() as u64 / 4096);
            file.write_all_at(&[random.below(256) as u8], page + random.below(120)).unwrap();
        }
        let _ = try_read(&path);
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
    let is_damaged =
        matches!(&error, ReadError::File { problem: FileError::Damaged { offset: 24.., .. }, .. });
    assert!(is_damaged, "{error}");
    assert!(error.to_string().contains("flipped.mcap: damaged at byte "), "{error}");
    assert!(reader.next().is_none(), "the reader ends after an error");
    let options = ReadOptions { skip_checksums: true, ..ReadOptions::default() };
    assert_eq!(read_all(&bag, &options).len(), 30, "the damage is in the data of a message");
    fs::write(&path, "\u{89}MCAP").unwrap();
    assert!(matches!(Bag::open(&path).err().unwrap(), OpenError::NotARecording { .. }));
}
