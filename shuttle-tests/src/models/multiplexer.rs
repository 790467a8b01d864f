//! Both multiplexers.

use super::{BEFORE_WRAP, join};
use crate::explore::Model;
use crate::multiplexer::{gating, overrun};
use crate::pool::Pool;
use shuttle::thread::{spawn, yield_now};

/// The producer waits for the slowest consumer while consumers leave and join: each sees a part of
/// the stream without a gap, and the one that stays sees all of it.
#[test]
fn gating_keeps_the_stream_complete_while_consumers_join_and_leave() {
    const ITEMS: u32 = 12;
    Model::new(4_000).kills("gating.claim").check(|| {
        let (mut producer, multiplexer) = gating::multiplexer_at(1, 3, BEFORE_WRAP);
        let mut stays = multiplexer.join().unwrap();
        let pusher = spawn(move || {
            for item in 0..ITEMS {
                let mut item = item;
                while let Err(gating::Full(back)) = producer.push(item) {
                    item = back;
                    yield_now();
                }
            }
        });
        let visitors = [0, 1].map(|_| {
            let multiplexer = multiplexer.clone();
            spawn(move || {
                for _ in 0..3 {
                    let mut consumer = multiplexer.join().expect("there are three places");
                    let mut seen = Vec::new();
                    for _ in 0..3 {
                        seen.extend(consumer.read().map(|item| *item));
                    }
                    assert!(seen.windows(2).all(|two| two[1] == two[0] + 1), "a gap: {seen:?}");
                }
            })
        });
        let reader = spawn(move || {
            for item in 0..ITEMS {
                let seen = loop {
                    match consumer_read(&mut stays) {
                        Some(seen) => break seen,
                        None => yield_now(),
                    }
                };
                assert_eq!(seen, item);
            }
        });
        join(visitors);
        join([pusher, reader]);
    });
}

fn consumer_read(consumer: &mut gating::Consumer<u32>) -> Option<u32> {
    consumer.read().map(|item| *item)
}

/// The producer never waits; each of two consumers sees or counts every message, in order.
#[test]
fn overrun_reports_every_lost_message_to_slow_consumers() {
    const MESSAGES: u64 = 8;
    Model::new(1_000).kills("pool.share").check(|| {
        let pool = Pool::new();
        pool.reserve(4);
        let (mut producer, multiplexer) = overrun::multiplexer_at(&pool, 2, BEFORE_WRAP);
        let consumers = [(); 2].map(|()| multiplexer.join());
        let pusher = spawn(move || {
            for n in 0..MESSAGES {
                drop(producer.push(pool.insert(n)));
            }
            producer
        });
        let readers = consumers.map(|mut consumer| {
            spawn(move || {
                let mut position = 0;
                while position < MESSAGES {
                    match consumer.read() {
                        Ok(None) => yield_now(),
                        Ok(Some(message)) => {
                            assert_eq!(*message, position);
                            position += 1;
                        }
                        Err(overrun) => position += overrun.lost,
                    }
                }
                assert_eq!(position, MESSAGES);
            })
        });
        join(readers);
        join([pusher]);
    });
}
