//! The floor that the operating system sets: how late a bare thread wakes up. It is measured as
//! cyclictest does, with the thread set up like a worker's.

use ringspin_executor::StopHandle;
use ringspin_modes::thread;
use ringspin_report::Summary;
use ringspin_report::results::WakeUp;
use std::time::{Duration, Instant};

/// The distance of two wake-ups.
const INTERVAL: Duration = Duration::from_millis(1);

/// Measures the wake-up latency of a thread on each of `cores`, all at once, for `duration`, once
/// for each of `priorities` (SCHED_FIFO; `None` for the default policy). A priority that is not
/// permitted is left out, and so is all after `stop`.
#[must_use]
pub fn wake_ups(
    cores: &[usize],
    priorities: &[Option<u8>],
    duration: Duration,
    stop: &StopHandle,
) -> Vec<WakeUp> {
    let measure = |priority: Option<u8>| -> Vec<WakeUp> {
        std::thread::scope(|scope| {
            let thread = |&core| scope.spawn(move || wake_up(core, priority, duration, stop));
            let threads: Vec<_> = cores.iter().map(thread).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
        })
    };
    let measured = priorities.iter().flat_map(|&priority| measure(priority)).collect();
    if stop.is_stopped() { Vec::new() } else { measured }
}

/// Measures on this thread; `None` if it may not have its core or its priority.
fn wake_up(
    core: usize,
    priority: Option<u8>,
    duration: Duration,
    stop: &StopHandle,
) -> Option<WakeUp> {
    if !thread::pin(core) || priority.is_some_and(|of| thread::set_fifo_priority(of).is_err()) {
        return None;
    }
    thread::reduce_timer_slack();
    let count = (duration.as_nanos() / INTERVAL.as_nanos()) as usize;
    let mut latencies_ns = Vec::with_capacity(count);
    let mut due = Instant::now();
    for _ in 0..count {
        due += INTERVAL;
        // After a late wake-up, a due time of the past would look like a punctual one.
        let now = Instant::now();
        due = if due > now { due } else { now + INTERVAL };
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        latencies_ns.push(due.elapsed().as_nanos() as u64);
        if stop.is_stopped() {
            return None;
        }
    }
    Some(WakeUp { core, priority, summary: Summary::of(&latencies_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_modes::allowed_cores;

    #[test]
    fn every_core_wakes_up_as_often_as_it_should() {
        let (cores, stop) = (allowed_cores(), StopHandle::default());
        let found = wake_ups(&cores, &[None], Duration::from_millis(20), &stop);
        let counts: Vec<_> = found.iter().map(|of| (of.core, of.summary.count)).collect();
        assert_eq!(counts, cores.iter().map(|core| (*core, 20)).collect::<Vec<_>>());
        assert!(found.iter().all(|of| of.summary.min_ns > 0));
        // No machine has such a core.
        assert_eq!(wake_ups(&[100_000], &[None], Duration::from_millis(5), &stop), []);
        stop.stop();
        assert_eq!(wake_ups(&cores, &[None], Duration::from_secs(60), &stop), []);
    }
}
