//! Predicted against measured: one panel for each of mean, 99th percentile and maximum, one row per
//! chain; predictions are hollow, measurements filled.

use crate::data::{Latency, Prediction};
use crate::format::{self, ms};
use crate::scale::{Scale, draw_x, unit_below};
use crate::svg::{Anchor, Svg};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 34.0;
const ROW: f64 = 36.0;

/// The panels of mean, p99 and maximum; empty without rows.
pub(crate) fn panels(rows: &[Prediction]) -> Vec<String> {
    match rows.is_empty() {
        true => Vec::new(),
        false => (0..3).map(|figure| panel(rows, figure)).collect(),
    }
}

fn panel(rows: &[Prediction], figure: usize) -> String {
    let name = rows[0].measured.figures()[figure].0;
    let pair = |row: &Prediction| {
        let of = |latency: &Latency| latency.figures()[figure].1 / 1e6;
        (of(&row.predicted), of(&row.measured))
    };
    let values = rows.iter().map(pair).flat_map(|(predicted, measured)| [predicted, measured]);
    let scale = Scale::of(values, LEFT, RIGHT);
    let base = TOP + rows.len() as f64 * ROW;
    let title = format!("{name} latency, predicted and measured, in milliseconds");
    let mut svg = Svg::new(WIDTH, base + 42.0, &title);
    svg.text((LEFT, 14.0), Anchor::Start, "strong", name);
    svg.circle((RIGHT - 142.0, 10.0), 4.5, "c0 hollow", "");
    svg.text((RIGHT - 132.0, 14.0), Anchor::Start, "small", "predicted");
    svg.circle((RIGHT - 64.0, 10.0), 4.5, "c0 dot", "");
    svg.text((RIGHT - 54.0, 14.0), Anchor::Start, "small", "measured");
    draw_x(&mut svg, scale, (TOP - 8.0, base), 38.0);
    unit_below(&mut svg, scale, base, "ms");
    for (n, row) in rows.iter().enumerate() {
        let (top, (predicted, measured)) = (TOP + n as f64 * ROW, pair(row));
        svg.text((LEFT, top + 8.0), Anchor::Start, "name", &row.chain);
        let error = format::error(row.errors_percent()[figure]);
        svg.text((RIGHT, top + 8.0), Anchor::End, "small", &error);
        let title = format!(
            "{}: {name} predicted {} ms, measured {} ms",
            row.chain,
            ms(predicted),
            ms(measured)
        );
        let y = top + 21.0;
        let (from, to) = (scale.at(predicted), scale.at(measured));
        svg.line((from, y), (to, y), "c0 tick");
        svg.circle((to, y), 5.0, "c0 dot", &title);
        svg.circle((from, y), 5.0, "c0 hollow", &title);
    }
    svg.finish()
}
