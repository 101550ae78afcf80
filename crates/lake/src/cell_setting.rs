//! What is decided of a column's cells once all of them are known, and what a user may set instead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places;
use super::semantic::{self, LogicalType, SemanticType};
use lakeward_sketch::{ColumnSketch, Writing};

/// How the cells of one column are to be read, whatever the profile would decide: `[[cells]]` in `lakeward.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellSetting {
    /// The id of the table.
    pub table: String,
    /// The name of its column.
    pub column: String,
    /// How it writes its values; what is left out is decided by its cells.
    #[serde(flatten)]
    pub writing: Writing,
}

/// The marks of gaps in `sketch` that are words of its column: real ones stay, by the evidence of its other values.
///
/// - `NA`, `nan` among codes of their length, of countries, continents, or of a set larger than the states of a country;
/// - `None`, `Missing` and `nil` where they are one of few values of a text column that each occur often;
/// - `Missing` as the only gap that a text column would have, such as the film of that title;
/// - `-` among signs.
pub fn kept_words(sketch: &ColumnSketch) -> Vec<String> {
    let is_kept = |(marker, cells): &(String, u64)| {
        let is_letters = marker.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_letters { is_code(sketch, marker, *cells) || is_word(sketch, marker, *cells) } else { is_sign(sketch) }
    };
    let set = |marker: &String| sketch.writing.missing.iter().any(|cell| cell.eq_ignore_ascii_case(marker));
    let mut kept: Vec<String> = Vec::new();
    for (marker, _) in sketch.markers.iter().filter(|known| !set(&known.0) && is_kept(known)) {
        if !kept.iter().any(|word| word.eq_ignore_ascii_case(marker)) {
            kept.push(marker.clone());
        }
    }
    kept
}

/// Whether letters that usually mark a gap are one of the column's codes: the others are codes as well, many of the same length, and it is not
/// much more frequent than they are.
fn is_code(sketch: &ColumnSketch, marker: &str, cells: u64) -> bool {
    const CONTINENTS: [&str; 6] = ["AF", "AN", "AS", "EU", "OC", "SA"];
    const LEAST_CONTINENTS: u64 = 4;
    /// More than the states and territories of the USA, in whose columns `NA` is a gap.
    const LARGE_SET: u64 = 60;
    const CODES: f64 = 0.9;
    const OF_ITS_LENGTH: f64 = 0.1;
    let is_upper = marker.bytes().all(|byte| byte.is_ascii_uppercase());
    let in_case = |byte: u8| if is_upper { byte.is_ascii_uppercase() } else { byte.is_ascii_lowercase() };
    let share = |lengths: std::ops::RangeInclusive<usize>| {
        let is_such = |value: &str| lengths.contains(&value.len()) && value.bytes().all(in_case);
        let such = sketch.samples.iter().filter(|(_, value)| is_such(value)).count();
        such as f64 / sketch.samples.len().max(1) as f64
    };
    let continents = || {
        (LEAST_CONTINENTS..=CONTINENTS.len() as u64).contains(&sketch.distinct)
            && sketch.top.iter().all(|(value, _)| CONTINENTS.iter().any(|code| code.eq_ignore_ascii_case(value)))
    };
    let len = marker.len();
    len <= 3
        && cells <= 2 * sketch.most_frequent
        && (share(2..=3) >= CODES && share(len..=len) >= OF_ITS_LENGTH)
        && (continents()
            || sketch.distinct > LARGE_SET
            || places::place_type(sketch, &[]) == Some(SemanticType::CountryCode))
}

/// Whether a mark of a gap that is a word of a language as well, as `null` and `NaN` are not, is a value of the column: one of few values
/// that occur often, or the only gap that it would have.
fn is_word(sketch: &ColumnSketch, marker: &str, cells: u64) -> bool {
    const MOST: u64 = 30;
    const LEAST_TIMES: f64 = 3.0;
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(marker));
    if !is(&["none", "missing", "nil"]) || semantic::logical_type(sketch) != LogicalType::Text {
        return false;
    }
    let is_category = (2..=MOST).contains(&sketch.distinct) && sketch.multiplicity >= LEAST_TIMES;
    let only_gap = cells == 1 && sketch.rows - sketch.present() == 1 && sketch.distinct > MOST;
    is_category || (is(&["missing"]) && only_gap)
}

/// Whether all values of the column are signs: `+`, `++`.
fn is_sign(sketch: &ColumnSketch) -> bool {
    sketch.distinct > 0
        && sketch.distinct <= sketch.top.len() as u64
        && sketch.top.iter().all(|(value, _)| !value.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_sketch::{ColumnSketchBuilder, SketchLimits};

    fn kept(cells: &[&str], marker: &str, times: usize) -> Vec<String> {
        let mut builder = ColumnSketchBuilder::new(SketchLimits::default(), Writing::default());
        cells.iter().copied().chain(std::iter::repeat_n(marker, times)).for_each(|cell| {
            builder.push(cell);
        });
        kept_words(&builder.finish())
    }

    #[test]
    fn markers_stay_words_by_the_evidence_of_their_column() {
        const CODES: [&str; 8] = ["ZA", "BW", "AO", "ZM", "MZ", "LS", "SZ", "TZ"];
        let small = CODES.map(str::to_lowercase);
        let small: Vec<&str> = small.iter().map(String::as_str).collect();
        let letters = || ('A'..='J').flat_map(|a| ('Q'..='W').map(move |b| format!("{a}{b}")));
        let many: Vec<String> = letters().collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let doses = ["Low", "High", "Low", "High", "Low", "High", "Medium", "Medium", "Medium"];
        let yes = ["yes", "no", "yes", "no", "yes", "no"];
        let cases: [(&[&str], &str, usize, bool); 20] = [
            (&CODES, "NA", 1, true),
            (&CODES, "NA", 9, false),
            (&small, "na", 1, true),
            (&CODES, "na", 1, false),
            (&many, "NA", 1, true),
            (&many, "NAN", 1, false),
            (&many, "Missing", 1, true),
            (&many, "Missing", 2, false),
            (&["AF", "AN", "AS", "EU", "OC", "SA"], "NA", 1, true),
            (&["AL", "AK", "AZ", "CA", "GA"], "NA", 1, false),
            (&["Yes", "No", "Perhaps"], "NA", 1, false),
            (&["12", "15", "17", "19"], "NA", 1, false),
            (&["TEN", "DEN", "WAS", "PHI"], "NA", 1, false),
            (&doses, "None", 20, true),
            (&doses, "missing", 1, true),
            (&doses, "null", 5, false),
            (&["Ann", "Ben", "Cem", "Dev"], "None", 9, false),
            (&yes, "none", 3, false),
            (&["1", "2", "1", "2", "1", "2"], "None", 3, false),
            (&["+", "++", "+"], "-", 2, true),
        ];
        for (cells, marker, times, expected) in cases {
            assert_eq!(!kept(cells, marker, times).is_empty(), expected, "{marker} in {cells:?}");
        }
    }
}
