//! The reference system on rclrs: the same 24 nodes, the same message on the wire, as a C struct.
//!
//! Its nodes share a thread for their timers and one for their messages. A node with a worker has a
//! thread for both.

use super::failed;
use crate::measure::{BoxError, now_ns};
use crate::nodes::{Client, DURATION, add, copy, locked, measured};
use rclrs::*;
use reference_system::description::AUTOWARE;
use reference_system::message::Message4kb;
use ros_env::reference_interfaces::msg::rmw::Message4kb as Wire;
use serde_json::Value;
use std::any::Any;
use std::sync::Mutex;
use std::time::Duration;

pub(crate) fn run(has_workers: bool) -> Result<Value, BoxError> {
    measured(|collector| {
        let mut executor = Context::default().create_basic_executor();
        let mut clients = Vec::new();
        for description in AUTOWARE {
            let node = executor.create_node(description.name)?;
            let worker = has_workers.then(|| node.create_worker(()));
            let mut client = System { node, worker, kept: Vec::new() };
            add(&mut client, description, collector)?;
            clients.push(client);
        }
        failed(executor.spin(SpinOptions::new().timeout(DURATION)))
    })
}

struct System {
    node: Node,
    worker: Option<Worker<()>>,
    /// Subscriptions and timers.
    kept: Vec<Box<dyn Any>>,
}

impl Client for System {
    fn on(
        &mut self,
        topic: &str,
        depth: usize,
        callback: impl FnMut(Message4kb, u64) + Send + 'static,
    ) -> Result<(), BoxError> {
        let callback = Mutex::new(callback);
        let call = move |wire: Wire| {
            let started_ns = now_ns();
            let mut message = Message4kb::new();
            copy!(wire, message);
            locked(&callback)(message, started_ns);
        };
        let topic = topic.keep_last(u32::try_from(depth)?);
        self.kept.push(match &self.worker {
            Some(worker) => {
                let call = move |_: &mut (), wire: Wire| call(wire);
                Box::new(worker.create_subscription(topic, call)?)
            }
            None => Box::new(self.node.create_subscription(topic, call)?),
        });
        Ok(())
    }

    fn each(
        &mut self,
        period: Duration,
        mut callback: impl FnMut(u64) + Send + 'static,
    ) -> Result<(), BoxError> {
        self.kept.push(match &self.worker {
            Some(worker) => {
                let call = move |_: &mut ()| callback(now_ns());
                Box::new(worker.create_timer_repeating(period, call)?)
            }
            None => Box::new(self.node.create_timer_repeating(period, move || callback(now_ns()))?),
        });
        Ok(())
    }

    fn publisher(
        &mut self,
        topic: &str,
    ) -> Result<impl Fn(&Message4kb) + Send + use<> + 'static, BoxError> {
        let publisher = self.node.create_publisher::<Wire>(topic.keep_last(1))?;
        Ok(move |message: &Message4kb| {
            let mut wire = Wire::default();
            copy!(message, wire);
            publisher.publish(wire).expect("the context is there");
        })
    }
}
