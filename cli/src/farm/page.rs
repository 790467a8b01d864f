//! The findings of a merge as one page in HTML, without scripts and without other files.

use super::junit::escaped;
use super::merge::{Findings, shown};
use std::fmt::Write as _;

const STYLE: &str = "\
:root { color-scheme: light dark; } body { font: 15px/1.5 system-ui, sans-serif; margin: 16px; }
table { border-collapse: collapse; } td, th { padding: 3px 10px; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr { border-bottom: 1px solid #8886; }
.failed { color: #c33; } pre { white-space: pre-wrap; }";

/// The page with these findings, and their text.
pub(super) fn page(findings: &[Findings], text: &str) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Results</title>\n\
         <style>\n{STYLE}\n</style>\n<h1>Results</h1>\n<table>\n<tr><th>job<th>runs<th>digests\
         <th>failed<th>lowest seed<th>callbacks called<th>missing</tr>\n"
    );
    let mut details = String::new();
    for found in findings {
        let name = escaped(&format!("{} {}", found.command, found.name));
        let failed = found.runs.values().find(|record| record.failure.is_some());
        let lowest = failed.and_then(|record| record.key.seed);
        let (callbacks, uncalled) = found.uncalled();
        let class = if failed.is_some() || found.missing > 0 { " class=\"failed\"" } else { "" };
        let _ = writeln!(
            page,
            "<tr{class}><td>{name}<td>{}<td>{}<td>{}<td>{}<td>{} of {callbacks}<td>{}</tr>",
            found.runs.len(),
            found.digests(),
            found.failed(),
            lowest.map(|seed| seed.to_string()).unwrap_or_default(),
            callbacks - uncalled.len(),
            found.missing,
        );
        if let Some(shown) = failed.and_then(shown) {
            let _ = writeln!(details, "<h2>{name}</h2>\n<pre>{}</pre>", escaped(shown));
        }
    }
    let text = escaped(text);
    page + &format!("</table>\n{details}<h2>As text</h2>\n<pre>{text}</pre>\n</html>\n")
}
