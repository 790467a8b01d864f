//! The mode that the environment asks for, and the world of simulated threads.

use ringspin::{Error, ErrorKind, Mode, Result};

/// The mode that the environment asks for. In a world it is deterministic, unless the program is
/// one of several processes: their coordinator orders them, and they talk over ROS.
///
/// # Errors
/// For variables that are not valid, and for a deterministic mode in which the threads of the
/// application run in real time. The text names `library`, which is to be built otherwise.
pub fn mode(library: &str) -> Result<Mode> {
    let is_process = is_process();
    if world().is_some() && !is_process && std::env::var_os("RINGSPIN_MODE").is_none() {
        return Ok(Mode::Deterministic(Box::default()));
    }
    let mode = Mode::from_env_with(ringspin_simulation::load_simulation)?;
    let refused = match (&mode, world()) {
        (Mode::Deterministic(_), None) => format!(
            "RINGSPIN_MODE=deterministic needs the threads of the application under simulated \
             time: build {library} with its feature `simulated-threads` for Linux with glibc, and \
             leave out RINGSPIN_THREADS=real"
        ),
        (Mode::Deterministic(_), Some(_)) if is_process => {
            "`ringspin run` orders all processes: leave out RINGSPIN_MODE".into()
        }
        (Mode::SingleCore | Mode::MultiCore(_), Some(_)) if !is_process => {
            "threads are simulated here: RINGSPIN_MODE can only be `deterministic`, or left out"
                .into()
        }
        _ => return Ok(mode),
    };
    Err(Error::new(ErrorKind::Unsupported, refused))
}

/// The platforms of simulated threads; elsewhere the feature has no effect.
#[cfg(all(
    feature = "simulated-threads",
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod threads {
    pub(super) use ringspin_simulated_threads::{coordination::is_joined, world_id};
}

#[cfg(not(all(
    feature = "simulated-threads",
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod threads {
    pub(super) fn is_joined() -> bool {
        false
    }

    pub(super) fn world_id() -> Option<usize> {
        None
    }
}

/// The number of a ROS domain: `chosen`, else that of `ROS_DOMAIN_ID`, else 0.
pub fn domain_id(chosen: Option<usize>) -> usize {
    let of_environment = || std::env::var("ROS_DOMAIN_ID").ok()?.parse().ok();
    chosen.or_else(of_environment).unwrap_or(0)
}

/// Whether the program is a process of `ringspin run`.
pub fn is_process() -> bool {
    threads::is_joined()
}

/// The world of the calling thread.
pub fn world() -> Option<usize> {
    threads::world_id()
}
