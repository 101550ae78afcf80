//! Writes one segment: catalogue, columns, inverted lists, vectors and words of some tables, in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::build::{BuildObserver, BuildStep, TableDraft};
use super::catalog::CatalogWriter;
use super::columns::ColumnsWriter;
use super::encode::column_dims;
use super::lexical::{LexicalBuilder, LexicalDocument, LexicalIndex};
use super::lsh::{LshBuilder, LshParams};
use super::manifest::{FileEntry, Manifest, SegmentEntry, sync_folder};
use super::open::Segment;
use super::postings::write_postings;
use super::segment::{SegmentStats, SegmentWriter};
use super::vectors::{GraphChoice, VectorSetBuilder};
use super::{
    CATALOG_FILE, COLUMN_VECTORS, COLUMNS_FILE, CONTENT_VECTORS, HEADER_TAGS, JOIN_FILE, JOIN_KIND, JOIN_VERSION,
    TOPIC_VECTORS, VALUE_TAGS, VECTORS_FILE, VECTORS_KIND, VECTORS_VERSION, WORDS_FILE, header_hashes,
};
use crate::error::{Error, Result};
use crate::lake::semantic::LogicalType;
use crate::sketch::minhash::MinHash;

/// Where the word index spills, in the segment's folder while it is written.
const SCRATCH_FOLDER: &str = "scratch";
/// Bytes of memory the word index may use before it spills.
const LEXICAL_MEMORY_BYTES: usize = 64 << 20;
/// Bytes of cell text a table contributes to the word index.
const VALUES_TEXT_BYTES: usize = 512 << 10;
/// Columns with fewer distinct values are found by their lists alone.
const LSH_LEAST_VALUES: u64 = 10;

/// Collects the tables of one segment.
pub struct SegmentBuilder {
    name: String,
    folder: PathBuf,
    catalog: CatalogWriter,
    columns: ColumnsWriter,
    headers: Vec<(u64, u32)>,
    lsh: LshBuilder,
    lexical: LexicalBuilder,
    column_vectors: VectorSetBuilder,
    content_vectors: VectorSetBuilder,
    topic_vectors: VectorSetBuilder,
}

impl SegmentBuilder {
    /// Starts the segment `name` of the index in `index_folder`, with a model of `dims` dimensions.
    ///
    /// # Errors
    /// [`Error::Io`] when its folder cannot be made.
    pub fn create(index_folder: &Path, name: &str, dims: usize) -> Result<Self> {
        let folder = Manifest::segment_folder(index_folder, name);
        if folder.exists() {
            // Left by a run that was killed before its commit.
            fs::remove_dir_all(&folder).map_err(|error| Error::io("write", &folder, error))?;
        }
        fs::create_dir_all(&folder).map_err(|error| Error::io("create", &folder, error))?;
        Ok(Self {
            name: name.to_string(),
            catalog: CatalogWriter::default(),
            columns: ColumnsWriter::default(),
            headers: Vec::new(),
            lsh: LshBuilder::new(LshParams::default())?,
            lexical: LexicalBuilder::new(&folder.join(SCRATCH_FOLDER), LEXICAL_MEMORY_BYTES),
            column_vectors: VectorSetBuilder::new(column_dims(dims))?,
            content_vectors: VectorSetBuilder::new(dims)?,
            topic_vectors: VectorSetBuilder::new(dims)?,
            folder,
        })
    }

    /// Value hashes collected so far.
    pub fn values(&self) -> usize {
        self.columns.values()
    }

    /// Adds the next table; tables come in the order of their ids.
    ///
    /// # Errors
    /// What the parts report.
    pub fn push(&mut self, draft: TableDraft) -> Result<()> {
        let table = self.catalog.push(&draft.entry, &draft.stamp, self.columns.len() as u32)?;
        let columns = draft.entry.profile.columns.iter().zip(&draft.sketches).zip(&draft.column_vectors);
        for (place, ((profile, sketch), vector)) in columns.enumerate() {
            let column = self.columns.push(table, place as u32, profile, sketch);
            self.add_keys(column, &profile.name, sketch.distinct, &sketch.hashes);
            self.column_vectors.push(vector)?;
        }
        self.content_vectors.push(&draft.content)?;
        self.topic_vectors.push(&draft.topic)?;
        self.add_words(table, &draft)
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
            self.add_keys(column, from.columns.name(record)?, record.distinct, from.columns.hashes(record)?);
            self.column_vectors.push_stored(&from.column_vectors, stored)?;
        }
        self.content_vectors.push_stored(&from.content_vectors, table)?;
        self.topic_vectors.push_stored(&from.topic_vectors, table)?;
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

    /// The hashes and the signature that column `column` is found by.
    fn add_keys(&mut self, column: u32, name: &str, distinct: u64, hashes: &[u64]) {
        self.headers.extend(header_hashes(name).map(|hash| (hash, column)));
        if distinct >= LSH_LEAST_VALUES && !hashes.is_empty() {
            self.lsh.add(column, distinct, &MinHash::of(hashes));
        }
    }

    fn add_words(&mut self, table: u32, draft: &TableDraft) -> Result<()> {
        let entry = &draft.entry;
        let headers: Vec<&str> = entry.profile.columns.iter().map(|column| column.name.as_str()).collect();
        let mut values = String::new();
        for (column, sketch) in entry.profile.columns.iter().zip(&draft.sketches) {
            // Measurements are noise as words; whole numbers (years, ids) are asked for.
            if column.logical != LogicalType::Float && values.len() < VALUES_TEXT_BYTES {
                values.push_str(&sketch.text);
            }
        }
        let metadata = entry.metadata.as_ref();
        let mut description = metadata.and_then(|metadata| metadata.description.clone()).unwrap_or_default();
        for line in &entry.report.preamble {
            description.push('\n');
            description.push_str(line);
        }
        for column in metadata.into_iter().flat_map(|metadata| metadata.columns.values()) {
            for text in [&column.title, &column.description].into_iter().flatten() {
                description.push('\n');
                description.push_str(text);
            }
        }
        let tags = metadata.map(|metadata| metadata.tags.join("\n")).unwrap_or_default();
        self.lexical.add(&LexicalDocument {
            table,
            id: entry.id.as_str(),
            title: metadata.and_then(|metadata| metadata.title.as_deref()).unwrap_or_default(),
            headers: &headers.join("\n"),
            description: &description,
            tags: &tags,
            values: &values,
        })
    }

    /// Writes everything; the segment as the manifest names it.
    ///
    /// # Errors
    /// What the parts report.
    pub fn finish(self, observer: &dyn BuildObserver) -> Result<SegmentEntry> {
        let (tables, columns) = (self.catalog.len() as u32, self.columns.len() as u32);
        let values = self.columns.values() as u64;
        let mut files = Vec::new();
        let mut note = |name: &str, stats: SegmentStats, step: BuildStep| {
            let checksum = format!("{:016x}", stats.checksum);
            files.push(FileEntry { name: name.to_string(), bytes: stats.bytes, checksum });
            observer.reached(step);
        };
        note(WORDS_FILE, self.lexical.finish(&self.folder.join(WORDS_FILE))?.file, BuildStep::WordsWritten);
        note(CATALOG_FILE, self.catalog.finish(&self.folder.join(CATALOG_FILE))?, BuildStep::CatalogWritten);
        let mut vectors = SegmentWriter::create(&self.folder.join(VECTORS_FILE), VECTORS_KIND, VECTORS_VERSION)?;
        self.column_vectors.write(&mut vectors, COLUMN_VECTORS, GraphChoice::Auto)?;
        self.content_vectors.write(&mut vectors, CONTENT_VECTORS, GraphChoice::Auto)?;
        self.topic_vectors.write(&mut vectors, TOPIC_VECTORS, GraphChoice::Auto)?;
        note(VECTORS_FILE, vectors.finish()?, BuildStep::VectorsWritten);
        let mut join = SegmentWriter::create(&self.folder.join(JOIN_FILE), JOIN_KIND, JOIN_VERSION)?;
        write_postings(&mut join, VALUE_TAGS, self.columns.pairs())?;
        write_postings(&mut join, HEADER_TAGS, self.headers)?;
        self.lsh.write(&mut join)?;
        note(JOIN_FILE, join.finish()?, BuildStep::JoinWritten);
        note(COLUMNS_FILE, self.columns.finish(&self.folder.join(COLUMNS_FILE))?, BuildStep::ColumnsWritten);
        sync_folder(&self.folder)?;
        let name = self.name;
        Ok(SegmentEntry { name, tables, columns, values, removed: Vec::new(), restamped: BTreeMap::new(), files })
    }
}
