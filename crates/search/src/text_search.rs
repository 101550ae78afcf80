//! Text search: words, whole cells and meaning as features of one linear ranker; an exact name or title comes first.
//!
//! Words (BM25F), vectors and the inverted lists of values each propose tables; every table proposed is scored by all of
//! them. What a text says of title, headers and cells is told apart, and rare words weigh more everywhere, in its vector too.

use hashbrown::HashMap;

use super::named_values::NamedValues;
use super::ranker::features;
use super::weights::RankingWeights;
use super::world;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::Embedder;

mod answer;
mod calibration;
mod candidates;
mod notes;
mod ranking;
mod text_vectors;
mod wordings;

use answer::{answer, tell_what_is_missing};
use calibration::Calibration;
use candidates::{FoundTables, SearchCandidate, candidates};
use notes::noted;
use ranking::{
    Copies, MOST_COMPARED, Ranked, best_of_all, own_best, put_copies_together, ranked, read_best, sort, weights_for,
};
use text_vectors::{TextVectors, meaning};

pub use answer::SearchAnswer;
pub(crate) use ranking::ranked_tables;
pub(crate) use text_vectors::{informative_vector, nearest_about, text_encoder};
pub use text_vectors::{nearest_tables, reads_texts};
pub use wordings::{Respelt, respelt};
pub(crate) use wordings::{Worded, in_all_wordings};

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

/// Tables that meaning, and cells named, propose each: a bound of work.
const OTHERS_DEPTH: usize = 30;

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
    // What was received from all shards is not computed again in the next round.
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
                let also = match reason.is_empty() {
                    true => message!("also at {}", ids.join(", ")),
                    false => message!("also at {}: the current one is this, as {}", ids.join(", "), reason),
                };
                found.reason = found.reason.and_then(also);
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
    let query = TextVectors::of(about, embedder, &typed);
    let found = FoundTables {
        named: NamedValues::find(index, text, &typed)?,
        notes: noted(index, embedder, &query, text, &typed)?,
        lexical_ranks: HashMap::new(),
        dense_ranks: HashMap::new(),
    };
    let mut ranked: Vec<(f64, SearchCandidate)> = found
        .candidates(index, text, (&lexical, &query), tables, &weights.text)?
        .into_iter()
        .map(|candidate| (weights_for(index, embedder, weights).score(&candidate.features), candidate))
        .collect();
    sort(&mut ranked);
    ranked.into_iter().map(|(score, candidate)| answer(index, &query, score, candidate)).collect()
}
