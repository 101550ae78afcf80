//! Many short lists in one array.

use bytemuck::{AnyBitPattern, NoUninit};

use lakeward_core::error::Result;
use lakeward_index::segment::{Section, SegmentFile, SegmentWriter, Tag};

/// An edge to `to`; greater weights are nearer.
#[derive(Debug, Clone, Copy, PartialEq, Default, AnyBitPattern, NoUninit)]
#[repr(C)]
pub struct Link {
    /// The target node.
    pub to: u32,
    /// In (0, 1].
    pub weight: f32,
}

/// A dataset used for a task, and the mention that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, AnyBitPattern, NoUninit)]
#[repr(C)]
pub struct Use {
    /// The node of the dataset.
    pub dataset: u32,
    /// Index of the mention in the task's list.
    pub mention: u32,
}

/// Lists of `T`, stored back to back.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists<T> {
    starts: Vec<u64>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl<T: Copy + AnyBitPattern + NoUninit> Lists<T> {
    /// Adds a list.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.starts.push(self.items.len() as u64);
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// List `place`; empty if there is none.
    pub fn get(&self, place: usize) -> &[T] {
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(start), Some(end)) => &self.items[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// All lists in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        (0..self.len()).map(|place| self.get(place))
    }

    /// The items of all lists.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The items of all lists, mutable.
    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// Writes both arrays as the sections `tag` + `o` (offsets) and `tag` + `i` (items).
    ///
    /// # Errors
    /// Those of [`SegmentWriter::section`].
    pub fn write(&self, writer: &mut SegmentWriter, tag: [u8; 3]) -> Result<()> {
        writer.section_of(section_tag(tag, b'o'), &self.starts)?;
        writer.section_of(section_tag(tag, b'i'), &self.items)
    }

    /// Reads what [`Lists::write`] wrote; there must be `count` lists.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn read(segment: &SegmentFile, tag: [u8; 3], count: usize) -> Result<Self> {
        let (starts, items) = (segment.section(section_tag(tag, b'o'))?, segment.section(section_tag(tag, b'i'))?);
        let lists = Self { starts: starts.all()?.to_vec(), items: items.all()?.to_vec() };
        check_starts(&starts, &lists.starts, lists.items.len(), count)?;
        Ok(lists)
    }
}

/// Texts stored back to back in a mapped file.
#[derive(Debug, Clone)]
pub struct Texts {
    starts: Vec<u64>,
    bytes: Section,
}

impl Texts {
    /// Writes `texts` as the sections `tag` + `o` (offsets) and `tag` + `t` (text).
    ///
    /// # Errors
    /// Those of [`SegmentWriter::section`].
    pub fn write<'a>(
        writer: &mut SegmentWriter,
        tag: [u8; 3],
        texts: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<()> {
        let mut end = 0u64;
        let ends = texts.clone().map(|text| {
            end += text.len() as u64;
            end
        });
        let starts: Vec<u64> = std::iter::once(0).chain(ends).collect();
        writer.section_of(section_tag(tag, b'o'), &starts)?;
        let mut section = writer.section_writer(section_tag(tag, b't'))?;
        for text in texts {
            section.write(text)?;
        }
        Ok(())
    }

    /// Opens what [`Texts::write`] wrote; there must be `count` texts.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn open(segment: &SegmentFile, tag: [u8; 3], count: usize) -> Result<Self> {
        let (starts, bytes) = (segment.section(section_tag(tag, b'o'))?, segment.section(section_tag(tag, b't'))?);
        let texts = Self { starts: starts.all()?.to_vec(), bytes };
        check_starts(&starts, &texts.starts, texts.bytes.len(), count)?;
        Ok(texts)
    }

    /// Text `place`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if there is none, or its bytes have changed since they were written.
    pub fn get(&self, place: usize) -> Result<&[u8]> {
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(start), Some(end)) => self.bytes.bytes(*start as usize..*end as usize),
            _ => Err(self.bytes.damaged(format!("there is no text {place}"))),
        }
    }

    /// Text `place` as JSON.
    ///
    /// # Errors
    /// As [`Texts::get`].
    pub fn json<T: serde::de::DeserializeOwned>(&self, place: usize) -> Result<T> {
        serde_json::from_slice(self.get(place)?).map_err(|error| self.bytes.damaged(error))
    }
}

fn section_tag(tag: [u8; 3], end: u8) -> Tag {
    [tag[0], tag[1], tag[2], end]
}

fn check_starts(section: &Section, starts: &[u64], items: usize, count: usize) -> Result<()> {
    let fits = starts.len() == count + 1
        && starts.first() == Some(&0)
        && starts.last() == Some(&(items as u64))
        && starts.is_sorted();
    if fits { Ok(()) } else { Err(section.damaged("its list offsets are inconsistent")) }
}
