//! The answer for a table that was found: a [`JoinAnswer`] as for one column, with combinations in place of values.

use super::count::Counts;
use super::mapping::Mapping;
use super::tuples::Key;
use crate::join::{self, ColumnPair, JoinAnswer, MatchKind, ValueMatch};
use crate::query_table::sample_words;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::text::name_likeness;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_sketch::{Difference, Normaliser};

/// The best mapping of a table whose file was read.
pub struct Found {
    /// The table.
    pub table: TableRef,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// Which of its columns each key column is mapped to.
    pub mapping: Mapping,
    /// The counts.
    pub counts: Counts,
    /// Rows read.
    pub rows: u64,
    /// Whether the file has changed since it was indexed.
    pub changed: bool,
    /// Whether a database declares the mapping.
    pub is_declared: bool,
}

/// The answer for `found`.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn answer(index: &LakeIndex, key: &Key<'_>, found: &Found) -> Result<JoinAnswer> {
    let (places, tuples) = (key.places, &key.tuples);
    let segment = index.segment(found.table.segment)?;
    let entry = index.table(found.table)?;
    let counts = &found.counts;
    let mut on = Vec::with_capacity(places.len());
    let (mut cosines, mut weakness) = (0.0, None);
    for ((place, column), part_tuples) in places.iter().zip(&found.mapping.columns).zip(&found.mapping.part_tuples) {
        let record = segment.columns.record(*column)?;
        let (own, name) = (&key.query.columns[*place], segment.columns.name(record)?);
        cosines += f64::from(segment.vectors.columns.dot(*column, &own.vector)?);
        weakness = weakness.or(own.profile.weakness).or(record.weakness());
        on.push(ColumnPair {
            query_column: own.profile.name.clone(),
            column: name.to_string(),
            containment: *part_tuples as f64 / tuples.len() as f64,
            name_likeness: name_likeness(&own.profile.name, name),
        });
    }
    let (matches, normalised) = value_matches(counts);
    let uncounted = JoinAnswer::uncounted(key.query, &entry, on);
    let all = counts.compared.0 + counts.candidate_tuples - counts.compared.1;
    let mut answer = JoinAnswer {
        score: found.score.clamp(0.0, 1.0),
        kind: if counts.as_written * 2 >= counts.shared { MatchKind::AsWritten } else { MatchKind::Normalised },
        containment: counts.containment(tuples),
        containment_as_written: counts.as_written as f64 / tuples.len().max(1) as f64,
        containment_of_candidate: counts.of_candidate(),
        jaccard: counts.compared.1 as f64 / all.max(1) as f64,
        exact: counts.exact && !found.changed && !uncounted.sampled,
        shared_values: counts.shared,
        uniqueness: counts.uniqueness,
        fan_out: counts.fan_out,
        name_likeness: found.mapping.names,
        semantic_likeness: cosines / places.len() as f64,
        rarity: (counts.weight / tuples.weights.iter().map(|weight| f64::from(*weight)).sum::<f64>()).min(1.0),
        matches,
        normalised,
        weakness: weakness.filter(|_| found.mapping.accidental),
        declared: found.is_declared,
        rows: if found.changed { found.rows } else { entry.profile.rows },
        ..uncounted
    };
    answer.reason = join::reason(&answer, tuples.len() as u64).and_then(sample_words(Some(key.query), &entry));
    if found.changed {
        let changed = message!("the file has changed since it was indexed, the figures are for its present state");
        answer.reason = answer.reason.and_then(changed);
    }
    Ok(answer)
}

/// Examples of matching combinations, and the differences that normalisation removed in them.
fn value_matches(counts: &Counts) -> (Vec<ValueMatch>, Vec<Difference>) {
    let mut normaliser = Normaliser::default();
    let mut normalised = Vec::new();
    let matches = counts
        .matches
        .iter()
        .map(|(ours, theirs)| {
            let differences: Vec<Difference> =
                ours.iter().zip(theirs).filter_map(|(a, b)| Difference::between(a, b, &mut normaliser)).collect();
            normalised.extend(&differences);
            ValueMatch {
                query: ours.join(" + "),
                candidate: Some(theirs.join(" + ")),
                difference: differences.first().copied(),
            }
        })
        .collect();
    normalised.sort_unstable();
    normalised.dedup();
    (matches, normalised)
}
