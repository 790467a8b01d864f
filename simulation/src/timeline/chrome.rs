//! Timelines in the JSON of the Chrome Trace Event Format, which Perfetto's viewer and
//! `chrome://tracing` load: a process for each timeline, a thread for each lane, a complete event
//! (phase `X`) for each call.
//!
//! The format counts in microseconds. A double holds nanoseconds exactly for 104 days, so live
//! times, which would be years since 1970, are written since the timeline's origin.

use super::{Span, Timeline};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes `timelines`, each with the name of its process, as one JSON document in the Chrome Trace
/// Event Format: open it in Perfetto's viewer (ui.perfetto.dev) or in `chrome://tracing`.
///
/// A slice has the name of its event loop; callback and event are among its arguments. O(n) time,
/// and constant memory.
///
/// # Errors
/// The error of `out`.
pub fn write_chrome_trace(mut out: impl Write, timelines: &[(&str, &Timeline)]) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut between = "";
    let mut add = |event: Value| {
        out.write_all(std::mem::replace(&mut between, ",").as_bytes())?;
        serde_json::to_writer(&mut out, &event).map_err(io::Error::from)
    };
    for (n, (name, timeline)) in timelines.iter().enumerate() {
        // Process and thread 0 mean "unknown" to some viewers.
        let pid = n + 1;
        add(metadata("process_name", pid, 0, &json!({ "name": name })))?;
        for (lane, of) in timeline.lanes().iter().enumerate() {
            let (tid, order) = (lane + 1, json!({ "sort_index": lane }));
            add(metadata("thread_name", pid, tid, &json!({ "name": of.name })))?;
            add(metadata("thread_sort_index", pid, tid, &order))?;
        }
        timeline.spans().iter().try_for_each(|span| add(call(timeline, span, pid)))?;
    }
    out.write_all(b"]}")
}

fn metadata(key: &str, pid: usize, tid: usize, args: &Value) -> Value {
    json!({ "ph": "M", "name": key, "pid": pid, "tid": tid, "args": args })
}

fn call(timeline: &Timeline, span: &Span, pid: usize) -> Value {
    let callback = timeline.callback(span);
    let microseconds = |ns: u64| ns as f64 / 1e3;
    json!({
        "ph": "X",
        "name": callback.event_loop,
        "cat": "callback",
        "pid": pid,
        "tid": span.lane + 1,
        "ts": microseconds(span.start_ns),
        "dur": microseconds(span.end_ns - span.start_ns),
        "args": {
            "callback": callback.name, "source": span.source, "sequence": span.sequence,
        },
    })
}
