//! The channels that propose tables for a union, each with its own score: words, the vectors of whole tables, names of columns,
//! shared values, and columns with similar vectors whatever their names and values.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::lists_of_all::{Lists, ListsOfAll};
use crate::query_table::{QueryColumn, QueryTable};
use lakeward_core::error::Result;
use lakeward_core::text::{is_placeholder, name_words, words as words_of};
use lakeward_index::Segment;
use lakeward_index::lexical::{Boosts, LexicalField, LexicalOptions};
use lakeward_index::postings::Postings;
use lakeward_index::{LakeIndex, TableRef, header_hashes};
use lakeward_lake::semantic::LogicalType;

/// Tables that each channel proposes: a bound of work, like those below.
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
    /// The tables proposed, best first, by their places in the whole index.
    pub(super) order: Vec<TableRef>,
    /// Tables with scores, ascending; another one has 0.
    scored: Vec<(TableRef, f64)>,
    /// The score that counts as 1.
    whole: f64,
}

impl Channel {
    /// From tables with scores; `whole` is the score that becomes 1. The order is that of all shards, which `label` tells from others.
    fn of(index: &LakeIndex, label: &str, mut scored: Vec<(TableRef, f64)>, whole: f64) -> Result<Self> {
        let mut best = scored.clone();
        let order = |a: &(TableRef, f64), b: &(TableRef, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if best.len() > CHANNEL_DEPTH {
            best.select_nth_unstable_by(CHANNEL_DEPTH, order);
            best.truncate(CHANNEL_DEPTH);
        }
        best.sort_unstable_by(order);
        let own = best.into_iter().map(|(table, score)| (score, table)).collect();
        let order = index.best_of_all(label, own, CHANNEL_DEPTH)?;
        scored.sort_unstable_by_key(|(table, _)| *table);
        Ok(Self { order: order.into_iter().map(|(_, table)| table).collect(), scored, whole })
    }

    /// The score of `table`, 0..=1.
    pub(super) fn score(&self, table: TableRef) -> f64 {
        let place = self.scored.binary_search_by_key(&table, |(table, _)| *table);
        place.map_or(0.0, |place| (self.scored[place].1 / self.whole.max(f64::MIN_POSITIVE)).min(1.0))
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
    let hits = index.lexical().search_tokens("the table", &tokens, &options)?;
    let mut found: Vec<(TableRef, f64)> = hits
        .into_iter()
        .map(|hit| (TableRef { segment: hit.segment, table: hit.table }, f64::from(hit.score)))
        .filter(|(table, _)| Some(*table) != query.place)
        .collect();
    let best = found.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let order = found.iter().take(CHANNEL_DEPTH).map(|(table, _)| *table).collect();
    let own = found.into_iter().filter_map(|(place, score)| Some((index.of_shard(place)?, score)));
    let mut scored: Vec<(TableRef, f64)> = own.collect();
    scored.sort_unstable_by_key(|(table, _)| *table);
    Ok(Channel { order, scored, whole: best })
}

/// Tables with a similar vector of headers and values.
pub(super) fn content(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let nearest = |(place, segment): (usize, &Segment)| {
        let live = |table: u32| segment.is_live(table);
        let nearest = segment.vectors.contents.search(&query.content, CHANNEL_DEPTH, Some(&live))?;
        let of_segment = |(table, cosine)| (TableRef { segment: place as u32, table }, f64::from(cosine));
        Ok(nearest.into_iter().map(of_segment).collect::<Vec<_>>())
    };
    let found: Vec<_> = index.segments().par_iter().enumerate().map(nearest).collect::<Result<_>>()?;
    Channel::of(index, "tables of like content", found.concat(), 1.0)
}

/// Tables with columns of the same names as the query's, rare names counting more.
pub(super) fn headers(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let columns = query.columns.iter().filter(|column| !is_placeholder(&column.profile.name));
    let hashes: Vec<u64> = columns.flat_map(|column| header_hashes(&column.profile.name)).collect();
    listed(index, "names of columns", &hashes, |segment| &segment.join.headers)
}

/// Tables with columns that share values with the query's, rare values counting more.
pub(super) fn values(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let texts = query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text);
    let hashes = texts.take(VALUE_COLUMNS).flat_map(|column| column.values.hashes.iter().take(LOOKED_UP_VALUES));
    let hashes: Vec<u64> = hashes.copied().collect();
    listed(index, "values of columns", &hashes, |segment| &segment.join.values)
}

/// Tables with columns whose vectors are near to those of some of the query's columns, numbers first: for numbers neither words
/// nor shared values are good evidence.
pub(super) fn look_alikes(index: &LakeIndex, query: &QueryTable) -> Result<Channel> {
    let mut columns: Vec<&QueryColumn> = query.columns.iter().collect();
    columns.sort_by_key(|column| column.profile.logical == LogicalType::Text);
    columns.truncate(VECTOR_COLUMNS);
    let nearest = |segment: &Segment| {
        let set = &segment.vectors.columns;
        let queries: Vec<_> = columns.iter().map(|column| set.prepare(&column.vector)).collect::<Result<_>>()?;
        set.search_several(&queries, NEAREST_COLUMNS, None)
    };
    let nearest: Vec<Vec<Vec<(u32, f32)>>> = index.segments().par_iter().map(nearest).collect::<Result<_>>()?;
    let mut sums: HashMap<TableRef, f64> = HashMap::new();
    for of_column in 0..columns.len() {
        let mut best: HashMap<TableRef, f64> = HashMap::new();
        for ((place, segment), nearest) in (0u32..).zip(index.segments()).zip(&nearest) {
            for (id, cosine) in &nearest[of_column] {
                let table = segment.columns.record(*id)?.table;
                if segment.is_live(table) {
                    let known = best.entry(TableRef { segment: place, table }).or_insert(0.0);
                    *known = known.max(f64::from(*cosine));
                }
            }
        }
        for (table, cosine) in best {
            *sums.entry(table).or_insert(0.0) += cosine;
        }
    }
    Channel::of(index, "tables with like columns", sums.into_iter().collect(), columns.len() as f64)
}

/// Scores tables by the posting lists of `hashes` that contain their columns: for each column listed, the weight of that list, ln(1 + N/df).
fn listed(index: &LakeIndex, label: &str, hashes: &[u64], of: impl Fn(&Segment) -> &Postings) -> Result<Channel> {
    let ListsOfAll { columns, lists } = ListsOfAll::find(index, label, hashes, &of)?;
    let mut scores: Vec<Vec<f64>> = index.segments().iter().map(|segment| vec![0.0; segment.tables.len()]).collect();
    // The score of a table that is in all lists looked up.
    let mut whole = 0.0;
    for Lists { lists, count, .. } in lists.into_iter().filter(|list| list.count > 0 && list.bytes <= COMMON_LIST_BYTES)
    {
        let weight = (1.0 + columns as f64 / count as f64).ln();
        whole += weight;
        for (place, list) in lists {
            let segment = index.segment(place)?;
            let tables = segment.tables.tables_of_columns(segment.columns.len())?;
            let scores = &mut scores[place as usize];
            let mut beyond = None;
            of(segment).for_each(list, |column| match tables.get(column as usize) {
                Some(table) => {
                    if let Some(score) = scores.get_mut(*table as usize) {
                        *score += weight;
                    }
                }
                None => beyond = Some(column),
            })?;
            if let Some(column) = beyond {
                segment.columns.record(column)?;
            }
        }
    }
    let mut found = Vec::new();
    for ((place, segment), scores) in (0u32..).zip(index.segments()).zip(scores) {
        let scored = (0u32..).zip(scores).filter(|(table, score)| *score > 0.0 && segment.is_live(*table));
        found.extend(scored.map(|(table, score)| (TableRef { segment: place, table }, score)));
    }
    Channel::of(index, &format!("tables by {label}"), found, whole)
}
