//! The ranking of text search over all shards: what was found is put in order, the best are read as texts where the index has no vectors of
//! them, and copies and editions become one answer.

use std::cmp::Ordering;

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::candidates::{SearchCandidate, candidates};
use super::text_vectors::{TextVectors, reads_texts};
use super::{SearchOptions, SearchWeights};
use crate::column_search::vector_of;
use crate::copies::{self, Together};
use crate::weights::RankingWeights;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::meanings;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::{Embedder, EmbedderExt, dot};

/// The best tables by words and static vectors that are read as texts where the index has no such vectors: a bound of work.
const READ_TABLES: usize = 24;

/// The best tables of a search among which copies are looked for: a bound of work.
pub(super) const MOST_COMPARED: usize = 40;

/// A table in the ranking of all shards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ranked {
    pub exact: bool,
    pub score: f64,
    /// Its place in the whole index.
    pub place: TableRef,
    pub about: f64,
    header: Option<u64>,
}

impl Ranked {
    fn order(&self, other: &Self) -> Ordering {
        other.exact.cmp(&self.exact).then(other.score.total_cmp(&self.score)).then(self.place.cmp(&other.place))
    }
}

/// The first `count` of a ranking.
pub(super) fn own_best(index: &LakeIndex, ranked: &[(f64, SearchCandidate)], count: usize) -> Result<Vec<Ranked>> {
    let ranked = ranked.iter().take(count).map(|(score, candidate)| {
        let SearchCandidate { table, exact, features, .. } = candidate;
        let header = index.segment(table.segment)?.tables.header(table.table)?;
        Ok(Ranked { exact: *exact, score: *score, place: index.in_index(*table), about: features.about, header })
    });
    ranked.collect()
}

/// The first `count` of the rankings of all shards, best first.
pub(super) fn best_of_all(
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

/// What this shard finds for `text`, best first, and the text as vectors.
pub(super) fn ranked(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<(Vec<(f64, SearchCandidate)>, TextVectors)> {
    let weights = weights_for(index, embedder, options.weights);
    let (candidates, query) = candidates(index, embedder, text, options)?;
    let mut ranked: Vec<(f64, SearchCandidate)> =
        candidates.into_iter().map(|candidate| (weights.score(&candidate.features), candidate)).collect();
    sort(&mut ranked);
    Ok((ranked, query))
}

/// Reads the best of a ranking as texts where the index has no vectors of them, as it has very many tables, and orders
/// those anew; the others stay behind them.
pub(super) fn read_best(
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
pub(crate) fn ranked_tables(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions<'_>,
) -> Result<Vec<(f64, TableRef)>> {
    let (ranked, _) = ranked(index, embedder, text, options)?;
    Ok(ranked.into_iter().take(options.k).map(|(score, candidate)| (score, candidate.table)).collect())
}

/// Copies and editions that one answer stands for.
pub(super) struct Copies {
    /// In order.
    pub ids: Vec<String>,
    pub reason: String,
}

/// Leaves of copies and editions among the best `k` and some after them only the current one, at the place of the best, or the one that the words
/// name; the others by the table that stays.
pub(super) fn put_copies_together(
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

/// Best first. A table called exactly what was asked for is the answer, whatever the rest of the ranking says.
pub(super) fn sort(ranked: &mut [(f64, SearchCandidate)]) {
    ranked.sort_by(|(a, left), (b, right)| {
        right.exact.cmp(&left.exact).then(b.total_cmp(a)).then(left.table.cmp(&right.table))
    });
}

/// The weights of a search, with that model or without.
pub(super) fn weights_for<'w>(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    weights: &'w RankingWeights,
) -> &'w SearchWeights {
    if reads_texts(index, embedder) { &weights.search } else { &weights.search_static }
}
