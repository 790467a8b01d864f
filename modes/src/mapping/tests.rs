//! A mapping in text and on a graph, and its errors.

use super::*;
use ringspin_executor::ErrorKind;
use std::time::Duration;

const TEXT: &str = r#"
default_core = 0
[[core]]
id = 1
nodes = ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"]
priority = 80
"#;

fn loops() -> Vec<LoopName<'static>> {
    [
        ("/FrontLidarDriver", ""),
        ("/RearLidarDriver", ""),
        ("/EuclideanClusterDetector", ""),
        ("/EuclideanClusterDetector", "settings"),
        ("/ns/Planner", ""),
    ]
    .map(|(node, group)| LoopName { node, group })
    .to_vec()
}

fn plan(core: usize, priority: Option<u8>, loops: &[usize]) -> CorePlan {
    CorePlan { core, pin: true, priority, wait: None, loops: loops.to_vec() }
}

fn message(mapping: &Mapping) -> String {
    mapping.resolve(&loops(), &[0, 1, 3]).unwrap_err().to_string()
}

fn parse_message(text: &str) -> String {
    text.parse::<Mapping>().unwrap_err().to_string()
}

#[test]
fn parses_the_documented_file() {
    let mapping: Mapping = TEXT.parse().unwrap();
    let built = Mapping::new()
        .core(1, ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"])
        .priority(1, 80)
        .default_core(0);
    assert_eq!(mapping, built);
    assert_eq!("".parse::<Mapping>().unwrap(), Mapping::new());
}

#[test]
fn every_loop_lands_on_exactly_one_core() {
    let plans = TEXT.parse::<Mapping>().unwrap().resolve(&loops(), &[0, 1]).unwrap();
    assert_eq!(plans, [plan(0, None, &[2, 4]), plan(1, Some(80), &[0, 1, 3])]);
}

#[test]
fn the_more_specific_entry_wins_whatever_the_order() {
    let node = ["EuclideanClusterDetector"];
    let group = ["EuclideanClusterDetector:settings"];
    let first = Mapping::new().default_core(3).core(0, node).core(1, group);
    let second = Mapping::new().default_core(3).core(1, group).core(0, node);
    let expected = [plan(0, None, &[2]), plan(1, None, &[3]), plan(3, None, &[0, 1, 4])];
    assert_eq!(first.resolve(&loops(), &[0, 1, 3]).unwrap(), expected);
    assert_eq!(second.resolve(&loops(), &[0, 1, 3]).unwrap(), expected);
}

#[test]
fn an_empty_group_is_the_default_group() {
    let mapping = Mapping::new().core(1, ["/EuclideanClusterDetector:"]).default_core(0);
    let plans = mapping.resolve(&loops(), &[0, 1]).unwrap();
    assert_eq!(plans, [plan(0, None, &[0, 1, 3, 4]), plan(1, None, &[2])]);
}

#[test]
fn cores_without_loops_are_left_out() {
    let mapping = Mapping::new().core(1, [""; 0]).priority(1, 5).default_core(0);
    let plans = mapping.resolve(&loops(), &[0, 1]).unwrap();
    assert_eq!(plans, [plan(0, None, &[0, 1, 2, 3, 4])]);
    assert_eq!(Mapping::new().resolve(&[], &[]).unwrap(), []);
}

#[test]
fn the_default_core_keeps_its_priority() {
    let mapping = Mapping::new().priority(3, 7).default_core(3);
    assert_eq!(mapping.resolve(&loops()[..1], &[3]).unwrap(), [plan(3, Some(7), &[0])]);
}

#[test]
fn a_core_that_is_not_allowed_lists_the_allowed_ones() {
    assert!(message(&Mapping::new().core(2, ["/ns/Planner"])).contains("use one of 0, 1, 3"));
    assert!(message(&Mapping::new().default_core(9)).starts_with("core 9 does not exist"));
    let nowhere = Mapping::new().default_core(0).resolve(&loops(), &[]).unwrap_err();
    assert!(nowhere.to_string().contains("use one of (none)"));
}

#[test]
fn a_core_declared_twice_is_refused() {
    let mapping = Mapping::new().core(1, ["/ns/Planner"]).core(1, ["/FrontLidarDriver"]);
    let text = message(&mapping);
    assert!(text.contains("core 1 is declared twice with normal priority; merge"), "{text}");
    let mapping = Mapping::new().thread(1, 5, ["/ns/Planner"]).thread(1, 5, ["/FrontLidarDriver"]);
    let text = message(&mapping);
    assert!(text.contains("core 1 is declared twice with priority 5; merge"), "{text}");
    assert!(text.contains("give one of them another `priority`"), "{text}");
}

/// Two threads of core 1, and the rest on the lower one or on core 0.
fn two_threads() -> Mapping {
    Mapping::new()
        .thread(1, 7, ["FrontLidarDriver", "EuclideanClusterDetector:settings"])
        .core(1, ["EuclideanClusterDetector"])
        .default_core(1)
}

#[test]
fn core_has_a_thread_for_each_priority() {
    let park = Some(WaitStrategy::SpinThenPark(Duration::ZERO));
    let high = CorePlan { wait: park, ..plan(1, Some(7), &[0, 3]) };
    let plans = two_threads().resolve(&loops(), &[0, 1]).unwrap();
    assert_eq!(plans, [high.clone(), plan(1, None, &[1, 2, 4])]);
    let third = two_threads().thread(1, 90, ["/ns/Planner"]).default_core(0);
    let highest = CorePlan { wait: park, ..plan(1, Some(90), &[4]) };
    let plans = third.resolve(&loops(), &[0, 1]).unwrap();
    assert_eq!(plans, [plan(0, None, &[1]), highest, high, plan(1, None, &[2])]);
    // The default core has no thread of normal priority.
    let only = Mapping::new().thread(1, 9, ["/ns/Planner"]).thread(1, 7, ["FrontLidarDriver"]);
    let plans = only.default_core(1).resolve(&loops(), &[1]).unwrap();
    assert_eq!((plans[0].priority, &*plans[0].loops), (Some(9), &[4][..]));
    assert_eq!(plans[1], plan(1, Some(7), &[0, 1, 2, 3]));
}

#[test]
fn threads_of_one_core_are_read_and_written() {
    let text = two_threads().to_toml_string();
    assert_eq!(text.parse::<Mapping>().unwrap(), two_threads());
}

#[test]
fn thread_that_preempts_and_never_sleeps_is_refused() {
    for strategy in [WaitStrategy::Spin, WaitStrategy::Yield] {
        let text = message(&two_threads().wait(1, strategy));
        assert!(text.starts_with("the thread of core 1 with priority 7 never sleeps"), "{text}");
        assert!(text.contains("use `wait = \"park\"`"), "{text}");
    }
    let brief = WaitStrategy::SpinThenPark(Duration::from_micros(5));
    let plans = two_threads().wait(1, brief).resolve(&loops(), &[1]).unwrap();
    assert_eq!((plans[0].wait, plans[1].wait), (Some(brief), None));
    // The lower thread may spin, and so may a thread that has its core to itself.
    let mut lower = two_threads();
    lower.cores[1].wait = Some(WaitStrategy::Spin);
    assert!(lower.resolve(&loops(), &[1]).is_ok());
    let alone = Mapping::new().priority(1, 80).wait(1, WaitStrategy::Spin).default_core(1);
    assert!(alone.resolve(&loops(), &[1]).is_ok());
}

#[test]
fn a_node_named_twice_is_refused() {
    let mapping = Mapping::new().core(1, ["FrontLidarDriver"]).core(3, ["/FrontLidarDriver"]);
    let expected = "`/FrontLidarDriver` is named on core 1 and again on core 3; keep only one";
    assert_eq!(message(&mapping), expected);
    let same_core = Mapping::new().core(1, ["/ns/Planner", "ns/Planner"]);
    let expected = "`/ns/Planner` is named on core 1 and again on core 1; keep only one";
    assert_eq!(message(&same_core), expected);
}

#[test]
fn an_unknown_name_suggests_the_closest() {
    let hint = |entry: &str| message(&Mapping::new().core(1, [entry]).default_core(0));
    assert!(hint("FrontLidarDrivr").contains("did you mean `/FrontLidarDriver`? (list it in"));
    assert!(hint("frontlidardriver").contains("did you mean `/FrontLidarDriver`?"));
    assert!(hint("/Planner").contains("did you mean `/ns/Planner`?"));
    assert!(hint("RearLidarDriverX:settings").contains("did you mean `/RearLidarDriver`?"));
    let group = hint("EuclideanClusterDetector:setings");
    assert!(group.contains("did you mean `/EuclideanClusterDetector:settings`?"), "{group}");
    assert!(hint("Xyz").contains("use one of /EuclideanClusterDetector, /FrontLidarDriver"));
    let empty = Mapping::new().core(1, ["a"]).resolve(&[], &[1]).unwrap_err();
    assert!(empty.to_string().contains("the graph has no nodes"));
}

#[test]
fn entries_may_name_nodes_that_come_later() {
    let mapping = Mapping::new()
        .default_core(0)
        .core(1, ["Xyz:group"])
        .core(3, ["/ns/Planner:fast"])
        .later(["/Xyz", "ns/Planner:fast"])
        .dispatch_priority("/Xyz", 2);
    let plans = mapping.resolve(&loops(), &[0, 1, 3]).unwrap();
    assert_eq!(plans, [plan(0, None, &[0, 1, 2, 3, 4]), plan(1, None, &[]), plan(3, None, &[])]);
    let mapping = mapping.core(4, ["/ns/Planner:slow"]);
    let error = mapping.resolve(&loops(), &[0, 1, 3, 4]).unwrap_err().to_string();
    assert!(error.contains("core 4 names `/ns/Planner:slow`, which does not exist"), "{error}");
}

#[test]
fn later_loops_go_where_the_mapping_says() {
    let mapping = Mapping::new()
        .default_core(0)
        .core(1, ["/later", "/FrontLidarDriver:lane"])
        .thread(3, 7, ["/later:fast"])
        .dispatch_priority("/later", 2)
        .later(["/later", "/FrontLidarDriver:lane"]);
    let place = |mapping: &Mapping, node, group, of_node| {
        let plan = mapping.resolve(&loops(), &[0, 1, 3]).unwrap();
        let place = Placement::new(mapping, &plan);
        place.place(LoopName { node, group }, of_node).map(|of| (of.worker, of.priority))
    };
    assert_eq!(place(&mapping, "/later", "", None), Some((1, 2)));
    assert_eq!(place(&mapping, "/later", "lane", Some(1)), Some((1, 2)));
    assert_eq!(place(&mapping, "/later", "fast", Some(1)), Some((2, 2)));
    assert_eq!(place(&mapping, "/FrontLidarDriver", "lane", Some(0)), Some((1, 0)));
    assert_eq!(place(&mapping, "/other", "", None), Some((0, 0)));
    assert_eq!(place(&mapping, "/other", "group", Some(2)), Some((2, 0)), "it follows its node");
    let names: Vec<_> = loops().iter().map(|of| of.node).collect();
    let closed = Mapping::new().core(1, names.into_iter().collect::<BTreeSet<_>>());
    assert_eq!(place(&closed, "/other", "", None), None);
    let shared = Placement::shared(&Mapping::new(), &[], &[], vec![5, 3]);
    let workers =
        ["/a", "/b", "/c"].map(|node| shared.worker_of(LoopName { node, group: "" }, None));
    assert_eq!(workers, [Some(5), Some(3), Some(5)], "one after the other");
}

#[test]
fn a_balanced_mapping_has_no_default_core() {
    let balanced = |balance| Mapping { balance, ..Mapping::new() };
    assert!(balanced(None).balances() && balanced(Some(true)).balances());
    assert!(!Mapping::new().unbalanced().balances() && !balanced(None).default_core(1).balances());
    let text = message(&balanced(Some(true)).default_core(1));
    assert!(text.contains("`balance = true` and `default_core = 1`"), "{text}");
    assert_eq!("balance = false".parse::<Mapping>().unwrap(), Mapping::new().unbalanced());
}

#[test]
fn loops_do_not_share_a_core_that_a_real_time_thread_never_leaves() {
    let mapping = Mapping::new()
        .core(0, ["/a"])
        .wait(0, WaitStrategy::Spin)
        .thread(1, 5, ["/b"])
        .thread(2, 5, ["/c"])
        .wait(2, WaitStrategy::Spin)
        .core(3, ["/d"])
        .isolated(3);
    let shares: Vec<_> = (0..5).map(|core| mapping.shares(core)).collect();
    assert_eq!(shares, [true, true, false, false, true]);
}

#[test]
fn unmapped_loops_are_listed() {
    let mapping = Mapping::new()
        .core(1, ["FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:"]);
    assert_eq!(
        message(&mapping),
        "no core is given for /EuclideanClusterDetector:settings, /ns/Planner; name them \
         under a `[[core]]`, set `default_core`, or leave `balance = false` out"
    );
}

#[test]
fn a_priority_outside_the_range_is_refused() {
    for priority in [0, 100, 255] {
        let text = message(&Mapping::new().priority(1, priority).default_core(0));
        assert!(text.contains(&format!("core 1 asks for priority {priority};")), "{text}");
    }
    for priority in ["0", "100", "-1", "300"] {
        let text = parse_message(&format!("[[core]]\nid = 1\npriority = {priority}\n"));
        assert!(text.contains("line 3, column 12"), "{text}");
        assert!(text.contains(&format!("priority {priority} is outside 1..=99")), "{text}");
    }
    assert!(Mapping::new().priority(1, 1).priority(0, 99).resolve(&[], &[0, 1]).is_ok());
}

#[test]
fn parse_errors_name_line_and_column() {
    let text = parse_message("default_core = 0\n[[core]]\nid = \n");
    assert!(text.contains("the text is not a mapping"), "{text}");
    assert!(text.contains("line 3, column"), "{text}");
    let unknown = parse_message("[[core]]\nid = 0\nnode = [\"a\"]\n");
    assert!(unknown.contains("line 3, column 1"), "{unknown}");
    assert!(unknown.contains("unknown field `node`"), "{unknown}");
    assert!(parse_message("[[cores]]\nid = 0\n").contains("unknown field `cores`"));
    assert!(parse_message("[[core]]\nnodes = []\n").contains("missing field `id`"));
    assert!(parse_message("default_core = -1\n").contains("line 1, column 16"));
}

#[test]
fn load_errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapping.toml");
    let missing = Mapping::load(&path).unwrap_err();
    assert_eq!((missing.kind(), missing.path()), (ErrorKind::Io, Some(&*path)));
    assert!(missing.cause::<std::io::Error>().is_some());
    assert!(missing.to_string().contains("mapping.toml"));
    std::fs::write(&path, "[[core]]\nid = true\n").unwrap();
    let wrong = Mapping::load(&path).unwrap_err();
    assert_eq!((wrong.kind(), wrong.line()), (ErrorKind::Parse, Some(2)));
    let wrong = wrong.to_string();
    assert!(wrong.contains("mapping.toml` is not a mapping"), "{wrong}");
    assert!(wrong.contains("line 2, column 6"), "{wrong}");
    std::fs::write(&path, "default_core = 0\n[[core]]\nid = 1\nnode = [\"/a\"]\n").unwrap();
    let typo = Mapping::load(&path).unwrap_err();
    assert_eq!((typo.path(), typo.line()), (Some(&*path), Some(4)));
    assert!(typo.to_string().ends_with("\ndid you mean `nodes`?"), "{typo}");
    std::fs::write(&path, TEXT).unwrap();
    assert_eq!(Mapping::load(&path).unwrap(), TEXT.parse().unwrap());
}

#[test]
fn toml_and_back() {
    let odd = Mapping::new().core(0, ["quo\"te\n\\", "/b"]).core(7, [""; 0]).priority(7, 99);
    for mapping in [TEXT.parse().unwrap(), Mapping::new(), odd] {
        assert_eq!(mapping.to_toml_string().parse::<Mapping>().unwrap(), mapping);
        let serialised = toml::to_string(&mapping).unwrap();
        assert_eq!(serialised.parse::<Mapping>().unwrap(), mapping);
    }
}

#[test]
fn round_robin_keeps_the_groups_of_a_node_together() {
    let mapping = Mapping::round_robin(&loops(), &[4, 2]);
    assert_eq!(mapping.cores[0].nodes, ["/FrontLidarDriver", "/EuclideanClusterDetector"]);
    assert_eq!(mapping.cores[1].nodes, ["/RearLidarDriver", "/ns/Planner"]);
    let plans = mapping.resolve(&loops(), &[2, 4]).unwrap();
    assert_eq!(plans, [plan(2, None, &[1, 4]), plan(4, None, &[0, 2, 3])]);
    assert_eq!(Mapping::round_robin(&loops(), &[]), Mapping::new());
    assert!(Mapping::round_robin(&loops(), &[1, 1]).resolve(&loops(), &[1]).is_ok());
}

/// It has every key.
const TUNED: &str = r#"
default_core = 0
use_isolated = true
lock_memory = true
pin = false

[dispatch_priorities]
"/EuclideanClusterDetector" = 2
"EuclideanClusterDetector:settings" = 0
"ns/Planner" = 255

[budgets]
"/EuclideanClusterDetector:settings" = "2 ms / 10 ms"

[[core]]
id = 1
nodes = ["/FrontLidarDriver"]
priority = 80
isolated = true
wait = "50us"
"#;

#[test]
fn every_key_is_read_and_written() {
    let built = Mapping::new()
        .core(1, ["/FrontLidarDriver"])
        .priority(1, 80)
        .isolated(1)
        .wait(1, WaitStrategy::SpinThenPark(Duration::from_micros(50)))
        .dispatch_priority("/EuclideanClusterDetector", 2)
        .dispatch_priority("EuclideanClusterDetector:settings", 0)
        .dispatch_priority("ns/Planner", 255)
        .budget("/EuclideanClusterDetector:settings", budget("2 ms / 10 ms"))
        .default_core(0)
        .use_isolated()
        .unpinned()
        .lock_memory();
    let read: Mapping = TUNED.parse().unwrap();
    assert_eq!(read, built);
    assert_eq!(read.to_toml_string().parse::<Mapping>().unwrap(), built);
    assert_eq!(toml::to_string(&read).unwrap().parse::<Mapping>().unwrap(), built);
    let odd = Mapping::new().dispatch_priority("quo\"te\n\\ [x]", 1);
    assert_eq!(odd.to_toml_string().parse::<Mapping>().unwrap(), odd);
}

fn budget(text: &str) -> Budget {
    document::budget(text).unwrap()
}

#[test]
fn budgets_are_of_loops_and_possible() {
    let mapping = TUNED.parse::<Mapping>().unwrap();
    let [(index, of)] = mapping.budgets(&loops()).unwrap()[..] else { panic!("one budget") };
    assert_eq!((index, of.to_string().as_str()), (3, "2ms / 10ms"));
    let misspelt = Mapping::new().budget("/Xyz", of).budgets(&loops()).unwrap_err().to_string();
    assert!(misspelt.starts_with("`budgets` names `/Xyz`, which does not exist"), "{misspelt}");
    for (text, expected) in [
        ("2 ms", "`2 ms` is no budget; use a time and a period, as in \"2 ms / 10 ms\""),
        ("2 ms / 10", "`10` is not a duration"),
        ("10 ms / 2 ms", "a budget of 10ms in 2ms is not possible"),
    ] {
        let error = parse_message(&format!("[budgets]\n\"/a\" = \"{text}\"\n"));
        assert!(error.contains("line 2, column 8") && error.contains(expected), "{error}");
    }
    assert_eq!(budget("1.5us/1ms").to_string(), "1.5µs / 1ms");
    let precise = Mapping::new().budget("/a", budget("1234567 ns / 1.5 s"));
    assert_eq!(precise.to_toml_string().parse::<Mapping>().unwrap(), precise);
}

#[test]
fn every_wait_strategy_has_its_word() {
    for (word, strategy) in [
        ("spin", WaitStrategy::Spin),
        ("yield", WaitStrategy::Yield),
        ("park", WaitStrategy::SpinThenPark(Duration::ZERO)),
        ("2ms", WaitStrategy::SpinThenPark(Duration::from_millis(2))),
    ] {
        let read: Mapping = format!("[[core]]\nid = 1\nwait = \"{word}\"\n").parse().unwrap();
        assert_eq!(read.cores[0].wait, Some(strategy));
        assert!(read.to_toml_string().contains(&format!("wait = \"{word}\"")));
        let plans = read.default_core(1).resolve(&loops(), &[1]).unwrap();
        assert_eq!(plans[0].wait, Some(strategy));
    }
    let text = parse_message("[[core]]\nid = 1\nwait = \"sleep\"\n");
    assert!(text.contains("line 3, column 8"), "{text}");
    assert!(text.contains("use \"spin\", \"yield\", \"park\""), "{text}");
}

#[test]
fn of_dispatch_priorities_the_more_specific_wins() {
    let priorities = TUNED.parse::<Mapping>().unwrap().priorities(&loops()).unwrap();
    assert_eq!(priorities, [(2, 2), (3, 0), (4, 255)]);
    assert_eq!(Mapping::new().priorities(&loops()).unwrap(), []);
    let default_group = Mapping::new().dispatch_priority("EuclideanClusterDetector:", 3);
    assert_eq!(default_group.priorities(&loops()).unwrap(), [(2, 3)]);
}

#[test]
fn a_bad_dispatch_priority_is_refused() {
    let refused = |entry: &str| {
        let mapping = Mapping::new().default_core(0).dispatch_priority(entry, 1);
        let error = mapping.priorities(&loops()).unwrap_err().to_string();
        assert_eq!(message(&mapping), error, "`resolve` refuses it, too");
        error
    };
    assert_eq!(
        refused("EuclideanClusterDetector:setings"),
        "`dispatch_priorities` names `/EuclideanClusterDetector:setings`, which does not exist; \
         did you mean `/EuclideanClusterDetector:settings`? (list it in `later` if it is created \
         while the executor runs)"
    );
    assert!(refused("Xyz").contains("use one of /EuclideanClusterDetector, /FrontLidarDriver"));
    let twice =
        Mapping::new().dispatch_priority("/ns/Planner", 1).dispatch_priority("ns/Planner", 2);
    let error = twice.priorities(&loops()).unwrap_err().to_string();
    assert!(error.starts_with("`/ns/Planner` is twice in `dispatch_priorities`"), "{error}");
    for priority in ["-1", "256", "99999999999"] {
        let text = parse_message(&format!("[dispatch_priorities]\n\"/a\" = {priority}\n"));
        assert!(text.contains("line 2, column 8"), "{text}");
        let range = format!("dispatch priority {priority} is outside 0 (normal) to 255 (first)");
        assert!(text.contains(&range), "{text}");
    }
}

#[test]
fn mapping_may_be_optimized_online_or_not_at_all() {
    let mapping: Mapping = "optimize = \"online\"".parse().unwrap();
    assert_eq!(mapping, Mapping { optimize: Some(Optimize::Online), ..Mapping::new() });
    assert_eq!(mapping.to_toml_string().parse(), Ok(mapping));
    let text = parse_message("optimize = \"offline\"\n");
    assert!(text.contains("line 1, column 12") && text.contains("`online`"), "{text}");
}
