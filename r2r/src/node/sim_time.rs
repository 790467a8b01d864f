//! The subscription to `/clock`.

use super::Node;
use crate::error::Result;
use crate::qos::QosProfile;
use crate::rosgraph_msgs::msg::Clock;
use crate::time_source::TimeSource;
use std::time::Duration;

impl TimeSource {
    /// Follows `/clock` from now on, by a subscription of `node`.
    ///
    /// # Errors
    /// For a `/clock` of another type than `rosgraph_msgs/msg/Clock`, and when the context has
    /// ended.
    pub fn enable_sim_time(&self, node: &mut Node) -> Result<()> {
        // The quality of service that rclcpp requests.
        let qos = QosProfile::default().keep_last(1).best_effort();
        self.follow(|set| {
            node.listen("/clock", qos, move |message: Clock| {
                let time = message.clock;
                let seconds = Duration::from_secs(time.sec.try_into().unwrap_or_default());
                set(seconds + Duration::from_nanos(time.nanosec.into()));
            })
        })
    }
}
