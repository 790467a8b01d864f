//! The report: what was measured and simulated as one page that people look at.
//!
//! [`ReportData`] is all that a page shows; [`render`] makes the page of it, one HTML file without
//! scripts that loads nothing; [`gather()`] runs what is needed to fill it. Kept apart, so that a
//! page can be drawn again from a file, and tested without a run.
//!
//! What is deliberately absent: a plotting library. The charts here are few and of kinds of their
//! own, and their colours have to follow the reader's choice of light or dark, by style sheet.

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

/// The page: one HTML file that loads nothing and needs no script. Sections without data are left
/// out. O(n) in the samples, and quadratic in the edges of a graph.
#[must_use]
pub fn render(data: &ReportData) -> String {
    page::render(data)
}

/// The first chart alone, as an SVG file with its own styles; none without a measurement.
#[must_use]
pub fn overview_svg(data: &ReportData) -> Option<String> {
    let chart = overview::chart(data, overview::Width::Wide)?;
    Some(chart.standalone(page::DRAWING_STYLES))
}

/// The graph by core of what an optimizer chose, as an SVG file with its own styles; none without
/// a graph.
#[must_use]
pub fn mapping_svg(data: &OptimizationData) -> Option<String> {
    let drawing = graph::drawing(data.graph.as_ref()?)?;
    Some(drawing.standalone(page::DRAWING_STYLES))
}

#[cfg(test)]
mod tests;
