//! Union search: tables whose rows could stand below the query's.
//!
//! Candidates come from four channels: words of headers and cells, the content vector of the whole table, columns called the
//! same, and columns that share values. The best of them are aligned column by column: each pair is scored by name, values,
//! range and meaning, and the one-to-one assignment of greatest total is taken. The rank is made of that alignment, the words
//! and the whole-table vector (after TACTUS, "table-first, then columns").

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::fuse::reciprocal_rank_fusion;
use super::likeness::{name_likeness, range_likeness};
use super::matching::best_assignment;
use super::new_rows::{NewRows, RowHashes};
use super::query_table::{QueryColumn, QueryTable, sample_words};
use crate::error::Result;
use crate::index::columns::ColumnRecord;
use crate::index::lexical::{Boosts, LexicalField, LexicalOptions};
use crate::index::open::Segment;
use crate::index::{LakeIndex, TableRef, header_hashes};
use crate::lake::semantic::{LogicalType, SemanticType};
use crate::text::name_words;

/// What to search for.
#[derive(Debug, Clone)]
pub struct UnionOptions {
    /// Answers wanted.
    pub k: usize,
    /// Whether the files are read again to count new rows.
    pub count_rows: bool,
}

/// A pair of aligned columns with the evidence; every likeness in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AlignedPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    pub column: String,
    /// How well they fit.
    pub score: f64,
    /// Likeness of their names.
    pub name: f64,
    /// Share of equal values, of the smaller side.
    pub values: f64,
    /// Cosine of their vectors: meaning, type and shape.
    pub meaning: f64,
    #[serde(skip)]
    places: (usize, usize),
}

/// What a union score is made of; each part in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScoreParts {
    /// Sum of the aligned pairs' scores over the columns that could align.
    pub alignment: f64,
    /// BM25 of the query's words, as a share of the best table's.
    pub words: f64,
    /// Cosine of the whole tables' vectors.
    pub content: f64,
}

impl ScoreParts {
    /// The union score, 0..=1.
    fn score(&self) -> f64 {
        0.68 * self.alignment + 0.18 * self.words + 0.14 * self.content
    }
}

/// A table that can be appended, with the evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnionAnswer {
    /// The table's id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Aligned columns, in the query's order.
    pub alignment: Vec<AlignedPair>,
    /// Columns of the query that found no partner.
    pub unmatched: Vec<String>,
    /// Columns of the candidate that found none.
    pub extra: Vec<String>,
    /// Rows that a union would add, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_rows: Option<NewRows>,
    /// Whether the candidate adds next to nothing: a copy of the query.
    pub near_copy: bool,
    /// Rows of the candidate; those read, where it is `sampled`.
    pub rows: u64,
    /// Whether only the first rows of the candidate, or of the query, were read: all figures are of those.
    pub sampled: bool,
    /// The answer in a sentence.
    pub reason: String,
}

/// Tables that each channel proposes.
const CHANNEL_DEPTH: usize = 100;
/// Tables aligned column by column.
const ALIGNED_TABLES: usize = 120;
/// Pairs that fit less are left unaligned.
const LEAST_FIT: f64 = 0.35;
/// Columns of the query whose values search for candidates.
const VALUE_COLUMNS: usize = 6;
/// Distinct values of a column looked up for candidates.
const LOOKED_UP_VALUES: usize = 256;
/// Lists longer than this many bytes say nothing about a relation.
const COMMON_LIST_BYTES: usize = 1 << 16;
/// Words of cells searched for.
const CELL_WORDS: usize = 160;
/// Share of the missing fit that a like meaning makes good, for kinds of values of which a table seldom has two columns.
const SAME_MEANING: f64 = 0.25;
/// Wide tables are aligned on their first columns.
const MOST_ALIGNED_COLUMNS: usize = 200;
/// A table with a smaller share of new rows is a copy.
const COPY_SHARE: f64 = 0.05;

struct Candidate<'a> {
    id: &'a str,
    table: TableRef,
    parts: ScoreParts,
    alignment: Vec<AlignedPair>,
}

/// The best tables to append to `query`, best first, ties by table.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged. A lake file that vanished only leaves the rows uncounted.
pub fn search(index: &LakeIndex, lake: &Path, query: &QueryTable, options: &UnionOptions) -> Result<Vec<UnionAnswer>> {
    let words = word_channel(index, query)?;
    let best_words = words.first().map_or(1.0, |(_, score)| *score).max(f64::MIN_POSITIVE);
    let word_scores: HashMap<TableRef, f64> = words.iter().map(|(table, score)| (*table, score / best_words)).collect();
    let order = |channel: Vec<(TableRef, f64)>| channel.into_iter().map(|(table, _)| table).collect::<Vec<_>>();
    let fused = reciprocal_rank_fusion(&[
        (1.0, order(words)),
        (1.0, order(content_channel(index, query)?)),
        (1.0, order(header_channel(index, query)?)),
        (1.0, order(value_channel(index, query)?)),
    ]);
    let mut candidates = Vec::new();
    let names = QueryNames::of(query);
    for (table, _) in fused.into_iter().filter(|(table, _)| Some(*table) != query.origin).take(ALIGNED_TABLES) {
        let segment = index.segment(table.segment)?;
        if !segment.is_live(table.table) {
            continue;
        }
        let alignment = align(segment, query, &names, table.table)?;
        if alignment.is_empty() {
            continue;
        }
        let columns = segment.catalog.columns(table.table)?.len();
        let content = f64::from(segment.content_vectors.dot(table.table, &query.content)?).max(0.0);
        let words = word_scores.get(&table).copied().unwrap_or(0.0);
        let parts = ScoreParts { alignment: alignment_score(query, &alignment, columns), words, content };
        candidates.push(Candidate { id: index.id(table)?, table, parts, alignment });
    }
    candidates.sort_by(|a, b| b.parts.score().total_cmp(&a.parts.score()).then(a.id.cmp(b.id)));
    candidates.truncate(options.k);
    let own_rows = if options.count_rows { RowHashes::read(&query.path).ok() } else { None };
    candidates.into_iter().map(|candidate| answer(index, lake, query, candidate, own_rows.as_ref())).collect()
}

/// How much of two tables aligns, 0..=1: the fit of the aligned pairs over the columns of the query, of the smaller table
/// and of both together, averaged. The first asks for all of the query, the second forgives projections, the third tells
/// a table of the same width from one that merely contains it.
fn alignment_score(query: &QueryTable, alignment: &[AlignedPair], columns: usize) -> f64 {
    let fit: f64 = alignment.iter().map(|pair| pair.score).sum();
    let width = query.columns.len();
    let smaller = width.min(columns).max(1);
    let joint = (width + columns).saturating_sub(alignment.len()).max(1);
    (fit / width.max(1) as f64 + fit / smaller as f64 + fit / joint as f64) / 3.0
}

/// Words of the query's headers and cells, by BM25 over headers and values.
fn word_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut tokens: Vec<(String, f32)> = Vec::new();
    for column in &query.columns {
        tokens.extend(name_words(&column.profile.name).into_iter().map(|word| (word, 1.0)));
    }
    let texts: Vec<&QueryColumn> =
        query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text).collect();
    let share = CELL_WORDS / texts.len().max(1);
    for column in texts {
        let cells = column.sketch.text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
        tokens.extend(cells.take(share).map(|word| (word.to_lowercase(), 1.0)));
    }
    let tokens: Vec<(&str, f32)> = tokens.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
    let options = LexicalOptions {
        k: CHANNEL_DEPTH,
        boosts: Boosts::only(&[LexicalField::Headers, LexicalField::Values]),
        explain: false,
    };
    let hits = index.lexical().search_tokens(&tokens, &options)?;
    Ok(hits
        .into_iter()
        .map(|hit| (TableRef { segment: hit.segment, table: hit.table }, f64::from(hit.score)))
        .collect())
}

fn content_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut found = Vec::new();
    for (place, segment) in index.segments().iter().enumerate() {
        let live = |table: u32| segment.is_live(table);
        for (table, cosine) in segment.content_vectors.search(&query.content, CHANNEL_DEPTH, Some(&live))? {
            found.push((TableRef { segment: place as u32, table }, f64::from(cosine)));
        }
    }
    Ok(best_of(found))
}

/// Tables with columns called like the query's, rare names counting more.
fn header_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut scores: BTreeMap<TableRef, f64> = BTreeMap::new();
    let columns: usize = index.segments().iter().map(|segment| segment.columns.len()).sum();
    for column in &query.columns {
        for hash in header_hashes(&column.profile.name) {
            add_list(index, hash, columns, |segment| &segment.headers, &mut scores)?;
        }
    }
    Ok(best_of(scores.into_iter().collect()))
}

/// Tables with columns that share values with the query's, rare values counting more.
fn value_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut scores: BTreeMap<TableRef, f64> = BTreeMap::new();
    let columns: usize = index.segments().iter().map(|segment| segment.columns.len()).sum();
    let speaking = query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text);
    for column in speaking.take(VALUE_COLUMNS) {
        for hash in column.values.hashes.iter().take(LOOKED_UP_VALUES) {
            add_list(index, *hash, columns, |segment| &segment.values, &mut scores)?;
        }
    }
    Ok(best_of(scores.into_iter().collect()))
}

fn add_list(
    index: &LakeIndex,
    hash: u64,
    columns: usize,
    lists: impl Fn(&Segment) -> &crate::index::postings::Postings,
    scores: &mut BTreeMap<TableRef, f64>,
) -> Result<()> {
    for (place, segment) in index.segments().iter().enumerate() {
        let postings = lists(segment);
        let Some(list) = postings.find(hash)?.filter(|list| list.bytes() <= COMMON_LIST_BYTES) else { continue };
        let weight = (1.0 + columns as f64 / postings.count(list)?.max(1) as f64).ln();
        let mut holders = Vec::new();
        postings.for_each(list, |column| holders.push(column))?;
        for column in holders {
            let table = segment.columns.record(column)?.table;
            if segment.is_live(table) {
                *scores.entry(TableRef { segment: place as u32, table }).or_default() += weight;
            }
        }
    }
    Ok(())
}

fn best_of(mut found: Vec<(TableRef, f64)>) -> Vec<(TableRef, f64)> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(CHANNEL_DEPTH);
    found
}

/// Likenesses of the query's column names to other names, each computed once.
struct QueryNames {
    names: Vec<String>,
    known: std::cell::RefCell<HashMap<String, Vec<f64>>>,
}

impl QueryNames {
    fn of(query: &QueryTable) -> Self {
        let names = query.columns.iter().map(|column| column.profile.name.clone()).collect();
        Self { names, known: std::cell::RefCell::default() }
    }

    /// Likeness of every query column's name to `name`.
    fn likeness(&self, name: &str) -> Vec<f64> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let likeness: Vec<f64> = self.names.iter().map(|own| name_likeness(own, name)).collect();
        self.known.borrow_mut().insert(name.to_string(), likeness.clone());
        likeness
    }
}

fn align(segment: &Segment, query: &QueryTable, names: &QueryNames, table: u32) -> Result<Vec<AlignedPair>> {
    let columns: Vec<u32> = segment.catalog.columns(table)?.take(MOST_ALIGNED_COLUMNS).collect();
    let own = &query.columns[..query.columns.len().min(MOST_ALIGNED_COLUMNS)];
    let mut fits: Vec<Fit> = Vec::with_capacity(own.len() * columns.len());
    for column in &columns {
        let record = segment.columns.record(*column)?;
        let name = segment.columns.name(record)?;
        let likeness = names.likeness(name);
        let hashes = segment.columns.hashes(record)?;
        for (own_place, own) in own.iter().enumerate() {
            let meaning = f64::from(segment.column_vectors.dot(*column, &own.vector)?).max(0.0);
            let values = shared_share(&own.values.hashes, hashes);
            let score = pair_score(own, record, likeness[own_place], values, meaning);
            fits.push(Fit { score, name: likeness[own_place], values, meaning });
        }
    }
    let weights: Vec<f64> = (0..own.len() * columns.len())
        .map(|at| fits[(at % columns.len()) * own.len() + at / columns.len()].score)
        .map(|score| if score >= LEAST_FIT { score } else { 0.0 })
        .collect();
    let assigned = best_assignment(&weights, own.len(), columns.len());
    let aligned = assigned.into_iter().enumerate().filter_map(|(own_place, other)| Some((own_place, other?)));
    aligned
        .map(|(own_place, other)| {
            let fit = fits[other * own.len() + own_place];
            let record = segment.columns.record(columns[other])?;
            Ok(AlignedPair {
                query_column: own[own_place].profile.name.clone(),
                column: segment.columns.name(record)?.to_string(),
                score: fit.score,
                name: fit.name,
                values: fit.values,
                meaning: fit.meaning,
                places: (own_place, other),
            })
        })
        .collect()
}

/// How well one column of the query fits one of the candidate.
#[derive(Clone, Copy)]
struct Fit {
    score: f64,
    name: f64,
    values: f64,
    meaning: f64,
}

/// How well two columns fit under each other, 0..=1.
fn pair_score(own: &QueryColumn, record: &ColumnRecord, name: f64, values: f64, meaning: f64) -> f64 {
    let (a, b) = (own.profile.logical, record.logical());
    if a == LogicalType::Empty || b == LogicalType::Empty {
        return 0.5 * name;
    }
    let numbers = a.is_numeric() && b.is_numeric();
    let fit = if numbers {
        let quantiles =
            own.sketch.numbers.map_or([f32::NAN; 5], |numbers| numbers.quantiles.map(|quantile| quantile as f32));
        let range = range_likeness(&quantiles, &record.quantiles);
        let year = own.profile.semantic == Some(SemanticType::Year);
        let years = year == (record.semantic() == Some(SemanticType::Year));
        (0.55 * name + 0.25 * range + 0.2 * meaning) * if years { 1.0 } else { 0.5 }
    } else {
        0.4 * name + 0.3 * values.sqrt() + 0.3 * meaning
    };
    let kinds = |kind: LogicalType| match kind {
        LogicalType::Integer | LogicalType::Float => 0,
        LogicalType::Date | LogicalType::Timestamp => 1,
        LogicalType::Boolean => 2,
        LogicalType::Text | LogicalType::Empty => 3,
    };
    let fit = if told_apart(own.profile.semantic) && own.profile.semantic == record.semantic() {
        fit + SAME_MEANING * (1.0 - fit)
    } else {
        fit
    };
    // The same name over other types is a formatting difference more often than another attribute.
    if kinds(a) == kinds(b) { fit } else { fit * if name == 1.0 { 0.75 } else { 0.5 } }
}

/// Kinds of values of which a table seldom has two columns: columns of the same kind belong together whatever their names.
fn told_apart(semantic: Option<SemanticType>) -> bool {
    matches!(
        semantic,
        Some(
            SemanticType::Year
                | SemanticType::Time
                | SemanticType::Country
                | SemanticType::CountryCode
                | SemanticType::UsState
                | SemanticType::Latitude
                | SemanticType::Longitude
        )
    )
}

/// Values in both over values of the smaller side, shrunk where only a few are shared.
fn shared_share(a: &[u64], b: &[u64]) -> f64 {
    let (mut at, mut bt, mut shared) = (0, 0, 0u32);
    while at < a.len() && bt < b.len() {
        match a[at].cmp(&b[bt]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => bt += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                at += 1;
                bt += 1;
            }
        }
    }
    let smaller = a.len().min(b.len());
    if smaller == 0 { 0.0 } else { f64::from(shared) / (smaller as f64 + 2.0) }
}

fn answer(
    index: &LakeIndex,
    lake: &Path,
    query: &QueryTable,
    candidate: Candidate<'_>,
    own_rows: Option<&RowHashes>,
) -> Result<UnionAnswer> {
    let entry = index.entry(candidate.table)?;
    let places: Vec<(usize, usize)> = candidate.alignment.iter().map(|pair| pair.places).collect();
    let new_rows = own_rows.filter(|_| !places.is_empty()).and_then(|own| {
        let theirs = RowHashes::read(&lake.join(&entry.path)).ok()?;
        Some(own.new_rows(&theirs, &places))
    });
    let unmatched = query.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(own, _)| own == place));
    let extra =
        entry.profile.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(_, other)| other == place));
    let mut answer = UnionAnswer {
        table: entry.id.to_string(),
        title: entry.title(),
        score: candidate.parts.score().clamp(0.0, 1.0),
        parts: candidate.parts,
        unmatched: unmatched.map(|(_, column)| column.profile.name.clone()).collect(),
        extra: extra.map(|(_, column)| column.name.clone()).collect(),
        near_copy: places.len() * 5 >= query.columns.len() * 4
            && new_rows.is_some_and(|rows| (rows.new as f64) <= COPY_SHARE * rows.compared as f64),
        new_rows,
        alignment: candidate.alignment,
        rows: entry.profile.rows,
        sampled: query.entry.report.sample.is_some() || entry.report.sample.is_some(),
        reason: String::new(),
    };
    answer.reason = reason(&answer, query.columns.len());
    for words in [sample_words("", &entry), sample_words(" of yours", &query.entry)].into_iter().flatten() {
        answer.reason.push_str("; ");
        answer.reason.push_str(&words);
    }
    Ok(answer)
}

fn reason(answer: &UnionAnswer, columns: usize) -> String {
    let mut reason = format!("{} of {columns} columns align", answer.alignment.len());
    if let Some(rows) = answer.new_rows {
        let least = if rows.complete { "" } else { "at least " };
        reason.push_str(&format!(", {least}{} of {} rows are new", rows.new, rows.compared));
    }
    if answer.near_copy {
        reason.push_str("; nearly a copy of yours");
    }
    let renamed: Vec<String> = answer
        .alignment
        .iter()
        .filter(|pair| pair.name < 1.0)
        .take(3)
        .map(|pair| format!("{}→{}", pair.query_column, pair.column))
        .collect();
    if !renamed.is_empty() {
        reason.push_str(&format!("; renamed: {}", renamed.join(", ")));
    }
    reason
}
