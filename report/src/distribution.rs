//! The distribution of the hot path's latency: one panel for each crunch limit and definition, one
//! violin per run, and published figures as ranges with their mean.

use crate::figures::{Row, Source};
use crate::format::ms;
use crate::scale::{Scale, draw_x, unit_below};
use crate::svg::{Anchor, Path, Svg, colour};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 12.0;
/// A row: a line of text and the glyph below it.
const ROW: f64 = 45.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 42.0;
/// Half the height of a violin.
const HALF: f64 = 12.0;
/// The number of steps in the outline of a violin.
const STEPS: usize = 60;
/// The number of samples above which a violin is drawn from as many quantiles.
const SAMPLES_MAX: usize = 400;
/// The largest number of samples shown as points.
const POINTS_MAX: usize = 120;

/// The panel of these rows, all of one latency that `heading` names; `None` without an own row.
pub(crate) fn panel(heading: &str, rows: &[Row]) -> Option<String> {
    if rows.iter().all(|row| matches!(row.source, Source::Peer)) {
        return None;
    }
    let floor = rows.iter().filter(|r| matches!(r.source, Source::Live(_))).find_map(|r| r.floor);
    let values = rows.iter().flat_map(|row| [row.min.unwrap_or(row.mean), row.max]).chain(floor);
    let scale = Scale::of(values, LEFT, RIGHT);
    let base = TOP + rows.len() as f64 * ROW;
    let title = format!("Latency, {heading}, in milliseconds; lower is better");
    let mut svg = Svg::new(WIDTH, base + BOTTOM, &title);
    svg.text((LEFT, 14.0), Anchor::Start, "strong", heading);
    axis(&mut svg, scale, base);
    if let Some(floor) = floor {
        let x = scale.at(floor);
        svg.line((x, TOP - 8.0), (x, base), "floor");
        let at = if x > WIDTH / 2.0 { Anchor::End } else { Anchor::Start };
        svg.text((x, TOP - 12.0), at, "small muted", &format!("floor {} ms", ms(floor)));
    }
    for (n, row) in rows.iter().enumerate() {
        draw(&mut svg, row, scale, TOP + n as f64 * ROW);
    }
    Some(svg.finish())
}

fn axis(svg: &mut Svg, scale: Scale, base: f64) {
    draw_x(svg, scale, (TOP - 4.0, base), 38.0);
    unit_below(svg, scale, base, "ms");
    svg.text((LEFT, base + 32.0), Anchor::Start, "small muted", "← lower is better");
}

fn draw(svg: &mut Svg, row: &Row, scale: Scale, top: f64) {
    let class = match row.source {
        Source::Live(n) => colour(n),
        Source::Twin(n) => format!("{} twin", colour(n)),
        Source::Peer => "other".into(),
    };
    let emphasis = if matches!(row.source, Source::Live(_)) { "name strong" } else { "name" };
    svg.text((LEFT, top + 12.0), Anchor::Start, emphasis, &row.executor);
    let figures = format!("mean {} · max {} ms", ms(row.mean), ms(row.max));
    svg.text((RIGHT, top + 12.0), Anchor::End, "small", &figures);
    let (y, title) = (top + 30.0, described(row));
    if row.samples.is_empty() {
        range(svg, row, scale, y, &class, &title);
    } else {
        violin(svg, &row.samples, scale, y, &class, &title);
        inner_box(svg, row, scale, y, &class);
    }
    svg.diamond((scale.at(row.mean), y), 4.0, &format!("{class} mean"), &title);
}

/// The figures of a row, as a tooltip.
fn described(row: &Row) -> String {
    let figures = [
        ("min", row.min),
        ("mean", Some(row.mean)),
        ("p50", row.p50),
        ("p99", Some(row.p99)),
        ("max", Some(row.max)),
        ("std", row.std),
    ];
    let known = figures.into_iter().filter_map(|(name, ms)| Some((name, ms?)));
    let known: Vec<_> = known.map(|(name, value)| format!("{name} {}", ms(value))).collect();
    format!("{}: {} ms", row.executor, known.join(", "))
}

fn range(svg: &mut Svg, row: &Row, scale: Scale, y: f64, class: &str, title: &str) {
    let (from, to) = (scale.at(row.min.unwrap_or(row.mean)), scale.at(row.max));
    svg.rect((from, y - 2.5), (to - from, 5.0), &format!("{class} range"), title);
    svg.line((to, y - 6.0), (to, y + 6.0), &format!("{class} tick"));
}

fn violin(svg: &mut Svg, samples: &[f64], scale: Scale, y: f64, class: &str, title: &str) {
    let class = format!("{class} violin");
    let xs: Vec<f64> = thinned(samples).map(|ms| scale.at(ms)).collect();
    let (from, to) = (xs[0], xs[xs.len() - 1]);
    if xs.len() < 3 || to - from < 3.0 {
        let width = (to - from).max(3.0);
        svg.rect((from - 1.5, y - HALF), (width, 2.0 * HALF), &class, title);
        return;
    }
    let density = densities(&xs, from, to);
    let top = density.iter().copied().fold(0.0, f64::max);
    let x = |n: usize| from + (to - from) * n as f64 / STEPS as f64;
    let half = |n: usize| (HALF * density[n] / top).max(0.6);
    let upper = (0..=STEPS).map(|n| (x(n), y - half(n)));
    let lower = (0..=STEPS).rev().map(|n| (x(n), y + half(n)));
    svg.path(&Path::polygon(upper.chain(lower)), &class, title);
}

/// All samples, or quantiles if there are too many.
fn thinned(sorted: &[f64]) -> impl Iterator<Item = f64> {
    let count = sorted.len().min(SAMPLES_MAX);
    let last = (count - 1).max(1);
    (0..count).map(move |n| sorted[n * (sorted.len() - 1) / last])
}

/// A Gaussian kernel density at each step, in pixels, so that both kinds of axes look alike; cut at
/// the smallest and the largest sample.
fn densities(xs: &[f64], from: f64, to: f64) -> Vec<f64> {
    let count = xs.len() as f64;
    let mean = xs.iter().sum::<f64>() / count;
    let deviation = (xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    // Silverman's rule, limited to visible widths.
    let width = (1.06 * deviation * count.powf(-0.2)).clamp(1.2, 10.0);
    let at = |n: usize| from + (to - from) * n as f64 / STEPS as f64;
    let kernel = |distance: f64| (-0.5 * (distance / width).powi(2)).exp();
    (0..=STEPS).map(|n| xs.iter().map(|x| kernel(x - at(n))).sum()).collect()
}

fn inner_box(svg: &mut Svg, row: &Row, scale: Scale, y: f64, class: &str) {
    let quantile = |share: f64| {
        let rank = (share * row.samples.len() as f64).ceil().max(1.0) as usize;
        scale.at(row.samples[rank - 1])
    };
    let (low, high) = (quantile(0.25), quantile(0.75));
    if row.samples.len() <= POINTS_MAX {
        for ms in &row.samples {
            svg.circle((scale.at(*ms), y), 1.3, &format!("{class} point"), "");
        }
    }
    svg.rect((low, y - 3.5), (high - low, 7.0), &format!("{class} quartiles"), "");
    let median = quantile(0.5);
    svg.line((median, y - 5.5), (median, y + 5.5), &format!("{class} tick"));
    let x = scale.at(row.p99);
    svg.line((x, y - 8.0), (x, y + 8.0), &format!("{class} tick thin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violin_is_widest_where_most_samples_are() {
        let mut xs = vec![10.0; 50];
        xs.extend([60.0, 60.0, 100.0]);
        let density = densities(&xs, 10.0, 100.0);
        let widest = density.iter().copied().fold(0.0, f64::max);
        assert_eq!(density[0], widest);
        assert!(density[STEPS] < 0.1 * widest);
    }

    #[test]
    fn many_samples_are_thinned_to_quantiles_with_both_ends() {
        let sorted: Vec<f64> = (0..10_000).map(f64::from).collect();
        let thin: Vec<f64> = thinned(&sorted).collect();
        assert_eq!((thin.len(), thin[0], thin[SAMPLES_MAX - 1]), (SAMPLES_MAX, 0.0, 9_999.0));
        assert_eq!(thinned(&[7.0]).collect::<Vec<_>>(), [7.0]);
    }
}
