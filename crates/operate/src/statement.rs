//! What may run: exactly one statement, and only one that reads.
//!
//! The list is of what is allowed, so that a statement which a later parser learns is refused until someone looks at it. The
//! plan is checked again before it runs ([`read_only`]), because some queries write too (`SELECT … INTO`).

use std::ops::ControlFlow;

use datafusion::execution::context::SQLOptions;
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::{Expr, Statement as SqlStatement, visit_expressions_mut};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use lakeward_core::error::{Error, Result};

/// The single query that `sql` holds.
///
/// # Errors
/// [`Error::Sql`] for what does not parse, [`Error::Usage`] for anything but one query.
pub fn parse(sql: &str) -> Result<Statement> {
    let mut statements = DFParser::parse_sql(sql).map_err(|error| Error::Sql { reason: error.strip_backtrace() })?;
    let count = statements.len();
    match statements.pop_front() {
        Some(statement) if count == 1 => {
            if reads(&statement) {
                Ok(statement)
            } else {
                Err(refused(&verb(&statement.to_string())))
            }
        }
        None => Err(Error::usage("no query given")),
        Some(_) => Err(Error::usage(format!("{count} statements given; one query runs at a time"))),
    }
}

/// What a plan may not hold, whatever its statement looked like.
pub fn read_only() -> SQLOptions {
    SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false)
}

/// An expression without its casts, as DataFusion names it; as it stands where it does not parse.
pub fn without_casts(expression: &str) -> String {
    let parsed = Parser::new(&GenericDialect {}).try_with_sql(expression).and_then(|mut parser| parser.parse_expr());
    let Ok(mut parsed) = parsed else { return expression.to_string() };
    let _ = visit_expressions_mut(&mut parsed, |part| {
        if let Expr::Cast { expr: inner, .. } = part {
            *part = Expr::clone(inner);
        }
        ControlFlow::<()>::Continue(())
    });
    parsed.to_string()
}

/// The refusal of what `verb` stands for.
fn refused(verb: &str) -> Error {
    let allowed = "SELECT, WITH, VALUES, EXPLAIN, SHOW or DESCRIBE";
    Error::usage(format!("`{verb}` is not run: the lake is only read, so a statement must be {allowed}"))
}

fn reads(statement: &Statement) -> bool {
    match statement {
        Statement::Statement(statement) => sql_reads(statement),
        Statement::Explain(explain) => reads(&explain.statement),
        _ => false,
    }
}

fn sql_reads(statement: &SqlStatement) -> bool {
    match statement {
        SqlStatement::Query(_)
        | SqlStatement::ExplainTable { .. }
        | SqlStatement::ShowTables { .. }
        | SqlStatement::ShowColumns { .. }
        | SqlStatement::ShowFunctions { .. }
        | SqlStatement::ShowVariable { .. }
        | SqlStatement::ShowVariables { .. } => true,
        SqlStatement::Explain { statement, .. } => sql_reads(statement),
        _ => false,
    }
}

fn verb(statement: &str) -> String {
    statement.split_whitespace().next().unwrap_or_default().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_every_kind_pass() {
        for sql in [
            "SELECT 1",
            "WITH a AS (SELECT 1) SELECT * FROM a;",
            "VALUES (1)",
            "EXPLAIN SELECT 1",
            "SHOW TABLES",
            "DESCRIBE t",
        ] {
            assert!(parse(sql).is_ok(), "{sql}");
        }
    }

    #[test]
    fn nothing_else_passes() {
        for sql in [
            "CREATE TABLE a AS SELECT 1",
            "CREATE EXTERNAL TABLE a STORED AS CSV LOCATION '/etc/passwd'",
            "COPY (SELECT 1) TO '/tmp/x.csv'",
            "INSERT INTO a VALUES (1)",
            "DELETE FROM a",
            "DROP TABLE a",
            "SET datafusion.execution.batch_size = 1",
            "RESET datafusion.execution.batch_size",
            "EXPLAIN COPY (SELECT 1) TO '/tmp/x.csv'",
            "PREPARE p AS SELECT 1",
            "SELECT 1; SELECT 2",
            "",
        ] {
            assert!(matches!(parse(sql), Err(Error::Usage(_))), "{sql}");
        }
        assert!(matches!(parse("SELEC 1"), Err(Error::Usage(_) | Error::Sql { .. })));
    }
}
