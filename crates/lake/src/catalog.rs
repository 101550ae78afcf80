//! What the index knows of one table besides its values: file, report, metadata and profile.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metadata::TableMetadata;
use super::profile::TableProfile;
use super::reader::ReadReport;
use super::source::{self, ContentHash, TableId};
use lakeward_core::error::{Error, Result};

/// One table of the lake.
#[derive(Debug, Clone, Serialize, JsonSchema, Deserialize)]
pub struct TableEntry {
    /// Stable name: the path without its extension.
    pub id: TableId,
    /// The file below the lake's root, `/`-separated.
    pub path: String,
    /// Size of the file.
    pub read_bytes: u64,
    /// Hash of the file's content; of the size and both ends of a file of more than 64 MiB of which a sample was read.
    pub content: ContentHash,
    /// The publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    pub citation: String,
    /// What the publisher says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<TableMetadata>,
    /// Whether it is a record of a catalogue: its data is not in the lake, so rows and columns are unknown. Text search finds
    /// it; it is never joined, appended or queried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// How the file was read and what had to be mended.
    pub report: ReadReport,
    /// What is in it.
    pub profile: TableProfile,
}

impl TableEntry {
    /// The publisher's title, else the words of the id.
    pub fn title(&self) -> String {
        let published = self.metadata.as_ref().and_then(|metadata| metadata.title.clone());
        published.unwrap_or_else(|| self.id.as_str().rsplit('/').next().unwrap_or_default().replace(['_', '-'], " "))
    }

    /// Where its file lies, in the lake whose folder is `lake`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is not there any more, and as [`source::file_path`].
    pub fn file(&self, lake: &Path) -> Result<PathBuf> {
        let path = source::file_path(lake, &self.path)?;
        if !path.exists() {
            let reason = "it was removed or moved since it was indexed; run `lakeward index` again";
            return Err(Error::unreadable(&path, reason));
        }
        Ok(path)
    }
}

/// The identifier by which a table of lake `lake` can be cited when its publisher gives none.
pub fn own_citation(lake: &str, id: &TableId, content: &ContentHash) -> String {
    let hash = content.to_string();
    format!("lakeward:{lake}/{id}@{}", hash.get(..16).unwrap_or(&hash))
}
