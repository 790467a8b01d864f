//! A gripper and the arm that uses it, written against rclrs as its users do: an action with a
//! stream of goals, a worker with the state machine of the fingers as its payload, a service
//! that stops them, parameters with ranges, and a client that follows, cancels and changes goals.
//!
//! It ends after fourteen goals. Run it as it is, and twice with `RINGSPIN_MODE=deterministic`.

use futures::StreamExt;
use futures::channel::oneshot;
use rclrs::*;
use ros_env::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use ros_env::rcl_interfaces::msg::{Parameter, ParameterValue as Value};
use ros_env::rcl_interfaces::srv::{SetParameters, SetParameters_Request, SetParameters_Response};
use ros_env::sensor_msgs::msg::JointState;
use ros_env::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use std::error::Error;
use std::time::Duration;

/// The distance of the fingers when they are open, in millimetres.
const OPEN: i32 = 80;

/// The goal that holds an object, until it is cancelled or the gripper is stopped.
const HOLD: i32 = 0;

/// The end of a motion, with the distances on its way.
enum Outcome {
    Arrived(Vec<i32>),
    Stopped(Vec<i32>),
}

/// A motion for a goal.
struct Motion {
    wanted: i32,
    path: Vec<i32>,
    feedback: FeedbackPublisher<Fibonacci>,
    ended: oneshot::Sender<Outcome>,
}

/// The state machine of the fingers.
struct Fingers {
    /// Between the fingers, in millimetres.
    distance: i32,
    motion: Option<Motion>,
    steps: usize,
}

impl Fingers {
    /// Moves by `speed`, and stops at an object, which may be thinner when it is held.
    fn step(&mut self, speed: i32, object: Option<i32>) {
        let Some(motion) = &mut self.motion else { return };
        self.steps += 1;
        let nearest = object.unwrap_or(0);
        let step = (motion.wanted - self.distance).clamp(-speed, speed);
        self.distance = (self.distance + step).max(nearest);
        motion.path.push(self.distance);
        let feedback = Fibonacci_Feedback { sequence: motion.path.clone() };
        // The goal may have been cancelled meanwhile.
        let is_live = motion.feedback.publish(feedback).is_ok();
        let has_arrived = motion.wanted != HOLD && self.distance == motion.wanted.max(nearest);
        if let Some(motion) = self.motion.take_if(|_| has_arrived || !is_live) {
            let _ = motion.ended.send(Outcome::Arrived(motion.path));
        }
    }

    fn stop(&mut self) -> bool {
        let Some(motion) = self.motion.take() else { return false };
        motion.ended.send(Outcome::Stopped(motion.path)).is_ok()
    }
}

/// Pursues a goal with the fingers.
async fn grip(goal: RequestedGoal<Fibonacci>, fingers: Worker<Fingers>) -> TerminatedGoal {
    let wanted = goal.goal().order;
    if !(HOLD..=OPEN).contains(&wanted) {
        return goal.reject();
    }
    let executing = match goal.accept().begin() {
        BeginAcceptedGoal::Execute(executing) => executing,
        BeginAcceptedGoal::Cancel(goal) => return goal.cancelled_with(Fibonacci_Result::default()),
    };
    let feedback = executing.feedback_publisher();
    let (ended, end) = oneshot::channel();
    let motion = Motion { wanted, path: Vec::new(), feedback, ended };
    // A goal that moves is stopped by the next one.
    let _ = fingers
        .run(move |fingers| {
            fingers.stop();
            fingers.motion = Some(motion);
        })
        .await;
    match executing.unless_cancel_requested(end).await {
        Ok(Ok(Outcome::Arrived(sequence))) => {
            executing.succeeded_with(Fibonacci_Result { sequence })
        }
        Ok(Ok(Outcome::Stopped(sequence))) => executing.aborted_with(Fibonacci_Result { sequence }),
        Ok(Err(_)) => executing.aborted_with(Fibonacci_Result::default()),
        Err(()) => {
            let cancelling = executing.begin_cancelling();
            let sequence = fingers.run(|fingers| fingers.motion.take().map(|it| it.path)).await;
            let sequence = sequence.ok().flatten().unwrap_or_default();
            cancelling.cancelled_with(Fibonacci_Result { sequence })
        }
    }
}

/// The primitives of the gripper, which end when they are dropped.
struct Gripper {
    _stop: WorkerService<Trigger, Fingers>,
    _steps: WorkerTimer<Fingers>,
    _states: WorkerTimer<Fingers>,
}

impl Gripper {
    fn new(node: &Node) -> Result<Self, Box<dyn Error>> {
        let range = ParameterRange { lower: Some(1), upper: Some(20), step: None };
        let speed = node
            .declare_parameter::<i64>("speed")
            .default(5)
            .range(range)
            .description("of the fingers, in millimetres per step")
            .mandatory()?;
        let logger = node.logger().clone();
        speed.on_change(move |speed| log_info!(&logger, "{speed} mm per step"));
        let range = ParameterRange { lower: Some(1), upper: Some(OPEN.into()), step: None };
        let object = node.declare_parameter::<i64>("object").range(range).optional()?;
        let worker = node.create_worker(Fingers { distance: OPEN, motion: None, steps: 0 });
        let stop = worker.create_service::<Trigger, _>(
            "~/stop",
            |fingers: &mut Fingers, _: Trigger_Request| Trigger_Response {
                success: fingers.stop(),
                message: format!("at {} mm", fingers.distance),
            },
        )?;
        let steps = worker.create_timer_repeating(
            Duration::from_millis(10),
            move |fingers: &mut Fingers| {
                fingers.step(speed.get() as i32, object.get().map(|width| width as i32));
            },
        )?;
        let joints = node.create_publisher::<JointState>("joint_states".keep_last(1))?;
        let states = worker.create_timer_repeating(
            Duration::from_millis(100),
            move |fingers: &mut Fingers| {
                let position = vec![f64::from(fingers.distance) / 1000.0];
                let name = vec!["finger_joint".to_owned()];
                joints.publish(JointState { name, position, ..JointState::default() }).unwrap();
            },
        )?;
        let mut goals = node.create_goal_receiver::<Fibonacci>("grip")?;
        let (commands, fingers) = (node.commands().clone(), worker.clone());
        let _serving = node.commands().run(async move {
            while let Some(goal) = goals.recv().await {
                drop(commands.run(grip(goal, fingers.clone())));
            }
        });
        Ok(Self { _stop: stop, _steps: steps, _states: states })
    }
}

/// The number of goals with each end.
#[derive(Debug, Default)]
struct Ends {
    succeeded: usize,
    cancelled: usize,
    aborted: usize,
    rejected: usize,
}

/// The arm's means to use the gripper.
struct Arm {
    node: Node,
    grip: ActionClient<Fibonacci>,
    stop: Client<Trigger>,
    set_parameters: Client<SetParameters>,
}

impl Arm {
    fn new(node: &Node) -> Result<Self, RclrsError> {
        Ok(Self {
            node: node.clone(),
            grip: node.create_action_client("grip")?,
            stop: node.create_client("/gripper/stop")?,
            set_parameters: node.create_client("/gripper/set_parameters")?,
        })
    }

    /// Sends a goal and follows it. After three messages of feedback a goal that holds is ended.
    async fn follow(&self, order: i32, is_cancelled: bool, ends: &mut Ends) {
        let Some(goal) = self.grip.request_goal(Fibonacci_Goal { order }).await else {
            log_warn!(self.node.logger(), "{order} mm is rejected");
            ends.rejected += 1;
            return;
        };
        let (mut events, cancellation) = (goal.clone().stream(), goal.cancellation);
        let mut feedbacks = 0;
        while let Some(event) = events.next().await {
            match event {
                GoalEvent::Feedback(_) => {
                    feedbacks += 1;
                    if order == HOLD && feedbacks == 3 {
                        match is_cancelled {
                            true => assert!(cancellation.cancel().await.is_accepted()),
                            false => self.stop().await,
                        }
                    }
                }
                GoalEvent::Status(_) => {}
                GoalEvent::Result((code, result)) => {
                    match code {
                        GoalStatusCode::Succeeded => ends.succeeded += 1,
                        GoalStatusCode::Cancelled => ends.cancelled += 1,
                        GoalStatusCode::Aborted => ends.aborted += 1,
                        code => log_error!(self.node.logger(), "ended as {code:?}"),
                    }
                    let end = result.sequence.last().copied().unwrap_or_default();
                    println!("goal {order} mm: {code:?} at {end} mm");
                    return;
                }
            }
        }
    }

    async fn stop(&self) {
        let response: Promise<Trigger_Response> =
            self.stop.call(Trigger_Request::default()).unwrap();
        match response.await {
            Ok(response) => log_info!(self.node.logger(), "stopped {}", response.message),
            Err(_) => log_warn!(self.node.logger(), "the gripper does not answer"),
        }
    }

    /// Sets an integer of the gripper; returns the reason if it is refused.
    async fn set(&self, name: &str, integer: i64) -> Result<(), String> {
        let value = Value { type_: 2, integer_value: integer, ..Value::default() };
        let parameters = vec![Parameter { name: name.into(), value }];
        let response: Promise<SetParameters_Response> = self
            .set_parameters
            .call(SetParameters_Request { parameters })
            .map_err(|error| error.to_string())?;
        let response = response.await.map_err(|_| "no answer".to_owned())?;
        let result = response.results.into_iter().next().ok_or("no result")?;
        if result.successful { Ok(()) } else { Err(result.reason) }
    }

    async fn work(self) -> Ends {
        self.grip.notify_on_server_ready().await.unwrap();
        self.set_parameters.notify_on_service_ready().await.unwrap();
        self.stop.notify_on_service_ready().await.unwrap();
        let mut ends = Ends::default();
        for round in 1..=2 {
            for (order, is_cancelled) in [(60, false), (HOLD, true), (HOLD, false), (90, false)] {
                self.follow(order, is_cancelled, &mut ends).await;
            }
            if let Err(reason) = self.set("speed", 10 * round).await {
                println!("the speed is refused: {reason}");
            }
            if let Err(reason) = self.set("speed", 100).await {
                println!("the speed is refused: {reason}");
            }
            self.set("object", 30).await.unwrap();
            // The object stops the fingers.
            self.follow(20, false, &mut ends).await;
            // A goal stops the one before it.
            let held = self.grip.request_goal(Fibonacci_Goal { order: HOLD }).await;
            self.follow(OPEN, false, &mut ends).await;
            let (code, _) = held.expect("0 mm is a goal").result.await;
            println!("goal {HOLD} mm: {code:?} by the next one");
            ends.aborted += usize::from(code == GoalStatusCode::Aborted);
        }
        ends
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut executor = Context::default_from_env()?.create_basic_executor();
    let gripper = executor.create_node("gripper")?;
    let arm = executor.create_node("arm")?;
    let _gripper = Gripper::new(&gripper)?;
    let work = executor.commands().run(Arm::new(&arm)?.work());
    let (mut ends, notice) = executor.commands().create_notice(work);
    executor.spin(SpinOptions::new().until_promise_resolved(notice)).first_error()?;
    println!("{:?}", ends.try_recv()?.ok_or("the arm did not finish")?);
    Ok(())
}
