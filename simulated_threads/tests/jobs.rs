//! Jobs with threads in their nodes: verified, explored, shrunk and repeated with them.

use ringspin_executor::{BoxError, Error, Graph, Message, Publisher, QoS};
use ringspin_simulated_threads::{Settings, Stuck, real_time, run};
use ringspin_simulation::{Counterexample, Exploration, Job, Order};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const MILLI: Duration = Duration::from_millis(1);

/// A node to which a thread publishes at random times, and which starts another thread.
fn sensor(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("node", 0u64)?;
    let out = node.create_publisher::<u64>("samples", QoS::default())?;
    let more = out.clone();
    node.create_subscription("samples", QoS::default(), move |sum, sample: &Message<u64>, _| {
        *sum += **sample;
        if **sample == 10 {
            let more = more.clone();
            thread::spawn(move || {
                thread::sleep(3 * MILLI);
                more.publish(1000).unwrap();
            });
        }
    })?;
    thread::spawn(move || {
        for n in 0..100 {
            thread::sleep(rand::random_range(1..20) * MILLI);
            out.publish(n).unwrap();
        }
    });
    Ok(())
}

/// Calls `test` in a world.
fn in_world<R: Send + 'static>(test: fn() -> R) -> R {
    let result: Result<R, Stuck> = run(test);
    result.unwrap()
}

#[test]
fn node_whose_threads_publish_is_the_same_in_a_hundred_runs() {
    let digest = in_world(|| {
        let job = Job::new(sensor).run_for(Duration::from_secs(3));
        job.verify(100).unwrap();
        let report = job.run().unwrap();
        assert!(report.foreign().is_empty(), "{:?}", report.foreign());
        report.digest()
    });
    let again =
        in_world(|| Job::new(sensor).run_for(Duration::from_secs(3)).run().unwrap().digest());
    assert_eq!(digest, again);
}

#[test]
fn digest_of_a_job_has_the_switches_of_its_threads() {
    let digest = |pause: u32| {
        let sleeps = move |graph: &Graph| -> Result<(), BoxError> {
            graph.create_node("node", ())?;
            thread::spawn(move || thread::sleep(pause * MILLI));
            Ok(())
        };
        run(move || Job::new(sleeps).run_for(5 * MILLI).run().unwrap().digest()).unwrap()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

/// The thread that calls the job waits for another one of the job's world, for more real time than
/// a thread may wait in a world.
#[test]
fn run_of_a_job_may_take_longer_than_a_thread_may_be_blocked() {
    let computes = |graph: &Graph| -> Result<(), BoxError> {
        graph.create_node("node", ())?;
        thread::spawn(|| {
            let begin = real_time();
            while real_time() - begin < 600 * MILLI {
                (0..5_000_000).for_each(|n: u32| {
                    std::hint::black_box(n);
                });
            }
        });
        Ok(())
    };
    let settings = Settings { blocked_max: 200 * MILLI, ..Settings::default() };
    let done = settings.run(move || Job::new(computes).run_for(MILLI).run().map(drop));
    done.unwrap().unwrap();
}

/// Two threads count their messages, and one update of the count can be lost.
fn racy(graph: &Graph) -> Result<Arc<AtomicU32>, BoxError> {
    let node = graph.create_node("node", ())?;
    let out = node.create_publisher::<u32>("count", QoS::default())?;
    node.create_subscription("count", QoS::default(), |_, _: &Message<u32>, _| {})?;
    let count = Arc::new(AtomicU32::new(0));
    let publish = |out: Publisher<u32>, count: Arc<AtomicU32>| {
        move || {
            thread::sleep(MILLI);
            let before = count.load(Ordering::SeqCst);
            let _now = Instant::now(); // as a line of a log has one
            count.store(before + 1, Ordering::SeqCst);
            out.publish(before).unwrap();
        }
    };
    thread::spawn(publish(out.clone(), count.clone()));
    thread::spawn(publish(out, count.clone()));
    Ok(count)
}

fn found<T: std::fmt::Debug>(result: Result<T, Error>) -> Counterexample {
    result.unwrap_err().cause::<Counterexample>().unwrap().clone()
}

#[test]
fn race_of_a_jobs_threads_is_found_shrunk_and_repeated() {
    let (found, again) = in_world(|| {
        let job = Job::new(racy).run_for(Duration::from_secs(1)).check(|session| {
            match session.handles.load(Ordering::SeqCst) {
                2 => Ok(()),
                count => Err(format!("{count} counted").into()),
            }
        });
        job.verify(5).unwrap();
        let first = found(job.explore(&Exploration::default()));
        let again = found(job.try_schedule(&first.schedule));
        // Of threads with priorities, one must lose its turn though it could continue.
        let pct = Exploration { order: Order::Pct { depth: 3 }, ..Exploration::default() };
        found(job.explore(&pct));
        (first, again)
    });
    assert!(found.failure.ends_with("1 counted"), "{found}");
    assert_eq!(again.failure, found.failure);
    assert_eq!(found.schedule.threads.len(), 1, "{found}");
    assert_eq!(found.schedule.deviations.len(), 0, "{found}");
    let text = found.to_string();
    assert!(text.contains("at 0.001000000 s: thread 2 before thread 1"), "{text}");
    assert!(text.contains("RINGSPIN_SCHEDULE='h0.001:"), "{text}");
}
