//! Functions that a middleware need not offer: each answers `RMW_RET_UNSUPPORTED`, which client
//! libraries expect.

use crate::bindings::*;
use crate::ffi::{Failure, code};
use std::ffi::c_void;

macro_rules! unsupported {
    ($($name:ident($($type:ty),*))*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $type),*) -> rmw_ret_t {
            let text = concat!(stringify!($name), " is not supported by rmw_ringspin");
            code(Err(Failure(RMW_RET_UNSUPPORTED, text.into())))
        }
    )*};
}

/// A pointer that is not looked at.
type Any = *mut c_void;

unsupported! {
    rmw_borrow_loaned_message(Any, Any, Any)
    rmw_return_loaned_message_from_publisher(Any, Any)
    rmw_publish_loaned_message(Any, Any, Any)
    rmw_take_loaned_message(Any, Any, Any, Any)
    rmw_take_loaned_message_with_info(Any, Any, Any, Any, Any)
    rmw_return_loaned_message_from_subscription(Any, Any)
    rmw_subscription_set_content_filter(Any, Any)
    rmw_subscription_get_content_filter(Any, Any, Any)
    rmw_publisher_get_network_flow_endpoints(Any, Any, Any)
    rmw_subscription_get_network_flow_endpoints(Any, Any, Any)
    rmw_take_dynamic_message(Any, Any, Any, Any)
    rmw_take_dynamic_message_with_info(Any, Any, Any, Any, Any)
    rmw_serialization_support_init(Any, Any, Any)
    rmw_init_publisher_allocation(Any, Any, Any)
    rmw_fini_publisher_allocation(Any)
    rmw_init_subscription_allocation(Any, Any, Any)
    rmw_fini_subscription_allocation(Any)
    rmw_get_serialized_message_size(Any, Any, Any)
}
