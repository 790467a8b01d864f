//! Verifying: causes of differences are found, and named.

use ringspin_executor::{Context, Error, Message, QoS};
use ringspin_simulation::{Difference, Divergence, Job};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

const MS: Duration = Duration::from_millis(1);

fn diverged<T>(result: Result<T, Error>) -> Divergence {
    let error = result.err().expect("no difference was found");
    error.cause::<Divergence>().unwrap_or_else(|| panic!("{error}")).clone()
}

#[test]
fn a_hash_map_that_decides_about_the_order_is_found() {
    let job = Job::new(|graph| {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let planner = graph.create_node("planner", HashMap::<&str, u32>::new())?;
        let outs: HashMap<_, _> = names
            .iter()
            .map(|name| (*name, planner.create_publisher::<u32>(name, QoS::default()).unwrap()))
            .collect();
        planner.create_timer(10 * MS, move |seen, cx| {
            names.iter().for_each(|name| *seen.entry(*name).or_default() += 1);
            if cx.now().as_nanos() >= 50_000_000 {
                seen.iter().for_each(|(name, count)| outs[name].publish(*count).unwrap());
            }
        })?;
        let listener = graph.create_node("listener", ())?;
        for name in names {
            listener.create_subscription(name, QoS::default(), |_, _: &Message<u32>, _| ())?;
        }
        Ok(())
    });
    // Ten names have the same order in two maps once in 3.6 million times.
    let divergence = diverged(job.run_for(100 * MS).verify(2));
    assert_eq!(divergence.difference, Difference::Order);
    assert_eq!(divergence.chain.len(), 1, "{divergence}");
    assert!(divergence.chain[0].contains("0.050000000 s /planner `timer 10ms`"), "{divergence}");
    let text = divergence.to_string();
    assert!(divergence.index > 4, "{text}");
    assert!(text.contains("run 2 diverges from run 1 at dispatch "), "{text}");
    assert!(text.contains("/listener `subscription /"), "{text}");
}

#[test]
fn a_wall_clock_that_gets_into_a_message_is_found_at_its_publisher() {
    let job = Job::new(|graph| {
        let lidar = graph.create_node("lidar", ())?;
        let scan = lidar.create_publisher::<u64>("scan", QoS::default())?.digested();
        lidar.create_timer(10 * MS, move |_, _| scan.publish(7))?;
        let filter = graph.create_node("filter", ())?;
        let out = filter.create_publisher::<u64>("filtered", QoS::default())?.digested();
        filter.create_subscription("scan", QoS::default(), move |_, scan: &Message<u64>, _| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            out.publish(**scan + now.as_nanos() as u64)
        })?;
        let planner = graph.create_node("planner", ())?;
        planner.create_subscription("filtered", QoS::default(), |_, _: &Message<u64>, _| ())?;
        Ok(())
    });
    let divergence = diverged(job.run_for(100 * MS).verify(2));
    assert_eq!((divergence.difference.clone(), divergence.index), (Difference::Digest, 1));
    let first = divergence.first.clone().unwrap();
    assert!(first.contains("/filter `subscription /scan` on message 0 of /lidar"), "{first}");
    assert!(divergence.chain[0].contains("/lidar `timer 10ms`"), "{divergence}");
}

#[test]
fn a_state_that_differs_is_found_if_it_is_digested() {
    let runs = Mutex::new(0u64);
    let job = Job::new(|graph| {
        *runs.lock().unwrap() += 1;
        let node = graph.create_node("counter", *runs.lock().unwrap())?;
        node.digest_state()?;
        node.create_timer(10 * MS, |_, _| ())?;
        Ok(())
    });
    let divergence = diverged(job.run_for(30 * MS).verify(3));
    assert_eq!((divergence.run, divergence.difference), (2, Difference::Digest));
}

#[test]
fn change_that_differs_is_found_with_the_callback_that_made_it() {
    let runs = Mutex::new(0u64);
    let job = Job::new(|graph| {
        *runs.lock().unwrap() += 1;
        let run = *runs.lock().unwrap();
        let node = graph.create_node("node", 0)?;
        let late = node.clone();
        node.create_timer(10 * MS, move |n, _| {
            *n += 1;
            // The second run creates it a period later, where no dispatch shows it.
            if *n == 2 + run.min(2) {
                let on = |_: &mut _, _: &Message<u8>, _: &mut Context<'_>| ();
                late.create_subscription("points", QoS::default(), on).unwrap();
            }
        })?;
        Ok(())
    });
    let divergence = diverged(job.run_for(100 * MS).verify(2));
    assert_eq!((divergence.difference.clone(), divergence.index), (Difference::Change, 3));
    let first = divergence.first.clone().unwrap();
    assert!(first.contains("subscription /points"), "{divergence}");
    assert_eq!(divergence.other, None);
    assert!(divergence.chain[0].contains("0.030000000 s /node `timer 10ms`"), "{divergence}");
}

#[test]
fn a_run_that_ends_earlier_and_another_graph_are_found() {
    let runs = Mutex::new(0);
    let next = || {
        let mut runs = runs.lock().unwrap();
        *runs += 1;
        *runs
    };
    let shorter = Job::new(|graph| {
        let run = next();
        let node = graph.create_node("node", 0)?;
        node.create_timer(MS, move |n, cx| {
            *n += 1;
            if *n + run == 6 {
                cx.stop();
            }
        })?;
        Ok(())
    });
    let divergence = diverged(shorter.verify(2));
    assert_eq!((divergence.difference.clone(), divergence.index), (Difference::Length, 4));
    assert!(divergence.to_string().contains("run 2: (the end)"), "{divergence}");
    let other =
        Job::new(|graph| graph.create_node(&format!("n{}", next()), ()).map_err(Into::into));
    assert_eq!(diverged(other.verify(2)).difference, Difference::Graph);
}

#[test]
fn a_deterministic_job_verifies_and_traces_do_not_change_its_digest() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", 0u32)?;
        node.digest_state()?;
        let out = node.create_publisher::<u32>("t", QoS::default())?.digested();
        node.create_timer(MS, move |n, cx| {
            *n += 1;
            cx.digest("a word");
            out.publish(*n)
        })?;
        node.create_subscription("t", QoS::default(), |n, m: &Message<u32>, _| *n *= **m)?;
        Ok(())
    });
    let job = job.run_for(5 * MS);
    assert_eq!(job.verify(4).unwrap().digest(), job.run().unwrap().digest());
}

#[test]
fn a_run_that_fails_is_not_compared() {
    let job = Job::new(|_| Ok(())).check(|_| panic!("no"));
    let error = job.verify(2).unwrap_err();
    assert_eq!(error.to_string(), "run 1 failed: a check failed at 0.000000000 s: no");
}
