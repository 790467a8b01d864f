//! The children of processes, which are processes of the run.
//!
//! A child has the name of the process that the system starts, and the next number of its place. It
//! takes its turns as all others, and gets its first one once its parent, or the process that has
//! started it, has ended its own. The run does not end with a child, and starts none again; with
//! the process of the system all of its children end.

use super::{Coordinator, Event};
use crate::outcome::RunEnd;
use crate::process::Process;
use ringspin_executor::Result;
use ringspin_process_protocol::Down;

impl Coordinator<'_, '_> {
    /// A process is about to create a child.
    pub(super) fn fork(&mut self, number: u32) {
        let child = self.next_number(self.processes[&number].place);
        self.send(self.now, number, number, Down::Child(child));
    }

    /// The child `process` of `number` exists.
    pub(super) fn created(&mut self, number: u32, process: u32) -> Result<()> {
        let parent = &self.processes[&number];
        let name = parent.name.clone();
        match Process::joined(parent, (number, process), self.shared) {
            Ok(child) => {
                self.record.note(self.now, &name, format_args!("starts {}", child.name));
                let id = child.number();
                self.cores.iter().for_each(|cores| cores.take(id));
                self.processes.insert(process, child);
                self.send(self.now, number, process, Down::Look);
            }
            Err(problem) => {
                self.report.failures.push(format!("{name}: {problem}"));
                self.send(self.now, process, number, Down::Ended(process));
            }
        }
        Ok(())
    }

    /// A program wants to know all nodes and endpoints, which replaces another one.
    pub(super) fn begin(&mut self, number: u32, name: &str) {
        for gid in self.graph.of_process(number) {
            self.remove(number, name, gid);
        }
        let is_of_graph = |to: u32, event: &Event| {
            let is_it =
                |frame: &Down| matches!(frame, Down::Add(_) | Down::Remove(_) | Down::Assert(_));
            to == number && matches!(event, Event::Frame(frame) if is_it(frame))
        };
        self.queue.retain(|to, event| !is_of_graph(to, event));
        let process = self.process(number);
        (process.knows_graph, process.has_sockets) = (true, false);
        self.send_graph(number);
        self.tell_users_of_sockets(number); // the program before has closed some
    }

    /// A signal of a process for another one.
    pub(super) fn signal(&mut self, from: u32, name: &str, to: u32, signal: i32) {
        self.record.note(self.now, name, format_args!("sends signal {signal} to process {to}"));
        let is_alive = self.processes.get(&to).is_some_and(Process::is_alive);
        if signal == KILL && is_alive && self.processes[&to].parent.is_some() {
            self.process(to).kill("");
            self.child_has_ended(to);
        } else {
            self.send(self.now, from, to, Down::Signal(signal));
        }
    }

    /// A signal of a process for all of the group of another one, as the kernel has it; for all
    /// others of its own.
    pub(super) fn signal_group(&mut self, from: u32, name: &str, to: u32, signal: i32) {
        let Some(group) = self.processes.get(&to).map(Process::group) else { return };
        let alive = self.processes.iter().filter(|(_, of)| of.is_alive() && of.group() == group);
        let alive = alive.map(|(number, _)| *number).filter(|number| (from, to) != (*number, from));
        for number in alive.collect::<Vec<_>>() {
            self.signal(from, name, number, signal);
        }
    }

    /// A child has ended: its parent hears of it.
    pub(super) fn child_has_ended(&mut self, number: u32) -> Option<RunEnd> {
        let name = &self.processes[&number].name;
        self.record.note(self.now, name, format_args!("ends"));
        self.leave(number);
        if let Some(parent) = self.processes[&number].parent {
            self.send(self.now, number, parent, Down::Ended(number));
        }
        self.ended_children.push(number);
        None
    }

    /// Nothing is left of the children that have ended: a script may have very many.
    pub(super) fn forget_children(&mut self) {
        for number in std::mem::take(&mut self.ended_children) {
            self.processes.remove(&number);
            self.shared.memory.iter().for_each(|memory| memory.free(number));
        }
    }

    /// A process of the system ends, and with it its children.
    pub(super) fn end_children(&mut self, place: usize) {
        let children = self.processes.iter().filter(|(_, of)| of.place == place && of.is_alive());
        let children: Vec<_> =
            children.filter(|(_, of)| of.parent.is_some()).map(|(number, _)| *number).collect();
        for number in children {
            self.process(number).kill("");
            self.child_has_ended(number);
        }
    }
}

/// The number of the signal that ends a process at once.
const KILL: i32 = 9;
