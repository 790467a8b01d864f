//! References to the values of a message, by type.

use super::bounded_string::{
    DynamicBoundedString, DynamicBoundedStringMut, DynamicBoundedWString, DynamicBoundedWStringMut,
};
use super::message_view::{DynamicMessageView, DynamicMessageViewMut};
use super::sequence::{
    DynamicBoundedSequence, DynamicBoundedSequenceMut, DynamicSequence, DynamicSequenceMut, Lent,
    Proxy, ProxyMut, ProxySequence, proxies, proxies_mut,
};
use super::stored::{Slot, Stored, with_plain_types};
use rosidl_runtime_rs::Sequence;

type Ref<'msg, T> = &'msg T;
type RefMut<'msg, T> = &'msg mut T;

/// Defines the values for reading or for writing: their names, the form of a reference, and the
/// types of sequences and proxies.
macro_rules! define_values {
    (
        $value:ident: $simple:ident $array:ident $sequence:ident $bounded:ident;
        $pointer:ty; $reference:ident; $dynamic:ident $dynamic_bounded:ident;
        $string:ident $wstring:ident $message:ident;
        $($one:ident $many:ident $unbounded:ident $limited:ident: $ty:ty;)*
    ) => {
        /// The content of a field: a reference to one value or several.
        #[derive(Debug, PartialEq)]
        pub enum $value<'msg> {
            /// One value.
            Simple($simple<'msg>),
            /// An array.
            Array($array<'msg>),
            /// A sequence without a bound.
            Sequence($sequence<'msg>),
            /// A sequence with a bound.
            BoundedSequence($bounded<'msg>),
        }

        /// One value. There is no `LongDouble`, `Char` or `WChar` in definitions.
        #[allow(missing_docs)]
        #[derive(Debug, PartialEq)]
        pub enum $simple<'msg> {
            $($one($reference<'msg, $ty>),)*
            LongDouble($pointer),
            BoundedString($string<'msg>),
            BoundedWString($wstring<'msg>),
            Message($message<'msg>),
        }

        /// An array.
        #[allow(missing_docs)]
        #[derive(Debug, PartialEq)]
        pub enum $array<'msg> {
            $($many($reference<'msg, [$ty]>),)*
            LongDoubleArray($pointer, usize),
            BoundedStringArray(Box<[$string<'msg>]>),
            BoundedWStringArray(Box<[$wstring<'msg>]>),
            MessageArray(Box<[$message<'msg>]>),
        }

        /// A sequence without a bound.
        #[allow(missing_docs)]
        #[derive(Debug, PartialEq)]
        pub enum $sequence<'msg> {
            $($unbounded($reference<'msg, Sequence<$ty>>),)*
            LongDoubleSequence($pointer),
            BoundedStringSequence($dynamic<'msg, $string<'msg>>),
            BoundedWStringSequence($dynamic<'msg, $wstring<'msg>>),
            MessageSequence($dynamic<'msg, $message<'msg>>),
        }

        /// A sequence with a bound.
        #[allow(missing_docs)]
        #[derive(Debug, PartialEq)]
        pub enum $bounded<'msg> {
            $($limited($dynamic_bounded<'msg, $ty>),)*
            LongDoubleBoundedSequence($pointer, usize),
            BoundedStringBoundedSequence($dynamic_bounded<'msg, $string<'msg>>),
            BoundedWStringBoundedSequence($dynamic_bounded<'msg, $wstring<'msg>>),
            MessageBoundedSequence($dynamic_bounded<'msg, $message<'msg>>),
        }

        impl<'msg> $value<'msg> {
            pub(super) fn new(stored: $reference<'msg, Stored>) -> Self {
                match stored {
                    $(Stored::$one(slot) => match slot {
                        Slot::One(value) => Self::Simple($simple::$one(value)),
                        Slot::Array(values) => Self::Array($array::$many(values)),
                        Slot::Sequence(elements, None) => {
                            Self::Sequence($sequence::$unbounded(lend!($value elements)))
                        }
                        Slot::Sequence(elements, Some(bound)) => {
                            let elements = lend!($value bounded elements);
                            let sequence = $dynamic_bounded::new(elements, *bound);
                            Self::BoundedSequence($bounded::$limited(sequence))
                        }
                    },)*
                    Stored::BoundedString(slot, max) => by_proxy!(
                        $value slot, *max, $simple::BoundedString, $array::BoundedStringArray,
                        $sequence::BoundedStringSequence, $bounded::BoundedStringBoundedSequence
                    ),
                    Stored::BoundedWString(slot, max) => by_proxy!(
                        $value slot, *max, $simple::BoundedWString, $array::BoundedWStringArray,
                        $sequence::BoundedWStringSequence, $bounded::BoundedWStringBoundedSequence
                    ),
                    Stored::Message(slot, structure) => by_proxy!(
                        $value slot, *structure, $simple::Message, $array::MessageArray,
                        $sequence::MessageSequence, $bounded::MessageBoundedSequence
                    ),
                }
            }
        }
    };
}

/// Lends elements where they are.
macro_rules! lend {
    (Value $elements:ident) => {
        &**$elements
    };
    (ValueMut $elements:ident) => {
        &mut $elements.flattened().list
    };
    (Value bounded $elements:ident) => {
        Lent::Elements($elements.as_slice())
    };
    (ValueMut bounded $elements:ident) => {
        &mut $elements.flattened().list
    };
}

/// Lends values by proxies.
macro_rules! by_proxy {
    (
        Value $slot:ident, $metadata:expr, $one:expr, $array:expr, $sequence:expr, $bounded:expr
    ) => {
        match $slot {
            Slot::One(value) => Value::Simple($one(Proxy::of(value, $metadata))),
            Slot::Array(values) => Value::Array($array(proxies(values, $metadata))),
            Slot::Sequence(elements, None) => {
                Value::Sequence($sequence(DynamicSequence::new(proxies(elements, $metadata))))
            }
            Slot::Sequence(elements, Some(bound)) => {
                let elements = Lent::Proxies(proxies(elements, $metadata));
                Value::BoundedSequence($bounded(DynamicBoundedSequence::new(elements, *bound)))
            }
        }
    };
    (
        ValueMut $slot:ident, $metadata:expr, $one:expr, $array:expr, $sequence:expr, $bounded:expr
    ) => {
        match $slot {
            Slot::One(value) => ValueMut::Simple($one(ProxyMut::of(value, $metadata))),
            Slot::Array(values) => {
                ValueMut::Array($array(proxies_mut(values, $metadata).into_boxed_slice()))
            }
            Slot::Sequence(elements, None) => {
                let elements = ProxySequence::new(elements, $metadata);
                ValueMut::Sequence($sequence(DynamicSequenceMut::new(elements)))
            }
            Slot::Sequence(elements, Some(bound)) => {
                let elements = ProxySequence::new(elements, $metadata);
                let sequence = DynamicBoundedSequenceMut::new(elements, *bound);
                ValueMut::BoundedSequence($bounded(sequence))
            }
        }
    };
}

/// Defines both.
macro_rules! define_both {
    ($($types:tt)*) => {
        define_values! {
            Value: SimpleValue ArrayValue SequenceValue BoundedSequenceValue;
            *const u8; Ref; DynamicSequence DynamicBoundedSequence;
            DynamicBoundedString DynamicBoundedWString DynamicMessageView;
            $($types)*
        }
        define_values! {
            ValueMut: SimpleValueMut ArrayValueMut SequenceValueMut BoundedSequenceValueMut;
            *mut u8; RefMut; DynamicSequenceMut DynamicBoundedSequenceMut;
            DynamicBoundedStringMut DynamicBoundedWStringMut DynamicMessageViewMut;
            $($types)*
        }
    };
}

with_plain_types!(define_both);
