//! Exact containment: the share of the query column's distinct values that a column of the table holds.
//!
//! score(t) = max over the columns X of t of |Q ∩ X| / |Q|, in 0..=1; with headers, 1 more where X has values of Q and
//! its folded header is the query column's, so that such columns come first. Size and uniqueness of X do not count.

use super::cell_form::CellForm;
use super::value_sets::ValueSets;
use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::Result;

/// A lake that is ranked by containment.
pub(super) struct Containment {
    sets: ValueSets,
    same_header_first: bool,
}

impl Containment {
    pub fn new(form: CellForm) -> Self {
        Containment { sets: ValueSets::new(form), same_header_first: false }
    }

    pub fn same_header_first(form: CellForm) -> Self {
        Containment { same_header_first: true, ..Self::new(form) }
    }
}

impl Method for Containment {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.sets.add(table);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.sets.finish();
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let mut scores: Vec<f64> = vec![0.0; self.sets.tables()];
        for (header, cells) in query.columns() {
            let values = self.sets.values_of(cells);
            let header = CellForm::Folded.hash(header).filter(|_| self.same_header_first);
            for (column, shared) in self.sets.columns().iter().zip(self.sets.shared(&values)) {
                if shared == 0 {
                    continue;
                }
                let bonus = if header.is_some() && header == column.header { 1.0 } else { 0.0 };
                let score = &mut scores[column.table as usize];
                *score = score.max(f64::from(shared) / values.len() as f64 + bonus);
            }
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    fn scores(mut method: Containment, query: &PlainTable) -> Vec<f64> {
        method.add(&table("a", &["City", "n"], &[&["Oslo", "1"], &["Rome", "2"], &["Rome", "2"]])).expect("a table");
        method.add(&table("b", &["town"], &[&["oslo"], &["ROME"], &["Bonn"], &["Nice"]])).expect("a table");
        method.add(&table("c", &["city"], &[&["Oslo"]])).expect("a table");
        method.finish().expect("finished");
        let query = PlainQuery { table: Some(query), column: Some(0), ..PlainQuery::default() };
        method.scores(&query).expect("scores")
    }

    #[test]
    fn shares_of_the_query_are_those_worked_out_by_hand() {
        let query = table("q", &["city"], &[&["Oslo"], &["Rome"], &["Bonn"], &["Oslo"], &["Lima"], &[""]]);
        // Four distinct values.
        assert_eq!(scores(Containment::new(CellForm::Written), &query), [0.5, 0.25, 0.25]);
        assert_eq!(scores(Containment::new(CellForm::Folded), &query), [0.5, 0.75, 0.25]);
        assert_eq!(scores(Containment::same_header_first(CellForm::Folded), &query), [1.5, 0.75, 1.25]);
        let empty = table("q", &["city"], &[&[""]]);
        assert_eq!(scores(Containment::new(CellForm::Folded), &empty), [0.0; 3]);
    }
}
