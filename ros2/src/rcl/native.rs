//! The C struct of a message, of any type: services of rcl take and give one. Its content is
//! written and read as CDR bytes.

use super::entity::Entity;
use super::error::{check, failure};
use super::ffi::{self as ffi, rosidl_message_type_support_t};
use super::serialized::{Buffer, borrowed};
use super::type_support::{Members, by_name, members_of};
use ringspin_executor::{Error, ErrorKind};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The alignment of each struct: that of the widest C type, as of `malloc`.
const ALIGNMENT: usize = 16;

static LIVE: Mutex<usize> = Mutex::new(0);

/// How many C structs of messages this process holds. It does not grow while requests flow: a
/// service and a client have two each, and use them again. Topics need none.
pub fn live_messages() -> usize {
    *LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_live(change: isize) {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    *live = live.wrapping_add_signed(change);
}

/// A C struct of a message, which is used again and again.
pub(super) struct Native {
    memory: NonNull<c_void>,
    layout: Layout,
    members: &'static Members,
    support: &'static rosidl_message_type_support_t,
    serialized: Buffer,
}

// SAFETY: the C struct is separate memory without ties to a thread, and its type description
// consists of statics that do not change.
unsafe impl Send for Native {}

impl Native {
    /// A struct of the type of `support`, with its default values.
    pub(super) fn new(
        support: &'static rosidl_message_type_support_t,
        entity: &Entity,
    ) -> Result<Self, Error> {
        let no_memory = || failure(ffi::RCL_RET_BAD_ALLOC as i32, "create a message for", entity);
        let serialized = Buffer::new(entity)?;
        let members = members_of(support);
        let (members, initialize) = members
            .and_then(|members| Some((members, members.init_function?)))
            .ok_or_else(|| {
                let text = format!(
                    "the type of {} has no description in C (rosidl_typesupport_introspection_c); \
                     install the package of the type as a whole",
                    entity.text()
                );
                Error::new(ErrorKind::NotFound, text)
            })?;
        let layout = Layout::from_size_align(members.size_of_.max(1), ALIGNMENT);
        let layout = layout.map_err(|_| no_memory())?;
        // SAFETY: the layout has a size.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }.cast::<c_void>());
        let memory = memory.ok_or_else(no_memory)?;
        // SAFETY: there is room for the struct that the description is of.
        unsafe {
            initialize(
                memory.as_ptr(),
                ffi::rosidl_runtime_c__message_initialization::ROSIDL_RUNTIME_C_MSG_INIT_ALL,
            );
        }
        count_live(1);
        Ok(Self { memory, layout, members, support, serialized })
    }

    /// The structs of the request and the response of the service type `type_name`.
    pub(super) fn of_service(type_name: &str, entity: &Entity) -> Result<[Mutex<Self>; 2], Error> {
        let part = |part| {
            let support = by_name(&format!("{type_name}_{part}"))?;
            Self::new(support, entity).map(Mutex::new)
        };
        Ok([part("Request")?, part("Response")?])
    }

    /// A struct of the same type, with its default values.
    pub(super) fn another(&self, entity: &Entity) -> Result<Self, Error> {
        Self::new(self.support, entity)
    }

    /// Replaces its content by the message in `bytes`. On an error it is some other message.
    pub(super) fn write(&mut self, bytes: &[u8], entity: &Entity) -> Result<(), Error> {
        // SAFETY: the struct is of this type support, initialized, and borrowed exclusively; the
        // bytes are only read, during the call.
        let code = unsafe { ffi::rmw_deserialize(&borrowed(bytes), self.support, self.as_ptr()) };
        check(code, "convert a message of", entity)
    }

    /// The serialization of its content. The bytes stay until the next call.
    ///
    /// rmw skips padding, and may report more bytes than it writes: those are zero, not the former
    /// content of the buffer.
    pub(super) fn read(&mut self, entity: &Entity) -> Result<&[u8], Error> {
        loop {
            let capacity = self.serialized.zero();
            // SAFETY: the struct is of this type support and initialized; struct and buffer are
            // borrowed exclusively.
            let code = unsafe {
                ffi::rmw_serialize(self.as_ptr(), self.support, self.serialized.as_mut_ptr())
            };
            check(code, "convert a message of", entity)?;
            if self.serialized.capacity() <= capacity {
                return Ok(self.serialized.bytes());
            }
            // The buffer has grown by memory that was not zero.
        }
    }

    /// Where rcl reads or writes the message.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.memory.as_ptr()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: the struct is initialized, its memory is of this layout, and this is its only
        // owner.
        unsafe {
            if let Some(finish) = self.members.fini_function {
                finish(self.as_ptr());
            }
            dealloc(self.memory.as_ptr().cast(), self.layout);
        }
        count_live(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_messages::rcl_interfaces::msg::ParameterDescriptor as Descriptor;
    use ringspin_messages::{RosMessage, cdr, std_srvs::srv::SetBool::Response};

    /// Structs are counted for the whole process.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn a_struct_is_used_again_and_freed_once() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let entity = Entity::plain("the test");
        let support = by_name::<rosidl_message_type_support_t>("std_srvs/srv/SetBool_Response");
        let before = live_messages();
        let mut native = Native::new(support.unwrap(), &entity).unwrap();
        assert_eq!(live_messages(), before + 1);
        let initial = cdr::from_bytes::<Response>(native.read(&entity).unwrap()).unwrap();
        assert_eq!(initial, Response::default());
        for text in ["", "short", "longer than a string that fits where its pointer is"] {
            let response = Response { success: true, message: text.into() };
            native.write(&cdr::to_bytes(&response).unwrap(), &entity).unwrap();
            let bytes = native.read(&entity).unwrap();
            assert_eq!(cdr::from_bytes::<Response>(bytes).unwrap(), response);
        }
        let error = native.write(&[0, 1, 0, 0, 1], &entity).unwrap_err().to_string();
        assert!(error.contains("the test"), "{error}");
        native.write(&cdr::to_bytes(&initial).unwrap(), &entity).unwrap();
        assert_eq!(live_messages(), before + 1);
        drop(native);
        assert_eq!(live_messages(), before);
    }

    #[test]
    fn bytes_that_are_no_content_are_zero() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let entity = Entity::plain("the test");
        let support = by_name::<rosidl_message_type_support_t>(Descriptor::TYPE_NAME).unwrap();
        // It has padding behind its first string, at a place that depends on that string.
        let mut native = Native::new(support, &entity).unwrap();
        for length in [1000, 200, 3, 2, 1, 0, 2000, 0] {
            let name = "x".repeat(length);
            let message = Descriptor { name, type_: 2, ..Descriptor::default() };
            let bytes = cdr::to_bytes(&message).unwrap();
            native.write(&bytes, &entity).unwrap();
            let read = native.read(&entity).unwrap();
            let (content, rest) = read.split_at(bytes.len());
            assert_eq!(content, bytes, "{length}");
            assert!(rest.iter().all(|byte| *byte == 0), "{length}: {rest:?}");
        }
    }
}
