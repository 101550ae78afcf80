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

/// The codes and names of one country or state.
#[derive(Default)]
struct Place {
    is_country: bool,
    codes: Vec<&'static str>,
    names: Vec<&'static str>,
}

/// The places as listed: the codes of each stand before its names.
fn listed() -> &'static [Place] {
    static LISTED: OnceLock<Vec<Place>> = OnceLock::new();
    LISTED.get_or_init(|| {
        let mut listed: Vec<Place> = Vec::new();
        for (kind, name) in include_str!("places.tsv").lines().filter_map(|line| line.split_once('\t')) {
            let is_code = kind.ends_with("_code");
            if listed.last().is_none_or(|last| is_code && !last.names.is_empty()) {
                listed.push(Place { is_country: kind.starts_with("country"), ..Place::default() });
            }
            let Some(place) = listed.last_mut() else { continue };
            if is_code { place.codes.push(name) } else { place.names.push(name) }
        }
        listed
    })
}

/// What a column of places calls each place: the names of all places with their codes, where its values are codes of one length, else the other
/// names of those that are among its values. (`South Korea`, `KOR`); (`South Korea`, `Korea, Rep.`).
pub fn called(kind: SemanticType, values: &[String]) -> Vec<(String, String)> {
    let of_kind = listed().iter().filter(|place| match kind {
        SemanticType::Country | SemanticType::CountryCode => place.is_country,
        SemanticType::UsState => !place.is_country,
        _ => false,
    });
    let length = values.first().map_or(0, String::len);
    let are_codes = kind != SemanticType::Country && length <= 3 && values.iter().all(|value| value.len() == length);
    let mut called = Vec::new();
    for place in of_kind {
        let own = match are_codes {
            true => place.codes.iter().find(|code| code.len() == length).map(|code| {
                let written = values.iter().find(|value| value.eq_ignore_ascii_case(code));
                written.map_or(*code, String::as_str)
            }),
            false => {
                let is_named = |value: &&String| place.names.iter().any(|name| name.eq_ignore_ascii_case(value));
                values.iter().find(is_named).map(String::as_str)
            }
        };
        let Some(own) = own else { continue };
        let others = place.names.iter().filter(|name| !name.eq_ignore_ascii_case(own));
        called.extend(others.map(|name| (name.to_string(), own.to_string())));
    }
    called
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_called_as_its_column_writes_it() {
        let values = |values: &[&str]| values.iter().map(|value| value.to_string()).collect::<Vec<_>>();
        let named = |kind, of: &[&str], name: &str| {
            called(kind, &values(of)).into_iter().find(|(known, _)| known == name).map(|(_, own)| own)
        };
        let (country, code, state) = (SemanticType::Country, SemanticType::CountryCode, SemanticType::UsState);
        assert_eq!(named(code, &["PRT", "KOR"], "South Korea").as_deref(), Some("KOR"));
        assert_eq!(named(code, &["pt", "kr"], "Korea, Rep.").as_deref(), Some("kr"));
        // A country that the column does not have is itself, never another one.
        assert_eq!(named(code, &["PRT", "KOR"], "Germany").as_deref(), Some("DEU"));
        assert_eq!(named(country, &["Korea, Rep.", "Portugal"], "South Korea").as_deref(), Some("Korea, Rep."));
        assert_eq!(named(country, &["Korea, Rep.", "Portugal"], "Germany"), None);
        assert_eq!(named(state, &["CA", "TX"], "Texas").as_deref(), Some("TX"));
        assert_eq!(named(code, &["PRT", "Korea"], "Portugal"), None, "of a mixture nothing is known");
    }
}
