//! The segment file: one immutable, checksummed, memory-mapped file of tagged sections, in which every index structure stores its arrays.
//!
//! A [`SegmentWriter`] streams sections into a temporary file beside the final path, ends it with a footer, flushes it to disk and renames
//! it, so a segment exists either completely or not at all. A [`SegmentFile`] maps it and returns [`Section`]s, whose bytes and arrays are
//! read in place, without copying.
//!
//! A section may be [packed]: its bytes are then unpacked block by block, when they are first read.
//!
//! Every 64 KiB block of the file has an xxh3-64 checksum in the footer. Opening checks the header, the footer and that each section lies
//! inside the file, and reads no section; a block is checked the first time something in it is read, and an atomic bitmap records that. A
//! flipped bit therefore becomes [`Error::DamagedIndex`], never a different result, and a large file opens in microseconds. Of an index in a
//! store, a block that is not there is fetched at that moment ([`Blocks`]).
//!
//! ```text
//! header   64 bytes   "LKWD" | kind | version u32 | 0 u32 | xxh3 of the 16 bytes before | zeros
//! sections            each at a multiple of 64, zeros between
//! footer              per section: tag, 0 u32, offset u64, length u64; per block: xxh3 u64
//!                     a packed one has a second entry: tag, bytes of its last block and how it is packed u32, and the place of where its packed blocks end, [u64]
//! tail     32 bytes   footer offset u64 | sections u32 | blocks u32 | xxh3 of footer and the 16 bytes before | "LKWD-END"
//! ```
//!
//! It has no locking, no meaning of sections (each structure defines its own), and no protection against a file that
//! another process shrinks or rewrites *while* it is mapped. The operating system answers a read past the new end with a signal; Lakeward
//! itself only replaces segments by renaming, which leaves open maps intact.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::index_store::IndexStore;
use lakeward_core::error::{Error, Result};

mod block_set;
mod blocks;
mod packed;
mod section;
mod unpacked;
mod writer;

use block_set::BlockSet;
pub use blocks::Blocks;
use packed::Packed;
pub use packed::{PackedWriter, Packing};
pub use section::{MappedBytes, Section};
pub use writer::{SectionWriter, SegmentWriter};

#[cfg(not(target_endian = "little"))]
compile_error!("segment files are little-endian and read in place; this target is not little-endian");

/// Sections start at multiples of this many bytes: one cache line, and enough alignment for any element type.
pub const SECTION_ALIGNMENT: usize = 64;

/// Bytes covered by one checksum. With smaller blocks a first lookup reads less, with larger ones the footer is smaller; at 64 KiB a block
/// is checked in about 5 µs and the footer is 1/8192 of the file.
const BLOCK_BYTES: usize = 64 * 1024;

/// Sections of no more bytes are read on opening.
const OPENING_BYTES: u64 = 256;

const FILE_MAGIC: [u8; 4] = *b"LKWD";
const TAIL_MAGIC: [u8; 8] = *b"LKWD-END";
/// Length of the header.
pub const HEADER_BYTES: usize = 64;
const HEADER_CHECKED_BYTES: usize = 16;
const SECTION_ENTRY_BYTES: usize = 24;
const BLOCK_ENTRY_BYTES: usize = 8;
const TAIL_BYTES: usize = 32;
/// The part of the tail that the footer's checksum covers: footer offset and the two counts.
const TAIL_CHECKED_BYTES: usize = 16;

/// The content type of a segment, as four bytes in its header, so that one structure is never opened as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentKind(pub [u8; 4]);

/// A section's name inside its segment.
pub type Tag = [u8; 4];

/// What [`SegmentWriter::finish`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentStats {
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Identifies the content: a checksum over the checksums of all blocks and the section table.
    pub checksum: u64,
}

#[derive(Debug, Clone, Copy)]
struct SectionEntry {
    tag: Tag,
    /// Of the second entry of a packed section: what is said of its last block. Else 0.
    last_packed: u32,
    offset: u64,
    bytes: u64,
}

impl SectionEntry {
    fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.bytes) as usize
    }
}

/// An open segment. Clones share the map; it is unmapped when the last clone and the last [`Section`] are dropped.
#[derive(Debug, Clone)]
pub struct SegmentFile {
    mapped: Arc<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    path: PathBuf,
    map: Mmap,
    sections: Vec<SectionEntry>,
    packed: Vec<(Tag, Packed)>,
    /// Bytes before the footer, which the block checksums cover.
    data_bytes: usize,
    checksum: u64,
    /// The blocks whose checksums were verified.
    checked: BlockSet,
    /// Where blocks come from that are not in the file.
    blocks: Option<Blocks>,
}

impl SegmentFile {
    /// Maps the segment at `path`.
    ///
    /// Errors: [`Error::Io`] if it cannot be read, [`Error::IndexVersion`] if it has another format version, [`Error::DamagedIndex`] if it
    /// is missing, of another kind, truncated, or its header or footer fails its checksum.
    /// Cost: reads the header and the footer (1/8192 of the file), no section.
    pub fn open(path: &Path, kind: SegmentKind, version: u32) -> Result<Self> {
        let file = File::open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::damaged(path, "it is missing"),
            _ => Error::io("read", path, source),
        })?;
        let length = file.metadata().map_err(|source| Error::io("read", path, source))?.len();
        if length < (HEADER_BYTES + TAIL_BYTES) as u64 {
            return Err(Error::damaged(path, format!("only {length} bytes long")));
        }
        // SAFETY: segments are immutable: written under a temporary name and renamed. This program cannot guard against another process
        // that changes or shrinks the file while it is mapped (see the module documentation). Blocks that are fetched are written in
        // place, before their bytes are first handed out.
        let map = unsafe { Mmap::map(&file) }.map_err(|source| Error::io("read", path, source))?;
        check_header(path, &map, kind, version)?;
        let footer = Footer::read(path, &map)?;
        let sections = footer.sections(path)?;
        let mapped = Mapped {
            path: path.to_path_buf(),
            packed: packed_sections(path, &sections)?,
            sections,
            data_bytes: footer.offset,
            checksum: footer.checksum,
            checked: BlockSet::new(footer.block_count),
            blocks: IndexStore::blocks_of(path, footer.checksum),
            map,
        };
        Ok(SegmentFile { mapped: Arc::new(mapped) })
    }

    /// The section with this tag; [`Error::DamagedIndex`] with the tag if it is missing.
    pub fn section(&self, tag: Tag) -> Result<Section> {
        self.find_section(tag)
            .ok_or_else(|| Error::damaged(self.path(), format!("section `{}` is missing", tag.escape_ascii())))
    }

    /// The section with this tag, if it exists: for optional parts.
    pub fn find_section(&self, tag: Tag) -> Option<Section> {
        let entry = self.mapped.sections.iter().find(|section| section.tag == tag && section.last_packed == 0)?;
        let packed = self.mapped.packed.iter().position(|(packed, _)| *packed == tag);
        let range = packed.map_or(entry.range(), |place| 0..self.mapped.packed[place].1.len());
        Some(Section { mapped: Arc::clone(&self.mapped), tag, range, packed })
    }

    /// Tells that a search reads from the section `first` to the section `last`: where the file is in a store, all of that comes at once
    /// if it is not too large. What is told first counts first.
    pub fn read_together(&self, first: Tag, last: Tag) {
        let place = |tag| self.mapped.sections.iter().find(|section| section.tag == tag);
        if let (Some(blocks), Some(first), Some(last)) = (&self.mapped.blocks, place(first), place(last)) {
            blocks.read_together(first.range().start / BLOCK_BYTES..last.range().end.div_ceil(BLOCK_BYTES));
        }
    }

    /// Tells that what is read of it lies here and there, so that the system need not read what is around: where memory is scarce, that
    /// drives out what is in use.
    pub fn read_here_and_there(&self) {
        #[cfg(unix)]
        self.mapped.map.advise(memmap2::Advice::Random).ok();
    }

    /// The blocks with sections that are read on opening, as they say what the others are: all that are as small. Each with its place in
    /// the file. None of a file that comes whole from a store.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn opening_blocks(&self) -> Result<Vec<(Range<usize>, &[u8])>> {
        if self.mapped.block_count() <= blocks::WHOLE_BLOCKS {
            return Ok(Vec::new());
        }
        let small = self.mapped.sections.iter().filter(|section| (1..=OPENING_BYTES).contains(&section.bytes));
        let mut blocks: Vec<(usize, Tag)> = small
            .flat_map(|section| {
                let bytes = section.range();
                (bytes.start / BLOCK_BYTES..bytes.end.div_ceil(BLOCK_BYTES)).map(|block| (block, section.tag))
            })
            .collect();
        blocks.dedup_by_key(|(block, _)| *block);
        let read = |(block, tag): (usize, Tag)| {
            let bytes = block * BLOCK_BYTES..((block + 1) * BLOCK_BYTES).min(self.mapped.data_bytes);
            self.mapped.check(bytes.clone(), tag)?;
            Ok((bytes.clone(), &self.mapped.map[bytes]))
        };
        blocks.into_iter().map(read).collect()
    }

    /// Checks every block, whether read before or not. Cost: reads the whole file.
    pub fn verify(&self) -> Result<()> {
        let count = self.mapped.block_count();
        (0..count).try_for_each(|block| self.mapped.check_block(block..count, None))
    }

    /// The path it was opened from.
    pub fn path(&self) -> &Path {
        &self.mapped.path
    }

    /// Length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.mapped.map.len() as u64
    }

    /// The checksum that [`SegmentWriter::finish`] returned for this content.
    pub fn checksum(&self) -> u64 {
        self.mapped.checksum
    }
}

impl Mapped {
    fn block_count(&self) -> usize {
        self.data_bytes.div_ceil(BLOCK_BYTES)
    }

    /// Checks every block in `range` (file offsets, inside the data) that was not checked before.
    #[inline]
    fn check(&self, range: Range<usize>, tag: Tag) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        match self.checked.first_missing(blocks.clone()) {
            Some(first) => self.check_blocks(first..blocks.end, tag),
            None => Ok(()),
        }
    }

    #[cold]
    fn check_blocks(&self, mut blocks: Range<usize>, tag: Tag) -> Result<()> {
        // By one reading, whatever the system is told of the file.
        #[cfg(unix)]
        {
            let start = blocks.start * BLOCK_BYTES;
            let end = self.data_bytes.min(blocks.end * BLOCK_BYTES);
            self.map.advise_range(memmap2::Advice::WillNeed, start, end - start).ok();
        }
        while let Some(block) = self.checked.first_missing(blocks.clone()) {
            blocks.start = block;
            self.check_block(blocks.clone(), Some(tag))?;
        }
        Ok(())
    }

    /// Whether a block has the bytes that were written.
    fn is_intact(&self, block: usize) -> bool {
        let start = block * BLOCK_BYTES;
        let end = (start + BLOCK_BYTES).min(self.data_bytes);
        let stored = self.map.len() - TAIL_BYTES - (self.block_count() - block) * BLOCK_ENTRY_BYTES;
        xxh3_64(&self.map[start..end]) == read_u64(&self.map, stored)
    }

    /// Checks the first of `wanted`, the blocks that will be read now.
    fn check_block(&self, wanted: Range<usize>, tag: Option<Tag>) -> Result<()> {
        let block = wanted.start;
        let mut is_intact = self.is_intact(block);
        if let Some(blocks) = self.blocks.as_ref().filter(|_| !is_intact) {
            blocks.fetch(wanted, self.data_bytes, |block| self.is_intact(block))?;
            is_intact = self.is_intact(block);
        }
        if !is_intact {
            let start = block * BLOCK_BYTES;
            let end = (start + BLOCK_BYTES).min(self.data_bytes);
            let tag = tag.unwrap_or_else(|| self.tag_near(start));
            let tag = tag.escape_ascii();
            return Err(Error::damaged(
                &self.path,
                format!("section `{tag}` fails its checksum in bytes {start}..{end}"),
            ));
        }
        self.checked.insert(block);
        Ok(())
    }

    /// The section that contains file offset `offset`, or the next one.
    fn tag_near(&self, offset: usize) -> Tag {
        let inside = self.sections.iter().find(|section| section.offset + section.bytes > offset as u64);
        inside.map_or(*b"head", |section| section.tag)
    }
}

/// The footer of a mapped file, whose checksum was verified.
struct Footer<'a> {
    offset: usize,
    checksum: u64,
    block_count: usize,
    section_bytes: &'a [u8],
}

impl<'a> Footer<'a> {
    fn read(path: &Path, map: &'a [u8]) -> Result<Self> {
        let tail = map.len() - TAIL_BYTES;
        if map[map.len() - TAIL_MAGIC.len()..] != TAIL_MAGIC {
            return Err(Error::damaged(path, "truncated or overwritten: the end mark is missing"));
        }
        let impossible = || Error::damaged(path, "impossible footer");
        let offset = usize::try_from(read_u64(map, tail)).map_err(|_| impossible())?;
        let section_count = read_u32(map, tail + 8) as usize;
        let block_count = read_u32(map, tail + 12) as usize;
        // Two 32-bit counts times small sizes cannot overflow 64 bits.
        let expected =
            section_count as u64 * SECTION_ENTRY_BYTES as u64 + block_count as u64 * BLOCK_ENTRY_BYTES as u64;
        if offset < HEADER_BYTES || offset > tail || (tail - offset) as u64 != expected {
            return Err(impossible());
        }
        let checksum = read_u64(map, tail + TAIL_CHECKED_BYTES);
        if xxh3_64(&map[offset..tail + TAIL_CHECKED_BYTES]) != checksum {
            return Err(Error::damaged(path, "the footer fails its checksum"));
        }
        if block_count != offset.div_ceil(BLOCK_BYTES) {
            return Err(impossible());
        }
        let section_bytes = &map[offset..offset + section_count * SECTION_ENTRY_BYTES];
        Ok(Footer { offset, checksum, block_count, section_bytes })
    }

    fn sections(&self, path: &Path) -> Result<Vec<SectionEntry>> {
        let mut sections = Vec::new();
        for entry in self.section_bytes.chunks_exact(SECTION_ENTRY_BYTES) {
            let tag = [entry[0], entry[1], entry[2], entry[3]];
            let (last_packed, offset, bytes) = (read_u32(entry, 4), read_u64(entry, 8), read_u64(entry, 16));
            let aligned = offset.is_multiple_of(SECTION_ALIGNMENT as u64);
            let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.offset as u64);
            if !aligned || !inside || offset < HEADER_BYTES as u64 {
                return Err(Error::damaged(path, format!("section `{}` lies outside the file", tag.escape_ascii())));
            }
            sections.push(SectionEntry { tag, last_packed, offset, bytes });
        }
        Ok(sections)
    }
}

/// Those of `sections` that are packed.
fn packed_sections(path: &Path, sections: &[SectionEntry]) -> Result<Vec<(Tag, Packed)>> {
    let packed = sections.iter().filter(|section| section.last_packed > 0).map(|ends| {
        let blocks = sections.iter().find(|section| section.tag == ends.tag && section.last_packed == 0);
        let packed = blocks.and_then(|blocks| Packed::new(blocks.range(), ends.range(), ends.last_packed));
        let impossible = || Error::damaged(path, format!("section `{}` is packed impossibly", ends.tag.escape_ascii()));
        Ok((ends.tag, packed.ok_or_else(impossible)?))
    });
    packed.collect()
}

/// The header has a checksum of its own and its layout never changes, so that another version can be distinguished from damage whatever the
/// rest of the file looks like.
fn check_header(path: &Path, map: &[u8], kind: SegmentKind, version: u32) -> Result<()> {
    if map[..4] != FILE_MAGIC {
        return Err(Error::damaged(path, "not a segment file"));
    }
    if xxh3_64(&map[..HEADER_CHECKED_BYTES]) != read_u64(map, HEADER_CHECKED_BYTES) {
        return Err(Error::damaged(path, "the header fails its checksum"));
    }
    if map[4..8] != kind.0 {
        let (found, expected) = (map[4..8].escape_ascii(), kind.0.escape_ascii());
        return Err(Error::damaged(path, format!("it holds `{found}`, not `{expected}`")));
    }
    let found = read_u32(map, 8);
    if found != version {
        return Err(Error::IndexVersion { path: path.to_path_buf(), found, expected: version });
    }
    Ok(())
}

/// Where the footer of a segment's file begins.
///
/// # Errors
/// The operating system's; where the file is too short.
pub fn footer_offset(file: &mut File) -> io::Result<u64> {
    let mut offset = [0; 8];
    file.seek(SeekFrom::End(-(TAIL_BYTES as i64)))?;
    file.read_exact(&mut offset)?;
    Ok(u64::from_le_bytes(offset))
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    bytemuck::pod_read_unaligned(&bytes[at..at + 8])
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytemuck::pod_read_unaligned(&bytes[at..at + 4])
}

#[cfg(test)]
mod tests;
