//! A graph of three nodes in a row, with evaluations computed by hand.

use super::*;
use crate::objective::Objective;
use ringspin_executor::{Message, QoS};
use ringspin_simulation::models::DurationHistogram;

/// Durations: tick 1 ms, work 3 ms, sink 2 ms; a message costs 0.5 ms on one core and 1 ms between
/// cores.
const PROFILE: &str = r#"
version = 2
loops = ["/tick", "/work", "/work:side", "/sink"]
machine = { name = "robot", architecture = "aarch64", cores = 4, slowdown_percent = 100 }
callback = [
    { node = "/tick", callback = "timer 10ms",
      durations = { count = 1, total_ns = 1_000_000, min_ns = 1_000_000,
      max_ns = 1_000_000, histogram = [[1_000_000, 1]] } },
    { node = "/work", callback = "subscription /tick",
      durations = { count = 1, total_ns = 3_000_000,
      min_ns = 3_000_000, max_ns = 3_000_000, histogram = [[3_000_000, 1]] } },
    { node = "/sink", callback = "subscription /work",
      durations = { count = 1, total_ns = 2_000_000,
      min_ns = 2_000_000, max_ns = 2_000_000, histogram = [[2_000_000, 1]] } },
]
[[hop]]
topic = "/tick"
from = "/tick"
to = "/work"
same_core = { count = 1, total_ns = 500_000, min_ns = 500_000, max_ns = 500_000,
              histogram = [[500_000, 1]] }
cross_core = { count = 1, total_ns = 1_000_000, min_ns = 1_000_000, max_ns = 1_000_000,
               histogram = [[1_000_000, 1]] }
"#;

const US: u64 = 1_000;

fn build(graph: &Graph) -> Result<(), BoxError> {
    let tick = graph.create_node("tick", 0u8)?;
    let out = tick.create_publisher("tick", QoS::keep_last(1))?;
    tick.create_timer(Duration::from_millis(10), move |_, _| out.publish(1u8))?;
    let work = graph.create_node("work", ())?;
    let out = work.create_publisher("work", QoS::keep_last(1))?;
    work.create_subscription("tick", QoS::keep_last(1), move |_, n: &Message<u8>, _| {
        out.publish(**n)
    })?;
    let side = work.create_callback_group("side", ())?;
    side.create_timer(Duration::from_secs(1), |_, _| {})?;
    let sink = graph.create_node("sink", ())?;
    sink.create_subscription("work", QoS::keep_last(1), |_, _: &Message<u8>, _| {})?;
    Ok(())
}

fn profile() -> Profile {
    Profile::from_toml(PROFILE).unwrap()
}

fn chain() -> Chain {
    Chain::new("all", ["/tick", "/work", "/sink"])
}

fn twin(chain: Chain) -> Result<Twin<'static>> {
    let twin = Twin::new(build, &profile(), vec![chain])?;
    Ok(twin.with_horizon(Duration::from_millis(100)).with_variants(1))
}

fn evaluate(twin: &Twin<'_>, cores: [usize; 4], core_count: usize) -> Evaluation {
    let assignment = Assignment::new(twin.loops().to_vec(), cores.to_vec(), core_count);
    twin.evaluate(&assignment).unwrap()
}

fn refused(twin: Result<Twin<'_>>) -> String {
    twin.err().unwrap().to_string()
}

#[test]
fn one_core_uses_same_core_costs() {
    let twin = twin(chain().with_deadline(Duration::from_millis(7))).unwrap();
    let evaluation = evaluate(&twin, [0; 4], 1);
    // 1 + (3 + 0.5) + (2 + 0.5) ms, from each of ten ticks.
    // From the start of the tick to the start of the sink: without its 2.5 ms.
    let deadline = Some(Duration::from_millis(7));
    let chain = ChainLatency::of(vec![7_000 * US; 10], vec![4_500 * US; 10], deadline, 0);
    assert_eq!(evaluation.chains, [chain]);
    assert_eq!((evaluation.drops, evaluation.cores_used), (0, 1));
    assert_eq!(evaluation.core_loads, [0.7]);
}

#[test]
fn crossing_adds_the_cost_above_the_same_core_cost() {
    let twin = twin(chain().with_deadline(Duration::from_millis(7))).unwrap();
    // 1 + 1 + 3 + 1 + 2 ms: each message is 0.5 ms later, and 0.5 ms are part of the callback.
    let evaluation = evaluate(&twin, [0, 1, 3, 2], 4);
    assert_eq!(
        (evaluation.chains[0].release_to_end.mean_ns, evaluation.chains[0].misses),
        (8_000 * US, 10)
    );
    assert_eq!((evaluation.cores_used, evaluation.core_loads[3]), (4, 0.0));
    let half = evaluate(&twin, [0, 0, 0, 1], 2);
    assert_eq!((half.chains[0].release_to_end.mean_ns, half.cores_used), (7_500 * US, 2));
    assert_eq!(half.core_loads, [0.45, 0.25]);
}

/// Two timers of 10 ms, each with a callback of 1 ms and a sink, and a third one of 4 ms.
fn two_timers(graph: &Graph) -> Result<(), BoxError> {
    for name in ["a", "b"] {
        let node = graph.create_node(name, ())?;
        let out = node.create_publisher(name, QoS::keep_last(1))?;
        node.create_timer(Duration::from_millis(10), move |_, _| out.publish(1u8))?;
        let end = graph.create_node(&format!("end_{name}"), ())?;
        end.create_subscription(name, QoS::keep_last(1), |_, _: &Message<u8>, _| {})?;
    }
    graph.create_node("c", ())?.create_timer(Duration::from_millis(4), |_, _| {})?;
    Ok(())
}

fn profile_of_two_timers() -> Profile {
    let callbacks = ["a", "b"].map(|name| {
        format!(
            "[[callback]]\nnode = \"/{name}\"\ncallback = \"timer 10ms\"\n[callback.durations]\n\
             count = 1\ntotal_ns = 1000000\nmin_ns = 1000000\nmax_ns = 1000000\n\
             histogram = [[1000000, 1]]\n"
        )
    });
    let text = format!("version = 2\n{}", callbacks.concat());
    let mut profile = profile();
    profile.callbacks = Profile::from_toml(&text).unwrap().callbacks;
    profile.loops = ["/a", "/end_a", "/b", "/end_b", "/c"].map(String::from).to_vec();
    profile
}

#[test]
fn variants_shift_timers_and_share_the_horizon() {
    let chains = ["a", "b"].map(|of| Chain::new(of, [format!("/{of}"), format!("/end_{of}")]));
    let twin = Twin::new(two_timers, &profile_of_two_timers(), chains.to_vec()).unwrap();
    // 22.5 ms for each of eight, rounded up to a multiple of the common period of 20 ms: 40 ms.
    let twin = twin.with_horizon(Duration::from_millis(180));
    let evaluate = |twin: &Twin<'_>| {
        twin.evaluate(&Assignment::new(twin.loops().to_vec(), vec![0, 0, 1, 1, 1], 2)).unwrap()
    };
    let samples = |evaluation: &Evaluation| evaluation.chains[0].samples;
    assert_eq!((samples(&evaluate(&twin)), evaluate(&twin)), (8 * 4, evaluate(&twin)));
    let one_core = |twin: &Twin<'_>| {
        let evaluation = twin.evaluate(&Assignment::new(twin.loops().to_vec(), vec![0; 5], 1));
        evaluation.unwrap().chains.iter().map(|of| of.release_to_end.mean_ns).collect::<Vec<_>>()
    };
    let in_phase = twin.with_variants(1);
    assert_eq!(samples(&evaluate(&in_phase)), 18, "180 ms are a multiple");
    let aligned = one_core(&in_phase);
    let shifted = one_core(&in_phase.with_variants(4));
    assert!(aligned.iter().zip(&shifted).any(|(a, b)| a != b), "{aligned:?} {shifted:?}");
}

#[test]
fn preempted_callback_delays_nothing_and_counts_only_its_own_time() {
    let mut profile = profile_of_two_timers();
    let mut slow = profile.callbacks[0].clone();
    (slow.node, slow.callback) = ("/c".into(), "timer 4ms".into());
    slow.durations = DurationHistogram::of([1_300 * US]).unwrap();
    profile.callbacks.push(slow);
    let chains = ["a", "b"].map(|of| Chain::new(of, [format!("/{of}"), format!("/end_{of}")]));
    let twin = Twin::new(two_timers, &profile, chains.to_vec()).unwrap();
    let twin = twin.with_horizon(Duration::from_millis(400)).with_variants(2);
    let assignment = |cores: [usize; 5], levels: [u8; 5]| {
        let assignment = Assignment::new(twin.loops().to_vec(), cores.to_vec(), 2);
        assignment.with_thread_levels(levels.to_vec())
    };
    let evaluate = |cores, levels| twin.evaluate(&assignment(cores, levels)).unwrap();
    let apart = evaluate([0, 0, 0, 0, 1], [0; 5]);
    let preempted = evaluate([0; 5], [1, 1, 1, 1, 0]);
    assert_eq!(preempted.chains, apart.chains);
    assert_ne!(evaluate([0; 5], [0; 5]).chains, apart.chains);
    let load = apart.core_loads.iter().sum::<f64>();
    assert!((preempted.core_loads[0] - load).abs() < 1e-9, "{preempted:?}");
    // Messages between two threads take as long as between two cores.
    let latency = |levels| evaluate([0; 5], levels).chains[0].release_to_end.max_ns;
    assert_eq!(latency([1, 1, 0, 0, 0]), 1_000 * US);
    assert_eq!(latency([1, 2, 0, 0, 0]), 1_500 * US);
}

#[test]
fn jitter_above_its_limit_counts_against_an_assignment() {
    let build = || Twin::new(two_timers, &profile_of_two_timers(), Vec::new()).unwrap();
    let twin = build().with_variants(1).with_horizon(Duration::from_millis(200));
    let names: Vec<_> = twin.timers().iter().map(|timer| timer.name.as_str()).collect();
    assert_eq!(names, ["/a timer 10ms", "/b timer 10ms", "/c timer 4ms"]);
    let twin = twin.with_jitter_limit("/c timer 4ms", Duration::from_micros(100)).unwrap();
    let objective: Objective = "jitter".parse().unwrap();
    let score = |cores: [usize; 5]| {
        let assignment = Assignment::new(twin.loops().to_vec(), cores.to_vec(), 2);
        let assignment = assignment.with_priorities(vec![1, 1, 1, 1, 0]);
        let evaluation = twin.evaluate(&assignment).unwrap();
        (evaluation.jitter_ns[2], objective.score(&twin, &evaluation).terms()[0])
    };
    // Every 20 ms, all are due at once, and the third timer has to wait on a shared core.
    let (jitter_ns, excess_ns) = score([0; 5]);
    assert!(jitter_ns > 100_000 && excess_ns == jitter_ns - 100_000, "{jitter_ns} {excess_ns}");
    assert_eq!(score([0, 0, 0, 0, 1]), (0, 0));
    let unknown = build().with_jitter_limit("/d", Duration::ZERO).err().unwrap().to_string();
    assert!(unknown.contains("`/d`") && unknown.contains("/c timer 4ms"), "{unknown}");
}

/// The profile of a machine whose cores share something.
fn slowed(slowdown_percent: u32) -> Profile {
    let mut profile = profile();
    profile.machine.as_mut().unwrap().slowdown_percent = Some(slowdown_percent);
    Profile::from_toml(&profile.to_toml_string()).unwrap()
}

#[test]
fn busy_cores_slow_each_other_down() {
    let twin = |profile: &Profile| Twin::new(build, profile, vec![chain()]).unwrap();
    // The callbacks of the chain are never busy together.
    let apart = |profile: &Profile| evaluate(&twin(profile), [0, 1, 3, 2], 4).chains[0];
    assert_eq!(apart(&slowed(190)), apart(&profile()));
    let side = r#"
[[callback]]
node = "/work:side"
callback = "timer 1s"
durations = { count = 1, total_ns = 2_000_000_000, min_ns = 2_000_000_000,
              max_ns = 2_000_000_000, histogram = [[2_000_000_000, 1]] }
"#;
    let beside = |slowdown_percent: u32| {
        let text = slowed(slowdown_percent).to_toml_string();
        let (head, hops) = text.split_at(text.find("[[hop]]").unwrap());
        let profile = Profile::from_toml(&format!("{head}{side}{hops}")).unwrap();
        let twin = twin(&profile).with_horizon(Duration::from_millis(2_900)).with_variants(1);
        (
            evaluate(&twin, [0, 0, 1, 0], 2).chains[0].release_to_end.max_ns,
            twin.utilizations().unwrap(),
        )
    };
    // From 1 s on, one of the other three cores of the machine is busy: a third of 90 %.
    let (alone, contended) = (beside(100), beside(190));
    assert_eq!((alone.0, contended.0), (7_000 * US, 9_100 * US));
    assert_eq!(alone.1, contended.1, "loads are those of independent cores");
}

#[test]
fn an_overloaded_core_drops_messages() {
    let mut profile = profile();
    let text = profile.to_toml_string().replace("3000000", "30000000");
    profile = Profile::from_toml(&text).unwrap();
    let twin = Twin::new(build, &profile, vec![chain()]).unwrap();
    let twin = twin.with_horizon(Duration::from_millis(500)).with_variants(1);
    let evaluation = evaluate(&twin, [0, 1, 0, 0], 2);
    assert!(evaluation.drops >= 20, "{evaluation:?}");
    assert!(evaluation.core_loads[1] > 0.9, "{evaluation:?}");
}

#[test]
fn priorities_come_from_the_assignment() {
    // Both timers are due at once; the first one delays the other.
    let two = |graph: &Graph| {
        two_timers(graph)?;
        graph.set_priority(LoopId(0), 1).map_err(BoxError::from)
    };
    let chains = ["a", "b"].map(|of| Chain::new(of, [format!("/{of}"), format!("/end_{of}")]));
    let twin = Twin::new(two, &profile_of_two_timers(), chains.to_vec()).unwrap().with_variants(1);
    // Either both timers run before any message, or one of the messages runs first. A timer that
    // waits for the other one has begun already.
    let means = |priorities: [u8; 4]| {
        let priorities = [&priorities[..], &[0]].concat();
        let assignment = Assignment::new(twin.loops().to_vec(), vec![0; 5], 1);
        let evaluation = twin.evaluate(&assignment.with_priorities(priorities)).unwrap();
        evaluation.chains.iter().map(|chain| chain.release_to_end.mean_ns / US).collect::<Vec<_>>()
    };
    assert_eq!(means([1, 0, 1, 0]), [2_000, 2_000]);
    assert_eq!(means([1, 2, 0, 0]), [1_000, 2_000]);
    assert_eq!(means([0, 0, 1, 2]), [2_000, 1_000]);
}

#[test]
fn a_lost_sample_misses_the_deadline() {
    // The sink takes 12 ms every 10 ms, so that messages to it are displaced.
    let text = PROFILE.replace("2_000_000", "11_500_000");
    let profile = Profile::from_toml(&text).unwrap();
    let run = |chain: Chain| {
        let twin = Twin::new(build, &profile, vec![chain]).unwrap();
        let twin = twin.with_variants(1).with_horizon(Duration::from_secs(1));
        evaluate(&twin, [0, 1, 3, 2], 4)
    };
    let with = run(chain().with_deadline(Duration::from_millis(30)));
    let latency = with.chains[0];
    assert!(latency.release_to_end.max_ns < 30_000 * US, "none is late");
    // The deadline of the last dropped sample may be after the end of the run.
    assert!(with.drops > 5 && with.drops - latency.misses <= 1, "{with:?}");
    assert_eq!(run(chain()).chains[0].misses, 0, "there is no deadline to miss");
}

#[test]
fn a_timer_that_delays_a_chain_is_advised_to_start_later() {
    let chain = Chain::new("b", ["/b", "/end_b"]);
    let twin = Twin::new(two_timers, &profile_of_two_timers(), vec![chain]).unwrap();
    let twin = twin.with_variants(1).with_horizon(Duration::from_secs(1));
    let objective: Objective = "mean".parse().unwrap();
    let advice = |cores: [usize; 5]| {
        let assignment = Assignment::new(twin.loops().to_vec(), cores.to_vec(), 2);
        let advice = twin.advise_phases(&assignment, &objective).unwrap();
        let means = |of: &Evaluation| of.chains[0].release_to_end.mean_ns / US;
        let row = |one: &PhaseAdvice| {
            let name = &twin.timers()[one.timer].name;
            (name.clone(), one.shift, [means(&one.before), means(&one.after)])
        };
        advice.iter().map(row).collect::<Vec<_>>()
    };
    // Both are due at once, and /b waits for the millisecond of /a, unless one of them starts later
    // by a step, the longest callback.
    let row = |name: &str| (name.to_owned(), Duration::from_millis(1), [2_000, 1_000]);
    assert_eq!(advice([0; 5]), [row("/a timer 10ms"), row("/b timer 10ms")]);
    assert_eq!(advice([1, 1, 0, 0, 1]), [], "on another core, it delays nothing");
}

#[test]
fn timers_that_start_a_chain_in_parallel_keep_their_phase() {
    let profile = Profile::from_toml(JOINED).unwrap();
    let twin = |first: &str| {
        Twin::new(joined, &profile, vec![Chain::new("c", [first, "/join", "/end"])]).unwrap()
    };
    let shiftable = |first: &str| -> Vec<String> {
        let twin = twin(first);
        twin.shiftable().map(|(timer, _)| twin.timers()[timer].name.clone()).collect()
    };
    assert_eq!(shiftable("/a | /b"), [""; 0]);
    assert_eq!(shiftable("/a"), ["/a timer 10ms", "/b timer 10ms"]);
}

#[test]
fn every_thread_evaluates_the_same() {
    let mut profile = profile();
    profile.hops[0].cross_core = DurationHistogram::of((0..100).map(|n| n * 10_000));
    let twin = Twin::new(build, &profile, vec![chain()]).unwrap().with_seed(7);
    let first = evaluate(&twin, [0, 1, 0, 2], 3);
    std::thread::scope(|scope| {
        let threads = [0; 3].map(|_| scope.spawn(|| evaluate(&twin, [0, 1, 0, 2], 3)));
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), first));
    });
    // Core numbers do not matter.
    assert_eq!(evaluate(&twin, [2, 0, 2, 1], 3).chains, first.chains);
    let other = Twin::new(build, &profile, vec![chain()]).unwrap().with_seed(8);
    assert_ne!(evaluate(&other, [0, 1, 0, 2], 3).chains, first.chains);
}

#[test]
fn assumptions_name_missing_measurements() {
    let side = "the profile has no call of /work:side `timer 1s`, which is taken to need no time; \
        measure for longer";
    assert_eq!(twin(chain()).unwrap().assumptions(), [side]);
    let mut only_durations = profile();
    (only_durations.hops, only_durations.loops) = (Vec::new(), Vec::new());
    only_durations.machine.as_mut().unwrap().slowdown_percent = None;
    let twin = Twin::new(build, &only_durations, vec![chain()]).unwrap();
    let [_, cores, same_core, cross_core] = twin.assumptions() else {
        panic!("{:?}", twin.assumptions())
    };
    assert!(cores.starts_with("the profile does not say how much busy cores slow each other down"));
    assert!(same_core.starts_with("the profile has no cost of messages on one core"));
    assert!(cross_core.starts_with("the profile has no cost of messages from core to core"));
    let twin = twin.with_horizon(Duration::from_millis(100)).with_variants(1);
    assert_eq!(evaluate(&twin, [0, 1, 3, 2], 4).chains[0].release_to_end.mean_ns, 6_000 * US);
}

#[test]
fn invalid_input_is_refused_with_advice() {
    assert_eq!(
        refused(twin(chain().with_deadline(Duration::from_micros(5_999)))),
        "chain \"all\" has a deadline of 5.999ms, but its callbacks took 6ms together even when \
         each was at its fastest: give it a longer deadline, or a shorter path"
    );
    assert!(twin(chain().with_deadline(Duration::from_millis(6))).is_ok());
    assert_eq!(
        refused(twin(Chain::new("c", ["/tick", "/sink"]))),
        "chain \"c\" goes from `/tick` to `/sink`, but nothing is sent there; did you mean \
         `/work`?"
    );
    let mut none = profile();
    none.callbacks.clear();
    assert!(refused(Twin::new(build, &none, vec![])).starts_with("no callback ran"));
    let mut other = profile();
    other.loops[0] = "/tack".into();
    assert!(refused(Twin::new(build, &other, vec![])).contains("of another graph"));
    let mut other = profile();
    let text = other.to_toml_string().replace("timer 10ms", "timer 20ms");
    other = Profile::from_toml(&text).unwrap();
    assert!(refused(Twin::new(build, &other, vec![])).contains("`timer 20ms` of /tick"));
    let nothing = |_: &Graph| Err::<(), BoxError>("no graph".into());
    assert!(refused(Twin::new(nothing, &profile(), vec![])).ends_with("no graph"));
}

#[test]
fn assignments_of_another_graph_are_refused() {
    let twin = twin(chain()).unwrap();
    let refused = |twin: &Twin<'_>, loops: &[String], cores: usize| {
        let on = vec![0; loops.len()];
        twin.evaluate(&Assignment::new(loops, on, cores)).unwrap_err().to_string()
    };
    let text = refused(&twin, &["/tick".into()], 1);
    assert!(text.contains("/tick, /work, /work:side, /sink"), "{text}");
    let at_once = twin.with_horizon(Duration::ZERO);
    let loops = at_once.loops().to_vec();
    assert!(refused(&at_once, &loops, 1).contains("horizon of zero"));
}

#[test]
fn utilizations_assume_one_core_per_loop() {
    let twin = twin(Chain::new("all", ["/tick", "/work | /work:side", "/sink"])).unwrap();
    // Ten ticks and their successors, with 1, 3 + 0.5 and 2 + 0.5 ms.
    let utilizations = twin.utilizations().unwrap();
    let per_mille = utilizations.iter().map(|utilization| (utilization * 1e3).round());
    assert_eq!(per_mille.collect::<Vec<_>>(), [100.0, 350.0, 0.0, 250.0]);
}

/// Two ticks and a node that works when it has both inputs; `late` selects the one that comes last.
fn joined(graph: &Graph) -> Result<(), BoxError> {
    let join = graph.create_node("join", [false; 2])?;
    let out = join.create_publisher("out", QoS::keep_last(1))?;
    for (n, name) in ["a", "b"].into_iter().enumerate() {
        let node = graph.create_node(name, ())?;
        let tick = node.create_publisher(name, QoS::keep_last(1))?;
        node.create_timer(Duration::from_millis(10), move |_, _| tick.publish(1u8))?;
        let out = out.clone();
        join.create_subscription(name, QoS::keep_last(1), move |has, _: &Message<u8>, _| {
            has[n] = true;
            if *has != [true; 2] {
                return Ok(());
            }
            *has = [false; 2];
            out.publish(1u8)
        })?;
    }
    let end = graph.create_node("end", ())?;
    end.create_subscription("out", QoS::keep_last(1), |_, _: &Message<u8>, _| {})?;
    Ok(())
}

/// Measured with `/b` as the last input: its callback worked for 4 ms, the one of `/a` for 1 us.
const JOINED: &str = r#"
version = 2
loops = ["/join", "/a", "/b", "/end"]
machine = { name = "robot", architecture = "aarch64", cores = 4, slowdown_percent = 100 }
callback = [
    { node = "/a", callback = "timer 10ms",
      durations = { count = 1, total_ns = 2_000_000, min_ns = 2_000_000,
      max_ns = 2_000_000, histogram = [[2_000_000, 1]] } },
    { node = "/join", callback = "subscription /a",
      durations = { count = 1, total_ns = 1_000, min_ns = 1_000,
      max_ns = 1_000, histogram = [[1_000, 1]] } },
    { node = "/join", callback = "subscription /b",
      durations = { count = 1, total_ns = 4_000_000,
      min_ns = 4_000_000, max_ns = 4_000_000, histogram = [[4_000_000, 1]] } },
]
[[hop]]
topic = "/out"
from = "/join"
to = "/end"
cross_core = { count = 1, total_ns = 0, min_ns = 0, max_ns = 0, histogram = [[0, 1]] }
[[calls]]
node = "/join"
callback = "subscription /a"
quiet = { count = 1, total_ns = 1_000, min_ns = 1_000, max_ns = 1_000, histogram = [[1_000, 1]] }
[[calls]]
node = "/join"
callback = "subscription /b"
sending = { count = 1, total_ns = 4_000_000, min_ns = 4_000_000, max_ns = 4_000_000,
            histogram = [[4_000_000, 1]] }
"#;

#[test]
fn work_is_attributed_to_sending_calls() {
    // `/a` takes 2 ms, so its message is the last input.
    let profile = Profile::from_toml(JOINED).unwrap();
    let chain = Chain::new("a", ["/a", "/join", "/end"]);
    let evaluated = |profile: &Profile| {
        let twin = Twin::new(joined, profile, vec![chain.clone()]).unwrap().with_variants(1);
        let evaluation = evaluate(&twin, [0, 1, 2, 3], 4);
        (
            evaluation.chains[0].release_to_end.mean_ns / US,
            (evaluation.core_loads[0] * 1000.0).round(),
        )
    };
    assert_eq!(evaluated(&profile), (6_000, 400.0));
    // Without separate calls, the first input does the work, and the last one waits for it.
    let mut blind = profile.clone();
    blind.calls.clear();
    assert_eq!(evaluated(&blind), (4_001, 400.0));
    assert_eq!(Profile::from_toml(&profile.to_toml_string()).unwrap(), profile);
    let wrong = JOINED.replace("            histogram = [[4_000_000, 1]]", "histogram = []");
    assert_eq!(
        Profile::from_toml(&wrong).unwrap_err().to_string(),
        "the text contradicts itself about the calls of `/join`, `subscription /b`: its histogram \
         has not as many values as its count; measure it again"
    );
}

#[test]
fn a_callback_that_always_sends_uses_all_its_times() {
    // Simulates a wrong attribution: a call of the join's loop between the tick and its arrival.
    let wrong = r#"
[[calls]]
node = "/tick"
callback = "timer 10ms"
quiet = { count = 1, total_ns = 1_000_000, min_ns = 1_000_000, max_ns = 1_000_000,
          histogram = [[1_000_000, 1]] }
sending = { count = 1, total_ns = 1, min_ns = 1, max_ns = 1, histogram = [[1, 1]] }
"#;
    let misled = Profile::from_toml(&format!("{PROFILE}{wrong}")).unwrap();
    let loads = |profile: &Profile| {
        let twin = Twin::new(build, profile, vec![chain()]).unwrap();
        evaluate(&twin, [0, 1, 2, 3], 4).core_loads
    };
    assert_eq!(loads(&misled), loads(&profile()));
}
