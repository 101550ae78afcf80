//! What a build did.

use schemars::JsonSchema;
use serde::Serialize;

use crate::manifest::{PartialFile, SkippedFile};
use lakeward_lake::metadata::RecordFlaw;
use lakeward_lake::reader::Repair;

/// The results of a build.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BuildStats {
    /// Tables in the index now.
    pub tables: u64,
    /// Catalogue records now in the index that describe none of these tables. They are not included in `tables`, but in `added`, `changed`,
    /// `removed` and `unchanged`.
    pub records: u64,
    /// Invalid lines in the record files; `problems` gives the reasons.
    pub records_left_out: u64,
    /// Records of a harvest that a later record of the same id replaced.
    pub records_replaced: u64,
    /// Records of a harvest that its source deleted.
    pub records_deleted: u64,
    /// What of the records could not be used, by reason; each record says what of it.
    pub record_flaws: Vec<RecordFlaw>,
    /// Columns in the index now.
    pub columns: u64,
    /// Tables read because they are new.
    pub added: u64,
    /// Tables read because their file or its metadata changed.
    pub changed: u64,
    /// Tables whose file was deleted.
    pub removed: u64,
    /// Tables whose file was moved in the lake with unchanged content; not counted as added or removed.
    pub renamed: u64,
    /// Unchanged tables.
    pub unchanged: u64,
    /// New or changed files that were not read because the run was interrupted; the next run reads them.
    pub unread: u64,
    /// Tables and records whose texts were not read as a whole because the run was interrupted; the next run goes on with them. Until then
    /// searches compare words and static vectors.
    pub texts_unread: u64,
    /// Tables of which this run read only the first rows, as requested.
    pub sampled: u64,
    /// Rows read in this run.
    pub rows: u64,
    /// Bytes read in this run.
    pub read_bytes: u64,
    /// Segments now in the index.
    pub segments: u64,
    /// Older segments that were merged into new ones in this run.
    pub merged_segments: u64,
    /// Size of the index on disk.
    pub index_bytes: u64,
    /// Damaged segments that were dropped and whose tables were read again.
    pub repaired_segments: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
    /// Files repaired while reading, in this run: (path, repairs).
    pub repaired: Vec<(String, Vec<Repair>)>,
    /// Files with missing rows, from this or earlier runs.
    pub partial: Vec<PartialFile>,
    /// Files of the lake without a readable table.
    pub skipped: Vec<SkippedFile>,
    /// Unusable metadata files and folders: (path, reason).
    pub problems: Vec<(String, String)>,
    /// How many of them hide data: folders that cannot be listed, tables whose log and catalogues that cannot be read.
    pub unreadable: u64,
}

impl BuildStats {
    /// Whether the index or the recorded state of the lake changed.
    pub fn did_something(&self) -> bool {
        self.added + self.changed + self.removed + self.renamed + self.merged_segments + self.repaired_segments > 0
            || self.read_bytes > 0
    }

    /// Whether a part of the lake is not in the index.
    pub fn is_partial(&self) -> bool {
        !self.skipped.is_empty()
            || !self.partial.is_empty()
            || self.unread + self.texts_unread > 0
            || self.records_left_out + self.unreadable > 0
    }
}
