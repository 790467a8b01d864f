//! Round-by-round comparison of candidates.
//!
//! Criterion runs one candidate after the other, seconds apart. On a shared virtual machine, that
//! mostly compares states of the machine: the host moves the virtual cores, the load of other
//! guests changes, and communication between two cores gets several times faster or slower. Here
//! every candidate of a [`Cell`] has a turn of about a millisecond in each of many rounds, in an
//! order that changes from round to round. A disturbance then affects all candidates of a round
//! alike, and the ratio is taken within each round, before the median.

use std::fmt::Write;

/// The command line options.
#[derive(Clone, Debug)]
pub struct Options {
    filter: Option<String>,
    rounds: usize,
    test: bool,
}

impl Options {
    const ROUNDS: usize = 80;

    /// Parses `[filter] [--rounds n] [--test]`; cargo itself adds `--bench`.
    ///
    /// # Errors
    /// A message that names the invalid argument.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { filter: None, rounds: Self::ROUNDS, test: false };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--bench" => {}
                "--test" => options.test = true,
                "--rounds" => {
                    let rounds = arguments.next().and_then(|n| n.parse().ok());
                    options.rounds = rounds.filter(|n| *n > 0).ok_or("--rounds needs a number")?;
                }
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown option {flag}; use --rounds <number> or --test"));
                }
                _ if options.filter.is_some() => return Err("several filters; give one".into()),
                _ => options.filter = Some(argument),
            }
        }
        if options.test {
            options.rounds = 1;
        }
        Ok(options)
    }

    /// The number of rounds of each cell.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether the filter selects the cell called `title`.
    #[must_use]
    pub fn wants(&self, title: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| title.contains(filter))
    }
}

/// A table of candidates that do the same work. The first one is the reference of the comparison.
pub struct Cell<'a> {
    title: String,
    operations: u64,
    unit: Unit,
    candidates: Vec<(&'static str, Candidate<'a>)>,
}

/// Runs the given number of operations, and returns the nanoseconds per operation.
type Candidate<'a> = Box<dyn FnMut(u64) -> f64 + 'a>;

/// The unit of a cell's table, besides nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// None: the time of an operation is the result.
    Time,
    /// Millions per second.
    Rate,
}

impl<'a> Cell<'a> {
    /// Creates a table without candidates, for turns of up to `operations` operations; fewer if
    /// these take longer than a millisecond.
    pub fn new(title: impl Into<String>, unit: Unit, operations: u64) -> Self {
        Self { title: title.into(), operations, unit, candidates: Vec::new() }
    }

    /// Adds a candidate, which receives a number of operations and returns the nanoseconds per
    /// operation.
    pub fn add(&mut self, name: &'static str, candidate: impl FnMut(u64) -> f64 + 'a) {
        self.candidates.push((name, Box::new(candidate)));
    }

    /// Measures and prints the table, if the filter selects it.
    pub fn run(self, options: &Options) {
        if !options.wants(&self.title) {
            return;
        }
        let unit = self.unit;
        let (title, names) = (self.title.clone(), self.names());
        let table = render(&names, &self.measure(options), unit);
        println!("\n## {title}\n\n{}", table.trim_end());
    }

    fn names(&self) -> Vec<&'static str> {
        self.candidates.iter().map(|(name, _)| *name).collect()
    }

    /// Each candidate's nanoseconds, round by round.
    fn measure(mut self, options: &Options) -> Vec<Vec<f64>> {
        let most = self.operations;
        let turns: Vec<u64> = self
            .candidates
            .iter_mut()
            .map(|(_, candidate)| if options.test { 64 } else { turn_length(candidate, most) })
            .collect();
        let mut samples = vec![Vec::with_capacity(options.rounds); turns.len()];
        for round in 0..options.rounds {
            for turn in order(round, turns.len()) {
                let nanoseconds = (self.candidates[turn].1)(turns[turn]);
                samples[turn].push(nanoseconds);
            }
        }
        samples
    }
}

/// The number of operations, at most `most`, for a turn of a millisecond. A longer turn would be
/// interrupted by the scheduler more often, and thus look slower.
fn turn_length(candidate: &mut Candidate<'_>, most: u64) -> u64 {
    const TURN_NS: f64 = 1e6;
    let least = most / 8;
    // The first call fills caches and performs one-time allocations.
    candidate(least);
    let nanoseconds = candidate(least).min(candidate(least));
    ((TURN_NS / nanoseconds) as u64).clamp(least, most)
}

/// The order of turns: each round starts with another candidate, every other one runs backwards.
fn order(round: usize, candidates: usize) -> impl Iterator<Item = usize> {
    (0..candidates).map(move |turn| {
        let turn = if round.is_multiple_of(2) { turn } else { candidates - 1 - turn };
        (turn + round / 2) % candidates
    })
}

fn render(names: &[&str], samples: &[Vec<f64>], unit: Unit) -> String {
    let mut table = String::from("| candidate | ns | quartiles | ratio | quartiles |");
    let rate = unit == Unit::Rate;
    table.push_str(if rate {
        " M/s |\n|---|--:|--:|--:|--:|--:|\n"
    } else {
        "\n|---|--:|--:|--:|--:|\n"
    });
    for (name, own) in names.iter().zip(samples) {
        let ratios = own.iter().zip(&samples[0]).map(|(own, first)| own / first).collect();
        let ([low, median, high], [worse, ratio, better]) =
            (quartiles(own.clone()), quartiles(ratios));
        let _ = write!(
            table,
            "| {name} | {median:.1} | {low:.1} to {high:.1} \
             | {ratio:.2} | {worse:.2} to {better:.2} |"
        );
        if rate {
            let _ = write!(table, " {:.1} |", 1e3 / median);
        }
        table.push('\n');
    }
    table
}

/// The first quartile, the median and the third quartile of `samples`.
///
/// # Panics
/// Panics if `samples` is empty.
#[must_use]
pub fn quartiles(mut samples: Vec<f64>) -> [f64; 3] {
    samples.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| {
        let position = (samples.len() - 1) as f64 * f64::from(quarter) / 4.0;
        let (below, above) = (position.floor() as usize, position.ceil() as usize);
        samples[below] + (samples[above] - samples[below]) * position.fract()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_candidate_has_one_turn_per_round_in_rotating_order() {
        for candidates in 1..6 {
            let mut firsts = vec![false; candidates];
            for round in 0..2 * candidates {
                let mut turns: Vec<_> = order(round, candidates).collect();
                firsts[turns[0]] = true;
                turns.sort_unstable();
                assert!(turns.into_iter().eq(0..candidates));
            }
            assert!(firsts.into_iter().all(|first| first));
        }
    }

    #[test]
    fn quartiles_lie_between_samples() {
        assert_eq!(quartiles(vec![4.0, 1.0, 3.0, 2.0]), [1.75, 2.5, 3.25]);
        assert_eq!(quartiles(vec![7.0]), [7.0; 3]);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // The simulated machine is ten times slower in the second round.
        let table =
            render(&["ours", "theirs"], &[vec![1.0, 10.0, 1.0], vec![2.0, 20.0, 2.0]], Unit::Time);
        assert!(
            table.ends_with("| theirs | 2.0 | 2.0 to 11.0 | 2.00 | 2.00 to 2.00 |\n"),
            "{table}"
        );
    }

    #[test]
    fn options_are_a_filter_and_two_switches() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(String::from));
        let options = parse("spsc --rounds 7 --bench").unwrap();
        assert!(options.wants("spsc latency") && !options.wants("pool"));
        assert_eq!((options.rounds, parse("--test").unwrap().rounds), (7, 1));
        assert!(parse("--rounds 0").is_err() && parse("--tset").is_err());
    }
}
