//! What each column of a feature table is: its source, how it was joined and aggregated, and its citation.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Feature, FeatureTable};
use lakeward_search::QueryTable;
use lakeward_search::correlate::KeyPair;

/// What the columns of a feature table are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DataDictionary {
    /// The target.
    pub target: String,
    /// Rows.
    pub rows: u64,
    /// The columns, in their order.
    pub columns: Vec<DictionaryEntry>,
}

/// What a column of a feature table is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DictionaryEntry {
    /// Its name.
    pub name: String,
    /// The table it comes from: an id of the lake, or a file.
    pub table: String,
    /// Its name there.
    pub column: String,
    /// The columns that the tables are joined on; empty for own columns.
    pub on: Vec<KeyPair>,
    /// How the rows of a key become its value; none for own columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<String>,
    /// How its table is cited.
    pub citation: String,
}

impl FeatureTable {
    /// What each of the `names` of its columns is; `query` is the table it was made from.
    pub fn dictionary(&self, query: &QueryTable, names: &[String]) -> DataDictionary {
        let entry = |name: &String| match self.features.iter().find(|feature| feature.name == *name) {
            Some(Feature { found, aggregate, .. }) => DictionaryEntry {
                name: name.clone(),
                table: found.table.clone(),
                column: found.column.clone(),
                on: found.on.clone(),
                aggregate: Some(aggregate.clone()),
                citation: found.citation.clone(),
            },
            None => DictionaryEntry {
                name: name.clone(),
                table: query.entry.id.to_string(),
                column: name.clone(),
                on: Vec::new(),
                aggregate: None,
                citation: self.citation.clone(),
            },
        };
        DataDictionary { target: self.target.clone(), rows: self.rows, columns: names.iter().map(entry).collect() }
    }
}
