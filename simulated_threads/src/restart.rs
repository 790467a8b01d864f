//! A new start of the program without a random layout of its address space.
//!
//! Values that depend on addresses, as the order of a map by pointers does, are then the same in
//! every run. The environment is read and passed on without `getenv` and `setenv`, of which a
//! program such as bash has its own; the arguments are those with which the kernel started the
//! process, which has another program if it was started by the loader (`ld.so program`).

use libc::{c_char, c_ulong};
use std::ffi::{CStr, CString};
use std::ptr;

/// The variables by which a program knows that it was started anew, and that fill the environment.
const STARTED: &str = "RINGSPIN_ADDRESSES_ARE_FIXED=";
const EVEN: &str = "RINGSPIN_EVEN=";

/// The size of arguments and environment, which are on the stack of the first thread, and of the
/// pointers to them: so its addresses do not depend on them. One string may have 128 KiB.
const STACK_BYTES: usize = 120 << 10;

/// Starts the program anew without a random layout of its address space, unless it has none; false
/// if the operating system refuses that.
///
/// # Safety
/// `environment` is the one of the program, and no other thread runs.
pub(crate) unsafe fn fix_addresses(environment: *mut *mut c_char) -> bool {
    const FIXED: c_ulong = libc::ADDR_NO_RANDOMIZE as c_ulong;
    let own = format!("{STARTED}{:010}", std::process::id());
    // SAFETY: the caller's promise.
    let is_started = unsafe { take_variable(environment, STARTED) }
        .is_some_and(|value| value.to_bytes().starts_with(own.as_bytes())); // not a parent's
    // SAFETY: the caller's promise.
    unsafe { take_variable(environment, EVEN) };
    // SAFETY: asks for the current setting.
    let current = unsafe { libc::personality(0xffff_ffff) } as c_ulong;
    if is_started {
        return current & FIXED != 0;
    }
    // SAFETY: sets a flag of this process.
    if unsafe { libc::personality(current | FIXED) } == -1 {
        return false;
    }
    let Ok(arguments) = std::fs::read("/proc/self/cmdline") else { return false };
    let arguments: Vec<_> = arguments.split_inclusive(|byte| *byte == 0).map(to_string).collect();
    // SAFETY: the caller's promise.
    let environment = unsafe { variables(environment.cast_const().cast()) };
    let environment = environment.map(CStr::to_owned).collect();
    let environment = filled(&arguments, environment, &own);
    // SAFETY: both lists end with null, and their strings with zero. It returns if it has failed.
    unsafe {
        libc::execve(
            c"/proc/self/exe".as_ptr(),
            list(&arguments).as_ptr(),
            list(&environment).as_ptr(),
        );
    }
    false
}

/// A copy of bytes up to the first zero.
fn to_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("no zero before the end")
}

/// The pointers to strings, with null after the last one.
pub(crate) fn list(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// All variables.
///
/// # Safety
/// `environment` is a list of strings that ends with null, and outlives the iterator.
pub(crate) unsafe fn variables<'a>(
    environment: *const *const c_char,
) -> impl Iterator<Item = &'a CStr> {
    // SAFETY: the caller's promise.
    let all = (0..).map(move |n| unsafe { *environment.add(n) });
    let all = all.take_while(|string| !string.is_null());
    // SAFETY: the caller's promise.
    all.map(|string| unsafe { CStr::from_ptr(string) })
}

/// Removes the variable that begins so; returns it.
///
/// # Safety
/// `environment` is a list of strings that ends with null, and no other thread reads it.
unsafe fn take_variable<'a>(environment: *mut *mut c_char, name: &str) -> Option<&'a CStr> {
    // SAFETY: the caller's promise.
    unsafe {
        let mut place = environment;
        while !(*place).is_null() {
            let variable = CStr::from_ptr(*place);
            if variable.to_bytes().starts_with(name.as_bytes()) {
                while !(*place).is_null() {
                    *place = *place.add(1);
                    place = place.add(1);
                }
                return Some(variable);
            }
            place = place.add(1);
        }
    }
    None
}

/// The environment with the variable `own`, filled up to [`STACK_BYTES`].
fn filled(arguments: &[CString], mut environment: Vec<CString>, own: &str) -> Vec<CString> {
    const POINTER: usize = size_of::<*const c_char>();
    let count = arguments.len() + environment.len() + 1;
    // The operating system aligns the stack to two pointers.
    if count % 2 == 1 {
        environment.push(to_string(EVEN.as_bytes()));
    }
    let bytes = |string: &CString| string.count_bytes() + 1 + POINTER;
    let used: usize = arguments.iter().chain(&environment).map(bytes).sum();
    let padding = STACK_BYTES.saturating_sub(used + own.len() + 1 + POINTER);
    environment.push(to_string(format!("{own}{}", "x".repeat(padding)).as_bytes()));
    environment
}
