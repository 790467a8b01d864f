//! Strings with a bound that is known at run time.

use super::sequence::{Proxy, ProxyMut};
use rosidl_runtime_rs::{String, StringExceedsBoundsError, WString};
use std::ffi::c_char;
use std::fmt::{self, Display};
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};

/// Defines a string with a bound, for reading and for writing.
macro_rules! bounded {
    ($string:ident of $unit:ty, $bounded:ident, $bounded_mut:ident, $units:literal) => {
        #[doc = concat!("A [`", stringify!($string), "`] of at most so many ", $units, ".")]
        #[derive(Debug, Hash, PartialOrd, PartialEq, Eq, Ord)]
        pub struct $bounded<'msg> {
            inner: &'msg $string,
            upper_bound: NonZeroUsize,
        }

        #[doc = concat!("A [`", stringify!($string), "`] of at most so many ", $units, ", which ")]
        /// can be assigned.
        #[derive(Debug, Hash, PartialOrd, PartialEq, Eq, Ord)]
        pub struct $bounded_mut<'msg> {
            inner: &'msg mut $string,
            upper_bound: NonZeroUsize,
        }

        bounded!(reading of $bounded, $string, $units);
        bounded!(reading of $bounded_mut, $string, $units);

        impl $bounded_mut<'_> {
            /// Becomes the text `s`.
            ///
            /// # Errors
            /// [`StringExceedsBoundsError`] for a text that is too long; the string stays then.
            pub fn try_assign(&mut self, s: &str) -> Result<(), StringExceedsBoundsError> {
                let (text, upper_bound) = ($string::from(s), self.upper_bound.get());
                if text.len() > upper_bound {
                    return Err(StringExceedsBoundsError { len: text.len(), upper_bound });
                }
                *self.inner = text;
                Ok(())
            }
        }

        impl AsMut<[$unit]> for $bounded_mut<'_> {
            fn as_mut(&mut self) -> &mut [$unit] {
                self.inner.deref_mut()
            }
        }

        impl<'msg> Proxy<'msg> for $bounded<'msg> {
            type Stored = $string;
            type Metadata = NonZeroUsize;

            fn of(inner: &'msg $string, upper_bound: NonZeroUsize) -> Self {
                Self { inner, upper_bound }
            }
        }

        impl<'msg> ProxyMut<'msg> for $bounded_mut<'msg> {
            type Stored = $string;
            type Metadata = NonZeroUsize;

            fn of(inner: &'msg mut $string, upper_bound: NonZeroUsize) -> Self {
                Self { inner, upper_bound }
            }

            fn stored(_: NonZeroUsize) -> $string {
                $string::default()
            }
        }
    };
    (reading of $bounded:ident, $string:ident, $units:literal) => {
        impl $bounded<'_> {
            #[doc = concat!("The ", $units, " at most.")]
            pub fn upper_bound(&self) -> NonZeroUsize {
                self.upper_bound
            }
        }

        impl Deref for $bounded<'_> {
            type Target = $string;

            fn deref(&self) -> &$string {
                self.inner
            }
        }

        impl Display for $bounded<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(self.inner, f)
            }
        }
    };
}

bounded!(String of c_char, DynamicBoundedString, DynamicBoundedStringMut, "bytes");
bounded!(WString of u16, DynamicBoundedWString, DynamicBoundedWStringMut, "UTF-16 units");
