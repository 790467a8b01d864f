//! Replays by a whole program, in fresh processes and in the live modes: without a known command,
//! it is its own test, which starts itself with one.

mod drive;

use drive::{Drive, program};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("replay" | "results") => {
            program(arguments.iter().any(|argument| argument == "--job")).main()
        }
        Some("--list") => ExitCode::SUCCESS,
        // An emulated program cannot start itself.
        _ if std::env::var_os("RINGSPIN_TEST_RUNNER").is_some() => ExitCode::SUCCESS,
        _ => {
            verify_compares_recordings_of_fresh_processes();
            shards_replay_each_recording_on_its_own();
            live_replay_is_paced_and_recorded();
            exit_codes_of_live_replays_are_those_of_their_nodes();
            a_paused_replay_starts_with_enter_and_a_repeated_one_begins_again();
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

fn shards_replay_each_recording_on_its_own() {
    let drive = Drive::new(4);
    for name in ["a.mcap", "b.mcap", "c.mcap"] {
        let (code, text) = start(&drive, "", &format!("replay $drive --record ${name}"));
        assert_eq!(code, 0, "{text}");
    }
    let shard = |k| format!("replay $*.mcap --each --verify --shard {k}/2 --results $r");
    let (code, text) = start(&drive, "", &shard(1));
    assert_eq!(code, 0, "{text}");
    for part in ["$a.mcap: ", "$c.mcap: ", "3 runs had the same", "2 of 3 items, 0 of them"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, text) = start(&drive, "", "results merge $r");
    assert!(code == 2 && text.contains("replay $b.mcap: 0 runs"), "{code} {text}");
    assert_eq!(start(&drive, "", &shard(2)).0, 0);
    // A recording with another content is replayed again.
    std::fs::remove_file(drive.path("c.mcap")).unwrap();
    let line = "replay $drive --playback-duration 1 --record $c.mcap";
    let (code, text) = start(&drive, "", line);
    assert_eq!(code, 0, "{text}");
    let (code, text) = start(&drive, "", &shard(1));
    assert!(code == 0 && text.contains("2 of 3 items, 1 of them were there"), "{text}");
    let (code, text) = start(&drive, "", "results merge $r");
    assert!(code == 0 && text.contains("replay $c.mcap: 1 runs, 1 digests"), "{text}");
    assert!(text.contains("  3 of 3 callbacks were called\n"), "{text}");
    for (line, part) in [
        ("replay $drive --shard 1/2", "`--shard` is for several replays: add `--each`"),
        ("replay $drive --each --record $out", "cannot be used with"),
    ] {
        let (code, text) = start(&drive, "", line);
        assert!(code == 2 && text.contains(part), "{line}: {text}");
    }
    let (code, text) = start(&drive, "single", "replay $drive --results $r");
    assert!(code == 2 && text.contains("`--results` is for the deterministic mode"), "{text}");
}

fn live_replay_is_paced_and_recorded() {
    for mode in ["single", "multi"] {
        let drive = Drive::new(3);
        let line = "replay $drive --record $out --rate 20 --settle 2s";
        let (code, text) = start(&drive, mode, line);
        assert_eq!(code, 0, "{mode}: {text}");
        // Two seconds at twenty times the speed, and the time to settle. The recording may be
        // shorter than its part: on a busy machine the first message is received late.
        let live = text.strip_prefix("$drive: live for ").and_then(|text| text.split_once("s\n"));
        let (seconds, _) = live.unwrap_or_else(|| panic!("{mode}: {text}"));
        assert!(seconds.parse::<f64>().unwrap() >= 2.1, "{mode}: {text}");
        assert!(text.contains("3 messages played"), "{mode}: {text}");
        assert!(text.contains("6 messages recorded in $out"), "{mode}: {text}");
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

fn a_paused_replay_starts_with_enter_and_a_repeated_one_begins_again() {
    let drive = Drive::new(1);
    // The node ends the run at the fourth message, which is of the fourth lap.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("RINGSPIN_MODE", "single").stdin(Stdio::piped()).stdout(Stdio::piped());
    let words = drive.words("replay $drive --start-paused --loop --job $job.toml");
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"fourth\"\n")
        .unwrap();
    let mut replay = command.args(words).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut errors = BufReader::new(replay.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    assert_eq!(line, "paused: press Enter to start\n");
    assert!(replay.try_wait().unwrap().is_none(), "it has not waited");
    replay.stdin.take().unwrap().write_all(b"\n").unwrap();
    let output = replay.wait_with_output().unwrap();
    let text = drive.text(output.stdout);
    assert!(output.status.code() == Some(7) && text.contains("exit code 7"), "{text}");
    let (code, text) = start(&drive, "", "replay $drive --loop");
    assert!(code == 2 && text.contains("set RINGSPIN_MODE=single"), "{text}");
}
