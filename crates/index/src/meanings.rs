//! One vector per table and record that says what it is about, by the model that reads whole texts
//! ([`Embedder::as_text_encoder`]); other models have none. A request is compared with it by its cosine.
//!
//! It is the sum of the vectors of short texts, scaled to length 1: the title with the words of the path; the description; both;
//! title, description and headers; title, headers and a few values; and keywords with the sources, which count twice. Of a table that nobody
//! described, each column with its first values in place of these. What is said in another language is read in English words ([`InEnglish`]). A
//! cosine with the sum is the mean of their cosines, so one row per table does what six would (eval/search.md).

use std::path::Path;

use super::columns::ColumnsWriter;
use super::in_english::InEnglish;
use super::segment::{SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::vectors::{BinaryChoice, TagPrefix, VectorSet, VectorSetBuilder};
use lakeward_core::error::Result;
use lakeward_core::respect::Respect;
use lakeward_core::text::{is_placeholder, name_words, on_one_line};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::embed::{Embedder, EmbedderExt, normalise};

pub(super) const FORMAT: FileFormat = FileFormat { name: "meanings.seg", kind: SegmentKind(*b"MEAN"), version: 3 };
pub(super) const MEANINGS: TagPrefix = *b"MNG";
/// Headers after the description, and before the values.
const HEADERS: usize = 40;
const HEADERS_WITH_VALUES: usize = 15;
/// Values of a column, and of all columns.
const VALUES_OF_COLUMN: usize = 3;
const VALUES: usize = 12;
/// Values of a column of a table that nobody described.
const VALUES_OF_BARE: usize = 4;
/// Keywords, and then surveys and other sources.
const KEYWORDS: usize = 16;
/// Longest value, in bytes.
const LONGEST_VALUE: usize = 40;
/// Bytes of a description that are read, some 130 word pieces: the beginning says what it is about.
const DESCRIPTION_BYTES: usize = 600;

/// The vectors of an opened segment.
pub struct Meanings(pub VectorSet);

impl Structure for Option<Meanings> {
    const FORMAT: FileFormat = FORMAT;
    type Draft = Option<Vec<f32>>;
    type Writer = Option<MeaningsWriter>;

    fn draft(table: &TableContent<'_>) -> Result<Self::Draft> {
        Ok(table.embedder.as_text_encoder().map(|encoder| meaning(encoder, table.dataset)))
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        if !files.has(&FORMAT) {
            return Ok(None);
        }
        let file = FORMAT.open(&files.folder)?;
        file.read_together(*b"MNGH", *b"MNGS");
        Ok(Some(Meanings(VectorSet::open(&file, MEANINGS)?)))
    }

    fn fits(&self, tables: usize, _columns: usize) -> bool {
        self.as_ref().is_none_or(|meanings| meanings.0.len() == tables)
    }
}

/// Collects the vectors of one segment.
pub struct MeaningsWriter(VectorSetBuilder);

impl StructureWriter for Option<MeaningsWriter> {
    type Draft = Option<Vec<f32>>;

    fn create(_folder: &Path, shape: VectorShape) -> Result<Self> {
        shape.text_dims.map(|dims| VectorSetBuilder::new(dims).map(MeaningsWriter)).transpose()
    }

    fn push(&mut self, draft: &Option<Vec<f32>>, _place: &Place) -> Result<()> {
        match (self, draft) {
            (Some(writer), Some(vector)) => writer.0.push(vector),
            _ => Ok(()),
        }
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        match (self, &from.segment.meanings) {
            (Some(writer), Some(stored)) => writer.0.push_stored(&stored.0, from.table),
            _ => Ok(()),
        }
    }

    fn finish(self, folder: &Path, _columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let Some(writer) = self else { return Ok(None) };
        let mut file = FORMAT.create(folder)?;
        writer.0.write(&mut file, MEANINGS, BinaryChoice::Auto)?;
        file.finish().map(Some)
    }
}

/// The vector of a table or record, of length 1, or all zero if nothing is known of it.
pub(super) fn meaning(encoder: &dyn Embedder, dataset: &Dataset) -> Vec<f32> {
    let texts = texts(dataset);
    encoder.prefetch(|| texts.iter().map(|(text, _)| text.clone()).collect());
    let (mut sum, mut part) = (vec![0.0; encoder.dims()], vec![0.0; encoder.dims()]);
    for (text, times) in &texts {
        encoder.embed_into(text, &mut part);
        sum.iter_mut().zip(&part).for_each(|(sum, value)| *sum += *times as f32 * value);
    }
    normalise(&mut sum);
    sum
}

/// The longest of the texts that are read of a table or record: for readers that read only one.
pub fn longest_text(dataset: &Dataset) -> String {
    texts(dataset).into_iter().map(|(text, _)| text).max_by_key(String::len).unwrap_or_default()
}

/// What a table says of itself where nobody described it: each column with its first values, which say what they are of.
fn columns_with_values(dataset: &Dataset) -> String {
    let described = |column: &ColumnProfile| {
        let values: Vec<&str> = column.top.iter().map(|(value, _)| value.as_str()).take(VALUES_OF_BARE).collect();
        let name = if is_placeholder(&column.name) { String::new() } else { name_words(&column.name).join(" ") };
        let values = values.iter().map(|value| &value[..value.floor_char_boundary(LONGEST_VALUE)]).collect::<Vec<_>>();
        match name.is_empty() {
            true => values.join(", "),
            false => format!("{name}: {}", values.join(", ")),
        }
    };
    dataset.columns().iter().take(HEADERS_WITH_VALUES).map(described).collect::<Vec<_>>().join(", ")
}

/// The texts that are read, each once, with how often it counts.
fn texts(dataset: &Dataset) -> Vec<(String, usize)> {
    let metadata = dataset.metadata();
    let english = metadata.and_then(InEnglish::of);
    let written = metadata.and_then(|metadata| metadata.title.as_deref()).unwrap_or_default();
    let written = english.as_ref().map_or(written, |english| english.title.as_str());
    let in_title = name_words(written);
    let mut path = name_words(dataset.id().as_str());
    path.retain(|word| word.chars().any(char::is_alphabetic) && !in_title.contains(word));
    let path = path.join(" ");
    let title = if written.is_empty() { path.clone() } else { on_one_line(written) };
    let named = if written.is_empty() || path.is_empty() { title.clone() } else { format!("{title} {path}") };
    let description = metadata.and_then(|metadata| metadata.description.as_deref()).unwrap_or_default();
    let description = english.as_ref().map_or(description, |english| english.description.as_str());
    let description = on_one_line(&description[..description.floor_char_boundary(DESCRIPTION_BYTES)]);
    let headers = |most: usize| {
        let mut headers: Vec<String> = Vec::new();
        for column in dataset.columns().iter().filter(|column| !is_placeholder(&column.name)) {
            let words = name_words(&column.name).join(" ");
            if headers.len() < most && !words.is_empty() && !headers.contains(&words) {
                headers.push(words);
            }
        }
        headers.join(", ")
    };
    let text_columns = dataset.columns().iter().filter(|column| column.logical == LogicalType::Text);
    let shown = |value: &&str| value.len() < LONGEST_VALUE && value.chars().filter(|c| c.is_alphabetic()).count() > 2;
    let values: Vec<&str> = text_columns
        .flat_map(|column| column.top.iter().map(|(value, _)| value.as_str()).filter(shown).take(VALUES_OF_COLUMN))
        .take(VALUES)
        .collect();
    let joined = |parts: &[&str]| parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ");
    let facets = metadata.iter().flat_map(|metadata| &metadata.facets);
    let is_source = |facet: &&lakeward_lake::metadata::Facet| {
        matches!(Respect::of_field(&facet.field), Respect::Source | Respect::Institution)
    };
    let sources = facets.filter(is_source).flat_map(|facet| &facet.values);
    let tags = english.as_ref().map(|english| &english.tags).or(metadata.map(|metadata| &metadata.tags));
    let keywords: Vec<&str> = tags.into_iter().flatten().chain(sources).take(KEYWORDS).map(String::as_str).collect();
    let keywords = keywords.join(", ");
    let few = headers(HEADERS_WITH_VALUES);
    let is_bare = written.is_empty() && description.is_empty();
    let with_values = match is_bare {
        true => joined(&[&title, &columns_with_values(dataset)]),
        false => joined(&[&title, &few, &values.join(", ")]),
    };
    let or = |text: String, other: &str| if text.is_empty() { other.to_string() } else { text };
    let short = or(named.clone(), &with_values);
    let all = match is_bare {
        true => vec![short, with_values.clone(), with_values, keywords.clone(), keywords],
        false => vec![
            or(description.clone(), &short),
            or(joined(&[&named, &description]), &with_values),
            or(joined(&[&title, format!("{description} {}", headers(HEADERS)).trim()]), &with_values),
            with_values,
            short,
            keywords.clone(),
            keywords,
        ],
    };
    let mut counted: Vec<(String, usize)> = Vec::new();
    for text in all.into_iter().filter(|text| !text.trim().is_empty()) {
        match counted.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => counted.push((text, 1)),
        }
    }
    counted
}
