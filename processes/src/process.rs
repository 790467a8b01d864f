//! A process of a run: its program, the socket on which it takes turns, and the pipes of its
//! output.
//!
//! A program that writes more than a pipe has room for waits until they are read, while the
//! coordinator waits for the program's turn: so it reads the pipes meanwhile. The program is
//! in a process group, which is killed with all that it has started once it ends.

use crate::children::Children;
use crate::system::ProcessSpec;
use crate::thread_order::{ORDER, ThreadOrder};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgid};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::TiePolicy;
use ringspin_process_protocol::{
    Down, Payload, Place, ReadError, Sample, SharedMemory, Turn, Up, VARIABLE, receive,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The least number of a process's end of the socket: most programs have fewer files open. It is
/// the same in all processes, so that their environments do not differ.
const SOCKET_FROM: i32 = 700;

/// How often the coordinator looks whether it is to stop, while it waits for a process.
const LOOK: u16 = 100;

/// How long a process may take to end once it has closed its socket.
const END_MAX: Duration = Duration::from_secs(10);

/// How long a turn takes of a process that gets turns ahead.
const SLOW: Duration = Duration::from_micros(200);

/// How many turns a process gets at once.
pub(crate) const TURNS_MAX: usize = 256;

/// Each of so many turns is not ahead.
const MEASURED: u64 = 16;

/// Variables that every process gets, unless the environment has them: Python's output comes at
/// once, libraries for linear algebra start no threads that wait in loops, and a native
/// graph uses ROS.
const VARIABLES: [(&str, &str); 6] = [
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("RINGSPIN_MIDDLEWARE", "ros2"),
];

/// The settings of a run that its processes share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The library with the middleware and the simulated threads.
    pub(crate) library: PathBuf,
    /// The command `ringspin`, for recordings.
    pub(crate) program: PathBuf,
    /// The folder for the files of ROS's log, with one folder for each process.
    pub(crate) logs: PathBuf,
    /// The memory for large messages.
    pub(crate) memory: Option<SharedMemory>,
    /// The socket of children.
    pub(crate) children: Children,
    /// How long a turn may take, in real time.
    pub(crate) turn_max: Duration,
    /// Whether the run is to stop.
    pub(crate) is_stopped: fn() -> bool,
    /// The time of the processes at the start of the run, which begins at zero elsewhere.
    pub(crate) date: u64,
}

impl Shared {
    /// Whether these contents can be of this process. If so, their memory is given back with the
    /// last copy of them.
    pub(crate) fn accept(&self, payload: &mut Payload, process: u32) -> bool {
        match (&self.memory, &*payload) {
            (Some(memory), _) if memory.has(payload, process) => memory.lease(payload),
            (None, Payload::Bytes(_)) => {}
            _ => return false,
        }
        true
    }

    /// The bytes of contents.
    ///
    /// # Errors
    /// They are not there.
    pub(crate) fn bytes<'a>(&self, payload: &'a Payload) -> Result<Cow<'a, [u8]>> {
        match (&self.memory, payload) {
            (_, Payload::Bytes(bytes)) => Ok(Cow::Borrowed(bytes)),
            (Some(memory), payload) => memory.get(payload).map_err(|error| {
                let text = format!("failed to read the memory that processes share: {error}");
                Error::new(ErrorKind::Io, text)
            }),
            (None, Payload::Shared { .. }) => unreachable!("it was not accepted"),
        }
    }
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Process {
    /// Its name in the system; of a child, with `/` and its number.
    pub(crate) name: String,
    /// Its place in the system.
    pub(crate) place: usize,
    /// The number of its last turn; the first one is its start.
    pub(crate) turn: u64,
    /// How many turns were heard, with the start and the one in which it has ended.
    pub(crate) heard: u64,
    program: Program,
    /// The process of the run that has started it, if it is a child.
    pub(crate) parent: Option<u32>,
    /// Whether it hears of nodes and endpoints: a child does once it asks.
    pub(crate) knows_graph: bool,
    /// `None` once it has ended.
    socket: Option<UnixStream>,
    /// A child shares them with its parent.
    outputs: Rc<RefCell<[Output; 2]>>,
    pub(crate) deadline: Option<u64>,
    /// See [`Shared`].
    date: u64,
    /// Whether it waits for [`Down::Continue`] if it has further turns.
    pub(crate) waits: bool,
    /// Whether it has sockets, which others of the run may use.
    pub(crate) has_sockets: bool,
    /// The contents that it was told of, and may not have read yet.
    told_contents: Vec<Payload>,
    /// The file with the order of its threads; see [`ThreadOrder`].
    order: Option<ThreadOrder>,
    ahead: Ahead,
    /// When it got its turns, and how many.
    told: (Instant, u32),
    /// About how long it takes for a turn.
    pace: Duration,
}

/// A program that runs.
#[derive(Debug)]
enum Program {
    /// It was started here.
    Own(Child),
    /// Another process has started it, under this number of the operating system.
    Other(Pid),
}

/// One of the two outputs of a process.
#[derive(Debug)]
struct Output {
    pipe: File,
    /// The line that has no end yet.
    line: Vec<u8>,
}

/// Why a turn of a process did not end as it should.
#[derive(Debug)]
pub(crate) enum Gone {
    /// The process has ended.
    Ended(ExitStatus),
    /// The process has ended, with a status that its parent has.
    Left,
    /// It was killed, for this reason.
    Killed(String),
    /// The run is to stop.
    Stopped,
}

/// Turns that the process has ahead.
#[derive(Debug, Default)]
struct Ahead {
    /// Whether it has its turn ahead.
    is_ahead: bool,
    /// Whether it had one ahead since its last turn that is measured.
    was_ahead: bool,
    /// Whether it has a core for itself.
    has_core: bool,
}

/// The process of the system of which this is the name, or that of a child.
pub(crate) fn process_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(process, _)| process)
}

impl Process {
    /// Starts the program of `spec` as process `number` of the run, at the simulated time `now`.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub(crate) fn start(
        (place, spec, variables): (usize, &ProcessSpec, [(&str, Option<String>); 3]),
        number: u32,
        now: u64,
        (seed, threads): (u64, &TiePolicy),
        shared: &Shared,
    ) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format!("failed to start the process `{}`: {error}", spec.name);
            Error::new(ErrorKind::Io, text)
        };
        let (own, other) = UnixStream::pair().map_err(|error| failed(&error))?;
        let socket = inherited(&other).map_err(|error| failed(&error))?;
        let order =
            ThreadOrder::new(threads, number, shared.date).map_err(|error| failed(&error))?;
        let order_file = order.as_ref().map(|order| inherited(order.file()));
        let order_file = order_file.transpose().map_err(|error| failed(&error))?;
        let memory = shared.memory.as_ref().map(|memory| inherited(memory.file()));
        let memory = memory.transpose().map_err(|error| failed(&error))?;
        let mut command = command(spec, shared)?;
        match spec.bag {
            Some(_) => command.stdin(Stdio::from(OwnedFd::from(other))),
            None => command.stdin(Stdio::null()).env("LD_PRELOAD", &shared.library),
        };
        command.env("RINGSPIN_SEED", seed.to_string());
        let order_number = order_file.map(|number| number.to_string());
        for (name, value) in variables.into_iter().chain([(ORDER, order_number)]) {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let (memory_number, start) = (memory.unwrap_or(-1), shared.date + now);
        let place_of = Place {
            socket,
            memory: memory_number,
            process: number,
            start,
            coordinator: std::process::id(),
            parent: None,
            owner: None,
        };
        command.env(VARIABLE, place_of.to_string()).envs(&spec.env);
        if let Some(folder) = spec.folder.as_ref().filter(|folder| **folder != Path::new("")) {
            command.current_dir(folder);
        }
        let child = command.spawn();
        for number in [Some(socket), order_file, memory].into_iter().flatten() {
            nix::unistd::close(number).map_err(|error| failed(&error))?;
        }
        let mut child = child
            .map_err(|error| failed(&format!("`{}`: {error}", command.get_program().display())))?;
        let outputs =
            [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        let outputs = outputs.map(|pipe| Output::new(pipe.expect("it is piped")));
        let [out, err] = outputs;
        let outputs = [out.map_err(|error| failed(&error))?, err.map_err(|error| failed(&error))?];
        own.set_read_timeout(Some(shared.turn_max)).map_err(|error| failed(&error))?;
        let name = spec.name.clone();
        let (program, outputs) = (Program::Own(child), Rc::new(RefCell::new(outputs)));
        let mut process = Self::new(name, place, program, own, outputs, shared);
        (process.order, process.knows_graph) = (order, true);
        Ok(process)
    }

    fn new(
        name: String,
        place: usize,
        program: Program,
        socket: UnixStream,
        outputs: Rc<RefCell<[Output; 2]>>,
        shared: &Shared,
    ) -> Self {
        Self {
            name,
            place,
            turn: 0,
            heard: 0,
            program,
            parent: None,
            knows_graph: false,
            socket: Some(socket),
            outputs,
            deadline: None,
            waits: false,
            date: shared.date,
            has_sockets: false,
            told_contents: Vec::new(),
            order: None,
            ahead: Ahead::default(),
            told: (Instant::now(), 0),
            pace: Duration::ZERO,
        }
    }

    /// The child of `parent`, of this number, that is process `number` of the run: it connects.
    ///
    /// # Errors
    /// It does not, in words.
    pub(crate) fn joined(
        parent: &Self,
        (parent_number, number): (u32, u32),
        shared: &Shared,
    ) -> std::result::Result<Self, String> {
        let (socket, id) = shared.children.take(number, (shared.turn_max, shared.is_stopped))?;
        let name = format!("{}/{number}", process_of(&parent.name));
        let outputs = parent.outputs.clone();
        let program = Program::Other(id);
        let mut process = Self::new(name, parent.place, program, socket, outputs, shared);
        process.parent = Some(parent_number);
        Ok(process)
    }

    /// The order of its threads, if it is not the usual one.
    pub(crate) fn order(&self) -> Option<&ThreadOrder> {
        self.order.as_ref()
    }

    /// The operating system's number of it.
    pub(crate) fn number(&self) -> u32 {
        self.id().as_raw() as u32
    }

    /// The number of its group in the operating system.
    pub(crate) fn group(&self) -> Pid {
        getpgid(Some(self.id())).unwrap_or(self.id())
    }

    fn id(&self) -> Pid {
        match &self.program {
            Program::Own(child) => Pid::from_raw(child.id() as i32),
            Program::Other(id) => *id,
        }
    }

    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.socket.is_some()
    }

    /// Gives it turns, one after the other: so many, in which these frames arrive.
    pub(crate) fn tell(&mut self, turns: usize, frames: impl IntoIterator<Item = Down>) {
        self.turn += turns as u64;
        if turns > 0 {
            self.told = (Instant::now(), turns as u32);
        }
        let (mut turn, date) = (Turn::default(), self.date);
        let later = |until: u64| until.saturating_add(date);
        for frame in frames {
            let frame = match frame {
                Down::Go { now, until } => Down::Go { now: now + date, until: until.map(later) },
                Down::Until(until) => Down::Until(later(until)),
                frame => frame,
            };
            turn.push(&frame);
            if let Down::Deliver { sample: Sample { payload, .. }, .. } = frame
                && matches!(payload, Payload::Shared { .. })
            {
                self.told_contents.push(payload);
            }
        }
        // If it has ended, the next read tells.
        let _ = self.socket.as_ref().map(|socket| turn.send(socket));
    }

    /// Gives it a turn ahead of those before it in the order.
    pub(crate) fn tell_ahead(&mut self, frames: [Down; 2]) {
        self.tell(1, frames);
        (self.ahead.is_ahead, self.ahead.was_ahead) = (true, true);
    }

    /// Whether it has its turn ahead.
    pub(crate) fn is_ahead(&self) -> bool {
        self.ahead.is_ahead
    }

    /// It is its turn in the order, if it has it ahead; false if it does not.
    pub(crate) fn join_order(&mut self, until: u64) -> bool {
        let was_ahead = std::mem::take(&mut self.ahead.is_ahead);
        if was_ahead {
            self.told.1 = 0; // how long it took is unknown
            self.tell(0, [Down::Until(until)]);
        }
        was_ahead
    }

    /// Whether it computes for long.
    pub(crate) fn is_slow(&self) -> bool {
        self.pace > SLOW
    }

    /// Whether it may get many turns at once, of which it is heard in the last one: they take
    /// much less time than it has for one.
    pub(crate) fn may_have_many(&self, shared: &Shared) -> bool {
        self.pace * TURNS_MAX as u32 * 8 < shared.turn_max
    }

    /// Whether its next turn is one of those that are not ahead, to see how long they take.
    pub(crate) fn is_measured(&self) -> bool {
        self.turn.is_multiple_of(MEASURED)
    }

    /// Notes how long it took for its turns; whether it needs the core no longer that it has.
    pub(crate) fn notes_speed(&mut self) -> bool {
        if let (begun, turns @ 1..) = self.told {
            self.told.1 = 0;
            self.pace = (self.pace * 3 + begun.elapsed() / turns) / 4;
        }
        let needs_core = match self.is_measured() {
            true => std::mem::take(&mut self.ahead.was_ahead),
            false => self.is_slow(),
        };
        !needs_core && std::mem::take(&mut self.ahead.has_core)
    }

    /// It gets a core; false if it has one.
    pub(crate) fn takes_core(&mut self) -> bool {
        !std::mem::replace(&mut self.ahead.has_core, true)
    }

    /// Waits for the end of its turn; returns the frames. `print` gets the lines that it prints,
    /// each with the number of the output, once the turn is over.
    ///
    /// # Errors
    /// The process ended, hangs, or broke the protocol.
    pub(crate) fn hear(
        &mut self,
        shared: &Shared,
        lines: &mut Vec<(usize, Vec<u8>)>,
    ) -> std::result::Result<Vec<Up>, Gone> {
        let (begun, mut is_told) = (Instant::now(), false);
        while !self.look(lines, &mut is_told) {
            if (shared.is_stopped)() {
                return Err(Gone::Stopped);
            }
            if begun.elapsed() > shared.turn_max {
                let max = shared.turn_max;
                return Err(self.kill(&format!(
                    "it did not wait for anything for {max:?} of real time: a loop, or a call that \
                     the simulation does not see"
                )));
            }
        }
        let socket = self.socket.as_ref().expect("it has a turn");
        match receive(socket) {
            Ok(mut frames) => {
                self.told_contents.clear(); // it reads them at once
                frames.iter_mut().for_each(|frame| self.date_back(frame));
                if !matches!(frames.last(), Some(Up::Rest { has_output: false, .. })) {
                    self.read_outputs(lines);
                }
                Ok(frames)
            }
            Err(ReadError::Stream(_)) => Err(self.wait_for_end(lines)),
            Err(error) => Err(self.kill(&format!("it wrote to the coordinator's socket: {error}"))),
        }
    }

    /// The frames that it has not sent, once it has ended; its number in the run is `number`.
    pub(crate) fn kept(&self, shared: &Shared, number: u32) -> Vec<Up> {
        let kept = shared.memory.as_ref().and_then(|memory| memory.kept(number).ok());
        let mut kept = kept.unwrap_or_default();
        kept.iter_mut().for_each(|frame| self.date_back(frame));
        kept
    }

    /// The time that it noted after its last frame, once it has ended.
    pub(crate) fn noted_time(&self, shared: &Shared, number: u32) -> Option<u64> {
        let time = shared.memory.as_ref()?.noted_time(number)?;
        Some(time.saturating_sub(self.date))
    }

    /// Changes the times of a frame to those of the run.
    fn date_back(&self, frame: &mut Up) {
        let back = |time: &mut u64| *time = time.saturating_sub(self.date);
        if let Up::Rest { deadline, .. } = frame {
            deadline.iter_mut().for_each(back);
        }
        if let Up::Rest { now, .. } | Up::End { now } = frame {
            back(now);
        }
    }

    /// Reads its output, and waits for a moment for its socket; true if that is ready. The process
    /// is told once a turn, before: it would take a pipe that was read for one without output, and
    /// let time pass alone.
    fn look(&mut self, lines: &mut Vec<(usize, Vec<u8>)>, is_told: &mut bool) -> bool {
        let Some(socket) = &self.socket else { return true };
        let of = |pipe| PollFd::new(pipe, PollFlags::POLLIN);
        let outputs = self.outputs.borrow();
        let [out, err] = &*outputs;
        let mut all = [of(socket.as_fd()), of(out.pipe.as_fd()), of(err.pipe.as_fd())];
        if poll(&mut all[..1], PollTimeout::from(1u8)).is_ok_and(|ready| ready > 0) {
            return true;
        }
        let is_any = poll(&mut all, PollTimeout::from(LOOK)).is_ok_and(|ready| ready > 0);
        let has_output =
            [1, 2].map(|n| all[n].revents().is_some_and(|of| of.contains(PollFlags::POLLIN)));
        // Its output may be that of a later turn than the one that it has ended.
        if poll(&mut all[..1], PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
            return true;
        }
        if has_output == [false; 2] {
            if is_any {
                std::thread::sleep(Duration::from_millis(1)); // a closed pipe is always ready
            }
            return false;
        }
        drop(outputs);
        if !*is_told {
            self.tell(0, [Down::Reading]);
            *is_told = true;
        }
        self.read_outputs(lines);
        false
    }

    /// Reads the rest of its output, also last lines without an end; but not output of a
    /// turn ahead.
    pub(crate) fn finish_outputs(&mut self, lines: &mut Vec<(usize, Vec<u8>)>) {
        if !self.ahead.is_ahead {
            self.read_outputs(lines);
        }
        let mut outputs = self.outputs.borrow_mut();
        outputs.iter_mut().enumerate().for_each(|(n, out)| out.finish(n, lines));
    }

    fn read_outputs(&mut self, lines: &mut Vec<(usize, Vec<u8>)>) {
        for (number, output) in self.outputs.borrow_mut().iter_mut().enumerate() {
            output.read(number, lines);
        }
    }

    /// It has closed its socket: waits for its end, and reads the rest of its output.
    fn wait_for_end(&mut self, lines: &mut Vec<(usize, Vec<u8>)>) -> Gone {
        let begun = Instant::now();
        while !self.has_ended() {
            self.read_outputs(lines);
            if begun.elapsed() > END_MAX {
                return self.kill("it has left the run, and did not end");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Program::Other(_) = self.program {
            self.read_outputs(lines);
            (self.socket, self.deadline) = (None, None);
            return Gone::Left;
        }
        self.finish_outputs(lines);
        self.end();
        match &mut self.program {
            Program::Own(child) => match child.wait() {
                Ok(status) => Gone::Ended(status),
                Err(error) => Gone::Killed(format!("its status is unknown: {error}")),
            },
            Program::Other(_) => Gone::Left,
        }
    }

    /// Whether the program has ended. Its status remains, and with it its number, which is that of
    /// its group.
    fn has_ended(&self) -> bool {
        if let Program::Other(id) = self.program {
            // Its parent has not waited for it. The last of its threads closes its files.
            const THREADS: usize = 17;
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let values = stat.rsplit_once(") ").map_or("Z", |(_, values)| values);
            let threads = values.split(' ').nth(THREADS).and_then(|count| count.parse().ok());
            return values.starts_with(['Z', 'X']) && threads.unwrap_or(0) <= 1;
        }
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.id()), ended), Ok(WaitStatus::StillAlive))
    }

    /// Kills it, for this reason.
    pub(crate) fn kill(&mut self, reason: &str) -> Gone {
        self.end();
        Gone::Killed(reason.into())
    }

    /// Ends it and all that it has started, at once. Its number is free for others after the wait,
    /// so that comes last, and the kill only once.
    fn end(&mut self) {
        self.deadline = None;
        // The process would end by itself without its socket.
        if let Some(_socket) = self.socket.take() {
            let id = self.id();
            match &mut self.program {
                Program::Own(child) => {
                    let _ = killpg(id, Signal::SIGKILL); // nothing may be left of it
                    let _ = child.wait();
                }
                Program::Other(_) => drop(kill(id, Signal::SIGKILL)),
            }
        }
    }
}

/// The command of a process, without the parts that differ from start to start.
fn command(spec: &ProcessSpec, shared: &Shared) -> Result<Command> {
    let mut words = spec.words()?;
    if spec.bag.is_some() {
        words[0] = shared.program.display().to_string();
    }
    let logs = shared.logs.join(&spec.name);
    let _ = std::fs::remove_dir_all(&logs); // of an earlier run
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in VARIABLES.iter().filter(|(name, _)| std::env::var_os(name).is_none()) {
        command.env(name, value);
    }
    command
        .env_remove("RMW_IMPLEMENTATION")
        .env_remove("RINGSPIN_MODE")
        .env("ROS_LOG_DIR", logs)
        .env("RINGSPIN_THREADS", "simulated");
    Ok(command)
}

/// A duplicate of a descriptor for a program that is started.
fn inherited(descriptor: impl AsFd) -> nix::Result<i32> {
    fcntl(descriptor, FcntlArg::F_DUPFD(SOCKET_FROM))
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

impl Output {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        fcntl(&pipe, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        Ok(Self { pipe: pipe.into(), line: Vec::new() })
    }

    /// Reads all that is there.
    fn read(&mut self, number: usize, lines: &mut Vec<(usize, Vec<u8>)>) {
        let mut bytes = [0; 1 << 14];
        while let Ok(count @ 1..) = self.pipe.read(&mut bytes) {
            for part in bytes[..count].split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(part);
                if let Some(line) = self.line.strip_suffix(b"\n") {
                    lines.push((number, line.to_vec()));
                    self.line.clear();
                }
            }
        }
    }

    /// A last line without an end has one.
    fn finish(&mut self, number: usize, lines: &mut Vec<(usize, Vec<u8>)>) {
        if !self.line.is_empty() {
            lines.push((number, std::mem::take(&mut self.line)));
        }
    }
}

/// The command `ringspin`: beside the library, or beside this program.
pub(crate) fn program(library: &Path) -> PathBuf {
    let (beside, own) = (library.with_file_name("ringspin"), std::env::current_exe());
    if beside.is_file() { beside } else { own.unwrap_or_default().with_file_name("ringspin") }
}

/// The library for the processes: that of `RINGSPIN_RMW`, or the one beside this program.
///
/// # Errors
/// There is none.
pub(crate) fn library() -> Result<PathBuf> {
    const NAME: &str = "librmw_ringspin.so";
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.parent().unwrap_or(Path::new("")).join(NAME);
    let chosen = std::env::var_os("RINGSPIN_RMW").map_or(beside, PathBuf::from);
    match chosen.canonicalize() {
        Ok(path) => Ok(path),
        Err(error) => {
            let text = format!(
                "failed to find the middleware for the processes, {}: {error}; build it by `cargo \
                 build -p ringspin-rmw`, or name it in RINGSPIN_RMW",
                chosen.display()
            );
            Err(Error::new(ErrorKind::NotFound, text).at_path(chosen))
        }
    }
}
