//! The same game without ringspin: a function call, channels between threads, tokio tasks.
//!
//! Channels move the message by value: into the channel on `send`, out of it on `recv`. A player
//! then sends a copy, so that messages are written as often as in the [relay](crate::relay).

use crate::{Stopwatch, Token, on_core, per_hops};
use ringspin_ringbuf::Counter;
use std::hint::{black_box, spin_loop};
use std::sync::{OnceLock, mpsc};
use std::thread::{Thread, current, park};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// The time of `hops` calls through a `Box<dyn FnMut>`, each with a new message by reference.
pub fn plain_call<const WORDS: usize>(hops: u64) -> Duration {
    let mut seen = 0u64;
    let mut callback: Box<dyn FnMut(&Token<WORDS>)> = black_box(Box::new(|token| {
        black_box(token);
        seen += 1;
    }));
    let mut token = Token::<WORDS>::new(hops);
    let start = Instant::now();
    for _ in 0..hops {
        let next = black_box(&token).next_lap();
        callback(&next);
        token.0[0] -= 1;
    }
    let elapsed = start.elapsed();
    drop(callback);
    assert_eq!(seen, hops);
    elapsed
}

/// One player's ends of two channels.
pub trait Link<M>: Send {
    /// Sends `message` to the other player.
    fn send(&self, message: M);
    /// Waits for the other player's message.
    fn receive(&self) -> M;
}

/// The wait strategy of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The channel's `recv`: both channels spin briefly, then park the thread.
    Block,
    /// `try_recv` in a loop.
    Spin,
}

/// `std::sync::mpsc`, the unbounded channel.
pub struct StdLink<M> {
    to: mpsc::Sender<M>,
    from: mpsc::Receiver<M>,
    wait: Wait,
}

/// Two players with `std` channels between them.
pub fn std_pair<M: Send>(wait: Wait) -> [StdLink<M>; 2] {
    let (to_b, from_a) = mpsc::channel();
    let (to_a, from_b) = mpsc::channel();
    [StdLink { to: to_b, from: from_b, wait }, StdLink { to: to_a, from: from_a, wait }]
}

impl<M: Send> Link<M> for StdLink<M> {
    #[inline]
    fn send(&self, message: M) {
        assert!(self.to.send(message).is_ok(), "the other player left");
    }

    #[inline]
    fn receive(&self) -> M {
        if self.wait == Wait::Block {
            return self.from.recv().expect("the other player is there");
        }
        loop {
            match self.from.try_recv() {
                Ok(message) => return message,
                Err(mpsc::TryRecvError::Empty) => spin_loop(),
                Err(mpsc::TryRecvError::Disconnected) => panic!("the other player left"),
            }
        }
    }
}

/// `crossbeam-channel`, bounded to one message.
pub struct CrossbeamLink<M> {
    to: crossbeam_channel::Sender<M>,
    from: crossbeam_channel::Receiver<M>,
    wait: Wait,
}

/// Two players with `crossbeam-channel` between them.
pub fn crossbeam_pair<M: Send>(wait: Wait) -> [CrossbeamLink<M>; 2] {
    let (to_b, from_a) = crossbeam_channel::bounded(1);
    let (to_a, from_b) = crossbeam_channel::bounded(1);
    [CrossbeamLink { to: to_b, from: from_b, wait }, CrossbeamLink { to: to_a, from: from_a, wait }]
}

impl<M: Send> Link<M> for CrossbeamLink<M> {
    #[inline]
    fn send(&self, message: M) {
        assert!(self.to.send(message).is_ok(), "the other player left");
    }

    #[inline]
    fn receive(&self) -> M {
        if self.wait == Wait::Block {
            return self.from.recv().expect("the other player is there");
        }
        loop {
            match self.from.try_recv() {
                Ok(message) => return message,
                Err(crossbeam_channel::TryRecvError::Empty) => spin_loop(),
                Err(crossbeam_channel::TryRecvError::Disconnected) => {
                    panic!("the other player left")
                }
            }
        }
    }
}

/// The time of `hops` hops between two threads pinned to `cores`, which may be the same core twice.
///
/// # Panics
/// Panics if this process may not use a core.
pub fn ping_pong<const WORDS: usize>(
    [ping, pong]: [impl Link<Token<WORDS>>; 2],
    cores: [usize; 2],
    hops: u64,
) -> Duration {
    let laps = hops.div_ceil(2);
    let elapsed = std::thread::scope(|scope| {
        scope.spawn(move || on_core(cores[1], move || play_back(&pong, laps)));
        on_core(cores[0], move || play(&ping, laps))
    });
    per_hops(elapsed, laps, 2, hops)
}

fn play<const WORDS: usize>(link: &impl Link<Token<WORDS>>, laps: u64) -> Duration {
    let mut watch = Stopwatch::default();
    let mut token = Token::new(laps);
    watch.lap();
    while !token.is_home() {
        link.send(token.next_lap());
        token = link.receive();
        watch.lap();
    }
    watch.elapsed()
}

fn play_back<const WORDS: usize>(link: &impl Link<Token<WORDS>>, laps: u64) {
    for _ in 0..laps + crate::WARM_UP_LAPS {
        link.send(link.receive());
    }
}

/// The time of `hops` hops between two tasks of tokio's current-thread runtime, with its bounded
/// `mpsc` channels.
///
/// # Panics
/// Panics if the runtime cannot be built.
pub fn tokio_tasks<const WORDS: usize>(hops: u64) -> Duration {
    let laps = hops.div_ceil(2);
    let (to_b, mut from_a) = tokio::sync::mpsc::channel::<Token<WORDS>>(1);
    let (to_a, mut from_b) = tokio::sync::mpsc::channel::<Token<WORDS>>(1);
    let pong = async move {
        while let Some(token) = from_a.recv().await {
            if to_a.send(token).await.is_err() {
                return;
            }
        }
    };
    let ping = async move {
        let mut watch = Stopwatch::default();
        let mut token = Token::new(laps);
        watch.lap();
        while !token.is_home() {
            to_b.send(token.next_lap()).await.expect("pong is there");
            token = from_b.recv().await.expect("pong is there");
            watch.lap();
        }
        watch.elapsed()
    };
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    let elapsed = runtime.block_on(async {
        tokio::spawn(pong);
        tokio::spawn(ping).await.expect("ping does not panic")
    });
    per_hops(elapsed, laps, 2, hops)
}

/// The time of `hops` hops of a bare cache line: the floor for all communication between two cores.
/// On a virtual machine, it also shows whether the two are currently hyperthreads of one core.
///
/// # Panics
/// Panics if this process may not use a core.
pub fn cache_line(cores: [usize; 2], hops: u64) -> Duration {
    let laps = hops.div_ceil(2);
    let line = Counter::default();
    let await_turn = |n: u64| {
        while line.get() != n {
            spin_loop();
        }
    };
    let elapsed = std::thread::scope(|scope| {
        let pong = || {
            for lap in 0..laps + crate::WARM_UP_LAPS {
                await_turn(2 * lap + 1);
                line.set(2 * lap + 2);
            }
        };
        scope.spawn(move || on_core(cores[1], pong));
        on_core(cores[0], || {
            let mut watch = Stopwatch::default();
            for lap in 0..laps + crate::WARM_UP_LAPS {
                watch.lap();
                line.set(2 * lap + 1);
                await_turn(2 * lap + 2);
            }
            watch.elapsed()
        })
    });
    per_hops(elapsed, laps, 2, hops)
}

/// The time of `hops` hand-overs between two threads that sleep in turns: a counter, and
/// [`std::thread::park`], which is one futex word. The floor for a message that wakes a thread.
///
/// # Panics
/// Panics if this process may not use a core.
pub fn bare_futex(cores: [usize; 2], hops: u64) -> Duration {
    let laps = hops.div_ceil(2);
    let turns = Counter::default();
    let await_turn = |n: u64| {
        while turns.get() != n {
            park();
        }
    };
    let (ping_is, pong_is) = (OnceLock::new(), OnceLock::new());
    let elapsed = std::thread::scope(|scope| {
        let pong = || {
            pong_is.get_or_init(current);
            let ping: &Thread = ping_is.wait();
            for lap in 0..laps + crate::WARM_UP_LAPS {
                await_turn(2 * lap + 1);
                turns.set(2 * lap + 2);
                ping.unpark();
            }
        };
        scope.spawn(move || on_core(cores[1], pong));
        on_core(cores[0], || {
            ping_is.get_or_init(current);
            let pong: &Thread = pong_is.wait();
            let mut watch = Stopwatch::default();
            for lap in 0..laps + crate::WARM_UP_LAPS {
                watch.lap();
                turns.set(2 * lap + 1);
                pong.unpark();
                await_turn(2 * lap + 2);
            }
            watch.elapsed()
        })
    });
    per_hops(elapsed, laps, 2, hops)
}
