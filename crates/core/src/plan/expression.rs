//! A value of every row, computed from its columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, MeasureFunction, Order};

/// A value as the analyst writes it. It is compared in the type of what it is compared with: text with a column of dates is read
/// as a date, text with a column of names in the index's normal form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// `true`, `false`
    Boolean(bool),
    /// `1999`
    Integer(i64),
    /// `0.5`
    Number(f64),
    /// `"Africa"`, `"2020-03-14"`
    Text(String),
}

/// A value computed from a row, or from the rows around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// The value of a column.
    Column(String),
    /// The same value in every row.
    Value(Value),
    /// Two numbers, or a date and days.
    Arithmetic {
        /// What is done with them.
        operator: Arithmetic,
        /// The first.
        left: Box<Expression>,
        /// The second.
        right: Box<Expression>,
    },
    /// A function of a number.
    Number {
        /// The function.
        function: NumberFunction,
        /// The number.
        of: Box<Expression>,
    },
    /// A function of a text.
    Text {
        /// The function.
        function: TextFunction,
        /// The text.
        of: Box<Expression>,
    },
    /// Texts one after the other; a missing one is left out.
    Concat(Vec<Expression>),
    /// Part of a date.
    Part {
        /// The part.
        part: DatePart,
        /// The date; a whole number is a year.
        of: Box<Expression>,
    },
    /// The lower edge of the bin of a number: the largest multiple of `width`, counted from `start`, that is not above it.
    Bin {
        /// The number.
        of: Box<Expression>,
        /// Width of a bin, above zero.
        width: f64,
        /// Where bins start to be counted. 0 by default.
        #[serde(default)]
        start: f64,
    },
    /// The value of the first branch whose condition holds.
    Case {
        /// The branches in their order.
        branches: Vec<Branch>,
        /// The value where none holds; missing by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<Expression>>,
    },
    /// The first of these that is not missing.
    FirstPresent(Vec<Expression>),
    /// The same value as another type; missing where it cannot be read so.
    Convert {
        /// The type.
        to: ValueType,
        /// The value.
        of: Box<Expression>,
    },
    /// A measure over all rows, or over the rows that have the same values in `within`; every row keeps its place.
    Over {
        /// The measure.
        #[serde(flatten)]
        function: MeasureFunction,
        /// What is measured; nothing for a count of rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<Box<Expression>>,
        /// Columns whose equal values make a group. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
    },
    /// The number's part of its total over all rows, or over the rows that have the same values in `within`; from 0 to 1 where
    /// no number is negative, times `times`.
    Share {
        /// The number.
        of: Box<Expression>,
        /// Columns whose equal values make a group. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
        /// 100 for per cent. 1 by default.
        #[serde(default = "one")]
        times: f64,
    },
    /// The value of an earlier row, in an order.
    Previous {
        /// The value.
        of: Box<Expression>,
        /// The order of rows.
        by: Vec<Order>,
        /// Columns whose equal values make a group. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
        /// How many rows earlier. 1 by default.
        #[serde(default = "one_row")]
        rows: u32,
    },
    /// The sum of the values up to this row, in an order.
    RunningTotal {
        /// The number.
        of: Box<Expression>,
        /// The order of rows.
        by: Vec<Order>,
        /// Columns whose equal values make a group. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
    },
    /// The place of the row in an order, from 1; equal values have the same place.
    Rank {
        /// The order of rows.
        by: Vec<Order>,
        /// Columns whose equal values make a group. Empty: all rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<String>,
    },
}

fn one() -> f64 {
    1.0
}

fn one_row() -> u32 {
    1
}

impl Expression {
    /// The value of the column `name`.
    pub fn column(name: impl Into<String>) -> Self {
        Expression::Column(name.into())
    }

    /// Its column, if it is nothing but one.
    pub fn as_column(&self) -> Option<&str> {
        match self {
            Expression::Column(name) => Some(name),
            _ => None,
        }
    }
}

/// One branch of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// When it applies.
    pub when: Condition,
    /// Its value.
    pub then: Expression,
}

/// What is done with two numbers. A division is never one of whole numbers; by zero it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// The sum.
    Plus,
    /// The difference.
    Minus,
    /// The product.
    Times,
    /// The quotient.
    DividedBy,
    /// What a whole division leaves.
    Modulo,
    /// The power.
    ToThePower,
}

/// A function of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberFunction {
    /// Without its sign.
    Absolute,
    /// Rounded to so many decimals, halves away from zero.
    Round(i32),
    /// The largest whole number not above it.
    Floor,
    /// The smallest whole number not below it.
    Ceiling,
    /// Natural logarithm; missing where it has none.
    Logarithm,
    /// Square root; missing where it has none.
    SquareRoot,
}

/// A function of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextFunction {
    /// In lower case.
    Lower,
    /// In upper case.
    Upper,
    /// Without white space at its ends.
    Trim,
    /// Number of characters.
    Length,
    /// The index's normal form: case, accents, spaces and footnote marks aside.
    Normal,
    /// Some of its characters.
    Slice {
        /// The first, from 1.
        from: u32,
        /// How many; all that follow by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u32>,
    },
    /// With a text in place of each occurrence of another.
    Replace {
        /// What is looked for, as it stands.
        text: String,
        /// What stands there then.
        with: String,
    },
    /// The part with this number, from 1, of those between separators.
    Split {
        /// The separator as it stands.
        by: String,
        /// The part; from the end where negative.
        part: i32,
    },
}

/// Part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// `2021`
    Year,
    /// `3` for March
    Month,
    /// `14`
    Day,
    /// `1` to `4`
    Quarter,
    /// `1` for Monday to `7`
    Weekday,
    /// `0` to `23`
    Hour,
    /// `2020` for 2020 to 2029
    Decade,
    /// The first day of the month, a date.
    YearMonth,
    /// The day, a date.
    Date,
}

impl DatePart {
    /// Its name within names of columns.
    pub fn word(self) -> &'static str {
        match self {
            DatePart::Year => "year",
            DatePart::Month => "month",
            DatePart::Day => "day",
            DatePart::Quarter => "quarter",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
            DatePart::Decade => "decade",
            DatePart::YearMonth => "year_month",
            DatePart::Date => "date",
        }
    }
}

/// A type of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// Words.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// Days.
    Date,
    /// Yes and no.
    Boolean,
}
