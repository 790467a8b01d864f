//! The order of the threads in a process of a run, as the coordinator wants it.
//!
//! The coordinator opens a file for the process, and names its descriptor in the environment. The
//! first line is the policy. The chooser adds a line for each choice that it makes otherwise than
//! in the usual order, at once: so all of them are known, however the process ends. A program that
//! the process starts in its place reads the policy again.

use crate::choice::Chooser;
use crate::os::Descriptor;
use crate::settings;
use libc::c_int;
use ringspin_modes::TiePolicy;

/// The variable with the number of the descriptor.
const ORDER: &str = "RINGSPIN_ORDER";

/// The chooser for which the environment asks.
///
/// # Errors
/// In words: the variable, or the file, has something else than the coordinator gives.
pub(crate) fn from_environment() -> Result<Option<Chooser>, String> {
    let expected = "the number of a descriptor";
    let Some(number) = settings::read(ORDER, expected, |text| text.parse::<c_int>().ok())? else {
        return Ok(None);
    };
    let policy = std::fs::read(format!("/proc/self/fd/{number}"));
    let policy = policy.map_err(|error| format!("failed to read {ORDER} {number}: {error}"))?;
    let line = policy.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let ties = parse(&line).ok_or_else(|| format!("{ORDER} {number} has no order: `{line}`"))?;
    Ok(Chooser::new(&ties).map(|chooser| chooser.with_log(Descriptor::shared(number))))
}

/// The policy of a line such as `shuffle 7`, `mixed 7 100`, `pct 7 3 100` or `h2.5:0>1`.
fn parse(line: &str) -> Option<TiePolicy> {
    let mut words = line.split(' ');
    let first = words.next()?;
    let mut number = || words.next()?.parse().ok();
    match first {
        "shuffle" => Some(TiePolicy::Shuffle { seed: number()? }),
        "mixed" => Some(TiePolicy::Mixed { seed: number()?, steps: number()? }),
        "pct" => {
            let (seed, depth, steps) = (number()?, number()?, number()?);
            Some(TiePolicy::Pct { seed, depth: depth.try_into().ok()?, steps })
        }
        schedule => schedule.parse().ok().map(TiePolicy::Scripted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_others_are_none() {
        assert_eq!(parse("shuffle 7"), Some(TiePolicy::Shuffle { seed: 7 }));
        assert_eq!(parse("pct 7 3 100"), Some(TiePolicy::Pct { seed: 7, depth: 3, steps: 100 }));
        assert_eq!(parse("mixed 7 100"), Some(TiePolicy::Mixed { seed: 7, steps: 100 }));
        let schedule = |text: &str| Some(TiePolicy::Scripted(text.parse().unwrap()));
        assert_eq!(parse("h2.5:0>1,h3:0>2"), schedule("h2.5:0>1,h3:0>2"));
        assert_eq!(parse(""), schedule(""));
        for wrong in ["shuffle", "mixed 1", "pct 1 2", "pct 1 4294967296 3", "x"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
