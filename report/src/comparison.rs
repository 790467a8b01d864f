//! Several results side by side: the rows of text tables and of the page.

use crate::data::Definition;
use crate::published::PAPER;
use crate::results::{Cell, Results, Series};
use crate::statistics::{Ratio, Statistic, ratio};
use crate::summary::Summary;

/// Results with the name under which they are shown.
pub type Named = (String, Results);

/// The measurements of one latency or period at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The load, for a workload that has one.
    pub n: Option<u64>,
    /// The name of the series.
    pub series: String,
    /// Whether it is a latency, of which less is better, or a timer's period.
    pub is_latency: bool,
    /// The rows, by results, then variant.
    pub rows: Vec<Row>,
}

/// A measured variant in a [`Group`].
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The index of its results.
    pub results: usize,
    /// The variant.
    pub variant: String,
    /// The figures of all turns.
    pub summary: Summary,
    /// Each sample, in order, in nanoseconds.
    pub samples_ns: Vec<u64>,
    /// The number of samples above the deadline; `None` without one.
    pub misses: Option<usize>,
    /// The comparison with the same variant of the first results; within those, with their first
    /// variant.
    pub against: Option<Against>,
}

/// A comparison of two rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The index of the other's results.
    pub results: usize,
    /// The other variant.
    pub variant: String,
    /// The ratios to the other's figures in the order of [`Statistic::ALL`], as far as there is
    /// enough data.
    pub ratios: [Option<Ratio>; 3],
}

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
    let samples_ns = cell.pooled(&series.name);
    let summary = Summary::of(&samples_ns);
    let misses = series
        .deadline_ns
        .map(|_| Series { samples_ns: samples_ns.clone(), ..series.clone() }.misses());
    let variant = cell.name.clone();
    // Simulated callbacks take no time.
    let is_measured = !summary.is_empty() && cell.turns.iter().all(|turn| turn.digest.is_none());
    is_measured.then_some(Row { results, variant, summary, samples_ns, misses, against: None })
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

/// The figures of the paper's Table I beside a group: executor, and minimum, mean, maximum and
/// standard deviation in milliseconds. Empty unless it printed this latency at this load.
#[must_use]
pub fn paper_beside(group: &Group) -> Vec<(&'static str, [f64; 4])> {
    let is_printed = group.series == Definition::SampleToStart.name();
    let row = PAPER.iter().find(|row| is_printed && Some(row.n) == group.n);
    let executors = row.map(|row| {
        [
            ("ring buffer, paper", row.ring_buffer),
            ("static single, paper", row.static_single_threaded),
            ("multi, paper", row.multi_threaded),
            ("single, paper", row.single_threaded),
        ]
    });
    let figures = executors.into_iter().flatten();
    figures.map(|(name, of)| (name, [of.min_ms, of.avg_ms, of.max_ms, of.std_ms])).collect()
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
        assert_eq!(paper_beside(&groups[2])[0], ("ring buffer, paper", [1.0, 1.3, 2.7, 0.2]));
        assert!(paper_beside(&groups[0]).is_empty() && paper_beside(&groups[3]).is_empty());
    }
}
