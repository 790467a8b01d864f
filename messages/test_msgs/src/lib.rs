//! Messages for tests: ROS 2's own `test_msgs`, which have all kinds of fields, and a package that
//! refers to it and to the common packages.

#![forbid(unsafe_code)]

ringspin_messages::include_messages!();
