// Generated from the headers of ROS 2 by scripts/rcl-bindings; do not edit.
// Copyright of the headers: Open Source Robotics Foundation, Inc. Licensed under the Apache License, Version 2.0.
pub enum va_list {}

pub const RCL_RET_OK: u32 = 0;
pub const RCL_RET_ERROR: u32 = 1;
pub const RCL_RET_TIMEOUT: u32 = 2;
pub const RCL_RET_BAD_ALLOC: u32 = 10;
pub const RCL_RET_INVALID_ARGUMENT: u32 = 11;
pub const RCL_RET_UNSUPPORTED: u32 = 3;
pub const RCL_RET_ALREADY_INIT: u32 = 100;
pub const RCL_RET_NOT_INIT: u32 = 101;
pub const RCL_RET_TOPIC_NAME_INVALID: u32 = 103;
pub const RCL_RET_SERVICE_NAME_INVALID: u32 = 104;
pub const RCL_RET_UNKNOWN_SUBSTITUTION: u32 = 105;
pub const RCL_RET_ALREADY_SHUTDOWN: u32 = 106;
pub const RCL_RET_NODE_INVALID: u32 = 200;
pub const RCL_RET_NODE_INVALID_NAME: u32 = 201;
pub const RCL_RET_NODE_INVALID_NAMESPACE: u32 = 202;
pub const RCL_RET_PUBLISHER_INVALID: u32 = 300;
pub const RCL_RET_SUBSCRIPTION_INVALID: u32 = 400;
pub const RCL_RET_SUBSCRIPTION_TAKE_FAILED: u32 = 401;
pub const RCL_RET_CLIENT_INVALID: u32 = 500;
pub const RCL_RET_CLIENT_TAKE_FAILED: u32 = 501;
pub const RCL_RET_SERVICE_INVALID: u32 = 600;
pub const RCL_RET_SERVICE_TAKE_FAILED: u32 = 601;
pub const RCL_RET_INVALID_ROS_ARGS: u32 = 1003;
pub const RCL_RET_EVENT_TAKE_FAILED: u32 = 2001;
pub type rcutils_ret_t = ::core::ffi::c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcutils_allocator_s {
    pub allocate: ::core::option::Option<
        unsafe extern "C" fn(
            size: usize,
            state: *mut ::core::ffi::c_void,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub deallocate: ::core::option::Option<
        unsafe extern "C" fn(pointer: *mut ::core::ffi::c_void, state: *mut ::core::ffi::c_void),
    >,
    pub reallocate: ::core::option::Option<
        unsafe extern "C" fn(
            pointer: *mut ::core::ffi::c_void,
            size: usize,
            state: *mut ::core::ffi::c_void,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub zero_allocate: ::core::option::Option<
        unsafe extern "C" fn(
            number_of_elements: usize,
            size_of_element: usize,
            state: *mut ::core::ffi::c_void,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub state: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcutils_allocator_s"][::core::mem::size_of::<rcutils_allocator_s>() - 40usize];
    ["Alignment of rcutils_allocator_s"][::core::mem::align_of::<rcutils_allocator_s>() - 8usize];
    ["Offset of field: rcutils_allocator_s::allocate"]
        [::core::mem::offset_of!(rcutils_allocator_s, allocate) - 0usize];
    ["Offset of field: rcutils_allocator_s::deallocate"]
        [::core::mem::offset_of!(rcutils_allocator_s, deallocate) - 8usize];
    ["Offset of field: rcutils_allocator_s::reallocate"]
        [::core::mem::offset_of!(rcutils_allocator_s, reallocate) - 16usize];
    ["Offset of field: rcutils_allocator_s::zero_allocate"]
        [::core::mem::offset_of!(rcutils_allocator_s, zero_allocate) - 24usize];
    ["Offset of field: rcutils_allocator_s::state"]
        [::core::mem::offset_of!(rcutils_allocator_s, state) - 32usize];
};
pub type rcutils_allocator_t = rcutils_allocator_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcutils_error_string_s {
    pub str_: [::core::ffi::c_char; 1024usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcutils_error_string_s"]
        [::core::mem::size_of::<rcutils_error_string_s>() - 1024usize];
    ["Alignment of rcutils_error_string_s"]
        [::core::mem::align_of::<rcutils_error_string_s>() - 1usize];
    ["Offset of field: rcutils_error_string_s::str_"]
        [::core::mem::offset_of!(rcutils_error_string_s, str_) - 0usize];
};
pub type rcutils_error_string_t = rcutils_error_string_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcutils_string_array_s {
    pub size: usize,
    pub data: *mut *mut ::core::ffi::c_char,
    pub allocator: rcutils_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcutils_string_array_s"][::core::mem::size_of::<rcutils_string_array_s>() - 56usize];
    ["Alignment of rcutils_string_array_s"]
        [::core::mem::align_of::<rcutils_string_array_s>() - 8usize];
    ["Offset of field: rcutils_string_array_s::size"]
        [::core::mem::offset_of!(rcutils_string_array_s, size) - 0usize];
    ["Offset of field: rcutils_string_array_s::data"]
        [::core::mem::offset_of!(rcutils_string_array_s, data) - 8usize];
    ["Offset of field: rcutils_string_array_s::allocator"]
        [::core::mem::offset_of!(rcutils_string_array_s, allocator) - 16usize];
};
pub type rcutils_string_array_t = rcutils_string_array_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcutils_uint8_array_s {
    pub buffer: *mut u8,
    pub buffer_length: usize,
    pub buffer_capacity: usize,
    pub allocator: rcutils_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcutils_uint8_array_s"][::core::mem::size_of::<rcutils_uint8_array_s>() - 64usize];
    ["Alignment of rcutils_uint8_array_s"]
        [::core::mem::align_of::<rcutils_uint8_array_s>() - 8usize];
    ["Offset of field: rcutils_uint8_array_s::buffer"]
        [::core::mem::offset_of!(rcutils_uint8_array_s, buffer) - 0usize];
    ["Offset of field: rcutils_uint8_array_s::buffer_length"]
        [::core::mem::offset_of!(rcutils_uint8_array_s, buffer_length) - 8usize];
    ["Offset of field: rcutils_uint8_array_s::buffer_capacity"]
        [::core::mem::offset_of!(rcutils_uint8_array_s, buffer_capacity) - 16usize];
    ["Offset of field: rcutils_uint8_array_s::allocator"]
        [::core::mem::offset_of!(rcutils_uint8_array_s, allocator) - 24usize];
};
pub type rcutils_uint8_array_t = rcutils_uint8_array_s;
pub type rcutils_time_point_value_t = i64;
pub type rcutils_duration_value_t = i64;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcutils_log_location_s {
    pub function_name: *const ::core::ffi::c_char,
    pub file_name: *const ::core::ffi::c_char,
    pub line_number: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcutils_log_location_s"][::core::mem::size_of::<rcutils_log_location_s>() - 24usize];
    ["Alignment of rcutils_log_location_s"]
        [::core::mem::align_of::<rcutils_log_location_s>() - 8usize];
    ["Offset of field: rcutils_log_location_s::function_name"]
        [::core::mem::offset_of!(rcutils_log_location_s, function_name) - 0usize];
    ["Offset of field: rcutils_log_location_s::file_name"]
        [::core::mem::offset_of!(rcutils_log_location_s, file_name) - 8usize];
    ["Offset of field: rcutils_log_location_s::line_number"]
        [::core::mem::offset_of!(rcutils_log_location_s, line_number) - 16usize];
};
pub type rcutils_log_location_t = rcutils_log_location_s;
impl RCUTILS_LOG_SEVERITY {
    pub const RCUTILS_LOG_SEVERITY_UNSET: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(0);
    pub const RCUTILS_LOG_SEVERITY_DEBUG: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(10);
    pub const RCUTILS_LOG_SEVERITY_INFO: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(20);
    pub const RCUTILS_LOG_SEVERITY_WARN: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(30);
    pub const RCUTILS_LOG_SEVERITY_ERROR: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(40);
    pub const RCUTILS_LOG_SEVERITY_FATAL: RCUTILS_LOG_SEVERITY = RCUTILS_LOG_SEVERITY(50);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct RCUTILS_LOG_SEVERITY(pub ::core::ffi::c_uint);
pub type rcutils_logging_output_handler_t = ::core::option::Option<
    unsafe extern "C" fn(
        location: *const rcutils_log_location_t,
        severity: ::core::ffi::c_int,
        name: *const ::core::ffi::c_char,
        timestamp: rcutils_time_point_value_t,
        format: *const ::core::ffi::c_char,
        args: *mut va_list,
    ),
>;
impl rmw_qos_policy_kind_e {
    pub const RMW_QOS_POLICY_INVALID: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(1);
    pub const RMW_QOS_POLICY_DURABILITY: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(2);
    pub const RMW_QOS_POLICY_DEADLINE: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(4);
    pub const RMW_QOS_POLICY_LIVELINESS: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(8);
    pub const RMW_QOS_POLICY_RELIABILITY: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(16);
    pub const RMW_QOS_POLICY_HISTORY: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(32);
    pub const RMW_QOS_POLICY_LIFESPAN: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(64);
    pub const RMW_QOS_POLICY_DEPTH: rmw_qos_policy_kind_e = rmw_qos_policy_kind_e(128);
    pub const RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION: rmw_qos_policy_kind_e =
        rmw_qos_policy_kind_e(256);
    pub const RMW_QOS_POLICY_AVOID_ROS_NAMESPACE_CONVENTIONS: rmw_qos_policy_kind_e =
        rmw_qos_policy_kind_e(512);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_qos_policy_kind_e(pub ::core::ffi::c_uint);
pub use self::rmw_qos_policy_kind_e as rmw_qos_policy_kind_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_qos_incompatible_event_status_s {
    pub total_count: i32,
    pub total_count_change: i32,
    pub last_policy_kind: rmw_qos_policy_kind_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_qos_incompatible_event_status_s"]
        [::core::mem::size_of::<rmw_qos_incompatible_event_status_s>() - 12usize];
    ["Alignment of rmw_qos_incompatible_event_status_s"]
        [::core::mem::align_of::<rmw_qos_incompatible_event_status_s>() - 4usize];
    ["Offset of field: rmw_qos_incompatible_event_status_s::total_count"]
        [::core::mem::offset_of!(rmw_qos_incompatible_event_status_s, total_count) - 0usize];
    ["Offset of field: rmw_qos_incompatible_event_status_s::total_count_change"]
        [::core::mem::offset_of!(rmw_qos_incompatible_event_status_s, total_count_change) - 4usize];
    ["Offset of field: rmw_qos_incompatible_event_status_s::last_policy_kind"]
        [::core::mem::offset_of!(rmw_qos_incompatible_event_status_s, last_policy_kind) - 8usize];
};
pub type rmw_qos_incompatible_event_status_t = rmw_qos_incompatible_event_status_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_liveliness_changed_status_s {
    pub alive_count: i32,
    pub not_alive_count: i32,
    pub alive_count_change: i32,
    pub not_alive_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_liveliness_changed_status_s"]
        [::core::mem::size_of::<rmw_liveliness_changed_status_s>() - 16usize];
    ["Alignment of rmw_liveliness_changed_status_s"]
        [::core::mem::align_of::<rmw_liveliness_changed_status_s>() - 4usize];
    ["Offset of field: rmw_liveliness_changed_status_s::alive_count"]
        [::core::mem::offset_of!(rmw_liveliness_changed_status_s, alive_count) - 0usize];
    ["Offset of field: rmw_liveliness_changed_status_s::not_alive_count"]
        [::core::mem::offset_of!(rmw_liveliness_changed_status_s, not_alive_count) - 4usize];
    ["Offset of field: rmw_liveliness_changed_status_s::alive_count_change"]
        [::core::mem::offset_of!(rmw_liveliness_changed_status_s, alive_count_change) - 8usize];
    ["Offset of field: rmw_liveliness_changed_status_s::not_alive_count_change"][::core::mem::offset_of!(
        rmw_liveliness_changed_status_s,
        not_alive_count_change
    ) - 12usize];
};
pub type rmw_liveliness_changed_status_t = rmw_liveliness_changed_status_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_matched_status_s {
    pub total_count: usize,
    pub total_count_change: usize,
    pub current_count: usize,
    pub current_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_matched_status_s"][::core::mem::size_of::<rmw_matched_status_s>() - 32usize];
    ["Alignment of rmw_matched_status_s"][::core::mem::align_of::<rmw_matched_status_s>() - 8usize];
    ["Offset of field: rmw_matched_status_s::total_count"]
        [::core::mem::offset_of!(rmw_matched_status_s, total_count) - 0usize];
    ["Offset of field: rmw_matched_status_s::total_count_change"]
        [::core::mem::offset_of!(rmw_matched_status_s, total_count_change) - 8usize];
    ["Offset of field: rmw_matched_status_s::current_count"]
        [::core::mem::offset_of!(rmw_matched_status_s, current_count) - 16usize];
    ["Offset of field: rmw_matched_status_s::current_count_change"]
        [::core::mem::offset_of!(rmw_matched_status_s, current_count_change) - 24usize];
};
pub type rmw_matched_status_t = rmw_matched_status_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_message_lost_status_s {
    pub total_count: usize,
    pub total_count_change: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_message_lost_status_s"]
        [::core::mem::size_of::<rmw_message_lost_status_s>() - 16usize];
    ["Alignment of rmw_message_lost_status_s"]
        [::core::mem::align_of::<rmw_message_lost_status_s>() - 8usize];
    ["Offset of field: rmw_message_lost_status_s::total_count"]
        [::core::mem::offset_of!(rmw_message_lost_status_s, total_count) - 0usize];
    ["Offset of field: rmw_message_lost_status_s::total_count_change"]
        [::core::mem::offset_of!(rmw_message_lost_status_s, total_count_change) - 8usize];
};
pub type rmw_message_lost_status_t = rmw_message_lost_status_s;
pub type rmw_ret_t = i32;
impl rmw_automatic_discovery_range_e {
    pub const RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET: rmw_automatic_discovery_range_e =
        rmw_automatic_discovery_range_e(0);
    pub const RMW_AUTOMATIC_DISCOVERY_RANGE_OFF: rmw_automatic_discovery_range_e =
        rmw_automatic_discovery_range_e(1);
    pub const RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST: rmw_automatic_discovery_range_e =
        rmw_automatic_discovery_range_e(2);
    pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET: rmw_automatic_discovery_range_e =
        rmw_automatic_discovery_range_e(3);
    pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT: rmw_automatic_discovery_range_e =
        rmw_automatic_discovery_range_e(4);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_automatic_discovery_range_e(pub ::core::ffi::c_uint);
pub use self::rmw_automatic_discovery_range_e as rmw_automatic_discovery_range_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_peer_address_s {
    pub peer_address: [::core::ffi::c_char; 256usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_peer_address_s"][::core::mem::size_of::<rmw_peer_address_s>() - 256usize];
    ["Alignment of rmw_peer_address_s"][::core::mem::align_of::<rmw_peer_address_s>() - 1usize];
    ["Offset of field: rmw_peer_address_s::peer_address"]
        [::core::mem::offset_of!(rmw_peer_address_s, peer_address) - 0usize];
};
pub type rmw_peer_address_t = rmw_peer_address_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_discovery_options_s {
    pub automatic_discovery_range: rmw_automatic_discovery_range_t,
    pub static_peers: *mut rmw_peer_address_t,
    pub static_peers_count: usize,
    pub allocator: rcutils_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_discovery_options_s"]
        [::core::mem::size_of::<rmw_discovery_options_s>() - 64usize];
    ["Alignment of rmw_discovery_options_s"]
        [::core::mem::align_of::<rmw_discovery_options_s>() - 8usize];
    ["Offset of field: rmw_discovery_options_s::automatic_discovery_range"]
        [::core::mem::offset_of!(rmw_discovery_options_s, automatic_discovery_range) - 0usize];
    ["Offset of field: rmw_discovery_options_s::static_peers"]
        [::core::mem::offset_of!(rmw_discovery_options_s, static_peers) - 8usize];
    ["Offset of field: rmw_discovery_options_s::static_peers_count"]
        [::core::mem::offset_of!(rmw_discovery_options_s, static_peers_count) - 16usize];
    ["Offset of field: rmw_discovery_options_s::allocator"]
        [::core::mem::offset_of!(rmw_discovery_options_s, allocator) - 24usize];
};
pub type rmw_discovery_options_t = rmw_discovery_options_s;
impl rmw_security_enforcement_policy_e {
    pub const RMW_SECURITY_ENFORCEMENT_PERMISSIVE: rmw_security_enforcement_policy_e =
        rmw_security_enforcement_policy_e(0);
    pub const RMW_SECURITY_ENFORCEMENT_ENFORCE: rmw_security_enforcement_policy_e =
        rmw_security_enforcement_policy_e(1);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_security_enforcement_policy_e(pub ::core::ffi::c_uint);
pub use self::rmw_security_enforcement_policy_e as rmw_security_enforcement_policy_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_security_options_s {
    pub enforce_security: rmw_security_enforcement_policy_t,
    pub security_root_path: *mut ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_security_options_s"][::core::mem::size_of::<rmw_security_options_s>() - 16usize];
    ["Alignment of rmw_security_options_s"]
        [::core::mem::align_of::<rmw_security_options_s>() - 8usize];
    ["Offset of field: rmw_security_options_s::enforce_security"]
        [::core::mem::offset_of!(rmw_security_options_s, enforce_security) - 0usize];
    ["Offset of field: rmw_security_options_s::security_root_path"]
        [::core::mem::offset_of!(rmw_security_options_s, security_root_path) - 8usize];
};
pub type rmw_security_options_t = rmw_security_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_init_options_impl_s {
    _unused: [u8; 0],
}
pub type rmw_init_options_impl_t = rmw_init_options_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_context_impl_s {
    _unused: [u8; 0],
}
pub type rmw_context_impl_t = rmw_context_impl_s;
pub type rmw_serialized_message_t = rcutils_uint8_array_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_subscription_content_filter_options_s {
    pub filter_expression: *mut ::core::ffi::c_char,
    pub expression_parameters: rcutils_string_array_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_subscription_content_filter_options_s"]
        [::core::mem::size_of::<rmw_subscription_content_filter_options_s>() - 64usize];
    ["Alignment of rmw_subscription_content_filter_options_s"]
        [::core::mem::align_of::<rmw_subscription_content_filter_options_s>() - 8usize];
    ["Offset of field: rmw_subscription_content_filter_options_s::filter_expression"][::core::mem::offset_of!(
        rmw_subscription_content_filter_options_s,
        filter_expression
    ) - 0usize];
    ["Offset of field: rmw_subscription_content_filter_options_s::expression_parameters"][::core::mem::offset_of!(
        rmw_subscription_content_filter_options_s,
        expression_parameters
    )
        - 8usize];
};
pub type rmw_subscription_content_filter_options_t = rmw_subscription_content_filter_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_time_s {
    pub sec: u64,
    pub nsec: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_time_s"][::core::mem::size_of::<rmw_time_s>() - 16usize];
    ["Alignment of rmw_time_s"][::core::mem::align_of::<rmw_time_s>() - 8usize];
    ["Offset of field: rmw_time_s::sec"][::core::mem::offset_of!(rmw_time_s, sec) - 0usize];
    ["Offset of field: rmw_time_s::nsec"][::core::mem::offset_of!(rmw_time_s, nsec) - 8usize];
};
pub type rmw_time_point_value_t = rcutils_time_point_value_t;
impl rmw_endpoint_type_e {
    pub const RMW_ENDPOINT_INVALID: rmw_endpoint_type_e = rmw_endpoint_type_e(0);
    pub const RMW_ENDPOINT_PUBLISHER: rmw_endpoint_type_e = rmw_endpoint_type_e(1);
    pub const RMW_ENDPOINT_SUBSCRIPTION: rmw_endpoint_type_e = rmw_endpoint_type_e(2);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_endpoint_type_e(pub ::core::ffi::c_uint);
pub use self::rmw_endpoint_type_e as rmw_endpoint_type_t;
impl rmw_unique_network_flow_endpoints_requirement_e {
    pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED:
        rmw_unique_network_flow_endpoints_requirement_e =
        rmw_unique_network_flow_endpoints_requirement_e(0);
    pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED:
        rmw_unique_network_flow_endpoints_requirement_e =
        rmw_unique_network_flow_endpoints_requirement_e(1);
    pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED:
        rmw_unique_network_flow_endpoints_requirement_e =
        rmw_unique_network_flow_endpoints_requirement_e(2);
    pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_SYSTEM_DEFAULT:
        rmw_unique_network_flow_endpoints_requirement_e =
        rmw_unique_network_flow_endpoints_requirement_e(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_unique_network_flow_endpoints_requirement_e(pub ::core::ffi::c_uint);
pub use self::rmw_unique_network_flow_endpoints_requirement_e as rmw_unique_network_flow_endpoints_requirement_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_publisher_options_s {
    pub rmw_specific_publisher_payload: *mut ::core::ffi::c_void,
    pub require_unique_network_flow_endpoints: rmw_unique_network_flow_endpoints_requirement_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_publisher_options_s"]
        [::core::mem::size_of::<rmw_publisher_options_s>() - 16usize];
    ["Alignment of rmw_publisher_options_s"]
        [::core::mem::align_of::<rmw_publisher_options_s>() - 8usize];
    ["Offset of field: rmw_publisher_options_s::rmw_specific_publisher_payload"]
        [::core::mem::offset_of!(rmw_publisher_options_s, rmw_specific_publisher_payload) - 0usize];
    ["Offset of field: rmw_publisher_options_s::require_unique_network_flow_endpoints"][::core::mem::offset_of!(
        rmw_publisher_options_s,
        require_unique_network_flow_endpoints
    ) - 8usize];
};
pub type rmw_publisher_options_t = rmw_publisher_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_publisher_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub topic_name: *const ::core::ffi::c_char,
    pub options: rmw_publisher_options_t,
    pub can_loan_messages: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_publisher_s"][::core::mem::size_of::<rmw_publisher_s>() - 48usize];
    ["Alignment of rmw_publisher_s"][::core::mem::align_of::<rmw_publisher_s>() - 8usize];
    ["Offset of field: rmw_publisher_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_publisher_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_publisher_s::data"]
        [::core::mem::offset_of!(rmw_publisher_s, data) - 8usize];
    ["Offset of field: rmw_publisher_s::topic_name"]
        [::core::mem::offset_of!(rmw_publisher_s, topic_name) - 16usize];
    ["Offset of field: rmw_publisher_s::options"]
        [::core::mem::offset_of!(rmw_publisher_s, options) - 24usize];
    ["Offset of field: rmw_publisher_s::can_loan_messages"]
        [::core::mem::offset_of!(rmw_publisher_s, can_loan_messages) - 40usize];
};
pub type rmw_publisher_t = rmw_publisher_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_subscription_options_s {
    pub rmw_specific_subscription_payload: *mut ::core::ffi::c_void,
    pub ignore_local_publications: bool,
    pub require_unique_network_flow_endpoints: rmw_unique_network_flow_endpoints_requirement_t,
    pub content_filter_options: *mut rmw_subscription_content_filter_options_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_subscription_options_s"]
        [::core::mem::size_of::<rmw_subscription_options_s>() - 24usize];
    ["Alignment of rmw_subscription_options_s"]
        [::core::mem::align_of::<rmw_subscription_options_s>() - 8usize];
    ["Offset of field: rmw_subscription_options_s::rmw_specific_subscription_payload"][::core::mem::offset_of!(
        rmw_subscription_options_s,
        rmw_specific_subscription_payload
    ) - 0usize];
    ["Offset of field: rmw_subscription_options_s::ignore_local_publications"]
        [::core::mem::offset_of!(rmw_subscription_options_s, ignore_local_publications) - 8usize];
    ["Offset of field: rmw_subscription_options_s::require_unique_network_flow_endpoints"][::core::mem::offset_of!(
        rmw_subscription_options_s,
        require_unique_network_flow_endpoints
    )
        - 12usize];
    ["Offset of field: rmw_subscription_options_s::content_filter_options"]
        [::core::mem::offset_of!(rmw_subscription_options_s, content_filter_options) - 16usize];
};
pub type rmw_subscription_options_t = rmw_subscription_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_publisher_allocation_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_publisher_allocation_s"]
        [::core::mem::size_of::<rmw_publisher_allocation_s>() - 16usize];
    ["Alignment of rmw_publisher_allocation_s"]
        [::core::mem::align_of::<rmw_publisher_allocation_s>() - 8usize];
    ["Offset of field: rmw_publisher_allocation_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_publisher_allocation_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_publisher_allocation_s::data"]
        [::core::mem::offset_of!(rmw_publisher_allocation_s, data) - 8usize];
};
pub type rmw_publisher_allocation_t = rmw_publisher_allocation_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_subscription_allocation_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_subscription_allocation_s"]
        [::core::mem::size_of::<rmw_subscription_allocation_s>() - 16usize];
    ["Alignment of rmw_subscription_allocation_s"]
        [::core::mem::align_of::<rmw_subscription_allocation_s>() - 8usize];
    ["Offset of field: rmw_subscription_allocation_s::implementation_identifier"][::core::mem::offset_of!(
        rmw_subscription_allocation_s,
        implementation_identifier
    ) - 0usize];
    ["Offset of field: rmw_subscription_allocation_s::data"]
        [::core::mem::offset_of!(rmw_subscription_allocation_s, data) - 8usize];
};
pub type rmw_subscription_allocation_t = rmw_subscription_allocation_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_request_id_s {
    pub writer_guid: [u8; 16usize],
    pub sequence_number: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_request_id_s"][::core::mem::size_of::<rmw_request_id_s>() - 24usize];
    ["Alignment of rmw_request_id_s"][::core::mem::align_of::<rmw_request_id_s>() - 8usize];
    ["Offset of field: rmw_request_id_s::writer_guid"]
        [::core::mem::offset_of!(rmw_request_id_s, writer_guid) - 0usize];
    ["Offset of field: rmw_request_id_s::sequence_number"]
        [::core::mem::offset_of!(rmw_request_id_s, sequence_number) - 16usize];
};
pub type rmw_request_id_t = rmw_request_id_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_service_info_s {
    pub source_timestamp: rmw_time_point_value_t,
    pub received_timestamp: rmw_time_point_value_t,
    pub request_id: rmw_request_id_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_service_info_s"][::core::mem::size_of::<rmw_service_info_s>() - 40usize];
    ["Alignment of rmw_service_info_s"][::core::mem::align_of::<rmw_service_info_s>() - 8usize];
    ["Offset of field: rmw_service_info_s::source_timestamp"]
        [::core::mem::offset_of!(rmw_service_info_s, source_timestamp) - 0usize];
    ["Offset of field: rmw_service_info_s::received_timestamp"]
        [::core::mem::offset_of!(rmw_service_info_s, received_timestamp) - 8usize];
    ["Offset of field: rmw_service_info_s::request_id"]
        [::core::mem::offset_of!(rmw_service_info_s, request_id) - 16usize];
};
pub type rmw_service_info_t = rmw_service_info_s;
impl rmw_qos_reliability_policy_e {
    pub const RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT: rmw_qos_reliability_policy_e =
        rmw_qos_reliability_policy_e(0);
    pub const RMW_QOS_POLICY_RELIABILITY_RELIABLE: rmw_qos_reliability_policy_e =
        rmw_qos_reliability_policy_e(1);
    pub const RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT: rmw_qos_reliability_policy_e =
        rmw_qos_reliability_policy_e(2);
    pub const RMW_QOS_POLICY_RELIABILITY_UNKNOWN: rmw_qos_reliability_policy_e =
        rmw_qos_reliability_policy_e(3);
    pub const RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE: rmw_qos_reliability_policy_e =
        rmw_qos_reliability_policy_e(4);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_qos_reliability_policy_e(pub ::core::ffi::c_uint);
impl rmw_qos_history_policy_e {
    pub const RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT: rmw_qos_history_policy_e =
        rmw_qos_history_policy_e(0);
    pub const RMW_QOS_POLICY_HISTORY_KEEP_LAST: rmw_qos_history_policy_e =
        rmw_qos_history_policy_e(1);
    pub const RMW_QOS_POLICY_HISTORY_KEEP_ALL: rmw_qos_history_policy_e =
        rmw_qos_history_policy_e(2);
    pub const RMW_QOS_POLICY_HISTORY_UNKNOWN: rmw_qos_history_policy_e =
        rmw_qos_history_policy_e(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_qos_history_policy_e(pub ::core::ffi::c_uint);
impl rmw_qos_durability_policy_e {
    pub const RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT: rmw_qos_durability_policy_e =
        rmw_qos_durability_policy_e(0);
    pub const RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL: rmw_qos_durability_policy_e =
        rmw_qos_durability_policy_e(1);
    pub const RMW_QOS_POLICY_DURABILITY_VOLATILE: rmw_qos_durability_policy_e =
        rmw_qos_durability_policy_e(2);
    pub const RMW_QOS_POLICY_DURABILITY_UNKNOWN: rmw_qos_durability_policy_e =
        rmw_qos_durability_policy_e(3);
    pub const RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE: rmw_qos_durability_policy_e =
        rmw_qos_durability_policy_e(4);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_qos_durability_policy_e(pub ::core::ffi::c_uint);
impl rmw_qos_liveliness_policy_e {
    pub const RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(0);
    pub const RMW_QOS_POLICY_LIVELINESS_AUTOMATIC: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(1);
    pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(2);
    pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(3);
    pub const RMW_QOS_POLICY_LIVELINESS_UNKNOWN: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(4);
    pub const RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE: rmw_qos_liveliness_policy_e =
        rmw_qos_liveliness_policy_e(5);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rmw_qos_liveliness_policy_e(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_qos_profile_s {
    pub history: rmw_qos_history_policy_e,
    pub depth: usize,
    pub reliability: rmw_qos_reliability_policy_e,
    pub durability: rmw_qos_durability_policy_e,
    pub deadline: rmw_time_s,
    pub lifespan: rmw_time_s,
    pub liveliness: rmw_qos_liveliness_policy_e,
    pub liveliness_lease_duration: rmw_time_s,
    pub avoid_ros_namespace_conventions: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_qos_profile_s"][::core::mem::size_of::<rmw_qos_profile_s>() - 88usize];
    ["Alignment of rmw_qos_profile_s"][::core::mem::align_of::<rmw_qos_profile_s>() - 8usize];
    ["Offset of field: rmw_qos_profile_s::history"]
        [::core::mem::offset_of!(rmw_qos_profile_s, history) - 0usize];
    ["Offset of field: rmw_qos_profile_s::depth"]
        [::core::mem::offset_of!(rmw_qos_profile_s, depth) - 8usize];
    ["Offset of field: rmw_qos_profile_s::reliability"]
        [::core::mem::offset_of!(rmw_qos_profile_s, reliability) - 16usize];
    ["Offset of field: rmw_qos_profile_s::durability"]
        [::core::mem::offset_of!(rmw_qos_profile_s, durability) - 20usize];
    ["Offset of field: rmw_qos_profile_s::deadline"]
        [::core::mem::offset_of!(rmw_qos_profile_s, deadline) - 24usize];
    ["Offset of field: rmw_qos_profile_s::lifespan"]
        [::core::mem::offset_of!(rmw_qos_profile_s, lifespan) - 40usize];
    ["Offset of field: rmw_qos_profile_s::liveliness"]
        [::core::mem::offset_of!(rmw_qos_profile_s, liveliness) - 56usize];
    ["Offset of field: rmw_qos_profile_s::liveliness_lease_duration"]
        [::core::mem::offset_of!(rmw_qos_profile_s, liveliness_lease_duration) - 64usize];
    ["Offset of field: rmw_qos_profile_s::avoid_ros_namespace_conventions"]
        [::core::mem::offset_of!(rmw_qos_profile_s, avoid_ros_namespace_conventions) - 80usize];
};
pub type rmw_qos_profile_t = rmw_qos_profile_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_gid_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_gid_s"][::core::mem::size_of::<rmw_gid_s>() - 24usize];
    ["Alignment of rmw_gid_s"][::core::mem::align_of::<rmw_gid_s>() - 8usize];
    ["Offset of field: rmw_gid_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_gid_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_gid_s::data"][::core::mem::offset_of!(rmw_gid_s, data) - 8usize];
};
pub type rmw_gid_t = rmw_gid_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_message_info_s {
    pub source_timestamp: rmw_time_point_value_t,
    pub received_timestamp: rmw_time_point_value_t,
    pub publication_sequence_number: u64,
    pub reception_sequence_number: u64,
    pub publisher_gid: rmw_gid_t,
    pub from_intra_process: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_message_info_s"][::core::mem::size_of::<rmw_message_info_s>() - 64usize];
    ["Alignment of rmw_message_info_s"][::core::mem::align_of::<rmw_message_info_s>() - 8usize];
    ["Offset of field: rmw_message_info_s::source_timestamp"]
        [::core::mem::offset_of!(rmw_message_info_s, source_timestamp) - 0usize];
    ["Offset of field: rmw_message_info_s::received_timestamp"]
        [::core::mem::offset_of!(rmw_message_info_s, received_timestamp) - 8usize];
    ["Offset of field: rmw_message_info_s::publication_sequence_number"]
        [::core::mem::offset_of!(rmw_message_info_s, publication_sequence_number) - 16usize];
    ["Offset of field: rmw_message_info_s::reception_sequence_number"]
        [::core::mem::offset_of!(rmw_message_info_s, reception_sequence_number) - 24usize];
    ["Offset of field: rmw_message_info_s::publisher_gid"]
        [::core::mem::offset_of!(rmw_message_info_s, publisher_gid) - 32usize];
    ["Offset of field: rmw_message_info_s::from_intra_process"]
        [::core::mem::offset_of!(rmw_message_info_s, from_intra_process) - 56usize];
};
pub type rmw_message_info_t = rmw_message_info_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__String {
    pub data: *mut ::core::ffi::c_char,
    pub size: usize,
    pub capacity: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__String"]
        [::core::mem::size_of::<rosidl_runtime_c__String>() - 24usize];
    ["Alignment of rosidl_runtime_c__String"]
        [::core::mem::align_of::<rosidl_runtime_c__String>() - 8usize];
    ["Offset of field: rosidl_runtime_c__String::data"]
        [::core::mem::offset_of!(rosidl_runtime_c__String, data) - 0usize];
    ["Offset of field: rosidl_runtime_c__String::size"]
        [::core::mem::offset_of!(rosidl_runtime_c__String, size) - 8usize];
    ["Offset of field: rosidl_runtime_c__String::capacity"]
        [::core::mem::offset_of!(rosidl_runtime_c__String, capacity) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__FieldType {
    pub type_id: u8,
    pub capacity: u64,
    pub string_capacity: u64,
    pub nested_type_name: rosidl_runtime_c__String,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__FieldType"]
        [::core::mem::size_of::<rosidl_runtime_c__type_description__FieldType>() - 48usize];
    ["Alignment of rosidl_runtime_c__type_description__FieldType"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__FieldType>() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__FieldType::type_id"]
        [::core::mem::offset_of!(rosidl_runtime_c__type_description__FieldType, type_id) - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__FieldType::capacity"]
        [::core::mem::offset_of!(rosidl_runtime_c__type_description__FieldType, capacity) - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__FieldType::string_capacity"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__FieldType,
        string_capacity
    )
        - 16usize];
    ["Offset of field: rosidl_runtime_c__type_description__FieldType::nested_type_name"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__FieldType,
        nested_type_name
    )
        - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__Field {
    pub name: rosidl_runtime_c__String,
    pub type_: rosidl_runtime_c__type_description__FieldType,
    pub default_value: rosidl_runtime_c__String,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__Field"]
        [::core::mem::size_of::<rosidl_runtime_c__type_description__Field>() - 96usize];
    ["Alignment of rosidl_runtime_c__type_description__Field"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__Field>() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field::name"]
        [::core::mem::offset_of!(rosidl_runtime_c__type_description__Field, name) - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field::type_"]
        [::core::mem::offset_of!(rosidl_runtime_c__type_description__Field, type_) - 24usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field::default_value"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__Field,
        default_value
    ) - 72usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__Field__Sequence {
    pub data: *mut rosidl_runtime_c__type_description__Field,
    pub size: usize,
    pub capacity: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__Field__Sequence"]
        [::core::mem::size_of::<rosidl_runtime_c__type_description__Field__Sequence>() - 24usize];
    ["Alignment of rosidl_runtime_c__type_description__Field__Sequence"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__Field__Sequence>() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field__Sequence::data"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__Field__Sequence,
        data
    ) - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field__Sequence::size"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__Field__Sequence,
        size
    ) - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__Field__Sequence::capacity"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__Field__Sequence,
        capacity
    ) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__IndividualTypeDescription {
    pub type_name: rosidl_runtime_c__String,
    pub fields: rosidl_runtime_c__type_description__Field__Sequence,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__IndividualTypeDescription"][::core::mem::size_of::<
        rosidl_runtime_c__type_description__IndividualTypeDescription,
    >() - 48usize];
    ["Alignment of rosidl_runtime_c__type_description__IndividualTypeDescription"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__IndividualTypeDescription>()
            - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__IndividualTypeDescription::type_name"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__IndividualTypeDescription,
        type_name
    )
        - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__IndividualTypeDescription::fields"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__IndividualTypeDescription,
        fields
    )
        - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence {
    pub data: *mut rosidl_runtime_c__type_description__IndividualTypeDescription,
    pub size: usize,
    pub capacity: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence"]
        [::core::mem::size_of::<
            rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
        >() - 24usize];
    ["Alignment of rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence"]
        [::core::mem::align_of::<
            rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
        >() - 8usize];
    [
        "Offset of field: rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence::data",
    ][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
        data
    ) - 0usize];
    [
        "Offset of field: rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence::size",
    ][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
        size
    ) - 8usize];
    [
        "Offset of field: rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence::capacity",
    ][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
        capacity
    ) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__TypeDescription {
    pub type_description: rosidl_runtime_c__type_description__IndividualTypeDescription,
    pub referenced_type_descriptions:
        rosidl_runtime_c__type_description__IndividualTypeDescription__Sequence,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__TypeDescription"]
        [::core::mem::size_of::<rosidl_runtime_c__type_description__TypeDescription>() - 72usize];
    ["Alignment of rosidl_runtime_c__type_description__TypeDescription"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__TypeDescription>() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeDescription::type_description"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeDescription,
        type_description
    )
        - 0usize];
    [
        "Offset of field: rosidl_runtime_c__type_description__TypeDescription::referenced_type_descriptions",
    ][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeDescription,
        referenced_type_descriptions
    ) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__TypeSource {
    pub type_name: rosidl_runtime_c__String,
    pub encoding: rosidl_runtime_c__String,
    pub raw_file_contents: rosidl_runtime_c__String,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__TypeSource"]
        [::core::mem::size_of::<rosidl_runtime_c__type_description__TypeSource>() - 72usize];
    ["Alignment of rosidl_runtime_c__type_description__TypeSource"]
        [::core::mem::align_of::<rosidl_runtime_c__type_description__TypeSource>() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource::type_name"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource,
        type_name
    ) - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource::encoding"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource,
        encoding
    ) - 24usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource::raw_file_contents"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource,
        raw_file_contents
    )
        - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_runtime_c__type_description__TypeSource__Sequence {
    pub data: *mut rosidl_runtime_c__type_description__TypeSource,
    pub size: usize,
    pub capacity: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_runtime_c__type_description__TypeSource__Sequence"][::core::mem::size_of::<
        rosidl_runtime_c__type_description__TypeSource__Sequence,
    >() - 24usize];
    ["Alignment of rosidl_runtime_c__type_description__TypeSource__Sequence"][::core::mem::align_of::<
        rosidl_runtime_c__type_description__TypeSource__Sequence,
    >() - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource__Sequence::data"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource__Sequence,
        data
    ) - 0usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource__Sequence::size"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource__Sequence,
        size
    ) - 8usize];
    ["Offset of field: rosidl_runtime_c__type_description__TypeSource__Sequence::capacity"][::core::mem::offset_of!(
        rosidl_runtime_c__type_description__TypeSource__Sequence,
        capacity
    )
        - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_type_hash_s {
    pub version: u8,
    pub value: [u8; 32usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_type_hash_s"][::core::mem::size_of::<rosidl_type_hash_s>() - 33usize];
    ["Alignment of rosidl_type_hash_s"][::core::mem::align_of::<rosidl_type_hash_s>() - 1usize];
    ["Offset of field: rosidl_type_hash_s::version"]
        [::core::mem::offset_of!(rosidl_type_hash_s, version) - 0usize];
    ["Offset of field: rosidl_type_hash_s::value"]
        [::core::mem::offset_of!(rosidl_type_hash_s, value) - 1usize];
};
pub type rosidl_type_hash_t = rosidl_type_hash_s;
pub type rosidl_message_typesupport_handle_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_message_type_support_t,
        arg2: *const ::core::ffi::c_char,
    ) -> *const rosidl_message_type_support_t,
>;
pub type rosidl_message_get_type_hash_function = ::core::option::Option<
    unsafe extern "C" fn(arg1: *const rosidl_message_type_support_t) -> *const rosidl_type_hash_t,
>;
pub type rosidl_message_get_type_description_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_message_type_support_t,
    ) -> *const rosidl_runtime_c__type_description__TypeDescription,
>;
pub type rosidl_message_get_type_description_sources_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_message_type_support_t,
    ) -> *const rosidl_runtime_c__type_description__TypeSource__Sequence,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_message_type_support_t {
    pub typesupport_identifier: *const ::core::ffi::c_char,
    pub data: *const ::core::ffi::c_void,
    pub func: rosidl_message_typesupport_handle_function,
    pub get_type_hash_func: rosidl_message_get_type_hash_function,
    pub get_type_description_func: rosidl_message_get_type_description_function,
    pub get_type_description_sources_func: rosidl_message_get_type_description_sources_function,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_message_type_support_t"]
        [::core::mem::size_of::<rosidl_message_type_support_t>() - 48usize];
    ["Alignment of rosidl_message_type_support_t"]
        [::core::mem::align_of::<rosidl_message_type_support_t>() - 8usize];
    ["Offset of field: rosidl_message_type_support_t::typesupport_identifier"]
        [::core::mem::offset_of!(rosidl_message_type_support_t, typesupport_identifier) - 0usize];
    ["Offset of field: rosidl_message_type_support_t::data"]
        [::core::mem::offset_of!(rosidl_message_type_support_t, data) - 8usize];
    ["Offset of field: rosidl_message_type_support_t::func"]
        [::core::mem::offset_of!(rosidl_message_type_support_t, func) - 16usize];
    ["Offset of field: rosidl_message_type_support_t::get_type_hash_func"]
        [::core::mem::offset_of!(rosidl_message_type_support_t, get_type_hash_func) - 24usize];
    ["Offset of field: rosidl_message_type_support_t::get_type_description_func"][::core::mem::offset_of!(
        rosidl_message_type_support_t,
        get_type_description_func
    ) - 32usize];
    ["Offset of field: rosidl_message_type_support_t::get_type_description_sources_func"][::core::mem::offset_of!(
        rosidl_message_type_support_t,
        get_type_description_sources_func
    )
        - 40usize];
};
pub type rosidl_service_typesupport_handle_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_service_type_support_t,
        arg2: *const ::core::ffi::c_char,
    ) -> *const rosidl_service_type_support_t,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_service_introspection_info_s {
    pub event_type: u8,
    pub stamp_sec: i32,
    pub stamp_nanosec: u32,
    pub client_gid: [u8; 16usize],
    pub sequence_number: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_service_introspection_info_s"]
        [::core::mem::size_of::<rosidl_service_introspection_info_s>() - 40usize];
    ["Alignment of rosidl_service_introspection_info_s"]
        [::core::mem::align_of::<rosidl_service_introspection_info_s>() - 8usize];
    ["Offset of field: rosidl_service_introspection_info_s::event_type"]
        [::core::mem::offset_of!(rosidl_service_introspection_info_s, event_type) - 0usize];
    ["Offset of field: rosidl_service_introspection_info_s::stamp_sec"]
        [::core::mem::offset_of!(rosidl_service_introspection_info_s, stamp_sec) - 4usize];
    ["Offset of field: rosidl_service_introspection_info_s::stamp_nanosec"]
        [::core::mem::offset_of!(rosidl_service_introspection_info_s, stamp_nanosec) - 8usize];
    ["Offset of field: rosidl_service_introspection_info_s::client_gid"]
        [::core::mem::offset_of!(rosidl_service_introspection_info_s, client_gid) - 12usize];
    ["Offset of field: rosidl_service_introspection_info_s::sequence_number"]
        [::core::mem::offset_of!(rosidl_service_introspection_info_s, sequence_number) - 32usize];
};
pub type rosidl_service_introspection_info_t = rosidl_service_introspection_info_s;
pub type rosidl_event_message_create_handle_function_function = ::core::option::Option<
    unsafe extern "C" fn(
        info: *const rosidl_service_introspection_info_t,
        allocator: *mut rcutils_allocator_t,
        request_message: *const ::core::ffi::c_void,
        response_message: *const ::core::ffi::c_void,
    ) -> *mut ::core::ffi::c_void,
>;
pub type rosidl_event_message_destroy_handle_function_function = ::core::option::Option<
    unsafe extern "C" fn(
        event_message: *mut ::core::ffi::c_void,
        allocator: *mut rcutils_allocator_t,
    ) -> bool,
>;
pub type rosidl_service_get_type_hash_function = ::core::option::Option<
    unsafe extern "C" fn(arg1: *const rosidl_service_type_support_t) -> *const rosidl_type_hash_t,
>;
pub type rosidl_service_get_type_description_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_service_type_support_t,
    ) -> *const rosidl_runtime_c__type_description__TypeDescription,
>;
pub type rosidl_service_get_type_description_sources_function = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const rosidl_service_type_support_t,
    ) -> *const rosidl_runtime_c__type_description__TypeSource__Sequence,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_service_type_support_t {
    pub typesupport_identifier: *const ::core::ffi::c_char,
    pub data: *const ::core::ffi::c_void,
    pub func: rosidl_service_typesupport_handle_function,
    pub request_typesupport: *const rosidl_message_type_support_t,
    pub response_typesupport: *const rosidl_message_type_support_t,
    pub event_typesupport: *const rosidl_message_type_support_t,
    pub event_message_create_handle_function: rosidl_event_message_create_handle_function_function,
    pub event_message_destroy_handle_function:
        rosidl_event_message_destroy_handle_function_function,
    pub get_type_hash_func: rosidl_service_get_type_hash_function,
    pub get_type_description_func: rosidl_service_get_type_description_function,
    pub get_type_description_sources_func: rosidl_service_get_type_description_sources_function,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_service_type_support_t"]
        [::core::mem::size_of::<rosidl_service_type_support_t>() - 88usize];
    ["Alignment of rosidl_service_type_support_t"]
        [::core::mem::align_of::<rosidl_service_type_support_t>() - 8usize];
    ["Offset of field: rosidl_service_type_support_t::typesupport_identifier"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, typesupport_identifier) - 0usize];
    ["Offset of field: rosidl_service_type_support_t::data"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, data) - 8usize];
    ["Offset of field: rosidl_service_type_support_t::func"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, func) - 16usize];
    ["Offset of field: rosidl_service_type_support_t::request_typesupport"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, request_typesupport) - 24usize];
    ["Offset of field: rosidl_service_type_support_t::response_typesupport"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, response_typesupport) - 32usize];
    ["Offset of field: rosidl_service_type_support_t::event_typesupport"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, event_typesupport) - 40usize];
    ["Offset of field: rosidl_service_type_support_t::event_message_create_handle_function"][::core::mem::offset_of!(
        rosidl_service_type_support_t,
        event_message_create_handle_function
    )
        - 48usize];
    ["Offset of field: rosidl_service_type_support_t::event_message_destroy_handle_function"][::core::mem::offset_of!(
        rosidl_service_type_support_t,
        event_message_destroy_handle_function
    )
        - 56usize];
    ["Offset of field: rosidl_service_type_support_t::get_type_hash_func"]
        [::core::mem::offset_of!(rosidl_service_type_support_t, get_type_hash_func) - 64usize];
    ["Offset of field: rosidl_service_type_support_t::get_type_description_func"][::core::mem::offset_of!(
        rosidl_service_type_support_t,
        get_type_description_func
    ) - 72usize];
    ["Offset of field: rosidl_service_type_support_t::get_type_description_sources_func"][::core::mem::offset_of!(
        rosidl_service_type_support_t,
        get_type_description_sources_func
    )
        - 80usize];
};
pub type rcl_allocator_t = rcutils_allocator_t;
pub type rmw_event_callback_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *const ::core::ffi::c_void, number_of_events: usize),
>;
pub type rcl_event_callback_t = rmw_event_callback_t;
pub type rcl_ret_t = rmw_ret_t;
pub type rcl_serialized_message_t = rmw_serialized_message_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_arguments_impl_s {
    _unused: [u8; 0],
}
pub type rcl_arguments_impl_t = rcl_arguments_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_arguments_s {
    pub impl_: *mut rcl_arguments_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_arguments_s"][::core::mem::size_of::<rcl_arguments_s>() - 8usize];
    ["Alignment of rcl_arguments_s"][::core::mem::align_of::<rcl_arguments_s>() - 8usize];
    ["Offset of field: rcl_arguments_s::impl_"]
        [::core::mem::offset_of!(rcl_arguments_s, impl_) - 0usize];
};
pub type rcl_arguments_t = rcl_arguments_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_init_options_impl_s {
    _unused: [u8; 0],
}
pub type rcl_init_options_impl_t = rcl_init_options_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_init_options_s {
    pub impl_: *mut rcl_init_options_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_init_options_s"][::core::mem::size_of::<rcl_init_options_s>() - 8usize];
    ["Alignment of rcl_init_options_s"][::core::mem::align_of::<rcl_init_options_s>() - 8usize];
    ["Offset of field: rcl_init_options_s::impl_"]
        [::core::mem::offset_of!(rcl_init_options_s, impl_) - 0usize];
};
pub type rcl_init_options_t = rcl_init_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_context_impl_s {
    _unused: [u8; 0],
}
pub type rcl_context_impl_t = rcl_context_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_context_s {
    pub global_arguments: rcl_arguments_t,
    pub impl_: *mut rcl_context_impl_t,
    pub instance_id_storage: [u8; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_context_s"][::core::mem::size_of::<rcl_context_s>() - 24usize];
    ["Alignment of rcl_context_s"][::core::mem::align_of::<rcl_context_s>() - 8usize];
    ["Offset of field: rcl_context_s::global_arguments"]
        [::core::mem::offset_of!(rcl_context_s, global_arguments) - 0usize];
    ["Offset of field: rcl_context_s::impl_"]
        [::core::mem::offset_of!(rcl_context_s, impl_) - 8usize];
    ["Offset of field: rcl_context_s::instance_id_storage"]
        [::core::mem::offset_of!(rcl_context_s, instance_id_storage) - 16usize];
};
pub type rcl_context_t = rcl_context_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_guard_condition_impl_s {
    _unused: [u8; 0],
}
pub type rcl_guard_condition_impl_t = rcl_guard_condition_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_guard_condition_s {
    pub context: *mut rcl_context_t,
    pub impl_: *mut rcl_guard_condition_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_guard_condition_s"][::core::mem::size_of::<rcl_guard_condition_s>() - 16usize];
    ["Alignment of rcl_guard_condition_s"]
        [::core::mem::align_of::<rcl_guard_condition_s>() - 8usize];
    ["Offset of field: rcl_guard_condition_s::context"]
        [::core::mem::offset_of!(rcl_guard_condition_s, context) - 0usize];
    ["Offset of field: rcl_guard_condition_s::impl_"]
        [::core::mem::offset_of!(rcl_guard_condition_s, impl_) - 8usize];
};
pub type rcl_guard_condition_t = rcl_guard_condition_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_guard_condition_options_s {
    pub allocator: rcl_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_guard_condition_options_s"]
        [::core::mem::size_of::<rcl_guard_condition_options_s>() - 40usize];
    ["Alignment of rcl_guard_condition_options_s"]
        [::core::mem::align_of::<rcl_guard_condition_options_s>() - 8usize];
    ["Offset of field: rcl_guard_condition_options_s::allocator"]
        [::core::mem::offset_of!(rcl_guard_condition_options_s, allocator) - 0usize];
};
pub type rcl_guard_condition_options_t = rcl_guard_condition_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_node_options_s {
    pub allocator: rcl_allocator_t,
    pub use_global_arguments: bool,
    pub arguments: rcl_arguments_t,
    pub enable_rosout: bool,
    pub rosout_qos: rmw_qos_profile_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_node_options_s"][::core::mem::size_of::<rcl_node_options_s>() - 152usize];
    ["Alignment of rcl_node_options_s"][::core::mem::align_of::<rcl_node_options_s>() - 8usize];
    ["Offset of field: rcl_node_options_s::allocator"]
        [::core::mem::offset_of!(rcl_node_options_s, allocator) - 0usize];
    ["Offset of field: rcl_node_options_s::use_global_arguments"]
        [::core::mem::offset_of!(rcl_node_options_s, use_global_arguments) - 40usize];
    ["Offset of field: rcl_node_options_s::arguments"]
        [::core::mem::offset_of!(rcl_node_options_s, arguments) - 48usize];
    ["Offset of field: rcl_node_options_s::enable_rosout"]
        [::core::mem::offset_of!(rcl_node_options_s, enable_rosout) - 56usize];
    ["Offset of field: rcl_node_options_s::rosout_qos"]
        [::core::mem::offset_of!(rcl_node_options_s, rosout_qos) - 64usize];
};
pub type rcl_node_options_t = rcl_node_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_node_impl_s {
    _unused: [u8; 0],
}
pub type rcl_node_impl_t = rcl_node_impl_s;
pub type rcl_service_t = rcl_service_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_node_s {
    pub context: *mut rcl_context_t,
    pub impl_: *mut rcl_node_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_node_s"][::core::mem::size_of::<rcl_node_s>() - 16usize];
    ["Alignment of rcl_node_s"][::core::mem::align_of::<rcl_node_s>() - 8usize];
    ["Offset of field: rcl_node_s::context"][::core::mem::offset_of!(rcl_node_s, context) - 0usize];
    ["Offset of field: rcl_node_s::impl_"][::core::mem::offset_of!(rcl_node_s, impl_) - 8usize];
};
pub type rcl_node_t = rcl_node_s;
pub type rcl_duration_value_t = rcutils_duration_value_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_publisher_impl_s {
    _unused: [u8; 0],
}
pub type rcl_publisher_impl_t = rcl_publisher_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_publisher_s {
    pub impl_: *mut rcl_publisher_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_publisher_s"][::core::mem::size_of::<rcl_publisher_s>() - 8usize];
    ["Alignment of rcl_publisher_s"][::core::mem::align_of::<rcl_publisher_s>() - 8usize];
    ["Offset of field: rcl_publisher_s::impl_"]
        [::core::mem::offset_of!(rcl_publisher_s, impl_) - 0usize];
};
pub type rcl_publisher_t = rcl_publisher_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_publisher_options_s {
    pub qos: rmw_qos_profile_t,
    pub allocator: rcl_allocator_t,
    pub rmw_publisher_options: rmw_publisher_options_t,
    pub disable_loaned_message: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_publisher_options_s"]
        [::core::mem::size_of::<rcl_publisher_options_s>() - 152usize];
    ["Alignment of rcl_publisher_options_s"]
        [::core::mem::align_of::<rcl_publisher_options_s>() - 8usize];
    ["Offset of field: rcl_publisher_options_s::qos"]
        [::core::mem::offset_of!(rcl_publisher_options_s, qos) - 0usize];
    ["Offset of field: rcl_publisher_options_s::allocator"]
        [::core::mem::offset_of!(rcl_publisher_options_s, allocator) - 88usize];
    ["Offset of field: rcl_publisher_options_s::rmw_publisher_options"]
        [::core::mem::offset_of!(rcl_publisher_options_s, rmw_publisher_options) - 128usize];
    ["Offset of field: rcl_publisher_options_s::disable_loaned_message"]
        [::core::mem::offset_of!(rcl_publisher_options_s, disable_loaned_message) - 144usize];
};
pub type rcl_publisher_options_t = rcl_publisher_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_client_impl_s {
    _unused: [u8; 0],
}
pub type rcl_client_impl_t = rcl_client_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_client_s {
    pub impl_: *mut rcl_client_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_client_s"][::core::mem::size_of::<rcl_client_s>() - 8usize];
    ["Alignment of rcl_client_s"][::core::mem::align_of::<rcl_client_s>() - 8usize];
    ["Offset of field: rcl_client_s::impl_"][::core::mem::offset_of!(rcl_client_s, impl_) - 0usize];
};
pub type rcl_client_t = rcl_client_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_client_options_s {
    pub qos: rmw_qos_profile_t,
    pub allocator: rcl_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_client_options_s"][::core::mem::size_of::<rcl_client_options_s>() - 128usize];
    ["Alignment of rcl_client_options_s"][::core::mem::align_of::<rcl_client_options_s>() - 8usize];
    ["Offset of field: rcl_client_options_s::qos"]
        [::core::mem::offset_of!(rcl_client_options_s, qos) - 0usize];
    ["Offset of field: rcl_client_options_s::allocator"]
        [::core::mem::offset_of!(rcl_client_options_s, allocator) - 88usize];
};
pub type rcl_client_options_t = rcl_client_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_service_impl_s {
    _unused: [u8; 0],
}
pub type rcl_service_impl_t = rcl_service_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_service_s {
    pub impl_: *mut rcl_service_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_service_s"][::core::mem::size_of::<rcl_service_s>() - 8usize];
    ["Alignment of rcl_service_s"][::core::mem::align_of::<rcl_service_s>() - 8usize];
    ["Offset of field: rcl_service_s::impl_"]
        [::core::mem::offset_of!(rcl_service_s, impl_) - 0usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_service_options_s {
    pub qos: rmw_qos_profile_t,
    pub allocator: rcl_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_service_options_s"][::core::mem::size_of::<rcl_service_options_s>() - 128usize];
    ["Alignment of rcl_service_options_s"]
        [::core::mem::align_of::<rcl_service_options_s>() - 8usize];
    ["Offset of field: rcl_service_options_s::qos"]
        [::core::mem::offset_of!(rcl_service_options_s, qos) - 0usize];
    ["Offset of field: rcl_service_options_s::allocator"]
        [::core::mem::offset_of!(rcl_service_options_s, allocator) - 88usize];
};
pub type rcl_service_options_t = rcl_service_options_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_subscription_impl_s {
    _unused: [u8; 0],
}
pub type rcl_subscription_impl_t = rcl_subscription_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_subscription_s {
    pub impl_: *mut rcl_subscription_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_subscription_s"][::core::mem::size_of::<rcl_subscription_s>() - 8usize];
    ["Alignment of rcl_subscription_s"][::core::mem::align_of::<rcl_subscription_s>() - 8usize];
    ["Offset of field: rcl_subscription_s::impl_"]
        [::core::mem::offset_of!(rcl_subscription_s, impl_) - 0usize];
};
pub type rcl_subscription_t = rcl_subscription_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_subscription_options_s {
    pub qos: rmw_qos_profile_t,
    pub allocator: rcl_allocator_t,
    pub rmw_subscription_options: rmw_subscription_options_t,
    pub disable_loaned_message: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_subscription_options_s"]
        [::core::mem::size_of::<rcl_subscription_options_s>() - 160usize];
    ["Alignment of rcl_subscription_options_s"]
        [::core::mem::align_of::<rcl_subscription_options_s>() - 8usize];
    ["Offset of field: rcl_subscription_options_s::qos"]
        [::core::mem::offset_of!(rcl_subscription_options_s, qos) - 0usize];
    ["Offset of field: rcl_subscription_options_s::allocator"]
        [::core::mem::offset_of!(rcl_subscription_options_s, allocator) - 88usize];
    ["Offset of field: rcl_subscription_options_s::rmw_subscription_options"]
        [::core::mem::offset_of!(rcl_subscription_options_s, rmw_subscription_options) - 128usize];
    ["Offset of field: rcl_subscription_options_s::disable_loaned_message"]
        [::core::mem::offset_of!(rcl_subscription_options_s, disable_loaned_message) - 152usize];
};
pub type rcl_subscription_options_t = rcl_subscription_options_s;
impl rcl_publisher_event_type_e {
    pub const RCL_PUBLISHER_OFFERED_DEADLINE_MISSED: rcl_publisher_event_type_e =
        rcl_publisher_event_type_e(0);
    pub const RCL_PUBLISHER_LIVELINESS_LOST: rcl_publisher_event_type_e =
        rcl_publisher_event_type_e(1);
    pub const RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS: rcl_publisher_event_type_e =
        rcl_publisher_event_type_e(2);
    pub const RCL_PUBLISHER_INCOMPATIBLE_TYPE: rcl_publisher_event_type_e =
        rcl_publisher_event_type_e(3);
    pub const RCL_PUBLISHER_MATCHED: rcl_publisher_event_type_e = rcl_publisher_event_type_e(4);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rcl_publisher_event_type_e(pub ::core::ffi::c_uint);
pub use self::rcl_publisher_event_type_e as rcl_publisher_event_type_t;
impl rcl_subscription_event_type_e {
    pub const RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(0);
    pub const RCL_SUBSCRIPTION_LIVELINESS_CHANGED: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(1);
    pub const RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(2);
    pub const RCL_SUBSCRIPTION_MESSAGE_LOST: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(3);
    pub const RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(4);
    pub const RCL_SUBSCRIPTION_MATCHED: rcl_subscription_event_type_e =
        rcl_subscription_event_type_e(5);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rcl_subscription_event_type_e(pub ::core::ffi::c_uint);
pub use self::rcl_subscription_event_type_e as rcl_subscription_event_type_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_event_impl_s {
    _unused: [u8; 0],
}
pub type rcl_event_impl_t = rcl_event_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_event_s {
    pub impl_: *mut rcl_event_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_event_s"][::core::mem::size_of::<rcl_event_s>() - 8usize];
    ["Alignment of rcl_event_s"][::core::mem::align_of::<rcl_event_s>() - 8usize];
    ["Offset of field: rcl_event_s::impl_"][::core::mem::offset_of!(rcl_event_s, impl_) - 0usize];
};
pub type rcl_event_t = rcl_event_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_names_and_types_s {
    pub names: rcutils_string_array_t,
    pub types: *mut rcutils_string_array_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_names_and_types_s"][::core::mem::size_of::<rmw_names_and_types_s>() - 64usize];
    ["Alignment of rmw_names_and_types_s"]
        [::core::mem::align_of::<rmw_names_and_types_s>() - 8usize];
    ["Offset of field: rmw_names_and_types_s::names"]
        [::core::mem::offset_of!(rmw_names_and_types_s, names) - 0usize];
    ["Offset of field: rmw_names_and_types_s::types"]
        [::core::mem::offset_of!(rmw_names_and_types_s, types) - 56usize];
};
pub type rmw_names_and_types_t = rmw_names_and_types_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_topic_endpoint_info_s {
    pub node_name: *const ::core::ffi::c_char,
    pub node_namespace: *const ::core::ffi::c_char,
    pub topic_type: *const ::core::ffi::c_char,
    pub topic_type_hash: rosidl_type_hash_t,
    pub endpoint_type: rmw_endpoint_type_t,
    pub endpoint_gid: [u8; 16usize],
    pub qos_profile: rmw_qos_profile_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_topic_endpoint_info_s"]
        [::core::mem::size_of::<rmw_topic_endpoint_info_s>() - 168usize];
    ["Alignment of rmw_topic_endpoint_info_s"]
        [::core::mem::align_of::<rmw_topic_endpoint_info_s>() - 8usize];
    ["Offset of field: rmw_topic_endpoint_info_s::node_name"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, node_name) - 0usize];
    ["Offset of field: rmw_topic_endpoint_info_s::node_namespace"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, node_namespace) - 8usize];
    ["Offset of field: rmw_topic_endpoint_info_s::topic_type"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, topic_type) - 16usize];
    ["Offset of field: rmw_topic_endpoint_info_s::topic_type_hash"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, topic_type_hash) - 24usize];
    ["Offset of field: rmw_topic_endpoint_info_s::endpoint_type"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, endpoint_type) - 60usize];
    ["Offset of field: rmw_topic_endpoint_info_s::endpoint_gid"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, endpoint_gid) - 64usize];
    ["Offset of field: rmw_topic_endpoint_info_s::qos_profile"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_s, qos_profile) - 80usize];
};
pub type rmw_topic_endpoint_info_t = rmw_topic_endpoint_info_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rmw_topic_endpoint_info_array_s {
    pub size: usize,
    pub info_array: *mut rmw_topic_endpoint_info_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_topic_endpoint_info_array_s"]
        [::core::mem::size_of::<rmw_topic_endpoint_info_array_s>() - 16usize];
    ["Alignment of rmw_topic_endpoint_info_array_s"]
        [::core::mem::align_of::<rmw_topic_endpoint_info_array_s>() - 8usize];
    ["Offset of field: rmw_topic_endpoint_info_array_s::size"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_array_s, size) - 0usize];
    ["Offset of field: rmw_topic_endpoint_info_array_s::info_array"]
        [::core::mem::offset_of!(rmw_topic_endpoint_info_array_s, info_array) - 8usize];
};
pub type rmw_topic_endpoint_info_array_t = rmw_topic_endpoint_info_array_s;
pub type rcl_names_and_types_t = rmw_names_and_types_t;
pub type rcl_topic_endpoint_info_array_t = rmw_topic_endpoint_info_array_t;
pub type rcl_logging_output_handler_t = rcutils_logging_output_handler_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_timer_impl_s {
    _unused: [u8; 0],
}
pub type rcl_timer_impl_t = rcl_timer_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_timer_s {
    pub impl_: *mut rcl_timer_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_timer_s"][::core::mem::size_of::<rcl_timer_s>() - 8usize];
    ["Alignment of rcl_timer_s"][::core::mem::align_of::<rcl_timer_s>() - 8usize];
    ["Offset of field: rcl_timer_s::impl_"][::core::mem::offset_of!(rcl_timer_s, impl_) - 0usize];
};
pub type rcl_timer_t = rcl_timer_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_wait_set_impl_s {
    _unused: [u8; 0],
}
pub type rcl_wait_set_impl_t = rcl_wait_set_impl_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rcl_wait_set_s {
    pub subscriptions: *mut *const rcl_subscription_t,
    pub size_of_subscriptions: usize,
    pub guard_conditions: *mut *const rcl_guard_condition_t,
    pub size_of_guard_conditions: usize,
    pub timers: *mut *const rcl_timer_t,
    pub size_of_timers: usize,
    pub clients: *mut *const rcl_client_t,
    pub size_of_clients: usize,
    pub services: *mut *const rcl_service_t,
    pub size_of_services: usize,
    pub events: *mut *const rcl_event_t,
    pub size_of_events: usize,
    pub impl_: *mut rcl_wait_set_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rcl_wait_set_s"][::core::mem::size_of::<rcl_wait_set_s>() - 104usize];
    ["Alignment of rcl_wait_set_s"][::core::mem::align_of::<rcl_wait_set_s>() - 8usize];
    ["Offset of field: rcl_wait_set_s::subscriptions"]
        [::core::mem::offset_of!(rcl_wait_set_s, subscriptions) - 0usize];
    ["Offset of field: rcl_wait_set_s::size_of_subscriptions"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_subscriptions) - 8usize];
    ["Offset of field: rcl_wait_set_s::guard_conditions"]
        [::core::mem::offset_of!(rcl_wait_set_s, guard_conditions) - 16usize];
    ["Offset of field: rcl_wait_set_s::size_of_guard_conditions"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_guard_conditions) - 24usize];
    ["Offset of field: rcl_wait_set_s::timers"]
        [::core::mem::offset_of!(rcl_wait_set_s, timers) - 32usize];
    ["Offset of field: rcl_wait_set_s::size_of_timers"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_timers) - 40usize];
    ["Offset of field: rcl_wait_set_s::clients"]
        [::core::mem::offset_of!(rcl_wait_set_s, clients) - 48usize];
    ["Offset of field: rcl_wait_set_s::size_of_clients"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_clients) - 56usize];
    ["Offset of field: rcl_wait_set_s::services"]
        [::core::mem::offset_of!(rcl_wait_set_s, services) - 64usize];
    ["Offset of field: rcl_wait_set_s::size_of_services"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_services) - 72usize];
    ["Offset of field: rcl_wait_set_s::events"]
        [::core::mem::offset_of!(rcl_wait_set_s, events) - 80usize];
    ["Offset of field: rcl_wait_set_s::size_of_events"]
        [::core::mem::offset_of!(rcl_wait_set_s, size_of_events) - 88usize];
    ["Offset of field: rcl_wait_set_s::impl_"]
        [::core::mem::offset_of!(rcl_wait_set_s, impl_) - 96usize];
};
pub type rcl_wait_set_t = rcl_wait_set_s;
impl rosidl_runtime_c__message_initialization {
    pub const ROSIDL_RUNTIME_C_MSG_INIT_ALL: rosidl_runtime_c__message_initialization =
        rosidl_runtime_c__message_initialization(0);
    pub const ROSIDL_RUNTIME_C_MSG_INIT_SKIP: rosidl_runtime_c__message_initialization =
        rosidl_runtime_c__message_initialization(1);
    pub const ROSIDL_RUNTIME_C_MSG_INIT_ZERO: rosidl_runtime_c__message_initialization =
        rosidl_runtime_c__message_initialization(2);
    pub const ROSIDL_RUNTIME_C_MSG_INIT_DEFAULTS_ONLY: rosidl_runtime_c__message_initialization =
        rosidl_runtime_c__message_initialization(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct rosidl_runtime_c__message_initialization(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_typesupport_introspection_c__MessageMember_s {
    pub name_: *const ::core::ffi::c_char,
    pub type_id_: u8,
    pub string_upper_bound_: usize,
    pub members_: *const rosidl_message_type_support_t,
    pub is_key_: bool,
    pub is_array_: bool,
    pub array_size_: usize,
    pub is_upper_bound_: bool,
    pub offset_: u32,
    pub default_value_: *const ::core::ffi::c_void,
    pub size_function:
        ::core::option::Option<unsafe extern "C" fn(arg1: *const ::core::ffi::c_void) -> usize>,
    pub get_const_function: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *const ::core::ffi::c_void,
            index: usize,
        ) -> *const ::core::ffi::c_void,
    >,
    pub get_function: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *mut ::core::ffi::c_void,
            index: usize,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub fetch_function: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *const ::core::ffi::c_void,
            index: usize,
            arg2: *mut ::core::ffi::c_void,
        ),
    >,
    pub assign_function: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *mut ::core::ffi::c_void,
            index: usize,
            arg2: *const ::core::ffi::c_void,
        ),
    >,
    pub resize_function: ::core::option::Option<
        unsafe extern "C" fn(arg1: *mut ::core::ffi::c_void, size: usize) -> bool,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_typesupport_introspection_c__MessageMember_s"]
        [::core::mem::size_of::<rosidl_typesupport_introspection_c__MessageMember_s>() - 112usize];
    ["Alignment of rosidl_typesupport_introspection_c__MessageMember_s"]
        [::core::mem::align_of::<rosidl_typesupport_introspection_c__MessageMember_s>() - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::name_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        name_
    ) - 0usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::type_id_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        type_id_
    ) - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::string_upper_bound_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        string_upper_bound_
    )
        - 16usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::members_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        members_
    ) - 24usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::is_key_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        is_key_
    ) - 32usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::is_array_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        is_array_
    )
        - 33usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::array_size_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        array_size_
    )
        - 40usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::is_upper_bound_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        is_upper_bound_
    )
        - 48usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::offset_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        offset_
    ) - 52usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::default_value_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        default_value_
    )
        - 56usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::size_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        size_function
    )
        - 64usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::get_const_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        get_const_function
    )
        - 72usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::get_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        get_function
    )
        - 80usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::fetch_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        fetch_function
    )
        - 88usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::assign_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        assign_function
    )
        - 96usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMember_s::resize_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMember_s,
        resize_function
    )
        - 104usize];
};
pub type rosidl_typesupport_introspection_c__MessageMember =
    rosidl_typesupport_introspection_c__MessageMember_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct rosidl_typesupport_introspection_c__MessageMembers_s {
    pub message_namespace_: *const ::core::ffi::c_char,
    pub message_name_: *const ::core::ffi::c_char,
    pub member_count_: u32,
    pub size_of_: usize,
    pub has_any_key_member_: bool,
    pub members_: *const rosidl_typesupport_introspection_c__MessageMember,
    pub init_function: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *mut ::core::ffi::c_void,
            arg2: rosidl_runtime_c__message_initialization,
        ),
    >,
    pub fini_function: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ::core::ffi::c_void)>,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_typesupport_introspection_c__MessageMembers_s"]
        [::core::mem::size_of::<rosidl_typesupport_introspection_c__MessageMembers_s>() - 64usize];
    ["Alignment of rosidl_typesupport_introspection_c__MessageMembers_s"]
        [::core::mem::align_of::<rosidl_typesupport_introspection_c__MessageMembers_s>() - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::message_namespace_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        message_namespace_
    )
        - 0usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::message_name_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        message_name_
    )
        - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::member_count_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        member_count_
    )
        - 16usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::size_of_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        size_of_
    )
        - 24usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::has_any_key_member_"]
        [::core::mem::offset_of!(
            rosidl_typesupport_introspection_c__MessageMembers_s,
            has_any_key_member_
        ) - 32usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::members_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        members_
    )
        - 40usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::init_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        init_function
    )
        - 48usize];
    ["Offset of field: rosidl_typesupport_introspection_c__MessageMembers_s::fini_function"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__MessageMembers_s,
        fini_function
    )
        - 56usize];
};
unsafe extern "C" {
    pub fn rcutils_get_default_allocator() -> rcutils_allocator_t;
    pub fn rcutils_get_error_string() -> rcutils_error_string_t;
    pub fn rcutils_reset_error();
    pub fn rcutils_get_zero_initialized_string_array() -> rcutils_string_array_t;
    pub fn rcutils_string_array_fini(string_array: *mut rcutils_string_array_t) -> rcutils_ret_t;
    pub fn rcutils_get_zero_initialized_uint8_array() -> rcutils_uint8_array_t;
    pub fn rcutils_uint8_array_init(
        uint8_array: *mut rcutils_uint8_array_t,
        buffer_capacity: usize,
        allocator: *const rcutils_allocator_t,
    ) -> rcutils_ret_t;
    pub fn rcutils_uint8_array_fini(uint8_array: *mut rcutils_uint8_array_t) -> rcutils_ret_t;
    pub fn rcutils_logging_set_default_logger_level(level: ::core::ffi::c_int);
    pub fn rcutils_logging_set_logger_level(
        name: *const ::core::ffi::c_char,
        level: ::core::ffi::c_int,
    ) -> rcutils_ret_t;
    pub fn rcutils_logging_logger_is_enabled_for(
        name: *const ::core::ffi::c_char,
        severity: ::core::ffi::c_int,
    ) -> bool;
    pub fn rcutils_log(
        location: *const rcutils_log_location_t,
        severity: ::core::ffi::c_int,
        name: *const ::core::ffi::c_char,
        format: *const ::core::ffi::c_char,
        ...
    );
    pub fn rmw_get_zero_initialized_message_info() -> rmw_message_info_t;
    pub fn rcl_parse_arguments(
        argc: ::core::ffi::c_int,
        argv: *const *const ::core::ffi::c_char,
        allocator: rcl_allocator_t,
        args_output: *mut rcl_arguments_t,
    ) -> rcl_ret_t;
    pub fn rcl_get_zero_initialized_init_options() -> rcl_init_options_t;
    pub fn rcl_init_options_init(
        init_options: *mut rcl_init_options_t,
        allocator: rcl_allocator_t,
    ) -> rcl_ret_t;
    pub fn rcl_init_options_fini(init_options: *mut rcl_init_options_t) -> rcl_ret_t;
    pub fn rcl_init_options_set_domain_id(
        init_options: *mut rcl_init_options_t,
        domain_id: usize,
    ) -> rcl_ret_t;
    pub fn rcl_init_options_get_rmw_init_options(
        init_options: *mut rcl_init_options_t,
    ) -> *mut rmw_init_options_t;
    pub fn rcl_get_zero_initialized_context() -> rcl_context_t;
    pub fn rcl_context_fini(context: *mut rcl_context_t) -> rcl_ret_t;
    pub fn rcl_context_get_domain_id(
        context: *mut rcl_context_t,
        domain_id: *mut usize,
    ) -> rcl_ret_t;
    pub fn rcl_context_is_valid(context: *const rcl_context_t) -> bool;
    pub fn rcl_context_get_rmw_context(context: *mut rcl_context_t) -> *mut rmw_context_t;
    pub fn rcl_get_zero_initialized_guard_condition() -> rcl_guard_condition_t;
    pub fn rcl_guard_condition_init(
        guard_condition: *mut rcl_guard_condition_t,
        context: *mut rcl_context_t,
        options: rcl_guard_condition_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_guard_condition_fini(guard_condition: *mut rcl_guard_condition_t) -> rcl_ret_t;
    pub fn rcl_guard_condition_get_default_options() -> rcl_guard_condition_options_t;
    pub fn rcl_trigger_guard_condition(guard_condition: *mut rcl_guard_condition_t) -> rcl_ret_t;
    pub fn rcl_node_get_default_options() -> rcl_node_options_t;
    pub fn rcl_node_options_fini(options: *mut rcl_node_options_t) -> rcl_ret_t;
    pub fn rcl_get_zero_initialized_node() -> rcl_node_t;
    pub fn rcl_node_init(
        node: *mut rcl_node_t,
        name: *const ::core::ffi::c_char,
        namespace_: *const ::core::ffi::c_char,
        context: *mut rcl_context_t,
        options: *const rcl_node_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_node_fini(node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_node_get_fully_qualified_name(node: *const rcl_node_t)
    -> *const ::core::ffi::c_char;
    pub fn rcl_node_get_graph_guard_condition(
        node: *const rcl_node_t,
    ) -> *const rcl_guard_condition_t;
    pub fn rcl_node_get_logger_name(node: *const rcl_node_t) -> *const ::core::ffi::c_char;
    pub fn rcl_get_zero_initialized_publisher() -> rcl_publisher_t;
    pub fn rcl_publisher_init(
        publisher: *mut rcl_publisher_t,
        node: *const rcl_node_t,
        type_support: *const rosidl_message_type_support_t,
        topic_name: *const ::core::ffi::c_char,
        options: *const rcl_publisher_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_publisher_fini(publisher: *mut rcl_publisher_t, node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_publisher_get_default_options() -> rcl_publisher_options_t;
    pub fn rcl_publish_serialized_message(
        publisher: *const rcl_publisher_t,
        serialized_message: *const rcl_serialized_message_t,
        allocation: *mut rmw_publisher_allocation_t,
    ) -> rcl_ret_t;
    pub fn rcl_publisher_assert_liveliness(publisher: *const rcl_publisher_t) -> rcl_ret_t;
    pub fn rcl_publisher_wait_for_all_acked(
        publisher: *const rcl_publisher_t,
        timeout: rcl_duration_value_t,
    ) -> rcl_ret_t;
    pub fn rcl_publisher_get_topic_name(
        publisher: *const rcl_publisher_t,
    ) -> *const ::core::ffi::c_char;
    pub fn rcl_publisher_get_rmw_handle(publisher: *const rcl_publisher_t) -> *mut rmw_publisher_t;
    pub fn rcl_publisher_get_subscription_count(
        publisher: *const rcl_publisher_t,
        subscription_count: *mut usize,
    ) -> rcl_ret_t;
    pub fn rcl_publisher_get_actual_qos(
        publisher: *const rcl_publisher_t,
    ) -> *const rmw_qos_profile_t;
    pub fn rcl_get_zero_initialized_client() -> rcl_client_t;
    pub fn rcl_client_init(
        client: *mut rcl_client_t,
        node: *const rcl_node_t,
        type_support: *const rosidl_service_type_support_t,
        service_name: *const ::core::ffi::c_char,
        options: *const rcl_client_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_client_fini(client: *mut rcl_client_t, node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_client_get_default_options() -> rcl_client_options_t;
    pub fn rcl_send_request(
        client: *const rcl_client_t,
        ros_request: *const ::core::ffi::c_void,
        sequence_number: *mut i64,
    ) -> rcl_ret_t;
    pub fn rcl_take_response(
        client: *const rcl_client_t,
        request_header: *mut rmw_request_id_t,
        ros_response: *mut ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_client_get_service_name(client: *const rcl_client_t) -> *const ::core::ffi::c_char;
    pub fn rcl_client_set_on_new_response_callback(
        client: *const rcl_client_t,
        callback: rcl_event_callback_t,
        user_data: *const ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_get_zero_initialized_service() -> rcl_service_t;
    pub fn rcl_service_init(
        service: *mut rcl_service_t,
        node: *const rcl_node_t,
        type_support: *const rosidl_service_type_support_t,
        service_name: *const ::core::ffi::c_char,
        options: *const rcl_service_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_service_fini(service: *mut rcl_service_t, node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_service_get_default_options() -> rcl_service_options_t;
    pub fn rcl_take_request_with_info(
        service: *const rcl_service_t,
        request_header: *mut rmw_service_info_t,
        ros_request: *mut ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_send_response(
        service: *const rcl_service_t,
        response_header: *mut rmw_request_id_t,
        ros_response: *mut ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_service_get_service_name(
        service: *const rcl_service_t,
    ) -> *const ::core::ffi::c_char;
    pub fn rcl_service_set_on_new_request_callback(
        service: *const rcl_service_t,
        callback: rcl_event_callback_t,
        user_data: *const ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_get_zero_initialized_subscription() -> rcl_subscription_t;
    pub fn rcl_subscription_init(
        subscription: *mut rcl_subscription_t,
        node: *const rcl_node_t,
        type_support: *const rosidl_message_type_support_t,
        topic_name: *const ::core::ffi::c_char,
        options: *const rcl_subscription_options_t,
    ) -> rcl_ret_t;
    pub fn rcl_subscription_fini(
        subscription: *mut rcl_subscription_t,
        node: *mut rcl_node_t,
    ) -> rcl_ret_t;
    pub fn rcl_subscription_get_default_options() -> rcl_subscription_options_t;
    pub fn rcl_take_serialized_message(
        subscription: *const rcl_subscription_t,
        serialized_message: *mut rcl_serialized_message_t,
        message_info: *mut rmw_message_info_t,
        allocation: *mut rmw_subscription_allocation_t,
    ) -> rcl_ret_t;
    pub fn rcl_subscription_get_topic_name(
        subscription: *const rcl_subscription_t,
    ) -> *const ::core::ffi::c_char;
    pub fn rcl_subscription_get_actual_qos(
        subscription: *const rcl_subscription_t,
    ) -> *const rmw_qos_profile_t;
    pub fn rcl_subscription_set_on_new_message_callback(
        subscription: *const rcl_subscription_t,
        callback: rcl_event_callback_t,
        user_data: *const ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_get_zero_initialized_event() -> rcl_event_t;
    pub fn rcl_publisher_event_init(
        event: *mut rcl_event_t,
        publisher: *const rcl_publisher_t,
        event_type: rcl_publisher_event_type_t,
    ) -> rcl_ret_t;
    pub fn rcl_subscription_event_init(
        event: *mut rcl_event_t,
        subscription: *const rcl_subscription_t,
        event_type: rcl_subscription_event_type_t,
    ) -> rcl_ret_t;
    pub fn rcl_take_event(
        event: *const rcl_event_t,
        event_info: *mut ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rcl_event_fini(event: *mut rcl_event_t) -> rcl_ret_t;
    pub fn rcl_event_set_callback(
        event: *const rcl_event_t,
        callback: rcl_event_callback_t,
        user_data: *const ::core::ffi::c_void,
    ) -> rcl_ret_t;
    pub fn rmw_get_zero_initialized_names_and_types() -> rmw_names_and_types_t;
    pub fn rmw_names_and_types_fini(names_and_types: *mut rmw_names_and_types_t) -> rmw_ret_t;
    pub fn rmw_get_zero_initialized_topic_endpoint_info_array() -> rmw_topic_endpoint_info_array_t;
    pub fn rmw_topic_endpoint_info_array_fini(
        topic_endpoint_info_array: *mut rmw_topic_endpoint_info_array_t,
        allocator: *mut rcutils_allocator_t,
    ) -> rmw_ret_t;
    pub fn rcl_get_topic_names_and_types(
        node: *const rcl_node_t,
        allocator: *mut rcl_allocator_t,
        no_demangle: bool,
        topic_names_and_types: *mut rcl_names_and_types_t,
    ) -> rcl_ret_t;
    pub fn rcl_get_service_names_and_types(
        node: *const rcl_node_t,
        allocator: *mut rcl_allocator_t,
        service_names_and_types: *mut rcl_names_and_types_t,
    ) -> rcl_ret_t;
    pub fn rcl_get_node_names(
        node: *const rcl_node_t,
        allocator: rcl_allocator_t,
        node_names: *mut rcutils_string_array_t,
        node_namespaces: *mut rcutils_string_array_t,
    ) -> rcl_ret_t;
    pub fn rcl_count_publishers(
        node: *const rcl_node_t,
        topic_name: *const ::core::ffi::c_char,
        count: *mut usize,
    ) -> rcl_ret_t;
    pub fn rcl_count_subscribers(
        node: *const rcl_node_t,
        topic_name: *const ::core::ffi::c_char,
        count: *mut usize,
    ) -> rcl_ret_t;
    pub fn rcl_get_publishers_info_by_topic(
        node: *const rcl_node_t,
        allocator: *mut rcutils_allocator_t,
        topic_name: *const ::core::ffi::c_char,
        no_mangle: bool,
        publishers_info: *mut rcl_topic_endpoint_info_array_t,
    ) -> rcl_ret_t;
    pub fn rcl_get_subscriptions_info_by_topic(
        node: *const rcl_node_t,
        allocator: *mut rcutils_allocator_t,
        topic_name: *const ::core::ffi::c_char,
        no_mangle: bool,
        subscriptions_info: *mut rcl_topic_endpoint_info_array_t,
    ) -> rcl_ret_t;
    pub fn rcl_service_server_is_available(
        node: *const rcl_node_t,
        client: *const rcl_client_t,
        is_available: *mut bool,
    ) -> rcl_ret_t;
    pub fn rcl_logging_configure_with_output_handler(
        global_args: *const rcl_arguments_t,
        allocator: *const rcl_allocator_t,
        output_handler: rcl_logging_output_handler_t,
    ) -> rcl_ret_t;
    pub fn rcl_logging_fini() -> rcl_ret_t;
    pub fn rcl_logging_multiple_output_handler(
        location: *const rcutils_log_location_t,
        severity: ::core::ffi::c_int,
        name: *const ::core::ffi::c_char,
        timestamp: rcutils_time_point_value_t,
        format: *const ::core::ffi::c_char,
        args: *mut va_list,
    );
    pub fn rcl_logging_rosout_init_publisher_for_node(node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_logging_rosout_fini_publisher_for_node(node: *mut rcl_node_t) -> rcl_ret_t;
    pub fn rcl_init(
        argc: ::core::ffi::c_int,
        argv: *const *const ::core::ffi::c_char,
        options: *const rcl_init_options_t,
        context: *mut rcl_context_t,
    ) -> rcl_ret_t;
    pub fn rcl_shutdown(context: *mut rcl_context_t) -> rcl_ret_t;
    pub fn rmw_get_implementation_identifier() -> *const ::core::ffi::c_char;
    pub fn rmw_serialize(
        ros_message: *const ::core::ffi::c_void,
        type_support: *const rosidl_message_type_support_t,
        serialized_message: *mut rmw_serialized_message_t,
    ) -> rmw_ret_t;
    pub fn rmw_deserialize(
        serialized_message: *const rmw_serialized_message_t,
        type_support: *const rosidl_message_type_support_t,
        ros_message: *mut ::core::ffi::c_void,
    ) -> rmw_ret_t;
    pub fn rmw_get_gid_for_publisher(
        publisher: *const rmw_publisher_t,
        gid: *mut rmw_gid_t,
    ) -> rmw_ret_t;
    pub fn rcl_get_zero_initialized_wait_set() -> rcl_wait_set_t;
    pub fn rcl_wait_set_init(
        wait_set: *mut rcl_wait_set_t,
        number_of_subscriptions: usize,
        number_of_guard_conditions: usize,
        number_of_timers: usize,
        number_of_clients: usize,
        number_of_services: usize,
        number_of_events: usize,
        context: *mut rcl_context_t,
        allocator: rcl_allocator_t,
    ) -> rcl_ret_t;
    pub fn rcl_wait_set_fini(wait_set: *mut rcl_wait_set_t) -> rcl_ret_t;
    pub fn rcl_wait_set_clear(wait_set: *mut rcl_wait_set_t) -> rcl_ret_t;
    pub fn rcl_wait_set_add_guard_condition(
        wait_set: *mut rcl_wait_set_t,
        guard_condition: *const rcl_guard_condition_t,
        index: *mut usize,
    ) -> rcl_ret_t;
    pub fn rcl_wait(wait_set: *mut rcl_wait_set_t, timeout: i64) -> rcl_ret_t;
}
