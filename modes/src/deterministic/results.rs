//! What a sequencer can tell of its run.

use super::record::Digester;
use super::{
    Breaker, ChainSamples, Follower, InstantLog, RunDigest, Schedule, Sequencer, Timing, Trace,
};
use ringspin_executor::{CallbackId, GraphInfo, Recorder, Worker};
use ringspin_ringbuf::Counter;
use std::any::Any;
use std::sync::Arc;

impl Sequencer {
    /// The digest of all dispatches so far, and their number.
    pub(crate) fn digest(&mut self) -> (RunDigest, u64) {
        self.digester(|digester| (digester.digest(), digester.dispatches().get()))
    }

    /// The user's recorder, if there is one.
    pub(crate) fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.digester(|digester| digester.take_next())
    }

    /// Counts the dispatches.
    pub(crate) fn dispatches(&mut self) -> Arc<Counter> {
        self.digester(|digester| digester.dispatches().clone())
    }

    /// From now on, keeps a trace.
    pub(crate) fn trace(&mut self) {
        self.digester(Digester::trace);
    }

    /// The trace, if one was kept.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.digester(Digester::take_trace)
    }

    /// The samples of the chains so far.
    pub(crate) fn chains(&mut self) -> Vec<ChainSamples> {
        let samples = |digester: &mut Digester| digester.follower().map(Follower::samples);
        self.digester(samples).unwrap_or_default()
    }

    /// How the run so far deviated from the default order, and that in words.
    pub(crate) fn schedule(&self, info: &GraphInfo) -> (Schedule, Vec<String>) {
        let seed = self.script.as_ref().and_then(|script| script.seed);
        let seed_words = seed.map(|seed| {
            format!("seed {seed} for delays, losses, durations and the nodes' random numbers")
        });
        let taken = self.breaker.iter().flat_map(|breaker| &breaker.taken);
        let (deviations, words): (Vec<_>, Vec<_>) =
            taken.map(|taken| (taken.deviation, taken.in_words(info))).unzip();
        let postponements: Vec<_> = self.breaker.iter().flat_map(Breaker::postponements).collect();
        let jolts = self.jolts.all();
        let words = seed_words.into_iter().chain(words);
        let words = words.chain(postponements.iter().map(|held| held.in_words(info)));
        let words = words.chain(jolts.iter().map(|jolt| jolt.in_words(info))).collect();
        (Schedule { seed, deviations, postponements, jolts }, words)
    }

    /// The entries of the schedule that have not been applied, if the run follows one.
    pub(crate) fn not_applied(&self, info: &GraphInfo) -> Schedule {
        match &self.script {
            None => Schedule::default(),
            Some(script) => script.without(&self.schedule(info).0),
        }
    }

    /// The same up to now: if the run is not over, the rest may still come.
    pub(crate) fn not_applied_yet(&self, info: &GraphInfo) -> Schedule {
        let all = self.not_applied(info);
        if self.is_over { all } else { all.up_to(self.now()) }
    }

    /// The record of the watched instant.
    pub(crate) fn instant_log(&self) -> Option<&InstantLog> {
        self.breaker.as_ref().map(|breaker| &breaker.log)
    }

    /// The callbacks that returned later than their logical execution time, and how often.
    pub(crate) fn overruns(&self, info: &GraphInfo) -> Vec<(String, u64)> {
        let overruns = self.timing.iter().flat_map(Timing::overruns).enumerate();
        let late = overruns.filter(|(_, count)| *count > 0);
        late.map(|(n, count)| (info.name_of(CallbackId(n as u32)), count)).collect()
    }

    /// How many choices there were in the run so far.
    pub(crate) fn choices(&self) -> u64 {
        self.breaker.as_ref().map_or(0, Breaker::choices)
    }

    /// The worker, to look at what it runs.
    pub(crate) fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }

    fn digester<R>(&mut self, f: impl FnOnce(&mut Digester) -> R) -> R {
        let mut recorder = self.worker.set_recorder(None).expect("a sequencer has its digester");
        let any: &mut dyn Any = &mut *recorder;
        let result = f(any.downcast_mut().expect("the sequencer's recorder is its digester"));
        self.worker.set_recorder(Some(recorder));
        result
    }
}
