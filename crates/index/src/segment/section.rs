//! A section of an open segment file: checked bytes and arrays, read in place.

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::AnyBitPattern;
use stable_deref_trait::StableDeref;

use super::{Mapped, Tag};
use lakeward_core::error::{Error, Result};

/// One section of an open segment; it keeps the map alive, so structures may own their sections.
#[derive(Debug, Clone)]
pub struct Section {
    pub(super) mapped: Arc<Mapped>,
    pub(super) tag: Tag,
    /// In the file or, of a packed one, in what is unpacked.
    pub(super) range: Range<usize>,
    /// Its place among the packed ones.
    pub(super) packed: Option<usize>,
}

impl Section {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Bytes `range` of the section, checked. Fails with [`Error::DamagedIndex`] if a block fails its checksum or if
    /// the range, which usually comes from the file itself, exceeds the section.
    #[inline]
    pub fn bytes(&self, range: Range<usize>) -> Result<&[u8]> {
        if range.start > range.end || range.end > self.range.len() {
            return Err(self.damaged(format!("bytes {}..{} requested of {}", range.start, range.end, self.len())));
        }
        let absolute = self.range.start + range.start..self.range.start + range.end;
        match self.packed {
            None => {
                self.mapped.check(absolute.clone(), self.tag)?;
                Ok(&self.mapped.map[absolute])
            }
            Some(place) => {
                let packed = &self.mapped.packed[place].1;
                packed.unpack(absolute.clone(), &self.mapped, self.tag)?;
                Ok(packed.get(absolute))
            }
        }
    }

    /// As [`bytes`](Self::bytes), but keeps the map alive: for readers that own what they read. Not of a packed
    /// section.
    pub fn owned(&self, range: Range<usize>) -> Result<MappedBytes> {
        if self.packed.is_some() {
            return Err(self.damaged("it is packed"));
        }
        self.bytes(range.clone())?;
        let range = self.range.start + range.start..self.range.start + range.end;
        Ok(MappedBytes { mapped: Arc::clone(&self.mapped), range })
    }

    /// Elements `range` of the section as an array of `T`, checked; errors as [`bytes`](Self::bytes).
    #[inline]
    pub fn slice<T: AnyBitPattern>(&self, range: Range<usize>) -> Result<&[T]> {
        let size = size_of::<T>();
        let (Some(start), Some(end)) = (range.start.checked_mul(size), range.end.checked_mul(size)) else {
            return Err(self.damaged(format!("elements {}..{} are out of range", range.start, range.end)));
        };
        let bytes = self.bytes(start..end)?;
        bytemuck::try_cast_slice(bytes)
            .map_err(|why| Error::Internal(format!("section cannot be read as an array: {why}")))
    }

    /// The whole section as an array of `T`; fails also if its length is not a multiple of `T`'s.
    pub fn all<T: AnyBitPattern>(&self) -> Result<&[T]> {
        if !self.len().is_multiple_of(size_of::<T>()) {
            return Err(self.damaged(format!("{} bytes are not a whole number of elements", self.len())));
        }
        self.slice(0..self.len() / size_of::<T>())
    }

    /// An [`Error::DamagedIndex`] with this section's file and tag: for structures that find impossible content.
    #[cold]
    pub fn damaged(&self, reason: impl std::fmt::Display) -> Error {
        Error::damaged(&self.mapped.path, format!("section `{}`: {reason}", self.tag.escape_ascii()))
    }
}

/// Checked bytes of a segment that keep its map alive.
#[derive(Debug, Clone)]
pub struct MappedBytes {
    mapped: Arc<Mapped>,
    /// Inside the map, as [`Section::owned`] has checked.
    range: Range<usize>,
}

impl Deref for MappedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.mapped.map[self.range.clone()]
    }
}

// SAFETY: the bytes are in the map, which neither moves nor changes while the `Arc` holds it, wherever this value is
// moved.
unsafe impl StableDeref for MappedBytes {}
