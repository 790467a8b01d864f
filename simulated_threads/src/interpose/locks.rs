//! Mutexes, condition variables, reader-writer locks and semaphores of glibc: those of C and C++
//! code.
//!
//! Each lock stays libc's. A thread that does not get it waits in the world until it is released.

use super::clock::until;
use super::{fail, interpose};
use crate::original::original;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::world::World;
use libc::{
    c_int, c_uint, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t,
    pthread_rwlock_t, pthread_spinlock_t, sem_t, timespec,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Condition variables whose deadlines are those of the monotonic clock.
static MONOTONIC: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn with_monotonic<R>(with: impl FnOnce(&mut BTreeSet<usize>) -> R) -> R {
    // No thread waits here: a world's threads hold it only while they run.
    with(&mut MONOTONIC.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Takes a lock of libc as soon as `attempt` does not fail because another thread holds it.
fn take(
    world: &World,
    me: Slot,
    lock: usize,
    deadline: Nanos,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let mut lost = 0;
    loop {
        match attempt() {
            libc::EBUSY | libc::ETIMEDOUT => {}
            done => return done,
        }
        world.set_lost_locks(me, lost);
        lost += 1;
        if world.wait(me, Wait::Lock(lock), deadline) == Woken::TimedOut {
            return libc::ETIMEDOUT;
        }
    }
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
    world: &World,
    me: Slot,
    mutex: *mut pthread_mutex_t,
    deadline: Nanos,
) -> c_int {
    world.pass(me);
    // SAFETY: the caller's promise.
    take(world, me, mutex.addr(), deadline, || unsafe { try_mutex(mutex) })
}

/// # Safety
/// The caller keeps the rules of `pthread_mutex_unlock`.
unsafe fn unlock_mutex(world: &World, me: Slot, mutex: *mut pthread_mutex_t) -> c_int {
    let unlock = original!(pthread_mutex_unlock: fn(*mut pthread_mutex_t) -> c_int);
    // SAFETY: the caller's promise.
    let result = unsafe { unlock(mutex) };
    world.release(me, Wait::Lock(mutex.addr()), 1, 0);
    result
}

/// # Safety
/// The caller keeps the rules of `pthread_cond_timedwait`.
unsafe fn wait_for_condition(
    world: &World,
    me: Slot,
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Nanos,
) -> c_int {
    // SAFETY: the caller holds the mutex.
    match unsafe { unlock_mutex(world, me, mutex) } {
        0 => {}
        error => return error,
    }
    let woken = world.wait(me, Wait::Condition(condition.addr()), deadline);
    // SAFETY: a mutex, as before.
    match (unsafe { lock_mutex(world, me, mutex, NEVER) }, woken) {
        (0, Woken::TimedOut) => libc::ETIMEDOUT,
        (result, _) => result,
    }
}

interpose! {
    /// Locks a mutex.
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex.
        unsafe { lock_mutex(world, me, mutex, NEVER) }
    }

    /// Locks a mutex before a deadline.
    fn pthread_mutex_timedlock(
        mutex: *mut pthread_mutex_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex and a time.
        unsafe {
            match until(libc::CLOCK_REALTIME, time) {
                Some(deadline) => lock_mutex(world, me, mutex, deadline),
                None => libc::EINVAL,
            }
        }
    }

    /// Locks a mutex before a deadline.
    fn pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex and a time.
        unsafe {
            match until(clock, time) {
                Some(deadline) => lock_mutex(world, me, mutex, deadline),
                None => libc::EINVAL,
            }
        }
    }

    /// Unlocks a mutex.
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a mutex.
        unsafe { unlock_mutex(world, me, mutex) }
    }

    /// Creates a condition variable, and notes its clock.
    fn pthread_cond_init(
        condition: *mut pthread_cond_t,
        attributes: *const pthread_condattr_t,
    ) -> c_int = |_, _| {
        let mut clock = libc::CLOCK_REALTIME;
        if !attributes.is_null() {
            // SAFETY: the caller passes attributes.
            unsafe { libc::pthread_condattr_getclock(attributes, &raw mut clock) };
        }
        if clock == libc::CLOCK_MONOTONIC {
            with_monotonic(|monotonic| monotonic.insert(condition.addr()));
        }
        let init = original!(
            pthread_cond_init: fn(*mut pthread_cond_t, *const pthread_condattr_t) -> c_int
        );
        // SAFETY: the caller's promise.
        unsafe { init(condition, attributes) }
    }

    /// Ends a condition variable.
    fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int = |_, _| {
        with_monotonic(|monotonic| monotonic.remove(&condition.addr()));
        let destroy = original!(pthread_cond_destroy: fn(*mut pthread_cond_t) -> c_int);
        // SAFETY: the caller's promise.
        unsafe { destroy(condition) }
    }

    /// Waits for a condition variable.
    fn pthread_cond_wait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { wait_for_condition(world, me, condition, mutex, NEVER) }
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
        unsafe {
            match until(clock, time) {
                Some(deadline) => wait_for_condition(world, me, condition, mutex, deadline),
                None => libc::EINVAL,
            }
        }
    }

    /// Waits for a condition variable until a deadline.
    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe {
            match until(clock, time) {
                Some(deadline) => wait_for_condition(world, me, condition, mutex, deadline),
                None => libc::EINVAL,
            }
        }
    }

    /// Wakes a thread that waits for a condition variable.
    fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int = |world, me| {
        world.wake(Wait::Condition(condition.addr()), 1);
        world.pass(me);
        0
    }

    /// Wakes all threads that wait for a condition variable.
    fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int = |world, me| {
        world.wake(Wait::Condition(condition.addr()), usize::MAX);
        world.pass(me);
        0
    }

    /// Locks for reading.
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock.
        unsafe { take_reading((world, me), lock, Some(NEVER)) }
    }

    /// Locks for writing.
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock.
        unsafe { take_writing((world, me), lock, Some(NEVER)) }
    }

    /// Locks for reading before a deadline.
    fn pthread_rwlock_timedrdlock(
        lock: *mut pthread_rwlock_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_reading((world, me), lock, until(libc::CLOCK_REALTIME, time)) }
    }

    /// Locks for reading before a deadline.
    fn pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_reading((world, me), lock, until(clock, time)) }
    }

    /// Locks for writing before a deadline.
    fn pthread_rwlock_timedwrlock(
        lock: *mut pthread_rwlock_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_writing((world, me), lock, until(libc::CLOCK_REALTIME, time)) }
    }

    /// Locks for writing before a deadline.
    fn pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock and a time.
        unsafe { take_writing((world, me), lock, until(clock, time)) }
    }

    /// Unlocks what was locked for reading or writing.
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int = |world, me| {
        let unlock = original!(pthread_rwlock_unlock: fn(*mut pthread_rwlock_t) -> c_int);
        // SAFETY: the caller's promise.
        let result = unsafe { unlock(lock) };
        world.release(me, Wait::Lock(lock.addr()), usize::MAX, 0);
        result
    }

    /// Takes from a semaphore.
    fn sem_wait(semaphore: *mut sem_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a semaphore.
        unsafe { take_semaphore(world, me, semaphore, NEVER) }
    }

    /// Takes from a semaphore before a deadline.
    fn sem_timedwait(semaphore: *mut sem_t, time: *const timespec) -> c_int = |world, me| {
        // SAFETY: the caller passes a semaphore and a time.
        unsafe {
            match until(libc::CLOCK_REALTIME, time) {
                Some(deadline) => take_semaphore(world, me, semaphore, deadline),
                None => fail(libc::EINVAL),
            }
        }
    }

    /// Takes from a semaphore before a deadline.
    fn sem_clockwait(
        semaphore: *mut sem_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a semaphore and a time.
        unsafe {
            match until(clock, time) {
                Some(deadline) => take_semaphore(world, me, semaphore, deadline),
                None => fail(libc::EINVAL),
            }
        }
    }

    /// Adds to a semaphore.
    fn sem_post(semaphore: *mut sem_t) -> c_int = |world, me| {
        let post = original!(sem_post: fn(*mut sem_t) -> c_int);
        // SAFETY: the caller's promise.
        let result = unsafe { post(semaphore) };
        world.release(me, Wait::Lock(semaphore.addr()), 1, 0);
        result
    }

    /// Takes a lock for which others would spin.
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int = |world, me| {
        // SAFETY: the caller passes a lock.
        take(world, me, lock.addr(), NEVER, || unsafe { libc::pthread_spin_trylock(lock) })
    }

    /// Releases a lock for which others would spin.
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int = |world, me| {
        let unlock = original!(pthread_spin_unlock: fn(*mut pthread_spinlock_t) -> c_int);
        // SAFETY: the caller's promise.
        let result = unsafe { unlock(lock) };
        world.release(me, Wait::Lock(lock.addr()), 1, 0);
        result
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
        world.wake(wait, usize::MAX);
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

/// # Safety
/// The caller keeps the rules of `pthread_rwlock_rdlock`.
unsafe fn take_reading(
    (world, me): (&World, Slot),
    lock: *mut pthread_rwlock_t,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return libc::EINVAL };
    // SAFETY: the caller's promise.
    take(world, me, lock.addr(), deadline, || unsafe { libc::pthread_rwlock_tryrdlock(lock) })
}

/// # Safety
/// The caller keeps the rules of `pthread_rwlock_wrlock`.
unsafe fn take_writing(
    (world, me): (&World, Slot),
    lock: *mut pthread_rwlock_t,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return libc::EINVAL };
    // SAFETY: the caller's promise.
    take(world, me, lock.addr(), deadline, || unsafe { libc::pthread_rwlock_trywrlock(lock) })
}

/// # Safety
/// The caller keeps the rules of `sem_wait`.
unsafe fn take_semaphore(world: &World, me: Slot, semaphore: *mut sem_t, deadline: Nanos) -> c_int {
    // SAFETY: the caller's promise.
    let attempt = || match unsafe { libc::sem_trywait(semaphore) } {
        0 => 0,
        _ => libc::EBUSY,
    };
    match take(world, me, semaphore.addr(), deadline, attempt) {
        0 => 0,
        error => fail(error),
    }
}
