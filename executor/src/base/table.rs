//! A sparse vector for ids that are never reused, while their entities come and go.
//!
//! No id is used twice, so an id in a log or a digest means one entity, and ids grow as long as
//! nodes are created and destroyed. A vector indexed by id would grow with them, a hash map has no
//! order that a result may depend on, and a tree searches at each look-up. Pages of 64 ids keep the
//! memory near the number of entries, and a look-up is two indices as long as no page was freed. A
//! table is plain data: the lock or the one thread of its owner protects it.

use crate::base::event::{CallbackId, LoopId, SourceId};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of entries of a page.
const PAGE: usize = 64;

/// An id that numbers the entries of a [`Table`].
pub trait TableKey: Copy + fmt::Debug {
    /// The index of this id.
    fn index(self) -> usize;

    /// The id with this index, which [`index`](Self::index) has returned.
    fn from_index(index: usize) -> Self;
}

impl TableKey for usize {
    #[inline]
    fn index(self) -> usize {
        self
    }

    #[inline]
    fn from_index(index: usize) -> Self {
        index
    }
}

macro_rules! key {
    ($($id:ident),*) => {$(
        impl TableKey for $id {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline]
            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }
    )*};
}

key!(CallbackId, LoopId, SourceId);

/// A map from ids to values, as fast as a vector while ids are dense. Its memory is proportional to
/// the number of entries at most 64 ids apart: the entries of a page of 64 ids are allocated
/// together, and freed with the last of them.
///
/// Iteration is in the order of the ids. A lookup takes constant time if no page before that of the
/// id was freed, and time logarithmic in the number of pages otherwise.
///
/// ```
/// use ringspin_executor::{CallbackId, Table};
/// let mut names: Table<CallbackId, &str> = Table::new();
/// names.insert(CallbackId(3), "timer 1ms");
/// names.insert(CallbackId(1_000_000), "subscription /points");
/// assert_eq!(names[CallbackId(3)], "timer 1ms");
/// assert_eq!(names.remove(CallbackId(3)), Some("timer 1ms"));
/// assert_eq!(names.get(CallbackId(3)), None);
/// let all: Vec<_> = names.iter().collect();
/// assert_eq!(all, [(CallbackId(1_000_000), &"subscription /points")]);
/// ```
pub struct Table<K, T> {
    /// In the order of their numbers; none is empty. The page with number n stands at place n
    /// unless one before it is missing.
    pages: Vec<Page<T>>,
    len: usize,
    key: PhantomData<fn(K) -> K>,
}

#[derive(Clone, PartialEq, Eq)]
struct Page<T> {
    /// It has the ids from 64 times this on.
    number: usize,
    len: usize,
    entries: Box<[Option<T>; PAGE]>,
}

impl<K: TableKey, T> Table<K, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { pages: Vec::new(), len: 0, key: PhantomData }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether there is an entry for `key`.
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        self.get(key).is_some()
    }

    /// The entry for `key`.
    #[inline]
    pub fn get(&self, key: K) -> Option<&T> {
        let (number, entry) = split(key);
        let place = self.place(number).ok()?;
        self.pages[place].entries[entry].as_ref()
    }

    /// The entry for `key`.
    #[inline]
    pub fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let (number, entry) = split(key);
        let place = self.place(number).ok()?;
        self.pages[place].entries[entry].as_mut()
    }

    /// Sets the entry for `key`, and returns the one before.
    pub fn insert(&mut self, key: K, value: T) -> Option<T> {
        let (number, entry) = split(key);
        let place = self.place(number).unwrap_or_else(|place| {
            let entries = Box::new([const { None }; PAGE]);
            self.pages.insert(place, Page { number, len: 0, entries });
            place
        });
        let page = &mut self.pages[place];
        let before = page.entries[entry].replace(value);
        if before.is_none() {
            page.len += 1;
            self.len += 1;
        }
        before
    }

    /// The entry for `key`, which is set to the result of `value` if there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> T) -> &mut T {
        if !self.contains(key) {
            self.insert(key, value());
        }
        &mut self[key]
    }

    /// Removes the entry for `key`.
    pub fn remove(&mut self, key: K) -> Option<T> {
        let (number, entry) = split(key);
        let place = self.place(number).ok()?;
        let page = &mut self.pages[place];
        let removed = page.entries[entry].take()?;
        page.len -= 1;
        self.len -= 1;
        if page.len == 0 {
            self.pages.remove(place);
        }
        Some(removed)
    }

    /// The entries and their ids, in the order of the ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &T)> + Clone {
        self.pages.iter().flat_map(|page| {
            let entries = page.entries.iter().enumerate();
            let id = |entry| K::from_index(page.number * PAGE + entry);
            entries.filter_map(move |(entry, value)| Some((id(entry), value.as_ref()?)))
        })
    }

    /// The ids, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The entries, in the order of their ids.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.pages.iter().flat_map(|page| page.entries.iter().flatten())
    }

    /// The entries, in the order of their ids.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.pages.iter_mut().flat_map(|page| page.entries.iter_mut().flatten())
    }

    /// A table with the result of `of` for each entry.
    pub fn map<U>(&self, mut of: impl FnMut(K, &T) -> U) -> Table<K, U> {
        self.iter().map(|(key, value)| (key, of(key, value))).collect()
    }

    /// The place of the page with this number; if there is none, where it is to be inserted.
    #[inline]
    fn place(&self, number: usize) -> Result<usize, usize> {
        match self.pages.get(number) {
            Some(page) if page.number == number => Ok(number),
            _ => self.search(number),
        }
    }

    #[cold]
    fn search(&self, number: usize) -> Result<usize, usize> {
        let up_to = number.min(self.pages.len());
        self.pages[..up_to].binary_search_by_key(&number, |page| page.number)
    }
}

/// The number of the page of `key`, and its place there.
#[inline]
fn split(key: impl TableKey) -> (usize, usize) {
    let index = key.index();
    (index / PAGE, index % PAGE)
}

impl<K: TableKey, T> Index<K> for Table<K, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, key: K) -> &T {
        self.get(key).unwrap_or_else(|| missing(&key))
    }
}

impl<K: TableKey, T> IndexMut<K> for Table<K, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, key: K) -> &mut T {
        self.get_mut(key).unwrap_or_else(|| missing(&key))
    }
}

#[cold]
#[track_caller]
fn missing(key: &dyn fmt::Debug) -> ! {
    panic!("the table has no entry for {key:?}; ask `get` where an entity may be gone")
}

impl<K: TableKey, T> FromIterator<(K, T)> for Table<K, T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut table = Self::new();
        table.extend(entries);
        table
    }
}

impl<K: TableKey, T> Extend<(K, T)> for Table<K, T> {
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K, T> Default for Table<K, T> {
    fn default() -> Self {
        Self { pages: Vec::new(), len: 0, key: PhantomData }
    }
}

impl<K, T: Clone> Clone for Table<K, T> {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), len: self.len, key: PhantomData }
    }
}

impl<K, T: PartialEq> PartialEq for Table<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.pages == other.pages
    }
}

impl<K, T: Eq> Eq for Table<K, T> {}

impl<K: TableKey, T: fmt::Debug> fmt::Debug for Table<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Ids = Table<LoopId, u32>;

    /// Insertions and removals around the bounds of a few pages, and at large ids.
    fn changes() -> impl Strategy<Value = Vec<(bool, u32)>> {
        let id = prop_oneof![0..4u32, 60..70u32, 126..130u32, 64 * 999..64 * 1000 + 2u32];
        vec((any::<bool>(), id), 0..120)
    }

    proptest! {
        #[test]
        fn table_equals_a_map_after_every_change(changes in changes()) {
            let (mut table, mut map) = (Ids::new(), BTreeMap::new());
            for (n, (inserts, id)) in changes.into_iter().enumerate() {
                let n = n as u32;
                match inserts {
                    true => prop_assert_eq!(table.insert(LoopId(id), n), map.insert(id, n)),
                    false => prop_assert_eq!(table.remove(LoopId(id)), map.remove(&id)),
                }
                if n.is_multiple_of(3) {
                    let entry = table.get_or_insert_with(LoopId(id + 1), || n);
                    prop_assert_eq!(entry, map.entry(id + 1).or_insert(n));
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.is_empty(), map.is_empty());
                let expected = || map.iter().map(|(id, value)| (LoopId(*id), value));
                prop_assert!(table.iter().eq(expected()));
                prop_assert!(table.iter().rev().eq(expected().rev()));
                prop_assert!(table.keys().eq(expected().map(|(id, _)| id)));
                prop_assert!(table.values().eq(map.values()));
                prop_assert!(table.values_mut().eq(map.values_mut()));
                prop_assert_eq!(table.get(LoopId(id)), map.get(&id));
                prop_assert_eq!(table.get_mut(LoopId(id)), map.get_mut(&id));
                prop_assert_eq!(table.contains(LoopId(id + 1)), map.contains_key(&(id + 1)));
                prop_assert!(map.iter().all(|(id, value)| table[LoopId(*id)] == *value));
                let pages: Vec<_> = map.keys().map(|id| *id as usize / PAGE).collect();
                let pages = pages.chunk_by(|one, other| one == other).map(|of| of[0]);
                prop_assert!(table.pages.iter().map(|page| page.number).eq(pages));
            }
            let rebuilt: Ids = table.iter().rev().map(|(id, value)| (id, *value)).collect();
            prop_assert_eq!(&rebuilt, &table);
            prop_assert_eq!(rebuilt.map(|_, value| *value), table);
        }
    }

    #[test]
    fn memory_does_not_grow_with_ids_that_come_and_go() {
        let mut table = Ids::new();
        table.extend((0..100).map(|id| (LoopId(id), id)));
        for id in 100..1_000_000 {
            table.insert(LoopId(id), id);
            assert_eq!(table[LoopId(id)], id);
            assert_eq!(table.remove(LoopId(id)), Some(id));
        }
        assert_eq!((table.pages.len(), table.len()), (2, 100));
        assert!(table.pages.capacity() <= 8, "{}", table.pages.capacity());
    }

    #[test]
    fn tables_with_different_entries_differ() {
        let table: Ids = [(LoopId(1), 1), (LoopId(70), 2)].into_iter().collect();
        let other_value: Ids = [(LoopId(1), 1), (LoopId(70), 3)].into_iter().collect();
        let other_id: Ids = [(LoopId(1), 1), (LoopId(71), 2)].into_iter().collect();
        assert_ne!(table, other_value);
        assert_ne!(table, other_id);
        assert_eq!(format!("{table:?}"), "{LoopId(1): 1, LoopId(70): 2}");
    }

    #[test]
    #[should_panic(expected = "no entry for LoopId(7)")]
    fn index_of_a_missing_entry_names_the_id() {
        let table: Ids = [(LoopId(8), 1)].into_iter().collect();
        let _ = table[LoopId(7)];
    }
}
