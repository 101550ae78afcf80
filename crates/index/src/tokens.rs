//! The word pieces of titles and bodies, by which late interaction compares a request with a text piece by piece, instead of one vector of
//! the whole text.
//!
//! The file stores piece numbers of the built-in model ([`StaticModel::builtin`]), two bytes each, whatever model makes the vectors: its
//! rows are in the program, so a text takes some hundred bytes where its vectors would take some ten thousand. It also stores how many
//! texts have each piece.

use std::path::Path;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::columns::ColumnsWriter;
use super::open::{LakeIndex, TableRef};
use super::segment::{Packing, Section, SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::structures::Segment;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_sketch::ColumnSketch;

/// Maximum pieces of a title; only the first are stored.
pub const MOST_TITLE_PIECES: usize = 64;
/// Maximum pieces of a body; only the first are stored. With 256, questions about tables gain .005, those about catalogue records lose
/// .003.
pub const MOST_BODY_PIECES: usize = 128;
/// Maximum bytes of a text that are read.
const MOST_TEXT_BYTES: usize = 4096;
/// Maximum lines and columns of cells that are read.
const MOST_LINES: usize = 32;
const MOST_COLUMNS: usize = 64;

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    model: u64,
    tables: u64,
}

/// The pieces of one table or record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableTokens {
    title: Vec<u16>,
    body: Vec<u16>,
}

impl TableTokens {
    /// The pieces of the title (empty if there is none) and of the body.
    pub fn of(dataset: &Dataset, sketches: &[ColumnSketch]) -> Self {
        let mut tokens = TableTokens::default();
        add_pieces(&dataset.title(), MOST_TITLE_PIECES, &mut tokens.title);
        for_each_text_below(dataset, sketches, |text| add_pieces(text, MOST_BODY_PIECES, &mut tokens.body));
        tokens
    }
}

/// Calls `each` with the texts of the body: description, tags and publisher, then column names and cells, line by line.
pub(super) fn for_each_text_below(dataset: &Dataset, sketches: &[ColumnSketch], mut each: impl FnMut(&str)) {
    if let Some(metadata) = dataset.metadata() {
        metadata.description.as_deref().into_iter().for_each(&mut each);
        metadata.tags.iter().map(String::as_str).for_each(&mut each);
        metadata.publisher.as_deref().into_iter().for_each(&mut each);
    }
    dataset.columns().iter().take(MOST_COLUMNS).for_each(|column| each(&column.name));
    let mut lines: Vec<_> = sketches.iter().take(MOST_COLUMNS).map(|sketch| sketch.text.lines()).collect();
    for _ in 0..MOST_LINES {
        lines.iter_mut().filter_map(Iterator::next).for_each(&mut each);
    }
}

/// Adds the pieces of `text` while there are fewer than `most`.
fn add_pieces(text: &str, most: usize, pieces: &mut Vec<u16>) {
    if pieces.len() >= most {
        return;
    }
    StaticModel::builtin().tokens(&text[..text.floor_char_boundary(MOST_TEXT_BYTES)], |piece| {
        if pieces.len() < most
            && let Ok(piece) = u16::try_from(piece.0)
        {
            pieces.push(piece);
        }
    });
}

/// Identifies the model whose pieces are stored.
fn model_hash() -> u64 {
    xxh3_64(StaticModel::builtin().id().as_bytes())
}

/// Collects the pieces of one segment. Memory: two bytes per piece.
pub struct TokenWriter {
    pieces: Vec<u16>,
    /// Ends of titles and bodies, alternating.
    ends: Vec<u32>,
    /// Number of texts that have each piece.
    counts: Vec<u32>,
}

impl Default for TokenWriter {
    fn default() -> Self {
        Self { pieces: Vec::new(), ends: Vec::new(), counts: vec![0; StaticModel::builtin().vocabulary_len()] }
    }
}

impl TokenWriter {
    fn push_pieces(&mut self, title: &[u16], body: &[u16]) {
        for piece in distinct(title, body) {
            if let Some(count) = self.counts.get_mut(usize::from(piece)) {
                *count += 1;
            }
        }
        for text in [title, body] {
            self.pieces.extend_from_slice(text);
            self.ends.push(self.pieces.len() as u32);
        }
    }
}

impl StructureWriter for TokenWriter {
    type Draft = TableTokens;

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, tokens: &TableTokens, _place: &Place) -> Result<()> {
        self.push_pieces(&tokens.title, &tokens.body);
        Ok(())
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        let tokens = &from.segment.tokens;
        self.push_pieces(tokens.title(from.table)?, tokens.body(from.table)?);
        Ok(())
    }

    fn finish(self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut writer = Tokens::FORMAT.create(folder)?;
        let head = Head { model: model_hash(), tables: self.ends.len() as u64 / 2 };
        writer.section_of(*b"HEAD", &[head])?;
        writer.packed_section_of(*b"PIEC", Packing::Small, &self.pieces)?;
        writer.packed_section_of(*b"ENDS", Packing::Small, &self.ends)?;
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let counts: Vec<[u32; 2]> = counted.map(|(piece, count)| [piece as u32, *count]).collect();
        writer.packed_section_of(*b"CNTS", Packing::Small, &counts)?;
        writer.finish().map(Some)
    }
}

/// The distinct pieces of a text.
fn distinct(title: &[u16], body: &[u16]) -> Vec<u16> {
    let mut pieces: Vec<u16> = title.iter().chain(body).copied().collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The pieces of an opened segment, read in place.
#[derive(Debug)]
pub struct Tokens {
    tables: usize,
    pieces: Section,
    ends: Section,
    counts: Section,
}

impl Structure for Tokens {
    const FORMAT: FileFormat = FileFormat { name: "tokens.seg", kind: SegmentKind(*b"TOKN"), version: 2 };
    type Draft = TableTokens;
    type Writer = TokenWriter;

    fn draft(table: &TableContent<'_>) -> Result<TableTokens> {
        Ok(TableTokens::of(table.dataset, table.sketches))
    }

    /// Refuses pieces of a model other than this program's.
    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        let head_section = file.section(*b"HEAD")?;
        let head = head_section.slice::<Head>(0..1)?[0];
        if head.model != model_hash() {
            return Err(head_section.damaged("its word pieces are those of another model; rebuild the index"));
        }
        let (pieces, ends, counts) = (file.section(*b"PIEC")?, file.section(*b"ENDS")?, file.section(*b"CNTS")?);
        let tables = ends.len() / size_of::<[u32; 2]>();
        if head.tables != tables as u64 {
            return Err(head_section.damaged("its sizes do not match the other sections"));
        }
        Ok(Self { tables, pieces, ends, counts })
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.tables == tables
    }
}

impl Tokens {
    /// Number of tables of the segment.
    pub fn tables(&self) -> usize {
        self.tables
    }

    /// The first pieces of the title of `table`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the file is damaged.
    pub fn title(&self, table: u32) -> Result<&[u16]> {
        self.part(2 * table as usize)
    }

    /// The first pieces of the body of `table`; errors as [`title`](Self::title).
    pub fn body(&self, table: u32) -> Result<&[u16]> {
        self.part(2 * table as usize + 1)
    }

    fn part(&self, part: usize) -> Result<&[u16]> {
        let start = if part == 0 { 0 } else { self.ends.slice::<u32>(part - 1..part)?[0] };
        let end = self.ends.slice::<u32>(part..part + 1)?[0];
        self.pieces.slice::<u16>(start as usize..end as usize)
    }
}

/// Number of texts that have each word piece.
pub(super) struct PieceCounts {
    counts: Vec<u64>,
    texts: u64,
}

impl PieceCounts {
    /// No texts, for a vocabulary of `pieces` pieces.
    pub fn of_vocabulary(pieces: usize) -> Self {
        Self { counts: vec![0; pieces], texts: 0 }
    }

    /// Adds the counts that a segment stores for its `texts`: pieces, each with a number.
    pub fn add(&mut self, texts: usize, stored: &Section) -> Result<()> {
        for [piece, count] in stored.all::<[u32; 2]>()? {
            if let Some(sum) = self.counts.get_mut(*piece as usize) {
                *sum += u64::from(*count);
            }
        }
        self.texts += texts as u64;
        Ok(())
    }

    /// Subtracts a text with these distinct pieces.
    pub fn subtract(&mut self, pieces: impl IntoIterator<Item = u32>) {
        self.texts = self.texts.saturating_sub(1);
        for piece in pieces {
            if let Some(sum) = self.counts.get_mut(piece as usize) {
                *sum = sum.saturating_sub(1);
            }
        }
    }

    /// The rarity of the pieces.
    pub fn rarity(self) -> PieceRarity {
        let texts = self.texts;
        let rarity = |count: u64| (((texts + 1) as f64 / (count + 1) as f64).ln() as f32).max(0.0);
        PieceRarity { rarities: self.counts.into_iter().map(rarity).collect() }
    }
}

/// The rarity of each word piece among the texts of a lake.
#[derive(Debug)]
pub struct PieceRarity {
    /// ln((N + 1) / (n + 1)) for N texts of which n have the piece, by piece.
    rarities: Vec<f32>,
}

impl PieceRarity {
    pub(super) fn new(segments: &[Segment]) -> Result<Self> {
        let mut counts = PieceCounts::of_vocabulary(StaticModel::builtin().vocabulary_len());
        for segment in segments {
            let tokens = &segment.tokens;
            counts.add(tokens.tables(), &tokens.counts)?;
            for table in segment.struck_out() {
                counts.subtract(distinct(tokens.title(table)?, tokens.body(table)?).into_iter().map(u32::from));
            }
        }
        Ok(counts.rarity())
    }

    /// The rarity of a piece, 0 or more.
    pub fn of(&self, piece: u32) -> f32 {
        self.rarities.get(piece as usize).copied().unwrap_or(0.0)
    }
}

impl LakeIndex {
    /// The first word pieces of a table's title and body.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if an index file is damaged.
    pub fn pieces(&self, table: TableRef) -> Result<(&[u16], &[u16])> {
        let tokens = &self.segment(table.segment)?.tokens;
        Ok((tokens.title(table.table)?, tokens.body(table.table)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(title: &str, body: &str) -> TableTokens {
        let mut tokens = TableTokens::default();
        add_pieces(title, MOST_TITLE_PIECES, &mut tokens.title);
        add_pieces(body, MOST_BODY_PIECES, &mut tokens.body);
        tokens
    }

    #[test]
    fn pieces_return_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let texts =
            [tokens("Airports of Niger", "where planes land"), tokens("", ""), tokens("x", &"word ".repeat(500))];
        let mut writer = TokenWriter::default();
        let place = Place { table: 0, columns: 0..0 };
        texts.iter().for_each(|text| writer.push(text, &place).unwrap());
        writer.finish(folder.path(), &ColumnsWriter::default()).unwrap();
        let files = SegmentFiles { folder: folder.path().to_path_buf(), removed: &[], listed: &[] };
        let stored = Tokens::open(&files).unwrap();
        for (table, text) in (0u32..).zip(&texts) {
            assert_eq!((stored.title(table).unwrap(), stored.body(table).unwrap()), (&text.title[..], &text.body[..]));
        }
        assert_eq!((stored.tables(), texts[2].body.len()), (3, MOST_BODY_PIECES));
        assert!(stored.title(3).is_err());
        assert!(StaticModel::builtin().vocabulary_len() <= 1 << 16);
    }
}
