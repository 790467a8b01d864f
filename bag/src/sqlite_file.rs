//! Reading of one SQLite3 file of rosbag2, of ROS 2 Foxy to Jazzy, by time.
//!
//! Files are opened without locks and without shared memory: nothing is written beside them, and
//! messages in a write-ahead log that was left over are read, also on a read-only disk.

mod damaged;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use damaged::sort_listed;
use ringspin_executor::Time;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};

use crate::channel::{Channel, profiles};
use crate::error::FileError;
use crate::limits::{CHUNK_BYTES_MAX, DESCRIPTION_BYTES_MAX, INDEX_BYTES_MAX};
use crate::mcap_file::{Range, Selection};
use crate::recording::{Definition, Record, Topic};

/// The rows of one query.
const PAGE_ROWS: usize = 256;

/// The bytes after which a query ends early.
const PAGE_BYTES: usize = 4 << 20;

/// The bytes of a file that the smallest row takes: more rows mean a cycle among its pages.
const ROW_BYTES_MIN: u64 = 8;

/// The topics and times of a file.
#[derive(Debug, Default)]
pub(crate) struct SqliteIndex {
    /// The rows of the table of topics, by their key.
    topics: Vec<TopicRow>,
    /// The number of messages.
    rows: u64,
    /// The times, which have a sign in SQLite.
    pub(crate) times: Option<Range>,
    by_time: ByTime,
    /// Problems that do not prevent reading.
    pub(crate) warnings: Vec<String>,
}

/// The way to the messages in the order of their times.
#[derive(Debug, Default)]
enum ByTime {
    /// They are sorted first: the file has no index.
    #[default]
    Sorted,
    /// By this index, which has the times and keys of the table.
    Index(String),
    /// These times and keys are those of the messages that can be read.
    Listed(Vec<(i64, i64)>),
    /// The problem of an index that has not.
    Damaged(String),
}

#[derive(Debug)]
struct TopicRow {
    key: i64,
    topic: Topic,
    offered_qos: String,
    count: u64,
}

impl SqliteIndex {
    /// Reads the topics of the file at `path`, and counts its messages; of a damaged one, those
    /// that can be read.
    pub(crate) fn read(path: &Path, is_damaged: bool) -> Result<Self, FileError> {
        let connection = open(path)?;
        let mut index = Self::default();
        let columns = columns(&connection, "topics")?;
        require(&columns, "topics", &["id", "name", "type", "serialization_format"])?;
        let messages = self::columns(&connection, "messages")?;
        require(&messages, "messages", &["id", "topic_id", "timestamp", "data"])?;
        index.read_topics(&connection, &columns)?;
        if is_damaged {
            index.list(&connection)?;
            return Ok(index);
        }
        let entries = index.count(&connection)?;
        if let Some(name) = index_of_times(&connection)? {
            index.by_time = match is_index_of(&entries, &connection, &name) {
                Ok(true) => ByTime::Index(name),
                Ok(false) => ByTime::Damaged(format!("index `{name}` differs from the messages")),
                Err(problem) => ByTime::Damaged(problem.to_string()),
            };
        }
        Ok(index)
    }

    fn read_topics(
        &mut self,
        connection: &Connection,
        columns: &[String],
    ) -> Result<(), FileError> {
        let mut budget = INDEX_BYTES_MAX;
        let definitions = definitions(connection, &mut budget)?;
        // Foxy's first versions have no QoS, and versions before Iron no hash.
        let optional = |column: &'static str| match columns.iter().any(|name| name == column) {
            true => column,
            false => "''",
        };
        let qos = optional("offered_qos_profiles");
        let hash = optional("type_description_hash");
        let query = format!(
            "SELECT id, name, type, serialization_format, {qos}, {hash} FROM topics ORDER BY id"
        );
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut text = |column| text(row, column, &mut budget);
            let type_name = text(2)?;
            let topic = Topic {
                name: text(1)?,
                definition: definitions.get(&type_name).cloned(),
                type_name,
                type_hash: Some(text(5)?).filter(|hash| !hash.is_empty()),
                serialization_format: text(3)?,
                offered_qos: Vec::new(),
            };
            let offered_qos = text(4)?;
            self.topics.push(TopicRow { key: row.get(0)?, topic, offered_qos, count: 0 });
        }
        Ok(())
    }

    /// Counts the messages of each topic; returns their times and keys.
    fn count(&mut self, connection: &Connection) -> Result<Entries, FileError> {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        // With the pages of the write-ahead log.
        let bytes = pragma("page_count")?.saturating_mul(pragma("page_size")?) as u64;
        let (mut counts, mut entries) = (BTreeMap::new(), Entries::default());
        let query = "SELECT topic_id, timestamp, id FROM messages NOT INDEXED";
        let mut statement = connection.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            *counts.entry(row.get::<_, i64>(0)?).or_insert(0) += 1;
            let timestamp = row.get(1)?;
            self.times = Some(Range::with(self.times, time(timestamp)));
            entries.add((timestamp, row.get(2)?));
            if entries.count > bytes / ROW_BYTES_MIN {
                return Err(FileError::Sqlite("more messages than the file has room for".into()));
            }
        }
        self.rows = entries.count;
        for topic in &mut self.topics {
            topic.count = counts.remove(&topic.key).unwrap_or(0);
        }
        match counts.first_key_value() {
            Some((key, _)) => Err(FileError::Sqlite(format!("messages of unknown topic {key}"))),
            None => Ok(entries),
        }
    }

    /// The topics as channels.
    pub(crate) fn channels(&self, warnings: &mut Vec<String>) -> Vec<Channel> {
        let channel = |(number, row): (usize, &TopicRow)| {
            let mut topic = row.topic.clone();
            topic.offered_qos = profiles(&topic.name, &row.offered_qos, warnings);
            Channel { number, topic, count: row.count }
        };
        self.topics.iter().enumerate().map(channel).collect()
    }
}

/// The times and keys of messages, in any order: their number, and the sum of their hashes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entries {
    count: u64,
    hash: u64,
}

impl Entries {
    fn add(&mut self, entry: (i64, i64)) {
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        self.count += 1;
        self.hash = self.hash.wrapping_add(hasher.finish());
    }
}

/// The name of an index of all messages by time.
fn index_of_times(connection: &Connection) -> Result<Option<String>, FileError> {
    let query = "SELECT list.name FROM pragma_index_list('messages') AS list, \
        pragma_index_info(list.name) AS info \
        WHERE info.seqno = 0 AND info.name = 'timestamp' AND list.partial = 0";
    Ok(connection.query_row(query, [], |row| row.get(0)).optional()?)
}

/// Whether an index has the times and keys of the table. SQLite does not compare them: it would
/// leave out messages, or change their times.
fn is_index_of(
    entries: &Entries,
    connection: &Connection,
    name: &str,
) -> Result<bool, rusqlite::Error> {
    let query = format!("SELECT timestamp, id FROM {} ORDER BY timestamp, id", indexed_by(name));
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let (mut found, mut last) = (Entries::default(), None);
    while let Some(row) = rows.next()? {
        let entry = (row.get(0)?, row.get(1)?);
        if last.replace(entry) > Some(entry) || found.count == entries.count {
            return Ok(false);
        }
        found.add(entry);
    }
    Ok(found == *entries)
}

/// The messages by an index, in a query.
fn indexed_by(name: &str) -> String {
    format!("messages INDEXED BY \"{}\"", name.replace('"', "\"\""))
}

/// Reads messages by time; equal times in the order of recording.
pub(crate) struct SqliteCursor {
    connection: Connection,
    /// The number of the channel of a topic.
    channels: BTreeMap<i64, usize>,
    selection: Selection,
    query: String,
    /// Time and key of the last message that was read.
    last: (i64, i64),
    /// The messages that were not read yet: a cycle among pages has more.
    rows_left: u64,
    page: VecDeque<Record>,
    is_done: bool,
}

impl SqliteCursor {
    pub(crate) fn new(
        path: &Path,
        index: &SqliteIndex,
        selection: Selection,
    ) -> Result<Self, FileError> {
        let connection = open(path)?;
        let query = match &index.by_time {
            ByTime::Index(name) => BY_INDEX.replace("messages", &indexed_by(name)),
            ByTime::Sorted => {
                connection.execute_batch(SORT)?;
                BY_SORTED.into()
            }
            ByTime::Listed(entries) => {
                sort_listed(&connection, entries)?;
                BY_SORTED.into()
            }
            ByTime::Damaged(problem) => return Err(FileError::Sqlite(problem.clone())),
        };
        // Times before the epoch count as the epoch.
        let start = match i64::try_from(selection.times.first) {
            Ok(0) => (i64::MIN, i64::MIN),
            Ok(start) => (start - 1, i64::MAX),
            Err(_) => (i64::MAX, i64::MAX),
        };
        Ok(Self {
            connection,
            channels: index.topics.iter().enumerate().map(|(n, row)| (row.key, n)).collect(),
            selection,
            query,
            last: start,
            rows_left: index.rows,
            page: VecDeque::new(),
            is_done: false,
        })
    }

    /// The next message; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, FileError> {
        while self.page.is_empty() && !self.is_done {
            self.read_page()?;
        }
        Ok(self.page.pop_front())
    }

    fn read_page(&mut self) -> Result<(), FileError> {
        let end = i64::try_from(self.selection.times.last).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare(&self.query)?;
        let mut rows = statement.query((self.last.0, self.last.1, end, PAGE_ROWS as i64))?;
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.next()? {
            self.last = (row.get(0)?, row.get(1)?);
            count += 1;
            let channel = self.channels.get(&row.get(2)?).copied();
            let channel = channel.ok_or_else(|| FileError::Sqlite("unknown topic".into()))?;
            let Some(topic) = self.selection.topics[channel] else { continue };
            let data = match row.get_ref(3)? {
                ValueRef::Blob(data) | ValueRef::Text(data) => data.to_vec(),
                _ => return Err(FileError::Sqlite("a message without data".into())),
            };
            bytes += data.len();
            let time = Time::from_nanos(time(self.last.0));
            self.page.push_back(Record {
                topic,
                log_time: time,
                publish_time: time,
                sequence: 0,
                data,
            });
            if bytes > PAGE_BYTES {
                break;
            }
        }
        self.is_done = count < PAGE_ROWS && bytes <= PAGE_BYTES;
        match self.rows_left.checked_sub(count as u64) {
            Some(left) => self.rows_left = left,
            None => return Err(FileError::Sqlite("messages come more than once".into())),
        }
        Ok(())
    }
}

const BY_INDEX: &str = "SELECT timestamp, id, topic_id, data FROM messages \
    WHERE (timestamp, id) > (?1, ?2) AND timestamp <= ?3 ORDER BY timestamp, id LIMIT ?4";

/// Sorts the messages of a file without index, in a temporary file of SQLite.
const SORT: &str = "CREATE TEMP TABLE sorted AS SELECT timestamp, id FROM messages; \
    CREATE INDEX temp.sorted_index ON sorted (timestamp, id);";

const BY_SORTED: &str = "SELECT sorted.timestamp, sorted.id, topic_id, data \
    FROM temp.sorted CROSS JOIN messages ON messages.id = sorted.id \
    WHERE (sorted.timestamp, sorted.id) > (?1, ?2) AND sorted.timestamp <= ?3 \
    ORDER BY sorted.timestamp, sorted.id LIMIT ?4";

impl From<rusqlite::Error> for FileError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.to_string())
    }
}

/// A time of a message; those before the epoch count as the epoch.
fn time(time: i64) -> u64 {
    time.max(0) as u64
}

/// Opens a file for reading, with its left-over write-ahead log.
fn open(path: &Path) -> Result<Connection, FileError> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::absolute(path)?;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    let has_beside = |suffix: &str| {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        std::fs::metadata(name).is_ok_and(|found| found.len() > 0)
    };
    if has_beside("-journal") {
        let problem = "its recorder was interrupted; roll back with `sqlite3 FILE vacuum`";
        return Err(FileError::Sqlite(problem.into()));
    }
    let has_log = has_beside("-wal");
    uri.push_str(if has_log { "?mode=ro&vfs=unix-none" } else { "?immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, CHUNK_BYTES_MAX as i32)?;
    if has_log {
        // The index of the log is in memory, and the log is not copied into the file at the end.
        connection.pragma_update(None, "locking_mode", "exclusive")?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    }
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// The columns of a table. A view or virtual table may compute without end and is refused.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, FileError> {
    let query = "SELECT count(*) FROM sqlite_master \
        WHERE type = 'table' AND name = ?1 AND rootpage > 0";
    if connection.query_row(query, [table], |row| row.get::<_, i64>(0))? != 1 {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn require(columns: &[String], table: &str, required: &[&str]) -> Result<(), FileError> {
    match required.iter().find(|name| !columns.iter().any(|column| column == *name)) {
        Some(name) => Err(FileError::Sqlite(format!("no column `{name}` in a table `{table}`"))),
        None => Ok(()),
    }
}

/// The definitions of types, by name; none before Iron.
fn definitions(
    connection: &Connection,
    budget: &mut u64,
) -> Result<BTreeMap<String, Definition>, FileError> {
    let mut definitions = BTreeMap::new();
    if columns(connection, "message_definitions")?.is_empty() {
        return Ok(definitions);
    }
    let mut statement = connection.prepare(
        "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut text = |column| text(row, column, budget);
        let (name, encoding, text) = (text(0)?, text(1)?, text(2)?);
        // An empty message has an empty text.
        if !encoding.is_empty() {
            definitions.insert(name, Definition { encoding, text });
        }
    }
    Ok(definitions)
}

/// The text of a column; its size is taken from `budget`.
fn text(row: &Row, column: usize, budget: &mut u64) -> Result<String, FileError> {
    let bytes = match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => text,
        _ => return Ok(String::new()),
    };
    let limit = (*budget).min(DESCRIPTION_BYTES_MAX);
    // Every row counts, however short.
    let size = bytes.len() as u64 + 64;
    if size > limit {
        return Err(FileError::TooLarge { part: "description", bytes: size, limit });
    }
    *budget -= size;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
