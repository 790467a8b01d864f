//! The cells in which values of parameters are kept.

use super::{ParameterType, ParameterValue};
use ringspin_ringbuf::Counter;
use std::marker::PhantomData;
use std::sync::{PoisonError, RwLock};

/// The properties of a type that the implementation of parameters needs.
pub trait Variant: Clone + std::fmt::Debug + Send + Sync + Sized + 'static {
    const TYPE: ParameterType;
    type Cell: Cell<Self>;
    fn from_value(value: &ParameterValue) -> Option<Self>;
    fn to_value(&self) -> ParameterValue;
}

/// The storage of a value while threads read it. Only one thread at a time writes.
pub trait Cell<T>: Send + Sync {
    fn new(value: T) -> Self;
    fn get(&self) -> T;
    fn set(&self, value: T);
}

/// A value of at most 64 bits: read and written in one step.
pub struct Scalar<T>(Counter, PhantomData<fn() -> T>);

pub trait Bits {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

impl<T: Bits> Cell<T> for Scalar<T> {
    fn new(value: T) -> Self {
        let cell = Self(Counter::default(), PhantomData);
        cell.set(value);
        cell
    }

    #[inline]
    fn get(&self) -> T {
        T::from_bits(self.0.get())
    }

    fn set(&self, value: T) {
        self.0.set(value.to_bits());
    }
}

impl Bits for bool {
    fn to_bits(self) -> u64 {
        self.into()
    }

    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

impl Bits for i64 {
    fn to_bits(self) -> u64 {
        self.cast_unsigned()
    }

    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }
}

impl Bits for f64 {
    fn to_bits(self) -> u64 {
        self.to_bits()
    }

    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

impl<T: Clone + Send + Sync> Cell<T> for RwLock<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn get(&self) -> T {
        self.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, value: T) {
        // The old value is freed once the lock is free again.
        let mut guard = self.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *guard, value);
        drop(guard);
        drop(old);
    }
}
