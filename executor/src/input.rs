//! Inputs: what comes from outside of the graph, in simulated time.
//!
//! A recording, a generator or a simulator does not push when it pleases: it is asked for its next
//! item, hands it over when simulated time has come to it, and is told when the graph has nothing
//! left to do at that instant. So nothing is lost because the system is slow, and nothing depends
//! on how fast it is.

use crate::escape::BoxError;
use crate::time::Time;

/// What became of an item that was to be handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is handed over.
    Done,
    /// Nobody could take it now (a keep-all subscription is full): it is offered again after the
    /// next dispatch.
    Again,
}

/// A source of outside data in simulated time.
///
/// It publishes through publishers of a node of the graph, and reads what the graph publishes from
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
    /// When the next item is to be handed over, if there is one; a time that has passed counts as
    /// now. It is asked whenever an instant is quiet.
    fn next_time(&mut self) -> Option<Time>;

    /// Hands over the next item: the time has come.
    ///
    /// # Errors
    /// What keeps it from doing so; the run ends with it.
    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError>;

    /// The graph has nothing left to do at `now`. What is published here is handled at the same
    /// instant, and then it is told again.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
    fn quiet(&mut self, now: Time) -> Result<(), BoxError> {
        let _ = now;
        Ok(())
    }
}

/// An input and its name.
pub struct NamedInput {
    /// For errors.
    pub name: String,
    /// The input.
    pub input: Box<dyn ExternalInput>,
}
