//! Wake-ups of a world's threads by threads outside of it.

use crate::os;
use crate::state::State;
use crate::wait::{Slot, Wait, Woken};
use std::time::Duration;

/// How often a world without a deadline looks for a wake-up from outside, and how long it rests in
/// real time before each look.
const LOOKS: u32 = 200;
const REST: Duration = Duration::from_millis(1);

/// Wakes the threads that wait for a futex which a thread outside of this world has changed, such
/// as one that prints a test's result and holds the standard output. When no thread waits for a
/// time, there may be one that is about to.
pub(crate) fn wake(state: &mut State) -> bool {
    let looks = if state.next_deadline().is_none() { LOOKS } else { 1 };
    for look in 0..looks {
        if look > 0 {
            os::sleep(REST);
        }
        let changed = |slot: &Slot| {
            let seat = state.seat(*slot);
            let futex = seat.futex.filter(|_| matches!(seat.wait, Wait::Futex(_)));
            futex.is_some_and(|futex| os::futex_value(futex.address) != futex.value)
        };
        let changed: Vec<_> = state.waiting().filter(changed).collect();
        if !changed.is_empty() {
            changed.iter().for_each(|slot| state.resume(*slot, Woken::Ready));
            return true;
        }
    }
    false
}
