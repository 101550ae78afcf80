//! What the index stores of one dataset besides its values: of a table its file, how it was read and its profile; of a record
//! the catalogue that lists it; of both the publisher's metadata and the citation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::identifier::OwnIdentifier;
use super::location::Location;
use super::metadata::TableMetadata;
use super::profile::{self, ColumnProfile, TableProfile};
use super::reader::ReadReport;
use super::scan::Scan;
use super::source::{self, ContentHash, Origin, TableId};
use lakeward_core::error::{Error, Result};

/// A dataset of the lake. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Dataset {
    /// A table, i.e. its data is in the lake.
    Table(Arc<TableEntry>),
    /// A record of a catalogue, whose data is not in the lake: text search finds it; it is never joined, appended or queried.
    Record(Arc<RecordEntry>),
}

/// One table of the lake.
#[derive(Debug, Clone, Serialize, JsonSchema, Deserialize)]
pub struct TableEntry {
    /// Stable name: the path without its extension.
    pub id: TableId,
    /// The file below the lake's root, `/`-separated.
    pub path: String,
    /// Size of the file, in bytes.
    pub read_bytes: u64,
    /// Hash of the file's content; of its size and both ends for a file of more than 64 MiB of which only a sample was read.
    pub content: ContentHash,
    /// The publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    pub citation: String,
    /// The publisher's metadata.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<TableMetadata>,
    /// How the file was read and what had to be repaired.
    pub report: ReadReport,
    /// What the table contains.
    pub profile: TableProfile,
    /// The keys of other tables that the database declares its columns to be.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub foreign_keys: Vec<ForeignKey>,
}

/// Columns that are declared to hold the key of another table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ForeignKey {
    /// The columns of the table.
    pub columns: Vec<String>,
    /// The other table, as its path below the lake's root.
    pub to_path: String,
    /// Its columns, in the same order; empty where the declaration leaves them out: its primary key.
    pub to_columns: Vec<String>,
}

/// One record of a catalogue: rows and columns are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEntry {
    /// Its name in the catalogue.
    pub id: TableId,
    /// The file of the catalogue, as the manifest names it.
    pub catalogue: String,
    /// Size of its metadata in the catalogue, in bytes.
    pub read_bytes: u64,
    /// Hash of its metadata in the catalogue.
    pub content: ContentHash,
    /// The publisher's identifier, else `lakeward:<lake>/<record>@<hash>`.
    pub citation: String,
    /// Its metadata in the catalogue.
    pub metadata: TableMetadata,
}

impl Dataset {
    /// Its stable name.
    pub fn id(&self) -> &TableId {
        match self {
            Self::Table(table) => &table.id,
            Self::Record(record) => &record.id,
        }
    }

    /// Its citation.
    pub fn citation(&self) -> &str {
        match self {
            Self::Table(table) => &table.citation,
            Self::Record(record) => &record.citation,
        }
    }

    /// The hash that identifies this version: of the file's content, or of the record in the catalogue.
    pub fn content(&self) -> &ContentHash {
        match self {
            Self::Table(table) => &table.content,
            Self::Record(record) => &record.content,
        }
    }

    /// The publisher's metadata.
    pub fn metadata(&self) -> Option<&TableMetadata> {
        match self {
            Self::Table(table) => table.metadata.as_ref(),
            Self::Record(record) => Some(&record.metadata),
        }
    }

    /// The publisher's title, else the words of the id.
    pub fn title(&self) -> String {
        title(self.id(), self.metadata())
    }

    /// Its file, or the catalogue that lists it.
    pub fn origin(&self) -> Origin<'_> {
        match self {
            Self::Table(table) => Origin::File(&table.path),
            Self::Record(record) => Origin::Record { catalogue: &record.catalogue, id: record.id.as_str() },
        }
    }

    /// The file below the lake's root, where it is a table.
    pub fn path(&self) -> Option<&str> {
        self.table().map(|table| table.path.as_str())
    }

    /// The table, where it is one.
    pub fn table(&self) -> Option<&TableEntry> {
        match self {
            Self::Table(table) => Some(table),
            Self::Record(_) => None,
        }
    }

    /// Whether it is a record.
    pub fn is_record(&self) -> bool {
        matches!(self, Self::Record(_))
    }

    /// The table, for an operation that needs its data.
    ///
    /// # Errors
    /// [`Error::Usage`] for a record.
    pub fn into_table(self) -> Result<Arc<TableEntry>> {
        match self {
            Self::Table(table) => Ok(table),
            Self::Record(record) => Err(no_table(record.id.as_str())),
        }
    }

    /// The profiles of its columns; empty for a record.
    pub fn columns(&self) -> &[ColumnProfile] {
        self.table().map_or(&[], |table| &table.profile.columns)
    }
}

impl TableEntry {
    /// The publisher's title, else the words of the id.
    pub fn title(&self) -> String {
        title(&self.id, self.metadata.as_ref())
    }

    /// The path of its file, in the lake whose folder is `lake`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that no longer exists, and as [`source::file_path`].
    pub fn file(&self, lake: &Path) -> Result<PathBuf> {
        let path = source::file_path(lake, &self.path)?;
        if !Location::of(&path).exists() {
            let reason = "it was removed or moved since it was indexed; run `lakeward index` again";
            return Err(Error::unreadable(&path, reason));
        }
        Ok(path)
    }
}

fn title(id: &TableId, metadata: Option<&TableMetadata>) -> String {
    let published = metadata.and_then(|metadata| metadata.title.clone());
    published.unwrap_or_else(|| id.as_str().rsplit('/').next().unwrap_or_default().replace(['_', '-'], " "))
}

/// The error for the record with the id `name` where a table is needed.
pub fn no_table(name: &str) -> Error {
    Error::usage(format!("`{name}` is a record of a catalogue: its data is not in the lake"))
}

/// The identifier for citing a table of lake `lake` whose publisher gives none.
pub fn own_citation(lake: &str, id: &TableId, content: &ContentHash) -> String {
    OwnIdentifier::of(lake, id, content).to_string()
}

/// A dataset as indexes store it and `--json` prints it, unchanged since the first version: a record has the fields of a table
/// without rows, `record`, and its origin in place of a path.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StoredDataset {
    id: TableId,
    path: String,
    read_bytes: u64,
    content: ContentHash,
    citation: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    metadata: Option<TableMetadata>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    record: bool,
    report: ReadReport,
    profile: TableProfile,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    foreign_keys: Vec<ForeignKey>,
}

impl Serialize for Dataset {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Table(table) => TableEntry::serialize(table, serializer),
            Self::Record(record) => StoredDataset::of(record).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Dataset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        StoredDataset::deserialize(deserializer).map(Self::from)
    }
}

impl StoredDataset {
    fn of(record: &RecordEntry) -> Self {
        let RecordEntry { id, catalogue, read_bytes, content, citation, metadata } = record.clone();
        let nothing = Scan::default();
        Self {
            path: Origin::Record { catalogue: &catalogue, id: id.as_str() }.to_string(),
            id,
            read_bytes,
            content,
            citation,
            metadata: Some(metadata),
            record: true,
            profile: profile::profile(&nothing),
            report: nothing.report,
            foreign_keys: Vec::new(),
        }
    }
}

impl From<StoredDataset> for Dataset {
    fn from(stored: StoredDataset) -> Self {
        let StoredDataset { id, path, read_bytes, content, citation, metadata, record, report, profile, foreign_keys } =
            stored;
        if !record {
            return Self::Table(Arc::new(TableEntry {
                id,
                path,
                read_bytes,
                content,
                citation,
                metadata,
                report,
                profile,
                foreign_keys,
            }));
        }
        let catalogue = match Origin::read(&path) {
            Origin::Record { catalogue, .. } => catalogue.to_string(),
            Origin::File(path) => path.to_string(),
        };
        let metadata = metadata.unwrap_or_default();
        Self::Record(Arc::new(RecordEntry { id, catalogue, read_bytes, content, citation, metadata }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record as the index of July 2026 wrote it.
    const RECORD: &str = r#"{"id":"r-1","path":"corpus.jsonl//r-1","read_bytes":63,"content":"9a1c2d4e9a1c2d4e9a1c2d4e9a1c2d4e9a1c2d4e9a1c2d4e9a1c2d4e9a1c2d4e","citation":"lakeward:lake/r-1@9a1c2d4e9a1c2d4e","metadata":{"title":"Income of households","file":"corpus.jsonl"},"record":true,"report":{"rows":0,"read_bytes":0,"dialect":null,"repairs":[]},"profile":{"rows":0,"columns":[],"grain":{"kind":"instance","evidence":[]},"keys":[]}}"#;

    #[test]
    fn entries_of_an_older_index_are_read_and_written_unchanged() {
        let record: Dataset = serde_json::from_str(RECORD).unwrap();
        let Dataset::Record(entry) = &record else { panic!("{record:?}") };
        assert_eq!((entry.id.as_str(), entry.catalogue.as_str()), ("r-1", "corpus.jsonl"));
        assert_eq!(record.origin().to_string(), "corpus.jsonl//r-1");
        assert_eq!(serde_json::to_string(&record).unwrap(), RECORD);
        let table = RECORD.replace(r#""record":true,"#, "").replace("corpus.jsonl//r-1", "r-1.csv");
        let read: Dataset = serde_json::from_str(&table).unwrap();
        assert_eq!(read.table().map(|table| table.path.as_str()), Some("r-1.csv"));
        assert_eq!(serde_json::to_string(&read).unwrap(), table);
    }

    #[test]
    fn a_record_is_no_table() {
        let record: Dataset = serde_json::from_str(RECORD).unwrap();
        assert!(record.is_record() && record.table().is_none() && record.columns().is_empty());
        assert_eq!(
            record.into_table().unwrap_err().to_string(),
            "`r-1` is a record of a catalogue: its data is not in the lake"
        );
    }
}
