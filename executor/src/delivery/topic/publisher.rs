//! Publishers and loans of messages. A publisher writes into a slot of its topic's pool and hands
//! references to the ports, on the publishing thread up to the queue and the ready ring; it needs
//! no lock, because the list of ports is one published value.

use super::publisher_policy::PublisherPolicy;
use super::{OutOfSlots, Topic, deliver};
use crate::base::departure::Departure;
use crate::base::digest::{Digest, DigestCollector};
use crate::base::error::{ErrorKind, written_error};
use crate::base::escape::BoxError;
use crate::base::event::{EventId, SourceId};
use crate::base::lock::lock;
use crate::base::observed;
use crate::delivery::message::{Envelope, Expiry};
use ringspin_ringbuf::{CacheLines, Counter, pool};
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

/// The largest message, in bytes, that goes by value. In a debug build a message is copied about
/// ten times on its way, and a thread has 2 MiB of stack by default.
pub const BY_VALUE_MAX: usize = 64 << 10;

/// The default of a message that may be larger than this thread's stack, made on a thread with a
/// larger one.
fn large_default<M: Default + Send + 'static>() -> std::io::Result<Box<Envelope<M>>> {
    // Constructors of large values move them a few times in debug builds. Stack that is not used
    // costs nothing.
    let stack_bytes = size_of::<M>().saturating_mul(16).saturating_add(1 << 20);
    let thread = std::thread::Builder::new().name("ringspin-default".into());
    let thread = thread.stack_size(stack_bytes).spawn(|| Box::new(Envelope::<M>::default()))?;
    Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// The error for a message that found no slot.
#[cold]
fn no_slot<M>(
    (envelope, out_of_slots): (Envelope<M>, Box<OutOfSlots>),
    topic: &Arc<Topic<M>>,
) -> PublishError<M> {
    let place = MessagePlace::Heap(Box::new(envelope.message));
    let message = ReturnedMessage { place, topic: topic.clone() };
    PublishError::NoSlot { message, out_of_slots }
}

/// The error for a message that its check refuses.
#[cold]
fn invalid<M>(
    topic: &Arc<Topic<M>>,
    envelope: pool::Loan<Envelope<M>>,
    reason: BoxError,
) -> PublishError<M> {
    PublishError::Invalid { message: ReturnedMessage::in_slot(topic, envelope), reason }
}

/// The number of messages of a publisher, alone on a cache line, because each message writes to it.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Sequence {
    next: Counter,
    /// Ends the publisher, unless it ends with its node.
    _departure: Option<Departure>,
}

impl Sequence {
    /// A sequence that is in `all` as long as it lives.
    fn new(all: &Mutex<Vec<Weak<Self>>>, _departure: Option<Departure>) -> Arc<Self> {
        let new = Arc::new(Self { next: Counter::default(), _departure });
        let mut all = lock(all);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&new));
        new
    }

    pub(super) fn add_to(all: &Mutex<Vec<Weak<Self>>>, lines: &mut CacheLines) {
        // Without waiting for a thread that creates a publisher.
        let Ok(all) = all.try_lock() else { return };
        all.iter().filter_map(Weak::upgrade).for_each(|sequence| lines.add(&*sequence));
    }
}

/// Publishes messages of type `M` on a topic; from any thread, and cheap to clone.
///
/// One thread's messages never overtake each other. Clones are the same publisher: they share its
/// sequence numbers. It ends with the last of them: the messages that a transient-local publisher
/// kept are then dropped, and later subscriptions do not get them.
pub struct Publisher<M> {
    topic: Arc<Topic<M>>,
    source: SourceId,
    sequence: Arc<Sequence>,
    /// `None` for an ordinary publisher, without policies beyond delivery.
    policy: Option<Arc<PublisherPolicy<M>>>,
}

impl<M> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        let Self { topic, source, sequence, policy } = self;
        Self {
            topic: topic.clone(),
            source: *source,
            sequence: sequence.clone(),
            policy: policy.clone(),
        }
    }
}

impl<M> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.topic.name).finish_non_exhaustive()
    }
}

impl<M: Send + Sync + 'static> Publisher<M> {
    pub(crate) fn new(
        topic: Arc<Topic<M>>,
        source: SourceId,
        policy: Option<Arc<PublisherPolicy<M>>>,
        _departure: Option<Departure>,
    ) -> Self {
        let sequence = Sequence::new(&topic.sequences, _departure);
        Self { topic, source, sequence, policy }
    }

    pub(crate) fn source(&self) -> SourceId {
        self.source
    }

    /// Hands `message` to every subscription of the topic: to all of them, or, on an error, to
    /// none.
    ///
    /// The message is moved once and then shared. Lock-free up to the callback: a thread that is
    /// suspended in here delays only its own message. Without allocation: the topic's slots are
    /// allocated with its ends, and more are added only if very many threads publish at once. Time
    /// is proportional to the number of subscriptions. A keep-last subscription that is full gives
    /// up its oldest message, which is counted.
    ///
    /// With a lifespan, deadline or manual liveliness it also reads the clock. A transient-local
    /// publisher locks its cache meanwhile. Its clones, and transient-local subscriptions that join
    /// the topic, wait for that lock, so that late joiners miss nothing.
    ///
    /// # Errors
    /// [`PublishError`] hands the message back when it violates its definition (see
    /// [`Graph::check_messages`](crate::Graph::check_messages)), the graph is not frozen yet
    /// (unless the publisher is transient-local and keeps it), a keep-all subscription is full,
    /// subscriptions hold more messages than they declared, the executor was dropped, or a
    /// middleware does not take it.
    ///
    /// # Compile-time errors
    /// A message of more than [`BY_VALUE_MAX`] bytes has to be [loaned](Self::loan): to hand it
    /// over by value could overflow the stack.
    /// ```compile_fail
    /// # use ringspin_executor::{Graph, QoS};
    /// # let node = Graph::new().create_node("camera", ()).unwrap();
    /// let out = node.create_publisher::<[u8; 70_000]>("image", QoS::default()).unwrap();
    /// out.publish([0; 70_000]).unwrap();
    /// ```
    #[inline]
    pub fn publish(&self, message: M) -> Result<(), PublishError<M>> {
        const {
            assert!(
                size_of::<M>() <= BY_VALUE_MAX,
                "a message of more than 64 KiB cannot be published by value: fill a loan \
                 (`Publisher::loan`), or put the data into a `Vec` or `Box`"
            );
        }
        self.publish_after(message, || ())
    }

    /// Publishes like [`publish`](Self::publish), for an ordinary publisher, and calls `prepare`
    /// once it is certain that all subscriptions take the message, and before any of them has it.
    #[inline]
    pub(crate) fn publish_after(
        &self,
        message: M,
        prepare: impl FnOnce(),
    ) -> Result<(), PublishError<M>> {
        // The slot takes an atomic exchange, behind which the processor looks for no further lines.
        self.topic.ports.fetch();
        match self.topic.insert(Envelope::lasting(EventId::default(), message)) {
            Ok(envelope) => self.publish_envelope(envelope, prepare),
            Err(refused) => Err(no_slot(refused, &self.topic)),
        }
    }

    #[inline]
    fn publish_envelope(
        &self,
        mut envelope: pool::Loan<Envelope<M>>,
        prepare: impl FnOnce(),
    ) -> Result<(), PublishError<M>> {
        if let Some(policy) = &self.policy {
            match policy.checked(&envelope.message) {
                Ok(None) => {}
                Ok(Some(policy)) => {
                    return policy.publish(&self.topic, || self.next_id(), envelope);
                }
                Err(reason) => return Err(invalid(&self.topic, envelope, reason)),
            }
        }
        let ports = match self.topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(&self.topic, envelope)),
        };
        if let Some((last, _)) = ports.split_last() {
            last.subscription.queue.fetch();
        }
        prepare();
        envelope.id = self.next_id();
        envelope.expiry = Expiry::NEVER;
        if let Some((last, others)) = ports.split_last() {
            deliver(envelope.share(), last, others);
        } else {
            self.topic.note_unheard(envelope.id);
        }
        Ok(())
    }

    /// Lends a message of the topic's pool, to be filled in place and [published](Loan::publish).
    /// Of any size: nothing of it goes over the stack.
    ///
    /// It holds the value of an earlier loan, or else the default: overwrite all fields that
    /// matter. Buffers in it keep their capacity, so in the steady state even messages with a `Vec`
    /// or `String` allocate nothing. The default of a message of more than [`BY_VALUE_MAX`] bytes
    /// is made on a separate thread with a large enough stack, once for each slot.
    ///
    /// # Errors
    /// [`LoanError`] when no slot is left, because loans or messages are held, or when that thread
    /// cannot be started.
    ///
    /// # Panics
    /// If `M::default()` does.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("camera", ())?;
    /// let out = node.create_publisher::<Vec<u8>>("image", QoS::sensor_data())?;
    /// let mut image = out.loan()?;
    /// image.clear();
    /// image.extend([1, 2, 3]);
    /// # let _ =
    /// image.publish();
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[inline]
    pub fn loan(&self) -> Result<Loan<'_, M>, LoanError>
    where
        M: Default,
    {
        loop {
            let lent = match size_of::<M>() <= BY_VALUE_MAX {
                true => self.topic.pool.try_loan(Envelope::default),
                false => self.loan_large()?,
            };
            if let Some(envelope) = lent {
                return Ok(Loan { publisher: self, envelope });
            }
            self.topic.make_room()?;
        }
    }

    /// A loan of a message that may be larger than this thread's stack.
    fn loan_large(&self) -> Result<Option<pool::Loan<Envelope<M>>>, LoanError>
    where
        M: Default,
    {
        let mut error = None;
        // A slot has to be found before its default is made.
        let lent = self.topic.pool.try_loan_boxed(|| match large_default() {
            Ok(envelope) => Some(envelope),
            Err(reason) => {
                error = Some(reason);
                None
            }
        });
        match error {
            Some(reason) => Err(LoanError::Stack { bytes: size_of::<M>(), reason }),
            None => Ok(lent),
        }
    }

    /// Makes a message that was handed back a loan again, without moving it.
    ///
    /// # Errors
    /// Hands the message back if it does not lie in a slot of this topic.
    pub fn resume(&self, message: ReturnedMessage<M>) -> Result<Loan<'_, M>, ReturnedMessage<M>> {
        let ReturnedMessage { place, topic } = message;
        match place {
            MessagePlace::Slot(envelope) if self.topic.pool.is_owner_of(&envelope) => {
                Ok(Loan { publisher: self, envelope })
            }
            place => Err(ReturnedMessage { place, topic }),
        }
    }

    /// Asserts that this publisher is alive, as publishing does; see
    /// [`Liveliness::ManualByTopic`](crate::Liveliness::ManualByTopic). Has no effect with
    /// automatic liveliness.
    pub fn assert_liveliness(&self) {
        if let Some(policy) = &self.policy {
            policy.assert_liveliness();
        }
    }

    /// The number of subscriptions that get its messages: those of the topic in this process, and
    /// those outside that the middleware has matched with it.
    ///
    /// # Errors
    /// The reason of the middleware, such as its shutdown.
    pub fn subscription_count(&self) -> crate::Result<usize> {
        let inside = || self.topic.subscriptions();
        let Some(remote) = self.policy.as_ref().and_then(|policy| policy.remote()) else {
            return Ok(inside());
        };
        let includes_locals = remote.events().is_some_and(|events| events.includes_locals());
        let count = remote.subscription_count().map_err(|error| {
            let topic = self.topic();
            let text = format!("failed to count the subscriptions of topic {topic}: {error}");
            crate::Error::new(ErrorKind::Middleware, text).on_topic(topic).caused_by(error)
        })?;
        let count = observed::reading(|| count as u64) as usize;
        Ok(count + if includes_locals { 0 } else { inside() })
    }

    /// The same publisher, with a name that tells it from others of its group on the topic, where
    /// one is needed: in simulated time, the random delays, losses and jitter of its messages
    /// depend on that name. Publishers without one are numbered in order of creation, so that
    /// another one before them would change their numbers.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("lidar", ())?;
    /// let front = node.create_publisher::<u8>("scan", QoS::default())?.named("front");
    /// let rear = node.create_publisher::<u8>("scan", QoS::default())?.named("rear");
    /// # let _ = (front, rear);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.topic.digests.name_publisher(self.source, name);
        self
    }

    /// The same publisher, which adds its messages to the digest.
    pub(crate) fn showing(mut self, show: fn(&M, &DigestCollector)) -> Self {
        self.topic.digests.digest_publisher(self.source);
        let policy = self.policy.as_deref().cloned().unwrap_or_default();
        self.policy = Some(Arc::new(policy.showing(show, self.topic.digests.clone())));
        self
    }

    fn next_id(&self) -> EventId {
        EventId { source: self.source, sequence: self.sequence.next.next() }
    }

    /// The topic's fully qualified name.
    pub fn topic(&self) -> &str {
        &self.topic.name
    }
}

/// A message on loan from its publisher: filled in place, then published, or dropped unpublished.
pub struct Loan<'a, M> {
    publisher: &'a Publisher<M>,
    envelope: pool::Loan<Envelope<M>>,
}

impl<M: Send + Sync + 'static> Loan<'_, M> {
    /// Publishes a shared message like [`Publisher::publish`], without moving it.
    ///
    /// # Errors
    /// [`PublishError`] hands the message back, as [`Publisher::publish`] does.
    #[inline]
    pub fn publish(self) -> Result<(), PublishError<M>> {
        self.publisher.publish_envelope(self.envelope, || ())
    }
}

impl<M> std::ops::Deref for Loan<'_, M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.envelope.message
    }
}

impl<M> std::ops::DerefMut for Loan<'_, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut M {
        &mut self.envelope.message
    }
}

impl<M: fmt::Debug> fmt::Debug for Loan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A message that was not published and is handed back: a reference to where it lies, so that the
/// error is small however large the message is.
///
/// Dropping it drops the message. [`Publisher::resume`] makes it a loan again.
pub struct ReturnedMessage<M> {
    place: MessagePlace<M>,
    /// The topic, for the error's text.
    topic: Arc<Topic<M>>,
}

enum MessagePlace<M> {
    Slot(pool::Loan<Envelope<M>>),
    Heap(Box<M>),
}

impl<M> ReturnedMessage<M> {
    #[cold]
    pub(super) fn in_slot(topic: &Arc<Topic<M>>, envelope: pool::Loan<Envelope<M>>) -> Self {
        Self { place: MessagePlace::Slot(envelope), topic: topic.clone() }
    }

    /// The message, by value.
    pub fn into_inner(self) -> M {
        match self.place {
            MessagePlace::Slot(envelope) => envelope.into_inner().message,
            MessagePlace::Heap(message) => *message,
        }
    }
}

impl<M> std::ops::Deref for ReturnedMessage<M> {
    type Target = M;

    fn deref(&self) -> &M {
        match &self.place {
            MessagePlace::Slot(envelope) => &envelope.message,
            MessagePlace::Heap(message) => message,
        }
    }
}

impl<M> std::ops::DerefMut for ReturnedMessage<M> {
    fn deref_mut(&mut self) -> &mut M {
        match &mut self.place {
            MessagePlace::Slot(envelope) => &mut envelope.message,
            MessagePlace::Heap(message) => message,
        }
    }
}

impl<M: fmt::Debug> fmt::Debug for ReturnedMessage<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The reason why there is no loan.
#[non_exhaustive]
pub enum LoanError {
    /// All of the topic's message slots are in use.
    NoSlot(Box<OutOfSlots>),
    /// The thread that makes the default of a large message was not started.
    Stack {
        /// The size of the message.
        bytes: usize,
        /// The answer of the operating system.
        reason: std::io::Error,
    },
}

impl fmt::Debug for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSlot(out_of_slots) => write!(f, "failed to lend a message: {out_of_slots}"),
            Self::Stack { bytes, reason } => write!(
                f,
                "failed to lend a message of {bytes} bytes: no thread with a stack for it: \
                 {reason}; raise the limits of memory and threads, or use smaller messages"
            ),
        }
    }
}

impl std::error::Error for LoanError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoSlot(_) => None,
            Self::Stack { reason, .. } => Some(reason),
        }
    }
}

impl From<Box<OutOfSlots>> for LoanError {
    fn from(out_of_slots: Box<OutOfSlots>) -> Self {
        Self::NoSlot(out_of_slots)
    }
}

/// The reason why a message was not published; it is handed back.
#[non_exhaustive]
pub enum PublishError<M> {
    /// The graph is still being built: publish from callbacks, after `freeze`, or with
    /// transient-local durability.
    NotFrozen(ReturnedMessage<M>),
    /// A keep-all subscription holds as many messages as its limit.
    Full(ReturnedMessage<M>),
    /// The executor was dropped: no worker takes messages any more.
    Gone(ReturnedMessage<M>),
    /// All of the topic's message slots are in use, because subscriptions hold more messages than
    /// they declared, or publishers more loans.
    NoSlot {
        /// The message.
        message: ReturnedMessage<M>,
        /// The holders of the messages.
        out_of_slots: Box<OutOfSlots>,
    },
    /// It violates the definition of its type: an array or a string is too long, for example.
    Invalid {
        /// The message.
        message: ReturnedMessage<M>,
        /// The violation, with type and field.
        reason: BoxError,
    },
    /// The middleware did not take it.
    Remote {
        /// The message, unless the subscriptions in this process have it.
        message: Option<ReturnedMessage<M>>,
        /// The middleware's reason.
        reason: BoxError,
    },
}

impl<M> PublishError<M> {
    /// The message by value, unless the subscriptions in this process have it.
    pub fn into_message(self) -> Option<M> {
        self.into_returned().map(ReturnedMessage::into_inner)
    }

    /// The message where it lies, unless the subscriptions in this process have it.
    pub fn into_returned(self) -> Option<ReturnedMessage<M>> {
        match self {
            Self::NotFrozen(message)
            | Self::Full(message)
            | Self::Gone(message)
            | Self::NoSlot { message, .. }
            | Self::Invalid { message, .. } => Some(message),
            Self::Remote { message, .. } => message,
        }
    }
}

impl<M> fmt::Display for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, problem) = match self {
            Self::NotFrozen(message) => (
                message,
                "the graph is still being built; publish from a callback, freeze the graph first, \
                 or make the publisher transient-local",
            ),
            Self::Full(message) => {
                (message, "a keep-all subscription is full; raise its limit or publish more slowly")
            }
            Self::Gone(message) => {
                (message, "the executor was dropped; keep it as long as something publishes")
            }
            Self::NoSlot { out_of_slots, .. } => {
                return write!(f, "failed to publish: {out_of_slots}");
            }
            Self::Invalid { message, reason } => {
                return write!(f, "failed to publish on {}: {reason}", message.topic.name);
            }
            Self::Remote { reason, .. } => {
                return write!(f, "failed to publish to other processes: {reason}");
            }
        };
        write!(f, "failed to publish on {}: {problem}", message.topic.name)
    }
}

written_error!(PublishError<M>);

/// Drops the message.
impl<M> From<PublishError<M>> for crate::Error {
    fn from(error: PublishError<M>) -> Self {
        let kind = match &error {
            PublishError::NotFrozen(_) | PublishError::Gone(_) => ErrorKind::InvalidState,
            PublishError::Full(_) | PublishError::NoSlot { .. } => ErrorKind::LimitReached,
            PublishError::Invalid { .. } => ErrorKind::InvalidArgument,
            PublishError::Remote { .. } => ErrorKind::Middleware,
        };
        let text = error.to_string();
        match error.into_returned() {
            Some(message) => Self::new(kind, text).on_topic(&*message.topic.name),
            None => Self::new(kind, text),
        }
    }
}

impl From<LoanError> for crate::Error {
    fn from(error: LoanError) -> Self {
        Self::new(ErrorKind::LimitReached, error.to_string()).caused_by(error)
    }
}

impl<M: Digest + Send + Sync + 'static> Publisher<M> {
    /// The same publisher, with its messages in the digest of the dispatches that publish them.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("lidar", ())?;
    /// let out = node.create_publisher::<Vec<f32>>("scan", QoS::default())?.digested();
    /// # let _ = out;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn digested(self) -> Self {
        self.showing(|message, digests| digests.add(message))
    }
}
