//! Replays by a whole program, in fresh processes and in the live modes: without a known command,
//! it is its own test, which starts itself with one.

mod drive;

use drive::{Drive, program};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("replay") => program(arguments.iter().any(|argument| argument == "--job")).main(),
        Some("--list") => ExitCode::SUCCESS,
        // An emulated program cannot start itself.
        _ if std::env::var_os("RINGSPIN_TEST_RUNNER").is_some() => ExitCode::SUCCESS,
        _ => {
            verify_compares_recordings_of_fresh_processes();
            live_replay_is_paced_and_recorded();
            exit_codes_of_live_replays_are_those_of_their_nodes();
            println!("test result: ok");
            ExitCode::SUCCESS
        }
    }
}

/// Starts this program in a mode; returns its exit code and output.
fn start(drive: &Drive, mode: &str, line: &str) -> (i32, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.env("RINGSPIN_MODE", mode).args(drive.words(line)).output().unwrap();
    let text = drive.text(output.stdout) + &drive.text(output.stderr);
    (output.status.code().unwrap(), text)
}

fn verify_compares_recordings_of_fresh_processes() {
    let drive = Drive::new(4);
    let (code, text) = start(&drive, "", "replay $drive --verify --runs 4 --record $out.mcap");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("  4 runs had the same dispatches and recordings\n"), "{text}");
    assert_eq!(drive.bag("out.mcap").message_count(), 8);
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"process\"\n")
        .unwrap();
    let line = "replay $drive --verify --job $job.toml --ros-args -r process:=pid";
    let (code, text) = start(&drive, "deterministic", line);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("run 3") && text.contains("/pid: message 0"), "{text}");
}

fn live_replay_is_paced_and_recorded() {
    for mode in ["single", "multi"] {
        let drive = Drive::new(3);
        let line = "replay $drive --record $out --rate 20 --settle 2s";
        let (code, text) = start(&drive, mode, line);
        assert_eq!(code, 0, "{mode}: {text}");
        assert!(
            text.starts_with("$drive: live for ") && text.contains("3 messages played"),
            "{text}"
        );
        assert!(text.contains("6 messages recorded in $out"), "{mode}: {text}");
        // Two seconds at twenty times the speed, whatever the machine does besides.
        let out = drive.bag("out");
        let length = out.duration();
        assert!(length.as_millis() >= 90, "{mode}: {length:?}");
        let (code, text) = start(&drive, mode, "replay $drive --verify");
        assert!(code == 2 && text.contains("RINGSPIN_MODE=deterministic"), "{mode}: {text}");
    }
}

fn exit_codes_of_live_replays_are_those_of_their_nodes() {
    for (node, expected, part) in
        [("limit", 7, "a node ended it with exit code 7"), ("fails", 1, "four is too much")]
    {
        let drive = Drive::new(6);
        let job = format!("endless = true\n[[node]]\ntype = \"{node}\"\n");
        std::fs::write(drive.path("job.toml"), job).unwrap();
        let line = "replay $drive --job $job.toml --rate 100 --settle 60s";
        let (code, text) = start(&drive, "single", line);
        assert!(code == expected && text.contains(part), "{node}: {code} {text}");
    }
}
