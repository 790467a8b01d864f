//! Events of `tracing`, on `/rosout`.

use crate::connection::Connection;
use crate::middleware::Ros2;
use crate::rcl::{LogLine, log};
use ringspin_executor::{LogLevel, running_node};
use std::cell::Cell;
use std::fmt::{Debug, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Lines that wait to be published; more are dropped and counted.
const WAITING_MAX: usize = 1024;

thread_local! {
    /// Whether this thread publishes log lines: its own log stays off `/rosout`.
    static PUBLISHES: Cell<bool> = const { Cell::new(false) };
}

/// A log line on its way to `/rosout`.
struct Line {
    node: Option<String>,
    severity: LogLevel,
    message: String,
    file: &'static str,
    module: &'static str,
    line: u32,
}

/// A layer for `tracing_subscriber` that sends events to `/rosout`; see [`Ros2::log_layer`].
pub struct RosoutLayer {
    lines: SyncSender<Line>,
    dropped: Arc<Mutex<u64>>,
}

impl Ros2 {
    /// A layer that sends log lines, down to debug, to `/rosout`, in the name of a node: the one
    /// that field `node` of the event, or of a span around it, names by its fully qualified name;
    /// else the one of the [running callback](ringspin_executor::running_node); else the first
    /// node. As for every log of ROS, rcl's level (`--log-level`) decides which lines are sent.
    ///
    /// A separate thread publishes, so that logging does not wait, also not in callbacks of the
    /// middleware. It has room for 1024 lines; further lines are dropped, and their number is
    /// logged. Lines before the first node exists are dropped, too.
    ///
    /// # Errors
    /// Where the thread cannot be started.
    ///
    /// ```no_run
    /// use ringspin_ros2::Ros2;
    /// use tracing_subscriber::layer::SubscriberExt;
    /// use tracing_subscriber::util::SubscriberInitExt;
    /// let ros2 = Ros2::builder().connect()?;
    /// tracing_subscriber::registry().with(ros2.log_layer()?).init();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_layer(&self) -> std::io::Result<RosoutLayer> {
        let (lines, waiting) = sync_channel(WAITING_MAX);
        let dropped = Arc::<Mutex<u64>>::default();
        let (connection, lost) = (Arc::downgrade(&self.connection), dropped.clone());
        let publish = move || publish(&connection, &waiting, &lost);
        std::thread::Builder::new().name("ringspin-rosout".into()).spawn(publish)?;
        Ok(RosoutLayer { lines, dropped })
    }
}

/// Publishes log lines until the layer or the connection is dropped.
fn publish(connection: &Weak<Connection>, waiting: &Receiver<Line>, dropped: &Mutex<u64>) {
    PUBLISHES.set(true);
    for line in waiting {
        let Some(connection) = connection.upgrade() else { return };
        let Some(node) = connection.log_node(line.node.as_deref()) else { continue };
        let Line { severity, message, file, module: function, line, .. } = &line;
        let say = |severity, message: &str| {
            log(&node, &LogLine { severity, message, file, function, line: *line });
        };
        say(*severity, message);
        let dropped = std::mem::take(&mut *dropped.lock().unwrap_or_else(PoisonError::into_inner));
        if dropped > 0 {
            say(LogLevel::Warn, &format!("{dropped} lines of the log were too much for /rosout"));
        }
    }
}

/// The message of an event, and the node that it names.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
    node: Option<String>,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "node" if self.node.is_none() => {
                self.node = Some(format!("{value:?}").trim_matches('"').into());
            }
            name => drop(write!(self.fields, " {name}={value:?}")),
        }
    }
}

/// The node that a span names.
struct SpanNode(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RosoutLayer {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        let mut text = Text::default();
        attributes.record(&mut text);
        if let (Some(node), Some(span)) = (text.node, context.span(id)) {
            span.extensions_mut().insert(SpanNode(node));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let severity = match *metadata.level() {
            Level::ERROR => LogLevel::Error,
            Level::WARN => LogLevel::Warn,
            Level::INFO => LogLevel::Info,
            Level::DEBUG => LogLevel::Debug,
            Level::TRACE => return,
        };
        if PUBLISHES.get() {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let around = || {
            let mut spans = context.event_scope(event)?;
            spans.find_map(|span| span.extensions().get::<SpanNode>().map(|node| node.0.clone()))
        };
        let line = Line {
            node: text.node.or_else(around).or_else(running_node),
            severity,
            message: format!("{}{}", text.message, text.fields),
            file: metadata.file().unwrap_or_default(),
            module: metadata.module_path().unwrap_or_default(),
            line: metadata.line().unwrap_or_default(),
        };
        if self.lines.try_send(line).is_err() {
            *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
    }
}

impl Debug for RosoutLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RosoutLayer")
    }
}
