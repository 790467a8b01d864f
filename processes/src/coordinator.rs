//! Runs the processes of a system one at a time, in one order that nothing but their messages and
//! deadlines decides.
//!
//! A process has its turn until all of its threads wait. All that it sent in the turn is put into
//! the queue of events before another process has a turn, so how long it computed changes nothing.
//! Programs that start at one instant start at the same time on all cores, since none sees another
//! one before it waits; they are heard in their order. Other processes compute at the same time
//! where that changes nothing, as `ahead` says.

mod ahead;
mod children;
mod turns;
mod unused;

use crate::Options;
use crate::cores::Cores;
use crate::durations::{DurationRule, Profile};
use crate::echo::Echo;
use crate::faults::{Activity, Faults, RESTART_DELAY};
use crate::graph::{Graph, node};
use crate::hosts::Hosts;
use crate::lookahead::Lookahead;
use crate::outcome::{Report, RunEnd};
use crate::process::{Process, Shared, TURNS_MAX, process_of};
use crate::provenance::Provenance;
use crate::queue::{EventQueue, Next};
use crate::record::{Contents, Record};
use crate::recording::Recording;
use crate::system::{Fault, Restart, System};
use ringspin_executor::{Error, ErrorKind, Result, Time};
use ringspin_modes::quantity::Nanos;
use ringspin_modes::random::mix;
use ringspin_process_protocol::{
    Callback, DURATIONS, Down, Entity, Gid, Kind, NEVER, OPENED, Sample, Sockets, Up,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::process::ExitStatus;
use turns::Arrival;

/// The environment variable with the jumps of a process's clock.
const CLOCK_JUMPS: &str = "RINGSPIN_CLOCK_JUMPS";

/// The exit code of a process that was killed, as shells have it.
const KILLED: u8 = 137;

/// An event for a process.
#[derive(Debug)]
enum Event {
    /// The process at this place of the system starts.
    Start(usize),
    /// The fault at this place of the system, a kill, happens.
    Kill(usize),
    /// A frame arrives.
    Frame(Down),
}

pub(crate) struct Coordinator<'a, 'b> {
    system: &'a System,
    shared: &'a Shared,
    options: &'a Options,
    record: &'a mut Record<'b>,
    /// By number: the place in the system, and by the number of processes more at each start.
    processes: BTreeMap<u32, Process>,
    /// The children that have ended, until the next step.
    ended_children: Vec<u32>,
    /// How often each place has started, with its children.
    starts: BTreeMap<usize, u32>,
    graph: Graph<'a>,
    queue: EventQueue<Event>,
    now: u64,
    report: Report,
    cores: Option<Cores>,
    hosts: Hosts,
    profile: Profile,
    echo: Echo,
    recording: Option<Recording>,
    provenance: Option<Provenance>,
    /// The places of the durations that are for an endpoint.
    used_durations: BTreeSet<usize>,
    /// The places of the kills that were for a process.
    used_kills: BTreeSet<usize>,
    lines: Vec<(usize, Vec<u8>)>,
    /// The instant, and the turns before it.
    instant: (u64, u64),
    /// The arrivals in the turns of a process that have not begun.
    arriving: VecDeque<Vec<Arrival>>,
    /// Whether the topic that ends the run has had a message.
    has_end_message: bool,
    lookahead: Lookahead,
    /// Whether processes may get turns ahead. A kill would come before a turn that is ahead.
    runs_ahead: bool,
}

impl<'a, 'b> Coordinator<'a, 'b> {
    pub(crate) fn new(
        system: &'a System,
        shared: &'a Shared,
        options: &'a Options,
        record: &'a mut Record<'b>,
    ) -> Result<Self> {
        let recording = options.recording.as_deref().map(Recording::create).transpose()?;
        let (end, failures) = (RunEnd::Processes, Vec::new());
        let graph = Graph::new(system, Faults::new(system, &options.schedule()));
        let queue = EventQueue::new(&options.ties);
        Ok(Self {
            lookahead: Lookahead::new(system, graph.rules()),
            runs_ahead: options.cores > 1 && queue.is_in_order() && !graph.faults.has_kills(),
            system,
            recording,
            shared,
            options,
            record,
            processes: BTreeMap::new(),
            ended_children: Vec::new(),
            starts: BTreeMap::new(),
            graph,
            queue,
            now: 0,
            report: Report { end, failures, ..Report::default() },
            cores: Cores::of_this_thread(),
            hosts: Hosts::new(&system.hosts),
            profile: Profile::default(),
            echo: Echo::new(&options.echo),
            used_durations: BTreeSet::new(),
            used_kills: BTreeSet::new(),
            provenance: options.certifies.then(Provenance::default),
            lines: Vec::new(),
            instant: (0, 0),
            arriving: VecDeque::new(),
            has_end_message: false,
        })
    }

    /// Runs the system to its end.
    ///
    /// # Errors
    /// A program that cannot be started, a file that cannot be written, a stop.
    pub(crate) fn run(mut self) -> Result<Report> {
        for (place, spec) in self.system.processes.iter().enumerate() {
            let delay = self.graph.faults.delay_of(place as u32, &spec.name);
            let start = spec.start.map_or(0, |start| start.0).saturating_add(delay);
            self.queue.push(start, u32::MAX, place as u32, Event::Start(place));
        }
        for (fault, n) in self.system.fault.iter().zip(0..) {
            if let Fault::Kill { process, at, .. } = fault {
                let place = self.system.place(process).expect("it was checked");
                self.queue.push(at.0, u32::MAX, place as u32, Event::Kill(n));
            }
        }
        let end = self.steps();
        self.finish_outputs();
        // Also after a stop: all that happened before it is recorded.
        self.recording.take().map_or(Ok(()), Recording::finish)?;
        if let Some(path) = &self.options.profile {
            std::mem::take(&mut self.profile).write(path)?;
        }
        self.report.deviations = std::mem::take(&mut self.queue.deviations);
        self.report.deviations.append(&mut self.graph.faults.applied);
        self.note_thread_choices()?;
        let unused = self.graph.unused_links().into_iter().chain(self.unused_durations());
        let unused = unused.chain(self.unused_faults()).chain(self.echo.unused());
        self.report.unused_rules = unused.collect();
        self.report.end = end?;
        self.note_missing_end();
        self.report.time = Time::from_nanos(self.now);
        self.report.choices = self.queue.choices;
        let all: Vec<_> = self.processes.keys().copied().collect();
        all.into_iter().for_each(|number| self.note_origin(number));
        self.report.origins = self.provenance.take().unwrap_or_default().finish();
        let processes = self.processes.iter().filter(|(_, of)| of.parent.is_none());
        let turns = processes.map(|(number, process)| (*number, process.heard));
        self.report.activity = Activity { turns: turns.collect(), messages: self.graph.sent };
        Ok(self.report)
    }

    /// The run has failed if it is over before the end that the system names.
    fn note_missing_end(&mut self) {
        let is_over = match self.report.end {
            RunEnd::Time => !self.system.is_cut,
            RunEnd::Quiet | RunEnd::Processes => true,
            RunEnd::Process(_) | RunEnd::Message | RunEnd::Failure => false,
        };
        let (Some(name), true) = (&self.system.end, is_over) else { return };
        let problem = match name.starts_with('/') {
            true => "has had no message",
            false => "has not ended",
        };
        let time = Time::from_nanos(self.now);
        self.report.failures.push(format!("{name} {problem} at {time}: the run is over"));
    }

    /// Adds the choices among threads that were not the usual ones.
    fn note_thread_choices(&mut self) -> Result<()> {
        for process in self.processes.values() {
            let Some(order) = process.order() else { continue };
            let (count, taken) = order.choices(&process.name).map_err(|error| {
                let text = format!("failed to read the order of {}: {error}", process.name);
                Error::new(ErrorKind::Io, text)
            })?;
            self.report.thread_choices = self.report.thread_choices.max(count);
            self.report.deviations.extend(taken);
        }
        Ok(())
    }

    /// The processes that have not ended print their last lines, which may have no end.
    fn finish_outputs(&mut self) {
        for process in self.processes.values_mut().filter(|process| process.is_alive()) {
            process.finish_outputs(&mut self.lines);
            for (output, line) in std::mem::take(&mut self.lines) {
                self.record.print(self.now, &process.name, output == 1, &line);
            }
        }
    }

    /// Takes steps until the end.
    fn steps(&mut self) -> Result<RunEnd> {
        let duration = self.system.end_after.map_or(NEVER, |duration| duration.0);
        while let Some(next) = self.next() {
            self.forget_children();
            let (Next::Event(time, ..) | Next::Deadline(time, _)) = next;
            if time >= duration {
                self.now = duration;
                return Ok(RunEnd::Time);
            }
            self.now = self.now.max(time);
            if self.is_in_cycle(&next) {
                return Ok(RunEnd::Failure);
            }
            if self.record.pauses(self.now) {
                self.pause(&next);
            }
            let end = match next {
                Next::Event(_, _, Event::Start(place)) => self.start(place)?,
                Next::Event(_, _, Event::Kill(n)) => self.kill(n),
                Next::Event(_, number, Event::Frame(frame)) => {
                    let turns = self.with_next_turns(time, number, frame);
                    self.turns(number, turns)?
                }
                Next::Deadline(_, number) => self.turns(number, vec![Vec::new()])?,
            };
            if let Some(end) = end {
                return Ok(end);
            }
            if self.options.ends_on_failure && !self.report.failures.is_empty() {
                return Ok(RunEnd::Failure);
            }
        }
        Ok(self.quiet())
    }

    /// Whether time does not advance any more, which is a failure.
    fn is_in_cycle(&mut self, next: &Next<Event>) -> bool {
        if self.now > self.instant.0 {
            self.instant = (self.now, self.report.turns);
        }
        let is_in_cycle = self.report.turns - self.instant.1 > self.options.instant_turns_max;
        if is_in_cycle {
            let (Next::Event(_, to, _) | Next::Deadline(_, to)) = *next;
            self.report.failures.push(format!(
                "time does not advance: over {} turns at {}, the next one of {}; have a process \
                 wait for a time, give a link a delay, or allow more with --instant-turns-max",
                self.options.instant_turns_max,
                Time::from_nanos(self.now),
                self.system.name_of(to)
            ));
        }
        is_in_cycle
    }

    /// The observer looks at the run before this event.
    fn pause(&mut self, next: &Next<Event>) {
        let (to, event) = match next {
            Next::Event(_, to, event) => (*to, Some(event)),
            Next::Deadline(_, to) => (*to, None),
        };
        let process = self.processes.get(&to).filter(|process| process.is_alive());
        let words = words(self.system, &self.graph, to, event);
        self.record.pause(self.now, &words, process.map(Process::number));
    }

    /// The turn of a process in which this frame arrives, with its next ones if no other process
    /// has a turn before. They are those that it would have one by one.
    fn with_next_turns(&mut self, time: u64, number: u32, frame: Down) -> Vec<Vec<Down>> {
        let mut turns = vec![self.with_changes(time, number, frame)];
        let has_order = self.queue.is_in_order()
            && self
                .processes
                .get(&number)
                .is_some_and(|of| !of.is_ahead() && of.may_have_many(self.shared))
            && !self.graph.faults.has_kill(number)
            && !self.record.pauses(time);
        let is_next = |to, event: &Event| to == number && matches!(event, Event::Frame(_));
        while has_order
            && turns.len() < TURNS_MAX
            && let Some(Event::Frame(next)) = self.queue.pop_if(time, is_next)
        {
            turns.push(self.with_changes(time, number, next));
        }
        turns
    }

    /// A frame for a process; a change of the graph with the next ones, as they are one turn.
    fn with_changes(&mut self, time: u64, number: u32, frame: Down) -> Vec<Down> {
        let is_change = |frame: &Down| matches!(frame, Down::Add(_) | Down::Remove(_));
        let mut frames = vec![frame];
        while is_change(&frames[0])
            && let Some(Event::Frame(next)) = self.queue.pop_if(time, |to, event| {
                to == number && matches!(event, Event::Frame(frame) if is_change(frame))
            })
        {
            frames.push(next);
        }
        frames
    }

    /// Takes the next step.
    fn next(&mut self) -> Option<Next<Event>> {
        let alive = self.processes.iter();
        let deadlines = alive.filter_map(|(n, process)| Some((process.deadline?, *n)));
        let words = |to, event: Option<&Event>| words(self.system, &self.graph, to, event);
        self.queue.pop(deadlines, words)
    }

    fn quiet(&self) -> RunEnd {
        match self.processes.values().any(Process::is_alive) {
            true => RunEnd::Quiet,
            false => RunEnd::Processes,
        }
    }

    /// Starts the process at this place, and all others that start at this instant.
    fn start(&mut self, first: usize) -> Result<Option<RunEnd>> {
        let mut places = vec![first];
        let is_start = |_, event: &Event| matches!(event, Event::Start(_));
        while let Some(Event::Start(place)) = self.queue.pop_if(self.now, is_start) {
            places.push(place);
        }
        let mut numbers = Vec::new();
        self.cores.iter().for_each(Cores::leave);
        for place in places {
            let (number, spec) = (self.next_number(place), &self.system.processes[place]);
            let seed = mix(self.system.seed ^ mix(u64::from(number) + 1));
            let jumps = self.graph.faults.jumps_of(place, self.shared.date);
            let computing = self.system.computing_of(spec, self.options.profile.is_some());
            let seeded = (seed, self.options.threads());
            let opened = self.provenance.as_ref().map(|_| "1".to_owned());
            let variables =
                [(DURATIONS, computing), (CLOCK_JUMPS, jumps.clone()), (OPENED, opened)];
            let process =
                Process::start((place, spec, variables), number, self.now, seeded, self.shared)?;
            self.record.note(self.now, &spec.name, format_args!("starts as process {number}"));
            if let Some(jumps) = jumps {
                self.record.note(
                    self.now,
                    &spec.name,
                    format_args!("has a clock that jumps: {jumps}"),
                );
            }
            self.processes.insert(number, process);
            numbers.push(number);
        }
        for number in numbers {
            self.send_graph(number);
            if let Some(end) = self.hear(number)? {
                return Ok(Some(end));
            }
            let process = self.processes[&number].number();
            self.cores.iter().for_each(|cores| cores.take(process));
        }
        self.cores.iter().for_each(Cores::stay);
        Ok(None)
    }

    /// The number of the next start of a process, or of a child.
    fn next_number(&mut self, place: usize) -> u32 {
        let count = self.starts.entry(place).or_default();
        let number = place as u32 + *count * self.system.processes.len() as u32;
        *count += 1;
        number
    }

    /// A process hears of all nodes and endpoints.
    fn send_graph(&mut self, number: u32) {
        let known: Vec<_> = self.graph.entities().cloned().collect();
        for entity in known {
            self.send(self.now, entity.gid.process, number, Down::Add(entity));
        }
    }

    /// Notes the libraries of a process that runs.
    fn note_origin(&mut self, number: u32) {
        let process = &self.processes[&number];
        if let Some(provenance) = self.provenance.as_mut().filter(|_| process.is_alive()) {
            provenance.add(&self.system.processes[process.place], process.number());
        }
    }

    fn send(&mut self, time: u64, from: u32, to: u32, frame: Down) {
        if self.processes.get(&to).is_some_and(Process::is_alive) {
            self.queue.push(time, from, to, Event::Frame(frame));
        }
    }

    fn tell_others(&mut self, from: u32, frame: &Down) {
        let others = self.processes.iter().filter(|(to, of)| **to != from && of.knows_graph);
        for to in others.map(|(to, _)| *to).collect::<Vec<_>>() {
            let time = self.now.saturating_add(self.lookahead.delay(from, to));
            self.send(time, from, to, frame.clone());
        }
    }

    /// Until when nothing happens outside of a process.
    fn until(&self, number: u32) -> u64 {
        let others = self.processes.iter().filter(|(other, _)| **other != number);
        let deadlines = others.filter_map(|(_, process)| process.deadline);
        let duration = self.system.end_after.map(|duration| duration.0);
        deadlines.chain(self.queue.next_time()).chain(duration).min().unwrap_or(NEVER)
    }

    /// A process rests. If it has used a socket, others that have some may be able to continue.
    fn rests(&mut self, number: u32, deadline: Option<u64>, sockets: Sockets) {
        let process = self.process(number);
        let is_first = sockets.has_any && !process.has_sockets;
        (process.deadline, process.has_sockets) = (deadline, sockets.has_any);
        if is_first {
            self.send(self.now, number, number, Down::Look);
        }
        if sockets.were_used {
            self.tell_users_of_sockets(number);
        }
    }

    fn tell_users_of_sockets(&mut self, from: u32) {
        let users = self.processes.iter().filter(|(to, of)| **to != from && of.has_sockets);
        for to in users.map(|(to, _)| *to).collect::<Vec<_>>() {
            self.send(self.now, from, to, Down::Look);
        }
    }

    /// A process has this callback.
    fn note_durations(&mut self, process: &str, callback: Callback<'_>) {
        let is_for = |rule: &DurationRule| {
            rule.process == process && rule.in_process().is_for(callback) == Some(true)
        };
        let rules = self.system.duration.iter().zip(0..);
        self.used_durations.extend(rules.filter(|(rule, _)| is_for(rule)).map(|(_, n)| n));
    }

    fn handle(&mut self, number: u32, name: &str, frame: Up) -> Result<()> {
        match frame {
            Up::Add(entity) => {
                let (kind, of) = (entity.kind, node(&entity));
                let event = format_args!("adds a {kind:?} {} of {of}", entity.name);
                self.record.note(self.now, name, event);
                let process = process_of(name);
                self.note_durations(process, Callback::Endpoint(kind, &entity.name));
                self.graph.add(entity.clone());
                self.tell_others(number, &Down::Add(entity.clone()));
                if entity.kind == Kind::Subscription {
                    self.send_past(&entity);
                }
            }
            Up::Remove(gid) => self.remove(number, name, gid),
            Up::Assert(gid) => {
                self.record.note(self.now, name, format_args!("says that a publisher lives"));
                self.tell_others(number, &Down::Assert(gid));
            }
            Up::Publish(sample) => self.publish(name, sample)?,
            Up::Request { name: service, to, sample } => {
                let bytes = self.shared.bytes(&sample.payload)?;
                let contents = Contents(&bytes);
                let event = format_args!("calls {service} {}, {contents}", sample.number);
                self.record.note(self.now, name, event);
                let arrivals = match to {
                    Some(_) => Vec::new(), // it is in the same process
                    None => self.graph.request(&service, &sample, self.now),
                };
                self.deliver(sample, arrivals);
            }
            Up::Response { to, sample } => {
                let bytes = self.shared.bytes(&sample.payload)?;
                let contents = Contents(&bytes);
                let event = format_args!("responds to {to:?} {}, {contents}", sample.number);
                self.record.note(self.now, name, event);
                let arrivals = match to.process == number {
                    true => Vec::new(),
                    false => self.graph.arrivals(&sample, &[to], self.now),
                };
                self.deliver(sample, arrivals);
            }
            Up::Compute { number: callback, nanos } => {
                let place = self.processes[&number].place;
                let host = self.system.processes[place].host.as_deref();
                let end = self.hosts.end_of(host, self.now, nanos);
                self.record.note(self.now, name, format_args!("computes until {end}"));
                self.send(end, number, number, Down::Computed(callback));
            }
            Up::Opened(path) => {
                let spec = &self.system.processes[self.processes[&number].place];
                self.provenance.iter_mut().for_each(|all| all.add_opened(spec, &path));
            }
            Up::Computed { callback, nanos } => self.profile.add(name, callback, nanos),
            Up::Fork => self.fork(number),
            Up::Created { process, exists: true } => self.created(number, process)?,
            Up::Begin => self.begin(number, name),
            Up::Signal { to, signal, is_for_group: false } => self.signal(number, name, to, signal),
            Up::Signal { to, signal, is_for_group: true } => {
                self.signal_group(number, name, to, signal);
            }
            Up::Created { .. } | Up::Rest { .. } | Up::End { .. } => {}
        }
        Ok(())
    }

    fn publish(&mut self, name: &str, sample: Sample) -> Result<()> {
        let bytes = self.shared.bytes(&sample.payload)?;
        let publisher = self.graph.get(sample.from);
        if let (Some(recording), Some(publisher)) = (&mut self.recording, publisher) {
            let added = recording.add(publisher, &sample, &bytes);
            if added.is_err() {
                self.recording = None; // its end would fail as well, without the reason
            }
            added?;
        }
        if let Some(line) = publisher.and_then(|of| self.echo.line(of, &bytes)) {
            self.record.show(self.now, name, &line);
        }
        let topic = publisher.map_or("?", |entity| &entity.name);
        self.has_end_message |= self.system.end.as_deref() == Some(topic);
        let contents = Contents(&bytes);
        let event = format_args!("publishes {topic} {}, {contents}", sample.number);
        self.record.note(self.now, name, event);
        let arrivals = self.graph.publish(&sample, self.now);
        self.deliver(sample, arrivals);
        Ok(())
    }

    /// Puts the arrivals of a message into the queue: those of one process at one time are one.
    fn deliver(&mut self, sample: Sample, arrivals: Vec<(Gid, u64)>) {
        self.report.messages += 1;
        let mut arrivals = arrivals.into_iter().peekable();
        while let Some((to, time)) = arrivals.next() {
            let mut all = vec![to.number];
            while let Some((next, _)) =
                arrivals.next_if(|(next, at)| next.process == to.process && *at == time)
            {
                all.push(next.number);
            }
            let (from, sample) = (sample.from.process, sample.clone());
            self.send(time, from, to.process, Down::Deliver { to: all, sample });
        }
    }

    /// A late subscription gets the last messages of publishers with transient local durability.
    fn send_past(&mut self, subscription: &Entity) {
        for sample in self.graph.past_of(subscription) {
            let (from, to) = (sample.from.process, subscription.gid);
            let frame = Down::Deliver { to: vec![to.number], sample };
            self.send(self.now, from, to.process, frame);
        }
    }

    fn remove(&mut self, number: u32, name: &str, gid: Gid) {
        self.record.note(self.now, name, format_args!("removes {gid:?}"));
        self.graph.remove(gid);
        self.tell_others(number, &Down::Remove(gid));
    }

    /// All of an ended process disappears.
    fn leave(&mut self, number: u32) {
        if self.processes[&number].has_sockets {
            self.tell_users_of_sockets(number);
        }
        let name = self.processes[&number].name.clone();
        for gid in self.graph.of_process(number) {
            self.remove(number, &name, gid);
        }
    }

    fn process(&mut self, number: u32) -> &mut Process {
        self.processes.get_mut(&number).expect("it was started")
    }

    /// The kill at this place of the faults happens, if the process runs.
    fn kill(&mut self, n: usize) -> Option<RunEnd> {
        let Fault::Kill { process, restart, .. } = &self.system.fault[n] else { return None };
        let is_it = |of: &Process| of.name == *process && of.is_alive();
        let number = *self.processes.iter().find(|(_, of)| is_it(of))?.0;
        self.used_kills.insert(n);
        self.kill_now(number, restart.map(|restart| restart.0)).0
    }

    /// A fault kills a process, which is started again after this time or by its policy; with the
    /// words about it.
    fn kill_now(&mut self, number: u32, restart: Option<u64>) -> (Option<RunEnd>, String) {
        self.process(number).kill("");
        let (name, place) = (self.system.name_of(number), self.processes[&number].place);
        self.record.note(self.now, name, format_args!("is killed by a fault"));
        if self.processes[&number].parent.is_some() {
            let words =
                format!("process {number} of {name} killed at {}", Time::from_nanos(self.now));
            return (self.child_has_ended(number), words);
        }
        self.leave(number);
        self.end_children(place);
        let by_policy = self.system.processes[place].restart != Restart::Never;
        let restart = restart.or(by_policy.then_some(RESTART_DELAY));
        let words = format!("{name} killed at {}", Time::from_nanos(self.now));
        let Some(delay) = restart else { return (self.end_of(number, KILLED), words) };
        self.start_after(delay, place);
        (None, format!("{words}, started again {} later", Nanos(delay)))
    }

    fn start_after(&mut self, delay: u64, place: usize) {
        let time = self.now.saturating_add(delay);
        self.queue.push(time, u32::MAX, place as u32, Event::Start(place));
    }

    fn killed(&mut self, number: u32, reason: &str) -> Option<RunEnd> {
        let name = &self.processes[&number].name;
        self.record.note(self.now, name, format_args!("is killed: {reason}"));
        self.report.failures.push(format!("{name} was killed: {reason}"));
        if self.processes[&number].parent.is_some() {
            return self.child_has_ended(number);
        }
        self.leave(number);
        self.end_children(self.processes[&number].place);
        self.end_of(number, KILLED)
    }

    fn ended(&mut self, number: u32, status: ExitStatus) -> Option<RunEnd> {
        let (name, place) = (self.system.name_of(number), self.processes[&number].place);
        self.record.note(self.now, name, format_args!("ends, {status}"));
        self.leave(number);
        self.end_children(place);
        if !status.success() {
            let time = Time::from_nanos(self.now);
            self.report.failures.push(format!("{name} ended at {time}: {status}"));
        }
        let restarts = match self.system.processes[place].restart {
            Restart::Never => false,
            Restart::OnFailure => !status.success(),
            Restart::Always => true,
        };
        if restarts {
            self.start_after(RESTART_DELAY, place);
        }
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let code = status.code().unwrap_or(128 + signal.unwrap_or(0));
        self.end_of(number, code as u8)
    }

    fn end_of(&self, number: u32, code: u8) -> Option<RunEnd> {
        let name = self.system.name_of(number);
        (self.system.end.as_deref() == Some(name)).then_some(RunEnd::Process(code))
    }
}

/// An event for a process in words; `None` is its timeout.
fn words(system: &System, graph: &Graph<'_>, to: u32, event: Option<&Event>) -> String {
    let name = |process: u32| system.name_of(process);
    match event {
        None => format!("the timeout of {}", name(to)),
        Some(Event::Start(_)) => format!("the start of {}", name(to)),
        Some(Event::Kill(_)) => format!("the kill of {}", name(to)),
        Some(Event::Frame(Down::Deliver { to: numbers, sample })) => {
            let topic = graph.get(Gid { process: to, number: numbers[0] });
            let topic = topic.map_or("", |entity| &entity.name);
            let from = name(sample.from.process);
            format!("message {} of {from} on {topic} for {}", sample.number, name(to))
        }
        Some(Event::Frame(Down::Computed(_))) => {
            format!("the end of a callback of {}", name(to))
        }
        Some(Event::Frame(Down::Look)) => format!("a look of {} at its sockets", name(to)),
        Some(Event::Frame(Down::Child(_))) => format!("a child of {}", name(to)),
        Some(Event::Frame(Down::Ended(_))) => format!("the end of a child of {}", name(to)),
        Some(Event::Frame(Down::Signal(number))) => format!("signal {number} for {}", name(to)),
        Some(Event::Frame(_)) => format!("a change of the graph for {}", name(to)),
    }
}
