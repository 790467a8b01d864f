//! The picture of the case study: trajectories and errors of all runs.

use crate::case_study::Run;
use crate::geometry::Vector;
use plotters::coord::Shift;
use plotters::prelude::*;
use ringspin::BoxError;
use std::path::Path;

const LIVE: RGBColor = RGBColor(0xd9, 0x6c, 0x06);
const DETERMINISTIC: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const TRUTH: RGBColor = RGBColor(0xcc, 0xcc, 0xcc);
const SIZE: (u32, u32) = (960, 400);
const TRAJECTORIES_WIDTH: u32 = 560;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws trajectories and APE RMSE of live and deterministic runs as an SVG file.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(path: &Path, live: &[Run], deterministic: &[Run]) -> Result<(), BoxError> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(TRAJECTORIES_WIDTH);
    draw_trajectories(&left, live, deterministic)?;
    draw_errors(&right, live, deterministic)?;
    area.present()?;
    Ok(())
}

fn draw_trajectories(area: &Area<'_>, live: &[Run], deterministic: &[Run]) -> Result<(), BoxError> {
    let runs = || live.iter().chain(deterministic);
    let points = || runs().flat_map(|run| &run.trajectory.positions).flat_map(|(a, b)| [a, b]);
    let range = |axis: usize| {
        let values = || points().map(|point| point.0[axis]);
        let (least, most) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        least - 2.0..most + 2.0
    };
    let mut chart = ChartBuilder::on(area)
        .caption("Trajectories", ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(range(0), range(1))?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc("x (m)").y_desc("y (m)").draw()?;
    let flat = |point: &Vector| (point.0[0], point.0[1]);
    let estimates =
        |run: &Run| -> Vec<_> { run.trajectory.positions.iter().map(|(p, _)| flat(p)).collect() };
    let exact = runs().max_by_key(|run| run.trajectory.positions.len());
    let exact = exact.iter().flat_map(|run| run.trajectory.positions.iter().map(|(_, p)| flat(p)));
    chart
        .draw_series(LineSeries::new(exact, TRUTH.stroke_width(5)))?
        .label("exact")
        .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], TRUTH.stroke_width(5)));
    for (runs, color, name) in [
        (live, LIVE.mix(0.7), format!("live, {} runs", live.len())),
        (
            deterministic,
            DETERMINISTIC.to_rgba(),
            format!("deterministic, {} runs", deterministic.len()),
        ),
    ] {
        for (number, run) in runs.iter().enumerate() {
            let series =
                chart.draw_series(LineSeries::new(estimates(run), color.stroke_width(1)))?;
            if number == 0 {
                series.label(&name).legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 18, y)], color.stroke_width(2))
                });
            }
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

fn draw_errors(area: &Area<'_>, live: &[Run], deterministic: &[Run]) -> Result<(), BoxError> {
    let errors = |runs: &[Run]| -> Vec<(i32, f64)> {
        (1..).zip(runs.iter().map(|run| run.trajectory.ape_rmse_m())).collect()
    };
    let (live, deterministic) = (errors(live), errors(deterministic));
    let most = live.iter().chain(&deterministic).map(|(_, error)| *error).fold(0.0, f64::max);
    let count = live.len().max(deterministic.len()) as i32;
    let mut chart = ChartBuilder::on(area)
        .caption("Absolute pose error of each run", ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0..count + 1, 0.0..most * 1.15)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("run")
        .y_desc("APE RMSE (m)")
        .draw()?;
    for (errors, color) in [(live, LIVE), (deterministic, DETERMINISTIC)] {
        chart.draw_series(errors.iter().map(|at| Circle::new(*at, 4, color.filled())))?;
    }
    Ok(())
}
