//! TF-IDF with cosine similarity over the text of whole tables.
//!
//! A document is the vector of f_w · (ln((1 + N) / (1 + n_w)) + 1), f_w: occurrences of w in it, n_w: documents with w
//! out of N, scaled to length 1; so is the query; the score is their dot product, in 0..=1. These are the defaults of
//! scikit-learn's `TfidfVectorizer` (smoothed, not sublinear), which most published baselines use.

use super::postings::Postings;
use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::Result;

/// A collection that is ranked by TF-IDF.
#[derive(Default)]
pub(super) struct TfIdf {
    postings: Postings,
    /// Norm of each document's vector before scaling.
    norms: Vec<f64>,
}

impl TfIdf {
    fn weight(&self, holders: usize) -> f64 {
        ((1.0 + self.postings.len() as f64) / (1.0 + holders as f64)).ln() + 1.0
    }
}

impl Method for TfIdf {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.postings.add(table, usize::MAX);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let mut squares = vec![0.0; self.postings.len()];
        for list in self.postings.lists() {
            let weight = self.weight(list.len());
            for &(document, occurrences) in list {
                squares[document as usize] += (f64::from(occurrences) * weight).powi(2);
            }
        }
        self.norms = squares.into_iter().map(f64::sqrt).collect();
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; self.postings.len()];
        let mut square = 0.0;
        for (repeats, list) in self.postings.find(PlainQuery { column: None, ..*query }.texts(usize::MAX)) {
            let weight = self.weight(list.len());
            let own = f64::from(repeats) * weight;
            square += own * own;
            for &(document, occurrences) in list {
                scores[document as usize] += own * f64::from(occurrences) * weight;
            }
        }
        for (score, norm) in scores.iter_mut().zip(&self.norms).filter(|(score, _)| **score > 0.0) {
            *score /= norm * square.sqrt();
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    #[test]
    fn scores_are_cosines_worked_out_by_hand() {
        let mut tf_idf = TfIdf::default();
        tf_idf.add(&table("a", &["city"], &[&["Oslo"]])).expect("a table");
        tf_idf.add(&table("b", &["city"], &[&["Rome"]])).expect("a table");
        tf_idf.finish().expect("finished");
        let query = PlainQuery { text: Some("city oslo"), ..PlainQuery::default() };
        let scores = tf_idf.scores(&query).expect("scores");
        // `city` is in both: ln(3/3) + 1 = 1; `oslo` in one: ln(3/2) + 1 = 1.405465.
        let rare = 1.5_f64.ln() + 1.0;
        assert!((scores[0] - 1.0).abs() < 1e-12, "the same words: {scores:?}");
        assert!((scores[1] - 1.0 / (1.0 + rare * rare)).abs() < 1e-12, "{scores:?}");
    }
}
