//! Readings that an interrupt hands to the main loop, on a Cortex-M4 without an operating system.
//!
//! The timer's interrupt produces, the main loop consumes, and the ring between them is the one of
//! the executor's recorder: `push` and `pop` are wait-free, so that neither side masks the other
//! one. The heap serves only to create the ring. Records have a fixed capacity ([`heapless::Vec`]),
//! as has the text of a line ([`heapless::String`]), so that nothing is allocated per reading.
//!
//! `scripts/test-bare-metal` runs it on qemu's board mps2-an386.

#![no_std]
#![no_main]

use core::cell::RefCell;
use core::fmt::Write as _;
use core::mem::MaybeUninit;
use cortex_m::peripheral::{Peripherals, syst::SystClkSource};
use cortex_m_rt::{entry, exception};
use cortex_m_semihosting::{debug, hprintln};
use critical_section::Mutex;
use embedded_alloc::LlffHeap;
use heapless::{String, Vec};
use panic_semihosting as _;
use ringspin_ringbuf::spsc::{Producer, ring};

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

const HEAP_BYTES: usize = 4096;
const RING_READINGS: usize = 8;
const READINGS: u32 = 200;
/// Cycles of the processor from one reading to the next.
const PERIOD: u32 = 25_000;

/// The echoes of one turn of a range finder; how many there are differs from turn to turn.
struct Reading {
    sequence: u32,
    ranges_mm: Vec<u16, 6>,
}

/// The end of the ring that the interrupt uses, and the readings that found the ring full.
struct Sensor {
    producer: Producer<Reading>,
    sequence: u32,
    refused: u32,
}

static SENSOR: Mutex<RefCell<Option<Sensor>>> = Mutex::new(RefCell::new(None));

#[exception]
fn SysTick() {
    critical_section::with(|section| {
        let Some(sensor) = &mut *SENSOR.borrow_ref_mut(section) else { return };
        let sequence = sensor.sequence;
        let ranges_mm = (0..sequence % 7).map(|echo| (1000 * echo + sequence) as u16).collect();
        sensor.sequence += 1;
        sensor.refused += u32::from(sensor.producer.push(Reading { sequence, ranges_mm }).is_err());
    });
}

#[entry]
fn main() -> ! {
    static mut MEMORY: [MaybeUninit<u8>; HEAP_BYTES] = [MaybeUninit::uninit(); HEAP_BYTES];
    // SAFETY: this runs once, before the first allocation, and nothing else uses the memory.
    unsafe { HEAP.init(MEMORY.as_mut_ptr().addr(), HEAP_BYTES) };
    let (producer, mut consumer) = ring::<Reading>(RING_READINGS);
    let heap_used = HEAP.used();
    let sensor = Sensor { producer, sequence: 0, refused: 0 };
    critical_section::with(|section| SENSOR.replace(section, Some(sensor)));

    let mut timer = Peripherals::take().expect("the peripherals are taken once").SYST;
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(PERIOD);
    timer.clear_current();
    timer.enable_counter();
    timer.enable_interrupt();

    let (mut received, mut echoes, mut missed) = (0, 0, 0);
    while received < READINGS {
        let Some(reading) = consumer.pop() else {
            cortex_m::asm::wfi();
            continue;
        };
        missed += reading.sequence - received - missed;
        received += 1;
        echoes += reading.ranges_mm.len();
        for (echo, range_mm) in reading.ranges_mm.iter().enumerate() {
            assert_eq!(u32::from(*range_mm), 1000 * echo as u32 + reading.sequence);
        }
    }
    timer.disable_interrupt();
    let sensor = critical_section::with(|section| SENSOR.take(section));
    let refused = sensor.expect("the interrupt leaves the sensor in its place").refused;
    assert!(missed <= refused, "{missed} readings are missing, {refused} were refused");
    assert_eq!(HEAP.used(), heap_used, "a reading was allocated");

    let mut line = String::<64>::new();
    write!(line, "{received} readings, {echoes} echoes, {refused} refused").expect("it is short");
    hprintln!("{}", line);
    debug::exit(debug::EXIT_SUCCESS);
    unreachable!("qemu ends the program");
}
