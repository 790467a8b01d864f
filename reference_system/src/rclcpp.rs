//! The executors of rclcpp on the same workload: upstream's executables are run, and the figures
//! that they print for each sample are read.
//!
//! They are compiled for one N (upstream's default is 4096) and send every message through the
//! middleware that is sourced. They print the latency from sample to start, and the planner's
//! period.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::time::ClockId;
use nix::unistd::Pid;
use ringspin_bench::Meters;
use ringspin_bench::process::peak_resident_bytes;
use ringspin_bench::results::{Series, Turn};
use ringspin_executor::BoxError;
use ringspin_report::Definition;

use crate::kpi::{PLANNER_PERIOD, WARM_UP_SAMPLES};

/// The package of upstream, below `lib` of an installation.
const PACKAGE: &str = "autoware_reference_system";

/// The beginning of the executables' names.
const PREFIX: &str = "autoware_default_";

/// The start of an executable, which its CPU figure leaves out.
const START: Duration = Duration::from_secs(1);

/// The time in which an executable must end after its interrupt.
const GRACE: Duration = Duration::from_secs(5);

/// An executable of upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The name in results: `rclcpp multithreaded`.
    pub name: String,
    path: PathBuf,
}

/// The executables in `folder`, or else in the sourced workspaces, by name.
///
/// # Errors
/// An error with the searched folders if there is none.
pub fn peers(folder: Option<&Path>) -> Result<Vec<Peer>, BoxError> {
    let sourced = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = match folder {
        Some(folder) => vec![folder.to_owned()],
        None => std::env::split_paths(&sourced).map(|of| of.join("lib").join(PACKAGE)).collect(),
    };
    let mut peers = Vec::new();
    for entry in folders.iter().flat_map(std::fs::read_dir).flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.strip_prefix(PREFIX).map(|name| format!("rclcpp {name}"));
        peers.extend(name.map(|name| Peer { name, path: entry.path() }));
    }
    if peers.is_empty() {
        let mut searched: Vec<String> =
            folders.iter().map(|of| format!("`{}`", of.display())).collect();
        if searched.is_empty() {
            searched.push("AMENT_PREFIX_PATH, which is empty".to_owned());
        }
        return Err(format!(
            "found no executable `{PREFIX}*` in {}; build upstream's reference system, source its \
             workspace, or give its folder",
            searched.join(", ")
        )
        .into());
    }
    peers.sort_by(|a, b| a.name.cmp(&b.name));
    peers.dedup_by(|b, a| a.name == b.name);
    Ok(peers)
}

impl Peer {
    /// Runs the executable for `duration`; `None` if a signal ended it early.
    ///
    /// # Errors
    /// An error if it cannot be run, ends by itself, or prints no latency.
    pub fn run(&self, duration: Duration) -> Result<Option<Turn>, BoxError> {
        let path = self.path.display();
        let failed = |error: std::io::Error| {
            format!("failed to run `{path}`: {error}; check that ROS 2 is sourced")
        };
        let meters = Meters::start()?;
        let mut command = Command::new(&self.path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let output = child.stdout.take();
        let reader = std::thread::spawn(move || output.map(Log::read).unwrap_or_default());
        let start = duration.min(START);
        std::thread::sleep(start);
        let before = cpu(&child);
        std::thread::sleep(duration - start);
        let spent = before.zip(cpu(&child)).map_or(Duration::ZERO, |(before, now)| now - before);
        let cpu_percent = 100.0 * spent.as_secs_f64() / (duration - start).as_secs_f64().max(1e-9);
        let (turn, rss_bytes) = (meters.turn()?, peak_resident_bytes(child.id()).unwrap_or(0));
        let early = child.try_wait().map_err(failed)?;
        stop(&mut child).map_err(failed)?;
        if let Some(status) = early {
            use std::os::unix::process::ExitStatusExt;
            // Ctrl-C reaches it, too.
            let is_interrupted = matches!(status.signal().or(status.code()), Some(2 | 130 | 0));
            let error = format!("`{path}` ended early ({status}); run it by hand to see why");
            return if is_interrupted { Ok(None) } else { Err(error.into()) };
        }
        let log = reader.join().unwrap_or_default();
        if log.latencies_ns.is_empty() {
            return Err(format!(
                "`{path}` printed no latency of the hot path; run it for longer, or build it \
                 without upstream's benchmark mode"
            )
            .into());
        }
        let latency = Series::new(Definition::SampleToStart.name(), log.latencies_ns);
        Ok(Some(Turn {
            latencies: vec![latency],
            periods: vec![Series::new(PLANNER_PERIOD, log.periods_ns)],
            drops: log.drops,
            cpu_percent,
            rss_bytes,
            ..turn
        }))
    }
}

/// Ends a child: by an interrupt, or by force.
fn stop(child: &mut Child) -> std::io::Result<()> {
    let id = Pid::from_raw(child.id().cast_signed());
    let interrupted = Instant::now();
    // It fails if the child has ended already.
    let _ = kill(id, Signal::SIGINT);
    while child.try_wait()?.is_none() {
        if interrupted.elapsed() > GRACE {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The CPU time of a child so far; `None` once it has ended.
fn cpu(child: &Child) -> Option<Duration> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(child.id().cast_signed())).ok()?;
    clock.now().ok().map(Duration::from)
}

/// The figures that an executable printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Log {
    latencies_ns: Vec<u64>,
    periods_ns: Vec<u64>,
    drops: u64,
}

impl Log {
    /// Reads lines such as `hot path latency: 1.25ms [min=1ms, ...]`: the first figure is that of
    /// the sample. Latencies and drops of the first ten samples are left out, as those of ringspin.
    /// So is a latency below zero: upstream subtracts unsigned times, and prints it as 2^64 ns.
    fn read(output: impl std::io::Read) -> Self {
        let (mut log, mut samples) = (Self::default(), 0);
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Some((name, value)) = line.split_once(':') else { continue };
            let Some(value) = value.split_whitespace().next() else { continue };
            let ms = value.strip_suffix("ms").and_then(|ms| ms.parse::<f64>().ok());
            let ns = ms.filter(|ms| (0.0..1e12).contains(ms)).map(|ms| (ms * 1e6).round() as u64);
            match (name.trim(), ns, value.parse::<u64>()) {
                ("hot path latency", Some(ns), _) => {
                    samples += 1;
                    log.latencies_ns.extend((samples > WARM_UP_SAMPLES).then_some(ns));
                }
                ("hot path drops", _, Ok(drops)) if samples > WARM_UP_SAMPLES => log.drops += drops,
                // No period is known before the second call.
                ("behavior planner period", Some(ns), _) if ns > 0 => log.periods_ns.push(ns),
                _ => {}
            }
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample as upstream prints it.
    fn printed(latency: &str, drops: u64) -> String {
        format!(
            "----------------------------------------------------------\n\
             sample path: (VehicleDBWSystem) \n\
             \x20 order timepoint           sequence nr.                  node name     dropped\n\
             bp period\nlatency\n\nStatistics:\n\
             \x20 latency:                  101.5ms [min=90ms, max=120ms, average=100ms, \
             deviation=3ms]\n\
             hotpath\n\
             \x20 hot path:                 FrontLidarDriver/RearLidarDriver -> \
             ObjectCollisionEstimator\n\
             \x20 hot path latency:         {latency}ms [min=1ms, max=9ms, average=2ms, \
             deviation=nanms]\n\
             \x20 hot path drops:           {drops} [min=0, max=1, average=0.5, deviation=0]\n\
             \x20 behavior planner period:  100.25ms [min=99ms, max=101ms, average=100ms, \
             deviation=0.5ms]\n\
             ----------------------------------------------------------\n"
        )
    }

    #[test]
    fn the_figures_of_each_sample_are_read() {
        let mut text: String = (0..10).map(|_| printed("50", 7)).collect();
        text += &(printed("1.23456", 0) + &printed("2e+01", 3) + &printed("1.84467e+13", 0));
        text += "hot path latency: soon\n";
        let log = Log::read(text.as_bytes());
        assert_eq!(log.latencies_ns, [1_234_560, 20_000_000]);
        assert_eq!(log.drops, 3);
        assert_eq!(log.periods_ns, [100_250_000; 13]);
        assert_eq!(Log::read(&b"\xff\nhot path\n"[..]), Log::default());
    }

    /// A folder with a program of this text that looks like upstream's.
    fn folder(text: &str) -> tempfile::TempDir {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("autoware_default_fake");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        folder
    }

    #[test]
    fn an_executable_is_run_for_its_time_and_then_interrupted() {
        let samples: String = (0..12).map(|_| printed("1.5", 0)).collect();
        let text = format!("#!/bin/sh\ncat <<'END'\n{samples}END\nexec sleep 60\n");
        let (short, folder) = (Duration::from_millis(200), folder(&text));
        let peers = peers(Some(folder.path())).unwrap();
        assert_eq!(peers[0].name, "rclcpp fake");
        let turn = peers[0].run(short).unwrap().unwrap();
        assert_eq!(turn.latencies[0].samples_ns, [1_500_000; 2]);
        assert!(turn.rss_bytes > 0 && turn.wall_s < 60.0);
    }

    #[test]
    fn failures_name_the_executable_and_the_way_out() {
        let run = |text: &str| {
            let folder = folder(text);
            let peers = peers(Some(folder.path())).unwrap();
            peers[0].run(Duration::from_millis(100)).map(|_| ()).unwrap_err().to_string()
        };
        let ended = run("#!/bin/sh\nexit 3\n");
        assert!(ended.contains("autoware_default_fake") && ended.contains("by hand"), "{ended}");
        assert!(run("#!/bin/sh\nexec sleep 60\n").contains("benchmark mode"));
        let empty = tempfile::tempdir().unwrap();
        let missing = super::peers(Some(empty.path())).unwrap_err().to_string();
        assert!(missing.contains("source its workspace"), "{missing}");
    }
}
