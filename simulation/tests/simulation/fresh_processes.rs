//! Verifying in fresh processes: planted values that are the same throughout a process are found.

use ringspin_executor::{BoxError, Error, Graph, Message, QoS};
use ringspin_simulation::{Difference, Divergence, FreshProcess, Job};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// This test again, also where the program needs another one to run it.
fn this_test() -> FreshProcess {
    match runner().is_empty() {
        true => FreshProcess::this_test(),
        false => test_again(std::thread::current().name().unwrap()),
    }
}

/// The test `name` of this program.
fn test_again(name: &str) -> FreshProcess {
    let mut words = runner();
    if words.is_empty() {
        return FreshProcess::test(name);
    }
    words.push(std::env::current_exe().unwrap().display().to_string());
    words.extend(["--exact".into(), name.to_owned()]);
    FreshProcess::new(words.remove(0), words)
}

/// The words of the program that runs this one, where it needs one.
fn runner() -> Vec<String> {
    let runner = std::env::var("RINGSPIN_TEST_RUNNER").unwrap_or_default();
    runner.split_whitespace().map(String::from).collect()
}

fn diverged<T>(result: Result<T, Error>) -> Divergence {
    let error = result.err().expect("no difference was found");
    error.cause::<Divergence>().unwrap_or_else(|| panic!("{error}")).clone()
}

/// A node that shows `value` from its third call on.
fn shows(value: fn() -> u64) -> impl Fn(&Graph) -> Result<(), BoxError> + Send + Sync {
    move |graph| {
        let node = graph.create_node("node", 0u32)?;
        node.create_timer(10 * MS, move |n, cx| {
            *n += 1;
            cx.digest(&if *n < 3 { 0 } else { value() });
        })?;
        Ok(())
    }
}

/// Asserts that only fresh processes differ, and where.
#[track_caller]
fn is_found_in_fresh_processes_only(value: fn() -> u64) {
    let job = Job::new(shows(value)).run_for(100 * MS);
    job.verify(3).expect("the value is constant within the process");
    let divergence = diverged(job.verify_in_processes(4, &this_test()));
    assert_eq!((divergence.difference.clone(), divergence.index), (Difference::Digest, 2));
    let text = divergence.to_string();
    assert!(text.contains("run 3: 0.030000000 s /node `timer 10ms` on event"), "{text}");
}

#[test]
fn lazy_randomness_is_found() {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
    is_found_in_fresh_processes_only(|| *RANDOM);
}

#[test]
fn the_address_of_a_static_is_found() {
    static PLACE: u64 = 0;
    // An emulator and a sanitizer load each process at the same address.
    if !runner().is_empty() || std::env::var_os("TSAN_OPTIONS").is_some() {
        return;
    }
    is_found_in_fresh_processes_only(|| (&raw const PLACE) as u64);
}

#[test]
fn the_process_id_is_found() {
    is_found_in_fresh_processes_only(|| u64::from(std::process::id()));
}

#[test]
fn the_number_of_processors_is_found() {
    fn processors() -> u64 {
        std::thread::available_parallelism().unwrap().get() as u64
    }
    // The fresh process comes here as well, on one core.
    if processors() > 1 || std::env::var_os("RINGSPIN_VERIFY_CALL").is_some() {
        is_found_in_fresh_processes_only(processors);
    }
}

/// Whether this process may make namespaces, by the program that makes them.
fn may_unshare() -> bool {
    let tried = std::process::Command::new("unshare")
        .args(["--map-current-user", "--keep-caps", "--uts", "--time", "--fork", "hostname", "a"])
        .status();
    tried.is_ok_and(|status| status.success())
}

#[test]
fn the_host_name_is_found() {
    if may_unshare() {
        is_found_in_fresh_processes_only(|| {
            let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
            name.bytes().fold(0, |hash, byte| hash * 31 + u64::from(byte))
        });
    }
}

#[test]
fn the_uptime_is_found() {
    if may_unshare() {
        is_found_in_fresh_processes_only(|| {
            let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
            uptime.split('.').next().unwrap().parse::<u64>().unwrap() / 86_400
        });
    }
}

#[test]
fn the_locale_is_found() {
    is_found_in_fresh_processes_only(|| std::env::var("LC_ALL").unwrap_or_default().len() as u64);
}

#[test]
fn the_temporary_folder_is_found() {
    is_found_in_fresh_processes_only(|| std::env::temp_dir().as_os_str().len() as u64);
}

#[test]
fn the_size_of_the_environment_is_found() {
    is_found_in_fresh_processes_only(|| {
        std::env::vars_os().map(|(name, value)| name.len() + value.len()).sum::<usize>() as u64
    });
}

#[test]
fn a_shared_hasher_that_decides_about_the_order_is_found_at_the_first_event_out_of_order() {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let job = Job::new(|graph| {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let planner = graph.create_node("planner", ())?;
        let mut outs = BTreeMap::new();
        for name in names {
            let key = HASHER.hash_one(name);
            outs.insert(key, planner.create_publisher::<u32>(name, QoS::default())?);
        }
        // The publishers of one graph are equal in all processes, the order of messages is not.
        planner
            .create_timer(10 * MS, move |_, _| outs.values().try_for_each(|out| out.publish(1)))?;
        let listener = graph.create_node("listener", ())?;
        for name in names {
            listener.create_subscription(name, QoS::default(), |_, _: &Message<u32>, _| ())?;
        }
        Ok(())
    });
    let job = job.run_for(50 * MS);
    job.verify(3).expect("the hasher is the same within the process");
    // Ten names have the same order in two processes once in 3.6 million times.
    let divergence = diverged(job.verify_in_processes(3, &this_test()));
    assert_eq!(divergence.difference, Difference::Order);
    assert!(divergence.chain[0].contains("/planner `timer 10ms`"), "{divergence}");
}

#[test]
fn a_graph_that_depends_on_the_process_is_found_with_the_line_that_differs() {
    let job = Job::new(|graph| {
        graph.create_node(&format!("n{}", std::process::id()), ())?;
        Ok(())
    });
    let divergence = diverged(job.verify_in_processes(3, &this_test()));
    assert_eq!(divergence.difference, Difference::Graph);
    let name = format!("run 1: loop /n{}", std::process::id());
    assert!(divergence.to_string().contains(&name), "{divergence}");
}

#[test]
fn the_outcome_is_compared_besides_the_dispatches() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", ())?;
        node.create_timer(10 * MS, |_, cx| cx.exit((std::process::id() % 256) as u8))?;
        Ok(())
    });
    job.verify(2).unwrap();
    // One of these process ids has another remainder.
    let divergence = diverged(job.verify_in_processes(6, &this_test()));
    assert_eq!(divergence.difference, Difference::Outcome);
    assert!(divergence.to_string().contains("run 1: exit code Some("), "{divergence}");
}

#[test]
fn a_sound_job_verifies_and_each_of_several_calls_replies_for_itself() {
    for seed in 0..2 {
        let job = Job::new(|graph| {
            let node = graph.create_node("node", 0u64)?;
            node.digest_state()?;
            let mut random = node.create_random("dice")?;
            node.create_timer(MS, move |sum, _| {
                *sum ^= ringspin_executor::rand_core::Rng::next_u64(&mut random);
            })?;
            Ok(())
        });
        let job = job.run_for(50 * MS).simulate(|simulation| simulation.seed = seed);
        let runs = Mutex::new(0);
        let job = job.after_each_run(|| *runs.lock().unwrap() += 1);
        let report = job.verify_in_processes(4, &this_test()).unwrap();
        assert_eq!(*runs.lock().unwrap(), 4);
        assert_eq!(report.digest(), job.run().unwrap().digest());
    }
}

#[test]
fn state_that_a_run_leaves_behind_is_found_too() {
    let runs = Mutex::new(0u64);
    let job = Job::new(|graph| {
        *runs.lock().unwrap() += 1;
        let node = graph.create_node("counter", *runs.lock().unwrap())?;
        node.digest_state()?;
        node.create_timer(10 * MS, |_, _| ())?;
        Ok(())
    });
    let divergence = diverged(job.run_for(30 * MS).verify_in_processes(3, &this_test()));
    assert_eq!((divergence.run, divergence.difference), (2, Difference::Digest));
}

#[test]
fn a_run_that_fails_only_in_a_fresh_process_fails() {
    static HERE: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("RINGSPIN_VERIFY_REPLY").is_none());
    let job = Job::new(|_| Ok(())).check(|_| match *HERE {
        true => Ok(()),
        false => Err("not here".into()),
    });
    let error = job.verify_in_processes(3, &this_test()).unwrap_err().to_string();
    assert_eq!(error, "run 3 failed: a check failed at 0.000000000 s: not here");
}

#[test]
fn a_process_that_does_not_come_to_the_call_is_an_error_with_the_way_out() {
    let job = Job::new(|_| Ok(()));
    let other = test_again("fresh_processes::there_is_no_such_test");
    let error = job.verify_in_processes(3, &other).unwrap_err().to_string();
    assert!(error.starts_with("failed to run the job in a fresh process (run 3): "), "{error}");
    assert!(error.contains("` ended (exit "), "{error}");
    assert!(error.contains("start it with arguments that lead to that call"), "{error}");
    let missing = FreshProcess::new("/no/such/program", [""; 0]);
    let error = job.verify_in_processes(3, &missing).unwrap_err().to_string();
    // Under qemu, posix_spawn succeeds and the child exits with 127: a fork replaces its vfork.
    let named = match runner().is_empty() {
        true => "failed to start `/no/such/program`: ",
        false => "`/no/such/program` ended (exit status: 127) without a result of the call",
    };
    assert!(error.contains(named), "{error}");
}
