//! Messages as bytes: rcl's buffers for them.

use super::entity::Entity;
use super::error::check;
use super::ffi;
use ringspin_executor::Error;

/// A buffer that rcl fills and that grows as it needs.
pub(super) struct Buffer(ffi::rcl_serialized_message_t);

// SAFETY: the buffer is separate memory without ties to a thread.
unsafe impl Send for Buffer {}

impl Buffer {
    pub(super) fn new(entity: &Entity) -> Result<Self, Error> {
        // SAFETY: makes an empty value, and initializes it with an allocator that is always there.
        unsafe {
            let mut array = ffi::rcutils_get_zero_initialized_uint8_array();
            let allocator = ffi::rcutils_get_default_allocator();
            let code = ffi::rcutils_uint8_array_init(&mut array, 0, &allocator);
            check(code, "make a buffer for", entity)?;
            Ok(Self(array))
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut ffi::rcl_serialized_message_t {
        &mut self.0
    }

    pub(super) fn capacity(&self) -> usize {
        self.0.buffer_capacity
    }

    /// Sets all bytes to zero; returns the capacity.
    pub(super) fn zero(&mut self) -> usize {
        if !self.0.buffer.is_null() {
            // SAFETY: the buffer has so many bytes, and `self` is borrowed exclusively.
            unsafe { self.0.buffer.write_bytes(0, self.0.buffer_capacity) };
        }
        self.0.buffer_capacity
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self.0.buffer.is_null() {
            true => &[],
            // SAFETY: rcl has filled so many bytes of the buffer, and `self` is borrowed.
            false => unsafe { std::slice::from_raw_parts(self.0.buffer, self.0.buffer_length) },
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was initialized, and this is its only owner.
        unsafe { ffi::rcutils_uint8_array_fini(&mut self.0) };
    }
}

/// Wraps `bytes` for a publication, which only reads them although the C type is mutable.
pub(super) fn borrowed(bytes: &[u8]) -> ffi::rcl_serialized_message_t {
    ffi::rcl_serialized_message_t {
        buffer: bytes.as_ptr().cast_mut(),
        buffer_length: bytes.len(),
        buffer_capacity: bytes.len(),
        // SAFETY: returns a value of function pointers that are always there.
        allocator: unsafe { ffi::rcutils_get_default_allocator() },
    }
}
