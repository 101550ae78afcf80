//! The lookup structures of a segment's columns: inverted lists of their values, names and value variants, and MinHash LSH over the value
//! sets that the lists may miss. All are built from the columns when the segment is complete.

use std::path::Path;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::columns::ColumnsWriter;
use super::lsh::{LshBuilder, LshIndex, LshParams};
use super::overlap::may_be_missed;
use super::postings::{PostingTags, Postings, write_postings};
use super::segment::{SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_sketch::minhash::MinHash;

pub(super) const VALUE_TAGS: PostingTags =
    PostingTags { directory: *b"VDIR", hashes: *b"VHSH", starts: *b"VOFF", lists: *b"VLST" };
const HEADER_TAGS: PostingTags =
    PostingTags { directory: *b"HDIR", hashes: *b"HHSH", starts: *b"HOFF", lists: *b"HLST" };
const VARIANT_TAGS: PostingTags =
    PostingTags { directory: *b"ADIR", hashes: *b"AHSH", starts: *b"AOFF", lists: *b"ALST" };

/// Columns with fewer distinct values are found by the inverted lists alone.
const LSH_LEAST_VALUES: u64 = 10;

/// The lookup structures of an opened segment's columns.
pub struct Join {
    /// From value hashes to columns.
    pub values: Postings,
    /// From header hashes to columns.
    pub headers: Postings,
    /// From variant keys of values ([`lakeward_sketch::ApproximateForm::keys`]) to columns.
    pub variants: Postings,
    /// MinHash LSH over the columns.
    pub lsh: LshIndex,
}

impl Structure for Join {
    const FORMAT: FileFormat = FileFormat { name: "join.seg", kind: SegmentKind(*b"JOIN"), version: 4 };
    type Draft = ();
    type Writer = JoinWriter;
    const FOLLOWS_FROM_COLUMNS: bool = true;

    fn draft(_table: &TableContent<'_>) -> Result<()> {
        Ok(())
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        file.read_together(VALUE_TAGS.directory, VALUE_TAGS.lists);
        file.read_here_and_there();
        Ok(Self {
            values: Postings::open(&file, VALUE_TAGS)?,
            headers: Postings::open(&file, HEADER_TAGS)?,
            variants: Postings::open(&file, VARIANT_TAGS)?,
            lsh: LshIndex::open(&file)?,
        })
    }

    fn fits(&self, _tables: usize, columns: usize) -> bool {
        self.lsh.len() <= columns
    }
}

/// Writes the inverted lists of a segment's columns; stores nothing for single tables.
pub struct JoinWriter;

impl StructureWriter for JoinWriter {
    type Draft = ();

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, _draft: &(), _place: &Place) -> Result<()> {
        Ok(())
    }

    fn push_stored(&mut self, _from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        Ok(())
    }

    fn finish(self, folder: &Path, columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut file = Join::FORMAT.create(folder)?;
        let list_bytes = write_postings(&mut file, VALUE_TAGS, columns.pairs())?;
        write_postings(&mut file, HEADER_TAGS, columns.header_pairs()?)?;
        write_postings(&mut file, VARIANT_TAGS, columns.variant_pairs()?)?;
        domains(columns, &list_bytes)?.write(&mut file)?;
        file.finish().map(Some)
    }
}

/// The hashes under which a column is found by its name: that of the whole name, then one per word.
pub fn header_hashes(name: &str) -> impl Iterator<Item = u64> + use<> {
    const WHOLE: u64 = 1;
    const WORD: u64 = 2;
    let words = name_words(name);
    let whole = xxh3_64_with_seed(words.join(" ").as_bytes(), WHOLE);
    std::iter::once(whole).chain(words.into_iter().map(|word| xxh3_64_with_seed(word.as_bytes(), WORD)))
}

/// Signatures of the columns whose shared values may be so common that their inverted lists are not read; `list_bytes` are the bytes of the
/// lists that each column is in. Only few columns of a lake are: those of years, counters, yes and no. Sampled columns, whose values are
/// not all in the lists, are included.
pub(super) fn domains(columns: &ColumnsWriter, list_bytes: &[u64]) -> Result<LshBuilder> {
    let missable: Vec<u32> = (0..columns.len() as u32)
        .filter(|column| {
            let (record, _) = columns.column(*column);
            let bytes = list_bytes.get(*column as usize).copied().unwrap_or(0);
            record.distinct >= LSH_LEAST_VALUES && (may_be_missed(bytes) || !record.is_exact())
        })
        .collect();
    let signed: Vec<(u32, u64, MinHash)> = missable
        .par_iter()
        .map(|column| {
            let (record, hashes) = columns.column(*column);
            (*column, record.distinct, MinHash::of(hashes))
        })
        .collect();
    let mut domains = LshBuilder::new(LshParams::default())?;
    for (column, distinct, signature) in &signed {
        domains.add(*column, *distinct, signature);
    }
    Ok(domains)
}
