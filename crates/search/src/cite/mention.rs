//! Finds identifiers and names of tables in running text, also disguised ones: with similar letters of other scripts, with
//! invisible characters, or with the scheme separated from the rest.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use lakeward_lake::identifier::{Identifier, is_invisible, trimmed};

/// Replaces a removed name or identifier in a text.
pub const NOT_THERE: &str = "[not in the catalogue]";

/// Parts of a word that mark it as an identifier, wherever they occur.
const SCHEMES: [&str; 12] =
    ["doi:", "doi.org", "cstr:", "cstr.cn", "hdl:", "hdl.handle", "ark:", "urn:", "lakeward:", "://", "www.", "info:"];
/// Endings of table files.
const FILES: [&str; 12] =
    [".csv", ".tsv", ".psv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".gz"];
/// Letters of other scripts and the Latin letters that they look like.
const LOOK_ALIKE: [(&str, &str); 3] = [
    ("аеорсухіјѕԁԛԝһӏмтквн", "aeopcyxijsdqwhlmtkbh"),
    ("АВЕКМНОРСТХУІЈЅ", "ABEKMHOPCTXYIJS"),
    ("αινορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aivoptuxABEZHIKMNOPTYX"),
];

/// What a word of a text may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It looks like a persistent identifier or an address.
    Identifier,
    /// It looks like the name of a table: `sales_2019`, `orders.csv`, or a word in quotes.
    Name,
    /// It mixes scripts, as deceptive names do.
    Disguised,
}

/// A word of a text that may name data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// What it may be.
    pub kind: Kind,
}

/// The words of `text` that may name data. `has_shape` tells whether a word has the form of a table name of the catalogue.
pub(super) fn mentions(text: &str, has_shape: &dyn Fn(&str) -> bool) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut scheme_before = false;
    let words = words(text);
    for (place, range) in words.iter().enumerate() {
        let word = &text[range.clone()];
        let plain = plain(word);
        let inner = trimmed(&plain);
        let follows_scheme = std::mem::replace(&mut scheme_before, is_bare_scheme(&plain));
        let next_is_path =
            words.get(place + 1).is_some_and(|next| text[next.clone()].trim_start_matches(['(', '[']).starts_with('/'));
        if follows_scheme
            || scheme_before
            || is_identifier(&plain)
            || (is_registrant(inner) && (next_is_path || plain.ends_with('/')))
        {
            // A part of an identifier that continues in the next word: both words belong to it.
            scheme_before |= is_registrant(inner);
            push(&mut found, range.clone(), Kind::Identifier);
        } else if mixes_scripts(word) {
            push(&mut found, range.clone(), Kind::Disguised);
        } else if is_name(inner) || has_shape(inner) || is_quoted(text, range) {
            push(&mut found, range.clone(), Kind::Name);
        }
    }
    found
}

/// Adds a mention.
fn push(found: &mut Vec<Mention>, range: Range<usize>, kind: Kind) {
    found.push(Mention { range, kind });
}

/// `text` without the identifiers that `is_known` rejects, and how many were removed. Identifiers that occur in `grounds`, the
/// texts that the author of `text` was given, are kept.
pub fn without_identifiers(text: &str, grounds: &[&str], is_known: &dyn Fn(&Identifier) -> bool) -> (String, usize) {
    let grounded = |word: &str| grounds.iter().any(|ground| ground.contains(word));
    let unknown = mentions(text, &|_| false).into_iter().filter(|mention| {
        let word = trimmed(&text[mention.range.clone()]);
        let known = || Identifier::parse(word).is_some_and(|identifier| is_known(&identifier));
        mention.kind == Kind::Identifier && !grounded(word) && !known()
    });
    replaced(text, &unknown.map(|mention| mention.range).collect::<Vec<_>>())
}

/// `text` with a note in place of each of `ranges`, which are in order; adjacent ranges get one note. Also returns the number of
/// notes.
pub(super) fn replaced(text: &str, ranges: &[Range<usize>]) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut end, mut count) = (0, 0);
    for range in ranges {
        let between = &text[end..range.start];
        // One identifier in two words gets one note.
        if count == 0 || !between.trim().is_empty() || end == 0 {
            out.push_str(between);
            out.push_str(NOT_THERE);
            count += 1;
        }
        end = range.end;
    }
    out.push_str(&text[end..]);
    (out, count)
}

/// The words of a text, separated by white space, without the punctuation of the sentence at their ends.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_whitespace() || c.is_control() {
            if let Some(start) = start.take() {
                words.push(within(text, start, at));
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    words.retain(|range| !range.is_empty());
    words
}

/// `start..end` without punctuation at its ends; a colon and a slash may belong to an identifier.
fn within(text: &str, start: usize, end: usize) -> Range<usize> {
    let word = &text[start..end];
    let left = word.trim_start_matches(['(', '[', '{', '"', '\'', '“', '‘', '«', '`', '<', ',', ';']);
    let right = left.trim_end_matches(['.', ',', ';', '!', '?', '"', '\'', '”', '’', '»', '`', '>', ')', ']', '}']);
    let start = start + (word.len() - left.len());
    start..start + right.len()
}

/// A word as a reader sees it: compatibility forms and letters that look like Latin ones become plain Latin letters, invisible
/// characters are removed.
pub(super) fn plain(word: &str) -> String {
    let latin = |c: char| {
        let found = LOOK_ALIKE.iter().find_map(|(others, latin)| {
            let place = others.chars().position(|other| other == c)?;
            latin.chars().nth(place)
        });
        match c {
            '‐'..='―' | '−' => '-',
            '∕' | '⁄' | '／' => '/',
            '：' | '꞉' | '∶' => ':',
            '․' | '。' => '.',
            c => found.unwrap_or(c),
        }
    };
    word.nfkc().filter(|c| !is_invisible(*c)).map(latin).collect()
}

/// Whether a single word is in quotes, as names are.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    let pairs = [('"', '"'), ('“', '”'), ('‘', '’'), ('`', '`'), ('«', '»'), ('\'', '\'')];
    pairs.into_iter().any(|(open, close)| before == Some(open) && after == Some(close))
}

fn is_bare_scheme(plain: &str) -> bool {
    let lower = plain.to_lowercase();
    let lower = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    ["doi:", "cstr:", "hdl:", "ark:", "lakeward:", "doi", "cstr"].contains(&lower)
}

fn is_identifier(plain: &str) -> bool {
    let lower = plain.to_lowercase();
    SCHEMES.iter().any(|scheme| lower.contains(scheme)) || has_doi(&lower) || Identifier::parse(plain).is_some()
}

/// Whether it contains `10.DIGITS/`.
fn has_doi(lower: &str) -> bool {
    lower.match_indices("10.").any(|(at, _)| {
        let digits = lower[at + 3..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len() - at - 3);
        let rest = &lower[at + 3 + digits..];
        digits >= 4 && (rest.starts_with('/') || rest.starts_with("%2f"))
    })
}

/// Whether it is the beginning of a DOI up to its slash.
fn is_registrant(inner: &str) -> bool {
    let digits = inner.trim_end_matches('/').strip_prefix("10.");
    digits.is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the word mixes Latin letters with similar letters of other scripts, or contains invisible characters.
fn mixes_scripts(word: &str) -> bool {
    let alike = |c: char| LOOK_ALIKE.iter().any(|(others, _)| others.contains(c));
    let has_latin = word.chars().any(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/');
    (has_latin && word.chars().any(alike)) || word.chars().any(is_invisible)
}

/// Whether it is written like a table name and unlike the words of a sentence.
fn is_name(inner: &str) -> bool {
    let lower = inner.to_lowercase();
    let joined = inner.char_indices().any(|(at, c)| {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        c == '_' && letter(inner[..at].chars().next_back()) && letter(inner[at + 1..].chars().next())
    });
    let is_file = FILES.iter().any(|end| lower.ends_with(end) && lower.len() > end.len());
    joined || is_file || (inner.contains('/') && inner.contains('@'))
}

/// The shape of a name: a run of letters as `a`, each digit as `9`; `None` for a plain word or a short number, whose shape does
/// not distinguish names.
pub(super) fn shape(name: &str) -> Option<String> {
    const MOST_CHARS: usize = 80;
    let mut shape = String::new();
    let mut informative = false;
    for c in name.chars().take(MOST_CHARS) {
        if c.is_alphabetic() {
            if !shape.ends_with('a') {
                shape.push('a');
            }
        } else if c.is_ascii_digit() {
            shape.push('9');
            informative = true;
        } else if c.is_whitespace() {
            return None;
        } else {
            shape.push(c);
            informative = true;
        }
    }
    // A short number may be a year, a day or a share.
    let short_number = shape.len() < 5 && shape.bytes().all(|byte| byte == b'9');
    (informative && !short_number).then_some(shape)
}
