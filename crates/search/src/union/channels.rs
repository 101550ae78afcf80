//! The channels that propose tables for a union, each with its own score: words, the vectors of whole tables, names of columns,
//! shared values, and columns with similar vectors whatever their names and values.

use std::collections::HashMap;

use crate::query_table::{QueryColumn, QueryTable};
use lakeward_core::error::Result;
use lakeward_core::text::{is_placeholder, name_words, words as words_of};
use lakeward_index::Segment;
use lakeward_index::lexical::{Boosts, LexicalField, LexicalOptions};
use lakeward_index::postings::Postings;
use lakeward_index::{LakeIndex, TableRef, header_hashes};
use lakeward_lake::semantic::LogicalType;

/// Tables that each channel proposes.
const CHANNEL_DEPTH: usize = 100;
/// Tables whose words are scored, so that tables proposed by other channels have a score too.
const WORD_SCORED_TABLES: usize = 2000;
/// Columns of the query whose values are used to find candidates.
const VALUE_COLUMNS: usize = 6;
/// Distinct values of a column looked up to find candidates.
const LOOKED_UP_VALUES: usize = 256;
/// Lists longer than this many bytes are ignored: so common a name or value is no evidence of a relation.
const COMMON_LIST_BYTES: usize = 1 << 16;
/// Distinct words of cells searched for, divided among the columns.
const CELL_WORDS: usize = 480;
/// Columns of the query for which columns with similar vectors are searched.
const VECTOR_COLUMNS: usize = 2;
/// Nearest columns found for each of them.
const NEAREST_COLUMNS: usize = 60;

/// The result of one channel.
pub(super) struct Channel {
    /// The tables proposed, best first.
    pub(super) order: Vec<TableRef>,
    /// Scores in 0..=1; a table without one has 0.
    scores: HashMap<TableRef, f64>,
}

impl Channel {
    /// From tables with scores; `whole` is the score that becomes 1.
    fn of(mut found: Vec<(TableRef, f64)>, whole: f64) -> Self {
        let share = |score: f64| (score / whole.max(f64::MIN_POSITIVE)).min(1.0);
        let scores = found.iter().map(|(table, score)| (*table, share(*score))).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(CHANNEL_DEPTH);
        Self { order: found.into_iter().map(|(table, _)| table).collect(), scores }
    }

    /// The score of `table`.
    pub(super) fn score(&self, table: TableRef) -> f64 {
        self.scores.get(&table).copied().unwrap_or(0.0)
    }
}

/// Scores tables by the words of the query's headers and cells: BM25 over headers and values, as shares of the best table's. A
/// word has the weight 1 + ln n for n distinct cells that contain it.
pub(super) fn words(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut counts: Vec<(String, f32)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut add = |word: String| match places.get(&word) {
        Some(place) => counts[*place].1 += 1.0,
        None => {
            places.insert(word.clone(), counts.len());
            counts.push((word, 1.0));
        }
    };
    for column in query.columns.iter().filter(|column| !is_placeholder(&column.profile.name)) {
        name_words(&column.profile.name).into_iter().for_each(&mut add);
    }
    // As in the index: measurements are not words.
    let with_words: Vec<&QueryColumn> =
        query.columns.iter().filter(|column| column.profile.logical != LogicalType::Float).collect();
    let share = CELL_WORDS / with_words.len().max(1);
    for column in with_words {
        let cells = words_of(&column.sketch.text).filter(|word| word.len() > 1);
        cells.take(share).map(str::to_lowercase).for_each(&mut add);
    }
    let tokens: Vec<(&str, f32)> = counts.iter().map(|(word, count)| (word.as_str(), 1.0 + count.ln())).collect();
    let options = LexicalOptions {
        k: WORD_SCORED_TABLES,
        boosts: Boosts::only(&[LexicalField::Headers, LexicalField::Values]),
        explain: false,
    };
    let hits = index.lexical().search_tokens(&tokens, &options)?;
    let found: Vec<(TableRef, f64)> = hits
        .into_iter()
        .map(|hit| (TableRef { segment: hit.segment, table: hit.table }, f64::from(hit.score)))
        .filter(|(table, _)| Some(*table) != query.origin)
        .collect();
    let best = found.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    Ok(Channel::of(found, best))
}

/// Tables with a similar vector of headers and values.
pub(super) fn content(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut found = Vec::new();
    for (place, segment) in (0u32..).zip(index.segments()) {
        let live = |table: u32| segment.is_live(table);
        for (table, cosine) in segment.vectors.contents.search(&query.content, CHANNEL_DEPTH, Some(&live))? {
            found.push((TableRef { segment: place, table }, f64::from(cosine)));
        }
    }
    Ok(Channel::of(found, 1.0))
}

/// Tables with columns of the same names as the query's, rare names counting more.
pub(super) fn headers(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut scores = TableScores::of(index);
    for column in query.columns.iter().filter(|column| !is_placeholder(&column.profile.name)) {
        for hash in header_hashes(&column.profile.name) {
            scores.add(hash, |segment| &segment.join.headers)?;
        }
    }
    Ok(scores.finish())
}

/// Tables with columns that share values with the query's, rare values counting more.
pub(super) fn values(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut scores = TableScores::of(index);
    let texts = query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text);
    for column in texts.take(VALUE_COLUMNS) {
        for hash in column.values.hashes.iter().take(LOOKED_UP_VALUES) {
            scores.add(*hash, |segment| &segment.join.values)?;
        }
    }
    Ok(scores.finish())
}

/// Tables with columns whose vectors are near to those of some of the query's columns, numbers first: for numbers neither words
/// nor shared values are good evidence.
pub(super) fn look_alikes(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut columns: Vec<&QueryColumn> = query.columns.iter().collect();
    columns.sort_by_key(|column| column.profile.logical == LogicalType::Text);
    columns.truncate(VECTOR_COLUMNS);
    let mut sums: HashMap<TableRef, f64> = HashMap::new();
    for column in &columns {
        let mut best: HashMap<TableRef, f64> = HashMap::new();
        for (place, segment) in (0u32..).zip(index.segments()) {
            for (id, cosine) in segment.vectors.columns.search(&column.vector, NEAREST_COLUMNS, None)? {
                let table = segment.columns.record(id)?.table;
                if segment.is_live(table) {
                    let known = best.entry(TableRef { segment: place, table }).or_insert(0.0);
                    *known = known.max(f64::from(cosine));
                }
            }
        }
        for (table, cosine) in best {
            *sums.entry(table).or_insert(0.0) += cosine;
        }
    }
    Ok(Channel::of(sums.into_iter().collect(), columns.len() as f64))
}

/// Scores of tables by the posting lists that contain their columns.
struct TableScores<'a> {
    index: &'a LakeIndex,
    /// Columns in the index.
    columns: usize,
    /// For each segment, the score of each of its tables.
    scores: Vec<Vec<f64>>,
    /// The score of a table that is in all lists looked up.
    whole: f64,
}

impl<'a> TableScores<'a> {
    fn of(index: &'a LakeIndex) -> Self {
        let columns = index.segments().iter().map(|segment| segment.columns.len()).sum();
        let scores = index.segments().iter().map(|segment| vec![0.0; segment.catalog.len()]).collect();
        Self { index, columns, scores, whole: 0.0 }
    }

    /// Adds to each table, for each of its columns listed under `hash`, the weight of that list: ln(1 + N/df).
    fn add(&mut self, hash: u64, lists: impl Fn(&Segment) -> &Postings) -> Result<()> {
        let mut found = Vec::new();
        let (mut bytes, mut frequency) = (0, 0);
        for (place, segment) in self.index.segments().iter().enumerate() {
            if let Some(list) = lists(segment).find(hash)? {
                (bytes, frequency) = (bytes + list.bytes(), frequency + list.count());
                found.push((place, list));
            }
        }
        if bytes > COMMON_LIST_BYTES || found.is_empty() {
            return Ok(());
        }
        let weight = (1.0 + self.columns as f64 / frequency.max(1) as f64).ln();
        self.whole += weight;
        for (place, list) in found {
            let segment = &self.index.segments()[place];
            let scores = &mut self.scores[place];
            let mut damage = None;
            lists(segment).for_each(list, |column| match segment.columns.record(column) {
                Ok(record) => {
                    if let Some(score) = scores.get_mut(record.table as usize) {
                        *score += weight;
                    }
                }
                Err(error) => damage = Some(error),
            })?;
            if let Some(error) = damage {
                return Err(error);
            }
        }
        Ok(())
    }

    fn finish(self) -> Channel {
        let mut found = Vec::new();
        for ((place, segment), scores) in (0u32..).zip(self.index.segments()).zip(self.scores) {
            let scored = (0u32..).zip(scores).filter(|(table, score)| *score > 0.0 && segment.is_live(*table));
            found.extend(scored.map(|(table, score)| (TableRef { segment: place, table }, score)));
        }
        Channel::of(found, self.whole)
    }
}
