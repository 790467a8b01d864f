//! What Fast DDS, ROS 2's usual middleware, has to be told beside ROS: by a profile, which it reads
//! once, from a file that an environment variable names.

use crate::rcl::{middleware, set_variable_while_alone};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The environment variable that names the file with the profile.
pub const SETTING: &str = "FASTRTPS_DEFAULT_PROFILES_FILE";

/// A profile that lets it keep as many messages as the depth of a topic says. Without one a reader
/// or a writer keeps at most 5000, and drops the rest without a word.
pub const DEEP: &str = include_str!("../fastdds/deep.xml");

/// A profile that does what [`DEEP`] does, and leaves what happens within one context to whoever
/// knows it better. Publishers do not serialize for subscriptions that ignore them
/// ([`Locals::Ignore`](crate::rcl::Locals)), whose histories would fill with messages to skip, and
/// lose those from elsewhere. Topics and services within one context then have to go another way.
pub const DIRECT: &str = include_str!("../fastdds/direct.xml");

/// Whether Fast DDS is the middleware of this program.
pub fn is_used() -> bool {
    middleware().contains("fastrtps")
}

/// Whether it has been given a profile, of whatever content.
pub fn is_configured() -> bool {
    [SETTING, "FASTDDS_DEFAULT_PROFILES_FILE"].iter().any(|name| env::var_os(name).is_some())
        || Path::new("DEFAULT_FASTRTPS_PROFILES.xml").is_file()
}

/// Whether it has been given exactly this profile.
pub fn has(profile: &str) -> bool {
    let file = env::var_os(SETTING);
    file.is_some_and(|file| fs::read_to_string(file).is_ok_and(|text| text == profile))
}

/// Whether it is known what it has been told: nothing, or one of the profiles here.
pub(crate) fn is_known() -> bool {
    !is_configured() || has(DEEP) || has(DIRECT)
}

/// Has Fast DDS read `profile` when the first context connects. True if it will, or has a profile
/// already, of whatever content; false if this program has other threads, which may read the
/// environment while it is changed: then [`restart_with`] helps.
///
/// # Errors
/// Where the file of the profile cannot be written.
pub fn prefer(profile: &str) -> io::Result<bool> {
    if !is_used() || is_configured() {
        return Ok(true);
    }
    Ok(set_variable_while_alone(SETTING, &write(profile)?))
}

/// Starts this program anew, in the same process and with the same arguments, with `profile`.
///
/// It returns where there is nothing to do: with another middleware, or when there is a profile
/// already, of the user's or from the first start. To be called at the start of `main`: whatever
/// the program has done is forgotten, without destructors, and done again.
///
/// # Errors
/// Where the file of the profile cannot be written, or the program not be started.
///
/// ```no_run
/// use ringspin_ros2::fast_dds;
/// fn main() -> std::io::Result<()> {
///     fast_dds::restart_with(fast_dds::DEEP)?;
///     // ...
///     Ok(())
/// }
/// ```
pub fn restart_with(profile: &str) -> io::Result<()> {
    if !is_used() || is_configured() {
        return Ok(());
    }
    let file = write(profile)?;
    let mut arguments = env::args_os();
    let mut program = Command::new(env::current_exe()?);
    if let Some(name) = arguments.next() {
        program.arg0(name);
    }
    Err(program.args(arguments).env(SETTING, file).exec())
}

/// A file with `profile`: the one of an earlier start, or a new one.
fn write(profile: &str) -> io::Result<PathBuf> {
    let folder = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
    for number in 0..100 {
        let path = folder.join(format!("ringspin-fastdds-{number}.xml"));
        if fs::read_to_string(&path).is_ok_and(|text| text == profile) {
            return Ok(path);
        }
        // Linked when it is complete: another process may look for it, or write another one.
        let draft = folder.join(format!("ringspin-fastdds-{}.draft", std::process::id()));
        write_anew(&draft, profile)?;
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft)?;
        match linked {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let told = format!("{} is full of other files; remove ringspin-fastdds-*", folder.display());
    Err(io::Error::other(told))
}

/// Writes a file that is not there, or was left by a process that had this one's number: never what
/// a link of somebody else names.
fn write_anew(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(path)?.write_all(text.as_bytes()),
    }
}
