//! Message types of the sourced ROS 2 that this program was not built with.

use crate::error::{Error, Result};
use crate::lock;
use crate::std_msgs::msg::Empty;
use ringspin_adapter::Carried;
use ringspin_messages::{CdrType, RosType};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The tables that were asked for; types stay as long as the program.
static TABLES: Mutex<BTreeMap<&'static str, &'static CdrType>> = Mutex::new(BTreeMap::new());

/// The type `name` as a topic carries its bytes.
///
/// # Errors
/// [`Error::InvalidMessageType`].
pub(crate) fn table(name: &str) -> Result<&'static CdrType> {
    let mut tables = lock(&TABLES);
    if let Some(table) = tables.get(name) {
        return Ok(table);
    }
    let hash = ringspin_ros2::rcl::type_hash(name)
        .map_err(|error| Error::InvalidMessageType { msgtype: error.to_string() })?;
    let hash = hash.unwrap_or_default().leak();
    let ros_type = RosType { name: name.to_owned().leak(), definition: "", hash };
    // Bytes of any type stay as they are.
    let table = Box::leak(Box::new(Carried::table::<Empty>().with_ros_type(ros_type)));
    tables.insert(table.name(), table);
    Ok(table)
}
