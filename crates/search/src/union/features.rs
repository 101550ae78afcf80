//! What a union score is made of, from the likenesses of two tables' columns and what the channels say of the whole tables.

use crate::alignment::Sums;
use crate::ranker::features;

features! {
    /// What a union score is made of.
    UnionFeatures,
    /// How much each feature counts.
    UnionWeights {
        /// Sum of the aligned pairs' fits over the columns of the query, of the smaller table and of both, averaged.
        alignment,
        /// Sum of name times contents of the aligned pairs, over the columns of the wider table.
        confirmed,
        /// Sum of the likenesses of the aligned pairs' contents, names left aside, over the columns of the wider table.
        contents,
        /// Fit of the pairs that stand in the same order in both, over the columns of the wider table.
        order,
        /// Contents of number columns with that in the same place, and of other columns with the most like, over the columns of
        /// the wider table: numbers of one kind do not tell which column is meant, and then tables made alike are laid out
        /// alike.
        in_place,
        /// BM25 of the query's words, as a share of the best table's.
        words,
        /// Cosine of the whole tables' vectors.
        content,
        /// Aligned pairs called the same, over the columns of both: Jaccard of the headers.
        same_names,
        /// Sum of the aligned pairs' shares of equal values, over the columns of the narrower table.
        shared_values,
        /// Rows of the shorter table over those of the longer.
        rows,
        /// Share of the query's column names found, rare ones counting more.
        rare_names,
        /// Share of the query's values found that were looked up, rare ones counting more.
        rare_values,
    }
}

/// What is known of a candidate without looking at its columns; shares in 0..=1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableEvidence {
    pub(super) columns: usize,
    pub(super) rows: u64,
    pub(super) words: f64,
    pub(super) content: f64,
    pub(super) rare_names: f64,
    pub(super) rare_values: f64,
}

/// The features of a candidate for a query of `columns` columns and `rows` rows.
pub(super) fn features(columns: usize, rows: u64, sums: &Sums, table: &TableEvidence) -> UnionFeatures {
    let (narrow, wide) = (columns.min(table.columns).max(1), columns.max(table.columns).max(1));
    let joint = (columns + table.columns).saturating_sub(sums.pairs).max(1);
    // The first asks for all of the query, the second forgives projections, the third tells a table of the same width from
    // one that merely contains it.
    let shares = sums.fit / columns.max(1) as f64 + sums.fit / narrow as f64 + sums.fit / joint as f64;
    let (short, long) = (rows.min(table.rows), rows.max(table.rows));
    let wide = wide as f64;
    UnionFeatures {
        alignment: (shares / 3.0).min(1.0),
        confirmed: (sums.confirmed / wide).min(1.0),
        contents: (sums.contents / wide).min(1.0),
        order: (sums.in_order / wide).min(1.0),
        in_place: (sums.in_place / wide).min(1.0),
        words: table.words,
        content: table.content,
        same_names: (sums.called_the_same / joint as f64).min(1.0),
        shared_values: (sums.values / narrow as f64).min(1.0),
        rows: (short as f64 + 1.0) / (long as f64 + 1.0),
        rare_names: table.rare_names,
        rare_values: table.rare_values,
    }
}
