//! An inverted list: from a 64-bit hash to the ascending ids of the columns that contain it.
//!
//! Hashes are sorted and split into buckets by their leading bits, so that a lookup reads one directory entry and about sixteen hashes,
//! whatever the size. The id lists are delta-coded varints. Everything is read in place from the mapped segment; only requested lists are
//! decoded.

use rayon::prelude::*;

use super::segment::{Section, SegmentFile, SegmentWriter, Tag};
use super::varint::{MOST_VARINT_BYTES, push_varint, take_varint};
use lakeward_core::error::Result;

/// Hashes per directory entry, on average.
const BUCKET_HASHES: usize = 16;
/// Most bytes of what is said of one list before those of its bucket.
const MOST_SAID_BYTES: usize = 2 * MOST_VARINT_BYTES;

/// The section tags of one inverted list; a segment may hold several.
#[derive(Debug, Clone, Copy)]
pub struct PostingTags {
    /// Directory: `[u32]`, where each bucket of hashes begins.
    pub directory: Tag,
    /// `[u64]`, ascending.
    pub hashes: Tag,
    /// Directory: `[u64]`, where the lists of each bucket begin.
    pub starts: Tag,
    /// Varints: for each hash of a bucket the number of its ids and the bytes of its list, then its lists: the first id, then the gaps.
    pub lists: Tag,
}

/// Sorts `pairs` of (hash, id) and writes them as an inverted list; repeated pairs count once. Returns, for each id from 0 to the greatest,
/// the bytes of all lists that it is in.
///
/// # Errors
/// Those of the segment writer.
pub fn write_postings(writer: &mut SegmentWriter, tags: PostingTags, mut pairs: Vec<(u64, u32)>) -> Result<Vec<u64>> {
    pairs.par_sort_unstable();
    pairs.dedup();
    let bits = directory_bits(pairs.chunk_by(|a, b| a.0 == b.0).count());
    let mut hashes: Vec<u64> = Vec::new();
    let (mut directory, mut starts) = (Vec::with_capacity((1 << bits) + 1), Vec::with_capacity((1 << bits) + 1));
    let mut bucket_lists: Vec<u8> = Vec::new();
    let mut lists: Vec<u8> = Vec::with_capacity(pairs.len() * 2);
    let mut bytes_by_id = vec![0u64; pairs.iter().map(|(_, id)| *id as usize + 1).max().unwrap_or(0)];
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let hash = group[0].0;
        while directory.len() as u64 <= bucket_of(hash, bits) {
            lists.append(&mut bucket_lists);
            directory.push(hashes.len() as u32);
            starts.push(lists.len() as u64);
        }
        hashes.push(hash);
        let start = bucket_lists.len();
        let mut previous = 0;
        for (_, id) in group {
            push_varint(&mut bucket_lists, id - previous);
            previous = *id;
        }
        let bytes = bucket_lists.len() - start;
        push_varint(&mut lists, group.len() as u32);
        push_varint(&mut lists, bytes as u32);
        for (_, id) in group {
            bytes_by_id[*id as usize] += bytes as u64;
        }
    }
    drop(pairs);
    lists.append(&mut bucket_lists);
    directory.resize((1 << bits) + 1, hashes.len() as u32);
    starts.resize((1 << bits) + 1, lists.len() as u64);
    writer.section_of(tags.directory, &directory)?;
    writer.section_of(tags.hashes, &hashes)?;
    writer.section_of(tags.starts, &starts)?;
    writer.section(tags.lists, &lists)?;
    Ok(bytes_by_id)
}

fn directory_bits(hashes: usize) -> u32 {
    (hashes / BUCKET_HASHES).max(1).ilog2()
}

fn bucket_of(hash: u64, bits: u32) -> u64 {
    if bits == 0 { 0 } else { hash >> (64 - bits) }
}

/// An opened inverted list.
#[derive(Debug, Clone)]
pub struct Postings {
    bits: u32,
    directory: Section,
    hashes: Section,
    starts: Section,
    lists: Section,
}

/// The position of one hash's ids.
#[derive(Debug, Clone, Copy)]
pub struct PostingList {
    start: usize,
    end: usize,
    count: u32,
}

impl PostingList {
    /// Bytes of the encoded list: an upper bound on its ids, and the cost of reading it.
    pub fn bytes(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Number of ids; known without reading the list.
    pub fn count(&self) -> usize {
        self.count as usize
    }
}

impl Postings {
    /// Opens the list with these `tags` in `segment`; reads only the section table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if a section is missing or has an impossible length.
    pub fn open(segment: &SegmentFile, tags: PostingTags) -> Result<Self> {
        let directory = segment.section(tags.directory)?;
        let entries = directory.len() / size_of::<u32>();
        if entries < 2 || !(entries - 1).is_power_of_two() {
            return Err(directory.damaged("the size of the directory is not a power of two"));
        }
        let starts = segment.section(tags.starts)?;
        if starts.len() != entries * size_of::<u64>() {
            return Err(starts.damaged("its size does not match the directory"));
        }
        Ok(Self {
            bits: (entries - 1).ilog2(),
            directory,
            hashes: segment.section(tags.hashes)?,
            starts,
            lists: segment.section(tags.lists)?,
        })
    }

    /// Number of distinct hashes.
    pub fn len(&self) -> usize {
        self.hashes.len() / size_of::<u64>()
    }

    /// Whether there is no hash.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The list of `hash`, if it exists.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if a block that is read fails its checksum.
    pub fn find(&self, hash: u64) -> Result<Option<PostingList>> {
        let bucket = bucket_of(hash, self.bits) as usize;
        let &[low, high] = self.directory.slice::<u32>(bucket..bucket + 2)? else {
            return Err(self.directory.damaged("a bucket without bounds"));
        };
        let (low, high) = (low as usize, high as usize);
        let Ok(place) = self.hashes.slice::<u64>(low..high)?.binary_search(&hash) else { return Ok(None) };
        let &[start, end] = self.starts.slice::<u64>(bucket..bucket + 2)? else {
            return Err(self.starts.damaged("a bucket without bounds"));
        };
        let (start, end) = (start as usize, end as usize);
        let said = self.lists.bytes(start..end.min(start.saturating_add((high - low) * MOST_SAID_BYTES)))?;
        let list = Self::list_among(said, start, place, high - low);
        list.map(Some).ok_or_else(|| self.lists.damaged("a list without bounds"))
    }

    /// List `place` of the `count` lists of a bucket, of which `said` is said from `start` on.
    fn list_among(said: &[u8], start: usize, place: usize, count: usize) -> Option<PostingList> {
        let (mut rest, mut before, mut found) = (said, 0usize, None);
        for at in 0..count {
            let (ids, bytes) = (take_varint(&mut rest)?, take_varint(&mut rest)? as usize);
            if at == place {
                found = Some((ids, before, bytes));
            }
            before += bytes;
        }
        let (count, before, bytes) = found?;
        let start = start + said.len() - rest.len() + before;
        Some(PostingList { start, end: start + bytes, count })
    }

    /// Calls `each` with the ids of `list`, ascending.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if a block that is read fails its checksum.
    #[inline]
    pub fn for_each(&self, list: PostingList, mut each: impl FnMut(u32)) -> Result<()> {
        let mut id = 0u32;
        let mut number = 0u32;
        let mut shift = 0;
        for byte in self.lists.bytes(list.start..list.end)? {
            number |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 != 0 {
                shift += 7;
                continue;
            }
            id = id.wrapping_add(number);
            each(id);
            (number, shift) = (0, 0);
        }
        Ok(())
    }
}
