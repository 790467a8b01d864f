//! Options of an executor besides its mode, to be set before it is frozen.

use crate::chains::Chain;
use crate::deterministic::RunOptions;
use crate::executor::Executor;
use crate::flight::FlightWriter;
use ringspin_executor::{FailurePolicy, GraphInfo, ReadyOrder, Recorder, WaitStrategy};
use std::time::Duration;

impl Executor {
    /// How idle workers wait in the live modes; by default they spin 10 microseconds, then park.
    #[must_use]
    pub fn with_wait_strategy(mut self, wait: WaitStrategy) -> Self {
        self.wait = wait;
        self
    }

    /// How long the turn of an event loop is at most in the live modes, while others of its
    /// priority are ready; by default a millisecond. A callback is never interrupted, and a turn
    /// has four events at most. With [`Duration::MAX`] it has four, however long they take.
    #[must_use]
    pub fn with_turn(mut self, duration: Duration) -> Self {
        self.turn = duration;
        self
    }

    /// Sets the reaction to a failed callback; by default the executor stops.
    #[must_use]
    pub fn with_failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Has each worker's dispatches recorded by what `factory` makes for it (given the graph and
    /// the worker's index). Get the recorders back with [`take_recorders`](Self::take_recorders).
    #[must_use]
    pub fn with_recorders<R: Recorder>(
        mut self,
        factory: impl FnMut(&GraphInfo, usize) -> R + Send + 'static,
    ) -> Self {
        self.set_recorders(factory);
        self
    }

    /// Replaces the recorders, as [`with_recorders`](Self::with_recorders).
    pub fn set_recorders<R: Recorder>(
        &mut self,
        mut factory: impl FnMut(&GraphInfo, usize) -> R + Send + 'static,
    ) {
        self.recorder = Some(Box::new(move |info, worker| Box::new(factory(info, worker))));
    }

    /// Has `writer` write a record of the run in the live modes, for an exact replay; see
    /// [`Mode::Replay`](crate::Mode::Replay). Nothing waits for the writer: if it is too slow,
    /// entries are lost, and the record says so. The drop of the executor waits until the record is
    /// complete.
    ///
    /// A replay draws the same random numbers and shows callbacks the times that they read from
    /// their context and from clocks of the graph. The record lacks other clocks, files, and
    /// messages that other threads or processes send into the graph.
    pub fn record_flight(&mut self, writer: impl FlightWriter + 'static) {
        self.flight_writer = Some(Box::new(writer));
    }

    /// The options of a deterministic run, for tools that explore, shrink or step it: set them
    /// before the executor is frozen.
    pub fn run_options(&mut self) -> &mut RunOptions {
        &mut self.deterministic
    }

    /// Has these chains followed, in any mode: how long each message takes that goes through one.
    /// It costs nothing where no chain goes. Read [`chains`](Self::chains) afterwards.
    ///
    /// A chain that the graph cannot have is an error of the freeze.
    ///
    /// ```
    /// use ringspin_executor::{Message, QoS};
    /// use ringspin_modes::{Chain, Executor, Simulation};
    /// use ringspin_simulation::models::{Distribution, DurationRule, Durations};
    /// use std::time::Duration;
    ///
    /// let took = Distribution::fixed(Duration::from_millis(3));
    /// let durations = Durations::new().rule(DurationRule::new("/work").duration(took)).into();
    /// let mut executor = Executor::deterministic(Simulation { durations, ..Default::default() })
    ///     .with_chains([Chain::new("all", ["/tick", "/work"])]);
    /// let tick = executor.create_node("tick", ())?;
    /// let out = tick.create_publisher("ticks", QoS::default())?;
    /// tick.create_timer(Duration::from_millis(10), move |_, _| out.publish(1u8))?;
    /// let work = executor.create_node("work", ())?;
    /// work.create_subscription("ticks", QoS::default(), |_, _: &Message<u8>, _| {})?;
    /// executor.spin_for(Duration::from_millis(30))?;
    /// assert_eq!(executor.chains()[0].release_to_end_ns, [3_000_000; 3]);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn with_chains(mut self, chains: impl IntoIterator<Item = Chain>) -> Self {
        self.chains = chains.into_iter().collect();
        self
    }

    /// Keeps a trace of each dispatch and of the sender of each event, in simulated time: about 100
    /// bytes for each dispatch. [`take_trace`](Executor::take_trace) gives it.
    ///
    /// ```
    /// use ringspin_executor::{Message, QoS};
    /// use ringspin_modes::Executor;
    /// use std::time::Duration;
    ///
    /// let mut executor = Executor::deterministic(Default::default()).with_trace();
    /// let tick = executor.create_node("tick", ())?;
    /// let out = tick.create_publisher("ticks", QoS::default())?;
    /// tick.create_timer(Duration::from_millis(10), move |_, _| out.publish(1u8))?;
    /// let work = executor.create_node("work", ())?;
    /// work.create_subscription("ticks", QoS::default(), |_, _: &Message<u8>, _| {})?;
    /// executor.spin_for(Duration::from_millis(10))?;
    /// let trace = executor.take_trace().unwrap();
    /// assert_eq!(trace.cause(trace.records[1].dispatch.event), Some(0));
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub fn with_trace(mut self) -> Self {
        self.deterministic.is_traced = true;
        self
    }

    /// Keeps all pages of the process in memory while the executor lives, in the live modes: a page
    /// that was swapped out, or not yet touched, costs a callback milliseconds when it is needed.
    ///
    /// All of the process is locked (`mlockall`, present and future pages), once the graph is
    /// frozen, and stays so: later memory is locked as it is allocated. Without the capability
    /// `CAP_IPC_LOCK` or an unlimited `RLIMIT_MEMLOCK` nothing is locked, and a warning says so.
    #[must_use]
    pub fn with_locked_memory(mut self) -> Self {
        self.lock_memory = true;
        self
    }

    /// Gives each worker of the multi-core mode a thread with a stack of `bytes`, 8 MiB unless
    /// chosen. Callbacks with large local variables need more. In the other modes callbacks run on
    /// the thread that spins, with the stack that it has.
    ///
    /// Messages of up to [`BY_VALUE_MAX`](ringspin_executor::BY_VALUE_MAX) bytes go by value on a
    /// stack of 2 MiB, also in debug builds; [loans](ringspin_executor::Publisher::loan) of any
    /// size do not go over the stack.
    #[must_use]
    pub fn with_stack_size(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// In the live modes, follows the `/clock` of ROS 2, as `use_sim_time` of the
    /// [arguments](Self::with_arguments) does: callbacks see its time, timers fire by it, and
    /// durations of spinning are counted in it. While it stands still, nothing wakes up but for
    /// messages; before it begins, timers do not run. When it goes back, timers start again from
    /// there.
    ///
    /// Nodes have a parameter `use_sim_time`, which is true then, and which switches the time of
    /// all nodes while they run. With a switch, timers keep their periods and begin a new phase;
    /// spins for a duration, deadlines and leases begin anew. A time from before a switch stays as
    /// it is: a call with a timeout or a sleep that is under way ends at once after a switch to a
    /// later time, and at its old time after one to an earlier time. The duration of a callback
    /// that runs at the switch says nothing.
    ///
    /// Call this before the first node is created. Without a middleware that brings a clock,
    /// freezing is an error, while the argument is
    /// then ignored, with a warning. The deterministic mode has simulated time, and does not
    /// follow.
    #[must_use]
    pub fn with_sim_time(mut self) -> Self {
        self.sim_time = true;
        self.graph().use_sim_time();
        self
    }

    /// In which order the workers of the live modes turn to ready events; by default
    /// [`ReadyOrder::RoundRobin`]. The deterministic mode is always [`ReadyOrder::Fifo`].
    ///
    /// With [`ReadyOrder::Fifo`] a worker dispatches the events of all its loops in the order in
    /// which they became ready, regardless of priorities: a single core then does the same as the
    /// deterministic mode, as far as it does not depend on time. Under load a chain of nodes has a
    /// longer latency that way, because each hop waits for everything that is ready.
    ///
    /// ```
    /// use ringspin_executor::ReadyOrder;
    /// use ringspin_modes::Executor;
    /// let executor = Executor::single_core().with_ready_order(ReadyOrder::Fifo);
    /// ```
    #[must_use]
    pub fn with_ready_order(mut self, order: ReadyOrder) -> Self {
        self.live_order = order;
        self
    }
}
