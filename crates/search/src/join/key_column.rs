//! One key column of the query, and the lake's columns that are candidates for it.

use std::collections::HashSet;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rayon::prelude::*;

use super::candidate::Candidate;
use super::features::Evidence;
use super::variants::{VariantShare, Variants};
use super::{NEIGHBOURS, closest_of, overlaps};
use crate::query_table::{QueryColumn, QueryTable};
use crate::weights::JoinEvidenceWeights;
use lakeward_core::error::Result;
use lakeward_core::text::NameParts;
use lakeward_index::manifest::SegmentEntry;
use lakeward_index::overlap::{self, Overlap, Selection, ValueWeights};
use lakeward_index::vectors::{Filter, PreparedQuery};
use lakeward_index::{ColumnRef, LakeIndex, Segment, TableRef};
use lakeward_lake::semantic::LogicalType;

/// A key column of the query, prepared for comparison with many others.
pub(super) struct KeyColumn<'a> {
    pub column: &'a QueryColumn,
    /// Its place in the query.
    pub place: usize,
    pub variants: Variants<'a>,
    /// Its place among the key columns.
    number: usize,
    /// How much it counts, 0..=1.
    weight: f64,
    origin: Option<TableRef>,
    weights: ValueWeights,
    name: NameParts,
    vector: Option<PreparedQuery>,
    evidence: &'a JoinEvidenceWeights,
}

impl<'a> KeyColumn<'a> {
    /// Column `place` of `query`, number `number` among the key columns, with its weight.
    pub fn new(
        index: &LakeIndex,
        query: &'a QueryTable,
        number: usize,
        (place, weight): (usize, f64),
        evidence: &'a JoinEvidenceWeights,
    ) -> Result<Self> {
        let column = &query.columns[place];
        let first = index.segments().first();
        let vector = first.map(|segment| segment.vectors.columns.prepare(&column.vector)).transpose()?;
        let weights = super::value_weights(index, place, column)?;
        let variants = Variants::of(column, &weights);
        let name = NameParts::of(&column.profile.name);
        Ok(Self { column, place, variants, number, weight, origin: query.origin, weights, name, vector, evidence })
    }

    /// Candidates by equal values and by nearly equal values.
    pub fn sharing_values(&self, index: &LakeIndex) -> Result<Vec<Candidate>> {
        let closest = || {
            let selection = Selection::Best(super::CLOSEST_COLUMNS);
            closest_of(index, self.place, overlaps(index, self.column, &self.weights, selection)?)
        };
        let (closest, varying) = rayon::join(closest, || self.variants.proposed(index, self.place));
        self.sharing(index, closest?.into_iter().collect(), varying?)
    }

    /// Those of `columns` that share equal or nearly equal values.
    pub fn sharing_values_of(&self, index: &LakeIndex, columns: Vec<ColumnRef>) -> Result<Vec<Candidate>> {
        let mut overlaps = HashMap::new();
        for column in &columns {
            let overlap = self.overlap_with(index, *column)?;
            if overlap.shared > 0 {
                overlaps.insert(*column, overlap);
            }
        }
        self.sharing(index, overlaps, columns)
    }

    /// Candidates with these overlaps, and those of the `varying` columns with nearly equal values.
    fn sharing(
        &self,
        index: &LakeIndex,
        mut overlaps: HashMap<ColumnRef, Overlap>,
        varying: Vec<ColumnRef>,
    ) -> Result<Vec<Candidate>> {
        let mut variants: HashMap<ColumnRef, VariantShare> = HashMap::new();
        let all = self.column.values.hashes.len() as u64;
        for column in varying {
            if overlaps.get(&column).is_some_and(|overlap| overlap.shared == all) {
                continue;
            }
            let (share, _) = self.variants.compare(index, column, 0)?;
            if share.share > 0.0 {
                variants.insert(column, share);
                if let Entry::Vacant(vacant) = overlaps.entry(column) {
                    vacant.insert(self.overlap_with(index, column)?);
                }
            }
        }
        let mut found: Vec<(ColumnRef, Overlap)> = overlaps.into_iter().collect();
        found.sort_unstable_by_key(|(column, _)| *column);
        let found = found.into_iter().map(|(column, overlap)| {
            let share = variants.get(&column).copied().unwrap_or_default();
            (column, (overlap.shared > 0).then_some(overlap), share)
        });
        self.candidates(index, found)
    }

    fn overlap_with(&self, index: &LakeIndex, column: ColumnRef) -> Result<Overlap> {
        let columns = &index.segment(column.segment)?.columns;
        overlap::overlap_with(&self.column.values, &self.weights, columns, column.column)
    }

    /// Candidates by their vectors, except those already `known`.
    pub fn similar_in_meaning(&self, index: &LakeIndex, known: &HashSet<(usize, ColumnRef)>) -> Result<Vec<Candidate>> {
        let profile = &self.column.profile;
        let Some(vector) = &self.vector else { return Ok(Vec::new()) };
        if profile.logical != LogicalType::Text || profile.weakness.is_some() {
            return Ok(Vec::new());
        }
        let nearest = |(place, (segment, entry)): (usize, (&Segment, &SegmentEntry))| {
            let is_live = |id: u32| segment.columns.record(id).is_ok_and(|record| segment.is_live(record.table));
            let filter: Option<Filter<'_>> = if entry.removed.is_empty() { None } else { Some(&is_live) };
            let mut nearest = segment.vectors.columns.search_prepared(vector, NEIGHBOURS, filter)?;
            nearest.retain(|(_, cosine)| *cosine >= self.evidence.least_cosine);
            let of_segment = |(column, _)| ColumnRef { segment: place as u32, column };
            Ok(nearest.into_iter().map(of_segment).collect::<Vec<ColumnRef>>())
        };
        let segments = index.segments().par_iter().zip(&index.manifest().segments).enumerate();
        let found: Vec<Vec<ColumnRef>> = segments.map(nearest).collect::<Result<_>>()?;
        self.new_candidates(index, found.concat(), known)
    }

    /// Those of `columns` that are not `known`, as candidates, with their overlap.
    pub fn new_candidates(
        &self,
        index: &LakeIndex,
        columns: Vec<ColumnRef>,
        known: &HashSet<(usize, ColumnRef)>,
    ) -> Result<Vec<Candidate>> {
        let mut found = Vec::with_capacity(columns.len());
        for column in columns.into_iter().filter(|column| !known.contains(&(self.number, *column))) {
            let overlap = self.overlap_with(index, column)?;
            found.push((column, (overlap.shared > 0).then_some(overlap), VariantShare::default()));
        }
        self.candidates(index, found)
    }

    fn candidates(
        &self,
        index: &LakeIndex,
        found: impl IntoIterator<Item = (ColumnRef, Option<Overlap>, VariantShare)>,
    ) -> Result<Vec<Candidate>> {
        // Many columns have the same name.
        let mut names: HashMap<&str, f64> = HashMap::new();
        let mut candidates = Vec::new();
        for (column, overlap, mut variants) in found {
            let segment = index.segment(column.segment)?;
            let record = segment.columns.record(column.column)?;
            let table = TableRef { segment: column.segment, table: record.table };
            if Some(table) == self.origin || !segment.is_live(record.table) {
                continue;
            }
            let name = segment.columns.name(record)?;
            let names = *names.entry(name).or_insert_with(|| self.name.likeness(&NameParts::of(name)));
            let cosine = match &self.vector {
                Some(vector) => f64::from(segment.vectors.columns.cosine_with(column.column, vector)?),
                None => 0.0,
            };
            if let Some(overlap) = &overlap {
                // An estimate from a sample is less certain than a count.
                variants.share = variants.share.min(1.0 - overlap.containment());
                variants.rarity = variants.rarity.min(1.0 - overlap.rarity);
            }
            let evidence = Evidence {
                overlap,
                variants,
                names,
                cosine,
                uniqueness: record.uniqueness(),
                accidental: self.column.profile.weakness.is_some() || record.weakness().is_some(),
            };
            let (key_column, weight) = (self.number, self.weight);
            candidates.push(Candidate { table, column, key_column, weight, evidence, declared: false, context: None });
        }
        Ok(candidates)
    }
}
