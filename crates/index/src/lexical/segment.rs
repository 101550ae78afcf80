//! One segment's word index, opened for reading and protected against damage.
//!
//! Every byte that tantivy reads has passed its block's checksum ([`super::packed`]). A hostile index may still have invalid content with
//! valid checksums and make tantivy panic; [`guarded`] turns that into [`Error::DamagedIndex`], too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Index, SegmentReader, Term};

use lakeward_core::error::{Error, Result};
use lakeward_core::guard;

use super::field::{FIELD_COUNT, Fields};
use super::packed::{FORMAT, Packed, PackedDirectory};

/// Runs `work`; an error or panic of tantivy becomes [`Error::DamagedIndex`] for `path`.
pub(super) fn guarded<T>(path: &Path, work: impl FnOnce() -> tantivy::Result<T>) -> Result<T> {
    match guard::guarded(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::damaged(path, error.to_string())),
        Err(_) => Err(Error::damaged(path, "its postings are invalid")),
    }
}

/// A segment opened for searching.
pub(super) struct OpenSegment {
    pub path: PathBuf,
    /// Number of tantivy documents; 0 if the segment has no tables.
    pub documents: u32,
    /// The table of each document.
    pub tables: Vec<u32>,
    pub directory: PackedDirectory,
    /// Whether each document has the number of its table.
    pub in_order: bool,
    /// Which documents belong to removed tables; empty if none do.
    dead: Vec<bool>,
    readers: Option<Readers>,
}

struct Readers {
    keys: Arc<InvertedIndexReader>,
    text: [Arc<InvertedIndexReader>; FIELD_COUNT],
    norms: [FieldNormReader; FIELD_COUNT],
}

impl OpenSegment {
    /// Opens the word index in `folder`. Tables in `removed` are never returned; their words still count in document frequencies until the
    /// segment is merged.
    pub fn open(folder: &Path, removed: &[u32]) -> Result<Self> {
        let path = folder.join(FORMAT.name);
        let Packed { tables, directory } = Packed::open(folder)?;
        let in_order = tables.iter().enumerate().all(|(document, table)| document == *table as usize);
        let mut open = OpenSegment { path, documents: 0, tables, directory, in_order, dead: Vec::new(), readers: None };
        if open.tables.is_empty() {
            return Ok(open);
        }
        let (documents, readers) = guarded(&open.path, || open_readers(open.directory.clone(), &Fields::new()))?;
        if documents as usize != open.tables.len() {
            let reason = format!("it has {documents} documents for {} tables", open.tables.len());
            return Err(Error::damaged(&open.path, reason));
        }
        (open.documents, open.readers) = (documents, Some(readers));
        if !removed.is_empty() {
            let dead: hashbrown::HashSet<u32> = removed.iter().copied().collect();
            open.dead = open.tables.iter().map(|table| dead.contains(table)).collect();
        }
        Ok(open)
    }

    /// Number of words of one field over all documents.
    pub fn words(&self, field: usize) -> u64 {
        self.readers.as_ref().map_or(0, |readers| readers.text[field].total_num_tokens())
    }

    #[inline]
    pub fn is_dead(&self, document: DocId) -> bool {
        self.dead.get(document as usize).copied().unwrap_or(false)
    }

    /// The number of the table that `document` describes.
    #[inline]
    pub fn table(&self, document: DocId) -> u32 {
        self.tables.get(document as usize).copied().unwrap_or(u32::MAX)
    }

    /// Calls `each` with the blocks of documents and frequencies of `term`, and with the length norms of the field.
    pub fn for_each_block(
        &self,
        field: usize,
        term: &Term,
        mut each: impl FnMut(&[DocId], &[u32], &FieldNormReader),
    ) -> Result<()> {
        let Some(readers) = &self.readers else { return Ok(()) };
        guarded(&self.path, || {
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

    /// A cursor through the postings of `term`; none where it does not occur. To be used inside [`guarded`].
    pub fn cursor(&self, field: usize, term: &Term) -> tantivy::Result<Option<Cursor<'_>>> {
        let Some(readers) = &self.readers else { return Ok(None) };
        let postings = readers.text[field].read_block_postings(term, IndexRecordOption::WithFreqs)?;
        Ok(postings.map(|postings| Cursor { postings, lengths: &readers.norms[field] }))
    }

    /// Number of documents that have `term`.
    pub fn documents_with(&self, field: usize, term: &Term) -> Result<u64> {
        let Some(readers) = &self.readers else { return Ok(0) };
        guarded(&self.path, || Ok(readers.text[field].doc_freq(term)?.into()))
    }

    /// Calls `each` with the terms of a field that have the same first letter as `term`, in order, at most `most`.
    pub fn for_each_term_like(&self, field: usize, term: &str, most: usize, mut each: impl FnMut(&str)) -> Result<()> {
        let (Some(readers), Some(first)) = (&self.readers, term.chars().next()) else { return Ok(()) };
        let mut begin = [0; 4];
        let begin = first.encode_utf8(&mut begin).as_bytes();
        guarded(&self.path, || {
            let mut terms = readers.text[field].terms().range().ge(begin).into_stream()?;
            for _ in 0..most {
                if !terms.advance() || !terms.key().starts_with(begin) {
                    break;
                }
                if let Ok(term) = std::str::from_utf8(terms.key()) {
                    each(term);
                }
            }
            Ok(())
        })
    }

    /// The postings of `term`, for seeking.
    pub fn postings(&self, field: usize, term: &Term) -> Result<Option<BlockSegmentPostings>> {
        let Some(readers) = &self.readers else { return Ok(None) };
        guarded(&self.path, || Ok(readers.text[field].read_block_postings(term, IndexRecordOption::Basic)?))
    }

    /// The postings of `term` with its positions in each document.
    pub fn postings_with_positions(&self, field: usize, term: &Term) -> Result<Option<SegmentPostings>> {
        let Some(readers) = &self.readers else { return Ok(None) };
        let option = IndexRecordOption::WithFreqsAndPositions;
        guarded(&self.path, || Ok(readers.text[field].read_postings(term, option)?))
    }

    /// Number of words in a field of `document`; above 40 it is rounded to within an eighth.
    pub fn length(&self, field: usize, document: DocId) -> u32 {
        self.readers.as_ref().map_or(0, |readers| readers.norms[field].fieldnorm(document))
    }

    /// The document of each of `tables`, if it has one.
    pub fn documents_of(&self, tables: &[u32]) -> Vec<Option<DocId>> {
        let in_order = |table: u32| self.tables.get(table as usize) == Some(&table);
        tables
            .iter()
            .map(|&table| match in_order(table) {
                true => Some(table),
                false => self.tables.iter().position(|known| *known == table).map(|at| at as DocId),
            })
            .collect()
    }

    /// The documents that have `key`.
    pub fn documents_with_key(&self, key: &Term) -> Result<Vec<DocId>> {
        let Some(readers) = &self.readers else { return Ok(Vec::new()) };
        guarded(&self.path, || {
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

/// A place in the postings of a term; it only moves on.
pub(super) struct Cursor<'s> {
    postings: BlockSegmentPostings,
    /// The length norms of the field.
    pub lengths: &'s FieldNormReader,
}

impl Cursor<'_> {
    /// Calls `each` with the documents in `from..to` that have the term, and with how often.
    #[inline]
    pub fn for_each(&mut self, from: DocId, to: DocId, mut each: impl FnMut(DocId, u32)) {
        let mut at = self.postings.seek(from);
        loop {
            let (documents, counts) = (self.postings.docs(), self.postings.freqs());
            for (&document, &count) in documents.iter().zip(counts).skip(at) {
                if document >= to {
                    return;
                }
                each(document, count);
            }
            if documents.is_empty() {
                return;
            }
            self.postings.advance();
            at = 0;
        }
    }

    /// How often `document`, which is behind all that were asked for before, has the term.
    #[inline]
    pub fn count(&mut self, document: DocId) -> Option<u32> {
        let at = self.postings.seek(document);
        (self.postings.docs().get(at) == Some(&document)).then(|| self.postings.freqs().get(at).copied().unwrap_or(1))
    }
}

fn open_readers(directory: PackedDirectory, fields: &Fields) -> tantivy::Result<(u32, Readers)> {
    let index = Index::open(directory)?;
    let segments = index.searchable_segments()?;
    let [segment] = segments.as_slice() else {
        return Err(tantivy::TantivyError::InternalError(format!("{} tantivy segments, not 1", segments.len())));
    };
    if index.schema() != fields.schema {
        return Err(tantivy::TantivyError::SchemaError("another schema".into()));
    }
    // A `SegmentReader` and not a `Searcher`, which would take a lock file although nothing needs a lock.
    let reader = SegmentReader::open(segment)?;
    let mut text = Vec::with_capacity(FIELD_COUNT);
    let mut norms = Vec::with_capacity(FIELD_COUNT);
    for field in fields.text {
        text.push(reader.inverted_index(field)?);
        norms.push(reader.get_fieldnorms_reader(field)?);
    }
    let missing = || tantivy::TantivyError::InternalError("a field is missing".into());
    let readers = Readers {
        keys: reader.inverted_index(fields.key)?,
        text: text.try_into().map_err(|_| missing())?,
        norms: norms.try_into().map_err(|_| missing())?,
    };
    Ok((reader.max_doc(), readers))
}
