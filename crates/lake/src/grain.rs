//! What one row of a table represents: an instance, or an aggregate over instances; with the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::ColumnProfile;
use super::semantic::SemanticType;
use lakeward_core::text::name_words;
use lakeward_sketch::ColumnSketch;
use lakeward_sketch::normalise::Normaliser;

/// What one row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrainKind {
    /// One observed thing or event.
    Instance,
    /// A count, sum or mean over a group of things.
    Aggregate,
}

/// What one row stands for, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Grain {
    /// The predicted kind.
    pub kind: GrainKind,
    /// One clause per observation that supports an aggregate; empty where there is none.
    pub evidence: Vec<String>,
}

/// Words in column names that indicate an aggregate figure.
const AGGREGATE_WORDS: [&str; 24] = [
    "total",
    "totals",
    "sum",
    "avg",
    "average",
    "mean",
    "median",
    "count",
    "counts",
    "percent",
    "pct",
    "percentage",
    "share",
    "rate",
    "ratio",
    "per",
    "capita",
    "index",
    "proportion",
    "frequency",
    "freq",
    "cumulative",
    "subtotal",
    "std",
];
/// Values that label a total row.
const TOTAL_LABELS: [&str; 4] = ["total", "totals", "grand total", "subtotal"];
/// Values that label a total row only in a short list of groups; elsewhere they are ordinary words.
const GROUP_LABELS: [&str; 4] = ["all", "overall", "sum", "average"];
/// Distinct values up to which a column is a short list of groups …
const FEW_GROUPS: u64 = 60;
/// … and up to which it is a list of groups at all.
const MOST_GROUPS: u64 = 1000;
/// Words that mark a column name as a survey question: `rate` is a verb in it.
const QUESTION_WORDS: [&str; 5] = ["you", "your", "please", "me", "i"];
/// Words that always indicate an aggregate figure; the others may also describe the context of an instance.
const STRONG_WORDS: [&str; 11] =
    ["total", "totals", "sum", "avg", "average", "mean", "median", "count", "counts", "cumulative", "subtotal"];
/// A table with more rows than this is seldom a summary without other evidence.
const FEW_ROWS: u64 = 300;

/// Judges the grain of a table from its columns.
pub fn judge(columns: &[ColumnProfile], sketches: &[ColumnSketch]) -> Grain {
    let mut evidence = Vec::new();
    let mut weight = 0.0;
    let named: Vec<&str> = columns
        .iter()
        .filter(|column| column.logical.is_numeric())
        .filter(|column| has_word(&column.name, &AGGREGATE_WORDS) && !has_word(&column.name, &QUESTION_WORDS))
        .map(|column| column.name.as_str())
        .collect();
    if !named.is_empty() {
        // A few shares among many plain figures describe the context of an instance.
        let numeric = columns.iter().filter(|column| column.logical.is_numeric()).count();
        let strong = named.iter().any(|name| has_word(name, &STRONG_WORDS));
        weight += if named.len() > 1 && (strong || named.len() * 4 >= numeric) { 1.0 } else { 0.7 };
        evidence
            .push(format!("aggregate-like names: {}", named.iter().take(4).copied().collect::<Vec<_>>().join(", ")));
    }
    if let Some(column) = total_row(columns, sketches) {
        weight += 1.0;
        evidence.push(format!("`{column}` labels a total row"));
    }
    if let Some(column) = one_row_a_group(columns) {
        weight += if column.semantic == Some(SemanticType::Year) { 1.0 } else { 0.5 };
        let column = &column.name;
        evidence.push(format!("one row per `{column}`, the rest are figures"));
    }
    let kind = if weight >= 1.0 { GrainKind::Aggregate } else { GrainKind::Instance };
    Grain { kind, evidence }
}

fn has_word(name: &str, listed: &[&str]) -> bool {
    name_words(name).iter().any(|word| listed.contains(&word.as_str()))
}

/// The text column with a cell `Total` or the like.
fn total_row<'a>(columns: &'a [ColumnProfile], sketches: &[ColumnSketch]) -> Option<&'a str> {
    let mut normaliser = Normaliser::default();
    let mut has = |sketch: &ColumnSketch, labels: &[&str]| {
        labels.iter().any(|label| sketch.hashes.binary_search(&normaliser.value(label).hash).is_ok())
    };
    columns.iter().zip(sketches).take(4).find_map(|(column, sketch)| {
        let groups = (3..=MOST_GROUPS).contains(&sketch.distinct)
            && column.semantic != Some(SemanticType::FreeText)
            && !has_word(&column.name, &QUESTION_WORDS);
        let label =
            groups && (has(sketch, &TOTAL_LABELS) || sketch.distinct <= FEW_GROUPS && has(sketch, &GROUP_LABELS));
        label.then_some(column.name.as_str())
    })
}

/// The grouping column of a short table whose other columns are nearly all numbers.
fn one_row_a_group(columns: &[ColumnProfile]) -> Option<&ColumnProfile> {
    let rows = columns.first()?.rows;
    if !(3..=FEW_ROWS).contains(&rows) || columns.len() < 2 {
        return None;
    }
    let numbers = columns
        .iter()
        .filter(|column| {
            column.logical.is_numeric()
                && !matches!(column.semantic, Some(SemanticType::Year | SemanticType::Identifier))
        })
        .count();
    let grouping = columns.iter().take(2).find(|column| {
        column.uniqueness >= 0.99
            && matches!(
                column.semantic,
                Some(
                    SemanticType::Year
                        | SemanticType::Country
                        | SemanticType::CountryCode
                        | SemanticType::UsState
                        | SemanticType::Category
                )
            )
    })?;
    (numbers + 2 >= columns.len() && numbers > 0).then_some(grouping)
}

#[cfg(test)]
mod tests {
    use crate::grain::GrainKind;
    use crate::profile::{self, TableProfile};
    use crate::reader::{ReadOptions, open_path};
    use crate::scan::scan;

    fn profile_of(text: &str) -> TableProfile {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        let mut reader = open_path(&path, &ReadOptions::default()).unwrap();
        profile::profile(&scan(reader.as_mut()).unwrap())
    }

    #[test]
    fn instances_are_distinguished_from_aggregates() {
        use GrainKind::*;
        for (text, expected) in [
            ("name,city\nAnn,Oslo\nBo,Bern\nCy,Rome\n", Instance),
            ("year,deaths,births\n2001,5,6\n2002,7,9\n2003,4,8\n", Aggregate),
            ("state,total,median_rent\nTexas,5,6\nIowa,7,9\nOhio,4,8\n", Aggregate),
            ("group,n\nmen,5\nwomen,7\ntotal,12\n", Aggregate),
            ("role,actor\nAll,Ann\nKing,Bo\nQueen,Cy\n", Aggregate),
            (
                "name,lat,lon,age,height,weight,pace,jump,stride,share_white,share_black\nAnn,1.5,2.5,30,1,2,3,4,5,6,7\n\
                 Bo,1.6,2.7,31,1,2,3,4,5,6,7\nCy,1.7,2.8,32,2,3,4,5,6,7,8\n",
                Instance,
            ),
            (
                "id,Please rate how much you like the food of Peru,Please rate how much you like the food of Chile\n9,1,2\n8,2,3\n7,5,4\n",
                Instance,
            ),
        ] {
            let grain = profile_of(text).grain;
            assert_eq!(grain.kind, expected, "{text}: {:?}", grain.evidence);
        }
    }

    #[test]
    fn the_period_is_that_of_the_rows() {
        for (text, expected) in [
            (
                "birthday,start\n1950-01-02,2001-01-03\n1960-01-02,2003-01-03\n",
                Some(("start", "2001-01-03", "2003-01-03")),
            ),
            ("name,birthday\nAnn,1950-01-02\nBo,1960-01-02\n", Some(("birthday", "1950-01-02", "1960-01-02"))),
            ("country,2001,2002,2003\nChad,5,6,7\nMali,7,8,9\n", Some(("2001 … 2003", "2001", "2003"))),
            ("block,timestamp\n5,1473387721\n6,1517535635\n", Some(("timestamp", "2016-09-09", "2018-02-02"))),
            ("name,age\nAnn,5\nBo,6\n", None),
        ] {
            let time = profile_of(text).time;
            let found = time.as_ref().map(|time| (time.column.as_str(), time.from.as_str(), time.to.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
