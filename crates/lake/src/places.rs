//! Columns of countries and states, recognised by lists of their names and codes (`places.tsv`).

use std::collections::HashMap;
use std::sync::OnceLock;

use super::semantic::SemanticType;
use lakeward_sketch::ColumnSketch;
use lakeward_sketch::normalise::Normaliser;

/// Share of a column's values that must be in a list of places.
const PLACE_SHARE: f64 = 0.7;

/// One country or state, as listed.
#[derive(Default)]
struct Place {
    is_country: bool,
    codes: Vec<&'static str>,
    names: Vec<&'static str>,
    adjectives: Vec<&'static str>,
}

/// The places as listed: the codes of each stand before its names, and those before its adjectives.
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
            let written = match kind {
                "country_adjective" => &mut place.adjectives,
                _ if is_code => &mut place.codes,
                _ => &mut place.names,
            };
            written.push(name);
        }
        listed
    })
}

/// The kinds of columns that have each name and code, by normal-form hash.
fn kinds() -> &'static HashMap<u64, SemanticType> {
    static KINDS: OnceLock<HashMap<u64, SemanticType>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut normaliser = Normaliser::default();
        let mut kinds = HashMap::new();
        for place in listed() {
            let (code, name) = match place.is_country {
                true => (SemanticType::CountryCode, SemanticType::Country),
                false => (SemanticType::UsState, SemanticType::UsState),
            };
            let codes = place.codes.iter().map(|written| (written, code));
            for (written, kind) in codes.chain(place.names.iter().map(|written| (written, name))) {
                // A code of both a state and a country is ambiguous; the other values decide: see `place_type`.
                kinds
                    .entry(normaliser.value(written).hash)
                    .and_modify(|known: &mut SemanticType| {
                        if *known != kind {
                            *known = SemanticType::Code
                        }
                    })
                    .or_insert(kind);
            }
        }
        kinds
    })
}

/// The place of each name and code among those [`listed`], by whether it is of a country, whether it is a code, and itself in lower case.
fn spelt() -> &'static HashMap<(bool, bool, String), usize> {
    static SPELT: OnceLock<HashMap<(bool, bool, String), usize>> = OnceLock::new();
    SPELT.get_or_init(|| {
        let of_place = |(at, place): (usize, &'static Place)| {
            let written = [(true, &place.codes), (false, &place.names)];
            let all = written.into_iter().flat_map(|(is_code, all)| all.iter().map(move |written| (is_code, written)));
            all.map(move |(is_code, written)| ((place.is_country, is_code, written.to_ascii_lowercase()), at))
        };
        listed().iter().enumerate().flat_map(of_place).collect()
    })
}

/// The name of the country that an adjective speaks of: `Swiss`, `south korean`.
pub fn country_of(adjective: &str) -> Option<&'static str> {
    static COUNTRIES: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    let countries = COUNTRIES.get_or_init(|| {
        let named = listed().iter().filter_map(|place| Some((place.names.first()?, &place.adjectives)));
        named.flat_map(|(name, adjectives)| adjectives.iter().map(|one| (one.to_ascii_lowercase(), *name))).collect()
    });
    countries.get(&adjective.to_ascii_lowercase()).copied()
}

/// What a column of places calls each place: the names and adjectives of all places with their codes, where its values are codes of one length, else
/// the other names and adjectives of those that are among its values. (`South Korea`, `KOR`); (`South Korean`, `Korea, Rep.`). A look-up for each value: 500
/// take less than a tenth of a millisecond.
pub fn called(kind: SemanticType, values: &[String]) -> Vec<(String, String)> {
    let is_country = match kind {
        SemanticType::Country | SemanticType::CountryCode => true,
        SemanticType::UsState => false,
        _ => return Vec::new(),
    };
    let length = values.first().map_or(0, String::len);
    let are_codes = kind != SemanticType::Country && length <= 3 && values.iter().all(|value| value.len() == length);
    let mut own: Vec<Option<&str>> = vec![None; listed().len()];
    for value in values {
        if let Some(place) = spelt().get(&(is_country, are_codes, value.to_ascii_lowercase())) {
            own[*place].get_or_insert(value);
        }
    }
    let mut called = Vec::new();
    for (place, own) in listed().iter().zip(own).filter(|(place, _)| place.is_country == is_country) {
        let code = || place.codes.iter().copied().find(|code| are_codes && code.len() == length);
        let Some(own) = own.or_else(code) else { continue };
        let others = place.names.iter().chain(&place.adjectives).filter(|name| !name.eq_ignore_ascii_case(own));
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
        if let Some(kind) = kinds().get(hash) {
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
        assert_eq!(named(country, &["Korea, Rep.", "Portugal"], "South Korean").as_deref(), Some("Korea, Rep."));
    }

    #[test]
    fn an_adjective_speaks_of_a_country() {
        let found = ["Swiss", "south korean", "Switzerland", "southern"].map(country_of);
        assert_eq!(found, [Some("Switzerland"), Some("South Korea"), None, None]);
    }
}
