//! Example: draws the chart of README, `docs/latencies.svg`, from the files in `results/`.
//!
//! ```text
//! cargo run -p ringspin-report --example picture
//! ```
//!
//! Each bar is a mean latency as multiple of the work on the path on its machine, because peers
//! were measured on another machine of the same kind. A panel has one scale and one transport.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use ringspin_report::Definition;
use ringspin_report::comparison::{Group, groups};
use ringspin_report::peers::{IN_PROCESS, Peers, R2R, RCLCPP};
use ringspin_report::results::Results;
use std::error::Error;

/// The file of the chart.
pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/latencies.svg");

const RESULTS: &str = include_str!("../../results/x86_64-epyc-2.json");
const TITLE: &str =
    "Hot path of the reference system: mean as multiple of the work on it; lower is better";
const NOTES: [&str; 3] = [
    "1x: four crunches, from the newer lidar to the start of the collision estimator.",
    "Left: ringspin from results/x86_64-epyc-2.json, rclcpp from results/peers.",
    "Right: one run for each panel, from results/peers, with an earlier ringspin.",
];
const SIZE: (u32, u32) = (960, 372);
const OURS: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const OTHERS: RGBColor = RGBColor(0x9a, 0xa3, 0xad);
const INK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
const NOTE: RGBColor = RGBColor(0x5d, 0x66, 0x73);
const ROW: i32 = 22;
/// The places of names, of bars and of their ends, from the left end of a panel.
const COLUMNS: [i32; 3] = [12, 222, 410];
/// The place of the right panels.
const RIGHT: i32 = 480;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Executors of one transport at one load.
struct Panel {
    title: String,
    /// Name, and mean as multiple of the floor.
    bars: Vec<(String, f64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    std::fs::write(FILE, drawn()?)?;
    println!("the chart is in {FILE}");
    Ok(())
}

/// The chart as text.
///
/// # Errors
/// An error if the results are of another format.
pub(crate) fn drawn() -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(TITLE, (12, 12), ("sans-serif", 17).into_font().color(&INK)))?;
    let (mut left, mut right) = (44, 44);
    for panel in in_process()? {
        left = draw(&area, &panel, (0, left))?;
    }
    for panel in [through_dds("rclcpp", &RCLCPP), through_dds("r2r", &R2R)] {
        right = draw(&area, &panel, (RIGHT, right))?;
    }
    for (line, note) in (0..).zip(NOTES) {
        let style = ("sans-serif", 12).into_font().color(&NOTE);
        area.draw(&Text::new(note, (RIGHT + COLUMNS[0], right + 6 + 17 * line), style))?;
    }
    area.present()?;
    drop(area);
    Ok(svg)
}

/// Our modes beside rclcpp within the process, at each load at which it was measured.
fn in_process() -> Result<Vec<Panel>, Box<dyn Error>> {
    let results: Results = serde_json::from_str(RESULTS)?;
    let panel = |group: &Group| {
        let ours = group.rows.iter().filter_map(|row| {
            let times = row.summary.mean_ns / row.floor_ns? as f64;
            Some((format!("ringspin {}", row.variant), times))
        });
        let peers = group.peers.iter();
        let peers = peers
            .filter_map(|peer| Some((peer.name.clone(), peer.figures.mean_ms / peer.floor_ms?)));
        let peers: Vec<_> = peers.collect();
        let title = format!("N = {}, messages within the process", group.n?);
        (!peers.is_empty()).then(|| Panel { title, bars: ours.chain(peers).collect() })
    };
    let groups = groups(&[(String::new(), results)]);
    let hot = groups.iter().filter(|group| group.series == Definition::SampleToStart.name());
    Ok(hot.filter_map(panel).collect())
}

/// The executors of one run through Fast DDS at the smallest load.
fn through_dds(library: &str, peers: &Peers) -> Panel {
    const N: u64 = 64;
    let others = peers.executors.iter().filter(|peer| peer.transport != IN_PROCESS);
    let times =
        |peer: &ringspin_report::peers::Peer| Some(peer.at(N)?.mean_ms / peers.floor_ms(N)?);
    let bars = others.filter_map(|peer| Some((peer.name.clone(), times(peer)?))).collect();
    Panel { title: format!("N = {N}, each hop through Fast DDS, beside {library}"), bars }
}

/// Draws a panel; returns the place below it.
fn draw(area: &Area<'_>, panel: &Panel, (x, top): (i32, i32)) -> Result<i32, Box<dyn Error>> {
    let [names, bars, ends] = COLUMNS.map(|column| x + column);
    let heading = ("sans-serif", 14, FontStyle::Bold).into_font().color(&INK);
    area.draw(&Text::new(panel.title.as_str(), (names, top), heading))?;
    let most = panel.bars.iter().map(|(_, times)| *times).fold(1.0, f64::max);
    let at = |times: f64| bars + (f64::from(ends - bars) * times / most).round() as i32;
    let label = ("sans-serif", 13).into_font().color(&INK);
    let label = label.pos(Pos::new(HPos::Left, VPos::Center));
    let first = top + ROW;
    let mut y = first;
    for (name, times) in &panel.bars {
        let colour = if name.contains("ringspin") { OURS } else { OTHERS };
        let bar = [(bars, y + 3), (at(*times), y + ROW - 3)];
        area.draw(&Rectangle::new(bar, colour.filled()))?;
        area.draw(&Text::new(name.as_str(), (names, y + ROW / 2), label.clone()))?;
        let value = if *times < 10.0 { format!("{times:.2}x") } else { format!("{times:.0}x") };
        area.draw(&Text::new(value, (at(*times) + 6, y + ROW / 2), label.clone()))?;
        y += ROW;
    }
    let floor = [(at(1.0), first), (at(1.0), y)];
    area.draw(&PathElement::new(floor, INK.stroke_width(1)))?;
    Ok(y + 12)
}
