//! What turns can say of the columns of a table: their types and values, from the index, or from a table that is at hand.

use super::Agent;
use super::tables::is_held;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::{Plan, Relation, Step};
use lakeward_core::request::Input;
use lakeward_core::text::{NameParts, is_function_word, lower_words, name_words, stems};
use lakeward_index::LakeIndex;
use lakeward_lake::metadata::ColumnMetadata;
use lakeward_lake::places;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, Weakness};
use lakeward_models::languages::Language;
use lakeward_operate::{Family, LakeContext, RelationColumn, relation_columns};
use lakeward_reading::reader::annotated::KnownTable;
use lakeward_reading::reader::{ColumnKind, Schema, SchemaColumn};
use lakeward_search::QueryTable;
use lakeward_sketch::{Normaliser, Writing};

/// Values of a column that words of a request are compared with.
const MOST_VALUES: usize = 500;
/// Longest of them, in bytes.
const LONGEST_VALUE: usize = 80;
/// Words of a publisher's description that a name may be short for.
const DESCRIBED_WORDS: usize = 12;
/// From here on a name is short for a word ([`NameParts::short_form`]).
const SURELY_SHORT: f64 = 0.7;
/// Letters of a part of a name that may be short for a word.
const MOST_LETTERS: usize = 5;
/// Columns with at most so many values show all of them to the reader.
const FEW_VALUES: u64 = 12;

/// Columns of a table with where their values are known.
pub(super) struct KnownColumns {
    columns: Vec<SchemaColumn>,
    values: ValuesOf,
}

enum ValuesOf {
    /// A table of the lake, by its id.
    Index(String),
    /// Hashes of the values of each column.
    Hashes(Vec<Vec<u64>>),
}

/// A working table and its contents, so that it is opened once a turn.
#[derive(Clone, Copy)]
pub(super) struct AtHand<'a> {
    pub(super) input: &'a Input,
    pub(super) table: &'a QueryTable,
}

impl KnownColumns {
    /// The columns, in the order of the table.
    pub(super) fn columns(&self) -> &[SchemaColumn] {
        &self.columns
    }
}

impl Agent<'_> {
    /// What the index knows of the columns of a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`], and a damaged index.
    pub(super) fn columns_of(&self, id: &str) -> Result<Vec<SchemaColumn>> {
        Ok(of_index(self.index, id)?.columns)
    }

    /// What is known of the columns of every table that a plan reads.
    ///
    /// # Errors
    /// A damaged index, and whatever reading a file reports.
    pub(super) fn known_columns(
        &self,
        session: &Session,
        plan: &Plan,
        at_hand: Option<AtHand<'_>>,
    ) -> Result<Vec<KnownColumns>> {
        let mut known = Vec::new();
        for input in plan.inputs() {
            let opened;
            let (mut of_input, lists) = match input {
                Input::Table(id) => (of_index(self.index, id)?, self.code_lists_of(session, id)?),
                input => {
                    let table = match at_hand.filter(|at_hand| at_hand.input == input) {
                        Some(at_hand) => at_hand.table,
                        None => {
                            opened = self.open_input(session, input)?;
                            &opened
                        }
                    };
                    (of_table(self.index, table), self.code_lists(session, table)?)
                }
            };
            for (name, list) in lists.iter() {
                if let Some(column) = of_input.columns.iter_mut().find(|column| column.name == *name) {
                    column.meanings.clone_from(&list.meanings);
                    column.whole_meanings = false;
                }
            }
            self.name_in_english(&mut of_input.columns)?;
            known.push(of_input);
        }
        add_appended(plan, &mut known);
        // What is joined may be missing, and rows that are appended may lack a column.
        if known.len() > 1 {
            known.iter_mut().flat_map(|table| &mut table.columns).for_each(|column| column.is_filled = false);
        }
        Ok(known)
    }

    /// Names columns in English, too, where they are called in another language.
    fn name_in_english(&self, columns: &mut [SchemaColumn]) -> Result<()> {
        let own = || Language::of_names(columns.iter().map(|column| column.name.as_str()));
        let Some(language) = self.index.names_language()?.or_else(own) else { return Ok(()) };
        for column in columns {
            if column.meanings.is_empty() {
                column.meanings = language.yes_and_no(&column.values);
            }
            column.english = language.name_in_english(&column.name);
            column.also.extend(column.english.clone());
        }
        Ok(())
    }

    /// Whether a column of a schema holds a value, as far as the tables that it comes from are known.
    pub(super) fn holds_value(&self, schema: &Schema, known: &[KnownColumns], place: usize, value: &str) -> bool {
        let Some(column) = schema.columns.get(place) else { return false };
        // What is named is no gap.
        let hash = Normaliser::new(Writing::typed()).value(value).hash;
        known.iter().any(|table| {
            let Some(at) = table.columns.iter().position(|own| own.name == column.name) else { return false };
            match &table.values {
                ValuesOf::Index(id) => is_held(self.index, id, at, hash).unwrap_or(false),
                ValuesOf::Hashes(hashes) => hashes.get(at).is_some_and(|hashes| hashes.binary_search(&hash).is_ok()),
            }
        })
    }
}

/// Adds what rows that a plan appends hold to the columns of its source; `known` are those of its inputs, in their order.
fn add_appended(plan: &Plan, known: &mut [KnownColumns]) {
    let inputs = plan.inputs();
    let place = |input: &Input| inputs.iter().position(|known| *known == input);
    let Some(source) = place(&plan.relation.source) else { return };
    let unions = plan.relation.steps.iter().filter_map(|step| match step {
        Step::Union(union) => Some(&union.others),
        _ => None,
    });
    for part in unions.flatten() {
        let Some(other) = place(&part.with.source) else { continue };
        for (name, called) in &part.columns {
            let appended =
                known.get(other).and_then(|table| table.columns.iter().find(|column| column.name == *called));
            let Some(appended) = appended.cloned() else { continue };
            let own = known.get_mut(source).and_then(|table| table.columns.iter_mut().find(|own| own.name == *name));
            let Some(own) = own else { continue };
            let new = appended.values.into_iter().filter(|value| !own.values.contains(value)).collect::<Vec<_>>();
            own.values.extend(new);
            own.complete &= appended.complete;
            own.range = own.range.zip(appended.range).map(|(own, other)| (own.0.min(other.0), own.1.max(other.1)));
            own.only_year = own.only_year.filter(|year| appended.only_year == Some(*year));
        }
    }
}

/// A column with its values where a table that the plan reads has it.
pub(super) fn described(column: &RelationColumn, known: &[KnownColumns]) -> SchemaColumn {
    let kind = match column.family {
        Family::Number if column.whole => ColumnKind::Integer,
        Family::Number => ColumnKind::Number,
        Family::Date | Family::Time => ColumnKind::Date,
        Family::Boolean => ColumnKind::Boolean,
        Family::Text | Family::Empty | Family::Other => ColumnKind::Text,
    };
    let found = known.iter().flat_map(|table| &table.columns).find(|known| known.name == column.name);
    match found {
        Some(known) => SchemaColumn { kind, ..known.clone() },
        None => SchemaColumn::new(column.name.clone(), kind),
    }
}

/// The columns of a table that was opened.
fn of_table(index: &LakeIndex, table: &QueryTable) -> KnownColumns {
    let columns = table.columns.iter().map(|column| {
        let samples = column.sketch.samples.iter().map(|(_, value)| value.as_str());
        let known = schema_column(&column.profile, column.sketch.text.lines().chain(samples));
        let also = other_names(index, table.entry.id.as_str(), &known.name);
        let described = table.entry.metadata.as_ref().and_then(|metadata| metadata.columns.get(&known.name));
        written_out(SchemaColumn { also, ..known }, described)
    });
    let hashes = table.columns.iter().map(|column| column.values.hashes.to_vec()).collect();
    KnownColumns { columns: columns.collect(), values: ValuesOf::Hashes(hashes) }
}

/// What the index knows of the columns of a table.
fn of_index(index: &LakeIndex, id: &str) -> Result<KnownColumns> {
    let at = index.find(id)?;
    let entry = index.table(at)?;
    let segment = index.segment(at.segment)?;
    let places: Vec<u32> = segment.tables.columns(at.table)?.collect();
    let mut columns = Vec::with_capacity(entry.profile.columns.len());
    for (place, profile) in entry.profile.columns.iter().enumerate() {
        let samples = match places.get(place) {
            Some(column) => segment.columns.samples(segment.columns.record(*column)?)?,
            None => Vec::new(),
        };
        let described = entry.metadata.as_ref().and_then(|metadata| metadata.columns.get(&profile.name));
        let unit = described.and_then(|described| described.unit.clone());
        let known = schema_column(profile, samples.into_iter().map(|(_, value)| value));
        let also = other_names(index, id, &known.name);
        columns.push(written_out(SchemaColumn { unit, also, ..known }, described));
    }
    Ok(KnownColumns { columns, values: ValuesOf::Index(id.to_string()) })
}

/// A column with its name written out, where it is short for words by which its publisher describes it: `gst_ct` of "number of guests" are guests.
fn written_out(column: SchemaColumn, described: Option<&ColumnMetadata>) -> SchemaColumn {
    let Some(said) = described.and_then(|described| described.title.as_ref().or(described.description.as_ref())) else {
        return column;
    };
    let words: Vec<String> = lower_words(said).filter(|word| !is_function_word(word)).take(DESCRIBED_WORDS).collect();
    let own = name_words(&column.name);
    let is_said = |part: &String| words.iter().any(|word| word == part);
    let long = |part: &String| {
        let short = NameParts::of(part);
        let is_long =
            |word: &&String| part.len() <= MOST_LETTERS && word.len() > part.len() && stems(word) != stems(part);
        words.iter().filter(is_long).find(|word| short.short_form(&NameParts::of(word)) >= SURELY_SHORT)
    };
    let parts: Vec<Option<&String>> = own.iter().map(|part| long(part).filter(|_| !is_said(part))).collect();
    if parts.iter().all(Option::is_none) {
        return column;
    }
    let name = own.iter().zip(parts).map(|(own, long)| long.unwrap_or(own).as_str()).collect::<Vec<_>>().join(" ");
    let also = column.also.into_iter().chain([name.clone()]).collect();
    SchemaColumn { also, english: column.english.or(Some(name)), ..column }
}

/// What users call a column: their note on it, its name with a synonym.
fn other_names(index: &LakeIndex, table: &str, column: &str) -> Vec<String> {
    let note = index.notes().of(table).and_then(|note| note.columns.get(column)).cloned();
    note.into_iter().chain(index.synonyms().names(column)).collect()
}

/// The names of the columns that a relation makes.
///
/// # Errors
/// Those of [`relation_columns`].
pub(crate) fn column_names(context: &LakeContext, relation: &Relation) -> Result<Vec<String>> {
    Ok(relation_columns(context, relation)?.into_iter().map(|column| column.name).collect())
}

/// A table of the lake as turns over it are read: for training examples.
///
/// # Errors
/// [`lakeward_core::Error::UnknownTable`], and a damaged index.
pub fn known_table<'a>(index: &'a LakeIndex, id: &'a str) -> Result<KnownTable<'a>> {
    let columns = of_index(index, id)?.columns;
    let holds = move |place: usize, value: &str| {
        // What is named is no gap.
        let hash = Normaliser::new(Writing::typed()).value(value).hash;
        is_held(index, id, place, hash).unwrap_or(false)
    };
    Ok(KnownTable { columns, holds: Box::new(holds) })
}

/// A column with its type and some of its values: the most frequent ones, then `samples`.
fn schema_column<'a>(profile: &'a ColumnProfile, samples: impl Iterator<Item = &'a str>) -> SchemaColumn {
    let kind = kind_of(profile.logical);
    let mut values: Vec<String> = Vec::new();
    if kind == ColumnKind::Text {
        let mut seen = std::collections::HashSet::new();
        let all = profile.top.iter().map(|(value, _)| value.as_str()).chain(samples);
        values.extend(
            all.filter(|value| value.len() <= LONGEST_VALUE && seen.insert(*value))
                .take(MOST_VALUES)
                .map(str::to_string),
        );
    }
    /// A column of fewer rows may have different numbers by chance.
    const TELLS_APART: u64 = 20;
    let is_key = profile.logical == LogicalType::Integer && profile.uniqueness >= 1.0 && profile.rows >= TELLS_APART;
    let is_weak = matches!(profile.weakness, Some(Weakness::Year | Weakness::Boolean | Weakness::Counter));
    let bound = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
    let year = |date: &Option<String>| date.as_ref().and_then(|date| date.get(..4)?.parse::<i32>().ok());
    // A code list of the lake, where there is one, says more.
    let meanings = profile.semantic.map_or(Vec::new(), |kind| places::called(kind, &values));
    SchemaColumn {
        whole_meanings: !meanings.is_empty(),
        meanings,
        complete: profile.distinct <= FEW_VALUES && profile.distinct <= values.len() as u64,
        values,
        range: bound(&profile.min).zip(bound(&profile.max)),
        only_year: year(&profile.min).filter(|first| kind == ColumnKind::Date && year(&profile.max) == Some(*first)),
        is_filled: profile.rows > 0 && profile.missing == 0,
        quantity: kind.is_number() && !is_key && !is_weak,
        ..SchemaColumn::new(profile.name.clone(), kind)
    }
}

fn kind_of(logical: LogicalType) -> ColumnKind {
    match logical {
        LogicalType::Boolean => ColumnKind::Boolean,
        LogicalType::Integer => ColumnKind::Integer,
        LogicalType::Float => ColumnKind::Number,
        LogicalType::Date | LogicalType::Timestamp => ColumnKind::Date,
        LogicalType::Empty | LogicalType::Text => ColumnKind::Text,
    }
}
