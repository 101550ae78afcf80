//! The built-in model: one vector per word piece, summed.
//!
//! It reads a compact file (format below) in place, without copying the rows, and offers both whole texts ([`Embedder`]) and the parts
//! ([`StaticModel::tokens`], [`StaticModel::add`]) needed for streaming columns and lake-wide token weights. It ignores word order, does
//! not train, and does not know the token weights of a particular lake: the caller multiplies those in.
//!
//! The idea: rows are 8-bit integers with one scale each. The scale includes the row's length, which is the token's learned weight:
//! frequent, uninformative words and digits are short, informative words long.
//!
//! File format, little-endian: `LWSTATIC`, then `u32` version (1), dims, number of tokens, bytes of vocabulary text; `u32` offsets of the
//! pieces in the text, one more than there are tokens; the text in UTF-8; one `f32` scale per token; `i8` rows, token by token. Nothing
//! follows.

use std::sync::OnceLock;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::wordpiece::Vocabulary;
use super::{Embedder, normalise};

static BUILTIN: &[u8] = include_bytes!("model/static.bin");
const MAGIC: &[u8] = b"LWSTATIC";
const VERSION: u32 = 1;
const MAX_DIMS: usize = 4096;

/// The number of a vocabulary piece, 0 to [`StaticModel::vocabulary_len`] - 1; valid only for the model that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub u32);

/// Why a model file could not be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    /// The first 8 bytes are not `LWSTATIC`.
    #[error("not a Lakeward embedding model")]
    Magic,
    /// The version (given) is not the one this program reads.
    #[error("embedding model has format version {0}, this program reads version 1")]
    Version(u32),
    /// The file is shorter or longer than its header says: bytes expected, bytes found.
    #[error("embedding model has {found} bytes, its header says {expected}")]
    Size {
        /// Size according to the header, in bytes.
        expected: u64,
        /// Actual size in bytes.
        found: u64,
    },
    /// A header field or the vocabulary is invalid; the text says which.
    #[error("embedding model is damaged: {0}")]
    Damaged(String),
}

/// A static word-piece model over borrowed bytes; cheap to share, without locks.
pub struct StaticModel {
    id: String,
    dims: usize,
    vocabulary: Vocabulary,
    scales: &'static [[u8; 4]],
    rows: &'static [u8],
}

impl StaticModel {
    /// The built-in model, opened at the first call (about a millisecond) and shared afterwards.
    ///
    /// Panics only if the binary was built with a damaged `static.bin`, which the tests rule out.
    pub fn builtin() -> &'static StaticModel {
        static MODEL: OnceLock<StaticModel> = OnceLock::new();
        MODEL.get_or_init(|| match Self::parse(BUILTIN) {
            Ok(model) => model,
            Err(error) => panic!("built-in {error}"),
        })
    }

    /// Reads a model file; the bytes are used in place.
    ///
    /// Errors: [`ModelError`] says what is wrong; no content of `bytes` makes it panic.
    pub fn parse(bytes: &'static [u8]) -> Result<Self, ModelError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(ModelError::Magic)?;
        let damaged = |what: &str| ModelError::Damaged(what.to_owned());
        let (head, body) = body
            .as_chunks::<4>()
            .0
            .split_at_checked(4)
            .map(|(head, _)| (head, &body[16..]))
            .ok_or_else(|| damaged("no header"))?;
        let [version, dims, tokens, text_len] = [0, 1, 2, 3].map(|i| u32::from_le_bytes(head[i]));
        if version != VERSION {
            return Err(ModelError::Version(version));
        }
        let expected = MAGIC.len() as u64
            + 16
            + (u64::from(tokens) + 1) * 4
            + u64::from(text_len)
            + u64::from(tokens) * 4
            + u64::from(tokens) * u64::from(dims);
        if expected != bytes.len() as u64 {
            return Err(ModelError::Size { expected, found: bytes.len() as u64 });
        }
        let (dims, tokens, text_len) = (dims as usize, tokens as usize, text_len as usize);
        if dims == 0 || dims > MAX_DIMS {
            return Err(damaged("number of dimensions"));
        }
        // The sum of these lengths was checked against the file size above.
        let (offsets, body) = body.split_at((tokens + 1) * 4);
        let (text, body) = body.split_at(text_len);
        let (scales, rows) = body.split_at(tokens * 4);
        let text = std::str::from_utf8(text).map_err(|_| damaged("vocabulary is not UTF-8"))?;
        let vocabulary = Vocabulary::new(offsets.as_chunks().0, text)
            .map_err(|what| ModelError::Damaged(format!("vocabulary, {what}")))?;
        let scales = scales.as_chunks().0;
        if !scales.iter().all(|&s| f32::from_le_bytes(s).is_finite()) {
            return Err(damaged("a scale is not finite"));
        }
        Ok(Self { id: format!("lakeward-static-{dims}@{:08x}", xxh3_64(bytes) >> 32), dims, vocabulary, scales, rows })
    }

    /// The number of tokens in the vocabulary: the length of an array with one weight per token.
    pub fn vocabulary_len(&self) -> usize {
        self.scales.len()
    }

    /// The spelling of a token, with `##` in front if it continues a word; empty if the id is not from this model.
    pub fn piece(&self, token: TokenId) -> &str {
        self.vocabulary.piece(token.0)
    }

    /// Calls `f` with every token of `text` in order; words the vocabulary cannot spell are skipped.
    ///
    /// Accepts any text of any length; allocates nothing. Words of more than 100 characters are skipped.
    pub fn tokens(&self, text: &str, mut f: impl FnMut(TokenId)) {
        self.vocabulary.tokens(text, |id| f(TokenId(id)));
    }

    /// Adds `weight` times the vector of `token` to `acc`; the learned weight of the token is part of its vector.
    ///
    /// `acc` must have [`Embedder::dims`] values and `token` must be from this model; panics otherwise. Start with zeros, add any number of
    /// tokens with any finite weights (1 for a plain text), then call [`normalise`].
    #[inline]
    pub fn add(&self, token: TokenId, weight: f32, acc: &mut [f32]) {
        let at = token.0 as usize;
        let factor = weight * f32::from_le_bytes(self.scales[at]);
        let row = &self.rows[at * self.dims..(at + 1) * self.dims];
        assert_eq!(acc.len(), self.dims, "accumulator of another model");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature for which the function was compiled.
            return unsafe { add_row_avx2(acc, row, factor) };
        }
        add_row(acc, row, factor);
    }

    /// The vector of a token without its scale: [`Embedder::dims`] signed bytes.
    ///
    /// Panics if the id is not from this model.
    pub fn row(&self, token: TokenId) -> &'static [i8] {
        let at = token.0 as usize;
        bytemuck::cast_slice(&self.rows[at * self.dims..(at + 1) * self.dims])
    }

    /// The learned weight of a token: the length of its vector, 0 or more, about 1 for an ordinary word.
    ///
    /// Panics if the id is not from this model.
    pub fn learned_weight(&self, token: TokenId) -> f32 {
        let at = token.0 as usize;
        let row = &self.rows[at * self.dims..(at + 1) * self.dims];
        let square: i64 = row.iter().map(|&v| i64::from(v as i8).pow(2)).sum();
        f32::from_le_bytes(self.scales[at]).abs() * (square as f32).sqrt()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_row_avx2(acc: &mut [f32], row: &[u8], factor: f32) {
    add_row(acc, row, factor);
}

/// Compiled for the baseline and for AVX2. Both multiply and add each element separately, so both give the same bits.
#[inline(always)]
fn add_row(acc: &mut [f32], row: &[u8], factor: f32) {
    for (sum, &value) in acc.iter_mut().zip(row) {
        *sum += factor * f32::from(value as i8);
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        assert_eq!(out.len(), self.dims, "vector of another model");
        out.fill(0.0);
        let mut count = 0;
        for (text, weight) in texts {
            self.tokens(text, |token| {
                self.add(token, *weight, out);
                count += 1;
            });
        }
        if normalise(out) { count } else { 0 }
    }
}
