//! Messages as CDR (little-endian, first version), written and read by the tables of their types.
//!
//! A C message is a struct with `rosidl_runtime_c` strings and sequences, a C++ message one with
//! `std::string` and `std::vector`; both are reached by address and offset. All addresses come from
//! the tables, and the client library promises that a message is one of the type of its endpoint.
//! Bytes may be anything: a reading that would pass their end is an error, and so is a sequence
//! with more elements than bytes are left, before memory is asked for.

use crate::ffi::Failure;
use crate::types::{Member, Type};
use std::ffi::{CStr, c_void};
use std::mem::size_of;

/// The sequences of C.
#[repr(C)]
struct Sequence {
    data: *mut u8,
    size: usize,
    capacity: usize,
}

/// `std::string` of libstdc++: its characters are at `data`, perhaps in `own`.
#[repr(C)]
struct CppString {
    data: *mut u8,
    size: usize,
    own: [usize; 2],
}

const BOOLEAN: u8 = 6;
const STRING: u8 = 16;
const WIDE_STRING: u8 = 17;
const MESSAGE: u8 = 18;

/// The size of a value of a primitive type, which is also its alignment.
fn primitive(kind: u8) -> Option<usize> {
    Some(match kind {
        4 | 6..=9 => 1,
        10 | 11 => 2,
        1 | 12 | 13 => 4,
        2 | 14 | 15 => 8,
        _ => return None,
    })
}

/// The distance of the elements of an array.
fn stride(of: Type, member: &Member) -> Result<usize, Failure> {
    Ok(match member.type_id_ {
        STRING | WIDE_STRING if of.is_cpp => size_of::<CppString>(),
        STRING | WIDE_STRING => size_of::<Sequence>(),
        MESSAGE => of.of_member(member)?.table.size_of_,
        kind => primitive(kind).ok_or_else(|| unsupported(of, member))?,
    })
}

fn unsupported(of: Type, member: &Member) -> Failure {
    let (name, kind) = (crate::ffi::text(member.name_), member.type_id_);
    Failure::new(format!(
        "field `{name}` of {of:?} has a type (number {kind}) that is not supported"
    ))
}

fn no_function(of: Type) -> Failure {
    Failure::new(format!("the table of {of:?} lacks a function for a sequence"))
}

fn is_sequence(member: &Member) -> bool {
    member.array_size_ == 0 || member.is_upper_bound_
}

/// A direction: into bytes, which only reads the message, or out of them.
trait Codec {
    /// A sequence.
    ///
    /// # Safety
    /// The sequence of this field is at `at`.
    unsafe fn sequence(&mut self, of: Type, member: &Member, at: *mut u8) -> Result<(), Failure>;

    /// So many values, one after the other.
    ///
    /// # Safety
    /// So many values of this field are at `at`.
    unsafe fn values(
        &mut self,
        of: Type,
        member: &Member,
        at: *mut u8,
        count: usize,
    ) -> Result<(), Failure>;

    /// All fields of a message.
    ///
    /// # Safety
    /// A message of this type is at `at`.
    unsafe fn message(&mut self, of: Type, at: *mut u8) -> Result<(), Failure> {
        for member in of.members() {
            // SAFETY: the field is there; the caller's promise.
            unsafe {
                let at = at.add(member.offset_ as usize);
                if !member.is_array_ {
                    self.values(of, member, at, 1)?;
                } else if is_sequence(member) {
                    self.sequence(of, member, at)?;
                } else {
                    self.values(of, member, at, member.array_size_)?;
                }
            }
        }
        Ok(())
    }
}

/// A message as bytes, with the four bytes of the encoding before it.
///
/// # Safety
/// `message` is a message of this type.
pub(crate) unsafe fn write(of: Type, message: *const c_void) -> Result<Vec<u8>, Failure> {
    if message.is_null() {
        return Err(Failure::new("the message is null"));
    }
    let mut target = Target(vec![0, 1, 0, 0]);
    // SAFETY: the caller's promise.
    unsafe { target.message(of, message.cast_mut().cast())? };
    Ok(target.0)
}

struct Target(Vec<u8>);

impl Target {
    fn align(&mut self, to: usize) {
        let length = (self.0.len() - 4).next_multiple_of(to) + 4;
        self.0.resize(length, 0);
    }

    fn count(&mut self, count: usize) -> Result<(), Failure> {
        let short = u32::try_from(count);
        self.align(4);
        let short = short.map_err(|_| Failure::new(format!("{count} elements are too many")))?;
        self.0.extend(short.to_le_bytes());
        Ok(())
    }
}

impl Codec for Target {
    unsafe fn sequence(&mut self, of: Type, member: &Member, at: *mut u8) -> Result<(), Failure> {
        // SAFETY: the functions of the table are for this sequence; the caller's promise.
        unsafe {
            if !of.is_cpp {
                let sequence = &*at.cast::<Sequence>();
                self.count(sequence.size)?;
                return self.values(of, member, sequence.data, sequence.size);
            }
            let size = member.size_function.ok_or_else(|| no_function(of))?;
            let count = size(at.cast());
            self.count(count)?;
            if member.type_id_ == BOOLEAN {
                // `std::vector<bool>` has no elements with an address.
                let fetch = member.fetch_function.ok_or_else(|| no_function(of))?;
                for index in 0..count {
                    let mut bit = 0u8;
                    fetch(at.cast(), index, (&raw mut bit).cast());
                    self.0.push(bit);
                }
            } else if count > 0 {
                let get = member.get_const_function.ok_or_else(|| no_function(of))?;
                self.values(of, member, get(at.cast(), 0).cast_mut().cast(), count)?;
            }
            Ok(())
        }
    }

    unsafe fn values(
        &mut self,
        of: Type,
        member: &Member,
        at: *mut u8,
        count: usize,
    ) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let stride = stride(of, member)?;
        if let Some(size) = primitive(member.type_id_) {
            self.align(size);
            // SAFETY: the caller's promise.
            let bytes = unsafe { std::slice::from_raw_parts(at, count * size) };
            self.0.extend_from_slice(bytes);
            return Ok(());
        }
        for index in 0..count {
            // SAFETY: the caller's promise. The strings of both languages begin with a pointer and
            // a size.
            unsafe {
                let at = at.add(index * stride);
                let string = || (*at.cast::<*const u8>(), *at.cast::<usize>().add(1));
                match member.type_id_ {
                    MESSAGE => self.message(of.of_member(member)?, at)?,
                    STRING => {
                        let (data, size) = string();
                        self.count(size + 1)?;
                        if size > 0 {
                            self.0.extend_from_slice(std::slice::from_raw_parts(data, size));
                        }
                        self.0.push(0);
                    }
                    _ => {
                        let (data, size) = string();
                        self.count(size)?;
                        // Fast CDR takes four bytes for each unit of 16 bits.
                        for unit in 0..size {
                            let unit = *data.cast::<u16>().add(unit);
                            self.0.extend(u32::from(unit).to_le_bytes());
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads bytes into a message.
///
/// # Safety
/// `message` is a message of this type, which nothing else uses.
pub(crate) unsafe fn read(of: Type, bytes: &[u8], message: *mut c_void) -> Result<(), Failure> {
    if message.is_null() {
        return Err(Failure::new("the message is null"));
    }
    let ([_, 1, _, _], Some(bytes)) = (bytes.first_chunk().unwrap_or(&[0; 4]), bytes.get(4..))
    else {
        let start = &bytes[..bytes.len().min(4)];
        return Err(Failure::new(format!("a {of:?} begins with {start:?}: not little-endian CDR")));
    };
    let mut source = Source { bytes, at: 0 };
    // SAFETY: the caller's promise.
    unsafe { source.message(of, message.cast()) }
}

struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Source<'a> {
    fn take(&mut self, count: usize, align: usize) -> Result<&'a [u8], Failure> {
        let start = self.at.next_multiple_of(align);
        let taken = start.checked_add(count).and_then(|end| self.bytes.get(start..end));
        let taken = taken.ok_or_else(|| {
            Failure::new(format!("{} bytes end within a value at {start}", self.bytes.len()))
        })?;
        self.at = start + count;
        Ok(taken)
    }

    fn count(&mut self) -> Result<usize, Failure> {
        let bytes = self.take(4, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    }

    /// # Safety
    /// A string of this field is at `at`.
    unsafe fn string(&mut self, of: Type, member: &Member, at: *mut u8) -> Result<(), Failure> {
        let count = self.count()?;
        let is_wide = member.type_id_ == WIDE_STRING;
        let bytes = self.take(if is_wide { count.saturating_mul(4) } else { count }, 1)?;
        let text: Vec<u8> = match is_wide {
            true => bytes.chunks_exact(4).flat_map(|unit| [unit[0], unit[1]]).collect(),
            false => bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec(),
        };
        let unit = if is_wide { 2 } else { 1 };
        let units = text.len() / unit;
        if member.string_upper_bound_ > 0 && units > member.string_upper_bound_ {
            let name = crate::ffi::text(member.name_);
            return Err(Failure::new(format!("`{name}` of {of:?} has {units} characters")));
        }
        // SAFETY: the caller's promise.
        unsafe {
            match of.is_cpp {
                false => assign_c(at.cast(), &text, unit),
                true => assign_cpp(at.cast(), &text, unit),
            }
        }
    }
}

impl Codec for Source<'_> {
    unsafe fn sequence(&mut self, of: Type, member: &Member, at: *mut u8) -> Result<(), Failure> {
        let count = self.count()?;
        let left = self.bytes.len().saturating_sub(self.at);
        let bound = if member.is_upper_bound_ { member.array_size_ } else { usize::MAX };
        if count > left || count > bound {
            let name = crate::ffi::text(member.name_);
            let text = format!("`{name}` of {of:?} has {count} elements in {left} bytes");
            return Err(Failure::new(text));
        }
        let resize = member.resize_function.ok_or_else(|| no_function(of))?;
        // SAFETY: the functions of the table are for this sequence; the caller's promise.
        unsafe {
            resize(at.cast(), count);
            if !of.is_cpp {
                let sequence = &*at.cast::<Sequence>();
                if sequence.size != count {
                    return Err(Failure::new(format!("no memory for {count} elements")));
                }
                return self.values(of, member, sequence.data, count);
            }
            if member.type_id_ == BOOLEAN {
                let assign = member.assign_function.ok_or_else(|| no_function(of))?;
                for (index, byte) in self.take(count, 1)?.iter().enumerate() {
                    let bit = u8::from(*byte != 0);
                    assign(at.cast(), index, (&raw const bit).cast());
                }
            } else if count > 0 {
                let get = member.get_function.ok_or_else(|| no_function(of))?;
                self.values(of, member, get(at.cast(), 0).cast(), count)?;
            }
            Ok(())
        }
    }

    unsafe fn values(
        &mut self,
        of: Type,
        member: &Member,
        at: *mut u8,
        count: usize,
    ) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let stride = stride(of, member)?;
        if let Some(size) = primitive(member.type_id_) {
            let taken = self.take(count.saturating_mul(size), size)?;
            // SAFETY: as many bytes as the values have; the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(taken.as_ptr(), at, taken.len()) };
            if member.type_id_ == BOOLEAN {
                // SAFETY: the bytes of `bool`s: another value than 0 and 1 is none.
                let bits = unsafe { std::slice::from_raw_parts_mut(at, count) };
                bits.iter_mut().for_each(|bit| *bit = u8::from(*bit != 0));
            }
            return Ok(());
        }
        for index in 0..count {
            // SAFETY: the caller's promise.
            unsafe {
                let at = at.add(index * stride);
                if member.type_id_ == MESSAGE {
                    self.message(of.of_member(member)?, at)?;
                } else {
                    self.string(of, member, at)?;
                }
            }
        }
        Ok(())
    }
}

/// Assigns to a string of `rosidl_runtime_c`, with memory of `malloc` as its own.
///
/// # Safety
/// A string with units of so many bytes is there.
unsafe fn assign_c(string: *mut Sequence, text: &[u8], unit: usize) -> Result<(), Failure> {
    // SAFETY: the caller's promise; one more unit than the text has is allocated.
    unsafe {
        let string = &mut *string;
        let data = libc::realloc(string.data.cast(), text.len() + unit).cast::<u8>();
        if data.is_null() {
            return Err(Failure::new(format!("no memory for {} bytes", text.len())));
        }
        std::ptr::copy_nonoverlapping(text.as_ptr(), data, text.len());
        data.add(text.len()).write_bytes(0, unit);
        let size = text.len() / unit;
        (string.data, string.size, string.capacity) = (data, size, size + 1);
    }
    Ok(())
}

/// A function of libstdc++, which a process with C++ messages has.
fn libstdcxx(name: &CStr) -> Result<*mut c_void, Failure> {
    // SAFETY: names that end with a zero; a library that is loaded already.
    let function = unsafe {
        let library = libc::dlopen(c"libstdc++.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        libc::dlsym(if library.is_null() { libc::RTLD_DEFAULT } else { library }, name.as_ptr())
    };
    match function.is_null() {
        true => Err(Failure::new("the process has no function of libstdc++ for strings")),
        false => Ok(function),
    }
}

/// Assigns to a `std::string` or, with units of two bytes, `std::u16string` of libstdc++, which
/// have one layout. Memory comes from C++'s `new`, as theirs does.
///
/// # Safety
/// A string of this kind is there.
unsafe fn assign_cpp(string: *mut CppString, text: &[u8], unit: usize) -> Result<(), Failure> {
    type New = unsafe extern "C" fn(usize) -> *mut u8;
    type Delete = unsafe extern "C" fn(*mut u8);
    const OWN_BYTES: usize = 16;
    // SAFETY: the caller's promise; the two functions have these types. `own` is the text itself if
    // `data` points to it, and the capacity without the last unit otherwise.
    unsafe {
        let own: *mut u8 = (&raw mut (*string).own).cast();
        let is_own = (*string).data.cast_const() == own.cast_const();
        let room = if is_own { OWN_BYTES - unit } else { (*string).own[0].saturating_mul(unit) };
        if text.len() > room {
            let new = std::mem::transmute::<*mut c_void, New>(libstdcxx(c"_Znwm")?);
            let delete = std::mem::transmute::<*mut c_void, Delete>(libstdcxx(c"_ZdlPv")?);
            let data = new(text.len() + unit);
            if !is_own {
                delete((*string).data);
            }
            (*string).data = data;
            (*string).own[0] = text.len() / unit;
        }
        std::ptr::copy_nonoverlapping(text.as_ptr(), (*string).data, text.len());
        (*string).data.add(text.len()).write_bytes(0, unit);
        (*string).size = text.len() / unit;
    }
    Ok(())
}
