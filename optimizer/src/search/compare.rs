//! Strategies side by side: equal budgets, several seeds.

use std::fmt;
use std::time::{Duration, Instant};

use crate::objective::Score;

use super::{Found, OptimizeError, Progress, Search, Strategy};

/// What some strategies found on one problem.
#[derive(Debug)]
pub struct Comparison {
    /// The strategies, in the order that was asked for.
    pub entries: Vec<Entry>,
}

/// What one strategy found.
#[derive(Debug)]
pub struct Entry {
    /// Which one.
    pub strategy: Strategy,
    /// What it found with each seed, in the order of the seeds; one for all seeds where the seed
    /// cannot matter. Fewer when the search was stopped; none for an exact search that was refused.
    pub found: Vec<Found>,
    /// Why the exact search was refused, in words.
    pub refused: Option<String>,
    /// How long that took. Candidates that a strategy before it had evaluated took no time.
    pub wall: Duration,
}

impl Search<'_> {
    /// Lets every one of `strategies` search with every one of `seeds`, each with the whole budget.
    ///
    /// What one of them has evaluated costs the next one of its budget, but no time. A
    /// [stop](super::Stop) ends the comparison with what there is.
    ///
    /// # Errors
    /// As [`run`](Self::run), but an exact search of too many candidates is an
    /// [entry](Entry::refused).
    pub fn compare(
        &mut self,
        strategies: &[Strategy],
        seeds: &[u64],
        observer: &mut (dyn FnMut(&Progress<'_>) + Send),
    ) -> Result<Comparison, OptimizeError> {
        let mut entries = Vec::new();
        for &strategy in strategies {
            let seeds = if strategy.is_random() { seeds } else { &seeds[..seeds.len().min(1)] };
            let (started, wall) = (Instant::now(), Duration::ZERO);
            let mut entry = Entry { strategy, found: Vec::new(), refused: None, wall };
            for &seed in seeds {
                match self.run_seeded(strategy, seed, observer) {
                    Ok(found) => entry.found.push(found),
                    Err(OptimizeError::Stopped) => {}
                    Err(error @ OptimizeError::TooLarge { .. }) => {
                        entry.refused = Some(error.to_string());
                    }
                    Err(error) => return Err(error),
                }
            }
            entry.wall = started.elapsed();
            entries.push(entry);
        }
        Ok(Comparison { entries })
    }
}

impl Comparison {
    /// What the strategy found, if it took part.
    pub fn entry(&self, strategy: Strategy) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.strategy == strategy)
    }

    /// The best of all that was found; of equally good ones the first.
    pub fn best(&self) -> Option<&Found> {
        let found = self.entries.iter().flat_map(|entry| &entry.found);
        found.min_by(|a, b| a.score.cmp(&b.score))
    }

    /// How far the median of `strategy` is from the optimum, as [`Score::gap`] has it, if both are
    /// known and the exact search was not stopped.
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

    /// The median score; of an even number the worse one of the two in the middle.
    pub fn median(&self) -> Option<&Score> {
        let scores = self.sorted_scores();
        scores.get(scores.len() / 2).copied()
    }

    /// The best score.
    pub fn best(&self) -> Option<&Score> {
        self.found.iter().map(|found| &found.score).min()
    }

    /// The most candidates that it evaluated with one seed.
    pub fn evaluations(&self) -> usize {
        self.found.iter().map(|found| found.evaluations).max().unwrap_or(0)
    }
}

impl fmt::Display for Comparison {
    /// A line for each strategy: evaluations, gap to the optimum if known, median and best score.
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
