//! The player in the live modes.

use crate::support::{MS, Number, ms, numbers, types};
use ringspin_bag::{MemoryRecording, Player, Recorder};
use ringspin_executor::{Message, QoS};
use ringspin_modes::{Executor, Mode};
use std::time::Duration;

const ITEMS: [(u64, u32); 4] = [(0, 1), (4, 2), (4, 3), (10, 4)];

fn live_modes() -> [Executor; 2] {
    [Executor::single_core(), Executor::new(Mode::MultiCore(None))]
}

#[test]
fn messages_are_never_early_and_keep_their_order() {
    for mut executor in live_modes() {
        let node = executor.create_node("probe", Vec::new()).unwrap();
        let (sender, received) = std::sync::mpsc::channel();
        node.create_subscription(
            "n",
            QoS::default(),
            move |_: &mut Vec<u32>, n: &Message<Number>, cx| sender.send((cx.now(), n.value)),
        )
        .unwrap();
        let player = Player::new([numbers("/n", &ITEMS)]).rate(0.5).delay(6 * MS);
        let player = player.stop_at_end(executor.stop_handle(), 5 * MS);
        let handle = player.add_to(executor.graph(), &types()).unwrap();
        executor.freeze().unwrap();
        let start = executor.now();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert!(handle.is_finished() && executor.stop_handle().is_stopped());
        let mut seen: Vec<_> = received.try_iter().collect();
        // The grace may be too short for a core that others use.
        while seen.len() < ITEMS.len() {
            executor.stop_handle().reset();
            executor.spin_for(MS).unwrap();
            seen.extend(received.try_iter());
        }
        assert_eq!(seen.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [1, 2, 3, 4]);
        // At half of the speed, after the delay.
        let mut late = Duration::ZERO;
        for ((time, _), (at, _)) in seen.iter().zip(ITEMS) {
            let due = start + 6 * MS + 2 * at as u32 * MS;
            assert!(*time >= due, "{seen:?} from {start}");
            late = late.max(*time - due);
        }
        let report = handle.report(&executor.statistics());
        assert_eq!((report.messages, report.dropped.len()), (4, 0));
        // No message is received before it is played.
        assert!(report.lag_mean <= report.lag_max && report.lag_max <= late, "{report:?} {late:?}");
    }
}

#[test]
fn repeated_recordings_begin_again_after_their_length() {
    for mut executor in live_modes() {
        let node = executor.create_node("probe", 0).unwrap();
        let (sender, received) = std::sync::mpsc::channel();
        let stop = executor.stop_handle();
        node.create_subscription(
            "n",
            QoS::keep_last(1000),
            move |count, n: &Message<Number>, cx| {
                *count += 1;
                if *count == 10 {
                    stop.stop();
                }
                sender.send((cx.now(), n.value))
            },
        )
        .unwrap();
        let player = Player::new([numbers("/n", &ITEMS)]).repeat();
        let handle = player.add_to(executor.graph(), &types()).unwrap();
        executor.freeze().unwrap();
        let start = executor.now();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert!(!handle.is_finished());
        let seen: Vec<_> = received.try_iter().take(10).collect();
        let values: Vec<_> = seen.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]);
        // Never early, in the third lap either.
        assert!(seen[9].0 >= start + 24 * MS, "{seen:?} from {start}");
        assert!(handle.position() <= ms(10));
    }
}

#[test]
fn repeated_recording_without_messages_ends() {
    for mut executor in live_modes() {
        let player = Player::new([numbers("/n", &[])]).repeat();
        let player = player.stop_at_end(executor.stop_handle(), Duration::ZERO);
        let handle = player.add_to(executor.graph(), &types()).unwrap();
        executor.spin_for(Duration::from_secs(3600)).unwrap();
        assert!(handle.is_finished());
    }
}

#[test]
fn drops_of_slow_subscriptions_are_reported() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("slow", ()).unwrap();
    node.create_subscription("n", QoS::keep_last(1), |_, _: &Message<Number>, _| ()).unwrap();
    // Messages at one time are published in one go.
    let items: Vec<_> = (0..10).map(|n| (0, n)).collect();
    let player = Player::new([numbers("/n", &items)]);
    let player = player.stop_at_end(executor.stop_handle(), MS);
    let handle = player.add_to(executor.graph(), &types()).unwrap();
    executor.spin_for(Duration::from_secs(60)).unwrap();
    let report = handle.report(&executor.statistics());
    let dispatched = executor.statistics().dispatched();
    assert_eq!(report.messages, 10);
    let [(node, topic, lost)] = &report.dropped[..] else { panic!("{report:?}") };
    assert_eq!((&**node, &**topic), ("/slow", "/n"));
    assert!((1..10).contains(lost) && dispatched > 0, "{report:?}");
}

#[test]
fn a_full_keep_all_subscription_delays_messages_and_loses_none() {
    for mut executor in live_modes() {
        let node = executor.create_node("probe", ()).unwrap();
        let (sender, seen) = std::sync::mpsc::channel();
        node.create_subscription("n", QoS::keep_all(2), move |_, n: &Message<Number>, cx| {
            if n.value == 99 {
                cx.stop();
            }
            sender.send(n.value)
        })
        .unwrap();
        // The last one is in time, unless the machine is busy.
        let items: Vec<_> = (0..100).map(|n| (if n < 99 { 0 } else { 60 }, n)).collect();
        let player = Player::new([numbers("/n", &items)]);
        let handle = player.add_to(executor.graph(), &types()).unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        let report = handle.report(&executor.statistics());
        assert_eq!(report.messages, 100);
        assert!(report.lag_max >= report.lag_mean, "{report:?}");
        // Each message after one that waited waits as long.
        let waited = report.retries > 0 && report.lag_max >= MS && !report.lag_mean.is_zero();
        assert!(waited || report.retries == 0, "{report:?}");
    }
}

#[test]
fn a_live_recording_has_times_of_publication_and_reception() {
    for mut executor in live_modes() {
        let player = Player::new([numbers("/n", &ITEMS)]);
        let player = player.stop_at_end(executor.stop_handle(), 20 * MS);
        let handle = player.add_to(executor.graph(), &types()).unwrap();
        let (sink, recording) = MemoryRecording::sink();
        let recorder = Recorder::new(sink).raw_topics(handle.raw_topics());
        let recorder = recorder.add_to(executor.graph(), &types()).unwrap();
        executor.freeze().unwrap();
        let start = executor.now();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        while recording.get().records.len() < ITEMS.len() {
            executor.stop_handle().reset();
            executor.spin_for(MS).unwrap();
        }
        assert_eq!(recorder.finish().unwrap().messages(), 4);
        for record in recording.get().records {
            assert!(record.publish_time >= start && record.log_time >= record.publish_time);
            assert!(record.log_time <= executor.now());
        }
    }
}
