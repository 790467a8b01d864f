//! The trade-offs of a search: mean against 99th percentile of each candidate, coloured by the
//! number of cores; the Pareto front is emphasised.

use crate::data::{Candidate, Latency, TradeOffs};
use crate::format::ms;
use crate::scale::{Scale, draw_x, draw_y, unit_below};
use crate::svg::{Anchor, Svg, colour};

const WIDTH: f64 = 560.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 40.0;
const BASE: f64 = 300.0;
const LINE: f64 = 18.0;

/// The chart, with a key for each number of cores; `None` without candidates.
pub(crate) fn drawing(data: &TradeOffs) -> Option<String> {
    if data.front.is_empty() {
        return None;
    }
    let all = || data.others.iter().chain(&data.front);
    let mean = |of: &Candidate| of.release_to_end.mean_ns / 1e6;
    let p99 = |of: &Candidate| of.release_to_end.p99_ns / 1e6;
    let x = fitted(all().map(mean), LEFT, RIGHT);
    let y = fitted(all().map(p99), BASE, TOP);
    let mut cores: Vec<usize> = all().map(|of| of.cores).collect();
    cores.sort_unstable();
    cores.dedup();
    let height = BASE + 56.0 + LINE * cores.len() as f64;
    let title = "Mean and p99 from release to end of each candidate, in milliseconds";
    let mut svg = Svg::new(WIDTH, height, title);
    svg.text((4.0, 14.0), Anchor::Start, "strong", "p99 from release to end, ms");
    svg.text((RIGHT, 14.0), Anchor::End, "small muted", "↓ lower is better");
    draw_y(&mut svg, y, (LEFT, RIGHT), 36.0);
    draw_x(&mut svg, x, (TOP, BASE), 52.0);
    unit_below(&mut svg, x, BASE, "mean from release to end, ms");
    let class = |of: &Candidate| colour(of.cores.saturating_sub(1));
    for of in &data.others {
        let at = (x.at(mean(of)), y.at(p99(of)));
        svg.circle(at, 1.8, &format!("{} point", class(of)), "");
    }
    for of in &data.front {
        let kind = if of.chosen { "hollow" } else { "dot" };
        let at = (x.at(mean(of)), y.at(p99(of)));
        svg.circle(at, 5.0, &format!("{} {kind}", class(of)), &described(of));
    }
    for (n, cores) in cores.into_iter().enumerate() {
        let (at, class) = (BASE + 52.0 + LINE * n as f64, colour(cores.saturating_sub(1)));
        svg.circle((LEFT + 6.0, at - 4.0), 5.0, &format!("{class} dot"), "");
        let name = if cores == 1 { "1 core".into() } else { format!("{cores} cores") };
        svg.text((LEFT + 18.0, at), Anchor::Start, "small", &name);
    }
    Some(svg.finish())
}

/// An axis that need not begin at zero.
fn fitted(values: impl Iterator<Item = f64>, from_px: f64, to_px: f64) -> Scale {
    let finite = values.filter(|value| value.is_finite());
    let (min, max) =
        finite.fold((f64::MAX, f64::MIN), |(a, b), value| (a.min(value), b.max(value)));
    if min > 0.0 && max / min > 12.0 {
        return Scale::log(min, max, from_px, to_px);
    }
    let room = ((max - min) * 0.05).max(1e-6);
    Scale::linear((min - room).max(0.0), max + room, from_px, to_px)
}

fn described(of: &Candidate) -> String {
    let Latency { mean_ns, p99_ns, max_ns } = of.release_to_end;
    format!(
        "release to end: mean {} ms, p99 {} ms, max {} ms; jitter {} ms; {} cores",
        ms(mean_ns / 1e6),
        ms(p99_ns / 1e6),
        ms(max_ns / 1e6),
        ms(of.jitter_ns / 1e6),
        of.cores
    )
}
