//! Sequences of a dynamic message, as applications see them.
//!
//! Numbers and unbounded strings are lent where they are. Messages and bounded strings are lent by
//! proxies, which know the fields or the bound; a sequence of them owns its proxies.

use super::stored::Elements;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, SequenceExceedsBoundsError};
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A reference to a stored value, with its description.
#[doc(hidden)]
pub trait Proxy<'msg>: Sized {
    type Stored: SequenceAlloc + 'static;
    type Metadata: Copy;

    fn of(stored: &'msg Self::Stored, metadata: Self::Metadata) -> Self;
}

/// A reference to a stored value that can be changed, with its description.
#[doc(hidden)]
pub trait ProxyMut<'msg>: Debug + PartialEq + Sized {
    type Stored: SequenceAlloc + 'static;
    type Metadata: Copy;

    fn of(stored: &'msg mut Self::Stored, metadata: Self::Metadata) -> Self;

    /// The default value.
    fn stored(metadata: Self::Metadata) -> Self::Stored;
}

/// The proxies of `stored`.
pub(super) fn proxies<'msg, T: Proxy<'msg>>(
    stored: &'msg [T::Stored],
    metadata: T::Metadata,
) -> Box<[T]> {
    stored.iter().map(|stored| T::of(stored, metadata)).collect()
}

/// The proxies of `stored`, which can be changed.
pub(super) fn proxies_mut<'msg, T: ProxyMut<'msg>>(
    stored: &'msg mut [T::Stored],
    metadata: T::Metadata,
) -> Vec<T> {
    stored.iter_mut().map(|stored| T::of(stored, metadata)).collect()
}

/// A sequence without a bound. It dereferences to a slice.
#[derive(PartialEq, Eq)]
pub struct DynamicSequence<'msg, T> {
    elements: Box<[T]>,
    message: PhantomData<&'msg ()>,
}

impl<'msg, T> DynamicSequence<'msg, T> {
    pub(super) fn new(elements: Box<[T]>) -> Self {
        Self { elements, message: PhantomData }
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.elements
    }
}

/// A sequence with a bound that is known at run time. It dereferences to a slice.
#[derive(PartialEq, Eq)]
pub struct DynamicBoundedSequence<'msg, T> {
    elements: Lent<'msg, T>,
    upper_bound: usize,
}

/// Elements of a message, or proxies of them.
#[derive(PartialEq, Eq)]
pub(super) enum Lent<'msg, T> {
    Elements(&'msg [T]),
    Proxies(Box<[T]>),
}

impl<'msg, T> DynamicBoundedSequence<'msg, T> {
    pub(super) fn new(elements: Lent<'msg, T>, upper_bound: usize) -> Self {
        Self { elements, upper_bound }
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        match &self.elements {
            Lent::Elements(elements) => elements,
            Lent::Proxies(elements) => elements,
        }
    }

    /// The elements at most.
    pub fn upper_bound(&self) -> usize {
        self.upper_bound
    }
}

/// An element of a sequence that can be changed.
#[doc(hidden)]
pub trait DynamicSequenceElementMut<'msg>: Debug + PartialEq + Sized {
    type InnerSequence: InnerSequence<Self>;
}

/// The place of a sequence's elements: the message itself, or proxies.
#[doc(hidden)]
pub trait InnerSequence<T> {
    fn elements(&self) -> &[T];
    fn elements_mut(&mut self) -> &mut [T];
    /// Replaces the elements by `len` default ones.
    fn reset(&mut self, len: usize);
}

impl<T: SequenceAlloc> InnerSequence<T> for &mut Sequence<T> {
    fn elements(&self) -> &[T] {
        self.as_slice()
    }

    fn elements_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }

    fn reset(&mut self, len: usize) {
        **self = Sequence::new(len);
    }
}

/// Proxies of a sequence's elements, and the place for elements that replace these.
#[doc(hidden)]
pub struct ProxySequence<'msg, T: ProxyMut<'msg>> {
    proxies: Vec<T>,
    replaced_by: Option<&'msg mut Option<Box<Elements<T::Stored>>>>,
    metadata: T::Metadata,
}

impl<'msg, T: ProxyMut<'msg>> ProxySequence<'msg, T> {
    pub(super) fn new(elements: &'msg mut Elements<T::Stored>, metadata: T::Metadata) -> Self {
        let Elements { list, replaced_by } = elements.flattened();
        Self { proxies: proxies_mut(list, metadata), replaced_by: Some(replaced_by), metadata }
    }
}

impl<'msg, T: ProxyMut<'msg>> InnerSequence<T> for ProxySequence<'msg, T> {
    fn elements(&self) -> &[T] {
        &self.proxies
    }

    fn elements_mut(&mut self) -> &mut [T] {
        &mut self.proxies
    }

    fn reset(&mut self, len: usize) {
        let Some(place) = self.replaced_by.take() else { return };
        let list: Vec<_> = (0..len).map(|_| T::stored(self.metadata)).collect();
        *self = Self::new(place.insert(Box::new(Elements::new(list.into()))), self.metadata);
    }
}

/// Lets elements be lent where they are.
macro_rules! direct {
    ($($ty:ty)*) => {$(
        impl<'msg> DynamicSequenceElementMut<'msg> for $ty {
            type InnerSequence = &'msg mut Sequence<$ty>;
        }
    )*};
}

direct!(bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
direct!(rosidl_runtime_rs::String rosidl_runtime_rs::WString);

/// Lets elements be lent by proxies.
macro_rules! by_proxy {
    ($($proxy:ident)*) => {$(
        impl<'msg> DynamicSequenceElementMut<'msg> for super::$proxy<'msg> {
            type InnerSequence = ProxySequence<'msg, Self>;
        }
    )*};
}

by_proxy!(DynamicMessageViewMut DynamicBoundedStringMut DynamicBoundedWStringMut);

/// A sequence without a bound, the elements of which can be changed. It dereferences to a slice.
pub struct DynamicSequenceMut<'msg, T: DynamicSequenceElementMut<'msg>> {
    elements: T::InnerSequence,
}

impl<'msg, T: DynamicSequenceElementMut<'msg>> DynamicSequenceMut<'msg, T> {
    pub(super) fn new(elements: T::InnerSequence) -> Self {
        Self { elements }
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.reset(0);
    }

    /// Replaces the elements by `len` default ones.
    pub fn reset(&mut self, len: usize) {
        self.elements.reset(len);
    }
}

/// A sequence with a bound that is known at run time, the elements of which can be changed. It
/// dereferences to a slice.
pub struct DynamicBoundedSequenceMut<'msg, T: DynamicSequenceElementMut<'msg>> {
    elements: T::InnerSequence,
    upper_bound: usize,
}

impl<'msg, T: DynamicSequenceElementMut<'msg>> DynamicBoundedSequenceMut<'msg, T> {
    pub(super) fn new(elements: T::InnerSequence, upper_bound: usize) -> Self {
        Self { elements, upper_bound }
    }

    /// The elements at most.
    pub fn upper_bound(&self) -> usize {
        self.upper_bound
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.elements.reset(0);
    }

    /// Replaces the elements by `len` default ones.
    ///
    /// # Errors
    /// [`SequenceExceedsBoundsError`] if `len` exceeds the bound; the elements stay then.
    pub fn try_reset(&mut self, len: usize) -> Result<(), SequenceExceedsBoundsError> {
        let upper_bound = self.upper_bound;
        if len > upper_bound {
            return Err(SequenceExceedsBoundsError { len, upper_bound });
        }
        self.elements.reset(len);
        Ok(())
    }
}

/// Implements the access to a slice.
macro_rules! slice {
    ($($sequence:ident)*; $($sequence_mut:ident)*) => {
        $(
            impl<T> Deref for $sequence<'_, T> {
                type Target = [T];

                fn deref(&self) -> &[T] {
                    self.as_slice()
                }
            }

            impl<T: Debug> Debug for $sequence<'_, T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.as_slice().fmt(f)
                }
            }
        )*
        $(
            impl<'msg, T: DynamicSequenceElementMut<'msg>> $sequence_mut<'msg, T> {
                /// The elements.
                pub fn as_slice(&self) -> &[T] {
                    self.elements.elements()
                }

                /// The elements, which can be changed.
                pub fn as_mut_slice(&mut self) -> &mut [T] {
                    self.elements.elements_mut()
                }
            }

            impl<'msg, T: DynamicSequenceElementMut<'msg>> Deref for $sequence_mut<'msg, T> {
                type Target = [T];

                fn deref(&self) -> &[T] {
                    self.as_slice()
                }
            }

            impl<'msg, T: DynamicSequenceElementMut<'msg>> DerefMut for $sequence_mut<'msg, T> {
                fn deref_mut(&mut self) -> &mut [T] {
                    self.as_mut_slice()
                }
            }

            impl<'msg, T: DynamicSequenceElementMut<'msg>> Debug for $sequence_mut<'msg, T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.as_slice().fmt(f)
                }
            }

            impl<'msg, T: DynamicSequenceElementMut<'msg>> PartialEq for $sequence_mut<'msg, T> {
                fn eq(&self, other: &Self) -> bool {
                    self.as_slice() == other.as_slice()
                }
            }
        )*
    };
}

slice!(DynamicSequence DynamicBoundedSequence; DynamicSequenceMut DynamicBoundedSequenceMut);
