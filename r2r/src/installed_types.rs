//! Message types of the sourced ROS 2 that this program was not built with.

use crate::error::{Error, Result};
use ringspin_adapter::Carried;
use ringspin_messages::{CdrType, RosType};

/// The type `name` as a topic carries its bytes.
///
/// # Errors
/// [`Error::InvalidMessageType`].
pub(crate) fn table(name: &str) -> Result<&'static CdrType> {
    Carried::named_table(name, || {
        let hash = ringspin_ros2::rcl::type_hash(name)
            .map_err(|error| Error::InvalidMessageType { msgtype: error.to_string() })?;
        let hash = hash.unwrap_or_default().leak();
        Ok(RosType { name: name.to_owned().leak(), definition: "", hash })
    })
}
