//! Clocks that follow the topic `/clock`.

use crate::clock::{Clock, ClockType};
use crate::error::{Error, Result};
use crate::lock;
use crate::timer::ClockTimer;
use ringspin::Subscription;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Gives the time of `/clock` to the clocks that are attached, while simulated time is enabled: by
/// [`enable_sim_time`](Self::enable_sim_time), or by a parameter handler of a node whose parameter
/// `use_sim_time` is true. Timers of [`Node::create_timer`](crate::Node::create_timer) follow it.
///
/// Each node has one, to which its own clock is attached. In deterministic mode nothing needs it:
/// all clocks are simulated.
#[derive(Clone, Default)]
pub struct TimeSource(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    clocks: Vec<Weak<Mutex<Clock>>>,
    timers: Vec<Weak<ClockTimer>>,
    /// While simulated time is enabled.
    subscription: Option<Subscription>,
    /// The last time of `/clock`.
    time: Duration,
}

impl TimeSource {
    /// Attaches a clock of ROS time.
    ///
    /// # Errors
    /// [`Error::ClockTypeNotRosTime`].
    pub fn attach_ros_clock(&self, clock: Weak<Mutex<Clock>>) -> Result<()> {
        let mut state = lock(&self.0);
        let Some(attached) = clock.upgrade() else { return Ok(()) };
        let mut attached = lock(&attached);
        if !matches!(attached.get_clock_type(), ClockType::RosTime) {
            return Err(Error::ClockTypeNotRosTime);
        }
        attached.set_ros_time(state.subscription.is_some().then_some(state.time));
        state.clocks.push(clock);
        Ok(())
    }

    pub(crate) fn attach_timer(&self, timer: &Arc<ClockTimer>) {
        let mut state = lock(&self.0);
        timer.switch(state.subscription.is_some());
        state.timers.push(Arc::downgrade(timer));
    }

    /// Follows the clock that `subscribe` makes call a function with each time, unless one is
    /// followed already.
    pub(crate) fn follow(
        &self,
        subscribe: impl FnOnce(Box<dyn Fn(Duration) + Send>) -> Result<Subscription>,
    ) -> Result<()> {
        if lock(&self.0).subscription.is_some() {
            return Ok(());
        }
        let of = Arc::downgrade(&self.0);
        let subscription = subscribe(Box::new(move |now| {
            if let Some(state) = of.upgrade() {
                lock(&state).set(now);
            }
        }))?;
        let mut state = lock(&self.0);
        state.subscription = Some(subscription);
        state.switch(true);
        Ok(())
    }

    /// Follows the system time again.
    pub fn disable_sim_time(&self) {
        let mut state = lock(&self.0);
        let Some(subscription) = state.subscription.take() else { return };
        subscription.destroy();
        state.switch(false);
    }
}

impl State {
    fn switch(&mut self, is_on: bool) {
        let time = is_on.then_some(self.time);
        self.clocks.retain(|clock| match clock.upgrade() {
            Some(clock) => {
                lock(&clock).set_ros_time(time);
                true
            }
            None => false,
        });
        self.timers.retain(|timer| timer.upgrade().inspect(|it| it.switch(is_on)).is_some());
    }

    fn set(&mut self, time: Duration) {
        self.time = time;
        for clock in self.clocks.iter().filter_map(Weak::upgrade) {
            lock(&clock).set_ros_time(Some(time));
        }
        for timer in self.timers.iter().filter_map(Weak::upgrade) {
            timer.set(time);
        }
    }
}
