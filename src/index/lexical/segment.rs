//! One segment opened for reading, and what guards it against damage.
//!
//! [`Contents`] records the size and hash of every file tantivy wrote: sizes are compared at each opening, hashes by
//! [`super::LexicalIndex::verify`]. tantivy checks file footers itself and, on bytes that make no sense, may panic;
//! [`guarded`] turns that into [`Error::DamagedIndex`] too.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Index, SegmentReader, Term};

use crate::error::{Error, Result};
use crate::guard;

use super::field::{FIELD_COUNT, Fields, TABLE_FIELD};

/// Version of the folder's layout, analysis and schema.
const FORMAT_VERSION: u32 = 1;

/// The folder inside `dir` that tantivy owns.
pub(super) fn index_dir(dir: &Path) -> PathBuf {
    dir.join("tantivy")
}

/// Where the contents of the index in `dir` are listed.
fn contents_path(dir: &Path) -> PathBuf {
    dir.join("lexical.json")
}

/// A segment's word index and which of its tables no longer count.
#[derive(Debug, Clone, Default)]
pub struct LexicalSegment {
    /// The folder that [`super::LexicalBuilder::create`] was given.
    pub dir: PathBuf,
    /// Ordinals of tables that were changed or removed since, in any order. They are never returned; their words still
    /// count in document frequencies until the segment is merged away.
    pub dead: Vec<u32>,
}

/// The list of files of one word index.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Contents {
    version: u32,
    pub tables: u32,
    files: Vec<ContentsFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContentsFile {
    name: String,
    bytes: u64,
    blake3: String,
}

impl Contents {
    /// Lists the files that tantivy wrote for the index in `dir`.
    pub fn of(dir: &Path, tables: u32) -> Result<Self> {
        let mut files = Vec::new();
        if tables > 0 {
            let index = index_dir(dir);
            let failed = |source| Error::io("list", &index, source);
            for entry in fs::read_dir(&index).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                if !name.ends_with(".lock") {
                    let (bytes, blake3) = hash_file(&path)?;
                    files.push(ContentsFile { name, bytes, blake3 });
                }
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Contents { version: FORMAT_VERSION, tables, files })
    }

    /// Writes the list; returns the size of everything listed and of the list itself, in bytes.
    pub fn write(&self, dir: &Path) -> Result<u64> {
        let path = contents_path(dir);
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::Internal(error.to_string()))?;
        fs::write(&path, &text).map_err(|source| Error::io("write", &path, source))?;
        Ok(text.len() as u64 + self.files.iter().map(|file| file.bytes).sum::<u64>())
    }

    /// Reads the list and compares the sizes of the files.
    fn read(dir: &Path) -> Result<Self> {
        let path = contents_path(dir);
        let text = fs::read(&path).map_err(|error| Error::damaged(&path, error.to_string()))?;
        let contents: Contents =
            serde_json::from_slice(&text).map_err(|error| Error::damaged(&path, error.to_string()))?;
        if contents.version != FORMAT_VERSION {
            return Err(Error::IndexVersion { path, found: contents.version, expected: FORMAT_VERSION });
        }
        for file in &contents.files {
            let path = index_dir(dir).join(&file.name);
            let found = fs::metadata(&path).map_err(|error| Error::damaged(&path, error.to_string()))?.len();
            if found != file.bytes {
                return Err(Error::damaged(&path, format!("it has {found} bytes, not {}", file.bytes)));
            }
        }
        Ok(contents)
    }

    /// Reads every file and compares its hash.
    pub fn verify(dir: &Path) -> Result<()> {
        for file in &Contents::read(dir)?.files {
            let path = index_dir(dir).join(&file.name);
            if hash_file(&path)?.1 != file.blake3 {
                return Err(Error::damaged(&path, "its checksum does not match"));
            }
        }
        Ok(())
    }
}

fn hash_file(path: &Path) -> Result<(u64, String)> {
    let failed = |source| Error::io("read", path, source);
    let mut file = fs::File::open(path).map_err(failed)?;
    let mut hasher = blake3::Hasher::new();
    let bytes = std::io::copy(&mut file, &mut hasher).map_err(failed)?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}

/// Runs `work`; an error or panic of tantivy becomes [`Error::DamagedIndex`] for `dir`.
pub(super) fn guarded<T>(dir: &Path, work: impl FnOnce() -> tantivy::Result<T>) -> Result<T> {
    match guard::guarded(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::damaged(dir, error.to_string())),
        Err(_) => Err(Error::damaged(dir, "its postings make no sense")),
    }
}

/// A segment ready to be searched.
pub(super) struct OpenSegment {
    pub dir: PathBuf,
    /// tantivy documents; 0 when the segment has no tables.
    pub documents: u32,
    /// Which documents' tables are dead; empty when none is.
    dead: Vec<bool>,
    readers: Option<Readers>,
}

struct Readers {
    tables: Column<u64>,
    keys: Arc<InvertedIndexReader>,
    text: [Arc<InvertedIndexReader>; FIELD_COUNT],
    norms: [FieldNormReader; FIELD_COUNT],
}

impl OpenSegment {
    pub fn open(segment: &LexicalSegment, fields: &Fields) -> Result<Self> {
        let contents = Contents::read(&segment.dir)?;
        let dir = segment.dir.clone();
        if contents.tables == 0 {
            return Ok(OpenSegment { dir, documents: 0, dead: Vec::new(), readers: None });
        }
        let (documents, readers) = guarded(&dir, || open_readers(&index_dir(&dir), fields))?;
        if documents != contents.tables {
            return Err(Error::damaged(&dir, format!("it holds {documents} tables, not {}", contents.tables)));
        }
        let dead = guarded(&dir, || Ok(dead_documents(&readers.tables, documents, &segment.dead)))?;
        Ok(OpenSegment { dir, documents, dead, readers: Some(readers) })
    }

    /// Words of one field over all documents.
    pub fn words(&self, field: usize) -> u64 {
        self.readers.as_ref().map_or(0, |readers| readers.text[field].total_num_tokens())
    }

    pub fn is_dead(&self, document: DocId) -> bool {
        self.dead.get(document as usize).copied().unwrap_or(false)
    }

    /// The ordinal of the table that `document` describes.
    pub fn table(&self, document: DocId) -> u32 {
        let table = self.readers.as_ref().and_then(|readers| readers.tables.first(document));
        table.map_or(document, |table| table as u32)
    }

    /// Calls `each` with the blocks of documents and frequencies of `term`, and with the length norms of the field.
    pub fn for_each_block(
        &self,
        field: usize,
        term: &Term,
        mut each: impl FnMut(&[DocId], &[u32], &FieldNormReader),
    ) -> Result<()> {
        let Some(readers) = &self.readers else { return Ok(()) };
        guarded(&self.dir, || {
            let option = IndexRecordOption::WithFreqs;
            if let Some(mut postings) = readers.text[field].read_block_postings(term, option)? {
                while !postings.docs().is_empty() {
                    each(postings.docs(), postings.freqs(), &readers.norms[field]);
                    postings.advance();
                }
            }
            Ok(())
        })
    }

    /// The postings of `term`, to be sought in.
    pub fn postings(&self, field: usize, term: &Term) -> Result<Option<BlockSegmentPostings>> {
        let Some(readers) = &self.readers else { return Ok(None) };
        guarded(&self.dir, || Ok(readers.text[field].read_block_postings(term, IndexRecordOption::Basic)?))
    }

    /// The documents that have `key`.
    pub fn documents_with_key(&self, key: &Term) -> Result<Vec<DocId>> {
        let Some(readers) = &self.readers else { return Ok(Vec::new()) };
        guarded(&self.dir, || {
            let mut documents = Vec::new();
            if let Some(mut postings) = readers.keys.read_block_postings(key, IndexRecordOption::Basic)? {
                while !postings.docs().is_empty() {
                    documents.extend_from_slice(postings.docs());
                    postings.advance();
                }
            }
            Ok(documents)
        })
    }
}

fn open_readers(dir: &Path, fields: &Fields) -> tantivy::Result<(u32, Readers)> {
    let index = Index::open_in_dir(dir)?;
    let segments = index.searchable_segments()?;
    let [segment] = segments.as_slice() else {
        return Err(tantivy::TantivyError::InternalError(format!("{} tantivy segments, not 1", segments.len())));
    };
    if index.schema() != fields.schema {
        return Err(tantivy::TantivyError::SchemaError("another schema".into()));
    }
    // A `SegmentReader` and not a `Searcher`: that one takes a lock file, which a read-only folder refuses.
    let reader = SegmentReader::open(segment)?;
    let mut text = Vec::with_capacity(FIELD_COUNT);
    let mut norms = Vec::with_capacity(FIELD_COUNT);
    for field in fields.text {
        text.push(reader.inverted_index(field)?);
        norms.push(reader.get_fieldnorms_reader(field)?);
    }
    let missing = || tantivy::TantivyError::InternalError("a field is missing".into());
    let readers = Readers {
        tables: reader.fast_fields().u64(TABLE_FIELD)?,
        keys: reader.inverted_index(fields.key)?,
        text: text.try_into().map_err(|_| missing())?,
        norms: norms.try_into().map_err(|_| missing())?,
    };
    Ok((reader.max_doc(), readers))
}

fn dead_documents(tables: &Column<u64>, documents: u32, dead: &[u32]) -> Vec<bool> {
    if dead.is_empty() {
        return Vec::new();
    }
    let dead: hashbrown::HashSet<u64> = dead.iter().map(|table| u64::from(*table)).collect();
    (0..documents).map(|document| tables.first(document).is_some_and(|table| dead.contains(&table))).collect()
}
