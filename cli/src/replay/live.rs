//! Replay in the live modes: paced by the wall clock, and over ROS 2 if it is connected.

use super::{Handles, Progress, Replayed, recorder};
use crate::arguments::Replay;
use crate::replay::recordings::Recordings;
use crate::{Ended, Invocation, unusable};
use ringspin_bag::{Player, Topic};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::JobFile;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The time for the effects of the last messages, by default.
const SETTLE: Duration = Duration::from_secs(1);

/// How often the progress is drawn.
const DRAWN_EVERY: Duration = Duration::from_millis(100);

impl Invocation<'_> {
    /// Connects an executor as RINGSPIN_MIDDLEWARE says. Over ROS 2 go the message types of the
    /// program, and the recorded topics whatever their types are.
    #[cfg(feature = "ros2")]
    fn connected(
        &self,
        executor: Executor,
        replay: &Replay,
        topics: &[Topic],
    ) -> Result<Executor, Ended> {
        use ringspin_modes::Connection;
        use ringspin_ros2::{Ros2, Traffic, Types};
        let traffic = match Connection::from_env().map_err(unusable)? {
            Connection::InProcess => return Ok(executor),
            Connection::Ros2 => Traffic::Direct,
            Connection::Ros2Loopback => Traffic::Loopback,
            Connection::Ros2Display => Traffic::PublishOnly,
        };
        let types = self.types.tables().fold(Types::installed(), Types::with_table);
        let ros2 = Ros2::builder().traffic(traffic).types(types).connect().map_err(unusable)?;
        for topic in topics {
            let remapped = replay.selection.remap.iter().find(|(from, _)| *from == topic.name);
            let name = remapped.map_or(&topic.name, |(_, to)| to);
            let hash = topic.hash();
            ros2.carry_raw(name, &topic.type_name, hash.as_deref()).map_err(unusable)?;
        }
        executor.with_middleware(std::sync::Arc::new(ros2)).map_err(unusable)
    }

    #[cfg(not(feature = "ros2"))]
    fn connected(&self, executor: Executor, _: &Replay, _: &[Topic]) -> Result<Executor, Ended> {
        use ringspin_modes::Connection;
        let connection = Connection::from_env().map_err(unusable)?;
        executor.connected(connection).map_err(unusable)
    }

    pub(super) fn replay_live(
        &mut self,
        replay: &Replay,
        mode: Mode,
        (player, file, topics): (&Player, &JobFile, &[Topic]),
        progress: &Progress,
    ) -> Result<u8, Ended> {
        let executor = Executor::new(mode).with_arguments(file.arguments().clone());
        let mut executor = self.connected(executor, replay, topics)?;
        let graph = executor.graph();
        file.build(self.registry).map_err(unusable)?(graph).map_err(unusable)?;
        let settle = replay.settle.unwrap_or(SETTLE);
        let player = player.clone().stop_at_end(executor.stop_handle(), settle);
        let player = player.add_to(graph, self.types).map_err(unusable)?;
        let recordings = Recordings::new(replay, true).map_err(unusable)?;
        let recorder = recorder(replay, &recordings, (graph, self.types), &player);
        let recorder = recorder.map_err(unusable)?;
        let handles = Handles { player, recorder };
        if replay.start_paused {
            eprintln!("paused: press Enter to start");
            // The end of the input starts it as well.
            std::io::stdin().read_line(&mut String::new())?;
        }
        executor.stop_on_ctrl_c().map_err(unusable)?;
        executor.freeze().map_err(unusable)?;
        let start = executor.now();
        let spun = thread::scope(|scope| {
            let (ends, end) = channel::<()>();
            scope.spawn(|| {
                let end = end;
                while end.recv_timeout(DRAWN_EVERY) == Err(RecvTimeoutError::Timeout) {
                    progress.show(&handles.player);
                }
            });
            let spun = executor.spin();
            drop(ends);
            spun
        });
        progress.finish();
        let player = handles.player.report(&executor.statistics());
        let recorder = handles.recorder.map(|(recorder, _)| recorder.finish()).transpose();
        let exit_code = executor.stop_handle().exit_code();
        let length = executor.now().since(start);
        writeln!(self.out, "{}: live for {length:.3?}", super::name(replay))?;
        let recorder = recorder.map_err(|error| Ended::Failed(error.to_string()))?;
        self.say_what_was_replayed(replay, &Replayed { player, recorder })?;
        match (spun, exit_code) {
            (Err(error), _) => Err(Ended::Failed(error.to_string())),
            (Ok(()), None) => Ok(0),
            (Ok(()), Some(code)) => {
                writeln!(self.out, "  a node ended it with exit code {code}")?;
                Ok(code)
            }
        }
    }
}
