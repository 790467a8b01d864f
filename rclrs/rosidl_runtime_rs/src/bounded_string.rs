//! Strings with a bound.

use crate::{String, StringExceedsBoundsError, WString};
use ringspin_executor::{Digest, DigestHasher};
use ringspin_messages::support::{self, Checked, Element};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::c_char;
use std::fmt::{self, Debug, Display};
use std::ops::{Deref, DerefMut};

/// A [`String`] of at most `N` bytes.
///
/// ```
/// use rosidl_runtime_rs::BoundedString;
/// assert!(BoundedString::<3>::try_from("abcd").is_err());
/// let text = BoundedString::<3>::try_from("abc")?;
/// assert_eq!(text.to_string(), "abc");
/// # Ok::<(), rosidl_runtime_rs::StringExceedsBoundsError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedString<const N: usize> {
    inner: String,
}

/// A [`WString`] of at most `N` UTF-16 units.
///
/// ```
/// use rosidl_runtime_rs::BoundedWString;
/// assert!(BoundedWString::<3>::try_from("abcd").is_err());
/// let text = BoundedWString::<3>::try_from("äöü")?;
/// assert_eq!(text.to_string(), "äöü");
/// # Ok::<(), rosidl_runtime_rs::StringExceedsBoundsError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedWString<const N: usize> {
    inner: WString,
}

/// Implements the traits that both kinds of strings have in the same way.
macro_rules! bounded_string_traits {
    ($($bounded:ident $inner:ident $unit:ty, $form:path;)*) => {$(
        impl<const N: usize> TryFrom<&str> for $bounded<N> {
            type Error = StringExceedsBoundsError;

            fn try_from(text: &str) -> Result<Self, StringExceedsBoundsError> {
                let inner = $inner::from(text);
                let error = StringExceedsBoundsError { len: inner.len(), upper_bound: N };
                if inner.len() <= N { Ok(Self { inner }) } else { Err(error) }
            }
        }

        impl<const N: usize> Debug for $bounded<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(&self.inner, f)
            }
        }

        impl<const N: usize> Display for $bounded<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(&self.inner, f)
            }
        }

        impl<const N: usize> Deref for $bounded<N> {
            type Target = [$unit];

            fn deref(&self) -> &[$unit] {
                &self.inner
            }
        }

        impl<const N: usize> DerefMut for $bounded<N> {
            fn deref_mut(&mut self) -> &mut [$unit] {
                &mut self.inner
            }
        }

        impl<const N: usize> Digest for $bounded<N> {
            fn digest(&self, hasher: &mut DigestHasher) {
                self.inner.digest(hasher);
            }
        }

        impl<const N: usize> Serialize for $bounded<N> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.inner.serialize(serializer)
            }
        }

        impl<'de, const N: usize> Deserialize<'de> for $bounded<N> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let inner = $inner::deserialize(deserializer)?;
                Self::try_from(&*inner.to_string()).map_err(D::Error::custom)
            }
        }

        /// Lets the error for a text that is too long name the field.
        impl<const MAX: u32, const N: usize> Element<$bounded<N>> for $form {
            fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Checked<$bounded<N>>, D::Error> {
                let inner = $inner::deserialize(deserializer)?;
                let bounded = $bounded::try_from(&*inner.to_string());
                Ok(bounded.map_err(|error| (error.len, MAX)))
            }
        }
    )*};
}

bounded_string_traits! {
    BoundedString String c_char, support::BoundedString<MAX>;
    BoundedWString WString u16, support::WideString<MAX>;
}
