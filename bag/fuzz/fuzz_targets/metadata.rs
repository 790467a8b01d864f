//! Reading of `metadata.yaml` with any content.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringspin_bag_fuzz::read;

fuzz_target!(|data: &[u8]| read(data, "metadata.yaml", true));
