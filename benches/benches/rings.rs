//! The rings of `ringspin-ringbuf` compared with other crates' rings and channels.
//!
//! ```text
//! cargo bench -p ringspin-benches --bench rings                  # everything, a minute
//! cargo bench -p ringspin-benches --bench rings -- "spsc latency" --rounds 200
//! cargo bench -p ringspin-benches --bench rings -- --test        # everything once, in a second
//! ```
//!
//! # Method
//! This benchmark does not use criterion, which runs one candidate after the other: see
//! [`rounds`](ringspin_benches::rounds). The candidates of a cell take turns of about a
//! millisecond; each turn starts its own threads, and its first eighth does not count. A table
//! shows the median and the quartiles over all rounds of the time per operation, and of the ratio
//! to the first candidate, ringspin, in the same round: above 1, ringspin is faster.
//!
//! All threads are pinned, and every operation is the crate's non-blocking one with bounded
//! capacity, polled with `spin_loop` in between; waiting is not measured. Each message is written
//! completely, and its order is checked. It moves out of the ring by value where that is the
//! interface; where messages can be read in place (the multiplexer, `disruptor` beside it, and the
//! batches of `rtrb`, `ringbuf` and `disruptor`), they are.
//!
//! | cells | operation |
//! |---|---|
//! | `spsc latency` | a hop between two cores (round trip / 2), in rings of 64 |
//! | `spsc throughput`, `batches` | a message of a stream between cores, singly or 32 at a time |
//! | `ready push` | a push alone, or a push and a pop, on one thread |
//! | `ready contended push` | a push while another core also pushes; without a consumer |
//! | `ready latency`, `throughput` | as with `spsc` |
//! | `ready 2 producers` | a message of two streams to one consumer, on two cores: see below |
//! | `multiplexer latency`, `throughput` | as with `spsc`, to one consumer, or to two on a thread |
//! | `keep_last` | on one thread: push and take; push into a full queue |
//! | `pool` | on one thread: make a message, or make and clone it, and drop it |
//!
//! With two consumers, a message counts once both have read it. The bare lines are the hardware's
//! limit: two players write to one cache line in turn, or each to its own, as any ring must.
//!
//! # Limits
//! * Figures between cores need both cores exclusively. Trust ratios within a cell more than
//!   nanoseconds, and latencies more than throughputs: a stream's consumer may or may not follow
//!   its producer so closely that they compete for each cache line.
//! * On two cores, two producers and a consumer cannot all run: one producer shares the consumer's
//!   core, and idle threads yield. This measures behaviour under pre-emption more than the ring.
//!   `ready contended push` is not oversubscribed.
//! * Machine of the project's figures: as in `delivery.rs`, a KVM guest with two virtual cores.
//!   When the host places both on one physical core, all communication between them is several
//!   times faster: check the bare lines of the cell.
//! * With one allowed core, only the single-threaded cells are measured.

use crossbeam_queue::ArrayQueue;
use ringspin_benches::Token;
use ringspin_benches::pipes::{
    Message, ROOM, alone, bounce, contended_send, oversubscribed_stream, ping_pong, send_alone,
    send_and_receive, stream, stream_batches,
};
use ringspin_benches::ring_peers as peers;
use ringspin_benches::rounds::{Cell, Options, Unit};
use ringspin_modes::allowed_cores;
use ringspin_ringbuf::{Pool, keep_last};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

/// Adds candidates that each play `$game` with their own kind of `$pipe`.
macro_rules! candidates {
    ($cell:ident, $pipe:ident => $game:expr, $($name:literal: $make:expr;)+) => {
        $({
            let $pipe = || $make;
            $cell.add($name, $game);
        })+
    };
}

fn spsc<const WORDS: usize, const ROOM: usize>(options: &Options, cores: [usize; 2], size: &str) {
    macro_rules! spsc_candidates {
        ($cell:ident, $room:expr, $pipe:ident => $game:expr) => {
            candidates!($cell, $pipe => $game,
                "ringspin": peers::own_spsc::<Token<WORDS>>($room);
                "rtrb": peers::rtrb::<Token<WORDS>>($room);
                "heapless": peers::heapless::<Token<WORDS>, { $room }>();
                "ringbuf": peers::ringbuf::<Token<WORDS>>($room);
                "ArrayQueue": peers::array_queue::<Token<WORDS>>($room);
                "disruptor": peers::disruptor::<Token<WORDS>>($room);
                "std sync_channel": peers::std_channel::<Token<WORDS>>($room);
            )
        };
    }
    let scale = if WORDS > 64 { 8 } else { 1 };
    let mut cell = Cell::new(format!("spsc latency, {size}"), Unit::Time, 8_000 / scale);
    spsc_candidates!(cell, 64, pipe => ping_pong(cores, pipe(), pipe()));
    cell.add("(one bare line)", bounce(cores, 1));
    cell.add("(two bare lines)", bounce(cores, 2));
    cell.run(options);

    let mut cell = Cell::new(format!("spsc throughput, {size}"), Unit::Rate, 40_000 / scale);
    spsc_candidates!(cell, ROOM, pipe => stream(cores, pipe()));
    cell.run(options);

    let mut cell = Cell::new(format!("spsc batches, {size}"), Unit::Rate, 80_000 / scale);
    candidates!(cell, pipe => stream_batches(cores, pipe()),
        "ringspin": peers::own_spsc_batches::<Token<WORDS>>(ROOM);
        "rtrb": peers::rtrb_batches::<Token<WORDS>>(ROOM);
        "ringbuf": peers::ringbuf_batches::<Token<WORDS>>(ROOM);
        "disruptor": peers::disruptor_batches::<Token<WORDS>>(ROOM);
        "(ringspin by value)": peers::own_spsc_values::<Token<WORDS>>(ROOM);
    );
    cell.add("(ringspin singly)", stream(cores, peers::own_spsc::<Token<WORDS>>(ROOM)));
    cell.run(options);
}

/// Adds all alternatives to the ready ring.
macro_rules! ready_candidates {
    ($cell:ident, $room:expr, $pipe:ident => $game:expr) => {
        candidates!($cell, $pipe => $game,
            "ringspin": peers::own_ready($room);
            "ArrayQueue": peers::array_queue::<u32>($room);
            "crossbeam-channel": peers::crossbeam_channel::<u32>($room);
            "thingbuf": peers::thingbuf($room);
            "flume": peers::flume::<u32>($room);
            "kanal": peers::kanal::<u32>($room);
            "tokio mpsc": peers::tokio_mpsc::<u32>($room);
            "std sync_channel": peers::std_channel::<u32>($room);
        )
    };
}

fn ready_alone(options: &Options, core: usize) {
    let mut cell = Cell::new("ready push", Unit::Time, 100 * ROOM);
    ready_candidates!(cell, ROOM as usize, pipe => send_alone(core, pipe()));
    cell.run(options);

    let mut cell = Cell::new("ready push and pop", Unit::Time, 40_000);
    ready_candidates!(cell, ROOM as usize, pipe => send_and_receive(core, pipe()));
    cell.run(options);
}

fn ready(options: &Options, cores: [usize; 2]) {
    const PUSHES: usize = 1 << 14;
    let mut cell = Cell::new("ready contended push", Unit::Time, PUSHES as u64);
    ready_candidates!(cell, PUSHES, pipe => contended_send(cores, pipe()));
    cell.run(options);

    let mut cell = Cell::new("ready latency", Unit::Time, 8_000);
    ready_candidates!(cell, 64, pipe => ping_pong(cores, pipe(), pipe()));
    cell.add("(one bare line)", bounce(cores, 1));
    cell.add("(two bare lines)", bounce(cores, 2));
    cell.run(options);

    let mut cell = Cell::new("ready throughput", Unit::Rate, 40_000);
    ready_candidates!(cell, 256, pipe => stream(cores, pipe()));
    cell.run(options);

    let mut cell = Cell::new("ready 2 producers, oversubscribed", Unit::Rate, 40_000);
    ready_candidates!(cell, 256, pipe => oversubscribed_stream(cores, pipe()));
    cell.run(options);
}

fn multiplexer<const WORDS: usize, const ROOM: usize>(
    options: &Options,
    cores: [usize; 2],
    size: &str,
) {
    let scale = if WORDS > 64 { 8 } else { 1 };
    let title = |what| format!("multiplexer {what}, {size}");

    let mut cell = Cell::new(title("latency to 1"), Unit::Time, 8_000 / scale);
    candidates!(cell, pipe => ping_pong(cores, pipe(), pipe()),
        "ringspin": peers::own_multiplexer::<Token<WORDS>, 1>(64);
        "disruptor": peers::disruptor_in_place::<Token<WORDS>>(64);
        "bus": peers::bus::<Token<WORDS>, 1>(64);
        "tokio broadcast": peers::tokio_broadcast::<Token<WORDS>, 1>(64);
    );
    cell.add("(one bare line)", bounce(cores, 1));
    cell.add("(two bare lines)", bounce(cores, 2));
    cell.run(options);

    let mut cell = Cell::new(title("latency to 2"), Unit::Time, 8_000 / scale);
    candidates!(cell, pipe => ping_pong(cores, pipe(), pipe()),
        "ringspin": peers::own_multiplexer::<Token<WORDS>, 2>(64);
        "disruptor": peers::disruptor_to_two::<Token<WORDS>>(64);
        "bus": peers::bus::<Token<WORDS>, 2>(64);
        "tokio broadcast": peers::tokio_broadcast::<Token<WORDS>, 2>(64);
    );
    cell.run(options);

    let mut cell = Cell::new(title("throughput to 1"), Unit::Rate, 40_000 / scale);
    candidates!(cell, pipe => stream(cores, pipe()),
        "ringspin": peers::own_multiplexer::<Token<WORDS>, 1>(ROOM);
        "disruptor": peers::disruptor_in_place::<Token<WORDS>>(ROOM);
        "bus": peers::bus::<Token<WORDS>, 1>(ROOM);
    );
    cell.run(options);

    let mut cell = Cell::new(title("throughput to 2"), Unit::Rate, 40_000 / scale);
    candidates!(cell, pipe => stream(cores, pipe()),
        "ringspin": peers::own_multiplexer::<Token<WORDS>, 2>(ROOM);
        "disruptor": peers::disruptor_to_two::<Token<WORDS>>(ROOM);
        "bus": peers::bus::<Token<WORDS>, 2>(ROOM);
    );
    cell.run(options);

    let mut cell = Cell::new(title("batches"), Unit::Rate, 80_000 / scale);
    candidates!(cell, pipe => stream_batches(cores, pipe()),
        "ringspin": peers::own_multiplexer_batches::<Token<WORDS>>(ROOM);
        "disruptor": peers::disruptor_batches::<Token<WORDS>>(ROOM);
    );
    cell.run(options);
}

/// The depth of every keep-last queue.
const DEPTH: usize = 4;

/// One keep-last queue of each candidate.
struct Queues<M: Send + 'static> {
    pool: Pool<M>,
    ends: (keep_last::Producer<M>, keep_last::Consumer<M>),
    array: ArrayQueue<M>,
    shared: ArrayQueue<Arc<M>>,
}

impl<M: Send> Queues<M> {
    fn new() -> Self {
        let pool = Pool::new();
        let ends = keep_last::queue(&pool, DEPTH);
        Self { pool, ends, array: ArrayQueue::new(DEPTH), shared: ArrayQueue::new(DEPTH) }
    }
}

fn keep_last<const WORDS: usize>(options: &Options, core: usize, size: &str) {
    let message = |n| Token::<WORDS>::numbered(black_box(n));
    let Queues { pool, ends: (producer, mut consumer), array, shared } = Queues::new();
    let mut cell = Cell::new(format!("keep_last push and take, {size}"), Unit::Time, 20_000);
    cell.add(
        "ringspin",
        alone(core, move |n| {
            black_box(&producer.push(pool.insert(message(n))));
            black_box(&consumer.take());
        }),
    );
    cell.add(
        "ArrayQueue force_push",
        alone(core, move |n| {
            black_box(&array.force_push(message(n)));
            black_box(&array.pop());
        }),
    );
    cell.add(
        "ArrayQueue force_push of Arc",
        alone(core, move |n| {
            black_box(&shared.force_push(Arc::new(message(n))));
            black_box(&shared.pop());
        }),
    );
    cell.run(options);
}

fn keep_last_overwrite<const WORDS: usize>(options: &Options, core: usize, size: &str) {
    let message = |n| Token::<WORDS>::numbered(black_box(n));
    let Queues { pool, ends: (producer, _consumer), array, shared } = Queues::new();
    let mut cell = Cell::new(format!("keep_last overwrite, {size}"), Unit::Time, 20_000);
    cell.add(
        "ringspin",
        alone(core, move |n| {
            black_box(&producer.push(pool.insert(message(n))));
        }),
    );
    cell.add(
        "ArrayQueue force_push",
        alone(core, move |n| {
            black_box(&array.force_push(message(n)));
        }),
    );
    cell.add(
        "ArrayQueue force_push of Arc",
        alone(core, move |n| {
            black_box(&shared.force_push(Arc::new(message(n))));
        }),
    );
    cell.run(options);
}

fn pool<const WORDS: usize>(options: &Options, core: usize, size: &str) {
    let message = |n| Token::<WORDS>::numbered(black_box(n));
    let mut cell = Cell::new(format!("pool make and drop, {size}"), Unit::Time, 20_000);
    let messages = Pool::new();
    cell.add("ringspin", alone(core, move |n| _ = black_box(&messages.insert(message(n)))));
    cell.add("Arc", alone(core, move |n| _ = black_box(&Arc::new(message(n)))));
    cell.add("Box", alone(core, move |n| _ = black_box(&Box::new(message(n)))));
    cell.run(options);

    let mut cell = Cell::new(format!("pool make, clone and drop, {size}"), Unit::Time, 20_000);
    let messages = Pool::new();
    cell.add(
        "ringspin",
        alone(core, move |n| {
            let first = messages.insert(message(n));
            black_box((&first.clone(), &first));
        }),
    );
    cell.add(
        "Arc",
        alone(core, move |n| {
            let first = Arc::new(message(n));
            black_box((&first.clone(), &first));
        }),
    );
    cell.run(options);
}

/// Ends the process when a player panics, because its partner would spin for ever.
fn fail_as_a_whole() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(101);
    }));
}

fn main() -> ExitCode {
    fail_as_a_whole();
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let cores = allowed_cores();
    let first = *cores.first().expect("a process may run somewhere");
    if let [first, second, ..] = cores[..] {
        let cores = [first, second];
        spsc::<1, 256>(&options, cores, "8 B");
        spsc::<8, 256>(&options, cores, "64 B");
        spsc::<512, 64>(&options, cores, "4 KiB");
        ready(&options, cores);
        multiplexer::<1, 256>(&options, cores, "8 B");
        multiplexer::<8, 256>(&options, cores, "64 B");
        multiplexer::<512, 64>(&options, cores, "4 KiB");
    } else {
        println!("this process may run on one core only: no cells between cores");
    }
    ready_alone(&options, first);
    keep_last::<1>(&options, first, "8 B");
    keep_last::<512>(&options, first, "4 KiB");
    keep_last_overwrite::<1>(&options, first, "8 B");
    keep_last_overwrite::<512>(&options, first, "4 KiB");
    pool::<1>(&options, first, "8 B");
    pool::<8>(&options, first, "64 B");
    pool::<512>(&options, first, "4 KiB");
    ExitCode::SUCCESS
}
