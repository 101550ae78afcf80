//! Column names without their quotes.
//!
//! SQL folds an unquoted name to lower case, but headers are written `Airline` or `PassengerId`. Where a query does not plan
//! as it stands, unquoted names are matched with the columns of its tables whatever their case; a name that several columns
//! could have, or that is a column as it stands, is left alone.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, visit_expressions_mut};

/// `statement` with its unquoted names written as `columns` are; `None` where that changes nothing.
pub fn as_written<'n>(mut statement: Statement, columns: impl IntoIterator<Item = &'n str>) -> Option<Statement> {
    let mut written: HashMap<String, Option<&str>> = HashMap::new();
    for column in columns {
        let known = written.entry(column.to_lowercase()).or_insert(Some(column));
        if *known != Some(column) {
            *known = None;
        }
    }
    restore(&mut statement, &written).then_some(statement)
}

fn restore(statement: &mut Statement, written: &HashMap<String, Option<&str>>) -> bool {
    let statement = match statement {
        Statement::Statement(statement) => statement,
        Statement::Explain(explain) => return restore(&mut explain.statement, written),
        _ => return false,
    };
    let mut changed = false;
    let mut restore_name = |name: &mut Ident| {
        let lower = name.value.to_lowercase();
        if let (None, Some(Some(column))) = (name.quote_style, written.get(&lower))
            && **column != lower
        {
            *name = Ident::with_quote('"', *column);
            changed = true;
        }
    };
    let _ = visit_expressions_mut(statement, |expression| {
        match expression {
            Expr::Identifier(name) => restore_name(name),
            Expr::CompoundIdentifier(names) => names.last_mut().into_iter().for_each(&mut restore_name),
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::parse;

    fn rewritten(sql: &str, columns: &[&str]) -> Option<String> {
        as_written(parse(sql).expect("a query"), columns.iter().copied()).map(|statement| statement.to_string())
    }

    #[test]
    fn unquoted_names_take_the_case_of_their_column() {
        let sql = "SELECT airline, r.SOURCE FROM r WHERE Airline = 'AA' ORDER BY airline";
        let expected = r#"SELECT "Airline", r."Source" FROM r WHERE "Airline" = 'AA' ORDER BY "Airline""#;
        assert_eq!(rewritten(sql, &["Airline", "Source"]).as_deref(), Some(expected));
    }

    #[test]
    fn quoted_ambiguous_and_matching_names_stay() {
        assert_eq!(rewritten("SELECT \"airline\", Year, id FROM r", &["Airline", "Year", "YEAR", "id"]), None);
    }
}
