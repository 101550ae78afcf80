//! What the model sees: the text, the turn before, and the columns with what is known of them.
//!
//! `[CLS] text [SEP] turn before [SEP] | name kind used = value = value | name kind …`, in word pieces of the sentence model. A vector of the
//! encoder stands for each word of the text (the mean of its pieces), for each column and for each value that is shown of it.

use std::ops::Range;

use lakeward_core::text::{bare, name_words};

use super::schema::{ColumnKind, ColumnNames, Schema, SchemaColumn};
use super::value_match::ValueMatch;
use super::words::{MOST_WORDS, Word, words};

/// Most pieces of the turn before.
const PREVIOUS_PIECES: usize = 24;
/// Most characters of it that are looked at.
const PREVIOUS_CHARS: usize = 400;
/// Most pieces of the whole input.
pub const MOST_PIECES: usize = 320;
/// Most pieces of a column's name, and of one value.
const NAME_PIECES: usize = 10;
const VALUE_PIECES: usize = 6;
/// Most values shown of a column; fewer where there is no room.
const SHOWN_VALUES: usize = 8;
/// Most words of a name that is looked for among others, and how much of its likeness counts.
const NAME_WORDS: usize = 4;
const INSIDE: f32 = 0.8;
/// Features of a span and a column, see [`features`].
pub const FEATURES: usize = 6;

/// Word pieces by their numbers.
pub trait Pieces {
    /// The pieces of a word or name, in order.
    fn pieces(&self, word: &str) -> Vec<u32>;
    /// The piece that begins every text, the one that ends every part, and the one for a word without pieces.
    fn marks(&self) -> [u32; 3];
}

/// The input of one turn.
#[derive(Debug, Clone)]
pub struct Input {
    /// Word pieces.
    pub pieces: Vec<u32>,
    /// The words of the text, at most [`MOST_WORDS`].
    pub words: Vec<Word>,
    /// The pieces of each word.
    pub word_pieces: Vec<Range<usize>>,
    /// The pieces of each column of the schema; empty for one that there was no room for.
    pub column_pieces: Vec<Range<usize>>,
    /// The values that are shown of each column, with their pieces.
    pub values: Vec<Vec<(String, Range<usize>)>>,
    /// The names of the columns.
    pub names: ColumnNames,
}

impl Input {
    /// The input for a text; `matches` are the values in it.
    pub fn new(vocabulary: &dyn Pieces, text: &str, previous: &str, schema: &Schema, matches: &[ValueMatch]) -> Self {
        let [begin, end, unknown] = vocabulary.marks();
        let mut pieces = vec![begin];
        let mut words = words(text);
        words.truncate(MOST_WORDS);
        let mut word_pieces = Vec::with_capacity(words.len());
        for word in &words {
            let from = pieces.len();
            pieces.extend(vocabulary.pieces(&text[word.bytes.clone()]));
            if pieces.len() == from {
                pieces.push(unknown);
            }
            word_pieces.push(from..pieces.len());
        }
        pieces.push(end);
        let start = previous.char_indices().nth(PREVIOUS_CHARS).map_or(previous, |(at, _)| &previous[..at]);
        pieces.extend(vocabulary.pieces(start).into_iter().take(PREVIOUS_PIECES));
        pieces.push(end);
        let names = schema.names();
        let mut described: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut room = MOST_PIECES.saturating_sub(pieces.len() + 1);
        for place in by_relevance((text, &words), schema, &names, matches) {
            let column = described_column(vocabulary, &schema.columns[place]);
            if column.len() > room {
                break;
            }
            room -= column.len();
            described.push((place, column));
        }
        let mut column_pieces = vec![0..0; schema.columns.len()];
        let mut values = vec![Vec::new(); schema.columns.len()];
        let mut left = described.iter().filter(|(place, _)| shown(schema, *place, matches).next().is_some()).count();
        for (place, column) in described {
            let from = pieces.len();
            pieces.extend(column);
            // What room there is, the columns that still come share alike.
            let mut own = room / left.max(1);
            let mut is_shown = false;
            for value in shown(schema, place, matches).take(SHOWN_VALUES) {
                is_shown = true;
                let written = vocabulary.pieces(value).into_iter().take(VALUE_PIECES);
                let written: Vec<u32> = vocabulary.pieces("=").into_iter().chain(written).collect();
                if written.len() > own {
                    break;
                }
                own -= written.len();
                room -= written.len();
                values[place].push((value.to_string(), pieces.len() + 1..pieces.len() + written.len()));
                pieces.extend(written);
            }
            left -= usize::from(is_shown);
            column_pieces[place] = from..pieces.len();
        }
        pieces.push(end);
        Self { pieces, words, word_pieces, column_pieces, values, names }
    }

    /// Whether a run of words is nothing but a contracted "not" or a part of it: `don'` of `don't`. That speaks of no column by itself.
    pub(super) fn is_negation(&self, text: &str, run: &Range<usize>) -> bool {
        let Some(first) = self.words.get(run.start) else { return false };
        let blank = text[..first.bytes.start].char_indices().rev().find(|(_, letter)| letter.is_whitespace());
        let from = blank.map_or(0, |(at, letter)| at + letter.len_utf8());
        let to = text[from..].find(char::is_whitespace).map_or(text.len(), |at| from + at);
        let whole = bare(&text[from..to]).to_lowercase().replace('’', "'");
        let inside = |word: &Word| word.bytes.end <= to;
        whole.ends_with("n't") && self.words[run.clone()].iter().all(inside)
    }
}

/// Columns in the order of the schema where all have room; the less likely ones last where there are very many.
fn by_relevance(
    (text, words): (&str, &[Word]),
    schema: &Schema,
    names: &ColumnNames,
    matches: &[ValueMatch],
) -> Vec<usize> {
    const ROOM_FOR_ALL: usize = 36;
    let mut places: Vec<usize> = (0..schema.columns.len()).collect();
    if places.len() <= ROOM_FOR_ALL {
        return places;
    }
    let phrases = words.iter().filter(|word| word.is_word).map(|word| &text[word.bytes.clone()]);
    let mut scores: Vec<f32> = schema
        .columns
        .iter()
        .map(|column| f32::from(u8::from(!column.used.is_empty())) + f32::from(u8::from(column.of_result)))
        .collect();
    for phrase in phrases {
        for (score, like) in scores.iter_mut().zip(names.likenesses(phrase)) {
            *score = score.max(like);
        }
    }
    for found in matches {
        scores[found.column] += found.likeness;
    }
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    places.truncate(ROOM_FOR_ALL * 2);
    places
}

/// The pieces of one column without its values.
fn described_column(vocabulary: &dyn Pieces, column: &SchemaColumn) -> Vec<u32> {
    let mut pieces = vocabulary.pieces("|");
    let name = column.english.as_ref().unwrap_or(&column.name);
    pieces.extend(vocabulary.pieces(&name_words(name).join(" ")).into_iter().take(NAME_PIECES));
    let kind = if column.has_words() { ColumnKind::Text } else { column.kind };
    pieces.extend(vocabulary.pieces(if column.of_result { "result" } else { kind.word() }));
    for used in &column.used {
        pieces.extend(vocabulary.pieces(used));
    }
    pieces
}

/// The values of a column that the model sees: those in the text, then the others where the column has few.
fn shown<'s>(schema: &'s Schema, place: usize, matches: &'s [ValueMatch]) -> impl Iterator<Item = &'s str> {
    let column = &schema.columns[place];
    let found = matches.iter().filter(move |found| found.column == place).map(|found| found.value.as_str());
    let is_found = move |value: &&str| matches.iter().any(|found| found.column == place && found.value == *value);
    let few = column.has_words() && column.complete;
    // Of each code that is there what it means, once.
    let means = |(place, (_, code)): &(usize, &(String, String))| {
        let is_first = column.meanings[..*place].iter().all(|(_, other)| other != code);
        is_first && (column.values.is_empty() || column.values.contains(code))
    };
    let meanings = column
        .meanings
        .iter()
        .enumerate()
        .filter(|_| !column.whole_meanings)
        .filter(means)
        .map(|(_, (meaning, _))| meaning);
    let plain = column.values.iter().filter(|value| column.whole_meanings || column.meaning(value, None).is_none());
    let others = plain.chain(meanings).filter(move |_| few).map(String::as_str).filter(move |value| !is_found(value));
    found.chain(others)
}

/// What can be said of each column for a run of words without the model: how alike its name is, how much one of its values is, whether a
/// number meets numbers or words meet text, whether the result made it, whether the plan uses it.
pub fn features(
    text: &str,
    span: Range<usize>,
    input: &Input,
    schema: &Schema,
    matches: &[ValueMatch],
) -> Vec<[f32; FEATURES]> {
    let inside = input.words.get(span.clone()).unwrap_or_default();
    let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
        return vec![[0.0; FEATURES]; schema.columns.len()];
    };
    let phrase = &text[first.bytes.start..last.bytes.end];
    let mut likeness = input.names.likenesses(phrase);
    let mut inner = |bytes: Range<usize>| {
        for (best, like) in likeness.iter_mut().zip(input.names.likenesses(&text[bytes])) {
            *best = best.max(INSIDE * like);
        }
    };
    inside.iter().filter(|word| word.is_word && word.bytes.len() > 2).for_each(|word| inner(word.bytes.clone()));
    // A name of several words with others around it: "year of birth is missing".
    for length in 2..inside.len().min(NAME_WORDS + 1) {
        inside.windows(length).for_each(|run| inner(run[0].bytes.start..run[length - 1].bytes.end));
    }
    let has_number = super::number::number(phrase).is_some();
    schema
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let matched = matches
                .iter()
                .filter(|found| found.column == place && found.words.0 < span.end && span.start <= found.words.1)
                .map(|found| found.likeness)
                .fold(0.0, f32::max);
            let number = column.kind.is_number() || column.kind == ColumnKind::Date;
            let fits = f32::from(u8::from(has_number == number));
            [
                likeness[place],
                matched,
                fits,
                f32::from(u8::from(column.kind == ColumnKind::Boolean)),
                f32::from(u8::from(column.of_result)),
                f32::from(u8::from(!column.used.is_empty())),
            ]
        })
        .collect()
}
