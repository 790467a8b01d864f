//! Macros for sequences in user code, and for the implementations in generated code.

/// Creates a [`Sequence`](crate::Sequence) of values; after a literal bound and `#`, a
/// [`BoundedSequence`](crate::BoundedSequence).
///
/// More values than the bound are an error of the compiler.
///
/// ```
/// use rosidl_runtime_rs::{BoundedSequence, Sequence, seq};
/// let sequence: Sequence<i32> = seq![1, 2, 3];
/// let bounded: BoundedSequence<i32, 5> = seq![5 # 1, 2, 3];
/// assert_eq!(sequence[..], bounded[..]);
/// ```
///
/// ```compile_fail
/// let bounded = rosidl_runtime_rs::seq![2 # 1, 2, 3];
/// ```
#[macro_export]
macro_rules! seq {
    ($($element:expr),* $(,)?) => {
        $crate::Sequence::from(::std::vec![$($element),*])
    };
    ($bound:literal # $($element:expr),* $(,)?) => {{
        const {
            let units: &[()] = &[$($crate::seq!(@unit $element)),*];
            assert!(units.len() <= $bound, "above the bound");
        };
        <$crate::BoundedSequence<_, $bound> as ::core::iter::FromIterator<_>>::from_iter(
            [$($element),*],
        )
    }};
    (@unit $element:expr) => { () };
}

/// Implements the traits of a message for its idiomatic struct, which has the RMW form `$rmw`.
#[doc(hidden)]
#[macro_export]
macro_rules! idiomatic_message {
    ($idiomatic:ident, $rmw:ty, $($field:ident)*) => {
        impl $crate::Message for $idiomatic {
            type RmwMsg = $rmw;

            fn into_rmw_message(
                message: ::std::borrow::Cow<'_, Self>,
            ) -> ::std::borrow::Cow<'_, Self::RmwMsg> {
                let message = message.into_owned();
                ::std::borrow::Cow::Owned(Self::RmwMsg {
                    $($field: $crate::Convert::into_rmw(message.$field)),*
                })
            }

            fn from_rmw_message(rmw: Self::RmwMsg) -> Self {
                Self { $($field: $crate::Convert::from_rmw(rmw.$field)),* }
            }
        }
    };
}

/// Implements the traits of a message for a struct that is its RMW form.
#[doc(hidden)]
#[macro_export]
macro_rules! rmw_message {
    ($rmw:ident) => {
        impl $crate::Message for $rmw {
            type RmwMsg = Self;

            fn into_rmw_message(
                message: ::std::borrow::Cow<'_, Self>,
            ) -> ::std::borrow::Cow<'_, Self> {
                message
            }

            fn from_rmw_message(message: Self) -> Self {
                message
            }
        }

        impl $crate::RmwMessage for $rmw {
            const TYPE_NAME: &'static str =
                <Self as $crate::ringspin_messages::RosMessage>::TYPE_NAME;
        }
    };
}
