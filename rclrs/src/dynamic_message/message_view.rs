//! References to messages, which may be parts of others.

use super::message_structure::MessageStructure;
use super::sequence::{Proxy, ProxyMut};
use super::stored::Fields;
use super::values::{Value, ValueMut};
use std::fmt::{self, Debug};
use std::ops::Deref;

/// A reference to a message.
#[derive(PartialEq, Eq)]
pub struct DynamicMessageView<'msg> {
    pub(super) fields: &'msg Fields,
}

/// A reference to a message that can be changed.
#[derive(PartialEq, Eq)]
pub struct DynamicMessageViewMut<'msg> {
    pub(super) fields: &'msg mut Fields,
}

impl<'msg> DynamicMessageView<'msg> {
    /// The content of a field; `None` if there is no such field.
    pub fn get(&self, field_name: &str) -> Option<Value<'msg>> {
        self.fields.get(field_name).map(Value::new)
    }

    /// The description of the fields.
    pub fn structure(&self) -> &MessageStructure {
        self.fields.structure
    }

    /// The names and contents of the fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value<'_>)> + '_ {
        self.fields.iter()
    }
}

impl<'msg> DynamicMessageViewMut<'msg> {
    /// The content of a field; `None` if there is no such field.
    pub fn get(&self, field_name: &str) -> Option<Value<'_>> {
        self.fields.get(field_name).map(Value::new)
    }

    /// The content of a field, which can be changed; `None` if there is no such field.
    pub fn get_mut(&mut self, field_name: &str) -> Option<ValueMut<'_>> {
        self.fields.get_mut(field_name).map(ValueMut::new)
    }

    /// The description of the fields.
    pub fn structure(&self) -> &MessageStructure {
        self.fields.structure
    }

    /// The names and contents of the fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value<'_>)> + '_ {
        self.fields.iter()
    }

    /// The names and contents of the fields, in order. It takes the view, because the contents
    /// borrow the message itself.
    pub fn iter_mut(self) -> impl Iterator<Item = (&'msg str, ValueMut<'msg>)> + 'msg {
        let names = self.fields.structure.fields.iter().map(|info| &*info.name);
        names.zip(self.fields.values.iter_mut().map(ValueMut::new))
    }
}

impl Fields {
    /// The names and contents of the fields, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Value<'_>)> + '_ {
        let names = self.structure.fields.iter().map(|info| &*info.name);
        names.zip(self.values.iter().map(Value::new))
    }
}

impl Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct(&self.structure.type_name);
        for (name, value) in self.iter() {
            text.field(name, &value);
        }
        text.finish()
    }
}

impl<'msg> Proxy<'msg> for DynamicMessageView<'msg> {
    type Stored = Fields;
    type Metadata = &'static MessageStructure;

    fn of(fields: &'msg Fields, _: &'static MessageStructure) -> Self {
        Self { fields }
    }
}

impl<'msg> ProxyMut<'msg> for DynamicMessageViewMut<'msg> {
    type Stored = Fields;
    type Metadata = &'static MessageStructure;

    fn of(fields: &'msg mut Fields, _: &'static MessageStructure) -> Self {
        Self { fields }
    }

    fn stored(structure: &'static MessageStructure) -> Fields {
        Fields::new(structure)
    }
}

/// Implements the traits that both views have.
macro_rules! view {
    ($($view:ident)*) => {$(
        impl Deref for $view<'_> {
            type Target = MessageStructure;

            fn deref(&self) -> &MessageStructure {
                self.fields.structure
            }
        }

        impl Debug for $view<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.fields.fmt(f)
            }
        }
    )*};
}

view!(DynamicMessageView DynamicMessageViewMut);
