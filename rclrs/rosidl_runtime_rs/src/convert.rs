//! Conversions of fields between the idiomatic form of a message and the RMW form.

use crate::{
    BoundedSequence, BoundedString, BoundedWString, Message, Sequence, SequenceAlloc, String,
    WString,
};
use std::borrow::Cow;

/// A type of fields in the idiomatic form of a message, with the type `Rmw` in the RMW form.
pub trait Convert<Rmw>: Sized {
    /// Converts a value to the RMW form.
    fn into_rmw(self) -> Rmw;

    /// Converts a value from the RMW form.
    fn from_rmw(rmw: Rmw) -> Self;
}

impl<M: Message> Convert<M::RmwMsg> for M {
    fn into_rmw(self) -> M::RmwMsg {
        M::into_rmw_message(Cow::Owned(self)).into_owned()
    }

    fn from_rmw(rmw: M::RmwMsg) -> Self {
        M::from_rmw_message(rmw)
    }
}

impl Convert<String> for std::string::String {
    fn into_rmw(self) -> String {
        self.into()
    }

    fn from_rmw(rmw: String) -> Self {
        rmw.to_string()
    }
}

impl Convert<WString> for std::string::String {
    fn into_rmw(self) -> WString {
        self.as_str().into()
    }

    fn from_rmw(rmw: WString) -> Self {
        rmw.to_string()
    }
}

impl<T: Convert<R>, R: SequenceAlloc> Convert<Sequence<R>> for Vec<T> {
    fn into_rmw(self) -> Sequence<R> {
        // The standard library reuses the memory where the elements allow it.
        self.into_iter().map(T::into_rmw).collect::<Vec<_>>().into()
    }

    fn from_rmw(rmw: Sequence<R>) -> Self {
        rmw.into_iter().map(T::from_rmw).collect()
    }
}

impl<T: Convert<R>, R, const N: usize> Convert<[R; N]> for [T; N] {
    fn into_rmw(self) -> [R; N] {
        self.map(T::into_rmw)
    }

    fn from_rmw(rmw: [R; N]) -> Self {
        rmw.map(T::from_rmw)
    }
}

/// Implements the conversion for types that both forms have.
macro_rules! same_in_both {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        impl<$($generics)*> Convert<$t> for $t {
            fn into_rmw(self) -> $t {
                self
            }

            fn from_rmw(rmw: $t) -> $t {
                rmw
            }
        }
    )*};
}

same_in_both! {
    [] bool; [] u8; [] u16; [] u32; [] u64; [] i8; [] i16; [] i32; [] i64; [] f32; [] f64;
    [const N: usize] BoundedString<N>;
    [const N: usize] BoundedWString<N>;
    [T: SequenceAlloc, const N: usize] BoundedSequence<T, N>;
}
