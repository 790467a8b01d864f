//! Sessions: stepping, pushing, reading, and changing messages in flight.

use ringspin_executor::{
    BoxError, Delivery, Error, ErrorKind, ExternalInput, Graph, Message, Publisher, QoS, Time,
    Verdict,
};
use ringspin_modes::{Executor, TiePolicy};
use ringspin_simulation::{Job, WatchdogTimeout};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn counter(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("counter", 0u32)?;
    let out = node.create_publisher::<u32>("count", QoS::default())?;
    node.create_timer(MS, move |n, _| {
        *n += 1;
        out.publish(*n)
    })?;
    let listener = graph.create_node("listener", Vec::<u32>::new())?;
    listener.create_subscription("count", QoS::default(), |seen, n: &Message<u32>, _| {
        seen.push(**n);
    })?;
    Ok(())
}

#[test]
fn one_shot_timer_counts_from_a_late_start() {
    let fired = Arc::new(Mutex::new(Vec::new()));
    let job = Job::new(|graph| {
        let node = graph.create_node("node", fired.clone())?;
        node.create_one_shot_timer(5 * MS, |fired, cx| fired.lock().unwrap().push(cx.now()))?;
        Ok(())
    });
    let start = Time::from_secs(47);
    job.start_at(start).run().unwrap();
    assert_eq!(*fired.lock().unwrap(), [start + 5 * MS]);
}

#[test]
fn a_step_is_one_event_and_says_which() {
    let mut session = Job::new(counter).start().unwrap();
    let mut steps = Vec::new();
    for _ in 0..4 {
        let step = session.step().unwrap().unwrap();
        steps.push((step.time.as_nanos() / 1_000_000, step.callback));
    }
    let names = ["/counter `timer 1ms`", "/listener `subscription /count`"].map(String::from);
    let [timer, subscription] = names;
    let expected = [(1, timer.clone()), (1, subscription.clone()), (2, timer), (2, subscription)];
    assert_eq!(steps, expected);
    assert_eq!(*session.state::<Vec<u32>>("/listener").unwrap(), [1, 2]);
    assert_eq!(session.report().dispatches(), 4);
}

#[test]
fn a_session_ends_with_nothing_left_to_do() {
    let mut session = Job::new(|_| Ok(())).start().unwrap();
    assert_eq!(session.step().unwrap(), None);
    assert_eq!(session.settle().unwrap(), 0);
}

#[test]
fn steps_end_with_the_job() {
    let mut session = Job::new(counter).end_at(Time::from_nanos(1_500_000)).start().unwrap();
    assert_eq!([(); 3].map(|()| session.step().unwrap().is_some()), [true, true, false]);
    assert_eq!(session.now().as_nanos(), 1_500_000);
    session.run_for(MS).unwrap();
    assert_eq!(session.report().dispatches(), 2);
}

/// As the documentation of `spin_some` says: until it returns zero.
#[test]
fn spinning_some_until_there_is_none_makes_an_instant_quiet() {
    for ties in [TiePolicy::Fifo, TiePolicy::Reverse] {
        let job = Job::new(|graph| {
            counter(graph)?;
            let player = graph.create_node("player", ())?;
            let out = player.create_publisher("in", QoS::default())?;
            graph.add_input("three", Three { left: 3, out })?;
            Ok(player.create_collector::<u32>("in", QoS::keep_last(1))?)
        });
        let job = job.start_at(Time::ZERO + 10 * MS).simulate(|s| s.ties = ties.clone());
        let mut session = job.start().unwrap();
        let mut dispatched = 0;
        loop {
            match session.executor().spin_some().unwrap() {
                0 => break,
                some => dispatched += some,
            }
        }
        // The overdue timer, its message, and three items with a message each.
        assert_eq!((dispatched, session.now()), (5, Time::ZERO + 10 * MS), "{ties:?}");
        assert_eq!(session.handles.values(), [3, 2, 1]);
        assert_eq!(session.settle().unwrap(), 0, "{ties:?}");
    }
}

/// Three items at the start.
struct Three {
    left: u32,
    out: Publisher<u32>,
}

impl ExternalInput for Three {
    fn next_time(&mut self) -> Option<Time> {
        (self.left > 0).then_some(Time::ZERO)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        self.out.publish(self.left)?;
        self.left -= 1;
        Ok(Delivery::Done)
    }
}

#[test]
fn time_never_goes_back() {
    let mut session = Job::new(counter).start().unwrap();
    session.run_for(3 * MS).unwrap();
    session.run_until(Time::ZERO + MS).unwrap();
    assert_eq!(session.now(), Time::ZERO + 3 * MS);
    assert!(!session.executor().spin_once(Duration::ZERO).unwrap());
    assert_eq!(session.now(), Time::ZERO + 3 * MS);
    session.run_for(MS).unwrap();
    assert_eq!(*session.state::<u32>("/counter").unwrap(), 4);
    let error = Job::new(counter).start_at(Time::ZERO + MS).end_at(Time::ZERO).run().unwrap_err();
    assert!(error.to_string().contains("ends at 0.000000000 s, before it"), "{error}");
}

#[test]
fn states_are_found_by_name_and_type() {
    let mut session = Job::new(counter).start().unwrap();
    let error = session.state::<u32>("/count").unwrap_err();
    assert_eq!(error.to_string(), "there is no event loop /count; there are /counter, /listener");
    let error = session.state::<u64>("/counter").unwrap_err();
    let start = "the state of /counter is not of type u64, or was dropped";
    assert!(error.to_string().starts_with(start), "{error}");
    assert_eq!(error.node(), Some("/counter"));
}

#[test]
fn messages_in_flight_are_dropped_changed_and_delayed() {
    let job = Job::new(|graph| {
        counter(graph)?;
        graph.intercept("count", |n: &Message<u32>, in_flight| {
            assert_eq!(u64::from(**n), in_flight.event.sequence + 1);
            match **n {
                1 => Verdict::Drop,
                2 => Verdict::Replace(20),
                3 => Verdict::Delay(MS / 2),
                _ => Verdict::Pass,
            }
        })?;
        let probe = graph.create_node("probe", ())?;
        Ok(probe.create_collector::<u32>("count", QoS::default())?)
    });
    let mut session = job.start().unwrap();
    session.run_for(4 * MS).unwrap();
    let times = session.handles.take();
    let times: Vec<_> = times.iter().map(|(time, n)| (time.as_nanos() / 100_000, **n)).collect();
    assert_eq!(times, [(20, 20), (35, 3), (40, 4)]);
    assert_eq!(session.report().statistics().lost(), 2, "one for each subscription");
    let mut executor = Executor::single_core();
    executor.graph().intercept("t", |_: &Message<u8>, _| Verdict::Pass).unwrap();
    let error = executor.spin().unwrap_err();
    assert!(error.to_string().contains("interceptor of topic /t needs simulated"), "{error}");
    let twice = executor.graph().intercept("t", |_: &Message<u8>, _| Verdict::Pass);
    assert!(twice.is_err());
}

#[test]
fn a_job_ends_by_time_condition_word_and_exit_code() {
    let ended = |job: Job<'_>| job.run().unwrap().end().as_nanos() / 1_000_000;
    assert_eq!(ended(Job::new(counter).end_at(Time::from_nanos(7_000_000))), 7);
    assert_eq!(ended(Job::new(counter).end_when(|(), now| now.as_nanos() > 2_500_000)), 3);
    let word = Job::new(|graph| {
        let node = graph.create_node("node", ())?;
        node.create_timer(MS, |_, cx| {
            cx.exit(3);
            cx.exit(4);
        })?;
        Ok(())
    });
    let report = word.run().unwrap();
    assert_eq!((report.exit_code(), report.end().as_nanos()), (Some(3), 1_000_000));
}

#[test]
fn simulated_time_without_progress_is_an_error() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", 0u32)?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        node.create_timer(MS, move |n, _| {
            *n += 1;
            if *n < 10 { out.publish(*n).map_err(|_| "full") } else { Ok(()) }
        })?;
        node.create_subscription("t", QoS::default(), |_, _: &Message<u32>, _| ())?;
        Ok(())
    });
    let job = job.run_for(1000 * MS).simulate(|s| s.no_progress_max = Some(20 * MS));
    let error = job.run().unwrap_err().downcast::<Error>().unwrap();
    assert_eq!(error.kind(), ErrorKind::NoProgress);
    let since = Time::from_nanos(9_000_000);
    let expected = format!("handled since {since}, for more than 20ms;");
    assert!(error.to_string().contains(&expected), "{error}");
}

/// The callback waits until the watchdog has barked, so the test needs no certain time.
#[test]
fn an_endless_callback_is_named_by_the_watchdog() {
    let barked = Arc::new((Mutex::new(None::<WatchdogTimeout>), std::sync::Condvar::new()));
    let (seen, heard) = (barked.clone(), barked.clone());
    let job = Job::new(move |graph| {
        let heard = heard.clone();
        let node = graph.create_node("node", ())?;
        node.create_one_shot_timer(MS, move |_, _| {
            let stuck = heard.0.lock().unwrap();
            drop(heard.1.wait_while(stuck, |stuck| stuck.is_none()).unwrap());
        })?;
        Ok(())
    });
    let job = job.with_watchdog(MS, move |stuck| {
        *seen.0.lock().unwrap() = Some(stuck.clone());
        seen.1.notify_all();
    });
    job.run().unwrap();
    let stuck = barked.0.lock().unwrap().clone().unwrap();
    assert_eq!(stuck.callbacks, ["/node `one-shot timer 1ms`"]);
}
