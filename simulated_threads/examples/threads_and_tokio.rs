//! A robot application of threads and tokio, as anybody would write it: sensors, a controller, a
//! logger. Run it twice, and twice with `RINGSPIN_MODE=deterministic`.

use ringspin_simulated_threads as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{interval, sleep, timeout};

/// The decisions of the controller.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::main]
async fn main() {
    let begin = Instant::now();
    let log = Arc::new(Log::default());
    let (samples, mut received) = mpsc::channel(8);

    // A driver that blocks, on a thread of its own.
    let lidar = samples.clone();
    std::thread::spawn(move || {
        for n in 0.. {
            std::thread::sleep(Duration::from_millis(100));
            if lidar.blocking_send(("lidar", n)).is_err() {
                return;
            }
        }
    });
    // Another one, as a task, which sometimes comes late.
    tokio::spawn(async move {
        let mut period = interval(Duration::from_millis(30));
        for n in 0.. {
            period.tick().await;
            sleep(Duration::from_micros(rand::random_range(0..40_000))).await;
            if samples.send(("imu", n)).await.is_err() {
                return;
            }
        }
    });
    // The controller: heavy work on the blocking pool, and a watchdog of its own.
    let busy = Arc::new(AtomicU64::new(0));
    let controller = {
        let (log, busy) = (log.clone(), busy.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    sample = timeout(Duration::from_millis(35), received.recv()) => match sample {
                        Ok(Some((sensor, n))) => {
                            log.write(format!("{:?} {sensor} {n}", begin.elapsed()));
                            let busy = busy.clone();
                            tokio::task::spawn_blocking(move || {
                                std::thread::sleep(Duration::from_millis(4));
                                busy.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                        Ok(None) => return,
                        Err(_) => log.write(format!("{:?} no sample", begin.elapsed())),
                    },
                    () = sleep(Duration::from_millis(50)) => log.write("idle".into()),
                }
            }
        })
    };
    sleep(Duration::from_secs(20)).await;
    controller.abort();
    let lines = std::mem::take(&mut *log.0.lock().unwrap());
    for line in &lines[lines.len() - 3..] {
        println!("{line}");
    }
    println!("{} lines, {} jobs done", lines.len(), busy.load(Ordering::Relaxed));
}
