//! Memory stays flat, however often threads switch, wait for a time, start and end.

use ringspin_simulated_threads::{progress, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Bytes that are allocated.
static LIVE: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator; only the sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The end of a pair of channels, over which two threads pass a number to and fro.
struct End(SyncSender<u64>, Receiver<u64>);

impl End {
    /// Sends the number back until the other end is closed; each time, a wait for more comes to its
    /// timeout.
    fn echo(self) {
        while let Ok(n) = self.1.recv() {
            assert!(self.1.recv_timeout(Duration::from_micros(1)).is_err());
            self.0.send(n).unwrap();
        }
    }

    /// Sends until the world has made so many switches; the bytes that are live then.
    fn pass(&self, switches: u64) -> isize {
        while progress().unwrap().switches < switches {
            self.0.send(7).unwrap();
            assert_eq!(self.1.recv(), Ok(7));
        }
        LIVE.load(Ordering::Relaxed)
    }
}

/// The live bytes after so many switches of two threads that wait for each other.
fn live_after(switches: [u64; 2]) -> [isize; 2] {
    let live = run(move || {
        let ((to, received), (back, answers)) = (sync_channel(0), sync_channel(0));
        let echo = thread::spawn(|| End(back, received).echo());
        let end = End(to, answers);
        let live = switches.map(|switches| end.pass(switches));
        drop(end);
        echo.join().unwrap();
        live
    });
    live.unwrap()
}

/// The live bytes after so many threads have ended, each of which waits for a time.
fn live_after_threads(counts: [u32; 2]) -> [isize; 2] {
    let live = run(move || {
        let mut created = 0;
        counts.map(|count| {
            while created < count {
                let sleep = |n: u32| {
                    let named = thread::Builder::new().name(format!("thread {n}"));
                    named.spawn(move || thread::sleep(Duration::from_micros(n.into()))).unwrap()
                };
                let threads: Vec<_> = (0..10).map(sleep).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                created += 10;
            }
            LIVE.load(Ordering::Relaxed)
        })
    });
    live.unwrap()
}

/// Runs without the test harness, because its threads allocate meanwhile.
fn main() {
    let is_slow = std::env::args().any(|argument| argument == "--ignored");
    let (switches, threads) = match is_slow {
        true => ([100_000, 1_000_000], [1_000, 10_000]),
        false => ([1_000, 20_000], [100, 1_000]),
    };
    let [early, late] = live_after(switches);
    assert_eq!(early, late, "bytes that are live after {switches:?} switches");
    let [early, late] = live_after_threads(threads);
    assert_eq!(early, late, "bytes that are live after {threads:?} threads");
    println!("as many bytes are live after {switches:?} switches, and after {threads:?} threads");
}
