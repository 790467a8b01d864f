//! The functions of libc that this crate defines itself: their originals.
//!
//! The loader has them looked up as soon as it has loaded this crate. A later look would wait for
//! the loader's lock, which a thread has while a library that it loads waits for other threads.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The address of a function of libc, looked up before `main`.
pub(crate) struct Original {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Original {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// The address of the next definition of the function after the one in this crate.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            address => address,
        }
    }

    /// Looks the function up, if libc has it.
    pub(crate) fn prepare(&self) -> usize {
        // SAFETY: the name ends with a zero; `dlsym` keeps no reference to it.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        self.address.store(address, Ordering::Relaxed);
        address
    }

    #[cold]
    fn look_up(&self) -> usize {
        let address = self.prepare();
        assert!(address != 0, "libc has no function {:?}: is it glibc?", self.name);
        address
    }
}

/// The original of a function of libc: `original!(close: fn(c_int) -> c_int)`.
///
/// The caller states the function's true type, as the manual page has it, and calls the returned
/// function as its manual page allows.
macro_rules! original {
    ($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {{
        const NAME: &std::ffi::CStr =
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("an identifier has no zero"),
            };
        static ORIGINAL: crate::original::Original = crate::original::Original::new(NAME);
        extern "C" fn prepare() {
            ORIGINAL.prepare();
        }
        #[used]
        #[unsafe(link_section = ".init_array.00000")]
        static PREPARE: extern "C" fn() = prepare;
        type Function = unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?;
        // SAFETY: libc has a function of this name and type, as the user of the macro states.
        unsafe { std::mem::transmute::<usize, Function>(ORIGINAL.address()) }
    }};
}
pub(crate) use original;
