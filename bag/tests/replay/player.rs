//! The player in deterministic mode.

use crate::support::{MS, Number, Stamped, ms, numbers, record, topic, types};
use ringspin_bag::{
    MemoryRecording, Order, PlayReport, Player, ReadOptions, RecordSource, Records, TimeBase, Topic,
};
use ringspin_executor::{BoxError, Collector, Context, ErrorKind, Graph, Message, QoS, Time};
use ringspin_messages::RawMessage;
use ringspin_modes::Executor;
use ringspin_modes::deterministic::Simulation;
use ringspin_simulation::Job;
use ringspin_simulation::models::Links;
use std::time::Duration;

/// Plays to a collector of numbers on `topic`; returns the milliseconds and values that it got.
fn play(player: &Player, topic: &str) -> Vec<(u64, u32)> {
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        let numbers = probe.create_collector::<Number>(topic, QoS::keep_last(1))?;
        player.add_to(graph, &types())?;
        Ok(numbers)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    received(&session.handles)
}

fn received(numbers: &Collector<Number>) -> Vec<(u64, u32)> {
    let numbers = numbers.take();
    numbers.iter().map(|(time, n)| ((*time - ms(0)).as_millis() as u64, n.value)).collect()
}

const ITEMS: [(u64, u32); 5] = [(0, 1), (0, 2), (10, 3), (10, 4), (25, 5)];

#[test]
fn every_message_arrives_once_at_its_time() {
    let player = Player::new([numbers("/n", &ITEMS)]);
    assert_eq!(play(&player, "/n"), ITEMS);
    assert_eq!(player.start_time(&types()).unwrap(), Some(ms(0)));
    assert_eq!(player.end_time(), Some(ms(25)));
}

#[test]
fn the_rate_has_no_effect_in_simulated_time() {
    assert_eq!(play(&Player::new([numbers("/n", &ITEMS)]).rate(0.01).delay(MS), "/n"), ITEMS);
}

#[test]
fn recordings_are_merged_by_time_and_equal_times_stay_in_the_order_of_the_recordings() {
    let first = numbers("/n", &[(5, 1), (7, 2), (9, 3)]);
    let second = numbers("/n", &[(1, 10), (7, 20), (7, 21), (12, 30)]);
    let merged = [(1, 10), (5, 1), (7, 2), (7, 20), (7, 21), (9, 3), (12, 30)];
    let player = Player::new([first.clone(), second.clone()]);
    assert_eq!(play(&player, "/n"), merged);
    let swapped = [(1, 10), (5, 1), (7, 20), (7, 21), (7, 2), (9, 3), (12, 30)];
    assert_eq!(play(&Player::new([second, first]), "/n"), swapped);
}

#[test]
fn offsets_cut_the_recording_inclusively() {
    let player = Player::new([numbers("/n", &ITEMS)]);
    let player = player.start_offset(10 * MS).end_offset(24 * MS);
    assert_eq!(play(&player, "/n"), [(10, 3), (10, 4)]);
    assert_eq!(player.start_time(&types()).unwrap(), Some(ms(10)));
    assert_eq!(player.end_time(), Some(ms(24)));
}

#[test]
fn transient_local_messages_before_the_offset_are_played_at_its_time() {
    let numbers = [(0, 0, 10), (0, 1, 20), (1, 1, 21), (2, 0, 11), (3, 1, 22), (6, 1, 23)];
    let records = numbers.iter().enumerate();
    let records = records.map(|(n, (at, topic, value))| {
        record(*topic, ms(*at), n as u32, &Number { value: *value })
    });
    let mut recording = MemoryRecording {
        topics: vec![topic::<Number>("/plain"), topic::<Number>("/latched")],
        records: records.collect(),
    };
    // Two publishers, which keep a message each.
    recording.topics[1].offered_qos = vec![QoS::keep_last(1).transient_local(); 2];
    let player = || Player::new([recording.clone()]).start_offset(5 * MS);
    assert_eq!(play(&player(), "/latched"), [(5, 21), (5, 22), (6, 23)]);
    assert_eq!(play(&player(), "/plain"), []);
    assert_eq!(player().start_time(&types()).unwrap(), Some(ms(5)));
    assert_eq!(play(&player().exclude(["/latched"]), "/plain"), []);
    // The settings decide, and the first message at the offset is not latched.
    let latched = QoS::keep_last(1).transient_local();
    assert_eq!(play(&player().qos("/plain", latched), "/plain"), [(5, 11)]);
    let all = QoS::keep_all(1).transient_local();
    assert_eq!(play(&player().qos("/plain", all), "/plain"), [(5, 10), (5, 11)]);
    assert_eq!(play(&player().qos("/latched", QoS::default()), "/latched"), [(6, 23)]);
    let from_the_third = player().start_offset(3 * MS);
    assert_eq!(play(&from_the_third, "/latched"), [(3, 20), (3, 21), (3, 22), (6, 23)]);
    let by_publication = player().order(Order::PublishTime).start_offset(5 * MS);
    assert_eq!(play(&by_publication, "/latched"), [(5, 21), (5, 22), (6, 23)]);
    // Without headers, times by stamps are those of reception.
    let by_stamp = player().time_base(TimeBase::Stamp);
    assert_eq!(play(&by_stamp, "/latched"), [(5, 21), (5, 22), (6, 23)]);
}

/// Numbers on two topics.
fn two_topics() -> MemoryRecording {
    let records =
        (0..4u32).map(|n| record(n as usize % 2, ms(n.into()), n / 2, &Number { value: n }));
    MemoryRecording {
        topics: vec![topic::<Number>("/even"), topic::<Number>("/odd")],
        records: records.collect(),
    }
}

#[test]
fn topics_are_chosen_excluded_and_remapped_by_their_recorded_names() {
    let player = || Player::new([two_topics()]);
    assert_eq!(play(&player(), "/odd"), [(1, 1), (3, 3)]);
    assert_eq!(play(&player().topics(["/even"]), "/odd"), []);
    assert_eq!(play(&player().topics(["/even"]), "/even"), [(0, 0), (2, 2)]);
    assert_eq!(play(&player().exclude(["/even"]), "/even"), []);
    assert_eq!(play(&player().remap("/even", "/elsewhere"), "/elsewhere"), [(0, 0), (2, 2)]);
    let both = [(0, 0), (1, 1), (2, 2), (3, 3)];
    assert_eq!(play(&player().remap("/even", "/n").remap("/odd", "/n"), "/n"), both);
}

#[test]
fn names_that_were_not_recorded_are_refused_with_the_recorded_ones() {
    for player in [
        Player::new([two_topics()]).topics(["/evne"]),
        Player::new([two_topics()]).exclude(["/evne"]),
        Player::new([two_topics()]).remap("/evne", "/even"),
    ] {
        let error = player.add_to(&Graph::new(), &types()).unwrap_err();
        assert_eq!((error.kind(), error.topic()), (ErrorKind::NotFound, Some("/evne")));
        let text = "failed to play topic /evne: it is not in the recording, which has /even, /odd";
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn messages_are_played_in_the_order_and_at_the_times_of_publication() {
    let mut recording = numbers("/n", &[(1, 1), (2, 2), (3, 3)]);
    for (record, at) in recording.records.iter_mut().zip([0, 2, 1]) {
        record.publish_time = ms(at);
    }
    let by_time = Player::new([recording.clone()]).time_base(TimeBase::Publish);
    assert_eq!(play(&by_time, "/n"), [(0, 1), (1, 3), (2, 2)]);
    // At log times; the time of the last one has passed.
    let by_order = Player::new([recording]).order(Order::PublishTime);
    assert_eq!(play(&by_order, "/n"), [(1, 1), (3, 3), (3, 2)]);
}

#[test]
fn messages_are_played_in_the_order_and_at_the_times_of_their_stamps() {
    let stamped = |sec: i32, value| Stamped { sec, value, ..Stamped::default() };
    let at = |seconds: u64| Time::from_secs(seconds);
    // Stamps of another clock than that of the recorder, and messages without a stamp.
    let records = [
        (1, 100_000, 0),
        (0, 100_010, 7),
        (1, 100_020, 1),
        (0, 100_030, 5),
        (1, 100_040, 2),
        (0, 102_000, 9),
    ];
    let records = records.iter().enumerate().map(|(n, (topic, log_ms, seconds))| match topic {
        0 => record(0, ms(*log_ms), n as u32, &stamped(*seconds, n as u32)),
        _ => record(1, ms(*log_ms), n as u32, &Number { value: n as u32 }),
    });
    let recording = MemoryRecording {
        topics: vec![topic::<Stamped>("/stamped"), topic::<Number>("/n")],
        records: records.collect(),
    };
    let player = Player::new([recording]).time_base(TimeBase::Stamp);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", Vec::<(Time, u32)>::new())?;
        probe.create_subscription(
            "stamped",
            QoS::default(),
            |seen: &mut Vec<_>, message: &Message<Stamped>, cx: &mut Context<'_>| {
                seen.push((cx.now(), message.value));
            },
        )?;
        probe.create_subscription(
            "n",
            QoS::default(),
            |seen: &mut Vec<_>, message: &Message<Number>, cx: &mut Context<'_>| {
                seen.push((cx.now(), message.value));
            },
        )?;
        player.add_to(graph, &types())?;
        Ok(())
    });
    let start = player.start_time(&types()).unwrap().unwrap();
    let mut session = job.start_at(start).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let seen = session.state::<Vec<(Time, u32)>>("/probe").unwrap();
    let expected = [(at(5), 3), (at(5), 4), (at(7), 0), (at(7), 1), (at(7), 2), (at(9), 5)];
    assert_eq!(*seen, expected);
}

#[test]
fn the_clock_ticks_from_the_first_message_to_the_last() {
    let player = Player::new([numbers("/n", &ITEMS)]).clock(5 * MS);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        player.add_to(graph, &types())?;
        Ok(probe.create_collector::<RawMessage>("clock", QoS::clock())?)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let ticks: Vec<_> = session
        .handles
        .take()
        .iter()
        .map(|(time, tick)| {
            let (sec, nanosec): (i32, u32) = ringspin_messages::cdr::from_bytes(&tick.0).unwrap();
            let shown = Time::from_secs(sec as u64) + Duration::from_nanos(nanosec.into());
            assert_eq!(shown, *time);
            (*time - ms(0)).as_millis()
        })
        .collect();
    assert_eq!(ticks, [0, 5, 10, 15, 20, 25]);
}

#[test]
fn a_full_subscription_makes_the_player_wait_and_nothing_is_lost() {
    let items: Vec<_> = (0..40).map(|n| (u64::from(n / 8), n)).collect();
    let player = Player::new([numbers("/n", &items)]);
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("slow", Vec::<u32>::new())?;
        node.create_subscription("n", QoS::keep_all(2), |seen, n: &Message<Number>, _| {
            seen.push(n.value);
        })?;
        Ok(player.add_to(graph, &types())?)
    });
    // Each callback takes longer than the messages are apart.
    let durations = ringspin_simulation::models::Durations::from_toml(
        "[[execution]]\nnode = \"/slow\"\nduration = \"3ms\"\n",
    );
    let job = job.simulate(|simulation| {
        simulation.start = ms(0);
        simulation.durations = durations.unwrap().into();
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let statistics = session.report().statistics().clone();
    let report = session.handles.report(&statistics);
    assert_eq!(*session.state::<Vec<u32>>("/slow").unwrap(), (0..40).collect::<Vec<_>>());
    assert!(report.retries > 0, "{report:?}");
    assert_eq!((report.messages, report.bytes, report.dropped), (40, 40 * 8, vec![]));
    // 40 callbacks of 3 ms.
    assert_eq!(session.now(), ms(120));
}

#[test]
fn an_unreadable_recording_ends_the_run_with_its_name() {
    let mut recording = numbers("/n", &ITEMS);
    recording.records[3].data.truncate(5);
    let player = Player::new([recording]);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        probe.create_collector::<Number>("n", QoS::default())?;
        Ok(player.add_to(graph, &types())?)
    });
    let error = player.apply_times(job, &types()).unwrap().run().unwrap_err().to_string();
    assert!(error.contains("failed to deserialize 5 bytes"), "{error}");
    assert!(error.contains("/n"), "{error}");
}

#[test]
fn the_executor_stops_at_the_end_of_the_recording() {
    let mut executor = Executor::deterministic(Simulation { start: ms(0), ..Default::default() });
    let node = executor.create_node("busy", 0u32).unwrap();
    node.create_timer(MS, |ticks, _| *ticks += 1).unwrap();
    let player = Player::new([numbers("/n", &[(0, 1), (5, 2)])]);
    let player = player.stop_at_end(executor.stop_handle(), 3 * MS);
    player.add_to(executor.graph(), &types()).unwrap();
    executor.spin().unwrap();
    assert_eq!(executor.now(), ms(8));
}

#[test]
fn offsets_count_from_the_first_reception_in_all_recordings() {
    let first = numbers("/n", &[(5, 1), (10, 2)]);
    let second = numbers("/n", &[(10, 3), (20, 4)]);
    let player = Player::new([second, first]).start_offset(5 * MS).end_offset(100 * MS);
    assert_eq!(play(&player, "/n"), [(10, 3), (10, 2), (20, 4)]);
    assert_eq!(player.end_time(), Some(ms(20)));
}

#[test]
fn recordings_are_merged_by_the_time_of_publication() {
    let mut recordings = [numbers("/n", &[(1, 1)]), numbers("/n", &[(2, 2)])];
    recordings[0].records[0].publish_time = ms(4);
    recordings[1].records[0].publish_time = ms(3);
    let player = Player::new(recordings).time_base(TimeBase::Publish);
    assert_eq!(play(&player, "/n"), [(3, 2), (4, 1)]);
}

#[test]
fn position_is_the_latest_time_played() {
    let mut recording = numbers("/n", &[(1, 1), (2, 2), (3, 3)]);
    for (record, at) in recording.records.iter_mut().zip([0, 2, 1]) {
        record.publish_time = ms(at);
    }
    let player = Player::new([recording]).order(Order::PublishTime);
    let job = Job::new(|graph: &Graph| Ok(player.add_to(graph, &types())?));
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    assert_eq!(session.handles.position(), Time::ZERO);
    session.run_until(Time::MAX).unwrap();
    assert_eq!(session.handles.position(), ms(3));
}

/// The milliseconds and the number of seconds in the stamp, which may be zero.
fn stamped(items: &[(u64, i32)]) -> MemoryRecording {
    let message = |sec| Stamped { sec, ..Stamped::default() };
    let records = items.iter().map(|(at, sec)| record(0, ms(*at), 0, &message(*sec)));
    MemoryRecording { topics: vec![topic::<Stamped>("/s")], records: records.collect() }
}

#[test]
fn stamps_reorder_messages_of_one_second_only() {
    let start = |items: &[(u64, i32)]| {
        let player = Player::new([stamped(items)]).time_base(TimeBase::Stamp);
        player.start_time(&types()).unwrap()
    };
    assert_eq!(start(&[(0, 10), (999, 5)]), Some(Time::from_secs(5)));
    assert_eq!(start(&[(0, 10), (1000, 9), (2001, 5)]), Some(Time::from_secs(9)));
    // Messages without a stamp wait as long for the first one that has a stamp.
    assert_eq!(start(&[(0, 0), (999, 5)]), Some(Time::from_secs(5)));
    assert_eq!(start(&[(0, 0), (1000, 0), (2000, 5)]), Some(ms(0)));
}

/// A recording that cannot be read after its first messages.
struct Broken(MemoryRecording, usize);

impl RecordSource for Broken {
    fn name(&self) -> String {
        "broken.mcap".into()
    }

    fn topics(&self) -> &[Topic] {
        &self.0.topics
    }

    fn start(&self) -> Option<Time> {
        self.0.start()
    }

    fn end(&self) -> Option<Time> {
        self.0.end()
    }

    fn records(&self, options: &ReadOptions) -> Result<Records, BoxError> {
        let error = std::iter::once(Err("checksum differs".into()));
        Ok(Box::new(self.0.records(options)?.take(self.1).chain(error)))
    }
}

#[test]
fn a_break_in_one_recording_ends_the_run_before_later_messages_of_others() {
    for time_base in [TimeBase::Log, TimeBase::Publish, TimeBase::Stamp] {
        let broken = Broken(numbers("/n", &[(0, 1), (5, 2)]), 1);
        let whole = Broken(numbers("/n", &[(3, 3), (9, 4)]), 2);
        let player = Player::new([broken, whole]).time_base(time_base);
        let mut executor = Executor::deterministic(Simulation::default());
        let probe = executor.create_node("probe", ()).unwrap();
        let seen = probe.create_collector::<Number>("n", QoS::default()).unwrap();
        player.add_to(executor.graph(), &types()).unwrap();
        let error = executor.spin().unwrap_err().to_string();
        assert!(error.contains("failed to read broken.mcap: checksum differs"), "{error}");
        assert_eq!(seen.values(), [Number { value: 1 }], "{time_base:?}");
    }
}

#[test]
fn a_break_in_a_recording_ends_a_live_run() {
    let mut executor = Executor::single_core();
    let player = Player::new([Broken(numbers("/n", &[(0, 1), (1, 2)]), 2)]);
    let player = player.stop_at_end(executor.stop_handle(), MS);
    let handle = player.add_to(executor.graph(), &types()).unwrap();
    let error = executor.spin().unwrap_err().to_string();
    assert!(error.contains("failed to read broken.mcap: checksum differs"), "{error}");
    assert_eq!((handle.messages(), handle.is_finished()), (2, false));
}

#[test]
fn rates_and_clock_periods_that_let_no_time_pass_are_refused() {
    let player = || Player::new([numbers("/n", &ITEMS)]);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = player().rate(rate).add_to(&Graph::new(), &types()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().starts_with(&format!("failed to play at rate {rate}: ")));
    }
    let error = player().clock(Duration::ZERO).add_to(&Graph::new(), &types()).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::InvalidArgument, Some("/clock")));
    assert!(error.to_string().starts_with("failed to publish /clock: its period is zero"));
}

#[test]
fn messages_lost_on_links_are_reported_as_dropped() {
    let player = Player::new([numbers("/n", &ITEMS)]);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        probe.create_subscription("n", QoS::default(), |_, _: &Message<Number>, _| ())?;
        Ok(player.add_to(graph, &types())?)
    });
    let job = job.simulate(|simulation| {
        simulation.start = ms(0);
        let cut = "[[link]]\ntopic = \"/n\"\nloss = 1.0\n";
        simulation.links = Links::from_toml(cut).unwrap().into();
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let statistics = session.report().statistics().clone();
    let PlayReport { messages, dropped, .. } = session.handles.report(&statistics);
    assert_eq!((messages, dropped), (5, vec![("/probe".into(), "/n".into(), 5)]));
}
