//! Threads of different priority on one core: hand-computed ends, and the work of each call.

use crate::contention::{MS, mapped, row, run, run_sliced, timers};
use proptest::prelude::*;
use ringspin_executor::{BoxError, Graph};
use ringspin_modes::deterministic::TiePolicy;
use ringspin_modes::{Contention, Mapping, Simulation};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use std::time::Duration;

/// Timers of `a`, `b` and `c` on three threads of one core, `a` on the highest.
fn one_core(rules: &[(&str, u64)]) -> Simulation {
    let mapping = Mapping::new().core(0, ["/c"]).thread(0, 2, ["/a"]).thread(0, 1, ["/b"]);
    mapped(mapping, rules)
}

/// Nodes `a`, `b` and `c` with timers of these periods, in milliseconds.
fn three(periods_ms: [u64; 3]) -> impl Fn(&Graph) -> Result<(), BoxError> {
    move |graph| timers(graph, &periods_ms)
}

#[test]
fn call_of_higher_priority_preempts_the_running_one() {
    let rules = [("a", 3), ("b", 10)];
    // `b` has done 2 ms by 22 and 4 ms by 44, and continues 3 ms later.
    let expected = [(1, 20, 33), (0, 22, 25), (1, 40, 53), (0, 44, 47)];
    assert_eq!(run(three([22, 20, 1000]), one_core(&rules), 55), expected);
    // Without its thread, `a` waits for `b`.
    let together = mapped(Mapping::new().default_core(0), &rules);
    assert_eq!(run(three([22, 20, 1000]), together, 39), [(1, 20, 30), (0, 30, 33)]);
}

#[test]
fn preempting_call_is_preempted_by_a_higher_one() {
    let rules = [("a", 2), ("b", 4), ("c", 10)];
    // `c` until 22, `b` until 23, `a` until 25, 3 ms of `b`, 8 ms of `c`.
    let expected = [(2, 20, 36), (1, 22, 28), (0, 23, 25)];
    assert_eq!(run(three([23, 22, 20]), one_core(&rules), 39), expected);
}

#[test]
fn lower_thread_begins_nothing_while_a_higher_one_is_busy() {
    let rules = [("a", 3), ("b", 2), ("c", 1)];
    let expected = [(0, 20, 23), (1, 23, 25), (2, 25, 26)];
    assert_eq!(run(three([20, 21, 22]), one_core(&rules), 39), expected);
    // At one instant the highest begins, whatever breaks ties.
    for ties in [TiePolicy::Fifo, TiePolicy::Reverse, TiePolicy::Shuffle { seed: 3 }] {
        let simulation = Simulation { ties, ..one_core(&rules) };
        assert_eq!(run(three([20, 20, 20]), simulation, 39), expected);
    }
}

#[test]
fn messages_of_a_preempted_call_leave_at_its_end() {
    let mapping = Mapping::new().core(0, ["/a"]).thread(0, 1, ["/other"]).default_core(1);
    let simulation = mapped(mapping, &[("a", 12), ("b", 3), ("other", 1)]);
    // 9 ms of `a` are done by 30, and 3 ms follow from 31 on.
    let expected = [(3, 10, 11), (3, 20, 21), (0, 21, 34), (3, 30, 31), (1, 34, 37), (2, 37, 37)];
    assert_eq!(run(row, simulation.clone(), 39), expected);
    let ran = run_sliced(row, simulation, 39, 39_000, &["/a", "/b", "/c"]);
    assert_eq!(ran.chains[0].release_to_end_ns, [17 * MS]);
}

#[test]
fn message_to_a_higher_thread_preempts_at_its_arrival() {
    let mapping = Mapping::new().core(0, ["/other"]).thread(0, 1, ["/b"]).default_core(1);
    let simulation = mapped(mapping, &[("a", 2), ("b", 3), ("other", 4)]);
    // `b` starts at the end of `a` on the other core.
    let expected = [(3, 10, 14), (0, 20, 22), (3, 20, 27), (1, 22, 25), (2, 25, 25), (3, 30, 34)];
    assert_eq!(run(row, simulation, 39), expected);
}

#[test]
fn preempted_call_makes_its_core_no_busier() {
    let mapping = Mapping::new().core(0, ["/b"]).thread(0, 1, ["/a"]).core(1, ["/c"]);
    let mut simulation = mapped(mapping, &[("a", 2), ("b", 6), ("c", 10)]);
    simulation.contention = Contention { slowdown_percent: 200, cores: 2 };
    // At half speed beside `c`: 1 ms of `b`, `a` until 26, 5 ms of `b` until 36. Then 2 ms of `c`.
    let expected = [(1, 20, 36), (2, 20, 38), (0, 22, 26)];
    assert_eq!(run(three([22, 20, 20]), simulation, 39), expected);
}

#[test]
fn recorders_see_calls_that_have_not_ended_as_expected() {
    let rules = [("a", 2), ("b", 4), ("c", 10)];
    // The run ends while `a` preempts `b`, which preempts `c`.
    let expected = [(2, 20, 36), (1, 22, 28), (0, 23, 25)];
    assert_eq!(run(three([23, 22, 20]), one_core(&rules), 24), expected);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn each_call_gets_the_core_for_its_duration(
        took_us in prop::collection::vec(1_u64..9_000, 3),
        periods_ms in prop::array::uniform3(5_u64..25),
        slice_us in prop::sample::select(vec![250_u64, 400, 1_000, 1_250, 2_500]),
    ) {
        let mut simulation = one_core(&[]);
        let takes = |(name, us): (&str, &u64)| {
            DurationRule::new(name).duration(Distribution::fixed(Duration::from_micros(*us)))
        };
        let rules = ["a", "b", "c"].into_iter().zip(&took_us).map(takes).collect();
        simulation.durations = Durations { rules }.into();
        let ran = run_sliced(three(periods_ms), simulation.clone(), 200, 200_000, &[]);
        let ended = ran.spans.iter().filter(|(.., end)| *end <= 200 * MS);
        for &(of, start, end) in ended {
            let higher = ran.spans.iter().filter(|(other, ..)| *other < of);
            let overlap = |&(_, s, e): &(u32, u64, u64)| e.min(end).saturating_sub(s.max(start));
            let preempted: u64 = higher.clone().map(overlap).sum();
            // Of the higher calls, count the time of each instant once.
            let nested: u64 = ran.spans.iter().filter(|(other, ..)| *other == 0 && of == 2)
                .map(|high| {
                    let within = ran.spans.iter().filter(|(other, ..)| *other == 1);
                    let overlap = |&(_, s, e): &(u32, u64, u64)| {
                        let (s, e) = (s.max(high.1).max(start), e.min(high.2).min(end));
                        e.saturating_sub(s)
                    };
                    within.map(overlap).sum::<u64>()
                }).sum();
            let ran_ns = end - start - (preempted - nested);
            prop_assert_eq!(ran_ns, took_us[of as usize] * 1_000, "{:?}", ran.spans);
            let begins_within = |&(_, s, e): &(u32, u64, u64)| s <= start && start < e;
            prop_assert!(!higher.clone().any(begins_within), "{:?}", ran.spans);
        }
        // The highest never waits for another thread.
        let highest = ran.spans.iter().filter(|(of, ..)| *of == 0);
        for (n, (_, start, end)) in highest.enumerate() {
            if took_us[0] <= periods_ms[0] * 1_000 {
                prop_assert_eq!(*start, (n as u64 + 1) * periods_ms[0] * MS);
                prop_assert_eq!(end - start, took_us[0] * 1_000);
            }
        }
        let again = run_sliced(three(periods_ms), simulation, 200, slice_us, &[]);
        prop_assert_eq!(again.digest, ran.digest);
    }
}
