//! Steps that bring other tables in: joins and unions.

use super::block::Block;
use super::key_pair::KeyPair;
use super::table::{Made, named, own, renamed};
use super::value::{TEXT, Typed, missing, of_one_type};
use super::{Compiler, free_name};
use crate::inputs::{InputColumn, InputTable};
use crate::quote::{identifier, literal};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Join, JoinKind, Union};

/// A table of a union.
pub(super) struct Part {
    pub table: InputTable,
    /// What the query calls it.
    pub from: String,
    /// Its column at each place of the result; there may be fewer.
    pub columns: Vec<Option<InputColumn>>,
}

/// Which columns of the tables of a union stand below each other.
pub(super) struct Aligned {
    /// Names of the columns of the result.
    pub names: Vec<String>,
    /// The same in lower case.
    pub taken: Vec<String>,
    /// The tables, the first one first.
    pub parts: Vec<Part>,
}

impl Compiler<'_> {
    /// What a join compares, as SQL of the left and the right side.
    pub(super) fn key_pairs(left: &InputTable, right: &InputTable, join: &Join) -> Result<Vec<KeyPair>> {
        if join.on.is_empty() {
            return Err(Error::usage("a join needs at least one pair of columns that must be equal"));
        }
        join.on
            .iter()
            .map(|key| Ok(KeyPair::new(left.column(&key.left)?, right.column(&key.right)?, !key.exact)))
            .collect()
    }

    pub(super) fn join(&mut self, made: &mut Made, join: &Join) -> Result<()> {
        self.close(made);
        let mut other = self.relation(&join.with)?;
        self.close(&mut other);
        let pairs = Self::key_pairs(&made.table, &other.table, join)?;
        let on = |right: &str| -> Vec<String> {
            let value = |pair: &KeyPair| {
                let left = pair.left_value(&format!("l.{}", identifier(&pair.left.name)));
                format!("{left} = {}", pair.right_value(&format!("{right}.{}", identifier(&pair.right.name))))
            };
            pairs.iter().map(value).collect()
        };
        let (left, right) = (made.open.from.clone(), other.open.from.clone());
        if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) {
            let not = if join.kind == JoinKind::Anti { "NOT " } else { "" };
            made.open.from = format!("{left} AS l");
            let partner = format!("{not}EXISTS (SELECT 1 FROM {right} AS r WHERE {})", on("r").join(" AND "));
            made.open.conditions = vec![partner];
            made.open.columns = made.all().map(|column| format!("l.{}", identifier(&column.name))).collect();
            made.open.does = "matched";
            return Ok(());
        }
        let mut taken = made.taken();
        let kept = if join.columns.is_empty() {
            let is_key = |column: &InputColumn| pairs.iter().any(|pair| pair.right.name == column.name);
            own(&other.table).into_iter().filter(|(_, column)| !is_key(column)).collect()
        } else {
            renamed(&other.table, &join.columns)?
        };
        let mut added = Vec::new();
        for (sql, mut column) in kept {
            if taken.contains(&column.name.to_lowercase()) {
                column.name = format!("{}_{}", other.table.label, column.name);
            }
            column.name = free_name(&column.name, &mut taken);
            let name = identifier(&column.name);
            let own = if sql == name { format!("r.{sql}") } else { format!("r.{sql} AS {name}") };
            added.push((own, column));
        }
        let kind = match join.kind {
            JoinKind::Inner => "INNER JOIN",
            JoinKind::Full => "FULL JOIN",
            _ => "LEFT JOIN",
        };
        let mut columns = vec!["l.*".to_string()];
        if join.kind == JoinKind::Full {
            columns = made.table.columns.iter_mut().map(|column| either_key(column, &pairs)).collect();
            made.hidden.clear();
            made.order.clear();
        }
        columns.extend(added.iter().map(|(sql, _)| sql.clone()));
        made.open = Block::of(format!("{left} AS l\n{kind} {right} AS r\n  ON {}", on("r").join("\n AND ")));
        made.open.columns = columns;
        made.open.does = "joined";
        made.table.columns.extend(added.into_iter().map(|(_, column)| column));
        Ok(())
    }

    /// Which columns of the tables of a union stand below each other.
    pub(super) fn aligned(&mut self, made: &mut Made, union: &Union) -> Result<Aligned> {
        if union.others.is_empty() {
            return Err(Error::usage("a union needs at least one table to append"));
        }
        self.close(made);
        let width = made.table.columns.len();
        let mut taken: Vec<String> = made.table.columns.iter().map(|column| column.name.to_lowercase()).collect();
        let mut names: Vec<String> = made.table.columns.iter().map(|column| column.name.clone()).collect();
        let columns = made.table.columns.iter().cloned().map(Some).collect();
        let mut parts = vec![Part { table: made.table.clone(), from: made.open.from.clone(), columns }];
        for part in &union.others {
            let mut other = self.relation(&part.with)?;
            self.close(&mut other);
            let theirs = &other.table;
            let mut columns: Vec<Option<InputColumn>> = vec![None; width];
            if part.columns.is_empty() {
                for (place, name) in names[..width].iter().enumerate() {
                    let same = |column: &&InputColumn| column.name.eq_ignore_ascii_case(name);
                    columns[place] = theirs.columns.iter().find(same).cloned();
                }
                if columns.iter().all(Option::is_none) {
                    let name = &theirs.name;
                    return Err(Error::usage(format!(
                        "no column of `{name}` has the name of one here; say which belong together"
                    )));
                }
            }
            for (here, there) in &part.columns {
                let here = made.table.column(here)?;
                let place = made.table.columns.iter().position(|column| column.name == here.name).unwrap_or(0);
                if columns[place].is_some() {
                    return Err(Error::usage(format!(
                        "two columns of `{}` are aligned with `{}`",
                        theirs.name, here.name
                    )));
                }
                columns[place] = Some(theirs.column(there)?.clone());
            }
            if union.keep_extra {
                let used: Vec<String> = columns.iter().flatten().map(|column| column.name.clone()).collect();
                columns.resize(names.len(), None);
                for extra in theirs.columns.iter().filter(|column| !used.contains(&column.name)) {
                    let shared = (width..names.len())
                        .find(|&place| columns[place].is_none() && names[place].eq_ignore_ascii_case(&extra.name));
                    if let Some(place) = shared {
                        columns[place] = Some(extra.clone());
                        continue;
                    }
                    let kept = if taken.contains(&extra.name.to_lowercase()) {
                        format!("{}_{}", theirs.label, extra.name)
                    } else {
                        extra.name.clone()
                    };
                    names.push(free_name(&kept, &mut taken));
                    columns.push(Some(extra.clone()));
                }
            }
            parts.push(Part { table: other.table, from: other.open.from, columns });
        }
        Ok(Aligned { names, taken, parts })
    }

    pub(super) fn union(&mut self, made: &mut Made, union: &Union) -> Result<()> {
        let Aligned { names, mut taken, parts } = self.aligned(made, union)?;
        let mut columns = Vec::new();
        let mut selects: Vec<Vec<String>> = vec![Vec::new(); parts.len()];
        for (place, name) in names.iter().enumerate() {
            let at = |part: &Part| part.columns.get(place).cloned().flatten();
            let some: Vec<Typed> = parts
                .iter()
                .filter_map(|part| at(part).map(|column| Typed { sql: identifier(&column.name), column }))
                .collect();
            let (values, data_type) = of_one_type(&some);
            let mut values = values.into_iter();
            for (part, select) in parts.iter().zip(&mut selects) {
                let sql = if at(part).is_some() { values.next() } else { None };
                let sql = sql.unwrap_or_else(|| missing(&data_type));
                let quoted = identifier(name);
                select.push(if sql == quoted { sql } else { format!("{sql} AS {quoted}") });
            }
            let writing = some.first().map(|typed| typed.column.writing.clone()).unwrap_or_default();
            let same = some.iter().all(|typed| typed.column.writing == writing);
            let column = InputColumn::computed(name, data_type);
            columns.push(if same { InputColumn { writing, ..column } } else { column });
        }
        if let Some(source) = &union.source_column {
            let name = free_name(&named(source)?, &mut taken);
            for (part, select) in parts.iter().zip(&mut selects) {
                select.push(format!("{} AS {}", literal(&part.table.name), identifier(&name)));
            }
            columns.push(InputColumn::computed(&name, TEXT));
        }
        let whole: Vec<String> = parts
            .iter()
            .zip(selects)
            .map(|(part, columns)| Block { columns, ..Block::of(part.from.clone()) }.sql())
            .collect();
        made.open = Block { whole: Some(whole.join("\nUNION ALL\n")), does: "united", ..Block::default() };
        made.table.columns = columns;
        made.hidden.clear();
        made.order.clear();
        Ok(())
    }
}

/// A column of the left table; a key comes from the side that has it, in a type that both have.
fn either_key(column: &mut InputColumn, pairs: &[KeyPair]) -> String {
    let name = identifier(&column.name);
    let Some(pair) = pairs.iter().find(|pair| pair.left.name == column.name) else {
        return format!("l.{name}");
    };
    let typed = |side: &str, column: &InputColumn| Typed {
        sql: format!("{side}.{}", identifier(&column.name)),
        column: column.clone(),
    };
    let (values, data_type) = of_one_type(&[typed("l", &pair.left), typed("r", &pair.right)]);
    *column = InputColumn::computed(&column.name, data_type);
    if pair.left.writing == pair.right.writing {
        column.writing = pair.left.writing.clone();
    }
    format!("coalesce({}) AS {name}", values.join(", "))
}
