//! The way of a graph into a [`Domain`], in which its topics meet those of other graphs.

use crate::base::error::{Error, ErrorKind, Result};
use crate::delivery::domain::Domain;
use crate::running::graph::Graph;

impl Graph {
    /// Connects the graph with the others of `domain`: call it before the first node is created.
    /// From then on the graph runs in the live modes only.
    ///
    /// # Errors
    /// Fails when the graph has nodes, a domain, or a middleware, already. Over a middleware graphs
    /// of one process hear each other anyway, and each message would come twice.
    pub fn join(&self, domain: &Domain) -> Result<()> {
        let mut builder = self.builder();
        let refusal = if let Some(middleware) = builder.middleware() {
            let name = middleware.name();
            format!("it has {name}, over which the executors hear each other already; choose one")
        } else if builder.joined().is_some() {
            "it has one already; choose one".to_owned()
        } else if builder.is_frozen() || builder.has_nodes() {
            "it has nodes, or is frozen; connect it before its first node is created".to_owned()
        } else {
            builder.join(domain);
            return Ok(());
        };
        let text = format!("failed to connect the graph with a domain: {refusal}");
        Err(Error::new(ErrorKind::InvalidState, text))
    }
}
