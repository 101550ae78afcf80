//! JSON Lines with one record per key: new records are appended, and a later record of a key replaces an earlier one; at the end the file
//! has one line per key, in key order.

use std::collections::BTreeMap;
use std::path::Path;

use super::lines::{JsonLines, LineRecord, LinesFormat};
use crate::error::Result;

/// A record that has a key.
pub trait KeyedRecord: LineRecord {
    /// The unique key.
    fn key(&self) -> &str;
}

/// A file of records by key.
#[derive(Debug)]
pub struct KeyedLines<R> {
    file: JsonLines,
    records: BTreeMap<String, R>,
    /// Whether the file has exactly one line per record, in key order.
    is_in_order: bool,
}

impl<R: KeyedRecord> KeyedLines<R> {
    /// Reads the records from the file at `path`; no records if it does not exist.
    ///
    /// # Errors
    /// As [`JsonLines::open`].
    pub fn open(path: &Path, format: &'static LinesFormat) -> Result<Self> {
        let mut records: BTreeMap<String, R> = BTreeMap::new();
        let mut is_in_order = true;
        let file = JsonLines::open(path, format, |record: R| {
            is_in_order &= records.last_key_value().is_none_or(|(last, _)| last.as_str() < record.key());
            records.insert(record.key().to_string(), record);
        })?;
        is_in_order &= file.is_whole() && file.unread() == 0;
        Ok(Self { file, records, is_in_order })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The record with this key.
    pub fn get(&self, key: &str) -> Option<&R> {
        self.records.get(key)
    }

    /// All records, in key order.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &R> {
        self.records.values()
    }

    /// All records, mutable except for their keys; [`KeyedLines::finish`] writes them.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.is_in_order = false;
        self.records.values_mut()
    }

    /// Adds or replaces records; as [`JsonLines::append`].
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if writing fails.
    pub fn append(&mut self, records: Vec<R>) -> Result<()> {
        if !self.file.is_whole() {
            self.file.replace(self.records.values())?;
        }
        self.file.append(&records)?;
        self.is_in_order = false;
        self.records.extend(records.into_iter().map(|record| (record.key().to_string(), record)));
        Ok(())
    }

    /// Flushes appended records to disk.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if writing fails.
    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Removes records for whose keys `keep` is false, and returns their number; [`KeyedLines::finish`] removes them from the file.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) -> u64 {
        let before = self.records.len();
        self.records.retain(|key, _| keep(key));
        let removed = before - self.records.len();
        self.is_in_order &= removed == 0;
        removed as u64
    }

    /// Rewrites the file, if needed, with one line per record in key order.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if writing fails; the file is unchanged then.
    pub fn finish(&mut self) -> Result<()> {
        if !self.is_in_order {
            self.file.replace(self.records.values())?;
            self.is_in_order = true;
        }
        Ok(())
    }
}
