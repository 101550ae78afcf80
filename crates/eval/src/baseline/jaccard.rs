//! Jaccard similarity of headers, and of headers and values: how similar two tables are, column by column.
//!
//! header(q, t) = |H_q ∩ H_t| / |H_q ∪ H_t| over the sets of folded headers. value(q, t): the columns of both tables
//! are paired one to one, the pair of greatest |Q ∩ X| / |Q ∪ X| first, and the similarities of the pairs are averaged
//! over the columns of the narrower table. Each is in 0..=1; the joint baseline adds them.

use super::cell_form::CellForm;
use super::value_sets::ValueSets;
use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::Result;

/// A lake that is ranked by the headers of its tables.
#[derive(Default)]
pub(super) struct HeaderJaccard {
    /// Hashes of the folded headers of each table, ascending.
    headers: Vec<Vec<u64>>,
}

impl Method for HeaderJaccard {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.headers.push(CellForm::Folded.hashes(&table.headers));
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let own = query.table.map(|table| CellForm::Folded.hashes(&table.headers)).unwrap_or_default();
        Ok(self.headers.iter().map(|headers| jaccard(&own, headers)).collect())
    }
}

/// |A ∩ B| / |A ∪ B| of two ascending sets; 0 for two empty ones.
fn jaccard(left: &[u64], right: &[u64]) -> f64 {
    let shared = left.iter().filter(|hash| right.binary_search(hash).is_ok()).count();
    shared as f64 / (left.len() + right.len() - shared).max(1) as f64
}

/// A lake that is ranked by headers and values.
pub(super) struct HeaderValueJaccard {
    headers: HeaderJaccard,
    sets: ValueSets,
}

/// A column of the query paired with one of a table that shares values.
struct Pair {
    table: u32,
    own: usize,
    other: usize,
    likeness: f64,
}

impl HeaderValueJaccard {
    pub fn new(form: CellForm) -> Self {
        HeaderValueJaccard { headers: HeaderJaccard::default(), sets: ValueSets::new(form) }
    }

    fn pairs(&self, table: &PlainTable) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (own, cells) in table.columns.iter().enumerate() {
            let values = self.sets.values_of(cells);
            for (other, (column, shared)) in self.sets.columns().iter().zip(self.sets.shared(&values)).enumerate() {
                if shared > 0 {
                    let union = values.len() as f64 + f64::from(column.values) - f64::from(shared);
                    pairs.push(Pair { table: column.table, own, other, likeness: f64::from(shared) / union });
                }
            }
        }
        pairs.sort_by(|a, b| {
            let by_likeness = b.likeness.total_cmp(&a.likeness);
            a.table.cmp(&b.table).then(by_likeness).then((a.own, a.other).cmp(&(b.own, b.other)))
        });
        pairs
    }
}

impl Method for HeaderValueJaccard {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.headers.add(table)?;
        self.sets.add(table);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.sets.finish();
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let mut scores = self.headers.scores(query)?;
        let Some(table) = query.table else { return Ok(scores) };
        for pairs in self.pairs(table).chunk_by(|a, b| a.table == b.table) {
            let number = pairs[0].table;
            let (mut own, mut others) = (Vec::new(), Vec::new());
            let mut sum = 0.0;
            for pair in pairs {
                if own.contains(&pair.own) || others.contains(&pair.other) {
                    continue;
                }
                own.push(pair.own);
                others.push(pair.other);
                sum += pair.likeness;
            }
            let columns = table.columns.len().min(self.sets.width(number));
            scores[number as usize] += sum / columns as f64;
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    fn lake(mut method: impl Method) -> impl Method {
        method.add(&table("a", &["City", "Size"], &[&["Oslo", "1"], &["Rome", "2"]])).expect("a table");
        method.add(&table("b", &["town"], &[&["Oslo"], &["Bonn"]])).expect("a table");
        method.add(&table("c", &["", "x"], &[&["", "y"]])).expect("a table");
        method.finish().expect("finished");
        method
    }

    #[test]
    fn likeness_is_that_worked_out_by_hand() {
        let query = table("q", &["city", "people"], &[&["Oslo", "2"], &["Rome", "3"]]);
        let query = PlainQuery { table: Some(&query), ..PlainQuery::default() };
        // One of three headers is common.
        let headers = lake(HeaderJaccard::default()).scores(&query).expect("scores");
        assert_eq!(headers, [1.0 / 3.0, 0.0, 0.0]);
        // a: the cities are the same, one of three numbers is, over two columns; b: one of three over its only column.
        let both = lake(HeaderValueJaccard::new(CellForm::Folded)).scores(&query).expect("scores");
        assert!((both[0] - (1.0 / 3.0 + (1.0 + 1.0 / 3.0) / 2.0)).abs() < 1e-12, "{both:?}");
        assert!((both[1] - 1.0 / 3.0).abs() < 1e-12 && both[2] == 0.0, "{both:?}");
    }

    #[test]
    fn a_column_is_paired_once() {
        let mut method = HeaderValueJaccard::new(CellForm::Written);
        method.add(&table("a", &["x", "y"], &[&["1", "9"]])).expect("a table");
        method.finish().expect("finished");
        let query = table("q", &["u", "v"], &[&["1", "1"]]);
        let scores = method.scores(&PlainQuery { table: Some(&query), ..PlainQuery::default() }).expect("scores");
        assert_eq!(scores, [0.5], "both columns of the query are the first of `a`, which goes to one of them");
    }
}
