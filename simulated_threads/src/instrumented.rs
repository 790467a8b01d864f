//! Switch points at atomic operations, in a program that the compiler instruments for them.
//!
//! With `-Cpasses=tsan` LLVM replaces each atomic operation by a call of a function that
//! ThreadSanitizer's library defines; here they are points at which a thread can lose its turn,
//! before and after the operation: what follows it may be code of the standard library, which was
//! compiled without calls. Threads share other memory than atomics only in the order that those
//! give, so that nothing is missed between them where a program has no data race. All operations
//! are sequentially consistent, whatever their order says. This crate is instrumented as well:
//! [`Inside`] keeps its own operations from being switch points, and the functions contain no
//! atomic operation of Rust, which would be a call of themselves.

use crate::current::{Inside, current, is_inside};
use std::arch::asm;

/// The calling thread may lose its turn, if its world is explored.
#[inline]
fn pass() {
    if let Some((world, me)) = current()
        && !is_inside()
    {
        let _inside = Inside::enter();
        world.pass(me);
    }
}

macro_rules! define {
    ($type:ty, $x86:literal, $suffix:literal, $arm:literal, $load:ident, $store:ident,
     $exchange:ident, $compare_exchange:ident, [$($fetch:ident = $change:expr),*]) => {
        const _: () = {
            /// Loads a value.
            ///
            /// # Safety
            /// `place` can be read.
            unsafe fn load(place: *const $type) -> $type {
                let value: u64;
                // SAFETY: a load from a place that the caller can read.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    asm!(concat!("mov {value:", $x86, "}, [{place}]"),
                        value = out(reg) value, place = in(reg) place);
                    #[cfg(target_arch = "aarch64")]
                    asm!(concat!("ldar", $suffix, " {value:", $arm, "}, [{place}]"),
                        value = out(reg) value, place = in(reg) place);
                }
                value as $type
            }

            /// Writes `new` if the value is `expected`; returns the value before.
            ///
            /// # Safety
            /// `place` can be written.
            unsafe fn replace(place: *mut $type, expected: $type, new: $type) -> $type {
                let mut old = u64::from(expected);
                // SAFETY: an atomic operation on a place that the caller can write.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    asm!(concat!("lock cmpxchg [{place}], {new:", $x86, "}"),
                        inout("rax") old, new = in(reg) u64::from(new), place = in(reg) place);
                    #[cfg(target_arch = "aarch64")]
                    asm!(
                        concat!("2: ldaxr", $suffix, " {old:", $arm, "}, [{place}]"),
                        concat!("cmp {old:", $arm, "}, {expected:", $arm, "}"),
                        "b.ne 3f",
                        concat!("stlxr", $suffix, " {failed:w}, {new:", $arm, "}, [{place}]"),
                        "cbnz {failed:w}, 2b",
                        "3: dmb ish",
                        old = out(reg) old, expected = in(reg) old, new = in(reg) u64::from(new),
                        failed = out(reg) _, place = in(reg) place);
                }
                old as $type
            }

            /// Changes the value between two switch points; returns the value before.
            ///
            /// # Safety
            /// `place` can be written.
            unsafe fn change(place: *mut $type, change: impl Fn($type) -> $type) -> $type {
                pass();
                // SAFETY: the caller's promise.
                let mut old = unsafe { load(place) };
                loop {
                    // SAFETY: the caller's promise.
                    let found = unsafe { replace(place, old, change(old)) };
                    if found == old {
                        break;
                    }
                    old = found;
                }
                pass();
                old
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $load(place: *const $type, _: i32) -> $type {
                pass();
                // SAFETY: the compiler passes the place of an atomic.
                let value = unsafe { load(place) };
                pass();
                value
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $store(place: *mut $type, value: $type, _: i32) {
                // SAFETY: the compiler passes the place of an atomic.
                unsafe { change(place, |_| value) };
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $exchange(
                place: *mut $type,
                value: $type,
                _: i32,
            ) -> $type {
                // SAFETY: the compiler passes the place of an atomic.
                unsafe { change(place, |_| value) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $compare_exchange(
                place: *mut $type,
                expected: $type,
                new: $type,
                _: i32,
                _: i32,
            ) -> $type {
                pass();
                // SAFETY: the compiler passes the place of an atomic.
                let old = unsafe { replace(place, expected, new) };
                pass();
                old
            }

            $(#[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $fetch(
                place: *mut $type,
                value: $type,
                _: i32,
            ) -> $type {
                let new: fn($type, $type) -> $type = $change;
                // SAFETY: the compiler passes the place of an atomic.
                unsafe { change(place, |old| new(old, value)) }
            })*
        };
    };
}

define!(
    u8,
    "l",
    "b",
    "w",
    __tsan_atomic8_load,
    __tsan_atomic8_store,
    __tsan_atomic8_exchange,
    __tsan_atomic8_compare_exchange_val,
    [
        __tsan_atomic8_fetch_add = u8::wrapping_add,
        __tsan_atomic8_fetch_sub = u8::wrapping_sub,
        __tsan_atomic8_fetch_and = |old, value| old & value,
        __tsan_atomic8_fetch_or = |old, value| old | value,
        __tsan_atomic8_fetch_xor = |old, value| old ^ value,
        __tsan_atomic8_fetch_nand = |old, value| !(old & value)
    ]
);

define!(
    u16,
    "x",
    "h",
    "w",
    __tsan_atomic16_load,
    __tsan_atomic16_store,
    __tsan_atomic16_exchange,
    __tsan_atomic16_compare_exchange_val,
    [
        __tsan_atomic16_fetch_add = u16::wrapping_add,
        __tsan_atomic16_fetch_sub = u16::wrapping_sub,
        __tsan_atomic16_fetch_and = |old, value| old & value,
        __tsan_atomic16_fetch_or = |old, value| old | value,
        __tsan_atomic16_fetch_xor = |old, value| old ^ value,
        __tsan_atomic16_fetch_nand = |old, value| !(old & value)
    ]
);

define!(
    u32,
    "e",
    "",
    "w",
    __tsan_atomic32_load,
    __tsan_atomic32_store,
    __tsan_atomic32_exchange,
    __tsan_atomic32_compare_exchange_val,
    [
        __tsan_atomic32_fetch_add = u32::wrapping_add,
        __tsan_atomic32_fetch_sub = u32::wrapping_sub,
        __tsan_atomic32_fetch_and = |old, value| old & value,
        __tsan_atomic32_fetch_or = |old, value| old | value,
        __tsan_atomic32_fetch_xor = |old, value| old ^ value,
        __tsan_atomic32_fetch_nand = |old, value| !(old & value)
    ]
);

define!(
    u64,
    "r",
    "",
    "x",
    __tsan_atomic64_load,
    __tsan_atomic64_store,
    __tsan_atomic64_exchange,
    __tsan_atomic64_compare_exchange_val,
    [
        __tsan_atomic64_fetch_add = u64::wrapping_add,
        __tsan_atomic64_fetch_sub = u64::wrapping_sub,
        __tsan_atomic64_fetch_and = |old, value| old & value,
        __tsan_atomic64_fetch_or = |old, value| old | value,
        __tsan_atomic64_fetch_xor = |old, value| old ^ value,
        __tsan_atomic64_fetch_nand = |old, value| !(old & value)
    ]
);

#[unsafe(no_mangle)]
extern "C-unwind" fn __tsan_atomic_thread_fence(_: i32) {
    // SAFETY: a barrier.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mfence");
        #[cfg(target_arch = "aarch64")]
        asm!("dmb ish");
    }
    pass();
}

#[unsafe(no_mangle)]
extern "C-unwind" fn __tsan_atomic_signal_fence(_: i32) {}
