//! Flags, times, notices, requests, latest numbers and permits.

use super::join;
use crate::counter::{Counter, Flag, FollowedTime, Latest, Notice, Permits, Request};
use crate::model::{Model, Plain};
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;

/// A thread that observes a raised flag sees the writes before the raise.
#[test]
fn a_flag_publishes_earlier_writes() {
    Model::new(7).kills("flag.raise", Relaxed).kills("flag.read", Relaxed).check(|| {
        let shared = Arc::new((Flag::default(), Plain::new(0)));
        let raiser = spawn({
            let shared = shared.clone();
            move || {
                shared.1.set(7);
                shared.0.raise();
            }
        });
        let reader = spawn(move || {
            if shared.0.is_raised() {
                assert_eq!(shared.1.get(), 7);
            }
        });
        raiser.join().unwrap();
        reader.join().unwrap();
    });
}

/// Of two threads that announce their flags and look at each other's, one at least sees the other's
/// flag, and the write before it.
#[test]
fn one_of_two_announced_flags_is_seen() {
    let model = Model::new(10).needs("flag.announced");
    model.kills("flag.announce", Relaxed).kills("flag.look", Relaxed).check(|| {
        let shared = Arc::new([(); 2].map(|()| (Flag::default(), Plain::new(0))));
        let threads = [0, 1].map(|number| {
            let shared = shared.clone();
            spawn(move || {
                let [own, other] = [number, 1 - number].map(|number| &shared[number]);
                own.1.set(7);
                own.0.announce();
                let is_seen = other.0.is_announced();
                if is_seen {
                    assert_eq!(other.1.get(), 7);
                }
                is_seen
            })
        });
        assert_ne!(join(threads), [false; 2]);
    });
}

/// A worker that sees a time also sees when the clock began, so that it starts its timers before it
/// looks for due ones.
#[test]
fn time_is_visible_only_with_its_beginning() {
    Model::new(10).kills("flag.raise", Relaxed).kills("flag.read", Relaxed).check(|| {
        let time = Arc::new(FollowedTime::default());
        let follower = spawn({
            let time = time.clone();
            move || [5, 6].map(|now| time.set(now))
        });
        let worker = spawn(move || {
            let now = time.now();
            let begun_at = time.begun_at();
            assert!(begun_at.is_none_or(|time| time == 5), "begun at {begun_at:?}");
            assert!(now.is_none() || begun_at.is_some(), "{now:?} before the beginning");
        });
        follower.join().unwrap();
        worker.join().unwrap();
    });
}

/// A worker that sees that the clock was switched to a followed time sees the new beginning, too.
#[test]
fn switch_to_followed_time_is_visible_only_with_the_new_beginning() {
    let model = Model::new(2).kills("counter.happen", Relaxed);
    model.kills("counter.happened", Relaxed).check(|| {
        let clock = Arc::new((FollowedTime::default(), Counter::default()));
        clock.0.set(5);
        clock.0.set(6);
        let switch = spawn({
            let clock = clock.clone();
            move || {
                clock.0.begin_again();
                clock.1.happen();
            }
        });
        let worker = spawn(move || {
            if clock.1.happened() == 1 {
                assert_eq!(clock.0.begun_at(), Some(6));
            }
        });
        switch.join().unwrap();
        worker.join().unwrap();
    });
}

/// A thread that marks a number, and one that raises it: the mark fails, or the other one finds it.
#[test]
fn mark_of_a_number_is_found_or_fails() {
    Model::new(5).check(|| {
        let latest = Arc::new(Latest::default());
        latest.raise(1);
        let signer = spawn({
            let latest = latest.clone();
            move || latest.raise(2)
        });
        let watcher = spawn({
            let latest = latest.clone();
            move || latest.mark(latest.get().min(1))
        });
        let (found, marked) = (signer.join().unwrap(), watcher.join().unwrap());
        assert_eq!(found, marked);
        assert_eq!(latest.get(), 2);
    });
}

/// A thread that finds a request settled sees its effects; and a request that is posted while
/// another one is settled stays posted.
#[test]
fn a_settled_request_shows_what_was_done() {
    let model = Model::new(20).kills("request.posted", Relaxed).kills("request.settle", Relaxed);
    model.check(|| {
        let shared = Arc::new((Request::default(), Counter::default()));
        shared.0.post(5);
        let server = spawn({
            let shared = shared.clone();
            move || {
                if let Some(request) = shared.0.posted() {
                    shared.1.set(request);
                    shared.0.settle(request);
                }
            }
        });
        let poster = spawn({
            let shared = shared.clone();
            move || shared.0.post(7)
        });
        let reader = spawn({
            let shared = shared.clone();
            move || {
                if shared.0.posted().is_none() {
                    assert_ne!(shared.1.get(), 0, "it was settled before it was served");
                }
            }
        });
        join([server, poster, reader]);
        assert!(shared.0.posted().is_none_or(|request| request == 7));
        assert!(shared.0.posted().is_some() || shared.1.get() == 7);
    });
}

/// In any order of notices and takes, the work of every notifier is seen by a take that its own or
/// another notice triggered. (The tokens that trigger takes provide no ordering here.)
#[test]
fn a_notice_loses_no_work() {
    let model = Model::new(20).kills("notice.give", Acquire).kills("notice.take", Release);
    model.check(|| {
        let shared = Arc::new((Notice::given(), AtomicU32::new(1), [0, 0].map(AtomicU32::new)));
        let givers = [0, 1].map(|n| {
            let shared = shared.clone();
            spawn(move || {
                shared.2[n].store(1, Relaxed);
                if shared.0.give() {
                    shared.1.fetch_add(1, Relaxed);
                }
            })
        });
        let taker = spawn({
            let shared = shared.clone();
            move || {
                // One token exists from the start, like the notice.
                shared.1.fetch_sub(1, Relaxed);
                assert!(shared.0.take());
                shared.2.each_ref().map(|work| work.load(Relaxed))
            }
        });
        join(givers);
        let seen = taker.join().unwrap();
        let tokens = shared.1.load(Relaxed);
        assert!(tokens <= 1, "one token at most is under way");
        // Without a token there is no further take: then all work was seen.
        assert!(tokens == 1 || seen == [1, 1]);
    });
}

/// A thread that gives a notice after it was taken sees what the taker did before.
#[test]
fn giver_sees_what_the_taker_did_before() {
    let model = Model::new(2).kills("notice.give", Release).kills("notice.take", Acquire);
    model.check(|| {
        let shared = Arc::new((Notice::given(), Plain::new(0)));
        let taker = spawn({
            let shared = shared.clone();
            move || {
                shared.1.set(7);
                assert!(shared.0.take());
            }
        });
        let giver = spawn(move || {
            if shared.0.give() {
                assert_eq!(shared.1.get(), 7);
            }
        });
        taker.join().unwrap();
        giver.join().unwrap();
    });
}

/// A single permit is exclusive, and its next holder sees the writes of the last one.
#[test]
fn a_permit_publishes_the_last_holders_writes() {
    let model = Model::new(20).kills("permits.acquire", Relaxed);
    model.kills("permits.release", Relaxed).check(|| {
        let shared = Arc::new((Permits::new(1), Plain::new(0)));
        let threads = [1, 2].map(|n| {
            let shared = shared.clone();
            spawn(move || {
                let acquired = shared.0.try_acquire();
                if acquired {
                    shared.1.set(n);
                    shared.0.release();
                }
                acquired
            })
        });
        let acquired = join(threads);
        assert!(acquired.contains(&true));
        assert!(shared.0.try_acquire() && !shared.0.try_acquire());
    });
}
