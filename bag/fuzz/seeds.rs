//! Writes small valid files, from which the fuzzer starts, to `corpus/`.

use mcap::records::MessageHeader;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in ["mcap", "sqlite", "metadata"] {
        fs::create_dir_all(corpus.join(target))?;
    }
    // Without checksums, which would refuse most of the fuzzer's files.
    let options = || {
        mcap::WriteOptions::new()
            .calculate_chunk_crcs(false)
            .calculate_summary_section_crc(false)
            .calculate_data_section_crc(false)
            .compression(None)
            .compression_threads(0)
            .chunk_size(Some(200))
    };
    let variants = [
        ("indexed", options()),
        ("zstd", options().compression(Some(mcap::Compression::Zstd))),
        ("lz4", options().compression(Some(mcap::Compression::Lz4))),
        ("scanned", options().emit_summary_records(false)),
        ("plain", options().use_chunks(false)),
    ];
    for (name, options) in variants {
        let mut writer = options.create(fs::File::create(corpus.join("mcap").join(name))?)?;
        for topic in ["/a", "/b"] {
            let schema = writer.add_schema("std_msgs/msg/String", "ros2msg", b"string data")?;
            let channel_id = writer.add_channel(schema, topic, "cdr", &Default::default())?;
            for n in 0..5 {
                let log_time = 10 - u64::from(n);
                let header =
                    MessageHeader { channel_id, sequence: n, log_time, publish_time: log_time };
                writer.write_to_known_channel(&header, b"\0\x01\0\0\x03\0\0\0hi\0")?;
            }
        }
        writer.finish()?;
    }
    let path = corpus.join("sqlite/small");
    let _ = fs::remove_file(&path);
    rusqlite::Connection::open(&path)?.execute_batch(
        "PRAGMA page_size = 512;
         CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type, serialization_format);
         CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data);
         CREATE INDEX timestamp_idx ON messages (timestamp ASC);
         INSERT INTO topics VALUES (1, '/topic', 'std_msgs/msg/String', 'cdr');
         WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 40)
         INSERT INTO messages SELECT id, 1, id % 7, x'0001020304' FROM n;",
    )?;
    let text = include_str!("../tests/files/jazzy_metadata.yaml");
    fs::write(corpus.join("metadata/jazzy"), text)?;
    Ok(())
}
