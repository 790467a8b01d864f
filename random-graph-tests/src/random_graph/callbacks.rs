//! The computations and effects of callbacks in a random graph.
//!
//! They use only operations with bit-identical results on every machine: integers, basic floating
//! point operations, and functions of the crate `libm`.

use super::Published;
use super::parts::Parts;
use ringspin_executor::{Client, Context, Digest, GuardCondition, Publisher, Stamped, Time, Timer};
use std::sync::Arc;

/// The type of messages, requests and responses.
#[derive(Clone, Copy, Debug, Digest)]
#[digest(crate = "ringspin_executor")]
pub struct Sample {
    /// The time at the source.
    pub stamp: Time,
    /// The sender's state.
    pub value: u64,
    /// The sender's state in floating point.
    pub level: f64,
}

impl Sample {
    pub(super) fn at(stamp: Time) -> Self {
        Self { stamp, value: stamp.as_nanos(), level: 1.0 }
    }

    /// Combines two samples.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            stamp: self.stamp.max(other.stamp),
            value: self.value.rotate_left(7) ^ other.value,
            level: 0.5 * (self.level + other.level),
        }
    }
}

impl Stamped for Sample {
    fn stamp(&self) -> Time {
        self.stamp
    }
}

/// The state of an event loop, updated by all its callbacks.
#[derive(Clone, Debug, Digest)]
#[digest(crate = "ringspin_executor")]
pub struct State {
    /// A hash of every call and every message.
    pub value: u64,
    /// The same in floating point.
    pub level: f64,
    /// The stamp of the last message, or the time of the last timer.
    pub stamp: Time,
    /// The number of messages and requests that a full queue or a service refused.
    pub refused: u64,
}

impl State {
    pub(super) fn new(number: usize) -> Self {
        let value = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { value, level: number as f64, stamp: Time::ZERO, refused: 0 }
    }

    /// Updates the state for a message.
    pub(super) fn take(&mut self, sample: &Sample) {
        self.stamp = sample.stamp;
        self.mix(sample.value, sample.level);
    }

    /// Updates the state for a call without a message, at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.stamp = now;
        self.mix(now.as_nanos(), 1.0);
    }

    fn mix(&mut self, value: u64, level: f64) {
        let mixed = (self.value ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.value = mixed.rotate_left(29) ^ (mixed >> 17);
        let wave = libm::sin(self.level + level / 3.0);
        self.level = (0.75 * self.level + 0.25 * level + wave * wave).abs().sqrt();
    }

    pub(super) fn sample(&self) -> Sample {
        Sample { stamp: self.stamp, value: self.value, level: self.level }
    }
}

/// An effect of a callback on other nodes.
pub(super) struct Emitter {
    pub(super) every: u64,
    pub(super) call: Call,
}

pub(super) enum Call {
    /// Publishes on the topic with this channel number.
    Publish(Publisher<Sample>, usize, Published),
    Trigger(GuardCondition),
    Service(Client<State, Sample, Sample>, Arc<[Emitter]>),
    Reset(Timer),
    /// Creates the part with this number, or destroys it.
    Toggle(Arc<Parts>, usize),
}

impl Emitter {
    pub(super) fn emit(&self, state: &mut State, cx: &Context<'_>) {
        if !(state.value >> 11).is_multiple_of(self.every) {
            return;
        }
        let refused = match &self.call {
            Call::Publish(publisher, channel, published) => {
                let result = publisher.publish(state.sample());
                if result.is_ok() {
                    published.count(*channel);
                }
                result.is_err()
            }
            Call::Trigger(guard) => {
                guard.trigger();
                false
            }
            Call::Service(client, then) => {
                let then = then.clone();
                let called = client.call(state.sample(), move |state, reply, cx| {
                    match reply {
                        Ok(reply) => state.take(&reply),
                        Err(error) => {
                            state.refused += 1;
                            state.begin(cx.now());
                            cx.digest(&error.to_string());
                        }
                    }
                    then.iter().for_each(|emitter| emitter.emit(state, cx));
                });
                called.is_err()
            }
            Call::Reset(timer) => {
                timer.reset();
                false
            }
            Call::Toggle(parts, number) => parts.toggle(*number).is_err(),
        };
        if refused {
            state.refused += 1;
            cx.digest("refused");
        }
    }
}
