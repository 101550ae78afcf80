//! Lines of JSON with a record for each key: while records are added they are appended, a later one of a key taking the place of an
//! earlier one; at the end the file has one line a key, in the order of keys.

use std::collections::BTreeMap;
use std::path::Path;

use super::lines::{JsonLines, LineRecord, LinesFormat};
use crate::error::Result;

/// A record that has a key.
pub trait KeyedRecord: LineRecord {
    /// What no two records have in common.
    fn key(&self) -> &str;
}

/// A file of records by key.
#[derive(Debug)]
pub struct KeyedLines<R> {
    file: JsonLines,
    records: BTreeMap<String, R>,
    /// Whether the file has one line a record, in order, and no others.
    is_in_order: bool,
}

impl<R: KeyedRecord> KeyedLines<R> {
    /// The records in the file at `path`; none where there is none.
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

    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The record of a key.
    pub fn get(&self, key: &str) -> Option<&R> {
        self.records.get(key)
    }

    /// All records, by key.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &R> {
        self.records.values()
    }

    /// All records, to be changed in all but their keys; [`KeyedLines::finish`] writes them.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.is_in_order = false;
        self.records.values_mut()
    }

    /// Adds or replaces records; as [`JsonLines::append`].
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the disk refuses.
    pub fn append(&mut self, records: Vec<R>) -> Result<()> {
        if !self.file.is_whole() {
            self.file.replace(self.records.values())?;
        }
        self.file.append(&records)?;
        self.is_in_order = false;
        self.records.extend(records.into_iter().map(|record| (record.key().to_string(), record)));
        Ok(())
    }

    /// What was appended is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the disk refuses.
    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Forgets records for whose keys `keep` is false; they leave the file with [`KeyedLines::finish`]. How many there were.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) -> u64 {
        let before = self.records.len();
        self.records.retain(|key, _| keep(key));
        let gone = before - self.records.len();
        self.is_in_order &= gone == 0;
        gone as u64
    }

    /// Leaves the file with one line a record, in the order of keys.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the disk refuses; the file is what it was then.
    pub fn finish(&mut self) -> Result<()> {
        if !self.is_in_order {
            self.file.replace(self.records.values())?;
            self.is_in_order = true;
        }
        Ok(())
    }
}
