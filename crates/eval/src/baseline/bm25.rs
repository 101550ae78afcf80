//! BM25 over the text of whole tables: the hardest baseline to beat.
//!
//! score(q, d) = Σ_{w ∈ q} ln(1 + (N − n_w + ½) / (n_w + ½)) · f_w / (f_w + k₁·(1 − b + b·|d| / avg|d|)); f_w:
//! occurrences in d, n_w: documents with w. Robertson et al., TREC-3, in the variant of Lucene 8 and later (Kamphuis et
//! al., ECIR 2020), which leaves the constant factor k₁ + 1 out; k₁ = 1.2, b = 0.75. Requests are split into English
//! words, with repetitions counted; query tables into plain words, each counted once: tables repeat
//! their values by nature, and published figures for query tables count them so.

use super::postings::Postings;
use super::words::Analysis;
use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::Result;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Rows of a table that [`Bm25::of_heads`] reads.
const HEAD_ROWS: usize = 5;

/// A collection to be ranked by BM25.
pub(super) struct Bm25 {
    /// For requests; `None` if only query tables are answered.
    english: Option<Postings>,
    /// For query tables.
    plain: Postings,
    /// Whether only the words of the join column are the query.
    column_only: bool,
    /// Rows read of each table and of the query table.
    rows: usize,
}

impl Bm25 {
    /// Over all rows; queried by a request or by a whole table.
    pub fn of_tables() -> Self {
        Bm25 { english: Some(Postings::new(Analysis::English)), ..Self::of_rows(usize::MAX) }
    }

    /// Over all rows, queried by the join column.
    pub fn of_columns() -> Self {
        Bm25 { column_only: true, ..Self::of_rows(usize::MAX) }
    }

    /// Over the header and the first five rows, of the query table as well.
    pub fn of_heads() -> Self {
        Self::of_rows(HEAD_ROWS)
    }

    fn of_rows(rows: usize) -> Self {
        Bm25 { english: None, plain: Postings::new(Analysis::Plain), column_only: false, rows }
    }
}

impl Method for Bm25 {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.plain.add(table, self.rows);
        if let Some(english) = &mut self.english {
            english.add(table, self.rows);
        }
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let postings = self.english.as_ref().filter(|_| query.table.is_none()).unwrap_or(&self.plain);
        let column = query.column.filter(|_| self.column_only);
        let texts = PlainQuery { column, ..*query }.texts(self.rows);
        let mut words = postings.find(texts);
        if query.table.is_some() {
            words.iter_mut().for_each(|(repeats, _)| *repeats = 1);
        }
        let lengths = postings.lengths();
        let documents = postings.len() as f64;
        let mean_length = lengths.iter().map(|length| f64::from(*length)).sum::<f64>() / documents.max(1.0);
        let mut scores = vec![0.0; lengths.len()];
        for (repeats, list) in words {
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
        let mut bm25 = Bm25::of_tables();
        bm25.add(&table("a", &["city"], &[&["Oslo"], &["Oslo"]])).expect("a table");
        bm25.add(&table("b", &["town"], &[&["Rome"]])).expect("a table");
        let query = PlainQuery { text: Some("Oslo city"), ..PlainQuery::default() };
        let scores = bm25.scores(&query).expect("scores");
        // N = 2, n = 1 for both words: ln(1 + 1.5 / 1.5) = ln 2. |a| = 3, avg 2.5: 1.2·(0.25 + 0.75·1.2) = 1.38.
        let expected = 2.0_f64.ln() * (2.0 / (2.0 + 1.38) + 1.0 / (1.0 + 1.38));
        assert!((scores[0] - expected).abs() < 1e-12, "{scores:?}");
        assert_eq!(scores[1], 0.0);
        let twice = PlainQuery { text: Some("Oslo Oslo city city"), ..PlainQuery::default() };
        assert!(
            (bm25.scores(&twice).expect("scores")[0] - 2.0 * expected).abs() < 1e-12,
            "repeated words count repeatedly"
        );
        let own = table("q", &["city"], &[&["oslo"], &["Oslo"], &["Oslo"]]);
        let own = PlainQuery { table: Some(&own), ..PlainQuery::default() };
        assert!((bm25.scores(&own).expect("scores")[0] - expected).abs() < 1e-12, "in a table each word counts once");
    }

    #[test]
    fn parts_of_a_table_can_be_the_query() {
        let rows: Vec<Vec<String>> = (0..9).map(|at| vec![format!("first{at}"), format!("second{at}")]).collect();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let whole = table("q", &["a", "b"], &rows);
        let found = |mut method: Bm25| -> Vec<bool> {
            method.add(&table("a", &["x"], &[&["first8"]])).expect("a table");
            method.add(&table("b", &["x"], &[&["second0"]])).expect("a table");
            method.add(&table("c", &["x"], &[&["x"], &["x"], &["x"], &["x"], &["x"], &["first0"]])).expect("a table");
            let query = PlainQuery { table: Some(&whole), column: Some(0), ..PlainQuery::default() };
            method.scores(&query).expect("scores").into_iter().map(|score| score > 0.0).collect()
        };
        assert_eq!(found(Bm25::of_tables()), [true, true, true]);
        assert_eq!(found(Bm25::of_columns()), [true, false, true]);
        assert_eq!(found(Bm25::of_heads()), [false, true, false]);
    }

    #[test]
    fn nothing_matches_in_an_empty_collection() {
        let query = PlainQuery { text: Some("Oslo"), ..PlainQuery::default() };
        assert!(Bm25::of_tables().scores(&query).expect("scores").is_empty());
    }
}
