//! The turns of a process: where each one begins and ends in the record.
//!
//! A process gets several turns at once if no other process has one between them. The coordinator
//! notes the arrivals of each one when the one before it has ended, and a process that is killed
//! has kept the turns that it did not send: so the record is that of turns one by one.

use super::Coordinator;
use crate::outcome::RunEnd;
use crate::process::{Gone, process_of};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::{ProcessFault, ScheduleEntry};
use ringspin_process_protocol::{Down, Gid, Up};
use std::collections::VecDeque;

/// A frame that arrives, as the record has it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrival {
    /// A message of this number, from a process to an endpoint.
    Message(i64, u32, Gid),
    Look,
    End,
    Child,
    Signal(i32),
    Change,
}

/// The time at the end of a turn, if the frame is one.
fn end_of_turn(frame: &Up) -> Option<u64> {
    match frame {
        Up::Rest { now, .. } | Up::End { now } => Some(*now),
        _ => None,
    }
}

/// The arrival of a frame in a process.
fn arrival(process: u32, frame: &Down) -> Arrival {
    match frame {
        Down::Deliver { to, sample } => {
            Arrival::Message(sample.number, sample.from.process, Gid { process, number: to[0] })
        }
        Down::Look => Arrival::Look,
        Down::Computed(_) => Arrival::End,
        Down::Child(_) | Down::Ended(_) => Arrival::Child,
        Down::Signal(signal) => Arrival::Signal(*signal),
        _ => Arrival::Change,
    }
}

impl Coordinator<'_, '_> {
    /// Gives a process turns in which these frames arrive. Only in the last one may it let time
    /// pass alone, and until when depends on all that it says before.
    pub(super) fn turns(
        &mut self,
        number: u32,
        mut turns: Vec<Vec<Down>>,
    ) -> Result<Option<RunEnd>> {
        let last = turns.split_off(turns.len().saturating_sub(1));
        if !turns.is_empty()
            && let end @ Some(_) = self.turns_until(number, turns, 0)?
        {
            return Ok(end);
        }
        self.turns_until(number, last, self.until(number))
    }

    fn turns_until(
        &mut self,
        number: u32,
        turns: Vec<Vec<Down>>,
        until: u64,
    ) -> Result<Option<RunEnd>> {
        let Some(process) = self.processes.get(&number).filter(|process| process.is_alive()) else {
            return Ok(None);
        };
        let turn = process.turn + 1;
        if let Some(restart_ns) = self.graph.faults.kill(number, turn) {
            let (end, words) = self.kill_now(number, restart_ns);
            let fault = ProcessFault::Kill { process: number, turn, restart_ns };
            self.graph.faults.applied.push((ScheduleEntry::Fault(fault), words));
            return Ok(end);
        }
        let go = Down::Go { now: self.now, until: Some(until) };
        let (count, mut frames) = (turns.len(), Vec::new());
        self.arriving.clear();
        for turn in turns {
            self.arriving.push_back(turn.iter().map(|frame| arrival(number, frame)).collect());
            frames.extend(turn.into_iter().chain([go.clone()]));
        }
        self.note_arrivals(number);
        if !self.process(number).join_order(until) {
            self.process(number).tell(count, frames);
        }
        self.give_ahead(number);
        loop {
            let end = self.hear(number)?;
            self.note_speed(number);
            if end.is_some() || self.arriving.is_empty() {
                return Ok(end);
            }
            self.note_arrivals(number);
            if self.process(number).waits {
                self.process(number).tell(0, [Down::Continue]);
            }
        }
    }

    /// Notes the arrivals in the turn of a process that begins.
    fn note_arrivals(&mut self, number: u32) {
        let name = &self.processes[&number].name;
        for arrival in self.arriving.pop_front().unwrap_or_default() {
            let words = match arrival {
                Arrival::Message(count, from, to) => {
                    let topic = self.graph.get(to).map_or("?", |entity| &entity.name);
                    let from = self.system.name_of(from);
                    let event = format_args!("receives {topic} {count} of {from}");
                    self.record.note(self.now, name, event);
                    continue;
                }
                Arrival::Signal(signal) => {
                    self.record.note(self.now, name, format_args!("gets signal {signal}"));
                    continue;
                }
                Arrival::Look => "looks at its sockets",
                Arrival::Child => "hears of a child",
                Arrival::End => "has computed",
                Arrival::Change => "sees a change of the graph",
            };
            self.record.note(self.now, name, format_args!("{words}"));
        }
    }

    /// Hears a process until the end of its turn.
    pub(super) fn hear(&mut self, number: u32) -> Result<Option<RunEnd>> {
        self.report.turns += 1;
        let process = self.processes.get_mut(&number).expect("it was started");
        let heard = process.hear(self.shared, &mut self.lines);
        let name = process.name.clone();
        let mut frames = match heard {
            Ok(frames) => frames,
            Err(Gone::Stopped) => {
                return Err(Error::new(ErrorKind::InvalidState, "stopped by a signal"));
            }
            Err(gone) => return self.gone(number, &name, gone),
        };
        if let Some(reason) = self.reason_to_refuse(number, &mut frames) {
            self.process(number).kill(reason);
            return Ok(self.killed(number, reason));
        }
        let is_over = self.handle_turns(number, &name, frames)?;
        if !is_over && self.processes[&number].heard.is_power_of_two() {
            self.note_origin(number);
        }
        // After its last words the process ends.
        let end = if is_over { self.hear(number)? } else { None };
        Ok(if self.has_end_message { Some(RunEnd::Message) } else { end })
    }

    /// A process ends within a turn. It may have kept those before.
    fn gone(&mut self, number: u32, name: &str, gone: Gone) -> Result<Option<RunEnd>> {
        let lines = std::mem::take(&mut self.lines); // they are of its last turn
        let mut kept = self.processes[&number].kept(self.shared, number);
        if !kept.is_empty() && self.reason_to_refuse(number, &mut kept).is_none() {
            self.handle_turns(number, name, kept)?;
            if self.has_end_message {
                return Ok(Some(RunEnd::Message));
            }
            self.report.turns += 1;
            self.note_arrivals(number);
        }
        self.lines = lines;
        let noted = self.processes[&number].noted_time(self.shared, number);
        self.now = self.now.max(noted.unwrap_or(0));
        self.process(number).heard += 1;
        self.print(name);
        self.arriving.clear();
        Ok(match gone {
            Gone::Killed(reason) => self.killed(number, &reason),
            Gone::Ended(status) => self.ended(number, status),
            Gone::Left => self.child_has_ended(number),
            Gone::Stopped => None,
        })
    }

    /// Handles the frames of turns that a process has had; whether it ends then.
    fn handle_turns(&mut self, number: u32, name: &str, frames: Vec<Up>) -> Result<bool> {
        let mut ends: VecDeque<u64> = frames.iter().filter_map(end_of_turn).collect();
        // A program that ends may still write, so its last lines are printed once it has ended.
        let ends_here = matches!(frames.last(), Some(Up::End { .. }));
        let (mut begins, mut is_over) = (true, true);
        for frame in frames {
            if begins {
                if self.has_end_message {
                    self.lines.clear(); // later turns have not happened
                    break;
                }
                if !is_over {
                    self.report.turns += 1;
                    self.note_arrivals(number);
                }
                // It may have continued alone: all that it says is of the instant of its end.
                self.now = ends.pop_front().map_or(self.now, |end| end.max(self.now));
                if ends.is_empty() && !ends_here {
                    self.print(name); // the lines are of the last turn
                }
            }
            (begins, is_over) = (end_of_turn(&frame).is_some(), true);
            match frame {
                Up::Rest { deadline, switches, digest, sockets, has_output, .. } => {
                    let process = self.process(number);
                    process.waits = has_output || sockets.were_used;
                    process.heard += 1;
                    let event = format_args!("rests, {switches} switches, digest {digest:016x}");
                    self.record.note(self.now, name, event);
                    self.rests(number, deadline, sockets);
                    is_over = false;
                }
                frame => self.handle(number, name, frame)?,
            }
        }
        Ok(is_over)
    }

    /// Why a process cannot have said this, if so.
    fn reason_to_refuse(&self, number: u32, frames: &mut [Up]) -> Option<&'static str> {
        if frames.iter().any(|frame| frame.process().is_some_and(|of| of != number)) {
            return Some("it sent something in the name of another process");
        }
        let mut payloads = frames.iter_mut().filter_map(Up::payload_mut);
        (!payloads.all(|payload| self.shared.accept(payload, number)))
            .then_some("it sent contents that it has not written")
    }

    /// The process `name`, or a child of it, has printed the lines. Those of its standard output
    /// come first: how often the outputs were read during the turn depends on the speed of the
    /// machine.
    pub(super) fn print(&mut self, name: &str) {
        let name = process_of(name);
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|(output, _)| *output);
        for (output, line) in lines {
            if line.starts_with(b"ringspin: ") {
                let remark = String::from_utf8_lossy(&line["ringspin: ".len()..]);
                self.report.remarks.insert(format!("{name}: {remark}"));
            }
            self.record.print(self.now, name, output == 1, &line);
        }
    }
}
