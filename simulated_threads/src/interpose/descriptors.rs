//! Waiting for descriptors, and timers that are descriptors.
//!
//! A thread that would wait first asks the operating system, without waiting, whether a descriptor
//! is ready. If none is, it notes its descriptors in the world and gives its turn away; the world
//! asks for all such threads again when no thread is ready, and now and then else. So no thread
//! waits in the kernel while it has the turn, which would stop the world. Timers are eventfds that
//! the world writes to when simulated time reaches their deadline: epoll, poll and read then work
//! on them without a special case.

use super::clock::{self, deadline_after};
use super::{fail, file_locks, interpose, nanos, sockets, to_timespec, unix_sockets};
use crate::coordinator;
use crate::descriptors::{add_own, is_own};
use crate::original::original;
use crate::os;
use crate::output;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::world::World;
use libc::{
    c_int, c_short, c_uint, clockid_t, epoll_event, fd_set, itimerspec, nfds_t, pollfd, sigset_t,
    timespec, timeval,
};

/// Waits until a descriptor is ready, the deadline is reached, or a signal comes. It may end
/// earlier.
pub(super) fn wait(world: &World, me: Slot, descriptors: Vec<pollfd>, deadline: Nanos) -> Woken {
    let number = world.number(me);
    world.with_descriptors(|all, _| all.wait(number, descriptors));
    let woken = world.wait(me, Wait::Descriptors, deadline);
    world.with_descriptors(|all, _| all.end_wait(number));
    woken
}

/// A deadline in milliseconds, where less than zero is none.
fn deadline(world: &World, millis: c_int) -> Option<Nanos> {
    let deadline = |millis| world.now().saturating_add(millis * 1_000_000);
    Some(u64::try_from(millis).map_or(NEVER, deadline))
}

/// Takes the events of an epoll descriptor, and waits for them if there are none.
///
/// # Safety
/// The caller keeps the rules of `epoll_wait`.
unsafe fn take_events(
    (world, me): (&World, Slot),
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return fail(libc::EINVAL) };
    let take = original!(epoll_wait: fn(c_int, *mut epoll_event, c_int, c_int) -> c_int);
    loop {
        // SAFETY: the caller's promise.
        let taken = unsafe { take(epoll, events, max, 0) };
        if taken == 0 && deadline <= world.now() {
            world.pause(me); // the thread may ask again in a loop
        }
        if taken != 0 || deadline <= world.now() {
            return taken;
        }
        let asked = vec![pollfd { fd: epoll, events: libc::POLLIN, revents: 0 }];
        if let Woken::Interrupted { .. } = wait(world, me, asked, deadline) {
            return fail(libc::EINTR);
        }
    }
}

/// Asks for the state of descriptors, and waits until one is ready.
///
/// # Safety
/// The caller keeps the rules of `poll`.
unsafe fn ask(
    (world, me): (&World, Slot),
    descriptors: *mut pollfd,
    count: nfds_t,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return fail(libc::EINVAL) };
    let asked = match count {
        0 => &mut [],
        // SAFETY: the caller passes as many descriptors.
        _ => unsafe { std::slice::from_raw_parts_mut(descriptors, count as usize) },
    };
    loop {
        let ready = os::poll(asked);
        let is_for_events = asked.iter().any(|descriptor| descriptor.events != 0);
        if ready == 0 && deadline <= world.now() && is_for_events {
            world.pause(me); // the thread may ask again in a loop
        }
        if ready != 0 || deadline <= world.now() {
            return ready;
        }
        if let Woken::Interrupted { .. } = wait(world, me, asked.to_vec(), deadline) {
            return fail(libc::EINTR);
        }
    }
}

/// The events that the sets of `select` stand for.
const SETS: [c_short; 3] =
    [libc::POLLIN | libc::POLLHUP | libc::POLLERR, libc::POLLOUT, libc::POLLPRI];

/// Waits for descriptors of sets, as `select` does.
///
/// # Safety
/// Each set is one, or null.
unsafe fn choose(
    caller: (&World, Slot),
    count: c_int,
    sets: [*mut fd_set; 3],
    deadline: Option<Nanos>,
) -> c_int {
    if deadline.is_none() || !(0..=1024).contains(&count) {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller's promise, and the descriptor is one of those in sets.
    let is_in = |set: *mut fd_set, fd| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
    let asked = (0..count).map(|fd| {
        let events = sets.iter().zip(SETS).filter(|(set, _)| is_in(**set, fd));
        pollfd { fd, events: events.fold(0, |all, (_, events)| all | events), revents: 0 }
    });
    let mut asked: Vec<_> = asked.filter(|descriptor| descriptor.events != 0).collect();
    // SAFETY: as many descriptors as the vector has.
    if unsafe { ask(caller, asked.as_mut_ptr(), asked.len() as nfds_t, deadline) } < 0 {
        return -1;
    }
    if asked.iter().any(|descriptor| descriptor.revents & libc::POLLNVAL != 0) {
        return fail(libc::EBADF);
    }
    let mut ready = 0;
    for (set, events) in sets.into_iter().zip(SETS) {
        for descriptor in asked.iter().filter(|descriptor| is_in(set, descriptor.fd)) {
            match descriptor.revents & (events | libc::POLLERR) {
                // SAFETY: the descriptor is in this set.
                0 => unsafe { libc::FD_CLR(descriptor.fd, set) },
                _ => ready += 1,
            }
        }
    }
    ready
}

/// A range of descriptors is closed.
pub(super) fn forget(world: &World, first: c_uint, last: c_uint) {
    let all = (first..=last.min(crate::descriptors::COUNT)).map(|number| number as c_int);
    for descriptor in all.filter(|descriptor| is_own(*descriptor)) {
        world.with_descriptors(|all, _| all.close(descriptor));
    }
}

interpose! {
    /// Waits for events of descriptors; no signal comes meanwhile.
    fn epoll_pwait(
        epoll: c_int,
        events: *mut epoll_event,
        max: c_int,
        millis: c_int,
        signals: *const sigset_t,
    ) -> c_int = |world, me| {
        let deadline = deadline(world, millis);
        // SAFETY: the caller's promise.
        unsafe { take_events((world, me), epoll, events, max, deadline) }
    }

    /// Waits for events of descriptors; no signal comes meanwhile.
    fn epoll_pwait2(
        epoll: c_int,
        events: *mut epoll_event,
        max: c_int,
        timeout: *const timespec,
        signals: *const sigset_t,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { take_events((world, me), epoll, events, max, deadline_after(world, timeout)) }
    }

    /// Waits for descriptors.
    fn poll(descriptors: *mut pollfd, count: nfds_t, millis: c_int) -> c_int = |world, me| {
        let deadline = deadline(world, millis);
        // SAFETY: the caller's promise.
        unsafe { ask((world, me), descriptors, count, deadline) }
    }

    /// Waits for descriptors; no signal comes meanwhile.
    fn ppoll(
        descriptors: *mut pollfd,
        count: nfds_t,
        timeout: *const timespec,
        signals: *const sigset_t,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { ask((world, me), descriptors, count, deadline_after(world, timeout)) }
    }

    /// Waits for descriptors.
    fn select(
        count: c_int,
        read: *mut fd_set,
        write: *mut fd_set,
        special: *mut fd_set,
        timeout: *mut timeval,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a duration or null.
        let deadline = match unsafe { timeout.as_ref() } {
            None => Some(NEVER),
            Some(time) => {
                let duration =
                    timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec.saturating_mul(1000) };
                clock::after(world.now(), duration)
            }
        };
        // SAFETY: the caller passes sets or null.
        unsafe { choose((world, me), count, [read, write, special], deadline) }
    }

    /// Waits for descriptors; no signal comes meanwhile.
    fn pselect(
        count: c_int,
        read: *mut fd_set,
        write: *mut fd_set,
        special: *mut fd_set,
        timeout: *const timespec,
        signals: *const sigset_t,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a duration or null.
        let deadline = unsafe { deadline_after(world, timeout) };
        // SAFETY: the caller passes sets or null.
        unsafe { choose((world, me), count, [read, write, special], deadline) }
    }

    /// Creates an eventfd.
    fn eventfd(count: c_uint, flags: c_int) -> c_int = after |_, _, descriptor| {
        add_own(descriptor);
    }

    /// Creates a timer of the world that is a descriptor.
    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int = |world, _| {
        let mut own = 0;
        for (timer, eventfd) in
            [(libc::TFD_NONBLOCK, libc::EFD_NONBLOCK), (libc::TFD_CLOEXEC, libc::EFD_CLOEXEC)]
        {
            own |= if flags & timer == 0 { 0 } else { eventfd };
        }
        // SAFETY: takes numbers.
        let descriptor = unsafe { eventfd(0, own) };
        if descriptor >= 0 {
            let is_real = clock == libc::CLOCK_REALTIME;
            world.with_descriptors(|all, _| all.add_timer(descriptor, is_real));
        }
        descriptor
    }

    /// Sets a timer.
    fn timerfd_settime(
        descriptor: c_int,
        flags: c_int,
        new: *const itimerspec,
        old: *mut itimerspec,
    ) -> c_int = |world, _| {
        // SAFETY: the caller passes a setting.
        let new = unsafe { *new };
        let (Some(value), Some(interval)) = (nanos(new.it_value), nanos(new.it_interval)) else {
            return fail(libc::EINVAL);
        };
        let set = world.with_descriptors(|all, now| {
            let timer = all.timer(descriptor)?;
            let before = (timer.deadline, timer.interval);
            timer.interval = interval;
            timer.deadline = match (value, flags & libc::TFD_TIMER_ABSTIME) {
                (0, _) => NEVER,
                (_, 0) => now.saturating_add(value),
                (_, _) if timer.is_real => clock::to_world(libc::CLOCK_REALTIME, value),
                (_, _) => clock::to_world(libc::CLOCK_MONOTONIC, value),
            };
            Some((before, now))
        });
        let Some(((deadline, interval), now)) = set else { return fail(libc::EBADF) };
        if !old.is_null() {
            // SAFETY: a place for the setting, unless it is null.
            unsafe { old.write(setting(deadline, interval, now)) };
        }
        0
    }

    /// Tells when a timer expires.
    fn timerfd_gettime(descriptor: c_int, setting_of: *mut itimerspec) -> c_int = |world, _| {
        let set = world.with_descriptors(|all, now| {
            let timer = all.timer(descriptor)?;
            Some(setting(timer.deadline, timer.interval, now))
        });
        let Some(set) = set else { return fail(libc::EBADF) };
        // SAFETY: a place for the setting.
        unsafe { setting_of.write(set) };
        0
    }

    /// Closes a descriptor, and thereby gives up a lock of its file.
    fn close(descriptor: c_int) -> c_int = before |world, _| {
        if coordinator::descriptors().contains(&descriptor) && descriptor >= 0 {
            return 0;
        }
        if is_own(descriptor) {
            world.with_descriptors(|all, _| all.close(descriptor));
        }
    } after |world, _, _| {
        file_locks::changed(world);
    }

    /// Creates a socket of the loopback interface. Others are refused unless they are allowed: data
    /// arrives there at times that no other run repeats.
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int = before |world, me| {
        if !world.settings.allows_sockets {
            if let Some(descriptor) = sockets::create((world, me), [domain, kind, protocol]) {
                return descriptor;
            }
            if let Some(descriptor) = unix_sockets::create(domain, kind, protocol) {
                return descriptor;
            }
            output::refuse(
                &format!("a socket (domain {domain})"),
                "data arrives there at times that no other run repeats",
                "allow that with RINGSPIN_SOCKETS=allow",
            );
            return fail(libc::EACCES);
        }
        world.sockets.add(1);
    }
}

fn setting(deadline: Nanos, interval: Nanos, now: Nanos) -> itimerspec {
    let left = if deadline == NEVER { 0 } else { deadline.saturating_sub(now).max(1) };
    itimerspec { it_value: to_timespec(left), it_interval: to_timespec(interval) }
}
