//! Contents of timelines of live and simulated runs, and their JSON and trace formats.

use super::{Parts, Span, Timeline, TimelineRecorder, write_chrome_trace};
use crate::models::Distribution;
use crate::models::{DurationRule, Durations};
use ringspin_executor::{BoxError, QoS};
use ringspin_modes::deterministic::{Cores, Simulation};
use ringspin_modes::mapping::Mapping;
use ringspin_modes::{Executor, Mode, allowed_cores};
use serde_json::Value;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A source every 10 ms and a sink, each with the simulated durations.
fn run(mode: &Mode, capacity: usize) -> Timeline {
    let mut executor =
        Executor::new(mode.clone()).with_recorders(move |_, _| TimelineRecorder::new(capacity));
    let build = |executor: &Executor| -> Result<(), BoxError> {
        let source = executor.create_node("source", 0u64)?;
        let out = source.create_publisher("numbers", QoS::keep_last(1))?;
        source.create_timer(10 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        let sink = executor.create_node("sink", ())?;
        let group = sink.create_callback_group("lane", ())?;
        group.create_subscription("numbers", QoS::keep_last(1), |_, n: &_, cx| {
            let n: &ringspin_executor::Message<u64> = n;
            if **n >= 3 {
                cx.stop();
            }
        })?;
        Ok(())
    };
    build(&executor).unwrap();
    executor.spin().unwrap();
    let info = executor.graph().info();
    Timeline::of(executor.take_recorders(), &info, mode).unwrap()
}

fn simulated(cores: Cores) -> Mode {
    let rule = |node: &str, ms| DurationRule::new(node).duration(Distribution::fixed(ms * MS));
    let durations = Durations::new().rule(rule("/source", 2)).rule(rule("/sink", 3));
    Mode::Deterministic(Box::new(Simulation {
        cores,
        durations: durations.into(),
        ..Simulation::default()
    }))
}

fn times_ms(timeline: &Timeline) -> Vec<(usize, u64, u64)> {
    let ms = |ns: u64| ns / 1_000_000;
    timeline.spans().iter().map(|s| (s.lane, ms(s.start_ns), ms(s.end_ns))).collect()
}

#[test]
fn a_simulated_run_has_its_durations_on_the_cores_of_its_mapping() {
    let mapping = Mapping::new().core(7, ["sink"]).default_core(4);
    let timeline = run(&simulated(Cores::Mapped(mapping)), 100);
    let lanes: Vec<_> = timeline.lanes().iter().map(|lane| (&*lane.name, lane.core)).collect();
    assert_eq!(lanes, [("core 4", Some(4)), ("core 7", Some(7))]);
    let expected = [(0, 10, 12), (1, 12, 15), (0, 20, 22), (1, 22, 25), (0, 30, 32), (1, 32, 35)];
    assert_eq!(times_ms(&timeline), expected);
    assert_eq!(timeline.callback(&timeline.spans()[0]).name, "timer 10ms");
    let sink = timeline.callback(&timeline.spans()[1]);
    assert_eq!(sink.event_loop, "/sink:lane");
    assert_eq!(timeline.spans().iter().map(|span| span.sequence).max(), Some(2));
}

#[test]
fn calls_of_callbacks_that_are_gone_stay() {
    let mut executor = Executor::deterministic(Simulation::default())
        .with_recorders(|_, _| TimelineRecorder::new(9));
    let node = executor.create_node("node", ()).unwrap();
    node.spawn("once", async {}).unwrap();
    let guest = executor.create_node("guest", ()).unwrap();
    let own = guest.clone();
    guest.create_timer(MS, move |_, _| own.destroy()).unwrap();
    executor.spin().unwrap();
    let info = executor.graph().info();
    let mode = Mode::Deterministic(Default::default());
    let timeline = Timeline::of(executor.take_recorders(), &info, &mode).unwrap();
    let [span] = timeline.spans() else { panic!("{timeline:?}") };
    let of = timeline.callback(span);
    assert_eq!((&*of.event_loop, &*of.name), ("/node", "callback 0 (destroyed)"));
}

#[test]
fn each_thread_of_a_core_is_a_lane() {
    let mapping = Mapping::new().thread(4, 9, ["sink"]).default_core(4);
    let timeline = run(&simulated(Cores::Mapped(mapping.core(4, ["source"]))), 100);
    let lanes: Vec<_> = timeline.lanes().iter().map(|lane| (&*lane.name, lane.core)).collect();
    assert_eq!(lanes, [("core 4, priority 9", Some(4)), ("core 4", Some(4))]);
    assert_eq!(times_ms(&timeline)[..2], [(1, 10, 12), (0, 12, 15)]);
}

#[test]
fn without_a_mapping_each_loop_or_the_one_core_is_a_lane() {
    let unlimited = run(&simulated(Cores::Unlimited), 100);
    let names: Vec<_> = unlimited.lanes().iter().map(|lane| &*lane.name).collect();
    // The default group of the sink has no callbacks and is a loop nevertheless.
    assert!(names.contains(&"/source") && names.contains(&"/sink:lane"), "{names:?}");
    assert!(
        unlimited
            .spans()
            .iter()
            .all(|s| { unlimited.lanes()[s.lane].name == unlimited.callback(s).event_loop })
    );
    let single = run(&simulated(Cores::Single), 100);
    assert_eq!(single.lanes().len(), 1);
    assert_eq!(single.spans().len(), 6);
}

#[test]
fn live_runs_count_from_their_first_callback() {
    let core = allowed_cores()[0];
    let shared = if allowed_cores().len() > 1 { "/source".into() } else { format!("core {core}") };
    for (mode, lane) in [
        (Mode::SingleCore, "one core".to_owned()),
        (Mode::MultiCore(Some(Mapping::new().default_core(core))), format!("core {core}")),
        (Mode::MultiCore(None), shared),
    ] {
        let timeline = run(&mode, 100);
        // Three calls of the source, and of the sink as many as the machine had time for.
        assert!(timeline.spans().len() >= 4, "{mode:?}: {:?}", timeline.spans());
        assert_eq!(timeline.spans()[0].start_ns, 0);
        assert_eq!(timeline.callback(&timeline.spans()[0]).event_loop, "/source");
        assert_eq!(timeline.lanes()[timeline.spans()[0].lane].name, lane);
        assert!(timeline.origin_ns() > 0);
    }
}

#[test]
fn a_full_recorder_keeps_the_newest_and_counts_the_others() {
    let timeline = run(&simulated(Cores::Single), 2);
    assert_eq!(times_ms(&timeline), [(0, 30, 32), (0, 32, 35)]);
    assert_eq!(timeline.displaced(), 4);
}

#[test]
fn a_part_has_what_runs_within_it_or_over_its_edges() {
    let timeline = run(&simulated(Cores::Single), 100).between(14_000_000, 30_000_000);
    assert_eq!(times_ms(&timeline), [(0, 12, 15), (0, 20, 22), (0, 22, 25), (0, 30, 32)]);
}

#[test]
fn a_timeline_survives_json() {
    let timeline = run(&simulated(Cores::Unlimited), 100);
    let text = serde_json::to_string(&timeline).unwrap();
    assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
}

#[test]
fn contradictory_timelines_are_refused() {
    let good = Parts::from(run(&simulated(Cores::Single), 100));
    let with = |change: fn(&mut Vec<Span>)| {
        let mut parts = good.clone();
        change(&mut parts.spans);
        let text = serde_json::to_string(&parts).unwrap();
        let read = serde_json::from_str::<Timeline>(&text).unwrap_err().to_string();
        let error = Timeline::try_from(parts).unwrap_err();
        assert!(read.starts_with(&error.to_string()), "{read}");
        error
    };
    let text = |change| with(change).to_string();
    let unknown = text(|spans| spans[1].lane = 99);
    assert!(
        unknown.starts_with("span 1 names lane 99, of which there are 1: list it"),
        "{unknown}"
    );
    let unknown = text(|spans| spans[1].callback = 99);
    assert!(unknown.starts_with("span 1 names callback 99, of which there are 2"), "{unknown}");
    let backwards = text(|spans| spans[2].end_ns = 0);
    assert_eq!(backwards, "span 2 ends before it starts; swap its times");
    let unsorted = text(|spans| spans.swap(0, 1));
    assert!(unsorted.starts_with("span 1 starts before the one in front of it"), "{unsorted}");
}

/// Asserts the fields that the trace format requires of each event.
fn check_event(event: &Value) {
    assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
    match event["ph"].as_str().unwrap() {
        "X" => {
            assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0);
            assert!(event["name"].is_string() && event["cat"].is_string());
            assert!(event["args"].is_object());
        }
        "M" => match event["name"].as_str().unwrap() {
            "process_name" | "thread_name" => assert!(event["args"]["name"].is_string()),
            "thread_sort_index" => assert!(event["args"]["sort_index"].is_u64()),
            other => panic!("{other} is no metadata"),
        },
        other => panic!("phase {other}"),
    }
}

#[test]
fn a_trace_has_a_process_for_each_timeline_and_a_thread_for_each_lane() {
    let mapped = run(&simulated(Cores::Mapped(Mapping::new().default_core(4))), 100);
    let single = run(&simulated(Cores::Single), 100);
    let mut text = Vec::new();
    write_chrome_trace(&mut text, &[("mapped", &mapped), ("a \"<b>&", &single)]).unwrap();
    let trace: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(trace["displayTimeUnit"], "ms");
    let events = trace["traceEvents"].as_array().unwrap();
    events.iter().for_each(check_event);
    let names = |key: &str| -> Vec<&str> {
        let of_key = events.iter().filter(|event| event["name"] == key);
        of_key.map(|event| event["args"]["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names("process_name"), ["mapped", "a \"<b>&"]);
    assert_eq!(names("thread_name"), ["core 4", "one core"]);
    let calls: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(calls.len(), 12);
    // From 12 ms on the sink, for 3 ms; in microseconds.
    let sink = calls[1];
    assert_eq!((sink["ts"].as_f64(), sink["dur"].as_f64()), (Some(12_000.0), Some(3_000.0)));
    assert_eq!((&sink["pid"], &sink["tid"]), (&1.into(), &1.into()));
    assert_eq!(sink["name"], "/sink:lane");
    assert_eq!(sink["args"]["callback"], "subscription /numbers");
    assert_eq!(calls[6]["pid"], 2);
}
