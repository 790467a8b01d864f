//! The report of the reference system: measurements and simulations as one HTML page.
//!
//! [`ReportData`] holds the content of a page; [`render`] creates one HTML file without scripts and
//! external resources. Neither runs anything: the crate `ringspin-reference-system` measures, so
//! that a page can be drawn again from a file, and tested without a run.
//!
//! [`Summary`] and [`published`] are the figures that pages, text tables and KPIs have in common.

#![forbid(unsafe_code)]

pub mod comparison;
mod convergence;
mod data;
mod distribution;
mod figures;
mod format;
mod graph;
mod lanes;
mod layout;
mod markup;
mod overview;
mod page;
mod pareto;
mod predictions;
pub mod published;
pub mod results;
mod results_page;
mod scale;
pub mod statistics;
mod summary;
mod svg;
mod tables;

pub use data::{
    Bound, Candidate, Convergence, Definition, GraphData, GraphEdge, GraphLoop, HotPath, Latencies,
    Latency, Mark, Measured, OptimizationData, Origin, PhaseRow, Prediction, ReportData,
    StrategyRow, Term, TimelineSection, TradeOffs, Twin, Unit,
};
pub use summary::{Summary, format_ms};

/// Renders the page: one HTML file without scripts and external resources. Sections without data
/// are left out. O(n) in the samples, and quadratic in the edges of a graph.
#[must_use]
pub fn render(data: &ReportData) -> String {
    page::render(data)
}

/// Renders the page of several results side by side: one HTML file without scripts and external
/// resources. Names in `all` are shown as the names of the results.
#[must_use]
pub fn render_results(all: &[comparison::Named]) -> String {
    results_page::render(all)
}

/// Renders the first chart as an SVG file with its own styles; `None` without a measurement.
#[must_use]
pub fn overview_svg(data: &ReportData) -> Option<String> {
    let chart = overview::chart(data, overview::Width::Wide)?;
    Some(chart.standalone(page::DRAWING_STYLES))
}

/// Renders the chosen mapping as a graph by core, as an SVG file with its own styles; `None`
/// without a graph.
#[must_use]
pub fn mapping_svg(data: &OptimizationData) -> Option<String> {
    let drawing = graph::drawing(data.graph.as_ref()?)?;
    Some(drawing.standalone(page::DRAWING_STYLES))
}

#[cfg(test)]
mod tests;
