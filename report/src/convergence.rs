//! Convergence charts: the best score of each strategy over the number of evaluations, one panel
//! per term of the score.

use crate::data::{Convergence, OptimizationData, Term};
use crate::format;
use crate::scale::{Scale, draw_x, draw_y, unit_below};
use crate::svg::{Anchor, Path, Svg, colour};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 34.0;
const BASE: f64 = 196.0;
const LINE: f64 = 17.0;

/// One panel for each term that is not constant.
pub(crate) fn panels(data: &OptimizationData) -> Vec<String> {
    let varies = |n: &usize| {
        let mut values = values(&data.convergence, *n);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    (0..data.terms.len()).filter(varies).filter_map(|n| panel(data, n)).collect()
}

/// The constant terms, with their value; they have no panel.
pub(crate) fn constant_terms(data: &OptimizationData) -> Vec<(&Term, f64)> {
    let constant = |(n, term)| {
        let mut values = values(&data.convergence, n);
        let first = values.next()?;
        values.all(|value| value == first).then_some((term, first))
    };
    data.terms.iter().enumerate().filter_map(constant).collect()
}

/// All finite values of a term.
fn values(convergence: &[Convergence], term: usize) -> impl Iterator<Item = f64> {
    let points = convergence.iter().flat_map(|strategy| &strategy.points);
    points
        .filter_map(move |(_, score)| score.get(term).copied().flatten())
        .filter(|v| v.is_finite())
}

fn panel(data: &OptimizationData, n: usize) -> Option<String> {
    let term = data.terms.get(n)?;
    let curves: Vec<(usize, &Convergence)> = data.convergence.iter().enumerate().collect();
    let last = curves.iter().filter_map(|(_, c)| c.points.last().map(|(at, _)| *at)).max()?;
    let first = curves.iter().filter_map(|(_, c)| c.points.first().map(|(at, _)| *at)).min()?;
    let x = match last as f64 / first.max(1) as f64 {
        ratio if ratio > 12.0 => Scale::log(first.max(1) as f64, last as f64, LEFT, RIGHT),
        _ => Scale::linear(0.0, last as f64 * 1.02, LEFT, RIGHT),
    };
    let y =
        fitted(values(&data.convergence, n).map(|value| format::in_shown_unit(value, term.unit)));
    let title =
        format!("{} of the best candidate so far; lower is better", format::term_name(term));
    let height = BASE + 52.0 + LINE * curves.len() as f64;
    let mut svg = Svg::new(WIDTH, height, &title);
    axes(&mut svg, term, (x, y));
    for (index, curve) in &curves {
        let at = |(at, score): &(u64, Vec<Option<f64>>)| {
            let value = score.get(n).copied().flatten().filter(|value| value.is_finite())?;
            Some((x.at(*at as f64), y.at(format::in_shown_unit(value, term.unit))))
        };
        let points: Vec<(f64, f64)> = curve.points.iter().filter_map(at).collect();
        draw(&mut svg, &points, &colour(*index), &curve.strategy);
        let (name_y, class) = (BASE + 52.0 + LINE * *index as f64, colour(*index));
        svg.line((LEFT, name_y - 4.0), (LEFT + 22.0, name_y - 4.0), &format!("{class} curve"));
        svg.text((LEFT + 30.0, name_y), Anchor::Start, "small", &curve.strategy);
        let end = curve.points.last().and_then(|(_, score)| score.get(n).copied().flatten());
        let end = end.map(|value| format::term(value, term.unit)).unwrap_or_default();
        svg.text((RIGHT, name_y), Anchor::End, "small", &end);
    }
    Some(svg.finish())
}

/// An axis that need not begin at zero, because the slope of the curves matters.
fn fitted(values: impl Iterator<Item = f64>) -> Scale {
    let values: Vec<f64> = values.collect();
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if min > 0.0 && max / min > 12.0 {
        return Scale::log(min, max, BASE, TOP);
    }
    let room = (max - min) * 0.06;
    let low = if min >= 0.0 { (min - room).max(0.0) } else { min - room };
    Scale::linear(low, max + room, BASE, TOP)
}

fn axes(svg: &mut Svg, term: &Term, (x, y): (Scale, Scale)) {
    let name =
        format!("{}{}", format::term_name(term), if y.is_log() { ", logarithmic" } else { "" });
    svg.text((4.0, 14.0), Anchor::Start, "strong", &name);
    svg.text((RIGHT, 14.0), Anchor::End, "small muted", "↓ lower is better");
    draw_y(svg, y, (LEFT, RIGHT), 36.0);
    draw_x(svg, x, (BASE - 4.0, BASE), 52.0);
    unit_below(svg, x, BASE, "evaluations");
}

/// Draws a step function: it falls where a better candidate is found.
fn draw(svg: &mut Svg, points: &[(f64, f64)], class: &str, strategy: &str) {
    let Some(first) = points.first() else { return };
    let mut path = Path::start(*first);
    for pair in points.windows(2) {
        path.line_to((pair[1].0, pair[0].1));
        path.line_to(pair[1]);
    }
    svg.path(&path, &format!("{class} curve"), strategy);
    let last = points[points.len() - 1];
    svg.circle(last, 3.5, &format!("{class} dot"), strategy);
}
