//! Serialized messages: a message that is read, written and read again is the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringspin_messages::cdr::{from_bytes, to_bytes};
use ringspin_messages::{GeneratedMessage, TypeVisitor, visit_types};
use std::sync::LazyLock;

type Check = fn(&[u8]);

/// The check of each type.
#[derive(Default)]
struct Checks(Vec<Check>);

impl TypeVisitor for Checks {
    fn message<M: GeneratedMessage>(&mut self) {
        self.0.push(|bytes| {
            let Ok(message) = from_bytes::<M>(bytes) else {
                return;
            };
            let written = match to_bytes(&message) {
                Ok(written) => written,
                // Text of other writers may have it.
                Err(error) if error.to_string().contains("has a NUL character") => return,
                Err(error) => panic!("it was read, so it can be written: {error}"),
            };
            let again = from_bytes::<M>(&written).expect("it was written, so it can be read");
            // Compared as bytes, because not-a-number is unequal to itself.
            assert_eq!(to_bytes(&again).unwrap(), written);
        });
    }
}

static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let mut checks = Checks::default();
    visit_types(&mut checks);
    ringspin_test_msgs::visit_types(&mut checks);
    checks.0
});

// The first two bytes choose the type.
fuzz_target!(|data: &[u8]| {
    if let Some((index, bytes)) = data.split_first_chunk::<2>() {
        CHECKS[usize::from(u16::from_le_bytes(*index)) % CHECKS.len()](bytes);
    }
});
