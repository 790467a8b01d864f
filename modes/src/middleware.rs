//! Which middleware carries messages beyond the process, and how it is chosen from outside.

use crate::executor::Executor;
use crate::flight::FlightRecord;
use crate::mode::Mode;
use ringspin_executor::{Domain, Error, ErrorKind, Middleware, Result};
use std::str::FromStr;
use std::sync::Arc;

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
    /// ROS 2 gets the published messages, and sends nothing: for a display. The only connection
    /// that the deterministic mode may have.
    Ros2Display,
}

impl FromStr for Connection {
    type Err = Error;

    /// Reads `none`, `ros2`, `ros2-loopback` or `ros2-display`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(Self::InProcess),
            "ros2" => Ok(Self::Ros2),
            "ros2-loopback" => Ok(Self::Ros2Loopback),
            "ros2-display" => Ok(Self::Ros2Display),
            _ => {
                let text = format!(
                    "unknown middleware {name:?}; use `none`, `ros2`, `ros2-loopback` or \
                     `ros2-display`"
                );
                Err(Error::new(ErrorKind::Parse, text))
            }
        }
    }
}

impl Connection {
    /// The connection that `RINGSPIN_MIDDLEWARE` asks for; [in process](Self::InProcess) if it is
    /// not set.
    ///
    /// # Errors
    /// Fails for a name that is no connection.
    pub fn from_env() -> Result<Self> {
        match std::env::var("RINGSPIN_MIDDLEWARE") {
            Ok(name) if !name.is_empty() => name.parse(),
            _ => Ok(Self::InProcess),
        }
    }

    #[cfg(feature = "ros2")]
    fn middleware(self) -> Result<Option<Arc<dyn Middleware>>> {
        use ringspin_ros2::{Ros2, Traffic};
        let traffic = match self {
            Self::InProcess => return Ok(None),
            Self::Ros2 => Traffic::Direct,
            Self::Ros2Loopback => Traffic::Loopback,
            Self::Ros2Display => Traffic::PublishOnly,
        };
        let connected = Ros2::builder().traffic(traffic).connect();
        let ros2 = connected.map_err(|error| {
            let text = format!("failed to connect with ROS 2: {error}");
            Error::new(ErrorKind::Middleware, text).caused_by(error)
        })?;
        Ok(Some(Arc::new(ros2)))
    }

    #[cfg(not(feature = "ros2"))]
    fn middleware(self) -> Result<Option<Arc<dyn Middleware>>> {
        match self {
            Self::InProcess => Ok(None),
            Self::Ros2 | Self::Ros2Loopback | Self::Ros2Display => {
                let text = "this program was built without ROS 2: build it with feature `ros2`, \
                            in a shell in which a ROS 2 is sourced";
                Err(Error::new(ErrorKind::Unsupported, text))
            }
        }
    }
}

/// The middleware with the items of `record`, if the run had one.
fn replayed(record: &FlightRecord) -> Result<Option<Arc<dyn Middleware>>> {
    let name = &*record.header().middleware;
    if name.is_empty() {
        return Ok(None);
    }
    #[cfg(feature = "flight")]
    if let Some(settings) = ringspin_messages::Settings::of_record(name) {
        return Ok(Some(Arc::new(ringspin_messages::Replayed::new(settings))));
    }
    let text = format!(
        "failed to replay: the record has messages of the middleware {name}, which this program \
         does not know; give the program's own one to `Executor::with_middleware`"
    );
    Err(Error::new(ErrorKind::Unsupported, text))
}

impl Executor {
    /// Connects the graph with the world: before the first node is created. The replay of a flight
    /// record has the messages of the record instead, whatever `connection` is.
    ///
    /// # Errors
    /// Fails if the program was built without ROS 2 or cannot connect, or if the graph has nodes or
    /// a middleware already.
    pub fn connected(self, connection: Connection) -> Result<Self> {
        let middleware = match self.mode() {
            Mode::Replay(record) => replayed(record)?,
            _ => connection.middleware()?,
        };
        if let Some(middleware) = middleware {
            self.graph().set_middleware(middleware)?;
        }
        Ok(self)
    }

    /// Connects the graph through `middleware`, which the application has set up. A replay of a
    /// flight record takes the types of it, and has no connection.
    ///
    /// # Errors
    /// Fails when there are nodes, or a middleware, already.
    pub fn with_middleware(self, middleware: Arc<dyn Middleware>) -> Result<Self> {
        let replayed = match self.mode() {
            Mode::Replay(_) => middleware.replayed(),
            _ => None,
        };
        self.graph().set_middleware(replayed.unwrap_or(middleware))?;
        Ok(self)
    }

    /// Connects the graph with those of the other executors of `domain` in this process.
    ///
    /// ```
    /// use ringspin_executor::{Domain, Message, QoS};
    /// use ringspin_modes::Executor;
    /// use std::thread;
    ///
    /// let domain = Domain::new();
    /// let mut vision = Executor::single_core().in_domain(&domain)?;
    /// let mut control = Executor::single_core().in_domain(&domain)?;
    /// let images = vision.create_node("camera", ())?.create_publisher("images", QoS::default())?;
    /// let driver = control.create_node("driver", ())?;
    /// driver.create_subscription("images", QoS::default(), |_, image: &Message<u64>, cx| {
    ///     assert_eq!(**image, 7);
    ///     cx.stop();
    /// })?;
    /// (vision.freeze()?, control.freeze()?); // both deliver from here on
    /// let control = thread::spawn(move || control.spin());
    /// images.publish(7u64)?;
    /// control.join().expect("no panic")?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails when there are nodes, a domain, or a middleware, already.
    pub fn in_domain(self, domain: &Domain) -> Result<Self> {
        self.graph().join(domain)?;
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
            assert_eq!(name.parse::<Connection>().unwrap(), connection);
        }
        let unknown = "ros".parse::<Connection>().unwrap_err().to_string();
        assert!(unknown.contains("\"ros\"") && unknown.contains("`ros2-loopback`"), "{unknown}");
    }

    #[cfg(not(feature = "ros2"))]
    #[test]
    fn a_program_without_ros_says_how_to_build_it_with() {
        let error = Executor::single_core().connected(Connection::Ros2).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("feature `ros2`"));
        assert!(Executor::single_core().connected(Connection::InProcess).is_ok());
    }
}
