//! Table functions: searches of the lake that return rows.
//!
//! `ranked`: the functions whose rows are the answers of a search; else one file per function: the type that declares its columns, and
//! the code that makes its rows. Shared parts: [`TableCall`],
//! a call with checked arguments; [`form`], the syntax of each function; `provider`, the table that searches only when it is
//! read; `columns`, the conversion of answers to Arrow. The functions rank nothing themselves: [`Lakeward`] does.
//!
//! Decided: *each call is a scan with its own name*: DataFusion 55 treats scans of one name as the same, so of two
//! subqueries over one function only one ran. *Our own columns from the JSON Schema, not `serde_arrow`*: version 0.15
//! has no second name for a field, so every type would need a second description; it takes 25 to 36 s to compile and
//! enables `bytemuck` in `half`, on which all of Arrow depends.

mod ask;
mod columns;
pub mod form;
mod function_list;
mod named;
mod profile;
mod provider;
mod ranked;
mod tables;

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::{TableFunctionImpl, TableProvider};
use datafusion::common::ScalarValue;

use crate::Lakeward;
use form::Form;
use lakeward_core::error::Result;

pub use ask::answered as ask_batch;
pub use form::NAMES;
pub use ranked::{columns_batch, correlated_batch, joinable_batch, search_batch, unionable_batch};

/// A call of a table function, its arguments checked as far as they can be without a lake.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableCall {
    /// `lake_tables()`: all tables.
    Tables,
    /// `lake_profile(table)`: the columns of a table.
    Profile {
        /// An id of the lake, or a file.
        table: String,
    },
    /// `lake_search(text [, k])`: tables that match a text.
    Search {
        /// The text.
        text: String,
        /// Maximum number of rows.
        k: usize,
    },
    /// `lake_columns(text [, k])`: columns that hold what a text says.
    Columns {
        /// The text.
        text: String,
        /// Maximum number of rows.
        k: usize,
    },
    /// `lake_joinable(table [, column [, k]])`: tables to join with a table.
    Joinable {
        /// An id of the lake, or a file.
        table: String,
        /// Its key column, or several separated by commas; none for the best column.
        column: Option<String>,
        /// Maximum number of rows.
        k: usize,
    },
    /// `lake_unionable(table [, k])`: tables to append to a table.
    Unionable {
        /// An id of the lake, or a file.
        table: String,
        /// Maximum number of rows.
        k: usize,
    },
    /// `lake_correlated(table, target [, key [, k]])`: columns that go with a column of a table.
    Correlated {
        /// An id of the lake, or a file.
        table: String,
        /// The column to be explained.
        target: String,
        /// Its key column, or two separated by a comma; none for the likeliest keys.
        key: Option<String>,
        /// Maximum number of rows.
        k: usize,
    },
    /// `lake_ask(text [, table [, k]])`: tables for a request, with what to do next.
    Ask {
        /// The request.
        text: String,
        /// The table to start from: an id of the lake, or a file.
        table: Option<String>,
        /// Maximum number of rows; if none, as many as the text requests.
        k: Option<usize>,
    },
    /// `lake_functions()`: all functions of Lakeward.
    Functions,
}

impl TableCall {
    /// The call of the function `name` with `arguments`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an unknown name, or a wrong number or type of arguments, with the valid syntax.
    pub fn parse(name: &str, arguments: &[ScalarValue]) -> Result<Self> {
        let given = form::given(name, arguments)?;
        Ok(match given.form.name {
            form::PROFILE => Self::Profile { table: given.text(0)? },
            form::SEARCH => Self::Search { text: given.text(0)?, k: given.count(1)? },
            form::COLUMNS => Self::Columns { text: given.text(0)?, k: given.count(1)? },
            form::JOINABLE => {
                Self::Joinable { table: given.text(0)?, column: given.text_or_none(1)?, k: given.count(2)? }
            }
            form::UNIONABLE => Self::Unionable { table: given.text(0)?, k: given.count(1)? },
            form::CORRELATED => Self::Correlated {
                table: given.text(0)?,
                target: given.text(1)?,
                key: given.text_or_none(2)?,
                k: given.count(3)?,
            },
            form::ASK => Self::Ask { text: given.text(0)?, table: given.text_or_none(1)?, k: given.count_or_none(2)? },
            form::FUNCTIONS => Self::Functions,
            _ => Self::Tables,
        })
    }

    /// The name of the function.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tables => form::TABLES,
            Self::Profile { .. } => form::PROFILE,
            Self::Search { .. } => form::SEARCH,
            Self::Columns { .. } => form::COLUMNS,
            Self::Joinable { .. } => form::JOINABLE,
            Self::Unionable { .. } => form::UNIONABLE,
            Self::Correlated { .. } => form::CORRELATED,
            Self::Ask { .. } => form::ASK,
            Self::Functions => form::FUNCTIONS,
        }
    }

    /// The columns of its rows: the same for all calls of a function.
    pub fn schema(&self) -> SchemaRef {
        match self {
            Self::Tables => tables::schema(),
            Self::Profile { .. } => profile::schema(),
            Self::Search { .. } => ranked::SEARCH.schema(),
            Self::Columns { .. } => ranked::COLUMNS.schema(),
            Self::Joinable { .. } => ranked::JOINABLE.schema(),
            Self::Unionable { .. } => ranked::UNIONABLE.schema(),
            Self::Correlated { .. } => ranked::CORRELATED.schema(),
            Self::Ask { .. } => ask::schema(),
            Self::Functions => function_list::schema(),
        }
    }

    /// Checks that the tables and columns that it names exist; searches nothing and reads no table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`] and [`lakeward_core::Error::UnknownColumn`] with the nearest names;
    /// [`lakeward_core::Error::Usage`] for a catalogue record, whose data is not in the lake;
    /// [`lakeward_core::Error::Unreadable`] for a table that was removed since it was indexed.
    pub fn check(&self, lakeward: &Lakeward) -> Result<()> {
        match self {
            Self::Profile { table } | Self::Unionable { table, .. } | Self::Ask { table: Some(table), .. } => {
                named::table(lakeward, table).map(|_| ())
            }
            Self::Joinable { table, column, .. } => {
                let table = named::table(lakeward, table)?;
                column.as_deref().map_or(Ok(()), |column| table.check_column(column))
            }
            Self::Correlated { table, target, key, .. } => {
                let table = named::table(lakeward, table)?;
                table.check_column(target)?;
                key.as_deref().map_or(Ok(()), |key| table.check_column(key))
            }
            Self::Tables
            | Self::Search { .. }
            | Self::Columns { .. }
            | Self::Ask { table: None, .. }
            | Self::Functions => Ok(()),
        }
    }

    /// Runs the search and returns its rows in ranked order.
    ///
    /// # Errors
    /// Those of [`TableCall::check`], and those of the search.
    pub fn rows(&self, lakeward: &Lakeward) -> Result<RecordBatch> {
        match self {
            Self::Tables => tables::rows(lakeward),
            Self::Profile { table } => profile::rows(lakeward, table),
            Self::Search { text, k } => ranked::search(lakeward, text, *k),
            Self::Columns { text, k } => ranked::columns(lakeward, text, *k),
            Self::Joinable { table, column, k } => ranked::joinable(lakeward, table, column.as_deref(), *k),
            Self::Unionable { table, k } => ranked::unionable(lakeward, table, *k),
            Self::Correlated { table, target, key, k } => {
                ranked::correlated(lakeward, table, target, key.as_deref(), *k)
            }
            Self::Ask { text, table, k } => ask::rows(lakeward, text, table.as_deref(), *k),
            Self::Functions => function_list::rows(lakeward),
        }
    }
}

impl fmt::Display for TableCall {
    /// The call in SQL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let or_null = |value: &Option<String>| value.as_deref().map_or_else(|| "NULL".to_string(), text);
        let name = self.name();
        match self {
            Self::Tables | Self::Functions => write!(f, "{name}()"),
            Self::Profile { table } => write!(f, "{name}({})", text(table)),
            Self::Search { text: words, k } | Self::Columns { text: words, k } => {
                write!(f, "{name}({}, {k})", text(words))
            }
            Self::Unionable { table, k } => write!(f, "{name}({}, {k})", text(table)),
            Self::Joinable { table, column, k } => write!(f, "{name}({}, {}, {k})", text(table), or_null(column)),
            Self::Correlated { table, target, key, k } => {
                write!(f, "{name}({}, {}, {}, {k})", text(table), text(target), or_null(key))
            }
            Self::Ask { text: words, table, k } => {
                let k = k.map_or_else(|| "NULL".to_string(), |k| k.to_string());
                write!(f, "{name}({}, {}, {k})", text(words), or_null(table))
            }
        }
    }
}

/// The rows of `call` as a table, which searches each time it is read; planning and explaining a query reads nothing.
pub fn provider(lakeward: &Lakeward, call: TableCall) -> Arc<dyn TableProvider> {
    Arc::new(provider::CallTable::new(lakeward, call))
}

/// All table functions by their names, as a session registers them.
pub fn functions(lakeward: &Lakeward) -> Vec<(&'static str, Arc<dyn TableFunctionImpl>)> {
    let function = |form: &'static Form| -> (&'static str, Arc<dyn TableFunctionImpl>) {
        (form.name, Arc::new(provider::CallFunction::new(lakeward, form)))
    };
    form::FORMS.iter().map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::error::Error;

    #[test]
    fn arguments_become_a_call_and_a_call_its_sql() {
        let call =
            |name: &str, arguments: &[ScalarValue]| TableCall::parse(name, arguments).map(|call| call.to_string());
        let null = ScalarValue::Null;
        assert_eq!(call("lake_search", &["it's".into(), 3_i64.into()]).unwrap(), "lake_search('it''s', 3)");
        assert_eq!(call("lake_search", &["x".into(), null.clone()]).unwrap(), "lake_search('x', 10)");
        assert_eq!(call("lake_joinable", &["t".into(), null, 5_u8.into()]).unwrap(), "lake_joinable('t', NULL, 5)");
        let view = ScalarValue::Utf8View(Some("t".into()));
        assert_eq!(call("lake_ask", &["x".into(), view]).unwrap(), "lake_ask('x', 't', NULL)");
        assert_eq!(call("lake_tables", &[]).unwrap(), "lake_tables()");
    }

    #[test]
    fn what_cannot_be_called_shows_the_form() {
        let wrong = |name: &str, arguments: &[ScalarValue]| match TableCall::parse(name, arguments) {
            Err(Error::Usage(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(wrong("lake_serch", &[]).contains("there is lake_search"));
        assert!(wrong("lake_ask", &[]).ends_with("write lake_ask(text [, table [, k]])"));
        assert!(wrong("lake_search", &["x".into(), u64::MAX.into()]).contains("1 to 10000, not 18446744073709551615"));
        assert!(wrong("lake_search", &["x".into(), "3".into()]).contains("a whole number, not Utf8"));
        assert!(wrong("lake_profile", &["\n".into()]).contains("must not be empty"));
    }

    #[test]
    fn every_function_has_a_form_and_a_schema() {
        for (form, name) in form::FORMS.iter().zip(NAMES) {
            assert_eq!(form.name, name);
            let needed = form.parameters.iter().filter(|parameter| parameter.kind == form::ParameterKind::Text);
            let arguments: Vec<ScalarValue> = needed.map(|_| "x".into()).collect();
            let call = TableCall::parse(name, &arguments).unwrap();
            assert_eq!(call.name(), name);
            assert!(!call.schema().fields().is_empty() && form.example.contains(name));
        }
    }
}
