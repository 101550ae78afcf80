//! Writes segment files: streams sections through one block buffer, then writes the footer, then renames.

use std::path::Path;

use bytemuck::NoUninit;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    BLOCK_BYTES, FILE_MAGIC, HEADER_BYTES, HEADER_CHECKED_BYTES, PackedWriter, Packing, SECTION_ALIGNMENT,
    SectionEntry, SegmentKind, SegmentStats, TAIL_MAGIC, Tag,
};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};

/// Writes one segment file, section by section. If dropped without [`finish`](Self::finish), it leaves nothing behind.
#[derive(Debug)]
pub struct SegmentWriter {
    file: AtomicFile,
    /// The block being filled; never longer than [`BLOCK_BYTES`].
    block: Vec<u8>,
    position: u64,
    block_checksums: Vec<u64>,
    sections: Vec<SectionEntry>,
}

impl SegmentWriter {
    /// Starts a segment that will appear at `path` when finished; its folder must exist.
    pub fn create(path: &Path, kind: SegmentKind, version: u32) -> Result<Self> {
        let mut writer = SegmentWriter {
            file: AtomicFile::create(path, Purpose::Index)?,
            block: Vec::with_capacity(BLOCK_BYTES),
            position: 0,
            block_checksums: Vec::new(),
            sections: Vec::new(),
        };
        writer.push(&header(kind, version))?;
        Ok(writer)
    }

    /// Writes a whole section. Fails if `tag` was already written or writing fails.
    pub fn section(&mut self, tag: Tag, bytes: &[u8]) -> Result<()> {
        self.section_writer(tag)?.write(bytes)
    }

    /// Writes a whole section of `elements`, to be read back with [`Section::all`](super::Section::all) or
    /// [`Section::slice`](super::Section::slice).
    pub fn section_of<T: NoUninit>(&mut self, tag: Tag, elements: &[T]) -> Result<()> {
        self.section(tag, bytemuck::cast_slice(elements))
    }

    /// Starts a section that is written piece by piece; it ends when the next one starts or the segment is finished.
    pub fn section_writer(&mut self, tag: Tag) -> Result<SectionWriter<'_>> {
        if self.sections.iter().any(|section| section.tag == tag) {
            return Err(Error::Internal(format!("section `{}` written twice", tag.escape_ascii())));
        }
        self.pad()?;
        self.sections.push(SectionEntry { tag, last_packed: 0, offset: self.position, bytes: 0 });
        Ok(SectionWriter { segment: self })
    }

    /// As [`section`](Self::section), [packed](super::packed).
    pub fn packed_section(&mut self, tag: Tag, packing: Packing, bytes: &[u8]) -> Result<()> {
        let mut section = self.packed_section_writer(tag, packing)?;
        section.write(bytes)?;
        section.finish()
    }

    /// As [`section_of`](Self::section_of), [packed](super::packed).
    pub fn packed_section_of<T: NoUninit>(&mut self, tag: Tag, packing: Packing, elements: &[T]) -> Result<()> {
        self.packed_section(tag, packing, bytemuck::cast_slice(elements))
    }

    /// Starts a [packed](super::packed) section that is written piece by piece.
    pub fn packed_section_writer(&mut self, tag: Tag, packing: Packing) -> Result<PackedWriter<'_>> {
        PackedWriter::new(self, tag, packing)
    }

    /// Ends a packed section: what is said of its last block, and the `ends` of all.
    pub(super) fn end_packed_section(&mut self, tag: Tag, last: u32, ends: &[u64]) -> Result<()> {
        self.pad()?;
        self.sections.push(SectionEntry { tag, last_packed: last, offset: self.position, bytes: 0 });
        self.last_section().write_slice(ends)
    }

    /// Continues the section that was started last, for a caller that cannot keep its writer.
    pub fn last_section(&mut self) -> SectionWriter<'_> {
        SectionWriter { segment: self }
    }

    /// Ends the file, flushes it to disk and renames it to its final name, replacing an existing file.
    pub fn finish(mut self) -> Result<SegmentStats> {
        self.pad()?;
        self.end_block()?;
        let footer_offset = self.position;
        let mut footer = Vec::new();
        for section in &self.sections {
            footer.extend(section.tag);
            footer.extend(section.last_packed.to_le_bytes());
            footer.extend(section.offset.to_le_bytes());
            footer.extend(section.bytes.to_le_bytes());
        }
        for checksum in &self.block_checksums {
            footer.extend(checksum.to_le_bytes());
        }
        footer.extend(footer_offset.to_le_bytes());
        footer.extend(count_u32(self.sections.len())?.to_le_bytes());
        footer.extend(count_u32(self.block_checksums.len())?.to_le_bytes());
        let checksum = xxh3_64(&footer);
        footer.extend(checksum.to_le_bytes());
        footer.extend(TAIL_MAGIC);
        self.file.put(&footer)?;
        Ok(SegmentStats { bytes: self.file.replace()?, checksum })
    }

    /// Writes zeros up to the next section boundary.
    fn pad(&mut self) -> Result<()> {
        let beyond = (self.position % SECTION_ALIGNMENT as u64) as usize;
        if beyond > 0 {
            self.push(&[0u8; SECTION_ALIGNMENT][beyond..])?;
        }
        Ok(())
    }

    fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.block.len()));
            self.block.extend_from_slice(now);
            self.position += now.len() as u64;
            bytes = later;
            if self.block.len() == BLOCK_BYTES {
                self.end_block()?;
            }
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.block_checksums.push(xxh3_64(&self.block));
            self.file.put(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }
}

/// Appends to the section most recently started; see [`SegmentWriter::section_writer`].
#[derive(Debug)]
pub struct SectionWriter<'a> {
    segment: &'a mut SegmentWriter,
}

impl SectionWriter<'_> {
    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.segment.push(bytes)?;
        if let Some(section) = self.segment.sections.last_mut() {
            section.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// Appends elements in their memory layout.
    pub fn write_slice<T: NoUninit>(&mut self, elements: &[T]) -> Result<()> {
        self.write(bytemuck::cast_slice(elements))
    }

    /// Bytes written to this section so far.
    pub fn bytes_written(&self) -> u64 {
        self.segment.sections.last().map_or(0, |section| section.bytes)
    }
}

fn header(kind: SegmentKind, version: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0u8; HEADER_BYTES];
    header[..4].copy_from_slice(&FILE_MAGIC);
    header[4..8].copy_from_slice(&kind.0);
    header[8..12].copy_from_slice(&version.to_le_bytes());
    let checksum = xxh3_64(&header[..HEADER_CHECKED_BYTES]);
    header[HEADER_CHECKED_BYTES..HEADER_CHECKED_BYTES + 8].copy_from_slice(&checksum.to_le_bytes());
    header
}

fn count_u32(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::Internal("a segment of more than 256 TiB".into()))
}
