//! What all structures of a segment have in common: a file with a name, a kind and a version; a draft of each table; a writer that
//! collects drafts, or tables that another segment stores; and a reader.
//!
//! A new structure is a file with these two traits and a line in [`structures`](super::structures), which builds, merges, opens,
//! verifies and repairs everything that is listed there. The idea of one closed list is tantivy's (`SegmentComponent`).

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::catalog::FileStamp;
use super::columns::ColumnsWriter;
use super::manifest::{FileEntry, Manifest, SegmentEntry};
use super::segment::{SegmentFile, SegmentKind, SegmentStats, SegmentWriter};
use super::structures::Segment;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_models::embed::{Embedder, TokenEmbedder};
use lakeward_sketch::ColumnSketch;

/// A structure of an opened segment, read in place.
pub trait Structure: Sized {
    /// Its file.
    const FORMAT: FileFormat;
    /// What it keeps of one table, laid out as it is stored.
    type Draft: Send;
    /// What collects the tables of one segment.
    type Writer: StructureWriter<Draft = Self::Draft>;

    /// Drafts a table; called where tables are read, on all cores.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] where the parts of the table contradict each other.
    fn draft(table: &TableContent<'_>) -> Result<Self::Draft>;

    /// Opens its file; reads no table.
    ///
    /// # Errors
    /// Those of [`SegmentFile::open`]; [`lakeward_core::Error::DamagedIndex`] where its parts contradict each other.
    fn open(files: &SegmentFiles<'_>) -> Result<Self>;

    /// Whether it can be that of a segment of so many tables and columns.
    fn fits(&self, tables: usize, columns: usize) -> bool;
}

/// Collects what a structure keeps of the tables of one segment, in the order of their ids.
pub trait StructureWriter: Sized {
    /// See [`Structure::Draft`].
    type Draft;

    /// Starts with no table. `folder` is that of the segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Io`] where a file cannot be made.
    fn create(folder: &Path, shape: VectorShape) -> Result<Self>;

    /// Adds the next table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] where the draft cannot be the next one, [`lakeward_core::Error::Io`].
    fn push(&mut self, draft: &Self::Draft, place: &Place) -> Result<()>;

    /// Adds a table that another segment stores as the next one. Nothing of the lake is read.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where the other segment is damaged, and those of [`push`](Self::push).
    fn push_stored(&mut self, from: &StoredTable<'_>, place: &Place) -> Result<()>;

    /// Adds what is stored by segment and not by table; all tables of `from` that stay were added before, and `number_of` gives
    /// the number of each here.
    ///
    /// # Errors
    /// As [`push_stored`](Self::push_stored).
    fn push_segment(&mut self, _from: &Segment, _number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        Ok(())
    }

    /// Writes its file into `folder`; nothing where the segment has none. `columns` are those of all tables added.
    ///
    /// # Errors
    /// What the segment writer reports.
    fn finish(self, folder: &Path, columns: &ColumnsWriter) -> Result<Option<SegmentStats>>;
}

/// A file of a segment: its name in the segment's folder, and what its header says.
#[derive(Debug, Clone, Copy)]
pub struct FileFormat {
    /// Its name.
    pub name: &'static str,
    /// Marks what it holds.
    pub kind: SegmentKind,
    /// The version that is written and read.
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
    /// What the catalogue says of it, or of the record.
    pub dataset: &'a Dataset,
    /// The file it came from.
    pub stamp: &'a FileStamp,
    /// Its columns.
    pub sketches: &'a [ColumnSketch],
    /// The model that makes the vectors.
    pub embedder: &'a dyn Embedder,
}

/// A table that a segment stores.
pub struct StoredTable<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// The table's number in it.
    pub table: u32,
    /// What its stamp says of the time of change from now on.
    pub modified_ns: u64,
}

impl StoredTable<'_> {
    /// Its columns, by number in its segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn columns(&self) -> Result<Range<u32>> {
        self.segment.catalog.columns(self.table)
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

/// What vectors a model makes.
#[derive(Debug, Clone, Copy)]
pub struct VectorShape {
    /// Values of a vector.
    pub dims: usize,
    /// Pieces of its vocabulary, where it has vectors of pieces.
    pub vocabulary: Option<usize>,
}

impl VectorShape {
    /// Those of `embedder`.
    pub fn of(embedder: &dyn Embedder) -> Self {
        let vocabulary = embedder.as_token_embedder().map(TokenEmbedder::vocabulary_len);
        Self { dims: embedder.dims(), vocabulary }
    }
}

/// The files of a segment as the manifest names them.
pub struct SegmentFiles<'a> {
    /// Their folder.
    pub folder: PathBuf,
    /// Numbers of tables that do not count any more.
    pub removed: &'a [u32],
    /// What the manifest says of them.
    pub listed: &'a [FileEntry],
}

impl<'a> SegmentFiles<'a> {
    /// Those of `segment` of the index in `index_folder`.
    pub fn of(index_folder: &Path, segment: &'a SegmentEntry) -> Self {
        let folder = Manifest::segment_folder(index_folder, &segment.name);
        Self { folder, removed: &segment.removed, listed: &segment.files }
    }

    /// Whether the segment has this file.
    pub fn has(&self, format: &FileFormat) -> bool {
        self.listed.iter().any(|file| file.name == format.name)
    }
}
