//! The two channels of hybrid retrieval by themselves: tables by words (BM25) and by meaning (dense vectors), each with its
//! own scores. [`super::text_search`] ranks by all evidence at once; this is what plain fusion of ranks starts from.

use super::text_search::{informative_vector, nearest_about, nearest_tables, text_encoder};
use lakeward_core::error::Result;
use lakeward_index::lexical::LexicalOptions;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::{Embedder, EmbedderExt};

/// The `depth` tables that BM25F ranks first for `text`, with their scores; best first, ties by table. A table called
/// exactly so comes first.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn by_words(index: &LakeIndex, text: &str, depth: usize) -> Result<Vec<(TableRef, f64)>> {
    let hits =
        index.lexical().search(text, &LexicalOptions { k: depth, explain: false, ..LexicalOptions::default() })?;
    let place = |segment, table| TableRef { segment, table };
    Ok(hits.into_iter().map(|hit| (place(hit.segment, hit.table), f64::from(hit.score))).collect())
}

/// The `depth` tables closest in meaning to `text`, with the cosine, -1..=1; best first, ties by table. Where no model reads whole
/// texts, words count by how rare they are in the lake.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn by_meaning(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    depth: usize,
) -> Result<Vec<(TableRef, f64)>> {
    let nearest = match text_encoder(index, embedder) {
        Some(encoder) => nearest_about(index, &encoder.embed(text), depth)?,
        None => {
            let lexical = index.lexical_query(text)?;
            nearest_tables(index, &informative_vector(embedder, &lexical.typed_words()), depth)?
        }
    };
    Ok(nearest.into_iter().map(|(table, cosine)| (table, f64::from(cosine))).collect())
}
