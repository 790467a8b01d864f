//! The children of the process, which are processes of the run.

use crate::bus::{self, Bus};
use crate::noted_time::NotedTime;
use ringspin_process_protocol::{Place, Up, VARIABLE, listener};
use ringspin_simulated_threads::coordination::{self, Event};
use std::sync::OnceLock;

/// The place of the program in the run, when it began.
static PLACE: OnceLock<Place> = OnceLock::new();

/// The program has this place.
pub(crate) fn set_place(place: Place) {
    let _ = PLACE.set(place);
}

/// Connects to the coordinator as this process; a descriptor of the number that the socket of the
/// run has in all processes if `number` is none of another file.
pub(crate) fn connect(place: &Place) -> i32 {
    // SAFETY: an address of numbers, and calls of the kernel with a place of this size; no function
    // of libc, which a world would answer.
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as _;
        let name = listener(place.coordinator);
        let places = address.sun_path.iter_mut().skip(1);
        places.zip(name.bytes()).for_each(|(place, byte)| *place = byte as _);
        let size = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
        let socket = libc::syscall(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0);
        let number = place.process.to_le_bytes();
        if libc::syscall(libc::SYS_connect, socket, &raw const address, size) < 0
            || libc::syscall(libc::SYS_write, socket, number.as_ptr(), number.len()) < 4
        {
            coordination::finish(); // the run has ended
        }
        socket as i32
    }
}

/// Has the descriptor `number` be that of a socket.
pub(crate) fn renumber(socket: i32, number: i32) {
    // SAFETY: calls of the kernel with numbers.
    unsafe {
        libc::syscall(libc::SYS_dup3, socket, number, 0);
        libc::syscall(libc::SYS_close, socket);
    }
}

pub(crate) extern "C" fn ask() {
    bus::with(|bus| bus.say(&Up::Fork));
}

pub(crate) extern "C" fn next() -> u32 {
    bus::with(|bus| bus.children.pop_front()).unwrap_or(0)
}

pub(crate) extern "C" fn created(process: u32, exists: bool) {
    bus::with(|bus| bus.say(&Up::Created { process, exists }));
}

pub(crate) extern "C" fn signal(to: u32, signal: i32, is_for_group: bool) {
    bus::with(|bus| bus.say(&Up::Signal { to, signal, is_for_group }));
}

pub(crate) extern "C" fn event() -> Event {
    bus::with(|bus| bus.happened.pop_front()).unwrap_or(Event::None)
}

/// The number that the kernel gave the process: the world would tell another one.
pub(crate) fn own_number() -> u32 {
    let own = std::fs::read_link("/proc/self").unwrap_or_default();
    own.to_str().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// The process was forked, and is this one of the run: it connects.
pub(crate) fn join(process: u32) {
    let place = PLACE.get().expect("the parent has one");
    let place = Place { process, ..*place };
    renumber(connect(&place), place.socket);
    bus::with(|bus| {
        let memory = bus.memory.as_ref().map(|memory| memory.of_process(process));
        let parent = bus.process;
        *bus = Bus::default();
        bus.parent = Some(parent);
        (bus.process, bus.owner) = (process, own_number());
        bus.noted = NotedTime::of(memory.as_ref());
        (bus.is_joined, bus.is_forked, bus.memory) = (true, true, memory);
    });
}

/// Writes the variable with a place: that of this process, or of a new one.
pub(crate) extern "C" fn variable(
    process: u32,
    is_itself: bool,
    bytes: *mut u8,
    size: usize,
) -> usize {
    let place = PLACE.get().expect("the process has one");
    let owner = is_itself.then(own_number);
    let socket = if is_itself { place.socket } else { -1 };
    let start = coordination::now().unwrap_or(place.start);
    let parent = bus::with(|bus| if is_itself { bus.parent } else { Some(bus.process) });
    let place = Place { process, owner, socket, start, parent, ..*place };
    let text = format!("{VARIABLE}={place}");
    let length = text.len().min(size);
    // SAFETY: the caller passes so many bytes.
    unsafe { bytes.copy_from_nonoverlapping(text.as_ptr(), length) };
    length
}
