//! Text vectors: short texts (a header, a column's values, a title, a request) become points whose angle says how
//! alike their meanings are, so "inhabitants" finds "population".
//!
//! [`Embedder`] is the one interface the rest of the program sees; [`StaticModel`] is the model inside the binary and
//! needs no download, no GPU and no start-up time; [`ServedModel`] asks a server that the user names,
//! [`SentenceModel`] is read from a folder that the user names. A vector says what a text is *about*; it does not compare numbers,
//! order or negation, and it is no replacement for exact matching of names and values.
//!
//! The idea: the built-in model keeps one vector for every word piece and adds them up, which makes a text as cheap as
//! one table lookup a word. The vectors were fitted so that such sums point where a large sentence model points (see
//! `model/README.md`); the length of each vector is the weight of its word.

mod sentence_model;
mod served;
mod static_model;
mod unicode_ranges;
mod wordpiece;

use crate::llm::ChatFailure;

pub use sentence_model::SentenceModel;
pub use served::ServedModel;
pub use static_model::{ModelError, StaticModel, TokenId};

/// Turns a text into a vector of fixed length.
///
/// Implementations are shared between threads and give the same vector for the same text on every call.
pub trait Embedder: Send + Sync {
    /// Names the model and its exact weights; vectors of different ids must never be compared.
    ///
    /// For the built-in model: `lakeward-static-256@` and 8 hex digits of a hash of the weights.
    fn id(&self) -> &str;

    /// The length of every vector, at least 1.
    fn dims(&self) -> usize;

    /// Writes the vector of `text` to `out` and returns the number of tokens it was made of.
    ///
    /// `out` must hold [`Embedder::dims`] values (panics otherwise); afterwards it has length 1, or is all zero when the
    /// text has no known token, or where there is [`Embedder::trouble`] (then 0 is returned). Any text is accepted, of any
    /// length.
    fn embed_into(&self, text: &str, out: &mut [f32]) -> usize;

    /// Writes the vector of several texts, each counting by its weight; length 1, or all zero. The default adds the texts'
    /// own vectors, which forgets how telling each is by itself.
    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) {
        let mut part = vec![0.0; self.dims()];
        out.fill(0.0);
        for (text, weight) in texts {
            self.embed_into(text, &mut part);
            out.iter_mut().zip(&part).for_each(|(sum, value)| *sum += weight * value);
        }
        normalise(out);
    }

    /// Says that these texts will be asked for next: a model that is asked over a network takes many at a time.
    fn prepare(&self, _texts: &dyn Fn() -> Vec<String>) {}

    /// The first failure of a model that can fail. From then on every vector is zero: no such vector may be stored, and who
    /// searches with one has to say so.
    fn trouble(&self) -> Option<ChatFailure> {
        None
    }

    /// Asks again from now on. For whoever begins something new, with no other use of the model under way.
    fn forget_trouble(&self) {}

    /// The model itself where it reads every piece of a text in its context, which late interaction is made of.
    fn as_sentence_model(&self) -> Option<&SentenceModel> {
        None
    }

    /// The vector of `text` as a new [`Vec`] of [`Embedder::dims`] values; see [`Embedder::embed_into`].
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0.0; self.dims()];
        self.embed_into(text, &mut out);
        out
    }
}

/// A model that lives elsewhere, such as the one inside the program.
impl<E: Embedder + ?Sized> Embedder for &E {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn dims(&self) -> usize {
        (**self).dims()
    }

    fn embed_into(&self, text: &str, out: &mut [f32]) -> usize {
        (**self).embed_into(text, out)
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) {
        (**self).embed_weighted(texts, out);
    }

    fn prepare(&self, texts: &dyn Fn() -> Vec<String>) {
        (**self).prepare(texts);
    }

    fn trouble(&self) -> Option<ChatFailure> {
        (**self).trouble()
    }

    fn forget_trouble(&self) {
        (**self).forget_trouble();
    }

    fn as_sentence_model(&self) -> Option<&SentenceModel> {
        (**self).as_sentence_model()
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
