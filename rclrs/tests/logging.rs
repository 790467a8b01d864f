//! The log: a process for each test, which logs to its standard error without a context.

use rclrs::*;
use std::borrow::Cow;
use std::process::Command;
use std::time::Duration;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Runs `test`, one of the ignored ones, in a separate process; its log, without the times.
fn log_of(test: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program);
    let child = child.args(["--exact", "--ignored", "--nocapture", "--test-threads=1", test]);
    let output = child.output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{printed}");
    let line = |line: &str| {
        let (severity, rest) = line.split_once(" [")?;
        let (_time, message) = rest.split_once("] ")?;
        Some(format!("{severity} {message}"))
    };
    printed.lines().filter_map(line).collect()
}

#[test]
#[ignore = "logs for the next test"]
fn logs_formats() -> Result {
    let (name, cow, part) = (String::from("string"), Cow::from("cow"), 7);
    log!("literal", "plain");
    log!(&name, "{} of {part}", 3);
    log!(&cow, "{part:03}",);
    log!(name.warn(), "%n %s {{}}");
    log!(&*name, "{a}", a = "named");
    let (logger, default) = (Logger::new("logger")?, Logger::default());
    let (child, top) = (logger.create_child("child")?, default.create_child("top")?);
    log!(&logger, "of a logger");
    log!(child.error(), "of a child");
    log!(top.info(), "of a child of the default");
    log!(&default, "of the default");
    Ok(())
}

#[test]
fn message_has_name_and_format() {
    let expected = [
        "[INFO] [literal]: plain",
        "[INFO] [string]: 3 of 7",
        "[INFO] [cow]: 007",
        "[WARN] [string]: %n %s {}",
        "[INFO] [string]: named",
        "[INFO] [logger]: of a logger",
        "[ERROR] [logger.child]: of a child",
        "[INFO] [top]: of a child of the default",
        "[INFO] []: of the default",
    ];
    assert_eq!(log_of("logs_formats"), expected);
}

#[test]
#[ignore = "logs for the next test"]
fn logs_severities() {
    Logger::set_default_level(LogSeverity::Debug);
    log_debug!("x", "{}", 1);
    log_info!("x", "2");
    log_warn!("x", "3");
    log_error!("x", "4");
    log_fatal!("x", "5",);
    log_warn!("x".fatal(), "the macro decides");
    log!("x".debug().error(), "the last one decides");
    log!("x".severity(LogSeverity::Fatal), "by value");
    log!("x".severity(LogSeverity::Unset), "not shown");
}

#[test]
fn message_has_severity() {
    let expected = [
        "[DEBUG] [x]: 1",
        "[INFO] [x]: 2",
        "[WARN] [x]: 3",
        "[ERROR] [x]: 4",
        "[FATAL] [x]: 5",
        "[WARN] [x]: the macro decides",
        "[ERROR] [x]: the last one decides",
        "[FATAL] [x]: by value",
    ];
    assert_eq!(log_of("logs_severities"), expected);
}

#[test]
#[ignore = "logs for the next test"]
fn logs_occurrences() {
    for turn in 0..3 {
        log!("x".once(), "once: {turn}");
        log_warn!("x".skip_first(), "skip_first: {turn}");
        log!("x".occurs(LogOccurrence::All), "all: {turn}");
        // An occurrence that the filter keeps out does not count.
        log!("x".once().only_if(turn > 0), "once filtered: {turn}");
        log!("x".skip_first().only_if(turn > 0), "skip_first filtered: {turn}");
        log!("x".only_if(turn == 1), "only_if: {turn}");
    }
}

#[test]
fn conditions_count_for_each_call() {
    let expected = [
        "[INFO] [x]: once: 0",
        "[INFO] [x]: all: 0",
        "[WARN] [x]: skip_first: 1",
        "[INFO] [x]: all: 1",
        "[INFO] [x]: once filtered: 1",
        "[INFO] [x]: only_if: 1",
        "[WARN] [x]: skip_first: 2",
        "[INFO] [x]: all: 2",
        "[INFO] [x]: skip_first filtered: 2",
    ];
    assert_eq!(log_of("logs_occurrences"), expected);
}

#[test]
#[ignore = "logs for the next test"]
fn logs_throttled() {
    let (clock, source) = Clock::with_source();
    let clock = ThrottleClock::Clock(&clock);
    let interval = Duration::from_nanos(10);
    for now in 0..25 {
        source.set_ros_time_override(now);
        log!("x".throttle(interval).throttle_clock(clock), "all: {now}");
        log!("x".skip_first().throttle(interval).throttle_clock(clock), "skip_first: {now}");
        log!("x".once().throttle(interval).throttle_clock(clock), "once: {now}");
        log!("x".throttle(Duration::ZERO).only_if(now == 24), "no limit");
        log!("x".throttle(Duration::MAX).throttle_clock(clock), "longest: {now}");
        log!("x".throttle(Duration::MAX), "steady: {now}");
        log!("x".throttle(Duration::MAX).throttle_clock(ThrottleClock::SystemTime), "system");
    }
}

#[test]
fn throttled_message_waits_for_the_interval() {
    let expected = [
        "[INFO] [x]: all: 0",
        "[INFO] [x]: once: 0",
        "[INFO] [x]: longest: 0",
        "[INFO] [x]: steady: 0",
        "[INFO] [x]: system",
        "[INFO] [x]: all: 10",
        // The skipped one has no time: the interval starts with the second one.
        "[INFO] [x]: skip_first: 11",
        "[INFO] [x]: all: 20",
        "[INFO] [x]: skip_first: 21",
        "[INFO] [x]: no limit",
    ];
    assert_eq!(log_of("logs_throttled"), expected);
}

#[test]
#[ignore = "logs for the next test"]
fn logs_after_intervals() {
    for turn in 0..3 {
        log!("x".throttle(Duration::from_millis(20)), "steady: {turn}");
        let system = ThrottleClock::SystemTime;
        log!("x".throttle(Duration::from_millis(20)).throttle_clock(system), "system: {turn}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn throttled_message_is_logged_after_the_interval() {
    let turn = |turn| ["steady", "system"].map(|clock| format!("[INFO] [x]: {clock}: {turn}"));
    assert_eq!(log_of("logs_after_intervals"), [0, 1, 2].map(turn).concat());
}

#[test]
#[ignore = "logs for the next test"]
fn logs_levels() -> Result {
    let robot = Logger::new("robot")?;
    let arm = robot.create_child("arm")?;
    let gripper = arm.create_child("gripper")?;
    let all = [&robot, &arm, &gripper, &Logger::new("robotics")?];
    let log = |step: &str| {
        for logger in all {
            log_debug!(logger, "{step}");
            log_warn!(logger, "{step}");
        }
    };
    robot.set_level(LogSeverity::Debug)?;
    log("robot");
    arm.set_level(LogSeverity::Error)?;
    gripper.set_level(LogSeverity::Warn)?;
    log("arm and gripper");
    arm.set_level(LogSeverity::Unset)?;
    robot.set_level(LogSeverity::Unset)?;
    Logger::set_default_level(LogSeverity::Fatal);
    log("default");
    gripper.clone().set_level(LogSeverity::Unset)?;
    Logger::default().set_level(LogSeverity::Warn)?;
    log("the default logger");
    Logger::set_default_level(LogSeverity::Unset);
    log_debug!(&arm, "below information");
    log_info!(&arm, "information");
    Ok(())
}

#[test]
fn logger_has_the_level_of_its_next_ancestor() {
    let expected = [
        "[DEBUG] [robot]: robot",
        "[WARN] [robot]: robot",
        "[DEBUG] [robot.arm]: robot",
        "[WARN] [robot.arm]: robot",
        "[DEBUG] [robot.arm.gripper]: robot",
        "[WARN] [robot.arm.gripper]: robot",
        "[WARN] [robotics]: robot",
        "[DEBUG] [robot]: arm and gripper",
        "[WARN] [robot]: arm and gripper",
        "[WARN] [robot.arm.gripper]: arm and gripper",
        "[WARN] [robotics]: arm and gripper",
        "[WARN] [robot.arm.gripper]: default",
        "[WARN] [robot]: the default logger",
        "[WARN] [robot.arm]: the default logger",
        "[WARN] [robot.arm.gripper]: the default logger",
        "[WARN] [robotics]: the default logger",
        "[INFO] [robot.arm]: information",
    ];
    assert_eq!(log_of("logs_levels"), expected);
}

#[test]
#[ignore = "logs for the next test"]
fn logs_nul_characters() {
    log!("a\0b".warn(), "not lost");
    log!("x", "left\0 out");
}

#[test]
fn nul_characters_lose_no_message() {
    let expected = [
        "[ERROR] [logger]: failed to use \"a\\0b\" as the name of a logger: it contains a NUL \
         character; leave it out",
        "[WARN] []: not lost",
        "[INFO] [x]: left\0 out",
    ];
    assert_eq!(log_of("logs_nul_characters"), expected);
}

#[test]
fn logger_is_its_name() -> Result {
    let logger = Logger::new(String::from("a"))?;
    assert_eq!((logger.name(), logger.create_child("b")?.name()), ("a", "a.b"));
    assert_eq!(Logger::default().name(), "");
    assert_eq!(Logger::default().create_child("a")?, logger);
    assert!(logger < Logger::new("b")?);
    assert_eq!(std::collections::HashSet::from([Logger::new("a")?, logger.clone()]).len(), 1);
    let names = [Logger::new("a\0b"), logger.create_child("\0")];
    let texts = names.map(|logger| match logger {
        Err(RclrsError::StringContainsNul { s, err }) => (s, err.nul_position()),
        other => panic!("{other:?}"),
    });
    assert_eq!(texts, [("a\0b".into(), 1), ("a.\0".into(), 2)]);
    Ok(())
}

#[test]
fn params_have_the_values_that_were_set() {
    let params = "x".to_log_params();
    assert!(matches!(params.get_logger_name(), LoggerName::Unvalidated("x")));
    assert_eq!(params.get_severity(), LogSeverity::default());
    assert!(matches!(params.get_occurence(), LogOccurrence::All));
    assert!(matches!(params.get_throttle_clock(), ThrottleClock::SteadyTime));
    assert!(params.get_throttle().is_zero() && params.get_user_filter());
    let logger = Logger::new("y").unwrap();
    let params = logger.once().warn().throttle(Duration::from_secs(1)).only_if(false);
    assert!(matches!(params.get_logger_name(), LoggerName::Validated(name) if **name == *c"y"));
    assert_eq!(params.get_severity(), LogSeverity::Warn);
    assert!(matches!(params.get_occurence(), LogOccurrence::Once));
    assert_eq!((params.get_throttle(), params.get_user_filter()), (Duration::from_secs(1), false));
}

#[test]
fn function_macro_returns_the_path_of_its_function() {
    let name = "logging::function_macro_returns_the_path_of_its_function";
    assert_eq!(rclrs::function!(), name);
    let closure = || rclrs::function!();
    assert_eq!(closure(), format!("{name}::{{{{closure}}}}"));
}
