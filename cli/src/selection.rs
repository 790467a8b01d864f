//! The part of recordings that a command line chooses.

use crate::arguments::{Selection, Split};
use crate::{Ended, unusable};
use regex::Regex;
use ringspin_bag::{Player, RecordSource, Topic, Writer};
use ringspin_executor::Time;

impl Selection {
    /// Adds the topics that match the patterns to those that are named.
    pub(crate) fn choose(&mut self, topics: &[Topic]) -> Result<(), Ended> {
        let names: Vec<_> = topics.iter().map(|topic| &*topic.name).collect();
        let matching = |pattern: &Option<Regex>| -> Vec<String> {
            let Some(pattern) = pattern else { return Vec::new() };
            names.iter().filter(|name| pattern.is_match(name)).map(|name| (*name).into()).collect()
        };
        self.exclude.extend(matching(&self.exclude_regex));
        self.topics.extend(matching(&self.regex));
        match &self.regex {
            Some(pattern) if self.topics.is_empty() => Err(unusable(format!(
                "failed to choose topics: no name matches `{pattern}`; the recording has {}",
                names.join(", ")
            ))),
            _ => Ok(()),
        }
    }

    /// Whether the topic is among them, after they are [chosen](Self::choose).
    pub(crate) fn has(&self, topic: &String) -> bool {
        (self.topics.is_empty() || self.topics.contains(topic)) && !self.exclude.contains(topic)
    }

    /// The name that the topic is given.
    pub(crate) fn renamed(&self, topic: &Topic) -> String {
        let to = self.remap.iter().find(|(from, _)| *from == topic.name).map(|(_, to)| to);
        to.unwrap_or(&topic.name).clone()
    }

    /// A player of this part, after the topics are [chosen](Self::choose).
    pub(crate) fn player<S: RecordSource + 'static>(&self, bags: Vec<S>) -> Result<Player, Ended> {
        let first = bags.iter().filter_map(RecordSource::start).min().unwrap_or_default();
        let mut player = Player::new(bags).exclude(&self.exclude).start_offset(self.start_offset);
        if !self.topics.is_empty() {
            player = player.topics(&self.topics);
        }
        for (from, to) in &self.remap {
            player = player.remap(from, to);
        }
        if let Some(duration) = self.playback_duration {
            player = player.end_offset(self.start_offset + duration);
        }
        let Some(until) = self.playback_until else { return Ok(player) };
        let until = Time::ZERO + until;
        if until < first {
            return Err(unusable(format!(
                "failed to choose messages up to {until}: the first one is of {first}; use a later \
                 `--playback-until`"
            )));
        }
        Ok(player.end_offset(until - first))
    }
}

impl Split {
    /// The writer of a recording that is split so.
    pub(crate) fn applied_to(&self, writer: Writer) -> Result<Writer, Ended> {
        writer.split(self.max_bag_size, self.max_bag_duration).map_err(unusable)
    }
}
