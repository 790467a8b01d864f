//! The messages of a damaged file that can be read.
//!
//! SQLite reads a table up to the first page that is damaged. The keys of rosbag2 are consecutive
//! numbers: so the keys behind are tried one by one, up to the first that is in another page.

use super::{ByTime, Range, SqliteIndex, time};
use crate::error::FileError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// The number of keys that are tried behind the last message that can be read.
const KEYS_MAX: u64 = 1 << 17;

/// Keys of messages that cannot be read: the first one, and the reason.
type Lost = Option<(i64, String)>;

impl SqliteIndex {
    /// Lists and counts the messages that can be read; those that cannot are warnings.
    pub(super) fn list(&mut self, connection: &Connection) -> Result<(), FileError> {
        let topics: BTreeMap<_, _> =
            self.topics.iter().enumerate().map(|(n, row)| (row.key, n)).collect();
        let query = "SELECT id, timestamp, topic_id, data FROM messages NOT INDEXED \
            WHERE id >= ?1 ORDER BY id";
        let mut statement = connection.prepare(query)?;
        let (mut entries, mut lost, mut failures): (_, Lost, _) = (Vec::new(), None, 0);
        let mut next = i64::MIN;
        while failures < KEYS_MAX {
            let mut rows = statement.query([next])?;
            let problem = loop {
                let row = match rows.next() {
                    Ok(Some(row)) => row,
                    Ok(None) => break None,
                    Err(problem) => break Some(problem.to_string()),
                };
                let key: i64 = row.get(0)?;
                if key < next {
                    break Some("its keys are not in order".into());
                }
                next = key.saturating_add(1);
                match message(row).and_then(|(time, topic)| Some((time, *topics.get(&topic)?))) {
                    Some((timestamp, topic)) => {
                        self.warn(lost.take(), Some(key));
                        failures = 0;
                        entries.push((timestamp, key));
                        self.topics[topic].count += 1;
                        self.times = Some(Range::with(self.times, time(timestamp)));
                    }
                    None => drop(lost.get_or_insert((key, "no message of a topic".into()))),
                }
            };
            let Some(problem) = problem else { break };
            next = next.max(1);
            lost.get_or_insert((next, problem));
            next = next.saturating_add(1);
            failures += 1;
        }
        self.warn(lost, None);
        self.rows = entries.len() as u64;
        self.by_time = ByTime::Listed(entries);
        Ok(())
    }

    /// Warns of lost messages, up to the first one behind them that is not lost.
    fn warn(&mut self, lost: Lost, behind: Option<i64>) {
        let Some((first, problem)) = lost else { return };
        let last = behind.map_or("the last one".into(), |behind| (behind - 1).to_string());
        self.warnings.push(format!("lost: messages {first} to {last}: {problem}"));
    }
}

/// The time and topic of a message, if the row is one.
fn message(row: &Row) -> Option<(i64, i64)> {
    let data = row.get_ref(3).ok()?;
    let is_message = matches!(data, ValueRef::Blob(_) | ValueRef::Text(_));
    is_message.then_some((row.get(1).ok()?, row.get(2).ok()?))
}

/// Sorts the listed messages, in a temporary file of SQLite.
pub(super) fn sort_listed(
    connection: &Connection,
    entries: &[(i64, i64)],
) -> Result<(), FileError> {
    connection.execute_batch("CREATE TEMP TABLE sorted(timestamp, id); BEGIN")?;
    let mut insert = connection.prepare("INSERT INTO temp.sorted VALUES (?1, ?2)")?;
    for entry in entries {
        insert.execute(*entry)?;
    }
    drop(insert);
    connection
        .execute_batch("COMMIT; CREATE INDEX temp.sorted_index ON sorted (timestamp, id);")?;
    Ok(())
}
