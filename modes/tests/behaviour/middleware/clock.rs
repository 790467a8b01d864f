//! Time that comes from outside, and simulated time that is shown there.

use super::fake_middleware::{FakeMiddleware, Fault, Way};
use super::sender;
use crate::on_one_core;
use ringspin_executor::{
    Arguments, Context, Message, ParameterValue, QoS, StopHandle, SubscriptionEvents, Time,
    WaitStrategy,
};
use ringspin_modes::{Executor, Mode};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const BEGIN: Time = Time::from_secs(1000);
/// Real times are later, and those of the tests are not.
const REAL: Time = Time::from_secs(1_000_000_000);
/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(20);

/// Runs `test` in every live mode.
fn live(test: impl Fn(Executor, FakeMiddleware)) {
    let parking = WaitStrategy::SpinThenPark(Duration::ZERO);
    for executor in [
        Executor::single_core(),
        on_one_core(),
        Executor::new(Mode::MultiCore(None)),
        Executor::new(Mode::MultiCore(None)).with_wait_strategy(parking),
        Executor::single_core().with_wait_strategy(WaitStrategy::Yield),
    ] {
        let fake = FakeMiddleware::new(Way::AtOnce);
        test(executor.with_middleware(Arc::new(fake.another())).unwrap(), fake);
    }
}

/// Rings when the executor spins, with its timers started.
fn spins(executor: &Executor, fake: &FakeMiddleware) -> Receiver<()> {
    let (ready, is_ready) = channel();
    let node = executor.create_node("ready", ()).unwrap();
    node.create_subscription("ready", QoS::default(), move |(), _: &Message<u64>, _| {
        ready.send(()).unwrap();
    })
    .unwrap();
    sender(fake, "/ready", QoS::default()).publish(&0u64).unwrap();
    is_ready
}

/// Spins on another thread while `during` runs, then stops. `during` begins when timers are
/// started.
fn while_spinning(executor: &mut Executor, fake: &FakeMiddleware, during: impl FnOnce()) {
    let is_ready = spins(executor, fake);
    struct Stop(StopHandle);
    impl Drop for Stop {
        fn drop(&mut self) {
            self.0.stop();
        }
    }
    executor.freeze().unwrap();
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        let stop = Stop(stop);
        let spinning = scope.spawn(|| executor.spin());
        is_ready.recv_timeout(LONG).unwrap();
        during();
        drop(stop);
        spinning.join().unwrap().unwrap();
    });
}

/// A node with a timer, and when it is called.
fn ticking(executor: &Executor, period: Duration) -> Receiver<Time> {
    let (sender, ticks) = channel();
    let node = executor.create_node("ticking", ()).unwrap();
    node.create_timer(period, move |(), cx| sender.send(cx.now()).unwrap()).unwrap();
    ticks
}

#[test]
fn timers_fire_by_a_clock_that_is_followed() {
    live(|executor, fake| {
        let mut executor = executor.with_sim_time();
        let ticks = ticking(&executor, 10 * MS);
        while_spinning(&mut executor, &fake, || {
            assert_eq!(fake.tell(BEGIN), 1);
            for n in 1..50 {
                fake.tell(BEGIN + 10 * MS * (n - 1) + 9 * MS);
                fake.tell(BEGIN + 10 * MS * n);
                assert_eq!(ticks.recv_timeout(LONG).unwrap(), BEGIN + 10 * MS * n);
            }
            fake.tell(BEGIN + 1000 * MS);
            assert_eq!(ticks.recv_timeout(LONG).unwrap(), BEGIN + 1000 * MS, "once");
            fake.tell(BEGIN + 1010 * MS);
            assert_eq!(ticks.recv_timeout(LONG).unwrap(), BEGIN + 1010 * MS);
        });
        assert!(ticks.try_recv().is_err());
        assert_eq!(executor.now(), BEGIN + 1010 * MS);
    });
}

#[test]
fn a_clock_that_stands_still_wakes_no_worker() {
    const STEPS: u64 = 20;
    let fake = FakeMiddleware::new(Way::AtOnce);
    let executor = Executor::single_core().with_middleware(Arc::new(fake.another())).unwrap();
    let parking = WaitStrategy::SpinThenPark(Duration::ZERO);
    let mut executor = executor.with_sim_time().with_wait_strategy(parking);
    let ticks = ticking(&executor, MS);
    while_spinning(&mut executor, &fake, || {
        fake.tell(BEGIN);
        for n in 1..=STEPS as u32 {
            fake.tell(BEGIN + MS * n);
            ticks.recv_timeout(LONG).unwrap();
        }
        // A worker that polls would be found out now: real time is many periods.
        std::thread::sleep(100 * MS);
    });
    let sleeps: u64 = executor.statistics().workers.iter().map(|worker| worker.sleeps).sum();
    assert!(sleeps <= 3 * (STEPS + 3), "{sleeps} sleeps for {STEPS} steps");
}

#[test]
fn a_jump_back_starts_timers_again_and_fires_none_twice() {
    live(|executor, fake| {
        let mut executor = executor.with_sim_time();
        let ticks = ticking(&executor, 10 * MS);
        let before = Time::from_secs(500);
        while_spinning(&mut executor, &fake, || {
            for time in [BEGIN, BEGIN + 10 * MS, BEGIN + 15 * MS] {
                fake.tell(time);
            }
            let first = ticks.recv_timeout(LONG).unwrap();
            assert!([BEGIN + 10 * MS, BEGIN + 15 * MS].contains(&first), "{first}");
            // A worker may miss a time that is replaced at once, so send it twice.
            let mut now = before;
            let again = loop {
                fake.tell(now);
                now = now + MS;
                if let Ok(time) = ticks.recv_timeout(MS) {
                    break time;
                }
            };
            assert!(again >= before + 10 * MS && again < BEGIN, "{again}");
        });
        assert!(ticks.try_recv().is_err());
    });
}

#[test]
fn spinning_lasts_from_the_begin_of_the_clock() {
    live(|executor, fake| {
        let mut executor = executor.with_sim_time();
        let _ticks = ticking(&executor, Duration::from_secs(1));
        let is_ready = spins(&executor, &fake);
        executor.freeze().unwrap();
        assert_eq!(executor.now(), Time::ZERO);
        std::thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin_for(5 * MS));
            is_ready.recv_timeout(LONG).unwrap();
            fake.tell(BEGIN);
            fake.tell(BEGIN + 4 * MS);
            assert!(!spinning.is_finished());
            fake.tell(BEGIN + 5 * MS);
            spinning.join().unwrap().unwrap();
        });
        assert_eq!(executor.now(), BEGIN + 5 * MS);
    });
}

#[test]
fn messages_are_handled_before_the_clock_begins_and_timers_are_not() {
    live(|executor, fake| {
        let mut executor = executor.with_sim_time();
        let ticks = ticking(&executor, MS);
        let node = executor.create_node("hearing", ()).unwrap();
        let (tell, heard) = channel();
        node.create_subscription("numbers", QoS::default(), move |(), n: &Message<u64>, cx| {
            tell.send((**n, cx.now())).unwrap();
        })
        .unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        while_spinning(&mut executor, &fake, || {
            out.publish(&7u64).unwrap();
            assert_eq!(heard.recv_timeout(LONG).unwrap(), (7, Time::ZERO));
            assert!(ticks.try_recv().is_err());
        });
    });
}

#[test]
fn a_deadline_is_one_of_the_clock_and_ends_with_a_message_from_outside() {
    live(|executor, fake| {
        let mut executor = executor.with_sim_time();
        let node = executor.create_node("hearing", ()).unwrap();
        let ((tell, heard), (miss, missed)) = (channel(), channel());
        let qos = QoS::default().deadline(100 * MS);
        let events = SubscriptionEvents::new().on_deadline_missed(move |(), event, cx| {
            miss.send((event.total_count, cx.now())).unwrap();
        });
        let callback =
            move |(): &mut (), _: &Message<u64>, _: &mut Context<'_>| tell.send(()).unwrap();
        node.create_subscription_with_events("numbers", qos, events, callback).unwrap();
        let (tick, ticks) = channel();
        node.create_timer(10 * MS, move |(), _| tick.send(()).unwrap_or_default()).unwrap();
        let out = sender(&fake, "/numbers", qos);
        while_spinning(&mut executor, &fake, || {
            fake.tell(BEGIN);
            fake.tell(BEGIN + 10 * MS);
            // The wait for the deadline began before, on the same loop.
            ticks.recv_timeout(LONG).unwrap();
            fake.tell(BEGIN + 90 * MS);
            out.publish(&2u64).unwrap();
            heard.recv_timeout(LONG).unwrap();
            fake.tell(BEGIN + 189 * MS);
            fake.tell(BEGIN + 191 * MS);
            assert_eq!(missed.recv_timeout(LONG).unwrap(), (1, BEGIN + 191 * MS));
        });
        assert!(missed.try_recv().is_err());
    });
}

#[test]
fn arguments_decide_and_every_node_says_so() {
    let with = |line: &[&str]| {
        let (arguments, _) = Arguments::parse(line.iter().copied()).unwrap();
        let fake = FakeMiddleware::new(Way::AtOnce);
        let executor = Executor::single_core().with_arguments(arguments);
        let mut executor = executor.with_middleware(Arc::new(fake.another())).unwrap();
        let node = executor.create_node("node", ()).unwrap();
        let says = node.parameters().get("use_sim_time").ok().map(|value| value.to_string());
        executor.freeze().unwrap();
        (says, executor.now() > Time::ZERO)
    };
    let follows = (Some(String::from("true")), false);
    assert_eq!(with(&["--ros-args", "-p", "use_sim_time:=true"]), follows);
    assert_eq!(with(&["--ros-args", "-p", "node:use_sim_time:=true"]), follows);
    let real = (Some(String::from("false")), true);
    assert_eq!(with(&["--ros-args", "-p", "use_sim_time:=false"]), real);
    assert_eq!(with(&[]), real);
}

/// Sets the clock to times from `time` on, 10 ms apart, until a tick comes that `is_wanted`.
fn tick_by(
    fake: &FakeMiddleware,
    time: Time,
    ticks: &Receiver<Time>,
    is_wanted: fn(Time) -> bool,
) -> Time {
    let end = Instant::now() + LONG;
    for n in 0.. {
        assert!(Instant::now() < end, "no tick");
        fake.tell(time + 10 * MS * n);
        if let Ok(tick) = ticks.recv_timeout(MS)
            && is_wanted(tick)
        {
            return tick;
        }
    }
    unreachable!()
}

#[test]
fn use_sim_time_switches_the_time_of_all_nodes_while_they_run() {
    live(|mut executor, fake| {
        let ticks = ticking(&executor, 10 * MS);
        let first = executor.create_node("first", ()).unwrap().parameters();
        let other = executor.create_node("other", ()).unwrap().parameters();
        let says = |value: bool| {
            for node in [&first, &other] {
                assert_eq!(node.get("use_sim_time").unwrap().to_string(), value.to_string());
            }
        };
        while_spinning(&mut executor, &fake, || {
            says(false);
            assert_eq!(fake.tell(BEGIN), 0, "nothing follows");
            assert!(ticks.recv_timeout(LONG).unwrap() > REAL);
            for round in 0..3 {
                first.set("use_sim_time", true).unwrap();
                says(true);
                // A worker notices later, and has ticks of before. The last time holds until then.
                let begin = BEGIN + Duration::from_secs(round);
                let tick = tick_by(&fake, begin, &ticks, |tick| tick < REAL);
                assert!(tick >= begin, "{tick}");
                other.set("use_sim_time", false).unwrap();
                says(false);
                assert_eq!(fake.tell(BEGIN), 0, "nothing follows any more");
                while ticks.recv_timeout(LONG).unwrap() < REAL {}
                for _ in 0..3 {
                    assert!(ticks.recv_timeout(LONG).unwrap() > REAL);
                }
            }
        });
        assert!(executor.now() > REAL);
        let statistics = executor.statistics();
        let missed: u64 = statistics.of("/ticking").map(|timer| timer.missed).sum();
        assert!(missed < 1_000_000, "{missed}: a switch is no period that was missed");
    });
}

#[test]
fn spinning_lasts_its_whole_duration_from_a_switch_of_the_time() {
    live(|mut executor, fake| {
        let node = executor.create_node("node", ()).unwrap();
        let parameters = node.parameters();
        let is_ready = spins(&executor, &fake);
        executor.freeze().unwrap();
        std::thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin_for(LONG));
            is_ready.recv_timeout(LONG).unwrap();
            parameters.set("use_sim_time", true).unwrap();
            fake.tell(BEGIN);
            fake.tell(BEGIN + (LONG - MS));
            assert!(!spinning.is_finished());
            fake.tell(BEGIN + LONG);
            spinning.join().unwrap().unwrap();
        });
        assert_eq!(executor.now(), BEGIN + LONG);
    });
}

#[test]
fn deadline_counts_from_a_switch_of_the_time() {
    live(|mut executor, fake| {
        let node = executor.create_node("hearing", ()).unwrap();
        let parameters = node.parameters();
        let (miss, missed) = channel();
        let qos = QoS::default().deadline(Duration::from_secs(1000));
        let events = SubscriptionEvents::new().on_deadline_missed(move |(), event, _| {
            miss.send(event.total_count).unwrap();
        });
        let callback = |(): &mut (), _: &Message<u64>, _: &mut Context<'_>| {};
        node.create_subscription_with_events("numbers", qos, events, callback).unwrap();
        let ticks = ticking(&executor, 10 * MS);
        while_spinning(&mut executor, &fake, || {
            parameters.set("use_sim_time", true).unwrap();
            tick_by(&fake, BEGIN, &ticks, |tick| tick < REAL);
            parameters.set("use_sim_time", false).unwrap();
            while ticks.recv_timeout(LONG).unwrap() < REAL {}
            // The watch looks before the second tick, on the same worker.
            ticks.recv_timeout(LONG).unwrap();
            ticks.recv_timeout(LONG).unwrap();
        });
        let misses: Vec<u64> = missed.try_iter().collect();
        assert_eq!(misses, [0; 0], "the years between the two times are no periods");
    });
}

#[test]
fn use_sim_time_is_refused_where_no_clock_can_be_followed() {
    let fake = FakeMiddleware::new(Way::AtOnce);
    let executor = Executor::single_core();
    let mut executor = executor.with_middleware(Arc::new(fake.another())).unwrap();
    let parameters = executor.create_node("node", ()).unwrap().parameters();
    executor.freeze().unwrap();
    let set = |value: ParameterValue| parameters.set("use_sim_time", value);
    let error = set(ParameterValue::Integer(1)).unwrap_err().to_string();
    assert!(error.contains("is of type bool"), "{error}");
    fake.fail(Fault::Clock, 1);
    let error = set(true.into()).unwrap_err().to_string();
    assert!(error.contains("the fake: Clock was told to fail"), "{error}");
    assert!(executor.now() > BEGIN, "as before");
    set(true.into()).unwrap();
    assert_eq!(executor.now(), Time::ZERO);
    drop(executor);
    assert_eq!(fake.tell(BEGIN), 0, "the follower ends with its executor");
    // It has no effect without a middleware.
    let parameters = Executor::single_core().create_node("node", ()).unwrap().parameters();
    assert!(parameters.get("use_sim_time").is_err());
}

#[test]
fn parameters_are_set_at_the_time_that_is_followed() {
    for is_followed in [true, false] {
        let fake = FakeMiddleware::new(Way::AtOnce);
        let executor = Executor::single_core().with_middleware(Arc::new(fake.another())).unwrap();
        let mut executor = if is_followed { executor.with_sim_time() } else { executor };
        let node = executor.create_node("node", ()).unwrap();
        let gain = node.declare_parameter("gain", 1.0).unwrap();
        gain.set(2.0).unwrap();
        executor.freeze().unwrap();
        fake.tell(Time::from_secs(100));
        gain.set(3.0).unwrap();
        let expected = [Time::ZERO, Time::from_secs(100)].map(|time| is_followed.then_some(time));
        assert_eq!(fake.stamps(), expected);
    }
}

#[test]
fn without_a_clock_to_follow_freezing_is_an_error() {
    let refused = |executor: Executor, reason: &str| {
        let mut executor = executor.with_sim_time();
        let error = executor.freeze().unwrap_err().to_string();
        assert!(error.starts_with(&format!("failed to follow /clock: {reason}; ")), "{error}");
    };
    refused(Executor::single_core(), "there is no middleware that brings one");
    let fake = FakeMiddleware::new(Way::AtOnce);
    let with =
        |fake: FakeMiddleware| Executor::single_core().with_middleware(Arc::new(fake)).unwrap();
    refused(with(fake.another().publishing_only()), "the fake brings none");
    fake.fail(Fault::Clock, 1);
    refused(with(fake.another()), "the fake: Clock was told to fail");
}

#[test]
fn simulated_time_is_shown_at_most_once_in_a_period_and_changes_no_digest() {
    let digest = |fake: Option<FakeMiddleware>| {
        let mut executor = Executor::deterministic(Default::default());
        if let Some(fake) = fake {
            executor = executor.with_middleware(Arc::new(fake)).unwrap();
        }
        let _ticks = ticking(&executor, 30 * MS);
        executor.spin_for(300 * MS).unwrap();
        executor.digest().unwrap()
    };
    let fake = FakeMiddleware::new(Way::AtOnce).publishing_only();
    assert_eq!(digest(Some(fake.clone())), digest(None));
    let shown: Vec<u64> = fake.shown().iter().map(|time| time.as_nanos() / 1_000_000).collect();
    assert_eq!(shown, [30, 150, 270]);
}
