//! Sequences of messages in RMW form, with and without a bound.

use crate::{SequenceAlloc, SequenceExceedsBoundsError};
use ringspin_executor::{Digest, DigestHasher};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::vec::IntoIter;

/// A sequence of any length. It dereferences to a slice of its elements.
///
/// ```
/// use rosidl_runtime_rs::{Sequence, seq};
/// let mut values = Sequence::<f64>::new(2);
/// values[1] = 0.5;
/// values.extend([1.0]);
/// assert_eq!(values, seq![0.0, 0.5, 1.0]);
/// ```
#[derive(Clone)]
pub struct Sequence<T: SequenceAlloc> {
    elements: Vec<T>,
}

/// A sequence of at most `N` elements. It dereferences to a slice of them.
///
/// Operations that add elements ([`extend`](Extend::extend), [`collect`](Iterator::collect)) stop
/// at the bound, without an error.
///
/// ```
/// use rosidl_runtime_rs::{BoundedSequence, seq};
/// assert!(BoundedSequence::<i32, 3>::try_from(vec![1, 2, 3, 4]).is_err());
/// let values: BoundedSequence<i32, 3> = (1..9).collect();
/// assert_eq!(values, seq![3 # 1, 2, 3]);
/// ```
#[derive(Clone)]
pub struct BoundedSequence<T: SequenceAlloc, const N: usize> {
    elements: Vec<T>,
}

impl<T: SequenceAlloc> Sequence<T> {
    /// Creates a sequence of `len` elements with their default values.
    pub fn new(len: usize) -> Self {
        Self { elements: vec![T::default(); len] }
    }
}

impl<T: SequenceAlloc> From<Vec<T>> for Sequence<T> {
    fn from(elements: Vec<T>) -> Self {
        Self { elements }
    }
}

impl<T: SequenceAlloc + Clone> From<&[T]> for Sequence<T> {
    fn from(elements: &[T]) -> Self {
        elements.to_vec().into()
    }
}

impl<T: SequenceAlloc + Copy> From<Sequence<T>> for Vec<T> {
    fn from(sequence: Sequence<T>) -> Self {
        sequence.elements
    }
}

impl<T: SequenceAlloc> Extend<T> for Sequence<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.elements.extend(elements);
    }
}

impl<'de, T: SequenceAlloc + Deserialize<'de>> Deserialize<'de> for Sequence<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl<T: SequenceAlloc, const N: usize> BoundedSequence<T, N> {
    /// Creates a sequence of `len` elements with their default values.
    ///
    /// # Panics
    /// If `len` exceeds the bound; see [`try_new`](Self::try_new).
    pub fn new(len: usize) -> Self {
        Self::try_new(len).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Creates a sequence of `len` elements with their default values.
    ///
    /// # Errors
    /// [`SequenceExceedsBoundsError`] if `len` exceeds the bound.
    pub fn try_new(len: usize) -> Result<Self, SequenceExceedsBoundsError> {
        Self::check(len)?;
        Ok(Self { elements: vec![T::default(); len] })
    }

    fn check(len: usize) -> Result<(), SequenceExceedsBoundsError> {
        let error = SequenceExceedsBoundsError { len, upper_bound: N };
        if len <= N { Ok(()) } else { Err(error) }
    }
}

impl<T: SequenceAlloc, const N: usize> TryFrom<Vec<T>> for BoundedSequence<T, N> {
    type Error = SequenceExceedsBoundsError;

    fn try_from(elements: Vec<T>) -> Result<Self, SequenceExceedsBoundsError> {
        Self::check(elements.len())?;
        Ok(Self { elements })
    }
}

impl<T: SequenceAlloc + Clone, const N: usize> TryFrom<&[T]> for BoundedSequence<T, N> {
    type Error = SequenceExceedsBoundsError;

    fn try_from(elements: &[T]) -> Result<Self, SequenceExceedsBoundsError> {
        Self::check(elements.len())?;
        Ok(Self { elements: elements.to_vec() })
    }
}

impl<T: SequenceAlloc, const N: usize> Extend<T> for BoundedSequence<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let room = N - self.elements.len();
        self.elements.extend(elements.into_iter().take(room));
    }
}

impl<'de, T, const N: usize> Deserialize<'de> for BoundedSequence<T, N>
where
    T: SequenceAlloc + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Implements the traits that both sequences have in the same way. Comparisons and digests are
/// those of a `Vec`.
macro_rules! sequence_traits {
    ($($sequence:ident<T $(, $n:ident)?>;)*) => {$(
        impl<T: SequenceAlloc $(, const $n: usize)?> $sequence<T $(, $n)?> {
            /// The elements.
            pub fn as_slice(&self) -> &[T] {
                &self.elements
            }

            /// The elements, which can be overwritten.
            pub fn as_mut_slice(&mut self) -> &mut [T] {
                &mut self.elements
            }
        }

        impl<T: SequenceAlloc $(, const $n: usize)?> Default for $sequence<T $(, $n)?> {
            fn default() -> Self {
                Self { elements: Vec::new() }
            }
        }

        impl<T: SequenceAlloc $(, const $n: usize)?> Deref for $sequence<T $(, $n)?> {
            type Target = [T];

            fn deref(&self) -> &[T] {
                &self.elements
            }
        }

        impl<T: SequenceAlloc $(, const $n: usize)?> DerefMut for $sequence<T $(, $n)?> {
            fn deref_mut(&mut self) -> &mut [T] {
                &mut self.elements
            }
        }

        impl<T: SequenceAlloc + Debug $(, const $n: usize)?> Debug for $sequence<T $(, $n)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.elements.fmt(f)
            }
        }

        impl<T: SequenceAlloc + PartialEq $(, const $n: usize)?> PartialEq
            for $sequence<T $(, $n)?>
        {
            fn eq(&self, other: &Self) -> bool {
                self.elements == other.elements
            }
        }

        impl<T: SequenceAlloc + Eq $(, const $n: usize)?> Eq for $sequence<T $(, $n)?> {}

        impl<T: SequenceAlloc + PartialOrd $(, const $n: usize)?> PartialOrd
            for $sequence<T $(, $n)?>
        {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.elements.partial_cmp(&other.elements)
            }
        }

        impl<T: SequenceAlloc + Ord $(, const $n: usize)?> Ord for $sequence<T $(, $n)?> {
            fn cmp(&self, other: &Self) -> Ordering {
                self.elements.cmp(&other.elements)
            }
        }

        impl<T: SequenceAlloc + Hash $(, const $n: usize)?> Hash for $sequence<T $(, $n)?> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.elements.hash(state);
            }
        }

        impl<T: SequenceAlloc $(, const $n: usize)?> FromIterator<T> for $sequence<T $(, $n)?> {
            fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
                let mut sequence = Self::default();
                sequence.extend(elements);
                sequence
            }
        }

        impl<T: SequenceAlloc $(, const $n: usize)?> IntoIterator for $sequence<T $(, $n)?> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                self.elements.into_iter()
            }
        }

        impl<T: SequenceAlloc + Digest $(, const $n: usize)?> Digest for $sequence<T $(, $n)?> {
            fn digest(&self, hasher: &mut DigestHasher) {
                self.elements.digest(hasher);
            }
        }

        impl<T: SequenceAlloc + Serialize $(, const $n: usize)?> Serialize
            for $sequence<T $(, $n)?>
        {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.elements.serialize(serializer)
            }
        }
    )*};
}

sequence_traits! {
    Sequence<T>;
    BoundedSequence<T, N>;
}
