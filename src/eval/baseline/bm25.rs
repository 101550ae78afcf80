//! BM25 over the text of whole tables: the baseline that is hardest to beat.
//!
//! score(q, d) = Σ_{w ∈ q} ln(1 + (N − n_w + ½) / (n_w + ½)) · f_w / (f_w + k₁·(1 − b + b·|d| / avg|d|)), a word counted as
//! often as the query repeats it; f_w: occurrences in d, n_w: documents with w. Robertson et al., TREC-3, in the variant of
//! Lucene 8 and later (Kamphuis et al., ECIR 2020), which leaves the constant factor k₁ + 1 out; k₁ = 1.2, b = 0.75.

use super::postings::Postings;
use super::{Method, PlainQuery, PlainTable};
use crate::error::Result;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A collection to be ranked by BM25.
#[derive(Default)]
pub(super) struct Bm25 {
    postings: Postings,
    /// Whether a query table with a join column is asked by the words of this column only.
    column_only: bool,
}

impl Bm25 {
    pub fn of_columns() -> Self {
        Bm25 { column_only: true, ..Bm25::default() }
    }
}

impl Method for Bm25 {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.postings.add(table);
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let lengths = self.postings.lengths();
        let documents = self.postings.len() as f64;
        let mean_length = lengths.iter().map(|length| f64::from(*length)).sum::<f64>() / documents.max(1.0);
        let mut scores = vec![0.0; lengths.len()];
        for (repeats, list) in self.postings.find(query.texts(self.column_only)) {
            let holders = list.len() as f64;
            let weight = f64::from(repeats) * (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln();
            for &(document, occurrences) in list {
                let frequency = f64::from(occurrences);
                let length = f64::from(lengths[document as usize]) / mean_length;
                scores[document as usize] += weight * frequency / (frequency + K1 * (1.0 - B + B * length));
            }
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        let mut bm25 = Bm25::default();
        bm25.add(&table("a", &["city"], &[&["Oslo"], &["Oslo"]])).expect("a table");
        bm25.add(&table("b", &["town"], &[&["Rome"]])).expect("a table");
        let query = PlainQuery { text: Some("Oslo city"), ..PlainQuery::default() };
        let scores = bm25.scores(&query).expect("scores");
        // N = 2, n = 1 for both words: ln(1 + 1.5 / 1.5) = ln 2. |a| = 3, avg 2.5: 1.2·(0.25 + 0.75·1.2) = 1.38.
        let expected = 2.0_f64.ln() * (2.0 / (2.0 + 1.38) + 1.0 / (1.0 + 1.38));
        assert!((scores[0] - expected).abs() < 1e-12, "{scores:?}");
        assert_eq!(scores[1], 0.0);
        let twice = PlainQuery { text: Some("Oslo Oslo city city"), ..PlainQuery::default() };
        assert!((bm25.scores(&twice).expect("scores")[0] - 2.0 * expected).abs() < 1e-12, "repeated words count again");
    }

    #[test]
    fn nothing_matches_in_an_empty_collection() {
        let query = PlainQuery { text: Some("Oslo"), ..PlainQuery::default() };
        assert!(Bm25::default().scores(&query).expect("scores").is_empty());
    }
}
