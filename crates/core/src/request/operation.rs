//! A typed table operation, checked before it becomes SQL.
//!
//! The working table is the analyst's current table; an operation makes a new one from it. Names of tables and columns are data here: only
//! `operate` turns them into quoted SQL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OperationKind;

/// A table that an operation reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A table of the lake, by id.
    Table(String),
    /// A file outside the lake, by path.
    File(String),
    /// The result of a step of the session, from 1.
    Step(usize),
}

/// One complete operation: it can be previewed and run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operation")]
pub enum Operation {
    /// Rows and columns of one table.
    Filter(Filter),
    /// Adds columns of another table to the rows of the working table.
    Join(Join),
    /// Appends rows of other tables to the working table.
    Union(Union),
    /// One row per group.
    Aggregate(Aggregate),
}

impl Operation {
    /// Its kind.
    pub fn kind(&self) -> OperationKind {
        match self {
            Operation::Filter(_) => OperationKind::Filter,
            Operation::Join(_) => OperationKind::Join,
            Operation::Union(_) => OperationKind::Union,
            Operation::Aggregate(_) => OperationKind::Aggregate,
        }
    }

    /// The tables it reads, the working table first.
    pub fn inputs(&self) -> Vec<&Input> {
        match self {
            Operation::Filter(filter) => vec![&filter.input],
            Operation::Join(join) => vec![&join.left, &join.right],
            Operation::Union(union) => {
                std::iter::once(&union.first).chain(union.others.iter().map(|part| &part.input)).collect()
            }
            Operation::Aggregate(aggregate) => vec![&aggregate.input],
        }
    }
}

/// Rows of a table that meet all conditions, with some of its columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// The table.
    pub input: Input,
    /// Conditions; a row must meet all. Empty: every row.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Columns to keep, in this order. Empty: all.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// The test that its value must pass.
    #[serde(flatten)]
    pub test: Test,
}

/// A test of a value. Values are text as the analyst writes them, compared in the column's type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "test")]
pub enum Test {
    /// Equal to one of these, after normalisation.
    OneOf {
        /// The values.
        values: Vec<String>,
    },
    /// Equal to none of these, after normalisation; a missing value passes.
    NoneOf {
        /// The values.
        values: Vec<String>,
    },
    /// Contains this text, ignoring case.
    Contains {
        /// The text.
        text: String,
    },
    /// Between these bounds, inclusive; a missing bound is open. Years bound dates by their year.
    Between {
        /// Lower bound.
        from: Option<String>,
        /// Upper bound.
        to: Option<String>,
    },
    /// Not missing.
    Present,
}

/// Adds columns of `right` to the rows of `left`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Join {
    /// The working table; all its rows are kept, unless `matched_only`.
    pub left: Input,
    /// The table whose columns are added.
    pub right: Input,
    /// Pairs of columns that must be equal, the left one first; at least one.
    pub on: Vec<(String, String)>,
    /// Compare keys after the normalisation of the index (letter case, spaces, footnote marks, `1,234`, date styles)
    /// instead of as written.
    #[serde(default)]
    pub normalised: bool,
    /// Leave out rows without a match.
    #[serde(default)]
    pub matched_only: bool,
    /// Columns of `right` to add. Empty: all but its keys.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// Appends rows of other tables to the first, under its column names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Union {
    /// The table whose columns the result has.
    pub first: Input,
    /// The tables to append, in this order; at least one.
    pub others: Vec<UnionPart>,
    /// Keep columns of the others without a counterpart in the first, as extra columns.
    #[serde(default)]
    pub keep_extra: bool,
    /// Name of an added column with the source table of each row; `None` adds none.
    #[serde(default)]
    pub source_column: Option<String>,
    /// Remove duplicate rows (ignoring the source column).
    #[serde(default)]
    pub distinct: bool,
}

/// A table to append.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnionPart {
    /// The table.
    pub input: Input,
    /// Pairs (column of the first table, column of this table). Columns of the first that are not listed are empty in this table's rows.
    pub alignment: Vec<(String, String)>,
}

/// One row per group of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregate {
    /// The table.
    pub input: Input,
    /// Grouping columns. Empty: one row for the whole table.
    #[serde(default)]
    pub group_by: Vec<GroupKey>,
    /// What to compute for each group; at least one.
    pub measures: Vec<Measure>,
}

/// A grouping column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupKey {
    /// The column.
    pub column: String,
    /// For dates, the part to group by.
    #[serde(default)]
    pub part: Option<DatePart>,
}

/// The part of a date to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// `2021`
    Year,
    /// `2021-03`
    Month,
    /// `2021-03-14`
    Day,
}

/// A value computed for a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// How it is computed.
    pub function: MeasureFunction,
    /// The column; `None` to count rows.
    #[serde(default)]
    pub column: Option<String>,
}

/// How a value is computed from a group's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasureFunction {
    /// Number of rows, or of values if a column is given.
    Count,
    /// Distinct values.
    CountDistinct,
    /// Sum of the numbers.
    Sum,
    /// Mean of the numbers.
    Mean,
    /// Median of the numbers.
    Median,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}
