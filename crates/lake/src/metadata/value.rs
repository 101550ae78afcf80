//! Reading JSON whose values may have any type.
//!
//! A title may be a string, a number, a list, a language map (`{"en": …}`) or a JSON-LD value (`{"@value": …, "@language": …}`);
//! a key may carry a prefix (`dct:title`) or be a full IRI. All of these read as one text, English first.

use serde_json::{Map, Value};

use super::{TimeCovered, clean};

/// Nesting depth down to which a text is searched.
const MOST_DEPTH: usize = 4;
/// Most items of a list that are read.
pub(super) const MOST_ITEMS: usize = 100_000;
/// Keys that may hold an object's name, in the order tried.
const NAME_KEYS: &[&str] =
    &["name", "title", "prefLabel", "label", "display_name", "fn", "value", "literal", "notation", "url", "@id", "id"];

/// The value of the first of `names` that `object` has, with or without a prefix; `null` if it has none.
pub(super) fn get<'a>(object: &'a Value, names: &[&str]) -> &'a Value {
    let Value::Object(map) = object else { return &Value::Null };
    names.iter().find_map(|name| get_one(map, name)).unwrap_or(&Value::Null)
}

fn get_one<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let exact = map.get(name).filter(|value| !value.is_null());
    // As `local_name`, and fast where no key ends so.
    let is_it = |key: &str| key.strip_suffix(name).is_some_and(|prefix| prefix.ends_with([':', '/', '#']));
    exact.or_else(|| map.iter().find(|(key, value)| is_it(key) && !value.is_null()).map(|(_, value)| value))
}

/// `dct:title`, `http://purl.org/dc/terms/title` and `title` are all `title`.
pub(super) fn local_name(key: &str) -> &str {
    key.rsplit([':', '/', '#']).next().unwrap_or(key)
}

/// The items of a list; a scalar or object is a list of one, `null` an empty one.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    let list = match value {
        Value::Null => &[],
        Value::Array(list) => list.as_slice(),
        other => std::slice::from_ref(other),
    };
    list.iter().take(MOST_ITEMS)
}

/// The text of the first of `names`, on one cleaned line.
pub(super) fn line(object: &Value, names: &[&str]) -> Option<String> {
    first_text(object, names).map(|text| clean::line(&text)).filter(|text| !text.is_empty())
}

/// The text of the first of `names`, cleaned, with its line breaks.
pub(super) fn paragraphs(object: &Value, names: &[&str]) -> Option<String> {
    first_text(object, names).map(|text| clean::paragraphs(&text)).filter(|text| !text.is_empty())
}

fn first_text(object: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text(get(object, &[name])).filter(|text| !text.trim().is_empty()))
}

/// A value as text, English first.
pub(super) fn text(value: &Value) -> Option<String> {
    text_within(value, MOST_DEPTH)
}

fn text_within(value: &Value, depth: usize) -> Option<String> {
    match value {
        _ if depth == 0 => None,
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(list) => {
            let english = list.iter().take(MOST_ITEMS).find(|item| is_english(item));
            english.into_iter().chain(list.iter().take(MOST_ITEMS)).find_map(|item| text_within(item, depth - 1))
        }
        Value::Object(map) => text_of_object(map, depth),
    }
}

pub(super) fn is_english(value: &Value) -> bool {
    ["@language", "lang", "language"]
        .iter()
        .any(|key| value.get(key).and_then(Value::as_str).is_some_and(is_english_code))
}

fn is_english_code(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code == "en" || code == "eng" || code.starts_with("en-") || code.starts_with("en_")
}

fn text_of_object(map: &Map<String, Value>, depth: usize) -> Option<String> {
    let keyed = map.get("@value").or_else(|| map.iter().find(|(key, _)| is_english_code(key)).map(|(_, value)| value));
    if let Some(value) = keyed {
        return text_within(value, depth - 1);
    }
    let named = NAME_KEYS.iter().find_map(|key| get_one(map, key)).and_then(|value| text_within(value, depth - 1));
    let named = named.filter(|name| !is_blank_node(name));
    named
        .or_else(|| map.iter().filter(|(key, _)| is_language(key)).find_map(|(_, value)| text_within(value, depth - 1)))
}

/// Whether a text is the name of a blank node of RDF, which holds in its document alone.
pub(super) fn is_blank_node(name: &str) -> bool {
    name.starts_with("_:")
}

/// Whether a key looks like a language tag: `de`, `pt-BR`, `zh_Hans`.
fn is_language(key: &str) -> bool {
    let first = key.split(['-', '_']).next().unwrap_or(key);
    matches!(first.len(), 2 | 3) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Tags under all of `names`: lists of texts or objects, or one text with commas or semicolons between.
pub(super) fn tags(object: &Value, names: &[&str]) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for value in names.iter().map(|name| get(object, &[name])) {
        let separators: &[char] = if value.is_string() { &[',', ';', '|', '\n'] } else { &[';', '\n'] };
        for text in texts(value) {
            for tag in text.split(separators).map(clean::tag) {
                if !tag.is_empty() && tags.len() < clean::MOST_TAGS && !tags.contains(&tag) {
                    tags.push(tag);
                }
            }
        }
    }
    tags
}

/// Every item of a list as text; a language map of lists (`{"en": ["a", "b"]}`) counts as the English list.
fn texts(value: &Value) -> Vec<String> {
    if let Value::Object(map) = value {
        let languages = || map.iter().filter(|(key, value)| is_language(key) && value.is_array());
        let english = languages().find(|(key, _)| is_english_code(key)).or_else(|| languages().next());
        if let Some((_, list)) = english {
            return items(list).filter_map(text).collect();
        }
    }
    items(value).take(4 * clean::MOST_TAGS).filter_map(text).collect()
}

/// The best identifier among the texts of `names`: DOI, then CSTR, handle or ARK, then a URL, then any other.
pub(super) fn identifier(object: &Value, names: &[&str]) -> Option<String> {
    let candidates = names.iter().flat_map(|name| items(get(object, &[name]))).filter_map(text);
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates.map(|text| clean::line(&text)).filter(|text| !text.is_empty()) {
        let (rank, identifier) = rank_identifier(candidate);
        if best.as_ref().is_none_or(|(known, _)| rank < *known) {
            best = Some((rank, identifier));
        }
    }
    best.map(|(_, identifier)| identifier)
}

fn rank_identifier(text: String) -> (usize, String) {
    let lower = text.to_lowercase();
    if let Some(doi) = doi_in(&text) {
        return (0, format!("https://doi.org/{doi}"));
    }
    let is_persistent = ["cstr:", "hdl:", "ark:", "urn:"].iter().any(|start| lower.starts_with(start))
        || ["//hdl.handle.net/", "//cstr.cn/", "//www.cstr.cn/", "//n2t.net/", "//identifiers.org/"]
            .iter()
            .any(|part| lower.contains(part));
    match (is_persistent, lower.starts_with("http://") || lower.starts_with("https://")) {
        (true, _) => (1, text),
        (false, true) => (2, text),
        (false, false) => (3, text),
    }
}

/// The DOI (`10.5281/zenodo.1`) that `text` consists of: bare, after `doi:`, or in a doi.org address.
fn doi_in(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    let prefixes = [
        "https://doi.org/",
        "http://doi.org/",
        "https://dx.doi.org/",
        "http://dx.doi.org/",
        "https://www.doi.org/",
        "doi:",
    ];
    let start = prefixes.iter().find(|prefix| lower.starts_with(**prefix)).map_or(0, |prefix| prefix.len());
    let doi = text.get(start..)?.trim();
    let (registrant, suffix) = doi.strip_prefix("10.")?.split_once('/')?;
    let is_doi = registrant.len() >= 4 && registrant.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_doi && !suffix.is_empty() && !suffix.contains(char::is_whitespace)).then_some(doi)
}

/// Time covered under `names`: a text, or an object with a start and an end.
pub(super) fn period(object: &Value, names: &[&str]) -> Option<TimeCovered> {
    let value = get(object, names);
    period_of(value.as_array().and_then(|list| list.first()).unwrap_or(value))
}

/// The time that `value` says is covered.
pub(super) fn period_of(value: &Value) -> Option<TimeCovered> {
    let start = line(value, &["startDate", "start", "hasBeginning", "from", "start_date", "beginPosition"]);
    let end = line(value, &["endDate", "end", "hasEnd", "to", "end_date", "endPosition"]);
    TimeCovered::between(start, end).or_else(|| TimeCovered::of(&text(value)?))
}

/// Places covered under `names`.
pub(super) fn places(object: &Value, names: &[&str]) -> Vec<String> {
    places_in(items(get(object, names)).filter_map(text))
}

/// The places that `texts` name, each once; a text may list several, separated by `;`. Geometries written as JSON are left
/// out: they tell a reader nothing.
pub(super) fn places_in(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for text in texts.into_iter().take(clean::MOST_TAGS).filter(|text| !text.trim_start().starts_with(['{', '['])) {
        for place in text.split(';').map(clean::line) {
            if !place.is_empty() && !places.contains(&place) && places.len() < clean::MOST_TAGS {
                places.push(place);
            }
        }
    }
    places
}

/// Whether a JSON-LD node has the type `name`, with or without a prefix.
pub(super) fn has_type(node: &Value, name: &str) -> bool {
    items(get(node, &["@type", "type"])).filter_map(Value::as_str).any(|kind| local_name(kind) == name)
}
