//! Inverted lists of several keys in all segments, with how large each is in all shards.

use lakeward_core::error::Result;
use lakeward_index::postings::{PostingList, Postings};
use lakeward_index::{LakeIndex, Segment};

/// The lists of one key.
pub(super) struct Lists {
    /// Their bytes, in all shards.
    pub bytes: usize,
    /// Columns in them, in all shards.
    pub count: usize,
    /// Those of the opened segments.
    pub lists: Vec<(u32, PostingList)>,
}

/// The lists of several keys, in their order.
pub(super) struct ListsOfAll {
    /// Columns in all shards.
    pub columns: usize,
    pub lists: Vec<Lists>,
}

impl ListsOfAll {
    /// Looks up `keys` in the lists that `of` names; `label` tells them from others of the same search.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged, and those of [`LakeIndex::gather`].
    pub fn find(index: &LakeIndex, label: &str, keys: &[u64], of: impl Fn(&Segment) -> &Postings) -> Result<Self> {
        let mut counts = vec![index.segments().iter().map(|segment| segment.columns.len() as u64).sum()];
        let mut found: Vec<Vec<(u32, PostingList)>> = Vec::with_capacity(keys.len());
        for key in keys {
            let (mut bytes, mut count, mut lists) = (0, 0, Vec::new());
            for (place, segment) in (0u32..).zip(index.segments()) {
                if let Some(list) = of(segment).find(*key)? {
                    (bytes, count) = (bytes + list.bytes() as u64, count + list.count() as u64);
                    lists.push((place, list));
                }
            }
            counts.extend([bytes, count]);
            found.push(lists);
        }
        let sums = index.sums(label, counts.len(), || Ok(counts))?;
        let sizes = sums.iter().skip(1).map(|size| *size as usize).collect::<Vec<_>>();
        let lists =
            sizes.chunks_exact(2).zip(found).map(|(size, lists)| Lists { bytes: size[0], count: size[1], lists });
        Ok(Self { columns: sums.first().map_or(0, |columns| *columns as usize), lists: lists.collect() })
    }
}
