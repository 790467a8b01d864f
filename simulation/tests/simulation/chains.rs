//! Chains of hand-computed graphs, and paths that there cannot be.

use ringspin_executor::{
    BoxError, Context, Graph, Input, Latest, LoopId, Message, QoS, Trigger, Verdict,
};
use ringspin_modes::{Chain, ChainSamples, Cores, Executor, Mapping, Mode, Simulation};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use std::time::Duration;

const MS: u64 = 1_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Callbacks of `node` take `took` milliseconds.
fn takes(node: &str, took: u64) -> DurationRule {
    DurationRule::new(node).duration(Distribution::fixed(ms(took)))
}

/// A sensor with this period, in milliseconds.
fn sensor(graph: &Graph, name: &str, period: u64) -> Result<(), BoxError> {
    let node = graph.create_node(name, 0u64)?;
    let out = node.create_publisher(name, QoS::keep_last(1))?;
    node.create_timer(ms(period), move |n, _| {
        *n += 1;
        out.publish(*n)
    })?;
    Ok(())
}

/// A node that forwards its messages.
fn relay(graph: &Graph, name: &str, input: &str) -> Result<(), BoxError> {
    let node = graph.create_node(name, ())?;
    let out = node.create_publisher(name, QoS::keep_last(1))?;
    let pass = move |_: &mut (), n: &Message<u64>, _: &mut Context<'_>| out.publish(**n);
    node.create_subscription(input, QoS::keep_last(1), pass)?;
    Ok(())
}

/// A node that sends when it has both of its inputs.
fn join(graph: &Graph, name: &str, inputs: [&str; 2]) -> Result<(), BoxError> {
    let node = graph.create_node(name, [false; 2])?;
    let out = node.create_publisher(name, QoS::keep_last(1))?;
    for (n, input) in inputs.into_iter().enumerate() {
        let out = out.clone();
        let call = move |has: &mut [bool; 2], _: &Message<u64>, _: &mut Context<'_>| {
            has[n] = true;
            match *has {
                [true, true] => {
                    *has = [false; 2];
                    out.publish(0u64)
                }
                _ => Ok(()),
            }
        };
        node.create_subscription(input, QoS::keep_last(1), call)?;
    }
    Ok(())
}

/// Two sensors, a slow relay behind the first, and a node that joins both and feeds the last.
fn diamond(graph: &Graph) -> Result<(), BoxError> {
    sensor(graph, "fast", 10)?;
    sensor(graph, "late", 10)?;
    relay(graph, "slow", "late")?;
    join(graph, "join", ["fast", "slow"])?;
    relay(graph, "end", "join")
}

fn durations() -> Durations {
    let rules = [takes("/late", 1), takes("/slow", 3), takes("/join", 2), takes("/end", 1)];
    rules.into_iter().fold(Durations::new(), Durations::rule)
}

fn run(path: &[&str], change: impl FnOnce(&mut Simulation)) -> ChainSamples {
    let job = Job::new(diamond).simulate(|simulation| simulation.durations = durations().into());
    let job = job.simulate(change).run_for(ms(39));
    let chains = [Chain::new("chain", path.iter().copied())];
    let report = job.with_chains(chains).run().unwrap();
    report.chains()[0].clone()
}

fn error(path: &[&str]) -> String {
    let job = Job::new(diamond).run_for(ms(20));
    job.with_chains([Chain::new("c", path.iter().copied())]).run().unwrap_err().to_string()
}

#[test]
fn a_sample_lasts_from_the_first_release_to_the_last_end() {
    // 1 ms in the sensor, 3 in the relay, 2 in the join, which is free again, 1 at the end.
    let samples = run(&["/late", "/slow", "/join", "/end"], |_| {});
    assert_eq!(samples.sample_to_start_ns, [6 * MS; 3]);
    assert_eq!(samples.release_to_end_ns, [7 * MS; 3]);
    assert_eq!((samples.steps_reached, samples.not_kept), (4, 0));
    assert_eq!(samples.start_to_end_ns, samples.release_to_end_ns, "the sensor starts when due");
}

/// A timer that is kept waiting, and a message: each is released before its callback begins.
#[test]
fn samples_begin_at_the_release_of_the_first_event() {
    let job = Job::new(|graph| {
        sensor(graph, "hog", 10)?;
        sensor(graph, "tick", 10)?;
        relay(graph, "end", "tick")
    });
    let rules = [takes("/hog", 4), takes("/tick", 1), takes("/end", 2)];
    let job = job.simulate(|simulation| {
        simulation.durations = rules.into_iter().fold(Durations::new(), Durations::rule).into();
        simulation.cores = Cores::Single;
    });
    let paths = [&["/tick", "/end"][..], &["/end"]];
    let chains = paths.map(|path| Chain::new("c", path.iter().copied()));
    let report = job.run_for(ms(35)).with_chains(chains).run().unwrap();
    let [whole, last] = report.chains() else { panic!("two chains were asked for") };
    // The hog, which was created first, has the core for 4 ms.
    assert_eq!(whole.sample_to_start_ns, [MS; 3], "without the 4 ms that the timer waited");
    assert_eq!(whole.release_to_end_ns, [7 * MS; 3]);
    // The message is ready when the tick has returned, and taken at once.
    assert_eq!(
        (&last.sample_to_start_ns, &last.release_to_end_ns),
        (&vec![0; 3], &vec![2 * MS; 3])
    );
}

#[test]
fn only_the_last_input_makes_a_sample() {
    let fast = run(&["/fast", "/join", "/end"], |_| {});
    assert_eq!((fast.release_to_end_ns.len(), fast.steps_reached), (0, 2));
    let both = run(&["/fast | /late", "/join|/slow", "/join"], |_| {});
    // Of the slow branch; and each input that comes to the join as the second step ends none.
    assert_eq!(
        (both.sample_to_start_ns, both.release_to_end_ns),
        (vec![4 * MS; 3], vec![6 * MS; 3])
    );
    let input = run(&["/fast", "/join"], |_| {});
    assert_eq!((input.sample_to_start_ns, input.release_to_end_ns), (vec![0; 3], vec![2 * MS; 3]));
}

#[test]
fn joined_inputs_have_the_newest_start_and_the_release_of_the_last_to_arrive() {
    // The fast sensor's timer waits for the hog on its core: it starts 4 ms late, arrives last.
    let build = |graph: &Graph| {
        sensor(graph, "hog", 10)?;
        graph.set_priority(LoopId(0), 1)?;
        sensor(graph, "fast", 10)?;
        sensor(graph, "late", 10)?;
        join(graph, "join", ["fast", "late"])
    };
    let rules = [takes("/hog", 4), takes("/late", 1), takes("/join", 2)];
    let durations = rules.into_iter().fold(Durations::new(), Durations::rule);
    let job = Job::new(build).simulate(|simulation| {
        simulation.durations = durations.into();
        simulation.cores =
            Cores::Mapped(Mapping::new().core(0, ["hog", "fast"]).core(1, ["late", "join"]));
    });
    let report = job.run_for(ms(35)).with_chains([Chain::new("c", ["/fast|/late", "/join"])]);
    let report = report.run().unwrap();
    let chain = &report.chains()[0];
    // Each input ends a sample at the join: the first after the sensor's 1 ms, and 2 ms later; the
    // second, which came at 4 ms, starts from the newer sample.
    assert_eq!(chain.sample_to_start_ns, [MS, 0, MS, 0, MS, 0]);
    assert_eq!(chain.release_to_end_ns, [3 * MS, 6 * MS, 3 * MS, 6 * MS, 3 * MS, 6 * MS]);
}

#[test]
fn one_core_makes_the_branches_wait() {
    let samples = run(&["/late", "/slow", "/join", "/end"], |simulation| {
        simulation.cores = Cores::Single;
    });
    // The join's first input is between sensor and relay or before them, by its turns: the path's
    // own 7 ms, and at most its 2 ms.
    assert_eq!(samples.release_to_end_ns.len(), 3);
    let possible = [7 * MS, 9 * MS];
    assert!(samples.release_to_end_ns.iter().all(|ns| possible.contains(ns)), "{samples:?}");
}

#[test]
fn delays_losses_and_overtakers_count_as_they_come() {
    let link = |rule: LinkRule| Links::new().rule(rule);
    let late = LinkRule::new("/slow").delay(Distribution::fixed(ms(25)));
    let samples = run(&["/late", "/slow", "/join"], |simulation| {
        simulation.links = link(late).into();
    });
    assert_eq!(samples.release_to_end_ns, [31 * MS], "more than one is under way");
    let lost = LinkRule::new("/late").loss(1.0);
    let samples = run(&["/late", "/slow"], |simulation| simulation.links = link(lost).into());
    assert_eq!((samples.release_to_end_ns.len(), samples.steps_reached), (0, 1));
    let twice = LinkRule::new("/late").duplication(1.0).delay(Distribution::fixed(ms(1)));
    let samples = run(&["/late", "/slow"], |simulation| simulation.links = link(twice).into());
    // The copy of a keep-last queue of one takes its place, unless the first has been taken.
    assert!(
        samples.release_to_end_ns.iter().all(|ns| [5 * MS, 8 * MS].contains(ns)),
        "{samples:?}"
    );
}

#[test]
fn following_changes_nothing() {
    let job = || Job::new(diamond).simulate(|simulation| simulation.durations = durations().into());
    let plain = job().run_for(ms(50)).run().unwrap();
    let chains = [Chain::new("c", ["/late", "/slow"]), Chain::new("d", ["/fast", "/join"])];
    let followed = job().run_for(ms(50)).with_chains(chains).run().unwrap();
    assert_eq!(plain.digest(), followed.digest());
    assert_eq!((plain.chains().len(), followed.chains().len()), (0, 2));
    let verified = job().run_for(ms(50)).with_chains([Chain::new("c", ["/late", "/slow"])]);
    verified.verify(2).unwrap();
}

#[test]
fn groups_callbacks_and_services_are_steps() {
    let job = Job::new(|graph| {
        sensor(graph, "tick", 10)?;
        let caller = graph.create_node("caller", ())?;
        let client = caller.create_client::<u64, u64>("double", QoS::services())?;
        let ask = move |_: &mut (), n: &Message<u64>, _: &mut Context<'_>| {
            client.call(**n, |_, _, _| {}).map_err(|refused| refused.reason)
        };
        caller.create_subscription("tick", QoS::default(), ask)?;
        let server = graph.create_node("server", ())?.create_callback_group("work", ())?;
        server.create_service("double", QoS::services(), |_, n: &u64, _| n * 2)?;
        Ok(())
    });
    let durations = Durations::new().rule(takes("/server:work", 4)).rule(takes("/caller", 1));
    let job = job.simulate(|simulation| simulation.durations = durations.into()).run_for(ms(25));
    let names = ["/tick timer 10ms", "/caller subscription /tick", "/server:work", "/caller"];
    let report = job.with_chains([Chain::new("call", names)]).run().unwrap();
    assert_eq!(report.chains()[0].release_to_end_ns, [6 * MS; 2]);
}

#[test]
fn impossible_paths_are_named_with_a_way_out() {
    assert_eq!(error(&[]), "chain \"c\" has no steps; name the event loops that it visits");
    assert_eq!(
        error(&["/fast", "/jion"]),
        "chain \"c\" visits `/jion`, which the graph does not have; did you mean `/join`?"
    );
    assert_eq!(
        error(&["/fast timer 20ms"]),
        "chain \"c\" visits `/fast timer 20ms`, which the graph does not have; did you mean \
         `/fast timer 10ms`?"
    );
    assert_eq!(
        error(&["/fast", "/slow"]),
        "chain \"c\" goes from `/fast` to `/slow`, but nothing is sent there; use one of /join"
    );
    assert_eq!(
        error(&["/end", "/join"]),
        "chain \"c\" goes from `/end` to `/join`, but nothing is sent there; it has no successor: \
         end the chain there"
    );
}

#[test]
fn replaced_and_synchronized_messages_keep_their_origin() {
    let job = Job::new(|graph| {
        sensor(graph, "fast", 10)?;
        sensor(graph, "late", 10)?;
        relay(graph, "slow", "late")?;
        graph.intercept("late", |n: &Message<u64>, _| Verdict::Replace(**n + 100))?;
        let join = graph.create_node("join", ())?;
        let out = join.create_publisher("join", QoS::default())?;
        let input = |topic| Input::<u64>::new(topic, QoS::keep_last(1));
        let inputs = (input("fast").cached(), input("slow"));
        join.create_synchronized_subscription(inputs, Latest::new(Trigger::One(1)), {
            move |_, _, _| out.publish(0u64)
        })?;
        relay(graph, "end", "join")
    });
    let chain = Chain::new("c", ["/late", "/slow", "/join", "/end"]);
    let job = job.simulate(|simulation| simulation.durations = durations().into());
    let report = job.run_for(ms(39)).with_chains([chain]).run().unwrap();
    assert_eq!(report.chains()[0].release_to_end_ns, [7 * MS; 3]);
}

/// The middle node publishes twice in each call, and has a timer that publishes, too; the last one
/// works long enough to make messages wait.
#[test]
fn live_samples_are_those_of_the_messages_that_end() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let chain = Chain::new("c", ["/tick", "/twice subscription /tick", "/end"]);
        let other = Chain::new("d", ["/twice timer 4ms", "/end"]);
        let mut executor = Executor::new(mode).with_chains([chain, other]);
        sensor(executor.graph(), "tick", 3).unwrap();
        let twice = executor.create_node("twice", ()).unwrap();
        let out = twice.create_publisher("twice", QoS::keep_last(64)).unwrap();
        let by_timer = out.clone();
        let send = move |_: &mut (), n: &Message<u64>, _: &mut Context<'_>| {
            out.publish(**n).and_then(|()| out.publish(**n))
        };
        twice.create_subscription("tick", QoS::keep_last(64), send).unwrap();
        twice.create_timer(ms(4), move |_, _| by_timer.publish(0u64)).unwrap();
        let end = executor.create_node("end", 0u64).unwrap();
        let work = |calls: &mut u64, n: &Message<u64>, cx: &mut Context<'_>| {
            std::thread::sleep(Duration::from_micros(700));
            *calls += u64::from(**n > 0);
            if *calls == 40 {
                cx.stop();
            }
        };
        end.create_subscription("twice", QoS::keep_last(64), work).unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        let [chain, other] = &executor.chains()[..] else { panic!("two chains were asked for") };
        assert_eq!((chain.steps_reached, chain.release_to_end_ns.len()), (3, 40));
        assert!(chain.released_ns.chunks(2).all(|pair| pair[0] == pair[1]), "{chain:?}");
        let periods = chain.released_ns.windows(3).map(|of| of[2] - of[0]);
        assert!(periods.step_by(2).all(|period| period > 0 && period % (3 * MS) == 0), "{chain:?}");
        assert!(chain.start_to_end_ns.iter().all(|&ns| ns >= 700_000), "{chain:?}");
        let ends = chain.release_to_end_ns.iter().zip(&chain.start_to_end_ns);
        assert!(ends.clone().all(|(release, start)| release >= start), "{chain:?}");
        assert!(!other.released_ns.is_empty(), "samples of the timer are those of its chain");
        let periods = other.released_ns.windows(2).map(|of| of[1] - of[0]);
        assert!(periods.clone().all(|period| period > 0 && period % (4 * MS) == 0), "{other:?}");
    }
}
