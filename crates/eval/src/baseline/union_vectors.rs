//! Table vectors alone: the cosine between the vectors of two tables.
//!
//! A table is the sum of two vectors of length 1 by the built-in embedding model: of its headers and of values of its text
//! columns. No alignment of columns, no overlap of values. Memory: 1 KiB per table.

use xxhash_rust::xxh3::xxh3_64;

use super::{Method, PlainQuery, PlainTable};
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_models::embed::{EmbedderExt, StaticModel, normalise};

/// Number of text columns whose values are embedded.
const MAX_COLUMNS: usize = 16;
/// Bytes of values used per column.
const VALUE_BYTES: usize = 512;

/// A lake that is ranked by the vectors of its tables.
#[derive(Default)]
pub(super) struct UnionVectors {
    tables: usize,
    /// The vectors, stored back to back.
    vectors: Vec<f32>,
}

impl Method for UnionVectors {
    fn add(&mut self, table: &PlainTable) -> Result<()> {
        self.vectors.extend(content_vector(table));
        self.tables += 1;
        Ok(())
    }

    fn scores(&self, query: &PlainQuery<'_>) -> Result<Vec<f64>> {
        let Some(table) = query.table else { return Ok(vec![0.0; self.tables]) };
        let own = content_vector(table);
        let cosine = |other: &[f32]| own.iter().zip(other).map(|(a, b)| f64::from(a * b)).sum();
        Ok(self.vectors.chunks_exact(own.len()).map(cosine).collect())
    }
}

/// The vector of a table, of length 1, or 0 if the model knows none of its words.
fn content_vector(table: &PlainTable) -> Vec<f32> {
    let model = StaticModel::builtin();
    let headers: Vec<String> = table.headers.iter().map(|header| name_words(header).join(" ")).collect();
    let mut vector = model.embed(&headers.join(" "));
    let mut values = String::new();
    for cells in table.columns.iter().filter(|cells| is_text(cells)).take(MAX_COLUMNS) {
        add_values(cells, &mut values);
    }
    let content = model.embed(&values);
    vector.iter_mut().zip(content).for_each(|(sum, part)| *sum += part);
    normalise(&mut vector);
    vector
}

/// Whether at least half of the non-empty cells contain a letter.
fn is_text(cells: &[String]) -> bool {
    let present = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let lettered = cells.iter().filter(|cell| cell.chars().any(char::is_alphabetic)).count();
    present > 0 && lettered * 2 >= present
}

/// Adds distinct cells in the order of their hashes, so that the order of rows does not matter.
fn add_values(cells: &[String], values: &mut String) {
    let mut distinct: Vec<(u64, &str)> = cells
        .iter()
        .map(|cell| cell.trim())
        .filter(|cell| !cell.is_empty())
        .map(|cell| (xxh3_64(cell.as_bytes()), cell))
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    let end = values.len() + VALUE_BYTES;
    for (_, cell) in distinct {
        if values.len() >= end {
            return;
        }
        values.push_str(&cell[..cell.floor_char_boundary(end - values.len())]);
        values.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_table::tests::table;
    use super::*;

    #[test]
    fn tables_about_the_same_are_nearer() {
        let mut method = UnionVectors::default();
        method.add(&table("a", &["town", "country"], &[&["Bergen", "Norway"], &["Milan", "Italy"]])).expect("a table");
        method.add(&table("b", &["protein", "enzyme"], &[&["insulin", "lipase"]])).expect("a table");
        method.add(&table("c", &["", ""], &[&["1", "2"]])).expect("a table");
        let query = table("q", &["city", "nation"], &[&["Oslo", "Norway"], &["Rome", "Italy"]]);
        let scores = method.scores(&PlainQuery { table: Some(&query), ..PlainQuery::default() }).expect("scores");
        assert!(scores[0] > 0.5 && scores[0] > scores[1] + 0.2, "{scores:?}");
        assert_eq!(scores[2], 0.0);
    }
}
