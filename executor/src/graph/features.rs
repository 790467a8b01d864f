//! State that features keep in a graph while it is built. The core does not know their types.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

/// At most one value of each type.
#[derive(Default)]
pub(super) struct Features(BTreeMap<TypeId, Box<dyn Any + Send>>);

impl Features {
    /// The value of type `T`, the default at first.
    pub(super) fn of_type<T: Default + Send + 'static>(&mut self) -> &mut T {
        let value = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        value.downcast_mut().expect("values are kept by their type")
    }

    /// The value of type `T`, if there is one.
    pub(super) fn look<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}
