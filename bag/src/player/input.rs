//! The input that plays: it delivers one message after the other.

use super::Player;
use super::channels::Channel;
use super::report::PlayerProgress;
use super::stream::{Content, Item, Stream, failed};
use crate::requester::Requested;
use ringspin_executor::{BoxError, Delivery, Error, ExternalInput, StopHandle, Time};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

/// The number of messages that are read ahead in the live modes.
const READ_AHEAD: usize = 256;

/// The ways of messages into the graph.
pub(super) struct Routes {
    /// The channels with the names of their topics.
    pub(super) channels: Vec<(String, Channel)>,
    /// The channel of each topic of each recording, if it is played.
    pub(super) targets: Vec<Vec<Option<usize>>>,
    /// The channel of `/clock`.
    pub(super) clock: Option<usize>,
}

/// The next message, and how often the recordings were played before it.
type Read = (u64, Result<Item, Error>);

/// The pause after the last message, before the first one again.
const LAP_GAP: Duration = Duration::from_millis(1);

/// The messages to be played.
enum Feed {
    /// They are read when they are needed.
    Direct(Stream),
    /// A thread reads them ahead.
    Ahead(Receiver<Read>),
    End,
}

/// The next message of a feed.
enum Next {
    Item(Item),
    Failed(Error),
    /// It is not read yet.
    NotYet,
    End,
}

/// Times in the live modes.
struct Live {
    /// The time of the first message by the executor's clock, and by the recording.
    start: (Time, Time),
    rate: f64,
}

impl Live {
    /// The time of a message by the executor's clock.
    fn due(&self, time: Time) -> Time {
        let (start, first) = self.start;
        let elapsed = (time - first).as_secs_f64() / self.rate;
        start + Duration::try_from_secs_f64(elapsed).unwrap_or(Duration::MAX)
    }
}

/// Opens the recordings again.
pub(super) type Again = Box<dyn FnMut() -> Result<Stream, Error> + Send>;

/// Plays the messages of a [`Stream`].
pub(super) struct PlayerInput {
    feed: Feed,
    next: Next,
    routes: Routes,
    progress: Arc<PlayerProgress>,
    rate: f64,
    delay: Duration,
    live: Option<Live>,
    /// The time of the newest message, by the recording.
    position: Time,
    /// How often the recordings were played before.
    lap: u64,
    /// The recordings again, if they are repeated.
    again: Option<Again>,
    stop_at_end: Option<(StopHandle, Duration)>,
}

impl PlayerInput {
    pub(super) fn new(
        player: &Player,
        stream: Stream,
        routes: Routes,
        progress: Arc<PlayerProgress>,
        again: Option<Again>,
    ) -> Self {
        let mut input = Self {
            feed: Feed::Direct(stream),
            next: Next::NotYet,
            routes,
            progress,
            rate: player.rate,
            delay: player.delay,
            live: None,
            position: Time::ZERO,
            lap: 0,
            again,
            stop_at_end: player.stop_at_end.clone(),
        };
        input.read();
        input
    }

    /// Reads the next message, if there is none.
    fn read(&mut self) {
        if !matches!(self.next, Next::NotYet) {
            return;
        }
        let read = match &mut self.feed {
            Feed::Direct(stream) => stream.next().map(|read| (self.lap, read)),
            Feed::Ahead(ahead) => match ahead.try_recv() {
                Ok(read) => Some(read),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => None,
            },
            Feed::End => None,
        };
        self.next = match read {
            Some((lap, Ok(item))) => {
                self.begin(lap, item.time);
                Next::Item(item)
            }
            Some((_, Err(error))) => Next::Failed(error),
            None => {
                self.feed = Feed::End;
                self.progress.is_finished.raise();
                Next::End
            }
        };
    }

    /// Has the time of the recording begin again if the message of `first` begins a lap.
    fn begin(&mut self, lap: u64, first: Time) {
        if lap == self.lap {
            return;
        }
        self.lap = lap;
        if let Some(live) = &mut self.live {
            live.start = (live.due(self.position) + LAP_GAP, first);
        }
        self.position = first;
    }

    fn due(&self, time: Time) -> Time {
        self.live.as_ref().map_or(time, |live| live.due(time))
    }

    fn play(&mut self, item: &Item) -> Result<Delivery, BoxError> {
        let clock;
        let (channel, data) = match &item.content {
            Content::Message { source, topic, data } => {
                (self.routes.targets[*source][topic.0], &data[..])
            }
            Content::Clock => {
                clock = clock_message(item.time);
                (self.routes.clock, &clock[..])
            }
        };
        // Readers leave out topics that are not played.
        let Some(channel) = channel else { return Ok(Delivery::Done) };
        let (topic, channel) = &mut self.routes.channels[channel];
        deliver(channel, data, &self.progress).map_err(|error| {
            let time = item.time;
            format!("failed to play the message of topic {topic} at {time}: {error}").into()
        })
    }

    /// Notes that the message of `time` is played at `now`.
    fn note(&mut self, time: Time, now: Time) {
        self.position = self.position.max(time);
        let progress = &self.progress;
        progress.position.set(self.position.as_nanos());
        if let Some(live) = &self.live {
            let lag = (now - live.due(time)).as_nanos() as u64;
            progress.lag_max.set(progress.lag_max.get().max(lag));
            progress.lag_sum.add_by_owner(lag);
        }
    }
}

impl ExternalInput for PlayerInput {
    fn start_live(&mut self, now: Time) {
        let Next::Item(Item { time: first, .. }) = &self.next else { return };
        self.live = Some(Live { start: (now + self.delay, *first), rate: self.rate });
        if let Feed::Direct(mut stream) = std::mem::replace(&mut self.feed, Feed::End) {
            let (sender, ahead) = sync_channel(READ_AHEAD);
            let mut again = self.again.take();
            let name = thread::Builder::new().name("bag-reader".into());
            let reader = name.spawn(move || {
                for lap in 0.. {
                    let mut is_empty = true;
                    let is_sent = stream.all(|read| {
                        is_empty = false;
                        read.is_ok() & sender.send((lap, read)).is_ok()
                    });
                    // Ends with an error, with the player, or where nothing would be repeated. The
                    // first message of all was taken before.
                    if !is_sent || is_empty && lap > 0 {
                        return;
                    }
                    match again.as_mut().map(|open| open()) {
                        Some(Ok(opened)) => stream = opened,
                        Some(Err(error)) => return drop(sender.send((lap, Err(error)))),
                        None => return,
                    }
                }
            });
            match reader {
                Ok(_) => self.feed = Feed::Ahead(ahead),
                Err(error) => {
                    self.next = Next::Failed(failed("the recording", error.into()));
                }
            }
        }
    }

    fn next_time(&mut self) -> Option<Time> {
        self.read();
        match &self.next {
            Next::Item(item) => Some(self.due(item.time)),
            Next::Failed(_) | Next::NotYet => Some(Time::ZERO),
            Next::End => {
                let (_, grace) = self.stop_at_end.as_ref()?;
                Some(self.due(self.position) + *grace)
            }
        }
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        match std::mem::replace(&mut self.next, Next::NotYet) {
            Next::Item(item) => {
                if self.play(&item)? == Delivery::Again {
                    self.progress.retries.add_by_owner(1);
                    self.next = Next::Item(item);
                    return Ok(Delivery::Again);
                }
                self.note(item.time, now);
                self.read();
                Ok(Delivery::Done)
            }
            Next::Failed(error) => Err(error.into()),
            Next::NotYet => Ok(Delivery::Again),
            Next::End => {
                self.next = Next::End;
                if let Some((stop, _)) = self.stop_at_end.take() {
                    stop.stop();
                }
                Ok(Delivery::Done)
            }
        }
    }
}

/// Publishes a message, or sends a request.
fn deliver(
    channel: &mut Channel,
    data: &[u8],
    progress: &PlayerProgress,
) -> Result<Delivery, BoxError> {
    let counter = match channel {
        Channel::Topic(outlet) => match outlet.publish(data)? {
            Delivery::Again => return Ok(Delivery::Again),
            Delivery::Done => {
                progress.bytes.add_by_owner(data.len() as u64);
                &progress.messages
            }
        },
        Channel::Service(requester) => match requester.request(data)? {
            Requested::Again => return Ok(Delivery::Again),
            Requested::Sent => &progress.requests,
            Requested::NoService => &progress.requests_refused,
            Requested::NoRequest => &progress.requests_empty,
        },
    };
    counter.add_by_owner(1);
    Ok(Delivery::Done)
}

/// The serialized message of `/clock`.
fn clock_message(time: Time) -> [u8; 12] {
    let (sec, nanosec) = (time.as_nanos() / 1_000_000_000, time.as_nanos() % 1_000_000_000);
    let mut data = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    data[4..8].copy_from_slice(&(sec as u32).to_le_bytes());
    data[8..].copy_from_slice(&(nanosec as u32).to_le_bytes());
    data
}
