//! What is done to a table, one thing at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Relation;
use super::condition::Condition;
use super::expression::{Expression, Value};

/// One step: it makes a table from the one before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PlanStep")]
pub enum Step {
    /// Keeps the rows that meet a condition. After a grouping it is SQL's HAVING.
    Filter(Condition),
    /// Keeps these columns in this order, some under another name.
    Select(Vec<Kept>),
    /// Leaves columns out.
    Drop(Vec<String>),
    /// Gives columns other names: pairs of the old and the new one.
    Rename(Vec<(String, String)>),
    /// Adds a column, or replaces the one of that name.
    Derive {
        /// Its name.
        name: String,
        /// Its value.
        value: Expression,
    },
    /// One row for each group.
    Group(Grouping),
    /// Leaves out rows that repeat another in these columns, the first in the table's order is kept. Empty: in all columns.
    Distinct(Vec<String>),
    /// Orders the rows; rows that are equal in it keep their order.
    Sort(Vec<Order>),
    /// Keeps the first rows.
    Limit {
        /// How many.
        rows: u64,
        /// How many are skipped before. 0 by default.
        #[serde(default, skip_serializing_if = "is_zero")]
        skip: u64,
    },
    /// Keeps the first rows of each group in an order.
    Top(Top),
    /// Adds columns of another table, or keeps rows that have (or lack) a partner there.
    Join(Join),
    /// Appends the rows of other tables.
    Union(Union),
    /// Turns columns into rows.
    Unpivot(Unpivot),
    /// Turns the values of a column into columns.
    Pivot(Pivot),
}

impl Step {
    /// The tables that it joins or appends, each with what is done to it before.
    pub fn others(&self) -> impl Iterator<Item = &Relation> {
        let (joined, appended): (_, &[UnionPart]) = match self {
            Step::Join(join) => (Some(&join.with), &[]),
            Step::Union(union) => (None, &union.others),
            _ => (None, &[]),
        };
        joined.into_iter().chain(appended.iter().map(|part| &part.with))
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A column that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The column.
    pub column: String,
    /// Its new name, if it gets one.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A column to order rows by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The value.
    pub by: Expression,
    /// Which comes first. Missing values come last either way.
    #[serde(default)]
    pub direction: Direction,
}

/// Which value comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

/// One row for each group of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grouping {
    /// What makes a group. Empty: one row for the whole table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Key>,
    /// What is computed for each group. Empty: the groups alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
}

/// What makes a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Key {
    /// The value that the rows of a group share.
    pub of: Expression,
    /// Its name; that of its column by default.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A value computed for a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// How it is computed.
    #[serde(flatten)]
    pub function: MeasureFunction,
    /// What it is computed from; nothing for a count of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Expression>,
    /// Only rows that meet this count.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Its name; one made of the function and the column by default, such as `mean_price`.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Key {
    /// The name of its column: the one it is given, else its column's, `date_year`, or `key`.
    pub fn column_name(&self) -> String {
        match (&self.name, &self.of) {
            (Some(name), _) => name.clone(),
            (None, Expression::Part { part, of }) => {
                let part = part.word();
                of.as_column().map_or_else(|| part.to_string(), |column| format!("{column}_{part}"))
            }
            (None, Expression::Bin { of, .. } | Expression::Number { of, .. } | Expression::Text { of, .. }) => {
                of.as_column().unwrap_or("key").to_string()
            }
            (None, of) => of.as_column().unwrap_or("key").to_string(),
        }
    }
}

impl Measure {
    /// The name of its column: the one it is given, else one made of the function and the column: `count`, `mean_price`.
    pub fn column_name(&self) -> String {
        let word = self.function.word();
        self.name.clone().unwrap_or_else(|| match self.of.as_ref().and_then(Expression::as_column) {
            Some(column) => format!("{word}_{column}"),
            None => word.to_string(),
        })
    }
}

/// How a value is computed from the rows of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "function")]
pub enum MeasureFunction {
    /// Number of rows, or of values that are not missing.
    Count,
    /// Number of different values.
    CountDistinct,
    /// Sum of the numbers.
    Sum,
    /// Mean of the numbers.
    Mean,
    /// Median of the numbers.
    Median,
    /// The number that a part of the others does not exceed, between two numbers in proportion.
    Quantile {
        /// The part, from 0 to 1.
        at: f64,
    },
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// Standard deviation of a sample.
    StandardDeviation,
    /// The value of the row that comes first in an order.
    First {
        /// The order.
        by: Vec<Order>,
    },
    /// The group's part of the total of all rows: of the sum of the numbers, or of the number of rows.
    Share {
        /// Keys of the grouping whose groups have their own total. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
        /// 100 for per cent. 1 by default.
        #[serde(default = "one")]
        times: f64,
    },
    /// Pearson's correlation with another number.
    Correlation {
        /// The other number.
        with: Box<Expression>,
    },
}

fn one() -> f64 {
    1.0
}

impl MeasureFunction {
    /// Its name within names of columns.
    pub fn word(&self) -> &'static str {
        match self {
            MeasureFunction::Count => "count",
            MeasureFunction::CountDistinct => "count_distinct",
            MeasureFunction::Sum => "sum",
            MeasureFunction::Mean => "mean",
            MeasureFunction::Median => "median",
            MeasureFunction::Quantile { .. } => "quantile",
            MeasureFunction::Min => "min",
            MeasureFunction::Max => "max",
            MeasureFunction::StandardDeviation => "standard_deviation",
            MeasureFunction::First { .. } => "first",
            MeasureFunction::Share { .. } => "share",
            MeasureFunction::Correlation { .. } => "correlation",
        }
    }
}

/// The first rows of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Top {
    /// How many rows of each group.
    pub rows: u64,
    /// The order.
    pub by: Vec<Order>,
    /// Columns whose equal values make a group.
    pub within: Vec<String>,
}

/// Adds columns of another table to the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Join {
    /// The other table, with what is done to it before.
    pub with: Relation,
    /// Which rows are kept.
    #[serde(default)]
    pub kind: JoinKind,
    /// What must be equal; at least one pair.
    pub on: Vec<JoinKey>,
    /// Columns of the other table to add. Empty: all but its keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Kept>,
}

/// A pair of columns that must be equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinKey {
    /// The column here.
    pub left: String,
    /// The column there.
    pub right: String,
    /// Compared as written instead of in the index's normal form (letter case, spaces, footnote marks, `1,234`, date styles).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
}

/// Which rows a join keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JoinKind {
    /// All rows of this table.
    #[default]
    Left,
    /// Rows with a partner.
    Inner,
    /// Rows with a partner, each once; adds no column.
    Semi,
    /// Rows without a partner; adds no column.
    Anti,
    /// All rows of both tables; a key is taken from the table that has it.
    Full,
}

/// Appends rows of other tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Union {
    /// The tables to append, in this order; at least one.
    pub others: Vec<UnionPart>,
    /// Keep columns of the others that have no counterpart here, as extra columns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_extra: bool,
    /// Name of an added column with the source table of each row; none adds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_column: Option<String>,
}

/// A table to append.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnionPart {
    /// The table, with what is done to it before.
    pub with: Relation,
    /// Pairs of a column here and the column there. Columns here that are in no pair are empty in these rows. None at all:
    /// columns of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, String)>,
}

/// Columns turned into rows: one row for each of them, with its name and its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpivot {
    /// The columns; the others are repeated.
    pub columns: Vec<String>,
    /// Name of the column with their names.
    pub name: String,
    /// Name of the column with their values.
    pub value: String,
    /// Keep rows without a value. They are left out by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_missing: bool,
}

/// The values of a column turned into columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pivot {
    /// The column whose values become columns.
    pub column: String,
    /// Those values, in the order of the columns. Empty: all there are, in their own order, 200 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// Columns that make a row. Empty: all others that are not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// What stands in a cell.
    pub measure: Measure,
}
