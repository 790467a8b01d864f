//! Durations on the command line: a number and its unit, such as `15s`, `500ms` or `2min`.

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
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_s = match unit.trim() {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if !number.is_empty() => {
            return Err(format!("the unit is missing; write {number}s, {number}ms or {number}min"));
        }
        _ => return Err("not a duration; write a number and its unit: 15s, 500ms, 2min".into()),
    };
    let number: f64 = number.parse().map_err(|_| {
        "not a duration; write one number before the unit, such as 15s or 1.5min".to_owned()
    })?;
    match Duration::try_from_secs_f64(number * unit_s) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err("longer than a day; give at most 24h".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_with_a_unit() {
        let parsed = ["15s", "500ms", "1m", "2min", "1.5 s", "250us", "1h", "0ms"].map(any);
        let ms = [15_000.0, 500.0, 60_000.0, 120_000.0, 1_500.0, 0.25, 3_600_000.0, 0.0];
        assert_eq!(parsed, ms.map(|ms| Ok(Duration::from_secs_f64(ms / 1e3))));
    }

    #[test]
    fn invalid_durations_are_refused_with_an_example() {
        for text in ["", "s", "ten", "-1s", "1.2.3s", "15parsecs", "1m30s"] {
            let error = any(text).unwrap_err();
            assert!(error.contains("15s"), "{text}: {error}");
        }
        assert!(any("15").unwrap_err().contains("15s"));
        assert!(any("25h").unwrap_err().contains("24h"));
        assert!(any(&format!("{}s", "9".repeat(400))).unwrap_err().contains("24h"));
    }

    #[test]
    fn a_run_duration_of_zero_is_refused() {
        assert_eq!(any("0s"), Ok(Duration::ZERO));
        assert!(nonzero("0s").unwrap_err().contains("1ms"));
        assert!(nonzero("0.0000001us").is_err());
    }
}
