//! Programs of the standard library.

use crate::{MILLI, Program, log};
use ringspin_simulated_threads::progress;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender, channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::Instant;

pub(crate) const PROGRAMS: &[Program] = &[
    ("threads", threads),
    ("thousand", thousand),
    ("channels", channels),
    ("mutex", mutex),
    ("greedy", greedy),
    ("condvar", condvar),
    ("rwlock", rwlock),
    ("once", once),
    ("park", park),
    ("woken", woken),
    ("pool", pool),
    ("actors", actors),
    ("destructors", destructors),
    ("clock-loop", clock_loop),
    ("yield-loop", yield_loop),
    ("long-yield-loop", long_yield_loop),
    ("yield-clock-loop", yield_clock_loop),
    ("hash-order", hash_order),
    ("addresses", addresses),
    ("machine", machine),
];

fn threads() {
    let spawn = |n: u32| {
        let count = move || {
            for k in 0..10 {
                thread::sleep((n % 3 + 1) * MILLI);
                log(k);
            }
            n
        };
        thread::Builder::new().name(format!("thread {n}")).spawn(count).unwrap()
    };
    let spawned: Vec<_> = (0..8).map(spawn).collect();
    spawned.into_iter().for_each(|thread| log(thread.join().unwrap()));
}

fn thousand() {
    let barrier = Arc::new(Barrier::new(1000));
    let spawn = |n: u32| {
        let barrier = barrier.clone();
        let small = thread::Builder::new().stack_size(64 << 10);
        let wait = move || {
            thread::sleep(n % 7 * MILLI);
            if barrier.wait().is_leader() {
                log(n);
            }
        };
        small.spawn(wait).unwrap()
    };
    let spawned: Vec<_> = (0..1000).map(spawn).collect();
    spawned.into_iter().for_each(|thread| thread.join().unwrap());
}

fn channels() {
    let (bounded, from_bounded) = sync_channel(2);
    let (handshake, from_handshake) = sync_channel(0);
    for n in 0..3 {
        let (bounded, handshake) = (bounded.clone(), handshake.clone());
        thread::spawn(move || {
            for k in 0..10 {
                bounded.send((n, k)).unwrap();
                handshake.send((n, k)).unwrap();
                thread::sleep(n * MILLI);
            }
        });
    }
    drop((bounded, handshake));
    let other =
        thread::spawn(move || from_handshake.iter().for_each(|got| log(format!("{got:?}"))));
    loop {
        match from_bounded.recv_timeout(MILLI / 2) {
            Ok(got) => log(format!("bounded {got:?}")),
            Err(mpsc::RecvTimeoutError::Timeout) => log("timeout"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    other.join().unwrap();
}

fn mutex() {
    let log_of = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for n in 0..5 {
            let log_of = &log_of;
            scope.spawn(move || {
                for k in 0..20 {
                    let mut log_of = log_of.lock().unwrap();
                    thread::sleep(MILLI / 4);
                    log_of.push((n, k));
                    drop(log_of);
                    if rand::random_range(0..3) == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    log(format!("{:?}", log_of.into_inner().unwrap()));
}

/// Threads that hold locks for all the time let another one have them.
fn greedy() {
    type With<'a> = &'a (dyn Fn(fn()) + Sync);
    let (mutex, lock) = (&Mutex::new(()), &RwLock::new(()));
    let locked: With = &|work| {
        let _held = mutex.lock();
        work();
    };
    let writing: With = &|work| {
        let _held = lock.write();
        work();
    };
    let reading: With = &|work| {
        let _held = lock.read();
        work();
    };
    for (name, held, wanted) in [
        ("mutex", locked, locked),
        ("written, to be written", writing, writing),
        ("written, to be read", writing, reading),
        ("read, to be written", reading, writing),
    ] {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    held(|| thread::sleep(MILLI));
                }
            });
            thread::sleep(MILLI / 2);
            wanted(|| {});
            is_over.store(true, Ordering::SeqCst);
            log(name);
        });
    }
}

fn condvar() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let waiter = |n: u32| {
        let shared = shared.clone();
        thread::spawn(move || {
            let (count, changed) = &*shared;
            let mut count = count.lock().unwrap();
            for _ in 0..5 {
                let (now, waited) = changed.wait_timeout(count, (n + 2) * MILLI).unwrap();
                count = now;
                log(format!("waiter {n}: {} {}", *count, waited.timed_out()));
            }
        })
    };
    let waiters: Vec<_> = (0..4).map(waiter).collect();
    for n in 0..6 {
        thread::sleep(3 * MILLI);
        *shared.0.lock().unwrap() += 1;
        match n % 2 {
            0 => shared.1.notify_one(),
            _ => shared.1.notify_all(),
        }
    }
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}

fn rwlock() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        for n in 0..6 {
            let lock = &lock;
            scope.spawn(move || {
                for _ in 0..10 {
                    if n < 2 {
                        let mut value = lock.write().unwrap();
                        thread::sleep(MILLI);
                        *value += 1;
                    } else {
                        log(format!("{n} reads {}", *lock.read().unwrap()));
                        thread::sleep(MILLI / 2);
                    }
                }
            });
        }
    });
}

fn once() {
    static ONCE: Once = Once::new();
    static CELL: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| {
        thread::sleep(MILLI);
        7
    });
    thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || {
                ONCE.call_once(|| {
                    thread::sleep(2 * MILLI);
                    log(format!("{n} is first"));
                });
                log(format!("{n}: {} {}", CELL.get_or_init(|| n), *LAZY));
            });
        }
    });
}

fn park() {
    let parked = thread::spawn(|| {
        for _ in 0..4 {
            let begin = Instant::now();
            thread::park_timeout(5 * MILLI);
            log(format!("parked {:?}", begin.elapsed()));
        }
        thread::park();
    });
    for n in 0..2 {
        thread::sleep(7 * MILLI);
        log(n);
        parked.thread().unpark();
    }
    thread::sleep(20 * MILLI);
    parked.thread().unpark();
    parked.join().unwrap();
}

/// Threads that wait in the same place again and again, more often than one may lose a lock: it is
/// none, so the thread that wakes them continues.
fn woken() {
    const TIMES: u32 = 18;
    let shared = Arc::new((Mutex::new(()), Condvar::new()));
    let other = shared.clone();
    let parked = thread::spawn(|| {
        for n in 0..TIMES {
            thread::park();
            log(format!("unparked {n}"));
        }
    });
    let notified = thread::spawn(move || {
        let mut guard = other.0.lock().unwrap();
        for n in 0..TIMES {
            guard = other.1.wait(guard).unwrap();
            log(format!("notified {n}"));
        }
    });
    for _ in 0..TIMES {
        thread::sleep(MILLI);
        parked.thread().unpark();
        shared.1.notify_one();
        log("wakes both");
    }
    parked.join().unwrap();
    notified.join().unwrap();
}

fn pool() {
    type Job = Box<dyn FnOnce() + Send>;
    let (jobs, queue) = channel::<Job>();
    let queue = Arc::new(Mutex::new(queue));
    let worker = |n: u32| {
        let queue = queue.clone();
        let work = move || {
            loop {
                let job = queue.lock().unwrap().recv();
                match job {
                    Ok(job) => job(),
                    Err(_) => return,
                }
            }
        };
        thread::Builder::new().name(format!("worker {n}")).spawn(work).unwrap()
    };
    let workers: Vec<_> = (0..4).map(worker).collect();
    for n in 0..40 {
        let duration = rand::random_range(0..3) * MILLI;
        let job = move || {
            thread::sleep(duration);
            log(format!("job {n}"));
        };
        jobs.send(Box::new(job)).unwrap();
    }
    drop(jobs);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// Actors in a ring, each with a mailbox: they pass tokens on, one of them at random.
fn actors() {
    let (senders, mailboxes): (Vec<Sender<u32>>, Vec<_>) = (0..5).map(|_| channel()).unzip();
    let (done, ended) = channel();
    for (n, mailbox) in mailboxes.into_iter().enumerate() {
        let (senders, done) = (senders.clone(), done.clone());
        thread::spawn(move || {
            for token in mailbox {
                if token == 0 {
                    done.send(n).unwrap();
                    continue;
                }
                let to = rand::random_range(0..senders.len());
                log(format!("{n} to {to}: {token}"));
                senders[to].send(token - 1).unwrap();
            }
        });
    }
    senders[0].send(20).unwrap();
    senders[1].send(25).unwrap();
    log(format!("ended at {} and {}", ended.recv().unwrap(), ended.recv().unwrap()));
}

/// A value that publishes and blocks in its destructor.
struct Last(u32, Sender<u32>, Arc<Mutex<()>>);

impl Drop for Last {
    fn drop(&mut self) {
        let _guard = self.2.lock();
        thread::sleep(MILLI);
        self.1.send(self.0).unwrap();
    }
}

fn destructors() {
    thread_local!(static LAST: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) });
    let (ended, ends) = channel();
    let lock = Arc::new(Mutex::new(()));
    let spawn = |n: u32| {
        let last = Last(n, ended.clone(), lock.clone());
        thread::spawn(move || LAST.with_borrow_mut(|kept| kept.push(last)))
    };
    let mut spawned: Vec<_> = (0..6).map(spawn).collect();
    // Some are joined, others are not.
    spawned.drain(..3).for_each(|thread| {
        thread.join().unwrap();
        log("joined");
    });
    drop((spawned, ended));
    ends.iter().for_each(log);
}

fn clock_loop() {
    let begin = Instant::now();
    while begin.elapsed() < 5 * MILLI {}
    log("later");
}

fn yield_loop() {
    let flag = Arc::new(AtomicBool::new(false));
    let setter = flag.clone();
    thread::spawn(move || {
        thread::sleep(MILLI);
        setter.store(true, Ordering::SeqCst);
    });
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    log("set");
}

/// A loop that yields for a second, beside a thread that wakes each millisecond.
fn long_yield_loop() {
    let flag = Arc::new(AtomicBool::new(false));
    let setter = flag.clone();
    thread::spawn(move || {
        (0..1000).for_each(|_| thread::sleep(MILLI));
        setter.store(true, Ordering::SeqCst);
    });
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    log(progress().is_none_or(|progress| progress.switches < 100_000));
}

/// A loop that yields until a second of the clock has passed.
fn yield_clock_loop() {
    let begin = Instant::now();
    while begin.elapsed() < 1000 * MILLI {
        thread::yield_now();
    }
    log(begin.elapsed() < 1001 * MILLI);
    log(progress().is_none_or(|progress| progress.switches < 100_000));
}

fn hash_order() {
    let by_name: HashMap<String, u32> = (0..40).map(|n| (format!("key {n}"), n)).collect();
    log(format!("{:?}", by_name.values().collect::<Vec<_>>()));
    let boxes: Vec<Box<u32>> = (0..40).map(Box::new).collect();
    let by_address: HashSet<*const u32> = boxes.iter().map(|value| &raw const **value).collect();
    let order =
        |address: &*const u32| boxes.iter().position(|value| &raw const **value == *address);
    log(format!("{:?}", by_address.iter().map(order).collect::<Vec<_>>()));
    log(format!("{} {:?}", rand::random::<u64>(), rand::random::<[u8; 3]>()));
}

/// Heaps and stacks of threads, some of which end at any time, and others take their places.
fn addresses() {
    static LIVING: AtomicU32 = AtomicU32::new(0);
    let on_first_stack = 0;
    log(format!("{:p}", &raw const on_first_stack));
    for round in 0..20 {
        for n in 0..8 {
            LIVING.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || {
                let mine: Vec<Box<[u8; 100]>> = (0..10).map(|_| Box::new([0; 100])).collect();
                thread::sleep(n % 3 * MILLI);
                log(format!("{round} {n} {:p} {:p} {:p}", mine[0], mine[9], &raw const mine));
                LIVING.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while LIVING.load(Ordering::SeqCst) > 3 {
            thread::sleep(MILLI / 2);
        }
    }
    thread::sleep(10 * MILLI);
}

fn machine() {
    log(std::process::id());
    log(thread::available_parallelism().unwrap());
    log(format!("{:?}", std::time::SystemTime::now()));
    // SAFETY: take numbers.
    let (processors, processor) =
        unsafe { (libc::sysconf(libc::_SC_NPROCESSORS_ONLN), libc::sched_getcpu()) };
    log(format!("{processors} processors, on {processor}"));
}
