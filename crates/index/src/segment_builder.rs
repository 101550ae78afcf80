//! Writes one segment: catalogue, columns, inverted lists, vectors and words of some tables, in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use super::build::{BuildObserver, BuildStep};
use super::catalog::CatalogWriter;
use super::columns::ColumnsWriter;
use super::encode::column_dims;
use super::facets::FacetWriter;
use super::keys::{HeaderKeys, domains};
use super::lexical::{LexicalBuilder, LexicalIndex};
use super::manifest::{FileEntry, Manifest, SegmentEntry};
use super::open::Segment;
use super::postings::write_postings;
use super::segment::{SegmentStats, SegmentWriter};
use super::table_draft::TableDraft;
use super::token_vectors::TokenVectorWriter;
use super::tokens::TokenWriter;
use super::vectors::{GraphChoice, VectorSetBuilder};
use super::{
    CATALOG_FILE, COLUMN_VECTORS, COLUMNS_FILE, CONTENT_VECTORS, FACETS_FILE, HEADER_TAGS, JOIN_FILE, JOIN_KIND,
    JOIN_VERSION, TITLE_VECTORS, TOKEN_VECTORS_FILE, TOKENS_FILE, TOPIC_VECTORS, VALUE_TAGS, VARIANT_TAGS,
    VECTORS_FILE, VECTORS_KIND, VECTORS_VERSION, WORDS_FILE,
};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{make_folder, sync_folder};
use lakeward_models::embed::{Embedder, SentenceModel};

/// Where the word index spills, in the segment's folder while it is written.
const SCRATCH_FOLDER: &str = "scratch";
/// Bytes of memory the word index may use before it spills.
const LEXICAL_MEMORY_BYTES: usize = 64 << 20;

/// What vectors a model makes.
#[derive(Debug, Clone, Copy)]
pub struct VectorShape {
    /// Values of a vector.
    pub dims: usize,
    /// Pieces of its vocabulary, where it has vectors of pieces.
    pub vocabulary: Option<usize>,
}

impl VectorShape {
    /// That of `embedder`.
    pub fn of(embedder: &dyn Embedder) -> Self {
        let vocabulary = embedder.as_sentence_model().map(SentenceModel::vocabulary_len);
        Self { dims: embedder.dims(), vocabulary }
    }
}

/// Collects the tables of one segment.
pub struct SegmentBuilder {
    name: String,
    folder: PathBuf,
    catalog: CatalogWriter,
    columns: ColumnsWriter,
    headers: HeaderKeys,
    facets: FacetWriter,
    tokens: TokenWriter,
    token_vectors: Option<TokenVectorWriter>,
    lexical: LexicalBuilder,
    column_vectors: VectorSetBuilder,
    content_vectors: VectorSetBuilder,
    topic_vectors: VectorSetBuilder,
    title_vectors: VectorSetBuilder,
}

impl SegmentBuilder {
    /// Starts the segment `name` of the index in `index_folder`, with vectors of `shape`.
    ///
    /// # Errors
    /// [`Error::Io`] when its folder cannot be made.
    pub fn create(index_folder: &Path, name: &str, shape: VectorShape) -> Result<Self> {
        let folder = Manifest::segment_folder(index_folder, name);
        if folder.exists() {
            // Left by a run that was killed before its commit.
            fs::remove_dir_all(&folder).map_err(|error| Error::io("write", &folder, error))?;
        }
        make_folder(&folder)?;
        let dims = shape.dims;
        let token_vectors = |vocabulary| TokenVectorWriter::create(&folder.join(TOKEN_VECTORS_FILE), dims, vocabulary);
        Ok(Self {
            name: name.to_string(),
            catalog: CatalogWriter::default(),
            columns: ColumnsWriter::default(),
            headers: HeaderKeys::default(),
            facets: FacetWriter::default(),
            tokens: TokenWriter::default(),
            token_vectors: shape.vocabulary.map(token_vectors).transpose()?,
            lexical: LexicalBuilder::new(&folder.join(SCRATCH_FOLDER), LEXICAL_MEMORY_BYTES),
            column_vectors: VectorSetBuilder::new(column_dims(dims))?,
            content_vectors: VectorSetBuilder::new(dims)?,
            topic_vectors: VectorSetBuilder::new(dims)?,
            title_vectors: VectorSetBuilder::new(dims)?,
            folder,
        })
    }

    /// Value hashes collected so far.
    pub fn values(&self) -> usize {
        self.columns.values()
    }

    /// Tables added so far.
    pub fn tables(&self) -> usize {
        self.catalog.len()
    }

    /// Adds the next table; tables come in the order of their ids.
    ///
    /// # Errors
    /// What the parts report.
    pub fn push(&mut self, draft: &TableDraft) -> Result<()> {
        let first = self.columns.len() as u32;
        let columns = first..first + draft.columns.len() as u32;
        let table = self.catalog.push(draft.id.as_str(), &draft.stamp, &draft.entry, columns)?;
        self.columns.append(&draft.columns, table);
        self.headers.append(&draft.headers, first);
        self.facets.push(&draft.facets);
        self.tokens.push(&draft.tokens);
        if let (Some(writer), Some(vectors)) = (&mut self.token_vectors, &draft.token_vectors) {
            writer.push(vectors)?;
        }
        self.column_vectors.append(&draft.column_vectors)?;
        self.content_vectors.push(&draft.content)?;
        self.topic_vectors.push(&draft.topic)?;
        self.title_vectors.push(&draft.title)?;
        self.lexical.add(&draft.words.document(table, draft.id.as_str()))
    }

    /// Adds table `table` of `from`, all but its words ([`push_words`](Self::push_words)); tables come in the order of their
    /// ids. Its number here.
    ///
    /// # Errors
    /// What the parts report; [`Error::DamagedIndex`] where `from` is damaged.
    pub fn push_stored(&mut self, from: &Segment, table: u32, modified_ns: u64) -> Result<u32> {
        let number = self.catalog.push_stored(&from.catalog, table, modified_ns, self.columns.len() as u32)?;
        for stored in from.catalog.columns(table)? {
            let record = from.columns.record(stored)?;
            let column = self.columns.push_stored(&from.columns, record, number)?;
            self.headers.add(column, from.columns.name(record)?);
            self.column_vectors.push_stored(&from.column_vectors, stored)?;
        }
        self.facets.push_stored(&from.facets, table)?;
        self.tokens.push_stored(&from.tokens, table)?;
        if let (Some(writer), Some(vectors)) = (&mut self.token_vectors, &from.token_vectors) {
            writer.push_stored(vectors, table)?;
        }
        self.content_vectors.push_stored(&from.content_vectors, table)?;
        self.topic_vectors.push_stored(&from.topic_vectors, table)?;
        self.title_vectors.push_stored(&from.title_vectors, table)?;
        Ok(number)
    }

    /// Adds the words of segment `segment` of `from`; `table_of` gives the number that a table was pushed under here.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] where `from` is damaged, [`Error::Io`] when the disk refuses.
    pub fn push_words(
        &mut self,
        from: &LexicalIndex,
        segment: usize,
        table_of: impl Fn(u32) -> Option<u32>,
    ) -> Result<()> {
        self.lexical.add_segment(from, segment, table_of)
    }

    /// Adds the facets of segment `from`, all of whose tables that stay were pushed; `table_of` as in
    /// [`push_words`](Self::push_words).
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] where `from` is damaged.
    pub fn push_facets(&mut self, from: &Segment, table_of: impl Fn(u32) -> Option<u32>) -> Result<()> {
        self.facets.push_lists(&from.facets, table_of)
    }

    /// Writes everything; the segment as the manifest names it.
    ///
    /// # Errors
    /// What the parts report.
    pub fn finish(self, observer: &dyn BuildObserver) -> Result<SegmentEntry> {
        let (tables, columns) = (self.catalog.len() as u32, self.columns.len() as u32);
        let values = self.columns.values() as u64;
        let folder = &self.folder;
        let pairs = self.columns.pairs();
        // The files are independent of each other: sorting one fills the time that another waits for the disk.
        let written = thread::scope(|scope| {
            let words = scope.spawn(|| {
                let words = self.lexical.finish(&folder.join(WORDS_FILE))?;
                Ok(note(WORDS_FILE, words.file, BuildStep::WordsWritten, observer))
            });
            let vectors = scope.spawn(|| {
                let mut file = SegmentWriter::create(&folder.join(VECTORS_FILE), VECTORS_KIND, VECTORS_VERSION)?;
                self.column_vectors.write(&mut file, COLUMN_VECTORS, GraphChoice::Auto)?;
                self.content_vectors.write(&mut file, CONTENT_VECTORS, GraphChoice::Auto)?;
                self.topic_vectors.write(&mut file, TOPIC_VECTORS, GraphChoice::Auto)?;
                self.title_vectors.write(&mut file, TITLE_VECTORS, GraphChoice::Never)?;
                Ok(note(VECTORS_FILE, file.finish()?, BuildStep::VectorsWritten, observer))
            });
            let catalog = scope.spawn(|| {
                let catalog = self.catalog.finish(&folder.join(CATALOG_FILE))?;
                Ok(note(CATALOG_FILE, catalog, BuildStep::CatalogWritten, observer))
            });
            let facets = scope.spawn(|| {
                let facets = self.facets.finish(&folder.join(FACETS_FILE))?;
                Ok(note(FACETS_FILE, facets, BuildStep::FacetsWritten, observer))
            });
            let tokens = scope.spawn(|| {
                let vectors = self.token_vectors.map(TokenVectorWriter::finish).transpose()?;
                let tokens = self.tokens.finish(&folder.join(TOKENS_FILE))?;
                let vectors = vectors.map(|stats| file_entry(TOKEN_VECTORS_FILE, stats));
                Ok((vectors, note(TOKENS_FILE, tokens, BuildStep::TokensWritten, observer)))
            });
            let columns = scope.spawn(|| {
                let columns = self.columns.finish(&folder.join(COLUMNS_FILE))?;
                Ok(note(COLUMNS_FILE, columns, BuildStep::ColumnsWritten, observer))
            });
            let join = scope.spawn(|| {
                let mut file = SegmentWriter::create(&folder.join(JOIN_FILE), JOIN_KIND, JOIN_VERSION)?;
                let list_bytes = write_postings(&mut file, VALUE_TAGS, pairs)?;
                write_postings(&mut file, HEADER_TAGS, self.headers.pairs)?;
                write_postings(&mut file, VARIANT_TAGS, self.columns.variant_pairs()?)?;
                domains(&self.columns, &list_bytes)?.write(&mut file)?;
                Ok(note(JOIN_FILE, file.finish()?, BuildStep::JoinWritten, observer))
            });
            let files = [words, catalog, facets, vectors, join, columns].map(joined);
            let mut files = files.into_iter().collect::<Result<Vec<FileEntry>>>()?;
            let (token_vectors, tokens) = joined(tokens)?;
            files.extend(token_vectors);
            files.push(tokens);
            Ok::<_, Error>(files)
        });
        let files = written?;
        sync_folder(&self.folder)?;
        let name = self.name;
        Ok(SegmentEntry { name, tables, columns, values, removed: Vec::new(), restamped: BTreeMap::new(), files })
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().map_err(|_| Error::Internal("a writer of the index panicked".into()))?
}

fn note(name: &str, stats: SegmentStats, step: BuildStep, observer: &dyn BuildObserver) -> FileEntry {
    observer.reached(step);
    file_entry(name, stats)
}

fn file_entry(name: &str, stats: SegmentStats) -> FileEntry {
    FileEntry { name: name.to_string(), bytes: stats.bytes, checksum: format!("{:016x}", stats.checksum) }
}
