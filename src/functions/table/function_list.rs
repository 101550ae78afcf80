//! `lake_functions()`: one row per function of Lakeward, with its syntax.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::Documentation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::form::{FORMS, Form};
use crate::Lakeward;
use crate::functions::{aggregate, scalar};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::of::<Row>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// A row. `kind` is `table`, `scalar` or `aggregate`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
struct Row {
    name: String,
    kind: String,
    syntax: String,
    description: String,
    arguments: Vec<Argument>,
    example: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Argument {
    name: String,
    description: String,
}

/// All functions: table functions in their order, then scalars and aggregates.
pub(super) fn rows(lakeward: &Lakeward) -> Result<RecordBatch> {
    let mut rows: Vec<Row> = FORMS.iter().map(of_form).collect();
    for function in lakeward_operate::functions::all().into_iter().chain(scalar::scalars(lakeward)) {
        rows.push(documented("scalar", function.name(), function.documentation()));
    }
    for function in aggregate::aggregates() {
        rows.push(documented("aggregate", function.name(), function.documentation()));
    }
    COLUMNS.batch(&rows)
}

fn of_form(form: &Form) -> Row {
    let argument = |(name, description): (&str, &str)| Argument { name: name.into(), description: description.into() };
    let arguments = form.parameters.iter().map(|parameter| argument((parameter.name, parameter.description)));
    Row {
        name: form.name.to_string(),
        kind: "table".to_string(),
        syntax: form.syntax(),
        description: form.description.to_string(),
        arguments: arguments.collect(),
        example: Some(form.example.to_string()),
    }
}

fn documented(kind: &str, name: &str, documentation: Option<&Documentation>) -> Row {
    let arguments = documentation.and_then(|text| text.arguments.as_ref()).into_iter().flatten();
    Row {
        name: name.to_string(),
        kind: kind.to_string(),
        syntax: documentation.map_or_else(|| format!("{name}(…)"), |text| text.syntax_example.clone()),
        description: documentation.map_or_else(String::new, |text| text.description.clone()),
        arguments: arguments
            .map(|(name, description)| Argument { name: name.clone(), description: description.clone() })
            .collect(),
        example: documentation.and_then(|text| text.sql_example.clone()),
    }
}
