//! Jobs from files: the effect of each key, and the errors of others.

mod certificate;
mod environment;
mod errors;
mod keys;
mod registry;

use registry::{PAIR, registry};
use ringspin_simulation::{JobFile, Report};

fn file(text: &str) -> JobFile {
    JobFile::from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str) -> Report {
    file(text).job(&registry()).unwrap().run().unwrap_or_else(|error| panic!("{error}"))
}
