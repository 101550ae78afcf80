//! The facets of the records and tables of a segment: which of them has which value of a field, whose value lists are truncated, and which
//! years they cover. Also the words of their titles, and hashes of the identifiers by which they are cited.
//!
//! A segment has a dictionary, sorted by kind, field and text, whose entries refer to ascending lists of tables. Only
//! the dictionary is read before a value is looked up. The meaning of the values is not known here; fields get their
//! [`Respect`](lakeward_core::respect::Respect) from their names when the segments are combined ([`FacetIndex`]).

use std::path::Path;

use bytemuck::{Pod, Zeroable};
use hashbrown::HashMap;

use super::columns::ColumnsWriter;
use super::segment::{Packing, Section, SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::structures::Segment;
use lakeward_core::error::Result;
use lakeward_core::text::lower_words;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::Identifier;

mod alike;
mod lake;

pub use alike::key_of;
pub use lake::FacetIndex;

/// No known year.
const UNKNOWN_YEAR: i16 = i16::MIN;
/// Maximum words of one title.
const MOST_TITLE_WORDS: usize = 64;
/// Maximum bytes of a title word; longer ones are not words.
const LONGEST_WORD_BYTES: usize = 48;

/// The kind of a dictionary entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
enum Kind {
    /// Tables that have a value.
    Value = 0,
    /// Tables whose list under a field is truncated.
    CutShort = 1,
    /// Tables with a word in their titles.
    TitleWord = 2,
}

/// One dictionary entry: the positions of its texts and its list.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct EntryRecord {
    text_start: u64,
    /// In numbers.
    list_start: u64,
    field_len: u32,
    value_len: u32,
    tables: u32,
    kind: u32,
}

/// An identifier by its [key](lakeward_lake::identifier::Identifier::key); sorted by key, then table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct IdentifierRecord {
    key: u64,
    table: u32,
    unused: u32,
}

/// The facets of one table or record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableFacets {
    /// (field, value) pairs without duplicates.
    values: Vec<(String, String)>,
    cut_short: Vec<String>,
    years: [i16; 2],
    title_words: Vec<String>,
    /// Keys of its identifiers and of its address.
    identifiers: Vec<u64>,
}

impl TableFacets {
    /// The facets of a table or record.
    pub fn of(dataset: &Dataset) -> Self {
        let mut facets = TableFacets { years: [UNKNOWN_YEAR; 2], ..Self::default() };
        let title = dataset.metadata().and_then(|metadata| metadata.title.as_deref()).unwrap_or_default();
        facets.title_words = title_words(title);
        let nothing = Default::default();
        let metadata = dataset.metadata().unwrap_or(&nothing);
        let (values, cut_short) = metadata.fields(dataset.path());
        facets.values = values.into_iter().map(|(field, value)| (field.to_string(), value.to_string())).collect();
        facets.cut_short = cut_short.into_iter().map(str::to_string).collect();
        let (first, last) = metadata.years();
        let stored = |year: Option<i32>| year.and_then(|year| i16::try_from(year).ok()).unwrap_or(UNKNOWN_YEAR);
        facets.years = [stored(first), stored(last)];
        let own = std::iter::once(dataset.citation()).chain(metadata.identifiers.iter().map(String::as_str));
        let named = own.chain(metadata.source_url.as_deref()).map(|text| Identifier::of_publisher(text).key());
        facets.identifiers = named.collect();
        facets.identifiers.sort_unstable();
        facets.identifiers.dedup();
        facets
    }
}

/// The words of a title in lower case, without duplicates: runs of letters and digits with at least one letter.
fn title_words(title: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in lower_words(title).take(MOST_TITLE_WORDS) {
        if word.len() <= LONGEST_WORD_BYTES && word.contains(char::is_alphabetic) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Texts with the tables that have them.
type Lists = HashMap<String, Vec<u32>>;

/// Collects the facets of one segment. Memory: four bytes per value of a table, and the distinct texts.
#[derive(Default)]
pub struct FacetWriter {
    /// By kind and field.
    fields: HashMap<(Kind, String), Lists>,
    years: Vec<[i16; 2]>,
    identifiers: Vec<IdentifierRecord>,
}

impl FacetWriter {
    /// Adds the values of the tables of `from`; `number_of` returns the new number of a table, or `None` if it is left out.
    fn add_lists(&mut self, from: &Facets, number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        for place in 0..from.len() {
            let entry = from.entry(place)?;
            for table in from.list(&entry)? {
                if let Some(table) = number_of(*table) {
                    self.add(entry.kind, entry.field, entry.text, table);
                }
            }
        }
        for record in from.all_identifiers()? {
            let moved = number_of(record.table).map(|table| IdentifierRecord { table, ..*record });
            self.identifiers.extend(moved);
        }
        Ok(())
    }

    fn add(&mut self, kind: Kind, field: &str, text: &str, table: u32) {
        let lists = match self.fields.get_mut(&(kind, field) as &dyn FieldKey) {
            Some(lists) => lists,
            None => self.fields.entry((kind, field.to_string())).or_default(),
        };
        match lists.get_mut(text) {
            Some(list) if list.last() == Some(&table) => {}
            Some(list) => list.push(table),
            None => _ = lists.insert(text.to_string(), vec![table]),
        }
    }
}

impl StructureWriter for FacetWriter {
    type Draft = TableFacets;

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, facets: &TableFacets, place: &Place) -> Result<()> {
        for (field, value) in &facets.values {
            self.add(Kind::Value, field, value, place.table);
        }
        for field in &facets.cut_short {
            self.add(Kind::CutShort, field, "", place.table);
        }
        for word in &facets.title_words {
            self.add(Kind::TitleWord, "", word, place.table);
        }
        self.years.push(facets.years);
        let named = facets.identifiers.iter().map(|key| IdentifierRecord { key: *key, table: place.table, unused: 0 });
        self.identifiers.extend(named);
        Ok(())
    }

    /// Adds the years; values are added per segment.
    fn push_stored(&mut self, from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        self.years.push(from.segment.facets.stored_years(from.table)?);
        Ok(())
    }

    fn push_segment(&mut self, from: &Segment, number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        self.add_lists(&from.facets, number_of)
    }

    fn finish(mut self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut sorted: Vec<(Kind, &str, &str, &mut Vec<u32>)> = Vec::new();
        for ((kind, field), lists) in &mut self.fields {
            sorted.extend(lists.iter_mut().map(|(text, list)| (*kind, field.as_str(), text.as_str(), list)));
        }
        sorted.sort_unstable_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let (mut entries, mut texts, mut start) = (Vec::with_capacity(sorted.len()), Vec::new(), 0u64);
        for (kind, field, text, list) in &mut sorted {
            list.sort_unstable();
            list.dedup();
            entries.push(EntryRecord {
                text_start: texts.len() as u64,
                list_start: start,
                field_len: field.len() as u32,
                value_len: text.len() as u32,
                tables: list.len() as u32,
                kind: *kind as u32,
            });
            texts.extend_from_slice(field.as_bytes());
            texts.extend_from_slice(text.as_bytes());
            start += list.len() as u64;
        }
        let mut writer = Facets::FORMAT.create(folder)?;
        writer.section_of(*b"ENTR", &entries)?;
        writer.section(*b"TEXT", &texts)?;
        {
            let mut lists = writer.section_writer(*b"LIST")?;
            for (_, _, _, list) in &sorted {
                lists.write_slice(list)?;
            }
        }
        writer.packed_section_of(*b"YEAR", Packing::Small, &self.years)?;
        self.identifiers.sort_unstable();
        writer.packed_section_of(*b"IDEN", Packing::Small, &self.identifiers)?;
        writer.finish().map(Some)
    }
}

/// The key of a field, owned or borrowed, so that a lookup allocates no text.
trait FieldKey {
    fn parts(&self) -> (Kind, &str);
}

impl FieldKey for (Kind, String) {
    fn parts(&self) -> (Kind, &str) {
        (self.0, &self.1)
    }
}

impl FieldKey for (Kind, &str) {
    fn parts(&self) -> (Kind, &str) {
        *self
    }
}

impl std::hash::Hash for dyn FieldKey + '_ {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl hashbrown::Equivalent<(Kind, String)> for dyn FieldKey + '_ {
    fn equivalent(&self, key: &(Kind, String)) -> bool {
        self.parts() == key.parts()
    }
}

/// The facets of an opened segment, read in place.
#[derive(Debug)]
pub struct Facets {
    entries: Section,
    texts: Section,
    lists: Section,
    years: Section,
    identifiers: Section,
}

/// An entry of the dictionary.
struct Entry<'a> {
    kind: Kind,
    field: &'a str,
    text: &'a str,
    list_start: u64,
    tables: u32,
}

impl Structure for Facets {
    const FORMAT: FileFormat = FileFormat { name: "facets.seg", kind: SegmentKind(*b"FACE"), version: 3 };
    type Draft = TableFacets;
    type Writer = FacetWriter;

    fn draft(table: &TableContent<'_>) -> Result<TableFacets> {
        Ok(TableFacets::of(table.dataset))
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        Ok(Self {
            entries: file.section(*b"ENTR")?,
            texts: file.section(*b"TEXT")?,
            lists: file.section(*b"LIST")?,
            years: file.section(*b"YEAR")?,
            identifiers: file.section(*b"IDEN")?,
        })
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.tables() == tables
    }
}

impl Facets {
    /// Number of tables in the segment.
    fn tables(&self) -> usize {
        self.years.len() / size_of::<[i16; 2]>()
    }

    /// Number of dictionary entries.
    fn len(&self) -> usize {
        self.entries.len() / size_of::<EntryRecord>()
    }

    fn entry(&self, place: usize) -> Result<Entry<'_>> {
        let record = self.entries.slice::<EntryRecord>(place..place + 1)?[0];
        let start = record.text_start as usize;
        let middle = start.saturating_add(record.field_len as usize);
        let end = middle.saturating_add(record.value_len as usize);
        let text = |range| {
            std::str::from_utf8(self.texts.bytes(range)?).map_err(|_| self.texts.damaged("a text that is not UTF-8"))
        };
        let kind = match record.kind {
            0 => Kind::Value,
            1 => Kind::CutShort,
            2 => Kind::TitleWord,
            _ => return Err(self.entries.damaged("an entry of an unknown kind")),
        };
        let (field, text) = (text(start..middle)?, text(middle..end)?);
        Ok(Entry { kind, field, text, list_start: record.list_start, tables: record.tables })
    }

    /// The tables of an entry, ascending.
    fn list(&self, entry: &Entry<'_>) -> Result<&[u32]> {
        self.numbers(entry.list_start, entry.tables)
    }

    fn numbers(&self, start: u64, count: u32) -> Result<&[u32]> {
        let start = start as usize;
        let numbers = self.lists.slice::<u32>(start..start.saturating_add(count as usize))?;
        if numbers.last().is_some_and(|last| *last as usize >= self.tables()) {
            return Err(self.lists.damaged("a table that does not exist"));
        }
        Ok(numbers)
    }

    fn stored_years(&self, table: u32) -> Result<[i16; 2]> {
        Ok(self.years.slice::<[i16; 2]>(table as usize..table as usize + 1)?[0])
    }

    fn all_identifiers(&self) -> Result<&[IdentifierRecord]> {
        self.identifiers.slice::<IdentifierRecord>(0..self.identifiers.len() / size_of::<IdentifierRecord>())
    }

    /// The tables that have an identifier of this key, ascending.
    fn with_identifier(&self, key: u64) -> Result<impl Iterator<Item = u32>> {
        let all = self.all_identifiers()?;
        let first = all.partition_point(|record| record.key < key);
        Ok(all[first..].iter().take_while(move |record| record.key == key).map(|record| record.table))
    }

    /// First and last year of all tables, by number.
    fn all_years(&self) -> Result<&[[i16; 2]]> {
        self.years.slice::<[i16; 2]>(0..self.tables())
    }
}

#[inline]
fn known_year(year: i16) -> Option<i32> {
    (year != UNKNOWN_YEAR).then_some(i32::from(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[(&str, &str)], years: [i16; 2], title: &str) -> TableFacets {
        TableFacets {
            values: values.iter().map(|(field, value)| (field.to_string(), value.to_string())).collect(),
            cut_short: if years[0] == 1999 { vec!["geography".into()] } else { Vec::new() },
            years,
            title_words: title_words(title),
            identifiers: values.iter().map(|(_, value)| value.len() as u64).collect(),
        }
    }

    fn written(writer: FacetWriter) -> Facets {
        let folder = tempfile::tempdir().unwrap();
        writer.finish(folder.path(), &ColumnsWriter::default()).unwrap();
        Facets::open(&SegmentFiles { folder: folder.path().to_path_buf(), removed: &[], listed: &[] }).unwrap()
    }

    fn of_tables<'a>(tables: impl IntoIterator<Item = &'a TableFacets>) -> FacetWriter {
        let mut writer = FacetWriter::default();
        for (number, table) in (0..).zip(tables) {
            writer.push(table, &Place { table: number, columns: 0..0 }).unwrap();
        }
        writer
    }

    #[test]
    fn merged_facets_are_those_written_at_once() {
        let tables = [
            table(&[("geography", "Canada"), ("subjects", "Crime")], [1999, 2001], "Crime, by 5 regions"),
            table(&[("geography", "Canada"), ("geography", "Ontario")], [UNKNOWN_YEAR; 2], ""),
            table(&[("geography", "Ontario"), ("subject", "Crime")], [1990, UNKNOWN_YEAR], "Crime crime"),
        ];
        let whole = written(of_tables(&tables));
        assert_eq!(
            whole.descriptions(),
            [
                "Value geography Canada: [0, 1]",
                "Value geography Ontario: [1, 2]",
                "Value subject Crime: [2]",
                "Value subjects Crime: [0]",
                "CutShort geography : [0]",
                "TitleWord  by: [0]",
                "TitleWord  crime: [0, 2]",
                "TitleWord  regions: [0]",
            ]
        );
        // In reverse order, with one table that is left out, and sorted again.
        let mars = table(&[("geography", "Mars")], [1, 2], "Mars");
        let reversed = written(of_tables(std::iter::once(&mars).chain(tables.iter().rev())));
        let mut merged = FacetWriter::default();
        merged.years.extend([3, 2, 1].map(|table| reversed.stored_years(table).unwrap()));
        merged.add_lists(&reversed, &|table| 3u32.checked_sub(table).filter(|number| *number < 3)).unwrap();
        let merged = written(merged);
        assert_eq!(merged.descriptions(), whole.descriptions());
        assert_eq!(merged.all_years().unwrap(), whole.all_years().unwrap());
        assert_eq!(merged.all_identifiers().unwrap(), whole.all_identifiers().unwrap());
        assert_eq!(whole.with_identifier(7).unwrap().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(whole.with_identifier(8).unwrap().count(), 0);
        assert_eq!(known_year(merged.stored_years(2).unwrap()[1]), None);
    }
}
