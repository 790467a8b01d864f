//! Reading of SQLite3 files with any content.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringspin_bag_fuzz::read;

fuzz_target!(|data: &[u8]| read(data, "fuzzed.db3", false));
