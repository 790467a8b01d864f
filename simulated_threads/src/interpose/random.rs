//! Random numbers, and the random names of temporary files: they follow from the world's seed.
//!
//! `/dev/urandom` is a file in memory with so many bytes of the seed, so that streams and mapped
//! files have them, too. libc draws the names of temporary files by calls within itself.

use super::{errno, fail, files, interpose};
use crate::os;
use crate::world::World;
use libc::{c_char, c_int, c_uint, c_void, size_t, ssize_t};
use std::ffi::CStr;
use std::ptr;

/// How many bytes `/dev/urandom` has after it was opened.
const DEVICE_BYTES: usize = 1 << 20;

/// # Safety
/// `bytes` points to `count` bytes.
pub(super) unsafe fn fill(world: &World, bytes: *mut c_void, count: size_t) {
    // SAFETY: the caller's promise; bytes that were not written are not read.
    unsafe {
        ptr::write_bytes(bytes.cast::<u8>(), 0, count);
        world.fill(std::slice::from_raw_parts_mut(bytes.cast(), count));
    }
}

fn random(world: &World) -> u32 {
    let mut bytes = [0; 4];
    world.fill(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// Opens the devices of random bytes; `None` for another path.
///
/// # Safety
/// A path, which ends with a zero, or null.
pub(super) unsafe fn open_device(
    world: &World,
    path: *const c_char,
    flags: c_int,
) -> Option<c_int> {
    // SAFETY: the caller's promise.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes());
    path.filter(|path| matches!(*path, b"/dev/urandom" | b"/dev/random"))?;
    let flags = if flags & libc::O_CLOEXEC == 0 { 0 } else { libc::MFD_CLOEXEC };
    // SAFETY: a name, which ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"random".as_ptr(), flags) };
    if descriptor >= 0 {
        let mut bytes = vec![0; DEVICE_BYTES];
        world.fill(&mut bytes);
        os::write(descriptor, &bytes);
        // SAFETY: takes numbers.
        unsafe { libc::lseek(descriptor, 0, libc::SEEK_SET) };
    }
    Some(descriptor)
}

/// Gives the six letters `X` before the last `suffix` ones of a template other values, until `make`
/// does not find a file of that name.
///
/// # Safety
/// A text, which ends with a zero.
unsafe fn temporary(
    world: &World,
    template: *mut c_char,
    suffix: c_int,
    make: impl Fn() -> c_int,
) -> c_int {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const ATTEMPTS_MAX: usize = 62 * 62 * 62;
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(template) }.to_bytes();
    let end = usize::try_from(suffix).ok().and_then(|suffix| text.len().checked_sub(suffix));
    let Some(start) = end.and_then(|end| text[..end].strip_suffix(b"XXXXXX")).map(<[u8]>::len)
    else {
        return fail(libc::EINVAL);
    };
    for _ in 0..ATTEMPTS_MAX {
        let mut bytes = [0; 6];
        world.fill(&mut bytes);
        for (place, byte) in (start..).zip(bytes) {
            let letter = LETTERS[usize::from(byte) % LETTERS.len()];
            // SAFETY: a place in the text.
            unsafe { *template.add(place) = letter as c_char };
        }
        let made = make();
        if made >= 0 || errno() != libc::EEXIST {
            return made;
        }
    }
    fail(libc::EEXIST)
}

interpose! {
    /// Random bytes of the world's seed.
    fn getrandom(bytes: *mut c_void, count: size_t, flags: c_uint) -> ssize_t = |world, _| {
        // SAFETY: the caller passes a buffer of this length.
        unsafe { fill(world, bytes, count) };
        count as ssize_t
    }

    /// A random number of the world's seed.
    fn arc4random() -> u32 = |world, _| {
        random(world)
    }

    /// A random number of the world's seed, less than `bound`.
    fn arc4random_uniform(bound: u32) -> u32 = |world, _| {
        ((u64::from(random(world)) * u64::from(bound)) >> 32) as u32
    }

    /// Creates a temporary folder.
    fn mkdtemp(template: *mut c_char) -> *mut c_char = |world, _| {
        // SAFETY: the caller passes a text, which is the path.
        match unsafe { temporary(world, template, 0, || libc::mkdir(template, 0o700)) } {
            0 => template,
            _ => ptr::null_mut(),
        }
    }

    /// Creates a temporary file.
    fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int = |world, _| {
        let flags = flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        // SAFETY: the caller passes a text, which is the path.
        unsafe { temporary(world, template, suffix, || files::open(template, flags, 0o600)) }
    }
}
