//! Maps and sets in key order on one flat deque. Every instance of std's BTreeMap costs about 11 KB of module; there were twenty of
//! them. Ours are small or used like queues (ids ascend, the oldest leave first), which is where a flat deque is also the faster one:
//! inserting at either end and removing near either end move next to nothing. Values are boxed, so that moves are small whatever V is.
//!
//! What may grow to very many keys in random order (the wake times of all runs) stays in a BTreeSet.
use std::borrow::Borrow;
use std::collections::VecDeque;

#[derive(Clone, Debug, PartialEq)]
pub struct SortedMap<K, V> {
    entries: VecDeque<(K, Box<V>)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { entries: VecDeque::new() }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub fn new() -> Self {
        Self::default()
    }

    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        // Keys mostly ascend: the end is looked at before anything is searched.
        match self.entries.back() {
            Some((last, _)) if last.borrow() < key => Err(self.entries.len()),
            _ => self.entries.binary_search_by(|(k, _)| k.borrow().cmp(key)),
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().and_then(|i| self.entries.get(i)).map(|(_, v)| &**v)
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.get_mut(at).map(|(_, v)| &mut **v)
    }

    /// Returns the value that it replaced.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(i) => self.entries.get_mut(i).map(|(_, v)| std::mem::replace(&mut **v, value)),
            Err(i) => {
                self.entries.insert(i, (key, Box::new(value)));
                None
            }
        }
    }

    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(&key) {
            Ok(i) => i,
            Err(i) => {
                self.entries.insert(i, (key, Box::new(make())));
                i
            }
        };
        &mut self.entries[at].1
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.remove(at).map(|(_, v)| *v)
    }

    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.entries.front().map(|(k, v)| (k, &**v))
    }

    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.entries.pop_front().map(|(k, v)| (k, *v))
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(k, v)| keep(k, v));
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(k, v)| (k, &**v))
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(k, v)| (&*k, &mut **v))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(k, _)| k)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, v)| &**v)
    }

    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, v)| &mut **v)
    }

    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, v)| *v)
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::iter::Map<std::collections::vec_deque::IntoIter<(K, Box<V>)>, fn((K, Box<V>)) -> (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter().map(|(k, v)| (k, *v))
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut map = Self::new();
        for (k, v) in items {
            map.insert(k, v);
        }
        map
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = std::iter::Map<std::collections::vec_deque::Iter<'a, (K, Box<V>)>, fn(&'a (K, Box<V>)) -> (&'a K, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(k, v)| (k, &**v))
    }
}

/// A set in order, on the same flat deque.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedSet<K> {
    keys: VecDeque<K>,
}

impl<K> Default for SortedSet<K> {
    fn default() -> Self {
        Self { keys: VecDeque::new() }
    }
}

impl<K: Ord> SortedSet<K> {
    pub fn new() -> Self {
        Self::default()
    }

    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        match self.keys.back() {
            Some(last) if last.borrow() < key => Err(self.keys.len()),
            _ => self.keys.binary_search_by(|k| k.borrow().cmp(key)),
        }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// False when it was there.
    pub fn insert(&mut self, key: K) -> bool {
        match self.find(&key) {
            Ok(_) => false,
            Err(i) => {
                self.keys.insert(i, key);
                true
            }
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(i) => self.keys.remove(i).is_some(),
            Err(_) => false,
        }
    }

    pub fn first(&self) -> Option<&K> {
        self.keys.front()
    }

    pub fn clear(&mut self) {
        self.keys.clear();
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.keys.iter()
    }
}

impl<K> IntoIterator for SortedSet<K> {
    type Item = K;
    type IntoIter = std::collections::vec_deque::IntoIter<K>;

    fn into_iter(self) -> Self::IntoIter {
        self.keys.into_iter()
    }
}

impl<K: Ord> FromIterator<K> for SortedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(items: I) -> Self {
        let mut set = Self::new();
        for k in items {
            set.insert(k);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        /// Whatever is done to it, it holds what std's map holds, in the same order.
        #[test]
        fn agrees_with_btree_map(ops in proptest::collection::vec((0u8..4, 0u16..40, any::<u32>()), 0..200)) {
            let (mut ours, mut std) = (SortedMap::new(), BTreeMap::new());
            for (op, key, value) in ops {
                match op {
                    0 | 1 => prop_assert_eq!(ours.insert(key, value), std.insert(key, value)),
                    2 => prop_assert_eq!(ours.remove(&key), std.remove(&key)),
                    _ => prop_assert_eq!(ours.pop_first(), std.pop_first()),
                }
                prop_assert_eq!(ours.get(&key), std.get(&key));
                prop_assert!(ours.iter().eq(std.iter()));
            }
        }

        #[test]
        fn agrees_with_btree_set(ops in proptest::collection::vec((any::<bool>(), 0u16..40), 0..200)) {
            let (mut ours, mut std) = (SortedSet::new(), BTreeSet::new());
            for (insert, key) in ops {
                if insert {
                    prop_assert_eq!(ours.insert(key), std.insert(key));
                } else {
                    prop_assert_eq!(ours.remove(&key), std.remove(&key));
                }
                prop_assert!(ours.iter().eq(std.iter()));
            }
        }
    }
}
