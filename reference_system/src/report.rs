//! The report: measurements and simulations as one HTML page.
//!
//! [`ReportData`] holds the content of a page; [`render`] creates one HTML file without scripts and
//! external resources; [`gather()`] runs the measurements. They are separate so that a page can be
//! drawn again from a file, and tested without a run.
//!
//! The report uses no plotting library, on purpose: it has few and unusual charts, and their
//! colours follow the reader's light or dark theme by style sheet.

mod convergence;
mod data;
mod distribution;
mod figures;
mod gather;
mod graph;
mod lanes;
mod layout;
mod markup;
mod optimization;
mod overview;
mod page;
mod predictions;
mod scale;
mod svg;
mod tables;
mod tuned;

pub use data::{
    GraphData, GraphEdge, GraphLoop, Mark, Measured, Origin, ReportData, TimelineSection, Twin,
};
pub use gather::{Gathered, ReportOptions, Step, gather, graph_of};
pub use tuned::optimization_of;

pub use optimization::{
    Bound, Convergence, Latency, OptimizationData, Prediction, StrategyRow, Term, Unit,
};

/// Renders the page: one HTML file without scripts and external resources. Sections without data
/// are left out. O(n) in the samples, and quadratic in the edges of a graph.
#[must_use]
pub fn render(data: &ReportData) -> String {
    page::render(data)
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
