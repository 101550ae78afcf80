//! What a column holds, beyond its type: places, codes, years, keys, free text; and why it may join by accident.
//!
//! Every detector looks at a finished sketch and at the words of the column's name. None reads the file again.

use std::collections::HashMap;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sketch::ColumnSketch;
use crate::sketch::normalise::{Kind, Normaliser};

/// The type a column's cells share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogicalType {
    /// No cell has a value.
    Empty,
    /// Two values that mean yes and no.
    Boolean,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// Calendar dates or months.
    Date,
    /// Dates with a time of day.
    Timestamp,
    /// Anything else, identifiers with leading zeros among it.
    Text,
}

impl LogicalType {
    /// Whether values of this type can be summed.
    pub fn is_numeric(self) -> bool {
        matches!(self, LogicalType::Integer | LogicalType::Float)
    }
}

/// What a column's values stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SemanticType {
    /// A calendar year.
    Year,
    /// A date or time.
    Time,
    /// Names of countries.
    Country,
    /// ISO 3166 codes of countries.
    CountryCode,
    /// States of the USA by name or by code.
    UsState,
    /// Degrees of latitude.
    Latitude,
    /// Degrees of longitude.
    Longitude,
    /// E-mail addresses.
    Email,
    /// Web addresses.
    Url,
    /// Numbers or codes that identify rows.
    Identifier,
    /// Short codes.
    Code,
    /// Names of people, places or things.
    Name,
    /// A few repeated labels.
    Category,
    /// Sentences.
    FreeText,
    /// Amounts of money.
    Money,
    /// Shares in per cent.
    Percentage,
    /// Any other measured number.
    Measure,
}

/// Why equal values in this column say little about a relation between tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    /// Years occur everywhere.
    Year,
    /// Yes and no.
    Boolean,
    /// Row numbers: 1, 2, 3, …
    Counter,
    /// Small whole numbers.
    SmallNumbers,
    /// A handful of values that many tables share.
    SmallDomain,
    /// Measurements that agree by chance.
    Measure,
}

impl Weakness {
    /// The reason in words, for answers.
    pub fn reason(self) -> &'static str {
        match self {
            Weakness::Year => "years: they occur in many unrelated tables",
            Weakness::Boolean => "a yes/no column",
            Weakness::Counter => "row numbers 1, 2, 3, …",
            Weakness::SmallNumbers => "small whole numbers",
            Weakness::SmallDomain => "only a few distinct values",
            Weakness::Measure => "measured numbers: they agree by chance",
        }
    }
}

/// Share of a column's cells that must agree on a type.
const TYPE_SHARE: f64 = 0.95;
/// Share of a column's values that must be in a list of places.
const PLACE_SHARE: f64 = 0.7;
/// Fewer distinct values than this are a small domain.
const SMALL_DOMAIN: u64 = 8;

/// The logical type of a column.
pub fn logical_type(sketch: &ColumnSketch) -> LogicalType {
    let present = sketch.present();
    if present == 0 {
        return LogicalType::Empty;
    }
    let count = |kinds: &[Kind]| kinds.iter().map(|kind| sketch.kinds[*kind as usize]).sum::<u64>() as f64;
    let enough = |cells: f64| cells >= TYPE_SHARE * present as f64;
    if is_boolean(sketch) {
        LogicalType::Boolean
    } else if sketch.leading_zeros > 0 && sketch.leading_zeros * 50 > present {
        LogicalType::Text
    } else if count(&[Kind::Integer]) == present as f64 {
        LogicalType::Integer
    } else if enough(count(&[Kind::Integer, Kind::Float, Kind::Percent, Kind::Currency])) {
        if enough(count(&[Kind::Integer])) && count(&[Kind::Float]) == 0.0 {
            LogicalType::Integer
        } else {
            LogicalType::Float
        }
    } else if enough(count(&[Kind::Date, Kind::DateTime])) {
        if count(&[Kind::DateTime]) > 0.0 { LogicalType::Timestamp } else { LogicalType::Date }
    } else {
        LogicalType::Text
    }
}

fn is_boolean(sketch: &ColumnSketch) -> bool {
    const PAIRS: [[&str; 2]; 6] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"], ["on", "off"], ["1", "0"]];
    if sketch.distinct == 0 || sketch.distinct > 2 || sketch.top.is_empty() || sketch.present() < 2 {
        return false;
    }
    let values: Vec<String> = sketch.top.iter().map(|(value, _)| value.trim().to_ascii_lowercase()).collect();
    let digits = values.iter().any(|value| value == "0" || value == "1");
    let within = |pair: &[&str; 2]| values.iter().all(|value| pair.contains(&value.as_str()));
    // A lone `1` or `0` is a constant number, not an answer.
    PAIRS.iter().any(within) && (!digits || sketch.distinct == 2)
}

/// What the column's values stand for; `words` are the words of its name.
pub fn semantic_type(sketch: &ColumnSketch, logical: LogicalType, words: &[String]) -> Option<SemanticType> {
    let named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    match logical {
        LogicalType::Empty | LogicalType::Boolean => return None,
        LogicalType::Date | LogicalType::Timestamp => return Some(SemanticType::Time),
        LogicalType::Integer | LogicalType::Float => {
            let numbers = sketch.numbers?;
            let within = |low: f64, high: f64| numbers.min >= low && numbers.max <= high;
            return Some(if logical == LogicalType::Integer && is_year(sketch, words) {
                SemanticType::Year
            } else if named(&["lat", "latitude"]) && within(-90.0, 90.0) {
                SemanticType::Latitude
            } else if named(&["lon", "lng", "long", "longitude"]) && within(-180.0, 180.0) {
                SemanticType::Longitude
            } else if sketch.kinds[Kind::Percent as usize] * 2 > sketch.present()
                || named(&["percent", "pct", "percentage"])
            {
                SemanticType::Percentage
            } else if sketch.kinds[Kind::Currency as usize] * 2 > sketch.present() {
                SemanticType::Money
            } else if logical == LogicalType::Integer
                && (named(&["id", "key", "no", "nr", "code", "number", "index"]) && sketch.multiplicity < 1.05)
            {
                SemanticType::Identifier
            } else {
                SemanticType::Measure
            });
        }
        LogicalType::Text => {}
    }
    if let Some(place) = place_type(sketch) {
        return Some(place);
    }
    let share = |test: fn(&str) -> bool| {
        let hits = sketch.samples.iter().filter(|(_, value)| test(value)).count();
        !sketch.samples.is_empty() && hits * 10 >= sketch.samples.len() * 8
    };
    Some(if share(|value| value.starts_with("http://") || value.starts_with("https://") || value.starts_with("www.")) {
        SemanticType::Url
    } else if share(|value| {
        value.contains('@') && !value.contains(' ') && value.rsplit('@').next().is_some_and(|host| host.contains('.'))
    }) {
        SemanticType::Email
    } else if sketch.leading_zeros > 0 || share(is_code) {
        if sketch.multiplicity < 1.05 && named(&["id", "key", "uuid"]) {
            SemanticType::Identifier
        } else {
            SemanticType::Code
        }
    } else if sketch.mean_length > 60.0 {
        SemanticType::FreeText
    } else if sketch.multiplicity >= 3.0 && sketch.distinct <= 200 {
        SemanticType::Category
    } else {
        SemanticType::Name
    })
}

/// Capital letters and digits without spaces, up to 12 characters; or anything with a digit and no space.
fn is_code(value: &str) -> bool {
    let value = value.trim();
    let capitals = value.len() <= 12
        && value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '/'));
    let mixed = value.len() <= 40 && !value.contains(' ') && value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() >= 2 && (capitals || mixed)
}

fn is_year(sketch: &ColumnSketch, words: &[String]) -> bool {
    let Some(numbers) = sketch.numbers else { return false };
    let named =
        words.iter().any(|word| matches!(word.as_str(), "year" | "yr" | "season" | "jahr" | "année" | "año" | "date"));
    let (low, high) = if named { (1000.0, 2200.0) } else { (1800.0, 2100.0) };
    let four_digits = sketch.longest == 4;
    // Unnamed year columns are recognised where the range is that of recent times and the values repeat or step by one.
    four_digits
        && numbers.min >= low
        && numbers.max <= high
        && (named || (numbers.max - numbers.min <= 250.0 && (sketch.multiplicity > 1.2 || steps_by_one(sketch))))
}

fn steps_by_one(sketch: &ColumnSketch) -> bool {
    sketch.numbers.is_some_and(|numbers| numbers.max - numbers.min + 1.0 <= 1.5 * sketch.distinct as f64)
}

/// Lists of places by normal-form hash.
fn places() -> &'static HashMap<u64, SemanticType> {
    static PLACES: OnceLock<HashMap<u64, SemanticType>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut normaliser = Normaliser::default();
        let mut places = HashMap::new();
        for line in include_str!("places.tsv").lines() {
            let Some((kind, name)) = line.split_once('\t') else { continue };
            let kind = match kind {
                "country" => SemanticType::Country,
                "country_code" => SemanticType::CountryCode,
                "us_state" | "us_state_code" => SemanticType::UsState,
                _ => continue,
            };
            let hash = normaliser.value(name).hash;
            // A code that names both a state and a country is told by its neighbours: see `place_type`.
            places
                .entry(hash)
                .and_modify(|known: &mut SemanticType| {
                    if *known != kind {
                        *known = SemanticType::Code
                    }
                })
                .or_insert(kind);
        }
        places
    })
}

/// The list that most of the column's distinct values are in, if there is one.
fn place_type(sketch: &ColumnSketch) -> Option<SemanticType> {
    if sketch.hashes.len() < 2 || sketch.mean_length > 40.0 {
        return None;
    }
    let looked_at = sketch.hashes.len().min(500);
    let mut hits: HashMap<SemanticType, usize> = HashMap::new();
    for hash in &sketch.hashes[..looked_at] {
        if let Some(kind) = places().get(hash) {
            *hits.entry(*kind).or_default() += 1;
        }
    }
    let ambiguous = hits.remove(&SemanticType::Code).unwrap_or(0);
    let (kind, count) = hits.into_iter().max_by_key(|(kind, count)| (*count, *kind as u8))?;
    let ambiguous = if kind == SemanticType::Country { 0 } else { ambiguous };
    ((count + ambiguous) as f64 >= PLACE_SHARE * looked_at as f64).then_some(kind)
}

/// Why equal values in this column say little, if that is so.
pub fn weakness(sketch: &ColumnSketch, logical: LogicalType, semantic: Option<SemanticType>) -> Option<Weakness> {
    match (logical, semantic) {
        (LogicalType::Boolean, _) => return Some(Weakness::Boolean),
        (_, Some(SemanticType::Year)) => return Some(Weakness::Year),
        (LogicalType::Float, _) => return Some(Weakness::Measure),
        _ => {}
    }
    if logical == LogicalType::Integer
        && let Some(numbers) = sketch.numbers
    {
        let dense = numbers.max - numbers.min + 1.0 <= 1.1 * sketch.distinct as f64;
        if sketch.ascending && dense && numbers.min.abs() <= 1.0 {
            return Some(Weakness::Counter);
        }
        if numbers.min >= -100.0 && numbers.max <= 1000.0 {
            return Some(Weakness::SmallNumbers);
        }
        if semantic == Some(SemanticType::Measure) && sketch.multiplicity > 1.0 {
            return Some(Weakness::Measure);
        }
    }
    let lists = matches!(semantic, Some(SemanticType::Country | SemanticType::CountryCode | SemanticType::UsState));
    (!lists && sketch.distinct < SMALL_DOMAIN && sketch.multiplicity > 1.2).then_some(Weakness::SmallDomain)
}

/// How much a column looks like a key of its table, in 0..=1: unique and complete, an identifier, code or name rather than a
/// measurement, and to the left.
pub fn key_likeness(
    sketch: &ColumnSketch,
    semantic: Option<SemanticType>,
    weakness: Option<Weakness>,
    place: usize,
) -> f64 {
    if sketch.rows == 0 || sketch.present() == 0 {
        return 0.0;
    }
    let complete = sketch.present() as f64 / sketch.rows as f64;
    let unique = 1.0 / sketch.multiplicity.max(1.0);
    let prior = match semantic {
        Some(SemanticType::Identifier | SemanticType::Code | SemanticType::CountryCode) => 1.0,
        Some(
            SemanticType::Name
            | SemanticType::Country
            | SemanticType::UsState
            | SemanticType::Email
            | SemanticType::Url,
        ) => 0.95,
        Some(SemanticType::Time) => 0.7,
        Some(SemanticType::Category) => 0.6,
        Some(SemanticType::Year) => 0.5,
        Some(SemanticType::FreeText) => 0.3,
        _ => 0.25,
    };
    let accident = match weakness {
        None => 1.0,
        Some(Weakness::Counter) => 0.5,
        Some(Weakness::Year) => 0.8,
        Some(_) => 0.4,
    };
    let leftness = 1.0 - 0.02 * place.min(10) as f64;
    complete * unique * prior * accident * leftness
}
