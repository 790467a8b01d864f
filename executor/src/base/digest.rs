//! Digests of values: the same 64 bits on every machine, so that runs can be compared.
//!
//! `std::hash::Hash` cannot serve: it passes integers in the byte order of the machine, `usize` in
//! its width, leaves the order of a hash map to chance and floats out altogether. A [`Digest`]
//! defines the bytes instead:
//!
//! | value | bytes, in this order |
//! |---|---|
//! | integers, `NonZero`, `Wrapping` | their width; `usize` as a `u64`, `isize` as an `i64` |
//! | `bool`, `char` | a `u8` 0 or 1, a `u32` |
//! | `f32`, `f64` | their bits, except that all NaNs are one (below) |
//! | `str`, slices, `Vec`, `VecDeque`, `BTreeSet` | the length as a `u64`, then the elements |
//! | `BTreeMap` | the length as a `u64`, then keys and values in turn |
//! | arrays, tuples, structs | the elements or fields in order of declaration, and nothing else |
//! | `Option`, `Result` | a `u8`, 0 for `None` and `Ok`, 1 for `Some` and `Err`; then the content |
//! | enums | the variant's index in order of declaration as a `u32`, then its fields |
//! | references, `Box`, `Rc`, `Arc`, `Cow`, `Cell`, [`Message`](crate::Message) | the inner value |
//! | `Duration` | whole seconds as a `u64`, nanoseconds of the second as a `u32` |
//! | [`Time`](crate::Time) | nanoseconds as a `u64` |
//! | [`NodeRandom`](crate::NodeRandom) | the 256 bits that it would yield next |
//! | `()`, `PhantomData` | nothing |
//!
//! Numbers are little-endian. 0.0 and -0.0 differ, as their bits do. A NaN is the quiet one of
//! positive sign without payload, because sign and payload differ between processors.
//!
//! Two different values of one type therefore never have the same bytes: `("ab", "c")` and
//! `("a", "bc")` differ in their lengths. The names of types, fields and variants are not part of
//! them; the order in which they are declared is.
//!
//! # Types without a digest
//! * `HashMap` and `HashSet`: their order of iteration differs from run to run, and a node that
//!   depends on it is not deterministic, and a digest cannot show that. Use `BTreeMap` and
//!   `BTreeSet`. `BinaryHeap` is left out, too: its order is an accident of its history.
//! * Pointers, `Instant`, `SystemTime`, thread identities: they differ from run to run.
//! * `Mutex` and the like: another thread may change the inner value meanwhile.

mod collector;
mod std_types;

pub(crate) use collector::DigestCollector;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// A value that can be added to a digest: derive it, as any other trait.
///
/// ```standalone_crate
/// # extern crate ringspin_executor as ringspin;
/// use ringspin::{Digest, DigestHasher};
/// use std::collections::BTreeMap;
///
/// #[derive(Digest)]
/// struct Map {
///     landmarks: BTreeMap<u32, [f64; 3]>,
///     /// Follows from the rest.
///     #[digest(skip)]
///     nearest: Option<u32>,
/// }
///
/// let mut map = Map { landmarks: BTreeMap::from([(7, [1.0, 2.0, 0.5])]), nearest: None };
/// let before = DigestHasher::of(&map);
/// map.nearest = Some(7);
/// assert_eq!(DigestHasher::of(&map), before);
/// map.landmarks.insert(8, [0.0; 3]);
/// assert_ne!(DigestHasher::of(&map), before);
/// ```
///
/// The bytes of each type are documented in the [table](crate::base::digest) of the module. An
/// implementation by hand adds the parts of the value one after the other; where their number
/// varies, their number first.
///
/// Hash maps have no order that could be relied upon, so this is refused:
///
/// ```compile_fail,E0277
/// # extern crate ringspin_executor as ringspin;
/// let map = std::collections::HashMap::from([(1u32, 2u32)]);
/// ringspin::DigestHasher::of(&map);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added to a digest",
    label = "`{Self}` does not implement `Digest`",
    note = "for a type of yours: `#[derive(Digest)]`, with `#[digest(skip)]` on fields that do \
            not count",
    note = "instead of a `HashMap`, `HashSet` or `BinaryHeap`, which have no fixed order, use \
            a `BTreeMap`, `BTreeSet` or sorted `Vec`",
    note = "instead of an `Instant` or `SystemTime`, keep the `Time` of the context: `cx.now()`"
)]
pub trait Digest {
    /// Adds the value to `hasher`.
    fn digest(&self, hasher: &mut DigestHasher);

    /// Adds all `items`, without their number. Numbers do so many at once; an implementation has to
    /// add the same bytes as [`digest`](Self::digest) of one item after the other.
    fn digest_items(items: &[Self], hasher: &mut DigestHasher)
    where
        Self: Sized,
    {
        items.iter().for_each(|item| item.digest(hasher));
    }
}

/// Hashes the bytes of values to 64 bits: XXH3-64, with its default secret and seed.
///
/// It is no protection against forgery. It never allocates; how the bytes are split into calls does
/// not matter.
#[derive(Clone)]
pub struct DigestHasher {
    /// The hash of the first bytes, once there are more than can be pending.
    stream: Option<Xxh3Default>,
    /// The bytes after those of `stream`: a number is added within few instructions, and a value
    /// that fits in here is hashed in one piece.
    pending: [u8; PENDING_BYTES_MAX],
    pending_bytes: usize,
}

/// Less than a chunk of the numbers of a slice, so that those are not copied once more.
const PENDING_BYTES_MAX: usize = 128;

impl DigestHasher {
    /// A hasher that has seen nothing.
    #[inline]
    pub fn new() -> Self {
        Self { stream: None, pending: [0; PENDING_BYTES_MAX], pending_bytes: 0 }
    }

    /// The digest of one value.
    ///
    /// ```
    /// use ringspin_executor::DigestHasher;
    /// // The same on every machine: byte order and width do not count.
    /// assert_eq!(DigestHasher::of(&("scan", 3usize, [0.5f64])), 0xa394_5d88_33fb_bd22);
    /// ```
    #[inline]
    pub fn of<T: Digest + ?Sized>(value: &T) -> u64 {
        let mut hasher = Self::new();
        value.digest(&mut hasher);
        hasher.finish()
    }

    /// Adds `bytes` as they are: where their number varies, add it first with
    /// [`write_len`](Self::write_len), as `[u8]` does.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        let Some(room) = self.pending[self.pending_bytes..].get_mut(..bytes.len()) else {
            return self.write_through(bytes);
        };
        room.copy_from_slice(bytes);
        self.pending_bytes += bytes.len();
    }

    /// Hands the pending bytes to the stream, then `bytes`.
    #[inline(never)]
    fn write_through(&mut self, bytes: &[u8]) {
        let stream = self.stream.get_or_insert_with(Xxh3Default::new);
        stream.update(&self.pending[..self.pending_bytes]);
        self.pending_bytes = 0;
        match bytes.len() {
            0..=PENDING_BYTES_MAX => self.write(bytes),
            _ => stream.update(bytes),
        }
    }

    /// Adds the number of the elements that follow.
    #[inline]
    pub fn write_len(&mut self, len: usize) {
        // No machine has more than 64 bits.
        self.write(&(len as u64).to_le_bytes());
    }

    /// The digest of everything so far. More can be added afterwards.
    pub fn finish(&self) -> u64 {
        let pending = &self.pending[..self.pending_bytes];
        match &self.stream {
            None => xxh3_64(pending),
            Some(stream) => {
                let mut stream = stream.clone();
                stream.update(pending);
                stream.digest()
            }
        }
    }
}

impl Default for DigestHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for DigestHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DigestHasher").field(&format_args!("{:016x}", self.finish())).finish()
    }
}

#[cfg(test)]
mod tests;
