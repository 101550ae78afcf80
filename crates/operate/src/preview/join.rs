//! Rows of a join, from the rows of each key on both sides.

use std::cmp::Reverse;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asides, Counted, PreviewDetail, PreviewLimits};
use crate::context::{LakeContext, Strategy};
use crate::counts::{for_each_batch, whole_numbers, with_memory};
use crate::inputs::InputTable;
use crate::notes::Note;
use crate::quote::identifier;
use crate::sql::join::{Comparison, KeyPair, ResolvedJoin};
use lakeward_core::error::{Error, Result};

/// Keys without a partner shown for each side.
const SAMPLE_KEYS: usize = 3;
/// Added columns whose missing values are counted: a count a key and column has to be kept.
const MOST_COUNTED_COLUMNS: usize = 64;

/// What a join would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinPreview {
    /// The pairs of columns that must be equal.
    pub keys: Vec<KeyPreview>,
    /// The working table.
    pub left: SidePreview,
    /// The table whose columns are added.
    pub right: SidePreview,
    /// Keys that both tables have.
    pub matched_keys: u64,
    /// Mean number of partners of a row of the working table that has one; 0 where none has.
    pub mean_fan_out: f64,
    /// Most partners of a row.
    pub greatest_fan_out: u64,
    /// Rows of the result for each row of the working table; 0 where it is empty.
    pub growth: f64,
    /// Rows of the working table that would find a partner beside those that do, were the keys compared in their normal
    /// form; negative where fewer would. `None` where they are, or where that is the same, or where it was left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub normalising_gains: Option<i64>,
    /// Columns that are added.
    pub added: Vec<AddedColumnPreview>,
    /// Whether keys of different types are compared as text, as they are written: `01` is not 1 then.
    pub compares_types_as_text: bool,
}

/// A pair of columns that must be equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyPreview {
    /// The column of the working table.
    pub left: String,
    /// Its type.
    pub left_type: String,
    /// The column of the other table.
    pub right: String,
    /// Its type.
    pub right_type: String,
    /// How they are compared.
    pub comparison: Comparison,
}

/// One side of a join.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SidePreview {
    /// Its rows.
    pub rows: u64,
    /// Rows without a partner, those with a missing key among them.
    pub unmatched_rows: u64,
    /// Rows with a missing key; a missing value equals nothing.
    pub missing_keys: u64,
    /// Different keys.
    pub keys: u64,
    /// Some keys without a partner, those of most rows first; the parts of a key are joined by ` | `.
    pub unmatched_keys: Vec<String>,
}

impl SidePreview {
    /// Rows without a partner among all, in 0..=1; 0 of an empty table.
    pub fn unmatched_share(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.unmatched_rows as f64 / self.rows as f64 }
    }
}

/// A column that is added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedColumnPreview {
    /// Its name in the result.
    pub name: String,
    /// Its name in the other table.
    pub from: String,
    /// Cells without a value in the result: rows without a partner, and partners without a value. Counted of the first 64
    /// columns.
    pub nulls: Option<u64>,
}

/// What the keys of both sides come to.
#[derive(Debug, Default)]
pub struct Groups {
    left: Side,
    right: Side,
    matched_keys: u64,
    /// Pairs of rows with equal keys.
    pairs: u128,
    greatest_fan_out: u64,
    /// Cells with a value among those pairs, for each counted column.
    present: Vec<u128>,
}

#[derive(Debug, Default)]
struct Side {
    rows: u64,
    unmatched: u64,
    missing: u64,
    keys: u64,
    /// Rows and key, most rows first.
    samples: Vec<(Reverse<u64>, String)>,
}

impl Side {
    fn add_unmatched(&mut self, rows: u64, key: Option<String>) {
        self.rows += rows;
        self.unmatched += rows;
        let Some(key) = key else {
            self.missing += rows;
            return;
        };
        self.keys += 1;
        let sample = (Reverse(rows), key);
        if self.samples.len() == SAMPLE_KEYS && self.samples.last().is_some_and(|last| *last <= sample) {
            return;
        }
        let place = self.samples.partition_point(|known| *known < sample);
        self.samples.insert(place, sample);
        self.samples.truncate(SAMPLE_KEYS);
    }

    fn preview(&self) -> SidePreview {
        SidePreview {
            rows: self.rows,
            unmatched_rows: self.unmatched,
            missing_keys: self.missing,
            keys: self.keys,
            unmatched_keys: self.samples.iter().map(|(_, key)| key.clone()).collect(),
        }
    }
}

impl Groups {
    fn rows_out(&self, matched_only: bool) -> u64 {
        let unmatched = if matched_only { 0 } else { self.left.unmatched };
        u64::try_from(self.pairs + u128::from(unmatched)).unwrap_or(u64::MAX)
    }

    fn matched_left(&self) -> u64 {
        self.left.rows - self.left.unmatched
    }
}

/// Counts in one pass over each table, and in another for the gain of normalising.
pub fn count(
    context: &LakeContext,
    join: &ResolvedJoin,
    limits: &PreviewLimits,
    asides: &mut Asides,
) -> Result<Counted> {
    let groups = match_groups(context, join, &mut asides.notes)?;
    let normalising_gains = match join.normalised() {
        Some(normalised) if asides.has_time_for("what normalising the keys would gain") => {
            let other = match_groups(context, &normalised, &mut asides.notes)?;
            Some(other.matched_left() as i64 - groups.matched_left() as i64)
        }
        _ => None,
    };
    let rows_out = groups.rows_out(join.matched_only);
    let share = |part: f64, whole: u64| if whole == 0 { 0.0 } else { part / whole as f64 };
    let detail = JoinPreview {
        keys: join.keys.iter().map(key_preview).collect(),
        left: groups.left.preview(),
        right: groups.right.preview(),
        matched_keys: groups.matched_keys,
        mean_fan_out: share(groups.pairs as f64, groups.matched_left()),
        greatest_fan_out: groups.greatest_fan_out,
        growth: share(rows_out as f64, groups.left.rows),
        normalising_gains,
        added: added(join, &groups, rows_out),
        compares_types_as_text: join.mixes_types(),
    };
    Ok(Counted {
        rows_in: vec![groups.left.rows, groups.right.rows],
        rows_out,
        detail: PreviewDetail::Join(detail),
        stopped: stopped(join, &groups, limits),
    })
}

fn key_preview(pair: &KeyPair) -> KeyPreview {
    KeyPreview {
        left: pair.left.name.clone(),
        left_type: pair.left.data_type.to_string(),
        right: pair.right.name.clone(),
        right_type: pair.right.data_type.to_string(),
        comparison: pair.comparison,
    }
}

fn added(join: &ResolvedJoin, groups: &Groups, rows_out: u64) -> Vec<AddedColumnPreview> {
    let nulls = |place: usize| {
        let present = groups.present.get(place)?;
        u64::try_from(u128::from(rows_out).saturating_sub(*present)).ok()
    };
    join.added
        .iter()
        .enumerate()
        .map(|(place, added)| AddedColumnPreview {
            name: added.name.clone(),
            from: added.column.name.clone(),
            nulls: nulls(place),
        })
        .collect()
}

/// Why the join is not to be run, if it is not.
pub fn stopped(join: &ResolvedJoin, groups: &Groups, limits: &PreviewLimits) -> Option<String> {
    let rows = groups.rows_out(join.matched_only);
    let advice = format!("join on more columns, or aggregate `{}` to one row a key first", join.right.name);
    if rows > limits.max_rows {
        return Some(format!("it would give {rows} rows, more than the {} allowed; {advice}", limits.max_rows));
    }
    let both = groups.left.rows.saturating_add(groups.right.rows);
    let growth = rows as f64 / groups.left.rows.max(1) as f64;
    (rows > both && growth > limits.max_fan_out).then(|| {
        let (left, most) = (groups.left.rows, limits.max_fan_out);
        format!("it would make {rows} rows of {left}, {growth:.0} for each where {most:.0} are allowed; {advice}")
    })
}

/// Groups both tables by the values that are compared, and matches the groups.
///
/// # Errors
/// What reading the tables meets.
pub fn match_groups(context: &LakeContext, join: &ResolvedJoin, notes: &mut Vec<Note>) -> Result<Groups> {
    let counted = join.added.len().min(MOST_COUNTED_COLUMNS);
    let sql = groups_sql(join, counted);
    with_memory(Strategy::Parallel, context, |strategy| {
        let mut groups = Groups { present: vec![0; counted], ..Groups::default() };
        for_each_batch(context, &sql, strategy, notes, |batch| add_groups(batch, join.keys.len(), &mut groups))?;
        Ok(groups)
    })
}

/// One row a key: rows on the left, rows on the right, the key as the left writes it, as the right writes it, and the
/// values of the counted columns.
fn groups_sql(join: &ResolvedJoin, counted: usize) -> String {
    let side = |table: &InputTable, values: &[String], written: &[String], counted: &[String]| {
        let named = |letter: char, columns: &[String]| -> Vec<String> {
            columns.iter().enumerate().map(|(at, column)| format!("{column} AS {letter}{at}")).collect()
        };
        // Named first and grouped by name: to DataFusion a cast is called as what it casts.
        let inner = [named('k', values), named('w', written), named('c', counted)].concat();
        let each = |form: fn(usize) -> String, count: usize| (0..count).map(form).collect::<Vec<_>>();
        let keys = each(|at| format!("k{at}"), values.len());
        // Of the ways to write a value, the first in the alphabet.
        let written = each(|at| format!("min(w{at}) AS w{at}"), written.len());
        let counts = each(|at| format!("count(c{at}) AS c{at}"), counted.len());
        let outer = [keys.clone(), written, vec!["count(*) AS n".to_string()], counts].concat();
        let (outer, inner, keys) = (outer.join(", "), inner.join(", "), keys.join(", "));
        format!("(SELECT {outer} FROM (SELECT {inner} FROM {}) AS t GROUP BY {keys})", table.sql)
    };
    let mut left_values = Vec::new();
    let mut right_values = Vec::new();
    let mut left_written = Vec::new();
    let mut right_written = Vec::new();
    for pair in &join.keys {
        let (left, right) = (identifier(&pair.left.name), identifier(&pair.right.name));
        let written = |column: &str, value: &str| match pair.comparison {
            Comparison::Normalised => format!("CAST({column} AS VARCHAR)"),
            _ => value.to_string(),
        };
        left_written.push(written(&left, &pair.left_value(&left)));
        right_written.push(written(&right, &pair.right_value(&right)));
        left_values.push(pair.left_value(&left));
        right_values.push(pair.right_value(&right));
    }
    let counts: Vec<String> = join.added.iter().take(counted).map(|added| identifier(&added.column.name)).collect();
    let keys = join.keys.len();
    let names = |side: char, letter: char, count: usize| (0..count).map(move |at| format!("{side}.{letter}{at}"));
    let columns: Vec<String> = ["l.n".to_string(), "r.n".to_string()]
        .into_iter()
        .chain(names('l', 'k', keys))
        .chain(names('r', 'k', keys))
        .chain(names('l', 'w', keys))
        .chain(names('r', 'w', keys))
        .chain(names('r', 'c', counted))
        .enumerate()
        .map(|(at, column)| format!("{column} AS o{at}"))
        .collect();
    let on: Vec<String> = (0..keys).map(|at| format!("l.k{at} = r.k{at}")).collect();
    format!(
        "SELECT {} FROM {} AS l FULL JOIN {} AS r ON {}",
        columns.join(", "),
        side(&join.left, &left_values, &left_written, &[]),
        side(&join.right, &right_values, &right_written, &counts),
        on.join(" AND ")
    )
}

/// Adds the keys of one batch of [`groups_sql`]'s answer.
fn add_groups(batch: &RecordBatch, keys: usize, groups: &mut Groups) -> Result<()> {
    let failed = |error: arrow::error::ArrowError| Error::Internal(error.to_string());
    let options = FormatOptions::default().with_display_error(true);
    let (left, right) = (whole_numbers(batch, 0)?, whole_numbers(batch, 1)?);
    let texts: Vec<ArrayFormatter> = (2..2 + 4 * keys)
        .map(|column| ArrayFormatter::try_new(batch.column(column), &options))
        .collect::<std::result::Result<_, _>>()
        .map_err(failed)?;
    let counts =
        (2 + 4 * keys..batch.num_columns()).map(|column| whole_numbers(batch, column)).collect::<Result<Vec<_>>>()?;
    // The key of a row, of the left side or the right one; `None` where a part of it is missing.
    let key = |row: usize, side: usize| -> Option<String> {
        let compared = 2 + side * keys;
        if (compared..compared + keys).any(|column| batch.column(column).is_null(row)) {
            return None;
        }
        let written = 2 * keys + side * keys;
        let parts: Vec<String> =
            texts[written..written + keys].iter().map(|text| text.value(row).to_string()).collect();
        Some(parts.join(" | "))
    };
    for row in 0..batch.num_rows() {
        match (left[row], right[row]) {
            (Some(left), Some(right)) => {
                groups.matched_keys += 1;
                groups.left.keys += 1;
                groups.right.keys += 1;
                groups.left.rows += left;
                groups.right.rows += right;
                groups.pairs += u128::from(left) * u128::from(right);
                groups.greatest_fan_out = groups.greatest_fan_out.max(right);
                for (present, counts) in groups.present.iter_mut().zip(&counts) {
                    *present += u128::from(left) * u128::from(counts[row].unwrap_or(0));
                }
            }
            (Some(rows), None) => groups.left.add_unmatched(rows, key(row, 0)),
            (None, Some(rows)) => groups.right.add_unmatched(rows, key(row, 1)),
            (None, None) => {}
        }
    }
    Ok(())
}
