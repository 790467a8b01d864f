//! The way from the handle of an entity to its place in the graph, so that the handle can destroy
//! it.

use std::fmt;

/// Destroys an entity of a graph, if both still exist.
pub(crate) struct Registration(Box<dyn Fn() + Send + Sync>);

impl Registration {
    pub(crate) fn new(destroy: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(destroy))
    }

    /// Destroys the entity. Further calls have no effect.
    pub(crate) fn destroy(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registration")
    }
}
