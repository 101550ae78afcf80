//! Writing the word index of one segment, on the calling thread, within a memory budget.
//!
//! Tables are collected in memory; when the budget is reached what is there is written as a part, and
//! [`LexicalBuilder::finish`] merges the parts into exactly one tantivy segment. Beside tantivy's files lies
//! `lexical.json` with the size and BLAKE3 hash of each of them.

use std::fs;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::indexer::{SingleSegmentIndexWriter, merge_indices};
use tantivy::schema::TantivyDocument;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexSettings};

use crate::error::{Error, Result};

use super::analysis::{Analyzer, name_key};
use super::field::{FIELD_COUNT, Fields, KeyKind, NAMES, WORDS};
use super::segment::{Contents, index_dir};

/// tantivy refuses to work with less memory than this, in bytes.
const LEAST_MEMORY_BYTES: usize = 1 << 20;
/// The longest key kept for exact matches, in bytes; a longer title is found by its words.
const LONGEST_KEY_BYTES: usize = 512;

/// What is indexed of one table. All texts may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct LexicalDocument<'a> {
    /// The table's ordinal in its segment; hits name it.
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

/// What a builder did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LexicalStats {
    /// Tables indexed.
    pub tables: u32,
    /// Text analysed, in bytes.
    pub text_bytes: u64,
    /// Files written, in bytes.
    pub index_bytes: u64,
}

/// Builds the word index of one segment.
pub struct LexicalBuilder {
    dir: PathBuf,
    memory_bytes: usize,
    fields: Fields,
    writer: Option<SingleSegmentIndexWriter>,
    parts: Vec<(PathBuf, Index)>,
    stats: LexicalStats,
}

impl LexicalBuilder {
    /// Starts an index in the folder `dir`, which is created and must hold no index yet. `memory_bytes` bounds what is
    /// held before it is written out as a part (at least 1 MiB; postings in memory take about as much as the text).
    pub fn create(dir: &Path, memory_bytes: usize) -> Result<Self> {
        fs::create_dir_all(dir).map_err(|source| Error::io("create", dir, source))?;
        Ok(LexicalBuilder {
            dir: dir.to_path_buf(),
            memory_bytes: memory_bytes.max(LEAST_MEMORY_BYTES),
            fields: Fields::new(),
            writer: None,
            parts: Vec::new(),
            stats: LexicalStats::default(),
        })
    }

    /// Adds one table.
    pub fn add(&mut self, document: &LexicalDocument<'_>) -> Result<()> {
        let entry = self.entry(document);
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.start_part()?,
        };
        writer.add_document(entry).map_err(|error| self.failed(&error))?;
        self.stats.tables += 1;
        self.stats.text_bytes += document.texts().iter().map(|text| text.len() as u64).sum::<u64>();
        let is_full = writer.mem_usage() >= self.memory_bytes;
        self.writer = Some(writer);
        if is_full { self.end_part() } else { Ok(()) }
    }

    /// Writes everything to disk as exactly one tantivy segment.
    pub fn finish(mut self) -> Result<LexicalStats> {
        self.end_part()?;
        let whole = index_dir(&self.dir);
        match self.parts.as_slice() {
            [] => {}
            [(part, _)] => fs::rename(part, &whole).map_err(|source| Error::io("create", &whole, source))?,
            parts => {
                let indexes: Vec<Index> = parts.iter().map(|(_, index)| index.clone()).collect();
                let target = open_directory(&whole)?;
                merge_indices(&indexes, target).map_err(|error| self.failed(&error))?;
            }
        }
        for (part, _) in self.parts.drain(..) {
            if part.exists() {
                fs::remove_dir_all(&part).map_err(|source| Error::io("write", &part, source))?;
            }
        }
        let contents = Contents::of(&self.dir, self.stats.tables)?;
        self.stats.index_bytes = contents.write(&self.dir)?;
        Ok(self.stats)
    }

    fn entry(&self, document: &LexicalDocument<'_>) -> TantivyDocument {
        let mut entry = TantivyDocument::default();
        entry.add_u64(self.fields.table, u64::from(document.table));
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

    fn start_part(&self) -> Result<SingleSegmentIndexWriter> {
        let part = self.dir.join(format!("part-{}", self.parts.len()));
        Index::builder()
            .schema(self.fields.schema.clone())
            .tokenizers(tokenizers())
            .settings(IndexSettings::default())
            .single_segment_index_writer(open_directory(&part)?, self.memory_bytes)
            .map_err(|error| self.failed(&error))
    }

    fn end_part(&mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            let part = self.dir.join(format!("part-{}", self.parts.len()));
            let index = writer.finalize().map_err(|error| self.failed(&error))?;
            self.parts.push((part, index));
        }
        Ok(())
    }

    fn failed(&self, error: &tantivy::TantivyError) -> Error {
        Error::io("write", &self.dir, std::io::Error::other(error.to_string()))
    }
}

fn open_directory(dir: &Path) -> Result<MmapDirectory> {
    fs::create_dir_all(dir).map_err(|source| Error::io("create", dir, source))?;
    MmapDirectory::open(dir).map_err(|error| Error::io("create", dir, std::io::Error::other(error.to_string())))
}

fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, Analyzer::new(false));
    manager.register(NAMES, Analyzer::new(true));
    manager
}
