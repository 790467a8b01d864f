//! Axes: linear and logarithmic mapping of values to pixels, ticks, and their drawing.

use crate::svg::{Anchor, Svg};

/// The ratio of the largest to the smallest value above which an axis is logarithmic.
const LOG_RATIO: f64 = 12.0;

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    log: bool,
    /// The limits of the domain; their logarithms if it is logarithmic.
    min: f64,
    max: f64,
    /// The pixel positions of the limits.
    from_px: f64,
    to_px: f64,
}

impl Scale {
    /// Creates an axis that starts at zero, or a logarithmic one if positive values span more than
    /// a decade. Values that are not finite are ignored.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>, from_px: f64, to_px: f64) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let max = values.iter().copied().fold(0.0, f64::max);
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        if min > 0.0 && max / min >= LOG_RATIO {
            return Self::log(min, max, from_px, to_px);
        }
        let max = if max > 0.0 { max * 1.06 } else { 1.0 };
        Self { log: false, min: 0.0, max, from_px, to_px }
    }

    /// Creates a logarithmic axis for positive values, with some margin at both ends.
    pub(crate) fn log(min: f64, max: f64, from_px: f64, to_px: f64) -> Self {
        let (min, max) = (min.ln(), max.ln());
        let room = ((max - min) * 0.04).max(0.05);
        Self { log: true, min: min - room, max: max + room, from_px, to_px }
    }

    /// Creates a linear axis with exactly these limits.
    pub(crate) fn linear(min: f64, max: f64, from_px: f64, to_px: f64) -> Self {
        Self { log: false, min, max: if max > min { max } else { min + 1.0 }, from_px, to_px }
    }

    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// The position of `value`, clamped to the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = match self.log {
            true if value > 0.0 => value.ln(),
            true => self.min,
            false => value,
        };
        let share = ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0);
        self.from_px + share * (self.to_px - self.from_px)
    }

    /// The ticks, about `gap_px` pixels apart or more.
    pub(crate) fn ticks(&self, gap_px: f64) -> Vec<f64> {
        let most = ((self.to_px - self.from_px).abs() / gap_px).max(2.0);
        if self.log { self.log_ticks(most) } else { self.linear_ticks(most) }
    }

    fn linear_ticks(&self, most: f64) -> Vec<f64> {
        let raw = (self.max - self.min) / most;
        let decade = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| *s >= raw);
        let step = step.unwrap_or(10.0 * decade);
        let first = (self.min / step).ceil() as i64;
        let last = (self.max / step).floor() as i64;
        (first..=last.min(first + 100)).map(|n| n as f64 * step).collect()
    }

    fn log_ticks(&self, most: f64) -> Vec<f64> {
        let (low, high) = (self.min.exp(), self.max.exp());
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let at = |multiples: &[f64], every: i32| -> Vec<f64> {
            let decades = decades.clone().filter(|d| d.rem_euclid(every) == 0);
            let all = decades.flat_map(|d| multiples.iter().map(move |m| m * 10f64.powi(d)));
            all.filter(|tick| (low..=high).contains(tick)).collect()
        };
        let finest = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]];
        let fitting = finest.into_iter().map(|m| at(m, 1)).find(|ticks| ticks.len() as f64 <= most);
        fitting
            .or_else(|| (2..40).map(|e| at(&[1.0], e)).find(|t| t.len() as f64 <= most))
            .unwrap_or_default()
    }
}

/// Draws a horizontal axis at `base`, with labelled grid lines from `top`.
pub(crate) fn draw_x(svg: &mut Svg, scale: Scale, (top, base): (f64, f64), gap_px: f64) {
    for tick in scale.ticks(gap_px) {
        let x = scale.at(tick);
        svg.line((x, top), (x, base), "grid");
        svg.text((x, base + 14.0), Anchor::Middle, "small", &label(tick));
    }
    svg.line((scale.from_px, base), (scale.to_px, base), "axis");
}

/// Draws the labelled grid lines of a vertical axis, from `left` to `right`.
pub(crate) fn draw_y(svg: &mut Svg, scale: Scale, (left, right): (f64, f64), gap_px: f64) {
    for tick in scale.ticks(gap_px) {
        let at = scale.at(tick);
        svg.line((left, at), (right, at), "grid");
        svg.text((left - 6.0, at + 4.0), Anchor::End, "small", &label(tick));
    }
}

/// Writes the unit of a horizontal axis below its right end.
pub(crate) fn unit_below(svg: &mut Svg, scale: Scale, base: f64, unit: &str) {
    let unit = if scale.is_log() { format!("{unit}, logarithmic") } else { unit.into() };
    svg.text((scale.to_px, base + 32.0), Anchor::End, "small muted", &unit);
}

/// A tick label with as few digits as possible.
pub(crate) fn label(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        size if size >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_where_values_span_more_than_a_decade() {
        let near = Scale::of([5.0, 20.0], 0.0, 100.0);
        assert!(!near.is_log() && near.at(0.0) == 0.0 && near.at(20.0) < 100.0);
        let wide = Scale::of([0.02, 5.0, f64::NAN], 0.0, 100.0);
        assert!(wide.is_log());
        assert!((wide.at(0.2) + wide.at(0.5) - 2.0 * wide.at(0.1f64.sqrt())).abs() < 1e-9);
        assert!(!Scale::of([0.0, 5.0, 1000.0], 0.0, 1.0).is_log(), "zero has no logarithm");
        assert_eq!(Scale::of([], 0.0, 100.0).at(0.5), 50.0);
    }

    #[test]
    fn values_outside_the_axis_are_clamped() {
        let scale = Scale::log(1.0, 100.0, 10.0, 90.0);
        assert_eq!((scale.at(0.0), scale.at(1e9), scale.at(-1.0)), (10.0, 90.0, 10.0));
    }

    #[test]
    fn ticks_are_round_and_not_too_many() {
        let labels =
            |scale: Scale, gap| scale.ticks(gap).into_iter().map(label).collect::<Vec<_>>();
        assert_eq!(labels(Scale::of([23.0], 0.0, 300.0), 60.0), ["0", "5", "10", "15", "20"]);
        assert_eq!(labels(Scale::log(0.02, 1.1, 0.0, 300.0), 60.0), ["0.03", "0.1", "0.3", "1"]);
        assert_eq!(labels(Scale::log(1.0, 1e6, 0.0, 90.0), 30.0), ["1", "1000", "1M"]);
        for most in [1.0, 50.0, 1e5] {
            assert!(Scale::log(1e-9, 1e9, 0.0, 100.0).ticks(most).len() <= 101);
        }
        assert_eq!([label(0.0), label(20_000.0), label(0.0004)], ["0", "20k", "0.0004"]);
    }
}
