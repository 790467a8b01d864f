//! The overview chart: latency over the crunch limit, with published figures.

use crate::published::{PAPER, PaperRow, RCLCPP, RclcppExecutor, Spread};

use crate::data::ReportData;
use crate::figures;
use crate::format::ms;
use crate::scale::{Scale, draw_y};
use crate::svg::{Anchor, Path, Svg, colour};

/// A curve: its name, its class, and for each N its mean and maximum in milliseconds.
struct Curve {
    name: String,
    class: String,
    points: Vec<(u64, f64, f64)>,
}

/// The width of the chart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// Labels next to their curves.
    Wide,
    /// Labels below the chart.
    Narrow,
}

/// The chart; `None` without a measurement.
pub(crate) fn chart(data: &ReportData, width: Width) -> Option<Svg> {
    let curves = curves(data);
    if !curves.iter().any(|curve| !curve.class.contains("other")) {
        return None;
    }
    let (size, plot) = match width {
        Width::Wide => ((960.0, 400.0), (52.0, 720.0)),
        Width::Narrow => ((360.0, 330.0 + 18.0 * curves.len() as f64), (36.0, 348.0)),
    };
    let base = if width == Width::Wide { size.1 - 46.0 } else { 280.0 };
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::log(1.0f64.max(smallest(points())), largest(points()), plot.0, plot.1);
    let y = Scale::of(points().flat_map(|(_, mean, max)| [*mean, *max]), base, 34.0);
    let title = "Mean latency of the hot path over N, in milliseconds; lower is better";
    let class = if width == Width::Wide { "chart wide" } else { "chart narrow" };
    let mut svg = Svg::new(size.0, size.1, title).with_class(class);
    axes(&mut svg, &limits(points()), (x, y), (plot, base));
    for curve in curves.iter().rev() {
        draw(&mut svg, curve, x, y);
    }
    match width {
        Width::Wide => names_beside(&mut svg, &curves, (x, y), plot.1 + 18.0),
        Width::Narrow => names_below(&mut svg, &curves, base + 58.0),
    }
    Some(svg)
}

type Point = (u64, f64, f64);

fn smallest<'a>(points: impl Iterator<Item = &'a Point>) -> f64 {
    points.map(|(n, ..)| *n as f64).fold(f64::INFINITY, f64::min)
}

fn largest<'a>(points: impl Iterator<Item = &'a Point>) -> f64 {
    points.map(|(n, ..)| *n as f64).fold(1.0, f64::max)
}

fn limits<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<u64> {
    let mut limits: Vec<u64> = points.map(|(n, ..)| *n).filter(|n| *n > 0).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

fn curves(data: &ReportData) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (index, mode) in figures::modes(data).into_iter().enumerate() {
        let of_mode = data.measured.iter().filter(|m| m.mode == mode);
        let counted = of_mode.map(|m| (m.n, m.hot_path));
        let counted = counted.filter(|(_, figures)| !figures.is_empty());
        let points = counted.map(|(n, f)| (n, f.mean_ns / 1e6, f.max_ns as f64 / 1e6));
        let (name, class) = (format!("ringspin {mode}"), colour(index));
        curves.push(Curve { name, class, points: points.collect() });
    }
    let paper = |name: &str, class: &str, of: fn(&PaperRow) -> _| Curve {
        name: format!("paper, {name}"),
        class: format!("other {class}"),
        points: PAPER
            .iter()
            .map(|row| {
                let figures: Spread = of(row);
                (row.n, figures.avg_ms, figures.max_ms)
            })
            .collect(),
    };
    curves.push(paper("ring buffer", "o0", |row| row.ring_buffer));
    curves.push(paper("rclcpp single", "o1", |row| row.single_threaded));
    let jazzy = |executor: RclcppExecutor, class: &str| Curve {
        name: format!("Jazzy, {}", executor.label()),
        class: format!("other {class}"),
        points: RCLCPP
            .iter()
            .map(|row| (row.n, row.of(executor).avg_ms, row.of(executor).max_ms))
            .collect(),
    };
    curves.push(jazzy(RclcppExecutor::Events, "o2"));
    curves.push(jazzy(RclcppExecutor::Prioritized, "o3"));
    curves.retain_mut(|curve| {
        curve.points.sort_by_key(|(n, ..)| *n);
        !curve.points.is_empty()
    });
    curves
}

fn axes(
    svg: &mut Svg,
    limits: &[u64],
    (x, y): (Scale, Scale),
    ((left, right), base): ((f64, f64), f64),
) {
    svg.text((left, 14.0), Anchor::Start, "small muted", "hot path latency, ms (mean; bar to max)");
    draw_y(svg, y, (left, right), 34.0);
    let mut free = f64::INFINITY;
    for n in limits.iter().rev() {
        let at = x.at(*n as f64);
        svg.line((at, base), (at, base + 4.0), "axis");
        // A tick too close to the next one has no label.
        if free - at > 30.0 {
            svg.text((at, base + 18.0), Anchor::Middle, "small", &n.to_string());
            free = at;
        }
    }
    svg.line((left, base), (right, base), "axis");
    let unit = "N, the crunch limit; both axes logarithmic";
    svg.text((right, base + 36.0), Anchor::End, "small muted", unit);
    svg.text((left, 28.0), Anchor::Start, "small muted", "↓ lower is better");
}

fn draw(svg: &mut Svg, curve: &Curve, x: Scale, y: Scale) {
    let class = &curve.class;
    let is_ours = !class.contains("other");
    let at = |point: &Point| (x.at(point.0 as f64), y.at(point.1));
    svg.path(&Path::lines(curve.points.iter().map(at)), &format!("{class} curve"), "");
    for point in &curve.points {
        let (n, mean, max) = (point.0, ms(point.1), ms(point.2));
        let title = format!("{}, N = {n}: mean {mean} ms, max {max} ms", curve.name);
        let (px, py) = at(point);
        if is_ours {
            svg.line((px, py), (px, y.at(point.2)), &format!("{class} tick thin"));
        }
        svg.circle((px, py), if is_ours { 4.5 } else { 3.0 }, &format!("{class} dot"), &title);
    }
}

/// Draws labels at the ends of their curves, moved apart where they would overlap.
fn names_beside(svg: &mut Svg, curves: &[Curve], (x, y): (Scale, Scale), left: f64) {
    let end =
        |curve: &Curve| curve.points.last().map_or((0.0, 0.0), |p| (x.at(p.0 as f64), y.at(p.1)));
    let mut order: Vec<&Curve> = curves.iter().collect();
    order.sort_by(|a, b| end(a).1.total_cmp(&end(b).1));
    let wanted: Vec<f64> = order.iter().map(|curve| end(curve).1).collect();
    for (curve, at) in order.into_iter().zip(crate::layout::apart(&wanted, 19.0)) {
        let from = end(curve);
        let class = &curve.class;
        svg.line((from.0 + 6.0, from.1), (left - 4.0, at), "leader");
        svg.circle((left + 4.0, at), 4.0, &format!("{class} dot"), "");
        let text = if class.contains("other") { "name" } else { "name strong" };
        svg.text((left + 14.0, at + 4.0), Anchor::Start, text, &curve.name);
    }
}

fn names_below(svg: &mut Svg, curves: &[Curve], top: f64) {
    for (n, curve) in curves.iter().enumerate() {
        let (class, y) = (&curve.class, top + 18.0 * n as f64);
        svg.line((10.0, y), (34.0, y), &format!("{class} curve"));
        svg.circle((22.0, y), 4.0, &format!("{class} dot"), "");
        let text = if class.contains("other") { "name" } else { "name strong" };
        svg.text((42.0, y + 4.0), Anchor::Start, text, &curve.name);
    }
}
