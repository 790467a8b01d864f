//! Results of a sequencer: digest, schedule, overruns, choices.
//!
//! The thread that owns the sequencer reads results between two spins or steps, while nothing of
//! the run happens, so none of this is locked against the run. The digester is the recorder of the
//! worker: it is taken out for each read and put back, which costs nothing while the run goes. A
//! result does not end the run: a digest is that of the dispatches so far, and the next spin
//! continues.

use super::record::Digester;
use super::threads::ThreadDeviation;
use super::traffic::LinkEffect;
use super::{Breaker, InstantLog, RunDigest, Schedule, Sequencer, Timing, Trace};
use crate::chains::{ChainSamples, Follower};
use crate::error::{catch_part, panicked};
use ringspin_executor::{CallbackId, Error, ForeignEvent, GraphInfo, Recorder, Worker};
use ringspin_ringbuf::Counter;
use std::any::Any;
use std::sync::Arc;

impl Sequencer {
    /// The digest of all dispatches so far, and their number.
    pub fn digest(&mut self) -> (RunDigest, u64) {
        let pending = self.worker.pending_digest();
        let threads = self.threads.and_then(|threads| threads.digest());
        let pending = match (pending, threads) {
            (pending, None) => pending,
            (pending, Some(threads)) => Some(pending.unwrap_or(0).rotate_left(1) ^ threads),
        };
        self.digester(|digester| (digester.digest(pending), digester.dispatches().get()))
    }

    /// The events that other threads than that of the run caused so far, in words, and their
    /// numbers.
    pub fn foreign(&self, info: &GraphInfo) -> Vec<(String, u64)> {
        let in_words = |event| match event {
            ForeignEvent::For(CallbackId::NONE) => "changes of timers or nodes".into(),
            ForeignEvent::For(id) => format!("events for {}", info.name_of(id)),
            ForeignEvent::Of(source) => match info.publisher(source) {
                Some((topic, by)) => {
                    let by = info.loops[by].full_name();
                    format!("messages of {by} on {}", topic.name)
                }
                None => format!("messages of source {}", source.0),
            },
        };
        let mut foreign: Vec<(String, u64)> = Vec::new();
        for (event, count) in self.sim_network.foreign() {
            let words = in_words(event);
            match foreign.last_mut().filter(|(before, _)| *before == words) {
                Some((_, before)) => *before += count,
                None => foreign.push((words, count)),
            }
        }
        foreign
    }

    /// Replaces the user's recorder; returns it, if there is one. With contention, calls that have
    /// not ended are recorded with their ends as things stand.
    pub(crate) fn replace_recorder(
        &mut self,
        next: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        let now = self.now();
        if let Some(virtual_cores) = &mut self.virtual_cores {
            virtual_cores.settle(now);
            let ends = virtual_cores.running().map(|running| (running.event_loop, running.end));
            let mut ends: Vec<_> = ends.collect();
            ends.sort_by_key(|(_, end)| *end);
            for (event_loop, end) in ends {
                if let Err(panic) = self.record_end(event_loop, end) {
                    tracing::error!(%panic, "failed to record a call that has not ended");
                }
            }
        }
        self.digester(|digester| digester.replace_next(next))
    }

    /// Counts the dispatches.
    pub fn dispatches(&mut self) -> Arc<Counter> {
        self.digester(|digester| digester.dispatches().clone())
    }

    /// From now on, keeps a trace.
    pub(crate) fn trace(&mut self) {
        self.digester(Digester::trace);
    }

    /// The trace, if one was kept.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.digester(Digester::take_trace)
    }

    /// The samples of the chains so far.
    pub fn chains(&self) -> Vec<ChainSamples> {
        self.follower.as_ref().map(Follower::samples).unwrap_or_default()
    }

    /// How the run so far deviated from the default order, as far as that is kept, and that in
    /// words; and how many deviations there were in all.
    pub fn schedule(&self, info: &GraphInfo) -> (Schedule, Vec<String>, u64) {
        let seed = self.script.as_ref().and_then(|script| script.seed);
        let seed_words = seed.map(|seed| {
            format!("seed {seed} for delays, losses, durations and the nodes' random numbers")
        });
        let taken = self.breaker.iter().flat_map(|breaker| breaker.taken.items());
        let (deviations, words): (Vec<_>, Vec<_>) =
            taken.map(|taken| (taken.deviation, taken.in_words(info))).unzip();
        let postponements: Vec<_> = self.breaker.iter().flat_map(Breaker::postponements).collect();
        let (perturbations, count) = self.perturbations.all();
        let losses = self.perturbations.losses();
        let count = count + losses.len() as u64;
        let count = count + self.breaker.as_ref().map_or(0, |breaker| breaker.taken.count());
        let words = seed_words.into_iter().chain(words);
        let words = words.chain(postponements.iter().map(|held| held.in_words(info)));
        let words =
            words.chain(perturbations.iter().map(|perturbation| perturbation.in_words(info)));
        let words = words.chain(losses.iter().map(|loss| loss.in_words(info)));
        let taken = self.threads.map(|threads| threads.deviations()).unwrap_or_default();
        let words = words.chain(taken.iter().map(ThreadDeviation::to_string)).collect();
        let count = count + taken.len() as u64;
        let threads = taken.into_iter().map(|taken| taken.deviation).collect();
        let schedule = Schedule {
            seed,
            deviations,
            postponements,
            perturbations,
            losses,
            threads,
            ..Schedule::default()
        };
        (schedule, words, count)
    }

    /// The effects of the links on each message, if all deviations are kept.
    pub fn link_effects(&self) -> Vec<LinkEffect> {
        self.perturbations.links()
    }

    /// The entries of the schedule that have not been applied, if the run follows one.
    pub fn not_applied(&self, info: &GraphInfo) -> Schedule {
        match &self.script {
            None => Schedule::default(),
            Some(script) => script.without(&self.schedule(info).0),
        }
    }

    /// The entries up to now that were not applied: later ones may still be applied.
    pub(crate) fn not_applied_yet(&self, info: &GraphInfo) -> Schedule {
        let all = self.not_applied(info);
        if self.is_over { all } else { all.up_to(self.now()) }
    }

    /// The record of the watched instant.
    pub fn instant_log(&self) -> Option<&InstantLog> {
        self.breaker.as_ref().map(|breaker| &breaker.log)
    }

    /// The callbacks that returned later than their logical execution time, and how often.
    pub fn overruns(&self, info: &GraphInfo) -> Vec<(String, u64)> {
        let overruns = self.timing.as_ref().map(Timing::overruns).unwrap_or_default();
        overruns.iter().map(|(id, count)| (info.name_of(id), *count)).collect()
    }

    /// The number of choices in the run so far, among events and among threads.
    pub fn choices(&self) -> u64 {
        let events = self.breaker.as_ref().map_or(0, Breaker::choices);
        events + self.threads.map_or(0, |threads| threads.choices())
    }

    /// Drops the user's values one by one; returns the drops that panicked. The run is over.
    pub fn dismantle(&mut self) -> Vec<Error> {
        let now = self.now();
        let drop_part =
            |part: &str, drop: &mut dyn FnMut()| catch_part(part, Some(now), drop).err();
        let panicked =
            |part: &str, reason: String| panicked(&format!("dropping {part}"), Some(now), &reason);
        let of_worker = self.worker.dismantle();
        let of_worker = of_worker.into_iter().map(|(part, reason)| panicked(&part, reason));
        let mut panics: Vec<_> = of_worker.collect();
        panics.extend(self.inputs.dismantle(now));
        let mut recorder = self.replace_recorder(None);
        panics.extend(drop_part("dropping the recorder", &mut || drop(recorder.take())));
        panics.extend(drop_part("dropping the tie breaker", &mut || drop(self.breaker.take())));
        panics.extend(self.sim_network.clear().map(|reason| panicked("a message", reason)));
        panics
    }

    /// The worker, to look at its loops.
    pub fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }

    pub(super) fn digester<R>(&mut self, f: impl FnOnce(&mut Digester) -> R) -> R {
        let mut recorder = self.worker.set_recorder(None).expect("a sequencer has its digester");
        let any: &mut dyn Any = &mut *recorder;
        let result = f(any.downcast_mut().expect("the sequencer's recorder is its digester"));
        self.worker.set_recorder(Some(recorder));
        result
    }
}
