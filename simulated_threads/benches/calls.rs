//! The cost of this crate: of a call where it is linked and not in use, and of a switch of threads.
//!
//! # Method
//! * `linked`: a call through this crate's definition, by a thread of no world, beside a call of
//!   the original function through a pointer: reading the clock, a wake-up of a futex for which no
//!   thread waits, and an uncontended mutex of C code, locked and unlocked.
//! * `switch`: two threads of a world hand over to each other by two futexes, as by channels; real
//!   time of one switch. `thousand`: the same in a ring of 1,000 threads.
//!
//! # Limits
//! One machine, one process; the cost of a system call depends on the kernel and its mitigations.

use criterion::{Bencher, Criterion};
use libc::{c_int, c_long, pthread_mutex_t, timespec};
use ringspin_simulated_threads::{real_time, run};
use std::ffi::CStr;
use std::hint::black_box;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

type ClockGettime = unsafe extern "C" fn(c_int, *mut timespec) -> c_int;
type Syscall =
    unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
type OnMutex = unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int;

/// The function of this name in libc, and the one in this program.
fn definitions(name: &CStr) -> [(&'static str, *mut libc::c_void); 2] {
    let find = |from| {
        // SAFETY: the name ends with a zero.
        let address = unsafe { libc::dlsym(from, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        address
    };
    let both = [("original", find(libc::RTLD_NEXT)), ("linked", find(libc::RTLD_DEFAULT))];
    assert_ne!(both[0].1, both[1].1, "{name:?} is not this crate's");
    both
}

fn linked(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("linked");
    for (name, address) in definitions(c"clock_gettime") {
        // SAFETY: a function of this type.
        let read = unsafe { std::mem::transmute::<*mut libc::c_void, ClockGettime>(address) };
        let read_clock = || {
            let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: a place for the time.
            unsafe { read(libc::CLOCK_MONOTONIC, &raw mut time) };
            time.tv_nsec
        };
        group.bench_function(format!("clock_gettime {name}"), |bencher| bencher.iter(read_clock));
    }
    for (name, address) in definitions(c"syscall") {
        // SAFETY: a function of this type, as this crate defines it.
        let syscall = unsafe { std::mem::transmute::<*mut libc::c_void, Syscall>(address) };
        let word = 0u32;
        let wake = || {
            let word = black_box(&raw const word) as c_long;
            // SAFETY: wakes at most one thread that waits for the word: there is none.
            unsafe { syscall(libc::SYS_futex, word, libc::FUTEX_WAKE.into(), 1, 0, 0, 0) }
        };
        group.bench_function(format!("futex wake {name}"), |bencher| bencher.iter(wake));
    }
    let functions =
        definitions(c"pthread_mutex_lock").into_iter().zip(definitions(c"pthread_mutex_unlock"));
    for ((name, lock), (_, unlock)) in functions {
        // SAFETY: functions of this type.
        let [lock, unlock] =
            [lock, unlock].map(|f| unsafe { std::mem::transmute::<*mut libc::c_void, OnMutex>(f) });
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let mut both = || {
            let mutex = black_box(&raw mut mutex);
            // SAFETY: a mutex of this thread.
            unsafe { lock(mutex) + unlock(mutex) }
        };
        group.bench_function(format!("mutex lock and unlock {name}"), |bencher| {
            bencher.iter(&mut both)
        });
    }
    group.finish();
}

/// The real time in which `switches` are made by a ring of threads that pass a token on.
fn pass_on(threads: usize, switches: u64) -> Duration {
    let took = run(move || {
        let (first, mut receiver): (SyncSender<u64>, Receiver<u64>) = sync_channel(1);
        let mut passing = Vec::new();
        for _ in 1..threads {
            let (sender, next) = sync_channel(1);
            let own = std::mem::replace(&mut receiver, next);
            let pass = move || own.iter().try_for_each(|left| sender.send(left - 1));
            passing.push(thread::Builder::new().stack_size(64 << 10).spawn(pass).unwrap());
        }
        let pass = |switches| {
            first.send(switches + threads as u64).unwrap();
            while let Ok(left) = receiver.recv()
                && left > threads as u64
            {
                first.send(left - 1).unwrap();
            }
        };
        pass(3 * threads as u64); // in its first rounds, a thread touches memory for the first time
        let begin = real_time();
        pass(switches);
        let took = real_time() - begin;
        drop(first);
        passing.into_iter().for_each(|thread| drop(thread.join()));
        took
    });
    took.expect("no thread waits for ever")
}

/// The rounds of a ring of threads in a sample, at least.
const ROUNDS_MIN: u64 = 100;

fn switch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("switch");
    let measure = |threads| {
        move |bencher: &mut Bencher| {
            // Whole rounds: the first thread sees the end of the time only once in each. Many of
            // them, so that the creation of threads leaves no trace in the caches.
            bencher.iter_custom(|switches| {
                let made =
                    switches.max(ROUNDS_MIN * threads as u64).next_multiple_of(threads as u64);
                pass_on(threads, made).mul_f64(switches as f64 / made as f64)
            });
        }
    };
    group.bench_function("two threads", measure(2));
    group.sample_size(10).bench_function("thousand threads", measure(1000));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    linked(&mut criterion);
    switch(&mut criterion);
    criterion.final_summary();
}
