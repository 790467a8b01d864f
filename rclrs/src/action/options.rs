//! Options of action servers and clients.

use crate::qos::QoSProfile;
use std::borrow::Borrow;
use std::time::Duration;

/// Declares the options of one end of an action, and the trait of values that convert into them.
macro_rules! action_options {
    (
        $options:ident, $into:ident, $convert:ident, $end:literal;
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr;)*
    ) => {
        #[doc = concat!("Options of an action ", $end, ". A `&str` converts into them.")]
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $options<'a> {
            /// The name of the action.
            pub action_name: &'a str,
            $($(#[$doc])* pub $field: $type,)*
        }

        impl<'a> $options<'a> {
            /// The default options for an action.
            pub fn new(action_name: &'a str) -> Self {
                Self { action_name, $($field: $default,)* }
            }
        }

        #[doc = concat!("A value that converts into the options of an action ", $end, ", and into")]
        /// changed ones.
        pub trait $into<'a>: Sized {
            /// The options.
            fn $convert(self) -> $options<'a>;

            $(
                #[doc = concat!("The options with another [`", stringify!($field), "`][1].")]
                ///
                #[doc = concat!("[1]: ", stringify!($options), "::", stringify!($field))]
                fn $field(self, value: $type) -> $options<'a> {
                    $options { $field: value, ..self.$convert() }
                }
            )*
        }

        impl<'a, T: Borrow<str> + ?Sized + 'a> $into<'a> for &'a T {
            fn $convert(self) -> $options<'a> {
                $options::new(self.borrow())
            }
        }

        impl<'a> $into<'a> for $options<'a> {
            fn $convert(self) -> $options<'a> {
                self
            }
        }
    };
}

action_options! {
    ActionServerOptions, IntoActionServerOptions, into_action_server_options, "server";
    /// The quality of service of the service for goals: see
    /// [`ServiceOptions::qos`](crate::ServiceOptions::qos).
    goal_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the service for results.
    result_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the service that cancels goals.
    cancel_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the topic of feedback.
    feedback_topic_qos: QoSProfile = QoSProfile::topics_default();
    /// The quality of service of the topic with the status of all goals.
    status_topic_qos: QoSProfile = QoSProfile::action_status_default();
    /// The time for which the result of a goal is kept after its end: one minute by default.
    goal_expiration_timeout: Duration = Duration::from_secs(60);
}

action_options! {
    ActionClientOptions, IntoActionClientOptions, into_action_client_options, "client";
    /// The quality of service of the service for goals: see
    /// [`ClientOptions::qos`](crate::ClientOptions::qos).
    goal_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the service for results.
    result_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the service that cancels goals.
    cancel_service_qos: QoSProfile = QoSProfile::services_default();
    /// The quality of service of the topic of feedback.
    feedback_topic_qos: QoSProfile = QoSProfile::topics_default();
    /// The quality of service of the topic with the status of all goals.
    status_topic_qos: QoSProfile = QoSProfile::action_status_default();
}
