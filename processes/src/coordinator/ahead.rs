//! Processes that compute at the same time.
//!
//! While a process computes in its turn, others get their next turn, too, if its event is certain
//! already. They are heard in their order all the same, and their turns are noted then: so
//! the run is that of one turn after the other. A process that has its turn ahead waits at the
//! end of it until it is its turn in the order, for the time up to which it may continue alone.
//!
//! A hand-over from core to core takes longer than one within a core. So only processes that
//! compute for long get turns ahead, and have a core for themselves while they get some; this is
//! measured, and changes nothing but how long the run takes.

use super::{Coordinator, Event};
use crate::process::Process;
use ringspin_process_protocol::{Down, NEVER};
use std::collections::{BTreeMap, BTreeSet};

impl Coordinator<'_, '_> {
    /// Gives turns ahead, while this process computes.
    pub(super) fn give_ahead(&mut self, first: u32) {
        // An observer that pauses at any time sees each event before it happens.
        if !self.runs_ahead || !self.processes[&first].is_slow() || self.record.pauses(NEVER) {
            return;
        }
        for (time, number, frame) in self.next_ahead(first) {
            self.report.turns_ahead += 1;
            let process = self.process(number);
            let (id, takes_core) = (process.number(), process.takes_core());
            self.cores.iter_mut().filter(|_| takes_core).for_each(|cores| cores.spread(id));
            self.process(number).tell_ahead([frame, Down::Go { now: time, until: None }]);
        }
    }

    /// The next events of processes, as many as there are cores, for which they need not wait.
    fn next_ahead(&self, first: u32) -> Vec<(u64, u32, Down)> {
        let are_ahead = self.processes.values().filter(|process| process.is_ahead()).count();
        let mut free = (self.options.cores - 1).saturating_sub(are_ahead);
        let end = self.system.end_after.map_or(NEVER, |duration| duration.0);
        let alive = self.processes.values().filter(|process| process.is_alive()).count();
        let mut others = None;
        let (mut seen, mut chosen) = (BTreeSet::from([first]), Vec::new());
        for (time, number, event) in self.queue.upcoming() {
            let is_later = time > self.now;
            let is_over = free == 0 || seen.len() >= alive || time >= end;
            if is_over || (is_later && !self.lookahead.is_any()) {
                break;
            }
            let (true, Some(process)) = (seen.insert(number), self.processes.get(&number)) else {
                continue;
            };
            let Event::Frame(frame @ (Down::Deliver { .. } | Down::Computed(_))) = event else {
                continue; // changes of the graph come together with those after them
            };
            if !may_be_ahead(process, time) {
                continue;
            }
            if is_later {
                let others = others.get_or_insert_with(|| self.next_times(first));
                let others = others.iter().map(|(number, time)| (*number, *time));
                if !self.lookahead.is_next(time, number, others) {
                    continue;
                }
            }
            chosen.push((time, number, frame.clone()));
            free -= 1;
        }
        chosen
    }

    /// Before when no process does anything by itself; the `first` one may do so now.
    fn next_times(&self, first: u32) -> BTreeMap<u32, u64> {
        let deadlines = self.processes.iter();
        let deadlines = deadlines.filter_map(|(number, of)| Some((*number, of.deadline?)));
        let events = self.queue.upcoming().map(|(time, number, _)| (number, time));
        let mut times = BTreeMap::new();
        for (number, time) in deadlines.chain(events).chain([(first, self.now)]) {
            let next = times.entry(number).or_insert(time);
            *next = time.min(*next);
        }
        times
    }

    /// The process has computed: it is on the core of the others again if it gets no turns ahead.
    pub(super) fn note_speed(&mut self, number: u32) {
        if self.process(number).notes_speed() {
            let id = self.processes[&number].number();
            self.cores.iter().for_each(|cores| cores.take(id));
        }
    }
}

/// Whether the process may get its turn of this time ahead. One with sockets may not, since others
/// see at once what it does with them.
fn may_be_ahead(process: &Process, time: u64) -> bool {
    process.is_alive()
        && !process.is_ahead()
        && process.is_slow()
        && !process.is_measured()
        && !process.has_sockets
        && process.deadline.is_none_or(|deadline| deadline >= time)
}
