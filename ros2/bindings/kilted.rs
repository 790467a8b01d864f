// Generated from the headers of ROS 2 kilted by scripts/rcl-bindings; do not edit.
// Copyright of the headers: Open Source Robotics Foundation, Inc. Licensed under the Apache License, Version 2.0.
#[repr(C)]
pub struct rmw_init_options_s {
    pub instance_id: u64,
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub domain_id: usize,
    pub security_options: rmw_security_options_t,
    pub discovery_options: rmw_discovery_options_t,
    pub enclave: *mut ::core::ffi::c_char,
    pub allocator: rcutils_allocator_t,
    pub impl_: *mut rmw_init_options_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_init_options_s"][::core::mem::size_of::<rmw_init_options_s>() - 160usize];
    ["Alignment of rmw_init_options_s"][::core::mem::align_of::<rmw_init_options_s>() - 8usize];
    ["Offset of field: rmw_init_options_s::instance_id"]
        [::core::mem::offset_of!(rmw_init_options_s, instance_id) - 0usize];
    ["Offset of field: rmw_init_options_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_init_options_s, implementation_identifier) - 8usize];
    ["Offset of field: rmw_init_options_s::domain_id"]
        [::core::mem::offset_of!(rmw_init_options_s, domain_id) - 16usize];
    ["Offset of field: rmw_init_options_s::security_options"]
        [::core::mem::offset_of!(rmw_init_options_s, security_options) - 24usize];
    ["Offset of field: rmw_init_options_s::discovery_options"]
        [::core::mem::offset_of!(rmw_init_options_s, discovery_options) - 40usize];
    ["Offset of field: rmw_init_options_s::enclave"]
        [::core::mem::offset_of!(rmw_init_options_s, enclave) - 104usize];
    ["Offset of field: rmw_init_options_s::allocator"]
        [::core::mem::offset_of!(rmw_init_options_s, allocator) - 112usize];
    ["Offset of field: rmw_init_options_s::impl_"]
        [::core::mem::offset_of!(rmw_init_options_s, impl_) - 152usize];
};
pub type rmw_init_options_t = rmw_init_options_s;
#[repr(C)]
pub struct rmw_context_s {
    pub instance_id: u64,
    pub implementation_identifier: *const ::core::ffi::c_char,
    pub options: rmw_init_options_t,
    pub actual_domain_id: usize,
    pub impl_: *mut rmw_context_impl_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of rmw_context_s"][::core::mem::size_of::<rmw_context_s>() - 192usize];
    ["Alignment of rmw_context_s"][::core::mem::align_of::<rmw_context_s>() - 8usize];
    ["Offset of field: rmw_context_s::instance_id"]
        [::core::mem::offset_of!(rmw_context_s, instance_id) - 0usize];
    ["Offset of field: rmw_context_s::implementation_identifier"]
        [::core::mem::offset_of!(rmw_context_s, implementation_identifier) - 8usize];
    ["Offset of field: rmw_context_s::options"]
        [::core::mem::offset_of!(rmw_context_s, options) - 16usize];
    ["Offset of field: rmw_context_s::actual_domain_id"]
        [::core::mem::offset_of!(rmw_context_s, actual_domain_id) - 176usize];
    ["Offset of field: rmw_context_s::impl_"]
        [::core::mem::offset_of!(rmw_context_s, impl_) - 184usize];
};
pub type rmw_context_t = rmw_context_s;
