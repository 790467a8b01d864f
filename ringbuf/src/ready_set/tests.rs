//! Unit tests of `ready_set`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Action {
    Mark(usize),
    Clear(usize),
    Grow(usize),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => any::<usize>().prop_map(Action::Mark),
        8 => any::<usize>().prop_map(Action::Clear),
        1 => (1usize..3000).prop_map(Action::Grow),
    ]
}

proptest! {
    #[test]
    fn finds_what_a_sorted_set_finds(
        initial in prop_oneof![1usize..66, 64usize..300, 4000usize..9000],
        actions in proptest::collection::vec(action(), 1..200),
        every in 1usize..9,
    ) {
        let set = ReadySet::new(initial);
        let (mut loops, mut model) = (initial, BTreeSet::new());
        let mut members = Members::default();
        (0..loops).step_by(every).for_each(|index| members.insert(index));
        for action in actions {
            let index = match action {
                Action::Mark(index) => {
                    set.mark(index % loops);
                    model.insert(index % loops);
                    index % loops
                }
                Action::Clear(index) => {
                    // One that is marked, in most cases.
                    let marked = model.range(index % loops..).next().copied();
                    set.clear(marked.unwrap_or(index % loops));
                    model.remove(&marked.unwrap_or(index % loops));
                    index % loops
                }
                Action::Grow(by) => {
                    set.reserve(loops + by);
                    let added = loops..loops + by;
                    added.step_by(every).for_each(|index| members.insert(index));
                    loops += by;
                    loops - 1
                }
            };
            let start = (index * 7 + 3) % (loops + 1);
            let mut found = model.range(start..).chain(&model).copied();
            prop_assert_eq!(set.next(start), found.clone().next());
            let member = found.find(|index| members.contains(*index));
            prop_assert_eq!(set.next_in(start, &members), member);
            prop_assert_eq!(set.is_empty(), model.is_empty());
            let only = model.first().filter(|first| model.len() == 1 && **first < set.direct);
            prop_assert_eq!(set.only(), only.copied());
            let is_direct = index < set.direct;
            prop_assert_eq!(set.is_marked_awake(index), is_direct && model.contains(&index));
        }
        while let Some(index) = set.next(0) {
            prop_assert!(model.remove(&index));
            set.clear(index);
        }
        prop_assert!(model.is_empty() && set.is_empty());
    }

    #[test]
    fn members_are_as_in_a_sorted_set(
        actions in proptest::collection::vec((any::<bool>(), 0usize..300), 1..100),
    ) {
        let (mut members, mut model) = (Members::default(), BTreeSet::new());
        for (insert, index) in actions {
            if insert {
                members.insert(index);
                model.insert(index);
            } else {
                prop_assert_eq!(members.remove(index), model.remove(&index));
            }
            prop_assert!(members.iter().eq(model.iter().copied()));
            prop_assert_eq!(members.is_empty(), model.is_empty());
        }
    }
}

#[test]
fn set_of_62_loops_has_a_bit_for_each_beside_those_that_are_added() {
    let set = ReadySet::new(62);
    set.reserve(20_000);
    [61, 62, 63, 64, 19_999].iter().for_each(|index| set.mark(*index));
    assert!(set.is_marked_awake(61) && !set.is_marked_awake(62));
    let mut found = Vec::new();
    while let Some(index) = set.next(0) {
        found.push(index);
        set.clear(index);
    }
    assert_eq!(found, [61, 62, 63, 64, 19_999]);
    assert!(set.is_empty());
}

#[test]
fn a_mark_wakes_a_sleeping_worker() {
    let set = ReadySet::new(3);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            set.register_sleeper();
            loop {
                if let Some(index) = set.next(0) {
                    return index;
                }
                set.sleep(Duration::from_secs(3600));
            }
        });
        set.mark(2);
        assert_eq!(worker.join().unwrap(), 2);
    });
}
