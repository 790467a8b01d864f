//! Timelines in the JSON of the Chrome Trace Event Format, which Perfetto's viewer and
//! `chrome://tracing` load: a process for each timeline, a thread for each lane, a complete event
//! (phase `X`) for each call.
//!
//! The format counts in microseconds. A double holds nanoseconds exactly for 104 days, so live
//! times, which would be years since 1970, are written since the timeline's origin.

use super::{Span, Timeline};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    trace_events: Vec<Event<'a>>,
    display_time_unit: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Event<'a> {
    Name { ph: &'static str, name: &'static str, pid: usize, tid: usize, args: Name<'a> },
    Order { ph: &'static str, name: &'static str, pid: usize, tid: usize, args: Order },
    Call(Call<'a>),
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Order {
    sort_index: usize,
}

#[derive(Serialize)]
struct Call<'a> {
    ph: &'static str,
    name: &'a str,
    cat: &'static str,
    pid: usize,
    tid: usize,
    /// In microseconds.
    ts: f64,
    /// In microseconds.
    dur: f64,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    callback: &'a str,
    source: u32,
    sequence: u64,
}

/// Writes `timelines`, each with the name of its process, as one JSON document in the Chrome Trace
/// Event Format: open it in Perfetto's viewer (ui.perfetto.dev) or in `chrome://tracing`.
///
/// A slice has the name of its event loop; callback and event are among its arguments. O(n) time,
/// and about 100 bytes of memory for each call.
///
/// # Errors
/// The error of `out`.
pub fn write_chrome_trace(out: impl Write, timelines: &[(&str, &Timeline)]) -> io::Result<()> {
    let mut trace_events = Vec::new();
    for (n, (name, timeline)) in timelines.iter().enumerate() {
        // Process and thread 0 mean "unknown" to some viewers.
        let pid = n + 1;
        trace_events.push(metadata("process_name", pid, 0, name));
        for (lane, of) in timeline.lanes().iter().enumerate() {
            let (ph, tid, args) = ("M", lane + 1, Order { sort_index: lane });
            trace_events.push(metadata("thread_name", pid, tid, &of.name));
            trace_events.push(Event::Order { ph, name: "thread_sort_index", pid, tid, args });
        }
        trace_events.extend(timeline.spans().iter().map(|span| call(timeline, span, pid)));
    }
    serde_json::to_writer(out, &Document { trace_events, display_time_unit: "ms" })?;
    Ok(())
}

fn metadata<'a>(key: &'static str, pid: usize, tid: usize, name: &'a str) -> Event<'a> {
    Event::Name { ph: "M", name: key, pid, tid, args: Name { name } }
}

fn call<'a>(timeline: &'a Timeline, span: &Span, pid: usize) -> Event<'a> {
    let callback = timeline.callback(span);
    Event::Call(Call {
        ph: "X",
        name: &callback.event_loop,
        cat: "callback",
        pid,
        tid: span.lane + 1,
        ts: microseconds(span.start_ns),
        dur: microseconds(span.end_ns - span.start_ns),
        args: Arguments { callback: &callback.name, source: span.source, sequence: span.sequence },
    })
}

fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1e3
}
