//! The rows of a query as a document.

use std::sync::Arc;
use std::time::Instant;

use arrow::json::writer::{JsonArray, WriterBuilder};
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use lakeward_core::error::{Error, Result};
use lakeward_operate::{LakeContext, Note, ResultColumn, Rows};

/// What `sql --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SqlDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The query.
    pub query: String,
    /// The columns in order.
    pub columns: Vec<ResultColumn>,
    /// The rows, each from column name to value.
    pub rows: Vec<Row>,
    /// Whether there are more rows than `--limit`.
    pub truncated: bool,
    /// Notes on cells read as NULL and on tables read in part.
    pub notes: Vec<Note>,
    /// Time from query to last row, in milliseconds.
    pub elapsed_ms: f64,
}

/// One row, its values in the order of the columns.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
pub struct Row {
    #[schemars(with = "Map<String, Value>")]
    values: (Arc<[String]>, Map<String, Value>),
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (names, values) = &self.values;
        let mut map = serializer.serialize_map(Some(names.len()))?;
        for name in names.iter() {
            map.serialize_entry(name, values.get(name).unwrap_or(&Value::Null))?;
        }
        map.end()
    }
}

impl SqlDocument {
    /// All `rows` of `query`, which `context` began to answer at `started`.
    ///
    /// # Errors
    /// Those of [`Rows::next_batch`].
    pub fn read(query: &str, context: &LakeContext, mut rows: Rows<'_>, started: Instant) -> Result<Self> {
        let columns = rows.columns().to_vec();
        let names: Arc<[String]> = columns.iter().map(|column| column.name.clone()).collect();
        let mut all = Vec::new();
        while let Some(batch) = rows.next_batch()? {
            let mut text = Vec::new();
            let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut text);
            writer.write(&batch).and_then(|()| writer.finish()).map_err(|error| Error::Internal(error.to_string()))?;
            drop(writer);
            let values: Vec<Map<String, Value>> =
                serde_json::from_slice(&text).map_err(|error| Error::Internal(error.to_string()))?;
            all.extend(values.into_iter().map(|values| Row { values: (Arc::clone(&names), values) }));
        }
        Ok(Self {
            lakeward: env!("CARGO_PKG_VERSION"),
            query: query.to_string(),
            columns,
            rows: all,
            truncated: rows.truncated(),
            notes: context.notes(),
            elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
        })
    }
}
