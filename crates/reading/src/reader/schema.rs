//! The columns that a turn can speak of: those of the rows at hand, and those of the present result.

use lakeward_core::plan::{Expression, Grouping, Plan, Relation, Step};
use lakeward_core::text::{NameParts, Stemmer, lower_words, name_words};
use lakeward_models::languages::{Language, written_in_names};

use super::computed::Computed;
use super::span::{Role, Span};
use super::value_match::key;

/// The name of [`StandIn::Figure`].
const FIGURE: &str = "figure";
/// The name of [`StandIn::Rows`]: that of the measure that counts them.
const ROWS: &str = "count";
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
    /// How it is computed, where a turn asks for it and no table has it.
    pub computed: Option<Box<Computed>>,
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
            computed: None,
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

    /// Whether it is called as what says how many of something each row is of, and does.
    pub(super) fn says_how_many(&self) -> bool {
        const NAMES: [&str; 7] = ["qty", "quantity", "pieces", "pcs", "units", "pax", "headcount"];
        let is_called = name_words(&self.name).iter().any(|word| NAMES.contains(&word.to_lowercase().as_str()));
        is_called && !self.of_result && self.range.is_some_and(|(_, most)| most > 1.0)
    }

    /// Whether it says when somebody was born: a date, or a year.
    pub(super) fn is_of_birth(&self) -> bool {
        let says = |word: String| {
            matches!(word.as_str(), "birth" | "born" | "birthdate" | "birthday" | "birthyear" | "dob" | "yob")
        };
        let has_dates = self.kind == ColumnKind::Date || self.holds_years();
        has_dates && self.english.iter().chain([&self.name]).flat_map(|name| name_words(name)).any(says)
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

/// The columns, in the order of the table, those of the result after them.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The columns.
    pub columns: Vec<SchemaColumn>,
    /// The language of their names; none for English.
    pub language: Option<Language>,
    /// There is no table: the columns are what is wanted of datasets.
    pub is_of_demands: bool,
    /// They are wanted of a catalogue's records, of which people talk otherwise than of tables.
    pub is_of_catalogue: bool,
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
