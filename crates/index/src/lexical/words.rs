//! The word index as a structure of a segment: the indexed texts of a table, and the opened file.

use std::path::Path;
use std::sync::Arc;

use super::LexicalBuilder;
use super::build::LexicalDocument;
use super::packed::FORMAT;
use super::segment::OpenSegment;
use crate::columns::ColumnsWriter;
use crate::in_english::InEnglish;
use crate::segment::SegmentStats;
use crate::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use crate::structures::Segment;
use lakeward_core::error::Result;
use lakeward_lake::semantic::LogicalType;

/// Maximum bytes of a table's cell text.
const VALUES_TEXT_BYTES: usize = 512 << 10;
/// Folder for spilled parts, in the segment's folder while it is written.
const SCRATCH_FOLDER: &str = "scratch";
/// Bytes of memory a builder may use before it spills.
const MEMORY_BYTES: usize = 64 << 20;

/// The word index of an opened segment; [`LexicalIndex`](super::LexicalIndex) searches several as one.
pub struct Words(pub(super) Arc<OpenSegment>);

/// The texts of one table.
pub struct TableWords {
    id: String,
    title: String,
    headers: String,
    description: String,
    tags: String,
    values: String,
}

impl Structure for Words {
    const FORMAT: FileFormat = FORMAT;
    type Draft = TableWords;
    type Writer = LexicalBuilder;

    fn draft(table: &TableContent<'_>) -> Result<TableWords> {
        let TableContent { dataset, sketches, .. } = *table;
        let headers: Vec<&str> = dataset.columns().iter().map(|column| column.name.as_str()).collect();
        let mut values = String::new();
        for (column, sketch) in dataset.columns().iter().zip(sketches) {
            // Measurements are not useful as words; whole numbers (years, ids) are searched for.
            if column.logical != LogicalType::Float && values.len() < VALUES_TEXT_BYTES {
                values.push_str(&sketch.text);
            }
        }
        let metadata = dataset.metadata();
        let mut description = metadata.and_then(|metadata| metadata.description.clone()).unwrap_or_default();
        let preamble =
            dataset.table().into_iter().flat_map(|table| table.report.preamble.iter().chain(&table.report.notes));
        let beside = metadata.into_iter().flat_map(|metadata| metadata.words_beside());
        for line in metadata.and_then(|metadata| metadata.publisher.as_ref()).into_iter().chain(preamble).chain(beside)
        {
            description.push('\n');
            description.push_str(line);
        }
        let mut title = metadata.and_then(|metadata| metadata.title.clone()).unwrap_or_default();
        if let Some(english) = metadata.and_then(InEnglish::of) {
            title.push('\n');
            title.push_str(&english.title);
            for line in [&english.description].into_iter().chain(&english.tags).chain(&english.places) {
                description.push('\n');
                description.push_str(line);
            }
        }
        for column in metadata.into_iter().flat_map(|metadata| metadata.columns.values()) {
            for text in [&column.title, &column.description].into_iter().flatten() {
                description.push('\n');
                description.push_str(text);
            }
        }
        Ok(TableWords {
            id: dataset.id().to_string(),
            title,
            headers: headers.join("\n"),
            description,
            tags: metadata.map(|metadata| metadata.tags.join("\n")).unwrap_or_default(),
            values,
        })
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        OpenSegment::open(&files.folder, files.removed).map(|open| Self(Arc::new(open)))
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.0.tables.len() == tables
    }
}

impl StructureWriter for LexicalBuilder {
    type Draft = TableWords;

    fn create(folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(LexicalBuilder::new(&folder.join(SCRATCH_FOLDER), MEMORY_BYTES))
    }

    fn push(&mut self, draft: &TableWords, place: &Place) -> Result<()> {
        self.add(&LexicalDocument {
            table: place.table,
            id: &draft.id,
            title: &draft.title,
            headers: &draft.headers,
            description: &draft.description,
            tags: &draft.tags,
            values: &draft.values,
        })
    }

    /// Postings are taken over per segment.
    fn push_stored(&mut self, _from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        Ok(())
    }

    fn push_segment(&mut self, from: &Segment, number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        self.add_segment(&from.words, number_of)
    }

    fn finish(self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        Ok(Some(self.write(folder)?.file))
    }
}
