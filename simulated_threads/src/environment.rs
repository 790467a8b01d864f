//! The environment of a program that a process of a run starts: with the variables by which it
//! finds its place there, whatever else the caller passes.

use crate::current::current;
use crate::restart::{list, variables};
use crate::{coordinator, descriptors, os};
use libc::c_char;
use ringspin_modes::random::mix;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

const PRELOAD: &str = "LD_PRELOAD=";
const ORDER: &str = "RINGSPIN_ORDER=";

/// The variables of the run with which this program began.
static OWN: OnceLock<Vec<CString>> = OnceLock::new();

/// Strings, and pointers to them, with null after the last one.
pub(crate) struct Environment {
    _strings: Vec<CString>,
    list: Vec<*const c_char>,
}

impl Environment {
    pub(crate) fn list(&self) -> *const *const c_char {
        self.list.as_ptr()
    }
}

fn name(variable: &CString) -> &[u8] {
    variable.to_bytes().split_inclusive(|byte| *byte == b'=').next().unwrap_or_default()
}

/// Keeps the variables of the run with which this program begins.
///
/// # Safety
/// `environment` is a list of strings that ends with null.
pub(crate) unsafe fn keep(environment: *const *const c_char) {
    let is_own = |variable: &&CStr| {
        let bytes = variable.to_bytes();
        bytes.starts_with(b"RINGSPIN_") || bytes.starts_with(PRELOAD.as_bytes())
    };
    // Others are not copied: their lengths would decide about the addresses of the program.
    // SAFETY: the caller's promise.
    let own = unsafe { variables(environment) }.filter(is_own).map(CStr::to_owned);
    let _ = OWN.set(own.collect());
}

/// The environment of a program that is the `process` of the run: with the `given` variables, and
/// those of the run. It replaces the program if it is the process itself, and else a new one.
///
/// # Safety
/// `given` is a list of strings that ends with null, or null.
pub(crate) unsafe fn of_program(
    given: *const *const c_char,
    process: u32,
    is_itself: bool,
) -> Environment {
    // SAFETY: the caller's promise.
    let given = (!given.is_null()).then(|| unsafe { variables(given) });
    let given: Vec<_> = given.into_iter().flatten().map(CStr::to_owned).collect();
    let seed = current().map_or(0, |(world, _)| world.settings.seed);
    let (seed, threads) = match is_itself {
        true => (seed, format!("simulated:{:010}", os::this_process())),
        false => (seed_of(seed, process), "simulated".into()),
    };
    // The choices in the order of threads are those of the process that the run has started.
    let has_order = is_itself && coordinator::place().is_some_and(|own| own.process == process);
    let is_kept = |variable: &&CString| has_order || name(variable) != ORDER.as_bytes();
    let given: Vec<_> = given.iter().filter(is_kept).cloned().collect();
    let kept = OWN.get().into_iter().flatten().filter(is_kept).cloned();
    let preload = given.iter().chain(OWN.get().into_iter().flatten());
    let preload = preload.filter(|variable| name(variable) == PRELOAD.as_bytes());
    let set = [
        coordinator::variable(process, is_itself),
        format!("RINGSPIN_THREADS={threads}"),
        format!("RINGSPIN_SEED={seed}"),
        format!("{}={}", descriptors::PIPES, descriptors::shared()),
        with_own_library(preload.cloned()),
    ];
    let mut strings: Vec<CString> = Vec::new();
    let set = set.into_iter().filter_map(|variable| CString::new(variable).ok());
    for variable in set.chain(given).chain(kept) {
        if strings.iter().all(|known| name(known) != name(&variable)) {
            strings.push(variable);
        }
    }
    let list = list(&strings);
    Environment { _strings: strings, list }
}

/// The seed of a child.
pub(crate) fn seed_of(parent: u64, process: u32) -> u64 {
    mix(parent ^ mix(u64::from(process) + 1))
}

/// The libraries that are loaded before a program: those that it is given, and those of this one.
fn with_own_library(variables: impl Iterator<Item = CString>) -> String {
    let mut all: Vec<String> = Vec::new();
    for variable in variables {
        let value = variable.to_string_lossy()[PRELOAD.len()..].to_owned();
        for library in value.split([':', ' ']).filter(|library| !library.is_empty()) {
            if !all.iter().any(|known| known == library) {
                all.push(library.to_owned());
            }
        }
    }
    format!("{PRELOAD}{}", all.join(":"))
}
