//! The manifest: the one file that lists the live segments. It is replaced atomically, so that a reader sees the last commit or the one
//! before, and a crash preserves the last one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Bounds, Links, Purpose, version_of};

/// Format version of the manifest; other versions give [`Error::IndexVersion`].
pub const VERSION: u32 = 10;
/// Its name in the index folder.
pub const FILE_NAME: &str = "manifest.json";
/// The folder of segments in the index folder.
pub const SEGMENTS: &str = "segments";

/// Maximum size of a manifest.
const BOUNDS: Bounds =
    Bounds { most_bytes: 4 << 30, links: Links::Followed, damaged: |path, reason| Error::damaged(path, reason) };

/// The committed state of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Manifest {
    /// Format version: [`VERSION`].
    pub format_version: u32,
    /// Number of commits; names new segments.
    pub generation: u64,
    /// Name of the lake, used in citations.
    pub lake: String,
    /// The embedding model of the vectors.
    pub embedder: String,
    /// Maximum rows read per table; `None` for all. The setting of the last complete run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_rows: Option<u64>,
    /// The files of catalogue records: paths below the lake, or absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
    /// Live segments, oldest first.
    pub segments: Vec<SegmentEntry>,
    /// Files of the lake without a readable table, with the reason.
    pub skipped: Vec<SkippedFile>,
    /// Files of the lake with missing rows, with the reason.
    pub partial: Vec<PartialFile>,
    /// Hash over the rest of the document.
    #[serde(default)]
    pub checksum: String,
}

/// One live segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SegmentEntry {
    /// Its folder below [`SEGMENTS`].
    pub name: String,
    /// Number of tables in it.
    pub tables: u32,
    /// Number of columns in it.
    pub columns: u32,
    /// Number of value hashes in it, including those of removed tables: the cost of merging it.
    pub values: u64,
    /// Numbers of tables that were deleted or replaced by a later segment, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<u32>,
    /// New modification times, by table number, of files that were touched without a change of content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub restamped: BTreeMap<u32, u64>,
    /// Its files with their checksums.
    pub files: Vec<FileEntry>,
}

impl SegmentEntry {
    /// Whether a build could have written it: a checksum does not prove who made a manifest.
    pub(super) fn is_possible(&self) -> bool {
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        let inside = self.removed.last().is_none_or(|last| *last < self.tables);
        plain(&self.name)
            && !self.name.contains("..")
            && self.files.iter().all(|file| plain(&file.name) && !file.name.contains(".."))
            && self.removed.is_sorted_by(|a, b| a < b)
            && inside
    }
}

/// One file of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct FileEntry {
    /// Its name in the segment's folder.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Checksum of its content as 16 hexadecimal digits.
    pub checksum: String,
}

/// A file of the lake that could not be read as a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SkippedFile {
    /// Path below the lake's root.
    pub path: String,
    /// The reason.
    pub reason: String,
    /// Its size when reading was tried, so that an unchanged file is not tried again.
    pub read_bytes: u64,
    /// Its modification time when reading was tried.
    pub modified_ns: u64,
}

/// A file of the lake of which only some rows could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartialFile {
    /// Path below the lake's root.
    pub path: String,
    /// Which rows are missing and why.
    pub reason: String,
}

impl Manifest {
    /// The manifest of an empty index.
    pub fn empty(lake: String, embedder: String) -> Self {
        Self {
            format_version: VERSION,
            generation: 0,
            lake,
            embedder,
            sample_rows: None,
            records: Vec::new(),
            segments: Vec::new(),
            skipped: Vec::new(),
            partial: Vec::new(),
            checksum: String::new(),
        }
    }

    /// Reads the manifest of the index folder `folder`.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if there is none, [`Error::IndexVersion`] for another version, [`Error::DamagedIndex`] if it does not parse or
    /// fails its checksum.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        let text = BOUNDS.read(&path)?.ok_or_else(|| Error::NoIndex { path: folder.to_path_buf() })?;
        Self::parse(&path, &text)
    }

    /// The manifest that the text `text` of `path` is.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self> {
        // The version is checked first: fields of a newer manifest may have other types.
        let failed = |error: serde_json::Error| Error::damaged(path, error.to_string());
        let found = version_of(text, "format_version").map_err(failed)?.unwrap_or(0) as u32;
        if found != VERSION {
            return Err(Error::IndexVersion { path: path.to_path_buf(), found, expected: VERSION });
        }
        let manifest: Manifest = serde_json::from_slice(text).map_err(failed)?;
        if manifest.checksum != manifest.content_checksum()? {
            return Err(Error::damaged(path, "its checksum does not match its content"));
        }
        if let Some(segment) = manifest.segments.iter().find(|segment| !segment.is_possible()) {
            return Err(Error::damaged(path, format!("segment `{}` is invalid", segment.name.escape_debug())));
        }
        Ok(manifest)
    }

    /// Replaces the manifest of the index folder `folder` by this one, all or nothing.
    ///
    /// `before_replacing` is called when the new one is on disk and the old one is not replaced yet.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be written.
    pub fn commit(&mut self, folder: &Path, before_replacing: impl FnOnce()) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let text = self.sealed()?;
        let mut file = AtomicFile::create(&path, Purpose::Index)?;
        file.put(&text)?;
        file.replace_after(before_replacing).map(|_| ())
    }

    /// Its text, with the checksum of its content.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn sealed(&mut self) -> Result<Vec<u8>> {
        self.checksum = self.content_checksum()?;
        serde_json::to_vec_pretty(self).map_err(|error| Error::Internal(error.to_string()))
    }

    fn content_checksum(&self) -> Result<String> {
        let mut bare = self.clone();
        bare.checksum.clear();
        let bytes = serde_json::to_vec(&bare).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)))
    }

    /// The folder of segment `name` in the index folder `folder`.
    pub fn segment_folder(folder: &Path, name: &str) -> PathBuf {
        folder.join(SEGMENTS).join(name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_manifest_returns_as_it_was_committed() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::empty("lake".into(), "model".into());
        manifest.skipped.push(SkippedFile {
            path: "a.csv".into(),
            reason: "empty".into(),
            read_bytes: 0,
            modified_ns: 1,
        });
        manifest.commit(folder.path(), || ()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
    }

    #[test]
    fn missing_changed_and_newer_manifests_have_different_errors() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::NoIndex { .. })));
        let mut manifest = Manifest::empty("lake".into(), "model".into());
        manifest.commit(folder.path(), || ()).unwrap();
        let path = folder.path().join(FILE_NAME);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"model\"", "\"other\"")).unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::DamagedIndex { .. })));
        let other = text.replace(&format!("\"format_version\": {VERSION}"), "\"format_version\": 99");
        fs::write(&path, other).unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::IndexVersion { found: 99, .. })));
        for name in ["../../elsewhere", "", "..", "a/b"] {
            let mut hostile = manifest.clone();
            let segment = r#"{"name": "", "tables": 1, "columns": 1, "values": 1, "files": []}"#;
            hostile.segments.push(SegmentEntry { name: name.into(), ..serde_json::from_str(segment).unwrap() });
            hostile.commit(folder.path(), || ()).unwrap();
            assert!(matches!(Manifest::read(folder.path()), Err(Error::DamagedIndex { .. })), "{name}");
        }
        fs::write(&path, "not json").unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::DamagedIndex { .. })));
    }
}
