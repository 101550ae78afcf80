//! One table to be read, or some of its columns, as a shard writes it down.

use std::borrow::Cow;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::super::super::plan::{KnownOf, Read, Source};
use super::pieces::Piece;
use lakeward_core::error::{Error, Result};
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::metadata::TableMetadata;
use lakeward_lake::scan::ColumnPart;
use lakeward_lake::source::{LakeFile, TableId};

/// A line of a shard.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ListedRead {
    id: TableId,
    file: LakeFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<TableMetadata>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cells: Vec<CellSetting>,
    metadata_hash: u64,
    new: bool,
    /// The columns, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<ColumnPart>,
}

/// Whether a shard can have it: not a record, nor a file whose path is not UTF-8.
pub(super) fn is_listed(read: &Read<'_>) -> bool {
    matches!(&read.source, Source::File(file, _) if file.path.to_str().is_some())
}

/// The lines of `pieces`.
///
/// # Errors
/// [`Error::Internal`].
pub(super) fn written(pieces: &[Piece<'_>]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for Piece { read, part } in pieces {
        let Source::File(file, known) = &read.source else { continue };
        let listed = ListedRead {
            id: read.id.clone(),
            file: (*file).clone(),
            metadata: known.metadata.as_deref().cloned(),
            cells: known.cells.clone(),
            metadata_hash: read.metadata_hash,
            new: read.new,
            part: *part,
        };
        serde_json::to_writer(&mut text, &listed).map_err(|error| Error::Internal(error.to_string()))?;
        text.push(b'\n');
    }
    Ok(text)
}

/// The reads of the lines of `text`; the reason, where it is something else.
pub(super) fn parsed(text: &[u8]) -> std::result::Result<Vec<ListedRead>, String> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| error.to_string())).collect()
}

impl ListedRead {
    /// The id of the table.
    pub fn id(&self) -> &TableId {
        &self.id
    }

    /// Its file.
    pub fn file(&self) -> &LakeFile {
        &self.file
    }

    /// The columns to be read, if not all.
    pub fn part(&self) -> Option<ColumnPart> {
        self.part
    }

    /// Whether that is below the folder or address of the lake.
    pub fn is_in(&self, lake: &Path) -> bool {
        let leaves = |part: Component<'_>| part == Component::ParentDir;
        self.file.path.starts_with(lake) && !self.file.path.components().any(leaves)
    }

    /// As a build reads it.
    pub fn read(&self) -> Read<'_> {
        let metadata = self.metadata.as_ref().map(Cow::Borrowed);
        let known = Box::new(KnownOf { metadata, cells: self.cells.clone() });
        Read {
            id: self.id.clone(),
            source: Source::File(&self.file, known),
            metadata_hash: self.metadata_hash,
            new: self.new,
        }
    }
}
