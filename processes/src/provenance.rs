//! The programs, libraries, files and variables that the processes of a run had, from `/proc`.
//!
//! A process loads libraries when it likes, and nothing is left of them once it has ended. So they
//! are read where all of its threads wait: at its turns 1, 2, 4, 8 and so on that do not come
//! together with the next one, which costs little in long runs, and at the end of the run. Names
//! are those of files without their folders, which differ from machine to machine.

use crate::system::ProcessSpec;
use object::Object;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// The beginnings of the names of inherited variables that decide about programs. Others are left
/// out, since they may be secrets.
const VARIABLES: [&str; 15] = [
    "AMENT_",
    "COLCON_",
    "LANG",
    "LC_",
    "LD_LIBRARY_PATH",
    "MKL_",
    "OMP_",
    "OPENBLAS_",
    "PATH",
    "PYTHON",
    "RCL",
    "RCUTILS_",
    "RMW_",
    "ROS_",
    "TZ",
];

/// Of a process, all of its starts together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Origin {
    /// The program and its build.
    program: BTreeMap<String, String>,
    /// The builds of libraries.
    libraries: BTreeMap<String, String>,
    /// The files that its command names, with their hashes.
    files: BTreeMap<String, String>,
    /// The variables of its environment that the system sets or that decide about programs.
    environment: BTreeMap<String, String>,
}

/// The origins of all processes, by name.
#[derive(Debug, Default)]
pub(crate) struct Provenance {
    pub(crate) origins: BTreeMap<String, Origin>,
    /// The builds of files that were read.
    builds: BTreeMap<PathBuf, String>,
}

impl Provenance {
    /// Adds the program of `spec`, which runs under this number of the operating system.
    pub(crate) fn add(&mut self, spec: &ProcessSpec, number: u32) {
        let folder = PathBuf::from(format!("/proc/{number}"));
        let mut origin = self.origins.remove(&spec.name).unwrap_or_default();
        if origin.program.is_empty() {
            origin.files = files(spec);
            origin.environment = environment(spec, &folder);
        }
        if let Ok(program) = fs::read_link(folder.join("exe")) {
            let build = self.build(&program);
            origin.program = BTreeMap::from([(name(&program), build)]);
        }
        let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
        let code = maps.lines().filter(|line| line.split(' ').nth(1) == Some("r-xp"));
        for path in code.filter_map(|line| Some(Path::new(&line[line.find('/')?..]))) {
            let (name, build) = (name(path), self.build(path));
            if !origin.program.contains_key(&name) {
                origin.libraries.insert(name, build);
            }
        }
        self.origins.insert(spec.name.clone(), origin);
    }

    /// The build of a program or library: the one that its linker noted, else its hash.
    fn build(&mut self, path: &Path) -> String {
        if let Some(build) = self.builds.get(path) {
            return build.clone();
        }
        let bytes = fs::read(path).unwrap_or_default();
        let file = object::File::parse(&bytes[..]).ok();
        let id = file.and_then(|file| file.build_id().ok().flatten().map(<[u8]>::to_vec));
        let build = match id {
            Some(id) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
            None => hash(&bytes),
        };
        self.builds.insert(path.into(), build.clone());
        build
    }
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    format!("xxh3 {:032x}", xxh3_128(bytes))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files that the command names; of a folder, such as a recording, all files in it.
fn files(spec: &ProcessSpec) -> BTreeMap<String, String> {
    let folder = spec.folder.clone().unwrap_or_default();
    let words = spec.words().unwrap_or_default().into_iter().skip(1);
    let named = words.map(|word| (name(Path::new(&word)), folder.join(word)));
    let files = named.flat_map(|(name, path)| match fs::read_dir(&path) {
        Ok(entries) => {
            let paths = entries.flatten().map(|entry| entry.path());
            paths.map(|path| (format!("{name}/{}", self::name(&path)), path)).collect()
        }
        Err(_) => vec![(name, path)],
    });
    let files = files.filter(|(_, path)| path.is_file());
    files.filter_map(|(name, path)| Some((name, hash(&fs::read(path).ok()?)))).collect()
}

fn environment(spec: &ProcessSpec, folder: &Path) -> BTreeMap<String, String> {
    let bytes = fs::read(folder.join("environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let text = OsStr::from_bytes(variable).to_string_lossy().into_owned();
        text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    let decides = |name: &str| {
        // The run sets the folder of the logs.
        let is_known = VARIABLES.iter().any(|prefix| name.starts_with(prefix));
        spec.env.contains_key(name) || is_known && name != "ROS_LOG_DIR"
    };
    variables.filter(|(name, _)| decides(name)).collect()
}
