//! Bounds of durations on the command line.

use ringspin_modes::quantity::parse_duration;
use std::time::Duration;

/// The longest accepted duration; the KPI series hold less than two hours anyway.
const LONGEST: Duration = Duration::from_hours(24);

/// Parses a duration above zero.
pub(super) fn nonzero(text: &str) -> Result<Duration, String> {
    match any(text)? {
        Duration::ZERO => Err("the duration must be above zero; give at least 1ms".into()),
        duration => Ok(duration),
    }
}

/// Parses a duration, zero included.
pub(super) fn any(text: &str) -> Result<Duration, String> {
    match parse_duration(text).map_err(|error| error.to_string())? {
        duration if duration <= LONGEST => Ok(duration),
        _ => Err("longer than a day; give at most 24h".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_above_a_day_are_refused() {
        assert_eq!(any("24h"), Ok(LONGEST));
        assert!(any("25h").unwrap_err().contains("24h"));
        assert!(any("15").unwrap_err().contains("1.5 s"));
    }

    #[test]
    fn a_run_duration_of_zero_is_refused() {
        assert_eq!(any("0s"), Ok(Duration::ZERO));
        assert!(nonzero("0s").unwrap_err().contains("1ms"));
        assert_eq!(nonzero("1ns"), Ok(Duration::from_nanos(1)));
    }
}
