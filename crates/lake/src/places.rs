//! Columns of countries and states, recognised by lists of their names and codes (`places.tsv`).

use std::collections::HashMap;
use std::sync::OnceLock;

use super::semantic::SemanticType;
use lakeward_sketch::ColumnSketch;
use lakeward_sketch::normalise::Normaliser;

/// Share of a column's values that must be in a list of places.
const PLACE_SHARE: f64 = 0.7;

/// Lists of places by normal-form hash.
fn places() -> &'static HashMap<u64, SemanticType> {
    static PLACES: OnceLock<HashMap<u64, SemanticType>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut normaliser = Normaliser::default();
        let mut places = HashMap::new();
        for line in include_str!("places.tsv").lines() {
            let Some((kind, name)) = line.split_once('\t') else { continue };
            let kind = match kind {
                "country" => SemanticType::Country,
                "country_code" => SemanticType::CountryCode,
                "us_state" | "us_state_code" => SemanticType::UsState,
                _ => continue,
            };
            let hash = normaliser.value(name).hash;
            // A code of both a state and a country is ambiguous; the other values decide: see `place_type`.
            places
                .entry(hash)
                .and_modify(|known: &mut SemanticType| {
                    if *known != kind {
                        *known = SemanticType::Code
                    }
                })
                .or_insert(kind);
        }
        places
    })
}

/// Names of countries and of states of the US, as listed.
pub fn names() -> impl Iterator<Item = &'static str> {
    let named = |line: &'static str| line.split_once('\t').filter(|(kind, _)| matches!(*kind, "country" | "us_state"));
    include_str!("places.tsv").lines().filter_map(named).map(|(_, name)| name)
}

/// The list that contains most of the column's distinct values, if there is one.
pub fn place_type(sketch: &ColumnSketch, words: &[String]) -> Option<SemanticType> {
    // Two or three codes may be in a list by chance: `AL` and `NL` are also leagues.
    const LEAST_CODES: usize = 4;
    const PLACE_WORDS: [&str; 9] =
        ["country", "countries", "nation", "state", "states", "iso", "iso2", "iso3", "territory"];
    let named = words.iter().any(|word| PLACE_WORDS.contains(&word.as_str()));
    let short = sketch.longest <= 3 && !named;
    let least = match (named, short) {
        (true, _) => 1,
        (false, true) => LEAST_CODES,
        (false, false) => 2,
    };
    if sketch.hashes.len() < least || sketch.mean_length > 40.0 {
        return None;
    }
    let checked = sketch.hashes.len().min(500);
    let mut hits: HashMap<SemanticType, usize> = HashMap::new();
    for hash in &sketch.hashes[..checked] {
        if let Some(kind) = places().get(hash) {
            *hits.entry(*kind).or_default() += 1;
        }
    }
    let ambiguous = hits.remove(&SemanticType::Code).unwrap_or(0);
    if hits.is_empty() && named && ambiguous > 0 {
        // `MA` alone is Massachusetts in a column of states, Morocco in one of countries.
        let states = words.iter().any(|word| matches!(word.as_str(), "state" | "states"));
        hits.insert(if states { SemanticType::UsState } else { SemanticType::CountryCode }, 0);
    }
    let (kind, count) = hits.into_iter().max_by_key(|(kind, count)| (*count, *kind as u8))?;
    let ambiguous = if kind == SemanticType::Country { 0 } else { ambiguous };
    ((count + ambiguous) as f64 >= PLACE_SHARE * checked as f64).then_some(kind)
}
