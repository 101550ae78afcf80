//! Vectors of tasks and of descriptions of datasets.
//!
//! Where the index knows of every dataset what it is about ([`lakeward_index::meanings`]), the model that made those vectors reads tasks
//! and documents, too. Otherwise the model of columns makes them: with the built-in one, a text's vector is the sum of
//! its word pieces' vectors, each times idf(piece) = ln((N + 1) / (df + 1)) over the descriptions of the lake, so that common words count
//! little; any other embeds whole texts.

use rayon::prelude::*;

use lakeward_core::error::{Error, Result};
use lakeward_models::embed::{BuiltIn, Embedder, EmbedderExt, StaticModel, dot, normalise};

/// Number of values from which cosines run in parallel, and the minimum number of rows per thread.
const SHARED_VALUES: usize = 1 << 20;
const SHARED_ROWS: usize = 512;

/// Bytes of a text that are read as a whole, some 130 word pieces, as many as of a description in the index.
const READ_BYTES: usize = 600;

/// Makes vectors of one length, comparable with each other.
pub struct Encoder<'a> {
    embedder: &'a dyn Embedder,
    /// The weight of each word piece of the built-in model; empty with another model.
    weights: Vec<f32>,
    /// Whether texts are read as a whole, up to [`READ_BYTES`].
    reads_texts: bool,
}

/// Whether columns have vectors of the built-in static model, alone or beside the one that reads texts.
fn is_built_in(embedder: &dyn Embedder) -> bool {
    [StaticModel::builtin().id(), BuiltIn::get().id()].contains(&embedder.id())
}

impl<'a> Encoder<'a> {
    /// The encoder of the model that reads whole texts.
    ///
    /// # Errors
    /// [`Error::EmbeddingModel`] if `embedder` has none.
    pub fn of_texts(embedder: &'a dyn Embedder) -> Result<Self> {
        let reader = embedder.as_text_encoder().ok_or_else(|| Error::EmbeddingModel {
            found: "a model that reads whole texts".into(),
            expected: embedder.id().to_string(),
        })?;
        Ok(Self { embedder: reader, weights: Vec::new(), reads_texts: true })
    }

    /// An encoder that weights pieces by their idf over the first `most_pieces` pieces of each of `texts`.
    pub fn over<'t>(embedder: &'a dyn Embedder, texts: impl Iterator<Item = &'t str>, most_pieces: usize) -> Self {
        let model = StaticModel::builtin();
        if !is_built_in(embedder) {
            return Self { embedder, weights: Vec::new(), reads_texts: false };
        }
        // The last text that had the piece, so that each text counts once.
        let mut latest = vec![0u32; model.vocabulary_len()];
        let mut df = vec![0u32; model.vocabulary_len()];
        let mut count = 0u32;
        for text in texts {
            count += 1;
            let mut place = 0;
            model.tokens(text, |token| {
                let at = token.0 as usize;
                if place < most_pieces && latest[at] != count {
                    latest[at] = count;
                    df[at] += 1;
                }
                place += 1;
            });
        }
        let weights = df.iter().map(|df| (f64::from(count + 1) / f64::from(df + 1)).ln() as f32).collect();
        Self { embedder, weights, reads_texts: false }
    }

    /// An encoder with stored weights, which are ignored unless the built-in model is used.
    pub fn with_weights(embedder: &'a dyn Embedder, weights: Vec<f32>) -> Self {
        let fits = weights.len() == StaticModel::builtin().vocabulary_len() && is_built_in(embedder);
        Self { embedder, weights: if fits { weights } else { Vec::new() }, reads_texts: false }
    }

    /// The weights of pieces, to be stored.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Dimensions of a vector.
    pub fn dims(&self) -> usize {
        self.embedder.dims()
    }

    /// The vector of `text`, of length 1 or all zero; made of its first `most_pieces` pieces, or of its beginning where texts are read as a
    /// whole.
    pub fn vector(&self, text: &str, most_pieces: usize) -> Vec<f32> {
        if self.reads_texts {
            return self.embedder.embed(&text[..text.floor_char_boundary(READ_BYTES)]);
        }
        if self.weights.is_empty() {
            return self.embedder.embed(text);
        }
        let model = StaticModel::builtin();
        let mut vector = vec![0.0; model.dims()];
        let mut place = 0;
        model.tokens(text, |token| {
            if place < most_pieces {
                model.add(token, self.weights[token.0 as usize], &mut vector);
            }
            place += 1;
        });
        normalise(&mut vector);
        vector
    }
}

/// The cosines of `vector` with each row of `rows`.
pub fn cosines(vector: &[f32], rows: &[f32]) -> Vec<f64> {
    if vector.is_empty() {
        return Vec::new();
    }
    let cosine = |row: &[f32]| f64::from(dot(vector, row));
    if rows.len() < SHARED_VALUES {
        return rows.chunks_exact(vector.len()).map(cosine).collect();
    }
    rows.par_chunks_exact(vector.len()).with_min_len(SHARED_ROWS).map(cosine).collect()
}
