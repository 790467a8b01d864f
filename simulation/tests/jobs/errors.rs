//! Errors of job files name the place, the cause and the way out.

use super::{PAIR, file, registry};
use ringspin_simulation::{Exploration, JobFile, Registry};
use std::io;
use std::path::Path;
use std::time::Duration;

fn refused(text: &str) -> String {
    JobFile::from_toml(text).expect_err(text).to_string()
}

/// The error of the job of a valid file, when it is made or when it starts.
fn fails(text: &str, registry: &Registry) -> String {
    match file(text).job(registry) {
        Err(error) => error.to_string(),
        Ok(job) => job.run_for(Duration::from_secs(1)).run().expect_err(text).to_string(),
    }
}

#[test]
fn parse_errors_have_line_column_and_the_keys() {
    for (text, line, expected) in [
        ("\nsede = 1", 2, "unknown field `sede`, expected one of `seed`, `start`, `end`, `for`"),
        ("seed = -1", 1, "invalid value: integer `-1`, expected u64"),
        ("for = 60", 1, "write it as \"10ms\", \"1.5 s\", \"250us\""),
        ("for = \"60\"", 1, "`60` is not a duration"),
        ("ties = \"random\"", 1, "unknown variant `random`, expected one of `fifo`, `reverse`"),
        ("ties = { shuffle = { sed = 1 } }", 1, "unexpected keys in table: sed, available"),
        ("ties = { pct = { depth = 0, steps = 9 } }", 1, "expected a nonzero u32"),
        ("ties = { pct = { steps = 9 } }", 1, "missing field `depth`"),
        (
            "schedule = \"t1\"",
            1,
            "`t1` is not a deviation: write `s<seed>`, `t<seconds>:<choice>><taken>`",
        ),
        ("jitter = \"1 ms\"", 1, "expected a table such as { max = \"1 ms\", seed = 1 }"),
        ("node = 5", 1, "expected a sequence"),
        ("node = [5]", 1, "expected a `[[node]]` table with a `type`"),
        ("jitter = { seed = 1 }", 1, "missing field `max`"),
        ("cores = \"two\"", 1, "expected one of `unlimited`, `single`, `mapping`"),
        ("instant_dispatches_max = 0", 1, "expected a nonzero u64"),
        ("[[link]]\ntopic = \"/a\"\nloss = 1.5", 3, "expected a probability from 0 to 1"),
        ("[[link]]\ndelay = \"1 ms\"", 1, "missing field `topic`"),
        ("[[execution]]\nnod = \"/a\"", 2, "unknown field `nod`, expected one of `node`"),
        ("failures = \"ignore\"", 1, "expected `stop` or `isolate`"),
        ("end_when = \"/goal\"", 1, "expected a table such as { topic = \"/goal\", messages = 1 }"),
        ("end_when = { topic = \"/goal\", messages = 0 }", 1, "expected a nonzero u64"),
        ("[[node]]\nname = \"a\"", 1, "missing field `type`"),
        ("[[node]]\ntype = \"a\"\nparameter = {}", 3, "unknown field `parameter`"),
        ("seed = ", 1, "string values must be quoted"),
    ] {
        let message = refused(text);
        assert!(message.starts_with("the text is not a job file: TOML parse error"), "{message}");
        assert!(message.contains(&format!("at line {line}, column")), "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
        let way_out = message.lines().last().unwrap();
        let is_way_out = way_out == "correct that line" || way_out.starts_with("did you mean `");
        assert!(is_way_out, "{message}");
        assert_eq!(JobFile::from_toml(text).unwrap_err().line(), Some(line), "{text}");
    }
}

#[test]
fn a_typo_in_a_key_names_file_line_and_nearest_key() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job.toml");
    for (text, line, nearest) in [
        ("\nsede = 1", 2, "seed"),
        ("[[execution]]\nnod = \"/a\"", 2, "node"),
        ("[[node]]\ntype = \"a\"\nparameter = {}", 3, "parameters"),
        ("ties = { shuffle = { sed = 1 } }", 1, "seed"),
        ("failures = \"isolat\"", 1, "isolate"),
    ] {
        std::fs::write(&job, text).unwrap();
        let error = JobFile::load(&job).unwrap_err();
        assert_eq!((error.path(), error.line()), (Some(&*job), Some(line)), "{error}");
        let start = format!("{} is not a job file: ", job.display());
        let end = format!("\ndid you mean `{nearest}`?");
        let message = error.to_string();
        assert!(message.starts_with(&start) && message.ends_with(&end), "{message}");
        assert_eq!(format!("{error:?}"), message);
    }
}

#[test]
fn contradictions_name_the_line_and_the_way_out() {
    for (text, expected) in [
        (
            "end = \"1 s\"\nfor = \"1 s\"",
            "the text:2: `end` and `for` both say when the run ends; keep one",
        ),
        (
            "start = \"2 s\"\n\nend = \"1 s\"",
            "the text:3: the end, 1.000000000 s, is before the start, 2.000000000 s; correct one \
             of them",
        ),
        (
            "start = \"584 h\"\nfor = \"18446744073709551615 ns\"",
            "the text:2: `for` ends later than simulated time can be told, which is 584 years; \
             shorten it",
        ),
        (
            "schedule = \"t1:0>1\"\nties = \"fifo\"",
            "the text:2: `schedule` says in which order events go, and how late; remove `ties`",
        ),
        (
            "schedule = \"t1:0>1\"\njitter = { max = \"1 ms\" }",
            "the text:2: `schedule` says in which order events go, and how late; remove `jitter`",
        ),
        (
            "endless = true\nfor = \"1 s\"",
            "the text:2: `endless` says that nothing has to end the run, and this does; keep one",
        ),
        ("watchdog = \"0 s\"", "the text:1: a watchdog of no time; give it some, as \"30 s\""),
        (
            "ros_args = [\"--\", \"--fast\"]",
            "the text:1: `--fast` is not a ROS argument, and no other arguments are read; remove \
             it",
        ),
    ] {
        assert_eq!(refused(text), expected);
    }
}

#[test]
fn files_that_cannot_be_used_are_named_where_they_are_named() {
    let missing = "failed to read the job file `no/such.toml`: No such file or directory";
    let error = JobFile::load("no/such.toml").unwrap_err();
    assert!(error.to_string().starts_with(missing), "{error}");
    assert_eq!(error.path(), Some(Path::new("no/such.toml")));
    assert!(error.cause::<io::Error>().is_some());
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job.toml");
    let csv = folder.path().join("delays.csv");
    std::fs::write(&csv, "Topic Name,\n/a, MEASURED, , 1").unwrap();
    let [job_name, csv_name] = [&job, &csv].map(|path| path.display().to_string());
    for (text, expected) in [
        ("delays = \"no.csv\"", "failed to read the delays `"),
        ("delays = \"delays.csv\"", &*format!("{csv_name}, line 2: `/a` is MEASURED")),
        ("profile = \"no.toml\"", "failed to read the profile `"),
        ("cores = { mapping = \"no.toml\" }", "failed to read the mapping file `"),
    ] {
        std::fs::write(&job, format!("seed = 1\n{text}")).unwrap();
        let message = JobFile::load(&job).unwrap_err().to_string();
        let expected = format!("{job_name}:2: {expected}");
        assert!(message.starts_with(&expected), "{message}\n{expected}");
    }
}

#[test]
fn arguments_that_are_none_name_their_line() {
    for (text, expected) in [
        ("ros_args = [\"-q\"]", "the text:1: unknown ROS argument `-q`"),
        ("ros_args = [\"-p\"]", "the text:1: `-p` has to be followed by a parameter"),
        (
            "[[node]]\ntype = \"a\"\nparameters = { when = 2026-01-01 }",
            "the text:3: parameter `when`: ROS parameters have no dates; quote it",
        ),
        (
            "[[node]]\ntype = \"a\"\n[node.parameters]\nok = 1\nmix = [1, 2.0]",
            "the text:5: parameter `mix`: a list has elements of one type: bools, integers, \
             floats such as `1.0`, or strings",
        ),
        (
            "[[node]]\ntype = \"a\"\nparameters = { deep = { list = [[1]] } }",
            "the text:3: parameter `deep`: a list has elements of one type",
        ),
        (
            "[[node]]\ntype = \"a\"\nparameters = { \"a b\" = 1 }",
            "the text:3: parameter override `/a:a b:=1`: parameter name",
        ),
        (
            "[[node]]\ntype = \"a\"\nname = \"1a\"\nparameters = { b = 1 }",
            "the text:4: parameter override `/1a:b:=1`: `/1a` is not a valid fully qualified",
        ),
        (
            "[[node]]\ntype = \"a\"\nremap = { in = \"no name\" }",
            "the text:3: remapping rule `/a:in:=no name`",
        ),
    ] {
        let message = refused(text);
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
}

#[test]
fn nodes_that_cannot_be_are_named() {
    let registry = registry();
    for (text, expected) in [
        (
            "[[node]]\ntype = \"taler\"",
            "the text:2: there is no node type `taler`; did you mean \
             `talker`?",
        ),
        (
            "[[node]]\ntype = \"xyz\"",
            "the text:2: there is no node type `xyz`; use one of idle, listener, talker",
        ),
        (
            "seed = 1",
            "the text has no nodes; add a `[[node]]` with a `type`: one of idle, listener, \
             talker",
        ),
        (
            "[[node]]\ntype = \"idle\"\n[[node]]\ntype = \"idle\"",
            "the text:4: failed to build node /idle: ",
        ),
        ("[[node]]\ntype = \"idle\"\nname = \"a b\"", "the text:2: failed to build node /a b: "),
        (
            "[[node]]\ntype = \"talker\"\nparameters = { period = 5 }",
            "no node that they apply to declares these parameters: the text:3: `period`; check the \
             names, or remove them",
        ),
    ] {
        let message = fails(text, &registry);
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
    let message = fails("[[node]]\ntype = \"talker\"\nparameters = { period_ms = 0.5 }", &registry);
    assert!(message.starts_with("the text:2: failed to build node /talker: "), "{message}");
    assert!(message.contains("the text:3"), "where the value was given: {message}");
}

/// The camera of the guide: its period is computed from a parameter, which may be no rate.
#[test]
fn a_builder_that_panics_is_an_error_with_the_line_of_its_node() {
    let registry = Registry::new().node("camera", |graph, place| {
        let camera = place.create_node(graph, 0u64)?;
        let rate = camera.declare_parameter("rate", 10.0)?.get();
        camera.create_timer(Duration::from_secs_f64(1.0 / rate), |count, _| *count += 1)?;
        Ok(())
    });
    for (rate, reason) in [
        ("-5.0", "it panicked: cannot convert float seconds to Duration"),
        ("nan", "it panicked: cannot convert float seconds to Duration"),
        ("0.0", "it panicked: cannot convert float seconds to Duration"),
        ("1e-300", "it panicked: cannot convert float seconds to Duration"),
        ("inf", "failed to create a timer of node /front: timer period 0ns is out of range"),
    ] {
        let text = format!(
            "for = \"1 s\"\n[[node]]\ntype = \"camera\"\nname = \"front\"\n\
             parameters = {{ rate = {rate} }}"
        );
        let message = fails(&text, &registry);
        let expected = format!("the text:3: failed to build node /front: {reason}");
        assert!(message.starts_with(&expected), "{rate}: {message}");
        let job = file(&text).job(&registry).unwrap();
        let explored = job.explore(&Exploration { seeds: 0..3, ..Exploration::default() });
        assert!(explored.unwrap_err().to_string().contains(&expected), "{rate}");
    }
}

#[test]
fn a_job_without_an_end_is_refused_unless_it_says_so() {
    let registry = registry();
    // A node ends them later, so that the test ends even if no job is refused.
    let later = format!("{PAIR}parameters = {{ exit_at = 400 }}");
    let job = |text: &str| file(&format!("{text}\n{later}")).job(&registry).unwrap();
    let expected = "the text does not say when the run ends, so its timers would fire for ever; \
                    add `for = \"60 s\"`, `end`, or `end_when`, or `endless = true` if a node ends \
                    it or nothing is left to do at some time";
    assert_eq!(job("").run().unwrap_err().to_string(), expected);
    assert!(job("").verify(2).unwrap_err().to_string().contains(expected));
    let explored = job("").explore(&Exploration::default());
    assert!(explored.unwrap_err().to_string().contains(expected));
    assert_eq!(job("endless = false").run().unwrap_err().to_string(), expected);
    for end in ["for = \"1 s\"", "end = \"1 s\"", "end_when = { topic = \"/chatter\" }"] {
        job(end).run().unwrap();
    }
    // The program may say so as well, and a test that steps has no end.
    let second = Duration::from_secs(1);
    job("").run_for(second).run().unwrap();
    job("").end_when(|(), now| now.as_nanos() > 0).run().unwrap();
    assert!(job("").start().unwrap().step().unwrap().is_some());
    let exits = format!("endless = true\n{PAIR}parameters = {{ exit_at = 4 }}");
    assert_eq!(file(&exits).job(&registry).unwrap().run().unwrap().exit_code(), Some(7));
}

#[test]
fn keys_that_do_not_match_the_graph_are_named() {
    for (text, expected) in [
        ("[[link]]\ntopic = \"/chater\"", "link 1 (`/chater`): the graph has no such topic"),
        ("[[execution]]\nnode = \"/x\"\nduration = \"1 ms\"", "execution 1 (`/x`): the graph has"),
    ] {
        let message = fails(&format!("{PAIR}{text}"), &registry());
        assert!(message.starts_with(expected), "{message}");
    }
    let message = fails(&format!("end_when = {{ topic = \"/chat\" }}\n{PAIR}"), &registry());
    assert_eq!(
        message,
        "failed to end the run by messages: topic `/chat` has no subscription; did you mean \
         `/chatter`?"
    );
}

#[test]
fn a_registry_without_or_with_too_many_types_says_so() {
    let empty = Registry::new();
    let message = fails("[[node]]\ntype = \"a\"", &empty);
    assert!(message.ends_with("the program has registered none yet"), "{message}");
    assert!(fails("", &empty).ends_with("the program has registered none yet"));
    let twice = Registry::new().node("a", |_, _| Ok(())).node("a", |_, _| Ok(()));
    let message = "node type `a` is registered twice; give one of the two another name";
    assert_eq!(fails("[[node]]\ntype = \"a\"", &twice), message);
    assert_eq!(twice.check().unwrap_err().to_string(), message);
}

#[test]
fn a_simulation_has_no_keys_of_jobs() {
    for (line, key) in [
        ("watchdog = \"1 s\"", "watchdog"),
        ("failures = \"stop\"", "failures"),
        ("endless = true", "endless"),
        ("end_when = { topic = \"/a\" }", "end_when"),
        ("ros_args = []", "ros_args"),
        ("[[node]]\ntype = \"a\"", "node"),
    ] {
        let error = file(&format!("seed = 1\n{line}")).into_simulation().unwrap_err();
        let at = if key == "node" { 3 } else { 2 };
        assert_eq!(
            error.to_string(),
            format!(
                "the text:{at}: `{key}` belongs to a job, but this file may only describe \
                 the simulation: the program sets the rest; remove it"
            )
        );
    }
}
