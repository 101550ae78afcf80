//! Vectors of columns and tables: their inputs and weights.
//!
//! A column's vector combines its name and values (text part, with the model's dimensions) with features of its values (shape part): type,
//! format, magnitude, repetition. A table has three vectors: `content` from headers and values only, for union search; `topic` with title,
//! path, description and tags, for text queries; and one of the title alone, which separates what a table is about from what it mentions.
//! Queries use the same functions.

use lakeward_core::text::{is_placeholder, name_words};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_models::embed::{Embedder, EmbedderExt, normalise};
use lakeward_sketch::ColumnSketch;

/// Dimensions of the shape part of a column's vector.
pub const SHAPE_DIMS: usize = 32;
/// Share of the shape part in a column's squared length, if it has a text part.
pub const SHAPE_SHARE: f32 = 0.3;
/// Bytes of distinct values embedded for one column.
const VALUE_BYTES: usize = 1024;
/// Bytes of description embedded for one table.
const DESCRIPTION_BYTES: usize = 1024;
/// Formats hashed into the shape part.
const PATTERN_DIMS: usize = 12;

/// Length of a column's vector for a model of `dims` dimensions.
pub fn column_dims(dims: usize) -> usize {
    dims + SHAPE_DIMS
}

/// The vector of one column, of length 1.
pub fn column_vector(embedder: &dyn Embedder, profile: &ColumnProfile, sketch: &ColumnSketch) -> Vec<f32> {
    let dims = embedder.dims();
    let mut vector = vec![0.0; column_dims(dims)];
    let (text, shape) = vector.split_at_mut(dims);
    let mut part = vec![0.0; dims];
    embedder.embed_into(&header_text(&profile.name), &mut part);
    text.copy_from_slice(&part);
    if let Some(values) = value_text(profile, sketch) {
        embedder.embed_into(values, &mut part);
        add(text, &part, 1.0);
    }
    let with_text = normalise(text);
    write_shape(profile, sketch, shape);
    normalise(shape);
    let (text_length, shape_length) =
        if with_text { ((1.0 - SHAPE_SHARE).sqrt(), SHAPE_SHARE.sqrt()) } else { (0.0, 1.0) };
    text.iter_mut().for_each(|value| *value *= text_length);
    shape.iter_mut().for_each(|value| *value *= shape_length);
    vector
}

/// The vectors of one table, each of length 1 or all zero.
pub struct TableVectors {
    /// Headers and values.
    pub content: Vec<f32>,
    /// All texts about it.
    pub topic: Vec<f32>,
    /// Its title, or the words of its path.
    pub title: Vec<f32>,
}

/// The vectors of one table or record.
pub fn table_vectors(embedder: &dyn Embedder, dataset: &Dataset, sketches: &[ColumnSketch]) -> TableVectors {
    let dims = embedder.dims();
    let mut content = vec![0.0; dims];
    let mut topic = vec![0.0; dims];
    let mut part = vec![0.0; dims];
    let texts = TableTexts::of(dataset, sketches);
    embedder.prefetch(|| texts.all());
    for text in [&texts.names, &texts.values] {
        embedder.embed_into(text, &mut part);
        add(&mut content, &part, 1.0);
        add(&mut topic, &part, 0.7);
    }
    let mut title = vec![0.0; dims];
    embedder.embed_into(&texts.title, &mut title);
    if let Some(description) = &texts.description
        && embedder.embed_into(description, &mut part) > 0
    {
        add(&mut topic, &part, 1.0);
    }
    embedder.embed_into(&texts.named, &mut part);
    add(&mut topic, &part, 1.0);
    normalise(&mut content);
    normalise(&mut topic);
    TableVectors { content, topic, title }
}

/// Number of columns whose texts are requested together.
pub const COLUMNS_AT_ONCE: usize = 256;

/// Requests the texts of at most [`COLUMNS_AT_ONCE`] columns from number `from` on; with the first ones, also those of the table.
pub fn prefetch(embedder: &dyn Embedder, dataset: &Dataset, sketches: &[ColumnSketch], from: usize) {
    embedder.prefetch(|| {
        let mut texts = Vec::new();
        let columns = dataset.columns().iter().zip(sketches).skip(from).take(COLUMNS_AT_ONCE);
        for (profile, sketch) in columns {
            texts.push(header_text(&profile.name));
            texts.extend(value_text(profile, sketch).map(str::to_string));
        }
        if from == 0 {
            texts.append(&mut TableTexts::of(dataset, sketches).all());
        }
        texts
    });
}

/// The embedded texts of a table.
struct TableTexts {
    /// The names of its columns.
    names: String,
    /// Some cells of its first text columns.
    values: String,
    title: String,
    /// The title with the tags.
    named: String,
    description: Option<String>,
}

impl TableTexts {
    fn of(dataset: &Dataset, sketches: &[ColumnSketch]) -> Self {
        let names: Vec<String> = dataset.columns().iter().map(|column| header_text(&column.name)).collect();
        let mut values = String::new();
        let text_columns =
            dataset.columns().iter().zip(sketches).filter(|(column, _)| column.logical == LogicalType::Text);
        for (_, sketch) in text_columns.take(16) {
            values.push_str(head_of(&sketch.text, VALUE_BYTES / 2));
            values.push('\n');
        }
        let title = name_text(dataset);
        let mut named = title.clone();
        let mut description = None;
        if let Some(metadata) = dataset.metadata() {
            named.push(' ');
            named.push_str(&metadata.tags.join(" "));
            description = metadata.description.as_ref().map(|text| head_of(text, DESCRIPTION_BYTES).to_string());
        }
        Self { names: names.join(" "), values, title, named, description }
    }

    fn all(&self) -> Vec<String> {
        let texts = [&self.names, &self.values, &self.title, &self.named];
        texts.into_iter().chain(&self.description).cloned().collect()
    }
}

/// The embedded values of a column, if it contains text.
fn value_text<'a>(profile: &ColumnProfile, sketch: &'a ColumnSketch) -> Option<&'a str> {
    (profile.logical == LogicalType::Text).then(|| head_of(&sketch.text, VALUE_BYTES))
}

/// The publisher's title, or the words of the path: numbers and codes in these are meaningless.
fn name_text(dataset: &Dataset) -> String {
    let title = dataset.metadata().and_then(|metadata| metadata.title.clone());
    title.unwrap_or_else(|| {
        let mut words = name_words(dataset.id().as_str());
        words.retain(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
        words.join(" ")
    })
}

/// The words of a header; empty if it only numbers the column: such names would make all first columns similar.
fn header_text(name: &str) -> String {
    if is_placeholder(name) { String::new() } else { name_words(name).join(" ") }
}

fn add(sum: &mut [f32], part: &[f32], weight: f32) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum += part * weight;
    }
}

/// At most the first `bytes` bytes of `text`, cut at a character.
fn head_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Type (7 dimensions), formats (12), then magnitudes and repetition, each scaled to about -1..=1.
fn write_shape(profile: &ColumnProfile, sketch: &ColumnSketch, shape: &mut [f32]) {
    let kind = match profile.logical {
        LogicalType::Empty => 0,
        LogicalType::Boolean => 1,
        LogicalType::Integer => 2,
        LogicalType::Float => 3,
        LogicalType::Date => 4,
        LogicalType::Timestamp => 5,
        LogicalType::Text => 6,
    };
    shape[kind] = 1.0;
    if profile.logical.is_numeric() {
        // Integers and floats are neighbours: all values of a measurement may happen to be whole.
        shape[2] += 0.5;
        shape[3] += 0.5;
    }
    for (pattern, share) in &sketch.patterns {
        let place = 7 + (xxhash_rust::xxh3::xxh3_64(pattern.as_bytes()) % PATTERN_DIMS as u64) as usize;
        shape[place] += 0.7 * *share as f32;
    }
    let rest = 7 + PATTERN_DIMS;
    if let Some(numbers) = sketch.numbers.filter(|_| profile.logical != LogicalType::Text) {
        for (place, quantile) in numbers.quantiles.iter().enumerate() {
            shape[rest + place] = (quantile.signum() * quantile.abs().ln_1p() / 12.0) as f32;
        }
    }
    shape[rest + 5] = (sketch.mean_length.ln_1p() / 5.0) as f32;
    shape[rest + 6] = profile.uniqueness as f32 * 0.5;
    shape[rest + 7] = ((sketch.distinct as f64).ln_1p() / 15.0) as f32;
}
