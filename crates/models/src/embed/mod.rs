//! Text vectors: short texts (a header, a column's values, a title, a request) become vectors whose cosine measures how similar their
//! meanings are, so "inhabitants" finds "population".
//!
//! [`Embedder`] is the one interface used by the rest of the program. [`StaticModel`] is built into the binary and needs no download, no
//! GPU and no start-up time; [`RemoteModel`] calls a server that the user names; [`SentenceModel`] is read from a folder that the user
//! names. A vector represents the *topic* of a text; it does not compare numbers, order or negation, and it does not replace exact matching
//! of names and values.
//!
//! The idea: the built-in model stores one vector per word piece and sums them, so a text costs one table lookup per word. The vectors were
//! fitted so that such sums point in the direction of a large sentence model's vectors (see `model/README.md`); the length of each vector
//! is the weight of its word.

mod built_in;
mod remote;
mod sentence_model;
mod static_model;
mod unicode_ranges;
mod wordpiece;

use crate::llm::ChatFailure;

pub use built_in::BuiltIn;
pub use remote::RemoteModel;
pub use sentence_model::{PieceEncoder, SentenceModel, gelu};
pub use static_model::{ModelError, StaticModel, TokenId};

/// Turns texts into vectors of fixed length.
///
/// Implementations are shared between threads and give the same vector for the same texts on every call.
pub trait Embedder: Send + Sync {
    /// The id of the model and its exact weights; vectors of different ids must never be compared.
    ///
    /// For the built-in model: `lakeward-static-256@` and 8 hex digits of a hash of the weights.
    fn id(&self) -> &str;

    /// The length of every vector, at least 1.
    fn dims(&self) -> usize;

    /// Writes one vector for several texts, each with its weight, to `out`; returns the number of tokens used.
    ///
    /// `out` must have [`dims`](Self::dims) values (panics otherwise). Afterwards it has length 1; or it is all zero and the result is 0,
    /// if the texts have no known token or a remote model has [failed](RemoteEmbedder::failure). Any text is accepted, of any length.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize;

    /// A model that reads whole texts and so knows what a sentence means: itself, or one that goes with it. Its vectors are its own, of
    /// another length.
    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        None
    }

    /// The model, if it computes a vector for every piece of a text.
    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        None
    }

    /// The model, if it is called over a network.
    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        None
    }
}

/// A model that reads every piece of a text in its context, as late interaction requires.
pub trait TokenEmbedder: Embedder {
    /// Number of pieces in the vocabulary.
    fn vocabulary_len(&self) -> usize;

    /// Number of pieces of `text`.
    fn count_pieces(&self, text: &str) -> usize;

    /// Appends the vectors of the first `most` pieces of `text`, each of length 1 with [`Embedder::dims`] values, to `out`; returns their
    /// vocabulary numbers. With `marks`, the vectors of the special tokens before and after the text are included; they represent the text
    /// as a whole.
    fn embed_pieces(&self, text: &str, most: usize, marks: bool, out: &mut Vec<f32>) -> Vec<u32>;
}

/// A model called over a network: it takes many texts per request, and it can fail.
///
/// After the first failure no request is sent and every vector is zero: such a vector must not be stored, and a search with one must report
/// it.
pub trait RemoteEmbedder: Embedder {
    /// Requests the vectors of texts that will be embedded next.
    fn prefetch(&self, texts: &[String]);

    /// The first failure since the last [`retry`](Self::retry).
    fn failure(&self) -> Option<ChatFailure>;

    /// Allows requests again. Call it when a new task begins, with no other use of the model in progress.
    fn retry(&self);
}

/// Methods common to all embedders.
pub trait EmbedderExt: Embedder {
    /// As [`Embedder::embed_weighted`], for one text.
    fn embed_into(&self, text: &str, out: &mut [f32]) -> usize {
        self.embed_weighted(&[(text, 1.0)], out)
    }

    /// The vector of `text` as a new [`Vec`].
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0.0; self.dims()];
        self.embed_into(text, &mut out);
        out
    }

    /// See [`RemoteEmbedder::prefetch`]; `texts` is called only for a remote model.
    fn prefetch(&self, texts: impl FnOnce() -> Vec<String>) {
        if let Some(remote) = self.as_remote() {
            remote.prefetch(&texts());
        }
    }

    /// See [`RemoteEmbedder::failure`].
    fn failure(&self) -> Option<ChatFailure> {
        self.as_remote().and_then(RemoteEmbedder::failure)
    }

    /// See [`RemoteEmbedder::retry`].
    fn retry(&self) {
        if let Some(remote) = self.as_remote() {
            remote.retry();
        }
    }
}

impl<E: Embedder + ?Sized> EmbedderExt for E {}

/// A borrowed model, such as the built-in one.
impl<E: Embedder + ?Sized> Embedder for &E {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn dims(&self) -> usize {
        (**self).dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        (**self).embed_weighted(texts, out)
    }

    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        (**self).as_text_encoder()
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        (**self).as_token_embedder()
    }

    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        (**self).as_remote()
    }
}

/// Scales `acc` to length 1 and returns true; if it is zero or not finite, sets it to zero and returns false.
pub fn normalise(acc: &mut [f32]) -> bool {
    let square = dot(acc, acc);
    if !square.is_finite() || square <= f32::MIN_POSITIVE {
        acc.fill(0.0);
        return false;
    }
    let factor = square.sqrt().recip();
    for value in acc {
        *value *= factor;
    }
    true
}

/// The dot product of two vectors: the cosine, -1 to 1, if both have length 1.
///
/// Values past the end of the shorter vector are ignored. The order of additions is fixed, so results are reproducible.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    dot_in::<8>(a, b)
}

/// The same in sixteen sums side by side, which rounds otherwise. No generic function: it would be compiled as its callers are, and those that only
/// read and assemble are compiled with fewer optimisations (`Cargo.toml`).
#[inline(never)]
pub fn dot_of_sixteen(a: &[f32], b: &[f32]) -> f32 {
    dot_in::<16>(a, b)
}

/// The same in that many sums side by side.
fn dot_in<const LANES: usize>(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0f32; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests;
