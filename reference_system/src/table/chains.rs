//! Table of LaME's chains, with published figures.

use super::{aligned, figure, table, text};
use crate::chains::ChainReport;
use crate::lame::PUBLISHED_SOURCE;
use ringspin_report::format_ms;

/// Renders a row for each chain: own figures, then those of the published systems. Latencies are in
/// ms; "-" if the chain never ended.
#[must_use]
pub fn render_chains(chains: &[ChainReport]) -> String {
    let header = [
        "\nchain",
        "\nfloor",
        "release\nmean",
        "\np99",
        "\nmax",
        "start\nmean",
        "\nlate",
        "\nended",
    ];
    let mut header: Vec<String> = header.map(String::from).to_vec();
    for system in chains.iter().take(1).flat_map(|of| of.chain.published) {
        header.extend([format!("{}\nmean", system.system), "\np99".into(), "\nmax".into()]);
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &[0]);
    for report in chains {
        table.add_row(aligned(row(report), &[0]));
    }
    format!(
        "LaME's chains in ms, from release to end, and (start) from sample to start;\n\
         floor = the work on the path, late = misses of its deadline, lost samples included;\n\
         ended of those started.\n\
         {}\n{PUBLISHED_SOURCE}\n",
        text(&table)
    )
}

fn row(report: &ChainReport) -> Vec<String> {
    let (chain, latency) = (&report.chain, &report.release_to_end);
    let mut row = vec![
        chain.name.to_owned(),
        format_ms(report.floor_ns as f64),
        figure(latency, latency.mean_ns),
        figure(latency, latency.p99_ns as f64),
        figure(latency, latency.max_ns as f64),
        figure(&report.sample_to_start, report.sample_to_start.mean_ns),
        report.misses.to_string(),
        format!("{}/{}", latency.count, report.started),
    ];
    for other in chain.published {
        row.extend([other.mean_ms, other.p99_ms, other.max_ms].map(|ms| format!("{ms:.1}")));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chains::Collector;
    use ringspin_report::Summary;

    #[test]
    fn every_chain_is_listed_with_published_figures() {
        let mut reports = Collector::new().report();
        reports[0].release_to_end = Summary::of(&[51_000_000, 53_000_000]);
        reports[0].sample_to_start = Summary::of(&[40_000_000]);
        (reports[0].misses, reports[0].started) = (1, 3);
        let shown = render_chains(&reports);
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        let row = |name: &str| {
            let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(String::from).collect::<Vec<_>>()
        };
        let ours = ["RT0", "50.51", "52.00", "53.00", "53.00", "40.00", "1", "2/3"];
        let others = ["151.1", "151.7", "152.9", "103.5", "113.5", "117.7"];
        assert_eq!(row("RT0"), [ours.as_slice(), &others].concat());
        assert_eq!(row("RT2")[1..8], ["31.30", "-", "-", "-", "-", "0", "0/0"]);
    }
}
