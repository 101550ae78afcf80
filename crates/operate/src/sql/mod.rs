//! From a typed operation to one query in readable SQL.
//!
//! Column names are looked up in the inputs first, so what becomes SQL is known to exist; names and values enter it through
//! [`super::quote`] only. The query is one that [`LakeContext::query`] answers, so whoever reads it can run it, and changing
//! it is as easy as copying it.

pub(super) mod aggregate;
pub(super) mod condition;
pub(super) mod filter;
pub(super) mod join;
pub(super) mod union;
pub(super) mod values;

use super::context::LakeContext;
use super::inputs::InputTable;
use lakeward_core::error::Result;
use lakeward_core::request::Operation;

/// Longest line of a list of columns.
const LINE_CHARS: usize = 100;

/// An operation whose tables and columns are known to exist.
pub(super) enum Resolved {
    Filter(filter::ResolvedFilter),
    Join(join::ResolvedJoin),
    Union(union::ResolvedUnion),
    Aggregate(aggregate::ResolvedAggregate),
}

impl Resolved {
    /// Looks up what `operation` names.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownTable`] and [`lakeward_core::Error::UnknownColumn`] with the nearest names, [`lakeward_core::Error::Usage`] for
    /// what cannot be done with columns of their type, and what reading a table's head meets.
    pub fn new(context: &LakeContext, operation: &Operation) -> Result<Self> {
        Ok(match operation {
            Operation::Filter(filter) => Resolved::Filter(filter::resolve(context, filter)?),
            Operation::Join(join) => Resolved::Join(join::resolve(context, join)?),
            Operation::Union(union) => Resolved::Union(union::resolve(context, union)?),
            Operation::Aggregate(aggregate) => Resolved::Aggregate(aggregate::resolve(context, aggregate)?),
        })
    }

    /// The query.
    pub fn sql(&self) -> String {
        match self {
            Resolved::Filter(filter) => filter.sql(),
            Resolved::Join(join) => join.sql(),
            Resolved::Union(union) => union.sql(),
            Resolved::Aggregate(aggregate) => aggregate.sql(),
        }
    }

    /// The tables it reads, the working table first.
    pub fn inputs(&self) -> Vec<&InputTable> {
        match self {
            Resolved::Filter(filter) => vec![&filter.input],
            Resolved::Join(join) => vec![&join.left, &join.right],
            Resolved::Union(union) => union.parts.iter().map(|part| &part.input).collect(),
            Resolved::Aggregate(aggregate) => vec![&aggregate.input],
        }
    }
}

/// The query that carries `operation` out.
///
/// # Errors
/// [`lakeward_core::Error::UnknownTable`] and [`lakeward_core::Error::UnknownColumn`] with the nearest names, [`lakeward_core::Error::Usage`] for what
/// cannot be done with columns of their type, and what reading a table's head meets.
pub fn sql(context: &LakeContext, operation: &Operation) -> Result<String> {
    Ok(Resolved::new(context, operation)?.sql())
}

/// `items` parted by commas, in lines of at most [`LINE_CHARS`] where they fit.
pub(super) fn listed(items: &[String]) -> String {
    let mut text = String::new();
    let mut line = 0;
    for (place, item) in items.iter().enumerate() {
        let chars = item.chars().count() + 2;
        if place > 0 {
            if line + chars > LINE_CHARS {
                text.push_str(",\n       ");
                line = 0;
            } else {
                text.push_str(", ");
            }
        }
        text.push_str(item);
        line += chars;
    }
    text
}

/// `wanted`, or with a number behind it where a column of that name, upper and lower case aside, is among `taken`; then
/// taken itself.
pub(super) fn free_name(wanted: &str, taken: &mut Vec<String>) -> String {
    let is_taken = |name: &str, taken: &[String]| {
        let lower = name.to_lowercase();
        taken.contains(&lower)
    };
    let mut name = wanted.to_string();
    let mut number = 2;
    while is_taken(&name, taken) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    taken.push(name.to_lowercase());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_broken_and_names_numbered() {
        let items: Vec<String> = (0..40).map(|number| format!("\"column_{number}\"")).collect();
        assert!(listed(&items).lines().all(|line| line.chars().count() < LINE_CHARS + 10));
        let mut taken = vec!["id".to_string()];
        assert_eq!(free_name("ID", &mut taken), "ID_2");
        assert_eq!(free_name("id", &mut taken), "id_3");
        assert_eq!(free_name("other", &mut taken), "other");
    }
}
