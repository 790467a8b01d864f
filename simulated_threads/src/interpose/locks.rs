//! Mutexes, condition variables, reader-writer locks and semaphores of glibc: those of C and C++
//! code.
//!
//! Each lock stays libc's. A thread that does not get it waits in the world until it is released.
//!
//! The thread that has the turn tries the lock by the function of libc that does not wait; if that
//! fails, it waits in the world for the address, and tries again after a release has woken it. No
//! other thread of the world runs in between, so no wake-up is lost. The word of the lock stays
//! libc's, so recursive locks and checks of the owner work as usual. Of a condition variable the
//! world alone knows the waits, and wakes them in their order; glibc would choose the thread by
//! itself. A thread that `pthread_cancel` ends in such a wait has its mutex again before.

use super::clock::until;
use super::{fail, interpose};
use crate::original::original;
use crate::os;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::world::World;
use libc::{
    c_int, c_uint, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t,
    pthread_rwlock_t, pthread_spinlock_t, sem_t, timespec,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Condition variables with deadlines of the monotonic clock.
static MONOTONIC: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn with_monotonic<R>(with: impl FnOnce(&mut BTreeSet<usize>) -> R) -> R {
    // No thread waits here: a world's threads hold it only while they run.
    with(&mut MONOTONIC.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Takes a lock of libc as soon as `attempt` does not fail because another thread holds it. `None`
/// is a bad deadline.
fn take(
    (world, me): (&World, Slot),
    lock: Wait,
    deadline: Option<Nanos>,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let Some(deadline) = deadline else { return libc::EINVAL };
    let mut lost = 0;
    loop {
        match attempt() {
            libc::EBUSY | libc::ETIMEDOUT => {}
            done => return done,
        }
        world.state().seat_mut(me).lost_locks = lost;
        lost += 1;
        match world.wait(me, lock, deadline) {
            Woken::TimedOut => return libc::ETIMEDOUT,
            Woken::Interrupted { restarts: false } => return libc::EINTR,
            _ => {}
        }
    }
}

/// Wakes up to `count` threads that wait for a lock, which libc has released with this result.
fn released((world, me): (&World, Slot), lock: Wait, count: usize, result: c_int) -> c_int {
    world.release(me, lock, count, 0);
    result
}

/// Tries to lock a mutex: as `pthread_mutex_trylock`, but a thread that holds it is told so.
///
/// # Safety
/// The caller keeps the rules of `pthread_mutex_lock`.
unsafe fn try_mutex(mutex: *mut pthread_mutex_t) -> c_int {
    let past = timespec { tv_sec: 0, tv_nsec: 0 };
    let lock = original!(
        pthread_mutex_timedlock: fn(*mut pthread_mutex_t, *const timespec) -> c_int
    );
    // SAFETY: the caller's promise; the time has passed, so nothing waits.
    unsafe { lock(mutex, &raw const past) }
}

/// # Safety
/// The caller keeps the rules of `pthread_mutex_lock`.
unsafe fn lock_mutex(
    caller: (&World, Slot),
    mutex: *mut pthread_mutex_t,
    deadline: Option<Nanos>,
) -> c_int {
    caller.0.pass(caller.1);
    // SAFETY: the caller's promise.
    take(caller, Wait::Lock(mutex.addr()), deadline, || unsafe { try_mutex(mutex) })
}

/// # Safety
/// The caller keeps the rules of `pthread_mutex_unlock`.
unsafe fn unlock_mutex(caller: (&World, Slot), mutex: *mut pthread_mutex_t) -> c_int {
    let unlock = original!(pthread_mutex_unlock: fn(*mut pthread_mutex_t) -> c_int);
    // SAFETY: the caller's promise.
    released(caller, Wait::Lock(mutex.addr()), 1, unsafe { unlock(mutex) })
}

/// # Safety
/// The caller keeps the rules of `pthread_cond_timedwait`.
unsafe fn wait_for_condition(
    caller: (&World, Slot),
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return libc::EINVAL };
    os::test_cancel();
    // SAFETY: the caller holds the mutex.
    match unsafe { unlock_mutex(caller, mutex) } {
        0 => {}
        error => return error,
    }
    let woken = caller.0.wait(caller.1, Wait::Condition(condition.addr()), deadline);
    // SAFETY: a mutex, as before.
    let locked = unsafe { lock_mutex(caller, mutex, Some(NEVER)) };
    os::test_cancel();
    match (locked, woken) {
        (0, Woken::TimedOut) => libc::ETIMEDOUT,
        (result, _) => result,
    }
}

interpose! {
    /// Locks a mutex.
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex.
        unsafe { lock_mutex((world, me), mutex, Some(NEVER)) }
    }

    /// Locks a mutex before a deadline.
    fn pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex and a time.
        unsafe { lock_mutex((world, me), mutex, until(clock, time)) }
    }

    /// Tries to lock a mutex. A thread that fails yields: it may try again in a loop.
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int = after |world, me, error| {
        if error == libc::EBUSY {
            world.yield_now(me);
        }
    }

    /// Tries to lock for reading. A thread that fails yields.
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int = after |world, me, error| {
        if error == libc::EBUSY {
            world.yield_now(me);
        }
    }

    /// Tries to lock for writing. A thread that fails yields.
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int = after |world, me, error| {
        if error == libc::EBUSY {
            world.yield_now(me);
        }
    }

    /// Tries to take from a semaphore. A thread that fails yields.
    fn sem_trywait(semaphore: *mut sem_t) -> c_int = after |world, me, result| {
        if result != 0 {
            world.yield_now(me);
            fail(libc::EAGAIN);
        }
    }

    /// Tries to take a lock for which others spin. A thread that fails yields.
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int = after |world, me, error| {
        if error == libc::EBUSY {
            world.yield_now(me);
        }
    }

    /// Unlocks a mutex.
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex.
        unsafe { unlock_mutex((world, me), mutex) }
    }

    /// Creates a condition variable, and notes its clock.
    fn pthread_cond_init(
        condition: *mut pthread_cond_t,
        attributes: *const pthread_condattr_t,
    ) -> c_int = before |_, _| {
        let mut clock = libc::CLOCK_REALTIME;
        if !attributes.is_null() {
            // SAFETY: the caller passes attributes.
            unsafe { libc::pthread_condattr_getclock(attributes, &raw mut clock) };
        }
        if clock == libc::CLOCK_MONOTONIC {
            with_monotonic(|monotonic| monotonic.insert(condition.addr()));
        }
    }

    /// Ends a condition variable.
    fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int = before |_, _| {
        with_monotonic(|monotonic| monotonic.remove(&condition.addr()));
    }

    /// Waits for a condition variable.
    fn pthread_cond_wait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { wait_for_condition((world, me), condition, mutex, Some(NEVER)) }
    }

    /// Waits for a condition variable until a deadline.
    fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        let clock = match with_monotonic(|monotonic| monotonic.contains(&condition.addr())) {
            true => libc::CLOCK_MONOTONIC,
            false => libc::CLOCK_REALTIME,
        };
        // SAFETY: the caller's promise.
        unsafe { wait_for_condition((world, me), condition, mutex, until(clock, time)) }
    }

    /// Waits for a condition variable until a deadline.
    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { wait_for_condition((world, me), condition, mutex, until(clock, time)) }
    }

    /// Wakes a thread that waits for a condition variable.
    fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int = |world, me| {
        world.state().wake(Wait::Condition(condition.addr()), 1);
        world.pass(me);
        0
    }

    /// Wakes all threads that wait for a condition variable.
    fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int = |world, me| {
        world.state().wake(Wait::Condition(condition.addr()), usize::MAX);
        world.pass(me);
        0
    }

    /// Locks for reading.
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock.
        unsafe { take_rwlock((world, me), lock, Some(NEVER), try_read()) }
    }

    /// Locks for writing.
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock.
        unsafe { take_rwlock((world, me), lock, Some(NEVER), try_write()) }
    }

    /// Locks for reading before a deadline.
    fn pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_rwlock((world, me), lock, until(clock, time), try_read()) }
    }

    /// Locks for writing before a deadline.
    fn pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_rwlock((world, me), lock, until(clock, time), try_write()) }
    }

    /// Unlocks a lock that is held for reading or writing.
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me, unlock| {
        // SAFETY: the caller's promise.
        released((world, me), Wait::Lock(lock.addr()), usize::MAX, unsafe { unlock(lock) })
    }

    /// Takes from a semaphore.
    fn sem_wait(semaphore: *mut sem_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a semaphore.
        unsafe { take_semaphore((world, me), semaphore, Some(NEVER)) }
    }

    /// Takes from a semaphore before a deadline.
    fn sem_clockwait(
        semaphore: *mut sem_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a semaphore and a time.
        unsafe { take_semaphore((world, me), semaphore, until(clock, time)) }
    }

    /// Adds to a semaphore.
    fn sem_post(semaphore: *mut sem_t) -> c_int = |world, me, post| {
        // SAFETY: the caller's promise.
        released((world, me), Wait::Semaphore(semaphore.addr()), 1, unsafe { post(semaphore) })
    }

    /// Takes a lock for which others would spin.
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int = |world, me| {
        let attempt = original!(pthread_spin_trylock: fn(*mut pthread_spinlock_t) -> c_int);
        // SAFETY: the caller passes a lock.
        take((world, me), Wait::Lock(lock.addr()), Some(NEVER), || unsafe { attempt(lock) })
    }

    /// Releases a lock for which others would spin.
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int = |world, me, unlock| {
        // SAFETY: the caller's promise.
        released((world, me), Wait::Lock(lock.addr()), 1, unsafe { unlock(lock) })
    }

    /// Waits until as many threads do as the barrier was created for.
    fn pthread_barrier_wait(barrier: *mut Barrier) -> c_int = |world, me| {
        const LAST: c_int = -1; // PTHREAD_BARRIER_SERIAL_THREAD
        let wait = Wait::Lock(barrier.addr());
        // SAFETY: the caller passes a barrier. Threads of the world use it one at a time.
        let barrier = unsafe { &mut *barrier };
        barrier.arrived += 1;
        if barrier.arrived < barrier.count {
            world.wait(me, wait, NEVER);
            return 0;
        }
        barrier.arrived = 0;
        world.state().wake(wait, usize::MAX);
        LAST
    }
}

/// The begin of glibc's `pthread_barrier_t`.
#[repr(C)]
pub(crate) struct Barrier {
    arrived: c_uint,
    round: c_uint,
    count: c_uint,
}

/// A function of libc that tries to take a reader-writer lock.
type Attempt = unsafe extern "C-unwind" fn(*mut pthread_rwlock_t) -> c_int;

fn try_read() -> Attempt {
    original!(pthread_rwlock_tryrdlock: fn(*mut pthread_rwlock_t) -> c_int)
}

fn try_write() -> Attempt {
    original!(pthread_rwlock_trywrlock: fn(*mut pthread_rwlock_t) -> c_int)
}

/// Takes a reader-writer lock by `attempt`, one of the two functions of libc that do not wait.
///
/// # Safety
/// The caller keeps the rules of `pthread_rwlock_rdlock` or `pthread_rwlock_wrlock`.
unsafe fn take_rwlock(
    caller: (&World, Slot),
    lock: *mut pthread_rwlock_t,
    deadline: Option<Nanos>,
    attempt: Attempt,
) -> c_int {
    // SAFETY: the caller's promise.
    take(caller, Wait::Lock(lock.addr()), deadline, || unsafe { attempt(lock) })
}

/// # Safety
/// The caller keeps the rules of `sem_wait`.
unsafe fn take_semaphore(
    caller: (&World, Slot),
    semaphore: *mut sem_t,
    deadline: Option<Nanos>,
) -> c_int {
    let attempt = original!(sem_trywait: fn(*mut sem_t) -> c_int);
    // SAFETY: the caller's promise.
    let attempt = || match unsafe { attempt(semaphore) } {
        0 => 0,
        _ => libc::EBUSY,
    };
    match take(caller, Wait::Semaphore(semaphore.addr()), deadline, attempt) {
        0 => 0,
        error => fail(error),
    }
}
