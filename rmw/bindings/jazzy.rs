// Generated from the headers of ROS 2 jazzy by scripts/rcl-bindings; do not edit.
// Copyright of the headers: Open Source Robotics Foundation, Inc. Licensed under the Apache License, Version 2.0.
pub const RMW_RET_OK: u32 = 0;
pub const RMW_RET_ERROR: u32 = 1;
pub const RMW_RET_TIMEOUT: u32 = 2;
pub const RMW_RET_UNSUPPORTED: u32 = 3;
pub const RMW_RET_BAD_ALLOC: u32 = 10;
pub const RMW_RET_INVALID_ARGUMENT: u32 = 11;
pub const RMW_RET_INCORRECT_RMW_IMPLEMENTATION: u32 = 12;
pub const RMW_RET_NODE_NAME_NON_EXISTENT: u32 = 203;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub const RMW_QOS_POLICY_INVALID: rmw_qos_policy_kind_e = 1;
pub const RMW_QOS_POLICY_DURABILITY: rmw_qos_policy_kind_e = 2;
pub const RMW_QOS_POLICY_DEADLINE: rmw_qos_policy_kind_e = 4;
pub const RMW_QOS_POLICY_LIVELINESS: rmw_qos_policy_kind_e = 8;
pub const RMW_QOS_POLICY_RELIABILITY: rmw_qos_policy_kind_e = 16;
pub const RMW_QOS_POLICY_HISTORY: rmw_qos_policy_kind_e = 32;
pub const RMW_QOS_POLICY_LIFESPAN: rmw_qos_policy_kind_e = 64;
pub const RMW_QOS_POLICY_DEPTH: rmw_qos_policy_kind_e = 128;
pub const RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION: rmw_qos_policy_kind_e = 256;
pub const RMW_QOS_POLICY_AVOID_ROS_NAMESPACE_CONVENTIONS: rmw_qos_policy_kind_e = 512;
pub type rmw_qos_policy_kind_e = ::core::ffi::c_uint;
pub use self::rmw_qos_policy_kind_e as rmw_qos_policy_kind_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
pub type rmw_requested_qos_incompatible_event_status_t = rmw_qos_incompatible_event_status_t;
pub type rmw_offered_qos_incompatible_event_status_t = rmw_qos_incompatible_event_status_t;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_incompatible_type_status_s {
    pub total_count: i32,
    pub total_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_incompatible_type_status_s"]
        [::core::mem::size_of::<rmw_incompatible_type_status_s>() - 8usize];
    ["Alignment of rmw_incompatible_type_status_s"]
        [::core::mem::align_of::<rmw_incompatible_type_status_s>() - 4usize];
    ["Offset of field: rmw_incompatible_type_status_s::total_count"]
        [::core::mem::offset_of!(rmw_incompatible_type_status_s, total_count) - 0usize];
    ["Offset of field: rmw_incompatible_type_status_s::total_count_change"]
        [::core::mem::offset_of!(rmw_incompatible_type_status_s, total_count_change) - 4usize];
};
pub type rmw_incompatible_type_status_t = rmw_incompatible_type_status_s;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
pub struct rmw_liveliness_lost_status_s {
    pub total_count: i32,
    pub total_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_liveliness_lost_status_s"]
        [::core::mem::size_of::<rmw_liveliness_lost_status_s>() - 8usize];
    ["Alignment of rmw_liveliness_lost_status_s"]
        [::core::mem::align_of::<rmw_liveliness_lost_status_s>() - 4usize];
    ["Offset of field: rmw_liveliness_lost_status_s::total_count"]
        [::core::mem::offset_of!(rmw_liveliness_lost_status_s, total_count) - 0usize];
    ["Offset of field: rmw_liveliness_lost_status_s::total_count_change"]
        [::core::mem::offset_of!(rmw_liveliness_lost_status_s, total_count_change) - 4usize];
};
pub type rmw_liveliness_lost_status_t = rmw_liveliness_lost_status_s;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_offered_deadline_missed_status_s {
    pub total_count: i32,
    pub total_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_offered_deadline_missed_status_s"]
        [::core::mem::size_of::<rmw_offered_deadline_missed_status_s>() - 8usize];
    ["Alignment of rmw_offered_deadline_missed_status_s"]
        [::core::mem::align_of::<rmw_offered_deadline_missed_status_s>() - 4usize];
    ["Offset of field: rmw_offered_deadline_missed_status_s::total_count"]
        [::core::mem::offset_of!(rmw_offered_deadline_missed_status_s, total_count) - 0usize];
    ["Offset of field: rmw_offered_deadline_missed_status_s::total_count_change"][::core::mem::offset_of!(
        rmw_offered_deadline_missed_status_s,
        total_count_change
    ) - 4usize];
};
pub type rmw_offered_deadline_missed_status_t = rmw_offered_deadline_missed_status_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_requested_deadline_missed_status_s {
    pub total_count: i32,
    pub total_count_change: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_requested_deadline_missed_status_s"]
        [::core::mem::size_of::<rmw_requested_deadline_missed_status_s>() - 8usize];
    ["Alignment of rmw_requested_deadline_missed_status_s"]
        [::core::mem::align_of::<rmw_requested_deadline_missed_status_s>() - 4usize];
    ["Offset of field: rmw_requested_deadline_missed_status_s::total_count"]
        [::core::mem::offset_of!(rmw_requested_deadline_missed_status_s, total_count) - 0usize];
    ["Offset of field: rmw_requested_deadline_missed_status_s::total_count_change"][::core::mem::offset_of!(
        rmw_requested_deadline_missed_status_s,
        total_count_change
    ) - 4usize];
};
pub type rmw_requested_deadline_missed_status_t = rmw_requested_deadline_missed_status_s;
pub type rmw_ret_t = i32;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET: rmw_automatic_discovery_range_e = 0;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_OFF: rmw_automatic_discovery_range_e = 1;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST: rmw_automatic_discovery_range_e = 2;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET: rmw_automatic_discovery_range_e = 3;
pub const RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT: rmw_automatic_discovery_range_e = 4;
pub type rmw_automatic_discovery_range_e = ::core::ffi::c_uint;
pub use self::rmw_automatic_discovery_range_e as rmw_automatic_discovery_range_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub const RMW_LOCALHOST_ONLY_DEFAULT: rmw_localhost_only_e = 0;
pub const RMW_LOCALHOST_ONLY_ENABLED: rmw_localhost_only_e = 1;
pub const RMW_LOCALHOST_ONLY_DISABLED: rmw_localhost_only_e = 2;
pub type rmw_localhost_only_e = ::core::ffi::c_uint;
pub use self::rmw_localhost_only_e as rmw_localhost_only_t;
pub const RMW_SECURITY_ENFORCEMENT_PERMISSIVE: rmw_security_enforcement_policy_e = 0;
pub const RMW_SECURITY_ENFORCEMENT_ENFORCE: rmw_security_enforcement_policy_e = 1;
pub type rmw_security_enforcement_policy_e = ::core::ffi::c_uint;
pub use self::rmw_security_enforcement_policy_e as rmw_security_enforcement_policy_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
pub struct rmw_init_options_impl_s {
    _unused: [u8; 0],
}
pub type rmw_init_options_impl_t = rmw_init_options_impl_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_init_options_s {
    pub instance_id: u64,
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub domain_id: usize,
    pub security_options: rmw_security_options_t,
    pub localhost_only: rmw_localhost_only_t,
    pub discovery_options: rmw_discovery_options_t,
    pub enclave: *mut ::core::ffi::c_char,
    pub allocator: rcutils_allocator_t,
    pub impl_: *mut rmw_init_options_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_init_options_s"][::core::mem::size_of::<rmw_init_options_s>() - 168usize];
    ["Alignment of rmw_init_options_s"][::core::mem::align_of::<rmw_init_options_s>() - 8usize];
    ["Offset of field: rmw_init_options_s::instance_id"]
        [::core::mem::offset_of!(rmw_init_options_s, instance_id) - 0usize];
    ["Offset of field: rmw_init_options_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_init_options_s, implementation_identifier) - 8usize];
    ["Offset of field: rmw_init_options_s::domain_id"]
        [::core::mem::offset_of!(rmw_init_options_s, domain_id) - 16usize];
    ["Offset of field: rmw_init_options_s::security_options"]
        [::core::mem::offset_of!(rmw_init_options_s, security_options) - 24usize];
    ["Offset of field: rmw_init_options_s::localhost_only"]
        [::core::mem::offset_of!(rmw_init_options_s, localhost_only) - 40usize];
    ["Offset of field: rmw_init_options_s::discovery_options"]
        [::core::mem::offset_of!(rmw_init_options_s, discovery_options) - 48usize];
    ["Offset of field: rmw_init_options_s::enclave"]
        [::core::mem::offset_of!(rmw_init_options_s, enclave) - 112usize];
    ["Offset of field: rmw_init_options_s::allocator"]
        [::core::mem::offset_of!(rmw_init_options_s, allocator) - 120usize];
    ["Offset of field: rmw_init_options_s::impl_"]
        [::core::mem::offset_of!(rmw_init_options_s, impl_) - 160usize];
};
pub type rmw_init_options_t = rmw_init_options_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_context_impl_s {
    _unused: [u8; 0],
}
pub type rmw_context_impl_t = rmw_context_impl_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_context_s {
    pub instance_id: u64,
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub options: rmw_init_options_t,
    pub actual_domain_id: usize,
    pub impl_: *mut rmw_context_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_context_s"][::core::mem::size_of::<rmw_context_s>() - 200usize];
    ["Alignment of rmw_context_s"][::core::mem::align_of::<rmw_context_s>() - 8usize];
    ["Offset of field: rmw_context_s::instance_id"]
        [::core::mem::offset_of!(rmw_context_s, instance_id) - 0usize];
    ["Offset of field: rmw_context_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_context_s, implementation_identifier) - 8usize];
    ["Offset of field: rmw_context_s::options"]
        [::core::mem::offset_of!(rmw_context_s, options) - 16usize];
    ["Offset of field: rmw_context_s::actual_domain_id"]
        [::core::mem::offset_of!(rmw_context_s, actual_domain_id) - 184usize];
    ["Offset of field: rmw_context_s::impl_"]
        [::core::mem::offset_of!(rmw_context_s, impl_) - 192usize];
};
pub type rmw_context_t = rmw_context_s;
pub type rmw_serialized_message_t = rcutils_uint8_array_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub type rmw_time_t = rmw_time_s;
pub type rmw_time_point_value_t = rcutils_time_point_value_t;
pub type rmw_duration_t = rcutils_duration_value_t;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_node_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub name: *const ::core::ffi::c_char,
    pub namespace_: *const ::core::ffi::c_char,
    pub context: *mut rmw_context_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_node_s"][::core::mem::size_of::<rmw_node_s>() - 40usize];
    ["Alignment of rmw_node_s"][::core::mem::align_of::<rmw_node_s>() - 8usize];
    ["Offset of field: rmw_node_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_node_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_node_s::data"][::core::mem::offset_of!(rmw_node_s, data) - 8usize];
    ["Offset of field: rmw_node_s::name"][::core::mem::offset_of!(rmw_node_s, name) - 16usize];
    ["Offset of field: rmw_node_s::namespace_"]
        [::core::mem::offset_of!(rmw_node_s, namespace_) - 24usize];
    ["Offset of field: rmw_node_s::context"]
        [::core::mem::offset_of!(rmw_node_s, context) - 32usize];
};
pub type rmw_node_t = rmw_node_s;
pub const RMW_ENDPOINT_INVALID: rmw_endpoint_type_e = 0;
pub const RMW_ENDPOINT_PUBLISHER: rmw_endpoint_type_e = 1;
pub const RMW_ENDPOINT_SUBSCRIPTION: rmw_endpoint_type_e = 2;
pub type rmw_endpoint_type_e = ::core::ffi::c_uint;
pub use self::rmw_endpoint_type_e as rmw_endpoint_type_t;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED:
    rmw_unique_network_flow_endpoints_requirement_e = 0;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED:
    rmw_unique_network_flow_endpoints_requirement_e = 1;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED:
    rmw_unique_network_flow_endpoints_requirement_e = 2;
pub const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_SYSTEM_DEFAULT:
    rmw_unique_network_flow_endpoints_requirement_e = 3;
pub type rmw_unique_network_flow_endpoints_requirement_e = ::core::ffi::c_uint;
pub use self::rmw_unique_network_flow_endpoints_requirement_e as rmw_unique_network_flow_endpoints_requirement_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
pub struct rmw_subscription_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub topic_name: *const ::core::ffi::c_char,
    pub options: rmw_subscription_options_t,
    pub can_loan_messages: bool,
    pub is_cft_enabled: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_subscription_s"][::core::mem::size_of::<rmw_subscription_s>() - 56usize];
    ["Alignment of rmw_subscription_s"][::core::mem::align_of::<rmw_subscription_s>() - 8usize];
    ["Offset of field: rmw_subscription_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_subscription_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_subscription_s::data"]
        [::core::mem::offset_of!(rmw_subscription_s, data) - 8usize];
    ["Offset of field: rmw_subscription_s::topic_name"]
        [::core::mem::offset_of!(rmw_subscription_s, topic_name) - 16usize];
    ["Offset of field: rmw_subscription_s::options"]
        [::core::mem::offset_of!(rmw_subscription_s, options) - 24usize];
    ["Offset of field: rmw_subscription_s::can_loan_messages"]
        [::core::mem::offset_of!(rmw_subscription_s, can_loan_messages) - 48usize];
    ["Offset of field: rmw_subscription_s::is_cft_enabled"]
        [::core::mem::offset_of!(rmw_subscription_s, is_cft_enabled) - 49usize];
};
pub type rmw_subscription_t = rmw_subscription_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_service_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub service_name: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_service_s"][::core::mem::size_of::<rmw_service_s>() - 24usize];
    ["Alignment of rmw_service_s"][::core::mem::align_of::<rmw_service_s>() - 8usize];
    ["Offset of field: rmw_service_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_service_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_service_s::data"][::core::mem::offset_of!(rmw_service_s, data) - 8usize];
    ["Offset of field: rmw_service_s::service_name"]
        [::core::mem::offset_of!(rmw_service_s, service_name) - 16usize];
};
pub type rmw_service_t = rmw_service_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_client_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub service_name: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_client_s"][::core::mem::size_of::<rmw_client_s>() - 24usize];
    ["Alignment of rmw_client_s"][::core::mem::align_of::<rmw_client_s>() - 8usize];
    ["Offset of field: rmw_client_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_client_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_client_s::data"][::core::mem::offset_of!(rmw_client_s, data) - 8usize];
    ["Offset of field: rmw_client_s::service_name"]
        [::core::mem::offset_of!(rmw_client_s, service_name) - 16usize];
};
pub type rmw_client_t = rmw_client_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_guard_condition_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub context: *mut rmw_context_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_guard_condition_s"][::core::mem::size_of::<rmw_guard_condition_s>() - 24usize];
    ["Alignment of rmw_guard_condition_s"]
        [::core::mem::align_of::<rmw_guard_condition_s>() - 8usize];
    ["Offset of field: rmw_guard_condition_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_guard_condition_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_guard_condition_s::data"]
        [::core::mem::offset_of!(rmw_guard_condition_s, data) - 8usize];
    ["Offset of field: rmw_guard_condition_s::context"]
        [::core::mem::offset_of!(rmw_guard_condition_s, context) - 16usize];
};
pub type rmw_guard_condition_t = rmw_guard_condition_s;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
pub struct rmw_subscriptions_s {
    pub subscriber_count: usize,
    pub subscribers: *mut *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_subscriptions_s"][::core::mem::size_of::<rmw_subscriptions_s>() - 16usize];
    ["Alignment of rmw_subscriptions_s"][::core::mem::align_of::<rmw_subscriptions_s>() - 8usize];
    ["Offset of field: rmw_subscriptions_s::subscriber_count"]
        [::core::mem::offset_of!(rmw_subscriptions_s, subscriber_count) - 0usize];
    ["Offset of field: rmw_subscriptions_s::subscribers"]
        [::core::mem::offset_of!(rmw_subscriptions_s, subscribers) - 8usize];
};
pub type rmw_subscriptions_t = rmw_subscriptions_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_services_s {
    pub service_count: usize,
    pub services: *mut *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_services_s"][::core::mem::size_of::<rmw_services_s>() - 16usize];
    ["Alignment of rmw_services_s"][::core::mem::align_of::<rmw_services_s>() - 8usize];
    ["Offset of field: rmw_services_s::service_count"]
        [::core::mem::offset_of!(rmw_services_s, service_count) - 0usize];
    ["Offset of field: rmw_services_s::services"]
        [::core::mem::offset_of!(rmw_services_s, services) - 8usize];
};
pub type rmw_services_t = rmw_services_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_clients_s {
    pub client_count: usize,
    pub clients: *mut *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_clients_s"][::core::mem::size_of::<rmw_clients_s>() - 16usize];
    ["Alignment of rmw_clients_s"][::core::mem::align_of::<rmw_clients_s>() - 8usize];
    ["Offset of field: rmw_clients_s::client_count"]
        [::core::mem::offset_of!(rmw_clients_s, client_count) - 0usize];
    ["Offset of field: rmw_clients_s::clients"]
        [::core::mem::offset_of!(rmw_clients_s, clients) - 8usize];
};
pub type rmw_clients_t = rmw_clients_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_events_s {
    pub event_count: usize,
    pub events: *mut *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_events_s"][::core::mem::size_of::<rmw_events_s>() - 16usize];
    ["Alignment of rmw_events_s"][::core::mem::align_of::<rmw_events_s>() - 8usize];
    ["Offset of field: rmw_events_s::event_count"]
        [::core::mem::offset_of!(rmw_events_s, event_count) - 0usize];
    ["Offset of field: rmw_events_s::events"]
        [::core::mem::offset_of!(rmw_events_s, events) - 8usize];
};
pub type rmw_events_t = rmw_events_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_guard_conditions_s {
    pub guard_condition_count: usize,
    pub guard_conditions: *mut *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_guard_conditions_s"][::core::mem::size_of::<rmw_guard_conditions_s>() - 16usize];
    ["Alignment of rmw_guard_conditions_s"]
        [::core::mem::align_of::<rmw_guard_conditions_s>() - 8usize];
    ["Offset of field: rmw_guard_conditions_s::guard_condition_count"]
        [::core::mem::offset_of!(rmw_guard_conditions_s, guard_condition_count) - 0usize];
    ["Offset of field: rmw_guard_conditions_s::guard_conditions"]
        [::core::mem::offset_of!(rmw_guard_conditions_s, guard_conditions) - 8usize];
};
pub type rmw_guard_conditions_t = rmw_guard_conditions_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_wait_set_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub guard_conditions: *mut rmw_guard_conditions_t,
    pub data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_wait_set_s"][::core::mem::size_of::<rmw_wait_set_s>() - 24usize];
    ["Alignment of rmw_wait_set_s"][::core::mem::align_of::<rmw_wait_set_s>() - 8usize];
    ["Offset of field: rmw_wait_set_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_wait_set_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_wait_set_s::guard_conditions"]
        [::core::mem::offset_of!(rmw_wait_set_s, guard_conditions) - 8usize];
    ["Offset of field: rmw_wait_set_s::data"]
        [::core::mem::offset_of!(rmw_wait_set_s, data) - 16usize];
};
pub type rmw_wait_set_t = rmw_wait_set_s;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub const RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT: rmw_qos_reliability_policy_e = 0;
pub const RMW_QOS_POLICY_RELIABILITY_RELIABLE: rmw_qos_reliability_policy_e = 1;
pub const RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT: rmw_qos_reliability_policy_e = 2;
pub const RMW_QOS_POLICY_RELIABILITY_UNKNOWN: rmw_qos_reliability_policy_e = 3;
pub const RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE: rmw_qos_reliability_policy_e = 4;
pub type rmw_qos_reliability_policy_e = ::core::ffi::c_uint;
pub use self::rmw_qos_reliability_policy_e as rmw_qos_reliability_policy_t;
pub const RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT: rmw_qos_history_policy_e = 0;
pub const RMW_QOS_POLICY_HISTORY_KEEP_LAST: rmw_qos_history_policy_e = 1;
pub const RMW_QOS_POLICY_HISTORY_KEEP_ALL: rmw_qos_history_policy_e = 2;
pub const RMW_QOS_POLICY_HISTORY_UNKNOWN: rmw_qos_history_policy_e = 3;
pub type rmw_qos_history_policy_e = ::core::ffi::c_uint;
pub use self::rmw_qos_history_policy_e as rmw_qos_history_policy_t;
pub const RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT: rmw_qos_durability_policy_e = 0;
pub const RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL: rmw_qos_durability_policy_e = 1;
pub const RMW_QOS_POLICY_DURABILITY_VOLATILE: rmw_qos_durability_policy_e = 2;
pub const RMW_QOS_POLICY_DURABILITY_UNKNOWN: rmw_qos_durability_policy_e = 3;
pub const RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE: rmw_qos_durability_policy_e = 4;
pub type rmw_qos_durability_policy_e = ::core::ffi::c_uint;
pub use self::rmw_qos_durability_policy_e as rmw_qos_durability_policy_t;
pub const RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT: rmw_qos_liveliness_policy_e = 0;
pub const RMW_QOS_POLICY_LIVELINESS_AUTOMATIC: rmw_qos_liveliness_policy_e = 1;
pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE: rmw_qos_liveliness_policy_e = 2;
pub const RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC: rmw_qos_liveliness_policy_e = 3;
pub const RMW_QOS_POLICY_LIVELINESS_UNKNOWN: rmw_qos_liveliness_policy_e = 4;
pub const RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE: rmw_qos_liveliness_policy_e = 5;
pub type rmw_qos_liveliness_policy_e = ::core::ffi::c_uint;
pub use self::rmw_qos_liveliness_policy_e as rmw_qos_liveliness_policy_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub const RMW_QOS_POLICY_DEPTH_SYSTEM_DEFAULT: _bindgen_ty_1 = 0;
pub type _bindgen_ty_1 = ::core::ffi::c_uint;
pub const RMW_LOG_SEVERITY_DEBUG: rmw_log_severity_t = 10;
pub const RMW_LOG_SEVERITY_INFO: rmw_log_severity_t = 20;
pub const RMW_LOG_SEVERITY_WARN: rmw_log_severity_t = 30;
pub const RMW_LOG_SEVERITY_ERROR: rmw_log_severity_t = 40;
pub const RMW_LOG_SEVERITY_FATAL: rmw_log_severity_t = 50;
pub type rmw_log_severity_t = ::core::ffi::c_uint;
pub const RMW_EVENT_LIVELINESS_CHANGED: rmw_event_type_e = 0;
pub const RMW_EVENT_REQUESTED_DEADLINE_MISSED: rmw_event_type_e = 1;
pub const RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE: rmw_event_type_e = 2;
pub const RMW_EVENT_MESSAGE_LOST: rmw_event_type_e = 3;
pub const RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE: rmw_event_type_e = 4;
pub const RMW_EVENT_SUBSCRIPTION_MATCHED: rmw_event_type_e = 5;
pub const RMW_EVENT_LIVELINESS_LOST: rmw_event_type_e = 6;
pub const RMW_EVENT_OFFERED_DEADLINE_MISSED: rmw_event_type_e = 7;
pub const RMW_EVENT_OFFERED_QOS_INCOMPATIBLE: rmw_event_type_e = 8;
pub const RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE: rmw_event_type_e = 9;
pub const RMW_EVENT_PUBLICATION_MATCHED: rmw_event_type_e = 10;
pub const RMW_EVENT_INVALID: rmw_event_type_e = 11;
pub type rmw_event_type_e = ::core::ffi::c_uint;
pub use self::rmw_event_type_e as rmw_event_type_t;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_event_s {
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub data: *mut ::core::ffi::c_void,
    pub event_type: rmw_event_type_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_event_s"][::core::mem::size_of::<rmw_event_s>() - 24usize];
    ["Alignment of rmw_event_s"][::core::mem::align_of::<rmw_event_s>() - 8usize];
    ["Offset of field: rmw_event_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_event_s, implementation_identifier) - 0usize];
    ["Offset of field: rmw_event_s::data"][::core::mem::offset_of!(rmw_event_s, data) - 8usize];
    ["Offset of field: rmw_event_s::event_type"]
        [::core::mem::offset_of!(rmw_event_s, event_type) - 16usize];
};
pub type rmw_event_t = rmw_event_s;
pub const RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER: rmw_feature_e = 0;
pub const RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER: rmw_feature_e = 1;
pub const RMW_MIDDLEWARE_SUPPORTS_TYPE_DISCOVERY: rmw_feature_e = 2;
pub const RMW_MIDDLEWARE_CAN_TAKE_DYNAMIC_MESSAGE: rmw_feature_e = 3;
pub type rmw_feature_e = ::core::ffi::c_uint;
pub use self::rmw_feature_e as rmw_feature_t;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub type rmw_event_callback_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *const ::core::ffi::c_void, number_of_events: usize),
>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_message_sequence_s {
    pub data: *mut *mut ::core::ffi::c_void,
    pub size: usize,
    pub capacity: usize,
    pub allocator: *mut rcutils_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_message_sequence_s"][::core::mem::size_of::<rmw_message_sequence_s>() - 32usize];
    ["Alignment of rmw_message_sequence_s"]
        [::core::mem::align_of::<rmw_message_sequence_s>() - 8usize];
    ["Offset of field: rmw_message_sequence_s::data"]
        [::core::mem::offset_of!(rmw_message_sequence_s, data) - 0usize];
    ["Offset of field: rmw_message_sequence_s::size"]
        [::core::mem::offset_of!(rmw_message_sequence_s, size) - 8usize];
    ["Offset of field: rmw_message_sequence_s::capacity"]
        [::core::mem::offset_of!(rmw_message_sequence_s, capacity) - 16usize];
    ["Offset of field: rmw_message_sequence_s::allocator"]
        [::core::mem::offset_of!(rmw_message_sequence_s, allocator) - 24usize];
};
pub type rmw_message_sequence_t = rmw_message_sequence_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rmw_message_info_sequence_s {
    pub data: *mut rmw_message_info_t,
    pub size: usize,
    pub capacity: usize,
    pub allocator: *mut rcutils_allocator_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_message_info_sequence_s"]
        [::core::mem::size_of::<rmw_message_info_sequence_s>() - 32usize];
    ["Alignment of rmw_message_info_sequence_s"]
        [::core::mem::align_of::<rmw_message_info_sequence_s>() - 8usize];
    ["Offset of field: rmw_message_info_sequence_s::data"]
        [::core::mem::offset_of!(rmw_message_info_sequence_s, data) - 0usize];
    ["Offset of field: rmw_message_info_sequence_s::size"]
        [::core::mem::offset_of!(rmw_message_info_sequence_s, size) - 8usize];
    ["Offset of field: rmw_message_info_sequence_s::capacity"]
        [::core::mem::offset_of!(rmw_message_info_sequence_s, capacity) - 16usize];
    ["Offset of field: rmw_message_info_sequence_s::allocator"]
        [::core::mem::offset_of!(rmw_message_info_sequence_s, allocator) - 24usize];
};
pub type rmw_message_info_sequence_t = rmw_message_info_sequence_s;
pub const RMW_QOS_COMPATIBILITY_OK: rmw_qos_compatibility_type_e = 0;
pub const RMW_QOS_COMPATIBILITY_WARNING: rmw_qos_compatibility_type_e = 1;
pub const RMW_QOS_COMPATIBILITY_ERROR: rmw_qos_compatibility_type_e = 2;
pub type rmw_qos_compatibility_type_e = ::core::ffi::c_uint;
pub use self::rmw_qos_compatibility_type_e as rmw_qos_compatibility_type_t;
pub const ROSIDL_RUNTIME_C_MSG_INIT_ALL: rosidl_runtime_c__message_initialization = 0;
pub const ROSIDL_RUNTIME_C_MSG_INIT_SKIP: rosidl_runtime_c__message_initialization = 1;
pub const ROSIDL_RUNTIME_C_MSG_INIT_ZERO: rosidl_runtime_c__message_initialization = 2;
pub const ROSIDL_RUNTIME_C_MSG_INIT_DEFAULTS_ONLY: rosidl_runtime_c__message_initialization = 3;
pub type rosidl_runtime_c__message_initialization = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
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
#[derive(Copy, Clone)]
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
pub type rosidl_typesupport_introspection_c__MessageMembers =
    rosidl_typesupport_introspection_c__MessageMembers_s;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rosidl_typesupport_introspection_c__ServiceMembers_s {
    pub service_namespace_: *const ::core::ffi::c_char,
    pub service_name_: *const ::core::ffi::c_char,
    pub request_members_: *const rosidl_typesupport_introspection_c__MessageMembers,
    pub response_members_: *const rosidl_typesupport_introspection_c__MessageMembers,
    pub event_members_: *const rosidl_typesupport_introspection_c__MessageMembers,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rosidl_typesupport_introspection_c__ServiceMembers_s"]
        [::core::mem::size_of::<rosidl_typesupport_introspection_c__ServiceMembers_s>() - 40usize];
    ["Alignment of rosidl_typesupport_introspection_c__ServiceMembers_s"]
        [::core::mem::align_of::<rosidl_typesupport_introspection_c__ServiceMembers_s>() - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__ServiceMembers_s::service_namespace_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__ServiceMembers_s,
        service_namespace_
    )
        - 0usize];
    ["Offset of field: rosidl_typesupport_introspection_c__ServiceMembers_s::service_name_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__ServiceMembers_s,
        service_name_
    )
        - 8usize];
    ["Offset of field: rosidl_typesupport_introspection_c__ServiceMembers_s::request_members_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__ServiceMembers_s,
        request_members_
    )
        - 16usize];
    ["Offset of field: rosidl_typesupport_introspection_c__ServiceMembers_s::response_members_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__ServiceMembers_s,
        response_members_
    )
        - 24usize];
    ["Offset of field: rosidl_typesupport_introspection_c__ServiceMembers_s::event_members_"][::core::mem::offset_of!(
        rosidl_typesupport_introspection_c__ServiceMembers_s,
        event_members_
    )
        - 32usize];
};
pub type rosidl_typesupport_introspection_c__ServiceMembers =
    rosidl_typesupport_introspection_c__ServiceMembers_s;
