//! A timeline as lanes: on top, the calls on each core; below, the same calls by event loop,
//! coloured by core. The upper part shows waiting, the lower part the order of the data flow.

use ringspin_simulation::timeline::{Span, Timeline};

use crate::data::{Mark, TimelineSection};
use crate::format::ms;
use crate::scale::{Scale, draw_x, unit_below};
use crate::svg::{Anchor, Svg, colour};

const WIDTH: f64 = 1120.0;
const LEFT: f64 = 236.0;
const RIGHT: f64 = WIDTH - 14.0;
const LANE: f64 = 30.0;
const ROW: f64 = 15.0;
const TOP: f64 = 44.0;
/// The largest number of calls that are drawn; more are indistinguishable.
const CALLS_MAX: usize = 4_000;
/// The largest number of lanes, and of event loops.
const ROWS_MAX: usize = 64;

/// The drawing; `None` if no call ran.
pub(crate) fn drawing(section: &TimelineSection) -> Option<String> {
    let timeline = section.timeline.between(section.from_ns, section.to_ns);
    if timeline.spans().is_empty() || section.to_ns <= section.from_ns {
        return None;
    }
    let (mut lanes, rows) = (used_lanes(&timeline), by_first_call(&timeline));
    // A lane for each loop would repeat the rows.
    let is_row = |lane: &usize| rows.contains(&timeline.lanes()[*lane].name.as_str());
    if lanes.iter().all(is_row) {
        lanes.clear();
    }
    let rows_top = TOP + lanes.len() as f64 * LANE + if lanes.is_empty() { 0.0 } else { 14.0 };
    let base = rows_top + rows.len() as f64 * ROW + 4.0;
    let mut svg = Svg::new(WIDTH, base + 40.0, &section.title).with_class("chart lanes");
    let length_ms = (section.to_ns - section.from_ns) as f64 / 1e6;
    let drawing =
        Drawing { section, timeline: &timeline, x: Scale::linear(0.0, length_ms, LEFT, RIGHT) };
    draw_x(&mut svg, drawing.x, (TOP - 4.0, base), 60.0);
    unit_below(&mut svg, drawing.x, base, "ms since the start of this part");
    if let Some(mark) = &section.mark {
        drawing.mark(&mut svg, mark, base);
    }
    drawing.lanes(&mut svg, &lanes);
    drawing.rows(&mut svg, &rows, rows_top);
    Some(svg.finish())
}

/// A note about calls and loops that the drawing leaves out, if any.
pub(crate) fn left_out(section: &TimelineSection) -> Option<String> {
    let timeline = section.timeline.between(section.from_ns, section.to_ns);
    let calls = timeline.spans().len();
    let loops = all_by_first_call(&timeline).len();
    (calls > CALLS_MAX || loops > ROWS_MAX).then(|| {
        format!(
            "Drawn are the first {CALLS_MAX} of {calls} calls, and {ROWS_MAX} of {loops} loops."
        )
    })
}

struct Drawing<'a> {
    section: &'a TimelineSection,
    timeline: &'a Timeline,
    /// In milliseconds since the start of the excerpt.
    x: Scale,
}

/// The lanes with calls.
fn used_lanes(timeline: &Timeline) -> Vec<usize> {
    let mut used: Vec<usize> = timeline.spans().iter().map(|span| span.lane).collect();
    used.sort_unstable();
    used.dedup();
    used.truncate(ROWS_MAX);
    used
}

fn by_first_call(timeline: &Timeline) -> Vec<&str> {
    let mut loops = all_by_first_call(timeline);
    loops.truncate(ROWS_MAX);
    loops
}

/// The event loops in the order of their first call.
fn all_by_first_call(timeline: &Timeline) -> Vec<&str> {
    let mut loops: Vec<&str> = Vec::new();
    for span in timeline.spans() {
        let name = timeline.callback(span).event_loop.as_str();
        if !loops.contains(&name) {
            loops.push(name);
        }
    }
    loops
}

impl Drawing<'_> {
    fn at(&self, ns: u64) -> f64 {
        self.x.at((ns as f64 - self.section.from_ns as f64) / 1e6)
    }

    fn mark(&self, svg: &mut Svg, mark: &Mark, base: f64) {
        let (from, to) = (self.at(mark.from_ns), self.at(mark.to_ns));
        svg.rect((from, TOP - 16.0), (to - from, base - TOP + 16.0), "mark", &mark.label);
        svg.text((from, TOP - 22.0), Anchor::Start, "small strong", &mark.label);
    }

    fn lanes(&self, svg: &mut Svg, lanes: &[usize]) {
        let length_ns = (self.section.to_ns - self.section.from_ns) as f64;
        for (n, lane) in lanes.iter().enumerate() {
            let top = TOP + n as f64 * LANE;
            let of_lane = || self.timeline.spans().iter().filter(|span| span.lane == *lane);
            let busy: u64 = of_lane().map(|span| self.within(span)).sum();
            let of = &self.timeline.lanes()[*lane];
            let busy = format!("{} · {:.1} % busy", of.name, 100.0 * busy as f64 / length_ns);
            svg.circle((12.0, top + 11.0), 5.0, &format!("{} dot", self.colour(*lane)), "");
            svg.text((24.0, top + 15.0), Anchor::Start, "name strong", &busy);
            svg.line((LEFT, top + 23.0), (RIGHT, top + 23.0), "grid");
            for span in of_lane().take(CALLS_MAX) {
                let hot = if self.is_hot(span) { "call hot" } else { "call" };
                self.call(svg, span, (top, 22.0), hot);
            }
        }
    }

    fn rows(&self, svg: &mut Svg, rows: &[&str], top: f64) {
        for (n, name) in rows.iter().enumerate() {
            let y = top + n as f64 * ROW;
            let hot = self.section.hot.iter().any(|hot| hot == name);
            let class = if hot { "small strong" } else { "small" };
            let short: String = shortened(name.trim_start_matches('/'), 35);
            svg.text((LEFT - 8.0, y + 10.0), Anchor::End, class, &short);
            svg.line((LEFT, y + ROW - 1.5), (RIGHT, y + ROW - 1.5), "grid");
        }
        for span in self.timeline.spans().iter().take(CALLS_MAX) {
            let name = &self.timeline.callback(span).event_loop;
            if let Some(n) = rows.iter().position(|row| row == name) {
                let class = format!("{} call", self.colour(span.lane));
                self.call(svg, span, (top + n as f64 * ROW + 1.0, 11.0), &class);
            }
        }
    }

    fn call(&self, svg: &mut Svg, span: &Span, (top, height): (f64, f64), class: &str) {
        let (from, to) = (self.at(span.start_ns), self.at(span.end_ns));
        let callback = self.timeline.callback(span);
        let title = format!(
            "{} {}: at {} ms for {} ms on {}",
            callback.event_loop,
            callback.name,
            ms((span.start_ns as f64 - self.section.from_ns as f64) / 1e6),
            ms((span.end_ns - span.start_ns) as f64 / 1e6),
            self.timeline.lanes()[span.lane].name
        );
        svg.rect((from, top), ((to - from).max(1.2), height), class, &title);
    }

    /// The part of a call within the excerpt, in nanoseconds.
    fn within(&self, span: &Span) -> u64 {
        let (from, to) = (self.section.from_ns, self.section.to_ns);
        span.end_ns.min(to).saturating_sub(span.start_ns.max(from))
    }

    fn is_hot(&self, span: &Span) -> bool {
        self.section.hot.contains(&self.timeline.callback(span).event_loop)
    }

    fn colour(&self, lane: usize) -> String {
        colour(self.timeline.lanes()[lane].core.unwrap_or(0))
    }
}

/// Shortens a name to `characters`. Cuts the end of a node name; in `node:group`, cuts the end of
/// the node, because the group distinguishes it from its siblings.
fn shortened(name: &str, characters: usize) -> String {
    if name.chars().count() <= characters {
        return name.to_owned();
    }
    let (node, group) = name.split_once(':').unwrap_or((name, ""));
    let rest = group.chars().count() + usize::from(!group.is_empty());
    match characters.checked_sub(rest + 1).filter(|left| *left > 3) {
        Some(left) if rest > 0 => {
            node.chars().take(left).chain("…:".chars()).chain(group.chars()).collect()
        }
        _ => name.chars().take(characters - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_group() {
        assert_eq!(shortened("short", 10), "short");
        assert_eq!(shortened("a_very_long_node", 10), "a_very_lo…");
        assert_eq!(shortened("a_very_long_node:group", 14), "a_very_…:group");
        assert_eq!(shortened("node:a_very_long_group", 10), "node:a_ve…");
    }
}
