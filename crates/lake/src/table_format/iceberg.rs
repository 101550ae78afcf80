//! Iceberg, versions 1 and 2: the newest metadata file below `metadata/` names the manifests, and those name the files.
//!
//! No catalogue is asked: the newest version is the one of the highest number there. Addresses in the metadata begin with the
//! table's location and are taken below its folder, wherever that is now. Rows deleted by position are left out; files that delete rows
//! by their values are counted and not applied. Of version 3, which has deletions in a form of its own, nothing is read.

mod manifest;
mod metadata;
mod positions;
mod schema;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::FieldRef;

use self::manifest::{Content, Manifest};
use self::metadata::IcebergMetadata;
pub(super) use self::metadata::version_of;
pub(crate) use self::positions::Positions;
use super::{Deleted, LiveFile, MOST_FILES, Matching, Snapshot};
use crate::metadata::TableMetadata;
use crate::source::ContentHash;

/// The newest version of the table in `folder`.
///
/// # Errors
/// Why there is none, in one clause.
pub(super) fn snapshot(folder: &Path) -> Result<Snapshot, String> {
    let table = IcebergMetadata::read(folder)?;
    let (schema, comments) = table.columns()?;
    let manifests = Manifest::all(&table)?;
    let specs: BTreeSet<i64> = manifests.iter().map(|manifest| manifest.spec).collect();
    let keys = table.keys(&specs, &schema);
    let (mut files, mut deletes, mut deletes_by_value) = (Vec::new(), Vec::new(), 0);
    for manifest in &manifests {
        manifest.read(&table, &table.key_places(manifest.spec, &keys), |content, sequence, file| {
            match content {
                Content::Data => files.push((sequence, file)),
                Content::Positions => deletes.push((sequence, file)),
                Content::Values => deletes_by_value += 1,
            }
            files.len() + deletes.len() <= MOST_FILES
        })?;
    }
    if files.len() + deletes.len() > MOST_FILES {
        return Err(format!("more than {MOST_FILES} files"));
    }
    let positions = Arc::new(Positions::new(deletes));
    let with_deletions = |(sequence, file): (i64, LiveFile)| match positions.apply_to(sequence) {
        true => LiveFile { deleted: Deleted::Positions(Arc::clone(&positions), sequence), ..file },
        false => file,
    };
    let is_key = |field: &FieldRef| keys.iter().any(|key| key.name() == field.name());
    let description = table.text(&["properties", "comment"]).map(str::to_string);
    Ok(Snapshot {
        id: table.text(&["table-uuid"]).unwrap_or_default().to_string(),
        columns: schema.iter().filter(|field| !is_key(field)).cloned().collect(),
        matching: Matching::Number,
        files: files.into_iter().map(with_deletions).collect(),
        reason: "the metadata of an Iceberg table",
        keys,
        metadata: TableMetadata { description, columns: comments, ..TableMetadata::default() },
        content: ContentHash::of_bytes(&[]),
        modified_ns: 0,
        deletes_by_value,
    })
}
