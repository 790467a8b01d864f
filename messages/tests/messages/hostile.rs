//! Damaged data: never a panic, and memory only in proportion to the data.

use super::model::{Encoder, definitions};
use ringspin_message_generator::{Definitions, TypeName, parse_message, parse_schema};
use ringspin_messages::cdr::from_bytes;
use ringspin_messages::sensor_msgs::msg::{Image, PointCloud2};
use ringspin_messages::{GeneratedMessage, RosMessage, TypeVisitor, visit_types};

/// Memory for each byte of data: an empty string takes 4 bytes there and 24 here, and a vector of
/// them up to twice that while it grows; an empty message takes 1 and is a struct of none.
const MEMORY_PER_BYTE: u64 = 32;
/// Memory for the values of definitions: fixed arrays, at most 256 elements before they are read.
const MEMORY_MIN: u64 = 64 * 1024;

/// Reads `bytes` within the limit of memory.
#[track_caller]
fn read<M: RosMessage>(bytes: &[u8]) {
    let used = allocation_counter::measure(|| drop(from_bytes::<M>(bytes)));
    let limit = MEMORY_MIN + MEMORY_PER_BYTE * bytes.len() as u64;
    let name = M::TYPE_NAME;
    assert!(used.bytes_max <= limit, "{name}: {} of {} bytes", used.bytes_max, bytes.len());
}

/// Damages a random message of each type in several ways.
struct Damage<'a>(&'a Definitions);

impl TypeVisitor for Damage<'_> {
    fn message<M: GeneratedMessage>(&mut self) {
        let name = TypeName::parse(M::TYPE_NAME).unwrap();
        for (seed, order) in [(1, 0), (2, 1)] {
            let bytes = &Encoder::encode(self.0, &name, seed)[order];
            // Long messages by samples: each place counts in one type or another.
            let step = 1 + bytes.len() / 60;
            for at in (0..bytes.len()).step_by(step) {
                read::<M>(&bytes[..at]);
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                read::<M>(&flipped);
                for length in [u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x00ff_ffff] {
                    let mut huge = bytes.clone();
                    let aligned = at / 4 * 4;
                    huge[aligned..]
                        .iter_mut()
                        .zip(length.to_ne_bytes())
                        .for_each(|(to, from)| *to = from);
                    read::<M>(&huge);
                }
            }
        }
        for byte in [0, 1, 0xff] {
            read::<M>(&[vec![0, 1, 0, 0], vec![byte; 10_000]].concat());
        }
    }
}

#[test]
fn damaged_messages_need_memory_in_proportion_to_their_size_only() {
    let definitions = &definitions();
    visit_types(&mut Damage(definitions));
    ringspin_test_msgs::visit_types(&mut Damage(definitions));
}

#[test]
fn huge_lengths_allocate_nothing() {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend([0; 8]); // the stamp
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]); // no frame, padding
    let cloud = [&*bytes, &[0; 8], &[0xff; 4]].concat(); // height, width, number of fields
    let image = [&*bytes, &[0; 8], &[0xff; 4]].concat(); // height, width, length of the encoding
    let used = allocation_counter::measure(|| {
        assert!(from_bytes::<PointCloud2>(&cloud).unwrap_err().to_string().contains("end of"));
        assert!(from_bytes::<Image>(&image).unwrap_err().to_string().contains("end of"));
    });
    assert!(used.bytes_max < 2_000, "{} bytes", used.bytes_max);
}

#[test]
fn damaged_definitions_are_errors_or_definitions() {
    damage_definitions(100);
}

#[test]
#[ignore = "slow: more places"]
fn slow_damaged_definitions_are_errors_or_definitions() {
    damage_definitions(300);
}

/// Cuts each definition at so many places, and inserts hostile text there.
fn damage_definitions(places: usize) {
    let definitions = definitions();
    for name in ["nav_msgs/msg/Odometry", "test_msgs/msg/MultiNested", "my_msgs/msg/Obstacle"] {
        let name = TypeName::parse(name).unwrap();
        let schema = definitions.schema(&name).unwrap();
        let step = 1 + schema.len() / places;
        for at in (0..schema.len()).step_by(step).filter(|at| schema.is_char_boundary(*at)) {
            let _ = parse_schema(&name, &schema[..at], "");
            for text in ["\n", "#", "[", "]", "<=99999999999", "\"", "'", "=", "é", "---\n", "MSG:"]
            {
                let damaged = [&schema[..at], text, &schema[at..]].concat();
                let _ = parse_schema(&name, &damaged, "");
                let _ = parse_message(&name, &damaged, "");
            }
        }
    }
}
