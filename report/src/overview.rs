//! The overview chart: latency over the crunch limit, one panel for each definition, with the floor
//! and rclcpp's figures within the process.

use crate::data::{Definition, ReportData};
use crate::figures;
use crate::format::ms;
use crate::published::{PEER_LIMITS, PEERS, Transport};
use crate::scale::{Scale, draw_y};
use crate::svg::{Anchor, Path, Svg, colour};

/// A curve: its name, its class, and for each N its mean and maximum in milliseconds.
struct Curve {
    name: String,
    class: String,
    points: Vec<Point>,
}

/// The width of the chart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// The panels side by side.
    Wide,
    /// The panels one below the other.
    Narrow,
}

/// The area of a panel.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    base: f64,
}

/// The distance of two lines of the legend.
const LINE: f64 = 18.0;

/// The chart; `None` without a measurement.
pub(crate) fn chart(data: &ReportData, width: Width) -> Option<Svg> {
    let panels = Definition::ALL.map(|definition| curves(data, definition));
    if !panels.iter().flatten().any(|curve| !curve.class.contains("other")) {
        return None;
    }
    let area = |left: f64, right: f64, top: f64| Area { left, right, top, base: top + 250.0 };
    let ((across, legend_top), areas) = match width {
        Width::Wide => ((960.0, 350.0), [area(48.0, 460.0, 46.0), area(536.0, 948.0, 46.0)]),
        Width::Narrow => ((360.0, 680.0), [area(36.0, 348.0, 46.0), area(36.0, 348.0, 376.0)]),
    };
    let names = legend(&panels);
    let title = "Mean latency of the hot path over N, in milliseconds; lower is better";
    let class = if width == Width::Wide { "chart wide" } else { "chart narrow" };
    let columns = if width == Width::Wide { 2 } else { 1 };
    let height = legend_top + LINE * names.len().div_ceil(columns) as f64;
    let mut svg = Svg::new(across, height, title).with_class(class);
    let points = || panels.iter().flatten().flat_map(|curve| &curve.points);
    for ((definition, curves), area) in Definition::ALL.into_iter().zip(&panels).zip(areas) {
        let x = Scale::log(smallest(points()), largest(points()), area.left, area.right);
        let values = points().flat_map(|(_, mean, max)| [*mean, *max]);
        let y = Scale::of(values, area.base, area.top);
        axes(&mut svg, definition, &limits(points()), (x, y), area);
        curves.iter().rev().for_each(|curve| draw(&mut svg, curve, x, y));
    }
    for (n, (name, class)) in names.iter().enumerate() {
        let left = areas[if width == Width::Wide { n % 2 } else { 0 }].left;
        draw_name(&mut svg, (left, legend_top + LINE * (n / columns) as f64), name, class);
    }
    Some(svg)
}

/// The names and classes of all curves, each once.
fn legend(panels: &[Vec<Curve>]) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    for curve in panels.iter().flatten() {
        if !names.iter().any(|(name, _)| *name == curve.name) {
            names.push((curve.name.clone(), curve.class.clone()));
        }
    }
    names
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

fn curves(data: &ReportData, definition: Definition) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (index, mode) in figures::modes(data).into_iter().enumerate() {
        let of_mode = data.measured.iter().filter(|m| m.mode == mode);
        let counted = of_mode.map(|m| (m.n, m.hot_path.by(definition).summary));
        let counted = counted.filter(|(_, figures)| !figures.is_empty());
        let points = counted.map(|(n, f)| (n, f.mean_ns / 1e6, f.max_ns as f64 / 1e6));
        let (name, class) = (format!("ringspin {mode}"), colour(index));
        curves.push(Curve { name, class, points: points.collect() });
    }
    if definition == Definition::SampleToStart {
        let peers = PEERS.iter().filter(|peer| peer.transport == Transport::InProcess);
        curves.extend(peers.filter(|peer| peer.is_rclcpp()).map(|peer| {
            let point = |n| peer.at(n).map(|figures| (n, figures.mean_ms, figures.max_ms));
            let points = PEER_LIMITS.into_iter().filter_map(point).collect();
            let name = format!("{}, published: another machine", peer.name);
            Curve { name, class: "other o0".into(), points }
        }));
    }
    let floor = |m: &crate::Measured| {
        figures::floor_ms(definition, m.crunch_ns).map(|floor| (m.n, floor, floor))
    };
    let mut points: Vec<Point> = data.measured.iter().filter_map(floor).collect();
    points.dedup_by_key(|(n, ..)| *n);
    let name = "floor: the work on the path, 4 and 5 crunches".into();
    curves.push(Curve { name, class: "other o1".into(), points });
    curves.retain_mut(|curve| {
        curve.points.retain(|(n, ..)| *n > 0);
        curve.points.sort_by_key(|(n, ..)| *n);
        !curve.points.is_empty()
    });
    curves
}

fn axes(
    svg: &mut Svg,
    definition: Definition,
    limits: &[u64],
    (x, y): (Scale, Scale),
    Area { left, right, top, base }: Area,
) {
    svg.text((left, top - 32.0), Anchor::Start, "strong", definition.name());
    let unit = "ms (mean; bar to max) ↓ lower is better";
    svg.text((left, top - 16.0), Anchor::Start, "small muted", unit);
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
    svg.text((right, base + 34.0), Anchor::End, "small muted", unit);
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

fn draw_name(svg: &mut Svg, (left, y): (f64, f64), name: &str, class: &str) {
    svg.line((left, y), (left + 24.0, y), &format!("{class} curve"));
    svg.circle((left + 12.0, y), 4.0, &format!("{class} dot"), "");
    let text = if class.contains("other") { "name" } else { "name strong" };
    svg.text((left + 32.0, y + 4.0), Anchor::Start, text, name);
}
