//! Text search: words, whole cells and meaning as features of one linear ranker; an exact name or title comes first.
//!
//! Words (BM25F), vectors and the inverted lists of values each propose tables; every table proposed is scored by all of
//! them. What a text says of title, headers and cells is told apart, and rare words weigh more everywhere, in its vector too.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column_search::vector_of;
use super::copies::{self, Together};
use super::named_values::{NamedValue, NamedValues};
use super::query_table::sample_words;
use super::ranker::features;
use super::request_words::RequestWords;
use super::weights::{CalibrationWeights, RankingWeights};
use super::world;
use crate::cite::{Gate, NamesTables};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::text::{name_key, name_words, shown};
use lakeward_index::lexical::{FieldMatch, LexicalEvidence, LexicalField, LexicalQuery, TypedWord};
use lakeward_index::meanings;
use lakeward_index::structures::Segment;
use lakeward_index::vectors::VectorSet;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::notes::TableNote;
use lakeward_models::embed::{Embedder, EmbedderExt, dot};

/// What to search for.
#[derive(Debug, Clone)]
pub struct SearchOptions<'a> {
    /// Answers wanted.
    pub k: usize,
    /// What decides the order.
    pub weights: &'a RankingWeights,
}

impl SearchOptions<'_> {
    /// `k` answers with the weights that ship.
    pub fn new(k: usize) -> Self {
        Self { k, weights: RankingWeights::shipped() }
    }
}

features! {
    /// What a table that answers a text is scored by. A share of the text is counted by how rare its words are in the lake.
    SearchFeatures,
    /// How much each feature counts.
    SearchWeights {
        /// BM25F, as a share of what a table could score that says every word without end.
        words,
        /// Share of the text that the table says anywhere.
        coverage,
        /// Share of the text that the title or the id says.
        title,
        /// Share of the title's words that the text says.
        title_said,
        /// Share of the text that the column names say.
        headers,
        /// Share of the column names' words that the text says.
        headers_said,
        /// Share of the text's neighbouring words that stand together in title, column names, description or tags.
        phrases,
        /// Weight of the whole cells that the text names, as a share of the text.
        values,
        /// Cosine of the text, read as a sentence, and what the table is about; nothing where the index knows that of no table.
        about,
        /// BM25F without cells, as a share of what a table could score that says every word of the text without end; times the share of
        /// the text that any candidate says outside its cells.
        words_about,
        /// `phrases` times that share; a fixed part of it for a table without title and description.
        phrases_in_reach,
        /// `values` times that share, as `phrases_in_reach`.
        values_in_reach,
        /// Share of the text in names (words with a digit, or with a capital inside a sentence) that the table says anywhere, times that
        /// share.
        names_in_reach,
        /// `words` of a table without title and description; 0 for others, whose cells are evidence of little.
        words_of_bare,
        /// `coverage` of such a table.
        coverage_of_bare,
        /// Cosine of the text, its rare words weighing more, and all that is said about the table.
        meaning,
        /// The same with the title alone.
        meaning_of_title,
        /// The same with headers and values.
        meaning_of_content,
    }
}

/// A table that a search looks at, with what it is scored by.
struct SearchCandidate {
    table: TableRef,
    /// Whether the text is its id, file name or title: it comes before all others whatever its score.
    exact: bool,
    features: SearchFeatures,
    lexical_rank: Option<u32>,
    dense_rank: Option<u32>,
    lexical: LexicalEvidence,
    /// Cells that the request names.
    named: Vec<(String, ColumnRef)>,
    /// Whether a user's note on it says words of the text.
    noted: bool,
}

/// A table that answers a text, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct SearchAnswer {
    /// The table's id.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// Its title.
    pub title: String,
    /// Weighted mean of `features`, 0..=1: greater is better.
    pub score: f64,
    /// How likely it serves the request, 0..=1: of the answers with .9 nine of ten do. None where no model reads whole texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Rank by words, from 1, where the words found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<u32>,
    /// Rank by meaning, from 1, where the vectors found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense_rank: Option<u32>,
    /// BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// Cosine of the request's and the table's vector.
    pub cosine: f64,
    /// What it was scored by.
    #[serde(default)]
    #[schemars(extend("x-sql" = false))]
    pub features: SearchFeatures,
    /// Which field matched which words of the request.
    pub matched: Vec<FieldMatch>,
    /// Cells that the request names, longest first; not those of digits alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_values: Vec<NamedValue>,
    /// Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Rows; those read, where it is `sampled`; none for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Whether only the table's first rows were read: words of the other rows are not found.
    pub sampled: bool,
    /// Tables further down that are copies or editions of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-sql" = false))]
    pub also: Vec<String>,
    /// Column names.
    pub columns: Vec<String>,
    /// What it is cited by: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The answer in a sentence.
    pub reason: String,
}

impl SearchAnswer {
    /// Whether it may be what is asked for: it is likely enough, or says the words of the request. What a table says that nobody
    /// described counts twice: its cells are all there is to know.
    pub fn may_serve(&self, weights: &CalibrationWeights) -> bool {
        self.relevance.is_none_or(|relevance| relevance >= weights.least)
            || self.features.coverage + self.features.coverage_of_bare >= weights.said
    }
}

impl Listed for SearchAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Titled(|a| &a.table, |a| a.record.then_some(a.title.as_str()))),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("rows", ListCell::Count(|a| a.rows)),
        column("why", ListCell::Text(REASON_CHARS, |a| a.reason.as_str().into())),
    ];
}

impl NamesTables for SearchAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

/// Tables that the words propose.
const WORDS_DEPTH: usize = 100;
/// Tables that meaning, and cells named, propose each.
const OTHERS_DEPTH: usize = 30;
/// How much phrases and whole cells of a table without title and description count.
const BARE: f64 = 0.55;
/// The best tables by words and static vectors that are read as texts where the index has no such vectors.
const READ_TABLES: usize = 24;
/// The best tables of a search whose cosines say how likely an answer serves.
const CALIBRATED: usize = 30;
/// The best tables of a search among which copies are looked for.
const MOST_COMPARED: usize = 40;
/// Words of a request told that a table does not say.
const MISSING: usize = 4;
/// Characters of a note that a reason shows.
const NOTE_CHARS: usize = 160;
/// Cells named that an answer shows.
const SHOWN_VALUES: usize = 5;
/// Words of a request that a reason says where it found them, the rarest.
const TOLD_WORDS: usize = 5;

/// An answer that a text finds in one of its wordings.
pub(super) trait Worded {
    /// What it is, whatever found it.
    type Key: PartialEq;
    fn key(&self) -> Self::Key;
    /// Whether it is called what was asked for; its score.
    fn rank(&self) -> (bool, f64);
    fn reason(&mut self) -> &mut String;
}

impl Worded for SearchAnswer {
    type Key = String;

    fn key(&self) -> String {
        self.table.clone()
    }

    fn rank(&self) -> (bool, f64) {
        (self.matched.iter().any(|matched| matched.exact), self.score)
    }

    fn reason(&mut self) -> &mut String {
        &mut self.reason
    }
}

/// The best `k` answers of `search` to `text`, as it is said and with each synonym; of an answer in several wordings the best one.
pub(super) fn in_all_wordings<A: Worded>(
    index: &LakeIndex,
    text: &str,
    k: usize,
    search: impl Fn(&str) -> Result<Vec<A>>,
) -> Result<Vec<A>> {
    let mut answers = search(text)?;
    for (wording, synonym) in index.synonyms().wordings(text) {
        for mut answer in search(&wording)? {
            answer.reason().insert_str(0, &format!("your synonym `{synonym}`: "));
            match answers.iter_mut().find(|known| known.key() == answer.key()) {
                Some(known) if known.rank() < answer.rank() => *known = answer,
                Some(_) => {}
                None => answers.push(answer),
            }
        }
    }
    answers.sort_by(|a, b| {
        let ((left, a_score), (right, b_score)) = (a.rank(), b.rank());
        right.cmp(&left).then(b_score.total_cmp(&a_score))
    });
    answers.truncate(k);
    Ok(answers)
}

/// The tables that answer `text`, itself or with a synonym, best first.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn search(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<SearchAnswer>> {
    let mut answers = in_all_wordings(index, text, options.k, |text| search_in_words(index, embedder, text, options))?;
    if !answers.iter().any(|answer| answer.may_serve(&options.weights.calibration)) {
        tell_what_is_missing(index, text, &mut answers)?;
    }
    Ok(answers)
}

fn search_in_words(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<SearchAnswer>> {
    // The same text may be searched for other numbers of answers before, as one in another language is.
    let label = format!("{} answers to {text}", options.k);
    let found = || {
        let (mut ranked, query) = ranked(index, embedder, text, options)?;
        read_best(index, embedder, (text, &label), &mut ranked, &options.weights.search)?;
        Ok((ranked, query))
    };
    // What was heard of is not computed again in the next round.
    let (mut kept, count) = (None, options.k.saturating_add(MOST_COMPARED));
    let own = || {
        let found = found()?;
        let best = own_best(index, &found.0, count);
        kept = Some(found);
        best
    };
    let mut best = best_of_all(index, &format!("best of {label}"), own, count)?;
    let about = match &kept {
        Some((_, query)) => query.about.clone(),
        None => meaning(index, embedder, text)?,
    };
    let calibration = about.as_ref().map(|about| {
        let world = text_encoder(index, embedder).and_then(|encoder| world::nearest(encoder, about));
        Calibration::of(&best, world, &options.weights.calibration)
    });
    let copies = put_copies_together(index, (text, &label), &mut best, options.k)?;
    best.truncate(options.k);
    let own = || {
        let (ranked, query) = kept.take().map_or_else(found, Ok)?;
        let mut candidates: HashMap<TableRef, SearchCandidate> =
            ranked.into_iter().map(|(_, candidate)| (index.in_index(candidate.table), candidate)).collect();
        let mut answers = Vec::new();
        for (rank, Ranked { score, place, exact, .. }) in best.iter().enumerate() {
            let Some(candidate) = candidates.remove(place) else { continue };
            let relevance = calibration.as_ref().map(|calibration| calibration.relevance(*score, *exact));
            let mut found = SearchAnswer { relevance, ..answer(index, &query, *score, candidate)? };
            if let Some(Copies { ids, reason }) = copies.get(place) {
                found.also.clone_from(ids);
                let current =
                    if reason.is_empty() { String::new() } else { format!(": the current one is this, as {reason}") };
                found.reason.push_str(&format!("; also at {}{current}", ids.join(", ")));
            }
            answers.push((rank, found));
        }
        Ok(answers)
    };
    let is_possible = |own: &Vec<(usize, SearchAnswer)>| own.len() <= options.k;
    let mut answers = index.gather(&label, own, is_possible)?.concat();
    answers.sort_by_key(|(rank, _)| *rank);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// A table in the ranking of all shards.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ranked {
    exact: bool,
    score: f64,
    /// Its place in the whole index.
    place: TableRef,
    about: f64,
    header: Option<u64>,
}

impl Ranked {
    fn order(&self, other: &Self) -> Ordering {
        other.exact.cmp(&self.exact).then(other.score.total_cmp(&self.score)).then(self.place.cmp(&other.place))
    }
}

/// The first `count` of a ranking.
fn own_best(index: &LakeIndex, ranked: &[(f64, SearchCandidate)], count: usize) -> Result<Vec<Ranked>> {
    let ranked = ranked.iter().take(count).map(|(score, candidate)| {
        let SearchCandidate { table, exact, features, .. } = candidate;
        let header = index.segment(table.segment)?.catalog.header(table.table)?;
        Ok(Ranked { exact: *exact, score: *score, place: index.in_index(*table), about: features.about, header })
    });
    ranked.collect()
}

/// The first `count` of the rankings of all shards, best first.
fn best_of_all(
    index: &LakeIndex,
    label: &str,
    own: impl FnOnce() -> Result<Vec<Ranked>>,
    count: usize,
) -> Result<Vec<Ranked>> {
    let mut best = index.gather(label, own, |own| own.len() <= count)?.concat();
    best.sort_by(Ranked::order);
    best.truncate(count);
    Ok(best)
}

fn ranked(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<(Vec<(f64, SearchCandidate)>, DenseQuery)> {
    let weights = weights_for(index, embedder, options.weights);
    let (candidates, query) = candidates(index, embedder, text, options)?;
    let mut ranked: Vec<(f64, SearchCandidate)> =
        candidates.into_iter().map(|candidate| (weights.score(&candidate.features), candidate)).collect();
    sort(&mut ranked);
    Ok((ranked, query))
}

/// Reads the best of a ranking as texts where the index has no vectors of them, as it has very many tables, and orders
/// those anew; the others stay behind them.
fn read_best(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    (text, label): (&str, &str),
    ranked: &mut [(f64, SearchCandidate)],
    weights: &SearchWeights,
) -> Result<()> {
    let Some(encoder) = embedder.as_text_encoder().filter(|_| !reads_texts(index, embedder)) else { return Ok(()) };
    let own = || own_best(index, ranked, READ_TABLES);
    let best = best_of_all(index, &format!("read for {label}"), own, READ_TABLES)?;
    let own = best.iter().filter(|best| index.of_shard(best.place).is_some()).count();
    let (read, others) = ranked.split_at_mut(own.min(ranked.len()));
    let own = || {
        let texts = read.iter().map(|(_, found)| Ok(meanings::longest_text(&index.dataset(found.table)?)));
        let texts: Vec<String> = texts.collect::<Result<_>>()?;
        encoder.prefetch(|| texts.iter().cloned().chain([text.to_string()]).collect());
        let query = encoder.embed(text);
        let cosine = |text: &String| f64::from(dot(&query, &vector_of(encoder, text))).clamp(0.0, 1.0);
        let cosines: Vec<f64> = texts.par_iter().map(cosine).collect();
        Ok(read.iter().map(|(_, found)| index.in_index(found.table)).zip(cosines).collect::<Vec<(TableRef, f64)>>())
    };
    let cosines = index.gather(&format!("cosines of those read for {label}"), own, |own| own.len() <= READ_TABLES)?;
    let cosines: HashMap<TableRef, f64> = cosines.into_iter().flatten().collect();
    for (score, found) in read.iter_mut() {
        found.features.about = cosines.get(&index.in_index(found.table)).copied().unwrap_or(0.0);
        *score = weights.score(&found.features);
    }
    sort(read);
    let own = || own_best(index, read, READ_TABLES);
    let best = best_of_all(index, &format!("best that were read for {label}"), own, READ_TABLES)?;
    let least = best.last().map_or(0.0, |best| best.score);
    others.iter_mut().for_each(|(score, _)| *score = score.min(least));
    Ok(())
}

/// The `k` tables that answer `text` best, with their scores, best first.
pub(super) fn ranked_tables(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<(f64, TableRef)>> {
    let (ranked, _) = ranked(index, embedder, text, options)?;
    Ok(ranked.into_iter().take(options.k).map(|(score, candidate)| (score, candidate.table)).collect())
}

/// Copies and editions that one answer stands for.
struct Copies {
    /// In order.
    ids: Vec<String>,
    reason: String,
}

/// Leaves of copies and editions among the best `k` and some after them only the current one, at the place of the best, or the one that the words
/// name; the others by the table that stays.
fn put_copies_together(
    index: &LakeIndex,
    (text, label): (&str, &str),
    ranked: &mut Vec<Ranked>,
    k: usize,
) -> Result<HashMap<TableRef, Copies>> {
    let mut copies: HashMap<TableRef, Copies> = HashMap::new();
    let Some(lake) = index.lake() else { return Ok(copies) };
    let compared = ranked.iter().take((2 * k).min(MOST_COMPARED));
    let tables: Vec<(TableRef, Option<u64>)> = compared.map(|ranked| (ranked.place, ranked.header)).collect();
    let said = name_words(text);
    // "Cases of 2021-03" names an edition.
    let numbers = |id: &str| {
        let words = name_words(id).into_iter();
        words.filter(|word| word.chars().all(|letter| letter.is_ascii_digit()) && said.contains(word)).count()
    };
    let mut gone = Vec::new();
    for Together { tables: together, current, reason } in copies::of_ranked(index, lake, label, &tables)? {
        let [(first, name), ..] = &together[..] else { continue };
        let first = *first;
        let is_named = ranked[first].exact || numbers(name) > numbers(&together[current].1);
        let (stays, reason) = if is_named { (0, String::new()) } else { (current, reason) };
        let (score, exact) = (ranked[first].score, ranked[first].exact);
        ranked[first] = Ranked { score, exact, ..ranked[together[stays].0].clone() };
        gone.extend(together[1..].iter().map(|(place, _)| *place));
        let others = together.into_iter().enumerate().filter(|(at, _)| *at != stays);
        let mut ids: Vec<String> = others.map(|(_, (_, id))| id).collect();
        ids.sort_unstable();
        copies.insert(ranked[first].place, Copies { ids, reason });
    }
    gone.sort_unstable();
    for place in gone.into_iter().rev() {
        ranked.remove(place);
    }
    Ok(copies)
}

/// Adds to the reason of each answer which words of the request it says nowhere, rarest first.
fn tell_what_is_missing(index: &LakeIndex, text: &str, answers: &mut [SearchAnswer]) -> Result<()> {
    let lexical = index.lexical_query(text)?;
    let mut typed = lexical.typed_words();
    typed.retain(|word| word.rarity > 0.0);
    typed.sort_by(|a, b| b.rarity.total_cmp(&a.rarity));
    for answer in answers {
        let says = |word: &TypedWord<'_>| {
            let mut words = answer.matched.iter().flat_map(|matched| &matched.words);
            words.any(|said| said.eq_ignore_ascii_case(word.text))
        };
        let missing: Vec<&str> = typed.iter().filter(|word| !says(word)).map(|word| word.text).take(MISSING).collect();
        if !missing.is_empty() {
            answer.reason = format!("nothing of {}; {}", missing.join(", "), answer.reason);
        }
    }
    Ok(())
}

/// How likely the answers of one search serve. Which cosine is a good one differs from request to request, so what counts is the best
/// one beside that of the [nearest of many datasets](world); then how far an answer is behind the best.
struct Calibration<'w> {
    weights: &'w CalibrationWeights,
    /// The log-odds of the best answer.
    best: f64,
    /// Its score.
    score: f64,
}

impl<'w> Calibration<'w> {
    /// That of a ranking for a request that is this near to the world, -1..=1.
    fn of(ranked: &[Ranked], world: Option<f64>, weights: &'w CalibrationWeights) -> Self {
        let about = ranked.iter().take(CALIBRATED).map(|ranked| ranked.about).fold(0.0, f64::max);
        Self {
            weights,
            best: weights.about * about - weights.world * world.unwrap_or(weights.usual_world) - weights.offset,
            score: ranked.iter().map(|ranked| ranked.score).fold(0.0, f64::max),
        }
    }

    /// The probability that the answer with this score serves; that it is called what was asked for settles it.
    fn relevance(&self, score: f64, exact: bool) -> f64 {
        if exact { 1.0 } else { 1.0 / (1.0 + (self.weights.behind * (self.score - score) - self.best).exp()) }
    }
}

/// The tables that a search for `text` ranks, with their features, in no order: what `lakeward tune` learns from.
///
/// # Errors
/// As [`search`].
pub fn candidates_with_features(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<(String, SearchFeatures)>> {
    let (candidates, _) = candidates(index, embedder, text, options)?;
    candidates.iter().map(|candidate| Ok((index.id(candidate.table)?.to_string(), candidate.features))).collect()
}

/// `tables` in the order in which a search for `text` would rank them, with the evidence: for tables that other searches
/// proposed. A table asked for twice is answered twice.
///
/// # Errors
/// As [`search`].
pub fn rank(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    tables: &[TableRef],
    weights: &RankingWeights,
) -> Result<Vec<SearchAnswer>> {
    let (lexical, about) = (index.lexical_query(text), meaning(index, embedder, text));
    let (lexical, about) = (lexical?, about?);
    let typed = lexical.typed_words();
    let query = DenseQuery::of(about, embedder, &typed);
    let found = FoundTables {
        named: NamedValues::find(index, text, &typed)?,
        notes: noted(index, embedder, &query, text, &typed)?,
        lexical_ranks: HashMap::new(),
        dense_ranks: HashMap::new(),
    };
    let mut ranked: Vec<(f64, SearchCandidate)> = looked_at(index, text, &lexical, &query, tables, &found)?
        .into_iter()
        .map(|candidate| (weights_for(index, embedder, weights).score(&candidate.features), candidate))
        .collect();
    sort(&mut ranked);
    ranked.into_iter().map(|(score, candidate)| answer(index, &query, score, candidate)).collect()
}

/// Best first. A table called exactly what was asked for is the answer, whatever the rest of the ranking says.
fn sort(ranked: &mut [(f64, SearchCandidate)]) {
    ranked.sort_by(|(a, left), (b, right)| {
        right.exact.cmp(&left.exact).then(b.total_cmp(a)).then(left.table.cmp(&right.table))
    });
}

/// What else is known of tables: cells that a text names, users' notes, and where words and meaning rank them.
struct FoundTables {
    named: NamedValues,
    notes: HashMap<TableRef, NoteEvidence>,
    /// By place in the whole index, as the next.
    lexical_ranks: HashMap<TableRef, u32>,
    dense_ranks: HashMap<TableRef, u32>,
}

/// What a user's note on a table says of a text.
struct NoteEvidence {
    /// Share of the text that it says, 0..=1.
    share: f64,
    /// Its cosine with the text, 0..=1; 0 where it was not read.
    cosine: f64,
    /// Whether its title is the text.
    exact: bool,
}

/// Notes that are read as sentences; of others only the words count.
const READ_NOTES: usize = 64;

/// What users' notes say of a text, by table.
fn noted(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    query: &DenseQuery,
    text: &str,
    typed: &[TypedWord<'_>],
) -> Result<HashMap<TableRef, NoteEvidence>> {
    let mut found = HashMap::new();
    if index.notes().all().len() == 0 {
        return Ok(found);
    }
    let encoder = text_encoder(index, embedder).unwrap_or(embedder);
    let vectors = index.note_vectors(|notes| {
        let notes: Vec<&TableNote> = notes.all().take(READ_NOTES).collect();
        encoder.prefetch(|| notes.iter().map(|note| note.text()).collect());
        notes.iter().map(|note| (note.table.clone(), encoder.embed(&note.text()))).collect()
    });
    let vectors: HashMap<&str, &[f32]> = vectors.iter().map(|(table, vector)| (table.as_str(), &vector[..])).collect();
    let (mut words, asked) = (RequestWords::of(typed, index.names_language()?), name_key(text));
    for note in index.notes().all() {
        let Some(table) = index.get(&note.table)? else { continue };
        let said = words.among(&name_words(&note.text()));
        let vector = vectors.get(note.table.as_str());
        let cosine = vector.map_or(0.0, |vector| f64::from(dot(query.about.as_ref().unwrap_or(&query.words), vector)));
        let exact = note.title.as_deref().is_some_and(|title| name_key(title) == asked && !asked.is_empty());
        found.insert(table, NoteEvidence { share: words.share(&said), cosine: cosine.clamp(0.0, 1.0), exact });
    }
    Ok(found)
}

/// The tables that words, meaning or cells named propose, at least `k` by words where there are so many.
fn candidates(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<(Vec<SearchCandidate>, DenseQuery)> {
    let SearchOptions { k, weights } = *options;
    let (lexical, about) = (index.lexical_query(text), meaning(index, embedder, text));
    let (lexical, about) = (lexical?, about?);
    let typed = lexical.typed_words();
    let query = DenseQuery::of(about, embedder, &typed);
    let depth = OTHERS_DEPTH.max(k);
    let (near, least) = match &query.about {
        Some(about) => (nearest_about(index, about, depth)?, weights.text.least_about),
        None => (nearest_tables(index, &query.words, depth)?, weights.text.least_cosine),
    };
    let near = near.into_iter().map(|(table, cosine)| (f64::from(cosine), table)).collect();
    let notes = noted(index, embedder, &query, text, &typed)?;
    // One round of an exchange is for all of these; their tables are told by their places in the whole index.
    let by_words = lexical.best_of_all(WORDS_DEPTH.max(k));
    let dense = index.best_of_all(&format!("nearest {depth} to {text}"), near, depth);
    let named = NamedValues::find(index, text, &typed);
    let by_notes = best_notes(index, text, &notes, f64::from(weights.text.least_about));
    let (by_words, mut dense, named, by_notes) = (by_words?, dense?, named?, by_notes?);
    let ranks_by_words: HashMap<TableRef, u32> = by_words.iter().zip(1..).map(|(table, rank)| (*table, rank)).collect();
    dense.retain(|(cosine, table)| *cosine >= f64::from(least) || ranks_by_words.contains_key(table));
    let dense_ranks: HashMap<TableRef, u32> = dense.iter().zip(1..).map(|((_, table), rank)| (*table, rank)).collect();
    let mut tables = by_words;
    let by_values = named.best(index, text, OTHERS_DEPTH)?;
    for table in dense.iter().map(|(_, table)| *table).chain(by_values).chain(by_notes) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    let tables: Vec<TableRef> = tables.into_iter().filter_map(|place| index.of_shard(place)).collect();
    let found = FoundTables { named, notes, lexical_ranks: ranks_by_words, dense_ranks };
    let label = format!("{k} answers to {text}");
    Ok((looked_at(index, &label, &lexical, &query, &tables, &found)?, query))
}

/// The tables whose notes say most of a text, by their places in the whole index.
fn best_notes(
    index: &LakeIndex,
    text: &str,
    notes: &HashMap<TableRef, NoteEvidence>,
    least: f64,
) -> Result<Vec<TableRef>> {
    if index.notes().all().len() == 0 {
        return Ok(Vec::new());
    }
    let says = |note: &NoteEvidence| note.exact || note.share > 0.0 || note.cosine >= least;
    let own = notes.iter().filter(|(_, note)| says(note));
    // An exact one comes before all others.
    let own = own.map(|(table, note)| (note.share + note.cosine + f64::from(u8::from(note.exact)) * 4.0, *table));
    let best = index.best_of_all(&format!("notes that say words of {text}"), own.collect(), OTHERS_DEPTH)?;
    Ok(best.into_iter().map(|(_, table)| table).collect())
}

/// What share of a text the names of each of `tables` and of its columns abbreviate, of words that nothing spells out; 0 for those that are described.
fn abbreviated(
    index: &LakeIndex,
    words: &RequestWords,
    tables: &[TableRef],
    evidence: &[LexicalEvidence],
) -> Result<Vec<f64>> {
    if !words.has_unsaid() {
        return Ok(vec![0.0; tables.len()]);
    }
    let share = |(table, evidence): (&TableRef, &LexicalEvidence)| -> Result<f64> {
        if evidence.described {
            return Ok(0.0);
        }
        let segment = index.segment(table.segment)?;
        let mut names = name_words(index.id(*table)?);
        for column in segment.catalog.columns(table.table)? {
            names.extend(name_words(segment.columns.name(segment.columns.record(column)?)?));
        }
        Ok(words.abbreviated(&names))
    };
    tables.iter().zip(evidence).map(share).collect()
}

/// `tables` with what they are scored by.
fn looked_at(
    index: &LakeIndex,
    label: &str,
    lexical: &LexicalQuery<'_>,
    query: &DenseQuery,
    tables: &[TableRef],
    found: &FoundTables,
) -> Result<Vec<SearchCandidate>> {
    let places: Vec<(u32, u32)> = tables.iter().map(|table| (table.segment, table.table)).collect();
    let evidence = lexical.evidence(&places)?;
    let abbreviated =
        abbreviated(index, &RequestWords::of(&lexical.typed_words(), index.names_language()?), tables, &evidence)?;
    let mut candidates = Vec::with_capacity(tables.len());
    let shares = found.notes.values().map(|note| note.share);
    let names = evidence.iter().zip(&abbreviated).map(|(evidence, short)| evidence.coverage_about + short);
    let reach = names.chain(shares).fold(0.0, f64::max).min(1.0);
    let reach = index.gather(&format!("reach of {label}"), || Ok(reach), |_| true)?.into_iter().fold(0.0, f64::max);
    for ((&table, lexical), short) in tables.iter().zip(evidence).zip(abbreviated) {
        let segment = index.segment(table.segment)?;
        let cosine_with = |vectors: &VectorSet, vector: &[f32]| {
            vectors.dot(table.table, vector).map(|cosine| f64::from(cosine).clamp(0.0, 1.0))
        };
        let cosine = |vectors: &VectorSet| cosine_with(vectors, &query.words);
        let about = query.about.as_ref().zip(segment.meanings.as_ref());
        let nearness = about.map_or(Ok(0.0), |(vector, meanings)| cosine_with(&meanings.0, vector))?;
        let (values, held) = found.named.of(table);
        let note = found.notes.get(&table);
        let described = lexical.described || note.is_some();
        let (share, near) = note.map_or((0.0, 0.0), |note| (note.share, note.cosine));
        let features = SearchFeatures {
            words: lexical.words.max(share),
            coverage: lexical.coverage.max(share),
            title: lexical.title,
            title_said: lexical.title_said,
            headers: lexical.headers,
            headers_said: lexical.headers_said,
            phrases: lexical.phrases,
            values,
            // Of what a note is about the table is, too, where the texts are read by one model.
            about: if query.about.is_some() { nearness.max(near) } else { nearness },
            words_about: reach * lexical.words_about.max(share),
            phrases_in_reach: lexical.phrases * if described { reach } else { BARE },
            values_in_reach: values * if described { reach } else { BARE },
            names_in_reach: lexical.names * if described { reach } else { BARE },
            words_of_bare: if described { 0.0 } else { lexical.words },
            coverage_of_bare: if described { 0.0 } else { (lexical.coverage + short).min(1.0) },
            meaning: cosine(&segment.vectors.topics)?.max(near),
            meaning_of_title: cosine(&segment.vectors.titles)?,
            meaning_of_content: cosine(&segment.vectors.contents)?,
        };
        let about = features.about;
        let mut lexical = lexical;
        if note.is_some_and(|note| note.exact) {
            lexical.matched.insert(0, FieldMatch { field: LexicalField::Title, words: Vec::new(), exact: true });
        }
        candidates.push(SearchCandidate {
            table,
            exact: lexical.matched.iter().any(|matched| matched.exact),
            features,
            lexical_rank: found.lexical_ranks.get(&index.in_index(table)).copied(),
            dense_rank: found.dense_ranks.get(&index.in_index(table)).copied(),
            noted: note.is_some_and(|note| note.share > 0.0 || note.exact || note.cosine > 0.0 && note.cosine >= about),
            named: held.into_iter().map(|(value, column)| (value.to_string(), column)).collect(),
            lexical,
        });
    }
    Ok(candidates)
}

fn answer(index: &LakeIndex, query: &DenseQuery, score: f64, candidate: SearchCandidate) -> Result<SearchAnswer> {
    let SearchCandidate { table, exact, features, lexical_rank, dense_rank, lexical, named, noted, .. } = candidate;
    let dataset = index.dataset(table)?;
    let first = index.segment(table.segment)?.catalog.columns(table.table)?.start;
    let mut named_values = Vec::new();
    // That a column of numbers holds a number is no news.
    let told = named.into_iter().filter(|(value, _)| value.contains(char::is_alphabetic));
    for (value, column) in told.take(SHOWN_VALUES) {
        let place = column.column.wrapping_sub(first) as usize;
        let column = dataset.columns().get(place).map(|column| column.name.clone());
        named_values.extend(column.map(|column| NamedValue { value, column }));
    }
    let mut answer = SearchAnswer {
        table: dataset.id().to_string(),
        citation: dataset.citation().to_string(),
        title: dataset.title(),
        score,
        relevance: None,
        lexical_rank,
        dense_rank,
        lexical_score: (lexical.score > 0.0).then_some(f64::from(lexical.score)),
        cosine: if features.about > 0.0 { features.about } else { features.meaning },
        features,
        named_values,
        matched: lexical.matched,
        record: dataset.is_record(),
        rows: dataset.table().map(|table| table.profile.rows),
        sampled: dataset.table().is_some_and(|table| table.report.sample.is_some()),
        also: Vec::new(),
        columns: dataset.columns().iter().map(|column| column.name.clone()).collect(),
        reason: String::new(),
    };
    answer.reason = reason(&answer, exact, query);
    if let Some(note) = index.notes().of(&answer.table).filter(|_| noted) {
        answer.reason = format!("your note: {}; {}", shown(&note.text(), NOTE_CHARS), answer.reason);
    }
    answer.reason.extend(dataset.table().map(|table| sample_words(None, table)));
    Ok(answer)
}

/// The model that reads whole texts, where the index has such vectors of all tables.
pub(super) fn text_encoder<'e>(index: &LakeIndex, embedder: &'e dyn Embedder) -> Option<&'e dyn Embedder> {
    embedder.as_text_encoder().filter(|_| index.has_meanings())
}

/// Whether a search compares the text as a whole with what each table is about.
pub fn reads_texts(index: &LakeIndex, embedder: &dyn Embedder) -> bool {
    text_encoder(index, embedder).is_some()
}

/// The weights of a search, with that model or without.
fn weights_for<'w>(index: &LakeIndex, embedder: &dyn Embedder, weights: &'w RankingWeights) -> &'w SearchWeights {
    if reads_texts(index, embedder) { &weights.search } else { &weights.search_static }
}

/// A text as vectors, and its words.
struct DenseQuery {
    /// By the model that columns have, its rare words weighing more.
    words: Vec<f32>,
    /// By the model that reads whole texts, where all tables have such vectors.
    about: Option<Vec<f32>>,
    /// How rare each word is in the lake.
    rarity: HashMap<String, f32>,
}

impl DenseQuery {
    fn of(about: Option<Vec<f32>>, embedder: &dyn Embedder, typed: &[TypedWord<'_>]) -> Self {
        let rarity = typed.iter().map(|word| (word.text.to_string(), word.rarity)).collect();
        Self { words: informative_vector(embedder, typed), about, rarity }
    }
}

/// A text by the model that reads whole texts, where all tables have such vectors; of several shards that of the first.
fn meaning(index: &LakeIndex, embedder: &dyn Embedder, text: &str) -> Result<Option<Vec<f32>>> {
    let Some(encoder) = text_encoder(index, embedder) else { return Ok(None) };
    let is_possible = |vector: &Vec<f32>| vector.len() == encoder.dims();
    let vectors = index.gather(&format!("meaning of {text}"), || Ok(encoder.embed(text)), is_possible)?;
    Ok(vectors.into_iter().next())
}

/// At most `depth` tables by cosine (-1..=1) of what they are about with `vector`, best first, ties by table.
pub(super) fn nearest_about(index: &LakeIndex, vector: &[f32], depth: usize) -> Result<Vec<(TableRef, f32)>> {
    nearest(index, depth, |segment| segment.meanings.as_ref().map(|meanings| &meanings.0), vector)
}

/// The vector of a text, its rare words weighing more.
pub(super) fn informative_vector(embedder: &dyn Embedder, typed: &[TypedWord<'_>]) -> Vec<f32> {
    let informative: Vec<(&str, f32)> =
        typed.iter().filter(|word| word.rarity > 0.0).map(|word| (word.text, word.rarity)).collect();
    let mut vector = vec![0.0; embedder.dims()];
    embedder.embed_weighted(&informative, &mut vector);
    vector
}

/// At most `depth` tables by cosine (-1..=1) of their topic vector with `vector`, best first, ties by table.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn nearest_tables(index: &LakeIndex, vector: &[f32], depth: usize) -> Result<Vec<(TableRef, f32)>> {
    nearest(index, depth, |segment| Some(&segment.vectors.topics), vector)
}

fn nearest<'i>(
    index: &'i LakeIndex,
    depth: usize,
    set: impl Fn(&'i Segment) -> Option<&'i VectorSet> + Sync,
    vector: &[f32],
) -> Result<Vec<(TableRef, f32)>> {
    let of_segment = |(place, segment): (usize, &'i Segment)| -> Result<Vec<(TableRef, f32)>> {
        let Some(vectors) = set(segment) else { return Ok(Vec::new()) };
        let found = vectors.search(vector, depth, Some(&|table| segment.is_live(table)))?;
        Ok(found.into_iter().map(|(table, cosine)| (TableRef { segment: place as u32, table }, cosine)).collect())
    };
    let by_segment: Vec<_> = index.segments().par_iter().enumerate().map(of_segment).collect::<Result<_>>()?;
    let mut nearest = by_segment.concat();
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    nearest.truncate(depth);
    Ok(nearest)
}

/// Fields by how much a word in them tells, with how a reason says it.
const TELLING: [(LexicalField, &str); 6] = [
    (LexicalField::Title, "its title says"),
    (LexicalField::Headers, "its columns say"),
    (LexicalField::Id, "its path says"),
    (LexicalField::Description, "its description says"),
    (LexicalField::Tags, "its keywords say"),
    (LexicalField::Values, "its cells say"),
];

/// Why the table serves, in one sentence: the most telling first, each word of the request once and where it tells most.
fn reason(answer: &SearchAnswer, exact: bool, query: &DenseQuery) -> String {
    let rarity = |word: &str| query.rarity.get(word).copied().unwrap_or(0.0);
    let key = |word: &str| name_words(word).join(" ");
    let mut told: HashSet<String> = HashSet::new();
    let mut parts: Vec<(f32, String)> = Vec::new();
    if exact {
        parts.push((f32::INFINITY, "this is its name".into()));
    }
    for NamedValue { value, column } in answer.named_values.iter().take(2).filter(|_| !exact) {
        if told.insert(key(value)) {
            let words: Vec<&str> = value.split_whitespace().collect();
            told.extend(words.iter().map(|word| key(word)));
            parts.push((words.into_iter().map(rarity).sum(), format!("`{column}` has `{value}`")));
        }
    }
    let mut words: Vec<(f32, &str, &str)> = Vec::new();
    for (field, says) in TELLING.iter().filter(|_| !exact) {
        let said = answer.matched.iter().filter(|matched| matched.field == *field).flat_map(|matched| &matched.words);
        words.extend(said.filter(|word| told.insert(key(word))).map(|word| (rarity(word), *says, word.as_str())));
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0));
    words.truncate(TOLD_WORDS);
    for (_, says) in TELLING {
        let said: Vec<&(f32, &str, &str)> = words.iter().filter(|word| word.1 == says).collect();
        if !said.is_empty() {
            let named = said.iter().map(|word| word.2).collect::<Vec<_>>().join(", ");
            parts.push((said.iter().map(|word| word.0).sum(), format!("{says} {named}")));
        }
    }
    let nearer = answer.dense_rank.is_some_and(|rank| answer.lexical_rank.is_none_or(|lexical| rank < lexical));
    if parts.is_empty() || nearer && !exact {
        parts.push((f32::MAX, format!("it is close in meaning ({:.2})", answer.cosine)));
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    if answer.record {
        parts.push((0.0, "it is a record, its data is not in the lake".into()));
    }
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join("; ")
}
