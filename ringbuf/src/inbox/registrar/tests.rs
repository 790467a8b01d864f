//! Unit tests of `registrar`.

use super::*;
use crate::inbox::{Announce, Inbox, Turn};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

fn pop(inbox: &mut Inbox, ring: u32) -> Option<Turn> {
    let turn = inbox.next(ring as usize, |_| 1);
    inbox.rest(ring as usize);
    turn
}

#[test]
fn event_is_taken_of_a_ring_and_a_token_that_are_not_adopted() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    let announcer = registrar.add_token(ring, 1);
    announcer.announce();
    assert!(!inbox.is_at_rest());
    assert_eq!(inbox.set().next(0), Some(ring as usize));
    assert_eq!(pop(&mut inbox, ring), Some(Turn::Announced(announcer.token())));
}

#[test]
fn attention_reaches_a_token_that_is_not_adopted() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    let announcer = registrar.add_token(ring, 1);
    announcer.remind();
    assert_eq!(pop(&mut inbox, ring), Some(Turn::Straggler(announcer.token())));
}

#[test]
fn removed_token_is_used_again_once_its_events_are_popped() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(2, None);
    let first = registrar.add_token(ring, 2);
    first.announce();
    first.announce();
    first.remind();
    registrar.remove_token(first.token());
    inbox.adopt();
    assert!(inbox.attention_is_empty());
    pop(&mut inbox, ring).unwrap();
    inbox.adopt();
    assert_ne!(registrar.add_token(ring, 1).token(), first.token());
    pop(&mut inbox, ring).unwrap();
    inbox.adopt();
    assert_eq!(registrar.add_token(ring, 1).token(), first.token());
}

#[test]
fn removed_ring_is_emptied_and_used_again() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    let token = registrar.add_token(ring, 3);
    (0..3).for_each(|_| token.announce());
    registrar.remove_token(token.token());
    registrar.remove_ring(ring);
    assert_ne!(registrar.add_ring(1, None), ring, "it is not adopted");
    inbox.adopt();
    assert_eq!((registrar.add_ring(1, None), inbox.queued()), (ring, 0));
    assert!(inbox.set().is_empty());
    let again = registrar.add_token(ring, 3);
    assert_eq!(again.token(), token.token());
    again.announce();
    assert_eq!(pop(&mut inbox, ring), Some(Turn::Announced(again.token())));
}

#[test]
fn room_of_a_ring_is_what_its_tokens_leave() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    let before = registrar.room(ring);
    let token = registrar.add_token(ring, 1_000);
    assert_eq!(registrar.room(ring), before - 1_000);
    registrar.remove_token(token.token());
    inbox.adopt();
    assert_eq!(registrar.room(ring), before);
}

#[test]
#[should_panic(expected = "tokens of the ring are in use")]
fn ring_with_a_token_is_not_removed() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    registrar.add_token(ring, 1);
    registrar.remove_ring(ring);
    inbox.adopt();
}

/// Late tokens of stragglers may fill a ring entirely.
#[test]
fn overfull_ring_grows_when_the_worker_has_popped() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let ring = registrar.add_ring(1, None);
    let first = registrar.add_token(ring, 1);
    assert!(first.try_announce() && first.try_announce() && !first.try_announce());
    let second = registrar.add_token(ring, 5);
    assert!(!second.try_announce(), "the ring is full");
    pop(&mut inbox, ring).unwrap();
    inbox.adopt();
    assert!((0..6).all(|_| second.try_announce()));
}

#[derive(Clone, Debug)]
enum Action {
    AddRing(usize),
    AddToken(usize, usize),
    Announce(usize),
    Pop(usize),
    RemoveToken(usize),
    RemoveRing(usize),
    Adopt,
}

fn action() -> impl Strategy<Value = Action> {
    let any = || any::<usize>();
    prop_oneof![
        1 => (0usize..9).prop_map(Action::AddRing),
        4 => (any(), 1usize..9).prop_map(|(ring, events)| Action::AddToken(ring, events)),
        20 => any().prop_map(Action::Announce),
        20 => any().prop_map(Action::Pop),
        3 => any().prop_map(Action::RemoveToken),
        1 => any().prop_map(Action::RemoveRing),
        2 => Just(Action::Adopt),
    ]
}

/// A token in use: its announcer, its ring, and how many of its events may still come.
type InUse = (Announcer, u32, usize);

proptest! {
    /// Each ring brings its tokens in the order of their announcements, under all changes; a
    /// token or ring is not used again before its events are popped.
    #[test]
    fn rings_are_first_in_first_out_while_rings_and_tokens_come_and_go(
        actions in proptest::collection::vec(action(), 1..400),
    ) {
        let mut inbox = Inbox::with_room(2, 2);
        let registrar = inbox.registrar();
        let mut rings: BTreeMap<u32, VecDeque<u32>> = BTreeMap::new();
        let mut in_use: Vec<InUse> = Vec::new();
        let ring_of = |rings: &BTreeMap<u32, _>, n: usize| {
            rings.keys().nth(n % rings.len().max(1)).copied()
        };
        for action in actions {
            match action {
                Action::AddRing(events) => {
                    let ring = registrar.add_ring(events, None);
                    prop_assert!(rings.insert(ring, VecDeque::new()).is_none());
                }
                Action::AddToken(n, events) => {
                    let Some(ring) = ring_of(&rings, n) else { continue };
                    let announcer = registrar.add_token(ring, events);
                    let token = announcer.token();
                    prop_assert!(rings.values().flatten().all(|queued| *queued != token));
                    prop_assert!(in_use.iter().all(|(other, ..)| other.token() != token));
                    in_use.push((announcer, ring, events));
                }
                Action::Announce(n) => {
                    let count = in_use.len().max(1);
                    let Some((announcer, ring, left)) = in_use.get_mut(n % count) else {
                        continue;
                    };
                    if *left > 0 {
                        *left -= 1;
                        prop_assert!(announcer.try_announce());
                        rings.get_mut(ring).unwrap().push_back(announcer.token());
                    }
                }
                Action::Pop(n) => {
                    let Some(ring) = ring_of(&rings, n) else { continue };
                    let expected = rings.get_mut(&ring).unwrap().pop_front();
                    let found = pop(&mut inbox, ring);
                    prop_assert_eq!(found, expected.map(Turn::Announced));
                    let of = |(other, ..): &&mut InUse| Some(other.token()) == expected;
                    in_use.iter_mut().find(of).into_iter().for_each(|(.., left)| *left += 1);
                }
                Action::RemoveToken(n) if !in_use.is_empty() => {
                    let (announcer, ..) = in_use.swap_remove(n % in_use.len());
                    registrar.remove_token(announcer.token());
                }
                Action::RemoveRing(n) => {
                    let Some(ring) = ring_of(&rings, n) else { continue };
                    let (gone, rest): (Vec<_>, _) =
                        in_use.into_iter().partition(|(_, of, _)| *of == ring);
                    in_use = rest;
                    gone.iter().for_each(|(gone, ..)| registrar.remove_token(gone.token()));
                    registrar.remove_ring(ring);
                    rings.remove(&ring);
                }
                Action::Adopt | Action::RemoveToken(_) => {
                    inbox.adopt();
                    let waiting: usize = rings.values().map(VecDeque::len).sum();
                    prop_assert_eq!(inbox.queued(), waiting);
                }
            }
        }
    }
}

#[test]
fn tokens_and_rings_that_come_and_go_take_no_more_room() {
    let mut inbox = Inbox::with_room(1, 1);
    let registrar = inbox.registrar();
    let mut largest = 0;
    for _ in 0..1_000 {
        let ring = registrar.add_ring(2, None);
        let tokens = [1, 2].map(|events| registrar.add_token(ring, events));
        tokens.iter().for_each(|token| token.announce());
        assert!(pop(&mut inbox, ring).is_some());
        for token in tokens {
            largest = largest.max(token.token());
            registrar.remove_token(token.token());
        }
        registrar.remove_ring(ring);
        inbox.adopt();
    }
    assert_eq!((largest, inbox.rings()), (1, 1));
    assert_eq!(registrar.lock().rings[0].producer.capacity(), 4);
}
