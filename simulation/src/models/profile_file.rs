//! Profiles as files: TOML with a version, which is looked at before anything else, for another
//! version may have other keys.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file of a profile that was not read or written.
#[derive(Debug, Error)]
#[error("failed to {action} the profile `{}`: {error}; check the path and its permissions",
    path.display())]
pub struct ProfileIoError {
    /// "read" or "write".
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The error of the operating system.
    pub error: io::Error,
}

/// The reason why a profile was not read from a file or text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileFileError {
    /// The file was not read.
    #[error(transparent)]
    Io(#[from] ProfileIoError),
    /// The text is not a profile. The message carries line and column.
    #[error("{origin} is not a profile: {}\nmeasure it again", error.to_string().trim_end())]
    Parse {
        /// The file, or "the text".
        origin: String,
        /// Where and why, as the TOML parser reports it.
        error: Box<toml::de::Error>,
    },
    /// It has another version.
    #[error("{origin} is a profile of version {version}, not {expected}; measure it again")]
    Version {
        /// The file, or "the text".
        origin: String,
        /// The version that it has.
        version: u32,
        /// The version that can be read.
        expected: u32,
    },
}

/// The text of a profile, and where it is from in words: for the messages of errors.
#[derive(Clone, Debug)]
pub struct ProfileText {
    /// The text.
    pub text: String,
    /// A file in backquotes, or "the text".
    pub origin: String,
}

impl ProfileText {
    /// A text that is no file.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), origin: "the text".into() }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// [`ProfileIoError`].
    pub fn load(path: &Path) -> Result<Self, ProfileIoError> {
        let origin = format!("`{}`", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| io_error("read", path, error))?;
        Ok(Self { text, origin })
    }

    /// The profile that it is. What that says is still to be checked.
    ///
    /// # Errors
    /// [`ProfileFileError::Version`] if its key `version` is not the one that is `expected`,
    /// [`Parse`](ProfileFileError::Parse) if it is no such profile.
    pub fn parse<T: DeserializeOwned>(&self, expected: u32) -> Result<T, ProfileFileError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let parse_error = |error| {
            let origin = self.origin.clone();
            ProfileFileError::Parse { origin, error: Box::new(error) }
        };
        let Version { version } = toml::from_str(&self.text).map_err(parse_error)?;
        if version != expected {
            let origin = self.origin.clone();
            return Err(ProfileFileError::Version { origin, version, expected });
        }
        toml::from_str(&self.text).map_err(parse_error)
    }
}

/// Writes a profile to a file, which is replaced.
///
/// # Errors
/// [`ProfileIoError`].
pub fn save_profile(path: &Path, profile: &impl Serialize) -> Result<(), ProfileIoError> {
    std::fs::write(path, profile_text(profile)).map_err(|error| io_error("write", path, error))
}

/// A profile as a TOML document.
///
/// # Panics
/// Panics if it has something that TOML cannot have. Numbers below 2^63 and texts it can.
pub fn profile_text(profile: &impl Serialize) -> String {
    toml::to_string(profile).expect("numbers and texts can be written")
}

fn io_error(action: &'static str, path: &Path, error: io::Error) -> ProfileIoError {
    ProfileIoError { action, path: path.to_owned(), error }
}
