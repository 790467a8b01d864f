//! Exact time: examples, and a comparison with a model.

use super::super::tests::Driver;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn driver(inputs: usize, queue_size: usize) -> Driver<ExactTimeMatcher> {
    Driver::new(inputs, ExactTime::new(queue_size).matcher(inputs).unwrap())
}

#[test]
fn a_set_is_complete_when_the_last_input_has_its_stamp() {
    let mut d = driver(3, 2);
    let sets = [(0, 5), (2, 5), (1, 4), (1, 5)].map(|(input, stamp)| d.send(input, stamp));
    assert_eq!(sets, [0, 0, 0, 1]);
    assert_eq!(d.sets, [[(0, 5), (1, 5), (0, 5)]]);
    assert_eq!(d.unmatched, [(1, 0, 4)], "a later set was complete");
    assert_eq!(d.waiting(), [0, 0, 0]);
}

#[test]
fn a_queue_keeps_the_newest() {
    let mut d = driver(2, 2);
    (1..=4).for_each(|stamp| assert_eq!(d.send(0, stamp), 0));
    assert_eq!(d.unmatched, [(0, 0, 1), (0, 1, 2)]);
    assert_eq!([d.send(1, 1), d.send(1, 3), d.send(1, 4)], [0, 1, 1]);
    assert_eq!(d.stamps(), [[3, 3], [4, 4]]);
}

#[test]
fn repeated_stamps_are_used_in_order_and_late_ones_wait() {
    let mut d = driver(2, 4);
    let sets = [(0, 7), (0, 7), (1, 7), (1, 7)].map(|(input, stamp)| d.send(input, stamp));
    assert_eq!(sets, [0, 0, 1, 1]);
    assert_eq!(d.sets, [[(0, 7), (0, 7)], [(1, 7), (1, 7)]]);
    // Time is set back, and continues later.
    let sets = [(0, 9), (0, 2), (1, 2), (1, 9)].map(|(input, stamp)| d.send(input, stamp));
    assert_eq!(sets, [0, 0, 1, 1]);
    assert!(d.unmatched.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// With room for all and no stamp twice, the sets are the stamps that all inputs have, except
    /// those that were not complete when a later one was.
    #[test]
    fn it_does_what_a_table_of_stamps_says(
        inputs in 2usize..=5,
        remote_notifier in proptest::collection::vec((0usize..5, 0u64..12), 0..60),
    ) {
        let mut d = driver(inputs, 100);
        let mut table: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut sets = Vec::new();
        let mut seen = vec![Vec::new(); inputs];
        for (input, stamp) in remote_notifier {
            let input = input % inputs;
            if seen[input].contains(&stamp) {
                continue;
            }
            seen[input].push(stamp);
            d.send(input, stamp);
            let row = table.entry(stamp).or_default();
            row.push(input);
            if row.len() == inputs {
                sets.push(vec![stamp; inputs]);
                table.retain(|&other, _| other > stamp);
            }
        }
        prop_assert_eq!(d.stamps(), sets);
        let waiting: usize = table.values().map(Vec::len).sum();
        prop_assert_eq!(d.waiting().into_iter().sum::<usize>(), waiting);
        d.assert_that_nothing_is_lost();
    }

    #[test]
    fn sets_are_exact_ordered_and_within_the_queues(
        inputs in 2usize..=9,
        queue_size in 1usize..5,
        remote_notifier in proptest::collection::vec((0usize..9, 0u64..4), 0..120),
    ) {
        let mut d = driver(inputs, queue_size);
        let mut stamps = vec![0; inputs];
        for (input, step) in remote_notifier {
            let input = input % inputs;
            stamps[input] += step;
            d.send(input, stamps[input]);
        }
        for set in &d.sets {
            prop_assert!(set.iter().all(|message| message.1 == set[0].1));
        }
        for (set, next) in d.sets.iter().zip(d.sets.iter().skip(1)) {
            prop_assert!(set.iter().zip(next).all(|(a, b)| a.0 < b.0 && a.1 <= b.1));
        }
        d.assert_that_nothing_is_lost();
        prop_assert!(d.longest <= queue_size);
    }
}
