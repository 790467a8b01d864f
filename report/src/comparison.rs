//! Several results side by side: the rows of text tables and of the page.

use crate::definition::Definition;
use crate::peers::{IN_PROCESS, PAPER, PeerFigures, Peers, RCLCPP};
use crate::results::{Cell, Results, Series};
use crate::statistics::{Ratio, Statistic, ratio};
use crate::summary::Summary;
use serde::Serialize;

/// Results with the name under which they are shown.
pub type Named = (String, Results);

/// The measurements of one latency or period at one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The load, for a workload that has one.
    pub n: Option<u64>,
    /// The name of the series.
    pub series: String,
    /// Whether it is a latency, of which less is better, or a timer's period.
    pub is_latency: bool,
    /// The rows, by results, then variant.
    pub rows: Vec<Row>,
    /// The same latency of other executors.
    pub peers: Vec<PeerRow>,
}

/// A measured variant in a [`Group`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The index of its results.
    pub results: usize,
    /// The variant.
    pub variant: String,
    /// The figures of all turns.
    pub summary: Summary,
    /// The work on the path, its lower bound on enough cores, in nanoseconds; `None` if unknown.
    pub floor_ns: Option<u64>,
    /// The latencies at [`PERCENTILES`], in nanoseconds.
    pub percentiles_ns: Vec<u64>,
    /// The number of samples above the deadline; `None` without one.
    pub misses: Option<usize>,
    /// The comparison with the same variant of the first results; within those, with their first
    /// variant.
    pub against: Option<Against>,
}

/// A comparison of two rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The index of the other's results.
    pub results: usize,
    /// The other variant.
    pub variant: String,
    /// The ratios to the other's figures in the order of [`Statistic::ALL`], as far as there is
    /// enough data.
    pub ratios: [Option<Ratio>; 3],
}

/// Another executor's latency in a [`Group`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeerRow {
    /// Library and executor.
    pub name: String,
    /// The floor of its machine, in milliseconds; `None` if unknown.
    pub floor_ms: Option<f64>,
    /// The figures.
    #[serde(flatten)]
    pub figures: PeerFigures,
}

/// The percentiles of a distribution's chart, in hundredths of a percent.
pub const PERCENTILES: [u64; 22] = [
    0, 500, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 7_500, 8_000, 8_500, 9_000, 9_300,
    9_500, 9_700, 9_800, 9_900, 9_930, 9_950, 9_970, 9_990,
];

/// The groups of all results, by rising load, then in the order of their series. Takes some
/// milliseconds for each row.
#[must_use]
pub fn groups(all: &[Named]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (results, (_, of)) in all.iter().enumerate() {
        for cell in &of.cells {
            for (series, is_latency) in series_of(cell) {
                let is_it = |group: &&mut Group| group.n == cell.n && group.series == series.name;
                let Some(row) = row(results, cell, series) else { continue };
                match groups.iter_mut().find(is_it) {
                    Some(group) => group.rows.push(row),
                    None => groups.push(Group {
                        n: cell.n,
                        series: series.name.clone(),
                        is_latency,
                        rows: vec![row],
                        peers: peers(&series.name, cell.n),
                    }),
                }
            }
        }
    }
    // The sort is stable.
    groups.sort_by_key(|group| group.n);
    for group in groups.iter_mut().filter(|group| group.is_latency) {
        compare(group, all);
    }
    groups
}

/// The series that the turns of a cell have, and whether each is a latency.
fn series_of(cell: &Cell) -> impl Iterator<Item = (&Series, bool)> {
    // All turns have the same ones.
    let first = || cell.turns.iter().take(1);
    let latencies = first().flat_map(|turn| &turn.latencies).map(|series| (series, true));
    latencies.chain(first().flat_map(|turn| &turn.periods).map(|series| (series, false)))
}

fn row(results: usize, cell: &Cell, series: &Series) -> Option<Row> {
    let mut sorted = cell.pooled(&series.name);
    sorted.sort_unstable();
    let summary = Summary::of(&sorted);
    let late = |deadline| sorted.len() - sorted.partition_point(|ns| *ns <= deadline);
    let misses = series.deadline_ns.map(late);
    let at = |hundredths: u64| {
        let rank = (sorted.len() * hundredths as usize).div_ceil(10_000).max(1);
        sorted.get(rank - 1).copied()
    };
    let percentiles_ns = PERCENTILES.into_iter().filter_map(at).collect();
    let floor_ns = Definition::floor_ns(&series.name, cell.crunch_ns);
    let variant = cell.name.clone();
    // Simulated callbacks take no time.
    let is_measured = !summary.is_empty() && cell.turns.iter().all(|turn| turn.digest.is_none());
    is_measured.then_some(Row {
        results,
        variant,
        summary,
        floor_ns,
        percentiles_ns,
        misses,
        against: None,
    })
}

/// Compares the rows of a group.
fn compare(group: &mut Group, all: &[Named]) {
    let turns = |row: &Row| {
        let cells = &all[row.results].1.cells;
        let cell = cells.iter().find(|cell| cell.n == group.n && cell.name == row.variant);
        cell.map(|cell| cell.series(&group.series)).unwrap_or_default()
    };
    let base_of = |row: &Row| {
        let same = group.rows.iter().find(|base| base.variant == row.variant)?;
        let base = match same.results == row.results {
            false => same,
            true if row.results == 0 => &group.rows[0],
            // A variant that the first results do not have stands alone.
            true => return None,
        };
        (base.variant != row.variant || base.results != row.results).then_some(base)
    };
    let against: Vec<Option<Against>> = group
        .rows
        .iter()
        .map(|row| {
            let base = base_of(row)?;
            let (own, others) = (turns(row), turns(base));
            let ratios = Statistic::ALL.map(|statistic| ratio(&own, &others, statistic));
            Some(Against { results: base.results, variant: base.variant.clone(), ratios })
        })
        .collect();
    for (row, against) in group.rows.iter_mut().zip(against) {
        row.against = against;
    }
}

/// The executors beside a series at load `n`: rclcpp within the process, then the paper's.
fn peers(series: &str, n: Option<u64>) -> Vec<PeerRow> {
    let Some(n) = n.filter(|_| series == Definition::SampleToStart.name()) else {
        return Vec::new();
    };
    let rows = |peers: &'static Peers| {
        let figures = peers.executors.iter().filter_map(move |peer| Some((peer, peer.at(n)?)));
        figures.map(move |(peer, figures)| {
            let row = PeerRow { name: peer.name.clone(), floor_ms: peers.floor_ms(n), figures };
            (peer, row)
        })
    };
    let is_shown = |peer: &crate::peers::Peer| {
        peer.transport == IN_PROCESS && !peer.name.starts_with("earlier")
    };
    let rclcpp = rows(&RCLCPP).filter(|(peer, _)| is_shown(peer));
    rclcpp.chain(rows(&PAPER)).map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Turn;

    fn results(cells: &[(&str, u64, &[u64])]) -> Results {
        let cell = |(name, n, starts): &(&str, u64, &[u64])| {
            let turn = |start: &u64| Turn {
                latencies: vec![Series::new(
                    "sample to start",
                    (0..50).map(|i| start + i).collect(),
                )],
                periods: vec![Series::new("planner period", vec![100, 101])],
                ..Turn::default()
            };
            let turns = starts.iter().map(turn).collect();
            Cell { name: (*name).into(), n: Some(*n), turns, ..Cell::default() }
        };
        Results { cells: cells.iter().map(cell).collect(), ..Results::default() }
    }

    #[test]
    fn variants_stand_by_load_and_are_compared_with_the_first_results() {
        let first = results(&[
            ("single", 64, &[10_000, 10_100, 10_050]),
            ("multi", 64, &[20_000, 20_100, 20_050]),
            ("single", 8, &[1_000]),
        ]);
        let mut second = results(&[("multi", 64, &[10_000, 10_100, 10_050]), ("new", 64, &[1, 2])]);
        second.cells[1].turns[0].latencies[0].deadline_ns = Some(30);
        let groups = groups(&[("a".into(), first), ("b".into(), second)]);
        let names: Vec<_> = groups.iter().map(|g| (g.n.unwrap(), &*g.series)).collect();
        let both = ["sample to start", "planner period"];
        assert_eq!(names, [(8, both[0]), (8, both[1]), (64, both[0]), (64, both[1])]);
        let rows = &groups[2].rows;
        let verdict = |row: &Row| {
            let against = row.against.as_ref()?;
            let ratio = against.ratios[0].as_ref()?;
            Some((against.results, against.variant.clone(), ratio.verdict()))
        };
        let verdicts: Vec<_> = rows.iter().map(verdict).collect();
        let expected = [
            None,
            Some((0, "single".to_owned(), "slower")),
            Some((0, "multi".to_owned(), "faster")),
            None,
        ];
        assert_eq!(verdicts, expected);
        assert_eq!((rows[0].summary.count, rows[0].misses), (150, None));
        assert_eq!(rows[3].misses, Some(41), "of 1 to 50 and 2 to 51, above 30");
        let peers: Vec<_> =
            groups[2].peers.iter().map(|of| (&*of.name, of.figures.mean_ms, of.floor_ms)).collect();
        assert_eq!(peers[0], ("rclcpp events, intra-process", 0.067, Some(0.0035)));
        assert_eq!((peers.len(), peers[1]), (5, ("ring buffer, paper", 1.3, None)));
        assert!(groups[0].peers.is_empty() && groups[3].peers.is_empty());
    }
}
