//! CPU time and resident memory of the process: the two figures that are not latencies.
//!
//! Both come from the kernel's accounting, so every thread counts, waiting threads included. Memory
//! comes from `/proc/self/status`: the peak in `getrusage` would also include the program that this
//! process was before its `exec`, such as a test runner or a shell.

use std::fs;
use std::io;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Resident memory of this process, in bytes. Allocates; not for callbacks.
///
/// # Errors
/// The error of reading `/proc/self/status`, as outside Linux.
pub fn resident_bytes() -> io::Result<u64> {
    status_bytes("self", "VmRSS:")
}

/// Peak resident memory of the process `id`, in bytes.
///
/// # Errors
/// The error of reading its `/proc` file.
pub fn peak_resident_bytes(id: u32) -> io::Result<u64> {
    status_bytes(&id.to_string(), "VmHWM:")
}

/// Measures the CPU time of this process from its start on.
#[derive(Clone, Copy, Debug)]
pub struct CpuMeter {
    started_ns: u64,
}

impl CpuMeter {
    /// Starts measuring.
    ///
    /// # Errors
    /// The error of the operating system if it does not provide the CPU time.
    pub fn start() -> io::Result<Self> {
        Ok(Self { started_ns: cpu_ns()? })
    }

    /// CPU time used since the start.
    ///
    /// # Errors
    /// The error of the operating system if it does not provide the CPU time.
    pub fn elapsed(&self) -> io::Result<Duration> {
        Ok(Duration::from_nanos(cpu_ns()?.saturating_sub(self.started_ns)))
    }

    /// CPU time used since the start as a percentage of one core over `wall`: 170 means 1.7 cores.
    /// 0 when `wall` is zero.
    ///
    /// # Errors
    /// The error of the operating system if it does not provide the CPU time.
    pub fn cpu_percent_of_one_core(&self, wall: Duration) -> io::Result<f64> {
        Ok(percent(self.elapsed()?, wall))
    }
}

/// Measures how busy other programs keep this machine, which increases measured maxima.
#[derive(Clone, Copy, Debug)]
pub struct OthersMeter {
    own: CpuMeter,
    busy_ticks: u64,
    total_ticks: u64,
}

impl OthersMeter {
    /// Starts measuring; `None` if `/proc/stat` is unavailable.
    #[must_use]
    pub fn start() -> Option<Self> {
        let (busy_ticks, total_ticks) = ticks(&fs::read_to_string("/proc/stat").ok()?)?;
        Some(Self { own: CpuMeter::start().ok()?, busy_ticks, total_ticks })
    }

    /// The average number of cores that other programs kept busy since the start, `wall` ago.
    /// Includes time taken by a hypervisor.
    #[must_use]
    pub fn busy_cores(&self, wall: Duration) -> Option<f64> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let (busy, total) = ticks(&stat)?;
        // One line for the total, and one for each core.
        let cores = stat.lines().filter(|line| line.starts_with("cpu")).count() - 1;
        let share = busy.saturating_sub(self.busy_ticks) as f64
            / total.saturating_sub(self.total_ticks).max(1) as f64;
        let own = self.own.cpu_percent_of_one_core(wall).ok()? / 100.0;
        Some((share * cores as f64 - own).max(0.0))
    }
}

/// Busy ticks and all ticks of all cores, from the text of `/proc/stat`.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    // user, nice, system, idle, iowait, irq, softirq, steal; later columns are part of user.
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|n| n.parse().ok()).collect();
    let total: u64 = ticks.iter().sum();
    Some((total - ticks.get(3)? - ticks.get(4)?, total))
}

fn percent(cpu: Duration, wall: Duration) -> f64 {
    if wall.is_zero() { 0.0 } else { 100.0 * cpu.as_secs_f64() / wall.as_secs_f64() }
}

fn cpu_ns() -> io::Result<u64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(u64::try_from(microseconds).unwrap_or(0).saturating_mul(1_000))
}

fn status_bytes(process: &str, field: &str) -> io::Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(&path)?;
    bytes_of(&status, field).ok_or_else(|| {
        let text = format!("failed to read memory: `{path}` has no number after {field}");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// The value of one line of a `status` file, which the kernel gives in units of 1024 bytes.
fn bytes_of(status: &str, field: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1500 kB\nThreads:\t2\n";

    #[test]
    fn resident_memory_is_read_in_bytes() {
        assert_eq!(bytes_of(STATUS, "VmRSS:"), Some(1500 * 1024));
        assert_eq!(bytes_of(STATUS, "VmHWM:"), Some(2048 * 1024));
        assert_eq!(bytes_of(STATUS, "Threads:"), None);
    }

    #[test]
    fn a_missing_line_is_named_in_the_error() {
        let error = status_bytes("self", "VmOdd:").unwrap_err();
        assert!(error.to_string().contains("VmOdd:"));
    }

    #[test]
    fn idle_time_and_waiting_for_a_disk_are_not_busy() {
        let stat = "cpu  10 1 5 100 20 1 2 3 4 0\ncpu0 1 2 3\n";
        assert_eq!(ticks(stat), Some((22, 142)));
        assert_eq!(ticks("intr 1"), None);
    }

    #[test]
    fn memory_of_this_process_is_at_most_its_peak() {
        let now = resident_bytes().unwrap();
        assert!(now > 0 && peak_resident_bytes(std::process::id()).unwrap() >= now);
    }

    #[test]
    fn cpu_time_never_goes_backwards() {
        let meter = CpuMeter::start().unwrap();
        let before = meter.elapsed().unwrap();
        let _ = std::hint::black_box((0..10_000u64).sum::<u64>());
        assert!(meter.elapsed().unwrap() >= before);
    }

    #[test]
    fn a_percentage_is_of_one_core() {
        let wall = Duration::from_secs(10);
        assert_eq!(percent(Duration::from_secs(17), wall), 170.0);
        assert_eq!(percent(wall, Duration::ZERO), 0.0);
    }
}
