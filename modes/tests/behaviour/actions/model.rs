//! A goal, step by step, beside a plain model of its states.

use super::*;
use proptest::prelude::*;

/// Steps of a goal, each at its own millisecond.
#[derive(Clone, Copy, Debug)]
enum Step {
    Execute,
    Succeed,
    Abort,
    Canceled,
    Feedback,
    /// The client asks to cancel, and this is the server's answer.
    Cancel(CancelResponse),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Execute),
        1 => Just(Step::Succeed),
        1 => Just(Step::Abort),
        1 => Just(Step::Canceled),
        3 => Just(Step::Feedback),
        2 => Just(Step::Cancel(CancelResponse::Accept)),
        1 => Just(Step::Cancel(CancelResponse::Reject)),
    ];
    prop::collection::vec(step, 0..12)
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Led {
    Done,
    Illegal,
    Answer(CancelReturnCode, usize),
}

/// The expected course of a goal: the result of each step, the feedback, and the end.
type Story = (Vec<Led>, Vec<u32>, (GoalStatus, u32));

/// The plain model: a table of legal steps, and the answers to a client.
fn model(deferred: bool, steps: &[Step]) -> Story {
    use GoalStatus as S;
    let mut status = if deferred { S::Accepted } else { S::Executing };
    let (mut led, mut feedback, mut result) = (Vec::new(), Vec::new(), 0);
    for (n, step) in (1u32..).zip(steps) {
        let cancelable = matches!(status, S::Accepted | S::Executing);
        let endable = matches!(status, S::Executing | S::Canceling);
        let active = cancelable || endable;
        let to = match step {
            Step::Execute if status == S::Accepted => Some(S::Executing),
            Step::Succeed if endable => Some(S::Succeeded),
            Step::Abort if endable => Some(S::Aborted),
            Step::Canceled if status == S::Canceling => Some(S::Canceled),
            Step::Feedback if active => Some(status),
            Step::Cancel(CancelResponse::Accept) if cancelable => Some(S::Canceling),
            _ => None,
        };
        led.push(match (step, to) {
            (Step::Cancel(_), Some(_)) => Led::Answer(CancelReturnCode::None, 1),
            (Step::Cancel(_), None) if cancelable => Led::Answer(CancelReturnCode::Rejected, 0),
            (Step::Cancel(_), None) => Led::Answer(CancelReturnCode::GoalTerminated, 0),
            (_, Some(_)) => Led::Done,
            (_, None) => Led::Illegal,
        });
        if let (Step::Feedback, Some(_)) = (step, to) {
            feedback.push(n);
        }
        if let Some(to) = to {
            status = to;
            if matches!(to, S::Succeeded | S::Aborted | S::Canceled) {
                result = n;
            }
        }
    }
    let dropped = matches!(status, S::Accepted | S::Executing | S::Canceling);
    (led, feedback, if dropped { (S::Aborted, 0) } else { (status, result) })
}

#[derive(Default)]
struct Stepping {
    handle: Option<GoalHandle<Count>>,
    next: usize,
}

/// The server of such a goal, which takes down where its steps led.
fn stepping(
    graph: &Graph,
    deferred: bool,
    steps: &[Step],
    led: &Log<(usize, Led)>,
) -> Result<(), ringspin_executor::BoxError> {
    let node = graph.create_node("server", Stepping::default()).unwrap();
    let answers = steps.to_vec();
    node.create_action_server::<Count, _>(
        "count",
        ActionServerOptions::default(),
        move |_, _, _| if deferred { GoalResponse::Defer } else { GoalResponse::Accept },
        move |stepping, _, _| match answers[stepping.next - 1] {
            Step::Cancel(answer) => answer,
            step => panic!("unexpected request to cancel at {step:?}"),
        },
        |stepping, handle, _| stepping.handle = Some(handle),
    )?;
    let (script, seen) = (steps.to_vec(), led.clone());
    node.create_timer(10 * MS, move |stepping: &mut Stepping, _| {
        let Some(step) = script.get(stepping.next) else {
            stepping.handle = None;
            return;
        };
        stepping.next += 1;
        let n = stepping.next as u32;
        let handle = stepping.handle.as_ref().expect("the goal was accepted");
        let is_done = match step {
            Step::Execute => handle.execute().is_ok(),
            Step::Succeed => handle.succeed(n).is_ok(),
            Step::Abort => handle.abort(n).is_ok(),
            Step::Canceled => handle.canceled(n).is_ok(),
            Step::Feedback => handle.publish_feedback(n).is_ok(),
            Step::Cancel(_) => return,
        };
        let led = if is_done { Led::Done } else { Led::Illegal };
        seen.lock().unwrap().push((stepping.next, led));
    })?;
    Ok(())
}

/// The same by the real thing. The `n`th step is done at `10 n` ms.
fn reality(deferred: bool, steps: &[Step]) -> Story {
    let led: Log<(usize, Led)> = log();
    let feedback: Log<u32> = log();
    let end: Log<(GoalStatus, u32)> = log();
    let job = Job::new(|graph| {
        stepping(graph, deferred, steps, &led)?;
        let (node, client) = client(graph);
        let (heard, ended, sender) = (feedback.clone(), end.clone(), client.clone());
        let id: Arc<Mutex<GoalId>> = Arc::default();
        let sent = id.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let (heard, ended) = (heard.clone(), ended.clone());
            let callbacks = GoalCallbacks::new()
                .on_feedback(move |_, n, _| heard.lock().unwrap().push(**n))
                .on_result(move |_, outcome, _| {
                    let outcome = outcome.unwrap();
                    ended.lock().unwrap().push((outcome.status, *outcome.result));
                });
            *sent.lock().unwrap() = sender.send_goal(0, callbacks).unwrap();
        })?;
        for (n, _) in (1..).zip(steps).filter(|(_, step)| matches!(step, Step::Cancel(_))) {
            let (client, seen, id) = (client.clone(), led.clone(), id.clone());
            node.create_one_shot_timer(n as u32 * 10 * MS + MS, move |_, _| {
                let seen = seen.clone();
                let asked = client.cancel(
                    CancelGoalRequest::goal(*id.lock().unwrap()),
                    move |_, reply, _| {
                        let reply = reply.unwrap();
                        let led = Led::Answer(reply.return_code, reply.goals_canceling.len());
                        seen.lock().unwrap().push((n, led));
                    },
                );
                asked.unwrap();
            })?;
        }
        Ok(())
    });
    job.run_for(Duration::from_secs(1)).run().unwrap();
    let mut led = entries(&led);
    led.sort_by_key(|(n, _)| *n);
    let led = led.into_iter().map(|(_, led)| led).collect();
    let end = entries(&end);
    assert_eq!(end.len(), 1, "a goal ends once");
    (led, entries(&feedback), end[0])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_goal_goes_the_way_of_a_plain_model(deferred in any::<bool>(), steps in steps()) {
        prop_assert_eq!(reality(deferred, &steps), model(deferred, &steps));
    }
}
