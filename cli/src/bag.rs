//! Commands that look into recordings.

use crate::arguments::{Bag as Command, BagConvert, BagDiff, BagEcho, Selection};
use crate::{Ended, FAILED, Invocation, unusable};
use ringspin_bag::diff::{DiffOptions, first_difference};
use ringspin_bag::{
    Bag, DecodedMessage, MessageDecoder, MessageTypes, ReadOptions, Record, Topic, TopicId,
    WriteOptions, Writer,
};
use ringspin_executor::Time;
use ringspin_executor::{Error, ErrorKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

impl Invocation<'_> {
    pub(super) fn bag(&mut self, command: Command) -> Result<u8, Ended> {
        match command {
            Command::Info { bag } => self.info(&bag),
            Command::Check { bag } => self.check_bag(&bag),
            Command::Recover { bag, output } => self.recover(&bag, &output),
            Command::Convert(convert) => self.convert(convert),
            Command::Echo(echo) => self.echo(echo),
            Command::Diff(diff) => self.diff(&diff),
        }
    }

    fn info(&mut self, path: &Path) -> Result<u8, Ended> {
        let bag = self.open(path)?;
        let out = &mut self.out;
        let names: Vec<_> = bag.files().iter().map(|file| file.path.display()).collect();
        let bytes: u64 = bag.files().iter().map(|file| file.size).sum();
        let time = |time: Option<Time>| time.map_or("-".into(), |time| date(time.as_nanos()));
        lines(out, "Files", names.iter().map(ToString::to_string))?;
        lines(out, "Bag size", [size(bytes)])?;
        lines(out, "Storage id", [bag.storage().to_owned()])?;
        lines(out, "ROS Distro", [bag.ros_distro().unwrap_or("unknown").to_owned()])?;
        lines(out, "Duration", [format!("{}s", seconds(bag.duration().as_nanos()))])?;
        lines(out, "Start", [time(bag.start())])?;
        lines(out, "End", [time(bag.end())])?;
        lines(out, "Messages", [bag.message_count().to_string()])?;
        let topics = bag.topics().iter().zip(bag.message_counts());
        let topics = topics.map(|(topic, count)| {
            let Topic { name, type_name, serialization_format, .. } = topic;
            format!(
                "Topic: {name} | Type: {type_name} | Count: {count} | \
                 Serialization Format: {serialization_format}"
            )
        });
        lines(out, "Topic information", topics)?;
        Ok(0)
    }

    fn check_bag(&mut self, path: &Path) -> Result<u8, Ended> {
        let bag = Bag::open(path).map_err(damaged_or_unusable)?;
        let (mut counts, mut problems) = (vec![0u64; bag.topics().len()], bag.warnings().to_vec());
        for record in bag.read(&ReadOptions::default()).map_err(unusable)? {
            match record {
                Ok(record) => counts[record.topic.0] += 1,
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        for (topic, count) in bag.topics().iter().zip(counts) {
            writeln!(self.out, "{}: {count} messages", topic.name)?;
        }
        match problems.is_empty() {
            true => Ok(0),
            false => Err(Ended::Failed(problems.join("\n"))),
        }
    }

    fn recover(&mut self, path: &Path, output: &Path) -> Result<u8, Ended> {
        let failed = |error: Error| Ended::Failed(error.to_string());
        let bag = Bag::open_damaged(path).map_err(damaged_or_unusable)?;
        let mut writer = Writer::create(output, WriteOptions::default()).map_err(unusable)?;
        let topics = bag.topics().iter().map(|topic| writer.add_topic(topic));
        let topics = topics.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut counts = vec![0; topics.len()];
        for record in bag.read(&ReadOptions::default()).map_err(unusable)? {
            let Record { topic, log_time, publish_time, sequence, data } =
                record.map_err(failed)?;
            counts[topic.0] += 1;
            let written = writer.write(topics[topic.0], log_time, publish_time, sequence, &data);
            written.map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        for ((topic, count), recorded) in bag.topics().iter().zip(counts).zip(bag.recorded_counts())
        {
            let recorded = recorded.max(count);
            writeln!(self.out, "{}: {count} of {recorded} messages", topic.name)?;
        }
        bag.warnings().iter().try_for_each(|lost| writeln!(self.out, "{lost}"))?;
        Ok(0)
    }

    fn convert(&mut self, convert: BagConvert) -> Result<u8, Ended> {
        let failed = |error: Error| Ended::Failed(error.to_string());
        let BagConvert { bags, output, selection, compression, split } = convert;
        let (bags, records, selection) = self.read(&bags, selection)?;
        let (topics, numbers) = merged(&bags, &selection, self.types);
        let writer = Writer::create(&output, WriteOptions { compression }).map_err(unusable)?;
        let mut writer = split.applied_to(writer)?;
        let ids = topics.iter().map(|topic| writer.add_topic(topic));
        let ids = ids.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut count = 0u64;
        for record in records {
            let (source, record) = record.map_err(failed)?;
            let Record { topic, log_time, publish_time, sequence, data } = record;
            let Some(number) = numbers[source][topic.0] else { continue };
            writer.write(ids[number], log_time, publish_time, sequence, &data).map_err(failed)?;
            count += 1;
        }
        writer.finish().map_err(failed)?;
        writeln!(self.out, "{count} messages written to {}", output.display())?;
        Ok(0)
    }

    fn echo(&mut self, echo: BagEcho) -> Result<u8, Ended> {
        let (bags, records, selection) = self.read(&echo.bags, echo.selection)?;
        let mut decoders = BTreeMap::new();
        for next in records {
            let (source, Record { topic, log_time, publish_time, data, .. }) =
                next.map_err(|error| Ended::Failed(error.to_string()))?;
            let of = &bags[source].topics()[topic.0];
            let decoder = match decoders.entry((source, topic)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(decoder(&self.types.defined(of)).map_err(unusable)?)
                }
            };
            let message = decoder.decode(&data).map_err(|error| {
                Ended::Failed(format!("topic {} at {log_time}: {error}", of.name))
            })?;
            let line = Line {
                topic: &selection.renamed(of),
                type_name: &of.type_name,
                log_time_ns: log_time.as_nanos(),
                publish_time_ns: publish_time.as_nanos(),
                message,
            };
            let line = serde_json::to_string(&line).map_err(io::Error::from)?;
            writeln!(self.out, "{line}")?;
        }
        Ok(0)
    }

    /// Opens recordings and reads the selected messages, merged by time.
    fn read(
        &self,
        paths: &[PathBuf],
        mut selection: Selection,
    ) -> Result<(Vec<Bag>, Selected, Selection), Ended> {
        let bags = paths.iter().map(|path| self.open(path)).collect::<Result<Vec<_>, _>>()?;
        let topics: Vec<_> = bags.iter().flat_map(|bag| bag.topics().to_vec()).collect();
        selection.choose(&topics)?;
        let records = selection.player(bags.clone())?.records().map_err(unusable)?;
        Ok((bags, Box::new(records), selection))
    }

    fn diff(&mut self, diff: &BagDiff) -> Result<u8, Ended> {
        let bags = [self.open(&diff.left)?, self.open(&diff.right)?];
        let known = |name: &String| bags.iter().any(|bag| bag.topic(name).is_some());
        if let Some(unknown) = diff.topics.iter().find(|name| !known(name)) {
            return Err(unusable(format!(
                "failed to compare: neither recording has topic {unknown}; see `bag info`"
            )));
        }
        let [left, right] = bags.map(|bag| selected(&bag, &diff.topics));
        let (left, right) = (left.map_err(unusable)?, right.map_err(unusable)?);
        let options = DiffOptions { stamps: !diff.ignore_stamps, fields_max: diff.fields };
        let found = first_difference((&left.0, left.1), (&right.0, right.1), &options);
        let (names, out) = ((diff.left.display(), diff.right.display()), &mut self.out);
        match found {
            Ok(None) => {
                writeln!(out, "equal: {} and {}", names.0, names.1)?;
                Ok(0)
            }
            Ok(Some(difference)) => {
                writeln!(out, "left: {}, right: {}\n{difference}", names.0, names.1)?;
                Ok(FAILED)
            }
            Err(error) if error.kind() == ErrorKind::LimitReached => {
                Err(Ended::Failed(error.to_string()))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    /// Opens a recording; its warnings go to the log.
    pub(super) fn open(&self, path: &Path) -> Result<Bag, Ended> {
        let bag = Bag::open(path).map_err(unusable)?;
        bag.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
        Ok(bag)
    }
}

/// The end by an error of a recording: damaged, or none that can be used.
pub(super) fn damaged_or_unusable(error: Error) -> Ended {
    match error.kind() {
        ErrorKind::Parse => Ended::Failed(error.to_string()),
        _ => unusable(error),
    }
}

/// Messages with the numbers of their recordings.
type Selected = Box<dyn Iterator<Item = Result<(usize, Record), Error>>>;

/// The selected topics of all recordings under their new names, and the number among them of each
/// recorded topic. Topics of one name and type are one.
fn merged(
    bags: &[Bag],
    selection: &Selection,
    types: &MessageTypes,
) -> (Vec<Topic>, Vec<Vec<Option<usize>>>) {
    let mut topics: Vec<Topic> = Vec::new();
    let mut number_of = |recorded: &Topic| {
        if !selection.has(&recorded.name) {
            return None;
        }
        let topic = Topic { name: selection.renamed(recorded), ..types.defined(recorded) };
        let key = |of: &Topic| (of.name.clone(), of.type_name.clone(), of.hash());
        let known = topics.iter().position(|of| key(of) == key(&topic));
        let Some(number) = known else {
            topics.push(topic);
            return Some(topics.len() - 1);
        };
        let offered = &mut topics[number].offered_qos;
        for qos in topic.offered_qos {
            if !offered.contains(&qos) {
                offered.push(qos);
            }
        }
        known
    };
    let numbers = bags.iter().map(|bag| bag.topics().iter().map(&mut number_of).collect());
    let numbers = numbers.collect();
    (topics, numbers)
}

/// A line of `bag echo`.
#[derive(Serialize)]
struct Line<'a> {
    topic: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    log_time_ns: u64,
    publish_time_ns: u64,
    message: DecodedMessage<'a>,
}

/// The decoder of a topic's messages.
fn decoder(topic: &Topic) -> Result<MessageDecoder, Error> {
    let definition = topic.definition.as_ref().ok_or_else(|| {
        let text = format!(
            "failed to decode topic {}: the recording has no definition of {}; leave it out with \
             `--exclude`",
            topic.name, topic.type_name
        );
        Error::new(ErrorKind::NotFound, text).on_topic(&topic.name)
    })?;
    MessageDecoder::new(&topic.type_name, definition)
}

type Messages = Box<dyn Iterator<Item = Result<ringspin_bag::Record, Error>>>;

/// The topics of a recording with these names, or all of them, and their messages.
fn selected(bag: &Bag, names: &[String]) -> Result<(Vec<Topic>, Messages), Error> {
    let is_selected = |topic: &Topic| names.is_empty() || names.contains(&topic.name);
    let ids: Vec<_> = (0..bag.topics().len()).filter(|n| is_selected(&bag.topics()[*n])).collect();
    let topics = ids.iter().map(|id| bag.topics()[*id].clone()).collect();
    let options = ReadOptions {
        topics: Some(ids.iter().copied().map(TopicId).collect()),
        ..ReadOptions::default()
    };
    let messages = bag.read(&options)?.map(move |record| {
        let mut record = record?;
        let place = ids.binary_search(&record.topic.0);
        record.topic = TopicId(place.expect("only these topics are read"));
        Ok(record)
    });
    Ok((topics, Box::new(messages)))
}

/// Writes a heading and its lines, in the columns of `ros2 bag info`.
fn lines(
    out: &mut dyn io::Write,
    heading: &str,
    lines: impl IntoIterator<Item = String>,
) -> io::Result<()> {
    let mut heading = format!("{heading}:");
    for line in lines {
        writeln!(out, "{heading:<18} {line}")?;
        heading.clear();
    }
    match heading.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{heading}"),
    }
}

/// A size in the largest unit of which there is one.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (0..units.len() - 1).find(|power| bytes >> (10 * (power + 1)) == 0);
    let power = power.unwrap_or(units.len() - 1);
    match power {
        0 => format!("{bytes} B"),
        _ => format!("{:.1} {}", bytes as f64 / 1024f64.powi(power as i32), units[power]),
    }
}

fn seconds(ns: u128) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A date in UTC, then the seconds since the epoch.
fn date(ns: u64) -> String {
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (secs, nanos) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (mut days, second) = (secs / 86_400, secs % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!(
        "{} {:>2} {year} {:02}:{:02}:{:02}.{nanos:09} ({secs}.{nanos:09})",
        months[month],
        days + 1,
        second / 3600,
        second / 60 % 60,
        second % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "Jan  1 1970 00:00:00.000000000 (0.000000000)");
        let leap_day = 1_709_251_199_000_000_001;
        assert_eq!(date(leap_day), "Feb 29 2024 23:59:59.000000001 (1709251199.000000001)");
        assert_eq!(date(4_102_444_800_000_000_000 - 1).get(..11), Some("Dec 31 2099"));
        assert_eq!(date(u64::MAX).get(..11), Some("Jul 21 2554"));
    }

    #[test]
    fn sizes_have_the_largest_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (3_502_115, "3.3 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
