//! An executor with a node, and spins that end with a promise.

use rclrs::*;
use std::time::Duration;

/// Far more than any of these tests takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An executor with a node.
pub(crate) fn node() -> (Executor, Node) {
    let executor = Context::default().create_basic_executor();
    let node = executor.create_node("node").unwrap();
    (executor, node)
}

/// Spins until `promise` resolves.
pub(crate) fn spin_until(executor: &mut Executor, promise: Promise<()>) {
    let options = SpinOptions::new().until_promise_resolved(promise).timeout(LONG);
    executor.spin(options).first_error().unwrap();
}
