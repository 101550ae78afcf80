//! The common interface of all structures of a segment: a file with a name, a kind and a version; a draft of each table; a writer that
//! collects drafts, or tables stored in another segment; and a reader.
//!
//! A new structure is a file with these two traits and a line in [`structures`](super::structures), which builds, merges, opens, verifies
//! and repairs everything listed there. The idea of one closed list is from tantivy (`SegmentComponent`).

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::columns::ColumnsWriter;
use super::manifest::{FileEntry, Manifest, SegmentEntry};
use super::segment::{SegmentFile, SegmentKind, SegmentStats, SegmentWriter};
use super::structures::Segment;
use super::table_store::FileStamp;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::key_sample::KeySample;
use lakeward_models::embed::{Embedder, TokenEmbedder};
use lakeward_sketch::ColumnSketch;

/// A structure of an opened segment, read in place.
pub trait Structure: Sized {
    /// Its file.
    const FORMAT: FileFormat;
    /// The data it stores for one table, in stored layout.
    type Draft: Send;
    /// The writer that collects the tables of one segment.
    type Writer: StructureWriter<Draft = Self::Draft>;
    /// Whether it follows from the columns of the segment alone, so that segments that are only merged need none.
    const FOLLOWS_FROM_COLUMNS: bool = false;

    /// Drafts a table; called by the threads that read tables, on all cores.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if the parts of the table contradict each other.
    fn draft(table: &TableContent<'_>) -> Result<Self::Draft>;

    /// Opens its file; reads no table.
    ///
    /// # Errors
    /// Those of [`SegmentFile::open`]; [`lakeward_core::Error::DamagedIndex`] if its parts contradict each other.
    fn open(files: &SegmentFiles<'_>) -> Result<Self>;

    /// Whether its size fits a segment with this many tables and columns.
    fn fits(&self, tables: usize, columns: usize) -> bool;
}

/// Collects the data that a structure stores for the tables of one segment, in the order of their ids.
pub trait StructureWriter: Sized {
    /// See [`Structure::Draft`].
    type Draft;

    /// Starts with no table. `folder` is the folder of the segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Io`] if a file cannot be created.
    fn create(folder: &Path, shape: VectorShape) -> Result<Self>;

    /// Adds the next table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if the draft cannot be the next one, [`lakeward_core::Error::Io`].
    fn push(&mut self, draft: &Self::Draft, place: &Place) -> Result<()>;

    /// Adds a table stored in another segment as the next one. Nothing of the lake is read.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the other segment is damaged, and those of [`push`](Self::push).
    fn push_stored(&mut self, from: &StoredTable<'_>, place: &Place) -> Result<()>;

    /// Adds the data stored per segment and not per table; all live tables of `from` were added before, and `number_of` returns the number
    /// of each here.
    ///
    /// # Errors
    /// As [`push_stored`](Self::push_stored).
    fn push_segment(&mut self, _from: &Segment, _number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        Ok(())
    }

    /// Writes its file into `folder`; `None` if the segment has none. `columns` are those of all tables added.
    ///
    /// # Errors
    /// Those of the segment writer.
    fn finish(self, folder: &Path, columns: &ColumnsWriter) -> Result<Option<SegmentStats>>;
}

/// A file of a segment: its name in the segment's folder, and the values in its header.
#[derive(Debug, Clone, Copy)]
pub struct FileFormat {
    /// Its name.
    pub name: &'static str,
    /// Its content type.
    pub kind: SegmentKind,
    /// The version written and read.
    pub version: u32,
}

impl FileFormat {
    /// Starts the file in `folder`.
    ///
    /// # Errors
    /// Those of [`SegmentWriter::create`].
    pub fn create(&self, folder: &Path) -> Result<SegmentWriter> {
        SegmentWriter::create(&folder.join(self.name), self.kind, self.version)
    }

    /// What the manifest says of the file once it is written.
    pub fn entry(&self, stats: SegmentStats) -> FileEntry {
        FileEntry { name: self.name.to_string(), bytes: stats.bytes, checksum: format!("{:016x}", stats.checksum) }
    }

    /// Opens the file in `folder`.
    ///
    /// # Errors
    /// Those of [`SegmentFile::open`].
    pub fn open(&self, folder: &Path) -> Result<SegmentFile> {
        SegmentFile::open(&folder.join(self.name), self.kind, self.version)
    }
}

/// A table as it was read.
pub struct TableContent<'a> {
    /// Its catalogue entry.
    pub dataset: &'a Dataset,
    /// The file it came from.
    pub stamp: &'a FileStamp,
    /// Its columns.
    pub sketches: &'a [ColumnSketch],
    /// Samples of its keys.
    pub samples: &'a [KeySample],
    /// The embedding model.
    pub embedder: &'a dyn Embedder,
}

/// A table stored in a segment.
pub struct StoredTable<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// The table's number in it.
    pub table: u32,
    /// The modification time to store in its stamp.
    pub modified_ns: u64,
}

impl StoredTable<'_> {
    /// Its columns, by number in its segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn columns(&self) -> Result<Range<u32>> {
        self.segment.tables.columns(self.table)
    }
}

/// The numbers of a table and of its columns in the segment that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table: u32,
    /// Its columns.
    pub columns: Range<u32>,
}

/// The shape of a model's vectors.
#[derive(Debug, Clone, Copy)]
pub struct VectorShape {
    /// Number of values per vector.
    pub dims: usize,
    /// Number of pieces in its vocabulary, if it has vectors of pieces.
    pub vocabulary: Option<usize>,
    /// Number of values per vector of the model that reads whole texts, if there is one.
    pub text_dims: Option<usize>,
}

impl VectorShape {
    /// The shape for `embedder`.
    pub fn of(embedder: &dyn Embedder) -> Self {
        let vocabulary = embedder.as_token_embedder().map(TokenEmbedder::vocabulary_len);
        Self { dims: embedder.dims(), vocabulary, text_dims: embedder.as_text_encoder().map(|encoder| encoder.dims()) }
    }
}

/// The files of a segment as listed in the manifest.
pub struct SegmentFiles<'a> {
    /// Their folder.
    pub folder: PathBuf,
    /// Numbers of removed tables.
    pub removed: &'a [u32],
    /// The files' entries in the manifest.
    pub listed: &'a [FileEntry],
}

impl<'a> SegmentFiles<'a> {
    /// The files of `segment` of the index in `index_folder`.
    pub fn of(index_folder: &Path, segment: &'a SegmentEntry) -> Self {
        let folder = Manifest::segment_folder(index_folder, &segment.name);
        Self { folder, removed: &segment.removed, listed: &segment.files }
    }

    /// Whether the segment has this file.
    pub fn has(&self, format: &FileFormat) -> bool {
        self.listed.iter().any(|file| file.name == format.name)
    }
}
