//! Steps of a plan, each added to the query so far.

use super::Compiler;
use super::block::Block;
use super::condition::condition;
use super::measure::measured;
use super::value::{TEXT, Typed, condition_looks_around, looks_around, of_one_type, order_by, ordered, value, window};
use crate::inputs::{InputColumn, InputTable};
use crate::quote::{identifier, literal};
use crate::sql::{free_name, join::KeyPair};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{
    Comparison, Condition, Direction, Expression, Grouping, Join, JoinKind, Kept, Key, Measure, Order, Pivot, Relation,
    Step, Top, Union, Unpivot, Value,
};

/// Most columns that a pivot makes.
const MOST_PIVOTED: usize = 200;

/// A table that the query has made so far.
#[derive(Debug, Clone)]
pub(super) struct Made {
    /// Its columns and what messages call it.
    pub table: InputTable,
    /// Columns beside those, to order by.
    pub hidden: Vec<InputColumn>,
    /// What its rows are to be ordered by: names of columns, hidden ones included.
    pub order: Vec<(String, Direction)>,
    /// The SELECT that is being put together.
    pub open: Block,
}

impl Made {
    pub fn of(table: InputTable) -> Self {
        let open = Block::of(table.sql.clone());
        Self { table, hidden: Vec::new(), order: Vec::new(), open }
    }

    fn all(&self) -> impl Iterator<Item = &InputColumn> {
        self.table.columns.iter().chain(&self.hidden)
    }

    fn taken(&self) -> Vec<String> {
        self.all().map(|column| column.name.to_lowercase()).collect()
    }

    fn quoted(&self) -> Vec<String> {
        self.all().map(|column| identifier(&column.name)).collect()
    }

    fn order_sql(&self) -> Vec<String> {
        self.order.iter().map(|(name, direction)| ordered(&identifier(name), *direction)).collect()
    }
}

impl Compiler<'_> {
    /// The query of `made`'s visible columns in their order, all but its WITH.
    pub(super) fn last(&mut self, made: &mut Made) -> String {
        self.order_open(made);
        if !made.hidden.is_empty() {
            if !made.open.columns.is_empty() || made.open.whole.is_some() {
                self.close(made);
                made.open.order = made.order_sql();
            }
            made.open.columns = made.table.columns.iter().map(|column| identifier(&column.name)).collect();
        }
        made.open.sql()
    }

    /// Applies the order of `made` to what is open.
    fn order_open(&mut self, made: &mut Made) {
        if made.order.is_empty() || !made.open.order.is_empty() {
            return;
        }
        if !made.open.takes_order() {
            self.close(made);
        }
        made.open.order = made.order_sql();
    }

    /// Makes what is open a part of the query with a name, unless it only names a table.
    pub(super) fn close(&mut self, made: &mut Made) {
        if made.open.is_plain() {
            return;
        }
        let does = if made.open.does.is_empty() { "selected" } else { made.open.does };
        let name = identifier(&free_name(does, &mut self.names));
        self.parts.push((name.clone(), made.open.sql()));
        made.open = Block::of(name);
    }

    /// Makes sure that conditions and columns can be added.
    fn reopen(&mut self, made: &mut Made, does: &'static str) {
        if !made.open.takes_condition() {
            self.close(made);
        }
        made.open.does = does;
    }

    /// Adds computed columns.
    fn add(&mut self, made: &mut Made, does: &'static str, columns: &[(String, String)]) {
        self.reopen(made, does);
        made.open.columns = std::iter::once("*".to_string())
            .chain(columns.iter().map(|(sql, name)| format!("{sql} AS {}", identifier(name))))
            .collect();
    }

    /// Adds a hidden column; its name.
    fn hide(&mut self, made: &mut Made, does: &'static str, typed: Typed) -> String {
        let name = free_name(does, &mut made.taken());
        self.add(made, does, &[(typed.sql, name.clone())]);
        made.hidden.push(InputColumn { name: name.clone(), ..typed.column });
        name
    }

    /// Keeps `columns`, pairs of SQL and column, in place of the visible ones. Columns to order by that go stay hidden.
    fn project(&mut self, made: &mut Made, does: &'static str, columns: Vec<(String, InputColumn)>) -> Result<()> {
        self.reopen(made, does);
        let mut taken = Vec::new();
        for (_, column) in &columns {
            let lower = column.name.to_lowercase();
            if taken.contains(&lower) {
                return Err(Error::Usage(format!("two columns would be called `{}`", column.name)));
            }
            taken.push(lower);
        }
        let mut hidden = Vec::new();
        for at in 0..made.order.len() {
            let (name, _) = &made.order[at];
            let own = identifier(name);
            if let Some((_, renamed)) = columns.iter().find(|(sql, _)| *sql == own) {
                made.order[at].0 = renamed.name.clone();
                continue;
            }
            let Some(column) = made.all().find(|column| column.name == *name).cloned() else { continue };
            let kept = free_name(&column.name, &mut taken);
            hidden.push((own, InputColumn { name: kept.clone(), ..column }));
            made.order[at].0 = kept;
        }
        let select = |(sql, column): &(String, InputColumn)| {
            let name = identifier(&column.name);
            if *sql == name { name } else { format!("{sql} AS {name}") }
        };
        made.open.columns = columns.iter().chain(&hidden).map(select).collect();
        made.table.columns = columns.into_iter().map(|(_, column)| column).collect();
        made.hidden = hidden.into_iter().map(|(_, column)| column).collect();
        Ok(())
    }

    /// What a relation makes.
    ///
    /// # Errors
    /// As [`super::Compiler::compile`].
    pub(super) fn relation(&mut self, relation: &Relation) -> Result<Made> {
        let mut made = Made::of(self.input(&relation.source)?);
        for step in &relation.steps {
            self.step(&mut made, step)?;
        }
        Ok(made)
    }

    pub(super) fn step(&mut self, made: &mut Made, step: &Step) -> Result<()> {
        match step {
            Step::Filter(condition) => self.filter(made, condition),
            Step::Select(kept) => {
                let columns = renamed(&made.table, kept)?;
                self.project(made, "selected", columns)
            }
            Step::Drop(names) => {
                let dropped =
                    names.iter().map(|name| Ok(made.table.column(name)?.name.clone())).collect::<Result<Vec<_>>>()?;
                let kept = made.table.columns.iter().filter(|column| !dropped.contains(&column.name)).cloned();
                let kept: Vec<_> = kept.map(|column| (identifier(&column.name), column)).collect();
                if kept.is_empty() {
                    return Err(Error::Usage("no column would be left".into()));
                }
                self.project(made, "selected", kept)
            }
            Step::Rename(pairs) => {
                let mut columns: Vec<_> =
                    made.table.columns.iter().map(|column| (identifier(&column.name), column.clone())).collect();
                for (old, new) in pairs {
                    let old = made.table.column(old)?.name.clone();
                    let place = made.table.columns.iter().position(|column| column.name == old);
                    if let Some((_, column)) = place.and_then(|place| columns.get_mut(place)) {
                        column.name = named(new)?;
                    }
                }
                self.project(made, "renamed", columns)
            }
            Step::Derive { name, value: of } => self.derive(made, name, of),
            Step::Group(grouping) => self.group(made, grouping),
            Step::Distinct(names) => self.distinct(made, names),
            Step::Sort(by) => self.sort(made, by),
            Step::Limit { rows, skip } => {
                if !made.open.takes_order() || !made.open.order.is_empty() {
                    self.close(made);
                }
                made.open.order = made.order_sql();
                made.open.limit = Some((*rows, *skip));
                made.open.does = "limited";
                Ok(())
            }
            Step::Top(top) => self.top(made, top),
            Step::Join(join) => self.join(made, join),
            Step::Union(union) => self.union(made, union),
            Step::Unpivot(unpivot) => self.unpivot(made, unpivot),
            Step::Pivot(pivot) => self.pivot(made, pivot),
        }
    }

    fn filter(&mut self, made: &mut Made, wanted: &Condition) -> Result<()> {
        let parts = wanted.parts().into_iter().map(|part| condition(&made.table, part)).collect::<Result<Vec<_>>>()?;
        if condition_looks_around(wanted) {
            let kept = format!("({})", parts.join(" AND "));
            let column = InputColumn::computed("kept", arrow::datatypes::DataType::Boolean);
            let before = made.clone();
            let name = self.hide(made, "kept", Typed { sql: kept, column });
            self.close(made);
            made.open.columns = before.quoted();
            made.open.conditions = vec![identifier(&name)];
            made.hidden = before.hidden;
        } else {
            self.reopen(made, "filtered");
            made.open.conditions.extend(parts);
        }
        made.open.does = "filtered";
        Ok(())
    }

    fn derive(&mut self, made: &mut Made, name: &str, of: &Expression) -> Result<()> {
        let typed = value(&made.table, of)?;
        let name = named(name)?;
        let place = made.table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(&name));
        let column = InputColumn { name, ..typed.column };
        let Some(place) = place else {
            let hidden = made.hidden.iter().any(|other| other.name.eq_ignore_ascii_case(&column.name));
            if !hidden {
                self.add(made, "derived", &[(typed.sql, column.name.clone())]);
                made.table.columns.push(column);
                return Ok(());
            }
            let mut columns: Vec<_> = own(&made.table);
            columns.push((typed.sql, column));
            return self.project(made, "derived", columns);
        };
        let mut columns = own(&made.table);
        columns[place] = (typed.sql, column);
        self.project(made, "derived", columns)
    }

    /// Columns for what SQL cannot compute within a grouping, in place of it.
    fn grouping_without_windows(&mut self, made: &mut Made, grouping: &Grouping) -> Result<Grouping> {
        let mut grouping = grouping.clone();
        let around = |expression: &Expression| looks_around(expression);
        for key in &mut grouping.keys {
            if around(&key.of) {
                let name = key.column_name();
                let typed = value(&made.table, &key.of)?;
                self.visible(made, key, typed);
                key.name.get_or_insert(name);
            }
        }
        for measure in &mut grouping.measures {
            if let Some(of) = measure.of.as_ref().filter(|of| around(of)).cloned() {
                let name = measure.column_name();
                let typed = value(&made.table, &of)?;
                let mut key = Key { of, name: None };
                self.visible(made, &mut key, typed);
                measure.of = Some(key.of);
                measure.name.get_or_insert(name);
            }
            if let Some(rows) = measure.condition.as_ref().filter(|rows| condition_looks_around(rows)) {
                let sql = condition(&made.table, rows)?;
                let column = InputColumn::computed("counts", arrow::datatypes::DataType::Boolean);
                let mut key = Key { of: Expression::column("counts"), name: None };
                self.visible(made, &mut key, Typed { sql, column });
                measure.condition = Some(Condition::Holds(key.of));
            }
        }
        Ok(grouping)
    }

    /// Makes a value a column of the table, and `key` that column.
    fn visible(&mut self, made: &mut Made, key: &mut Key, typed: Typed) {
        let name = free_name("value", &mut made.taken());
        self.add(made, "derived", &[(typed.sql, name.clone())]);
        made.table.columns.push(InputColumn { name: name.clone(), ..typed.column });
        key.of = Expression::column(name);
    }

    fn group(&mut self, made: &mut Made, grouping: &Grouping) -> Result<()> {
        if grouping.keys.is_empty() && grouping.measures.is_empty() {
            return Err(Error::Usage("a grouping needs a key or something to compute".into()));
        }
        let grouping = self.grouping_without_windows(made, grouping)?;
        let mut taken = Vec::new();
        let mut keys = Vec::new();
        let mut columns = Vec::new();
        for key in &grouping.keys {
            let typed = value(&made.table, &key.of)?;
            let name = free_name(&named(&key.column_name())?, &mut taken);
            keys.push((name.clone(), typed.sql.clone()));
            columns.push((typed.sql, InputColumn { name, ..typed.column }));
        }
        for measure in &grouping.measures {
            let (sql, column) = measured(&made.table, measure, &keys)?;
            let name = free_name(&named(&column.name)?, &mut taken);
            columns.push((sql, InputColumn { name, ..column }));
        }
        made.order.clear();
        self.project(made, "grouped", columns)?;
        made.open.grouped = Some(keys.len());
        made.order = keys.into_iter().map(|(name, _)| (name, Direction::Ascending)).collect();
        Ok(())
    }

    fn distinct(&mut self, made: &mut Made, names: &[String]) -> Result<()> {
        let all = names.is_empty();
        let names: Vec<String> =
            made.table.columns_named(names)?.into_iter().map(|column| identifier(&column.name)).collect();
        let orders = made.order.iter().all(|(name, _)| made.table.columns.iter().any(|column| column.name == *name));
        if all && orders {
            let columns = own(&made.table);
            self.project(made, "distinct", columns)?;
            made.open.columns.clear();
            made.open.distinct = "DISTINCT".to_string();
            return Ok(());
        }
        if made.order.is_empty() {
            self.reopen(made, "distinct");
            made.open.distinct = format!("DISTINCT ON ({})", names.join(", "));
            return Ok(());
        }
        let order = format!("ORDER BY {}", made.order_sql().join(", "));
        self.first_rows(made, &format!("PARTITION BY {} {order}", names.join(", ")), 1, "distinct");
        Ok(())
    }

    /// Keeps the first `rows` rows of each group of a window.
    fn first_rows(&mut self, made: &mut Made, window: &str, rows: u64, does: &'static str) {
        let before = made.clone();
        let place = Typed {
            sql: format!("row_number() OVER ({window})"),
            column: InputColumn::computed("place", super::value::WHOLE),
        };
        let name = self.hide(made, "place", place);
        made.open.does = "numbered";
        self.close(made);
        made.open.columns = before.quoted();
        made.open.conditions = vec![format!("{} <= {rows}", identifier(&name))];
        made.open.does = does;
        made.hidden = before.hidden;
    }

    fn sort(&mut self, made: &mut Made, by: &[Order]) -> Result<()> {
        let order = self.order_names(made, by)?;
        let earlier: Vec<_> =
            made.order.iter().filter(|(name, _)| !order.iter().any(|(new, _)| new == name)).cloned().collect();
        made.order = order.into_iter().chain(earlier).collect();
        Ok(())
    }

    /// Columns to order by, hidden ones for what is none.
    fn order_names(&mut self, made: &mut Made, by: &[Order]) -> Result<Vec<(String, Direction)>> {
        if by.is_empty() {
            return Err(Error::Usage("an order needs something to order by".into()));
        }
        let mut names = Vec::new();
        for order in by {
            let typed = value(&made.table, &order.by)?;
            let name = match &order.by {
                Expression::Column(_) => typed.column.name,
                _ => self.hide(made, "order", typed),
            };
            names.push((name, order.direction));
        }
        Ok(names)
    }

    fn top(&mut self, made: &mut Made, top: &Top) -> Result<()> {
        if top.within.is_empty() {
            self.sort(made, &top.by)?;
            return self.step(made, &Step::Limit { rows: top.rows, skip: 0 });
        }
        let mut order = order_by(&made.table, &top.by)?;
        for by in made.order_sql() {
            order.push_str(&format!(", {by}"));
        }
        let window = window(&made.table, &top.within, &order)?;
        let ordering = self.order_names(made, &top.by)?;
        self.first_rows(made, &window, top.rows, "top");
        // Hidden columns of the order are kept by the projection of `first_rows`, which lists what was there before it.
        let within = top.within.iter().map(|name| Ok((made.table.column(name)?.name.clone(), Direction::Ascending)));
        made.order = within.collect::<Result<Vec<_>>>()?.into_iter().chain(ordering).collect();
        Ok(())
    }

    /// What a join compares, as SQL of the left and the right side.
    pub(super) fn key_pairs(left: &InputTable, right: &InputTable, join: &Join) -> Result<Vec<KeyPair>> {
        if join.on.is_empty() {
            return Err(Error::Usage("a join needs at least one pair of columns that must be equal".into()));
        }
        join.on
            .iter()
            .map(|key| Ok(KeyPair::new(left.column(&key.left)?, right.column(&key.right)?, !key.exact)))
            .collect()
    }

    fn join(&mut self, made: &mut Made, join: &Join) -> Result<()> {
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
        let wanted = if join.columns.is_empty() {
            let is_key = |column: &InputColumn| pairs.iter().any(|pair| pair.right.name == column.name);
            own(&other.table).into_iter().filter(|(_, column)| !is_key(column)).collect()
        } else {
            renamed(&other.table, &join.columns)?
        };
        let mut added = Vec::new();
        for (sql, mut column) in wanted {
            if taken.contains(&column.name.to_lowercase()) {
                column.name = format!("{}_{}", other.table.label, column.name);
            }
            column.name = free_name(&column.name, &mut taken);
            added.push((format!("r.{sql} AS {}", identifier(&column.name)), column));
        }
        let kind = match join.kind {
            JoinKind::Inner => "INNER JOIN",
            JoinKind::Full => "FULL JOIN",
            _ => "LEFT JOIN",
        };
        let mut columns = vec!["l.*".to_string()];
        if join.kind == JoinKind::Full {
            columns = made.all().map(|column| Self::either_key(column, &pairs)).collect();
            made.order.clear();
        }
        columns.extend(added.iter().map(|(sql, _)| sql.clone()));
        made.open = Block::of(format!("{left} AS l\n{kind} {right} AS r\n  ON {}", on("r").join("\n AND ")));
        made.open.columns = columns;
        made.open.does = "joined";
        made.table.columns.extend(added.into_iter().map(|(_, column)| column));
        Ok(())
    }

    /// A column of the left table; a key from the side that has it.
    fn either_key(column: &InputColumn, pairs: &[KeyPair]) -> String {
        let name = identifier(&column.name);
        let Some(pair) = pairs.iter().find(|pair| pair.left.name == column.name) else {
            return format!("l.{name}");
        };
        let typed = |side: &str, column: &InputColumn| Typed {
            sql: format!("{side}.{}", identifier(&column.name)),
            column: column.clone(),
        };
        let (values, _) = of_one_type(&[typed("l", &pair.left), typed("r", &pair.right)]);
        format!("coalesce({}) AS {name}", values.join(", "))
    }

    fn union(&mut self, made: &mut Made, union: &Union) -> Result<()> {
        if union.others.is_empty() {
            return Err(Error::Usage("a union needs at least one table to append".into()));
        }
        self.close(made);
        let width = made.table.columns.len();
        let mut taken: Vec<String> = made.table.columns.iter().map(|column| column.name.to_lowercase()).collect();
        let mut names: Vec<String> = made.table.columns.iter().map(|column| column.name.clone()).collect();
        // The column of each table at each place of the result.
        let mut parts: Vec<(InputTable, String, Vec<Option<InputColumn>>)> =
            vec![(made.table.clone(), made.open.from.clone(), made.table.columns.iter().cloned().map(Some).collect())];
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
                    return Err(Error::Usage(format!(
                        "no column of `{name}` has the name of one here; say which belong together"
                    )));
                }
            }
            for (here, there) in &part.columns {
                let here = made.table.column(here)?;
                let place = made.table.columns.iter().position(|column| column.name == here.name).unwrap_or(0);
                if columns[place].is_some() {
                    return Err(Error::Usage(format!(
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
                    let wanted = if taken.contains(&extra.name.to_lowercase()) {
                        format!("{}_{}", theirs.label, extra.name)
                    } else {
                        extra.name.clone()
                    };
                    names.push(free_name(&wanted, &mut taken));
                    columns.push(Some(extra.clone()));
                }
            }
            parts.push((other.table.clone(), other.open.from.clone(), columns));
        }
        let mut columns = Vec::new();
        let mut selects: Vec<Vec<String>> = vec![Vec::new(); parts.len()];
        for (place, name) in names.iter().enumerate() {
            let at = |part: &(InputTable, String, Vec<Option<InputColumn>>)| part.2.get(place).cloned().flatten();
            let some: Vec<Typed> = parts
                .iter()
                .filter_map(|part| at(part).map(|column| Typed { sql: identifier(&column.name), column }))
                .collect();
            let (values, data_type) = of_one_type(&some);
            let mut values = values.into_iter();
            for (part, select) in parts.iter().zip(&mut selects) {
                let sql = if at(part).is_some() { values.next() } else { None };
                let sql = sql.unwrap_or_else(|| "NULL".to_string());
                let quoted = identifier(name);
                select.push(if sql == quoted { sql } else { format!("{sql} AS {quoted}") });
            }
            let writing = some.first().map(|typed| typed.column.writing.clone()).unwrap_or_default();
            let same = some.iter().all(|typed| typed.column.writing == writing);
            let column = InputColumn::computed(name, data_type);
            columns.push(InputColumn { writing: if same { writing } else { String::new() }, ..column });
        }
        if let Some(source) = &union.source_column {
            let name = free_name(&named(source)?, &mut taken);
            for (part, select) in parts.iter().zip(&mut selects) {
                select.push(format!("{} AS {}", literal(&part.0.name), identifier(&name)));
            }
            columns.push(InputColumn::computed(&name, TEXT));
        }
        let whole: Vec<String> = parts
            .iter()
            .zip(selects)
            .map(|((_, from, _), columns)| Block { columns, ..Block::of(from.clone()) }.sql())
            .collect();
        made.open = Block { whole: Some(whole.join("\nUNION ALL\n")), does: "united", ..Block::default() };
        made.table.columns = columns;
        made.hidden.clear();
        made.order.clear();
        Ok(())
    }

    fn unpivot(&mut self, made: &mut Made, unpivot: &Unpivot) -> Result<()> {
        if unpivot.columns.is_empty() {
            return Err(Error::Usage("no column is named to become rows".into()));
        }
        let turned: Vec<InputColumn> = made.table.columns_named(&unpivot.columns)?.into_iter().cloned().collect();
        let is_turned = |column: &InputColumn| turned.iter().any(|other| other.name == column.name);
        let mut columns: Vec<_> = own(&made.table).into_iter().filter(|(_, column)| !is_turned(column)).collect();
        let typed: Vec<Typed> =
            turned.iter().map(|column| Typed { sql: identifier(&column.name), column: column.clone() }).collect();
        let (values, data_type) = of_one_type(&typed);
        let names: Vec<String> = turned.iter().map(|column| literal(&column.name)).collect();
        columns.push((format!("unnest([{}])", names.join(", ")), InputColumn::computed(&named(&unpivot.name)?, TEXT)));
        let value = InputColumn::computed(&named(&unpivot.value)?, data_type);
        let value = InputColumn { writing: turned[0].writing.clone(), ..value };
        columns.push((format!("unnest([{}])", values.join(", ")), value));
        made.order.retain(|(name, _)| !turned.iter().any(|column| column.name == *name));
        self.project(made, "unpivoted", columns)?;
        self.close(made);
        if !unpivot.keep_missing {
            made.open.conditions.push(format!("{} IS NOT NULL", identifier(&unpivot.value)));
            made.open.does = "unpivoted";
        }
        Ok(())
    }

    fn pivot(&mut self, made: &mut Made, pivot: &Pivot) -> Result<()> {
        let column = made.table.column(&pivot.column)?.clone();
        let of = Expression::column(column.name.clone());
        let values = if pivot.values.is_empty() { self.values_of(made, &column)? } else { pivot.values.clone() };
        if values.is_empty() {
            return Err(Error::Usage(format!("`{}` has no values to make columns of", column.name)));
        }
        let measured: Vec<String> = pivot
            .measure
            .of
            .as_ref()
            .and_then(Expression::as_column)
            .map(|name| made.table.column(name).map(|column| column.name.clone()))
            .transpose()?
            .into_iter()
            .chain([column.name.clone()])
            .collect();
        let rows: Vec<String> = if pivot.rows.is_empty() {
            let others = made.table.columns.iter().filter(|other| !measured.contains(&other.name));
            others.map(|other| other.name.clone()).collect()
        } else {
            pivot.rows.clone()
        };
        let keys = rows.into_iter().map(|name| Key { of: Expression::Column(name), name: None }).collect();
        let cell = |value: &Value| {
            let is = Condition::Compare {
                left: of.clone(),
                comparison: Comparison::Equal,
                right: Expression::Value(value.clone()),
            };
            let condition = match &pivot.measure.condition {
                Some(condition) => is.and(condition.clone()),
                None => is,
            };
            Measure { condition: Some(condition), name: Some(value.to_string()), ..pivot.measure.clone() }
        };
        let measures = values.iter().map(cell).collect();
        self.group(made, &Grouping { keys, measures })?;
        made.open.does = "pivoted";
        Ok(())
    }

    /// The values of a column of the query so far, in their order.
    fn values_of(&mut self, made: &Made, column: &InputColumn) -> Result<Vec<Value>> {
        let mut parts = self.clone_parts();
        let mut copy = Made { order: Vec::new(), ..made.clone() };
        parts.close(&mut copy);
        let name = identifier(&column.name);
        let select = format!("SELECT DISTINCT {name}\nFROM {}\nWHERE {name} IS NOT NULL\nORDER BY 1", copy.open.from);
        let sql = parts.with(&select);
        let most = MOST_PIVOTED;
        let texts = super::first_column(self.context, &sql, most + 1)?;
        if texts.len() > most {
            return Err(Error::Usage(format!(
                "`{}` has more than {most} different values, too many to make a column of each; name the values",
                column.name
            )));
        }
        Ok(texts.into_iter().map(Value::Text).collect())
    }
}

/// The columns of a table as they are.
fn own(table: &InputTable) -> Vec<(String, InputColumn)> {
    table.columns.iter().map(|column| (identifier(&column.name), column.clone())).collect()
}

/// Columns that are kept, some under another name.
fn renamed(table: &InputTable, kept: &[Kept]) -> Result<Vec<(String, InputColumn)>> {
    if kept.is_empty() {
        return Err(Error::Usage("no column would be left".into()));
    }
    kept.iter()
        .map(|kept| {
            let column = table.column(&kept.column)?.clone();
            let name = kept.name.as_deref().map_or(Ok(column.name.clone()), named)?;
            Ok((identifier(&column.name), InputColumn { name, ..column }))
        })
        .collect()
}

/// A name for a column.
fn named(name: &str) -> Result<String> {
    if name.trim().is_empty() {
        return Err(Error::Usage("a column needs a name".into()));
    }
    Ok(name.to_string())
}
