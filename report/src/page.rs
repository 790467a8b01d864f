//! The page: its sections and their order, with the text around charts and tables.

use ringspin_simulation::timeline::Timeline;

use crate::data::{
    Definition, GraphData, Latency, Measured, OptimizationData, Origin, Prediction, ReportData,
    TimelineSection, Twin,
};
use crate::figures;
use crate::format::{self, ms};
use crate::markup::Markup;
use crate::overview::{self, Width};
use crate::published::{PAPER_SOURCE, PEERS_SOURCE};
use crate::summary::Summary;
use crate::svg::{Svg, colour};
use crate::{convergence, distribution, graph, lanes, pareto, predictions, tables};

/// The styles of drawings, on a page or alone.
pub(crate) const DRAWING_STYLES: &str = include_str!("style.css");
const PAGE_STYLES: &str = include_str!("page.css");

const PHASES: &str = "Timers that would better the objective if each alone started later \
    (Timer::start_at), as simulated with the chosen mapping. The mapping does not contain phases.";

const TITLE: &str = "ringspin on the Autoware reference system";

/// A section: anchor, title, content.
struct Section {
    anchor: &'static str,
    title: &'static str,
    inside: Markup,
}

pub(crate) fn render(data: &ReportData) -> String {
    let parts: [fn(&ReportData) -> Option<Section>; 7] = [
        latency_section,
        cost_section,
        prediction_section,
        timeline_section,
        graph_section,
        optimization_section,
        |data| Some(origin_section(&data.origin)),
    ];
    let sections: Vec<Section> = parts.iter().filter_map(|part| part(data)).collect();
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>\n");
    out.element("html", &[("lang", &"en"), ("xmlns", &"http://www.w3.org/1999/xhtml")], |out| {
        head(out, TITLE);
        out.element("body", &[], |out| {
            out.element("main", &[], |out| {
                introduction(out, data, &sections);
                for Section { anchor, title, inside } in sections {
                    out.line();
                    out.element("section", &[("id", &anchor)], |out| {
                        out.leaf("h2", &[], title);
                        out.raw(&inside.into_text());
                    });
                }
            });
        });
    });
    out.line();
    out.into_text()
}

pub(crate) fn head(out: &mut Markup, title: &str) {
    out.element("head", &[], |out| {
        out.empty("meta", &[("charset", &"utf-8")]);
        let viewport = "width=device-width, initial-scale=1";
        out.empty("meta", &[("name", &"viewport"), ("content", &viewport)]);
        // Without an icon, a browser would request one from the server.
        out.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
        out.leaf("title", &[], title);
        out.element("style", &[], |out| {
            out.line();
            out.raw(DRAWING_STYLES);
            out.raw(PAGE_STYLES);
        });
    });
}

fn introduction(out: &mut Markup, data: &ReportData, sections: &[Section]) {
    out.leaf("h1", &[], TITLE);
    let Origin { processor, cores, .. } = &data.origin;
    let cores = if *cores == 1 { "1 core".into() } else { format!("{cores} cores") };
    let made = if data.measured.is_empty() { "Made" } else { "Measured" };
    let text = format!(
        "24 nodes, of which eight are the hot path. Its latency has two definitions: sample to \
         start, from the start of the newer lidar's callback to the start of the collision \
         estimator's, as published; and release to end, from the due time of the newer lidar's \
         timer to the end of the estimator's callback, as a user feels it. {made} on {processor}, \
         {cores}. In every chart and table of latencies, lower is better."
    );
    out.leaf("p", &[("class", &"muted")], &text);
    out.element("nav", &[], |out| {
        for section in sections {
            out.leaf("a", &[("href", &format!("#{}", section.anchor))], section.title);
        }
    });
    tiles(out, data);
}

/// The key figures of the largest N.
fn tiles(out: &mut Markup, data: &ReportData) {
    let Some(largest) = data.measured.iter().map(|measured| measured.n).max() else { return };
    out.element("div", &[("class", &"tiles")], |out| {
        for measured in data.measured.iter().filter(|measured| measured.n == largest) {
            for definition in Definition::ALL {
                let figures = &measured.hot_path.by(definition).summary;
                if figures.is_empty() {
                    continue;
                }
                let mean = format!("{} ms", ms(figures.mean_ns / 1e6));
                let (name, max) = (definition.name(), ms(figures.max_ns as f64 / 1e6));
                let about = format!(
                    "mean from {name}, {} at N = {largest}; the longest of {}: {max} ms",
                    measured.mode, figures.count
                );
                tile(out, &mean, &about);
            }
        }
        if let Some(error) = worst_error(&predicted(data)) {
            tile(out, &format!("{error:.1} %"), "largest error of a mean that a twin predicted");
        }
    });
}

fn tile(out: &mut Markup, figure: &str, about: &str) {
    out.element("div", &[("class", &"tile")], |out| {
        out.leaf("b", &[], figure);
        out.leaf("span", &[], about);
    });
}

fn worst_error(rows: &[Prediction]) -> Option<f64> {
    rows.iter().filter_map(|row| row.errors_percent()[0]).map(f64::abs).max_by(f64::total_cmp)
}

fn figure(out: &mut Markup, drawing: &str, caption: &str) {
    out.element("figure", &[], |out| {
        out.raw(drawing);
        if !caption.is_empty() {
            out.leaf("figcaption", &[], caption);
        }
    });
    out.line();
}

pub(crate) fn panels(out: &mut Markup, drawings: impl IntoIterator<Item = String>, caption: &str) {
    out.element("div", &[("class", &"panels")], |out| {
        drawings.into_iter().for_each(|drawing| figure(out, &drawing, ""));
    });
    out.leaf("p", &[("class", &"caption")], caption);
}

fn latency_section(data: &ReportData) -> Option<Section> {
    let limits = figures::crunch_limits(data);
    if limits.is_empty() {
        return None;
    }
    let mut inside = Markup::default();
    let out = &mut inside;
    let charts = [Width::Wide, Width::Narrow].map(|width| overview::chart(data, width));
    let charts: String = charts.into_iter().flatten().map(Svg::finish).collect();
    if !charts.is_empty() {
        let caption = "Messages stay in the process. Dashed: floor, and rclcpp's events executor \
                       with intra-process communication on another machine of the same kind, \
                       whose latency from release to end is unknown.";
        figure(out, &charts, caption);
    }
    let of_n = limits.iter().flat_map(|n| Definition::ALL.map(|definition| (*n, definition)));
    let drawings = of_n.filter_map(|(n, by)| {
        let heading = format!("N = {n}: {}", by.name());
        distribution::panel(&heading, &figures::rows(data, n, by))
    });
    let caption = "Violin: distribution of the latencies, cut at the shortest and the longest. \
                   White box: from the first to the third quartile; thick stroke: median; thin \
                   stroke: 99th percentile; diamond: mean. Dashed outline: the deterministic twin, \
                   simulated. A plain bar reaches from the published mean to the maximum. Floor: \
                   the work on the path on this machine, four crunches to the start and five to \
                   the end; on one core, a crunch more.";
    panels(out, drawings, caption);
    out.leaf("h3", &[], "All figures within the process, in milliseconds");
    tables::latencies(out, data);
    published(out, &limits);
    Some(Section { anchor: "latency", title: "Latency of the hot path", inside })
}

/// Writes the published figures at these crunch limits.
fn published(out: &mut Markup, limits: &[u64]) {
    let mut section = |title: &str, source: &str, table: fn(&mut Markup, &[u64]) -> bool| {
        let mut inside = Markup::default();
        if table(&mut inside, limits) {
            out.leaf("h3", &[], title);
            out.leaf("p", &[("class", &"muted")], source);
            out.raw(&inside.into_text());
        }
    };
    let title = "Published beside rclcpp: sample to start, in milliseconds";
    let source = format!("{PEERS_SOURCE}. Compare executors of one transport only.");
    section(title, &source, tables::peers);
    let title = "Published on a Raspberry Pi: sample to start, in milliseconds";
    section(title, &format!("The {PAPER_SOURCE}."), tables::paper);
}

fn cost_section(data: &ReportData) -> Option<Section> {
    if data.measured.is_empty() && data.twins.is_empty() {
        return None;
    }
    let mut inside = Markup::default();
    let out = &mut inside;
    if !data.measured.is_empty() {
        tables::costs(out, data);
        let text = "A message is overwritten when a newer one arrives before its callback runs; \
                    all inputs of this graph but two hold one message.";
        out.leaf("p", &[("class", &"muted")], text);
    }
    if !data.twins.is_empty() {
        out.leaf("h3", &[], "Deterministic twins");
        let text = "The same nodes on virtual cores under simulated time, with the live durations \
                    of their callbacks. Equal graph, durations and seed give an equal digest on \
                    every machine.";
        out.leaf("p", &[("class", &"muted")], text);
        tables::twins(out, data);
    }
    Some(Section { anchor: "costs", title: "Costs and losses", inside })
}

/// The prediction of each twin with the measurement of its live run, in both definitions.
fn predicted(data: &ReportData) -> Vec<Prediction> {
    let latency = |of: &Summary| Latency {
        mean_ns: of.mean_ns,
        p99_ns: of.p99_ns as f64,
        max_ns: of.max_ns as f64,
    };
    let pair = |(twin, definition): (&Twin, Definition)| {
        let is_live = |m: &&Measured| (m.n, &m.mode) == (twin.n, &twin.mode);
        let live = &data.measured.iter().find(is_live)?.hot_path.by(definition).summary;
        let simulated = &twin.hot_path.by(definition).summary;
        (!live.is_empty() && !simulated.is_empty()).then(|| Prediction {
            chain: format!("{}, N = {}, {}", twin.mode, twin.n, definition.name()),
            predicted: latency(simulated),
            measured: latency(live),
        })
    };
    let both = data.twins.iter().flat_map(|twin| Definition::ALL.map(|by| (twin, by)));
    both.filter_map(pair).collect()
}

fn prediction_section(data: &ReportData) -> Option<Section> {
    let rows = predicted(data);
    if rows.is_empty() {
        return None;
    }
    let mut inside = Markup::default();
    let text = "The twin receives only the durations of callbacks, drawn at random from the live \
                ones; it predicts scheduling, waiting and queueing. It includes neither the \
                executor's overhead between callbacks, which matters when callbacks take \
                microseconds, nor other programs on the cores, which makes maxima the hardest to \
                predict.";
    inside.leaf("p", &[], text);
    prediction_charts(&mut inside, &rows);
    Some(Section { anchor: "predicted", title: "Predicted against measured", inside })
}

fn prediction_charts(out: &mut Markup, rows: &[Prediction]) {
    panels(out, predictions::panels(rows), "Percentages: error of the prediction.");
    tables::predictions(out, rows);
}

fn timeline_section(data: &ReportData) -> Option<Section> {
    let drawn: Vec<(&TimelineSection, String)> = data
        .timelines
        .iter()
        .filter_map(|section| Some((section, lanes::drawing(section)?)))
        .collect();
    if drawn.is_empty() {
        return None;
    }
    let mut inside = Markup::default();
    let out = &mut inside;
    let text = "Calls by core and time. The upper lanes are cores, with the hot path emphasised; \
                below are the same calls by event loop, in the colour of their core. Hover over \
                a call for its name and duration.";
    out.leaf("p", &[], text);
    for (section, drawing) in drawn {
        out.leaf("h3", &[], &section.title);
        keys(out, &core_keys(&section.timeline), !section.hot.is_empty());
        let scroll: [(&str, &dyn std::fmt::Display); 2] =
            [("class", &"scroll"), ("tabindex", &"0")];
        out.element("div", &scroll, |out| figure(out, &drawing, ""));
        if let Some(text) = lanes::left_out(section) {
            out.leaf("p", &[("class", &"muted")], &text);
        }
    }
    Some(Section { anchor: "timelines", title: "Timelines", inside })
}

fn core_keys(timeline: &Timeline) -> Vec<(String, String)> {
    let cores = timeline.lanes().iter().filter_map(|lane| Some((lane.core?, lane.name.clone())));
    cores.map(|(core, name)| (colour(core), name)).collect()
}

/// The legend. Each colour has a label, because not all readers can distinguish colours.
fn keys(out: &mut Markup, keys: &[(String, String)], hot: bool) {
    out.element("div", &[("class", &"keys")], |out| {
        for (class, name) in keys {
            out.element("span", &[("class", class)], |out| {
                out.leaf("i", &[], "");
                out.text(name);
            });
        }
        if hot {
            out.element("span", &[], |out| {
                out.leaf("i", &[("class", &"hot")], "");
                out.text("hot path");
            });
        }
    });
}

fn graph_section(data: &ReportData) -> Option<Section> {
    let mut inside = Markup::default();
    let is_drawn = draw_graph(&mut inside, data.graph.as_ref()?);
    is_drawn.then_some(Section { anchor: "graph", title: "The graph by core", inside })
}

/// Draws a graph with its legend; returns `false` if there is nothing to draw.
fn draw_graph(out: &mut Markup, data: &GraphData) -> bool {
    let Some(drawing) = graph::drawing(data) else { return false };
    out.leaf("p", &[], &data.title);
    let cores = graph::cores(data).into_iter().map(|(core, class)| (class, format!("core {core}")));
    keys(out, &cores.collect::<Vec<_>>(), data.edges.iter().any(|edge| edge.hot));
    let scroll: [(&str, &dyn std::fmt::Display); 2] = [("class", &"scroll"), ("tabindex", &"0")];
    out.element("div", &scroll, |out| figure(out, &drawing.finish(), ""));
    true
}

fn optimization_section(data: &ReportData) -> Option<Section> {
    let data = data.optimization.as_ref().filter(|data| **data != OptimizationData::default())?;
    let mut inside = Markup::default();
    let out = &mut inside;
    if let Some(graph) = &data.graph {
        draw_graph(out, graph);
    }
    if !data.convergence.is_empty() {
        out.leaf("h3", &[], "Convergence");
        let constant: Vec<String> = convergence::constant_terms(data)
            .into_iter()
            .map(|(term, value)| format!("{} {}", term.name, format::term(value, term.unit)))
            .collect();
        let mut caption =
            "The best candidate so far of each strategy, with its last value. Scores \
                           are compared term by term, so a less important term may rise."
                .to_owned();
        if !constant.is_empty() {
            caption += &format!(" Constant terms: {}.", constant.join(", "));
        }
        panels(out, convergence::panels(data), &caption);
    }
    if !data.strategies.is_empty() {
        out.leaf("h3", &[], "Strategies");
        tables::strategies(out, data);
    }
    if let Some(drawing) = pareto::drawing(&data.trade_offs) {
        out.leaf("h3", &[], "Trade-offs");
        let caption = "Candidates of the search that keep the promises of the graph best, as \
                       simulated. Large: no other candidate is better in mean, p99, maximum, \
                       jitter and cores at once; figures within one percent count as equal. \
                       Hollow: the chosen one.";
        figure(out, &drawing, caption);
        tables::front(out, &data.trade_offs);
        let text = "Latencies in ms, weighted and summed over the chains; jitter is the largest of \
                    the timers that have a limit.";
        out.leaf("p", &[("class", &"muted")], text);
    }
    if !data.phases.is_empty() {
        out.leaf("h3", &[], "Phases of timers");
        out.leaf("p", &[], PHASES);
        tables::phases(out, &data.phases);
    }
    if !data.bounds.is_empty() {
        out.leaf("h3", &[], "Worst case");
        tables::bounds(out, data);
    }
    if !data.predictions.is_empty() {
        out.leaf("h3", &[], "Predicted against measured");
        prediction_charts(out, &data.predictions);
    }
    Some(Section { anchor: "optimization", title: "Optimization", inside })
}

fn origin_section(origin: &Origin) -> Section {
    let mut inside = Markup::default();
    let out = &mut inside;
    out.leaf("pre", &[], &origin.command);
    let cores = origin.cores.to_string();
    let busy = origin.other_busy_cores.map(|cores| format!("{cores:.2} cores on average"));
    let facts = [
        ("Processor", Some(origin.processor.clone())),
        ("Cores of the process", Some(cores)),
        ("Kept busy by other programs", busy),
        ("System", Some(origin.system.clone())),
    ];
    out.element("dl", &[], |out| {
        let versions =
            origin.versions.iter().map(|(name, version)| (&**name, Some(version.clone())));
        for (name, fact) in facts.into_iter().chain(versions) {
            if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
                out.leaf("dt", &[], name);
                out.leaf("dd", &[], &fact);
            }
        }
    });
    for remark in &origin.remarks {
        out.leaf("p", &[], remark);
    }
    Section { anchor: "origin", title: "Origin", inside }
}
