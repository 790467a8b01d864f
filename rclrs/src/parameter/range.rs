//! Ranges of numbers.

use super::value::{ParameterValue, ParameterVariant};
use ringspin::parameter::ParameterRange as GraphRange;

/// The range of a number.
///
/// With a step and a lower limit, values are the lower limit plus a multiple of the step, or the
/// upper limit. A step without a lower limit has no effect.
#[derive(Clone, Debug, Default)]
pub struct ParameterRange<T: ParameterVariant + PartialOrd> {
    /// The smallest value.
    pub lower: Option<T>,
    /// The largest value.
    pub upper: Option<T>,
    /// The distance of values: positive.
    pub step: Option<T>,
}

/// The range of a value of any type: it limits the numbers of one type, or nothing.
#[derive(Clone, Debug, Default)]
pub struct ParameterRanges(Option<GraphRange>);

impl ParameterRanges {
    /// The range in the graph.
    pub(super) fn to_graph(&self) -> Option<GraphRange> {
        self.0
    }

    pub(super) fn of_graph(range: Option<GraphRange>) -> Self {
        Self(range)
    }

    /// Whether the range contains a value and its step is positive.
    pub(super) fn is_valid(&self) -> bool {
        self.0.is_none_or(|range| range.is_valid())
    }

    pub(super) fn in_range(&self, value: &ParameterValue) -> bool {
        self.0.is_none_or(|range| range.allows(&value.to_graph()))
    }
}

/// Defines the conversion of a range of `number`, which has these limits.
macro_rules! ranges {
    ($number:ty, $variant:ident, $from:expr, $to:expr, $zero:expr) => {
        impl From<ParameterRange<$number>> for ParameterRanges {
            fn from(range: ParameterRange<$number>) -> Self {
                let ParameterRange { lower, upper, step } = range;
                if lower.is_none() && upper.is_none() && step.is_none() {
                    return Self::default();
                }
                let step = match step {
                    Some(step) if step > $zero && lower.is_some() => step,
                    Some(step) if step > $zero => $zero,
                    // Not valid, which the declaration reports.
                    Some(_) => -<$number>::from(1u8),
                    None => $zero,
                };
                let (from, to) = (lower.unwrap_or($from), upper.unwrap_or($to));
                Self(Some(GraphRange::$variant { from, to, step }))
            }
        }
    };
}

ranges!(i64, Integer, i64::MIN, i64::MAX, 0);
ranges!(f64, FloatingPoint, f64::NEG_INFINITY, f64::INFINITY, 0.0);

impl From<()> for ParameterRanges {
    fn from((): ()) -> Self {
        Self::default()
    }
}
