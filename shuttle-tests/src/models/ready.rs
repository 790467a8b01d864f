//! The ready ring.

use super::{BEFORE_WRAP, Senders};
use crate::explore::Model;
use crate::ready::{Full, ring_at};
use shuttle::thread::yield_now;

/// Tokens of different producers, `PRODUCERS * EACH` in total, differ in their tens digit.
const PRODUCERS: u32 = 3;
const EACH: u32 = 6;

/// Three producers push through a ring of four, several laps and past the wrap of the sequence:
/// no token is lost, duplicated or reordered.
#[test]
fn three_producers_lose_no_token() {
    Model::new(2_000).kills("ready.commit").check(|| {
        let (producer, mut consumer) = ring_at(4, BEFORE_WRAP);
        let senders = Senders::spawn(PRODUCERS, |id| {
            let producer = producer.clone();
            move || {
                for n in 0..EACH {
                    while let Err(Full(token)) = producer.push(id * 10 + n) {
                        assert_eq!(token, id * 10 + n);
                        yield_now();
                    }
                }
            }
        });
        let mut next = [0; PRODUCERS as usize];
        senders.receive(|| {
            while let Some(token) = consumer.pop() {
                let (id, n) = (token as usize / 10, token % 10);
                assert_eq!(next[id], n, "producer {id}");
                next[id] += 1;
            }
        });
        assert_eq!(next, [EACH; PRODUCERS as usize], "tokens were lost");
        assert!(consumer.is_empty());
    });
}
