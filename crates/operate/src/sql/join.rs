//! Columns of another table at the rows of the working table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{free_name, listed};
use crate::context::LakeContext;
use crate::inputs::{InputColumn, InputTable};
use crate::quote::identifier;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Join;

/// How the two columns of a key are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// As they are: both have one type.
    AsWritten,
    /// As numbers, dates or times of two types.
    AsValues,
    /// As text, since their types have nothing in common: `01` is not 1.
    AsText,
    /// In the normal form of the index.
    Normalised,
}

/// A pair of columns that must be equal.
#[derive(Debug, Clone)]
pub struct KeyPair {
    /// That of the left table.
    pub left: InputColumn,
    /// That of the right table.
    pub right: InputColumn,
    /// How they are compared.
    pub comparison: Comparison,
}

impl KeyPair {
    /// Two columns, compared in their normal form where `normalised` and their types have one.
    pub fn new(left: &InputColumn, right: &InputColumn, normalised: bool) -> Self {
        let both = |test: fn(&InputColumn) -> bool| test(left) && test(right);
        let comparison = if left.family == right.family && !left.family.is_text() {
            let same = left.data_type == right.data_type;
            if same { Comparison::AsWritten } else { Comparison::AsValues }
        } else if normalised {
            Comparison::Normalised
        } else if both(|column| column.family.is_text()) {
            Comparison::AsWritten
        } else if both(|column| column.family.is_dated()) {
            Comparison::AsValues
        } else {
            Comparison::AsText
        };
        Self { left: left.clone(), right: right.clone(), comparison }
    }

    /// What is compared of the left column, which is called `name` in the query.
    pub fn left_value(&self, name: &str) -> String {
        value(&self.left, self.comparison, name)
    }

    /// What is compared of the right column.
    pub fn right_value(&self, name: &str) -> String {
        value(&self.right, self.comparison, name)
    }
}

fn value(column: &InputColumn, comparison: Comparison, name: &str) -> String {
    match comparison {
        Comparison::AsWritten => name.to_string(),
        // Dates of DataFusion become times of nanoseconds beside times, and those end in 2262.
        Comparison::AsValues if column.family.is_dated() => format!("CAST({name} AS TIMESTAMP(6))"),
        Comparison::AsValues => name.to_string(),
        Comparison::AsText if column.family.is_text() => name.to_string(),
        Comparison::AsText => format!("CAST({name} AS VARCHAR)"),
        Comparison::Normalised => column.call("value_normalize", name),
    }
}

/// A column of the right table, and its name in the result.
#[derive(Debug, Clone)]
pub struct AddedColumn {
    /// The column.
    pub column: InputColumn,
    /// Its name in the result.
    pub name: String,
}

/// A join whose tables and columns are known.
#[derive(Debug, Clone)]
pub struct ResolvedJoin {
    /// The working table.
    pub left: InputTable,
    /// The other one.
    pub right: InputTable,
    /// What must be equal.
    pub keys: Vec<KeyPair>,
    /// What is added.
    pub added: Vec<AddedColumn>,
    /// Whether rows without a partner are left out.
    pub matched_only: bool,
}

/// Looks up what `join` names.
///
/// # Errors
/// As [`super::sql`]; [`Error::Usage`] for a join on no columns.
pub fn resolve(context: &LakeContext, join: &Join) -> Result<ResolvedJoin> {
    if join.on.is_empty() {
        return Err(Error::Usage("a join needs at least one pair of columns that must be equal".into()));
    }
    let left = InputTable::resolve(context, &join.left)?;
    let right = InputTable::resolve(context, &join.right)?;
    let keys = join
        .on
        .iter()
        .map(|(ours, theirs)| Ok(KeyPair::new(left.column(ours)?, right.column(theirs)?, join.normalised)))
        .collect::<Result<Vec<_>>>()?;
    let is_key = |column: &InputColumn| keys.iter().any(|pair| pair.right.name == column.name);
    let wanted = right.columns_named(&join.columns)?;
    let mut taken: Vec<String> = left.columns.iter().map(|column| column.name.to_lowercase()).collect();
    let mut added = Vec::new();
    for column in wanted.into_iter().filter(|column| !is_key(column)) {
        let name = if taken.contains(&column.name.to_lowercase()) {
            free_name(&format!("{}_{}", right.label, column.name), &mut taken)
        } else {
            free_name(&column.name, &mut taken)
        };
        added.push(AddedColumn { column: column.clone(), name });
    }
    Ok(ResolvedJoin { left, right, keys, added, matched_only: join.matched_only })
}

impl ResolvedJoin {
    /// The query.
    pub fn sql(&self) -> String {
        let columns: Vec<String> = std::iter::once("l.*".to_string())
            .chain(self.added.iter().map(|added| {
                let column = format!("r.{}", identifier(&added.column.name));
                if added.name == added.column.name {
                    column
                } else {
                    format!("{column} AS {}", identifier(&added.name))
                }
            }))
            .collect();
        let on: Vec<String> = self
            .keys
            .iter()
            .map(|pair| {
                let left = pair.left_value(&format!("l.{}", identifier(&pair.left.name)));
                let right = pair.right_value(&format!("r.{}", identifier(&pair.right.name)));
                format!("{left} = {right}")
            })
            .collect();
        let kind = if self.matched_only { "INNER JOIN" } else { "LEFT JOIN" };
        format!(
            "SELECT {}\nFROM {} AS l\n{kind} {} AS r\n  ON {}",
            listed(&columns),
            self.left.sql,
            self.right.sql,
            on.join("\n AND ")
        )
    }

    /// The same join with its keys compared in their normal form, where that makes a difference.
    pub fn normalised(&self) -> Option<ResolvedJoin> {
        let mut other = self.clone();
        let mut differs = false;
        for pair in &mut other.keys {
            let comparison = KeyPair::new(&pair.left, &pair.right, true).comparison;
            differs |= comparison != pair.comparison;
            pair.comparison = comparison;
        }
        differs.then_some(other)
    }

    /// Whether a key is compared as text because its columns have types with nothing in common.
    pub fn mixes_types(&self) -> bool {
        self.keys.iter().any(|pair| pair.comparison == Comparison::AsText)
    }
}
