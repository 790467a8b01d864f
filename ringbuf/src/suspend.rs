//! Steps at which a test suspends a thread, in the copy of this crate below `suspend-tests`.
//!
//! A thread arms a [`Gate`]; when it reaches the gate's step, for the first time or after as many
//! others as the gate lets pass, it is suspended until the gate is opened.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A step at which one thread is suspended.
#[derive(Clone, Debug)]
pub struct Gate {
    step: &'static str,
    /// How many more times the thread that armed it passes.
    passes: usize,
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Armed,
    Suspended,
    Open,
}

thread_local! {
    static ARMED: RefCell<Option<Gate>> = const { RefCell::new(None) };
}

impl Gate {
    /// A gate at `step`, which lets the thread pass `passes` times.
    pub fn at(step: &'static str, passes: usize) -> Self {
        Self { step, passes, shared: Arc::new((Mutex::new(State::Armed), Condvar::new())) }
    }

    /// Has the calling thread be suspended when it reaches the step.
    pub fn arm(&self) {
        ARMED.set(Some(self.clone()));
    }

    /// Whether the thread was suspended, perhaps until now.
    pub fn was_reached(&self) -> bool {
        *self.shared.0.lock().unwrap_or_else(PoisonError::into_inner) != State::Armed
    }

    /// Waits until the thread is suspended, for `timeout` at most; false if it is not.
    pub fn wait(&self, timeout: Duration) -> bool {
        let (state, changed) = &*self.shared;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(state, timeout, |state| *state == State::Armed);
        *waited.unwrap_or_else(PoisonError::into_inner).0 != State::Armed
    }

    /// Lets the thread continue.
    pub fn open(&self) {
        let (state, changed) = &*self.shared;
        *state.lock().unwrap_or_else(PoisonError::into_inner) = State::Open;
        changed.notify_all();
    }

    fn suspend(&self) {
        let (state, changed) = &*self.shared;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Armed {
            *state = State::Suspended;
            changed.notify_all();
        }
        let open = changed.wait_while(state, |state| *state != State::Open);
        drop(open.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Suspends the calling thread if it armed a gate at `step`.
pub fn reach(step: &str) {
    // A thread that ends may be past its variables.
    let gate = ARMED.try_with(|armed| {
        let mut armed = armed.borrow_mut();
        let gate = armed.as_mut().filter(|gate| gate.step == step)?;
        match gate.passes.checked_sub(1) {
            Some(left) => gate.passes = left,
            None => return armed.take(),
        }
        None
    });
    if let Ok(Some(gate)) = gate {
        gate.suspend();
    }
}
