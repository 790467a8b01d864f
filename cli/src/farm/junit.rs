//! The report of a merge in the XML of JUnit, as CI systems show it.

use super::merge::{Findings, shown};
use super::results::Record;
use std::fmt::Write as _;

/// The findings: a suite for each job, with a case for each run, or for all of an exploration.
pub(super) fn report(findings: &[Findings]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for found in findings {
        let mut cases = String::new();
        let mut case = |name: &str, content: &str| {
            let (suite, name) = (escaped(&found.command), escaped(name));
            let _ = writeln!(
                cases,
                "    <testcase classname=\"{suite}\" name=\"{name}\">{content}</testcase>"
            );
        };
        let (mut tests, mut failures) = (0, 0);
        let failure = |record: &Record| {
            let first = record.failure.as_deref().and_then(|text| text.lines().next());
            let (first, text) = (first.unwrap_or_default(), shown(record).unwrap_or_default());
            format!("<failure message=\"{}\">{}</failure>", escaped(first), escaped(text))
        };
        let failed = found.runs.values().filter(|record| record.failure.is_some());
        if found.command == "explore" {
            tests += 1;
            failures += usize::from(found.failed() > 0);
            case(&found.name, &failed.take(1).map(failure).collect::<String>());
        } else {
            for (seed, record) in &found.runs {
                let seed = seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
                let content = record.failure.as_ref().map(|_| failure(record)).unwrap_or_default();
                tests += 1;
                failures += usize::from(record.failure.is_some());
                case(&format!("{}{seed}", found.name), &content);
            }
        }
        for seed in &found.unequal {
            let seed = seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
            (tests, failures) = (tests + 1, failures + 1);
            let content = "<failure message=\"two runs have two digests\"/>";
            case(&format!("{}{seed}: one digest", found.name), content);
        }
        let errors = usize::from(found.missing > 0);
        if found.missing > 0 {
            let content = format!("<error message=\"{} runs have no result\"/>", found.missing);
            case(&format!("{}: missing runs", found.name), &content);
        }
        let (name, tests) = (escaped(&format!("{} {}", found.command, found.name)), tests + errors);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" \
             errors=\"{errors}\">\n{cases}  </testsuite>"
        );
    }
    xml + "</testsuites>\n"
}

/// A text in XML and HTML, without the characters that XML cannot have.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if c.is_control() => {}
            _ => escaped.push(c),
        }
    }
    escaped
}
