//! The values of a segment's columns. The columns of a lake share most of their values, so consecutive ones share a page: the values of its
//! columns, each once, with the text of those that are samples. A column is then the numbers of its values in its page and a bit for each
//! that says whether it is one of its samples: 2 bytes a value instead of 24. A page is small enough to be read as a whole.
//!
//! A column of more than [`MOST_NUMBERED`] values keeps them as they are, read in place, as does any column of a page that shares too
//! little to gain; so does one whose values are not in the usual order. Samples that are none of the values as written keep their texts.
//!
//! Pages of some 65,536 values, not one list: reading a column of an index in a store fetches one page. Columns of
//! more than 1,024 values and pages whose values repeat less than 1.25 times stay as they are: little of them is
//! shared.

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::segment::{Packing, Section, SegmentFile, SegmentWriter};
use crate::varint::{push_varint, take_varint};
use lakeward_core::error::{Error, Result};
use lakeward_sketch::normalise::raw_hash;

/// A column of more values keeps them as they are: few of its values are those of others, and its readers look few of them up.
const MOST_NUMBERED: usize = 1024;
/// The columns of a page have at most so many distinct values, so that a number has two bytes.
const PAGE_VALUES: usize = 1 << 16;
/// A page is closed behind so many values that are kept as they are, so that four bytes say their place.
const MOST_WHOLE: usize = 1 << 30;
/// A value in a page takes 12 bytes and its number some 2 bytes a column, one that is kept as it is 12 bytes a column: below so many
/// columns a value, a page gains nothing.
const LEAST_REPEATED: f64 = 1.25;
/// Texts with one known start.
const BLOCK_TEXTS: usize = 4;
/// The values of a column are numbers of those of its page.
const ARE_NUMBERED: u8 = 1;
/// Its samples are values of it, a bit for each that is one.
const ARE_VALUES: u8 = 2;

/// Where the parts of a page begin; they end where those of the next one begin.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Page {
    /// Among the bytes of the lists.
    list: u64,
    /// Among the values of all pages, by number.
    value: u64,
    /// Among the starts of texts, by number.
    block: u64,
    /// Among the bytes of the texts.
    text: u64,
    /// Among the values that are kept as they are, by number.
    whole: u64,
}

/// What a column has of values, as it was read.
#[derive(Clone, Copy)]
pub(super) struct ColumnValues<'a> {
    /// Ascending.
    pub hashes: &'a [u64],
    /// Parallel to the hashes.
    pub variants: &'a [u32],
    /// See [`push_samples`].
    pub samples: &'a [u8],
}

/// Where a column's list lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub start: u64,
    pub bytes: u32,
}

/// Adds (hash, text) pairs to `out`.
pub(super) fn push_samples<'a>(out: &mut Vec<u8>, samples: impl IntoIterator<Item = (u64, &'a str)>) {
    for (hash, text) in samples {
        out.extend_from_slice(&hash.to_le_bytes());
        out.extend_from_slice(&(text.len() as u16).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

/// The (hash, text) pairs in `bytes`; `None` if they are truncated or not UTF-8.
pub(super) fn parse_samples(bytes: &[u8]) -> Option<Vec<(u64, &str)>> {
    let mut rest = bytes;
    let mut samples = Vec::new();
    while let Some((head, after)) = rest.split_at_checked(10) {
        let (hash, length) = head.split_at(8);
        let hash = u64::from_le_bytes(hash.try_into().ok()?);
        let (value, next) = after.split_at_checked(usize::from(u16::from_le_bytes(length.try_into().ok()?)))?;
        samples.push((hash, std::str::from_utf8(value).ok()?));
        rest = next;
    }
    Some(samples)
}

impl<'a> ColumnValues<'a> {
    fn pairs(&self) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        self.hashes.iter().copied().zip(self.variants.iter().copied())
    }

    fn may_be_numbered(&self) -> bool {
        self.hashes.len() <= MOST_NUMBERED && self.pairs().is_sorted()
    }

    /// The samples, each with the value that it is; `None` if one is none of the values.
    fn samples_as_values(&self) -> Option<Samples<'a>> {
        let place = |(hash, text): (u64, &'_ str)| {
            let start = self.hashes.partition_point(|other| *other < hash);
            let mut same =
                self.hashes[start..].iter().zip(&self.variants[start..]).take_while(|(other, _)| **other == hash);
            same.position(|(_, variant)| *variant == raw_hash(text) as u32).map(|place| start + place)
        };
        let samples = parse_samples(self.samples)?;
        let places: Option<Vec<usize>> = samples.iter().map(|sample| place(*sample)).collect();
        let places = places.filter(|places| places.is_sorted_by(|a, b| a < b))?;
        Some(places.into_iter().zip(samples.into_iter().map(|(_, text)| text)).collect())
    }
}

/// Samples by the place of their value in the column, ascending.
type Samples<'a> = Vec<(usize, &'a str)>;

/// A value of a page.
#[derive(Clone, Copy, Default)]
struct Value<'a> {
    number: u16,
    /// Empty if it is no sample.
    text: &'a str,
}

/// One page, before it is written. Places of lists are counted from its own start.
#[derive(Default)]
struct PackedPage {
    places: Vec<Place>,
    lists: Vec<u8>,
    values: Vec<u64>,
    variants: Vec<u32>,
    blocks: Vec<u32>,
    texts: Vec<u8>,
    whole: Vec<u64>,
    whole_variants: Vec<u32>,
}

impl PackedPage {
    fn of(columns: &[ColumnValues<'_>]) -> Self {
        let mut page = Self::default();
        let samples: Vec<Option<Samples<'_>>> = columns.iter().map(ColumnValues::samples_as_values).collect();
        let mut values: HashMap<(u64, u32), Value<'_>> = HashMap::new();
        let mut count = 0;
        for (column, samples) in columns.iter().zip(&samples).filter(|(column, _)| column.may_be_numbered()) {
            count += column.hashes.len();
            for pair in column.pairs() {
                values.entry(pair).or_default();
            }
            for (at, text) in samples.iter().flatten() {
                let value = values.entry((column.hashes[*at], column.variants[*at])).or_default();
                // Different texts of one value are all but impossible; the same one is kept then whatever the order of the columns.
                value.text = value.text.max(text);
            }
        }
        if (count as f64) < LEAST_REPEATED * values.len() as f64 {
            values.clear();
        }
        let mut entries: Vec<(u64, u32)> = values.keys().copied().collect();
        entries.sort_unstable();
        for (number, pair) in entries.iter().enumerate() {
            values.entry(*pair).or_default().number = number as u16;
        }
        for (column, samples) in columns.iter().zip(samples) {
            let start = page.lists.len();
            page.push(column, samples, &values);
            page.places.push(Place { start: start as u64, bytes: (page.lists.len() - start) as u32 });
        }
        for (number, pair) in entries.iter().enumerate() {
            let text = values.get(pair).map_or("", |value| value.text);
            if number % BLOCK_TEXTS == 0 {
                page.blocks.push(page.texts.len() as u32);
            }
            page.values.push(pair.0);
            page.variants.push(pair.1);
            push_varint(&mut page.texts, text.len() as u32);
            page.texts.extend_from_slice(text.as_bytes());
        }
        page
    }

    /// A list: the number of values, [`ARE_NUMBERED`] and [`ARE_VALUES`], the bytes of the samples, the samples, and the numbers or the place
    /// of the values among those that are kept as they are.
    fn push(
        &mut self,
        column: &ColumnValues<'_>,
        samples: Option<Samples<'_>>,
        values: &HashMap<(u64, u32), Value<'_>>,
    ) {
        let may_be_numbered = column.may_be_numbered();
        let known: Option<Vec<Value<'_>>> =
            column.pairs().map(|pair| values.get(&pair).copied().filter(|_| may_be_numbered)).collect();
        let are_kept = |samples: &Samples<'_>| {
            known.as_ref().is_some_and(|known| samples.iter().all(|(at, text)| known[*at].text == *text))
        };
        let samples = samples.filter(are_kept).map(|samples| {
            let mut bits = vec![0u8; samples.last().map_or(0, |(at, _)| at / 8 + 1)];
            samples.iter().for_each(|(at, _)| bits[at / 8] |= 1 << (at % 8));
            bits
        });
        push_varint(&mut self.lists, column.hashes.len() as u32);
        self.lists.push((u8::from(known.is_some()) * ARE_NUMBERED) | (u8::from(samples.is_some()) * ARE_VALUES));
        let samples = samples.as_deref().unwrap_or(column.samples);
        push_varint(&mut self.lists, samples.len() as u32);
        self.lists.extend_from_slice(samples);
        let Some(known) = known else {
            self.lists.extend_from_slice(&(self.whole.len() as u32).to_le_bytes());
            self.whole.extend_from_slice(column.hashes);
            self.whole_variants.extend_from_slice(column.variants);
            return;
        };
        self.lists.extend(known.into_iter().flat_map(|value| value.number.to_le_bytes()));
    }
}

/// The columns of each page.
fn pages_of(columns: &[ColumnValues<'_>]) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let (mut start, mut whole) = (0, 0);
    let mut known: HashSet<(u64, u32)> = HashSet::new();
    for (place, column) in columns.iter().enumerate() {
        let is_short = column.hashes.len() <= MOST_NUMBERED;
        if known.len() + if is_short { column.hashes.len() } else { 0 } > PAGE_VALUES || whole >= MOST_WHOLE {
            pages.push(start..place);
            (start, whole) = (place, 0);
            known.clear();
        }
        // Those that are kept as they are have a place in the page, too.
        if is_short { known.extend(column.pairs()) } else { whole += column.hashes.len() }
    }
    if start < columns.len() {
        pages.push(start..columns.len());
    }
    pages
}

/// Writes the sections `PAGE`, `PVAL`, `PVAR`, `PBLK`, `PTXT`, `LIST`, `HASH` and `VARI`; returns where the lists of the columns lie.
pub(super) fn write(writer: &mut SegmentWriter, columns: &[ColumnValues<'_>]) -> Result<Vec<Place>> {
    let packed: Vec<PackedPage> =
        pages_of(columns).into_par_iter().map(|page| PackedPage::of(&columns[page])).collect();
    let (mut at, mut pages, mut places) = (Page::default(), Vec::new(), Vec::with_capacity(columns.len()));
    for page in &packed {
        pages.push(at);
        places.extend(page.places.iter().map(|place| Place { start: at.list + place.start, ..*place }));
        at.list += page.lists.len() as u64;
        at.value += page.values.len() as u64;
        at.block += page.blocks.len() as u64;
        at.text += page.texts.len() as u64;
        at.whole += page.whole.len() as u64;
    }
    pages.push(at);
    writer.section_of(*b"PAGE", &pages)?;
    let mut each = |tag, part: &dyn Fn(&PackedPage) -> &[u8]| -> Result<()> {
        let mut section = writer.section_writer(tag)?;
        packed.iter().try_for_each(|page| section.write(part(page)))
    };
    each(*b"PVAL", &|page| bytemuck::cast_slice(&page.values))?;
    each(*b"PVAR", &|page| bytemuck::cast_slice(&page.variants))?;
    each(*b"PBLK", &|page| bytemuck::cast_slice(&page.blocks))?;
    each(*b"HASH", &|page| bytemuck::cast_slice(&page.whole))?;
    each(*b"VARI", &|page| bytemuck::cast_slice(&page.whole_variants))?;
    each(*b"PTXT", &|page| &page.texts)?;
    let mut lists = writer.packed_section_writer(*b"LIST", Packing::Fast)?;
    packed.iter().try_for_each(|page| lists.write(&page.lists))?;
    lists.finish()?;
    Ok(places)
}

/// The values of the columns of an opened segment.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    pages: Section,
    values: Section,
    variants: Section,
    blocks: Section,
    texts: Section,
    lists: Section,
    whole: Section,
    whole_variants: Section,
}

/// The list of one column, taken apart.
struct List<'a> {
    page: Page,
    next: Page,
    values: Values<'a>,
    /// Whether samples are values, and what is said of them.
    samples: (bool, &'a [u8]),
}

enum Values<'a> {
    /// By their numbers in the page.
    Numbered(&'a [[u8; 2]]),
    /// Kept as they are.
    Whole(Range<usize>),
}

impl Pages {
    pub(super) fn open(file: &SegmentFile) -> Result<Self> {
        Ok(Self {
            pages: file.section(*b"PAGE")?,
            values: file.section(*b"PVAL")?,
            variants: file.section(*b"PVAR")?,
            blocks: file.section(*b"PBLK")?,
            texts: file.section(*b"PTXT")?,
            lists: file.section(*b"LIST")?,
            whole: file.section(*b"HASH")?,
            whole_variants: file.section(*b"VARI")?,
        })
    }

    pub(super) fn hashes(&self, place: Place) -> Result<Cow<'_, [u64]>> {
        let list = self.list(place)?;
        match list.values {
            Values::Whole(range) => self.whole.slice(range).map(Cow::Borrowed),
            Values::Numbered(numbers) => self.numbered(numbers, &self.values, &list).map(Cow::Owned),
        }
    }

    pub(super) fn variants(&self, place: Place) -> Result<Cow<'_, [u32]>> {
        let list = self.list(place)?;
        match list.values {
            Values::Whole(range) => self.whole_variants.slice(range).map(Cow::Borrowed),
            Values::Numbered(numbers) => self.numbered(numbers, &self.variants, &list).map(Cow::Owned),
        }
    }

    pub(super) fn samples(&self, place: Place) -> Result<Vec<(u64, &str)>> {
        let list = self.list(place)?;
        let (bits, numbers) = match (list.samples, &list.values) {
            ((true, bits), Values::Numbered(numbers)) => (bits, *numbers),
            ((_, bytes), _) => {
                return parse_samples(bytes).ok_or_else(|| self.lists.damaged("samples truncated or not UTF-8"));
            }
        };
        let values = self.values.slice::<u64>(list.page.value as usize..list.next.value as usize)?;
        let blocks = self.blocks.slice::<u32>(list.page.block as usize..list.next.block as usize)?;
        let texts = self.texts.bytes(list.page.text as usize..list.next.text as usize)?;
        let mut samples = Vec::with_capacity(bits.iter().map(|byte| byte.count_ones() as usize).sum());
        for (at, number) in numbers.iter().enumerate().take(8 * bits.len()) {
            if bits[at / 8] >> (at % 8) & 1 == 0 {
                continue;
            }
            let number = usize::from(u16::from_le_bytes(*number));
            let hash = values.get(number).ok_or_else(|| self.impossible())?;
            let text = text_of(texts, blocks, number).and_then(|text| std::str::from_utf8(text).ok());
            samples.push((*hash, text.ok_or_else(|| self.texts.damaged("a text truncated or not UTF-8"))?));
        }
        Ok(samples)
    }

    /// The elements of `section`, one for each value of the page, with these numbers.
    fn numbered<T: Pod>(&self, numbers: &[[u8; 2]], section: &Section, list: &List<'_>) -> Result<Vec<T>> {
        let page = section.slice::<T>(list.page.value as usize..list.next.value as usize)?;
        // Not collected as options: their number is not known beforehand then.
        let mut found = Vec::with_capacity(numbers.len());
        for number in numbers {
            match page.get(usize::from(u16::from_le_bytes(*number))) {
                Some(value) => found.push(*value),
                None => return Err(self.impossible()),
            }
        }
        Ok(found)
    }

    fn list(&self, place: Place) -> Result<List<'_>> {
        let pages = self.pages.all::<Page>()?;
        let at = pages.partition_point(|page| page.list <= place.start);
        let (Some(page), Some(next)) = (pages.get(at.wrapping_sub(1)), pages.get(at)) else {
            return Err(self.pages.damaged("a list outside of all pages"));
        };
        let start = place.start as usize;
        let bytes = self.lists.bytes(start..start.saturating_add(place.bytes as usize))?;
        Self::taken_apart(bytes, page, next).ok_or_else(|| self.impossible())
    }

    fn taken_apart<'a>(mut bytes: &'a [u8], page: &Page, next: &Page) -> Option<List<'a>> {
        let count = take_varint(&mut bytes)? as usize;
        let (marks, mut bytes) = bytes.split_first()?;
        let length = take_varint(&mut bytes)? as usize;
        let (samples, rest) = bytes.split_at_checked(length)?;
        let values = if marks & ARE_NUMBERED != 0 {
            let (numbers, left) = rest.as_chunks();
            if numbers.len() != count || !left.is_empty() {
                return None;
            }
            Values::Numbered(numbers)
        } else {
            let start = page.whole.checked_add(u64::from(u32::from_le_bytes(rest.try_into().ok()?)))? as usize;
            Values::Whole(start..start.checked_add(count)?)
        };
        Some(List { page: *page, next: *next, values, samples: (marks & ARE_VALUES != 0, samples) })
    }

    #[cold]
    fn impossible(&self) -> Error {
        self.lists.damaged("an impossible list of values")
    }
}

/// The text of value `number` of a page, of whose texts each block of [`BLOCK_TEXTS`] has a start.
fn text_of<'a>(texts: &'a [u8], blocks: &[u32], number: usize) -> Option<&'a [u8]> {
    let mut rest = texts.get(*blocks.get(number / BLOCK_TEXTS)? as usize..)?;
    for _ in 0..number % BLOCK_TEXTS {
        let length = take_varint(&mut rest)? as usize;
        rest = rest.get(length..)?;
    }
    let length = take_varint(&mut rest)? as usize;
    rest.get(..length)
}

#[cfg(test)]
mod tests;
