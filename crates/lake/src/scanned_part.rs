//! A giant table that several machines read: each reads all rows and sketches some of the columns.
//!
//! The rows cannot be divided. A sketch is a fold over them in their order: which cells are kept as text, when sampling began and the sums of
//! floating numbers depend on it, so parts of the rows would come to other sketches than one pass over all, and where a record of a
//! delimited file begins is known only from its start. The columns can: those of a table from [`DIVISIBLE_BYTES`](crate::scan::DIVISIBLE_BYTES)
//! on are sketched independently of each other. Each machine reads all rows and, for the samples of keys, sketches the first rows and the key
//! columns, which is some .45 of the work.

use serde::{Deserialize, Serialize};

use crate::checkpoint::{ScanOptions, begin};
use crate::reader::{self, ReadOptions, ReadReport, guarded};
use crate::scan::{ColumnPart, Scan, TableScan};
use crate::source::{ContentHash, LakeFile};
use crate::storage;
use lakeward_core::error::{Error, Result};
use lakeward_sketch::stored;

/// Some columns of a table that was read to its end.
#[derive(Serialize, Deserialize)]
pub struct ScannedPart {
    content: ContentHash,
    #[serde(with = "stored::as_json")]
    report: ReadReport,
    scan: TableScan,
}

impl ScannedPart {
    /// Reads `file` to its end, sketches the columns of `part`, and hashes it.
    ///
    /// # Errors
    /// Those of [`reader::open_hashed`] and of reading the rows.
    pub fn read(
        file: &LakeFile,
        options: &ReadOptions,
        scan_options: &ScanOptions<'_>,
        part: ColumnPart,
    ) -> Result<Self> {
        let (mut reader, content) = reader::open_hashed(file, options)?;
        let mut scan = begin(reader.as_ref(), scan_options, file.read_bytes).of_part(part);
        scan.read(reader.as_mut())?;
        let report = reader.report().clone();
        let content = content.finish(reader)?;
        match storage::failure(&file.path) {
            // What a store refuses now it may give later.
            Some(error) => Err(Error::io("read", &file.path, error)),
            None => Ok(Self { content, report, scan: scan.end_part() }),
        }
    }

    /// As bytes, which are the same for the same columns of the same table.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_allocvec(self).map_err(|error| Error::Internal(error.to_string()))
    }

    /// From [`to_bytes`](Self::to_bytes); `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// The whole table from all of its parts, in their order; `None` where they are not of the same one.
    pub fn join(parts: Vec<Self>) -> Option<(Scan, ContentHash)> {
        let first = parts.first()?;
        let (content, report) = (first.content, first.report.clone());
        if parts.iter().any(|part| part.content != content || part.report != report) {
            return None;
        }
        let scans = parts.into_iter().map(|part| part.scan).collect();
        // Whoever may write beside an index may have made what ends in a panic.
        let whole = guarded(|| TableScan::joined(scans).map(|scan| scan.finish(report))).ok()??;
        Some((whole, content))
    }
}
