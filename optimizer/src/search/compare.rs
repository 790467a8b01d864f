//! Comparison of strategies: equal budgets, several seeds.

use std::fmt;
use std::time::{Duration, Instant};

use crate::objective::Score;

use super::{CandidateError, Found, Progress, Search, SearchError, Strategy};

/// The results of several strategies on one problem.
#[derive(Debug)]
pub struct Comparison {
    /// The strategies, in the requested order.
    pub entries: Vec<Entry>,
}

/// The results of one strategy.
#[derive(Debug)]
pub struct Entry {
    /// The strategy.
    pub strategy: Strategy,
    /// One result per seed, in order; a single one if the strategy does not use the seed. Fewer
    /// when the search was stopped, none when an exact search was refused.
    pub found: Vec<Found>,
    /// The message of a refused exact search.
    pub refused: Option<String>,
    /// The wall time. Candidates that an earlier strategy evaluated take no time.
    pub wall: Duration,
}

impl Search<'_> {
    /// Runs every strategy with every seed, each with the full budget.
    ///
    /// A candidate that an earlier strategy evaluated still counts against the budget of a later
    /// one, but takes no time. A [stop](super::Stop) ends the comparison and keeps the results so
    /// far.
    ///
    /// # Errors
    /// [`CandidateError`]; an exact search of too many candidates becomes an
    /// [entry](Entry::refused).
    pub fn compare(
        &mut self,
        strategies: &[Strategy],
        seeds: &[u64],
        observer: &mut (dyn FnMut(&Progress<'_>) + Send),
    ) -> Result<Comparison, CandidateError> {
        let mut entries = Vec::new();
        for &strategy in strategies {
            let seeds = if strategy.is_random() { seeds } else { &seeds[..seeds.len().min(1)] };
            let (started, wall) = (Instant::now(), Duration::ZERO);
            let mut entry = Entry { strategy, found: Vec::new(), refused: None, wall };
            for &seed in seeds {
                match self.run_seeded(strategy, seed, observer) {
                    Ok(found) => entry.found.push(found),
                    Err(SearchError::Stopped) => {}
                    Err(error @ SearchError::TooLarge { .. }) => {
                        entry.refused = Some(error.to_string());
                    }
                    Err(SearchError::Candidate(error)) => return Err(error),
                }
            }
            entry.wall = started.elapsed();
            entries.push(entry);
        }
        Ok(Comparison { entries })
    }
}

impl Comparison {
    /// The entry of a strategy, if it took part.
    pub fn entry(&self, strategy: Strategy) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.strategy == strategy)
    }

    /// The best result of all; of equally good ones the first.
    pub fn best(&self) -> Option<&Found> {
        let found = self.entries.iter().flat_map(|entry| &entry.found);
        found.min_by(|a, b| a.score.cmp(&b.score))
    }

    /// The [`gap`](Score::gap) of the median of `strategy` to the optimum, if both are known and
    /// the exact search was not stopped.
    pub fn optimality_gap(&self, strategy: Strategy) -> Option<f64> {
        let optimum = self.entry(Strategy::Exact)?.found.iter().find(|found| !found.stopped)?;
        Some(self.entry(strategy)?.median()?.gap(&optimum.score))
    }
}

impl Entry {
    /// The scores, the best one first.
    pub fn sorted_scores(&self) -> Vec<&Score> {
        let mut scores: Vec<&Score> = self.found.iter().map(|found| &found.score).collect();
        scores.sort_unstable();
        scores
    }

    /// The median score; for an even number, the worse one of the middle two.
    pub fn median(&self) -> Option<&Score> {
        let scores = self.sorted_scores();
        scores.get(scores.len() / 2).copied()
    }

    /// The best score.
    pub fn best(&self) -> Option<&Score> {
        self.found.iter().map(|found| &found.score).min()
    }

    /// The largest number of candidates evaluated with one seed.
    pub fn evaluations(&self) -> usize {
        self.found.iter().map(|found| found.evaluations).max().unwrap_or(0)
    }
}

impl fmt::Display for Comparison {
    /// Formats one line per strategy: evaluations, gap to the optimum if known, median and best
    /// score.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            write!(f, "{:13} {:6}", entry.strategy, entry.evaluations())?;
            match self.optimality_gap(entry.strategy) {
                Some(gap) => write!(f, " {:7.2} %", gap * 100.0)?,
                None => write!(f, "       -  ")?,
            }
            match (&entry.refused, entry.median(), entry.best()) {
                (Some(refused), ..) => writeln!(f, "  {refused}")?,
                (None, Some(median), Some(best)) => {
                    writeln!(f, "  {:?}  {:?}", median.terms(), best.terms())?;
                }
                _ => writeln!(f, "  stopped")?,
            }
        }
        Ok(())
    }
}
