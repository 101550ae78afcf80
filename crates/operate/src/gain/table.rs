//! The rows of a plan as a model reads them: numbers, and labels by number.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{GainOptions, Split};
use crate::context::{LakeContext, Strategy};
use crate::plan::plan_sql;
use crate::quote::identifier;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;

/// Most different labels of a target.
const MOST_LABELS: usize = 20;
/// Labels of a column that get an indicator of their own, the most frequent ones.
const INDICATORS: usize = 8;
/// Mixes rows and groups into folds, always alike.
const SEED: u64 = 5;

/// A column of a table.
pub(super) enum Column {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Numbers of labels, by frequency from 0; `u32::MAX` where one is missing or rare.
    Labels(Vec<u32>),
}

/// Rows with a target.
pub(super) struct ModelTable {
    /// The target: numbers, or numbers of labels.
    pub target: Vec<f64>,
    /// The columns that are given, then those that are added.
    pub columns: Vec<Column>,
    /// What decides the fold of each row, unless there is an order.
    pub groups: Vec<u64>,
    /// What rows are ordered by.
    pub order: Option<Vec<f64>>,
    labels: usize,
}

impl ModelTable {
    /// Reads the rows of `plan`.
    pub fn read(context: &LakeContext, plan: &Plan, options: &GainOptions) -> Result<Self> {
        let split = match &options.split {
            Split::Random => None,
            Split::Grouped(column) | Split::Ordered(column) => Some(column),
        };
        let names: Vec<&String> =
            [&options.target].into_iter().chain(&options.given).chain(&options.added).chain(split).collect();
        let sql = plan_sql(context, plan)?;
        // A column may be there twice: as one that is given, and as the one that rows are split by.
        let listed = names.iter().zip(0..).map(|(name, place)| format!("{} AS c{place}", identifier(name)));
        let listed: Vec<String> = listed.collect();
        let target = identifier(&options.target);
        let query = format!("SELECT {} FROM ({sql}\n) AS rows WHERE {target} IS NOT NULL", listed.join(", "));
        // In a fixed order, so that the folds are always alike.
        let mut rows = context.query_by(&query, None, Strategy::InOrder)?;
        let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); names.len()];
        while let Some(batch) = rows.next_batch()? {
            for (part, column) in parts.iter_mut().zip(batch.columns()) {
                part.push(column.clone());
            }
        }
        let all: usize = parts[0].iter().map(|part| part.len()).sum();
        let step = all.div_ceil(options.max_rows.max(1)).max(1);
        let mut columns = parts.iter().map(|parts| column(parts, step)).collect::<Result<Vec<Column>>>()?;
        drop(rows);
        let split_column = split.and_then(|_| columns.pop());
        let target = columns.remove(0);
        let count = all.div_ceil(step);
        let by_row = || (0..count as u64).map(mixed).collect();
        let (groups, order) = match (&options.split, split_column) {
            (Split::Ordered(_), Some(Column::Numbers(order))) => (by_row(), Some(order)),
            (_, Some(Column::Numbers(groups))) => (groups.iter().map(|value| mixed(value.to_bits())).collect(), None),
            (_, Some(Column::Labels(groups))) => (groups.iter().map(|value| mixed(u64::from(*value))).collect(), None),
            (_, None) => (by_row(), None),
        };
        let (target, labels) = match target {
            Column::Numbers(target) => (target, 0),
            Column::Labels(target) => {
                let labels = target.iter().max().map_or(0, |most| *most as usize + 1);
                if labels > MOST_LABELS {
                    return Err(Error::usage(format!("`{}` has more than {MOST_LABELS} labels", options.target)));
                }
                (target.into_iter().map(f64::from).collect(), labels)
            }
        };
        if target.iter().any(|value| !value.is_finite()) {
            return Err(Error::usage(format!("`{}` has values that are no finite numbers", options.target)));
        }
        if target.iter().all(|value| *value == target[0]) {
            return Err(Error::usage(format!("`{}` has one value only", options.target)));
        }
        Ok(Self { target, columns, groups, order, labels })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.target.len()
    }

    /// Number of labels of the target; 0 for numbers.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// The first `columns` columns of `rows` as numbers, by what the rows in `known` are like: missing numbers are the mean, with an
    /// indicator; labels are indicators.
    pub fn matrix(&self, columns: usize, known: &[usize], rows: &[usize]) -> Vec<Vec<f64>> {
        let mut matrix: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
        for column in &self.columns[..columns] {
            match column {
                Column::Numbers(numbers) => {
                    let present = || known.iter().map(|row| numbers[*row]).filter(|number| number.is_finite());
                    let count = present().count();
                    let mean = present().sum::<f64>() / count.max(1) as f64;
                    let spread =
                        (present().map(|number| (number - mean).powi(2)).sum::<f64>() / count.max(1) as f64).sqrt();
                    let spread = if spread > 0.0 && spread.is_finite() { spread } else { 1.0 };
                    let gaps = count < known.len() && count > 0;
                    for (line, row) in matrix.iter_mut().zip(rows) {
                        let number = numbers[*row];
                        line.push(if number.is_finite() { (number - mean) / spread } else { 0.0 });
                        if gaps {
                            line.push(f64::from(u8::from(!number.is_finite())));
                        }
                    }
                }
                Column::Labels(labels) => {
                    for (line, row) in matrix.iter_mut().zip(rows) {
                        line.extend((0..INDICATORS as u32).map(|label| f64::from(u8::from(labels[*row] == label))));
                    }
                }
            }
        }
        // The linear model has no other intercept.
        matrix.iter_mut().for_each(|line| line.push(1.0));
        matrix
    }
}

fn mixed(value: u64) -> u64 {
    xxh3_64_with_seed(&value.to_le_bytes(), SEED) >> 8
}

/// Every `step`-th value of a column.
fn column(parts: &[ArrayRef], step: usize) -> Result<Column> {
    let failed = |error: arrow::error::ArrowError| Error::Internal(error.to_string());
    let Some(first) = parts.first() else { return Ok(Column::Numbers(Vec::new())) };
    let is_label = matches!(
        first.data_type(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Dictionary(..)
    );
    if is_label {
        let mut texts: Vec<Option<String>> = Vec::new();
        for part in parts {
            let part = cast(part, &DataType::Utf8).map_err(failed)?;
            texts.extend(part.as_string::<i32>().iter().map(|text| text.map(str::to_string)));
        }
        let texts: Vec<Option<String>> = texts.into_iter().step_by(step).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        texts.iter().flatten().for_each(|text| *counts.entry(text).or_default() += 1);
        let mut by_count: Vec<(&str, usize)> = counts.into_iter().collect();
        by_count.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let numbers: HashMap<&str, u32> = by_count.into_iter().map(|(text, _)| text).zip(0..).collect();
        let number = |text: &Option<String>| text.as_deref().and_then(|text| numbers.get(text)).copied();
        return Ok(Column::Labels(texts.iter().map(|text| number(text).unwrap_or(u32::MAX)).collect()));
    }
    let mut numbers = Vec::new();
    for part in parts {
        let days = matches!(part.data_type(), DataType::Date32 | DataType::Timestamp(..));
        let part = if days {
            cast(part, &DataType::Timestamp(arrow::datatypes::TimeUnit::Second, None))
                .and_then(|part| cast(&part, &DataType::Int64))
        } else {
            Ok(part.clone())
        };
        let part = part.and_then(|part| cast(&part, &DataType::Float64)).map_err(failed)?;
        numbers.extend(part.as_primitive::<Float64Type>().iter().map(|number| number.unwrap_or(f64::NAN)));
    }
    Ok(Column::Numbers(numbers.into_iter().step_by(step).collect()))
}
