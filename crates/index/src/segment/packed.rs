//! Sections that are stored packed: those that hold the same over and over.
//!
//! Each 16 KiB of such a section are packed for themselves, and unpacked into [memory](super::unpacked) when something in them is first read;
//! from then on they are read in place as any other section. A section of no more bytes than that is stored as it is.
//!
//! Some sections are packed, not all: what is unpacked lies in files without a name, which the system can take back,
//! or is memory of the process, 20 MB of the 30 of 4,741 tables. LZ4 for what most questions read (with zstd for all
//! a join of a new process took 39 ms of processor time, not 26), zstd for the rest; texts and inverted lists as they
//! are. Large pages: getting 12 MB in small ones took 6.5 ms, in these .6.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use bytemuck::NoUninit;
use zstd::bulk::{Compressor, Decompressor};

use super::block_set::BlockSet;
use super::unpacked::{self, Unpacked};
use super::{Mapped, SegmentWriter, Tag};
use lakeward_core::error::{Error, Result};

/// Bytes that are packed together. With more a first read takes longer, with fewer they are packed less well.
const PACKED_BYTES: usize = 16 << 10;
/// Of zstd.
const LEVEL: i32 = 3;
/// The bit in the length of a last block that says that all were packed [fast](Packing::Fast).
const IS_FAST: u32 = 1 << 31;

/// How a section is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// With LZ4, unpacked at some 3 GB/s: for what most questions read.
    Fast,
    /// With zstd, unpacked at 1 GB/s: for what few questions read, or little of.
    Small,
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Writes a packed section, piece by piece.
pub struct PackedWriter<'a> {
    segment: &'a mut SegmentWriter,
    tag: Tag,
    /// None if it is packed fast.
    compressor: Option<Compressor<'static>>,
    /// The block being filled; never longer than [`PACKED_BYTES`].
    block: Vec<u8>,
    /// Where each packed block ends in the section.
    ends: Vec<u64>,
}

impl<'a> PackedWriter<'a> {
    pub(super) fn new(segment: &'a mut SegmentWriter, tag: Tag, packing: Packing) -> Result<Self> {
        segment.section_writer(tag)?;
        let is_small = packing == Packing::Small;
        let compressor = is_small.then(|| Compressor::new(LEVEL)).transpose().map_err(not_packed)?;
        Ok(Self { segment, tag, compressor, block: Vec::with_capacity(PACKED_BYTES), ends: Vec::new() })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Those of the segment writer.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.block.len() == PACKED_BYTES {
                self.end_block()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(PACKED_BYTES - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Appends elements in their memory layout.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_slice<T: NoUninit>(&mut self, elements: &[T]) -> Result<()> {
        self.write(bytemuck::cast_slice(elements))
    }

    /// Ends the section.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn finish(mut self) -> Result<()> {
        if self.ends.is_empty() {
            return self.segment.last_section().write(&self.block);
        }
        let last = self.block.len() as u32 | if self.compressor.is_none() { IS_FAST } else { 0 };
        self.end_block()?;
        self.segment.end_packed_section(self.tag, last, &self.ends)
    }

    fn end_block(&mut self) -> Result<()> {
        let packed = match &mut self.compressor {
            Some(compressor) => compressor.compress(&self.block).map_err(not_packed)?,
            None => lz4_flex::block::compress(&self.block),
        };
        // A block that does not shrink is kept as it is, which its length tells.
        let bytes = if packed.len() < self.block.len() { &packed } else { &self.block };
        self.ends.push(self.ends.last().unwrap_or(&0) + bytes.len() as u64);
        self.segment.last_section().write(bytes)?;
        self.block.clear();
        Ok(())
    }
}

fn not_packed(error: std::io::Error) -> Error {
    Error::Internal(format!("a section cannot be packed: {error}"))
}

/// A packed section of an open segment.
#[derive(Debug)]
pub(super) struct Packed {
    /// Where in the file its packed blocks lie, and where each of them ends.
    blocks: Range<usize>,
    ends: Range<usize>,
    bytes: usize,
    packing: Packing,
    unpacked: BlockSet,
    /// As many bytes as it has unpacked; those of the blocks in `unpacked` never change again.
    memory: OnceLock<Unpacked>,
    /// Held while a block is written into the memory; a block on its way into a file.
    unpacking: Mutex<Vec<u8>>,
}

impl Packed {
    /// A section with these parts in the file, of whose last block there are `last` bytes, with [`IS_FAST`]; `None` if that is impossible.
    pub(super) fn new(blocks: Range<usize>, ends: Range<usize>, last: u32) -> Option<Self> {
        let packing = if last & IS_FAST != 0 { Packing::Fast } else { Packing::Small };
        let (count, last) = (ends.len() / size_of::<u64>(), (last & !IS_FAST) as usize);
        let is_possible =
            count > 0 && ends.len().is_multiple_of(size_of::<u64>()) && (1..=PACKED_BYTES).contains(&last);
        let bytes = count.checked_sub(1)?.checked_mul(PACKED_BYTES)?.checked_add(last).filter(|_| is_possible)?;
        let (unpacked, memory, unpacking) = (BlockSet::new(count), OnceLock::new(), Mutex::default());
        Some(Self { blocks, ends, bytes, packing, unpacked, memory, unpacking })
    }

    /// Its bytes, unpacked.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// Makes the bytes `range`, which is inside of it, ready to be read.
    #[inline]
    pub(super) fn unpack(&self, range: Range<usize>, mapped: &Mapped, tag: Tag) -> Result<()> {
        let blocks = range.start / PACKED_BYTES..range.end.div_ceil(PACKED_BYTES);
        match self.unpacked.first_missing(blocks.clone()) {
            Some(first) if !range.is_empty() => self.unpack_blocks(first..blocks.end, mapped, tag),
            _ => Ok(()),
        }
    }

    /// The bytes `range`, which were unpacked.
    #[inline]
    pub(super) fn get(&self, range: Range<usize>) -> &[u8] {
        match self.memory.get() {
            Some(memory) if range.start < range.end => {
                assert!(range.end <= memory.map.len(), "bytes behind the end of a section");
                // SAFETY: the bytes are inside the memory, which lives as long as `self`, and of blocks in `unpacked`, which nobody writes
                // any more: seeing their bits, this thread sees their bytes.
                unsafe { std::slice::from_raw_parts(memory.map.as_ptr().add(range.start), range.len()) }
            }
            // None, of elements of any type.
            _ => bytemuck::cast_slice::<u64, u8>(&[]),
        }
    }

    #[cold]
    fn unpack_blocks(&self, blocks: Range<usize>, mapped: &Mapped, tag: Tag) -> Result<()> {
        let damaged =
            |reason: &str| Error::damaged(&mapped.path, format!("section `{}`: {reason}", tag.escape_ascii()));
        mapped.check(self.ends.clone(), tag)?;
        let ends: &[u64] = bytemuck::try_cast_slice(&mapped.map[self.ends.clone()])
            .map_err(|why| Error::Internal(format!("section cannot be read as an array: {why}")))?;
        let place = |block: usize| {
            let start = block.checked_sub(1).map_or(0, |before| ends[before]);
            let end = ends[block];
            (start <= end && end <= self.blocks.len() as u64)
                .then(|| self.blocks.start + start as usize..self.blocks.start + end as usize)
                .ok_or_else(|| damaged("a packed block outside of it"))
        };
        // All at once, as they may be in a store.
        let (first, last) = (place(blocks.start)?, place(blocks.end - 1)?);
        mapped.check(first.start..last.end.max(first.start), tag)?;
        for block in blocks {
            let packed = place(block)?;
            mapped.check(packed.clone(), tag)?;
            let packed = &mapped.map[packed];
            let mut on_its_way = self.unpacking.lock().unwrap_or_else(PoisonError::into_inner);
            if self.unpacked.first_missing(block..block + 1).is_none() {
                continue;
            }
            let memory = self.memory()?;
            let start = block * PACKED_BYTES;
            let bytes = PACKED_BYTES.min(self.bytes - start);
            let unpack = |out: &mut [u8]| {
                if packed.len() == bytes {
                    out.copy_from_slice(packed);
                    return Ok(());
                }
                let unpacked = match self.packing {
                    Packing::Small => unpack_small(packed, out).map_err(|error| error.to_string()),
                    Packing::Fast => lz4_flex::block::decompress_into(packed, out).map_err(|error| error.to_string()),
                };
                match unpacked {
                    Ok(found) if found == bytes => Ok(()),
                    Ok(found) => Err(damaged(&format!("a block of {found} bytes instead of {bytes}"))),
                    Err(error) => Err(damaged(&format!("a block that cannot be unpacked: {error}"))),
                }
            };
            match &memory.file {
                Some(file) => {
                    on_its_way.resize(PACKED_BYTES, 0);
                    unpack(&mut on_its_way[..bytes])?;
                    unpacked::write(file, &on_its_way[..bytes], start)?;
                }
                // SAFETY: the bytes are inside the memory, and of a block that is not in `unpacked`, so that nobody reads them; the lock
                // is held, so that nobody else writes them.
                None => unpack(unsafe { std::slice::from_raw_parts_mut(memory.map.as_mut_ptr().add(start), bytes) })?,
            }
            self.unpacked.insert(block);
        }
        Ok(())
    }

    fn memory(&self) -> Result<&Unpacked> {
        if let Some(memory) = self.memory.get() {
            return Ok(memory);
        }
        let memory = Unpacked::of(self.bytes)?;
        Ok(self.memory.get_or_init(|| memory))
    }
}

fn unpack_small(packed: &[u8], out: &mut [u8]) -> std::io::Result<usize> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(packed, out)
    })
}
