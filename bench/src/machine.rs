//! The machine: a description of it, its state during a measurement, and the conditions that
//! disturb one, each with a remedy.

use ringspin_modes::allowed_cores;
use ringspin_report::results::{Conditions, Finding, Machine};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bits of the firmware's word on throttling; those of the past are 16 bits higher.
const THROTTLING: [(u32, &str); 4] = [
    (1, "the supply voltage is too low"),
    (2, "the frequency is capped"),
    (4, "the processor is throttled"),
    (8, "the soft temperature limit is reached"),
];

/// The temperature above which a processor is about to be throttled, in degrees Celsius.
const HOT_C: f64 = 75.0;

/// The number of cores kept busy by other programs above which a measurement is disturbed.
const NOTABLE_CORES: f64 = 0.1;

/// The operating system's files on the machine, below a root directory.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

/// The permissions of this process that a measurement may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Whether its threads may have SCHED_FIFO priorities.
    pub fifo: bool,
    /// Whether it may lock its memory.
    pub lock_memory: bool,
}

impl Permissions {
    /// The permissions of this process. Tries them on a separate thread.
    #[must_use]
    pub fn here() -> Self {
        let fifo = std::thread::spawn(|| ringspin_modes::thread::set_fifo_priority(1).is_ok());
        let fifo = fifo.join().unwrap_or(false);
        Self { fifo, lock_memory: ringspin_modes::may_lock_memory() }
    }
}

impl Default for System {
    fn default() -> Self {
        Self::at("/")
    }
}

impl System {
    /// The files of a system below this root directory; `/` is this machine.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn read(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.read(path)?.parse().ok()
    }

    /// The text of `file` in each directory of `parent` named by `prefix` and a number, by rising
    /// number.
    fn each(&self, parent: &str, prefix: &str, file: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(parent)).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
        let mut numbers: Vec<u32> =
            entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        let path = |n: &u32| format!("{parent}/{prefix}{n}/{file}");
        numbers.iter().filter_map(|n| self.read(&path(n))).collect()
    }

    /// The description of the machine.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let text = |path: &str| self.read(path).unwrap_or_default();
        let mut governors = self.each(CPUS, "cpu", "cpufreq/scaling_governor");
        governors.sort_unstable();
        governors.dedup();
        let release = text("etc/os-release");
        let named = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        let board = self.read("proc/device-tree/model");
        Machine {
            model: board.or_else(|| self.processor()).unwrap_or_else(|| "unknown".into()),
            architecture: std::env::consts::ARCH.into(),
            cores: allowed_cores().len(),
            kernel: text("proc/sys/kernel/osrelease"),
            real_time: self.read("sys/kernel/realtime").as_deref() == Some("1"),
            governor: governors.join(", "),
            isolated: text("sys/devices/system/cpu/isolated"),
            os: named.unwrap_or_default().trim_matches('"').to_owned(),
        }
    }

    /// The processor's name.
    #[must_use]
    pub fn processor(&self) -> Option<String> {
        processor_name(&self.read("proc/cpuinfo")?, std::env::consts::ARCH)
    }

    /// The current conditions.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        let frequencies = self.each(CPUS, "cpu", "cpufreq/scaling_cur_freq");
        let mhz = |khz: &String| Some(khz.parse::<f64>().ok()? / 1e3);
        let sensors = self.each("sys/class/thermal", "thermal_zone", "temp");
        let degrees = sensors.iter().filter_map(|of| Some(of.parse::<f64>().ok()? / 1e3));
        Conditions {
            frequencies_mhz: frequencies.iter().filter_map(mhz).collect(),
            temperature_c: degrees.reduce(f64::max),
            throttled: self.throttled(),
        }
    }

    /// The firmware's word on throttling of a Raspberry Pi.
    fn throttled(&self) -> Option<u32> {
        let file = self.read("sys/devices/platform/soc/soc:firmware/get_throttled");
        let text = file.or_else(|| {
            let is_here = self.root == Path::new("/");
            let said = Command::new("vcgencmd").arg("get_throttled").output();
            String::from_utf8(is_here.then_some(said)?.ok()?.stdout).ok()
        })?;
        let hex = text.trim().trim_start_matches("throttled=").trim_start_matches("0x");
        u32::from_str_radix(hex, 16).ok()
    }

    /// The energy that the processor has used since some moment, in joules, if it is counted.
    #[must_use]
    pub fn energy_j(&self) -> Option<f64> {
        Some(self.number("sys/class/powercap/intel-rapl:0/energy_uj")? / 1e6)
    }

    /// The conditions that disturb a measurement. `busy_cores` is the number of cores that other
    /// programs keep busy, if known.
    #[must_use]
    pub fn findings(&self, permissions: Permissions, busy_cores: Option<f64>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut find = |found: String, fix: &str| {
            findings.push(Finding { found, fix: fix.to_owned() });
        };
        let (machine, conditions) = (self.machine(), self.conditions());
        let governor = &machine.governor;
        if !governor.is_empty() && governor != "performance" {
            find(
                format!("the governor is {governor}: frequencies change during the measurement"),
                "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            );
        }
        if let Some(said) = throttling(conditions.throttled.unwrap_or(0)) {
            find(said, "use the official power supply and a fan, let it cool, and reboot");
        }
        if let Some(hot) = conditions.temperature_c.filter(|c| *c >= HOT_C) {
            find(format!("the processor has {hot:.0} degrees Celsius"), "add a fan, or wait");
        }
        if let Some(busy) = busy_cores.filter(|busy| *busy >= NOTABLE_CORES) {
            find(format!("other programs keep {busy:.1} cores busy"), "end them");
        }
        if !machine.real_time {
            let fix = "boot a kernel with PREEMPT_RT for short maxima";
            find("the kernel is not a real-time one".into(), fix);
        }
        if machine.isolated.is_empty() && machine.cores > 1 {
            let fix = "isolcpus=... on the kernel's command line, and `use_isolated` in a mapping";
            find("no core is isolated from other programs".into(), fix);
        }
        let limit = self.number("proc/sys/kernel/sched_rt_runtime_us");
        if let Some(limit) = limit.filter(|us| *us >= 0.0) {
            let fix = "sudo sysctl kernel.sched_rt_runtime_us=-1 if real-time threads spin";
            find(format!("a real-time thread has {:.0} % of a core at most", limit / 1e4), fix);
        }
        if !permissions.fifo {
            let fix = "ulimit -r 99, `rtprio 99` in /etc/security/limits.conf, or run as root";
            find("threads may not have SCHED_FIFO priorities".into(), fix);
        }
        if !permissions.lock_memory {
            let fix = "ulimit -l unlimited, `memlock unlimited` in /etc/security/limits.conf";
            find("memory may not be locked, so page faults may delay callbacks".into(), fix);
        }
        findings
    }
}

/// The processor's name in /proc/cpuinfo, for a program of this architecture. Under an emulator the
/// file is that of the machine below it.
fn processor_name(cpuinfo: &str, architecture: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    let is_x86 = cpuinfo.contains("vendor_id");
    let is_emulated = is_x86 && !architecture.starts_with("x86");
    Some(if is_emulated { format!("{architecture}, emulated on {name}") } else { name.to_owned() })
}

const CPUS: &str = "sys/devices/system/cpu";

/// The firmware's word on throttling as text; `None` for none.
#[must_use]
pub fn throttling(word: u32) -> Option<String> {
    let now = THROTTLING.iter().filter(|(bit, _)| word & bit != 0);
    let now: Vec<_> = now.map(|(_, said)| (*said).to_owned()).collect();
    let earlier = THROTTLING.iter().filter(|(bit, _)| word & (bit << 16) != 0);
    let earlier = earlier.map(|(_, said)| format!("since the start of the system, {said}"));
    match now.is_empty() {
        false => Some(now.join("; ")),
        true => earlier.reduce(|a, b| format!("{a}; {b}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Permissions = Permissions { fifo: true, lock_memory: true };

    /// A Raspberry Pi with these files.
    fn pi(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        let usual = [
            ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0"),
            ("proc/sys/kernel/osrelease", "6.12.34-v8-rt\n"),
            ("proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
            ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
            ("sys/kernel/realtime", "1\n"),
            ("sys/devices/system/cpu/isolated", "3\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu10/cpufreq/scaling_cur_freq", "600000\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "1500000\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
            ("sys/class/thermal/thermal_zone0/temp", "48312\n"),
            ("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n"),
        ];
        for (path, text) in usual.iter().chain(files) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let system = System::at(root.path());
        (root, system)
    }

    #[test]
    fn a_prepared_pi_is_described_and_has_no_findings() {
        let (_root, system) = pi(&[]);
        let machine = system.machine();
        assert_eq!(machine.model, "Raspberry Pi 4 Model B Rev 1.4");
        assert_eq!((machine.kernel.as_str(), machine.real_time), ("6.12.34-v8-rt", true));
        assert_eq!((machine.governor.as_str(), machine.isolated.as_str()), ("performance", "3"));
        assert_eq!(machine.os, "Debian GNU/Linux 12");
        let conditions = system.conditions();
        assert_eq!(conditions.frequencies_mhz, [1500.0, 600.0], "by rising core");
        assert_eq!((conditions.temperature_c, conditions.throttled), (Some(48.312), Some(0)));
        assert_eq!(system.findings(ALL, Some(0.0)), []);
    }

    #[test]
    fn an_emulated_processor_is_named_as_such() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n";
        let name = |architecture| processor_name(cpuinfo, architecture).unwrap();
        assert_eq!(name("x86_64"), "AMD EPYC");
        assert_eq!(name("aarch64"), "aarch64, emulated on AMD EPYC");
        assert_eq!(processor_name("CPU part\t: 0xd08\n", "aarch64"), None);
    }

    #[test]
    fn each_disturbance_is_found_with_a_remedy() {
        let found = |files: &[(&str, &str)], permissions, busy| {
            let (_root, system) = pi(files);
            let findings = system.findings(permissions, busy);
            assert!(findings.iter().all(|finding| !finding.fix.is_empty()));
            findings.into_iter().map(|finding| finding.found).collect::<Vec<_>>().join("; ")
        };
        let throttled = "sys/devices/platform/soc/soc:firmware/get_throttled";
        let governor = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
        let cases = [
            ((throttled, "50005\n"), "voltage is too low; the processor is throttled"),
            ((throttled, "0x50000\n"), "since the start of the system, the supply voltage"),
            ((governor, "ondemand\n"), "the governor is ondemand, performance"),
            (("sys/class/thermal/thermal_zone1/temp", "80500"), "80 degrees"),
            (("sys/kernel/realtime", "0"), "not a real-time one"),
            (("sys/devices/system/cpu/isolated", "\n"), "no core is isolated"),
            (("proc/sys/kernel/sched_rt_runtime_us", "950000"), "95 % of a core"),
        ];
        for (file, expected) in cases {
            let text = found(&[file], ALL, None);
            assert!(text.contains(expected), "{file:?}: {text}");
        }
        assert!(found(&[], ALL, Some(1.25)).contains("1.2 cores busy"));
        let none = Permissions { fifo: false, lock_memory: false };
        let text = found(&[], none, None);
        assert!(text.contains("SCHED_FIFO") && text.contains("memory may not be locked"), "{text}");
    }

    #[test]
    fn a_system_without_these_files_is_described_as_far_as_known() {
        let system = System::at("/nonexistent");
        assert_eq!(system.machine().model, "unknown");
        assert_eq!(system.conditions(), Conditions::default());
        assert_eq!(system.energy_j(), None);
        assert!(!system.findings(ALL, None).is_empty());
    }
}
