//! The forms that callbacks of timers can have: a type parameter `Args` tells them apart.

use super::{Timer, TimerState};
use crate::clock::Time;
use crate::node::Node;
use crate::worker::WorkScope;
use std::fmt;
use std::sync::Arc;

type Repeating<Scope> =
    dyn FnMut(&mut <Scope as WorkScope>::Payload, &Arc<TimerState<Scope>>) + Send;

type OneShot<Scope> =
    dyn FnOnce(&mut <Scope as WorkScope>::Payload, &Arc<TimerState<Scope>>) + Send;

/// A callback in any form, or none.
pub enum AnyTimerCallback<Scope: WorkScope> {
    /// A callback for each period.
    Repeating(Box<Repeating<Scope>>),
    /// A callback for the next period; it is replaced by `Inert`.
    OneShot(Box<OneShot<Scope>>),
    /// No callback. The timer stays, and may be given one.
    Inert,
}

impl<Scope: WorkScope> AnyTimerCallback<Scope> {
    /// Calls it.
    pub(super) fn call(&mut self, payload: &mut Scope::Payload, timer: &Arc<TimerState<Scope>>) {
        match std::mem::replace(self, Self::Inert) {
            Self::Repeating(mut callback) => {
                callback(payload, timer);
                *self = Self::Repeating(callback);
            }
            Self::OneShot(callback) => callback(payload, timer),
            Self::Inert => {}
        }
    }
}

impl<Scope: WorkScope> fmt::Debug for AnyTimerCallback<Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repeating(_) => "Repeating",
            Self::OneShot(_) => "OneShot",
            Self::Inert => "Inert",
        })
    }
}

/// A callback of a node for each period: `FnMut()`, `FnMut(&Timer)` or `FnMut(Time)`, where the
/// time is now, by the clock of the timer.
pub trait IntoNodeTimerRepeatingCallback<Args>: 'static + Send {
    /// The callback, without its form.
    fn into_node_timer_repeating_callback(self) -> AnyTimerCallback<Node>;
}

/// A callback of a node for one period: `FnOnce()`, `FnOnce(&Timer)` or `FnOnce(Time)`, where the
/// time is now, by the clock of the timer.
pub trait IntoNodeTimerOneshotCallback<Args>: 'static + Send {
    /// The callback, without its form.
    fn into_node_timer_oneshot_callback(self) -> AnyTimerCallback<Node>;
}

/// A callback of a worker for each period: `FnMut()`, `FnMut(&mut Payload)`,
/// `FnMut(&mut Payload, &WorkerTimer<Payload>)` or `FnMut(&mut Payload, Time)`, where the time is
/// now, by the clock of the timer.
pub trait IntoWorkerTimerRepeatingCallback<Scope: WorkScope, Args>: 'static + Send {
    /// The callback, without its form.
    fn into_worker_timer_repeating_callback(self) -> AnyTimerCallback<Scope>;
}

/// A callback of a worker for one period: `FnOnce()`, `FnOnce(&mut Payload)`,
/// `FnOnce(&mut Payload, &WorkerTimer<Payload>)` or `FnOnce(&mut Payload, Time)`, where the time is
/// now, by the clock of the timer.
pub trait IntoWorkerTimerOneshotCallback<Scope: WorkScope, Args>: 'static + Send {
    /// The callback, without its form.
    fn into_worker_timer_oneshot_callback(self) -> AnyTimerCallback<Scope>;
}

/// Implements the traits of a node for one form.
macro_rules! take_in_node {
    ($args:ty, ($($param:ty)?), |$f:ident, $timer:ident| $call:expr) => {
        impl<F: FnMut($($param)?) + 'static + Send> IntoNodeTimerRepeatingCallback<$args> for F {
            fn into_node_timer_repeating_callback(self) -> AnyTimerCallback<Node> {
                let mut $f = self;
                AnyTimerCallback::Repeating(Box::new(move |_, $timer| $call))
            }
        }

        impl<F: FnOnce($($param)?) + 'static + Send> IntoNodeTimerOneshotCallback<$args> for F {
            fn into_node_timer_oneshot_callback(self) -> AnyTimerCallback<Node> {
                let $f = self;
                AnyTimerCallback::OneShot(Box::new(move |_, $timer| $call))
            }
        }
    };
}

take_in_node!((), (), |f, _timer| f());
take_in_node!(Timer, (&Timer), |f, timer| f(timer));
take_in_node!(Time, (Time), |f, timer| f(timer.clock().now()));

/// Implements the traits of a worker for one form.
macro_rules! take_in_worker {
    ($args:ty, ($($param:ty),*), |$f:ident, $payload:ident, $timer:ident| $call:expr) => {
        impl<Scope: WorkScope, F> IntoWorkerTimerRepeatingCallback<Scope, $args> for F
        where
            F: FnMut($($param),*) + 'static + Send,
        {
            fn into_worker_timer_repeating_callback(self) -> AnyTimerCallback<Scope> {
                let mut $f = self;
                AnyTimerCallback::Repeating(Box::new(move |$payload, $timer| $call))
            }
        }

        impl<Scope: WorkScope, F> IntoWorkerTimerOneshotCallback<Scope, $args> for F
        where
            F: FnOnce($($param),*) + 'static + Send,
        {
            fn into_worker_timer_oneshot_callback(self) -> AnyTimerCallback<Scope> {
                let $f = self;
                AnyTimerCallback::OneShot(Box::new(move |$payload, $timer| $call))
            }
        }
    };
}

take_in_worker! { (), (), |f, _payload, _timer| f() }
take_in_worker! { (Scope::Payload,), (&mut Scope::Payload), |f, payload, _timer| f(payload) }
take_in_worker! {
    (Scope::Payload, Arc<TimerState<Scope>>),
    (&mut Scope::Payload, &Arc<TimerState<Scope>>),
    |f, payload, timer| f(payload, timer)
}
take_in_worker! {
    (Scope::Payload, Time),
    (&mut Scope::Payload, Time),
    |f, payload, timer| f(payload, timer.clock().now())
}
