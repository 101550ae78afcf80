//! The meaning of a column beyond its type: places, codes, years, keys, free text; and why its values may match by chance.
//!
//! Every detector uses only a finished sketch and the words of the column's name. None reads the file again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod weakness;

pub use weakness::{Weakness, key_likeness, weakness};

use super::places;
use lakeward_core::text::years::{RECENT, STATED};
use lakeward_sketch::normalise::Kind;
use lakeward_sketch::{ColumnSketch, Normaliser};

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
    /// Anything else, including identifiers with leading zeros.
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
    /// Sentences, or lists within one cell.
    FreeText,
    /// Amounts of money.
    Money,
    /// Shares in per cent.
    Percentage,
    /// Any other measured number.
    Measure,
}

/// Share of a column's cells that must agree on a type.
const TYPE_SHARE: f64 = 0.95;
/// A column with fewer distinct values than this has a small domain.
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

/// What rows are called that are the total of others.
pub const TOTALS: [&str; 10] =
    ["total", "totals", "subtotal", "all", "overall", "grand total", "world", "sum", "both sexes", "all ages"];

/// Whether a value of the column may be one of [`TOTALS`]; in a column of codes, ALL is the Albanian lek.
pub fn may_hold_totals(sketch: &ColumnSketch) -> bool {
    const CODE_BYTES: u64 = 3;
    let mut normaliser = Normaliser::default();
    let held = |hash: u64| hash > sketch.bound || sketch.hashes.binary_search(&hash).is_ok();
    sketch.longest > CODE_BYTES && TOTALS.iter().any(|name| held(normaliser.value(name).hash))
}

/// Cells that have a value, and none of the type.
pub fn misfits(sketch: &ColumnSketch, logical: LogicalType) -> u64 {
    use Kind::*;
    let fitting: &[Kind] = match logical {
        LogicalType::Integer => &[Integer],
        LogicalType::Float => &[Integer, Float, Percent, Currency],
        LogicalType::Date => &[Date],
        LogicalType::Timestamp => &[Date, DateTime],
        LogicalType::Empty | LogicalType::Boolean | LogicalType::Text => return 0,
    };
    sketch.present() - fitting.iter().map(|kind| sketch.kinds[*kind as usize]).sum::<u64>()
}

fn is_boolean(sketch: &ColumnSketch) -> bool {
    const PAIRS: [[&str; 2]; 6] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"], ["on", "off"], ["1", "0"]];
    if sketch.distinct == 0 || sketch.distinct > 2 || sketch.top.is_empty() || sketch.present() < 2 {
        return false;
    }
    let values: Vec<String> = sketch.top.iter().map(|(value, _)| value.trim().to_ascii_lowercase()).collect();
    let digits = values.iter().any(|value| value == "0" || value == "1");
    let within = |pair: &[&str; 2]| values.iter().all(|value| pair.contains(&value.as_str()));
    // A column of only `1` or only `0` is a constant number, not a Boolean.
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
            let percent = named(&["percent", "pct", "percentage", "%"]);
            return Some(if logical == LogicalType::Integer && is_year(sketch, words) {
                SemanticType::Year
            } else if logical == LogicalType::Integer && named(&["timestamp", "epoch", "unixtime"]) && within(1e8, 1e10)
            {
                SemanticType::Time
            } else if sketch.kinds[Kind::Percent as usize] * 2 > sketch.present() || percent {
                SemanticType::Percentage
            } else if named(&["lat", "latitude"]) && within(-90.0, 90.0) {
                SemanticType::Latitude
            } else if named(&["lon", "lng", "long", "longitude"]) && within(-180.0, 180.0) {
                SemanticType::Longitude
            } else if sketch.kinds[Kind::Currency as usize] * 2 > sketch.present() {
                SemanticType::Money
            } else if logical == LogicalType::Integer && identifies(sketch, words) {
                SemanticType::Identifier
            } else {
                SemanticType::Measure
            });
        }
        LogicalType::Text => {}
    }
    if let Some(place) = places::place_type(sketch, words) {
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
    } else if share(is_partial_date) {
        SemanticType::Time
    } else if share(is_amount) {
        SemanticType::Money
    } else if sketch.multiplicity >= 3.0
        && (share(is_plain_word) && sketch.distinct < SMALL_DOMAIN || sketch.distinct <= 50 && !share(is_code))
    {
        SemanticType::Category
    } else if sketch.leading_zeros * 2 > sketch.present() || share(is_code) {
        if sketch.multiplicity < 1.05 && named(&["id", "key", "uuid"]) {
            SemanticType::Identifier
        } else {
            SemanticType::Code
        }
    } else if sketch.mean_length > 60.0 || mean_words(sketch) >= SENTENCE_WORDS || share(is_list) {
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

/// Whether the name of a column of whole numbers is that of an identifier, of its own rows or of another table's.
fn identifies(sketch: &ColumnSketch, words: &[String]) -> bool {
    const ALWAYS: [&str; 9] = ["id", "ids", "key", "code", "fips", "geoid", "uuid", "zip", "isbn"];
    // `number of seats` is a count, `docket number` is a key: only the latter is unique.
    const WHERE_UNIQUE: [&str; 4] = ["no", "nr", "number", "index"];
    let named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    // In `id count` and `codes per page` another word decides.
    let counted = named(&["count", "counts", "total", "sum", "mean", "average", "avg", "per", "of", "num", "#"]);
    sketch.numbers.is_some_and(|numbers| numbers.min >= 0.0)
        && (named(&ALWAYS) && !counted || named(&WHERE_UNIQUE) && sketch.multiplicity < 1.05)
}

/// `24-Jan`, `Jun-92`, `11/6/18`: a date that lacks a part, or whose order of day and month is unclear.
fn is_partial_date(value: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let parts: Vec<&str> = value.trim().split(['-', '/', ' ']).collect();
    let digits = |part: &str, most: usize| {
        !part.is_empty() && part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let month = |part: &str| part.len() == 3 && MONTHS.contains(&part.to_ascii_lowercase().as_str());
    match parts.as_slice() {
        [a, b] => month(a) && digits(b, 4) || digits(a, 4) && month(b),
        [a, b, c] if value.contains('/') => digits(a, 2) && digits(b, 2) && digits(c, 4) && matches!(c.len(), 2 | 4),
        _ => false,
    }
}

/// `$4.4M`, `£3 million`: an amount with a word after the figure.
fn is_amount(value: &str) -> bool {
    let value = value.trim().trim_start_matches('-');
    value.strip_prefix(['$', '€', '£', '¥']).is_some_and(|rest| {
        let rest = rest.trim_start();
        let figure = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        figure.len() < rest.len()
            && figure.trim().len() <= 8
            && figure.trim().bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// `MALE`, `REP`: letters only, in any case.
fn is_plain_word(value: &str) -> bool {
    value.len() >= 2 && value.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// `a, b, c`: at least three items; `Springfield, OH` and `Smith, John` are a single one.
fn is_list(value: &str) -> bool {
    [',', ';', '|'].iter().any(|mark| value.matches(*mark).count() >= 2)
}

/// Cells with at least this many words on average are sentences.
const SENTENCE_WORDS: f64 = 7.0;

fn mean_words(sketch: &ColumnSketch) -> f64 {
    let words: usize = sketch.samples.iter().map(|(_, value)| value.split_whitespace().count()).sum();
    words as f64 / sketch.samples.len().max(1) as f64
}

fn is_year(sketch: &ColumnSketch, words: &[String]) -> bool {
    let Some(numbers) = sketch.numbers else { return false };
    let named =
        words.iter().any(|word| matches!(word.as_str(), "year" | "yr" | "season" | "jahr" | "année" | "año" | "date"));
    let range = if named { STATED } else { RECENT };
    let (low, high) = (f64::from(*range.start()), f64::from(*range.end()));
    // Words among the years (a footnote, a website) may be longer; `1,850` is no year.
    let four_digits = sketch.longest == 4 || sketch.kinds[Kind::Text as usize] > 0;
    // Columns not named after years must lie in the range of recent years, and their values must repeat or step by one.
    four_digits
        && numbers.min >= low
        && numbers.max <= high
        && (named || (numbers.max - numbers.min <= 250.0 && (sketch.multiplicity > 1.2 || steps_by_one(sketch))))
}

fn steps_by_one(sketch: &ColumnSketch) -> bool {
    sketch.numbers.is_some_and(|numbers| numbers.max - numbers.min + 1.0 <= 1.5 * sketch.distinct as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::text::name_words;
    use lakeward_sketch::temporal::DateOrder;
    use lakeward_sketch::{ColumnSketchBuilder, SketchLimits};

    fn sketch_of(cells: &[&str], times: usize) -> ColumnSketch {
        let order = DateOrder::learn(cells.iter().copied());
        let mut builder = ColumnSketchBuilder::new(SketchLimits::default(), order);
        for _ in 0..times {
            cells.iter().for_each(|cell| {
                builder.push(cell);
            });
        }
        builder.finish()
    }

    fn types_of(name: &str, cells: &[&str], times: usize) -> (LogicalType, Option<SemanticType>, Option<Weakness>) {
        let sketch = sketch_of(cells, times);
        let logical = logical_type(&sketch);
        let semantic = semantic_type(&sketch, logical, &name_words(name));
        (logical, semantic, weakness(&sketch, logical, semantic))
    }

    const CODES: [&str; 8] = ["ZA", "BW", "AO", "ZM", "MZ", "LS", "SZ", "TZ"];

    #[test]
    fn text_columns_are_classified() {
        use SemanticType::*;
        let cases: &[(&str, &[&str], usize, SemanticType)] = &[
            ("country", &["France", "Spain", "Viet Nam", "Chad"], 1, Country),
            ("iso", &CODES, 1, CountryCode),
            ("state", &["AL", "AK", "AZ", "CA", "GA"], 1, UsState),
            ("lgID", &["AL", "NL"], 20, Category),
            ("state", &["MA"], 20, UsState),
            ("country", &["FR"], 20, CountryCode),
            ("initials", &["FR"], 20, Category),
            ("Gender", &["MALE", "FEMALE"], 20, Category),
            ("party", &["D", "R", "I"], 20, Category),
            ("player_id", &["cartevi01", "garneke01", "nowitdi01"], 1, Identifier),
            ("player", &["cartevi01", "garneke01", "nowitdi01"], 9, Code),
            ("season", &["2010, December", "Spring 2011", "x"], 1, Name),
            ("Date", &["24-Jan", "14-Nov", "3-Feb"], 1, Time),
            ("first seen", &["Jun-92", "May-93", "Sep-06"], 9, Time),
            ("forecastdate", &["11/6/18"], 30, Time),
            ("box_office", &["$6M", "$11M", "$4.44M", "$1.2 billion"], 1, Money),
            ("city", &["Springfield, OH", "Ponce, PR", "Miami, FL"], 1, Name),
            ("directors", &["Ann Lee, Bo Li, Cy Wu", "A. B, C. D, E. F", "X, Y, Z"], 1, FreeText),
            ("notes", &["he was seen by the lake at night", "no one knows what came of her later on"], 1, FreeText),
            (
                "answer",
                &["Yes, they should not recline at all", "No, the person may do so on any flight"],
                20,
                Category,
            ),
            ("url", &["https://a.org/1", "http://b.org"], 1, Url),
            ("mail", &["a@b.org", "c@d.com"], 1, Email),
        ];
        for (name, cells, times, expected) in cases {
            assert_eq!(types_of(name, cells, *times).1, Some(*expected), "{name}: {cells:?}");
        }
    }

    #[test]
    fn columns_of_numbers_are_classified() {
        use SemanticType::*;
        let cases: &[(&str, &[&str], usize, SemanticType)] = &[
            ("year", &["1990", "1991", "1990"], 1, Year),
            ("iyear", &["1990", "1991", "1992"], 1, Year),
            ("population", &["1850", "2090", "1903", "1999"], 1, Measure),
            ("founded year", &["1,850", "1,903"], 1, Measure),
            ("lat", &["60.1", "-3.5"], 1, Latitude),
            ("hisp_lat_pct", &["2.3%", "7.35%"], 1, Percentage),
            ("turnout pct", &["20", "30"], 1, Percentage),
            ("county_id", &["1003", "56005"], 20, Identifier),
            ("docket number", &["1003", "56005"], 1, Identifier),
            ("number of seats", &["3", "12", "3"], 5, Measure),
            ("id count", &["1003", "56005"], 20, Measure),
            ("Timestamp", &["1473387721", "1517535635"], 1, Time),
            ("cost", &["$1,200", "$900"], 1, Money),
        ];
        for (name, cells, times, expected) in cases {
            assert_eq!(types_of(name, cells, *times).1, Some(*expected), "{name}: {cells:?}");
        }
    }

    #[test]
    fn years_with_a_stray_word_are_years() {
        let years: Vec<String> = (1900..2020).map(|year| year.to_string()).chain(["songfacts.com".into()]).collect();
        let years: Vec<&str> = years.iter().map(String::as_str).collect();
        assert_eq!(types_of("Release Year", &years, 1).1, Some(SemanticType::Year));
    }

    #[test]
    fn weak_columns_have_a_reason() {
        let counter: Vec<String> = (1..2000).map(|i| i.to_string()).collect();
        let counter: Vec<&str> = counter.iter().map(String::as_str).collect();
        let cases: &[(&str, &[&str], usize, Option<Weakness>)] = &[
            ("n", &counter, 1, Some(Weakness::Counter)),
            ("age", &["16", "87", "29"], 3, Some(Weakness::SmallNumbers)),
            ("ok", &["yes", "no"], 3, Some(Weakness::Boolean)),
            ("x", &["1", "0"], 3, Some(Weakness::Boolean)),
            ("year", &["1990", "1991"], 1, Some(Weakness::Year)),
            ("share", &["0.1", "0.2"], 1, Some(Weakness::Measure)),
            ("turnout pct", &["2000", "3000"], 1, Some(Weakness::Measure)),
            ("party", &["D", "R", "I"], 20, Some(Weakness::SmallDomain)),
            ("state", &["MA"], 20, Some(Weakness::SmallDomain)),
            ("colour", &["red", "blue", "green"], 1, None),
            ("iso", &CODES[..4], 20, None),
            ("county_id", &["1003", "1005", "1007", "1009", "1011", "1013", "1015", "56005"], 20, None),
        ];
        for (name, cells, times, expected) in cases {
            assert_eq!(types_of(name, cells, *times).2, *expected, "{name}");
        }
    }
}
