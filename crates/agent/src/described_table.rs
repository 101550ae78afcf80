//! Chooses the table to join with by the words that describe it: by its name, by the names of the columns that are
//! wanted of it, and by what a search for the words finds.

use std::collections::BTreeMap;

use super::requested_columns::Partner;
use super::requested_table::Found;
use super::weighed::names_table;
use lakeward_core::text::{NameParts, Stemmer, is_function_word, name_likeness, name_words};
use lakeward_lake::profile::ColumnProfile;
use lakeward_models::languages::Language;
use lakeward_reading::reader::RequestedTable;
use lakeward_search::weights::PartnerWeights;
use lakeward_search::{Candidate, JoinAnswer, RankingWeights};

/// The partner that words describe best: by its name, the columns that are wanted, and what a search for the words finds.
pub(super) fn described(
    (requested, found): (&RequestedTable, &Found),
    text: &str,
    by_keys: &BTreeMap<String, JoinAnswer>,
    partners: Vec<&Candidate>,
    (ranking, language): (&RankingWeights, Option<Language>),
) -> Option<Partner> {
    let (weights, least_containment) = (&ranking.partner, ranking.fit.least_containment);
    let phrases = column_phrases(requested, &partners, weights);
    let is_named = |candidate: &Candidate| requested.id.as_deref() == Some(candidate.dataset.id().as_str());
    let answer_of = |candidate: &Candidate| {
        let answer = by_keys.get(candidate.dataset.id().as_str()).or(candidate.join.as_ref())?;
        let enough = answer.containment >= least_containment || is_named(candidate);
        enough.then(|| answer.clone())
    };
    let matching_columns =
        |candidate: &Candidate, answer: &JoinAnswer| matching_columns(candidate, &phrases, answer, weights, language);
    // What is wanted decides, unless a table is named by its id. Where columns have a word of each on average, all is there.
    let has = |(fit, columns): &(f64, Vec<String>)| (*fit >= weights.one_word, !columns.is_empty());
    let coverage = |candidate: &&Candidate| Some(has(&matching_columns(candidate, &answer_of(candidate)?)));
    let most = partners.iter().filter_map(coverage).max().unwrap_or_default();
    let mut best: Option<(f64, &Candidate, JoinAnswer, Vec<String>)> = None;
    for candidate in partners {
        let Some(answer) = answer_of(candidate) else { continue };
        let found_columns = matching_columns(candidate, &answer);
        if has(&found_columns) < most && !is_named(candidate) {
            continue;
        }
        let (fit, columns) = found_columns;
        let named = named_by(candidate, requested, text, weights, language);
        let by_words = found.get(candidate.dataset.id().as_str()).copied().unwrap_or(0.0);
        if named < weights.least && fit < weights.least && by_words < weights.least {
            continue;
        }
        // A table that nobody named is chosen for what it has.
        if named < weights.least && !phrases.is_empty() && columns.is_empty() {
            continue;
        }
        let has_keys = by_keys.contains_key(candidate.dataset.id().as_str());
        let repeats = match answer.fan_out {
            // Several keys are named, and on those that it has its rows are many for one.
            fan_out if fan_out > weights.several_rows && requested.keys.len() > 1 && !has_keys => weights.without_keys,
            fan_out => weights.repeats * fan_out.max(1.0).log10().min(1.0),
        };
        let keys = share_of_keys(candidate, &requested.keys, weights) + f64::from(u8::from(has_keys));
        let score = weights.named * named + fit + by_words + keys + answer.score - repeats;
        if best.as_ref().is_none_or(|(known, ..)| score > *known) {
            best = Some((score, candidate, answer, columns));
        }
    }
    best.map(|(_, candidate, answer, columns)| Partner {
        candidate: candidate.clone(),
        answer,
        columns,
        is_count: false,
        not_applied: Vec::new(),
        left: Vec::new(),
    })
}

/// The columns that are wanted: those that were read so; else what describes a table where it is the name of a column of a partner, as in "add
/// the iso3".
fn column_phrases(requested: &RequestedTable, partners: &[&Candidate], weights: &PartnerWeights) -> Vec<String> {
    if !requested.columns.is_empty() || requested.id.is_some() {
        return requested.columns.clone();
    }
    let words: Vec<String> = name_words(&requested.words).into_iter().filter(|word| !is_function_word(word)).collect();
    let words = words.join(" ");
    let is_it = |column: &ColumnProfile| name_likeness(&words, &column.name) >= weights.same_name;
    let is_column = partners.iter().any(|candidate| candidate.dataset.columns().iter().any(is_it));
    if is_column { vec![words] } else { Vec::new() }
}

/// How well the columns that a candidate adds are what is wanted, in 0..=1, and which they are. A column that has only one of the words counts
/// in full where its table is called by the others ("country name" in a table of countries).
fn matching_columns(
    candidate: &Candidate,
    phrases: &[String],
    answer: &JoinAnswer,
    weights: &PartnerWeights,
    language: Option<Language>,
) -> (f64, Vec<String>) {
    let mut columns = Vec::new();
    let (mut sum, mut counted) = (0.0, 0);
    let id = candidate.dataset.id().as_str();
    let title = in_english(&candidate.dataset.title(), id, language);
    let english = |name: &str| language.and_then(|language| language.name_in_english(name));
    let is_key = |column: &ColumnProfile| answer.on.iter().any(|pair| pair.column == column.name);
    for phrase in phrases {
        let parts = NameParts::of(phrase);
        let said: Vec<String> = name_words(phrase).into_iter().filter(|word| !is_function_word(word)).collect();
        let words: Vec<NameParts> = said.iter().map(|word| NameParts::of(word)).collect();
        let others = |place: usize| {
            let rest: Vec<&str> =
                said.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, word)| &**word).collect();
            if rest.is_empty() { 1.0 } else { f64::midpoint(1.0, overlap(&rest.join(" "), id, &title)) }
        };
        let rest: Vec<f64> = (0..said.len()).map(others).collect();
        // How alike they are, with the other words and without.
        let likeness = |name: &str| {
            let name = NameParts::of(name);
            let whole = parts.likeness(&name).max(parts.short_form(&name));
            let by_word = words.iter().zip(&rest).map(|(word, rest)| {
                let alike = word.likeness(&name).max(word.short_form(&name));
                (rest * alike, alike)
            });
            let (with, alone) = by_word.fold((0.0, 0.0), |(with, alone), word| (word.0.max(with), word.1.max(alone)));
            (whole.max(weights.one_word * with), whole.max(weights.one_word * alone))
        };
        let like = |column: &ColumnProfile| {
            let own = likeness(&column.name);
            english(&column.name).map_or(own, |english| {
                let other = likeness(&english);
                (own.0.max(other.0), own.1.max(other.1))
            })
        };
        let (keys, added): (Vec<&ColumnProfile>, Vec<&ColumnProfile>) =
            candidate.dataset.columns().iter().partition(|column| is_key(column));
        let of_keys = keys.into_iter().map(|column| like(column).0).fold(0.0, f64::max);
        let best = added.into_iter().map(|column| (like(column), column)).max_by(|a, b| a.0.0.total_cmp(&b.0.0));
        if let Some(((likeness, alone), column)) = best {
            // What the key is called is not wanted besides ("for each country").
            if of_keys > likeness {
                continue;
            }
            sum += likeness;
            counted += 1;
            if alone >= weights.wanted && !columns.contains(&column.name) {
                columns.push(column.name.clone());
            }
        }
    }
    (sum / f64::from(counted.max(1)), columns)
}

/// The share of the keys that are named for which a candidate has a column, 1 where none is named.
fn share_of_keys(candidate: &Candidate, keys: &[String], weights: &PartnerWeights) -> f64 {
    if keys.is_empty() {
        return 1.0;
    }
    let columns: Vec<NameParts> =
        candidate.dataset.columns().iter().map(|column| NameParts::of(&column.name)).collect();
    let has = |key: &&String| {
        let key = NameParts::of(key);
        columns.iter().any(|name| key.likeness(name).max(key.short_form(name)) >= weights.named_key)
    };
    keys.iter().filter(has).count() as f64 / keys.len() as f64
}

/// How much words name a candidate, in 0..=1; more by its id.
fn named_by(
    candidate: &Candidate,
    requested: &RequestedTable,
    text: &str,
    weights: &PartnerWeights,
    language: Option<Language>,
) -> f64 {
    let id = candidate.dataset.id().as_str();
    if requested.id.as_deref() == Some(id) {
        return weights.named_by_id;
    }
    overlap(&requested.words, id, &in_english(&candidate.dataset.title(), id, language)).max(spelt_out(text, id))
}

/// A title, and what an id is in English.
fn in_english(title: &str, id: &str, language: Option<Language>) -> String {
    let english = language.and_then(|language| language.name_in_english(id));
    english.map_or_else(|| title.to_string(), |english| format!("{title} {english}"))
}

/// 1 where a text names a table outright.
pub(super) fn spelt_out(text: &str, id: &str) -> f64 {
    f64::from(u8::from(names_table(text, id)))
}

/// The share of words that the id or title of a table has.
pub(super) fn overlap(words: &str, id: &str, title: &str) -> f64 {
    let said: Vec<String> = name_words(words).into_iter().filter(|word| !is_function_word(word)).collect();
    if said.is_empty() {
        return 0.0;
    }
    let mut stemmer = Stemmer::default();
    let mut stem = |word: String| (stemmer.stem(&word).to_string(), word);
    let own: Vec<(String, String)> = name_words(id).into_iter().chain(name_words(title)).map(&mut stem).collect();
    let said: Vec<(String, String)> = said.into_iter().map(stem).collect();
    let has = |(stem, word): &&(String, String)| {
        own.iter().any(|known| known.0 == *stem || (word.len() > 3 && known.1.starts_with(word.trim_end_matches('s'))))
    };
    said.iter().filter(has).count() as f64 / said.len() as f64
}
