//! The socket to which the children of processes connect.

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Pid, Uid};
use ringspin_process_protocol::listener;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// How long a child may take from its creation to its connection: it loads a program meanwhile.
const CONNECTION_MAX: Duration = Duration::from_secs(30);

/// The children that have connected.
#[derive(Debug)]
pub(crate) struct Children {
    listener: UnixListener,
    /// By number, until the parent says that it has created the child.
    connected: RefCell<BTreeMap<u32, (UnixStream, Pid)>>,
}

impl Children {
    /// Listens.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn new() -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(listener(std::process::id()))?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connected: RefCell::default() })
    }

    /// The connection of a child, and its number in the operating system.
    ///
    /// # Errors
    /// It does not connect, in words.
    pub(crate) fn take(
        &self,
        number: u32,
        (turn_max, is_stopped): (Duration, fn() -> bool),
    ) -> Result<(UnixStream, Pid), String> {
        let begun = Instant::now();
        loop {
            if let Some(child) = self.connected.borrow_mut().remove(&number) {
                return Ok(child);
            }
            match self.accept(turn_max) {
                Ok((number, stream, id)) => {
                    self.connected.borrow_mut().insert(number, (stream, id));
                }
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(format!("a child cannot join the run: {error}"));
                }
                Err(_) if begun.elapsed() > CONNECTION_MAX || is_stopped() => {
                    return Err("its child does not join the run: a program that is statically \
                                linked or has other rights cannot; start it by `system`, in real \
                                time"
                        .into());
                }
                Err(_) => std::thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    fn accept(&self, turn_max: Duration) -> io::Result<(u32, UnixStream, Pid)> {
        loop {
            let (mut stream, _) = self.listener.accept()?;
            let peer = getsockopt(&stream, PeerCredentials)?;
            let mut number = [0; 4];
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let is_child = peer.uid() == Uid::current().as_raw();
            if is_child && stream.read_exact(&mut number).is_ok() {
                stream.set_read_timeout(Some(turn_max))?;
                return Ok((u32::from_le_bytes(number), stream, Pid::from_raw(peer.pid())));
            }
        }
    }
}
