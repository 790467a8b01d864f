//! The names of callbacks, for logs and failures, while callbacks come and go.
//!
//! The graph has the names, too, but is locked while nodes are created, and a subscriber of the log
//! may ask for the running node meanwhile. So the names are under a separate lock, under which no
//! user code runs.

use crate::base::event::{CallbackId, LoopId};
use crate::base::info::{LoopInfo, destroyed, full_name};
use crate::base::lock::ByCallback;
use crate::base::table::Table;
use std::sync::Arc;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopName {
    /// The fully qualified name of the node.
    pub(crate) node: String,
    /// The group; empty for the default group.
    pub(crate) group: String,
    pub(crate) node_index: usize,
}

impl LoopName {
    /// `/node`, or `/node:group` if it is not the default group.
    pub(crate) fn full_name(&self) -> String {
        full_name(&self.node, &self.group)
    }
}

impl From<&LoopInfo> for LoopName {
    fn from(info: &LoopInfo) -> Self {
        let (node, group) = (info.node.clone(), info.group.clone());
        Self { node, group, node_index: info.node_index }
    }
}

/// The name of a callback and of its loop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallbackName {
    /// The name, such as `subscription /points`.
    pub(crate) callback: String,
    pub(crate) event_loop: LoopId,
    pub(crate) of: Arc<LoopName>,
}

/// The names of all callbacks that exist. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Directory(Arc<ByCallback<Table<CallbackId, Arc<CallbackName>>>>);

impl Default for Directory {
    fn default() -> Self {
        Self(Arc::new(ByCallback::new(|names, callback| drop(names.remove(callback)))))
    }
}

impl Directory {
    pub(crate) fn add(&self, callback: CallbackId, name: CallbackName) {
        self.0.lock().insert(callback, Arc::new(name));
    }

    /// Removes the name of a callback that is destroyed. Lock-free.
    pub(crate) fn remove(&self, callback: CallbackId) {
        self.0.remove(callback);
    }

    /// The names of `callback`; `None` if it was destroyed.
    pub(crate) fn get(&self, callback: CallbackId) -> Option<Arc<CallbackName>> {
        self.0.lock().get(callback).cloned()
    }

    /// The name without that of the node, as in `subscription /points`.
    pub(crate) fn callback(&self, callback: CallbackId) -> String {
        let name = self.get(callback);
        name.map_or_else(|| destroyed(callback), |name| name.callback.clone())
    }

    /// The loop and the name, as in "/planner `subscription /points`".
    pub(crate) fn name_of(&self, callback: CallbackId) -> String {
        match self.get(callback) {
            Some(name) => format!("{} `{}`", name.of.full_name(), name.callback),
            None => destroyed(callback),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_destroyed_callback_says_so() {
        let directory = Directory::default();
        let of =
            Arc::new(LoopName { node: "/planner".into(), group: "slow".into(), node_index: 0 });
        let (id, callback) = (CallbackId(17), "timer 1ms".to_owned());
        directory.add(id, CallbackName { callback, event_loop: LoopId(3), of });
        assert_eq!(directory.name_of(id), "/planner:slow `timer 1ms`");
        assert_eq!(directory.callback(id), "timer 1ms");
        directory.clone().remove(id);
        assert_eq!(directory.get(id), None);
        assert_eq!(directory.name_of(id), "callback 17 (destroyed)");
        assert_eq!(directory.callback(id), "callback 17 (destroyed)");
    }
}
