//! Dataset names that a text itself introduces: `the Open Flock dataset`, `flock8`, and short forms that it introduces.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::cues::is_dataset_word;
use lakeward_core::text::letters_and_digits;

/// Maximum number of words of a name.
const MAX_WORDS: usize = 5;
/// Minimum letters of a single word that is a name because it is not an ordinary word.
const MIN_STRANGE: usize = 5;
/// Maximum number of words of a long name before its short form.
const MAX_LONG_WORDS: usize = 8;
/// Words that begin sentences or describe any dataset: no name begins with them.
const NO_BEGINNING: &str = "the this these those our we in on for each both all table figure fig section appendix training test \
    validation such other new large small two three four five most many several since as to it their its first second third \
    another any some existing public standard challenging human image video deep neural cnn rnn lstm gan gpu sgd additionally \
    however moreover furthermore here using while with from by at an a and of natural language recognition detection speech data \
    dataset datasets experiments results available synthetic real full unlike english chinese german french";
/// Small words inside names.
const INSIDE: [&str; 4] = ["of", "in", "the", "and"];

/// A word of a line without surrounding punctuation.
struct Word<'t> {
    start: usize,
    text: &'t str,
    /// Whether punctuation separates it from the next word.
    is_last: bool,
}

fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for piece in line.split_whitespace() {
        let offset = piece.as_ptr() as usize - line.as_ptr() as usize;
        let is_edge = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '+' | '*'));
        let front = piece.len() - piece.trim_start_matches(is_edge).len();
        let text = piece.trim_matches(is_edge);
        let behind = &piece[(front + text.len()).min(piece.len())..];
        words.push(Word {
            start: offset + front.min(piece.len()),
            text,
            is_last: behind.contains([',', ';', ':', '.', ')']),
        });
    }
    words
}

/// The byte ranges of names before a word for datasets. `is_ordinary` tells whether a word is an ordinary one, for which a capital
/// alone does not make a name.
pub fn named(line: &str, is_ordinary: &dyn Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let words = words(line);
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if place == 0 || !is_dataset_word(&word.text.to_lowercase()) {
            continue;
        }
        if let Some(span) = name_before(line, &words[..place], is_ordinary) {
            found.push(spelled_out(line, span).unwrap_or(span));
        }
    }
    found.extend(numbered(&words));
    found
}

/// The whole of a long name with the same end that a short form in the line stands for, however many words it has.
fn spelled_out(line: &str, (start, end): (usize, usize)) -> Option<(usize, usize)> {
    let at = |text: &str| text.as_ptr() as usize - line.as_ptr() as usize;
    short_forms(line).into_iter().find_map(|(short, long)| {
        let whole = long.into_iter().rfind(|long| spells(long, short))?;
        (at(whole) <= start && at(whole) + whole.len() == end).then_some((at(whole), end))
    })
}

/// The name at the end of `words`, skipping one bracket and one lower-case word.
fn name_before(line: &str, words: &[Word<'_>], is_ordinary: &dyn Fn(&str) -> bool) -> Option<(usize, usize)> {
    let mut end = words.len();
    let is_small = |word: &Word<'_>| {
        !word.is_last && !word.text.is_empty() && word.text.chars().all(|letter| letter.is_lowercase() || letter == '-')
    };
    if words.get(end.wrapping_sub(1)).is_some_and(is_small) {
        end -= 1;
    }
    end = without_bracket(line, words, end);
    let mut start = end;
    while start > 0 && end - start < MAX_WORDS {
        let word = &words[start - 1];
        if start < end && word.is_last || !(is_name_word(word.text) || INSIDE.contains(&word.text)) {
            break;
        }
        start -= 1;
    }
    while start < end && begins_none(words[start].text) {
        start += 1;
    }
    let (first, last) = (words.get(start)?, words.get(end.checked_sub(1)?)?);
    let name = line.get(first.start..last.start + last.text.len())?;
    (start < end && is_name(&words[start..end], is_ordinary)).then_some((first.start, first.start + name.len()))
}

/// The end of the words without one bracket at their end.
fn without_bracket(line: &str, words: &[Word<'_>], end: usize) -> usize {
    const WIDEST: usize = 4;
    let Some(last) = end.checked_sub(1).and_then(|last| words.get(last)) else { return end };
    let behind = line[last.start + last.text.len()..].chars().take_while(|letter| !letter.is_whitespace());
    let open = match behind.filter(|letter| matches!(letter, ']' | ')')).last() {
        Some(']') => '[',
        Some(_) => '(',
        None => return end,
    };
    let is_opened = |word: &Word<'_>| {
        let mut before = line[..word.start].chars().rev().take_while(|letter| !letter.is_whitespace());
        before.any(|letter| letter == open)
    };
    (end.saturating_sub(WIDEST)..end).rev().find(|place| is_opened(&words[*place])).unwrap_or(end)
}

fn is_name_word(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next();
    first.is_some_and(char::is_uppercase)
        || word.chars().any(char::is_numeric)
        || first.is_some_and(char::is_lowercase) && letters.any(char::is_uppercase)
}

fn begins_none(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| NO_BEGINNING.split_whitespace().collect()).contains(word.to_lowercase().as_str())
}

/// Whether the words can be a name: two capitals, a digit or one unusual word, and not an enumeration.
fn is_name(words: &[Word<'_>], is_ordinary: &dyn Fn(&str) -> bool) -> bool {
    let letters = || words.iter().flat_map(|word| word.text.chars());
    let capitals = letters().filter(|letter| letter.is_uppercase()).count();
    let is_number = words.iter().all(|word| word.text.chars().all(|letter| !letter.is_alphabetic()));
    let is_list = words.iter().any(|word| word.text == "and");
    let is_strange =
        matches!(words, [word] if word.text.chars().count() >= MIN_STRANGE && capitals == 1 && !is_ordinary(word.text));
    let ends_small = words.last().is_some_and(|word| INSIDE.contains(&word.text));
    !is_number && !is_list && !ends_small && (capitals >= 2 || letters().any(char::is_numeric) || is_strange)
}

/// `text8`: a word of four or more lower-case letters and one digit.
fn numbered<'a>(words: &'a [Word<'_>]) -> impl Iterator<Item = (usize, usize)> + 'a {
    let is_numbered = |text: &str| {
        text.len() >= 5
            && text.ends_with(|letter: char| letter.is_ascii_digit())
            && text[..text.len() - 1].bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let found = words.iter().filter(move |word| is_numbered(word.text));
    found.map(|word| (word.start, word.start + word.text.len()))
}

/// Short forms that `line` introduces after long names, `Open Flock Count (OFC)`, or explains, `OFC (Open Flock Count)`: the short form,
/// and each candidate for the long name, longest first.
pub fn short_forms(line: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    for (open, _) in line.match_indices('(') {
        let Some(close) = line[open..].find(')') else { break };
        let inside = line[open + 1..open + close].trim();
        let short = inside.strip_suffix('s').unwrap_or(inside);
        let before = line[..open].trim_end();
        if !is_short(short) {
            let start = before.rfind([' ', '\t', '(', '"']).map_or(0, |at| at + 1);
            let explained = &before[start..];
            if is_short(explained) && inside.contains(' ') && spells(inside, explained) {
                found.push((explained, vec![inside]));
            }
            continue;
        }
        let mut starts: Vec<usize> = Vec::new();
        let mut rest = before;
        while starts.len() < MAX_LONG_WORDS {
            let start = rest.rfind([' ', '\t']).map_or(0, |at| at + 1);
            let word = &rest[start..];
            let fits = word.starts_with(char::is_uppercase) || INSIDE.contains(&word) || word == "for";
            if word.is_empty() || !fits {
                break;
            }
            starts.push(start);
            rest = rest[..start].trim_end();
        }
        let long: Vec<&str> =
            starts.iter().rev().map(|start| &before[*start..]).filter(|long| has_initials(long, short)).collect();
        if !long.is_empty() {
            found.push((short, long));
        }
    }
    found
}

/// Whether a word may be a short form: `OFC`, `FLOCK-III`.
fn is_short(word: &str) -> bool {
    (2..=12).contains(&word.len())
        && word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether `short` is made of the initials of `long` or of its last words.
fn has_initials(long: &str, short: &str) -> bool {
    let short = letters_and_digits(short).to_lowercase();
    initials_of(long).iter().any(|form| form.ends_with(&short))
}

/// Whether `short` is made of the initials of all of `long`.
pub fn spells(long: &str, short: &str) -> bool {
    initials_of(long).contains(&letters_and_digits(short).to_lowercase())
}

/// The initials of a name in lower case: with and without its small words, and its capitals; numbers, Roman ones too, are kept whole.
fn initials_of(long: &str) -> [String; 3] {
    let words = || long.split([' ', '-']).filter(|word| !word.is_empty());
    let is_small = |word: &&str| INSIDE.contains(word) || *word == "for";
    let is_number = |word: &str| is_roman(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    let initial = |word: &str| match is_number(word) {
        true => word.to_lowercase(),
        false => word.chars().next().map(|letter| letter.to_lowercase().collect()).unwrap_or_default(),
    };
    [
        words().map(initial).collect(),
        words().filter(|word| !is_small(word)).map(initial).collect(),
        long.chars().filter(|letter| letter.is_uppercase()).flat_map(char::to_lowercase).collect(),
    ]
}

/// `II`, `IV`: a Roman number of two letters or more, as names of editions have it.
pub fn is_roman(word: &str) -> bool {
    word.len() >= 2 && word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<&str> {
        named(line, &|_| true).into_iter().map(|(start, end)| &line[start..end]).collect()
    }

    #[test]
    fn names_stand_before_words_for_data_sets() {
        assert_eq!(names("We use the Open Flock [reference] counting dataset."), ["Open Flock"]);
        assert_eq!(names("On the OFC-2 (see [3]) corpus, and on text8."), ["OFC-2", "text8"]);
        assert_eq!(names("The Flock dataset, this dataset, 12 datasets, Large Datasets"), [""; 0]);
        assert_eq!(names("Sheep, GoatNet benchmarks"), ["GoatNet"]);
        assert_eq!(names("dataset"), [""; 0]);
        assert!(short_forms("the Open Flock Count (OFC)")[0].1.contains(&"Open Flock Count"));
        assert!(short_forms("Open (see below) (X").is_empty());
        let forms = short_forms("the Open Market for Intensive Flocks III (OMIF-III)");
        assert!(spells(forms[0].1[0], forms[0].0), "{forms:?}");
        assert_eq!(short_forms("on OFC (Open Flock Count) and X (see Y)"), [("OFC", vec!["Open Flock Count"])]);
    }

    #[test]
    fn odd_lines_break_nothing() {
        for line in [
            "",
            "(",
            "() dataset",
            "[ ] dataset",
            "é dataset",
            ". dataset",
            "ÀÉ8 (ÀÉ) corpus",
            "(A dataset",
            "日本 corpus",
        ] {
            let _ = (names(line), short_forms(line));
        }
    }
}
