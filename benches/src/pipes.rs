//! Games with a pipe: anything with a sending and a receiving end.
//!
//! An end is a closure, so that a candidate is a few lines and the compiler can inline it. All ends
//! are non-blocking and pass messages by value. Idle threads spin, so that the comparison is about
//! the rings and not about waiting.

use crate::{Token, on_core};
use crossbeam_utils::CachePadded;
use ringspin_ringbuf::Counter;
use std::hint::{black_box, spin_loop};
use std::marker::PhantomData;
use std::ops::Range;
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// A message of a pipe: carries a number and is written completely.
pub trait Message: Copy + Send + Sync + 'static {
    /// The message with this number.
    fn numbered(number: u64) -> Self;
    /// Its number.
    fn number(&self) -> u64;
}

impl<const WORDS: usize> Message for Token<WORDS> {
    #[inline]
    fn numbered(number: u64) -> Self {
        Self([number; WORDS])
    }

    #[inline]
    fn number(&self) -> u64 {
        self.0[0]
    }
}

/// The number that an in-place reader reports for a message.
impl Message for u64 {
    #[inline]
    fn numbered(number: u64) -> Self {
        number
    }

    #[inline]
    fn number(&self) -> u64 {
        *self
    }
}

impl Message for u32 {
    #[inline]
    fn numbered(number: u64) -> Self {
        number as u32
    }

    #[inline]
    fn number(&self) -> u64 {
        u64::from(*self)
    }
}

/// Sends a message, and returns whether there was room for it.
pub trait Send1<M>: FnMut(M) -> bool + Send {}
impl<M, F: FnMut(M) -> bool + Send> Send1<M> for F {}

/// Receives the next message, if there is one.
pub trait Receive1<M>: FnMut() -> Option<M> + Send {}
impl<M, F: FnMut() -> Option<M> + Send> Receive1<M> for F {}

/// Creates and sends the messages with these numbers, in order, and returns how many had room.
pub trait SendMany: FnMut(Range<u64>) -> u64 + Send {}
impl<F: FnMut(Range<u64>) -> u64 + Send> SendMany for F {}

/// Receives all available messages.
pub trait ReceiveMany<M>: FnMut(&mut Tally<M>) + Send {}
impl<M, F: FnMut(&mut Tally<M>) + Send> ReceiveMany<M> for F {}

/// Receives messages, and checks that each is complete and in order.
#[derive(Debug)]
pub struct Tally<M> {
    next: u64,
    kind: PhantomData<M>,
}

impl<M: Message> Tally<M> {
    const fn new() -> Self {
        Self { next: 0, kind: PhantomData }
    }

    /// Receives the next message, by reference.
    #[inline]
    pub fn take(&mut self, message: &M) {
        assert_eq!(black_box(message).number(), self.next, "a message is out of turn");
        self.next += 1;
    }
}

/// Sends, spinning while the pipe is full.
#[inline]
fn send<M: Message>(into: &mut impl Send1<M>, message: M) {
    while !into(message) {
        spin_loop();
    }
}

/// Receives, spinning while the pipe is empty.
#[inline]
fn receive<M: Message>(from: &mut impl Receive1<M>) -> M {
    loop {
        match from() {
            Some(message) => return message,
            None => spin_loop(),
        }
    }
}

/// Receives from several ends on one thread: a message counts once it came out of all of them.
pub fn all<M: Message, const ENDS: usize>(mut ends: [impl Receive1<M>; ENDS]) -> impl Receive1<M> {
    move || {
        let (first, others) = ends.split_first_mut().expect("there is an end");
        let message = first()?;
        for other in others {
            assert_eq!(receive(other).number(), message.number());
        }
        Some(message)
    }
}

/// Places the two ends of a pipe on separate cache lines: each changes with every message, on its
/// own thread.
fn apart<S, R>((into, from): (S, R)) -> (CachePadded<S>, CachePadded<R>) {
    (CachePadded::new(into), CachePadded::new(from))
}

fn nanoseconds(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_nanos() as f64 / operations as f64
}

/// A barrier that starts threads together, by spinning.
struct Gate {
    arrived: Counter,
    awaited: u64,
}

impl Gate {
    fn new(awaited: u64) -> Self {
        Self { arrived: Counter::default(), awaited }
    }

    fn pass(&self) {
        self.arrived.next();
        while self.arrived.get() < self.awaited {
            yield_now();
        }
    }
}

/// Two threads and two pipes: the time of one hop of a message that travels between them.
pub fn ping_pong<M: Message, R: Message>(
    cores: [usize; 2],
    there: (impl Send1<M>, impl Receive1<R>),
    back: (impl Send1<M>, impl Receive1<R>),
) -> impl FnMut(u64) -> f64 {
    let (mut to_b, mut from_a) = apart(there);
    let (mut to_a, mut from_b) = apart(back);
    move |hops| {
        let laps = hops / 2;
        let warm_up = laps / 8;
        let (from_a, to_a) = (&mut *from_a, &mut *to_a);
        let (to_b, from_b) = (&mut *to_b, &mut *from_b);
        std::thread::scope(|scope| {
            let pong = move || {
                for _ in 0..warm_up + laps {
                    let number = black_box(&receive(from_a)).number();
                    send(to_a, M::numbered(number));
                }
            };
            scope.spawn(move || on_core(cores[1], pong));
            on_core(cores[0], || {
                let mut start = Instant::now();
                for lap in 0..warm_up + laps {
                    if lap == warm_up {
                        start = Instant::now();
                    }
                    send(to_b, M::numbered(lap));
                    assert_eq!(black_box(&receive(from_b)).number(), lap);
                }
                nanoseconds(start.elapsed(), 2 * laps)
            })
        })
    }
}

/// Two threads and one pipe: the time per message of a stream.
pub fn stream<M: Message, R: Message>(
    cores: [usize; 2],
    pipe: (impl Send1<M>, impl Receive1<R>),
) -> impl FnMut(u64) -> f64 {
    let (mut into, mut from) = apart(pipe);
    move |messages| {
        let (into, from) = (&mut *into, &mut *from);
        let total = messages + messages / 8;
        let push = || (0..total).for_each(|number| send(into, M::numbered(number)));
        timed_stream(cores, messages, push, |tally: &mut Tally<R>| match from() {
            Some(message) => tally.take(&message),
            None => spin_loop(),
        })
    }
}

/// Measures like [`stream`], in batches of [`BATCH`], or of the available room. The messages are
/// created in the ring if the pipe supports that.
pub fn stream_batches<M: Message>(
    cores: [usize; 2],
    pipe: (impl SendMany, impl ReceiveMany<M>),
) -> impl FnMut(u64) -> f64 {
    let (mut into, mut from) = apart(pipe);
    move |messages| {
        let (into, from) = (&mut *into, &mut *from);
        let total = messages + messages / 8;
        let push = || {
            for first in (0..total).step_by(BATCH as usize) {
                let mut left = first..total.min(first + BATCH);
                while !left.is_empty() {
                    match into(left.clone()) {
                        0 => spin_loop(),
                        sent => left.start += sent,
                    }
                }
            }
        };
        timed_stream(cores, messages, push, |tally: &mut Tally<M>| {
            let before = tally.next;
            from(tally);
            if tally.next == before {
                spin_loop();
            }
        })
    }
}

/// The number of messages in a batch.
pub const BATCH: u64 = 32;

/// Times a stream after its first eighth, which fills the ring.
fn timed_stream<M: Message>(
    cores: [usize; 2],
    messages: u64,
    push: impl FnOnce() + Send,
    mut poll: impl FnMut(&mut Tally<M>) + Send,
) -> f64 {
    let warm_up = messages / 8;
    let gate = Gate::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            on_core(cores[0], || {
                gate.pass();
                push();
            });
        });
        on_core(cores[1], || {
            let mut tally = Tally::<M>::new();
            gate.pass();
            while tally.next < warm_up {
                poll(&mut tally);
            }
            let (start, first) = (Instant::now(), tally.next);
            while tally.next < warm_up + messages {
                poll(&mut tally);
            }
            nanoseconds(start.elapsed(), tally.next - first)
        })
    })
}

/// One thread: the time of a send alone, into a pipe with room for `ROOM` messages.
pub fn send_alone<M: Message>(
    core: usize,
    (mut into, mut from): (impl Send1<M>, impl Receive1<M>),
) -> impl FnMut(u64) -> f64 {
    move |messages| {
        on_core(core, || {
            let mut elapsed = Duration::ZERO;
            for _ in 0..messages.div_ceil(ROOM) {
                let start = Instant::now();
                for number in 0..ROOM {
                    assert!(into(M::numbered(black_box(number))), "there is room");
                }
                elapsed += start.elapsed();
                (0..ROOM).for_each(|number| assert_eq!(from().unwrap().number(), number));
            }
            nanoseconds(elapsed, messages.next_multiple_of(ROOM))
        })
    }
}

/// The number of messages in a pipe at which [`send_alone`] empties it.
pub const ROOM: u64 = 512;

/// One thread: the time of a send and a receive of the same message.
pub fn send_and_receive<M: Message>(
    core: usize,
    (mut into, mut from): (impl Send1<M>, impl Receive1<M>),
) -> impl FnMut(u64) -> f64 {
    move |messages| {
        on_core(core, || {
            let start = Instant::now();
            for number in 0..messages {
                assert!(into(M::numbered(black_box(number))), "there is room");
                assert_eq!(from().expect("a message").number(), number);
            }
            nanoseconds(start.elapsed(), messages)
        })
    }
}

/// One thread: the time of any operation, which receives the number of previous calls.
pub fn alone(core: usize, mut operation: impl FnMut(u64) + Send) -> impl FnMut(u64) -> f64 {
    move |operations| {
        on_core(core, || {
            let start = Instant::now();
            (0..operations).for_each(&mut operation);
            nanoseconds(start.elapsed(), operations)
        })
    }
}

/// Two producers on two cores send into a pipe with room for all messages: the time of a send.
pub fn contended_send<M: Message>(
    cores: [usize; 2],
    pipe: (impl Send1<M> + Clone, impl Receive1<M>),
) -> impl FnMut(u64) -> f64 {
    fn push<M: Message>(gate: &Gate, messages: u64, into: &mut impl Send1<M>) -> Duration {
        gate.pass();
        let start = Instant::now();
        (0..messages).for_each(|number| assert!(into(M::numbered(number)), "there is room"));
        start.elapsed()
    }
    let (mut into, mut from) = apart(pipe);
    let mut other = into.clone();
    move |messages| {
        let (each, gate) = (messages / 2, &Gate::new(2));
        let (into, other) = (&mut *into, &mut *other);
        let elapsed = std::thread::scope(|scope| {
            let thread = scope.spawn(move || on_core(cores[1], move || push(gate, each, other)));
            let own = on_core(cores[0], || push(gate, each, into));
            own.max(thread.join().expect("a push does not panic"))
        });
        (0..2 * each).for_each(|_| assert!(from().is_some()));
        nanoseconds(elapsed, 2 * each)
    }
}

/// Two producers and one consumer on two cores; the second producer shares the consumer's core, and
/// idle threads yield. The time per message.
pub fn oversubscribed_stream<M: Message>(
    cores: [usize; 2],
    pipe: (impl Send1<M> + Clone, impl Receive1<M>),
) -> impl FnMut(u64) -> f64 {
    fn push<M: Message>(gate: &Gate, messages: u64, into: &mut impl Send1<M>) {
        gate.pass();
        for number in 0..messages {
            while !into(M::numbered(number)) {
                yield_now();
            }
        }
    }
    let (mut first, mut from) = apart(pipe);
    let mut other = first.clone();
    move |messages| {
        let (each, gate) = (messages / 2, &Gate::new(3));
        let (first, other, from) = (&mut *first, &mut *other, &mut *from);
        std::thread::scope(|scope| {
            scope.spawn(move || on_core(cores[0], move || push(gate, each, first)));
            scope.spawn(move || on_core(cores[1], move || push(gate, each, other)));
            on_core(cores[1], move || {
                gate.pass();
                let start = Instant::now();
                for _ in 0..2 * each {
                    while from().is_none() {
                        yield_now();
                    }
                }
                nanoseconds(start.elapsed(), 2 * each)
            })
        })
    }
}

/// The hardware limit for two players that write to one cache line in turn, or each to its own.
pub fn bounce(cores: [usize; 2], lines: usize) -> impl FnMut(u64) -> f64 {
    let lines: Vec<_> = (0..lines).map(|_| CachePadded::new(Counter::default())).collect();
    move |hops| {
        let laps = hops / 2;
        let warm_up = laps / 8;
        let (there, back) = (&*lines[0], &*lines[lines.len() - 1]);
        there.set(0);
        back.set(0);
        let wait_for = |line: &Counter, number| {
            while line.get() != number {
                spin_loop();
            }
        };
        std::thread::scope(|scope| {
            let pong = || {
                for lap in 0..warm_up + laps {
                    wait_for(there, 2 * lap + 1);
                    back.set(2 * lap + 2);
                }
            };
            scope.spawn(move || on_core(cores[1], pong));
            on_core(cores[0], || {
                let mut start = Instant::now();
                for lap in 0..warm_up + laps {
                    if lap == warm_up {
                        start = Instant::now();
                    }
                    there.set(2 * lap + 1);
                    wait_for(back, 2 * lap + 2);
                }
                nanoseconds(start.elapsed(), 2 * laps)
            })
        })
    }
}
