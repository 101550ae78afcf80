//! Searching one index in several processes, its shards: each opens some of the index's segments.
//!
//! Every shard runs the same search over its own segments. Where the search needs a figure or an order of the whole
//! lake, it gathers the values of all shards under a label. If they were sent along with the question, the search goes
//! on with them as one process would. If not, it keeps its own value and ends with [`Error::AwaitsShards`]. Whoever
//! asks the shards collects these values, sends those of all shards to each of them, and repeats the question, until
//! no value is missing. So a shard keeps nothing between two rounds, and an answer is that of one process by
//! construction. A search must gather the same labels in every shard, whatever tables that one has.
//!
//! Segments are divided by rendezvous hashing of their names (Thaler and Ravishankar, IEEE/ACM ToN 1998): one more shard takes from each of the others
//! and moves nothing else.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use super::open::{ColumnRef, TableRef};
use lakeward_core::error::{Error, Result};

/// Which of the shards of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SearchShard {
    /// Its number, from 0. That of `of` and more is none: such a shard opens no segment.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl SearchShard {
    /// Whether this shard opens the segment called `name`.
    pub fn opens(self, name: &str) -> bool {
        let weight = |shard: u32| (xxh3_64(format!("{shard} {name}").as_bytes()), shard);
        (0..self.of).max_by_key(|shard| weight(*shard)) == Some(self.number)
    }
}

/// By label, the values of all shards, in the order of the shards, as JSON.
pub type AllFigures = BTreeMap<String, Vec<String>>;
/// By label, the value of one shard, as JSON.
pub type OwnFigures = BTreeMap<String, String>;

/// What one shard receives and sends in one round of a search.
#[derive(Debug)]
pub struct Exchange {
    /// Of each opened segment, its place among all segments of the index.
    places: Vec<u32>,
    of_all: AllFigures,
    is_first: bool,
    own: Mutex<OwnFigures>,
    unreadable: Mutex<Option<usize>>,
}

impl Exchange {
    pub(super) fn new(places: Vec<u32>, of_all: AllFigures, is_first: bool) -> Self {
        Self { places, of_all, is_first, own: Mutex::default(), unreadable: Mutex::default() }
    }

    /// Whether this is the first of the shards asked, which does what one has to do.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// The values that this round computed for the other shards.
    pub fn own_figures(&self) -> OwnFigures {
        std::mem::take(&mut self.own.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The place of the first shard that sent a value that is not possible.
    pub fn unreadable(&self) -> Option<usize> {
        *self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gather<T: Serialize + DeserializeOwned>(
        &self,
        label: &str,
        own: impl FnOnce() -> Result<T>,
        is_possible: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>> {
        let Some(of_all) = self.of_all.get(label) else {
            let own = serde_json::to_string(&own()?).map_err(|error| Error::Internal(error.to_string()))?;
            self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(label.to_string(), own);
            return Err(Error::AwaitsShards);
        };
        let read = |(place, text): (usize, &String)| {
            let read = serde_json::from_str(text).ok().filter(&is_possible);
            read.ok_or_else(|| {
                self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(place);
                Error::Internal(format!("a shard has of the {label} what none can have"))
            })
        };
        of_all.iter().enumerate().map(read).collect()
    }
}

/// See [`LakeIndex::gather`](super::LakeIndex::gather).
pub(super) fn gather<T: Serialize + DeserializeOwned>(
    exchange: Option<&Exchange>,
    label: &str,
    own: impl FnOnce() -> Result<T>,
    is_possible: impl Fn(&T) -> bool,
) -> Result<Vec<T>> {
    match exchange {
        None => Ok(vec![own()?]),
        Some(exchange) => exchange.gather(label, own, is_possible),
    }
}

/// The sums of so many counts of all shards, place by place.
pub(super) fn sums(
    exchange: Option<&Exchange>,
    label: &str,
    count: usize,
    own: impl FnOnce() -> Result<Vec<u64>>,
) -> Result<Vec<u64>> {
    let all = gather(exchange, label, own, |counts| counts.len() == count)?;
    let add = |mut sums: Vec<u64>, counts: Vec<u64>| {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        sums
    };
    Ok(all.into_iter().reduce(add).unwrap_or_default())
}

/// A table or column of a snapshot; in an exchange its segment is a place among all segments of the index.
pub trait Placed: Copy + Ord {
    /// The place of its segment, and its number there.
    fn place(self) -> (u32, u32);
    /// The one at this place.
    fn at(place: (u32, u32)) -> Self;
}

impl Placed for TableRef {
    fn place(self) -> (u32, u32) {
        (self.segment, self.table)
    }

    fn at((segment, table): (u32, u32)) -> Self {
        Self { segment, table }
    }
}

impl Placed for ColumnRef {
    fn place(self) -> (u32, u32) {
        (self.segment, self.column)
    }

    fn at((segment, column): (u32, u32)) -> Self {
        Self { segment, column }
    }
}

/// The place in the whole index of one of this shard.
pub(super) fn in_index<P: Placed>(exchange: Option<&Exchange>, own: P) -> P {
    let Some(exchange) = exchange else { return own };
    let (segment, number) = own.place();
    P::at((exchange.places.get(segment as usize).copied().unwrap_or(u32::MAX), number))
}

/// The one of this shard that has this place in the whole index.
pub(super) fn of_shard<P: Placed>(exchange: Option<&Exchange>, place: P) -> Option<P> {
    let Some(exchange) = exchange else { return Some(place) };
    let (segment, number) = place.place();
    Some(P::at((exchange.places.binary_search(&segment).ok()? as u32, number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_has_one_shard_and_one_more_shard_moves_only_to_itself() {
        let names: Vec<String> = (0..1000).map(|number| format!("{number:06}-0")).collect();
        let shard_of = |name: &str, of: u32| {
            let opens: Vec<u32> = (0..of + 2).filter(|&number| SearchShard { number, of }.opens(name)).collect();
            assert_eq!(opens.len(), 1, "{name} of {of}");
            opens[0]
        };
        let mut sizes = [0; 10];
        for name in &names {
            let (before, after) = (shard_of(name, 9), shard_of(name, 10));
            assert!(before == after || after == 9);
            sizes[after as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (70..=130).contains(size)), "{sizes:?}");
        assert!(!SearchShard { number: 0, of: 0 }.opens("a"));
    }

    #[test]
    fn what_is_not_heard_is_told_and_what_no_shard_tells_names_the_shard() {
        let exchange = Exchange::new(
            vec![2, 5],
            AllFigures::from([("known".into(), vec!["[1,2]".into(), "[30,40]".into()])]),
            true,
        );
        assert_eq!(sums(Some(&exchange), "known", 2, || Ok(vec![1, 2])).unwrap(), [31, 42]);
        assert!(matches!(sums(Some(&exchange), "new", 1, || Ok(vec![7])), Err(Error::AwaitsShards)));
        assert_eq!(exchange.own_figures(), OwnFigures::from([("new".into(), "[7]".into())]));
        for hostile in ["[1,2,3]", "[-1,2]", "{}", "", "[1e400,1]", "\u{0}"] {
            let of_all = vec!["[1,2]".to_string(), hostile.to_string()];
            let exchange = Exchange::new(vec![0], AllFigures::from([("known".into(), of_all)]), true);
            assert!(
                matches!(sums(Some(&exchange), "known", 2, || Ok(vec![1, 2])), Err(Error::Internal(_))),
                "{hostile}"
            );
            assert_eq!(exchange.unreadable(), Some(1), "{hostile}");
        }
        let table = TableRef { segment: 1, table: 9 };
        assert_eq!(in_index(Some(&exchange), table), TableRef { segment: 5, table: 9 });
        assert_eq!(of_shard(Some(&exchange), TableRef { segment: 5, table: 9 }), Some(table));
        assert_eq!(of_shard(Some(&exchange), TableRef { segment: 1, table: 9 }), None);
    }
}
