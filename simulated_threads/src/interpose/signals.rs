//! Actions and masks of signals.
//!
//! A signal from outside that ends a program ends the run at once and calls no handler, because a
//! handler would run at a time that no other run repeats. The program's actions for such signals
//! are only kept: it reads back the one that it has set. One that a process of the run sends comes
//! in a turn, and calls the handler. Two others are taken by this crate, see `traps`: the
//! program's actions for them are kept here and called when the signal has another cause. No mask
//! blocks these two, since the kernel ends a process that blocks a signal of its own instruction.
//! A signal from one thread of a world to another waits for the turn of the second, which then
//! sends it to itself: its handler never runs beside another thread.

use super::machine::{group_of, process_id};
use super::{clock, descriptors, errno, fail, interpose, traps};
use crate::coordinator::Event;
use crate::family;
use crate::original::original;
use crate::os;
use crate::signal_timers::Signal;
use crate::wait::{NEVER, Wait, Woken};
use libc::{
    c_int, c_void, pid_t, pollfd, pthread_t, sigaction as action, sighandler_t, siginfo_t,
    sigset_t, timespec,
};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The program's action for a signal that ends it.
struct Kept {
    signal: c_int,
    /// Null until the program sets one. Actions are never freed, as those of [`Taken`].
    action: AtomicPtr<action>,
}

/// The signals that end a program.
static ENDS: [Kept; 3] =
    [Kept::new(libc::SIGINT), Kept::new(libc::SIGTERM), Kept::new(libc::SIGHUP)];

impl Kept {
    const fn new(signal: c_int) -> Self {
        Self { signal, action: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Has the kernel call the program's handler, for a signal of another process of the run.
    fn install(&self) {
        let action = self.action.load(Ordering::Acquire);
        if !action.is_null() {
            // SAFETY: an action that is never freed.
            unsafe { set_original(self.signal, action, ptr::null_mut()) };
        }
    }

    /// Keeps an action, and tells the one before.
    ///
    /// # Safety
    /// The caller keeps the rules of `sigaction`.
    unsafe fn exchange(&self, new: Option<action>, old: *mut action) -> c_int {
        // Ordering: AcqRel and Acquire, so that an action is read after it was written.
        let before = match new {
            Some(new) => self.action.swap(Box::into_raw(Box::new(new)), Ordering::AcqRel),
            None => self.action.load(Ordering::Acquire),
        };
        // SAFETY: null, or an action that is never freed; the caller's place for an action.
        unsafe {
            match before.as_ref() {
                None => return set_original(self.signal, ptr::null(), old),
                Some(before) if !old.is_null() => old.write(*before),
                Some(_) => {}
            }
        }
        0
    }
}

/// A handler of a signal, as `sigaction` takes it with `SA_SIGINFO`.
pub(super) type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// A signal that this crate takes, with its handler.
pub(super) struct Taken {
    pub(super) signal: c_int,
    pub(super) handler: Handler,
    /// The program's action; null until the signal is taken. Actions are never freed, because a
    /// handler may be reading one.
    action: AtomicPtr<action>,
}

impl Taken {
    pub(super) const fn new(signal: c_int, handler: Handler) -> Self {
        Self { signal, handler, action: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The program's action, once the signal is taken.
    fn action(&self) -> Option<&'static action> {
        // SAFETY: null, or an action that is never freed.
        unsafe { self.action.load(Ordering::Acquire).as_ref() }
    }

    /// Takes the signal, and keeps the program's action.
    pub(super) fn take(&self) {
        let mut old = MaybeUninit::uninit();
        // SAFETY: a place for the action, which the call fills.
        let old = unsafe {
            set_original(self.signal, ptr::null(), old.as_mut_ptr());
            old.assume_init()
        };
        self.set(old);
    }

    /// Sets the program's action. Mask, stack and repetition of the handler here are those of it.
    fn set(&self, program: action) {
        self.action.store(Box::into_raw(Box::new(program)), Ordering::Release);
        let mut own = allow_traps(program);
        own.sa_sigaction = self.handler as *const () as sighandler_t;
        own.sa_flags = libc::SA_SIGINFO | program.sa_flags & !libc::SA_RESETHAND;
        if self.signal == libc::SIGSYS {
            own.sa_flags |= libc::SA_NODEFER; // its handler may call other ones of the program
        }
        // SAFETY: an action of this crate; the mask is a set.
        unsafe {
            traps::TAKEN.iter().filter(|other| other.signal != self.signal).for_each(|other| {
                libc::sigaddset(&raw mut own.sa_mask, other.signal);
            });
            set_original(self.signal, &raw const own, ptr::null_mut());
        }
    }

    /// Calls the program's handler, or sets the program's action in the kernel.
    ///
    /// # Safety
    /// The caller is the handler of this signal and passes its arguments on.
    pub(super) unsafe fn hand_on(&self, info: *mut siginfo_t, context: *mut c_void) {
        let Some(program) = self.action() else { return };
        if matches!(program.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            // SAFETY: the program's own action. The instruction fails again; a signal that was sent
            // is sent again.
            unsafe {
                set_original(self.signal, program, ptr::null_mut());
                if (*info).si_code <= 0 {
                    os::signal(os::this_thread(), self.signal);
                }
            }
            return;
        }
        if program.sa_flags & libc::SA_RESETHAND != 0 {
            self.set(action { sa_sigaction: libc::SIG_DFL, sa_flags: 0, ..*program });
        }
        // SAFETY: a handler of the program. One with a single argument ignores the others.
        unsafe {
            let handler = std::mem::transmute::<sighandler_t, Handler>(program.sa_sigaction);
            handler(self.signal, info, context);
        }
    }
}

/// The signal about the end of a child, in a process of a run. The kernel's is ignored: it comes in
/// real time, and the coordinator's in the turn after the end.
static CHILD: Taken = Taken::new(libc::SIGCHLD, on_child);

/// How often the program's handler of that signal was called.
static CHILD_CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C-unwind" fn on_child(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments are passed on.
    unsafe {
        if (*info).si_code <= 0 {
            CHILD_CALLS.fetch_add(1, Ordering::Relaxed);
            CHILD.hand_on(info, context);
        }
    }
}

/// The signal that a thread of the process gets for an event of the run, if it gets one.
pub(crate) fn signal_of(event: Event) -> Option<c_int> {
    match event {
        Event::None => None,
        Event::Ended(_) => {
            let handler = CHILD.action().map_or(libc::SIG_DFL, |action| action.sa_sigaction);
            (!matches!(handler, libc::SIG_DFL | libc::SIG_IGN)).then_some(libc::SIGCHLD)
        }
        Event::Signal(signal) => {
            ENDS.iter().filter(|kept| kept.signal == signal).for_each(Kept::install);
            Some(signal)
        }
    }
}

/// # Safety
/// The caller keeps the rules of `sigaction`.
unsafe fn set_original(signal: c_int, new: *const action, old: *mut action) -> c_int {
    let set = original!(sigaction: fn(c_int, *const action, *mut action) -> c_int);
    // SAFETY: the caller's promise.
    unsafe { set(signal, new, old) }
}

/// The action, with a mask that does not block the signals that this crate takes.
fn allow_traps(mut action: action) -> action {
    action.sa_mask = without_traps(action.sa_mask);
    action
}

fn without_traps(mut set: sigset_t) -> sigset_t {
    for taken in &traps::TAKEN {
        // SAFETY: a set, and the number of a signal.
        unsafe { libc::sigdelset(&raw mut set, taken.signal) };
    }
    set
}

interpose! {
    /// Sets the action of a signal, as `sigaction` does.
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t = |_, _| {
        // SAFETY: plain data.
        let [mut new, mut old]: [action; 2] = unsafe { std::mem::zeroed() };
        (new.sa_sigaction, new.sa_flags) = (handler, libc::SA_RESTART);
        // SAFETY: places that live until the call returns.
        match unsafe { sigaction(signal, &raw const new, &raw mut old) } {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }

    /// Sets the action of a signal. Signals that end a program end a run, also if the program
    /// handles them: they come at times that no other run repeats.
    fn sigaction(signal: c_int, new: *const action, old: *mut action) -> c_int = |world, _| {
        // SAFETY: the caller passes an action or null.
        let new = unsafe { new.as_ref() }.copied();
        if let Some(kept) = ENDS.iter().find(|kept| kept.signal == signal) {
            // SAFETY: the caller's promise.
            return unsafe { kept.exchange(new, old) };
        }
        let has_children = signal == libc::SIGCHLD && world.coordinator().is_some();
        if has_children && new.is_some() && CHILD.action().is_none() {
            CHILD.take();
        }
        let taken = traps::TAKEN.iter().chain([&CHILD]).find(|taken| taken.signal == signal);
        if let Some((taken, program)) = taken.and_then(|taken| Some((taken, taken.action()?))) {
            if !old.is_null() {
                // SAFETY: a place for the action, unless it is null.
                unsafe { old.write(*program) };
            }
            new.into_iter().for_each(|new| taken.set(new));
            return 0;
        }
        let new = new.map(allow_traps);
        // SAFETY: the caller's promise.
        unsafe { set_original(signal, new.as_ref().map_or(ptr::null(), ptr::from_ref), old) }
    }

    /// Changes the signals that the thread blocks.
    fn pthread_sigmask(
        how: c_int,
        new: *const sigset_t,
        old: *mut sigset_t,
    ) -> c_int = |_, _, set| {
        // SAFETY: the caller's promise.
        unsafe { set_mask(set, how, new, old) }
    }

    /// Changes the signals that the thread blocks.
    fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int = |_, _, set| {
        // SAFETY: the caller's promise.
        unsafe { set_mask(set, how, new, old) }
    }

    /// Sends a signal to a thread. Its handler runs in the next turn of that thread, and ends a
    /// wait there.
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int = before |world, me| {
        if let Some(slot) = world.with_handle(thread as usize)
            && slot != me
            && os::action_of(signal).1
        {
            world.state().send(slot, Signal::sent(signal));
            world.pass(me);
            return 0;
        }
    } after |world, _, _| {
        if let Some(slot) = world.with_handle(thread as usize) {
            world.state().interrupt(slot); // it may wait for this signal
        }
    }

    /// Sends a signal to a process. The one of its own is for the calling thread, unless that
    /// blocks it.
    fn kill(process: pid_t, signal: c_int) -> c_int = |world, me, kill| {
        let own = process_id(world);
        let mut process = process;
        if let Some(all) = world.coordinator() {
            if process == -1 {
                return fail(libc::EPERM); // processes beyond the run
            }
            if signal != 0 && process <= 0 && (process == 0 || -process == group_of(world, 0)) {
                // Others of the group get it first: it may end this process.
                (all.signal)(world.process(), signal, true);
                world.wait(me, Wait::Sleep, world.now());
                process = own;
            }
            let (to, is_for_group) = (process.saturating_abs(), process < 0);
            if let Some(to) = family::process_of(to).filter(|_| process != own) {
                if signal != 0 {
                    (all.signal)(to, signal, is_for_group);
                }
                return 0;
            }
            ENDS.iter().filter(|kept| kept.signal == signal).for_each(Kept::install);
        }
        let process = if process == own { os::this_process() } else { process };
        if process == os::this_process() && signal > 0 && !os::blocks(signal) {
            os::signal(os::this_thread(), signal);
            return 0;
        }
        // SAFETY: takes numbers.
        unsafe { kill(process, signal) }
    }

    /// Waits for a signal that the thread blocks only before and after. In a run of processes it
    /// may be that of the end of a child.
    fn sigsuspend(mask: *const sigset_t) -> c_int = before |world, me| {
        let has_timer = world.state().signal_timers.next_deadline().is_some();
        if has_timer || world.coordinator().is_some() {
            let (before, calls) = (os::mask(), CHILD_CALLS.load(Ordering::Relaxed));
            // SAFETY: the caller passes a set.
            unsafe { pthread_sigmask(libc::SIG_SETMASK, mask, ptr::null_mut()) };
            while CHILD_CALLS.load(Ordering::Relaxed) == calls
                && !matches!(world.wait(me, Wait::Process, NEVER), Woken::Interrupted { .. })
            {}
            // SAFETY: a set.
            unsafe { pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
            return fail(libc::EINTR);
        }
    }

    /// Waits for a signal.
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int = |_, _| {
        let error = loop {
            // SAFETY: the caller's promise.
            match unsafe { sigtimedwait(set, ptr::null_mut(), ptr::null()) } {
                // SAFETY: the caller passes a place for the signal.
                taken @ 1.. => unsafe {
                    signal.write(taken);
                    break 0;
                },
                _ if errno() == libc::EINTR => {}
                _ => break errno(),
            }
        };
        error
    }

    /// Waits for a signal until a timeout. A descriptor shows the signals of the process; the
    /// threads of the world end the wait when they send one to the thread.
    fn sigtimedwait(
        set: *const sigset_t,
        info: *mut siginfo_t,
        time: *const timespec,
    ) -> c_int = |world, me, take| {
        // SAFETY: the caller passes a duration or null.
        let deadline = unsafe { clock::deadline_after(world, time) };
        let Some(deadline) = deadline else { return fail(libc::EINVAL) };
        let now = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the caller's promise; the descriptor is new.
        let signals = unsafe {
            match libc::signalfd(-1, set, libc::SFD_CLOEXEC) {
                -1 => return -1,
                descriptor => OwnedFd::from_raw_fd(descriptor),
            }
        };
        loop {
            // SAFETY: the caller's promise.
            let taken = unsafe { take(set, info, &raw const now) };
            if taken > 0 || errno() != libc::EAGAIN {
                break taken;
            }
            if deadline <= world.now() {
                break fail(libc::EAGAIN);
            }
            let asked = pollfd { fd: signals.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            if let Woken::Interrupted { .. } = descriptors::wait(world, me, vec![asked], deadline) {
                break fail(libc::EINTR);
            }
        }
    }
}

/// Calls `set`, a function that changes the mask of the thread.
///
/// # Safety
/// The caller keeps the rules of the function.
unsafe fn set_mask(
    set: unsafe extern "C-unwind" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int,
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    // SAFETY: the caller passes a set or null.
    let changed = unsafe { new.as_ref() }.copied();
    let changed =
        changed.map(|new| if how == libc::SIG_UNBLOCK { new } else { without_traps(new) });
    // SAFETY: the caller's promise.
    unsafe { set(how, changed.as_ref().map_or(ptr::null(), ptr::from_ref), old) }
}
