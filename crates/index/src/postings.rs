//! An inverted list: from a 64-bit hash to the ascending ids of the columns that contain it.
//!
//! Hashes are sorted and split into buckets by their leading bits, so that a lookup reads one directory entry and about sixteen hashes,
//! whatever the size. The id lists are delta-coded varints. Everything is read in place from the mapped segment; only requested lists are
//! decoded.

use rayon::prelude::*;

use super::segment::{Section, SegmentFile, SegmentWriter, Tag};
use lakeward_core::error::Result;

/// Hashes per directory entry, on average.
const BUCKET_HASHES: usize = 16;
/// Bits of an offset for the start of a list: up to a terabyte of lists. The other bits count its ids.
const START_BITS: u32 = 40;
const MOST_COUNTED: u64 = u64::MAX >> START_BITS;

/// The section tags of one inverted list; a segment may hold several.
#[derive(Debug, Clone, Copy)]
pub struct PostingTags {
    /// Directory: `[u32]`, where each bucket of hashes begins.
    pub directory: Tag,
    /// `[u64]`, ascending.
    pub hashes: Tag,
    /// `[u64]`, for each hash the start of its list (low 40 bits) and the number of its ids (high 24 bits); one more than there are hashes.
    pub offsets: Tag,
    /// Varints: the first id, then the gaps.
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
    let mut hashes: Vec<u64> = Vec::new();
    let mut offsets: Vec<u64> = Vec::new();
    let mut lists: Vec<u8> = Vec::with_capacity(pairs.len() * 2);
    let mut bytes_by_id = vec![0u64; pairs.iter().map(|(_, id)| *id as usize + 1).max().unwrap_or(0)];
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        hashes.push(group[0].0);
        offsets.push((group.len() as u64).min(MOST_COUNTED) << START_BITS | lists.len() as u64);
        let start = lists.len();
        let mut previous = 0;
        for (_, id) in group {
            push_varint(&mut lists, id - previous);
            previous = *id;
        }
        let bytes = (lists.len() - start) as u64;
        for (_, id) in group {
            bytes_by_id[*id as usize] += bytes;
        }
    }
    drop(pairs);
    offsets.push(lists.len() as u64);
    let bits = directory_bits(hashes.len());
    let mut directory: Vec<u32> = Vec::with_capacity((1 << bits) + 1);
    let mut place = 0;
    for bucket in 0..1u64 << bits {
        while place < hashes.len() && bucket_of(hashes[place], bits) < bucket {
            place += 1;
        }
        directory.push(place as u32);
    }
    directory.push(hashes.len() as u32);
    writer.section_of(tags.directory, &directory)?;
    writer.section_of(tags.hashes, &hashes)?;
    writer.section_of(tags.offsets, &offsets)?;
    writer.section(tags.lists, &lists)?;
    Ok(bytes_by_id)
}

fn directory_bits(hashes: usize) -> u32 {
    (hashes / BUCKET_HASHES).max(1).ilog2()
}

fn bucket_of(hash: u64, bits: u32) -> u64 {
    if bits == 0 { 0 } else { hash >> (64 - bits) }
}

fn push_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// An opened inverted list.
#[derive(Debug, Clone)]
pub struct Postings {
    bits: u32,
    directory: Section,
    hashes: Section,
    offsets: Section,
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

    /// Number of ids; known without reading the list. Exact up to 16 million.
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
        Ok(Self {
            bits: (entries - 1).ilog2(),
            directory,
            hashes: segment.section(tags.hashes)?,
            offsets: segment.section(tags.offsets)?,
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
        let place = low + place;
        let &[start, end] = self.offsets.slice::<u64>(place..place + 2)? else {
            return Err(self.offsets.damaged("a list without bounds"));
        };
        let begin = |offset: u64| (offset & (u64::MAX >> (u64::BITS - START_BITS))) as usize;
        Ok(Some(PostingList { start: begin(start), end: begin(end), count: (start >> START_BITS) as u32 }))
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
