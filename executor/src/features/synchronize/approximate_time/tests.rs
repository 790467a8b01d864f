//! Approximate time: typical situations of its algorithm, and a comparison with a model.

mod model;

use super::super::tests::Driver;
use super::*;
use model::Model;
use proptest::prelude::*;

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

fn driver(inputs: usize, policy: ApproximateTime) -> Driver<ApproximateTimeMatcher> {
    Driver::new(inputs, policy.matcher(inputs).unwrap())
}

/// Sends `messages`, and returns how many sets each of them completed.
fn send<const N: usize>(
    driver: &mut Driver<ApproximateTimeMatcher>,
    messages: [(usize, u64); N],
) -> [usize; N] {
    messages.map(|(input, stamp)| driver.send(input, stamp))
}

#[test]
fn equal_stamps_are_handed_over_at_once() {
    let mut d = driver(2, ApproximateTime::new(10));
    let messages = [(A, 0), (B, 0), (B, 30), (A, 30), (A, 60), (B, 60)];
    assert_eq!(send(&mut d, messages), [0, 1, 0, 1, 0, 1]);
    assert_eq!(d.stamps(), [[0, 0], [30, 30], [60, 60]]);
}

#[test]
fn a_constant_offset_is_matched_when_the_next_message_shows_it() {
    let mut d = driver(2, ApproximateTime::new(10));
    let messages = [(A, 0), (B, 10), (A, 30), (B, 40), (A, 60)];
    assert_eq!(send(&mut d, messages), [0, 0, 1, 0, 1]);
    assert_eq!(d.stamps(), [[0, 10], [30, 40]]);
    assert!(d.unmatched.is_empty());
}

#[test]
fn the_nearer_message_wins_and_the_other_one_falls_out() {
    let mut d = driver(2, ApproximateTime::new(10));
    // 60 is nearer to 50 than 30 is.
    let messages = [(A, 0), (B, 10), (A, 30), (B, 50), (A, 60)];
    assert_eq!(send(&mut d, messages), [0, 0, 1, 0, 1]);
    assert_eq!(d.stamps(), [[0, 10], [60, 50]]);
    assert_eq!(d.unmatched, [(A, 1, 30)]);
}

#[test]
fn an_input_that_accelerates_is_matched_with_its_nearest_message() {
    let mut d = driver(2, ApproximateTime::new(10));
    let messages = [(A, 0), (B, 70), (A, 50), (A, 60), (A, 90)];
    assert_eq!(send(&mut d, messages), [0, 0, 0, 0, 1]);
    assert_eq!(d.stamps(), [[60, 70]]);
    assert_eq!(d.unmatched, [(A, 0, 0), (A, 1, 50)]);
}

#[test]
fn one_arrival_may_complete_two_sets() {
    let mut d = driver(2, ApproximateTime::new(10));
    assert_eq!(send(&mut d, [(A, 0), (B, 10), (B, 40), (A, 40)]), [0, 0, 0, 2]);
    assert_eq!(d.stamps(), [[0, 10], [40, 40]]);
}

#[test]
fn a_long_queue_is_searched_through() {
    let mut d = driver(2, ApproximateTime::new(10));
    for stamp in 0..10 {
        assert_eq!(d.send(A, stamp), 0);
    }
    assert_eq!(d.send(B, 5), 1);
    assert_eq!(d.stamps(), [[5, 5]]);
    assert_eq!((d.unmatched.len(), d.waiting()), (5, vec![4, 0]));
}

#[test]
fn four_inputs() {
    let mut d = driver(4, ApproximateTime::new(10));
    let first = [(A, 0), (B, 10), (C, 20), (3, 30)];
    assert_eq!(send(&mut d, first), [0; 4]);
    // With 50 or 40 for 0 the set would be smaller, but 10 is only replaced by 70.
    assert_eq!(send(&mut d, [(A, 50), (C, 60), (B, 70)]), [0, 0, 1]);
    assert_eq!(d.stamps(), [[0, 10, 20, 30]]);
}

#[test]
fn a_set_is_handed_over_early_when_no_later_one_can_be_better() {
    let mut d = driver(3, ApproximateTime::new(10));
    // For any message of C: a set without A's first message reaches from 20 to 50.
    assert_eq!(send(&mut d, [(A, 0), (C, 10), (B, 20), (A, 50)]), [0, 0, 0, 1]);
    assert_eq!(d.stamps(), [[0, 20, 10]]);
    assert_eq!(d.waiting(), [1, 0, 0]);
}

#[test]
fn a_lower_bound_proves_it_earlier() {
    let waits = |bound_ns| {
        let bound = Duration::from_nanos(bound_ns);
        let mut d = driver(2, ApproximateTime::new(10).with_min_interval(A, bound));
        d.send(A, 0);
        d.send(B, 10) == 0
    };
    // A's next message is at 20 at the earliest, and (20, 10) no better than (0, 10); at 19 it
    // would be better without an age penalty only.
    assert_eq!([0, 10, 19, 20, 30].map(waits), [true, true, true, false, false]);
}

#[test]
fn the_age_penalty_prefers_the_earlier_set() {
    // The second set is smaller by 1 and later by 19.
    let chosen = |penalty| {
        let mut d = driver(2, ApproximateTime::new(10).with_age_penalty(penalty));
        let sets = send(&mut d, [(A, 80), (B, 100), (A, 119), (A, 200)]);
        assert_eq!(sets.iter().sum::<usize>(), 1);
        d.stamps()[0].clone()
    };
    assert_eq!([chosen(0.0), chosen(0.1)], [[119, 100], [80, 100]]);
}

#[test]
fn message_dropped_from_a_full_queue_is_counted_and_its_input_gives_no_pivot() {
    let mut d = driver(2, ApproximateTime::new(2));
    assert_eq!(send(&mut d, [(A, 0), (A, 40), (A, 80)]), [0; 3]);
    assert_eq!(d.unmatched, [(A, 0, 0)]);
    // 0 could have been better for 30 than 40 is, so 40 is no pivot and 30 has no set.
    assert_eq!(d.send(B, 30), 0);
    assert_eq!(d.unmatched, [(A, 0, 0), (B, 0, 30)]);
    assert_eq!(d.send(B, 50), 1);
    assert_eq!(d.stamps(), [[40, 50]]);
}

#[test]
fn a_drop_in_the_middle_of_a_search_starts_it_over() {
    let mut d = driver(2, ApproximateTime::new(2));
    assert_eq!(send(&mut d, [(A, 0), (B, 10), (B, 20), (B, 30)]), [0; 4]);
    assert_eq!(d.unmatched, [(B, 0, 10), (A, 0, 0)]);
    assert_eq!(d.send(A, 30), 1);
    assert_eq!(d.stamps(), [[30, 30]]);
    assert_eq!(d.waiting(), [0, 0]);
}

#[test]
fn sets_above_the_maximal_size_are_not_formed() {
    let mut d = driver(2, ApproximateTime::new(10).with_max_size(Duration::from_nanos(5)));
    assert_eq!(send(&mut d, [(A, 0), (B, 10), (A, 5), (A, 20)]), [0, 0, 0, 1]);
    assert_eq!(d.stamps(), [[5, 10]]);
    assert_eq!(d.unmatched, [(A, 0, 0)]);
}

#[test]
fn stamps_that_break_a_promise_are_noticed_and_used() {
    let bound = Duration::from_nanos(30);
    let mut d = driver(2, ApproximateTime::new(10).with_min_interval(A, bound));
    send(&mut d, [(A, 100), (B, 100), (A, 130), (B, 130), (A, 159), (B, 159)]);
    assert_eq!((d.irregular, d.sets.len()), (1, 3));
    send(&mut d, [(B, 100), (A, 200)]);
    assert_eq!(d.irregular, 2, "B went back");
}

#[test]
fn invalid_parameters_are_refused() {
    let error = |policy: ApproximateTime| policy.matcher(2).err().unwrap();
    let new = ApproximateTime::new;
    for size in [0, usize::MAX] {
        let text = error(new(size)).to_string();
        assert!(text.starts_with(&format!("a queue size of {size} is out of range")), "{text}");
    }
    for penalty in [-0.1, f64::NAN, f64::INFINITY] {
        let error = error(new(1).with_age_penalty(penalty));
        assert!(error.to_string().starts_with(&format!("an age penalty of {penalty}")), "{error}");
    }
    let missing = error(new(1).with_min_interval(2, Duration::ZERO)).to_string();
    assert_eq!(missing, "there is no input 2: they are numbered from 0 to 1");
    let long = Duration::MAX;
    let too_long = error(new(1).with_min_interval(0, long)).to_string();
    assert!(too_long.starts_with(&format!("an interval of {long:?} is out")), "{too_long}");
}

/// Sensors with jitter, lost messages and repeated stamps, and an order of arrival.
#[derive(Clone, Debug)]
struct Traffic {
    inputs: usize,
    remote_notifier: Vec<(usize, u64)>,
}

impl Traffic {
    /// The shortest interval of each input.
    fn intervals_min(&self) -> Vec<u64> {
        let stamps = |input| self.remote_notifier.iter().filter(move |a| a.0 == input).map(|a| a.1);
        let intervals = |input| stamps(input).zip(stamps(input).skip(1)).map(|(a, b)| b - a);
        (0..self.inputs).map(|input| intervals(input).min().unwrap_or(0)).collect()
    }
}

fn traffic(messages: usize) -> impl Strategy<Value = Traffic> {
    let step = prop_oneof![4 => 0u64..12, 1 => Just(0), 1 => 20u64..40];
    let input = (0u64..30, proptest::collection::vec(step, 1..=messages));
    let streams = proptest::collection::vec(input, 2..=4);
    (streams, proptest::collection::vec(any::<u8>(), 4 * messages)).prop_map(|(streams, order)| {
        let inputs = streams.len();
        let stamps = streams.into_iter().map(|(offset, steps)| {
            let stamps = steps.into_iter().scan(offset, |stamp, step| {
                *stamp += step;
                Some(*stamp)
            });
            stamps.collect::<VecDeque<u64>>()
        });
        let mut left: Vec<VecDeque<u64>> = stamps.collect();
        let mut remote_notifier = Vec::new();
        for choice in order {
            let open: Vec<usize> = (0..inputs).filter(|&input| !left[input].is_empty()).collect();
            let Some(&input) = open.get(usize::from(choice) % open.len().max(1)) else { break };
            remote_notifier.push((input, left[input].pop_front().unwrap()));
        }
        Traffic { inputs, remote_notifier }
    })
}

fn policy(queue_size: usize, penalty_eighths: u64, intervals_min: &[u64]) -> ApproximateTime {
    let penalty = penalty_eighths as f64 / 8.0;
    let policy = ApproximateTime::new(queue_size).with_age_penalty(penalty);
    intervals_min.iter().enumerate().fold(policy, |policy, (input, &interval)| {
        policy.with_min_interval(input, Duration::from_nanos(interval))
    })
}

/// No message twice, no crossing, nothing lost, no queue too long.
fn check_promises(d: &Driver<ApproximateTimeMatcher>, queue_size: usize) {
    for (set, next) in d.sets.iter().zip(d.sets.iter().skip(1)) {
        assert!(set.iter().zip(next).all(|(one, other)| one.0 < other.0), "{set:?} {next:?}");
    }
    d.assert_that_nothing_is_lost();
    assert!(d.longest <= queue_size);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_does_what_the_model_says_at_every_arrival(
        traffic in traffic(7),
        queue_size in prop_oneof![1usize..5, Just(50)],
        penalty_eighths in 0u64..6,
        with_bounds: bool,
    ) {
        let bounds = match with_bounds {
            true => traffic.intervals_min(),
            false => vec![0; traffic.inputs],
        };
        let mut d = driver(traffic.inputs, policy(queue_size, penalty_eighths, &bounds));
        let mut model = Model::new(queue_size, penalty_eighths, &bounds);
        for (input, stamp) in traffic.remote_notifier {
            d.send(input, stamp);
            model.send(input, stamp);
            prop_assert_eq!(&d.sets, &model.sets);
            prop_assert_eq!(d.unmatched.len(), model.unmatched);
        }
        check_promises(&d, queue_size);
        prop_assert_eq!(d.irregular, 0);
    }

    #[test]
    fn neither_the_order_of_arrival_nor_bounds_change_the_sets(
        traffic in traffic(8),
        penalty_eighths in 0u64..3,
    ) {
        let sets_of = |remote_notifier: &[(usize, u64)], bounds: &[u64]| {
            let mut d = driver(traffic.inputs, policy(100, penalty_eighths, bounds));
            remote_notifier.iter().for_each(|&(input, stamp)| { d.send(input, stamp); });
            // So that nothing is left to wait for.
            (0..traffic.inputs).for_each(|input| { d.send(input, 1_000_000); });
            d.sets
        };
        let unknown = vec![0; traffic.inputs];
        let sets = sets_of(&traffic.remote_notifier, &unknown);
        let mut by_input = traffic.remote_notifier.clone();
        by_input.sort_by_key(|arrival| arrival.0);
        prop_assert_eq!(&sets, &sets_of(&by_input, &unknown));
        prop_assert_eq!(&sets, &sets_of(&traffic.remote_notifier, &traffic.intervals_min()));
    }

    #[test]
    fn the_promises_that_need_no_order_hold_for_any_stamps(
        inputs in 2usize..=9,
        remote_notifier in proptest::collection::vec((0usize..9, any::<u64>()), 0..80),
        small: bool,
        queue_size in 1usize..6,
        bound: u64,
    ) {
        let bound = Duration::from_nanos(bound / 2);
        let mut d = driver(inputs, ApproximateTime::new(queue_size).with_min_interval(1, bound));
        for (input, stamp) in remote_notifier {
            d.send(input % inputs, if small { stamp % 50 } else { stamp });
        }
        check_promises(&d, queue_size);
    }
}
