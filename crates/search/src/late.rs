//! Late interaction: how well a text says each word of a request, word piece by word piece, instead of one cosine of the whole
//! (MaxSim of ColBERT: Khattab and Zaharia, SIGIR 2020).
//!
//! For a request with pieces t of weight w_t and a text whose title has pieces u and whose body has pieces b:
//!
//! m_t      = max(max_u cos(t, u), φ · max_b cos(t, b))
//! score    = Σ_t w_t · max(0, m_t − θ) / (1 − θ) / Σ_t w_t
//!
//! It reads the texts of candidates, so it is for ordering some dozen that other searches proposed.
//!
//! Where the vectors come from is open ([`TokenVectors`]). [`BuiltinTokens`] takes them from the model in the program, for
//! the pieces that the index stores: θ = .6, φ = .8, and w_t = idf_t · √(length of the model's row), over the distinct pieces
//! without stop words and punctuation. Without θ, every pair of words is a little alike and many of them outweigh one that is
//! equal; a body at φ = 1 has something near everything. On the first stage's 30 this orders catalogue records at nDCG@10 .47
//! where one cosine has .40 (ACORDAR), tables at .88 where it has .62 (OTT-QA); θ of .5–.65 and φ of .75–.85 do as well.
//! [`ContextTokens`] takes those of the sentence model that the index was built with, each read in its context: θ = .4, φ = .9, and
//! w_t = idf_t over all pieces (in their context stop words say something too) and the marks around the request, which weigh as a piece
//! does on average.

use std::sync::OnceLock;

use super::weights::{LateModels, LateWeights};
use lakeward_core::error::Result;
use lakeward_index::token_vectors::{UNIT, quantised};
use lakeward_index::tokens::PieceRarity;
use lakeward_index::vectors::byte_dot;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::{Embedder, StaticModel, TokenEmbedder, TokenId};

/// Words of a request that say nothing, beside punctuation.
const STOP_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there these \
    they this to was will with from which who whom whose what when where how does did do has have had been were its his her he \
    she i we you your my our me us can could would should than so also any some all only own same other about between during \
    before after above below over under again further once here why both each few more most nor too very s t just don now";
/// Pieces of a request that are looked at.
const MOST_REQUEST_PIECES: usize = 128;

/// Vectors of the tokens of a text: signed bytes, row after row, each row times its scale of length 1.
#[derive(Debug, Clone, Default)]
pub struct TokenRows {
    /// All rows, one after the other.
    pub bytes: Vec<i8>,
    /// One over the length of each row.
    pub scales: Vec<f32>,
}

impl TokenRows {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.scales.clear();
    }
}

/// Which part of a table's or record's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPart {
    /// The title.
    Title,
    /// What is said below it.
    Body,
}

/// A model's vectors of the tokens of requests and of the texts of a lake.
pub trait TokenVectors {
    /// Length of every row.
    fn dims(&self) -> usize;

    /// θ and φ that suit them.
    fn weights(&self) -> LateWeights;

    /// The tokens of a request that count, and the weight of each, 0 or more.
    ///
    /// # Errors
    /// What the model reports.
    fn of_request(&self, text: &str) -> Result<(TokenRows, Vec<f32>)>;

    /// Puts the tokens of one part of a text into `rows`, in place of what was there.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where what is stored is damaged.
    fn of_table(&self, table: TableRef, part: TextPart, rows: &mut TokenRows) -> Result<()>;
}

/// The model in the program, for the pieces stored in an index.
pub struct BuiltinTokens<'a> {
    index: &'a LakeIndex,
    rarity: &'a PieceRarity,
    weights: LateWeights,
}

impl<'a> BuiltinTokens<'a> {
    /// Those of `index`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(index: &'a LakeIndex, weights: LateWeights) -> Result<Self> {
        Ok(Self { index, rarity: index.piece_rarity()?, weights })
    }
}

/// One over the length of each row of the built-in model; 0 for a row of zeros.
fn scales() -> &'static [f32] {
    static SCALES: OnceLock<Vec<f32>> = OnceLock::new();
    SCALES.get_or_init(|| {
        let model = StaticModel::builtin();
        let scale = |piece: usize| {
            let row = model.row(TokenId(piece as u32));
            let square = byte_dot(row, row);
            if square > 0 { (square as f32).sqrt().recip() } else { 0.0 }
        };
        (0..model.vocabulary_len()).map(scale).collect()
    })
}

/// Whether a piece of the built-in model says nothing by itself.
fn says_nothing(piece: TokenId) -> bool {
    static STOPPED: OnceLock<Vec<bool>> = OnceLock::new();
    let stopped = STOPPED.get_or_init(|| {
        let model = StaticModel::builtin();
        let is_stopped = |piece: usize| {
            let spelling = model.piece(TokenId(piece as u32));
            !spelling.contains(char::is_alphanumeric)
                || STOP_WORDS.split_ascii_whitespace().any(|word| word == spelling)
        };
        (0..model.vocabulary_len()).map(is_stopped).collect()
    });
    stopped.get(piece.0 as usize).copied().unwrap_or(true)
}

fn add_row(piece: TokenId, rows: &mut TokenRows) {
    // A piece that the model does not have, as a damaged index may name it, is like no other.
    let Some(scale) = scales().get(piece.0 as usize) else { return };
    rows.bytes.extend_from_slice(StaticModel::builtin().row(piece));
    rows.scales.push(*scale);
}

impl TokenVectors for BuiltinTokens<'_> {
    fn dims(&self) -> usize {
        StaticModel::builtin().dims()
    }

    fn weights(&self) -> LateWeights {
        self.weights
    }

    fn of_request(&self, text: &str) -> Result<(TokenRows, Vec<f32>)> {
        let model = StaticModel::builtin();
        let mut pieces: Vec<TokenId> = Vec::new();
        model.tokens(text, |piece| {
            if pieces.len() < MOST_REQUEST_PIECES && !pieces.contains(&piece) {
                pieces.push(piece);
            }
        });
        if pieces.iter().any(|piece| !says_nothing(*piece)) {
            pieces.retain(|piece| !says_nothing(*piece));
        }
        let (mut rows, mut weights) = (TokenRows::default(), Vec::with_capacity(pieces.len()));
        for piece in pieces {
            add_row(piece, &mut rows);
            weights.push(self.rarity.of(piece.0) * model.learned_weight(piece).sqrt());
        }
        Ok((rows, weights))
    }

    fn of_table(&self, table: TableRef, part: TextPart, rows: &mut TokenRows) -> Result<()> {
        rows.clear();
        let (title, body) = self.index.pieces(table)?;
        let pieces = if part == TextPart::Title { title } else { body };
        pieces.iter().for_each(|piece| add_row(TokenId(u32::from(*piece)), rows));
        Ok(())
    }
}

/// The sentence model that an index was built with, for the rows stored there.
pub struct ContextTokens<'a> {
    index: &'a LakeIndex,
    model: &'a dyn TokenEmbedder,
    rarity: &'a PieceRarity,
    weights: LateWeights,
}

impl<'a> ContextTokens<'a> {
    /// Those of `index` and of `embedder`, which built it; none where that is no sentence model, or the index is of a version that
    /// stored no rows.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(index: &'a LakeIndex, embedder: &'a dyn Embedder, weights: LateWeights) -> Result<Option<Self>> {
        let Some(model) = embedder.as_token_embedder() else { return Ok(None) };
        let stored = index.token_vector_rarity()?.filter(|(_, dims)| *dims == model.dims());
        Ok(stored.map(|(rarity, _)| Self { index, model, rarity, weights }))
    }
}

impl TokenVectors for ContextTokens<'_> {
    fn dims(&self) -> usize {
        self.model.dims()
    }

    fn weights(&self) -> LateWeights {
        self.weights
    }

    fn of_request(&self, text: &str) -> Result<(TokenRows, Vec<f32>)> {
        let mut vectors = Vec::new();
        let pieces = self.model.embed_pieces(text, MOST_REQUEST_PIECES, true, &mut vectors);
        let rows = TokenRows { bytes: quantised(&vectors), scales: vec![UNIT.recip(); pieces.len()] };
        let mut weights: Vec<f32> = pieces.into_iter().map(|piece| self.rarity.of(piece)).collect();
        if let [first, said @ .., last] = weights.as_mut_slice() {
            // The marks weigh as a piece does on average.
            let mean = said.iter().sum::<f32>() / said.len().max(1) as f32;
            (*first, *last) = (mean, mean);
        }
        Ok((rows, weights))
    }

    fn of_table(&self, table: TableRef, part: TextPart, rows: &mut TokenRows) -> Result<()> {
        rows.clear();
        let (title, body) = self.index.token_rows(table)?;
        rows.bytes.extend_from_slice(if part == TextPart::Title { title } else { body });
        rows.scales.resize(rows.bytes.len() / self.dims(), UNIT.recip());
        Ok(())
    }
}

/// The best token vectors that there are for `index`, which `embedder` built.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn token_vectors<'a>(
    index: &'a LakeIndex,
    embedder: &'a dyn Embedder,
    weights: &LateModels,
) -> Result<Box<dyn TokenVectors + 'a>> {
    Ok(match ContextTokens::of(index, embedder, weights.sentence_model)? {
        Some(vectors) => Box::new(vectors),
        None => Box::new(BuiltinTokens::of(index, weights.builtin)?),
    })
}

/// A request made ready once for many texts.
pub struct LateQuery<'a, V: ?Sized> {
    vectors: &'a V,
    rows: TokenRows,
    weights: Vec<f32>,
    /// Room for the rows of one text.
    room: TokenRows,
}

impl<'a, V: TokenVectors + ?Sized> LateQuery<'a, V> {
    /// Makes `text` ready.
    ///
    /// # Errors
    /// As [`TokenVectors::of_request`].
    pub fn new(vectors: &'a V, text: &str) -> Result<Self> {
        let (rows, weights) = vectors.of_request(text)?;
        Ok(Self { vectors, rows, weights, room: TokenRows::default() })
    }

    /// How well the title of `table` and what is said below it say the request, 0..=1.
    ///
    /// # Errors
    /// As [`TokenVectors::of_table`].
    pub fn score(&mut self, table: TableRef) -> Result<f64> {
        let mut best = self.nearest(table, TextPart::Title)?;
        let share = self.vectors.weights().body;
        for (best, in_body) in best.iter_mut().zip(self.nearest(table, TextPart::Body)?) {
            *best = best.max(share * in_body);
        }
        Ok(self.sum(&best))
    }

    /// How well the title of `table` alone says the request, 0..=1; errors as [`score`](Self::score).
    pub fn score_title(&mut self, table: TableRef) -> Result<f64> {
        let best = self.nearest(table, TextPart::Title)?;
        Ok(self.sum(&best))
    }

    /// The greatest cosine of each token of the request with one of a part of the text; 0 where none is greater.
    fn nearest(&mut self, table: TableRef, part: TextPart) -> Result<Vec<f32>> {
        self.vectors.of_table(table, part, &mut self.room)?;
        let dims = self.vectors.dims();
        let nearest = |(token, scale): (&[i8], &f32)| {
            let rows = self.room.bytes.chunks_exact(dims).zip(&self.room.scales);
            rows.map(|(row, of_row)| byte_dot(token, row) as f32 * of_row * scale).fold(0.0, f32::max)
        };
        Ok(self.rows.bytes.chunks_exact(dims).zip(&self.rows.scales).map(nearest).collect())
    }

    fn sum(&self, best: &[f32]) -> f64 {
        let threshold = self.vectors.weights().threshold;
        let all: f32 = self.weights.iter().sum();
        if all <= 0.0 {
            return 0.0;
        }
        let said = best.iter().zip(&self.weights).map(|(best, weight)| weight * (best - threshold).max(0.0));
        f64::from(said.sum::<f32>() / (1.0 - threshold) / all).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two dimensions: a token is a letter.
    struct Letters;

    fn rows(text: &str) -> TokenRows {
        let mut rows = TokenRows::default();
        for letter in text.chars() {
            let (x, y): (i8, i8) = if letter == 'a' { (10, 0) } else { (6, 8) };
            rows.bytes.extend([x, y]);
            rows.scales.push(0.1);
        }
        rows
    }

    impl TokenVectors for Letters {
        fn dims(&self) -> usize {
            2
        }

        fn weights(&self) -> LateWeights {
            LateWeights { threshold: 0.5, body: 0.8 }
        }

        fn of_request(&self, text: &str) -> Result<(TokenRows, Vec<f32>)> {
            Ok((rows(text), vec![1.0; text.len()]))
        }

        fn of_table(&self, table: TableRef, part: TextPart, into: &mut TokenRows) -> Result<()> {
            *into = match (table.table, part) {
                (0, TextPart::Title) => rows("a"),
                (1, TextPart::Body) => rows("aa"),
                _ => rows(""),
            };
            Ok(())
        }
    }

    #[test]
    fn each_word_counts_by_what_is_nearest_to_it() {
        let mut query = LateQuery::new(&Letters, "ab").unwrap();
        let table = |table| TableRef { segment: 0, table };
        let near = |score: f64, expected: f64| assert!((score - expected).abs() < 1e-5, "{score}");
        // (1 − .5) / .5 and (.6 − .5) / .5
        near(query.score(table(0)).unwrap(), 0.6);
        // (.8 − .5) / .5 and nothing
        near(query.score(table(1)).unwrap(), 0.3);
        near(query.score_title(table(1)).unwrap(), 0.0);
        near(query.score(table(2)).unwrap(), 0.0);
        near(LateQuery::new(&Letters, "").unwrap().score(table(0)).unwrap(), 0.0);
    }

    #[test]
    fn stop_words_and_punctuation_say_nothing() {
        let model = StaticModel::builtin();
        let mut said = Vec::new();
        model.tokens("What, of the airports?", |piece| said.push((model.piece(piece), says_nothing(piece))));
        assert!(said.contains(&("the", true)) && said.contains(&(",", true)) && said.contains(&("what", true)));
        assert!(said.iter().any(|(spelling, nothing)| spelling.starts_with("airport") && !nothing), "{said:?}");
    }
}
