//! Table functions that a statement calls.
//!
//! DataFusion takes their names as written; here they are folded to lower case, as SQL folds all other names.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{ObjectName, ObjectNamePart, TableFactor, VisitMut, VisitorMut};

use lakeward_core::error::{Error, nearest_names};

/// Functions listed for an unknown name.
const NEAREST: usize = 3;

/// Folds the names of the table functions that `statement` calls; those names.
pub fn fold(statement: &mut Statement) -> Vec<String> {
    match statement {
        Statement::Statement(statement) => {
            let mut calls = Calls { names: Vec::new() };
            let _ = statement.visit(&mut calls);
            calls.names
        }
        Statement::Explain(explain) => fold(&mut explain.statement),
        _ => Vec::new(),
    }
}

/// The refusal of a call of `name`, which none of the functions `known` is called.
pub fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let nearest: Vec<String> = nearest_names(name, known, NEAREST).iter().map(|name| format!("`{name}`")).collect();
    let hint = if nearest.is_empty() {
        "`SHOW FUNCTIONS` lists those that there are".to_string()
    } else {
        format!("did you mean {}?", nearest.join(", "))
    };
    Error::usage(format!("there is no table function `{name}`; {hint}"))
}

struct Calls {
    names: Vec<String>,
}

impl Calls {
    fn fold(&mut self, name: &mut ObjectName) {
        if let [ObjectNamePart::Identifier(name)] = name.0.as_mut_slice() {
            if name.quote_style.take().is_none() {
                name.value = name.value.to_lowercase();
            }
            self.names.push(name.value.clone());
        }
    }
}

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
            self.fold(name);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::parse;

    #[test]
    fn names_are_folded_wherever_they_stand() {
        let sql = "EXPLAIN SELECT * FROM LAKE_TABLES() t JOIN (SELECT * FROM \"range\"(1)) r ON t.x = r.x, Plain";
        let mut statement = parse(sql).expect("a query");
        assert_eq!(fold(&mut statement), ["lake_tables", "range"]);
        assert!(statement.to_string().contains("lake_tables()") && statement.to_string().contains("Plain"));
    }

    #[test]
    fn an_unknown_name_is_reported_with_its_nearest() {
        let text = unknown("lake_serach", ["lake_search", "range"].into_iter()).to_string();
        assert_eq!(text, "there is no table function `lake_serach`; did you mean `lake_search`?");
        assert!(unknown("zzz", ["range"].into_iter()).to_string().contains("SHOW FUNCTIONS"));
    }
}
