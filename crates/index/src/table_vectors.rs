//! The vectors of the columns and tables of a segment, four [sets](super::vectors) in one file; [`encode`] defines their content.

use std::path::Path;

use super::columns::ColumnsWriter;
use super::encode::{self, TableVectors};
use super::segment::{SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::vectors::{BinaryChoice, TagPrefix, VectorSet, VectorSetBuilder};
use lakeward_core::error::Result;

const COLUMNS: TagPrefix = *b"COL";
const CONTENTS: TagPrefix = *b"CNT";
const TOPICS: TagPrefix = *b"TPC";
const TITLES: TagPrefix = *b"TTL";

/// The vectors of an opened segment.
pub struct Vectors {
    /// One per column.
    pub columns: VectorSet,
    /// One per table, from headers and values.
    pub contents: VectorSet,
    /// One per table, from all texts about it.
    pub topics: VectorSet,
    /// One per table, from its title, or from the words of its path if it has none.
    pub titles: VectorSet,
}

/// The vectors of one table.
pub struct VectorsDraft {
    columns: VectorSetBuilder,
    table: TableVectors,
}

impl Structure for Vectors {
    const FORMAT: FileFormat = FileFormat { name: "vectors.seg", kind: SegmentKind(*b"VECT"), version: 4 };
    type Draft = VectorsDraft;
    type Writer = VectorsWriter;

    fn draft(table: &TableContent<'_>) -> Result<VectorsDraft> {
        let TableContent { dataset, sketches, embedder, .. } = *table;
        let mut columns = VectorSetBuilder::in_two_parts(encode::column_dims(embedder.dims()), encode::SHAPE_DIMS)?;
        for (place, (profile, sketch)) in dataset.columns().iter().zip(sketches).enumerate() {
            if place % encode::COLUMNS_AT_ONCE == 0 {
                encode::prefetch(embedder, dataset, sketches, place);
            }
            columns.push(&encode::column_vector(embedder, profile, sketch))?;
        }
        Ok(VectorsDraft { columns, table: encode::table_vectors(embedder, dataset, sketches) })
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        file.read_together(*b"CNTH", *b"TTLS");
        Ok(Self {
            columns: VectorSet::open(&file, COLUMNS)?,
            contents: VectorSet::open(&file, CONTENTS)?,
            topics: VectorSet::open(&file, TOPICS)?,
            titles: VectorSet::open(&file, TITLES)?,
        })
    }

    fn fits(&self, tables: usize, columns: usize) -> bool {
        self.columns.len() == columns && [&self.contents, &self.topics, &self.titles].map(VectorSet::len) == [tables; 3]
    }
}

/// Collects the vectors of one segment.
pub struct VectorsWriter {
    columns: VectorSetBuilder,
    contents: VectorSetBuilder,
    topics: VectorSetBuilder,
    titles: VectorSetBuilder,
}

impl StructureWriter for VectorsWriter {
    type Draft = VectorsDraft;

    fn create(_folder: &Path, shape: VectorShape) -> Result<Self> {
        Ok(Self {
            columns: VectorSetBuilder::in_two_parts(encode::column_dims(shape.dims), encode::SHAPE_DIMS)?,
            contents: VectorSetBuilder::new(shape.dims)?,
            topics: VectorSetBuilder::new(shape.dims)?,
            titles: VectorSetBuilder::new(shape.dims)?,
        })
    }

    fn push(&mut self, draft: &VectorsDraft, _place: &Place) -> Result<()> {
        self.columns.append(&draft.columns)?;
        self.contents.push(&draft.table.content)?;
        self.topics.push(&draft.table.topic)?;
        self.titles.push(&draft.table.title)
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        let vectors = &from.segment.vectors;
        for column in from.columns()? {
            self.columns.push_stored(&vectors.columns, column)?;
        }
        self.contents.push_stored(&vectors.contents, from.table)?;
        self.topics.push_stored(&vectors.topics, from.table)?;
        self.titles.push_stored(&vectors.titles, from.table)
    }

    fn finish(self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut file = Vectors::FORMAT.create(folder)?;
        self.columns.write(&mut file, COLUMNS, BinaryChoice::Auto)?;
        self.contents.write(&mut file, CONTENTS, BinaryChoice::Auto)?;
        self.topics.write(&mut file, TOPICS, BinaryChoice::Auto)?;
        self.titles.write(&mut file, TITLES, BinaryChoice::Never)?;
        file.finish().map(Some)
    }
}
