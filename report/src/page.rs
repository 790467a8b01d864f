//! The page: one HTML file from the template in `page/`, with the data as JSON inside.
//!
//! The charts are drawn in the browser by uPlot, which is checked in beside the template with its
//! license. The file loads nothing, so it can be sent by mail and opened without a network.

use crate::comparison::{Group, Named, PERCENTILES, groups};
use crate::peers::{PAPER, RCLCPP};
use crate::results::Results;
use serde::Serialize;
use serde_json::Value;

const TEMPLATE: &str = include_str!("../page/page.html");

/// The parts of the template, by the comment that stands for each.
const PARTS: [(&str, &str); 4] = [
    ("/* style of uPlot */", include_str!("../page/uPlot.min.css")),
    ("/* style */", include_str!("../page/page.css")),
    ("/* uPlot */", include_str!("../page/uPlot.iife.min.js")),
    ("/* script */", include_str!("../page/page.js")),
];

/// The content of the page, as its script reads it.
#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    results: Vec<Shown>,
    groups: Vec<Group>,
    percentiles: [f64; PERCENTILES.len()],
    sources: Vec<&'a str>,
    optimization: Option<&'a Value>,
}

/// Results without their samples: the groups have the figures.
#[derive(Serialize)]
struct Shown {
    name: String,
    #[serde(flatten)]
    results: Results,
}

/// Renders several results side by side, and the data of the search of a mapping if there was one,
/// as one HTML file. Takes some milliseconds for each variant and series.
///
/// # Panics
/// Never: results and optimizations have no keys that JSON does not have.
#[must_use]
pub fn render(all: &[Named], optimization: Option<&Value>) -> String {
    let groups = groups(all);
    let has_peers = groups.iter().any(|group| !group.peers.is_empty());
    let data = Data {
        title: all.first().map_or("Latencies", |(_, results)| &results.title),
        results: all.iter().map(shown).collect(),
        groups,
        percentiles: PERCENTILES.map(|hundredths| hundredths as f64 / 100.0),
        sources: if has_peers { vec![&RCLCPP.source, &PAPER.source] } else { Vec::new() },
        optimization,
    };
    let json = serde_json::to_string(&data).expect("all keys are texts");
    let page =
        PARTS.iter().fold(TEMPLATE.to_owned(), |page, (mark, part)| page.replace(mark, part));
    // A name may contain `</script>`, which would end the element.
    page.replace("/* data */", &json.replace('<', "\\u003c"))
}

fn shown((name, results): &Named) -> Shown {
    let mut results = results.clone();
    for turn in results.cells.iter_mut().flat_map(|cell| &mut cell.turns) {
        let series = turn.latencies.iter_mut().chain(&mut turn.periods);
        series.for_each(|series| series.samples_ns.clear());
    }
    Shown { name: name.clone(), results }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definition;
    use crate::results::{Cell, Finding, Series, Turn};
    use serde_json::json;

    /// A name that would leave an element, an attribute or a text.
    const ODD: &str = "</script><b>&\"'";

    fn results() -> Results {
        let turn = |turn: u64| Turn {
            latencies: vec![Series::new(
                Definition::SampleToStart.name(),
                (0..40).map(|n| 1_000 * (n + turn)).collect(),
            )],
            ..Turn::default()
        };
        let turns = [90, 91, 92].map(turn).to_vec();
        let cell = Cell { name: ODD.into(), n: Some(64), crunch_ns: 900, turns, ..Cell::default() };
        let findings = vec![Finding { found: ODD.into(), fix: "wait".into() }];
        Results { title: ODD.into(), cells: vec![cell], findings, ..Results::default() }
    }

    /// The data in a page.
    fn data(page: &str) -> Value {
        let start = "<script id=\"data\" type=\"application/json\">";
        let (_, rest) = page.split_once(start).expect("the page has data");
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn a_page_has_its_data_and_loads_nothing() {
        let page = render(&[("a".into(), results())], None);
        let data = data(&page);
        assert_eq!(data["title"], ODD);
        let row = &data["groups"][0]["rows"][0];
        assert_eq!((&row["variant"], &row["floor_ns"]), (&ODD.into(), &3_600.into()));
        assert_eq!(row["percentiles_ns"][0], 90_000);
        assert_eq!(row["percentiles_ns"].as_array().unwrap().len(), PERCENTILES.len());
        assert_eq!(data["groups"][0]["peers"].as_array().unwrap().len(), 5);
        let samples = &data["results"][0]["cells"][0]["turns"][0]["latencies"][0]["samples_ns"];
        assert_eq!(samples, &Value::Array(Vec::new()));
        assert!(!page.contains("<b>") && page.matches("</script>").count() == 3);
        assert!(PARTS.iter().all(|(mark, _)| !page.contains(mark)));
        for loaded in [" src=", "@import", "url(", "fetch("] {
            assert!(!page.contains(loaded), "{loaded}");
        }
    }

    #[test]
    fn a_search_is_in_the_data_and_values_that_json_does_not_have_are_null() {
        let points = json!([[1, [f64::NAN, null]]]);
        let optimization = json!({ "convergence": [{ "strategy": ODD, "points": points }] });
        let data = data(&render(&[], Some(&optimization)));
        assert_eq!(data["optimization"]["convergence"][0]["strategy"], ODD);
        assert_eq!(data["optimization"]["convergence"][0]["points"][0][1][0], Value::Null);
        assert_eq!(
            (&data["groups"], &data["sources"]),
            (&Value::Array(vec![]), &Value::Array(vec![]))
        );
    }
}
