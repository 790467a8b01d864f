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
    /// The files that its command names or that it opens, with their hashes.
    files: BTreeMap<String, String>,
    /// The variables of its environment that the system sets or that decide about programs.
    environment: BTreeMap<String, String>,
}

/// The origins of all processes, by name.
#[derive(Debug, Default)]
pub(crate) struct Provenance {
    origins: BTreeMap<String, Origin>,
    /// The builds of files that were read.
    builds: BTreeMap<PathBuf, String>,
    /// The files that processes have opened, with their names and hashes.
    opened: BTreeMap<String, BTreeMap<PathBuf, (String, u128)>>,
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

    /// Adds a file that the program of `spec` has opened for reading, unless its command names it.
    pub(crate) fn add_opened(&mut self, spec: &ProcessSpec, path: &Path) {
        let is_it =
            |other: PathBuf| other.canonicalize().is_ok_and(|other| path.starts_with(other));
        if path.starts_with("/sys") || named(spec).any(is_it) {
            return;
        }
        let Ok(bytes) = fs::read(path) else { return };
        // The compiler of Python notes when a file was changed, in its first bytes.
        let is_compiled = path.extension().is_some_and(|extension| extension == "pyc");
        let hash = xxh3_128(bytes.get(if is_compiled { 16 } else { 0 }..).unwrap_or_default());
        let opened = self.opened.entry(spec.name.clone()).or_default();
        opened.entry(path.into()).or_insert_with(|| (opened_name(spec, path), hash));
    }

    /// The origins, with the files that were opened: those of one name have the sum of their
    /// hashes.
    pub(crate) fn finish(mut self) -> BTreeMap<String, Origin> {
        for (process, opened) in self.opened {
            let mut sums: BTreeMap<_, u128> = BTreeMap::new();
            for (name, hash) in opened.into_values() {
                let sum = sums.entry(name).or_default();
                *sum = sum.wrapping_add(hash);
            }
            let files = sums.into_iter().map(|(name, sum)| (name, text(sum)));
            self.origins.entry(process).or_default().files.extend(files);
        }
        self.origins
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
    text(xxh3_128(bytes))
}

fn text(hash: u128) -> String {
    format!("xxh3 {hash:032x}")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The paths that the command names.
fn named(spec: &ProcessSpec) -> impl Iterator<Item = PathBuf> {
    let folder = spec.folder.clone().unwrap_or_default();
    spec.words().unwrap_or_default().into_iter().skip(1).map(move |word| folder.join(word))
}

/// The files that the command names; of a folder, such as a recording, all files in it.
fn files(spec: &ProcessSpec) -> BTreeMap<String, String> {
    let files = named(spec).flat_map(|path| match fs::read_dir(&path) {
        Ok(entries) => {
            let paths = entries.flatten().map(|entry| entry.path());
            paths.map(|inner| (format!("{}/{}", name(&path), name(&inner)), inner)).collect()
        }
        Err(_) => vec![(name(&path), path)],
    });
    let files = files.filter(|(_, path)| path.is_file());
    files.filter_map(|(name, path)| Some((name, hash(&fs::read(path).ok()?)))).collect()
}

/// The name of a file that was opened: beside the system its path from there, elsewhere with its
/// folder alone.
fn opened_name(spec: &ProcessSpec, path: &Path) -> String {
    let folder = spec.folder.as_ref().and_then(|folder| folder.canonicalize().ok());
    let inner = folder.as_ref().and_then(|folder| path.strip_prefix(folder).ok());
    let last = || path.components().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
    inner.map_or_else(last, Path::to_path_buf).display().to_string()
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
