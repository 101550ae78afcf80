//! Writes the word index of one segment, on the calling thread, within a memory budget.
//!
//! Tables are collected in memory; when the budget is reached they become a part, the first one kept in memory, later ones in a scratch
//! folder. Word indexes of older segments can be added as parts, without their removed tables. [`LexicalBuilder::write`] merges the parts
//! into exactly one tantivy segment and packs its files into one segment file.

use std::fs;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes, RamDirectory};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::indexer::{SingleSegmentIndexWriter, merge_filtered_segments};
use tantivy::schema::TantivyDocument;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{BitSet, Index, IndexSettings, Segment, SegmentReader};

use crate::segment::SegmentStats;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::make_folder;
use lakeward_core::text::name_key;

use super::analysis::Analyzer;
use super::field::{FIELD_COUNT, Fields, KeyKind, NAMES, WORDS};
use super::packed::{FORMAT, pack};
use super::segment::guarded;
use super::words::Words;

/// tantivy refuses to work with less memory than this, in bytes.
const LEAST_MEMORY_BYTES: usize = 1 << 20;
/// Maximum bytes of a key for exact matches; a longer title is found by its words.
const LONGEST_KEY_BYTES: usize = 512;

/// The indexed texts of one table. All may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct LexicalDocument<'a> {
    /// The table's number in its segment; hits refer to it.
    pub table: u32,
    /// The table's id: its path in the lake, `/`-separated.
    pub id: &'a str,
    /// The publisher's title.
    pub title: &'a str,
    /// Column names, joined with line feeds.
    pub headers: &'a str,
    /// The publisher's description.
    pub description: &'a str,
    /// Keywords, joined with line feeds.
    pub tags: &'a str,
    /// Distinct cell values, joined with line feeds.
    pub values: &'a str,
}

impl<'a> LexicalDocument<'a> {
    fn texts(&self) -> [&'a str; FIELD_COUNT] {
        [self.id, self.title, self.headers, self.description, self.tags, self.values]
    }
}

/// Statistics of a builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LexicalStats {
    /// Tables indexed.
    pub tables: u32,
    /// Text analysed, in bytes.
    pub text_bytes: u64,
    /// The file written.
    pub file: SegmentStats,
}

/// Builds the word index of one segment.
pub struct LexicalBuilder {
    scratch: PathBuf,
    memory_bytes: usize,
    fields: Fields,
    writer: Option<PartWriter>,
    parts: Vec<Part>,
    stats: LexicalStats,
}

/// A part that is still being written.
struct PartWriter {
    writer: SingleSegmentIndexWriter,
    directory: Box<dyn Directory>,
    tables: Vec<u32>,
}

/// A tantivy index of some of the tables.
struct Part {
    index: Index,
    /// Where it was written, if it is new.
    written: Option<Box<dyn Directory>>,
    /// Which of its documents to take over; `None` for all.
    alive: Option<AliveBitSet>,
    /// The table of each document taken over.
    tables: Vec<u32>,
}

impl LexicalBuilder {
    /// Starts a word index. `scratch` is a folder that is created if `memory_bytes` (at least 1 MiB; postings in memory take about as much
    /// as the text) do not suffice, and removed when the index is finished.
    pub fn new(scratch: &Path, memory_bytes: usize) -> Self {
        LexicalBuilder {
            scratch: scratch.to_path_buf(),
            memory_bytes: memory_bytes.max(LEAST_MEMORY_BYTES),
            fields: Fields::new(),
            writer: None,
            parts: Vec::new(),
            stats: LexicalStats::default(),
        }
    }

    /// Adds one table.
    pub fn add(&mut self, document: &LexicalDocument<'_>) -> Result<()> {
        let entry = self.entry(document);
        let mut part = match self.writer.take() {
            Some(part) => part,
            None => self.start_part()?,
        };
        part.writer.add_document(entry).map_err(|error| self.failed(&error))?;
        part.tables.push(document.table);
        self.stats.tables += 1;
        self.stats.text_bytes += document.texts().iter().map(|text| text.len() as u64).sum::<u64>();
        let is_full = part.writer.mem_usage() >= self.memory_bytes;
        self.writer = Some(part);
        if is_full { self.end_part() } else { Ok(()) }
    }

    /// Takes over the word index of a segment without analysing its words again. `number_of` returns the new number of a table, or `None`
    /// if it is left out.
    pub fn add_segment(&mut self, words: &Words, number_of: &dyn Fn(u32) -> Option<u32>) -> Result<()> {
        let segment = &words.0;
        let mut alive = BitSet::with_max_value(segment.documents);
        let mut tables = Vec::new();
        for document in (0..segment.documents).filter(|document| !segment.is_dead(*document)) {
            if let Some(table) = number_of(segment.table(document)) {
                alive.insert(document);
                tables.push(table);
            }
        }
        if tables.is_empty() {
            return Ok(());
        }
        self.stats.tables += tables.len() as u32;
        let mut bits = Vec::new();
        write_alive_bitset(&alive, &mut bits).map_err(|error| Error::io("write", &self.scratch, error))?;
        let directory: Box<dyn Directory> = Box::new(segment.directory.clone());
        let index = guarded(&segment.path, || Index::open(directory))?;
        let alive = (tables.len() < segment.documents as usize).then(|| AliveBitSet::open(OwnedBytes::new(bits)));
        self.parts.push(Part { index, written: None, alive, tables });
        Ok(())
    }

    /// Writes everything into `folder` as exactly one tantivy segment.
    pub fn write(mut self, folder: &Path) -> Result<LexicalStats> {
        self.end_part()?;
        self.stats.file = match self.parts.as_slice() {
            [] => pack(folder, &[], None)?,
            [Part { index, written: Some(directory), tables, .. }]
                if uses_all_fields(index).map_err(|error| self.failed(&error))? =>
            {
                pack(folder, tables, Some((index, &**directory)))?
            }
            parts => {
                let tables: Vec<u32> = parts.iter().flat_map(|part| part.tables.iter().copied()).collect();
                let directory = self.directory("merged", self.parts.len() > 1)?;
                let merged = guarded(&folder.join(FORMAT.name), || merge(parts, directory.clone()))?;
                pack(folder, &tables, Some((&merged, &*directory)))?
            }
        };
        self.parts.clear();
        if self.scratch.exists() {
            fs::remove_dir_all(&self.scratch).map_err(|source| Error::io("write", &self.scratch, source))?;
        }
        Ok(self.stats)
    }

    fn entry(&self, document: &LexicalDocument<'_>) -> TantivyDocument {
        let mut entry = TantivyDocument::default();
        for (field, text) in self.fields.text.iter().zip(document.texts()) {
            if !text.is_empty() {
                entry.add_text(*field, text);
            }
        }
        let name = document.id.rsplit('/').next().unwrap_or(document.id);
        let names = [(KeyKind::Id, document.id), (KeyKind::Name, name), (KeyKind::Title, document.title)];
        for (kind, text) in names {
            let key = name_key(text);
            if !key.is_empty() && key.len() <= LONGEST_KEY_BYTES {
                entry.add_text(self.fields.key, kind.term(&key));
            }
        }
        entry
    }

    fn start_part(&self) -> Result<PartWriter> {
        let directory = self.directory(&format!("part-{}", self.parts.len()), !self.parts.is_empty())?;
        let writer = Index::builder()
            .schema(self.fields.schema.clone())
            .tokenizers(tokenizers())
            .settings(IndexSettings::default())
            .single_segment_index_writer(directory.clone(), self.memory_bytes)
            .map_err(|error| self.failed(&error))?;
        Ok(PartWriter { writer, directory, tables: Vec::new() })
    }

    fn end_part(&mut self) -> Result<()> {
        if let Some(part) = self.writer.take() {
            let index = part.writer.finalize().map_err(|error| self.failed(&error))?;
            self.parts.push(Part { index, written: Some(part.directory), alive: None, tables: part.tables });
        }
        Ok(())
    }

    /// A directory in memory, or on disk in the scratch folder.
    fn directory(&self, name: &str, on_disk: bool) -> Result<Box<dyn Directory>> {
        if !on_disk {
            return Ok(Box::new(RamDirectory::create()));
        }
        let path = self.scratch.join(name);
        make_folder(&path)?;
        let directory = MmapDirectory::open(&path).map_err(|error| self.failed(&error.into()))?;
        Ok(Box::new(directory))
    }

    fn failed(&self, error: &tantivy::TantivyError) -> Error {
        Error::io("write", &self.scratch, std::io::Error::other(error.to_string()))
    }
}

/// Whether every field has a word in some document. For a field without words a merged index has an empty list of
/// words, and one written at once has none; so only where every field has words are the bytes of both the same.
fn uses_all_fields(index: &Index) -> tantivy::Result<bool> {
    for segment in index.searchable_segments()? {
        let reader = SegmentReader::open(&segment)?;
        for (field, entry) in index.schema().fields() {
            if entry.is_indexed() && reader.inverted_index(field)?.terms().num_terms() == 0 {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// One tantivy index of the live documents of `parts`, in order.
fn merge(parts: &[Part], directory: Box<dyn Directory>) -> tantivy::Result<Index> {
    let mut segments: Vec<Segment> = Vec::with_capacity(parts.len());
    for part in parts {
        segments.extend(part.index.searchable_segments()?);
    }
    let alive = parts.iter().map(|part| part.alive.clone()).collect();
    merge_filtered_segments(&segments, IndexSettings::default(), alive, directory)
}

fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, Analyzer::new(false));
    manager.register(NAMES, Analyzer::new(true));
    manager
}
