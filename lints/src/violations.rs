//! One function for each entry of `clippy.toml` about the standard library or ringspin. Each
//! expects one finding; clippy reports an unfulfilled expectation.

#![expect(missing_docs, reason = "each function is named after its violation")]

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Condvar, MutexGuard, WaitTimeoutResult};
use std::time::{Duration, Instant, SystemTime, SystemTimeError};

#[expect(clippy::disallowed_methods)]
pub fn instant_now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods)]
pub fn now_as_a_function() -> fn() -> Instant {
    Instant::now
}

#[expect(clippy::disallowed_methods)]
pub fn instant_elapsed(earlier: Instant) -> Duration {
    earlier.elapsed()
}

#[expect(clippy::disallowed_methods)]
pub fn system_time_now() -> SystemTime {
    SystemTime::now()
}

#[expect(clippy::disallowed_methods)]
pub fn system_time_elapsed(earlier: SystemTime) -> Result<Duration, SystemTimeError> {
    earlier.elapsed()
}

#[expect(clippy::disallowed_methods)]
pub fn sleep() {
    std::thread::sleep(Duration::ZERO);
}

#[expect(clippy::disallowed_methods)]
pub fn park_timeout() {
    std::thread::park_timeout(Duration::ZERO);
}

#[expect(clippy::disallowed_methods)]
pub fn wait_timeout<'a>(
    signal: &Condvar,
    guard: MutexGuard<'a, ()>,
) -> (MutexGuard<'a, ()>, WaitTimeoutResult) {
    signal.wait_timeout(guard, Duration::ZERO).unwrap()
}

#[expect(clippy::disallowed_methods)]
pub fn wait_timeout_while<'a>(
    signal: &Condvar,
    guard: MutexGuard<'a, ()>,
) -> (MutexGuard<'a, ()>, WaitTimeoutResult) {
    signal.wait_timeout_while(guard, Duration::ZERO, |()| true).unwrap()
}

#[expect(clippy::disallowed_methods)]
pub fn recv_timeout(receiver: &Receiver<u8>) -> Result<u8, RecvTimeoutError> {
    receiver.recv_timeout(Duration::ZERO)
}

#[expect(clippy::disallowed_methods)]
pub fn live_clock() -> ringspin_executor::LiveClock {
    ringspin_executor::LiveClock::start()
}

#[expect(clippy::disallowed_methods, clippy::disallowed_types)]
pub fn random_state() -> impl std::hash::BuildHasher {
    std::hash::RandomState::new()
}

#[expect(clippy::disallowed_methods)]
pub fn default_hasher() -> impl std::hash::Hasher {
    std::hash::DefaultHasher::new()
}

#[expect(clippy::disallowed_types)]
pub fn random_keys_by_default() -> impl std::hash::BuildHasher {
    <std::hash::RandomState as Default>::default()
}

#[expect(clippy::disallowed_types)]
pub fn hash_map() -> impl IntoIterator<Item = (u8, u8)> {
    std::collections::HashMap::from([(1, 2)])
}

#[expect(clippy::disallowed_types)]
pub fn hash_set() -> impl IntoIterator<Item = u8> {
    std::collections::HashSet::from([1])
}

#[expect(clippy::disallowed_methods)]
pub fn spawn() {
    let _ = std::thread::spawn(|| ());
}

#[expect(clippy::disallowed_methods)]
pub fn scope() {
    std::thread::scope(|_| ());
}

#[expect(clippy::disallowed_methods)]
pub fn spawn_by_builder() -> std::io::Result<()> {
    std::thread::Builder::new().spawn(|| ()).map(drop)
}

#[expect(clippy::disallowed_methods)]
pub fn current_thread() -> std::thread::Thread {
    std::thread::current()
}

#[expect(clippy::disallowed_methods)]
pub fn available_parallelism() -> Option<usize> {
    std::thread::available_parallelism().ok().map(usize::from)
}

#[expect(clippy::disallowed_methods)]
pub fn args() -> usize {
    std::env::args().count()
}

#[expect(clippy::disallowed_methods)]
pub fn args_os() -> usize {
    std::env::args_os().count()
}

#[expect(clippy::disallowed_methods)]
pub fn current_dir() -> std::io::Result<std::path::PathBuf> {
    std::env::current_dir()
}

#[expect(clippy::disallowed_methods)]
pub fn current_exe() -> std::io::Result<std::path::PathBuf> {
    std::env::current_exe()
}

#[expect(clippy::disallowed_methods)]
pub fn temp_dir() -> std::path::PathBuf {
    std::env::temp_dir()
}

#[expect(clippy::disallowed_methods)]
pub fn var() -> Option<String> {
    std::env::var("HOME").ok()
}

#[expect(clippy::disallowed_methods)]
pub fn var_os() -> Option<std::ffi::OsString> {
    std::env::var_os("HOME")
}

#[expect(clippy::disallowed_methods)]
pub fn vars() -> usize {
    std::env::vars().count()
}

#[expect(clippy::disallowed_methods)]
pub fn vars_os() -> usize {
    std::env::vars_os().count()
}

#[expect(clippy::disallowed_methods)]
pub fn process_id() -> u32 {
    std::process::id()
}
