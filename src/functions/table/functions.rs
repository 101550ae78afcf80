//! `lake_functions()`: a row a function of Lakeward, with how it is written.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::logical_expr::Documentation;
use serde::Serialize;

use super::form::{FORMS, Form};
use super::records::{batch, list, optional, parts, required, schema as of};
use crate::Lakeward;
use crate::functions::{aggregate, scalar};
use lakeward_core::error::Result;

/// The columns. `kind` is `table`, `scalar` or `aggregate`.
pub(super) fn schema() -> SchemaRef {
    let argument = parts([required("name", DataType::Utf8), required("description", DataType::Utf8)]);
    of([
        required("name", DataType::Utf8),
        required("kind", DataType::Utf8),
        required("syntax", DataType::Utf8),
        required("description", DataType::Utf8),
        required("arguments", list(argument)),
        optional("example", DataType::Utf8),
    ])
}

#[derive(Serialize)]
struct Row {
    name: String,
    kind: &'static str,
    syntax: String,
    description: String,
    arguments: Vec<Argument>,
    example: Option<String>,
}

#[derive(Serialize)]
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
    batch(schema(), &rows)
}

fn of_form(form: &Form) -> Row {
    let argument = |(name, description): (&str, &str)| Argument { name: name.into(), description: description.into() };
    let arguments = form.parameters.iter().map(|parameter| argument((parameter.name, parameter.description)));
    Row {
        name: form.name.to_string(),
        kind: "table",
        syntax: form.syntax(),
        description: form.description.to_string(),
        arguments: arguments.collect(),
        example: Some(form.example.to_string()),
    }
}

fn documented(kind: &'static str, name: &str, documentation: Option<&Documentation>) -> Row {
    let arguments = documentation.and_then(|text| text.arguments.as_ref()).into_iter().flatten();
    Row {
        name: name.to_string(),
        kind,
        syntax: documentation.map_or_else(|| format!("{name}(…)"), |text| text.syntax_example.clone()),
        description: documentation.map_or_else(String::new, |text| text.description.clone()),
        arguments: arguments
            .map(|(name, description)| Argument { name: name.clone(), description: description.clone() })
            .collect(),
        example: documentation.and_then(|text| text.sql_example.clone()),
    }
}
