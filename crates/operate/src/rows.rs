//! The answer to a query, batch by batch.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::json::writer::{JsonArray, WriterBuilder};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::SendableRecordBatchStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::LakeContext;
use lakeward_core::error::{Error, Result};

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultColumn {
    /// Its name; a repeated name gets a number (`id`, `id_2`), so that no value hides another.
    pub name: String,
    /// Its Arrow type.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Whether its values are numbers.
    #[serde(skip)]
    pub is_numeric: bool,
}

/// The rows of an answer, in the order that the query asks for.
pub struct Rows<'a> {
    context: &'a LakeContext,
    stream: SendableRecordBatchStream,
    schema: Arc<Schema>,
    columns: Vec<ResultColumn>,
    left: Option<usize>,
    truncated: bool,
    explains: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        context: &'a LakeContext,
        stream: SendableRecordBatchStream,
        limit: Option<usize>,
        explains: bool,
    ) -> Self {
        let fields = stream.schema();
        let names = unique_names(fields.fields().iter().map(|field| field.name().as_str()));
        let renamed: Vec<Field> =
            fields.fields().iter().zip(&names).map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
        let column = |field: &Field| ResultColumn {
            name: field.name().clone(),
            data_type: field.data_type().to_string(),
            is_numeric: field.data_type().is_numeric(),
        };
        let columns = renamed.iter().map(column).collect();
        Self {
            context,
            stream,
            schema: Arc::new(Schema::new(renamed)),
            columns,
            left: limit,
            truncated: false,
            explains,
        }
    }

    /// The columns of the answer.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The columns of the answer as its batches have them.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Whether the answer is a query plan (`EXPLAIN`): text of several lines a cell.
    pub fn explains(&self) -> bool {
        self.explains
    }

    /// Whether there are more rows than the limit; known once [`Rows::next_batch`] has returned `None`.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// The next rows; `None` at the end or at the limit.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the user stops it, [`Error::Sql`] for what fails while the query runs, the lake's own error where a table cannot be read.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.truncated {
                return Ok(None);
            }
            let stream = &mut self.stream;
            let next = self.context.wait(poll_fn(|task| stream.as_mut().poll_next(task)))?;
            let Some(batch) = next.transpose().map_err(|error| self.context.error(&error))? else { return Ok(None) };
            let mut batch = renamed(&batch, &self.schema)?;
            if let Some(left) = &mut self.left {
                self.truncated = batch.num_rows() > *left;
                batch = batch.slice(0, batch.num_rows().min(*left));
                *left -= batch.num_rows();
            }
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
    }
}

/// `batch` under the answer's column names.
fn renamed(batch: &RecordBatch, schema: &Arc<Schema>) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
        .map_err(|error| Error::Internal(error.to_string()))
}

fn unique_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut taken: HashSet<String> = names.iter().map(|name| name.to_string()).collect();
    let mut met = HashSet::new();
    let mut unique = Vec::with_capacity(names.len());
    for name in names {
        let mut own = name.to_string();
        let mut number = 2;
        // The first of equal names keeps it.
        while !met.insert(own.clone()) {
            own = format!("{name}_{number}");
            number += 1;
            if !taken.insert(own.clone()) {
                own = name.to_string();
            }
        }
        unique.push(own);
    }
    unique
}

/// What the text of a cell is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellForm {
    /// To be looked at: bytes are cut, lists and structures written as `[{a: 1}]`.
    Shown,
    /// To be read by a program: bytes as hexadecimal digits, lists and structures as JSON.
    Data,
}

/// Hexadecimal digits shown of a cell of bytes.
const SHOWN_DIGITS: usize = 16;

/// The cells of a batch as text, row by row; NULL is empty.
///
/// # Errors
/// [`Error::Internal`] for a type that has no text.
pub fn texts(batch: &RecordBatch, form: CellForm) -> Result<Vec<Vec<String>>> {
    let mut columns = Vec::with_capacity(batch.num_columns());
    for array in batch.columns() {
        columns.push(match form {
            CellForm::Shown if is_binary(array.data_type()) => plain(array)?.into_iter().map(cut).collect(),
            CellForm::Data if array.data_type().is_nested() => json(array).map_or_else(|| plain(array), Ok)?,
            _ => plain(array)?,
        });
    }
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    Ok((0..batch.num_rows())
        .map(|_| columns.iter_mut().map(|cells| cells.next().unwrap_or_default()).collect())
        .collect())
}

fn is_binary(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    matches!(data_type, Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
}

fn cut(digits: String) -> String {
    match digits.get(..SHOWN_DIGITS) {
        Some(first) if digits.len() > SHOWN_DIGITS => format!("{first}… ({} bytes)", digits.len() / 2),
        _ => digits,
    }
}

fn plain(array: &ArrayRef) -> Result<Vec<String>> {
    let options = FormatOptions::default().with_display_error(true);
    let cells = ArrayFormatter::try_new(array, &options);
    let cells = cells.map_err(|error: ArrowError| Error::Internal(error.to_string()))?;
    Ok((0..array.len()).map(|row| cells.value(row).to_string()).collect())
}

/// The cells as JSON; none for types that JSON does not have.
fn json(array: &ArrayRef) -> Option<Vec<String>> {
    const NAME: &str = "cell";
    let batch = RecordBatch::try_from_iter_with_nullable([(NAME, Arc::clone(array), true)]).ok()?;
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut text);
    writer.write(&batch).and_then(|()| writer.finish()).ok()?;
    drop(writer);
    let rows: Vec<Map<String, Value>> = serde_json::from_slice(&text).ok()?;
    let cell = |row: &Map<String, Value>| match row.get(NAME) {
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    Some(rows.iter().map(cell).collect())
}

#[cfg(test)]
mod tests {
    use arrow::array::{BinaryArray, ListBuilder, StringBuilder};

    use super::*;

    #[test]
    fn equal_names_are_numbered_around_those_that_exist() {
        assert_eq!(unique_names(["id", "id", "id_2", "id"].into_iter()), ["id", "id_3", "id_2", "id_4"]);
        assert!(unique_names(std::iter::empty()).is_empty());
    }

    #[test]
    fn nested_cells_and_bytes_are_written_for_their_reader() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("a, \"b\""), None]);
        lists.append_null();
        let bytes = BinaryArray::from_opt_vec(vec![Some(b"\x00\x01"), Some(&[255; 100])]);
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("list", Arc::new(lists.finish()) as ArrayRef, true),
            ("bytes", Arc::new(bytes) as ArrayRef, true),
        ]);
        let batch = batch.expect("a batch");
        let shown = texts(&batch, CellForm::Shown).expect("texts");
        assert_eq!(shown, [["[a, \"b\", ]", "0001"], ["", "ffffffffffffffff… (100 bytes)"]]);
        let data = texts(&batch, CellForm::Data).expect("texts");
        assert_eq!(data[0], [r#"["a, \"b\"",null]"#, "0001"]);
        assert_eq!((data[1][0].as_str(), data[1][1].len()), ("", 200));
    }
}
