//! `metadata.yaml` of a rosbag2 directory, versions 1 to 9.

use std::path::{Path, PathBuf};

use ringspin_executor::{Error, ErrorKind, QoS};
use serde::{Deserialize, Serialize};

use crate::error::FileError;
use crate::limits::DESCRIPTION_BYTES_MAX;
use crate::qos::{self, QosYaml};
use crate::recording::Topic;

/// The name of the file.
pub(crate) const METADATA_FILE: &str = "metadata.yaml";

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    rosbag2_bagfile_information: Metadata,
}

/// The content, in the order in which rosbag2 writes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) version: u32,
    #[serde(default)]
    pub(crate) storage_identifier: String,
    #[serde(default)]
    pub(crate) duration: Nanoseconds,
    #[serde(default)]
    pub(crate) starting_time: SinceEpoch,
    #[serde(default)]
    pub(crate) message_count: u64,
    #[serde(default)]
    pub(crate) topics_with_message_count: Vec<TopicCount>,
    #[serde(default)]
    pub(crate) compression_format: Option<String>,
    #[serde(default)]
    pub(crate) compression_mode: Option<String>,
    pub(crate) relative_file_paths: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<FileInformation>,
    // rosbag2 reads a version 6 or later only with this member.
    #[serde(default, skip_deserializing)]
    pub(crate) custom_data: (),
    #[serde(default)]
    pub(crate) ros_distro: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Nanoseconds {
    pub(crate) nanoseconds: i64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SinceEpoch {
    pub(crate) nanoseconds_since_epoch: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TopicCount {
    pub(crate) topic_metadata: TopicMetadata,
    pub(crate) message_count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TopicMetadata {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    #[serde(default)]
    pub(crate) serialization_format: String,
    #[serde(default)]
    offered_qos_profiles: Option<Profiles>,
    #[serde(default)]
    pub(crate) type_description_hash: Option<String>,
}

/// Version 9 has a list, versions 4 to 8 have a text that contains YAML.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Profiles {
    Text(String),
    List(Vec<QosYaml>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileInformation {
    pub(crate) path: String,
    pub(crate) starting_time: SinceEpoch,
    pub(crate) duration: Nanoseconds,
    pub(crate) message_count: u64,
}

impl TopicMetadata {
    pub(crate) fn new(topic: &Topic) -> Self {
        let profiles = topic.offered_qos.iter().map(QosYaml::from).collect();
        Self {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            serialization_format: topic.serialization_format.clone(),
            offered_qos_profiles: Some(Profiles::List(profiles)),
            type_description_hash: Some(topic.type_hash.clone().unwrap_or_default()),
        }
    }

    /// The QoS of the recorded publishers.
    pub(crate) fn offered_qos(&self) -> Result<Vec<QoS>, String> {
        match &self.offered_qos_profiles {
            None => Ok(Vec::new()),
            Some(Profiles::Text(text)) => qos::parse(text),
            Some(Profiles::List(profiles)) => profiles.iter().map(QosYaml::qos).collect(),
        }
    }
}

impl Metadata {
    /// Reads the file of a directory; `None` if there is none.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, Error> {
        let path = directory.join(METADATA_FILE);
        let file_error = |problem: FileError| problem.of("failed to open recording", &path);
        let bytes = match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|error| file_error(error.into()))?.len(),
        };
        if bytes > DESCRIPTION_BYTES_MAX {
            let limit = DESCRIPTION_BYTES_MAX;
            return Err(file_error(FileError::TooLarge { part: "metadata", bytes, limit }));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| file_error(error.into()))?;
        Self::parse(&text).map(Some).map_err(|problem| {
            let text = format!(
                "failed to open recording: {}: {problem}; correct the file, or remove it to read \
                 the recording without it",
                path.display()
            );
            Error::new(ErrorKind::Parse, text).at_path(path)
        })
    }

    /// Parses the text of the file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document: Document = serde_saphyr::from_str(text).map_err(|e| qos::first_line(&e))?;
        Ok(document.rosbag2_bagfile_information)
    }

    /// The text of the record in an MCAP file.
    pub(crate) fn to_record(&self) -> String {
        serde_saphyr::to_string(self).expect("texts and numbers are YAML")
    }

    /// The text of the file.
    pub(crate) fn into_text(self) -> String {
        let document = Document { rosbag2_bagfile_information: self };
        serde_saphyr::to_string(&document).expect("texts and numbers are YAML")
    }

    /// The files of the recording. Up to version 3 their names begin with the directory's.
    pub(crate) fn files(&self, directory: &Path) -> Vec<PathBuf> {
        let resolve = |name: &String| {
            let inside = directory.join(name);
            let beside = directory.parent().map(|parent| parent.join(name));
            match beside {
                Some(beside) if !inside.exists() && beside.exists() => beside,
                _ => inside,
            }
        };
        self.relative_file_paths.iter().map(resolve).collect()
    }

    /// Whether each message is compressed on its own.
    pub(crate) fn compresses_messages(&self) -> bool {
        self.compression_mode.as_ref().is_some_and(|mode| mode.eq_ignore_ascii_case("message"))
    }
}
