//! The cells in which values of parameters are kept.
//!
//! Any thread reads a value at any time. A thread that sets holds the lock of the node's table, so
//! a cell has one writer. A bool, an integer or a double is one atomic word, because hot callbacks
//! read them: that costs a load. Strings and arrays lie behind a reader-writer lock, which the
//! writer holds for the exchange only; it frees the old value after the unlock, so no reader waits
//! for the allocator.

use super::{ParameterType, ParameterValue};
use ringspin_ringbuf::Counter;
use std::marker::PhantomData;
use std::sync::{PoisonError, RwLock};

/// The properties of a type that the implementation of parameters needs.
pub trait Variant: Clone + std::fmt::Debug + Send + Sync + Sized + 'static {
    /// The type; [`ParameterType::NotSet`] for values of any type.
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

macro_rules! bits {
    ($($scalar:ty: $value:ident => $to:expr, $bits:ident => $from:expr;)*) => { $(
        impl Bits for $scalar {
            fn to_bits(self) -> u64 {
                let $value = self;
                $to
            }

            fn from_bits($bits: u64) -> Self {
                $from
            }
        }
    )* };
}

bits! {
    bool: value => value.into(), bits => bits != 0;
    i64: value => value.cast_unsigned(), bits => bits.cast_signed();
    f64: value => f64::to_bits(value), bits => f64::from_bits(bits);
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
