//! A flaky order bug: make it appear, shrink it, fix it.
//!
//! ```text
//! cargo run --example order_bug
//! ```
//!
//! Two sensors measure every 10 ms, and a fusion joins what they measured at the same instant. It
//! takes for granted that a's message comes before b's. On a robot it nearly always does.
//!
//! 1. **The default order passes.** One run is one order, and this one suits the fusion.
//! 2. **[`Job::explore`] makes the bug appear.** It runs the same graph in other orders of what
//!    happens at the same instant, until the check fails, and shrinks that order to the fewest
//!    deviations from the default one: here a single one, which names the two callbacks. It also
//!    prints a variable with which exactly this order comes again, under a debugger or with more
//!    logging: `RINGSPIN_SCHEDULE='t...' cargo run --example order_bug`.
//! 3. **The fix passes in every order.** A synchronized subscription joins the messages by their
//!    stamps, whichever comes first.
//!
//! In a test, step 3 is all there is to write:
//!
//! ```ignore
//! #[test]
//! fn the_fusion_works_in_every_order() {
//!     let explored = job(joined).explore(&Exploration::default());
//!     explored.unwrap_or_else(|found| panic!("{found}"));
//! }
//! ```

use ringspin::{
    BoxError, ExactTime, Exploration, ExploreError, Graph, Input, Job, Message, Node, QoS, Stamped,
    Time,
};
use std::time::Duration;

/// What a sensor measured, and when.
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
    /// When the two samples of each pair were taken.
    pairs: Vec<(Option<Time>, Time)>,
}

/// With the bug: a's newest sample need not be that of the same instant.
fn hasty(fusion: &Node<Fusion>) -> Result<(), BoxError> {
    fusion.create_subscription("a", QoS::default(), |fusion, a: &Message<Sample>, _| {
        fusion.newest_a = Some(**a);
    })?;
    fusion.create_subscription("b", QoS::default(), |fusion, b: &Message<Sample>, _| {
        fusion.pairs.push((fusion.newest_a.map(|a| a.taken), b.taken));
    })?;
    Ok(())
}

/// The fix.
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

/// The two sensors with a fusion, for a second of simulated time, and what has to hold at its end.
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
        Err(ExploreError::Found(counterexample)) => println!("{counterexample}\n"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("the bug did not appear".into()),
    }

    println!("3. joined by stamps, in other orders:");
    let explored = job(joined).explore(&Exploration { seeds: 0..200, ..Exploration::default() })?;
    println!("  passes in all {}, {} of them others", explored.runs, explored.deviating);
    Ok(())
}
