//! The keys of a join: two columns, and how their values are compared.

use crate::inputs::InputColumn;

/// How the two columns of a key are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
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
pub(super) struct KeyPair {
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
