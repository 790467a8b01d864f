//! Accepted and refused arguments, the errors, and the effects on names.

use super::*;
use crate::base::error::Result;
use crate::base::name::{NameKind, expand, qualify};
use crate::features::parameter::ParameterValue;
use proptest::prelude::*;
use std::io::Write;

fn parse(line: &[&str]) -> Result<(Arguments, Vec<String>)> {
    Arguments::parse(line.iter().copied())
}

/// Parses `line`, in which all arguments are ROS arguments.
fn ros(line: &[&str]) -> Arguments {
    let (arguments, rest) = Arguments::parse(["--ros-args"].iter().chain(line).copied()).unwrap();
    assert!(rest.is_empty());
    arguments
}

fn refusal(line: &[&str]) -> String {
    Arguments::parse(["--ros-args"].iter().chain(line).copied()).unwrap_err().to_string()
}

/// The strongest override of a parameter.
fn value<'a>(arguments: &'a Arguments, node: &str, parameter: &str) -> Option<&'a ParameterValue> {
    let mut overrides = arguments.overrides.iter().rev();
    overrides.find(|given| given.is_for(node, parameter)).map(|given| &given.value)
}

fn file(text: &str) -> (tempfile::NamedTempFile, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    (file, path)
}

#[test]
fn arguments_outside_of_ros_args_stay_for_the_application() {
    let line = ["prog", "-r", "--ros-args", "-p", "a:=1", "--", "x", "--ros-args", "-p", "b:=2"];
    let (arguments, rest) = parse(&line).unwrap();
    assert_eq!(rest, ["prog", "-r", "x"]);
    assert_eq!(arguments.overrides.len(), 2);
    let (arguments, rest) = parse(&["--", "--ros-args", "--", "--ros-args"]).unwrap();
    assert_eq!((arguments, rest), (Arguments::default(), vec!["--".into()]));
    assert_eq!(ros(&["--ros-args", "-p", "a:=1"]).overrides.len(), 1, "said twice");
}

#[test]
fn other_arguments_of_launch_files_are_accepted() {
    assert_eq!(ros(&["--log-level", "DEBUG"]).log_level(), Some(LogLevel::Debug));
    assert_eq!(ros(&["--log-level", "talker:=warn"]).log_level(), None);
    let last = ros(&["--log-level", "info", "--log-level", "fatal"]).log_level().unwrap();
    assert_eq!((last, last.as_str()), (LogLevel::Fatal, "error"));
}

#[test]
fn arguments_for_rcl_are_kept_as_given_those_of_the_command_line_last() {
    let environment = ros(&["--log-level", "WARN", "--enable-rosout-logs"]);
    let (_keep, config) = file("");
    let line = ["--log-config-file", &config, "-p", "a:=1", "-e", "/arm", "--log-level"];
    let line = ros(&[&line[..], &["talker:=info", "--disable-external-lib-logs"]].concat());
    let both = environment.overridden_by(line);
    let words = format!(
        "--log-level WARN --enable-rosout-logs --log-config-file {config} -e /arm \
         --log-level talker:=info --disable-external-lib-logs"
    );
    assert_eq!(both.for_rcl().join(" "), words);
    assert_eq!(both.log_level(), Some(LogLevel::Warn));
}

#[test]
fn refusals_name_the_argument_and_the_way_out() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--params", "x"], "--params", "after a `--`"),
        (&["a:=b"], "a:=b", "needs `-r`"),
        (&["--enable-everything"], "--enable-everything", "unknown"),
        (&["-r"], "-r", "chatter:=/radio"),
        (&["-p", "--", "x"], "-p", "gain:=2.5"),
        (&["-r", "a"], "`a`", "from:=to"),
        (&["-r", ":=b"], ":=b", "invalid"),
        (&["-r", "a:="], "a:=", "invalid"),
        (&["-r", "a/*:=b"], "a/*:=b", "wildcards"),
        (&["-r", "a:=\\1"], "a:=\\1", "wildcards"),
        (&["-r", "{node}:=b"], "{node}:=b", "substitutions"),
        (&["-r", "a:={ns}/b"], "a:={ns}/b", "substitutions"),
        (&["-r", "__node:=a/b"], "__node:=a/b", "namespace apart"),
        (&["-r", "__ns:=a"], "__ns:=a", "`/a`"),
        (&["-r", "x y:a:=b"], "x y:a:=b", "`x y` is not a node name"),
        (&["-r", "/*:a:=b"], "/*:a:=b", "wildcards"),
        (&["-p", "a"], "`a`", "name:=value"),
        (&["-p", ":=1"], ":=1", "needs a name"),
        (&["-p", "a:="], "a:=", "`''`"),
        (&["-p", "a:={b: 1}"], "a:={b: 1}", "scalar or a list"),
        (&["-p", "a:=[1, 2.5]"], "a:=[1, 2.5]", "2.5 is of type double"),
        (&["-p", "a:=[1"], "a:=[1", "unclosed"),
        (&["-p", "no de:a:=1"], "no de:a:=1", "not a node name"),
        (&["--params-file", "/none.yaml"], "/none.yaml", "No such file"),
        (&["--params-file", "/"], "file /", "directory"),
        (&["--log-config-file", "/none.yaml"], "/none.yaml", "No such file"),
        (&["--log-level", "loud"], "loud", "use debug"),
        (&["--log-level", ":=info"], ":=info", "logger:=level"),
    ];
    for (line, argument, way_out) in cases {
        let message = refusal(line);
        assert!(message.contains(argument) && message.contains(way_out), "{line:?}: {message}");
    }
}

#[test]
fn parameter_files_are_read_and_errors_give_line_and_column() {
    let (_keep, path) = file("/**:\n  ros__parameters:\n    gain: 2.5\n");
    let arguments = ros(&["--params-file", &path]);
    assert_eq!(value(&arguments, "/any/node", "gain"), Some(&ParameterValue::Double(2.5)));
    assert_eq!(arguments.overrides[0].origin.to_string(), format!("{path}:3:5"));
    let (_keep, path) = file("/**:\n  ros__parameters:\n    gain: *anchor\n");
    assert!(refusal(&["--params-file", &path]).starts_with(&format!("{path}:3:11: ")));
    let (mut keep, path) = file("");
    keep.write_all(&[b'#', 0xff]).unwrap();
    assert!(refusal(&["--params-file", &path]).contains("UTF-8"));
    let (_keep, path) = file(&"# no end\n".repeat(500_000));
    assert!(refusal(&["--params-file", &path]).contains("split it"));
}

/// ros2/launch_ros#233, ros2/rclcpp#953: in rclcpp `-p` loses against a file that names the node,
/// because it counts as `/**`, and the order of patterns is that of their first mention.
#[test]
fn the_later_override_wins_however_its_node_is_written() {
    let (_keep, exact) = file("turtle: {ros__parameters: {b: 5}}");
    let (_keep_too, wild) = file("/**: {ros__parameters: {b: 6}}");
    let value_of = |line: &[&str]| value(&ros(line), "/turtle", "b").unwrap().clone();
    let line = ["-p", "b:=1", "--params-file", &exact, "-p", "b:=2"];
    assert_eq!(value_of(&line), ParameterValue::Integer(2));
    assert_eq!(value_of(&line[..4]), ParameterValue::Integer(5));
    let (exact, wild) = (["--params-file", &exact], ["--params-file", &wild]);
    assert_eq!(value_of(&[exact, wild].concat()), ParameterValue::Integer(6));
    assert_eq!(value_of(&[wild, exact].concat()), ParameterValue::Integer(5));
}

#[test]
fn the_command_line_wins_over_the_environment() {
    let weak = "-p a:=1 -p 'b:=\"x y\"' -r x:=/weak -r y:=/only_weak --log-level debug";
    let environment = Arguments::parse_variable(weak).unwrap();
    let line = ros(&["-p", "a:=2", "-r", "x:=/strong"]);
    let both = environment.overridden_by(line);
    assert_eq!(value(&both, "/n", "a"), Some(&ParameterValue::Integer(2)));
    assert_eq!(value(&both, "/n", "b"), Some(&ParameterValue::from("x y")));
    let resolve = |name| both.resolve(NameKind::Topic, name, "/", "n").unwrap();
    assert_eq!((resolve("x"), resolve("y")), ("/strong".into(), "/only_weak".into()));
    assert_eq!(both.log_level(), Some(LogLevel::Debug));
    assert_eq!(both.overrides[0].origin.to_string(), "RINGSPIN_ROS_ARGS `-p a:=1`");
}

#[test]
fn the_environment_may_say_ros_args_and_nothing_else() {
    assert_eq!(Arguments::parse_variable(""), Ok(Arguments::default()));
    assert_eq!(Arguments::parse_variable("--ros-args -p a:=1").unwrap().overrides.len(), 1);
    let unbalanced = Arguments::parse_variable("-p 'a:=1").unwrap_err().to_string();
    assert!(unbalanced.contains("quote") && unbalanced.contains("RINGSPIN_ROS_ARGS"));
    let unknown = Arguments::parse_variable("-p a:=1 -- more").unwrap_err();
    assert!(unknown.to_string().starts_with("unknown ROS argument `more`"), "{unknown}");
    assert_eq!(unknown.kind(), crate::ErrorKind::Parse);
}

#[test]
fn rules_match_expanded_topic_and_service_names() {
    // Rules; kind, name; expected. The node is /ns/talker.
    let cases: &[(&[&str], NameKind, &str, &str)] = &[
        (&["chatter:=radio"], NameKind::Topic, "chatter", "/ns/radio"),
        (&["chatter:=radio"], NameKind::Topic, "/ns/chatter", "/ns/radio"),
        (&["chatter:=radio"], NameKind::Topic, "/chatter", "/chatter"),
        (&["/ns/chatter:=/radio"], NameKind::Topic, "chatter", "/radio"),
        (&["~/x:=y"], NameKind::Topic, "~/x", "/ns/y"),
        (&["~/x:=y"], NameKind::Topic, "talker/x", "/ns/y"),
        (&["y:=~/x"], NameKind::Topic, "y", "/ns/talker/x"),
        (&["a:=b", "a:=c"], NameKind::Topic, "a", "/ns/b"),
        (&["a:=b", "b:=c"], NameKind::Topic, "a", "/ns/b"),
        (&["talker:a:=b"], NameKind::Topic, "a", "/ns/b"),
        (&["other:a:=b", "a:=c"], NameKind::Topic, "a", "/ns/c"),
        (&["/ns/talker:a:=b"], NameKind::Topic, "a", "/ns/b"),
        (&["/talker:a:=b"], NameKind::Topic, "a", "/ns/a"),
        (&["rostopic://a:=b"], NameKind::Topic, "a", "/ns/b"),
        (&["rostopic://a:=b"], NameKind::Service, "a", "/ns/a"),
        (&["rosservice://a:=b"], NameKind::Service, "a", "/ns/b"),
        (&["talker:rosservice:///ns/a:=/b"], NameKind::Service, "a", "/b"),
        (&["a:=b"], NameKind::Service, "a", "/ns/b"),
        (&["__node:=x", "__ns:=/y"], NameKind::Topic, "a", "/ns/a"),
    ];
    for (rules, kind, name, expected) in cases {
        let line: Vec<_> = rules.iter().flat_map(|rule| ["-r", rule]).collect();
        let resolved = ros(&line).resolve(*kind, name, "/ns", "talker").unwrap();
        assert_eq!(resolved, *expected, "{rules:?} {name}");
    }
}

#[test]
fn a_name_that_a_rule_makes_too_long_is_refused_with_the_rule() {
    let long = "b".repeat(200);
    let rule = format!("a:={long}");
    let arguments = ros(&["-r", &rule]);
    let namespace = format!("/{}", "n".repeat(100));
    let error = arguments.resolve(NameKind::Topic, "a", &namespace, "node").unwrap_err();
    assert!(error.to_string().starts_with(&format!("invalid remapped name {rule:?}: ")));
}

/// The order of the design document: a node's name, then its namespace, then the rest.
#[test]
fn node_name_is_remapped_before_its_namespace() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "/ns/talker"),
        (&["__node:=x"], "/ns/x"),
        (&["__name:=x", "__name:=y"], "/ns/x"),
        (&["__ns:=/y"], "/y/talker"),
        (&["__ns:=/"], "/talker"),
        (&["__ns:=/y", "__node:=x"], "/y/x"),
        (&["talker:__node:=x"], "/ns/x"),
        (&["other:__node:=x"], "/ns/talker"),
        (&["talker:__node:=x", "talker:__ns:=/y"], "/ns/x"),
        (&["talker:__node:=x", "x:__ns:=/y"], "/y/x"),
        // ros2/rcl#806 wants to tell nodes apart that are to have one name in two namespaces.
        (&["/ns/talker:__node:=x", "/ns/x:__ns:=/y"], "/y/x"),
        (&["/talker:__node:=x"], "/ns/talker"),
    ];
    for (rules, expected) in cases {
        let line: Vec<_> = rules.iter().flat_map(|rule| ["-r", rule]).collect();
        let arguments = ros(&line);
        let names = arguments.remap_node("/ns".into(), "talker");
        assert_eq!(qualify(&names.namespace, &names.name), *expected, "{rules:?}");
        assert_eq!(names.rule.is_some(), *expected != "/ns/talker", "{rules:?}");
    }
}

/// rclcpp reads `node:x` as `/node`, so that it never reaches a node in a namespace.
#[test]
fn the_node_before_a_parameter_is_a_name_in_any_namespace() {
    let arguments = ros(&["-p", "talker:a:=1", "-p", "/ns/*:b.c:=[1.5]"]);
    for node in ["/talker", "/ns/talker"] {
        assert_eq!(value(&arguments, node, "a"), Some(&ParameterValue::Integer(1)));
    }
    assert_eq!(value(&arguments, "/other", "a"), None);
    let list = ParameterValue::DoubleArray(vec![1.5]);
    assert_eq!(value(&arguments, "/ns/x", "b.c"), Some(&list));
    assert_eq!(value(&arguments, "/x", "b.c"), None);
}

/// A valid name, perhaps absolute or private.
fn any_name() -> impl Strategy<Value = String> {
    let token = "[a-z][a-z0-9]{0,5}(_[a-z0-9]{1,3})?";
    let tokens = prop::collection::vec(token, 1..4).prop_map(|tokens| tokens.join("/"));
    (prop_oneof![Just(""), Just("/"), Just("~/")], tokens)
        .prop_map(|(head, rest)| head.to_owned() + &rest)
}

fn any_namespace() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::from("/")), "(/[a-z]{1,4}){1,3}"]
}

proptest! {
    #[test]
    fn expanding_twice_is_expanding_once(name in any_name(), namespace in any_namespace()) {
        let once = expand(NameKind::Topic, &name, &namespace, "node").unwrap();
        prop_assert!(once.starts_with('/'));
        prop_assert_eq!(&expand(NameKind::Topic, &once, "/else", "where").unwrap(), &once);
    }

    #[test]
    fn a_rule_and_its_reverse_lead_back(
        from in any_name(),
        to in any_name(),
        namespace in any_namespace(),
    ) {
        let there = ros(&["-r", &format!("{from}:={to}")]);
        let back = ros(&["-r", &format!("{to}:={from}")]);
        let resolve = |arguments: &Arguments, name: &str| {
            arguments.resolve(NameKind::Topic, name, &namespace, "node").unwrap()
        };
        let original = expand(NameKind::Topic, &from, &namespace, "node").unwrap();
        let mapped = resolve(&there, &from);
        prop_assert_eq!(&mapped, &expand(NameKind::Topic, &to, &namespace, "node").unwrap());
        prop_assert_eq!(resolve(&back, &mapped), original);
    }

    #[test]
    fn no_argument_panics(
        line in prop::collection::vec(prop_oneof![
            Just(String::from("--ros-args")), Just("--".into()), Just("-r".into()),
            Just("-p".into()), Just("--log-level".into()), ".{0,12}",
            "[a~/*:=.1{}\\[\\]'\"& -]{0,16}",
        ], 0..8),
        name in ".{0,8}",
    ) {
        if let Ok((arguments, _)) = Arguments::parse(line) {
            let _ = arguments.resolve(NameKind::Topic, &name, "/ns", "node");
            let _ = arguments.remap_node("/ns".into(), "node");
        }
    }

    #[test]
    fn splitting_the_environment_never_panics(text in ".{0,40}") {
        let _ = Arguments::parse_variable(&text);
    }
}
