//! Records of a catalogue: lines of JSON, a JSON document, or XML, in our own form ([`super::own_form`]) or a standard's.
//!
//! A record describes a table if its id is the table's id, or the table's file name without extensions where only one table
//! has that name; any other record describes data that is not in the lake.
//!
//! The file is not trusted: each record is read up to a bound and parsed alone; one that cannot be used is skipped, counted
//! and reported with its number, and what of the others cannot be used is counted by reason ([`RecordFlaw`]).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::TableMetadata;
use super::index::file_name_of;
use super::parts::UnusedReason;
use super::read_records::MOST_REPORTED;
use super::spool::{Spool, Spooled};
use crate::source::{ContentHash, Origin, TableId};
use lakeward_core::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The records of one file.
#[derive(Debug, Default)]
pub struct Records {
    pub(super) spool: Arc<Spool>,
    pub(super) described: BTreeMap<TableId, Box<Described>>,
    /// Number of lines, or records of a document, that cannot be used.
    pub left_out: u64,
    /// Reasons for the first of them, and problems of the file.
    pub problems: Vec<String>,
    /// Number of records that a later one of the same harvest stands for.
    pub replaced: u64,
    /// Ids that the source says are deleted.
    pub deleted: Vec<String>,
    pub(super) flaws: BTreeMap<UnusedReason, RecordFlaw>,
}

/// How many records have something that could not be used for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordFlaw {
    /// Why.
    pub reason: UnusedReason,
    /// How many records.
    pub records: u64,
    /// The first of them, with the field: `10.5281/zenodo.1: issued`.
    pub first: String,
}

/// A record, of which a build holds as many as there are: ten million of 96 bytes are a gigabyte.
#[derive(Debug)]
pub(super) struct Described {
    pub metadata: Spooled,
    /// Names of the files that hold its data, where the record gives them.
    pub files: Box<[String]>,
    pub content: ContentHash,
    /// Bytes of its line; of more than 4 GB so many.
    pub line_bytes: u32,
    /// Whether a later record of its id stands for it.
    pub is_harvested: bool,
}

/// A record that describes no table of the lake.
#[derive(Debug)]
pub struct CatalogueRecord {
    /// Its id.
    pub id: TableId,
    record: Box<Described>,
}

impl Records {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.described.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.described.is_empty()
    }

    /// Adds the records of another file; of two with the same id the first is kept, of a harvest the last.
    pub fn append(&mut self, other: Records) {
        self.left_out += other.left_out;
        self.replaced += other.replaced;
        self.problems.extend(other.problems);
        for (reason, flaw) in other.flaws {
            let records = flaw.records;
            self.flaws.entry(reason).or_insert(RecordFlaw { records: 0, ..flaw }).records += records;
        }
        for id in &other.deleted {
            self.described.remove(id.as_str());
        }
        self.deleted.extend(other.deleted);
        for (id, record) in other.described {
            match self.described.entry(id) {
                Entry::Vacant(place) => _ = place.insert(record),
                Entry::Occupied(mut known) if known.get().is_harvested && record.is_harvested => {
                    self.replaced += 1;
                    known.insert(record);
                }
                Entry::Occupied(known) => {
                    self.left_out += 1;
                    if self.problems.len() < MOST_REPORTED {
                        self.problems.push(format!("`{}` has a record already", known.key()));
                    }
                }
            }
        }
    }

    /// Removes the records of datasets of which the lake has a file, by its name, in or below the folder of the catalogue; where several records
    /// name it, it is none's. `files` are the paths of the lake's files. Returns the catalogues of those records, which describe these files.
    pub fn without_files_in<'a>(&mut self, files: impl Iterator<Item = &'a str>) -> HashSet<Arc<str>> {
        let folder_of = |path: &'a str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut folders: HashMap<String, Vec<&str>> = HashMap::new();
        for path in files {
            let Some(name) = file_name_of(path) else { continue };
            folders.entry(name).or_default().push(folder_of(path));
        }
        let is_there = |catalogue: &str, file: &String| {
            // A catalogue beside the lake is of all of it.
            let folder = if catalogue.starts_with('/') {
                ""
            } else {
                catalogue.rsplit_once('/').map_or("", |(folder, _)| folder)
            };
            let is_below = |path: &&str| {
                folder.is_empty()
                    || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            folders.get(file).is_some_and(|folders| folders.iter().any(is_below))
        };
        let mut named: HashMap<(Arc<str>, String), usize> = HashMap::new();
        for record in self.described.values() {
            for file in record.files.iter().filter(|file| is_there(record.metadata.catalogue(), file)) {
                *named.entry((Arc::clone(record.metadata.catalogue()), file.clone())).or_default() += 1;
            }
        }
        let mut describing = HashSet::new();
        self.described.retain(|_, record| {
            let has = |file: &String| named.get(&(Arc::clone(record.metadata.catalogue()), file.clone())) == Some(&1);
            let is_in_lake = record.files.iter().any(has);
            if is_in_lake {
                describing.insert(Arc::clone(record.metadata.catalogue()));
            }
            !is_in_lake
        });
        describing
    }

    /// Assigns each record to the table that it describes. Returns the metadata by table, for the tables `ids`, and the records
    /// that describe none of them, in the order of their ids.
    ///
    /// # Errors
    /// As [`CatalogueRecord::metadata`].
    pub fn divide(self, ids: &[TableId]) -> Result<(HashMap<TableId, TableMetadata>, Vec<CatalogueRecord>)> {
        let Records { mut described, .. } = self;
        let mut stems: HashMap<&str, Option<&TableId>> = HashMap::new();
        for id in ids {
            let stem = id.as_str().rsplit('/').next().unwrap_or(id.as_str());
            // Several tables have this name: it is unknown which one a record means.
            stems.entry(stem).and_modify(|owner| *owner = None).or_insert(Some(id));
        }
        let mut of_tables = HashMap::new();
        let known: HashSet<&str> = ids.iter().map(TableId::as_str).collect();
        for id in ids {
            if let Some(record) = described.remove(id.as_str()) {
                of_tables.insert(id.clone(), record.metadata.metadata()?);
            }
        }
        let mut rest = Vec::new();
        for (id, record) in described {
            match stems.get(id.as_str()).copied().flatten() {
                Some(table) if !of_tables.contains_key(table) => {
                    of_tables.insert(table.clone(), record.metadata.metadata()?);
                }
                _ if known.contains(id.as_str()) => {}
                _ => rest.push(CatalogueRecord { id, record }),
            }
        }
        Ok((of_tables, rest))
    }
}

impl CatalogueRecord {
    /// Its metadata.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Io`] where the folder for temporary files fails.
    pub fn metadata(&self) -> Result<TableMetadata> {
        self.record.metadata.metadata()
    }

    /// Hash of its metadata, as JSON.
    pub fn metadata_hash(&self) -> u64 {
        self.record.metadata.hash
    }

    /// The file of the catalogue, as the manifest names it.
    pub fn catalogue(&self) -> &str {
        self.record.metadata.catalogue()
    }

    /// Bytes of its line.
    pub fn read_bytes(&self) -> u64 {
        u64::from(self.record.line_bytes)
    }

    /// Hash of its line.
    pub fn content(&self) -> ContentHash {
        self.record.content
    }

    /// Where it is listed.
    pub fn origin(&self) -> Origin<'_> {
        Origin::Record { catalogue: self.catalogue(), id: self.id.as_str() }
    }
}
