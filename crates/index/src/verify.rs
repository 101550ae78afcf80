//! Checks every byte of an index against its checksums, and the segments against the manifest.

use std::collections::HashSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::index_store::IndexStore;
use super::manifest::{Manifest, SegmentEntry};
use super::structures::FORMATS;
use lakeward_core::error::{Error, Result};

/// A damaged file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Damage {
    /// Its path in the index folder.
    pub file: String,
    /// What is wrong.
    pub reason: String,
}

/// Reads the whole index in `folder`, or in its store; returns the numbers of files and bytes checked, and the damage found.
///
/// # Errors
/// Those of [`Manifest::read`]; damage of other files is reported, not an error.
pub fn verify(folder: &Path) -> Result<(u64, u64, Vec<Damage>)> {
    match IndexStore::of(folder) {
        Some(store) => store.with_nothing_local(verify_folder),
        None => verify_folder(folder),
    }
}

/// The names of the segments of `manifest`, the newest of the index in `folder`, that have damaged files.
pub(super) fn damaged_segments(folder: &Path, manifest: &Manifest) -> Result<HashSet<String>> {
    let damaged = |folder: &Path| {
        let damaged = manifest.segments.iter().filter(|segment| !damage_of(folder, segment).is_empty());
        Ok(damaged.map(|segment| segment.name.clone()).collect())
    };
    match IndexStore::of(folder).map(|store| store.with_nothing_local(damaged)) {
        Some(Err(Error::DamagedIndex { .. })) => {
            Ok(manifest.segments.iter().map(|segment| segment.name.clone()).collect())
        }
        Some(found) => found,
        None => damaged(folder),
    }
}

fn verify_folder(folder: &Path) -> Result<(u64, u64, Vec<Damage>)> {
    let manifest = Manifest::read(folder)?;
    let (mut files, mut read_bytes) = (1, 0);
    let mut damaged = Vec::new();
    for segment in &manifest.segments {
        files += segment.files.len() as u64;
        read_bytes += segment.files.iter().map(|file| file.bytes).sum::<u64>();
        damaged.append(&mut damage_of(folder, segment));
    }
    Ok((files, read_bytes, damaged))
}

/// Reads all of one segment of the index in `folder`; returns the damage found.
pub(super) fn damage_of(folder: &Path, segment: &SegmentEntry) -> Vec<Damage> {
    let path = Manifest::segment_folder(folder, &segment.name);
    let mut damaged = Vec::new();
    for file in &segment.files {
        if let Err(error) = verify_file(&path, &file.name, &file.checksum) {
            damaged.push(Damage { file: format!("segments/{}/{}", segment.name, file.name), reason: reason_of(error) });
        }
    }
    damaged
}

fn verify_file(folder: &Path, name: &str, checksum: &str) -> Result<()> {
    let path = folder.join(name);
    let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
        return Err(Error::damaged(&path, "the manifest names a file of an unknown kind"));
    };
    let file = format.open(folder)?;
    if format!("{:016x}", file.checksum()) != checksum {
        return Err(Error::damaged(&path, "its checksum differs from the manifest"));
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
