//! The answer to a query, batch by batch.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::SendableRecordBatchStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::LakeContext;
use crate::error::{Error, Result};

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
    pub(super) fn schema(&self) -> &Arc<Schema> {
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

/// The cells of a batch as text, row by row; NULL is empty.
///
/// # Errors
/// [`Error::Internal`] for a type that has no text.
pub fn texts(batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
    let failed = |error: ArrowError| Error::Internal(error.to_string());
    let options = FormatOptions::default().with_display_error(true);
    let columns: Vec<ArrayFormatter> = batch
        .columns()
        .iter()
        .map(|array| ArrayFormatter::try_new(array, &options))
        .collect::<std::result::Result<_, _>>()
        .map_err(failed)?;
    Ok((0..batch.num_rows()).map(|row| columns.iter().map(|column| column.value(row).to_string()).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered_around_those_that_exist() {
        assert_eq!(unique_names(["id", "id", "id_2", "id"].into_iter()), ["id", "id_3", "id_2", "id_4"]);
        assert!(unique_names(std::iter::empty()).is_empty());
    }
}
