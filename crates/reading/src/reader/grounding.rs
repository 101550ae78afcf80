//! What the words of a span spell out: columns and values that are called so, whatever the model takes the words for.

use lakeward_core::text::name_key;

use super::schema::{Schema, SchemaColumn, ValueMatch};

/// The column whose name the words are, where one alone is called so.
pub(super) fn spelt(said: &str, schema: &Schema) -> Option<usize> {
    let is_article = |word: &str| matches!(word, "the" | "a" | "an" | "its" | "their" | "our" | "my");
    let bare =
        said.split_once(' ').filter(|(first, _)| is_article(&first.to_lowercase())).map_or(said, |(_, rest)| rest);
    let key = name_key(bare);
    let is_called = |column: &SchemaColumn| {
        column.stands_for.is_none()
            && std::iter::once(&column.name).chain(&column.also).any(|name| name_key(name) == key)
    };
    let mut places = (0..schema.columns.len()).filter(|place| is_called(&schema.columns[*place]));
    match (places.next(), places.next()) {
        (Some(place), None) if !key.is_empty() => Some(place),
        _ => None,
    }
}

/// The columns of text that have all words of a span, counted in the text's words, as a value.
pub(super) fn with_value<'m>(
    words: std::ops::Range<usize>,
    matches: &'m [ValueMatch],
) -> impl Iterator<Item = &'m ValueMatch> {
    let is_it = move |found: &&ValueMatch| {
        found.likeness >= 1.0 && found.words.0 <= words.start && found.words.1 + 1 >= words.end
    };
    matches.iter().filter(is_it)
}
