//! A bug that depends on the order of events: find it, shrink it, fix it.
//!
//! ```text
//! cargo run --example order_bug
//! ```
//!
//! Two sensors measure every 10 ms, and a fusion joins their measurements of the same instant. It
//! assumes that the message of `a` arrives before the one of `b`, which is usually the case on a
//! robot.
//!
//! 1. **The default order passes.** One run covers one order, and this one suits the fusion.
//! 2. **[`Job::explore`] finds the bug.** It runs the same graph with simultaneous events in other
//!    orders until the check fails, and shrinks the failing order to the fewest deviations from the
//!    default one: here a single one, which names the two callbacks. It also prints a variable that
//!    replays exactly this order, in a debugger or with more logging:
//!    `RINGSPIN_SCHEDULE='p...' cargo run --example order_bug`.
//! 3. **The fix passes in every order.** A synchronized subscription joins the messages by their
//!    stamps, in any order of arrival.
//!
//! A test needs step 3 only:
//!
//! ```ignore
//! #[test]
//! fn the_fusion_works_in_every_order() {
//!     let explored = job(joined).explore(&Exploration::default());
//!     explored.unwrap_or_else(|found| panic!("{found}"));
//! }
//! ```

use ringspin::sim::{Counterexample, Exploration};
use ringspin::sync::{ExactTime, Input, Stamped};
use ringspin::{BoxError, Graph, Job, Message, Node, QoS, Time};
use std::time::Duration;

/// A measurement with its time.
#[derive(Clone, Copy)]
struct Sample {
    taken: Time,
}

impl Stamped for Sample {
    fn stamp(&self) -> Time {
        self.taken
    }
}

/// The fusion's state.
#[derive(Default)]
struct Fusion {
    newest_a: Option<Sample>,
    /// The times of the two samples of each pair.
    pairs: Vec<(Option<Time>, Time)>,
}

/// The bug: the newest sample of `a` may be from an earlier instant.
fn hasty(fusion: &Node<Fusion>) -> Result<(), BoxError> {
    fusion.create_subscription("a", QoS::default(), |fusion, a: &Message<Sample>, _| {
        fusion.newest_a = Some(**a);
    })?;
    fusion.create_subscription("b", QoS::default(), |fusion, b: &Message<Sample>, _| {
        fusion.pairs.push((fusion.newest_a.map(|a| a.taken), b.taken));
    })?;
    Ok(())
}

/// The fix: joins the samples by their stamps.
fn joined(fusion: &Node<Fusion>) -> Result<(), BoxError> {
    let inputs = ["a", "b"].map(|topic| Input::<Sample>::new(topic, QoS::default()));
    let [a, b] = inputs;
    fusion.create_synchronized_subscription(
        (a, b),
        ExactTime::new(2),
        |fusion, (a, b): (&Message<Sample>, &Message<Sample>), _| {
            fusion.pairs.push((Some(a.taken), b.taken));
        },
    )?;
    Ok(())
}

/// One simulated second of the two sensors with a fusion, and the check at its end.
fn job(subscribe: fn(&Node<Fusion>) -> Result<(), BoxError>) -> Job<'static> {
    let build = move |graph: &Graph| {
        for topic in ["a", "b"] {
            let sensor = graph.create_node(&format!("sensor_{topic}"), ())?;
            let out = sensor.create_publisher(topic, QoS::default())?;
            let measure = Duration::from_millis(10);
            sensor.create_timer(measure, move |(), cx| out.publish(Sample { taken: cx.now() }))?;
        }
        subscribe(&graph.create_node("fusion", Fusion::default())?)
    };
    Job::new(build).run_for(Duration::from_secs(1)).check(|session| {
        let Fusion { pairs, .. } = session.state("/fusion")?;
        if pairs.len() != 100 {
            return Err(format!("{} pairs instead of 100", pairs.len()).into());
        }
        match pairs.iter().find(|(a, b)| *a != Some(*b)) {
            None => Ok(()),
            Some((None, b)) => Err(format!("b of {b} was joined with no a at all").into()),
            Some((Some(a), b)) => Err(format!("b of {b} was joined with a of {a}").into()),
        }
    })
}

fn main() -> Result<(), BoxError> {
    println!("1. hasty, in the default order:");
    let report = job(hasty).run()?;
    println!("  passes, with {} events\n", report.dispatches());

    println!("2. hasty, in other orders:");
    match job(hasty).explore(&Exploration::default()) {
        Err(error) => match error.cause::<Counterexample>() {
            Some(counterexample) => println!("{counterexample}\n"),
            None => return Err(error.into()),
        },
        Ok(_) => return Err("the bug did not appear".into()),
    }

    println!("3. joined by stamps, in other orders:");
    let explored = job(joined).explore(&Exploration { seeds: 0..200, ..Exploration::default() })?;
    println!("  passes in all {}, {} of them others", explored.runs, explored.deviating);
    Ok(())
}
