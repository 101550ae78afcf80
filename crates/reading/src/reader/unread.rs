//! Words of a turn that surely say something of the rows and that the model takes for nothing: numbers, days, months, and values of columns.

use lakeward_core::text::{is_function_word, stems, yes_or_no};

use super::input::Input;
use super::number::{month, weekday};
use super::schema::Schema;
use super::value_match::ValueMatch;

/// Shortest name of a month that is no other word, as `may` and `mar`.
const MONTH: usize = 4;

/// The words of a text that no span has, as `is_read` tells by their places. Of 27,744 turns in labels/turns at most 400 have such words.
pub(super) fn unread(
    text: &str,
    (input, schema): (&Input, &Schema),
    matches: &[ValueMatch],
    is_read: impl Fn(usize) -> bool,
) -> Vec<String> {
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-');
    // A number within a code or a range is a part of it.
    let stands_alone = |bytes: &std::ops::Range<usize>| {
        !is_letter(text[..bytes.start].chars().next_back()) && !is_letter(text[bytes.end..].chars().next())
    };
    let mut found: Vec<String> = Vec::new();
    for (place, word) in input.words.iter().enumerate().filter(|(place, _)| !is_read(*place)) {
        let said = &text[word.bytes.clone()];
        let lower = said.to_lowercase();
        let is_number = said.bytes().all(|byte| byte.is_ascii_digit()) && stands_alone(&word.bytes);
        let is_day = lower.trim_end_matches('s').ends_with("day") && weekday(&lower).is_some()
            || matches!(lower.trim_end_matches('s'), "weekend" | "weekday");
        let is_month = lower.len() >= MONTH && lower != "march" && month(&lower).is_some();
        let is_one = |matched: &ValueMatch| matched.words == (place, place) && is_plain_value(said, schema, matched);
        if is_number || is_day || is_month || matches.iter().any(is_one) {
            found.push(said.to_string());
        }
    }
    found
}

/// Whether a word is a value of a column whose values are few, and names no column. A short one has to look like a code: `PER` is a country.
fn is_plain_value(said: &str, schema: &Schema, matched: &ValueMatch) -> bool {
    const SHORTEST: usize = 3;
    let lower = said.to_lowercase();
    let is_spelt = lower.len() > SHORTEST || said != lower;
    let Some(column) = schema.columns.get(matched.column) else { return false };
    let own = stems(&lower);
    let names_column = schema.columns.iter().any(|column| own.is_subset(&stems(&column.name)));
    let is_known = column.complete || !column.meanings.is_empty();
    matched.likeness >= 1.0
        && is_known
        && is_spelt
        && lower.len() >= SHORTEST
        && !is_function_word(&lower)
        && yes_or_no(&lower).is_none()
        && !names_column
}
