//! Programs with threads and tokio, one for each argument, that write each event with its thread
//! and time. The tests of the member start each one several times and compare the outputs. By hand,
//! with `RINGSPIN_MODE=deterministic`:
//! `cargo run -p ringspin-simulated-threads --example programs -- pool`.

mod awkward;
mod c;
mod kernel;
mod libraries;
mod standard;
mod tokios;

use ringspin_simulated_threads as _;
use std::fmt::Display;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const MILLI: Duration = Duration::from_millis(1);

type Program = (&'static str, fn());

/// Writes an event with the name of the thread and the time since the first event.
fn log(what: impl Display) {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let name = std::thread::current().name().unwrap_or("-").to_owned();
    println!("{:?} {name}: {what}", BEGIN.elapsed());
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let groups: [(&str, &[Program]); 5] = [
        ("standard", standard::PROGRAMS),
        ("libraries", libraries::PROGRAMS),
        ("tokio", tokios::PROGRAMS),
        ("c", c::PROGRAMS),
        ("kernel", kernel::PROGRAMS),
    ];
    let all = groups.iter().flat_map(|(_, programs)| programs.iter());
    if let Some((_, program)) = all.chain(awkward::PROGRAMS).find(|(name, _)| *name == wanted) {
        log("begin");
        program();
        return log("end");
    }
    match groups.iter().find(|(name, _)| *name == wanted) {
        Some((_, programs)) => programs.iter().for_each(|(name, _)| println!("{name}")),
        None => {
            panic!("{wanted:?} is no program and no group: standard, libraries, tokio, c, kernel")
        }
    }
}
