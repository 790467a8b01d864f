//! Arguments and errors of the C functions.
//!
//! A C function here takes its pointers as `Option<&T>`, which has the same form, so only the
//! casts between C's `void *` and our objects are unsafe, and most of them are in this file. The
//! contract of `rmw.h` stands behind them: a pointer is null, or points to a live object of its
//! type, and an object with this middleware's identifier was made here. A failure is a code and a
//! text, which the client library gets from `rcutils`.

use crate::bindings::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

const NAME: &CStr = c"rmw_ringspin";

/// The identifier of this middleware in all of its objects.
pub(crate) fn identifier() -> *const c_char {
    NAME.as_ptr()
}

/// A code of `rmw`, and a text for people.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) u32, pub(crate) String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(RMW_RET_ERROR, text.into())
    }

    fn null(what: &str) -> Self {
        Self(RMW_RET_INVALID_ARGUMENT, format!("{what} is null"))
    }
}

/// The code of a function; its failure's text goes to `rcutils`.
pub(crate) fn code(result: Result<(), Failure>) -> rmw_ret_t {
    match result {
        Ok(()) => RMW_RET_OK as rmw_ret_t,
        Err(Failure(code, text)) => {
            set_error(&text);
            code as rmw_ret_t
        }
    }
}

/// The pointer of a function that creates an object.
pub(crate) fn pointer<T>(result: Result<T, Failure>) -> *mut T {
    match result {
        Ok(object) => Box::into_raw(Box::new(object)),
        Err(Failure(_, text)) => {
            set_error(&text);
            null_mut()
        }
    }
}

/// Sets the error of the calling thread in `rcutils`, which the process has loaded with `rcl`.
fn set_error(text: &str) {
    type Set = unsafe extern "C" fn(*const c_char, *const c_char, usize);
    static SET: OnceLock<Option<Set>> = OnceLock::new();
    let set = SET.get_or_init(|| {
        // SAFETY: names that end with a zero; a library that is loaded already.
        unsafe {
            let library =
                libc::dlopen(c"librcutils.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let library = if library.is_null() { libc::RTLD_DEFAULT } else { library };
            let function = libc::dlsym(library, c"rcutils_set_error_state".as_ptr());
            // SAFETY: the function of this name has this type.
            (!function.is_null()).then(|| std::mem::transmute::<*mut c_void, Set>(function))
        }
    });
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    match set {
        // SAFETY: texts that end with a zero, which the function copies.
        Some(set) => unsafe { set(text.as_ptr(), NAME.as_ptr(), 0) },
        None => eprintln!("ringspin: {}", text.to_string_lossy()),
    }
}

/// An argument that must not be null.
pub(crate) fn given<T>(argument: Option<T>, what: &str) -> Result<T, Failure> {
    argument.ok_or_else(|| Failure::null(what))
}

/// A text of C; empty if it is null.
pub(crate) fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, so it ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A name that must not be null.
pub(crate) fn name(name: *const c_char, what: &str) -> Result<CString, Failure> {
    if name.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: not null, so it ends with a zero.
    Ok(unsafe { CStr::from_ptr(name) }.to_owned())
}

/// An object of C that this or another middleware has made.
pub(crate) trait Object {
    /// The name of its kind.
    const WHAT: &str;
    fn made_by(&self) -> *const c_char;
}

/// An object with an endpoint as its `data`.
pub(crate) trait HasEndpoint: Object {
    fn data(&self) -> *mut c_void;
}

macro_rules! objects {
    ($($type:ident $what:literal $(, $with:ident)?;)*) => {$(
        impl Object for $type {
            const WHAT: &str = $what;
            fn made_by(&self) -> *const c_char {
                self.implementation_identifier
            }
        }
        $(impl $with for $type {
            fn data(&self) -> *mut c_void {
                self.data
            }
        })?
    )*};
}
objects! {
    rmw_publisher_t "the publisher", HasEndpoint;
    rmw_subscription_t "the subscription", HasEndpoint;
    rmw_client_t "the client", HasEndpoint;
    rmw_service_t "the service", HasEndpoint;
    rmw_event_t "the event", HasEndpoint;
    rmw_node_t "the node";
    rmw_guard_condition_t "the guard condition";
    rmw_wait_set_t "the wait set";
    rmw_context_t "the context";
    rmw_init_options_t "the options";
}

/// An object that this middleware has made.
pub(crate) fn own<T: Object>(object: Option<&T>) -> Result<&T, Failure> {
    let object = given(object, T::WHAT)?;
    if object.made_by() != identifier() {
        let text = format!("{} is of the middleware {:?}", T::WHAT, self::text(object.made_by()));
        return Err(Failure(RMW_RET_INCORRECT_RMW_IMPLEMENTATION, text));
    }
    Ok(object)
}

/// The data of a new object.
pub(crate) fn to_data<T>(data: T) -> *mut c_void {
    Box::into_raw(Box::new(data)).cast()
}

/// Takes back an object and its data.
///
/// # Safety
/// The object was made by [`pointer`] and its data by [`to_data`], as this type. Nothing uses them
/// any more.
pub(crate) unsafe fn take_back<T: Object, D>(object: *mut T, data: *mut c_void) -> D {
    // SAFETY: the caller's promise.
    unsafe {
        drop(Box::from_raw(object));
        *Box::from_raw(data.cast::<D>())
    }
}

/// Allocates `count` zeroed values by an allocator of C; null for none.
pub(crate) fn allocate<T>(
    allocator: &rcutils_allocator_t,
    count: usize,
) -> Result<*mut T, Failure> {
    let allocate = given(allocator.zero_allocate, "a function of the allocator")?;
    if count == 0 {
        return Ok(null_mut());
    }
    // SAFETY: a function of an allocator, with its state.
    let values = unsafe { allocate(count, size_of::<T>(), allocator.state) };
    match values.is_null() {
        true => Err(Failure(RMW_RET_BAD_ALLOC, format!("no memory for {count} values"))),
        false => Ok(values.cast()),
    }
}

/// A copy of a text by an allocator of C.
pub(crate) fn copy(allocator: &rcutils_allocator_t, text: &str) -> Result<*mut c_char, Failure> {
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    let copy: *mut u8 = allocate(allocator, bytes.len() + 1)?;
    // SAFETY: as many bytes, and a zero after them, which is there already.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    Ok(copy.cast())
}

/// Gives memory back to an allocator of C.
pub(crate) fn free<T>(allocator: &rcutils_allocator_t, memory: *mut T) {
    if let (Some(deallocate), false) = (allocator.deallocate, memory.is_null()) {
        // SAFETY: memory of this allocator, which nothing uses any more.
        unsafe { deallocate(memory.cast(), allocator.state) };
    }
}

/// The values of an array of C.
///
/// # Safety
/// `values` points to so many values, which nothing else changes; it may be null for none.
pub(crate) unsafe fn array<'a, T>(values: *mut T, count: usize) -> &'a mut [T] {
    match values.is_null() {
        true => &mut [],
        // SAFETY: the caller's promise.
        false => unsafe { std::slice::from_raw_parts_mut(values, count) },
    }
}
