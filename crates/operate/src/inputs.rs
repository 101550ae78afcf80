//! The tables that a plan reads, as SQL needs them: what they are called there, and what their columns hold.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;

use super::cells::na_is_code;
use super::context::LakeContext;
use super::functions::{DAY_FIRST, MONTH_FIRST, NA_IS_CODE};
use super::lake_catalog::Place;
use super::quote::identifier;
use super::session_tables::{SESSION_SCHEMA, step_name};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::request::Input;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;
use lakeward_lake::semantic::LogicalType;
use lakeward_sketch::temporal::DateOrder;

/// Column names told for an unknown one.
const NEAREST: usize = 5;
/// How much a column must look like a key to be one, as in a profile's list of keys.
const KEY_LIKENESS: f64 = 0.75;
/// Rows from which the order of day and month is learnt, as in the scan.
const HEAD_ROWS: u64 = 1000;

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
    /// How it writes its values, as the second argument of the functions of [`super::functions`]; empty: as usual.
    pub writing: String,
}

impl InputColumn {
    /// A column that a query computes.
    pub fn computed(name: &str, data_type: DataType) -> Self {
        let (family, signs) = (Family::of(&data_type), Vec::new());
        Self { name: name.to_string(), family, data_type, signs, unique: false, writing: String::new() }
    }

    /// The call of one of those functions on `value`, which is written as in this column.
    pub fn call(&self, function: &str, value: &str) -> String {
        match self.writing.as_str() {
            "" => format!("{function}({value})"),
            writing => format!("{function}({value}, '{writing}')"),
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
        let mut columns: Vec<InputColumn> = schema
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
                // In a result a missing value is NULL already.
                writing: if is_step || na_is_code(profile) { NA_IS_CODE.to_string() } else { String::new() },
            })
            .collect();
        columns.iter_mut().filter(|column| column.family != Family::Text).for_each(|column| column.writing.clear());
        observe_date_orders(&path, &profiles, &mut columns)?;
        Ok(Self { name, label, sql, columns, path })
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

/// Adds to each text column that may hold slashed dates whether its first cells put the day or the month first, as the scan
/// does for the index.
fn observe_date_orders(path: &Path, profiles: &[ColumnProfile], columns: &mut [InputColumn]) -> Result<()> {
    let slashed = |profile: &ColumnProfile| {
        profile.patterns.iter().any(|(pattern, _)| pattern.starts_with('9') && pattern.contains(['/', '-']))
    };
    let wanted: Vec<usize> =
        (0..columns.len()).filter(|&at| columns[at].family == Family::Text && slashed(&profiles[at])).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut reader = reader::open_path(path, &ReadOptions { max_rows: Some(HEAD_ROWS), ..ReadOptions::default() })?;
    let Some(head) = reader.next_batch()? else { return Ok(()) };
    for at in wanted {
        let order = date_order(&head, at);
        let word = match order {
            DateOrder::Unknown => continue,
            DateOrder::DayFirst => DAY_FIRST,
            DateOrder::MonthFirst => MONTH_FIRST,
        };
        let writing = &mut columns[at].writing;
        if !writing.is_empty() {
            writing.push_str(", ");
        }
        writing.push_str(word);
    }
    Ok(())
}

fn date_order(head: &RecordBatch, column: usize) -> DateOrder {
    if column < head.num_columns() { scan::date_order(head.column(column).as_ref()) } else { DateOrder::Unknown }
}
