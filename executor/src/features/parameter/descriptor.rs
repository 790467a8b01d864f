//! The descriptor of a parameter: all its properties except the value.

use crate::base::parameter_value::{ParameterType, ParameterValue};
use std::fmt;

/// The description of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDescriptor {
    /// Its name, dots included.
    pub name: String,
    /// Its type; with dynamic typing, that of its value.
    pub parameter_type: ParameterType,
    /// Whether it takes values of any type; if not, its type never changes.
    pub dynamic_typing: bool,
    /// The purpose of the parameter, in words.
    pub description: String,
    /// Whether it can only be overridden, not set.
    pub read_only: bool,
    /// The limits of a number, or of each number of an array.
    pub range: Option<ParameterRange>,
    /// The only values that it can have; empty if it is not limited to some.
    pub choices: Vec<ParameterValue>,
    /// Further constraints, in words.
    pub additional_constraints: String,
}

impl ParameterDescriptor {
    /// Whether values of this type fit, and also no value.
    pub(super) fn takes(&self, given: ParameterType) -> bool {
        self.dynamic_typing || [self.parameter_type, ParameterType::NotSet].contains(&given)
    }
}

/// A range of numbers, both ends included.
///
/// With a step, values are `from` plus a multiple of it; `to` is always allowed, as in rclcpp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterRange {
    /// The range of an integer.
    Integer {
        /// The smallest value.
        from: i64,
        /// The largest value.
        to: i64,
        /// The distance of values; zero for any.
        step: i64,
    },
    /// The range of a double.
    FloatingPoint {
        /// The smallest value.
        from: f64,
        /// The largest value.
        to: f64,
        /// The distance of values; zero for any.
        step: f64,
    },
}

impl ParameterRange {
    /// Whether it contains a value and the step is not negative.
    pub fn is_valid(&self) -> bool {
        match *self {
            Self::Integer { from, to, step } => from <= to && step >= 0,
            Self::FloatingPoint { from, to, step } => from <= to && step >= 0.0 && step.is_finite(),
        }
    }

    /// Whether a number, or each number of an array, is in the range. Values of another type are.
    pub fn allows(&self, value: &ParameterValue) -> bool {
        match value {
            ParameterValue::Integer(value) => self.allows_integer(*value),
            ParameterValue::IntegerArray(values) => values.iter().all(|v| self.allows_integer(*v)),
            ParameterValue::Double(value) => self.allows_double(*value),
            ParameterValue::DoubleArray(values) => values.iter().all(|v| self.allows_double(*v)),
            _ => true,
        }
    }

    fn allows_integer(&self, value: i64) -> bool {
        let Self::Integer { from, to, step } = *self else { return true };
        let distance = i128::from(value) - i128::from(from);
        let on_step = step == 0 || distance % i128::from(step) == 0;
        (from..=to).contains(&value) && (on_step || value == to)
    }

    fn allows_double(&self, value: f64) -> bool {
        let Self::FloatingPoint { from, to, step } = *self else { return true };
        // A value that a division left a few units beyond the end is meant to be the end.
        let is_end = |end: f64| is_near(value, end, value.abs().max(end.abs()));
        let inside = (from..=to).contains(&value) || is_end(from) || is_end(to);
        let on_step = || {
            let nearest = from + ((value - from) / step).round() * step;
            step == 0.0 || is_end(to) || is_near(value, nearest, value.abs().max(from.abs()))
        };
        inside && on_step()
    }
}

/// Whether two numbers differ by no more than the rounding of numbers of size `scale`.
fn is_near(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= scale * (100.0 * f64::EPSILON) && scale.is_finite()
}

impl fmt::Display for ParameterRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { from, to, step } => {
                write!(f, "{from} to {to}")?;
                match step {
                    0 | 1 => Ok(()),
                    step => write!(f, " in steps of {step}"),
                }
            }
            Self::FloatingPoint { from, to, step } => {
                write!(f, "{from:?} to {to:?}")?;
                match *step {
                    0.0 => Ok(()),
                    step => write!(f, " in steps of {step:?}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_ranges_include_both_ends_and_steps_count_from_the_first() {
        let range = ParameterRange::Integer { from: 1, to: 10, step: 4 };
        let allowed = (-3..15).filter(|&n| range.allows(&ParameterValue::Integer(n)));
        assert_eq!(allowed.collect::<Vec<_>>(), [1, 5, 9, 10]);
        let all = ParameterRange::Integer { from: i64::MIN, to: i64::MAX, step: 2 };
        assert!(all.allows(&ParameterValue::Integer(i64::MAX)));
        assert!(!all.allows(&ParameterValue::Integer(i64::MAX - 2)));
        assert!(!range.allows(&ParameterValue::IntegerArray(vec![1, 2])));
        assert!(range.allows(&ParameterValue::IntegerArray(vec![1, 5])));
    }

    #[test]
    fn float_ranges_bear_rounding_but_not_nan() {
        let range = ParameterRange::FloatingPoint { from: 0.0, to: 1.0, step: 0.1 };
        for n in 0..=10 {
            assert!(range.allows(&ParameterValue::Double(f64::from(n) * 0.1)), "{n}");
        }
        for value in [0.05, -0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!range.allows(&ParameterValue::Double(value)), "{value}");
        }
        let wide = ParameterRange::FloatingPoint { from: -1e300, to: f64::INFINITY, step: 0.0 };
        assert!(wide.allows(&ParameterValue::Double(f64::INFINITY)));
        assert!(wide.allows(&ParameterValue::Double(0.0)));
        let half = ParameterRange::FloatingPoint { from: -1e300, to: 0.0, step: 0.0 };
        assert!(!half.allows(&ParameterValue::Double(1.0)));
    }

    #[test]
    fn empty_and_backward_ranges_are_invalid() {
        assert!(!ParameterRange::Integer { from: 1, to: 0, step: 0 }.is_valid());
        assert!(!ParameterRange::Integer { from: 0, to: 1, step: -1 }.is_valid());
        let float = |from, to, step| ParameterRange::FloatingPoint { from, to, step };
        assert!(float(0.0, 0.0, 0.0).is_valid());
        assert!(!float(f64::NAN, 1.0, 0.0).is_valid() && !float(0.0, 1.0, f64::NAN).is_valid());
    }
}
