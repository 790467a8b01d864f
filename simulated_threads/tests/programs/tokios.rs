//! Programs of tokio.

use crate::{MILLI, Program, log};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};
use tokio::task::{JoinSet, LocalSet, block_in_place, spawn_blocking, yield_now};
use tokio::time::{
    Instant, MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout,
};
use tokio::{select, spawn, task_local};

pub(crate) const PROGRAMS: &[Program] = &[
    ("application", || run(application())),
    ("select", || run(select())),
    ("mpsc", || run(mpsc())),
    ("blocking", || run(blocking())),
    ("fs", || run(fs())),
    ("notify", || run(notify())),
    ("semaphore", || run(semaphore())),
    ("watch", || run(watch())),
    ("broadcast", || run(broadcast())),
    ("tokio-locks", || run(locks())),
    ("tasks", || run(tasks())),
    ("time", || run(time())),
    ("ctrl-c", || run(ctrl_c())),
    ("current-thread", current_thread),
    ("runtimes", runtimes),
];

/// Runs it as `#[tokio::main]` does.
fn run(main: impl Future<Output = ()>) {
    Runtime::new().unwrap().block_on(main);
}

/// A robot: a sensor, a controller with a watchdog, a driver that blocks.
async fn application() {
    let (samples, mut received) = mpsc::channel(4);
    let (commands, from_controller) = std::sync::mpsc::channel();
    let held = Arc::new(std::sync::Mutex::new(0));
    spawn(async move {
        let mut period = interval(20 * MILLI);
        for n in 0u64.. {
            period.tick().await;
            if n % 10 < 7 && samples.send(n).await.is_err() {
                return;
            }
        }
    });
    spawn(async move {
        loop {
            match timeout(50 * MILLI, received.recv()).await {
                Ok(Some(n)) => drop(commands.send(n)),
                Ok(None) => return,
                Err(_) => log("no sample"),
            }
        }
    });
    let driver = held.clone();
    spawn_blocking(move || {
        for command in from_controller {
            let mut held = driver.lock().unwrap();
            std::thread::sleep(rand::random_range(0..5) * MILLI);
            *held += command;
            log(format!("driven {command}"));
        }
    });
    sleep(Duration::from_secs(2)).await;
    log(*held.lock().unwrap());
}

async fn select() {
    for _ in 0..64 {
        select! {
            () = ready(()) => log("first"),
            () = ready(()) => log("second"),
            () = sleep(MILLI) => log("late"),
        }
        sleep(MILLI).await;
    }
}

async fn mpsc() {
    let (sender, mut receiver) = mpsc::channel(2);
    for n in 0..4 {
        let sender = sender.clone();
        spawn(async move {
            for k in 0..20 {
                if k % 5 == n {
                    yield_now().await;
                }
                sender.send((n, k)).await.unwrap();
            }
        });
    }
    drop(sender);
    while let Some(got) = receiver.recv().await {
        log(format!("{got:?}"));
    }
}

async fn blocking() {
    let nested = spawn(async {
        for n in 0..5 {
            block_in_place(|| Handle::current().block_on(sleep(3 * MILLI)));
            log(format!("nested {n}"));
        }
    });
    let mut jobs = JoinSet::new();
    for n in 0..10 {
        jobs.spawn_blocking(move || {
            std::thread::sleep(n % 4 * MILLI);
            log(format!("job {n}"));
            n
        });
    }
    while let Some(job) = jobs.join_next().await {
        log(format!("joined {}", job.unwrap()));
    }
    nested.await.unwrap();
}

async fn fs() {
    let files = (0..10).map(|n| {
        spawn(async move {
            let text = tokio::fs::read("/proc/self/comm").await.unwrap();
            log(format!("{n}: {} bytes", text.len()));
        })
    });
    for file in files.collect::<Vec<_>>() {
        file.await.unwrap();
    }
}

async fn notify() {
    let notify = Arc::new(Notify::new());
    let waiter = |n: u32| {
        let notify = notify.clone();
        spawn(async move {
            for _ in 0..4 {
                match timeout(n * MILLI, notify.notified()).await {
                    Ok(()) => log(format!("{n} notified")),
                    Err(_) => log(format!("{n} timed out")),
                }
            }
        })
    };
    let waiters: Vec<_> = (1..6).map(waiter).collect();
    for n in 0..8 {
        sleep(2 * MILLI).await;
        match n % 3 {
            0 => notify.notify_waiters(),
            _ => notify.notify_one(),
        }
    }
    for waiter in waiters {
        waiter.await.unwrap();
    }
}

async fn semaphore() {
    let semaphore = Arc::new(Semaphore::new(3));
    let mut tasks = JoinSet::new();
    for n in 0..8 {
        let semaphore = semaphore.clone();
        tasks.spawn(async move {
            for _ in 0..3 {
                let _permits = semaphore.acquire_many(n % 3 + 1).await.unwrap();
                sleep(MILLI).await;
                log(format!("{n} had {}", n % 3 + 1));
            }
        });
    }
    tasks.join_all().await;
}

async fn watch() {
    let (value, watched) = watch::channel(0);
    let mut watchers = JoinSet::new();
    for n in 0..3 {
        let mut watched = watched.clone();
        watchers.spawn(async move {
            while watched.changed().await.is_ok() {
                let seen = *watched.borrow_and_update();
                log(format!("{n} saw {seen}"));
                sleep((n + 1) * MILLI).await;
            }
        });
    }
    drop(watched);
    for n in 1..10 {
        value.send(n).unwrap();
        sleep(MILLI).await;
    }
    drop(value);
    watchers.join_all().await;
}

async fn broadcast() {
    let (sender, _) = broadcast::channel(4);
    let mut receivers = JoinSet::new();
    for n in 0..3 {
        let mut receiver = sender.subscribe();
        receivers.spawn(async move {
            loop {
                match receiver.recv().await {
                    Ok(got) => log(format!("{n} got {got}")),
                    Err(broadcast::error::RecvError::Lagged(lost)) => log(format!("{n} -{lost}")),
                    Err(broadcast::error::RecvError::Closed) => return,
                }
                sleep(n * MILLI).await;
            }
        });
    }
    for k in 0..20 {
        sender.send(k).unwrap();
        sleep(MILLI / 2).await;
    }
    drop(sender);
    receivers.join_all().await;
}

async fn locks() {
    let lock = Arc::new(RwLock::new(0));
    let mutex = Arc::new(Mutex::new(Vec::new()));
    let barrier = Arc::new(Barrier::new(4));
    let (done, ended) = oneshot::channel();
    let mut tasks = JoinSet::new();
    for n in 0..4 {
        let (lock, mutex, barrier) = (lock.clone(), mutex.clone(), barrier.clone());
        tasks.spawn(async move {
            for _ in 0..5 {
                let first = barrier.wait().await.is_leader();
                match first {
                    true => *lock.write().await += 1,
                    false => mutex.lock().await.push((n, *lock.read().await)),
                }
                sleep(n * MILLI).await;
            }
        });
    }
    spawn(async move {
        tasks.join_all().await;
        done.send(()).unwrap();
    });
    ended.await.unwrap();
    log(format!("{:?}", mutex.lock().await));
}

/// Tasks that are aborted or stay on their thread, and a cell that one of several sets.
async fn tasks() {
    static CELL: OnceCell<u32> = OnceCell::const_new();
    task_local!(static NUMBER: u32);
    let long = spawn(sleep(Duration::from_secs(60)));
    let handle = long.abort_handle();
    spawn(async move {
        sleep(3 * MILLI).await;
        handle.abort();
    });
    log(long.await.unwrap_err().is_cancelled());
    let set = async |n: u32| {
        let first = || async {
            sleep(2 * MILLI).await;
            NUMBER.get()
        };
        log(format!("{n}: {}", CELL.get_or_init(first).await));
    };
    let mut tasks = JoinSet::new();
    let local = LocalSet::new();
    for n in 0..3 {
        tasks.spawn_local_on(NUMBER.scope(n, set(n)), &local);
    }
    local.run_until(async { while tasks.join_next().await.is_some() {} }).await;
    let mut tasks = JoinSet::new();
    (1..5).for_each(|n| drop(tasks.spawn(sleep(n * MILLI))));
    log(tasks.join_next().await.unwrap().is_ok());
    tasks.abort_all();
    while let Some(ended) = tasks.join_next().await {
        log(ended.is_err());
    }
}

async fn time() {
    let begin = Instant::now();
    let behaviours =
        [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip];
    for behaviour in behaviours {
        let mut ticks = interval_at(Instant::now() + MILLI, 5 * MILLI);
        ticks.set_missed_tick_behavior(behaviour);
        for n in 0..6 {
            let tick = ticks.tick().await;
            log(format!("{behaviour:?} {n} {:?}", tick - begin));
            if n == 2 {
                std::thread::sleep(12 * MILLI);
            }
        }
    }
    sleep_until(begin + Duration::from_millis(200)).await;
    log(timeout(3 * MILLI, sleep(4 * MILLI)).await.is_err());
    log(timeout(5 * MILLI, sleep(4 * MILLI)).await.is_err());
}

async fn ctrl_c() {
    select! {
        _ = tokio::signal::ctrl_c() => log("ended"),
        () = sleep(Duration::from_secs(2)) => log("timeout"),
    }
}

fn current_thread() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let work = spawn_blocking(|| std::thread::sleep(7 * MILLI));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for n in 0..10 {
                std::thread::sleep(2 * MILLI);
                sender.send(n).unwrap();
            }
        });
        while let Some(n) = receiver.recv().await {
            select! {
                () = ready(()) => log(format!("first {n}")),
                () = sleep(MILLI) => log("late"),
                () = ready(()) => log(format!("second {n}")),
            }
        }
        work.await.unwrap();
    });
}

/// Two runtimes; one ends while its tasks still wait.
fn runtimes() {
    let (first, second) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    let forever = first.spawn(async {
        loop {
            sleep(3 * MILLI).await;
            log("first");
        }
    });
    second.block_on(async { sleep(10 * MILLI).await });
    first.spawn_blocking(|| std::thread::sleep(Duration::from_secs(100)));
    first.shutdown_timeout(20 * MILLI);
    log(second.block_on(forever).is_err());
}
