//! Instructions that read the processor's counter of cycles, or call the kernel, without libc.
//!
//! The kernel can send a thread SIGSEGV instead of an execution of `rdtsc` and `rdtscp`. Its
//! handler steps over the instruction and sends the thread SIGSYS, the handler of which puts the
//! time of the world into the registers, in nanoseconds. Two signals, because reading a clock can
//! give the turn away, and that needs the thread's own stack: a handler of SIGSEGV runs on another
//! one, so that it can report an overflow, and that has a few KiB. A thread outside of worlds reads
//! the counter. Child processes inherit the setting without the handlers, so a thread that creates
//! one allows the instructions meanwhile.
//!
//! For a system call from outside of libc, which is told by its address, the kernel sends SIGSYS
//! as well, and its handler makes the call: see `calls`. Those of the loader are passed on. Child
//! processes and new threads do not inherit that.

use super::signals::Taken;
use crate::{binary, os};
use libc::{c_int, c_void, siginfo_t};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

/// The signals that this crate takes.
pub(super) static TAKEN: [Taken; 2] =
    [Taken::new(libc::SIGSEGV, on_fault), Taken::new(libc::SIGSYS, on_call)];

/// Whether the kernel catches readings of the counter.
static ARE_CAUGHT: AtomicBool = AtomicBool::new(false);

/// The addresses of libc and of the loader, if the kernel catches system calls from elsewhere.
static CALLS: OnceLock<[Range<u64>; 2]> = OnceLock::new();

thread_local! {
    /// Whether the thread is in an instruction that reads the counter.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a world sees that a program reads the counter.
pub(crate) fn are_caught() -> bool {
    ARE_CAUGHT.load(Ordering::Relaxed)
}

/// Whether a world sees that a program makes system calls by itself.
pub(crate) fn calls_are_caught() -> bool {
    CALLS.get().is_some()
}

/// From now on a world sees readings of the counter and system calls by instructions of the calling
/// thread, as far as the kernel can catch them.
pub(crate) fn catch() {
    static TAKE: Once = Once::new();
    TAKE.call_once(|| {
        if !cfg!(target_arch = "x86_64") {
            return;
        }
        TAKEN.iter().for_each(Taken::take);
        ARE_CAUGHT.store(os::allow_counter(false), Ordering::Relaxed);
        let range_of = |address: usize| binary::range_of(address as u64);
        let libc = range_of(libc::gnu_get_libc_version as *const () as usize);
        let loader = range_of(os::loader() as usize);
        // A program that has libc in itself is not told apart from it.
        let own = range_of(catch as *const () as usize);
        if let (Some(libc), Some(loader)) = (libc.filter(|libc| Some(libc) != own.as_ref()), loader)
            && os::catch_calls(&libc)
        {
            os::hide_kernel_functions();
            let _ = CALLS.set([libc, loader]);
        }
    });
    if are_caught() {
        os::allow_counter(false);
    }
    if let Some([libc, _]) = CALLS.get() {
        os::catch_calls(libc);
    }
}

/// From now on the calling thread reads the counter itself.
pub(crate) fn release() {
    if are_caught() {
        os::allow_counter(true);
    }
}

#[cfg(target_arch = "x86_64")]
mod instructions {
    use super::super::{calls, clock};
    use super::*;
    use crate::current::{Inside, current};
    use libc::{REG_R8, REG_R9, REG_R10, REG_RAX, REG_RCX, REG_RDI, REG_RDX, REG_RIP, REG_RSI};

    /// The length of the instruction at this address, if it reads the counter.
    ///
    /// # Safety
    /// The processor has read an instruction there.
    unsafe fn length(instruction: *const u8) -> Option<i64> {
        // SAFETY: the caller's promise; no instruction that begins so is shorter.
        match unsafe { [*instruction, *instruction.add(1)] } {
            [0x0f, 0x31] => Some(2), // rdtsc
            // SAFETY: as before.
            [0x0f, 0x01] if unsafe { *instruction.add(2) } == 0xf9 => Some(3), // rdtscp
            _ => None,
        }
    }

    /// Steps over an instruction that reads the counter; false if another one has failed.
    ///
    /// # Safety
    /// The arguments are those of a handler.
    pub(super) unsafe fn step(info: *const siginfo_t, context: *mut c_void) -> bool {
        const SI_KERNEL: c_int = 0x80;
        // SAFETY: the caller's promise.
        let (code, registers) = unsafe { ((*info).si_code, registers(context)) };
        if code != SI_KERNEL {
            return false;
        }
        let instruction = std::ptr::with_exposed_provenance(registers[REG_RIP as usize] as usize);
        // SAFETY: with this code, an instruction was read and refused.
        let Some(length) = (unsafe { length(instruction) }) else { return false };
        registers[REG_RIP as usize] += length;
        if length == 3 {
            registers[REG_RCX as usize] = 0; // the number of the processor
        }
        true
    }

    /// Completes the instruction.
    ///
    /// # Safety
    /// The context is that of a handler.
    pub(super) unsafe fn complete(context: *mut c_void) {
        let _inside = Inside::enter();
        let cycles = current().map_or_else(read, |(world, me)| clock::read_cycles(world, me));
        // SAFETY: the caller's promise.
        let registers = unsafe { registers(context) };
        registers[REG_RAX as usize] = (cycles & 0xffff_ffff) as i64;
        registers[REG_RDX as usize] = (cycles >> 32) as i64;
    }

    /// Makes a system call of the program.
    ///
    /// # Safety
    /// The context is that of a handler for a system call.
    pub(super) unsafe fn make_call(context: *mut c_void) {
        let names = [REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9];
        // SAFETY: the caller's promise.
        let registers = unsafe { registers(context) };
        let (number, arguments) =
            (registers[REG_RAX as usize], names.map(|name| registers[name as usize]));
        let address = registers[REG_RIP as usize] as u64;
        let is_loader = CALLS.get().is_some_and(|[_, loader]| loader.contains(&address));
        // SAFETY: a system call of the program.
        registers[REG_RAX as usize] = unsafe {
            match is_loader || current().is_none() {
                true => os::syscall(number, arguments),
                false => calls::call(number, arguments),
            }
        };
        if number == libc::SYS_rt_sigprocmask {
            // The end of the handler sets the mask.
            // SAFETY: the caller's promise.
            unsafe { (*context.cast::<libc::ucontext_t>()).uc_sigmask = os::mask() };
        }
    }

    /// Reads the counter.
    fn read() -> u64 {
        os::allow_counter(true);
        // SAFETY: the thread may execute it now.
        let cycles = unsafe { std::arch::x86_64::_rdtsc() };
        os::allow_counter(false);
        cycles
    }

    /// # Safety
    /// The context is that of a handler, which uses the registers through this reference alone.
    unsafe fn registers<'a>(context: *mut c_void) -> &'a mut [i64; 23] {
        // SAFETY: the caller's promise.
        unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod instructions {
    use super::*;

    pub(super) unsafe fn step(_: *const siginfo_t, _: *mut c_void) -> bool {
        false
    }

    pub(super) unsafe fn complete(_: *mut c_void) {}

    pub(super) unsafe fn make_call(_: *mut c_void) {}
}

/// Is called for an instruction that failed.
unsafe extern "C-unwind" fn on_fault(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments are passed on.
    unsafe {
        match instructions::step(info, context) {
            true => {
                READS.set(true);
                os::signal(os::this_thread(), libc::SIGSYS); // comes when this handler returns
            }
            false => TAKEN[0].hand_on(info, context),
        }
    }
}

/// Is called on the thread's own stack, after the instruction.
unsafe extern "C-unwind" fn on_call(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    const SYS_USER_DISPATCH: c_int = 2;
    // SAFETY: the kernel's arguments are passed on.
    unsafe {
        match (READS.take(), (*info).si_code) {
            (true, _) => instructions::complete(context),
            (false, SYS_USER_DISPATCH) => instructions::make_call(context),
            (false, _) => TAKEN[1].hand_on(info, context),
        }
    }
}
