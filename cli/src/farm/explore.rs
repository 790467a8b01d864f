//! Exploring with shards: the seeds of this shard without a result, on the threads of one process.
//!
//! Every run is kept before the next one starts. The lowest seed that fails is shrunk by the shard
//! that has it, in a run more: so a process that was killed before it could leaves nothing to do
//! but that.

use super::listed;
use super::results::{Key, Plan, Record, Results, build};
use crate::arguments::{Explore, JobArguments};
use crate::shard::Shard;
use crate::{Ended, Invocation, bar, unusable, without_panic_messages};
use ringspin_modes::exploration::{SCHEDULE_VARIABLE, schedule_from_environment};
use ringspin_simulation::{Exploration, Job};

impl Invocation<'_> {
    pub(crate) fn explore(&mut self, explore: &Explore) -> Result<u8, Ended> {
        let names = listed(&explore.jobs.jobs)?;
        let farm = &explore.farm;
        let plain = farm.shard.is_none() && farm.results.is_none() && !explore.keep_going;
        if let ([name], true) = (&names[..], plain) {
            return self.explore_alone(explore, &explore.jobs.with(name, None));
        }
        if schedule_from_environment().map_err(unusable)?.is_some() {
            let way_out = "is one run of one job; unset it, or leave out `--shard` and `--results`";
            return Err(unusable(format!("{SCHEDULE_VARIABLE} {way_out}")));
        }
        let results = Results::open(farm.results.as_deref(), self.err)?;
        let build = build()?;
        let options = (explore.keep_seed, explore.order, explore.jitter);
        let mut searches = Vec::new();
        for (number, name) in (0..).zip(&names) {
            let job = explore.jobs.with(name, None);
            let key = Key {
                build: build.clone(),
                command: "explore".into(),
                name: name.clone(),
                job: self.hash_of_job(&job, &options)?,
                recording: String::new(),
                seed: None,
            };
            let seeds = Some((explore.seeds.start, explore.seeds.end));
            let plan = Plan::new(&key, seeds, explore.keep_going);
            results.plan(plan).map_err(unusable)?;
            let (shard, results) = (farm.shard.unwrap_or_default(), &results);
            searches.push(Search { explore, job, name, number, key, shard, results });
        }
        let mut worst = 0;
        for search in &searches {
            let code = search.run(self);
            worst = worst.max(self.say(code)?);
        }
        drop(searches);
        results.finish().map_err(unusable)?;
        Ok(worst)
    }
}

/// The exploration of one job, as far as it belongs to this shard.
struct Search<'s> {
    explore: &'s Explore,
    job: JobArguments,
    name: &'s str,
    /// The number of the job in the list.
    number: u64,
    /// Of its results, without a seed.
    key: Key,
    shard: Shard,
    results: &'s Results,
}

impl Search<'_> {
    fn key(&self, seed: Option<u64>) -> Key {
        Key { seed, ..self.key.clone() }
    }

    fn is_mine(&self, seed: u64) -> bool {
        let seeds = &self.explore.seeds;
        let before = self.number.wrapping_mul(seeds.end - seeds.start);
        self.shard.has(before.wrapping_add(seed - seeds.start))
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Result<u8, Ended> {
        let Self { explore, results, name, .. } = self;
        let seeds = explore.seeds.clone();
        let bar = bar((seeds.end - seeds.start) / self.shard.count() + 1);
        let job = invocation.startable(&self.job)?.after_each_run(|| bar.inc(1));
        let exploration = explore.exploration();
        // Failures of other shards count as well: higher seeds are not needed then.
        let failed = results.lowest(&self.key, &seeds, |_| true).filter(|_| !explore.keep_going);
        let end = failed.map_or(seeds.end, |(seed, ..)| seed.unwrap_or(0));
        let before = results.count(&self.key, &seeds);
        let left = seeds.clone().take_while(|seed| *seed < end).filter(|seed| {
            self.is_mine(*seed) && results.failure(&self.key(Some(*seed))).is_none()
        });
        let search = || {
            job.explore_each(&exploration, left, explore.keep_going, |seed, ran| {
                // The default order is there from each shard, possibly of another machine.
                results.add(Record::of_run(self.key(seed), ran))
            })
        };
        let searched = match invocation.alone {
            true => without_panic_messages(search),
            false => search(),
        };
        searched.map_err(unusable)?;
        let found = self.found(invocation, &job, &exploration);
        bar.finish_and_clear();
        let runs = results.count(&self.key, &seeds) - before;
        writeln!(invocation.out, "{name}: {runs} runs, and {before} were there already")?;
        found
    }

    /// The failure of this shard's lowest seed.
    fn found(
        &self,
        invocation: &Invocation<'_>,
        job: &Job<'_>,
        exploration: &Exploration,
    ) -> Result<u8, Ended> {
        let seeds = &self.explore.seeds;
        let mine = |seed: Option<u64>| seed.is_none_or(|seed| self.is_mine(seed));
        let Some((seed, failure, counterexample)) = self.results.lowest(&self.key, seeds, mine)
        else {
            return Ok(0);
        };
        let Some(seed) = seed else {
            let text = format!("the job fails in the default order already: {failure}");
            return Err(Ended::Failed(text));
        };
        let lowest = self.results.lowest(&self.key, seeds, |_| true);
        if lowest.is_some_and(|(lowest, ..)| lowest < Some(seed)) {
            return Err(Ended::Failed(format!("seed {seed} fails, and so does a lower one")));
        }
        if let Some(counterexample) = counterexample {
            return Err(Ended::Failed(counterexample));
        }
        let shrink = || job.counterexample(exploration, seed);
        let found = match invocation.alone {
            true => without_panic_messages(shrink),
            false => shrink(),
        };
        let text = match &found {
            Ok(found) => invocation.found(found, &self.job),
            Err(error) => error.to_string(),
        };
        let key = self.key(Some(seed));
        let record = Record {
            failure: Some(failure),
            counterexample: Some(text.clone()),
            ..Record::new(key)
        };
        self.results.add(record).map_err(unusable)?;
        Err(Ended::Failed(text))
    }
}
