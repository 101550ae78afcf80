//! Columns that contain variants of the query's values: cut short, as initials, misspelt, run together.
//!
//! The index lists the columns under the keys of their sample values; those that share most keys with the query, rare keys
//! counting more, are compared value by value. Only values that have no equal on the other side are compared, and each has at
//! most one variant. Where a candidate has more values than the index stores as samples, the figures are estimated from the
//! samples. Variants are not equal values: they show that two columns refer to the same things, not that a join would match.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lists_of_all::{Lists, ListsOfAll};
use crate::query_table::QueryColumn;
use lakeward_core::error::Result;
use lakeward_index::columns::may_vary;
use lakeward_index::overlap::{QueryValues, ValueWeights};
use lakeward_index::postings::PostingList;
use lakeward_index::{ColumnRef, LakeIndex, tallies};
use lakeward_sketch::{ApproximateForm, Normaliser, Variation};

/// Most columns compared value by value, per query column.
const COMPARED_COLUMNS: usize = 30;
/// Most values of the query that are compared: the first distinct ones.
const MOST_VALUES: usize = 2000;
/// Least share of the keys' weight that a column must share to be compared, a bound of work: with less it has hardly any variant.
const LEAST_SHARED: f64 = 0.04;
/// Most bytes of inverted lists read for one query column.
const MOST_LIST_BYTES: usize = 32 << 10;

/// A value of the query and a nearly equal one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantMatch {
    /// As the query writes it.
    #[schemars(extend("x-sql" = "query_value"))]
    pub query: String,
    /// As the candidate writes it.
    #[schemars(extend("x-sql" = "table_value", "x-sql-null" = true))]
    pub candidate: String,
    /// How they differ.
    #[schemars(extend("x-sql" = "difference", "x-sql-null" = true))]
    pub variation: Variation,
}

/// The shares of the query's values that have only a variant in a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct VariantShare {
    /// As a share of the query's distinct values, 0..=1.
    pub share: f64,
    /// As a share of the values' rarity weight, 0..=1.
    pub rarity: f64,
    /// Share of the candidate's distinct values that are variants of one of the query's.
    pub of_candidate: f64,
}

/// A value of the query that can have variants.
struct Varying<'a> {
    written: &'a str,
    hash: u64,
    weight: f64,
    form: ApproximateForm,
}

/// The values of a query column, ready to be compared.
pub(super) struct Variants<'a> {
    query: &'a QueryValues,
    values: Vec<Varying<'a>>,
    by_group: HashMap<u64, Vec<usize>>,
    by_letters: HashMap<String, usize>,
    distinct: f64,
    all_weight: f64,
}

impl<'a> Variants<'a> {
    /// The values of `column` that can have variants; none where it has no text of a few words or may match by chance.
    pub fn of(column: &'a QueryColumn, weights: &ValueWeights) -> Self {
        let mut variants = Self {
            query: &column.values,
            values: Vec::new(),
            by_group: HashMap::new(),
            by_letters: HashMap::new(),
            distinct: column.sketch.distinct.max(1) as f64,
            all_weight: weights.weights.iter().map(|weight| f64::from(*weight)).sum::<f64>().max(f64::MIN_POSITIVE),
        };
        if column.profile.weakness.is_some() || !may_vary(column.profile.logical, column.sketch.mean_length) {
            return variants;
        }
        let mut normaliser = Normaliser::new(column.profile.writing.clone());
        let mut known = HashSet::new();
        for written in column.sketch.text.lines() {
            if variants.values.len() == MOST_VALUES {
                break;
            }
            let hash = normaliser.value(written).hash;
            let Ok(place) = column.values.hashes.binary_search(&hash) else { continue };
            let Some(form) = ApproximateForm::of(written).filter(|_| known.insert(hash)) else { continue };
            let number = variants.values.len();
            variants.by_group.entry(form.group()).or_default().push(number);
            variants.by_letters.entry(form.letters().to_string()).or_insert(number);
            let weight = weights.weights.get(place).map_or(0.0, |weight| f64::from(*weight));
            variants.values.push(Varying { written, hash, weight, form });
        }
        variants
    }

    /// The live columns that share most keys, rare keys counting more, best first; at most [`COMPARED_COLUMNS`] in all shards. `place` is that of
    /// the query's column.
    pub fn proposed(&self, index: &LakeIndex, place: usize) -> Result<Vec<ColumnRef>> {
        let mut keys: Vec<u64> = self.values.iter().flat_map(|value| value.form.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        let found = ListsOfAll::find(index, &format!("variants of {place}"), &keys, |segment| &segment.join.variants)?;
        let columns = found.columns;
        let mut lists = Vec::new();
        for Lists { bytes, count, lists: found } in found.lists.into_iter().filter(|lists| lists.count > 0) {
            lists.push((bytes, (1.0 + columns as f64 / count as f64).ln(), found));
        }
        lists.sort_by_key(|(bytes, ..)| *bytes);
        let least = LEAST_SHARED * lists.iter().map(|(_, weight, _)| weight).sum::<f64>();
        let mut of_segments: Vec<Vec<(PostingList, f64)>> = vec![Vec::new(); index.segments().len()];
        let mut read_bytes = 0;
        for (bytes, weight, found) in lists {
            read_bytes = bytes.saturating_add(read_bytes);
            if read_bytes > MOST_LIST_BYTES {
                break;
            }
            found.into_iter().for_each(|(place, list)| of_segments[place as usize].push((list, weight)));
        }
        // Sums are not negative, so that their bits are in their order.
        let mut scored: Vec<(u64, Reverse<ColumnRef>)> = Vec::new();
        for ((place, segment), lists) in (0u32..).zip(index.segments()).zip(&of_segments) {
            let sums = tallies::sums(&segment.join.variants, segment.columns.len(), lists)?;
            let most = sums.into_iter().filter(|(_, score)| *score >= least);
            scored.extend(most.map(|(column, score)| (score.to_bits(), Reverse(ColumnRef { segment: place, column }))));
        }
        let mut scored = BinaryHeap::from(scored);
        let mut proposed = Vec::with_capacity(COMPARED_COLUMNS);
        while let Some((score, Reverse(column))) = scored.pop().filter(|_| proposed.len() < COMPARED_COLUMNS) {
            let segment = index.segment(column.segment)?;
            if segment.is_live(segment.columns.record(column.column)?.table) {
                proposed.push((f64::from_bits(score), column));
            }
        }
        if index.exchange().is_some() {
            let of_all =
                index.best_of_all(&format!("varying columns of {place}"), proposed.clone(), COMPARED_COLUMNS)?;
            let of_all: HashSet<ColumnRef> = of_all.into_iter().map(|(_, column)| column).collect();
            proposed.retain(|(_, column)| of_all.contains(&index.in_index(*column)));
        }
        Ok(proposed.into_iter().map(|(_, column)| column).collect())
    }

    /// The share of the values that have only a variant in `column`, and the first `examples` of them.
    pub fn compare(
        &self,
        index: &LakeIndex,
        column: ColumnRef,
        examples: usize,
    ) -> Result<(VariantShare, Vec<VariantMatch>)> {
        let columns = &index.segment(column.segment)?.columns;
        let record = columns.record(column.column)?;
        if self.values.is_empty() || !record.may_vary() {
            return Ok(Default::default());
        }
        let hashes = columns.hashes(record)?;
        let samples = columns.samples(record)?;
        // Looked up at the first use.
        let mut unequal: Vec<Option<bool>> = vec![None; self.values.len()];
        let mut has_no_equal = |value: usize| {
            *unequal[value].get_or_insert_with(|| hashes.binary_search(&self.values[value].hash).is_err())
        };
        let mut used = vec![false; self.values.len()];
        let (mut found, mut weight, mut matches) = (0usize, 0.0, Vec::new());
        for (_, written) in samples.iter().filter(|(hash, _)| self.query.hashes.binary_search(hash).is_err()) {
            let Some(form) = ApproximateForm::of(written) else { continue };
            let run_together = self.by_letters.get(form.letters()).into_iter();
            let in_group = self.by_group.get(&form.group()).into_iter().flatten();
            // Of several variants the most certain, then the first.
            let mut best: Option<(Variation, usize)> = None;
            for &value in run_together.chain(in_group) {
                if used[value] || !has_no_equal(value) {
                    continue;
                }
                if let Some(variation) = self.values[value].form.variation(&form) {
                    best = Some(best.map_or((variation, value), |best| best.min((variation, value))));
                }
            }
            let Some((variation, value)) = best else { continue };
            used[value] = true;
            found += 1;
            weight += self.values[value].weight;
            if matches.len() < examples {
                let query = self.values[value].written.to_string();
                matches.push(VariantMatch { query, candidate: (*written).to_string(), variation });
            }
        }
        let scale = (record.distinct as f64 / samples.len().max(1) as f64).max(1.0);
        let share = VariantShare {
            share: (scale * found as f64 / self.distinct).min(1.0),
            rarity: (scale * weight / self.all_weight).min(1.0),
            of_candidate: (found as f64 / samples.len().max(1) as f64).min(1.0),
        };
        Ok((share, matches))
    }
}
