//! Unit tests of `announcements`.

use super::*;
use std::cell::Cell;
use std::collections::VecDeque;

/// Runs a round over `source`; returns it, and whether the notice was passed on.
fn round(
    takes: &mut Takes,
    announced: &Announcements,
    source: &mut VecDeque<Attempt>,
) -> (Round, bool) {
    let is_passed_on = Cell::new(false);
    let take = || source.pop_front().unwrap_or(Attempt::Empty);
    let round = takes.round(announced, || is_passed_on.set(true), take);
    (round, is_passed_on.get())
}

fn item() -> Round {
    Round { has_item: true, ..Round::default() }
}

fn drained() -> Round {
    Round { is_drained: true, ..Round::default() }
}

#[test]
fn empty_takes_use_up_one_announcement_each() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let mut source = VecDeque::from([Attempt::Empty, Attempt::Empty, Attempt::Item]);
    announced.announce(3, || ());
    let (first, is_passed_on) = round(&mut takes, &announced, &mut source);
    assert_eq!(first, Round { missing: 2, ..item() });
    assert!(is_passed_on, "something may be left until a take is empty");
    assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
}

#[test]
fn unannounced_item_is_taken_behind_the_last_announced_one() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let mut source = VecDeque::from([Attempt::Item; 2]);
    announced.announce(1, || ());
    assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
    assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
    assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
}

#[test]
fn item_announced_after_its_take_is_not_missing() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let mut source = VecDeque::from([Attempt::Item; 2]);
    announced.announce(1, || ());
    for expected in [(item(), true), (item(), true), (drained(), false)] {
        assert_eq!(round(&mut takes, &announced, &mut source), expected);
    }
    announced.announce(1, || ()); // of the second one
    assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
    announced.announce(1, || ());
    let missing = Round { missing: 1, ..drained() };
    assert_eq!(round(&mut takes, &announced, &mut source), (missing, false));
}

/// Else each item that is never announced would hide one that is overwritten later.
#[test]
fn later_loss_is_counted_after_an_unannounced_item() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let mut source = VecDeque::from([Attempt::Item; 2]);
    announced.announce(1, || ());
    for expected in [(item(), true), (item(), true), (drained(), false)] {
        assert_eq!(round(&mut takes, &announced, &mut source), expected);
    }
    source.push_back(Attempt::Item);
    announced.announce(1, || ());
    assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
    assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
    announced.announce(1, || ());
    assert_eq!(round(&mut takes, &announced, &mut source).0.missing, 1);
}

#[test]
fn round_is_bounded_and_passes_the_notice_on() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let attempts = ATTEMPTS_MAX as u64;
    announced.announce(attempts + 1, || ());
    let (first, is_passed_on) = round(&mut takes, &announced, &mut VecDeque::new());
    assert_eq!((first, is_passed_on), (Round { missing: attempts, ..Round::default() }, true));
    let second = round(&mut takes, &announced, &mut VecDeque::new());
    assert_eq!(second, (Round { missing: 1, ..drained() }, false));
}

#[test]
fn overwritten_items_are_missing_while_the_consumer_is_behind() {
    let (mut takes, announced) = (Takes::of_newest(2), Announcements::default());
    let mut source = VecDeque::from([Attempt::Item; 2]);
    announced.announce(5, || ());
    let expected = Round { missing: 3, ..item() };
    assert_eq!(round(&mut takes, &announced, &mut source), (expected, true));
    for _ in 0..10 {
        source.push_back(Attempt::Item);
        announced.announce(4, || ());
        assert_eq!(round(&mut takes, &announced, &mut source), (expected, true));
    }
    assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
    assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
}

#[test]
fn item_taken_early_is_not_overwritten_when_it_is_announced() {
    let (mut takes, announced) = (Takes::of_newest(2), Announcements::default());
    let mut source = VecDeque::from([Attempt::Item; 2]);
    announced.announce(1, || ());
    for _ in 0..2 {
        assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
    }
    source.extend([Attempt::Item; 2]);
    announced.announce(3, || ()); // of the second one, and of two that wait
    assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
}

#[test]
fn queue_and_source_take_turns_while_both_have_items() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let (notice, queue) = (Cell::new(true), Cell::new(2_u32));
    let take_queued = || queue.get().checked_sub(1).inspect(|left| queue.set(*left));
    announced.announce(1, || ());
    assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Queued(1));
    assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Announced);
    let source = &mut VecDeque::from([Attempt::Item]);
    assert_eq!(round(&mut takes, &announced, source), (item(), true));
    notice.set(true);
    assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Queued(0));
    assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Announced);
    assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Nothing);
}

#[test]
fn failures_end_with_the_announcements() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    let failed = Round { failed: 1, ..Round::default() };
    announced.announce(1, || ());
    for is_passed_on in [true, false, false] {
        let source = &mut VecDeque::from([Attempt::Failed]);
        assert_eq!(round(&mut takes, &announced, source), (failed, is_passed_on));
    }
}

#[test]
fn unconnected_source_keeps_its_announcements() {
    let (mut takes, announced) = (Takes::default(), Announcements::default());
    announced.announce(1, || ());
    let waiting = &mut VecDeque::from([Attempt::NotConnected]);
    assert_eq!(round(&mut takes, &announced, waiting), (Round::default(), false));
    let missing = Round { missing: 1, ..drained() };
    assert_eq!(round(&mut takes, &announced, &mut VecDeque::new()), (missing, false));
}
