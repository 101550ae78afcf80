//! The vectors of the word pieces of titles and bodies, each computed in its context by the sentence model that the index was built with
//! ([`TokenEmbedder`]); other models have none. Late interaction compares them with those of a request.
//!
//! A row is a vector of length 1, each value times 127 and rounded to a signed byte: 64 pieces of 384 values take 24 KB per table. Rows are
//! written to disk as they come, so that a segment needs only a few hundred bytes of memory per table.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::columns::ColumnsWriter;
use super::open::{LakeIndex, TableRef};
use super::segment::{Section, SegmentKind, SegmentStats, SegmentWriter};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::structures::Segment;
use super::tokens::{PieceCounts, PieceRarity, for_each_text_below};
use lakeward_core::error::{Error, Result};
use lakeward_lake::dataset::Dataset;
use lakeward_models::embed::TokenEmbedder;
use lakeward_sketch::ColumnSketch;

const FORMAT: FileFormat = FileFormat { name: "token-vectors.seg", kind: SegmentKind(*b"TVEC"), version: 1 };
/// The stored number for a value of 1.
pub const UNIT: f32 = 127.0;

/// Maximum pieces of a title and its body; only the first are stored.
const MOST_PIECES: usize = 64;
/// Maximum row length and vocabulary size accepted from a file.
const MOST_DIMS: u64 = 1 << 16;
const MOST_VOCABULARY: u64 = 1 << 20;
/// Maximum bytes of the body that are read.
const MOST_BODY_BYTES: usize = 600;

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    dims: u64,
    vocabulary: u64,
    tables: u64,
}

/// The pieces of one table or record with their rows.
pub struct TableTokenVectors {
    /// Numbers of the pieces in the model's vocabulary; those of the title first.
    pieces: Vec<u32>,
    title: usize,
    rows: Vec<i8>,
}

impl TableTokenVectors {
    /// The pieces of the title and the body, encoded as one text.
    pub fn of(model: &dyn TokenEmbedder, dataset: &Dataset, sketches: &[ColumnSketch]) -> Self {
        let title = dataset.title();
        let mut text = format!("{title} . ");
        let start = text.len();
        for_each_text_below(dataset, sketches, |part| {
            let left = MOST_BODY_BYTES.saturating_sub(text.len() - start);
            text.push_str(&part[..part.floor_char_boundary(left)]);
            text.push(' ');
        });
        let mut vectors = Vec::new();
        let pieces = model.embed_pieces(&text, MOST_PIECES, false, &mut vectors);
        let title = model.count_pieces(&title).min(pieces.len());
        Self { pieces, title, rows: quantised(&vectors) }
    }
}

/// Values of -1..=1 as bytes.
pub fn quantised(values: &[f32]) -> Vec<i8> {
    // The conversion saturates, and maps NaN to 0.
    values.iter().map(|value| (value * UNIT).round() as i8).collect()
}

/// Writes the vectors of one segment while its tables are added.
pub struct TokenVectorWriter {
    file: SegmentWriter,
    dims: usize,
    pieces: Vec<u32>,
    /// Ends of titles and bodies, alternating, in pieces.
    ends: Vec<u32>,
    counts: Vec<u32>,
}

impl TokenVectorWriter {
    /// Starts the file in `folder`, for rows of `dims` bytes and pieces of a vocabulary of `vocabulary`.
    ///
    /// # Errors
    /// Those of the segment writer, as below.
    fn create(folder: &Path, dims: usize, vocabulary: usize) -> Result<Self> {
        let mut file = FORMAT.create(folder)?;
        file.section_writer(*b"ROWS")?;
        Ok(Self { file, dims, pieces: Vec::new(), ends: Vec::new(), counts: vec![0; vocabulary] })
    }

    fn push_rows(&mut self, pieces: &[u32], title: usize, rows: &[i8]) -> Result<()> {
        if rows.len() != pieces.len() * self.dims {
            return Err(Error::Internal(format!("{} bytes for {} pieces", rows.len(), pieces.len())));
        }
        self.file.last_section().write_slice(rows)?;
        for piece in distinct(pieces) {
            if let Some(count) = self.counts.get_mut(piece as usize) {
                *count += 1;
            }
        }
        self.ends.push((self.pieces.len() + title) as u32);
        self.pieces.extend_from_slice(pieces);
        self.ends.push(self.pieces.len() as u32);
        Ok(())
    }

    fn end(mut self) -> Result<SegmentStats> {
        let [dims, vocabulary] = [self.dims, self.counts.len()].map(|length| length as u64);
        self.file.section_of(*b"HEAD", &[Head { dims, vocabulary, tables: self.ends.len() as u64 / 2 }])?;
        self.file.section_of(*b"PIEC", &self.pieces)?;
        self.file.section_of(*b"ENDS", &self.ends)?;
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let counts: Vec<[u32; 2]> = counted.map(|(piece, count)| [piece as u32, *count]).collect();
        self.file.section_of(*b"CNTS", &counts)?;
        self.file.finish()
    }
}

/// Collects nothing if the model has no vectors of pieces, or if merged segments of an older version have none.
impl StructureWriter for Option<TokenVectorWriter> {
    type Draft = Option<TableTokenVectors>;

    fn create(folder: &Path, shape: VectorShape) -> Result<Self> {
        shape.vocabulary.map(|vocabulary| TokenVectorWriter::create(folder, shape.dims, vocabulary)).transpose()
    }

    fn push(&mut self, draft: &Option<TableTokenVectors>, _place: &Place) -> Result<()> {
        match (self, draft) {
            (Some(writer), Some(table)) => writer.push_rows(&table.pieces, table.title, &table.rows),
            _ => Ok(()),
        }
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        let (Some(writer), Some(vectors)) = (self, &from.segment.token_vectors) else { return Ok(()) };
        let (pieces, title, rows) = vectors.pieces_of(from.table)?;
        writer.push_rows(pieces, title, rows)
    }

    fn finish(self, _folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        self.map(TokenVectorWriter::end).transpose()
    }
}

fn distinct(pieces: &[u32]) -> Vec<u32> {
    let mut pieces = pieces.to_vec();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The vectors of an opened segment, read in place.
#[derive(Debug)]
pub struct TokenVectors {
    dims: usize,
    vocabulary: usize,
    rows: Section,
    pieces: Section,
    ends: Section,
    counts: Section,
}

/// `None` if the segment was not built with a sentence model.
impl Structure for Option<TokenVectors> {
    const FORMAT: FileFormat = FORMAT;
    type Draft = Option<TableTokenVectors>;
    type Writer = Option<TokenVectorWriter>;

    fn draft(table: &TableContent<'_>) -> Result<Self::Draft> {
        let model = table.embedder.as_token_embedder();
        Ok(model.map(|model| TableTokenVectors::of(model, table.dataset, table.sketches)))
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        files.has(&FORMAT).then(|| TokenVectors::open(&files.folder)).transpose()
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.as_ref().is_none_or(|vectors| vectors.tables() == tables)
    }
}

impl TokenVectors {
    /// Opens the vectors in `folder`; reads only their header.
    ///
    /// # Errors
    /// Those of [`FileFormat::open`]; [`Error::DamagedIndex`] as below.
    fn open(folder: &Path) -> Result<Self> {
        let file = FORMAT.open(folder)?;
        let head_section = file.section(*b"HEAD")?;
        let head = head_section.slice::<Head>(0..1)?[0];
        let [rows, pieces, ends, counts] = [*b"ROWS", *b"PIEC", *b"ENDS", *b"CNTS"].map(|tag| file.section(tag));
        let (rows, pieces, ends, counts) = (rows?, pieces?, ends?, counts?);
        let fits = (1..=MOST_DIMS).contains(&head.dims)
            && head.vocabulary <= MOST_VOCABULARY
            && head.dims.checked_mul(pieces.len() as u64 / 4) == Some(rows.len() as u64)
            && head.tables.checked_mul(8) == Some(ends.len() as u64);
        if !fits {
            return Err(head_section.damaged("its sizes do not match the other sections"));
        }
        Ok(Self { dims: head.dims as usize, vocabulary: head.vocabulary as usize, rows, pieces, ends, counts })
    }

    /// Number of tables of the segment.
    pub fn tables(&self) -> usize {
        self.ends.len() / size_of::<[u32; 2]>()
    }

    /// Number of values per row.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Number of pieces in the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The rows of the title of `table`, concatenated, each of [`dims`](Self::dims) values; [`UNIT`] represents 1.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if the file is damaged.
    pub fn title(&self, table: u32) -> Result<&[i8]> {
        self.rows_of(2 * table as usize)
    }

    /// The rows of the body of `table`; as [`title`](Self::title).
    pub fn body(&self, table: u32) -> Result<&[i8]> {
        self.rows_of(2 * table as usize + 1)
    }

    /// All pieces of `table`, the number of them in its title, and their rows.
    fn pieces_of(&self, table: u32) -> Result<(&[u32], usize, &[i8])> {
        let ((start, middle), (_, end)) = (self.part(2 * table as usize)?, self.part(2 * table as usize + 1)?);
        let rows = self.rows.slice::<i8>(start * self.dims..end * self.dims)?;
        Ok((self.pieces.slice::<u32>(start..end)?, middle - start, rows))
    }

    fn rows_of(&self, part: usize) -> Result<&[i8]> {
        let (start, end) = self.part(part)?;
        self.rows.slice::<i8>(start * self.dims..end * self.dims)
    }

    /// The first piece of a part, and the end of the part.
    fn part(&self, part: usize) -> Result<(usize, usize)> {
        let start = if part == 0 { 0 } else { self.ends.slice::<u32>(part - 1..part)?[0] };
        let end = self.ends.slice::<u32>(part..part + 1)?[0];
        if start > end {
            return Err(self.ends.damaged("a text that ends before it begins"));
        }
        Ok((start as usize, end as usize))
    }
}

/// The shape (dimensions and vocabulary) of the vectors, if all of `segments` have vectors of the same shape.
pub(super) fn shape(segments: &[Segment], places: impl IntoIterator<Item = usize>) -> Option<(usize, usize)> {
    let mut shape = None;
    for place in places {
        let vectors = segments.get(place)?.token_vectors.as_ref()?;
        let of = (vectors.dims(), vectors.vocabulary());
        if *shape.get_or_insert(of) != of {
            return None;
        }
    }
    shape
}

/// The rarity of each piece over all `segments`, and the number of values per row; `None` if one has no vectors.
pub(super) fn rarity(segments: &[Segment]) -> Result<Option<(PieceRarity, usize)>> {
    let Some((dims, vocabulary)) = shape(segments, 0..segments.len()) else { return Ok(None) };
    let mut counts = PieceCounts::of_vocabulary(vocabulary);
    for segment in segments {
        let Some(vectors) = &segment.token_vectors else { return Ok(None) };
        counts.add(vectors.tables(), &vectors.counts)?;
        for table in segment.struck_out() {
            counts.subtract(distinct(vectors.pieces_of(table)?.0));
        }
    }
    Ok(Some((counts.rarity(), dims)))
}

impl LakeIndex {
    /// The rows of a table's title and body; empty if its segment has none.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if an index file is damaged.
    pub fn token_rows(&self, table: TableRef) -> Result<(&[i8], &[i8])> {
        match &self.segment(table.segment)?.token_vectors {
            Some(vectors) => Ok((vectors.title(table.table)?, vectors.body(table.table)?)),
            None => Ok((&[], &[])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(pieces: &[u32], title: usize) -> TableTokenVectors {
        let rows = pieces.iter().flat_map(|piece| [*piece as i8, -1, 7]).collect();
        TableTokenVectors { pieces: pieces.to_vec(), title, rows }
    }

    fn written<'a>(tables: impl IntoIterator<Item = (&'a [u32], usize, &'a [i8])>) -> TokenVectors {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TokenVectorWriter::create(folder.path(), 3, 10).unwrap();
        tables.into_iter().for_each(|(pieces, title, rows)| writer.push_rows(pieces, title, rows).unwrap());
        assert!(writer.push_rows(&[1], 0, &[1, 2]).is_err());
        writer.end().unwrap();
        TokenVectors::open(folder.path()).unwrap()
    }

    #[test]
    fn rows_return_as_they_were_written_and_merged() {
        let tables = [table(&[1, 2, 2, 9], 3), table(&[], 0), table(&[4], 0)];
        let stored = written(tables.iter().map(|table| (&table.pieces[..], table.title, &table.rows[..])));
        let merged = written([2, 0].map(|table| stored.pieces_of(table).unwrap()));
        for (vectors, place) in [(&stored, 0), (&merged, 1)] {
            assert_eq!(vectors.title(place).unwrap(), [1, -1, 7, 2, -1, 7, 2, -1, 7]);
            assert_eq!(vectors.body(place).unwrap(), [9, -1, 7]);
        }
        assert_eq!((stored.tables(), merged.tables(), stored.body(1).unwrap().len()), (3, 2, 0));
        assert!(stored.title(3).is_err());
        assert_eq!(stored.counts.all::<[u32; 2]>().unwrap(), [[1, 1], [2, 1], [4, 1], [9, 1]]);
    }

    #[test]
    fn values_are_rounded_and_never_wrap() {
        assert_eq!(quantised(&[1.0, -1.0, 0.5, 3.0, f32::NAN]), [127, -127, 64, 127, 0]);
    }
}
