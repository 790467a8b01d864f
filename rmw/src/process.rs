//! The process in a run: its begin, its turns with the coordinator, and its end.
//!
//! The loader calls [`begin`] before `main`. From then on the world calls [`coordinate`] whenever
//! all threads of the program wait: it hands the frames of the turn over, waits in real time for
//! the next turn, and puts what arrives into the bus. No thread of the program runs meanwhile, so
//! nothing here may wait for a lock of the program, and no function of a client library is called.

use crate::bus::{self, Bus};
use crate::children::{self, own_number};
use crate::noted_time::NotedTime;
use ringspin_process_protocol::{
    Down, NEVER, OPENED, Payload, Place, Sample, SharedMemory, Sockets, Up, VARIABLE, receive,
};
use ringspin_simulated_threads::coordination::{self, Coordinator, Next, Rest};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

/// The socket to the coordinator.
static SOCKET: OnceLock<UnixStream> = OnceLock::new();

/// The number of the process of the run that has started this program, if it is a child.
static PARENT: OnceLock<u32> = OnceLock::new();

/// The number of the process of the run that has started this program, which is none itself.
pub(crate) fn parent() -> Option<u32> {
    PARENT.get().copied()
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// Is called by the loader before `main`, after the world was made.
extern "C" fn begin() {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let Some(mut place) = Place::parse(&text) else {
        eprintln!(
            "ringspin: this middleware is of another build than the command that has started the \
             process; build both: cargo build --release -p ringspin-processes -p ringspin-rmw"
        );
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(2) };
    };
    let own = own_number();
    if place.owner.is_some_and(|owner| owner != own) {
        let _ = PARENT.set(place.process);
        for number in [place.socket, place.memory] {
            // SAFETY: a number. It is a copy of the parent's, unless the child has started itself
            // again and has closed it before.
            unsafe { libc::close(number) };
        }
        return;
    }
    let is_new = place.socket < 0;
    let replaces = place.owner.is_some();
    if is_new {
        place.socket = SOCKET_OF_CHILD;
        children::renumber(children::connect(&place), place.socket);
    }
    // SAFETY: the coordinator or a function of this library has opened the socket for this process,
    // which uses it nowhere else.
    let socket = unsafe { UnixStream::from_raw_fd(place.socket) };
    // A program may start itself again, with its environment: it is still the process then.
    place.owner = Some(own);
    // SAFETY: no other thread runs before `main`.
    unsafe {
        std::env::set_var(VARIABLE, place.to_string());
        std::env::set_var("RINGSPIN_THREADS", format!("simulated:{own:010}"));
    }
    if place.parent.is_none() {
        // SAFETY: asks for a signal at the death of the coordinator; takes numbers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    }
    // SAFETY: as the socket.
    let file = (place.memory >= 0).then(|| unsafe { File::from_raw_fd(place.memory) });
    let memory = file.map(|file| SharedMemory::from(file).of_process(place.process));
    bus::with(|bus| {
        (bus.process, bus.owner) = (place.process, own);
        bus.parent = place.parent;
        bus.noted = NotedTime::of(memory.as_ref());
        (bus.is_joined, bus.memory) = (true, memory);
        if replaces || is_new {
            bus.say(&Up::Begin);
        }
    });
    let _ = SOCKET.set(socket);
    children::set_place(place);
    let opened = std::env::var_os(OPENED).map(|_| opened as extern "C" fn(_, _));
    let at = coordination::Place {
        start: if is_new { wait_for_first_turn() } else { place.start },
        process: place.process,
        parent: place.parent.map_or(-1, i64::from),
        network: place.coordinator,
        descriptors: [place.socket, place.memory],
        opened,
    };
    if coordination::join(COORDINATOR, at) {
        // SAFETY: a function of this library.
        unsafe { libc::atexit(end) };
    }
}

/// The functions for the world.
const COORDINATOR: Coordinator = Coordinator {
    rest: coordinate,
    event: children::event,
    ask_for_child: children::ask,
    child: children::next,
    created: children::created,
    begin_child: begin_forked,
    signal: children::signal,
    end,
    variable: children::variable,
};

/// The number of the socket of a child that was not forked, as of other processes.
const SOCKET_OF_CHILD: i32 = 700;

/// The process was forked, and is this one of the run: it waits for its first turn.
extern "C" fn begin_forked(process: u32) -> u64 {
    children::join(process);
    wait_for_first_turn()
}

/// A child waits for its first turn; returns the time.
fn wait_for_first_turn() -> u64 {
    let frames = hear();
    bus::with(|bus| {
        bus.next_turns.extend(frames);
        let frames = bus.next_turn();
        bus.hear_turn(frames, 0, NEVER)
    })
}

/// Is called with the path of each file that the program opens, for a certificate.
extern "C" fn opened(path: *const u8, length: usize) {
    // SAFETY: the caller passes so many bytes.
    let path = OsStr::from_bytes(unsafe { std::slice::from_raw_parts(path, length) });
    bus::with(|bus| bus.say(&Up::Opened(path.into())));
}

/// How many deadlines the process passes alone before the coordinator hears of it: else it would
/// take a process that lives on for one that hangs.
const PASSED_MAX: u32 = 1000;

/// Is called when all threads of the process wait; returns how the world continues.
extern "C" fn coordinate(rest: Rest) -> Next {
    let Rest { now, deadline, switches, digest, has_sockets, used_sockets } = rest;
    let is_read = join_order();
    let socket = SOCKET.get().map_or(-1, AsRawFd::as_raw_fd);
    // Output is in the pipe, or the coordinator has told that it reads it.
    let all = [libc::STDOUT_FILENO, libc::STDERR_FILENO, socket];
    let has_output = is_read || all.into_iter().any(has_unread);
    let is_watched = has_output || used_sockets;
    let (has_turns, says_nothing, is_alone) = bus::with(|bus| {
        let is_alone = deadline < bus.until && bus.passed < PASSED_MAX;
        (!bus.next_turns.is_empty(), bus.outbox.is_empty(), is_alone)
    });
    if is_alone && says_nothing && !has_turns && !is_watched {
        bus::with(|bus| {
            bus.passed += 1;
            bus.noted.note(deadline);
        });
        return Next { now: deadline, wakes: false };
    }
    bus::with(|bus| bus.passed = 0);
    let waits_for = Some(deadline).filter(|deadline| *deadline != NEVER);
    let sockets = Sockets { has_any: has_sockets, were_used: used_sockets };
    let end = Up::Rest { now, deadline: waits_for, switches, digest, has_output, sockets };
    bus::with(|bus| bus.end_turn(&end));
    // Output and the use of sockets are for the turn in which they happened.
    let continues = has_turns && !is_watched;
    if !(continues && bus::with(Bus::keep)) {
        send();
        let frames = if continues { Vec::new() } else { hear() };
        bus::with(|bus| bus.next_turns.extend(frames));
    }
    bus::with(|bus| {
        let frames = bus.next_turn();
        let wakes = frames.len() > 1;
        Next { now: bus.hear_turn(frames, now, deadline), wakes }
    })
}

/// After a turn that the process got ahead, waits until it is its turn in the order. Whether the
/// coordinator reads its output meanwhile.
fn join_order() -> bool {
    let mut is_read = false;
    while bus::with(|bus| bus.is_ahead) {
        for frame in receive_or_end() {
            is_read |= matches!(frame, Down::Reading);
            bus::with(|bus| bus.hear(frame));
        }
    }
    is_read
}

/// Waits for frames. Once the run has ended, so does the process.
fn receive_or_end() -> Vec<Down> {
    let heard = SOCKET.get().and_then(|socket| receive(socket).ok());
    let mut frames = heard.unwrap_or_else(|| coordination::finish());
    frames.iter_mut().for_each(fetch);
    frames
}

/// Reads contents that are in the memory, which the coordinator gives back after the turn.
fn fetch(frame: &mut Down) {
    let Down::Deliver { sample: Sample { payload, .. }, .. } = frame else { return };
    if let Payload::Shared { .. } = payload {
        let read = |memory: &SharedMemory| Some(memory.get(payload).ok()?.into_owned());
        let bytes = bus::with(|bus| bus.memory.as_ref().and_then(read));
        *payload = Payload::Bytes(bytes.unwrap_or_else(|| coordination::finish()));
    }
}

/// Waits for turns; returns their frames, or none to continue with those that came before.
fn hear() -> Vec<Down> {
    let mut frames: Vec<Down> = Vec::new();
    while !frames.iter().any(|frame| matches!(frame, Down::Go { .. } | Down::Continue)) {
        frames = receive_or_end();
    }
    if let Some(Down::Until(time)) = frames.last() {
        // The turn came ahead, and is the next one already.
        let (go, time) = (frames.len() - 2, *time);
        if let Down::Go { until, .. } = &mut frames[go] {
            *until = Some(time);
        }
    }
    frames.retain(|frame| !matches!(frame, Down::Reading | Down::Continue | Down::Until(_)));
    frames
}

/// Sends the frames that were not sent.
fn send() {
    let mut turn = bus::with(|bus| std::mem::take(&mut bus.outbox));
    // If the coordinator has ended, the next read tells.
    let _ = SOCKET.get().map(|socket| turn.send(socket));
    bus::with(|bus| bus.memory.as_mut().map(SharedMemory::forget));
}

/// Whether a pipe or socket has something that was not read.
fn has_unread(pipe: i32) -> bool {
    let mut count = 0;
    // SAFETY: a place for the number.
    let result = unsafe { libc::ioctl(pipe, libc::FIONREAD, &raw mut count) };
    result == 0 && count > 0
}

/// The process ends: its last frames are sent.
extern "C" fn end() {
    if bus::with(|bus| bus.is_joined && bus.owner == own_number()) {
        bus::with(|bus| {
            bus.end_turn(&Up::End { now: bus::now() });
            bus.is_joined = false;
        });
        send();
    }
}
