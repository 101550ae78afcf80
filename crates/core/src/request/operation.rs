//! A typed operation on tables: what is to be done, checked, before it becomes SQL.
//!
//! The working table is the one the analyst has at hand; an operation makes a new one out of it. Names of tables and columns
//! are data here: only `operate` turns them into quoted SQL.

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

/// One operation, complete: it can be previewed and run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operation")]
pub enum Operation {
    /// Rows and columns of one table.
    Filter(Filter),
    /// Columns of another table at the rows of the working table.
    Join(Join),
    /// Rows of other tables below those of the working table.
    Union(Union),
    /// One row a group.
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
    /// Columns kept, in this order. Empty: all.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// What must hold of its value.
    #[serde(flatten)]
    pub test: Test,
}

/// What must hold of a value. Values are text as the analyst writes them; they are compared as the column's type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "test")]
pub enum Test {
    /// It is one of these, after normalisation.
    OneOf {
        /// The values.
        values: Vec<String>,
    },
    /// It is none of these, after normalisation; a missing value passes.
    NoneOf {
        /// The values.
        values: Vec<String>,
    },
    /// It contains this text, in any letter case.
    Contains {
        /// The text.
        text: String,
    },
    /// It lies between these, both included; a bound left out does not bind. Years bind dates by their year.
    Between {
        /// Least value.
        from: Option<String>,
        /// Greatest value.
        to: Option<String>,
    },
    /// There is a value.
    Present,
}

/// Adds columns of `right` to the rows of `left`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Join {
    /// The working table; every row of it stays, unless `matched_only`.
    pub left: Input,
    /// The table whose columns are added.
    pub right: Input,
    /// Columns that must be equal, the left one first; at least one pair.
    pub on: Vec<(String, String)>,
    /// Compare keys after the normalisation of the index (letter case, spaces, footnote marks, `1,234`, date styles)
    /// instead of as written.
    #[serde(default)]
    pub normalised: bool,
    /// Leave out rows without a partner.
    #[serde(default)]
    pub matched_only: bool,
    /// Columns of `right` that are added. Empty: all but its keys.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// Rows of other tables below those of the first, under its column names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Union {
    /// The table whose columns the result has.
    pub first: Input,
    /// What is appended, in this order; at least one.
    pub others: Vec<UnionPart>,
    /// Keep columns of the others that have no counterpart in the first, as further columns.
    #[serde(default)]
    pub keep_extra: bool,
    /// Name of a column that says which table a row is from; none adds none.
    #[serde(default)]
    pub source_column: Option<String>,
    /// Each row once (the source column apart).
    #[serde(default)]
    pub distinct: bool,
}

/// A table that is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnionPart {
    /// The table.
    pub input: Input,
    /// Its columns for those of the first table: (column of the first, its own column). Columns of the first that are not
    /// named here are empty in its rows.
    pub alignment: Vec<(String, String)>,
}

/// One row a group of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregate {
    /// The table.
    pub input: Input,
    /// Grouping columns. Empty: one row over all.
    #[serde(default)]
    pub group_by: Vec<GroupKey>,
    /// What is computed for each group; at least one.
    pub measures: Vec<Measure>,
}

/// A grouping column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupKey {
    /// The column.
    pub column: String,
    /// Group dates by a part of them.
    #[serde(default)]
    pub part: Option<DatePart>,
}

/// A part of a date to group by.
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

/// A figure of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// How it is computed.
    pub function: MeasureFunction,
    /// Of which column; none for the count of rows.
    #[serde(default)]
    pub column: Option<String>,
}

/// How a figure is computed from a group's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasureFunction {
    /// Rows, or values where a column is named.
    Count,
    /// Distinct values.
    CountDistinct,
    /// Sum of the numbers.
    Sum,
    /// Mean of the numbers.
    Mean,
    /// Median of the numbers.
    Median,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
}
