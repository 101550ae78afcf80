//! Steps of plans that have been computed before: what was found out of each, and its rows where they are few.
//!
//! A step is known by a hash of all steps up to it, of the tables they read (size and time of change of each file, the types
//! of its columns), and of the limits. So a changed file or another index is another step, and nothing here is ever out of date.
//! Rows lie in Parquet files as a plan's result does, in the same order and with the columns that later steps order by. What is
//! kept may be deleted at any time; the files used least recently go when there are too many.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::preview::{PlanWarning, PreviewLimits};
use super::table::Made;
use crate::inputs::InputTable;
use crate::notes::Note;
use crate::output::RowWriter;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Relation;
use lakeward_core::store::BlobCache;
use lakeward_lake::location::Location;

/// Version of what is kept; another one is not found.
const VERSION: u32 = 1;
/// Reports of steps kept at most, and the longest.
const MOST_REPORTS: usize = 4_000;
const LONGEST_REPORT_BYTES: u64 = 1 << 20;
/// Bytes of rows on disk, beyond which those used least recently go.
const MOST_BYTES: u64 = 256 << 20;
/// Rows used so recently stay: a query may be about to read them.
const IN_USE: Duration = Duration::from_secs(600);

/// What is kept of steps, in a folder.
#[derive(Debug, Clone)]
pub(crate) struct KeptSteps {
    rows: BlobCache,
    reports: BlobCache,
}

/// What has been found out of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepReport {
    /// Rows after it.
    pub rows: u64,
    pub facts: Vec<String>,
    pub warnings: Vec<PlanWarning>,
    pub notes: Vec<Note>,
}

/// A relation whose rows are kept.
#[derive(Debug, Clone)]
pub(super) struct KeptRelation {
    pub relation: Relation,
    /// Its rows as a table of the query.
    pub made: Made,
}

impl KeptRelation {
    /// Whether `relation` begins with all that this one does.
    pub fn begins(&self, relation: &Relation) -> bool {
        self.relation.source == relation.source && relation.steps.starts_with(&self.relation.steps)
    }
}

impl KeptSteps {
    pub fn new(folder: &Path) -> Self {
        let reports = BlobCache::new(&folder.join("reports"), MOST_REPORTS, LONGEST_REPORT_BYTES);
        let rows = BlobCache::of_files(&folder.join("rows"), ".parquet", MOST_BYTES, IN_USE);
        Self { rows, reports }
    }

    /// What `relation`, which reads `inputs`, is known by.
    ///
    /// # Errors
    /// [`Error::Io`] where a table's file is gone.
    pub fn key(relation: &Relation, inputs: &[InputTable], limits: &PreviewLimits) -> Result<String> {
        let mut text =
            format!("{VERSION} {} {:?} {:?}", env!("CARGO_PKG_VERSION"), limits.max_rows, limits.max_fan_out);
        text.push_str(&serde_json::to_string(relation).map_err(|error| Error::Internal(error.to_string()))?);
        for InputTable { sql, columns, written, path, .. } in inputs {
            let (bytes, changed) = Location::of(path).file_stamp().map_err(|error| Error::io("read", path, error))?;
            text.push_str(&format!("\n{sql} {path:?} {bytes} {changed} {columns:?} {written:?}"));
        }
        Ok(format!("{:032x}", xxh3_128(text.as_bytes())))
    }

    pub fn report(&self, key: &str) -> Option<StepReport> {
        serde_json::from_str(&self.reports.get(key)?).ok()
    }

    pub fn put_report(&self, key: &str, report: &StepReport) {
        if let Ok(text) = serde_json::to_string(report) {
            self.reports.put(key, &text);
        }
    }

    /// The file of the rows of `key`, if they are kept.
    pub fn rows(&self, key: &str) -> Option<PathBuf> {
        self.rows.file(key)
    }

    /// Keeps rows; nothing where they cannot be written, for they can be computed again.
    pub fn put_rows(&self, key: &str, schema: &Arc<Schema>, batches: &[RecordBatch]) -> Option<PathBuf> {
        self.rows.put_file(key, |file, path| {
            let mut writer = RowWriter::parquet(file, schema, path)?;
            batches.iter().try_for_each(|batch| writer.write(batch, path))?;
            writer.finish(path)
        })
    }

    /// Keeps the rows in the Parquet file at `path`, which never changes, under its key as well; on another file system
    /// they are computed again.
    pub fn put_file(&self, key: &str, path: &Path) {
        self.rows.link(key, path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn the_least_recently_used_rows_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = KeptSteps::new(folder.path());
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).expect("a batch");
        let [old, older] =
            ["a", "b"].map(|key| kept.put_rows(key, &batch.schema(), std::slice::from_ref(&batch)).expect("a file"));
        for (path, minutes) in [(&old, 20), (&older, 30)] {
            let file = File::options().append(true).open(path).expect("a file");
            file.set_len(MOST_BYTES - 1000).expect("a long file");
            file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).expect("a time");
        }
        kept.put_rows("c", &batch.schema(), std::slice::from_ref(&batch)).expect("a file");
        assert!(!older.exists() && old.exists() && kept.rows("c").is_some());
    }
}
