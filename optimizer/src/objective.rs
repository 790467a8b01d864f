//! Objectives: the terms by which evaluations are compared, in order of importance.
//!
//! # Why lexicographic
//! No reduction of latency compensates a missed deadline, and a weight that expresses this would
//! need tuning for every graph. Weights exist only between the chains within one term.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ringspin_executor::{Error, ErrorKind, Result};

use crate::evaluation::{Evaluation, Model};
use crate::jitter::PeriodicTimer;
use ringspin_modes::Chain;

/// One figure of an evaluation; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// `misses`: samples that missed the deadline of their chain, late or lost, times the weight of
    /// the chain, rounded up per chain.
    Misses,
    /// `drops`: displaced messages and missed timer periods.
    Drops,
    /// `jitter`: the jitter of each timer above its [limit](crate::PeriodicTimer::limit), summed
    /// over the timers that have one.
    Jitter,
    /// `p99`: the 99th percentile of the latency from release to end, times the weight of the
    /// chain, summed over the chains.
    P99,
    /// `mean`: the mean latency from release to end, weighted and summed likewise.
    Mean,
    /// `max`: the longest latency from release to end, weighted and summed likewise.
    Max,
    /// `start-p99`: the 99th percentile from sample to start, weighted and summed likewise.
    StartP99,
    /// `start-mean`: the mean latency from sample to start, weighted and summed likewise.
    StartMean,
    /// `start-max`: the longest latency from sample to start, weighted and summed likewise.
    StartMax,
    /// `cores`: the number of cores used.
    Cores,
    /// `peak`: the load of the busiest core.
    Peak,
}

/// The unit of a term's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermUnit {
    /// A number of events or cores.
    Count,
    /// Nanoseconds.
    Nanoseconds,
    /// Millionths of a core.
    Millionths,
}

impl Term {
    /// All terms.
    pub const ALL: [Self; 11] = [
        Self::Misses,
        Self::Drops,
        Self::Jitter,
        Self::P99,
        Self::Mean,
        Self::Max,
        Self::StartP99,
        Self::StartMean,
        Self::StartMax,
        Self::Cores,
        Self::Peak,
    ];

    /// The name that [`Objective`] parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Misses => "misses",
            Self::Drops => "drops",
            Self::Jitter => "jitter",
            Self::P99 => "p99",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::StartP99 => "start-p99",
            Self::StartMean => "start-mean",
            Self::StartMax => "start-max",
            Self::Cores => "cores",
            Self::Peak => "peak",
        }
    }

    /// The unit of its figure.
    pub fn unit(self) -> TermUnit {
        match self {
            Self::Misses | Self::Drops | Self::Cores => TermUnit::Count,
            Self::Peak => TermUnit::Millionths,
            _ => TermUnit::Nanoseconds,
        }
    }

    /// The figure in its [unit](Self::unit); the largest number for a chain without samples.
    pub(crate) fn of(
        self,
        chains: &[Chain],
        timers: &[PeriodicTimer],
        evaluation: &Evaluation,
    ) -> u64 {
        let latencies = chains.iter().enumerate().filter(|(_, chain)| chain.weight > 0.0);
        let weighted = |figure: fn(&crate::ChainLatency) -> u64| {
            let each = latencies.map(|(index, chain)| match evaluation.chains.get(index) {
                Some(latency) if latency.samples > 0 => weighted(figure(latency), chain.weight),
                // No sample arrived: worse than any latency.
                _ => u64::MAX,
            });
            each.fold(0, u64::saturating_add)
        };
        match self {
            Self::Misses => weighted(|latency| latency.misses),
            Self::P99 => weighted(|latency| latency.release_to_end.p99_ns),
            Self::Mean => weighted(|latency| latency.release_to_end.mean_ns),
            Self::Max => weighted(|latency| latency.release_to_end.max_ns),
            Self::StartP99 => weighted(|latency| latency.sample_to_start.p99_ns),
            Self::StartMean => weighted(|latency| latency.sample_to_start.mean_ns),
            Self::StartMax => weighted(|latency| latency.sample_to_start.max_ns),
            Self::Drops => evaluation.drops,
            Self::Jitter => {
                let timers = timers.iter().zip(&evaluation.jitter_ns);
                let above = timers.filter_map(|(timer, &jitter_ns)| {
                    let limit_ns = u64::try_from(timer.limit?.as_nanos()).unwrap_or(u64::MAX);
                    Some(jitter_ns.saturating_sub(limit_ns))
                });
                above.fold(0, u64::saturating_add)
            }
            Self::Cores => evaluation.cores_used as u64,
            Self::Peak => {
                let peak = evaluation.core_loads.iter().copied().fold(0.0, f64::max);
                // The cast saturates; a load is never negative.
                (peak * 1e6).round() as u64
            }
        }
    }

    fn describe(self, value: u64) -> String {
        let name = self.name();
        match self.unit() {
            TermUnit::Count => format!("{value} {name}"),
            TermUnit::Millionths => format!("{name} {:.1} %", value as f64 / 1e4),
            TermUnit::Nanoseconds if value == u64::MAX => format!("{name} unbounded"),
            TermUnit::Nanoseconds => format!("{name} {:?}", Duration::from_nanos(value)),
        }
    }
}

/// `figure` times `weight`, rounded up so that one miss remains one. Saturates.
fn weighted(figure: u64, weight: f64) -> u64 {
    // Exact for the common weight.
    if weight == 1.0 { figure } else { (figure as f64 * weight).ceil() as u64 }
}

/// The terms to compare by, the most important one first.
///
/// ```
/// use ringspin_optimizer::Objective;
///
/// let objective: Objective = "misses, max, cores".parse()?;
/// assert_eq!(objective.to_string(), "misses,max,cores");
/// assert_eq!(Objective::default().to_string(), "misses,drops,jitter,mean,p99,cores");
/// assert!("latency".parse::<Objective>().is_err());
/// # Ok::<(), ringspin_optimizer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    terms: Vec<Term>,
}

impl Default for Objective {
    /// The promises of the graph, then what can be gained: the terms `misses`, `drops`, `jitter`,
    /// `mean`, `p99` and `cores`. The mean comes before p99 because it changes with every
    /// improvement: a search by p99 gets stuck among candidates that are equally bad at the worst.
    fn default() -> Self {
        let promises = [Term::Misses, Term::Drops, Term::Jitter];
        Self { terms: promises.into_iter().chain([Term::Mean, Term::P99, Term::Cores]).collect() }
    }
}

impl Objective {
    /// Creates the objective with these terms, the most important one first.
    ///
    /// # Errors
    /// There are no terms, or one repeats.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Result<Self> {
        let terms: Vec<Term> = terms.into_iter().collect();
        if terms.is_empty() {
            let text = format!("the objective has no terms; name at least one of {}", all_names());
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        for (index, &term) in terms.iter().enumerate() {
            if terms[..index].contains(&term) {
                let text = format!(
                    "the objective names `{}` twice; the second one decides nothing, leave it out",
                    term.name()
                );
                return Err(Error::new(ErrorKind::InvalidArgument, text));
            }
        }
        Ok(Self { terms })
    }

    /// The terms, the most important one first.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The score of an evaluation by `model`. O(terms * (chains + timers) + cores).
    pub fn score(&self, model: &dyn Model, evaluation: &Evaluation) -> Score {
        self.score_of(model.chains(), model.timers(), evaluation)
    }

    pub(crate) fn score_of(
        &self,
        chains: &[Chain],
        timers: &[PeriodicTimer],
        evaluation: &Evaluation,
    ) -> Score {
        Score::new(self.terms.iter().map(|term| term.of(chains, timers, evaluation)))
    }

    /// Formats a score of this objective: `0 misses, 0 drops, p99 41.2ms, mean 30.1ms, 4 cores`.
    pub fn describe(&self, score: &Score) -> String {
        let figures = self.terms.iter().zip(score.terms());
        let words: Vec<String> = figures.map(|(term, &value)| term.describe(value)).collect();
        words.join(", ")
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.terms.iter().map(|term| term.name()).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Objective {
    type Err = Error;

    /// Parses comma-separated names of terms.
    fn from_str(text: &str) -> Result<Self> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let terms = names.map(|name| {
            let term = Term::ALL.into_iter().find(|term| term.name() == name);
            term.ok_or_else(|| {
                let text = format!("the objective has no term `{name}`; there are {}", all_names());
                Error::new(ErrorKind::NotFound, text)
            })
        });
        Self::new(terms.collect::<Result<Vec<_>>>()?)
    }
}

fn all_names() -> String {
    Term::ALL.map(Term::name).join(", ")
}

/// The value of an assignment: integers, compared from first to last; less is better.
///
/// With integers, no sum depends on its order, and a search finds the same result on every machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score {
    terms: Vec<u64>,
}

impl Score {
    /// Creates a score from its figures, the most important one first.
    pub fn new(terms: impl IntoIterator<Item = u64>) -> Self {
        Self { terms: terms.into_iter().collect() }
    }

    /// The figures, the most important one first.
    pub fn terms(&self) -> &[u64] {
        &self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assignment::Assignment;
    use crate::evaluation::{ChainLatency, Latency};

    /// The figures of a latency; from sample to start, all are 1 ns less.
    fn latency(figure: u64) -> ChainLatency {
        let of = |less| Latency {
            mean_ns: figure - less,
            p50_ns: figure - less,
            p99_ns: 2 * figure - less,
            max_ns: 3 * figure - less,
        };
        let (release_to_end, sample_to_start) = (of(0), of(1));
        ChainLatency { samples: 100, release_to_end, sample_to_start, misses: figure / 10 }
    }

    fn evaluation(chains: &[ChainLatency]) -> Evaluation {
        Evaluation {
            chains: chains.to_vec(),
            jitter_ns: vec![70, 500, 30],
            drops: 7,
            core_loads: vec![0.25, 0.5, 0.0],
            cores_used: 2,
        }
    }

    /// Chains of these weights, and three timers of which the second has no limit.
    struct Graph {
        chains: Vec<Chain>,
        timers: Vec<PeriodicTimer>,
    }

    fn graph(weights: &[f64]) -> Graph {
        let chain = |weight: &f64| Chain::new("chain", ["/a"]).with_weight(*weight);
        let timer = |limit_ns: Option<u64>| PeriodicTimer {
            name: "/a timer 1ms".into(),
            limit: limit_ns.map(Duration::from_nanos),
        };
        Graph {
            chains: weights.iter().map(chain).collect(),
            timers: [Some(20), None, Some(40)].map(timer).to_vec(),
        }
    }

    impl Model for Graph {
        fn loops(&self) -> &[String] {
            &[]
        }

        fn chains(&self) -> &[Chain] {
            &self.chains
        }

        fn timers(&self) -> &[PeriodicTimer] {
            &self.timers
        }

        fn evaluate(&self, _: &Assignment) -> Result<Evaluation> {
            unreachable!("only scores are tested")
        }
    }

    #[test]
    fn each_term_reads_its_figure() {
        let all = Objective::new(Term::ALL).unwrap();
        let score = all.score(&graph(&[1.0]), &evaluation(&[latency(100)]));
        assert_eq!(score.terms(), [10, 7, 50, 200, 100, 300, 199, 99, 299, 2, 500_000]);
        assert_eq!(
            all.describe(&score),
            "10 misses, 7 drops, jitter 50ns, p99 200ns, mean 100ns, max 300ns, start-p99 199ns, \
             start-mean 99ns, start-max 299ns, 2 cores, peak 50.0 %"
        );
    }

    #[test]
    fn an_earlier_term_outweighs_all_later_ones() {
        let objective = Objective::default();
        let score = |misses, figure| {
            let latency = ChainLatency { misses, ..latency(figure) };
            objective.score(&graph(&[1.0]), &evaluation(&[latency]))
        };
        assert!(score(0, u64::MAX / 4) < score(1, 1));
        assert!(score(1, 1) < score(1, 2));
    }

    #[test]
    fn chains_count_by_their_weights() {
        let objective: Objective = "misses,mean".parse().unwrap();
        let score = |weights: &[f64]| {
            objective.score(&graph(weights), &evaluation(&[latency(100), latency(10)]))
        };
        assert_eq!(score(&[1.0, 1.0]).terms(), [11, 110]);
        assert_eq!(score(&[0.5, 3.0]).terms(), [8, 80]);
        assert_eq!(score(&[0.0, 0.01]).terms(), [1, 1], "a miss stays a miss");
        assert_eq!(score(&[0.0, 0.0]).terms(), [0, 0]);
    }

    #[test]
    fn a_chain_without_samples_is_infinitely_late() {
        let objective: Objective = "misses,drops,p99".parse().unwrap();
        let nothing = ChainLatency::default();
        let starved = objective.score(&graph(&[1.0, 1.0]), &evaluation(&[latency(1), nothing]));
        let slow = evaluation(&[latency(1), latency(u64::MAX / 4)]);
        assert!(starved > objective.score(&graph(&[1.0, 1.0]), &slow));
        assert_eq!(starved.terms()[2], u64::MAX);
        assert_eq!(objective.score(&graph(&[1.0, 0.0]), &evaluation(&[latency(1)])).terms()[2], 2);
        assert!(objective.describe(&starved).contains("p99 unbounded"));
    }

    #[test]
    fn invalid_objectives_are_refused() {
        let parse = |text: &str| text.parse::<Objective>().unwrap_err();
        let empty = parse(" , ");
        assert_eq!(empty.kind(), ErrorKind::InvalidArgument);
        assert!(empty.to_string().starts_with("the objective has no terms; name at least"));
        let twice = parse("p99,mean,p99").to_string();
        assert!(twice.starts_with("the objective names `p99` twice"), "{twice}");
        assert_eq!(parse("latency").kind(), ErrorKind::NotFound);
        let unknown = parse("p99,latency").to_string();
        assert!(unknown.contains("`latency`") && unknown.contains("misses, drops"), "{unknown}");
    }

    #[test]
    fn objectives_round_trip_through_text() {
        let all = Objective::new(Term::ALL).unwrap();
        assert_eq!(all.to_string().parse(), Ok(all));
    }
}
