//! Checks every byte of an index against its checksums, and the segments against the manifest.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::lexical::LexicalIndex;
use super::manifest::Manifest;
use super::segment::{SegmentFile, SegmentKind};
use super::{
    CATALOG_FILE, COLUMNS_FILE, JOIN_FILE, JOIN_KIND, JOIN_VERSION, LEXICAL_FOLDER, VECTORS_FILE, VECTORS_KIND,
    VECTORS_VERSION, catalog, columns,
};
use crate::error::{Error, Result};

/// A file that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Damage {
    /// Its path in the index folder.
    pub file: String,
    /// What is wrong.
    pub reason: String,
}

/// Reads the whole index in `folder`; files and bytes checked, and the damage found.
///
/// # Errors
/// Those of [`Manifest::read`]; damage of other files is reported, not an error.
pub fn verify(folder: &Path) -> Result<(u64, u64, Vec<Damage>)> {
    let manifest = Manifest::read(folder)?;
    let (mut files, mut read_bytes) = (1, 0);
    let mut damaged = Vec::new();
    for segment in &manifest.segments {
        let path = Manifest::segment_folder(folder, &segment.name);
        for file in &segment.files {
            files += 1;
            read_bytes += file.bytes;
            if let Err(error) = verify_file(&path.join(&file.name), &file.name, &file.checksum) {
                damaged.push(Damage {
                    file: format!("segments/{}/{}", segment.name, file.name),
                    reason: reason_of(error),
                });
            }
        }
        let words = path.join(LEXICAL_FOLDER);
        for entry in fs::read_dir(&words).into_iter().flatten().flatten() {
            files += 1;
            read_bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        }
        if let Err(error) = LexicalIndex::verify(&words) {
            damaged
                .push(Damage { file: format!("segments/{}/{LEXICAL_FOLDER}", segment.name), reason: reason_of(error) });
        }
    }
    Ok((files, read_bytes, damaged))
}

fn verify_file(path: &Path, name: &str, checksum: &str) -> Result<()> {
    let (kind, version): (SegmentKind, u32) = match name {
        CATALOG_FILE => (catalog::KIND, catalog::VERSION),
        COLUMNS_FILE => (columns::KIND, columns::VERSION),
        JOIN_FILE => (JOIN_KIND, JOIN_VERSION),
        VECTORS_FILE => (VECTORS_KIND, VECTORS_VERSION),
        _ => return Err(Error::damaged(path, "the manifest names a file of no known kind")),
    };
    let file = SegmentFile::open(path, kind, version)?;
    if format!("{:016x}", file.checksum()) != checksum {
        return Err(Error::damaged(path, "it is not the file that the manifest names"));
    }
    file.verify()
}

fn reason_of(error: Error) -> String {
    match error {
        Error::DamagedIndex { reason, .. } => reason,
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
