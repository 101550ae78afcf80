//! A table or record on its way into a segment: everything the segment will store of it, laid out as it is stored.
//!
//! Drafts are made where tables are read, on all cores, so that the one writer has nothing left to do but append. That also
//! frees each table's many small texts on the thread that made them.

use super::catalog::FileStamp;
use super::columns::ColumnsWriter;
use super::structure::TableContent;
use super::structures::Drafts;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::reader::ReadReport;
use lakeward_lake::source::ContentHash;
use lakeward_models::embed::Embedder;
use lakeward_sketch::ColumnSketch;

/// A table read, sketched and embedded; or a record.
pub struct TableDraft {
    /// Hash of the file it came from.
    pub hash: ContentHash,
    /// Rows read.
    pub rows: u64,
    /// What reading took; nothing for a record.
    pub report: ReadReport,
    /// Its columns, by place.
    pub(super) columns: ColumnsWriter,
    /// What each structure keeps of it.
    pub(super) structures: Drafts,
}

impl TableDraft {
    /// Lays out a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] where its parts contradict each other.
    pub fn new(
        dataset: &Dataset,
        stamp: &FileStamp,
        sketches: &[ColumnSketch],
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
        let structures = Drafts::of(&TableContent { dataset, stamp, sketches, embedder })?;
        Ok(TableDraft { hash: *dataset.content(), rows, report, columns, structures })
    }
}
