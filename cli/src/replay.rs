//! The command `replay`: recordings through the nodes of a program, in every mode.

mod live;
pub(crate) mod recordings;

use crate::arguments::Replay;
use crate::bag::damaged_or_unusable;
use crate::farm::{List, expand, hash_of_files, hash_of_text, listed};
use crate::{Ended, Invocation, in_file, unusable};
use indicatif::{ProgressBar, ProgressStyle};
use recordings::{Recording, Recordings};
use ringspin_bag::{
    Bag, MessageTypes, Migration, PlayReport, Player, PlayerHandle, RecordReport, Recorder,
    RecorderHandle,
};
use ringspin_executor::{BoxError, Graph};
use ringspin_modes::Mode;
use ringspin_ringbuf::{Counter, Flag};
use ringspin_simulation::{FreshProcess, Job, JobFile, Ran, Report, Session, load_simulation};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The parts of a graph that replay.
struct Handles {
    player: PlayerHandle,
    /// The recorder and the recording that it writes.
    recorder: Option<(RecorderHandle, Recording)>,
}

/// The outcome of a replay besides that of its run.
struct Replayed {
    player: PlayReport,
    recorder: Option<RecordReport>,
}

impl Invocation<'_> {
    pub(super) fn replay(&mut self, mut replay: Replay) -> Result<u8, Ended> {
        let farm = std::mem::take(&mut replay.farm);
        let bags = std::mem::take(&mut replay.bags);
        let names = if replay.each { listed(&bags)? } else { expand(&bags)? };
        let seeds = replay.seeds.take();
        if farm.shard.is_some() && !replay.each && seeds.is_none() {
            return Err(unusable(
                "`--shard` is for several replays: add `--each` for one of each recording, or \
                 `--seeds`",
            ));
        }
        let live = farm.results.is_some() && !matches!(mode(&replay)?, Mode::Deterministic(_));
        if live {
            return Err(unusable(
                "`--results` is for the deterministic mode: a live replay may have another result \
                 each time; leave it out, or set RINGSPIN_MODE=deterministic",
            ));
        }
        let options = format!("{replay:?}");
        let bags_of = |name: &str| match replay.each {
            true => vec![name.to_owned()],
            false => names.clone(),
        };
        let list = List {
            command: "replay",
            farm: &farm,
            names: if replay.each { names.clone() } else { vec![names.join(", ")] },
            seeds,
            single: None,
            job: &|this, _| this.hash_of_replay(&replay, &options),
            recording: &|name| {
                let hashes = bags_of(name).into_iter().map(|bag| hash_of_files(Path::new(&bag)));
                Ok(hashes.collect::<Result<Vec<_>, _>>().map_err(unusable)?.join(" "))
            },
        };
        self.each(&list, &mut |this, item| {
            let (bags, seed) = (bags_of(&item.name), item.seed.or(replay.seed));
            this.replay_one(Replay { bags, seed, ..replay.clone() })
        })
    }

    /// The hash of all that decides about a replay except code and recording.
    fn hash_of_replay(&self, replay: &Replay, options: &str) -> Result<String, Ended> {
        let mut text = options.to_owned();
        let files = [&replay.job, &replay.qos_profile_overrides_path];
        for path in files.into_iter().flatten() {
            text += &std::fs::read_to_string(path).map_err(|error| {
                unusable(format!("failed to read `{}`: {error}", path.display()))
            })?;
        }
        let file = self.file(replay)?;
        let mut job = file.job(self.registry).map_err(unusable)?;
        if let (None, Mode::Deterministic(simulation)) = (&replay.job, mode(replay)?) {
            job = job.with_simulation(*simulation);
        }
        Ok(hash_of_text(&format!("{} {text}", job.configuration_hash())))
    }

    /// The job file, with the arguments of the command line.
    fn file(&self, replay: &Replay) -> Result<JobFile, Ended> {
        let file = match &replay.job {
            Some(path) => JobFile::load(path).map_err(unusable)?,
            None => JobFile::of_all_nodes(self.registry),
        };
        Ok(file.with_arguments(self.ros_arguments.clone()))
    }

    fn replay_one(&mut self, mut replay: Replay) -> Result<u8, Ended> {
        let bags = replay.bags.iter().map(|path| self.open(Path::new(path)));
        let bags = bags.collect::<Result<Vec<_>, _>>()?;
        let topics: Vec<_> = bags.iter().flat_map(|bag| bag.topics().to_vec()).collect();
        replay.selection.choose(&topics)?;
        let replay = &replay;
        let progress = Progress::new(&bags, replay);
        let player = player(replay, bags)?;
        let file = self.file(replay)?;
        match mode(replay)? {
            Mode::Deterministic(simulation) => {
                let simulation = replay.job.is_none().then_some(*simulation);
                self.replay_deterministic(replay, (&player, &file, simulation), &progress)
            }
            live => self.replay_live(replay, live, (&player, &file, &topics), &progress),
        }
    }

    fn replay_deterministic(
        &mut self,
        replay: &Replay,
        (player, file, simulation): (&Player, &JobFile, Option<ringspin_modes::Simulation>),
        progress: &Progress,
    ) -> Result<u8, Ended> {
        let recordings = Recordings::new(replay, false).map_err(unusable)?;
        let (types, last) = (self.types, Mutex::new(None));
        let job = file.job_with(self.registry, |graph: &Graph| {
            let player = player.add_to(graph, types)?;
            let recorder = recorder(replay, &recordings, (graph, types), &player)?;
            Ok(Handles { player, recorder })
        });
        let mut job = job.map_err(unusable)?;
        if let Some(simulation) = simulation {
            job = job.with_simulation(simulation);
        }
        let job = times(job, replay, player, types)?;
        let job = job
            .end_when(|handles, now| {
                progress.show(&handles.player);
                let end = handles.player.position() + replay.settle.unwrap_or_default();
                handles.player.is_finished() && now >= end
            })
            .check(|session| {
                let replayed = finish(session, &recordings)?;
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(replayed);
                Ok(())
            })
            .after_each_run(|| progress.next_run());
        let name = name(replay);
        let (report, error) = match replay.verify {
            false => {
                let Ran { report, error } = job.run_with_report(false);
                (report, error)
            }
            true => match self.verify_replay(replay, &job, &recordings) {
                Ok(report) => (Some(report), None),
                Err(error) => (None, Some(error)),
            },
        };
        progress.finish();
        let Some(report) = report else {
            let error = error.unwrap_or_else(|| "it did not start".into());
            return Err(match replay.verify && progress.has_begun() {
                true => Ended::Failed(error.to_string()),
                false => in_file(Path::new(&name), &error),
            });
        };
        let replayed = last.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.say_what_ran(Path::new(&name), &report)?;
        if let Some(replayed) = replayed {
            self.say_what_was_replayed(replay, &replayed)?;
        }
        match error {
            Some(error) => Err(Ended::Failed(error.to_string())),
            None => {
                if replay.verify {
                    let runs = replay.runs;
                    writeln!(self.out, "  {runs} runs had the same dispatches and recordings")?;
                }
                Ok(report.exit_code().unwrap_or(0))
            }
        }
    }

    /// Runs the job several times, also in fresh processes. Each run compares its recording with
    /// that of the first.
    fn verify_replay(
        &self,
        replay: &Replay,
        job: &Job<'_, Handles>,
        recordings: &Recordings,
    ) -> Result<Report, BoxError> {
        let runs = replay.runs as usize;
        if !self.alone {
            return Ok(job.verify(runs)?);
        }
        let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
        // ROS arguments come last.
        let ros = arguments.iter().position(|argument| argument == "--ros-args");
        let at = ros.unwrap_or(arguments.len());
        let first = recordings.first().into();
        arguments.splice(at..at, [OsString::from("--recording-of-first"), first]);
        let again = FreshProcess::new(std::env::current_exe()?, arguments);
        Ok(job.verify_in_processes(runs, &again)?)
    }

    fn say_what_was_replayed(&mut self, replay: &Replay, replayed: &Replayed) -> io::Result<()> {
        let out = &mut self.out;
        let PlayReport { messages, requests, requests_refused, lag_max, lag_mean, dropped, .. } =
            &replayed.player;
        let requests_unanswered = replayed.player.requests_unanswered;
        writeln!(out, "  {messages} messages played")?;
        if requests + requests_refused > 0 {
            write!(out, "  {requests} requests sent ({requests_unanswered} without a response), ")?;
            writeln!(out, "{requests_refused} without a server")?;
        }
        if !lag_max.is_zero() {
            writeln!(out, "  up to {lag_max:?} late, {lag_mean:?} on average")?;
        }
        for (node, topic, count) in dropped {
            writeln!(out, "  {node} did not get {count} messages of {topic}")?;
        }
        for Migration { topic, type_name, defaulted, left_out } in &replayed.player.migrations {
            write!(out, "  {topic} was recorded with another definition of {type_name}")?;
            for (fields, text) in [(defaulted, "filled with defaults"), (left_out, "left out")] {
                if !fields.is_empty() {
                    write!(out, "; {text}: {}", fields.join(", "))?;
                }
            }
            writeln!(out)?;
        }
        let Some((recorded, path)) = replayed.recorder.as_ref().zip(replay.record.as_ref()) else {
            return Ok(());
        };
        let (messages, path) = (recorded.messages(), path.display());
        writeln!(out, "  {messages} messages recorded in {path}")?;
        for topic in recorded.topics.iter().filter(|topic| topic.overflow + topic.missed > 0) {
            let lost = topic.overflow + topic.missed;
            writeln!(out, "  {lost} messages of {} were not recorded", topic.name)?;
        }
        for topic in &recorded.unrecorded {
            writeln!(out, "  {topic} was not recorded: its messages are no known ROS messages")?;
        }
        for topic in &recorded.hidden {
            writeln!(out, "  {topic} was not recorded: it is hidden; `--include-hidden-topics`")?;
        }
        Ok(())
    }
}

/// Completes the recording of a run, and compares it with that of the first one.
fn finish(session: &mut Session<Handles>, recordings: &Recordings) -> Result<Replayed, BoxError> {
    let statistics = session.executor().statistics();
    let player = session.handles.player.report(&statistics);
    let recorder = match session.handles.recorder.take() {
        Some((recorder, recording)) => {
            let report = recorder.finish()?;
            recordings.compare(recording)?;
            Some(report)
        }
        None => None,
    };
    Ok(Replayed { player, recorder })
}

/// The player of the command line.
fn player(replay: &Replay, bags: Vec<Bag>) -> Result<Player, Ended> {
    let mut player = replay
        .selection
        .player(bags)?
        .order(replay.order)
        .time_base(replay.time_base)
        .rate(replay.rate)
        .delay(replay.delay);
    if let Some(hertz) = replay.clock {
        player = player.clock(Duration::from_secs_f64(1.0 / hertz));
    }
    if let Some(path) = &replay.qos_profile_overrides_path {
        for (topic, qos) in ringspin_bag::qos_overrides(path).map_err(unusable)? {
            player = player.qos(topic, qos);
        }
    }
    if replay.allow_evolution {
        player = player.allow_evolution();
    }
    if replay.repeat {
        player = player.repeat();
    }
    match replay.service_requests {
        true => Ok(player.service_requests()),
        false => Ok(player),
    }
}

/// Adds the recorder of one run to the graph, if there is to be one.
fn recorder(
    replay: &Replay,
    recordings: &Recordings,
    (graph, types): (&Graph, &MessageTypes),
    player: &PlayerHandle,
) -> Result<Option<(RecorderHandle, Recording)>, BoxError> {
    let Some(recording) = recordings.next() else { return Ok(None) };
    let writer = recording.create(replay)?;
    let mut recorder = Recorder::new(writer).raw_topics(player.raw_topics());
    if !replay.record_topics.is_empty() {
        recorder = recorder.topics(&replay.record_topics);
    }
    if replay.include_hidden_topics {
        recorder = recorder.include_hidden();
    }
    Ok(Some((recorder.add_to(graph, types)?, recording)))
}

/// The mode of the environment; the deterministic one if it has none.
fn mode(replay: &Replay) -> Result<Mode, Ended> {
    let is_set = |name| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let mode = match is_set("RINGSPIN_MODE") {
        true => Mode::from_env_with(load_simulation).map_err(unusable)?,
        false => match std::env::var("RINGSPIN_SIMULATION") {
            Ok(path) if !path.is_empty() => {
                let simulation = load_simulation(Path::new(&path)).map_err(unusable)?;
                Mode::Deterministic(Box::new(simulation))
            }
            _ => Mode::Deterministic(Box::default()),
        },
    };
    match &mode {
        Mode::Deterministic(_) if replay.rate != 1.0 => Err(unusable(
            "`--rate` is for the live modes: the deterministic mode replays as fast as callbacks \
             allow; leave it out, or set RINGSPIN_MODE=single",
        )),
        Mode::Deterministic(_) if replay.repeat || replay.start_paused => Err(unusable(
            "`--loop` and `--start-paused` are for the live modes: the deterministic mode waits \
             for no time; leave them out, or set RINGSPIN_MODE=single",
        )),
        Mode::Deterministic(_) => Ok(mode),
        _ if replay.verify => Err(unusable(
            "`--verify` compares deterministic runs; set RINGSPIN_MODE=deterministic, or leave it \
             out",
        )),
        _ => Ok(mode),
    }
}

/// Has the job start with the first message, and end as its file says.
fn times<'a>(
    job: Job<'a, Handles>,
    replay: &Replay,
    player: &Player,
    types: &MessageTypes,
) -> Result<Job<'a, Handles>, Ended> {
    let start = player.start_time(types).map_err(damaged_or_unusable)?;
    Ok(job.simulate(|simulation| {
        let length = simulation.end.map(|end| end - simulation.start);
        simulation.start = start.unwrap_or(simulation.start);
        simulation.end = length.map(|length| simulation.start + length);
        simulation.seed = replay.seed.unwrap_or(simulation.seed);
    }))
}

/// The name of a replay in messages.
fn name(replay: &Replay) -> String {
    match &replay.job {
        Some(job) => job.display().to_string(),
        None => replay.bags.join(", "),
    }
}

/// A bar that shows played messages, on stderr if that is a terminal.
struct Progress {
    bar: ProgressBar,
    /// The number of messages of one run.
    messages: u64,
    /// The number of messages of the runs before this one.
    before: Counter,
    begun: Flag,
}

impl Progress {
    fn new(bags: &[Bag], replay: &Replay) -> Self {
        let counts = bags.iter().flat_map(|bag| bag.topics().iter().zip(bag.message_counts()));
        let messages =
            counts.filter(|(topic, _)| replay.selection.has(&topic.name)).map(|(_, n)| n).sum();
        let runs = if replay.verify { u64::from(replay.runs) } else { 1 };
        let style = "{wide_bar} {human_pos}/{human_len} messages, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(style).expect("the template is well formed");
        let bar = ProgressBar::new(messages * runs).with_style(style);
        Self { bar, messages, before: Counter::default(), begun: Flag::default() }
    }

    /// Whether a run has begun: its graph was usable.
    fn has_begun(&self) -> bool {
        self.begun.is_raised()
    }

    fn show(&self, player: &PlayerHandle) {
        self.begun.raise();
        self.bar.set_position(self.before.get() + player.messages());
    }

    fn next_run(&self) {
        self.before.add(self.messages);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
