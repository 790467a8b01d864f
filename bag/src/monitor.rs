//! The monitor: a node that ends a run which makes no progress, or reports an error.

use crate::player::PlayerHandle;
use ringspin_executor::{Context, Error, Graph, Message, Node, QoS, Result, Time, Timer};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The number of messages of one topic that may wait for the monitor.
const QUEUE_DEPTH: usize = 1000;

/// Watches a run, and ends it with an exit code:
/// [that of the executor](ringspin_executor::StopHandle::exit_code).
///
/// ```
/// use ringspin_bag::RunMonitor;
/// use ringspin_executor::{Graph, QoS};
/// use std::time::Duration;
///
/// let graph = Graph::new();
/// let node = graph.create_node("odometry", ())?;
/// let pose = node.create_publisher::<f64>("pose", QoS::default())?;
/// let error = node.create_publisher::<String>("error", QoS::default())?;
/// RunMonitor::new()
///     .watchdog(Duration::from_secs(2), 3)
///     .watch::<f64>("pose")
///     .exit_on("error", |error: &String| (!error.is_empty()).then_some(4))
///     .add_to(&graph)?;
/// # let _ = (pose, error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct RunMonitor {
    watchdog: Option<(Duration, u8)>,
    player: Option<PlayerHandle>,
    subscriptions: Vec<Subscribe>,
}

type Subscribe = Box<dyn FnOnce(&Node<WatchedProgress>) -> Result<()>>;

/// The time of the newest message on a watched topic; `None` before the start.
#[derive(Debug, Default)]
struct WatchedProgress(Option<Time>);

impl RunMonitor {
    /// A monitor that watches nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run with `exit_code` when no message comes on any [watched](Self::watch) topic for
    /// `timeout` of the executor's time.
    #[must_use]
    pub fn watchdog(mut self, timeout: Duration, exit_code: u8) -> Self {
        self.watchdog = Some((timeout, exit_code));
        self
    }

    /// Watches messages of type `M` on `topic`.
    #[must_use]
    pub fn watch<M: Send + Sync + 'static>(mut self, topic: &str) -> Self {
        let topic = topic.to_owned();
        self.subscriptions.push(Box::new(move |node| {
            node.create_subscription(&topic, qos(), |progress, _: &Message<M>, cx| {
                progress.0 = Some(cx.now());
            })
            .map(drop)
        }));
        self
    }

    /// Does not end the run for a lack of progress once `player` has played its last message.
    #[must_use]
    pub fn while_playing(mut self, player: PlayerHandle) -> Self {
        self.player = Some(player);
        self
    }

    /// Ends the run with the exit code that `code` returns for a message of type `M` on `topic`,
    /// if it does.
    #[must_use]
    pub fn exit_on<M: Send + Sync + 'static>(
        mut self,
        topic: &str,
        mut code: impl FnMut(&M) -> Option<u8> + Send + 'static,
    ) -> Self {
        let topic = topic.to_owned();
        self.subscriptions.push(Box::new(move |node| {
            let name = topic.clone();
            node.create_subscription(&topic, qos(), move |_, message: &Message<M>, cx| {
                if let Some(exit_code) = code(message) {
                    let time = cx.now();
                    tracing::error!(topic = name, exit_code, %time, "a message ends the run");
                    cx.exit(exit_code);
                }
            })
            .map(drop)
        }));
        self
    }

    /// Adds the node `/run_monitor` to `graph`.
    ///
    /// # Errors
    /// The node, a subscription or the watchdog was not created.
    pub fn add_to(self, graph: &Graph) -> Result<()> {
        let failed =
            |error: Error| error.reworded(|text| format!("failed to create the monitor: {text}"));
        let node = graph.create_node("run_monitor", WatchedProgress::default()).map_err(failed)?;
        let mut subscriptions = self.subscriptions.into_iter();
        subscriptions.try_for_each(|subscribe| subscribe(&node)).map_err(failed)?;
        let Some((timeout, exit_code)) = self.watchdog else { return Ok(()) };
        let player = self.player;
        let timer = Arc::<OnceLock<Timer>>::default();
        let own = timer.clone();
        let created =
            node.create_one_shot_timer(timeout, move |progress: &mut WatchedProgress, cx| {
                let is_over = player.as_ref().is_some_and(PlayerHandle::is_finished);
                match progress.due(timeout, cx) {
                    _ if is_over => {}
                    Some(due) => own.get().into_iter().for_each(|timer| timer.start_at(due)),
                    None => {
                        let time = cx.now();
                        tracing::error!(?timeout, exit_code, %time, "no progress ends the run");
                        cx.exit(exit_code);
                    }
                }
            })?;
        let _ = timer.set(created); // the only one
        Ok(())
    }
}

impl WatchedProgress {
    /// The time of the next look; `None` if the timeout has passed.
    fn due(&self, timeout: Duration, cx: &Context<'_>) -> Option<Time> {
        let now = cx.now();
        let due = match self.0 {
            Some(last) => last + timeout,
            // Simulated time has jumped to the start, and the timer is anchored at zero.
            None if cx.is_simulated() && cx.scheduled_time() < Some(now) => now + timeout,
            None => now,
        };
        (due > now).then_some(due)
    }
}

/// Best effort and volatile: every publisher offers that.
fn qos() -> QoS {
    QoS::keep_last(QUEUE_DEPTH).best_effort()
}
