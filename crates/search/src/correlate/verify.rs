//! Joins the best candidates exactly: reads their files, aggregates the rows of each key, and compares with the query key by key.

use rayon::prelude::*;

use super::answer::{Caution, CorrelationAnswer, KeyPair};
use super::statistic::{Association, Tests, of_codes, partial, pearson, spearman};
use super::{BaseKey, Hit, MOST_READ_KEYS};
use crate::query_table::{QueryTable, sample_words};
use lakeward_core::error::{Error, Result};
use lakeward_core::message::Message;
use lakeward_index::correlations::{KeyRecord, codes};
use lakeward_index::{LakeIndex, Segment, TableRef};
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::key_sample::{self, KeySample, Measure, ValueColumn};

/// Points of an answer.
const MOST_POINTS: usize = 200;
/// Larger files are not read: their candidates are estimates.
const MOST_READ_BYTES: u64 = 512 << 20;
/// Share of equal values from which a column is the target.
const SAME: f64 = 0.95;
/// Correlation from which a column follows from the target.
pub const FOLLOWS: f64 = 0.9995;
/// A correlation that loses more than this share of its strength was not its own.
const REMAINS: f64 = 0.5;

/// The answers for `hits`, in any order, and what could not be verified.
pub fn answers(
    index: &LakeIndex,
    lake: &std::path::Path,
    query: &QueryTable,
    bases: &[BaseKey],
    hits: &[Hit],
    tests: &Tests,
) -> Result<(Vec<CorrelationAnswer>, Vec<String>)> {
    let mut hits = hits.to_vec();
    let group = |hit: &Hit| (hit.segment, hit.key, hit.base);
    hits.sort_by_key(group);
    let groups: Vec<&[Hit]> = hits.chunk_by(|a, b| group(a) == group(b)).collect();
    let of_group = |hits: &&[Hit]| of_table(index, lake, query, bases, hits, tests);
    let found: Vec<(Vec<CorrelationAnswer>, Option<String>)> =
        groups.par_iter().map(of_group).collect::<Result<_>>()?;
    let (answers, notes): (Vec<Vec<CorrelationAnswer>>, Vec<Option<String>>) = found.into_iter().unzip();
    let mut notes: Vec<String> = notes.into_iter().flatten().collect();
    notes.dedup();
    Ok((answers.concat(), notes))
}

/// The answers for hits on one key of one table.
fn of_table(
    index: &LakeIndex,
    lake: &std::path::Path,
    query: &QueryTable,
    bases: &[BaseKey],
    hits: &[Hit],
    tests: &Tests,
) -> Result<(Vec<CorrelationAnswer>, Option<String>)> {
    let segment = index.segment(hits[0].segment)?;
    let key = segment
        .correlations
        .keys()?
        .get(hits[0].key)
        .ok_or_else(|| Error::Internal("a key of another snapshot".into()))?;
    let entry = index.table(TableRef { segment: hits[0].segment, table: key.table })?;
    let place = |column: u32| segment.columns.record(column).map(|record| record.place as usize);
    let mut values = Vec::with_capacity(hits.len());
    let records = segment.correlations.values(key)?;
    for hit in hits {
        values.push(ValueColumn { place: place(hit.column)?, measure: records[hit.value].measure() });
    }
    let places: Vec<usize> = key.columns().iter().map(|column| place(*column)).collect::<Result<_>>()?;
    let mut sample = [KeySample::new(places, values, MOST_READ_KEYS)];
    let rows = entry.report.sample.map(|sample| sample.rows);
    let read = match entry.read_bytes > MOST_READ_BYTES {
        true => Err(Error::usage("its file is too large to be joined within a search")),
        false => entry.file(lake).and_then(|path| key_sample::read(&path, &entry.profile, rows, &mut sample)),
    };
    let note = read.err().map(|error| format!("`{}` is estimated only: {error}", entry.id));
    let [sample] = sample;
    let base = &bases[hits[0].base];
    let joined = note.is_none().then(|| Joined::of(base, &sample));
    let mut answers = Vec::with_capacity(hits.len());
    for (value, hit) in hits.iter().enumerate() {
        let mut answer = estimate(segment, key, &entry, query, base, hit)?;
        answer.false_discovery_rate = tests.rate(hit.association.p_value());
        if let Some(joined) = &joined {
            let Some(association) = joined.association(value) else { continue };
            joined.describe(&mut answer, association, value, query, &entry);
        }
        let target = &query.entry.profile.columns[base.sample.values[0].place].name;
        answer.reason = Message::from(answer.sentence(target)).and_then(sample_words(Some(query), &entry));
        answers.push(answer);
    }
    Ok((answers, note))
}

/// The answer for `hit` by what the index knows.
fn estimate(
    segment: &Segment,
    key: &KeyRecord,
    entry: &TableEntry,
    query: &QueryTable,
    base: &BaseKey,
    hit: &Hit,
) -> Result<CorrelationAnswer> {
    let columns = &segment.columns;
    let mut on = Vec::new();
    let mut multiplicity = 1.0;
    for (own, column) in base.sample.key.iter().zip(key.columns()) {
        let record = columns.record(*column)?;
        let query_column = query.entry.profile.columns[*own].name.clone();
        on.push(KeyPair { query_column, column: columns.name(record)?.to_string() });
        multiplicity = f64::from(record.multiplicity);
    }
    let [low, high] = hit.association.interval();
    Ok(CorrelationAnswer {
        table: entry.id.to_string(),
        title: entry.title(),
        column: columns.name(columns.record(hit.column)?)?.to_string(),
        score: hit.score,
        strength: hit.association.strength,
        low,
        high,
        pearson: None,
        information_bits: bits(&hit.association),
        keys: hit.association.pairs as u64,
        false_discovery_rate: 1.0,
        fan_out: if on.len() == 1 { multiplicity } else { 1.0 },
        on,
        aggregate: "value".into(),
        coverage: hit.association.pairs as f64 / base.hashes.len().max(1) as f64,
        verified: false,
        without_time: None,
        of_changes: None,
        without_size: None,
        cautions: Vec::new(),
        points: Vec::new(),
        rows: entry.profile.rows,
        citation: entry.citation.clone(),
        reason: Message::default(),
    })
}

fn bits(association: &Association) -> Option<f64> {
    association.information.map(|nats| nats.max(0.0) / std::f64::consts::LN_2)
}

/// The query and a candidate, key by key.
struct Joined<'a> {
    base: &'a KeySample,
    other: &'a KeySample,
    /// Slots of each key that both have.
    slots: Vec<(u32, u32)>,
    /// The same keys, each with its hash, as codes are computed from.
    keys: [Vec<(u64, u32)>; 2],
}

impl<'a> Joined<'a> {
    fn of(base: &'a BaseKey, other: &'a KeySample) -> Self {
        let (own, theirs) = (base.sample.keys(), other.keys());
        let (mut a, mut b) = (0, 0);
        let (mut slots, mut keys) = (Vec::new(), [Vec::new(), Vec::new()]);
        while let (Some(own), Some(theirs)) = (own.get(a), theirs.get(b)) {
            if own.0 == theirs.0 {
                slots.push((own.1, theirs.1));
                keys[0].push(*own);
                keys[1].push(*theirs);
            }
            a += usize::from(own.0 <= theirs.0);
            b += usize::from(theirs.0 <= own.0);
        }
        Self { base: &base.sample, other, slots, keys }
    }

    fn are_numbers(&self, value: usize) -> bool {
        self.base.values[0].measure == Measure::Number && self.other.values[value].measure == Measure::Number
    }

    /// Slots and numbers of the keys where both sides have one.
    fn numbers(&self, value: usize) -> Vec<((u32, u32), f64, f64)> {
        let pair =
            |slots: &(u32, u32)| Some((*slots, self.base.number(slots.0, 0)?, self.other.number(slots.1, value)?));
        self.slots.iter().filter_map(pair).collect()
    }

    fn association(&self, value: usize) -> Option<Association> {
        if self.are_numbers(value) {
            let (x, y): (Vec<f64>, Vec<f64>) = self.numbers(value).into_iter().map(|(_, x, y)| (x, y)).unzip();
            return spearman(&x, &y);
        }
        let is_label = |sample: &KeySample, value: usize| sample.values[value].measure == Measure::Label;
        let (x, y) = (codes(self.base, &self.keys[0], 0), codes(self.other, &self.keys[1], value));
        let pairs: Vec<(u8, u8)> = x.into_iter().zip(y).collect();
        of_codes(&pairs, is_label(self.base, 0), is_label(self.other, value))
    }

    /// Replaces the estimates of `answer` by the figures of the join.
    fn describe(
        &self,
        answer: &mut CorrelationAnswer,
        association: Association,
        value: usize,
        query: &QueryTable,
        entry: &TableEntry,
    ) {
        let has_value = |slot: u32| match self.other.values[value].measure {
            Measure::Number => self.other.number(slot, value).is_some(),
            Measure::Label => self.other.label(slot, value).is_some(),
        };
        let matched: u64 =
            self.slots.iter().filter(|slots| has_value(slots.1)).map(|slots| u64::from(self.base.rows(slots.0))).sum();
        let theirs: u64 = self.slots.iter().map(|slots| u64::from(self.other.rows(slots.1))).sum();
        answer.verified = true;
        answer.coverage = match self.base.is_full() || self.other.is_full() {
            // Of a sample of keys; the estimate from the index is as good.
            true => answer.coverage,
            false => matched as f64 / query.entry.profile.rows.max(1) as f64,
        };
        answer.fan_out = theirs as f64 / self.slots.len().max(1) as f64;
        answer.aggregate = match self.other.values[value].measure {
            Measure::Number if self.other.is_averaged(value) => "mean".into(),
            Measure::Label if answer.fan_out > 1.0 => "most frequent".into(),
            _ => "value".into(),
        };
        [answer.low, answer.high] = association.interval();
        answer.strength = association.strength;
        answer.score = association.lower_bound();
        answer.information_bits = bits(&association);
        answer.keys = association.pairs as u64;
        if self.are_numbers(value) {
            self.describe_numbers(answer, association, value);
        } else if self.same_labels(value) >= SAME {
            answer.cautions.push(Caution::SameAsTarget);
        }
        let years = |entry: &TableEntry| entry.profile.time.as_ref().map_or((None, None), |time| time.years());
        if self.base.values.len() == 1
            && let ((_, Some(last)), (Some(first), _)) = (years(&query.entry), years(entry))
            && first > last
        {
            answer.cautions.push(Caution::AfterEvent);
        }
    }

    /// Share of the keys with labels on both sides whose labels are equal.
    fn same_labels(&self, value: usize) -> f64 {
        let both = |slots: &(u32, u32)| Some((self.base.label(slots.0, 0)?, self.other.label(slots.1, value)?));
        let pairs: Vec<(u64, u64)> = self.slots.iter().filter_map(both).collect();
        pairs.iter().filter(|(x, y)| x == y).count() as f64 / pairs.len().max(1) as f64
    }

    fn describe_numbers(&self, answer: &mut CorrelationAnswer, association: Association, value: usize) {
        let pairs = self.numbers(value);
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(_, x, y)| (*x, *y)).unzip();
        // By hash, so the first ones are a sample.
        answer.points = pairs.iter().take(MOST_POINTS).map(|(_, x, y)| [*x, *y]).collect();
        answer.pearson = pearson(x.iter().copied().zip(y.iter().copied()));
        let equal = x.iter().zip(&y).filter(|(x, y)| (**x - **y).abs() <= 1e-9 * x.abs()).count() as f64;
        let follows = association.strength.abs() >= FOLLOWS || answer.pearson.is_some_and(|r| r.abs() >= FOLLOWS);
        if follows || equal >= SAME * x.len() as f64 {
            answer.cautions.push(Caution::SameAsTarget);
        }
        self.look_for_trend(answer, association, &pairs, &x, &y);
        self.look_for_size(answer, association, &pairs, &x, &y);
    }

    /// What both share with time, where the key has one.
    fn look_for_trend(
        &self,
        answer: &mut CorrelationAnswer,
        association: Association,
        pairs: &[((u32, u32), f64, f64)],
        x: &[f64],
        y: &[f64],
    ) {
        if self.base.values.len() < 2 {
            return;
        }
        let times: Option<Vec<f64>> = pairs.iter().map(|((slot, _), ..)| self.base.number(*slot, 1)).collect();
        let Some(times) = times else { return };
        let without_time = partial(x, y, &times);
        let thing = |slot: u32| if self.base.values.len() > 2 { self.base.label(slot, 2).unwrap_or(0) } else { 0 };
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        let place = |row: &usize| (thing(pairs[*row].0.0), times[*row]);
        order.sort_by(|a, b| place(a).0.cmp(&place(b).0).then(place(a).1.total_cmp(&place(b).1)));
        let follows = |pair: &&[usize]| place(&pair[0]).0 == place(&pair[1]).0;
        let changes = order.windows(2).filter(follows).map(|pair| (x[pair[1]] - x[pair[0]], y[pair[1]] - y[pair[0]]));
        let (x_changes, y_changes): (Vec<f64>, Vec<f64>) = changes.unzip();
        let of_changes = spearman(&x_changes, &y_changes);
        let is_series = self.base.key.len() == 1;
        let strength = association.strength;
        let collapses = without_time.is_some_and(|found| is_lost(&found, strength));
        let is_trend = match &of_changes {
            Some(found) => {
                let none = found.lower_bound() <= 0.0 || found.strength * strength < 0.0;
                none && (is_series || collapses) || is_lost(found, strength) && collapses
            }
            None => is_series && collapses,
        };
        if is_trend {
            answer.cautions.push(Caution::SharedTrend);
            answer.score =
                of_changes.filter(|found| found.strength * strength > 0.0).map_or(0.0, |found| found.lower_bound());
        }
        answer.without_time = without_time.map(|found| found.strength);
        answer.of_changes = of_changes.map(|found| found.strength);
    }

    /// What both share with the number of rows of a key, where that differs.
    fn look_for_size(
        &self,
        answer: &mut CorrelationAnswer,
        association: Association,
        pairs: &[((u32, u32), f64, f64)],
        x: &[f64],
        y: &[f64],
    ) {
        let own = |slots: (u32, u32)| self.base.rows(slots.0);
        let theirs = |slots: (u32, u32)| self.other.rows(slots.1);
        for rows in [&own as &dyn Fn((u32, u32)) -> u32, &theirs] {
            let sizes: Vec<f64> = pairs.iter().map(|(slots, ..)| f64::from(rows(*slots))).collect();
            let Some(without) = partial(x, y, &sizes) else { continue };
            answer.without_size = Some(without.strength);
            if is_lost(&without, association.strength) {
                answer.cautions.push(Caution::Size);
                return;
            }
        }
    }
}

/// Whether little is left of a correlation of this strength.
fn is_lost(left: &Association, strength: f64) -> bool {
    left.lower_bound() <= 0.0 || left.strength.abs() < REMAINS * strength.abs() || left.strength * strength < 0.0
}
