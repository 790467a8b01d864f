//! The API of r2r 0.7 where it differs from that of 0.8, for applications that require `^0.7`:
//!
//! ```toml
//! [patch.crates-io]
//! r2r = { path = ".../ringspin/r2r/.0.7" }
//! ```
//!
//! The parameters of a [`Node`] are plain values there.

#![forbid(unsafe_code)]

pub use r2r_0_8::*;

use r2r_0_8::indexmap::IndexMap;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LockResult, Mutex, MutexGuard, PoisonError};

/// A node of 0.8, with plain parameters.
#[derive(Debug)]
pub struct Node {
    node: r2r_0_8::Node,
    /// The parameters.
    pub params: Params,
}

impl Node {
    /// Creates a node.
    ///
    /// # Errors
    /// [`Error::RCL_RET_NODE_INVALID_NAME`] for a name that ROS 2 does not allow; another one if
    /// arguments of the command line give two nodes one name.
    pub fn create(ctx: Context, name: &str, namespace: &str) -> Result<Self> {
        let node = r2r_0_8::Node::create(ctx, name, namespace)?;
        let params = Params(node.params.clone());
        Ok(Self { node, params })
    }
}

impl Deref for Node {
    type Target = r2r_0_8::Node;

    fn deref(&self) -> &r2r_0_8::Node {
        &self.node
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut r2r_0_8::Node {
        &mut self.node
    }
}

/// The parameters of a node, for any thread: like the `Arc<Mutex<HashMap<String, ParameterValue>>>`
/// of r2r. Clones are the same parameters.
#[derive(Clone, Debug)]
pub struct Params(Arc<Mutex<IndexMap<String, Parameter>>>);

impl Params {
    /// The values, locked until the guard is dropped.
    ///
    /// # Errors
    /// A thread had a panic while it held the lock.
    pub fn lock(&self) -> LockResult<ParamsGuard<'_>> {
        let poisoned =
            |poisoned: PoisonError<_>| PoisonError::new(ParamsGuard::new(poisoned.into_inner()));
        self.0.lock().map(ParamsGuard::new).map_err(poisoned)
    }
}

/// The values of the parameters of a node. Those that are changed here are set when this is
/// dropped.
#[derive(Debug)]
pub struct ParamsGuard<'a> {
    params: MutexGuard<'a, IndexMap<String, Parameter>>,
    values: HashMap<String, ParameterValue>,
    is_changed: bool,
}

impl<'a> ParamsGuard<'a> {
    fn new(params: MutexGuard<'a, IndexMap<String, Parameter>>) -> Self {
        let value = |(name, param): (&String, &Parameter)| (name.clone(), param.value.clone());
        let values = params.iter().map(value).collect();
        Self { params, values, is_changed: false }
    }
}

impl Deref for ParamsGuard<'_> {
    type Target = HashMap<String, ParameterValue>;

    fn deref(&self) -> &Self::Target {
        &self.values
    }
}

impl DerefMut for ParamsGuard<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.is_changed = true;
        &mut self.values
    }
}

impl Drop for ParamsGuard<'_> {
    fn drop(&mut self) {
        if !self.is_changed {
            return;
        }
        let values = std::mem::take(&mut self.values);
        self.params.retain(|name, _| values.contains_key(name));
        for (name, value) in values {
            match self.params.get_mut(&name) {
                Some(param) => param.value = value,
                None => drop(self.params.insert(name, Parameter::new(value))),
            }
        }
    }
}
