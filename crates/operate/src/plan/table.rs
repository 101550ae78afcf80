//! Steps of a plan, each added to the query so far.

use super::block::Block;
use super::condition::condition;
use super::measure::measured;
use super::value::{Typed, condition_looks_around, looks_around, order_by, ordered, value, window};
use super::{Compiler, free_name};
use crate::inputs::{InputColumn, InputTable};
use crate::quote::identifier;
use crate::statement::without_casts;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Condition, Direction, Expression, Grouping, Kept, Key, Order, Relation, Step, Top};

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

    pub(super) fn all(&self) -> impl Iterator<Item = &InputColumn> {
        self.table.columns.iter().chain(&self.hidden)
    }

    pub(super) fn taken(&self) -> Vec<String> {
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

    /// The query of all columns of `made`, with those to order by, all but its WITH.
    pub(super) fn whole(&mut self, made: &mut Made) -> String {
        self.order_open(made);
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
    pub(super) fn reopen(&mut self, made: &mut Made, does: &'static str) {
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
    pub(super) fn project(
        &mut self,
        made: &mut Made,
        does: &'static str,
        columns: Vec<(String, InputColumn)>,
    ) -> Result<()> {
        self.reopen(made, does);
        let mut taken = Vec::new();
        for (_, column) in &columns {
            let lower = column.name.to_lowercase();
            if taken.contains(&lower) {
                return Err(Error::usage(format!("two columns would be called `{}`", column.name)));
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
        let kept = self.kept.iter().filter(|kept| kept.begins(relation));
        let (mut made, done) = match kept.max_by_key(|kept| kept.relation.steps.len()) {
            Some(kept) => (kept.made.clone(), kept.relation.steps.len()),
            None => (Made::of(self.input(&relation.source)?), 0),
        };
        relation.steps[done..].iter().try_for_each(|step| self.step(&mut made, step))?;
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
                    return Err(Error::usage("no column would be left"));
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

    fn filter(&mut self, made: &mut Made, filter: &Condition) -> Result<()> {
        let parts = filter.parts().into_iter().map(|part| condition(&made.table, part)).collect::<Result<Vec<_>>>()?;
        if condition_looks_around(filter) {
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

    /// The grouping with columns in place of the keys and values that are to be computed `before` it, and of conditions that
    /// look at other rows, which SQL does not compute within a grouping.
    fn grouping_of_columns(
        &mut self,
        made: &mut Made,
        grouping: &Grouping,
        before: fn(&Expression) -> bool,
    ) -> Result<Grouping> {
        let mut grouping = grouping.clone();
        for key in &mut grouping.keys {
            if before(&key.of) {
                let name = key.column_name();
                let typed = value(&made.table, &key.of)?;
                self.visible(made, key, typed);
                key.name.get_or_insert(name);
            }
        }
        for measure in &mut grouping.measures {
            if let Some(of) = measure.of.as_ref().filter(|of| before(of)).cloned() {
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

    pub(super) fn group(&mut self, made: &mut Made, grouping: &Grouping) -> Result<()> {
        if grouping.keys.is_empty() && grouping.measures.is_empty() {
            return Err(Error::usage("a grouping needs a key or something to compute"));
        }
        let mut grouping = self.grouping_of_columns(made, grouping, looks_around)?;
        if differ_by_casts(&made.table, &grouping)? {
            grouping = self.grouping_of_columns(made, &grouping, |of| of.as_column().is_none())?;
        }
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
        // What a limit has left does not depend on a later order.
        if made.open.limit.is_some() {
            self.close(made);
        }
        let order = self.order_names(made, by)?;
        let earlier: Vec<_> =
            made.order.iter().filter(|(name, _)| !order.iter().any(|(new, _)| new == name)).cloned().collect();
        made.order = order.into_iter().chain(earlier).collect();
        Ok(())
    }

    /// Columns to order by, hidden ones for what is none.
    fn order_names(&mut self, made: &mut Made, by: &[Order]) -> Result<Vec<(String, Direction)>> {
        if by.is_empty() {
            return Err(Error::usage("an order needs something to order by"));
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
}

/// Whether two keys or values of a grouping differ by casts alone: DataFusion would give them one name.
fn differ_by_casts(table: &InputTable, grouping: &Grouping) -> Result<bool> {
    let keys = grouping.keys.iter().map(|key| &key.of);
    let values = grouping.measures.iter().filter_map(|measure| measure.of.as_ref());
    let named = keys.chain(values).map(|of| value(table, of).map(|typed| (without_casts(&typed.sql), typed.sql)));
    let mut named = named.collect::<Result<Vec<_>>>()?;
    named.sort_unstable();
    named.dedup();
    Ok(named.windows(2).any(|pair| pair[0].0 == pair[1].0))
}

/// The columns of a table as they are.
pub(super) fn own(table: &InputTable) -> Vec<(String, InputColumn)> {
    table.columns.iter().map(|column| (identifier(&column.name), column.clone())).collect()
}

/// Columns that are kept, some under another name.
pub(super) fn renamed(table: &InputTable, kept: &[Kept]) -> Result<Vec<(String, InputColumn)>> {
    if kept.is_empty() {
        return Err(Error::usage("no column would be left"));
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
pub(super) fn named(name: &str) -> Result<String> {
    if name.trim().is_empty() {
        return Err(Error::usage("a column needs a name"));
    }
    Ok(name.to_string())
}
