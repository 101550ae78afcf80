//! Identifiers and names of tables in running text, also in disguise: letters of other scripts that look alike, characters that
//! do not show, schemes parted from what they name.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::identifier::{Identifier, is_invisible, trimmed};

/// Stands in a text for what was taken out of it.
pub const NOT_THERE: &str = "[not in the catalogue]";

/// Schemes that tell an identifier wherever they stand.
const SCHEMES: [&str; 12] =
    ["doi:", "doi.org", "cstr:", "cstr.cn", "hdl:", "hdl.handle", "ark:", "urn:", "lakeward:", "://", "www.", "info:"];
/// Endings of table files.
const FILES: [&str; 12] =
    [".csv", ".tsv", ".psv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".gz"];
/// Letters of other scripts and the Latin ones that they look like.
const LOOK_ALIKE: [(&str, &str); 3] = [
    ("аеорсухіјѕԁԛԝһӏмтквн", "aeopcyxijsdqwhlmtkbh"),
    ("АВЕКМНОРСТХУІЈЅ", "ABEKMHOPCTXYIJS"),
    ("αινορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aivoptuxABEZHIKMNOPTYX"),
];

/// What a word of a text may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reads like a persistent identifier or an address.
    Identifier,
    /// It reads like the name of a table: `sales_2019`, `orders.csv`, in quotes.
    Name,
    /// It mixes scripts as names do that are made to be mistaken for others.
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

/// The words of `text` that may name data. `has_shape` says of a word whether tables of the catalogue are called like it.
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
            // Parted from what it names: both belong to it.
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

/// Adds a mention, as one with the identifier before it where that is parted.
fn push(found: &mut Vec<Mention>, range: Range<usize>, kind: Kind) {
    found.push(Mention { range, kind });
}

/// `text` without the identifiers in it that `is_known` does not know, and how many they were. What `grounds` say may stand:
/// texts that whoever wrote `text` was shown.
pub fn without_identifiers(text: &str, grounds: &[&str], is_known: &dyn Fn(&Identifier) -> bool) -> (String, usize) {
    let grounded = |word: &str| grounds.iter().any(|ground| ground.contains(word));
    let unknown = mentions(text, &|_| false).into_iter().filter(|mention| {
        let word = trimmed(&text[mention.range.clone()]);
        let known = || Identifier::parse(word).is_some_and(|identifier| is_known(&identifier));
        mention.kind == Kind::Identifier && !grounded(word) && !known()
    });
    replaced(text, &unknown.map(|mention| mention.range).collect::<Vec<_>>())
}

/// `text` with a note in place of each of `ranges`, which come in order; those next to one another as one.
pub(super) fn replaced(text: &str, ranges: &[Range<usize>]) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut end, mut count) = (0, 0);
    for range in ranges {
        let between = &text[end..range.start];
        // Of one identifier in two words there is one note.
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

/// The words of a text, parted by white space, without the punctuation of the sentence at their ends.
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

/// A word as it reads: compatibility forms and letters that look like Latin ones as those, nothing that does not show.
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

/// Whether a word stands alone in quotes, as names do.
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

/// Whether `10.DIGITS/` stands anywhere in it.
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

/// Whether Latin letters stand beside such of other scripts that look like Latin ones, or the word hides characters.
fn mixes_scripts(word: &str) -> bool {
    let alike = |c: char| LOOK_ALIKE.iter().any(|(others, _)| others.contains(c));
    let has_latin = word.chars().any(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/');
    (has_latin && word.chars().any(alike)) || word.chars().any(is_invisible)
}

/// Whether it is written as tables are called and words of a sentence are not.
fn is_name(inner: &str) -> bool {
    let lower = inner.to_lowercase();
    let joined = inner.char_indices().any(|(at, c)| {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        c == '_' && letter(inner[..at].chars().next_back()) && letter(inner[at + 1..].chars().next())
    });
    let is_file = FILES.iter().any(|end| lower.ends_with(end) && lower.len() > end.len());
    joined || is_file || (inner.contains('/') && inner.contains('@'))
}

/// The shape of a name: letters as `a`, digits as `9`, runs of letters as one; `None` for a plain word, which says nothing.
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
    // A short number is a year, a day, a share.
    let short_number = shape.len() < 5 && shape.bytes().all(|byte| byte == b'9');
    (informative && !short_number).then_some(shape)
}
