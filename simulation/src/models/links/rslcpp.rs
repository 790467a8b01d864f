//! RSLCPP's delay file: a header, then lines of topic, `FIXED` or `MEASURED`, the fixed delay in
//! milliseconds, and the skew of the measured one.
//!
//! RSLCPP reports a line that it does not understand and skips it. Here it is an error.

use super::{LinkRule, Links};
use crate::models::distribution::Distribution;
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::quantity::decimal;
use std::time::Duration;

impl Links {
    /// Reads the delay file of [RSLCPP](https://github.com/TUMFTM/rslcpp); `file` is its name, for
    /// errors. As there, a topic's last line counts. Delays are whole nanoseconds.
    ///
    /// # Errors
    /// An error with the number of the line.
    ///
    /// ```
    /// use ringspin_simulation::models::{Distribution, Links};
    /// use std::time::Duration;
    /// let links = Links::from_rslcpp_csv("\
    ///     Topic Name, Delay Type (FIXED/MEASURED), Fixed Delay_ms, Measured Delay Skew
    ///     /points   , FIXED                      ,           12.5,                    \
    /// ", "delays.csv")?;
    /// assert_eq!(links.rules[0].delay, Distribution::fixed(Duration::from_micros(12_500)));
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn from_rslcpp_csv(text: &str, file: &str) -> Result<Self> {
        let error = |line: usize, problem: String| {
            let text = format!("{file}, line {line}: {problem}");
            Error::new(ErrorKind::Parse, text).at_path(file).at_line(line)
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().zip(1..);
        let header = lines.next().map_or("", |(line, _)| line.trim());
        if !header.starts_with("Topic Name") {
            let problem = format!(
                "`{header}` is not the header of a delay file; begin with `Topic Name, Delay Type \
                 (FIXED/MEASURED), Fixed Delay_ms, Measured Delay Skew`"
            );
            return Err(error(1, problem));
        }
        let mut links = Self::new();
        for (text, line) in lines.filter(|(text, _)| !text.trim().is_empty()) {
            let cells: Vec<_> = text.split(',').map(str::trim).collect();
            let &[topic, kind, delay, ref skew @ ..] = &cells[..] else {
                return Err(error(line, columns(cells.len())));
            };
            if skew.len() > 1 {
                return Err(error(line, columns(cells.len())));
            }
            let delay = match kind {
                "FIXED" => fixed_delay(delay).map_err(|problem| error(line, problem))?,
                "MEASURED" => {
                    return Err(error(line, measured(topic)).on_topic(topic));
                }
                _ => return Err(error(line, format!("`{kind}` is no delay type; use FIXED"))),
            };
            links.rules.push(LinkRule::new(topic).delay(delay));
        }
        Ok(links)
    }
}

fn measured(topic: &str) -> String {
    format!(
        "`{topic}` is MEASURED: a delay measured during the run would make the result depend on \
         the machine and its load; record a profile of the callbacks once, and give it as their \
         durations, with the skew as a scale"
    )
}

fn columns(count: usize) -> String {
    format!("{count} columns instead of topic, delay type, fixed delay in ms, and measured skew")
}

fn fixed_delay(ms: &str) -> Result<Distribution, String> {
    let ns = decimal(ms, 1_000_000).ok_or_else(|| {
        format!("`{ms}` is no delay in ms; give a number such as 10 or 0.25, in whole nanoseconds")
    })?;
    Ok(Distribution::fixed(Duration::from_nanos(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example file of RSLCPP, without the measured lines.
    const EXAMPLE: &str = "\
Topic Name               , Delay Type (FIXED/MEASURED), Fixed Delay_ms, Measured Delay Skew
/fixed_delay_1           , FIXED                      ,             10,                  
/fixed_delay_2           , FIXED                      ,            300,                  
";

    fn message(lines: &str) -> String {
        let text = format!("Topic Name,Delay Type,Fixed Delay_ms,Measured Delay Skew\n{lines}");
        Links::from_rslcpp_csv(&text, "delays.csv").unwrap_err().to_string()
    }

    fn rule(topic: &str, ns: u64) -> LinkRule {
        LinkRule::new(topic).delay(Distribution::fixed(Duration::from_nanos(ns)))
    }

    #[test]
    fn fixed_delays_are_rules() {
        let expected = [rule("/fixed_delay_1", 10_000_000), rule("/fixed_delay_2", 300_000_000)];
        assert_eq!(Links::from_rslcpp_csv(EXAMPLE, "").unwrap().rules, expected);
        let windows = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n\r\n"));
        assert_eq!(Links::from_rslcpp_csv(&windows, "").unwrap().rules, expected);
        let short = Links::from_rslcpp_csv("Topic Name\n/a,FIXED,0.000001\n", "").unwrap();
        assert_eq!(short.rules, [rule("/a", 1)]);
    }

    #[test]
    fn measured_delays_are_refused_with_the_way_out() {
        assert_eq!(
            message("/a, FIXED, 1,\n\n/b, MEASURED, , 0.5"),
            "delays.csv, line 4: `/b` is MEASURED: a delay measured during the run would make the \
             result depend on the machine and its load; record a profile of the callbacks once, \
             and give it as their durations, with the skew as a scale"
        );
    }

    #[test]
    fn errors_name_the_line() {
        for (line, expected) in [
            ("/a, FIXED", "2 columns instead of topic, delay type"),
            ("/a, FIXED, 1, , 2", "5 columns instead of"),
            ("/a, fixed, 1,", "`fixed` is no delay type; use FIXED"),
            ("/a, FIXED, ,", "`` is no delay in ms; give a number such as 10 or 0.25"),
            ("/a, FIXED, -1,", "`-1` is no delay in ms"),
            ("/a, FIXED, 0.0000001,", "`0.0000001` is no delay in ms"),
            ("/a, FIXED, 1e300,", "`1e300` is no delay in ms"),
        ] {
            let message = message(line);
            assert!(message.starts_with("delays.csv, line 2: "), "{message}");
            assert!(message.contains(expected), "{message}");
        }
        let headless = Links::from_rslcpp_csv("/a, FIXED, 10,\n", "d.csv").unwrap_err().to_string();
        assert!(headless.starts_with("d.csv, line 1: `/a, FIXED, 10,` is not the header"));
        assert!(Links::from_rslcpp_csv("", "d.csv").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(Topic Name\n)?[/a-zA-Z0-9,. \n-]{0,64}") {
            let _ = Links::from_rslcpp_csv(&text, "");
        }
    }
}
