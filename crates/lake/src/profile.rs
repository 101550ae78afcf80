//! The profile of a table: what an analyst would note after a first look, computed in the same pass as the sketches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grain::{self, Grain};
use super::scan::Scan;
use super::semantic::{self, LogicalType, SemanticType, Weakness};
use lakeward_core::answer::in_order;
use lakeward_core::text::name_words;
use lakeward_core::text::years::{LIKELY, year};
use lakeward_sketch::ColumnSketch;
use lakeward_sketch::temporal::DateOrder;
use lakeward_sketch::writing::{Point, Writing};

/// What is in a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct TableProfile {
    /// Rows read.
    pub rows: u64,
    /// One profile per column, in column order.
    pub columns: Vec<ColumnProfile>,
    /// What one row stands for.
    pub grain: Grain,
    /// Columns without a gap or a repeated value that could identify a row, likeliest first.
    pub keys: Vec<String>,
    /// The period covered, where a column shows it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<TimeCoverage>,
    /// The places covered, where a column shows them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub places: Option<PlaceCoverage>,
}

/// The period that a table's column covers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct TimeCoverage {
    /// The column that shows the period; the first and the last one where each year has its own column.
    pub column: String,
    /// First year or day, as written.
    pub from: String,
    /// Last year or day, as written.
    pub to: String,
}

impl TimeCoverage {
    /// First and last year, each where the text is a year or begins with one.
    pub fn years(&self) -> (Option<i32>, Option<i32>) {
        let year = |text: &str| text.get(..4)?.parse().ok();
        (year(&self.from), year(&self.to))
    }
}

/// The places that a table's column names.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct PlaceCoverage {
    /// The column that names the places.
    pub column: String,
    /// What kind of places.
    pub kind: SemanticType,
    /// How many different ones.
    pub distinct: u64,
    /// Some of them, as written.
    pub examples: Vec<String>,
}

/// What is in a column.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[schemars(transform = in_order::<Self>)]
pub struct ColumnProfile {
    /// Its name, repaired where the file's header was empty or repeated.
    pub name: String,
    /// The type its cells share.
    pub logical: LogicalType,
    /// What its values stand for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub semantic: Option<SemanticType>,
    /// Rows of the table.
    pub rows: u64,
    /// Cells without a value.
    pub missing: u64,
    /// Different values after normalisation.
    pub distinct: u64,
    /// Whether `distinct` is an exact count, not an estimate from a sample of the values.
    pub distinct_exact: bool,
    /// Distinct values divided by cells with a value, in 0..=1; 1 for a key.
    pub uniqueness: f64,
    /// How much it looks like a key, in 0..=1.
    pub key_likeness: f64,
    /// Smallest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min: Option<String>,
    /// Greatest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<String>,
    /// Mean and standard deviation of the numbers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moments: Option<[f64; 2]>,
    /// 5th, 25th, 50th, 75th and 95th percentile of the numbers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quantiles: Option<[f64; 5]>,
    /// Formats with their shares, most frequent first.
    pub patterns: Vec<(String, f64)>,
    /// Most frequent values as written, with counts.
    pub top: Vec<(String, u64)>,
    /// How its cells are read, where it is not the usual way.
    #[serde(skip_serializing_if = "is_usual", default)]
    #[schemars(extend("x-sql" = false))]
    pub writing: Writing,
    /// Cells with a mark of a gap in them, such as `NA`, that are read as missing: as written, with their counts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(extend("x-sql" = false))]
    pub markers: Vec<(String, u64)>,
    /// Cells that are no value of the type, which queries read as missing.
    #[serde(skip_serializing_if = "is_zero", default)]
    #[schemars(extend("x-sql" = false))]
    pub misfits: u64,
    /// Whether one of its values may name the total of other rows: `Total`, `World`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    #[schemars(extend("x-sql" = false))]
    pub totals: bool,
    /// Why equal values may occur in the column by chance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weakness: Option<Weakness>,
}

fn is_usual(writing: &Writing) -> bool {
    *writing == Writing::default()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ColumnProfile {
    /// Whether every row has a value of its own; of an estimated count, within its error.
    fn is_unique(&self) -> bool {
        let apart = if self.distinct_exact { self.distinct == self.rows } else { self.uniqueness >= 0.99 };
        self.rows > 1 && self.missing == 0 && apart
    }

    /// What was decided of its cells, each decision as a sentence of the column.
    pub fn decisions(&self) -> Vec<String> {
        let cells = |count: u64| if count == 1 { "1 cell".to_string() } else { format!("{count} cells") };
        let mut said: Vec<String> = Vec::new();
        let markers = self.markers.iter().filter(|(_, count)| *count > 0);
        let markers: Vec<String> = markers.map(|(marker, count)| format!("{} `{marker}`", cells(*count))).collect();
        if !markers.is_empty() {
            said.push(format!("{} read as missing", markers.join(", ")));
        }
        for word in &self.writing.words {
            let is_code = ["NA", "NAN"].iter().any(|code| code.eq_ignore_ascii_case(word));
            let why = if is_code {
                "the other values are codes, too".into()
            } else {
                format!("it is one of {} values", self.distinct)
            };
            said.push(format!("`{word}` kept as a value: {why}"));
        }
        said.extend(
            (!self.writing.missing.is_empty())
                .then(|| format!("{} set to mean missing", ticked(&self.writing.missing))),
        );
        if self.writing.point == Point::Thousands {
            said.push("points part thousands: `645.705` is 645,705".into());
        }
        match self.writing.dates {
            DateOrder::Unknown => {}
            DateOrder::DayFirst => said.push("the day stands before the month".into()),
            DateOrder::MonthFirst => said.push("the month stands before the day".into()),
        }
        if self.misfits > 0 {
            said.push(format!("{} of no such type, read as missing in queries", cells(self.misfits)));
        }
        said
    }
}

fn ticked(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Columns that tell every row apart are listed as keys from this key-likeness.
const KEY: f64 = 0.4;
/// Most keys listed.
const MOST_KEYS: usize = 5;

/// The profile of a scanned table.
pub fn profile(scan: &Scan) -> TableProfile {
    let columns = columns(&scan.names, &scan.sketches);
    let mut keys: Vec<&ColumnProfile> =
        columns.iter().filter(|column| column.is_unique() && column.key_likeness >= KEY).collect();
    keys.sort_by(|a, b| b.key_likeness.total_cmp(&a.key_likeness));
    TableProfile {
        rows: scan.sketches.iter().map(|sketch| sketch.rows).max().unwrap_or(scan.report.rows),
        grain: grain::judge(&columns, &scan.sketches),
        keys: keys.into_iter().take(MOST_KEYS).map(|column| column.name.clone()).collect(),
        time: time_coverage(&columns),
        places: place_coverage(&columns, &scan.sketches),
        columns,
    }
}

/// The profiles of the columns called `names`.
pub(super) fn columns(names: &[String], sketches: &[ColumnSketch]) -> Vec<ColumnProfile> {
    let named = names.iter().zip(sketches).enumerate();
    named.map(|(place, (name, sketch))| column_profile(name, sketch, place)).collect()
}

fn column_profile(name: &str, sketch: &ColumnSketch, place: usize) -> ColumnProfile {
    let words = words_and_signs(name);
    let logical = semantic::logical_type(sketch);
    let semantic = semantic::semantic_type(sketch, logical, &words);
    let weakness = semantic::weakness(sketch, logical, semantic);
    let dates = matches!(logical, LogicalType::Date | LogicalType::Timestamp);
    let written = |number: f64| if dates { day_text(number) } else { number_text(number) };
    let numbers = sketch.numbers.filter(|_| dates || logical.is_numeric());
    ColumnProfile {
        name: name.to_string(),
        logical,
        semantic,
        rows: sketch.rows,
        missing: sketch.rows - sketch.present(),
        distinct: sketch.distinct,
        distinct_exact: sketch.is_exact(),
        uniqueness: if sketch.multiplicity > 0.0 { 1.0 / sketch.multiplicity } else { 0.0 },
        key_likeness: semantic::key_likeness(sketch, semantic, weakness, place),
        min: numbers.map(|numbers| written(numbers.min)),
        max: numbers.map(|numbers| written(numbers.max)),
        moments: numbers.filter(|_| !dates).map(|numbers| [numbers.mean, numbers.deviation]),
        quantiles: numbers.filter(|_| !dates).map(|numbers| numbers.quantiles),
        patterns: sketch.patterns.clone(),
        top: sketch.top.clone(),
        writing: sketch.writing.clone(),
        markers: sketch.markers.clone(),
        misfits: semantic::misfits(sketch, logical),
        totals: logical == LogicalType::Text && semantic::may_hold_totals(sketch),
        weakness,
    }
}

/// A number in plain notation; with an exponent beyond the digits that an `f64` holds.
fn number_text(number: f64) -> String {
    const EXACT: f64 = 1e18;
    if number.abs() >= EXACT { format!("{number:e}") } else { number.to_string() }
}

/// The words of a column's name and the signs `%` and `#` in it.
fn words_and_signs(name: &str) -> Vec<String> {
    let mut words = name_words(name);
    words.extend(["%", "#"].into_iter().filter(|sign| name.contains(sign)).map(str::to_string));
    words
}

/// The day of a number that counts days from 0000-03-01, as `YYYY-MM-DD`.
fn day_text(number: f64) -> String {
    const UNIX_EPOCH_DAY: i64 = 719_468;
    let days = number.floor() as i64 - UNIX_EPOCH_DAY;
    chrono::DateTime::from_timestamp(days * 86_400, 0)
        .map_or_else(String::new, |time| time.format("%Y-%m-%d").to_string())
}

/// The period of the first column of dates, else of years, else of birth dates, which show least about the period of the rows;
/// else of the columns whose names are years.
fn time_coverage(columns: &[ColumnProfile]) -> Option<TimeCoverage> {
    let born = |column: &ColumnProfile| {
        name_words(&column.name)
            .iter()
            .any(|word| matches!(word.as_str(), "birth" | "birthday" | "birthdate" | "born" | "dob"))
    };
    let of = |kind: SemanticType, births: bool| {
        columns.iter().find(|column| column.semantic == Some(kind) && column.min.is_some() && born(column) == births)
    };
    let column = of(SemanticType::Time, false).or_else(|| of(SemanticType::Year, false));
    let Some(column) = column.or_else(|| of(SemanticType::Time, true)) else { return years_in_header(columns) };
    let day = |text: &String| match (column.logical, text.parse::<f64>()) {
        (LogicalType::Integer, Ok(seconds)) if column.semantic == Some(SemanticType::Time) => {
            chrono::DateTime::from_timestamp(seconds as i64, 0)
                .map_or_else(String::new, |time| time.format("%Y-%m-%d").to_string())
        }
        _ => text.clone(),
    };
    Some(TimeCoverage { column: column.name.clone(), from: day(column.min.as_ref()?), to: day(column.max.as_ref()?) })
}

/// The period of a wide table with one column per year.
fn years_in_header(columns: &[ColumnProfile]) -> Option<TimeCoverage> {
    const LEAST_YEARS: usize = 3;
    let is_year =
        |column: &&ColumnProfile| year(column.name.trim(), LIKELY).is_some() && column.logical != LogicalType::Text;
    let mut years: Vec<&str> = columns.iter().filter(is_year).map(|column| column.name.trim()).collect();
    years.sort_unstable();
    let (first, last) = (years.first()?, years.last()?);
    (years.len() >= LEAST_YEARS).then(|| TimeCoverage {
        column: format!("{first} … {last}"),
        from: first.to_string(),
        to: last.to_string(),
    })
}

fn place_coverage(columns: &[ColumnProfile], sketches: &[ColumnSketch]) -> Option<PlaceCoverage> {
    let places = [SemanticType::Country, SemanticType::UsState, SemanticType::CountryCode];
    let (column, sketch) = places
        .iter()
        .find_map(|kind| columns.iter().zip(sketches).find(|(column, _)| column.semantic.as_ref() == Some(kind)))?;
    Some(PlaceCoverage {
        column: column.name.clone(),
        kind: column.semantic?,
        distinct: column.distinct,
        examples: sketch.samples.iter().take(5).map(|(_, value)| value.clone()).collect(),
    })
}
