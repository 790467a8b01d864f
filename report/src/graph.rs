//! The graph, coloured by core, which shows the edges that a mapping cuts.

use crate::data::{GraphData, GraphLoop};
use crate::layout::{Layout, Sizes, lay_out};
use crate::svg::{Anchor, CHARACTER_PX, Path, Svg, colour};

/// The height of a line in a box.
const LINE: f64 = 13.5;
const MARGIN: f64 = 8.0;
/// The number of loops above which the graph is not drawn.
const LOOPS_MAX: usize = 400;

/// The drawing; `None` without loops, or with more than 400.
pub(crate) fn drawing(graph: &GraphData) -> Option<Svg> {
    if graph.loops.is_empty() || graph.loops.len() > LOOPS_MAX {
        return None;
    }
    let all_lines = || graph.loops.iter().map(lines);
    let longest = all_lines().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let most = all_lines().map(|lines| lines.len()).max().unwrap_or(1);
    let width = (longest as f64 * CHARACTER_PX + 18.0).max(80.0);
    let node = (width, most as f64 * LINE + 9.0);
    let sizes = Sizes { node, gap: (14.0, 26.0) };
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let layout = lay_out(graph.loops.len(), &edges, sizes);
    let size = (layout.width + 2.0 * MARGIN, layout.height + 2.0 * MARGIN);
    let title = format!("The graph of {} event loops, by core", graph.loops.len());
    let mut svg = Svg::new(size.0, size.1, &title).with_class("chart graph");
    // The hot path comes last, so that it is on top.
    for hot in [false, true] {
        for (n, _) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.hot == hot) {
            draw_edge(&mut svg, graph, &layout, n, node.1 / 2.0);
        }
    }
    for (event_loop, at) in graph.loops.iter().zip(&layout.nodes) {
        draw_loop(&mut svg, event_loop, *at, node);
    }
    Some(svg)
}

/// The cores in use, ascending, each with its colour class.
pub(crate) fn cores(graph: &GraphData) -> Vec<(usize, String)> {
    let mut cores: Vec<usize> = graph.loops.iter().filter_map(|l| l.core).collect();
    cores.sort_unstable();
    cores.dedup();
    cores.into_iter().map(|core| (core, colour(core))).collect()
}

/// The lines of a box: node, group, and further facts, without empty ones.
fn lines(event_loop: &GraphLoop) -> Vec<String> {
    let name = event_loop.name.trim_start_matches('/');
    let (node, group) = name.split_once(':').unwrap_or((name, ""));
    let group = (!group.is_empty()).then(|| format!(":{group}"));
    let utilization = event_loop.utilization.filter(|u| u.is_finite());
    let priority = Some(event_loop.priority).filter(|priority| *priority > 0);
    let facts = [
        event_loop.core.map(|core| format!("core {core}")),
        utilization.map(|u| format!("{:.1} %", 100.0 * u)),
        priority.map(|priority| format!("prio {priority}")),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let lines = [Some(node.to_owned()), group, Some(facts)];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
}

fn draw_loop(
    svg: &mut Svg,
    event_loop: &GraphLoop,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
) {
    let (x, y) = (x + MARGIN, y + MARGIN);
    let class = event_loop.core.map_or_else(|| "other".to_owned(), colour);
    let hot = if event_loop.hot { " hot" } else { "" };
    let corner = (x - width / 2.0, y - height / 2.0);
    let lines = lines(event_loop);
    svg.rect(corner, (width, height), "box paper", "");
    let title = format!("{}: {}", event_loop.name, lines[1..].join(" "));
    svg.rect(corner, (width, height), &format!("{class} box{hot}"), &title);
    let first = y + 4.0 - LINE * (lines.len() - 1) as f64 / 2.0;
    for (n, line) in lines.iter().enumerate() {
        let is_name = n == 0 || line.starts_with(':');
        let class = match (is_name, event_loop.hot) {
            (true, true) => "small strong",
            (true, false) => "small",
            (false, _) => "small muted",
        };
        svg.text((x, first + LINE * n as f64), Anchor::Middle, class, line);
    }
}

fn draw_edge(svg: &mut Svg, graph: &GraphData, layout: &Layout, n: usize, half: f64) {
    let way = &layout.edges[n];
    let (Some(first), Some(last)) = (way.first(), way.last()) else { return };
    let down = first.1 < last.1;
    let half = if down { half } else { -half };
    let mut points: Vec<(f64, f64)> = way.iter().map(|(x, y)| (x + MARGIN, y + MARGIN)).collect();
    let count = points.len();
    points[0].0 += port(layout, n, true);
    points[0].1 += half;
    points[count - 1].0 += port(layout, n, false);
    points[count - 1].1 -= half + if down { 6.0 } else { -6.0 };
    let mut path = Path::start(points[0]);
    for (n, pair) in points.windows(2).enumerate() {
        // An edge passes through a layer vertically.
        let straight = |n: usize| if n > 0 && n + 1 < count { half } else { 0.0 };
        let from = (pair[0].0, pair[0].1 + straight(n));
        let to = (pair[1].0, pair[1].1 - straight(n + 1));
        path.line_to(from);
        path.curve(from, to);
    }
    let (from, to) = (&graph.loops[graph.edges[n].from].name, &graph.loops[graph.edges[n].to].name);
    let title = format!("{from} → {to}: {}", graph.edges[n].topic);
    let hot = graph.edges[n].hot;
    let class = if hot { "edge hot" } else { "edge" };
    svg.path(&path, class, &title);
    let (tip, size) = (points[count - 1], if down { 6.0 } else { -6.0 });
    let arrow = [(tip.0, tip.1 + size), (tip.0 - 3.5, tip.1), (tip.0 + 3.5, tip.1)];
    svg.path(&Path::polygon(arrow), if hot { "arrow hot" } else { "arrow" }, "");
}

/// The horizontal offset of an edge's end from the middle of its node, so that the edges of a node
/// do not meet in one point: ordered from left to right.
fn port(layout: &Layout, edge: usize, begins: bool) -> f64 {
    let end = |way: &[(f64, f64)]| if begins { way[0] } else { way[way.len() - 1] };
    let next = |way: &[(f64, f64)]| if begins { way[1].0 } else { way[way.len() - 2].0 };
    let here = end(&layout.edges[edge]);
    let is_here = |way: &&Vec<(f64, f64)>| !way.is_empty() && end(way) == here;
    let mine = (next(&layout.edges[edge]), edge);
    let others = layout.edges.iter().enumerate().filter(|(_, way)| is_here(way));
    let (mut rank, mut count) = (0.0, 0.0);
    for (n, way) in others {
        count += 1.0;
        rank += if (next(way), n) < mine { 1.0 } else { 0.0 };
    }
    let step = (80.0f64 / count).min(16.0);
    (rank - (count - 1.0) / 2.0) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_shows_its_name_group_core_and_load() {
        let event_loop = GraphLoop {
            name: "/detector:settings".into(),
            core: Some(3),
            priority: 2,
            utilization: Some(0.125),
            hot: false,
        };
        assert_eq!(lines(&event_loop), ["detector", ":settings", "core 3 · 12.5 % · prio 2"]);
        let bare = GraphLoop { name: "/a".into(), ..GraphLoop::default() };
        assert_eq!(lines(&bare), ["a"]);
    }
}
