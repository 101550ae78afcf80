//! The columns that a turn can speak of: those of the rows at hand, and those of the present result.

use std::collections::HashMap;

use lakeward_core::plan::{Expression, Grouping, Plan, Relation, Step};
use lakeward_core::text::{NameParts, Stemmer, lower_words, name_words};
use lakeward_models::languages::{Language, written_in_names};
use lakeward_sketch::normalise::Normaliser;

use super::span::{Role, Span};
use super::words::{MOST_WORDS, words};

/// Most words of a value that is looked up in the text.
const LONGEST_VALUE: usize = 6;
/// The name of [`StandIn::Figure`].
const FIGURE: &str = "figure";
/// The name of [`StandIn::Rows`]: that of the measure that counts them.
const ROWS: &str = "count";
/// Features of words and a value, see [`value_features`].
pub const VALUE_FEATURES: usize = 2;
/// Most values of a column that matches are told of.
const MOST_MATCHES: usize = 4;

/// The type of a column, as far as reading cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Dates and times.
    Date,
    /// Yes and no.
    Boolean,
}

impl ColumnKind {
    /// The word for it in the model's input.
    pub fn word(self) -> &'static str {
        match self {
            ColumnKind::Text => "text",
            ColumnKind::Integer => "integer",
            ColumnKind::Number => "number",
            ColumnKind::Date => "date",
            ColumnKind::Boolean => "boolean",
        }
    }

    /// Whether it holds numbers.
    pub fn is_number(self) -> bool {
        matches!(self, ColumnKind::Integer | ColumnKind::Number)
    }
}

/// What a column stands for that no table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandIn {
    /// The figure that the turn itself computes ("mean fare by driver, at most 20").
    Figure,
    /// The number of rows in each group ("mean fare by driver, at least ten rides").
    Rows,
}

/// A column that can be spoken of.
#[derive(Debug, Clone)]
pub struct SchemaColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ColumnKind,
    /// Some of its values as written: all where they are few.
    pub values: Vec<String>,
    /// Whether `values` are all there are.
    pub complete: bool,
    /// Smallest and greatest number.
    pub range: Option<(f64, f64)>,
    /// The year of all its dates, where it is one.
    pub only_year: Option<i32>,
    /// Its unit of measure, where its publisher says it.
    pub unit: Option<String>,
    /// Whether every row is known to have a value in it.
    pub is_filled: bool,
    /// Whether it is known to hold quantities: numbers that are neither years nor tell rows apart.
    pub quantity: bool,
    /// Whether the result that stands made it: a measure, a computed column.
    pub of_result: bool,
    /// What it stands for, where it is none of a table.
    pub stand_in: Option<StandIn>,
    /// Words for what the plan already does with it: `where`, `by`, `mean`.
    pub used: Vec<&'static str>,
    /// Other names of it: with a synonym, what a user calls it, in English.
    pub also: Vec<String>,
    /// Its name in English, where it is in another language.
    pub english: Option<String>,
    /// What its codes mean, and the code: `cancelled`, `A`. Of one code the plainest first.
    pub meanings: Vec<(String, String)>,
    /// Whether a meaning is meant by all of its words alone, as a name of a place is: "new" does not begin `New Zealand`.
    pub whole_meanings: bool,
}

impl SchemaColumn {
    /// A column of which nothing but name and type is known.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self {
            name: name.into(),
            kind,
            values: Vec::new(),
            complete: false,
            range: None,
            only_year: None,
            unit: None,
            is_filled: false,
            quantity: false,
            of_result: false,
            stand_in: None,
            used: Vec::new(),
            also: Vec::new(),
            english: None,
            meanings: Vec::new(),
            whole_meanings: false,
        }
    }

    /// Whether words can be values of it: it has texts, or codes whose meanings are known.
    pub fn has_words(&self) -> bool {
        self.kind == ColumnKind::Text || !self.meanings.is_empty()
    }

    /// The value that stands for words: the code that has this meaning, else the words.
    pub(super) fn value_for(&self, words: String) -> String {
        let is_own = self.values.contains(&words);
        let code = self.meanings.iter().find(|(meaning, _)| *meaning == words).filter(|_| !is_own);
        code.map_or(words, |(_, code)| code.clone())
    }

    /// What one of its values means: in `words` where they are given and a meaning of it, else the plainest.
    pub(super) fn meaning(&self, value: &str, words: Option<&str>) -> Option<&str> {
        let mut all = self.meanings.iter().filter(|(_, code)| code == value).map(|(meaning, _)| meaning.as_str());
        let said = words.map(key).and_then(|said| all.clone().find(|meaning| key(meaning) == said));
        said.or_else(|| all.next())
    }

    /// The column of the figure that a turn computes.
    pub fn figure() -> Self {
        Self { of_result: true, stand_in: Some(StandIn::Figure), ..Self::new(FIGURE, ColumnKind::Number) }
    }

    /// The column of the number of rows in each group.
    fn rows() -> Self {
        Self { of_result: true, stand_in: Some(StandIn::Rows), ..Self::new(ROWS, ColumnKind::Integer) }
    }

    /// Whether all its numbers may be years.
    pub(super) fn holds_years(&self) -> bool {
        const YEARS: std::ops::RangeInclusive<f64> = 1500.0..=2200.0;
        let are_years = |(least, most): (f64, f64)| YEARS.contains(&least) && YEARS.contains(&most);
        self.kind == ColumnKind::Integer && self.range.is_some_and(are_years)
    }

    /// Whether its values, as far as they are known, may be compared with numbers.
    pub(super) fn may_have_numbers(&self) -> bool {
        let has_digits = |value: &String| value.bytes().any(|byte| byte.is_ascii_digit());
        self.kind != ColumnKind::Text || self.values.is_empty() || self.values.iter().any(has_digits)
    }

    /// Whether words have the column's name, or a word of it in some spelling, form or short form.
    pub(super) fn is_named(&self, said: &str) -> bool {
        const ALIKE: f64 = 0.6;
        let mut stemmer = Stemmer::default();
        let mut alike = |a: &str, b: &str| {
            let stem = stemmer.stem(a).to_string();
            let (one, other) = (NameParts::of(a), NameParts::of(b));
            let short = one.short_form(&other).max(other.short_form(&one));
            stem == stemmer.stem(b) || one.likeness(&other).max(short) >= ALIKE
        };
        let own = name_words(&self.name);
        let mut word_named = |word: String| own.iter().any(|own| alike(&word, own)) || alike(&word, &self.name);
        word_named(said.to_lowercase()) || lower_words(said).any(word_named)
    }

    /// The value that the words of a span are where its annotator wrote no other: the one of this spelling; of a condition the words
    /// themselves, unless they are a part of a value.
    pub(super) fn value_as_written(&self, span: &Span) -> Option<String> {
        if !self.has_words() || self.of_result || span.part.is_some() {
            return None;
        }
        let wanted = key(&span.words);
        if let Some((_, code)) = self.meanings.iter().find(|(meaning, _)| key(meaning) == wanted) {
            return Some(code.clone());
        }
        if self.kind != ColumnKind::Text {
            return None;
        }
        if let Some(known) = self.values.iter().find(|value| key(value) == wanted) {
            return Some(known.clone());
        }
        let is_part = self.values.iter().any(|value| key(value).contains(&wanted));
        (span.role == Role::Value && !is_part).then(|| span.words.trim().to_string())
    }
}

/// Whether a column, by its number, holds a value, in the index's normal form.
pub type Holds<'a> = &'a dyn Fn(usize, &str) -> bool;

/// The columns, in the order of the table, those of the result after them.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The columns.
    pub columns: Vec<SchemaColumn>,
    /// The language of their names; none for English.
    pub language: Option<Language>,
    /// There is no table: the columns are what is wanted of datasets.
    pub is_of_demands: bool,
}

/// A run of words that is a value of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueMatch {
    /// The column.
    pub column: usize,
    /// First and last word, counted in [`words`] of the text, both included.
    pub words: (usize, usize),
    /// The value as the table has it; the words where only its presence is known.
    pub value: String,
    /// 1 for the value itself, less for one that is only alike.
    pub likeness: f32,
}

impl Schema {
    /// The number of the column of this name, whatever its case.
    pub fn place(&self, name: &str) -> Option<usize> {
        let exact = self.columns.iter().position(|column| column.name == name);
        exact.or_else(|| self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
    }

    /// Whether the plan that stands groups rows.
    pub(super) fn is_grouped(&self) -> bool {
        let is_key = |column: &SchemaColumn| column.used.contains(&"by");
        self.columns.iter().any(|column| is_key(column) || (column.of_result && column.stand_in.is_none()))
    }

    /// The values of its columns that a text names: whole values, or words from which they are made by an ending ("african" for
    /// Africa). At most some for each column, the longest first.
    pub fn matches(&self, text: &str, holds: Holds<'_>) -> Vec<ValueMatch> {
        let is_text = |column: &SchemaColumn| column.has_words() && !column.of_result;
        let phrases = if self.columns.iter().any(is_text) { phrases(text) } else { Vec::new() };
        let mut found: Vec<ValueMatch> = Vec::new();
        for (place, column) in self.columns.iter().enumerate().filter(|(_, column)| is_text(column)) {
            let meanings = column.meanings.iter().map(|(meaning, _)| meaning);
            let (whole, alike): (Vec<_>, Vec<_>) = meanings.partition(|_| column.whole_meanings);
            let whole: HashMap<String, &String> = whole.into_iter().map(|meaning| (key(meaning), meaning)).collect();
            let values: Vec<Comparable<'_>> =
                column.values.iter().chain(alike).map(|value| Comparable::of(value)).collect();
            let mut of_column: Vec<ValueMatch> = Vec::new();
            for (words, phrase) in &phrases {
                let is_known =
                    |known: &ValueMatch| known.likeness >= 1.0 && known.words.0 <= words.1 && words.0 <= known.words.1;
                if of_column.iter().any(is_known) {
                    continue;
                }
                let named = || named(phrase, &values, |phrase| holds(place, phrase));
                let whole = whole.get(&phrase.key).map(|meaning| (meaning.to_string(), 1.0));
                let Some((value, likeness)) = whole.or_else(named) else { continue };
                of_column.push(ValueMatch { column: place, words: *words, value, likeness });
            }
            // What is spelt out goes before what is only alike; the sort is stable.
            of_column.sort_by_key(|found| found.likeness < 1.0);
            let mut kept: Vec<ValueMatch> = Vec::new();
            for next in of_column {
                let overlaps = |known: &ValueMatch| known.words.0 <= next.words.1 && next.words.0 <= known.words.1;
                if kept.len() < MOST_MATCHES && !kept.iter().any(overlaps) {
                    kept.push(next);
                }
            }
            found.extend(kept);
        }
        found
    }

    /// The names of the columns, taken apart once for many phrases.
    pub fn names(&self) -> ColumnNames {
        let names = |column: &SchemaColumn| {
            std::iter::once(&column.name).chain(&column.also).map(|name| NameParts::of(name)).collect()
        };
        ColumnNames { of: self.columns.iter().map(names).collect(), language: self.language }
    }
}

/// Names of columns that phrases are compared with.
#[derive(Debug, Clone)]
pub struct ColumnNames {
    of: Vec<Vec<NameParts>>,
    language: Option<Language>,
}

impl ColumnNames {
    /// How much a phrase is a name of each column, in 0..=1.
    pub fn likenesses(&self, phrase: &str) -> Vec<f32> {
        let foreign = self.language.iter().flat_map(|language| language.words_for(phrase));
        let foreign: Vec<NameParts> =
            foreign.flat_map(|word| written_in_names(word)).map(|word| NameParts::of(&word)).collect();
        let wanted = NameParts::of(phrase);
        let in_english = |name: &NameParts| wanted.likeness(name).max(wanted.short_form(name)) as f32;
        let like = |name: &NameParts| {
            let short = foreign.iter().map(|word| word.begun_by(name)).fold(0.0, f64::max) as f32;
            in_english(name).max(short)
        };
        self.of.iter().map(|names| names.iter().map(like).fold(0.0, f32::max)).collect()
    }
}

/// A value or phrase, taken apart once for many comparisons.
struct Comparable<'t> {
    text: &'t str,
    /// See [`key`].
    key: String,
    words: Vec<String>,
}

impl<'t> Comparable<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, key: key(text), words: name_words(text) }
    }

    /// How surely a value is meant by this phrase that does not spell it out, in 0..=.9.
    fn alike(&self, value: &Comparable<'_>) -> f32 {
        of_one_stem(&self.key, &value.key).max(self.begins(value))
    }

    /// Whether a phrase is the beginning of a value of several words ("large" of `large_airport`), and how surely.
    fn begins(&self, value: &Comparable<'_>) -> f32 {
        const BEGINS: f32 = 0.45;
        const LEAST: usize = 3;
        let (said, own) = (&self.words, &value.words);
        let begins = !said.is_empty() && said.len() < own.len() && own.starts_with(said);
        if begins && said.iter().map(String::len).sum::<usize>() >= LEAST { BEGINS } else { 0.0 }
    }
}

/// The runs of words of a text that may be values, the longest first, with their first and last word.
fn phrases(text: &str) -> Vec<((usize, usize), Comparable<'_>)> {
    let mut words = words(text);
    words.truncate(MOST_WORDS);
    let mut found = Vec::new();
    for length in (1..=LONGEST_VALUE.min(words.len())).rev() {
        for from in 0..=words.len() - length {
            let (first, last) = (&words[from], &words[from + length - 1]);
            if first.is_word && last.is_word {
                let phrase = &text[first.bytes.start..last.bytes.end];
                found.push(((from, from + length - 1), Comparable::of(phrase)));
            }
        }
    }
    found
}

/// The value of a column that a phrase names, and how surely.
fn named(phrase: &Comparable<'_>, values: &[Comparable<'_>], holds: impl Fn(&str) -> bool) -> Option<(String, f32)> {
    let Comparable { text, key, .. } = phrase;
    if key.is_empty() || (key.chars().count() < 2 && *text != text.to_uppercase()) {
        return None;
    }
    // "and" is no country's code, unless it is written like one.
    let is_it = |value: &&Comparable<'_>| {
        value.key == *key
            && !differ_as_numbers(text, value.text)
            && (!lakeward_core::text::is_function_word(&text.to_lowercase()) || *text == value.text)
    };
    if let Some(value) = values.iter().find(is_it) {
        return Some((value.text.to_string(), 1.0));
    }
    if is_common(key) {
        return None;
    }
    if holds(text) {
        return Some(((*text).to_string(), 1.0));
    }
    let mut best: Option<(&str, f32)> = None;
    for value in values {
        let likeness = phrase.alike(value);
        if likeness > best.map_or(0.0, |(_, known)| known) {
            best = Some((value.text, likeness));
        }
    }
    best.map(|(value, likeness)| (value.to_string(), likeness))
}

/// What can be said of words and a value of a column without the model: how alike they are, and how much one is a short form of the other.
pub fn value_features(phrase: &str, value: &str) -> [f32; VALUE_FEATURES] {
    let (wanted, own) = (Comparable::of(phrase), Comparable::of(value));
    let alike = match wanted.key == own.key {
        true if differ_as_numbers(phrase, value) => 0.0,
        true => 1.0,
        false => wanted.alike(&own),
    };
    [alike, NameParts::of(phrase).short_form(&NameParts::of(value)) as f32]
}

/// Whether both are numbers and not the same one: `5` is not `-5`, though their letters and digits are.
fn differ_as_numbers(a: &str, b: &str) -> bool {
    matches!((a.trim().parse::<f64>(), b.trim().parse::<f64>()), (Ok(a), Ok(b)) if a != b)
}

/// Whether two words are one but for their endings, and how surely, in 0..=.9: a beginning of four letters that is most of both, so
/// that "african" is Africa and "third class" is Third-class.
fn of_one_stem(a: &str, b: &str) -> f32 {
    const LEAST: usize = 4;
    const ENDING: usize = 4;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.chars().count(), b.chars().count());
    let rest = a.max(b) - shared;
    if shared < LEAST || rest > ENDING || shared * 3 < a.max(b) * 2 {
        return 0.0;
    }
    0.9 - 0.1 * rest as f32
}

/// A value or phrase in a form in which the same ones are equal: lower case, no accents, letters and digits alone.
fn key(text: &str) -> String {
    let normal = Normaliser::default().text(text).to_string();
    lakeward_core::text::name_key(&normal)
}

/// Words that are never looked up as values that nobody showed.
fn is_common(word: &str) -> bool {
    word.len() < 3 || lakeward_core::text::is_function_word(word)
}

/// The columns that turns over `plan` can speak of. `columns` are those of a relation, as its caller knows them; the plan's source first.
pub fn schema_of(plan: &Plan, columns: &dyn Fn(&Relation) -> Vec<SchemaColumn>) -> Schema {
    let relation = &plan.relation;
    let group = relation.steps.iter().rposition(|step| matches!(step, Step::Group(_) | Step::Pivot(_)));
    let end = group.unwrap_or(relation.steps.len());
    // Columns that are not shown can still be asked for.
    let shows = |step: &&Step| !matches!(step, Step::Select(_) | Step::Drop(_));
    let rows = Relation {
        source: relation.source.clone(),
        steps: relation.steps[..end].iter().filter(shows).cloned().collect(),
    };
    let mut schema = Schema { columns: columns(&rows), ..Schema::default() };
    if let Some(at) = group {
        let result = Relation {
            source: relation.source.clone(),
            steps: relation
                .steps
                .iter()
                .take(at + 1)
                .chain(relation.steps[at + 1..].iter().filter(shows))
                .cloned()
                .collect(),
        };
        for column in columns(&result) {
            if schema.place(&column.name).is_none() {
                schema.columns.push(SchemaColumn { of_result: true, ..column });
            }
        }
    }
    for step in &relation.steps {
        note_use(&mut schema, step);
    }
    for stand_in in [SchemaColumn::rows(), SchemaColumn::figure()] {
        if schema.place(&stand_in.name).is_none() {
            schema.columns.push(stand_in);
        }
    }
    schema
}

/// Notes what a step does with which column.
fn note_use(schema: &mut Schema, step: &Step) {
    let mut note = |name: &str, word: &'static str| {
        if let Some(place) = schema.place(name) {
            let used = &mut schema.columns[place].used;
            if !used.contains(&word) {
                used.push(word);
            }
        }
    };
    match step {
        Step::Filter(condition) => condition.columns().into_iter().for_each(|name| note(name, "where")),
        Step::Select(kept) => kept.iter().for_each(|kept| note(kept.name.as_ref().unwrap_or(&kept.column), "shown")),
        Step::Group(Grouping { keys, measures }) => {
            for key in keys {
                note(key.of.as_column().unwrap_or(&key.column_name()), "by");
                if let Expression::Part { of, part } = &key.of
                    && let Some(name) = of.as_column()
                {
                    note(name, "by");
                    note(name, part.word());
                }
            }
            for measure in measures {
                if let Some(name) = measure.of.as_ref().and_then(Expression::as_column) {
                    note(name, measure.function.word());
                }
            }
        }
        Step::Sort(by) => by.iter().filter_map(|order| order.by.as_column()).for_each(|name| note(name, "sorted")),
        Step::Top(top) => {
            top.by.iter().filter_map(|order| order.by.as_column()).for_each(|name| note(name, "sorted"));
            top.within.iter().for_each(|name| note(name, "by"));
        }
        _ => {}
    }
}

/// The columns that a relation has, from those of its source: for callers that cannot ask a query. What joins add is not known.
pub fn columns_by_steps(source: &[SchemaColumn], steps: &[Step]) -> Vec<SchemaColumn> {
    let mut columns = source.to_vec();
    for step in steps {
        match step {
            Step::Derive { name, .. } => {
                columns.retain(|column| column.name != *name);
                columns.push(SchemaColumn { of_result: true, ..SchemaColumn::new(name, ColumnKind::Number) });
            }
            Step::Rename(pairs) => {
                for (old, new) in pairs {
                    columns
                        .iter_mut()
                        .filter(|column| column.name == *old)
                        .for_each(|column| column.name.clone_from(new));
                }
            }
            Step::Group(Grouping { keys, measures }) => {
                let key = |key: &lakeward_core::plan::Key| {
                    let name = key.column_name();
                    let known = columns.iter().find(|column| column.name == name);
                    known.cloned().unwrap_or_else(|| SchemaColumn::new(name, ColumnKind::Integer))
                };
                let mut made: Vec<SchemaColumn> = keys.iter().map(key).collect();
                made.extend(measures.iter().map(|measure| SchemaColumn {
                    of_result: true,
                    ..SchemaColumn::new(measure.column_name(), ColumnKind::Number)
                }));
                columns = made;
            }
            _ => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_known_by_its_other_names() {
        let noted = SchemaColumn { also: vec!["takings".into()], ..SchemaColumn::new("rating", ColumnKind::Number) };
        let schema = Schema { columns: vec![SchemaColumn::new("c1", ColumnKind::Number), noted], ..Schema::default() };
        let likenesses = schema.names().likenesses("takings");
        assert!(likenesses[0] < 0.5 && likenesses[1] == 1.0, "{likenesses:?}");
        assert_eq!(schema.names().likenesses("rating")[1], 1.0);
    }
}
