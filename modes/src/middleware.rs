//! Which middleware carries messages beyond the process, and how it is chosen from outside.

use crate::executor::Executor;
use ringspin_executor::{Middleware, SetMiddlewareError};
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

/// The middleware that connects an executor's graph with other processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connection {
    /// Nothing: all nodes are in this process.
    #[default]
    InProcess,
    /// ROS 2. Between two nodes of this process messages go directly, without being serialized.
    Ros2,
    /// ROS 2, for every message and request: also for those from one node of this process to
    /// another.
    Ros2Loopback,
    /// ROS 2 gets what is published, and sends nothing: for a display. The only connection that
    /// the deterministic mode may have.
    Ros2Display,
}

/// A name that is not one of a [`Connection`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown middleware {0:?}; use `none`, `ros2`, `ros2-loopback` or `ros2-display`")]
pub struct UnknownConnectionError(
    /// The name as given.
    pub String,
);

/// The reason why an executor was not connected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The program has no ROS 2 in it.
    #[error(
        "this program was built without ROS 2: build it with feature `ros2`, in a shell in which \
         a ROS 2 is sourced"
    )]
    NotBuilt,
    /// ROS 2 was not reached.
    #[error("failed to connect with ROS 2: {0}")]
    Ros2(String),
    /// The graph does not take it.
    #[error(transparent)]
    Graph(#[from] SetMiddlewareError),
}

impl FromStr for Connection {
    type Err = UnknownConnectionError;

    /// Reads `none`, `ros2`, `ros2-loopback` or `ros2-display`.
    fn from_str(name: &str) -> Result<Self, UnknownConnectionError> {
        match name {
            "none" => Ok(Self::InProcess),
            "ros2" => Ok(Self::Ros2),
            "ros2-loopback" => Ok(Self::Ros2Loopback),
            "ros2-display" => Ok(Self::Ros2Display),
            _ => Err(UnknownConnectionError(name.into())),
        }
    }
}

impl Connection {
    /// The connection that `RINGSPIN_MIDDLEWARE` asks for; [in process](Self::InProcess) if it is
    /// not set.
    ///
    /// # Errors
    /// [`UnknownConnectionError`].
    pub fn from_env() -> Result<Self, UnknownConnectionError> {
        match std::env::var("RINGSPIN_MIDDLEWARE") {
            Ok(name) if !name.is_empty() => name.parse(),
            _ => Ok(Self::InProcess),
        }
    }

    #[cfg(feature = "ros2")]
    fn middleware(self) -> Result<Option<Arc<dyn Middleware>>, ConnectionError> {
        use ringspin_ros2::{Ros2, Traffic};
        let traffic = match self {
            Self::InProcess => return Ok(None),
            Self::Ros2 => Traffic::Direct,
            Self::Ros2Loopback => Traffic::Loopback,
            Self::Ros2Display => Traffic::PublishOnly,
        };
        let connected = Ros2::builder().traffic(traffic).connect();
        let ros2 = connected.map_err(|error| ConnectionError::Ros2(error.to_string()))?;
        Ok(Some(Arc::new(ros2)))
    }

    #[cfg(not(feature = "ros2"))]
    fn middleware(self) -> Result<Option<Arc<dyn Middleware>>, ConnectionError> {
        match self {
            Self::InProcess => Ok(None),
            Self::Ros2 | Self::Ros2Loopback | Self::Ros2Display => Err(ConnectionError::NotBuilt),
        }
    }
}

impl Executor {
    /// Connects the graph with the world: before the first node is created.
    ///
    /// # Errors
    /// [`ConnectionError`].
    pub fn connected(self, connection: Connection) -> Result<Self, ConnectionError> {
        match connection.middleware()? {
            None => Ok(self),
            Some(middleware) => Ok(self.with_middleware(middleware)?),
        }
    }

    /// Connects the graph through `middleware`, which the application has set up.
    ///
    /// # Errors
    /// [`SetMiddlewareError`] when there are nodes, or a middleware, already.
    pub fn with_middleware(
        self,
        middleware: Arc<dyn Middleware>,
    ) -> Result<Self, SetMiddlewareError> {
        self.graph().set_middleware(middleware)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_read_by_its_name() {
        for (name, connection) in [
            ("none", Connection::InProcess),
            ("ros2", Connection::Ros2),
            ("ros2-loopback", Connection::Ros2Loopback),
            ("ros2-display", Connection::Ros2Display),
        ] {
            assert_eq!(name.parse(), Ok(connection));
        }
        let unknown = "ros".parse::<Connection>().unwrap_err().to_string();
        assert!(unknown.contains("\"ros\"") && unknown.contains("`ros2-loopback`"), "{unknown}");
    }

    #[cfg(not(feature = "ros2"))]
    #[test]
    fn a_program_without_ros_says_how_to_build_it_with() {
        let error = Executor::single_core().connected(Connection::Ros2).err().unwrap();
        assert_eq!(error, ConnectionError::NotBuilt);
        assert!(error.to_string().contains("feature `ros2`"));
        assert!(Executor::single_core().connected(Connection::InProcess).is_ok());
    }
}
