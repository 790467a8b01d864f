//! Time over ROS 2: following `/clock`, and publishing it.

use crate::rcl::{Context, Locals, Node, NodeOptions, Publisher, Subscription};
use ringspin_executor::{BoxError, Error, QoS, RosClock, Time};
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;
use ringspin_messages::rosgraph_msgs::msg::Clock;
use ringspin_ringbuf::Flag;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

const TOPIC: &str = "/clock";

/// Creates a node that tools do not show, for needs of the whole process.
pub(crate) fn hidden_node(context: &Context, name: &str) -> Result<Node, Error> {
    // Its name is not remapped, and its log goes nowhere.
    Node::new(context, "/", name, NodeOptions { rosout: false, use_global_arguments: false })
}

/// Sets a clock by `/clock` until it is dropped.
///
/// A separate thread reads it, as in rclcpp, so that time advances however long callbacks take. The
/// thread sleeps until a message arrives.
pub(crate) struct ClockFollower {
    is_over: Arc<Flag>,
    bell: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl ClockFollower {
    pub(crate) fn start(context: &Context, clock: Arc<RosClock>) -> Result<Self, BoxError> {
        let node = hidden_node(context, "_ringspin_clock")?;
        let messages = Subscription::new(&node, TOPIC, &QoS::clock(), Locals::Deliver)?;
        // One signal is enough: the thread takes all messages that are there.
        let (bell, rings) = sync_channel(1);
        let ring = bell.clone();
        messages.on_new_message(move |_| {
            let _ = ring.try_send(());
        })?;
        let is_over = Arc::<Flag>::default();
        let ends = is_over.clone();
        let follow = move || follow(messages, &rings, &ends, &clock);
        let thread = std::thread::Builder::new().name("ringspin-clock".into()).spawn(follow)?;
        Ok(Self { is_over, bell, thread: Some(thread) })
    }
}

fn follow(mut messages: Subscription<Clock>, rings: &Receiver<()>, ends: &Flag, clock: &RosClock) {
    while rings.recv().is_ok() && !ends.is_raised() {
        loop {
            match messages.take() {
                Ok(Some((Clock { clock: time }, _))) => match time.checked_to_time() {
                    Some(time) => clock.set(time),
                    None => tracing::warn!(
                        time.sec,
                        "/clock says a time before the epoch; not followed"
                    ),
                },
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "the time is not known any more");
                    break;
                }
            }
        }
    }
}

impl Drop for ClockFollower {
    fn drop(&mut self) {
        self.is_over.raise();
        // If there is no room, the thread has a signal to receive already.
        let _ = self.bell.try_send(());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that follows /clock panicked");
        }
    }
}

/// Publishes simulated time.
pub(crate) struct ClockSource {
    pub(crate) period: Duration,
    publisher: Publisher<Clock>,
}

impl ClockSource {
    pub(crate) fn new(context: &Context, period: Duration) -> Result<Self, Error> {
        let node = hidden_node(context, "_ringspin_clock_source")?;
        // Reliable, for subscriptions that ask for that; rclcpp's do not.
        let publisher = Publisher::new(&node, TOPIC, &QoS::keep_last(10))?;
        Ok(Self { period, publisher })
    }

    pub(crate) fn publish(&self, now: Time) -> Result<(), Error> {
        self.publisher.publish(&Clock { clock: Stamp::from_time(now) })
    }
}
