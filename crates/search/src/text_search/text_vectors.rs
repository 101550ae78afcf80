//! A text as vectors, and the tables that are nearest to them.

use hashbrown::HashMap;
use rayon::prelude::*;

use lakeward_core::error::Result;
use lakeward_index::lexical::TypedWord;
use lakeward_index::structures::Segment;
use lakeward_index::vectors::VectorSet;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::{Embedder, EmbedderExt};

/// A text as vectors, and its words.
pub(super) struct TextVectors {
    /// By the model that columns have, its rare words weighing more.
    pub words: Vec<f32>,
    /// By the model that reads whole texts, where all tables have such vectors.
    pub about: Option<Vec<f32>>,
    /// How rare each word is in the lake.
    pub rarity: HashMap<String, f32>,
}

impl TextVectors {
    pub fn of(about: Option<Vec<f32>>, embedder: &dyn Embedder, typed: &[TypedWord<'_>]) -> Self {
        let rarity = typed.iter().map(|word| (word.text.to_string(), word.rarity)).collect();
        Self { words: informative_vector(embedder, typed), about, rarity }
    }
}

/// A text by the model that reads whole texts, where all tables have such vectors; of several shards that of the first.
pub(super) fn meaning(index: &LakeIndex, embedder: &dyn Embedder, text: &str) -> Result<Option<Vec<f32>>> {
    let Some(encoder) = text_encoder(index, embedder) else { return Ok(None) };
    let is_possible = |vector: &Vec<f32>| vector.len() == encoder.dims();
    let vectors = index.gather(&format!("meaning of {text}"), || Ok(encoder.embed(text)), is_possible)?;
    Ok(vectors.into_iter().next())
}

/// At most `depth` tables by cosine (-1..=1) of what they are about with `vector`, best first, ties by table.
pub(crate) fn nearest_about(index: &LakeIndex, vector: &[f32], depth: usize) -> Result<Vec<(TableRef, f32)>> {
    nearest(index, depth, |segment| segment.meanings.as_ref().map(|meanings| &meanings.0), vector)
}

/// The vector of a text, its rare words weighing more.
pub(crate) fn informative_vector(embedder: &dyn Embedder, typed: &[TypedWord<'_>]) -> Vec<f32> {
    let informative: Vec<(&str, f32)> =
        typed.iter().filter(|word| word.rarity > 0.0).map(|word| (word.text, word.rarity)).collect();
    let mut vector = vec![0.0; embedder.dims()];
    embedder.embed_weighted(&informative, &mut vector);
    vector
}

/// At most `depth` tables by cosine (-1..=1) of their topic vector with `vector`, best first, ties by table.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn nearest_tables(index: &LakeIndex, vector: &[f32], depth: usize) -> Result<Vec<(TableRef, f32)>> {
    nearest(index, depth, |segment| Some(&segment.vectors.topics), vector)
}

fn nearest<'i>(
    index: &'i LakeIndex,
    depth: usize,
    set: impl Fn(&'i Segment) -> Option<&'i VectorSet> + Sync,
    vector: &[f32],
) -> Result<Vec<(TableRef, f32)>> {
    let of_segment = |(place, segment): (usize, &'i Segment)| -> Result<Vec<(TableRef, f32)>> {
        let Some(vectors) = set(segment) else { return Ok(Vec::new()) };
        let found = vectors.search(vector, depth, Some(&|table| segment.is_live(table)))?;
        Ok(found.into_iter().map(|(table, cosine)| (TableRef { segment: place as u32, table }, cosine)).collect())
    };
    let by_segment: Vec<_> = index.segments().par_iter().enumerate().map(of_segment).collect::<Result<_>>()?;
    let mut nearest = by_segment.concat();
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    nearest.truncate(depth);
    Ok(nearest)
}

/// The model that reads whole texts, where the index has such vectors of all tables.
pub(crate) fn text_encoder<'e>(index: &LakeIndex, embedder: &'e dyn Embedder) -> Option<&'e dyn Embedder> {
    embedder.as_text_encoder().filter(|_| index.has_meanings())
}

/// Whether a search compares the text as a whole with what each table is about.
pub fn reads_texts(index: &LakeIndex, embedder: &dyn Embedder) -> bool {
    text_encoder(index, embedder).is_some()
}
