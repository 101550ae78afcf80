//! The catalogue of one segment: its tables in the order of their ids, each entry unpacked and parsed on demand.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};
use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use super::columns::ColumnsWriter;
use super::segment::{Packing, Section, SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::name_words;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::source::Origin;

mod packing;
mod probes;

pub use probes::{by_name, may_share};

/// The positions of a table's texts, and the data to detect whether its file has changed.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct TableRecord {
    id_start: u64,
    path_start: u64,
    entry_start: u64,
    id_len: u32,
    path_len: u32,
    entry_len: u32,
    first_column: u32,
    columns: u32,
    sample_rows: u32,
    read_bytes: u64,
    modified_ns: u64,
    metadata_hash: u64,
    header: u64,
    /// Where its probes start, and how many there are.
    probes_start: u64,
    probes_len: u64,
    content: [u8; 32],
}

/// Identifies the version of a file that was indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    /// Its [`Origin`] in text form.
    pub path: String,
    /// Size of the file.
    pub read_bytes: u64,
    /// Modification time, nanoseconds since 1970; only a hint, and 0 if it cannot be trusted.
    pub modified_ns: u64,
    /// BLAKE3 of the content.
    pub content: [u8; 32],
    /// Hash of the publisher's metadata for it.
    pub metadata_hash: u64,
    /// Number of rows read if they are a sample of the table; 0 if all were read.
    pub sample_rows: u32,
}

/// The catalogue data of one table.
pub struct TableCatalogue {
    id: String,
    stamp: FileStamp,
    header: u64,
    probes: Vec<u16>,
    /// The [`Dataset`] as JSON, packed.
    entry: Vec<u8>,
}

/// What the names of a table's columns are, in any order: a hash of their words; 0 for a record and for a table of fewer than two columns.
fn header_of(dataset: &Dataset) -> u64 {
    let columns = dataset.table().map_or(&[][..], |table| &table.profile.columns);
    if columns.len() < 2 {
        return 0;
    }
    let names: Vec<String> =
        by_name(columns).into_iter().map(|place| name_words(&columns[place].name).join(" ")).collect();
    xxh3_64(names.join("\n").as_bytes()).max(1)
}

/// Writes the catalogue of one segment, table by table in the order of their ids.
#[derive(Default)]
pub struct TableStoreWriter {
    records: Vec<TableRecord>,
    names: Vec<u8>,
    probes: Vec<u16>,
    entries: Vec<u8>,
    last_id: Option<String>,
}

impl TableStoreWriter {
    /// Adds the next table, with the numbers of its columns in the segment.
    fn add(
        &mut self,
        (id, stamp): (&str, &FileStamp),
        (header, probes): (u64, &[u16]),
        entry: &[u8],
        columns: Range<u32>,
    ) -> Result<()> {
        if self.last_id.as_deref().is_some_and(|last| last >= id) {
            return Err(Error::Internal(format!("table `{id}` out of order")));
        }
        let id_start = self.names.len();
        self.names.extend_from_slice(id.as_bytes());
        let path_start = self.names.len();
        self.names.extend_from_slice(stamp.path.as_bytes());
        let entry_start = self.entries.len();
        self.entries.extend_from_slice(entry);
        self.records.push(TableRecord {
            id_start: id_start as u64,
            path_start: path_start as u64,
            entry_start: entry_start as u64,
            id_len: id.len() as u32,
            path_len: stamp.path.len() as u32,
            entry_len: entry.len() as u32,
            first_column: columns.start,
            columns: columns.len() as u32,
            sample_rows: stamp.sample_rows,
            read_bytes: stamp.read_bytes,
            modified_ns: stamp.modified_ns,
            metadata_hash: stamp.metadata_hash,
            header,
            probes_start: self.probes.len() as u64,
            probes_len: probes.len() as u64,
            content: stamp.content,
        });
        self.probes.extend_from_slice(probes);
        self.last_id = Some(id.to_string());
        Ok(())
    }
}

impl StructureWriter for TableStoreWriter {
    type Draft = TableCatalogue;

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, draft: &TableCatalogue, place: &Place) -> Result<()> {
        let alike = (draft.header, &draft.probes[..]);
        self.add((&draft.id, &draft.stamp), alike, &draft.entry, place.columns.clone())
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, place: &Place) -> Result<()> {
        let tables = &from.segment.tables;
        let stamp = FileStamp { modified_ns: from.modified_ns, ..tables.stamp(from.table)? };
        let alike = (tables.record(from.table)?.header, tables.probes(from.table)?);
        self.add((tables.id(from.table)?, &stamp), alike, tables.packed_entry(from.table)?, place.columns.clone())
    }

    fn finish(self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut writer = TableStore::FORMAT.create(folder)?;
        writer.packed_section_of(*b"RECS", Packing::Fast, &self.records)?;
        writer.packed_section(*b"NAME", Packing::Small, &self.names)?;
        writer.packed_section_of(*b"PROB", Packing::Small, &self.probes)?;
        writer.section(*b"ENTR", &self.entries)?;
        writer.finish().map(Some)
    }
}

/// An opened catalogue.
#[derive(Debug, Clone)]
pub struct TableStore {
    records: Section,
    names: Section,
    probes: Section,
    entries: Section,
    tables_of_columns: OnceLock<Vec<u32>>,
}

impl Structure for TableStore {
    const FORMAT: FileFormat = FileFormat { name: "catalog.seg", kind: SegmentKind(*b"CATA"), version: 3 };
    type Draft = TableCatalogue;
    type Writer = TableStoreWriter;

    fn draft(table: &TableContent<'_>) -> Result<TableCatalogue> {
        let entry = serde_json::to_vec(table.dataset).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(TableCatalogue {
            id: table.dataset.id().to_string(),
            stamp: table.stamp.clone(),
            header: header_of(table.dataset),
            probes: probes::of(table.dataset.columns(), table.sketches),
            entry: packing::packed(entry, &table.stamp.content)?,
        })
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        file.read_together(*b"RECS", *b"ENTR");
        file.read_together(*b"RECS", *b"PROB");
        Ok(Self {
            records: file.section(*b"RECS")?,
            names: file.section(*b"NAME")?,
            probes: file.section(*b"PROB")?,
            entries: file.section(*b"ENTR")?,
            tables_of_columns: OnceLock::new(),
        })
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.len() == tables
    }
}

impl TableStore {
    /// Number of tables in the segment, including those that the manifest marks as removed.
    pub fn len(&self) -> usize {
        self.records.len() / size_of::<TableRecord>()
    }

    /// Whether there is no table.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn record(&self, table: u32) -> Result<&TableRecord> {
        let table = table as usize;
        self.records
            .slice::<TableRecord>(table..table + 1)?
            .first()
            .ok_or_else(|| self.records.damaged("no such table"))
    }

    fn name(&self, start: u64, length: u32) -> Result<&str> {
        let start = start as usize;
        let bytes = self.names.bytes(start..start.saturating_add(length as usize))?;
        std::str::from_utf8(bytes).map_err(|_| self.names.damaged("a name that is not UTF-8"))
    }

    /// The id of table `table`.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] for damaged blocks and impossible numbers, as everything below.
    pub fn id(&self, table: u32) -> Result<&str> {
        let record = self.record(table)?;
        self.name(record.id_start, record.id_len)
    }

    /// The columns of table `table`, as numbers in the segment's column store.
    pub fn columns(&self, table: u32) -> Result<Range<u32>> {
        let record = self.record(table)?;
        Ok(record.first_column..record.first_column.saturating_add(record.columns))
    }

    /// Of each of the `columns` columns of the segment its table; [`u32::MAX`] where there is none. Found once: 4 bytes a column, where the record of
    /// a column is a miss of all caches.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn tables_of_columns(&self, columns: usize) -> Result<&[u32]> {
        if let Some(tables) = self.tables_of_columns.get() {
            return Ok(tables);
        }
        let mut tables = vec![u32::MAX; columns];
        for table in 0..self.len() as u32 {
            let own = self.columns(table)?;
            let own = tables.get_mut(own.start as usize..own.end as usize);
            own.ok_or_else(|| self.records.damaged("columns that there are not"))?.fill(table);
        }
        Ok(self.tables_of_columns.get_or_init(|| tables))
    }

    /// The tables of `columns`, which ascend: one for each.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn tables_of(&self, columns: &[u32]) -> Result<Vec<u32>> {
        let first = |table: usize| self.record(table as u32).map(|record| record.first_column);
        let (mut tables, mut from) = (Vec::with_capacity(columns.len()), 0);
        for column in columns {
            // The next tables by steps that double, then the last one that starts no later.
            let (mut step, mut low) = (1, from);
            while low + step < self.len() && first(low + step)? <= *column {
                low += step;
                step *= 2;
            }
            let mut high = self.len().min(low + step);
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                if first(middle)? <= *column { low = middle } else { high = middle }
            }
            tables.push(low as u32);
            from = low;
        }
        Ok(tables)
    }

    /// What the names of the columns of table `table` are, in any order: equal for tables with the same ones. None for a record and for a
    /// table of fewer than two columns.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn header(&self, table: u32) -> Result<Option<u64>> {
        Ok(Some(self.record(table)?.header).filter(|header| *header != 0))
    }

    /// The probes of table `table`, which [`may_share`] compares.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn probes(&self, table: u32) -> Result<&[u16]> {
        let record = self.record(table)?;
        let start = record.probes_start as usize;
        self.probes.slice(start..start.saturating_add(record.probes_len as usize))
    }

    /// The origin of table `table`.
    pub fn origin(&self, table: u32) -> Result<Origin<'_>> {
        let record = self.record(table)?;
        self.name(record.path_start, record.path_len).map(Origin::read)
    }

    /// The stamp of the file of table `table` when it was read.
    pub fn stamp(&self, table: u32) -> Result<FileStamp> {
        let record = self.record(table)?;
        Ok(FileStamp {
            path: self.name(record.path_start, record.path_len)?.to_string(),
            read_bytes: record.read_bytes,
            modified_ns: record.modified_ns,
            content: record.content,
            metadata_hash: record.metadata_hash,
            sample_rows: record.sample_rows,
        })
    }

    /// The whole entry of table `table`.
    pub fn dataset(&self, table: u32) -> Result<Dataset> {
        self.with_entry(table, |entry| {
            serde_json::from_slice(entry)
                .map_err(|error| self.entries.damaged(format!("an entry that does not parse: {error}")))
        })
    }

    fn packed_entry(&self, table: u32) -> Result<&[u8]> {
        let record = self.record(table)?;
        let start = record.entry_start as usize;
        self.entries.bytes(start..start.saturating_add(record.entry_len as usize))
    }

    fn with_entry<T>(&self, table: u32, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        packing::unpacked(self.packed_entry(table)?, self.content(table)?, |reason| self.entries.damaged(reason), read)
    }

    /// The citation of table `table`; read without parsing the rest of the entry, so that it is cheap for all tables.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn citation(&self, table: u32) -> Result<String> {
        // Quotes inside texts are escaped, so this occurs only directly before the value; only texts and numbers precede it.
        const FIELD: &[u8] = b",\"citation\":\"";
        self.with_entry(table, |bytes| {
            let none = || self.entries.damaged("an entry without a citation");
            let start = memmem::find(bytes, FIELD).ok_or_else(none)? + FIELD.len() - 1;
            let value = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<String>().next();
            value
                .ok_or_else(none)?
                .map_err(|error| self.entries.damaged(format!("an entry that does not parse: {error}")))
        })
    }

    /// BLAKE3 of the content of table `table`, as stored in its entry.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn content(&self, table: u32) -> Result<&[u8; 32]> {
        Ok(&self.record(table)?.content)
    }

    /// The number of the table with this id.
    pub fn find(&self, id: &str) -> Result<Option<u32>> {
        let (mut low, mut high) = (0u32, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle)?.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
            }
        }
        Ok(None)
    }
}
