//! Paths to the values of a record.
//!
//! A path is names with dots between; lists on the way are gone through, items in English first; a prefix of a name does not count.
//! `dates[dateType=Issued]` keeps the items whose `dateType` is that, with or without a prefix, `[dateType!=Issued]` the others, `[x]` those that
//! have an `x`, `[!x]` those that have none; `*` is any one name.

use serde_json::Value;

use super::value::{self, get, items, text};

/// Paths in order of preference.
pub(super) type Paths = &'static [&'static str];

/// Most values taken under one path.
const MOST_VALUES: usize = 4096;

/// The values at `path` below `node`.
pub(super) fn at<'v>(node: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![node];
    for step in path.split('.') {
        let (name, test) = step.split_once('[').map_or((step, None), |(name, test)| (name, test.strip_suffix(']')));
        let mut next: Vec<&Value> = Vec::new();
        for value in found {
            match (name, value) {
                ("*", Value::Object(map)) => map.values().for_each(|value| next.extend(items(value))),
                _ => next.extend(items(get(value, &[name]))),
            }
            next.truncate(MOST_VALUES);
        }
        if let Some(test) = test {
            next.retain(|value| passes(value, test));
        }
        // Stable: of one language the first stays the first.
        if next.len() > 1 {
            next.sort_by_key(|value| !value::is_english(value));
        }
        found = next;
    }
    found
}

fn passes(value: &Value, test: &str) -> bool {
    let has = |name: &str| at(value, name).first().copied().and_then(text);
    let is = |name: &str, expected: &str| {
        let is = has(&name.replace('/', "."));
        is.is_some_and(|is| value::local_name(&is).eq_ignore_ascii_case(expected))
    };
    if let Some((name, expected)) = test.split_once("!=") {
        return !is(name, expected);
    }
    match (test.strip_prefix('!'), test.split_once('=')) {
        (Some(name), _) => has(name).is_none(),
        (None, Some((name, expected))) => is(name, expected),
        (None, None) => has(test).is_some(),
    }
}

/// The values at `paths` below `node`, of the first path first.
pub(super) fn values(node: &Value, paths: Paths) -> Vec<&Value> {
    paths.iter().flat_map(|path| at(node, path)).collect()
}

/// The texts among them that are not blank.
pub(super) fn texts<'v>(node: &'v Value, paths: Paths) -> impl Iterator<Item = String> + 'v {
    paths.iter().flat_map(move |path| at(node, path)).filter_map(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_goes_through_lists_keeps_what_passes_and_puts_english_first() {
        let node = json!({"dc:dates": [{"date": "2001", "kind": "Made"}, {"date": "2002", "kind": "issued"}, {"date": "2003"}],
            "titles": [{"title": "Pluie", "lang": "fr"}, {"title": "Rain", "lang": "en"}],
            "any": {"a": {"x": 1}, "b": [{"x": 2, "of": {"kind": "k"}}]}});
        let read = |path: &str| at(&node, path).into_iter().filter_map(text).collect::<Vec<_>>().join(" ");
        assert_eq!(read("dates.date"), "2001 2002 2003");
        assert_eq!(read("dates[kind=Issued].date"), "2002");
        assert_eq!(read("dates[!kind].date"), "2003");
        assert_eq!(read("dates[kind].date"), "2001 2002");
        assert_eq!(read("dates[kind!=issued].date"), "2001 2003");
        assert_eq!(read("titles.title"), "Rain Pluie");
        assert_eq!(read("any.*.x"), "1 2");
        assert_eq!(read("any.*[of/kind=K].x"), "2");
        assert_eq!(read("nothing.at.all"), "");
    }
}
