//! Text vectors: short texts (a header, a column's values, a title, a request) become points whose angle says how
//! alike their meanings are, so "inhabitants" finds "population".
//!
//! [`Embedder`] is the one interface the rest of the program sees; [`StaticModel`] is the model inside the binary and
//! needs no download, no GPU and no start-up time; [`RemoteModel`] asks a server that the user names,
//! [`SentenceModel`] is read from a folder that the user names. A vector says what a text is *about*; it does not compare numbers,
//! order or negation, and it is no replacement for exact matching of names and values.
//!
//! The idea: the built-in model keeps one vector for every word piece and adds them up, which makes a text as cheap as
//! one table lookup a word. The vectors were fitted so that such sums point where a large sentence model points (see
//! `model/README.md`); the length of each vector is the weight of its word.

mod remote;
mod sentence_model;
mod static_model;
mod unicode_ranges;
mod wordpiece;

use crate::llm::ChatFailure;

pub use remote::RemoteModel;
pub use sentence_model::SentenceModel;
pub use static_model::{ModelError, StaticModel, TokenId};

/// Turns texts into vectors of fixed length.
///
/// Implementations are shared between threads and give the same vector for the same texts on every call.
pub trait Embedder: Send + Sync {
    /// Names the model and its exact weights; vectors of different ids must never be compared.
    ///
    /// For the built-in model: `lakeward-static-256@` and 8 hex digits of a hash of the weights.
    fn id(&self) -> &str;

    /// The length of every vector, at least 1.
    fn dims(&self) -> usize;

    /// Writes one vector of several texts, each counting by its weight, to `out`; the number of tokens it was made of.
    ///
    /// `out` must hold [`dims`](Self::dims) values (panics otherwise); afterwards it has length 1, or is all zero and the number
    /// is 0: where the texts have no known token, or where a model that is asked over a network has [failed](RemoteEmbedder::failure).
    /// Any text is accepted, of any length.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize;

    /// The model, if it gives every piece of a text a vector of its own.
    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        None
    }

    /// The model, if it is asked over a network.
    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        None
    }
}

/// A model that reads every piece of a text in its context, which late interaction is made of.
pub trait TokenEmbedder: Embedder {
    /// Pieces that there are.
    fn vocabulary_len(&self) -> usize;

    /// Into how many pieces `text` is cut.
    fn count_pieces(&self, text: &str) -> usize;

    /// Appends the vectors of the first `most` pieces of `text`, each of length 1 and [`Embedder::dims`] values, to `out`; their
    /// numbers in the vocabulary. With `marks`, those of the marks around the text come first and last: what the model takes from
    /// the text as a whole.
    fn embed_pieces(&self, text: &str, most: usize, marks: bool, out: &mut Vec<f32>) -> Vec<u32>;
}

/// A model that is asked over a network: it takes many texts at a time, and it can fail.
///
/// After the first failure nothing is asked and every vector is zero: no such vector may be stored, and who searches with one has
/// to say so.
pub trait RemoteEmbedder: Embedder {
    /// Asks for the vectors of texts that will be embedded next.
    fn prefetch(&self, texts: &[String]);

    /// The first failure since the last [`retry`](Self::retry).
    fn failure(&self) -> Option<ChatFailure>;

    /// Asks again from now on. For whoever begins something new, with no other use of the model under way.
    fn retry(&self);
}

/// What is the same for all embedders.
pub trait EmbedderExt: Embedder {
    /// As [`Embedder::embed_weighted`], of one text.
    fn embed_into(&self, text: &str, out: &mut [f32]) -> usize {
        self.embed_weighted(&[(text, 1.0)], out)
    }

    /// The vector of `text` as a new [`Vec`].
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0.0; self.dims()];
        self.embed_into(text, &mut out);
        out
    }

    /// See [`RemoteEmbedder::prefetch`]; `texts` are only made for a model that is asked over a network.
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

/// A model that lives elsewhere, such as the one inside the program.
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

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        (**self).as_token_embedder()
    }

    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        (**self).as_remote()
    }
}

/// Scales `acc` to length 1 and returns true; a vector that is zero or not finite becomes all zero and gives false.
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

/// The sum of products of two vectors: the cosine, -1 to 1, when both have length 1.
///
/// Values past the end of the shorter vector are ignored. The order of additions is fixed, so results repeat exactly.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
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
