//! A recording as a process of a run, which publishes its messages at their times.
//!
//! It is the command itself, started once more, without a middleware: it speaks the coordinator's
//! protocol on its standard input, and the bytes of messages are those of the recording. It takes
//! part in the order of the run like any other process.

use crate::system::PLAY;
use clap::Args;
use ringspin_bag::{Bag, Player, Record, Topic};
use ringspin_executor::{Durability, Error, ErrorKind, QoS, Reliability, Result};
use ringspin_modes::quantity::Nanos;
use ringspin_process_protocol::{
    Down, Entity, Gid, Kind, NEVER, Payload, Place, Qos, Sample, Sockets, Turn, Up, VARIABLE,
    receive,
};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The simulated time from the last message to the end of the process, so that all that follows
/// from the message at its instant happens in a run that ends with the process.
const GRACE: u64 = 1_000_000;

/// The arguments of the hidden command.
#[derive(Debug, Args)]
pub(crate) struct Source {
    bag: PathBuf,
    #[arg(long)]
    topic: Vec<String>,
    #[arg(long)]
    remap: Vec<String>,
    #[arg(long)]
    clock: Option<Nanos>,
}

impl Source {
    /// Publishes the recording.
    ///
    /// # Errors
    /// It cannot be read, or this is no process of a run.
    pub(crate) fn play(&self) -> Result<()> {
        let (mut output, start) = Output::new()?;
        let bag = Bag::open(&self.bag)?;
        bag.warnings().iter().for_each(|warning| eprintln!("{warning}"));
        let mut messages = self.player()?.records()?.map(|next| next.map(|(_, record)| record));
        let mut next = messages.next().transpose()?;
        let Some(first) = next.as_ref().map(|record| record.log_time.as_nanos()) else {
            return Err(Error::new(ErrorKind::NotFound, "the recording has no message to play"));
        };
        let due = |record: &Record| start + record.log_time.as_nanos().saturating_sub(first);
        let publishers = self.publishers(&bag, &mut output);
        let clock = self.clock.map(|period| (period.0.max(1), output.add_clock()));
        let (mut now, mut tick, mut last) = (start, clock.map_or(NEVER, |_| start), start);
        while next.is_some() || now < last + GRACE {
            if let Some((period, clock)) = clock.filter(|_| tick <= now) {
                output.publish(clock, now, clock_message(first + (now - start)));
                tick = now + period;
            }
            while let Some(record) = next.take_if(|record| due(record) <= now) {
                let publisher = publishers[record.topic.0].expect("it is one of the chosen topics");
                output.publish(publisher, now, record.data);
                (last, next) = (now, messages.next().transpose()?);
            }
            now = output.rest(now, next.as_ref().map_or(last + GRACE, due).min(tick))?;
        }
        output.say(&Up::End { now });
        Ok(())
    }

    fn player(&self) -> Result<Player> {
        let mut player = Player::new([Bag::open(&self.bag)?]);
        if !self.topic.is_empty() {
            player = player.topics(self.topic.iter().cloned());
        }
        Ok(self.names().fold(player, |player, (from, to)| player.remap(from, to)))
    }

    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.remap.iter().filter_map(|pair| pair.split_once(":="))
    }

    /// The publisher of each topic that is played.
    fn publishers(&self, bag: &Bag, output: &mut Output) -> Vec<Option<Gid>> {
        let mut of = |topic: &Topic| {
            let is_chosen = self.topic.is_empty() || self.topic.contains(&topic.name);
            let name = self.names().find(|(from, _)| *from == topic.name);
            let name = name.map_or(&topic.name[..], |(_, to)| to);
            is_chosen.then(|| output.add(name, &topic.type_name, hash(topic), qos(&topic.offer())))
        };
        bag.topics().iter().map(&mut of).collect()
    }
}

/// The version and the bytes of a type's hash, `RIHS01_` and 64 digits; none if there is none.
fn hash(topic: &Topic) -> Vec<u8> {
    let text = topic.hash().unwrap_or_default();
    let digits = text.strip_prefix("RIHS").and_then(|rest| rest.split_once('_'));
    let Some((version, digits)) = digits.filter(|(_, digits)| digits.len() == 64) else {
        return Vec::new();
    };
    let all = format!("{version}{digits}");
    let byte = |at: usize| u8::from_str_radix(all.get(at..at + 2)?, 16).ok();
    (0..all.len()).step_by(2).map(byte).collect::<Option<_>>().unwrap_or_default()
}

fn qos(of: &QoS) -> Qos {
    Qos {
        depth: Some(of.depth().try_into().unwrap_or(u32::MAX)),
        is_reliable: of.reliability() == Reliability::Reliable,
        is_transient_local: of.durability() == Durability::TransientLocal,
        deadline: of.deadline_period().map_or(NEVER, |period| period.as_nanos() as u64),
        ..Qos::default()
    }
}

/// A `rosgraph_msgs/msg/Clock`, as CDR.
fn clock_message(now: u64) -> Vec<u8> {
    let (seconds, nanos) = ((now / 1_000_000_000) as i32, (now % 1_000_000_000) as u32);
    let words = [[0, 1, 0, 0], seconds.to_le_bytes(), nanos.to_le_bytes()];
    words.as_flattened().to_vec()
}

/// The way to the coordinator.
struct Output {
    socket: UnixStream,
    process: u32,
    turn: Turn,
    /// The number of messages of each publisher; the node has the first place.
    counts: Vec<i64>,
}

impl Output {
    /// The way, and the time of the start.
    fn new() -> Result<(Self, u64)> {
        let place = std::env::var(VARIABLE).ok().and_then(|text| Place::parse(&text));
        let socket = std::io::stdin().as_fd().try_clone_to_owned();
        let (Some(place), Ok(socket)) = (place, socket) else {
            let text = format!("`{PLAY}` is a part of `run`");
            return Err(Error::new(ErrorKind::InvalidState, text));
        };
        let (socket, process) = (UnixStream::from(socket), place.process);
        let mut output = Self { socket, process, turn: Turn::default(), counts: Vec::new() };
        output.add("", "", Vec::new(), Qos::default());
        Ok((output, place.start))
    }

    /// Adds a publisher; the first call adds the node.
    fn add(&mut self, topic: &str, type_name: &str, type_hash: Vec<u8>, qos: Qos) -> Gid {
        let kind = if self.counts.is_empty() { Kind::Node } else { Kind::Publisher };
        self.counts.push(0);
        let gid = Gid { process: self.process, number: self.counts.len() as u32 };
        self.turn.push(&Up::Add(Entity {
            gid,
            kind,
            node: "rosbag2_player".into(),
            namespace: "/".into(),
            name: topic.into(),
            type_name: type_name.into(),
            type_hash,
            qos,
            ignores_own: false,
        }));
        gid
    }

    fn add_clock(&mut self) -> Gid {
        let qos = Qos { is_reliable: false, ..Qos::default() };
        self.add("/clock", "rosgraph_msgs/msg/Clock", Vec::new(), qos)
    }

    fn publish(&mut self, from: Gid, now: u64, bytes: Vec<u8>) {
        let number = &mut self.counts[from.number as usize - 1];
        *number += 1;
        let payload = Payload::Bytes(bytes);
        self.turn.push(&Up::Publish(Sample { from, number: *number, sent: now, payload }));
    }

    /// Ends the turn, until the next one at the deadline or before; returns its time.
    fn rest(&mut self, now: u64, deadline: u64) -> Result<u64> {
        let deadline = Some(deadline);
        let sockets = Sockets::default();
        self.say(&Up::Rest { now, deadline, switches: 0, digest: 0, has_output: false, sockets });
        loop {
            let frames = receive(&self.socket).map_err(|error| {
                Error::new(ErrorKind::InvalidState, format!("the run has ended: {error}"))
            })?;
            if let Some(Down::Go { now, .. }) = frames.last() {
                return Ok(*now);
            }
        }
    }

    fn say(&mut self, last: &Up) {
        self.turn.push(last);
        // If the coordinator has ended, the next read tells.
        let _ = self.turn.send(&self.socket);
    }
}
