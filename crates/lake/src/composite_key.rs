//! Composite keys: the smallest sets of two or three columns whose values differ between any two rows of a table.
//!
//! Sketches of single columns do not show this, so the table's first rows are read again. Only columns that say *what* a row
//! is about are tried (places, times, names, codes, categories; no measurements, no sentences). The unique sets are ranked by
//! how plausible they are as intended keys: few values for many rows, to the left, a thing and a time. A set that contains a
//! smaller key is not a key.

use std::path::Path;

use hashbrown::{HashMap, HashSet};
use schemars::JsonSchema;
use serde::Serialize;

use super::cell_hashes::CellHasher;
use super::profile::{ColumnProfile, TableProfile};
use super::reader::{self, ReadOptions};
use super::semantic::{LogicalType, SemanticType};
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_sketch::Writing;

/// Most rows read.
const MOST_ROWS: usize = 200_000;
/// With fewer rows almost any two columns are unique together.
const LEAST_ROWS: usize = 8;
/// Most columns tried; those that look least like part of a key are left out.
const MOST_COLUMNS: usize = 12;
/// Most keys returned.
const MOST_KEYS: usize = 3;
/// Sets less plausible than this are considered unique by chance.
const LEAST_PLAUSIBILITY: f64 = 0.3;
/// Share of a key's rows that may lack one of its parts.
const MISSING_SHARE: f64 = 0.01;

/// Columns that together identify a row; no subset of them does.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CompositeKey {
    /// Two or three column names, in column order.
    pub columns: Vec<String>,
    /// How plausible the set is as an intended key, 0..=1.
    pub plausibility: f64,
    /// Rows it was checked on.
    pub rows: u64,
    /// Whether these are all rows of the table.
    pub complete: bool,
}

/// Whether one column alone is a key of the table: listed as one, with a different value in every row.
pub fn has_single_key(profile: &TableProfile) -> bool {
    profile.columns.iter().any(|column| profile.keys.contains(&column.name) && is_unique(column))
}

/// The composite keys of the table in the file `path`, most plausible first, at most three; `profile` is the table's.
/// Reads the first 200,000 rows.
///
/// # Errors
/// Those of [`reader::open_path`] and of reading the rows.
pub fn find(path: &Path, profile: &TableProfile) -> Result<Vec<CompositeKey>> {
    let parts = parts(profile);
    if parts.len() < 2 || profile.rows < LEAST_ROWS as u64 {
        return Ok(Vec::new());
    }
    let rows = Rows::read(path, parts)?;
    Ok(rows.map_or_else(Vec::new, |rows| rows.keys(profile)))
}

/// A column that may be part of a key.
struct Part {
    place: usize,
    weight: f64,
    is_time: bool,
    writing: Writing,
    /// Number of each row's value, from 1; 0 where it is missing.
    values: Vec<u32>,
    distinct: u64,
}

/// The columns worth trying, in column order.
fn parts(profile: &TableProfile) -> Vec<Part> {
    let mut parts: Vec<Part> = profile
        .columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| {
            let weight = dimension_weight(column)? * (1.0 - 0.03 * place.min(15) as f64);
            let is_time = is_time(column);
            Some(Part { place, weight, is_time, writing: column.writing.clone(), values: Vec::new(), distinct: 0 })
        })
        .collect();
    parts.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.place.cmp(&b.place)));
    parts.truncate(MOST_COLUMNS);
    parts.sort_by_key(|part| part.place);
    parts
}

pub(super) fn is_unique(column: &ColumnProfile) -> bool {
    column.missing == 0 && column.distinct >= column.rows && column.rows > 0
}

/// How much a column says what a row is about, in 0..=1; `None` for columns that cannot be part of a composite key: constants,
/// measurements, sentences, columns with gaps, and single-column keys.
pub(super) fn dimension_weight(column: &ColumnProfile) -> Option<f64> {
    let gaps = column.missing as f64 > MISSING_SHARE * column.rows as f64;
    if gaps || column.distinct < 2 || is_unique(column) {
        return None;
    }
    match (column.logical, column.semantic) {
        (LogicalType::Boolean, _) => Some(0.4),
        (LogicalType::Float | LogicalType::Empty, _) => None,
        (_, Some(SemanticType::Measure)) => (counts_time(column) || is_ordinal(column)).then_some(0.8),
        (_, semantic) => match semantic? {
            SemanticType::Year
            | SemanticType::Time
            | SemanticType::Country
            | SemanticType::CountryCode
            | SemanticType::UsState
            | SemanticType::Identifier
            | SemanticType::Code
            | SemanticType::Name => Some(1.0),
            SemanticType::Category => Some(0.9),
            SemanticType::Email => Some(0.8),
            _ => None,
        },
    }
}

/// Whether a column says when.
pub fn is_time(column: &ColumnProfile) -> bool {
    matches!(column.semantic, Some(SemanticType::Year | SemanticType::Time)) || counts_time(column)
}

fn counts_time(column: &ColumnProfile) -> bool {
    const WORDS: [&str; 9] = ["month", "mo", "day", "hour", "week", "quarter", "qtr", "minute", "decade"];
    column.logical == LogicalType::Integer && column.distinct <= 366 && has_word(column, &WORDS)
}

/// Whether the column numbers things: rounds, episodes, lines of an order.
fn is_ordinal(column: &ColumnProfile) -> bool {
    const WORDS: [&str; 17] = [
        "number", "no", "nr", "num", "index", "order", "line", "seq", "sequence", "round", "episode", "series",
        "season", "stint", "version", "rank", "grade",
    ];
    column.logical == LogicalType::Integer && has_word(column, &WORDS) && column.missing == 0
}

fn has_word(column: &ColumnProfile, words: &[&str]) -> bool {
    name_words(&column.name).iter().any(|word| words.contains(&word.as_str()))
}

/// The first rows of a table, on the columns worth trying.
struct Rows {
    parts: Vec<Part>,
    rows: usize,
    complete: bool,
}

impl Rows {
    /// `None` where the file no longer has the columns of the profile.
    fn read(path: &Path, mut parts: Vec<Part>) -> Result<Option<Self>> {
        let mut reader = reader::open_path(path, &ReadOptions::default())?;
        if parts.iter().any(|part| part.place >= reader.columns().len()) {
            return Ok(None);
        }
        let mut hashers: Vec<CellHasher> = Vec::new();
        let mut numbers: Vec<HashMap<u64, u32>> = vec![HashMap::new(); parts.len()];
        let mut cells = Vec::new();
        let (mut rows, mut complete) = (0, true);
        while let Some(batch) = reader.next_batch()? {
            let fit = batch.num_rows().min(MOST_ROWS - rows);
            complete &= fit == batch.num_rows();
            rows += fit;
            if hashers.is_empty() {
                hashers = parts.iter().map(|part| CellHasher::new(&part.writing)).collect();
            }
            for ((part, hasher), numbers) in parts.iter_mut().zip(&mut hashers).zip(&mut numbers) {
                cells.clear();
                hasher.push_array(&batch.column(part.place).slice(0, fit), &mut cells)?;
                for cell in &cells {
                    let next = numbers.len() as u32 + 1;
                    part.values.push(if cell.normal == 0 { 0 } else { *numbers.entry(cell.normal).or_insert(next) });
                }
            }
            if !complete {
                break;
            }
        }
        for (part, numbers) in parts.iter_mut().zip(&numbers) {
            part.distinct = numbers.len() as u64;
        }
        // A column that is unique on the rows read is a key by itself.
        parts.retain(|part| part.distinct >= 2 && part.distinct < rows as u64);
        Ok(Some(Self { parts, rows, complete: complete && !reader.report().partial() }))
    }

    fn keys(&self, profile: &TableProfile) -> Vec<CompositeKey> {
        let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
        let mut unique_pairs: HashSet<(usize, usize)> = HashSet::new();
        for a in 0..self.parts.len() {
            for b in a + 1..self.parts.len() {
                if self.is_key(&[a, b]) {
                    unique_pairs.insert((a, b));
                    found.push((self.plausibility(&[a, b]), vec![a, b]));
                }
            }
        }
        for a in 0..self.parts.len() {
            for b in a + 1..self.parts.len() {
                for c in b + 1..self.parts.len() {
                    let minimal = [(a, b), (a, c), (b, c)].iter().all(|pair| !unique_pairs.contains(pair));
                    // A set that is not worth showing is not worth checking.
                    let plausibility = self.plausibility(&[a, b, c]);
                    if minimal && plausibility >= LEAST_PLAUSIBILITY && self.is_key(&[a, b, c]) {
                        found.push((plausibility, vec![a, b, c]));
                    }
                }
            }
        }
        found.retain(|(plausibility, _)| *plausibility >= LEAST_PLAUSIBILITY);
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.truncate(MOST_KEYS);
        let name = |part: &usize| profile.columns[self.parts[*part].place].name.clone();
        found
            .into_iter()
            .map(|(plausibility, parts)| CompositeKey {
                columns: parts.iter().map(name).collect(),
                plausibility,
                rows: self.rows as u64,
                complete: self.complete,
            })
            .collect()
    }

    /// Number of possible combinations of the parts' values.
    fn combinations(&self, parts: &[usize]) -> f64 {
        parts.iter().map(|part| self.parts[*part].distinct as f64).product()
    }

    /// The geometric mean of the parts' weights, reduced for three parts; the more of the possible combinations occur, the
    /// less likely it is that they are unique by chance.
    fn plausibility(&self, parts: &[usize]) -> f64 {
        let weights: f64 = parts.iter().map(|part| self.parts[*part].weight).product();
        let mean = weights.powf(1.0 / parts.len() as f64);
        let density = (self.rows as f64 / self.combinations(parts)).min(1.0);
        let times = parts.iter().filter(|part| self.parts[**part].is_time).count();
        let thing_and_time = if times > 0 && times < parts.len() { 1.0 } else { 0.85 };
        let few = if parts.len() == 2 { 1.0 } else { 0.8 };
        mean * density.powf(0.2) * thing_and_time * few
    }

    /// Whether no two rows agree on all `parts`; rows that lack one of them are ignored if they are few.
    fn is_key(&self, parts: &[usize]) -> bool {
        let most_missing = (MISSING_SHARE * self.rows as f64) as usize;
        if self.rows < LEAST_ROWS || self.combinations(parts) < (self.rows - most_missing) as f64 {
            return false;
        }
        let mut seen: HashSet<u64> = HashSet::new();
        let mut missing = 0;
        for row in 0..self.rows {
            let mut combination = 0u64;
            let mut present = true;
            for part in parts {
                let part = &self.parts[*part];
                present &= part.values[row] > 0;
                // Three numbers of 200,000 values fit 64 bits.
                combination = combination * (part.distinct + 1) + u64::from(part.values[row]);
            }
            if !present {
                missing += 1;
                if missing > most_missing {
                    return false;
                }
            } else if !seen.insert(combination) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::scan;

    fn keys_of(text: &str) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).expect("a file");
        let mut reader = reader::open_path(&path, &ReadOptions::default()).expect("a table");
        let profile = profile::profile(&scan::scan(reader.as_mut()).expect("a scan"));
        find(&path, &profile).expect("keys").into_iter().map(|key| key.columns).collect()
    }

    const COUNTRIES: [&str; 5] = ["France", "Spain", "Chad", "Peru", "Kenya"];

    #[test]
    fn a_panel_is_identified_by_its_thing_and_its_time() {
        let mut text = "country,year,population,note\n".to_string();
        for (place, country) in COUNTRIES.iter().enumerate() {
            for year in 2000..2010 {
                text.push_str(&format!("{country},{year},{},same\n", 1000 * place + year % 7));
            }
        }
        assert_eq!(keys_of(&text), [["country", "year"]]);
        // The same row twice, written differently, is no key.
        text.push_str("FRANCE,2003,17,same\n");
        assert!(keys_of(&text).is_empty());
    }

    #[test]
    fn three_columns_where_two_are_not_enough() {
        let mut text = "year,month,city,rain\n".to_string();
        for year in [2001, 2002] {
            for month in 1..=12 {
                for city in ["Oslo", "Bern", "Rome"] {
                    text.push_str(&format!("{year},{month},{city},0.{}\n", month * year % 9));
                }
            }
        }
        assert_eq!(keys_of(&text), [["year", "month", "city"]]);
    }

    #[test]
    fn a_set_that_contains_a_key_is_not_a_key() {
        let rows: Vec<String> =
            (0..40).map(|row| format!("r{row:02},{},{}", COUNTRIES[row % 5], 2000 + row / 5)).collect();
        assert_eq!(keys_of(&format!("id,country,year\n{}\n", rows.join("\n"))), [["country", "year"]]);
        let rows: Vec<String> = (0..40).map(|row| format!("r{row:02},{}", COUNTRIES[row % 5])).collect();
        assert!(keys_of(&format!("id,country\n{}\n", rows.join("\n"))).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn every_key_is_unique_and_minimal(cells in proptest::collection::vec((0usize..5, 0usize..4, 0usize..3), 8..40)) {
            let rows: Vec<String> = cells
                .iter()
                .map(|(a, b, c)| format!("{},{},{}", COUNTRIES[*a], 2000 + b, ["red", "green", "blue"][*c]))
                .collect();
            let keys = keys_of(&format!("country,year,colour\n{}\n", rows.join("\n")));
            let unique = |key: &[&str]| {
                let mut seen = HashSet::new();
                cells.iter().all(|(a, b, c)| {
                    let part = |name: &&str| match *name { "country" => *a, "year" => 10 + *b, _ => 20 + *c };
                    seen.insert(key.iter().map(part).collect::<Vec<_>>())
                })
            };
            for key in keys {
                let key: Vec<&str> = key.iter().map(String::as_str).collect();
                proptest::prop_assert!(unique(&key), "{key:?}");
                for without in 0..key.len() {
                    let mut fewer = key.clone();
                    fewer.remove(without);
                    proptest::prop_assert!(!unique(&fewer), "{key:?} without {without}");
                }
            }
        }
    }
}
