//! Texts of numbers, the same in charts and tables.

use crate::data::{Term, Unit};
use crate::summary::format_ms;

/// A latency in milliseconds; "-" unless it is finite.
pub(crate) fn ms(ms: f64) -> String {
    match ms.is_finite() {
        true => format_ms(ms * 1e6),
        false => "-".into(),
    }
}

/// The name of a term with its unit.
pub(crate) fn term_name(term: &Term) -> String {
    match term.unit {
        Unit::Nanoseconds => format!("{}, ms", term.name),
        Unit::Count => term.name.clone(),
        Unit::Millionths => format!("{}, %", term.name),
    }
}

/// A term's value in the unit of [`term_name`], to draw it.
pub(crate) fn in_shown_unit(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Nanoseconds => value / 1e6,
        Unit::Count => value,
        Unit::Millionths => value / 1e4,
    }
}

/// A term's value in the unit of [`term_name`].
pub(crate) fn term(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => ms(value / 1e6),
        Unit::Count if value.is_finite() => format!("{}", (value * 1e3).round() / 1e3),
        Unit::Millionths if value.is_finite() => format!("{:.1}", value / 1e4),
        Unit::Count | Unit::Millionths => "–".into(),
    }
}

/// The error of a prediction, in percent.
pub(crate) fn error(percent: Option<f64>) -> String {
    let tenths = percent.filter(|p| p.is_finite()).map(|p| (p * 10.0).round() / 10.0);
    // Avoids "-0.0".
    tenths.map_or_else(|| "–".into(), |p| format!("{:+.1} %", p + 0.0))
}
