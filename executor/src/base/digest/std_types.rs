//! The bytes of the standard library's types, and of the executor's own: see the table in
//! [`crate::base::digest`].

use super::{Digest, DigestHasher};
use crate::base::event::{CallbackId, EventId, LoopId, SourceId};
use crate::base::time::Time;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::num::{NonZero, Wrapping};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The number of bytes of a slice of numbers that are collected before they are hashed.
const CHUNK_BYTES: usize = 512;

/// Up to here, single numbers take less time than clearing a chunk.
const FEW_BYTES_MAX: usize = 128;

/// Adds `items`, of `N` bytes each, by the chunk: a hasher takes much longer for single numbers.
#[inline]
fn digest_chunks<T: Copy, const N: usize>(
    items: &[T],
    hasher: &mut DigestHasher,
    bytes_of: impl Fn(T) -> [u8; N],
) {
    if items.len() * N <= FEW_BYTES_MAX {
        return items.iter().for_each(|item| hasher.write(&bytes_of(*item)));
    }
    let mut bytes = [0; CHUNK_BYTES];
    for chunk in items.chunks(CHUNK_BYTES / N) {
        for (bytes, item) in bytes.chunks_exact_mut(N).zip(chunk) {
            bytes.copy_from_slice(&bytes_of(*item));
        }
        hasher.write(&bytes[..chunk.len() * N]);
    }
}

/// Numbers, each by its expression for the bytes.
macro_rules! numbers {
    ($($number:ty: $bytes_of:expr;)*) => { $(
        impl Digest for $number {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                hasher.write(&$bytes_of(*self));
            }

            fn digest_items(items: &[Self], hasher: &mut DigestHasher) {
                digest_chunks(items, hasher, $bytes_of);
            }
        }
    )* };
}

numbers! {
    u16: u16::to_le_bytes;
    u32: u32::to_le_bytes;
    u64: u64::to_le_bytes;
    u128: u128::to_le_bytes;
    usize: |n| (n as u64).to_le_bytes();
    i8: i8::to_le_bytes;
    i16: i16::to_le_bytes;
    i32: i32::to_le_bytes;
    i64: i64::to_le_bytes;
    i128: i128::to_le_bytes;
    isize: |n| (n as i64).to_le_bytes();
    bool: |b| [u8::from(b)];
    char: |c| u32::from(c).to_le_bytes();
    f32: |x: f32| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }.to_le_bytes();
    f64: |x: f64| if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() }.to_le_bytes();
}

impl Digest for u8 {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write(&[*self]);
    }

    #[inline]
    fn digest_items(items: &[Self], hasher: &mut DigestHasher) {
        hasher.write(items);
    }
}

/// Types with the bytes of another value; their type parameters stand before them.
macro_rules! as_value {
    ($($([$($generics:tt)*])? $self:ident: $t:ty => $value:expr;)*) => { $(
        impl $(<$($generics)*>)? Digest for $t {
            #[inline]
            fn digest(&$self, hasher: &mut DigestHasher) {
                Digest::digest(&$value, hasher);
            }
        }
    )* };
}

macro_rules! non_zero {
    ($($number:ty)*) => { as_value! { $(self: NonZero<$number> => self.get();)* } };
}

non_zero! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

as_value! {
    self: String => **self;
    self: Duration => (self.as_secs(), self.subsec_nanos());
    self: Ordering => *self as i8;
    self: Time => self.as_nanos();
    self: SourceId => self.0;
    self: LoopId => self.0;
    self: CallbackId => self.0;
    self: EventId => (self.source, self.sequence);
    self: str => *self.as_bytes();
    [T: Digest + ?Sized] self: &T => **self;
    [T: Digest + ?Sized] self: &mut T => **self;
    [T: Digest + ?Sized] self: Box<T> => **self;
    [T: Digest + ?Sized] self: Rc<T> => **self;
    [T: Digest + ?Sized] self: Arc<T> => **self;
    [T: Digest + ToOwned + ?Sized] self: Cow<'_, T> => **self;
    [T: Digest + Copy] self: Cell<T> => self.get();
    [T: Digest] self: Wrapping<T> => self.0;
    [T: Digest] self: Vec<T> => **self;
}

impl Digest for Infallible {
    fn digest(&self, _: &mut DigestHasher) {
        match *self {}
    }
}

impl<T: ?Sized> Digest for PhantomData<T> {
    #[inline]
    fn digest(&self, _: &mut DigestHasher) {}
}

impl<T: Digest> Digest for Option<T> {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write(&[u8::from(self.is_some())]);
        if let Some(value) = self {
            value.digest(hasher);
        }
    }
}

impl<T: Digest, E: Digest> Digest for Result<T, E> {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write(&[u8::from(self.is_err())]);
        match self {
            Ok(value) => value.digest(hasher),
            Err(error) => error.digest(hasher),
        }
    }
}

impl<T: Digest, const N: usize> Digest for [T; N] {
    fn digest(&self, hasher: &mut DigestHasher) {
        T::digest_items(self, hasher);
    }

    fn digest_items(items: &[Self], hasher: &mut DigestHasher) {
        T::digest_items(items.as_flattened(), hasher);
    }
}

impl<T: Digest> Digest for [T] {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write_len(self.len());
        T::digest_items(self, hasher);
    }
}

impl<T: Digest> Digest for VecDeque<T> {
    fn digest(&self, hasher: &mut DigestHasher) {
        let (front, back) = self.as_slices();
        hasher.write_len(self.len());
        T::digest_items(front, hasher);
        T::digest_items(back, hasher);
    }
}

impl<K: Digest, V: Digest> Digest for BTreeMap<K, V> {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write_len(self.len());
        for (key, value) in self {
            key.digest(hasher);
            value.digest(hasher);
        }
    }
}

impl<T: Digest> Digest for BTreeSet<T> {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.write_len(self.len());
        self.iter().for_each(|item| item.digest(hasher));
    }
}

impl Digest for () {
    #[inline]
    fn digest(&self, _: &mut DigestHasher) {}
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => { $(
        impl<$($name: Digest),*> Digest for ($($name,)*) {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                #[allow(non_snake_case, reason = "the names of the types serve for the values")]
                let ($($name,)*) = self;
                $($name.digest(hasher);)*
            }
        }
    )* };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}
