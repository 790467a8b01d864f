//! An executor with a node, and spins that end with a promise.

use rclrs::*;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// Far more than any of these tests takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A context in a ROS domain that no other one in the process has, unless ROS 2 is there: tests
/// that run at once do not hear each other.
pub(crate) fn context() -> Context {
    static DOMAINS: AtomicUsize = AtomicUsize::new(1);
    let domain = (!cfg!(ros_is_sourced)).then(|| DOMAINS.fetch_add(1, SeqCst));
    Context::new([], InitOptions::new().with_domain_id(domain)).unwrap()
}

/// An executor with a node.
pub(crate) fn node() -> (Executor, Node) {
    let executor = context().create_basic_executor();
    let node = executor.create_node("node").unwrap();
    (executor, node)
}

/// Spins until `promise` resolves.
pub(crate) fn spin_until(executor: &mut Executor, promise: Promise<()>) {
    let options = SpinOptions::new().until_promise_resolved(promise).timeout(LONG);
    executor.spin(options).first_error().unwrap();
}
