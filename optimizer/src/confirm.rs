//! Live confirmation of a prediction: the best candidates run in turns, together with the default.
//!
//! Taking turns spreads the effects of a warmer or busier machine over all candidates. The median
//! over several turns removes single disturbances.

use crate::assignment::Assignment;
use crate::evaluation::{ChainLatency, Evaluation, Latency, Model};
use crate::objective::{Objective, Score};
use ringspin_executor::Error;
use ringspin_modes::Chain;

/// An assignment with its predicted and its measured evaluation.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// The assignment.
    pub assignment: Assignment,
    /// The model's evaluation.
    pub predicted: Evaluation,
    /// The live evaluation: the median of all turns, for each figure.
    pub measured: Evaluation,
    /// The score of the measured evaluation.
    pub score: Score,
    /// The number of measurements.
    pub turns: usize,
}

/// Measures each of `candidates` `turns` times, in rotation, and returns them in the same order.
/// The best one has the lowest [score](Confirmed::score).
///
/// `measure` runs one candidate live, for any length of time, and returns its evaluation, or `None`
/// to end early. Candidates without a measurement are left out.
///
/// # Errors
/// The errors of the model and of `measure`.
pub fn confirm<E: From<Error>>(
    model: &dyn Model,
    objective: &Objective,
    candidates: &[Assignment],
    turns: usize,
    mut measure: impl FnMut(usize, &Assignment) -> Result<Option<Evaluation>, E>,
) -> Result<Vec<Confirmed>, E> {
    let mut measured: Vec<Vec<Evaluation>> = vec![Vec::new(); candidates.len()];
    'turns: for _ in 0..turns {
        for (number, candidate) in candidates.iter().enumerate() {
            match measure(number, candidate)? {
                Some(evaluation) => measured[number].push(evaluation),
                None => break 'turns,
            }
        }
    }
    let measured = candidates.iter().zip(&measured).filter(|(_, turns)| !turns.is_empty());
    let confirmed = measured.map(|(assignment, turns)| {
        let measured = median(model.chains(), turns);
        Ok(Confirmed {
            assignment: assignment.clone(),
            predicted: model.evaluate(assignment)?,
            score: objective.score(model, &measured),
            measured,
            turns: turns.len(),
        })
    });
    confirmed.collect()
}

/// The median of each figure; for an even number of turns, the upper one.
pub(crate) fn median(chains: &[Chain], turns: &[Evaluation]) -> Evaluation {
    let of = |figure: &dyn Fn(&Evaluation) -> u64| {
        let mut figures: Vec<u64> = turns.iter().map(figure).collect();
        figures.sort_unstable();
        figures[figures.len() / 2]
    };
    let chains = (0..chains.len()).map(|chain| {
        let chain = |turn: &Evaluation| turn.chains.get(chain).copied().unwrap_or_default();
        let latency = |which: fn(&ChainLatency) -> &Latency| Latency {
            mean_ns: of(&|turn| which(&chain(turn)).mean_ns),
            p50_ns: of(&|turn| which(&chain(turn)).p50_ns),
            p99_ns: of(&|turn| which(&chain(turn)).p99_ns),
            max_ns: of(&|turn| which(&chain(turn)).max_ns),
        };
        ChainLatency {
            samples: of(&|turn| chain(turn).samples),
            release_to_end: latency(|chain| &chain.release_to_end),
            sample_to_start: latency(|chain| &chain.sample_to_start),
            misses: of(&|turn| chain(turn).misses),
        }
    });
    let timers = turns.iter().map(|turn| turn.jitter_ns.len()).max().unwrap_or(0);
    let jitter = |timer: usize| {
        of(&|turn: &Evaluation| turn.jitter_ns.get(timer).copied().unwrap_or_default())
    };
    Evaluation {
        chains: chains.collect(),
        jitter_ns: (0..timers).map(jitter).collect(),
        drops: of(&|turn| turn.drops),
        core_loads: turns[0].core_loads.clone(),
        cores_used: turns[0].cores_used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::BoxError;

    /// Predicts a mean latency equal to the core number of the first loop, in milliseconds.
    struct Toy {
        loops: Vec<String>,
        chains: Vec<Chain>,
    }

    impl Model for Toy {
        fn loops(&self) -> &[String] {
            &self.loops
        }

        fn chains(&self) -> &[Chain] {
            &self.chains
        }

        fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation, Error> {
            Ok(evaluation(assignment.cores()[0] as u64))
        }
    }

    fn evaluation(ms: u64) -> Evaluation {
        let ns = ms * 1_000_000;
        let latency = ChainLatency::of(vec![ns], vec![ns], None, 0);
        Evaluation { chains: vec![latency], ..Evaluation::default() }
    }

    fn toy() -> (Toy, Vec<Assignment>) {
        let loops = vec!["/a".to_owned()];
        let candidates = (0..3).map(|core| Assignment::new(loops.clone(), vec![core], 3));
        let candidates = candidates.collect();
        (Toy { loops, chains: vec![Chain::new("chain", ["/a"])] }, candidates)
    }

    #[test]
    fn candidates_take_turns_and_the_median_counts() {
        let (model, candidates) = toy();
        let mut order = Vec::new();
        // The latencies of candidate 0 in its three turns; each further candidate adds a
        // millisecond.
        let ms = [5, 90, 6];
        let confirmed = confirm(&model, &Objective::default(), &candidates, 3, |number, _| {
            order.push(number);
            let turn = (order.len() - 1) / 3;
            Ok::<_, Error>(Some(evaluation(ms[turn] + number as u64)))
        });
        let confirmed = confirmed.unwrap();
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let means = |of: fn(&Confirmed) -> &Evaluation| -> Vec<u64> {
            confirmed.iter().map(|c| of(c).chains[0].release_to_end.mean_ns / 1_000_000).collect()
        };
        assert_eq!(means(|c| &c.measured), [6, 7, 8]);
        assert_eq!(means(|c| &c.predicted), [0, 1, 2]);
        assert!(confirmed[0].score < confirmed[1].score);
    }

    #[test]
    fn an_early_end_keeps_what_was_measured() {
        let (model, candidates) = toy();
        let mut left = 4;
        let confirmed = confirm(&model, &Objective::default(), &candidates, 3, |_, _| {
            left -= 1;
            Ok::<_, Error>((left >= 2).then(|| evaluation(1)))
        });
        let turns: Vec<_> = confirmed.unwrap().iter().map(|c| c.turns).collect();
        assert_eq!(turns, [1, 1], "the third was never measured");
        let failed = confirm(&model, &Objective::default(), &candidates, 1, |_, _| {
            Err(BoxError::from("no machine"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no machine");
    }
}
