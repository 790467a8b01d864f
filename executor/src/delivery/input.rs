//! Inputs: sources of data outside of the graph, in simulated time.
//!
//! A recording, a generator or a simulator does not push items whenever it likes: the executor asks
//! for the time of its next item, lets it deliver at that simulated time, and tells it when the
//! graph has no event left at that instant. So no item is lost because the system is slow, and
//! nothing depends on its speed. Live, where time does not wait, an input that a [node
//! has](crate::Node::create_input) is called by that node's event loop when its items are due.

use crate::base::escape::BoxError;
use crate::base::lock::lock;
use crate::base::time::Time;
use crate::delivery::timer::Timer;
use std::sync::{Arc, Mutex};

/// The outcome of the delivery of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The item is delivered.
    Done,
    /// The item could not be taken now (a keep-all subscription is full): it is offered again after
    /// the next dispatch; live, a millisecond later.
    Again,
}

/// A source of outside data in simulated time.
///
/// It publishes through publishers of a node of the graph, and reads messages of the graph from
/// [collectors](crate::Collector).
///
/// ```
/// use ringspin_executor::{BoxError, Delivery, ExternalInput, Graph, Publisher, QoS, Time};
///
/// /// Plays back samples that were recorded with their times.
/// struct Recording {
///     samples: std::vec::IntoIter<(Time, f64)>,
///     next: Option<(Time, f64)>,
///     out: Publisher<f64>,
/// }
///
/// impl ExternalInput for Recording {
///     fn next_time(&mut self) -> Option<Time> {
///         self.next = self.next.or_else(|| self.samples.next());
///         self.next.map(|(time, _)| time)
///     }
///
///     fn deliver(&mut self, _now: Time) -> Result<Delivery, BoxError> {
///         if let Some((_, sample)) = self.next.take() {
///             self.out.publish(sample)?;
///         }
///         Ok(Delivery::Done)
///     }
/// }
///
/// let graph = Graph::new();
/// let player = graph.create_node("player", ())?;
/// let out = player.create_publisher("range", QoS::default())?;
/// let samples = vec![(Time::from_secs(1), 0.5), (Time::from_secs(2), 0.4)].into_iter();
/// graph.add_input("recording", Recording { samples, next: None, out })?;
/// # Ok::<(), BoxError>(())
/// ```
pub trait ExternalInput: Send {
    /// Called once in the live modes before any other method, at the start of the executor: the
    /// times of items are times of its clock, which starts at wall time.
    fn start_live(&mut self, now: Time) {
        let _ = now;
    }

    /// The time of the next item, if there is one; a time that has passed counts as now. Called
    /// whenever no event is left at an instant. Live, it is not called again after `None`.
    fn next_time(&mut self) -> Option<Time>;

    /// Delivers the next item, which is due.
    ///
    /// # Errors
    /// The cause of a failed delivery; the run ends with it.
    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError>;

    /// Called when the graph has no event left at `now`. Messages that are published here are
    /// handled at the same instant; then it is called again. The live modes never call it.
    ///
    /// # Errors
    /// The cause of a failure; the run ends with it.
    fn quiet(&mut self, now: Time) -> Result<(), BoxError> {
        let _ = now;
        Ok(())
    }
}

/// An input and its name.
pub struct NamedInput {
    /// The name, for errors.
    pub name: String,
    /// The input.
    pub input: Box<dyn ExternalInput>,
    /// The event loop that calls it in the live modes, if one does.
    pub(crate) live: Option<LiveEntry>,
}

/// The way of an input to the event loop that calls it in the live modes.
#[derive(Clone)]
pub(crate) struct LiveEntry {
    /// Set when the graph is frozen for a live mode.
    pub(crate) input: Arc<Mutex<Option<Box<dyn ExternalInput>>>>,
    /// Idle until then.
    pub(crate) timer: Timer,
}

impl NamedInput {
    /// Hands the input to its event loop, which calls it from the start on.
    pub(crate) fn run_live(self) {
        if let Some(live) = self.live {
            *lock(&live.input) = Some(self.input);
            live.timer.start_at(Time::ZERO);
        }
    }
}
