//! A table or record to be added to a segment: all data that the segment will store for it, in stored layout.
//!
//! Drafts are made by the threads that read tables, on all cores, so that the one writer only has to append. Each table's many small texts
//! are also freed on the thread that allocated them.

use super::columns::ColumnsWriter;
use super::structure::TableContent;
use super::structures::Drafts;
use super::table_store::FileStamp;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::key_sample::KeySample;
use lakeward_lake::reader::ReadReport;
use lakeward_models::embed::Embedder;
use lakeward_sketch::ColumnSketch;

/// A table that was read, sketched and embedded; or a record.
pub struct TableDraft {
    /// Rows read.
    pub rows: u64,
    /// Bytes of its files that did not have to be read.
    pub(super) unread_bytes: u64,
    /// The report of reading; empty for a record.
    pub report: ReadReport,
    /// What was set for it and cannot be followed.
    pub(super) problems: Vec<String>,
    /// Its columns, by position.
    pub(super) columns: ColumnsWriter,
    /// The drafts of its structures.
    pub(super) structures: Drafts,
}

impl TableDraft {
    /// Drafts a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if its parts contradict each other.
    pub fn new(
        dataset: &Dataset,
        stamp: &FileStamp,
        sketches: &[ColumnSketch],
        samples: &[KeySample],
        embedder: &dyn Embedder,
    ) -> Result<TableDraft> {
        let (rows, report) = match dataset {
            Dataset::Table(table) => (table.profile.rows, table.report.clone()),
            Dataset::Record(_) => (0, ReadReport::default()),
        };
        let sampled = report.sample.is_some();
        let mut columns = ColumnsWriter::default();
        for (place, (profile, sketch)) in dataset.columns().iter().zip(sketches).enumerate() {
            columns.push(0, place as u32, profile, sketch, sampled);
        }
        let structures = Drafts::of(&TableContent { dataset, stamp, sketches, samples, embedder })?;
        Ok(TableDraft { rows, unread_bytes: 0, report, problems: Vec::new(), columns, structures })
    }
}
