//! The features of a union score, from the likenesses of two tables' columns and the channels' scores of the whole tables.

use crate::alignment::Sums;
use crate::ranker::features;

features! {
    /// The features of a union score.
    UnionFeatures,
    /// Weight of each feature.
    UnionWeights {
        /// Sum of the aligned pairs' fits divided by the columns of the query, of the smaller table and of both; the average of
        /// the three.
        alignment,
        /// Sum of name times contents likeness of the aligned pairs, divided by the columns of the wider table.
        confirmed,
        /// Sum of the likenesses of the aligned pairs' contents, without names, divided by the columns of the wider table.
        contents,
        /// Fit of the pairs that are in the same order in both, divided by the columns of the wider table.
        order,
        /// Contents likeness of number columns with the column in the same place, and of other columns with the most similar one,
        /// divided by the columns of the wider table: similar numbers do not show which columns correspond, but similar tables
        /// have the same column order.
        in_place,
        /// BM25 of the query's words, as a share of the best table's.
        words,
        /// Cosine of the whole tables' vectors.
        content,
        /// Aligned pairs of the same name, divided by the columns of both: Jaccard of the headers.
        same_names,
        /// Sum of the aligned pairs' shares of equal values, divided by the columns of the narrower table.
        shared_values,
        /// Share of the query's column names found, rare ones counting more.
        rare_names,
        /// Share of the looked-up values of the query found, rare ones counting more.
        rare_values,
    }
}

/// The evidence for a candidate that needs no alignment of its columns; shares in 0..=1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableEvidence {
    pub(super) columns: usize,
    pub(super) words: f64,
    pub(super) content: f64,
    pub(super) rare_names: f64,
    pub(super) rare_values: f64,
}

/// The features of a candidate for a query of `columns` columns.
pub(super) fn features(columns: usize, sums: &Sums, table: &TableEvidence) -> UnionFeatures {
    let (narrow, wide) = (columns.min(table.columns).max(1), columns.max(table.columns).max(1));
    let joint = (columns + table.columns).saturating_sub(sums.pairs).max(1);
    // The first share requires all of the query's columns, the second tolerates projections, the third prefers a table of the
    // same width to one that merely contains it.
    let shares = sums.fit / columns.max(1) as f64 + sums.fit / narrow as f64 + sums.fit / joint as f64;
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
        rare_names: table.rare_names,
        rare_values: table.rare_values,
    }
}
