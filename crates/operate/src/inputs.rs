//! The tables that a plan reads, as SQL needs them: what they are called there, and what their columns hold.

use std::path::{Path, PathBuf};

use arrow::datatypes::DataType;

use super::context::LakeContext;
use super::lake_catalog::Place;
use super::quote::{identifier, literal};
use super::session_tables::{SESSION_SCHEMA, step_name};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::request::Input;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_sketch::Writing;

/// Column names told for an unknown one.
const NEAREST: usize = 5;
/// How much a column must look like a key to be one, as in a profile's list of keys.
const KEY_LIKENESS: f64 = 0.75;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Words, codes, and whatever else is kept as written.
    Text,
    /// Numbers.
    Number,
    /// Days.
    Date,
    /// Days with a time.
    Time,
    /// Yes and no.
    Boolean,
    /// No value at all, as far as is known.
    Empty,
    /// Lists, structures, bytes.
    Other,
}

impl Family {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Family::Text,
            DataType::Dictionary(_, values) => Family::of(values),
            DataType::Date32 | DataType::Date64 => Family::Date,
            DataType::Timestamp(..) => Family::Time,
            DataType::Boolean => Family::Boolean,
            DataType::Null => Family::Empty,
            number if number.is_numeric() => Family::Number,
            _ => Family::Other,
        }
    }

    /// What they are called.
    pub fn words(self) -> &'static str {
        match self {
            Family::Text => "text",
            Family::Number => "numbers",
            Family::Date => "dates",
            Family::Time => "times",
            Family::Boolean => "yes and no",
            Family::Empty => "empty",
            Family::Other => "of another type",
        }
    }

    /// Whether its values lie on a calendar.
    pub fn is_dated(self) -> bool {
        matches!(self, Family::Date | Family::Time)
    }

    /// Whether its values are kept as written.
    pub fn is_text(self) -> bool {
        matches!(self, Family::Text | Family::Empty)
    }
}

/// A column of an input.
#[derive(Debug, Clone)]
pub struct InputColumn {
    /// Its name.
    pub name: String,
    /// Its Arrow type.
    pub data_type: DataType,
    /// What its values are.
    pub family: Family,
    /// Signs that its numbers are written with, none among them as an empty text: `$`, `%`.
    pub signs: Vec<String>,
    /// Whether no two rows have the same value in it.
    pub unique: bool,
    /// How it writes its values, where they are texts.
    pub writing: Writing,
    /// Whether a value of it may name the total of other rows.
    pub totals: bool,
}

impl InputColumn {
    /// A column that a query computes.
    pub fn computed(name: &str, data_type: DataType) -> Self {
        let (family, signs) = (Family::of(&data_type), Vec::new());
        // What is missing in it is NULL already.
        let writing = if family == Family::Text { Writing::typed() } else { Writing::default() };
        Self { name: name.to_string(), family, data_type, signs, unique: false, writing, totals: true }
    }

    /// The call of one of those functions on `value`, which is written as in this column.
    pub fn call(&self, function: &str, value: &str) -> String {
        match self.writing.to_string().as_str() {
            "" => format!("{function}({value})"),
            writing => format!("{function}({value}, {})", literal(writing)),
        }
    }
}

/// A table that a plan reads.
#[derive(Debug, Clone)]
pub struct InputTable {
    /// The id, the file, or `step 2`: what people call it.
    pub name: String,
    /// The last part of its name, for names of columns and cells.
    pub label: String,
    /// What a query calls it.
    pub sql: String,
    /// Its columns in order.
    pub columns: Vec<InputColumn>,
    /// How the cells of each are written in its file.
    pub written: Vec<Writing>,
    /// Its file.
    pub path: PathBuf,
}

impl InputTable {
    /// The table that `input` stands for.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids, [`Error::Usage`] for a step that the session does not have, and what
    /// reading the table's head meets.
    pub fn resolve(context: &LakeContext, input: &Input) -> Result<Self> {
        let (tables, (place, name, label)) = (context.tables(), located(context, input)?);
        let sql = match &place {
            Place::Lake(_) => identifier(&name),
            Place::Session(label) => format!("{SESSION_SCHEMA}.{}", plain_or_quoted(label)),
        };
        let profiles = tables.columns(&place)?;
        let schema = context.wait(tables.table(&place))??.schema();
        let (path, _) = tables.file(&place)?;
        let is_step = matches!(input, Input::Step(_));
        let columns: Vec<InputColumn> = schema
            .fields()
            .iter()
            .zip(&profiles)
            .map(|(field, profile)| InputColumn {
                name: field.name().clone(),
                data_type: field.data_type().clone(),
                family: match Family::of(field.data_type()) {
                    Family::Text if profile.logical == LogicalType::Empty => Family::Empty,
                    family => family,
                },
                signs: signs(profile),
                unique: !is_step && profile.uniqueness >= 1.0 && profile.key_likeness >= KEY_LIKENESS,
                writing: match Family::of(field.data_type()) {
                    Family::Text => profile.writing.clone(),
                    _ => Writing::default(),
                },
                // Of results only the head is known.
                totals: profile.totals || !matches!(input, Input::Table(_)),
            })
            .collect();
        let written = profiles.into_iter().map(|profile| profile.writing).collect();
        Ok(Self { name, label, sql, columns, written, path })
    }

    /// The column called `name`; upper and lower case count only where they tell columns apart.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] with the nearest names, else the first ones.
    pub fn column(&self, name: &str) -> Result<&InputColumn> {
        if let Some(exact) = self.columns.iter().find(|column| column.name == name) {
            return Ok(exact);
        }
        let lower = name.trim().to_lowercase();
        let mut same = self.columns.iter().filter(|column| column.name.to_lowercase() == lower);
        if let (Some(column), None) = (same.next(), same.next()) {
            return Ok(column);
        }
        let names = self.columns.iter().map(|column| column.name.as_str());
        let mut nearest = nearest_names(name, names.clone(), NEAREST);
        if nearest.is_empty() {
            nearest = names.take(NEAREST).map(str::to_string).collect();
        }
        Err(Error::UnknownColumn { table: self.name.clone(), name: name.to_string(), nearest })
    }

    /// The columns called `names`, each once; all columns where none is named.
    ///
    /// # Errors
    /// Those of [`InputTable::column`].
    pub fn columns_named(&self, names: &[String]) -> Result<Vec<&InputColumn>> {
        if names.is_empty() {
            return Ok(self.columns.iter().collect());
        }
        let mut columns: Vec<&InputColumn> = Vec::with_capacity(names.len());
        for name in names {
            let column = self.column(name)?;
            if !columns.iter().any(|known| known.name == column.name) {
                columns.push(column);
            }
        }
        Ok(columns)
    }
}

/// What is known of the columns of the table that `input` stands for.
///
/// # Errors
/// As [`InputTable::resolve`].
pub fn profiles(context: &LakeContext, input: &Input) -> Result<Vec<ColumnProfile>> {
    context.tables().columns(&located(context, input)?.0)
}

/// Where a table is, what people call it, and the last part of its name.
fn located(context: &LakeContext, input: &Input) -> Result<(Place, String, String)> {
    let tables = context.tables();
    Ok(match input {
        Input::Table(id) => {
            let place = tables.find(id)?;
            let id = tables.id(&place)?;
            let label = id.rsplit('/').next().unwrap_or(&id).to_string();
            (place, id, label)
        }
        Input::File(path) => {
            let label = tables.session.add_file(Path::new(path))?;
            (Place::Session(label.clone()), path.clone(), label)
        }
        Input::Step(step) => {
            let label = step_name(*step);
            tables.session.get(&label)?;
            (Place::Session(label.clone()), format!("step {step}"), label)
        }
    })
}

/// The signs beside numbers of a column, by its patterns (`$9`, `9{2}%`).
fn signs(profile: &ColumnProfile) -> Vec<String> {
    if !matches!(profile.logical, LogicalType::Integer | LogicalType::Float) {
        return Vec::new();
    }
    let sign = |(pattern, _): &(String, f64)| -> String {
        pattern.chars().filter(|c| matches!(c, '%' | '$' | '€' | '£' | '¥')).collect()
    };
    let mut signs: Vec<String> = profile.patterns.iter().map(sign).collect();
    signs.sort();
    signs.dedup();
    signs
}

/// Quoted where SQL would not read it as it stands.
fn plain_or_quoted(name: &str) -> String {
    let plain = name.starts_with("step_") && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { name.to_string() } else { identifier(name) }
}
