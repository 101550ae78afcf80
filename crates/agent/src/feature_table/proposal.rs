//! The join that adds a column to a feature table, at one row a key.

use super::{Aggregate, Feature, FeatureOptions, FeatureTable, LEAST_COVERAGE, LeftOut};
use lakeward_core::error::Result;
use lakeward_core::plan::{
    Condition, Direction, Expression, Grouping, Join, JoinKey, JoinKind, Kept, Key, Measure, MeasureFunction, Order,
    Relation, Step, TextFunction, Top,
};
use lakeward_core::request::Input;
use lakeward_index::LakeIndex;
use lakeward_lake::join_keys;
use lakeward_lake::key_sample::Measure as Aggregated;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::LogicalType;
use lakeward_search::correlate::{CorrelationAnswer, KeyPair};

/// A feature and the join that adds it, or why there is none.
pub(super) type Proposal = std::result::Result<(Feature, Step), LeftOut>;

pub(super) fn proposal(
    index: &LakeIndex,
    table: &FeatureTable,
    answer: CorrelationAnswer,
    taken: &[String],
    options: &FeatureOptions,
) -> Result<Proposal> {
    let left_out = |reason: String| LeftOut::of(&answer, reason);
    let is_asked = !options.only.is_empty();
    // What is asked for is only refused if a model must not have it.
    if let Some(caution) = answer.cautions.iter().find(|caution| !is_asked || caution.leaks()) {
        return Ok(Err(left_out(caution.reason().into())));
    }
    if !answer.verified && !is_asked {
        return Ok(Err(left_out("its file could not be read".into())));
    }
    if answer.coverage < LEAST_COVERAGE && !is_asked || answer.coverage <= 0.0 {
        return Ok(Err(left_out(format!("only {:.0}% of the rows would get a value", 100.0 * answer.coverage))));
    }
    if is_there(&table.plan.relation, &answer) {
        return Ok(Err(left_out("it is there already".into())));
    }
    let entry = index.table(index.find(&answer.table)?)?;
    let name = free_name((&answer.table, options.aggregate.named(&answer.column)), &answer.on, taken);
    let added = Added { table: &answer.table, column: &answer.column, on: &answer.on, name: &name };
    let (step, aggregate) = one_row_join(&entry.profile.columns, &added, options.aggregate);
    let single = answer.aggregate == "value" && options.aggregate != Aggregate::Count;
    let aggregate = if single { "value".into() } else { aggregate };
    Ok(Ok((Feature { name, aggregate, gain: None, found: answer }, step)))
}

/// A column of another table that is added on keys.
pub(crate) struct Added<'a> {
    /// Its table.
    pub table: &'a str,
    /// Its name there.
    pub column: &'a str,
    /// The keys.
    pub on: &'a [KeyPair],
    /// Its name in the feature table.
    pub name: &'a str,
}

/// The left join that adds a column of a table with these columns at one row a key, and how the rows of a key become its value. Rows are
/// neither repeated nor lost by it, whatever the tables hold.
pub(crate) fn one_row_join(profile: &[ColumnProfile], added: &Added<'_>, aggregate: Aggregate) -> (Step, String) {
    let Added { table, column: added_column, on, name } = *added;
    let column = |name: &str| profile.iter().find(|column| column.name == name);
    let time = profile.iter().find(|column| {
        join_keys::is_time(column) && column.name != added_column && on.iter().all(|pair| pair.column != column.name)
    });
    let by_time = time.filter(|_| aggregate == Aggregate::Last);
    let keys: Vec<Key> = on
        .iter()
        .map(|pair| {
            let of = Expression::column(&pair.column);
            let is_text = column(&pair.column).is_some_and(|column| column.logical == LogicalType::Text);
            // Two ways to write a key are one row, else the join would repeat rows.
            let of = if is_text { Expression::Text { function: TextFunction::Normal, of: Box::new(of) } } else { of };
            Key { of, name: Some(pair.column.clone()) }
        })
        .collect();
    let key_names: Vec<String> = on.iter().map(|pair| pair.column.clone()).collect();
    let value = Expression::column(added_column);
    let measured = |function| Measure { function, of: Some(value.clone()), condition: None, name: Some(name.into()) };
    let with = Relation::of(Input::Table(table.into()));
    let (with, word) = match column(added_column).and_then(Aggregated::of) {
        Some(Aggregated::Label) if aggregate != Aggregate::Count => {
            // The label that most rows have: the first of the counts.
            const COUNT: &str = "rows of the label";
            let counts =
                Measure { function: MeasureFunction::Count, of: None, condition: None, name: Some(COUNT.into()) };
            let mut all = keys;
            all.push(Key { of: value.clone(), name: Some(name.into()) });
            let order = |by: &str, direction| Order { by: Expression::column(by), direction };
            let by = vec![order(COUNT, Direction::Descending), order(name, Direction::Ascending)];
            let present = Condition::Not(Box::new(Condition::Missing(value.clone())));
            let with = with
                .then(Step::Filter(present))
                .then(Step::Group(Grouping { keys: all, measures: vec![counts] }))
                .then(Step::Top(Top { rows: 1, by, within: key_names.clone() }));
            (with, "most frequent".to_string())
        }
        _ => {
            let (function, word) = match (aggregate, by_time) {
                (Aggregate::Last, Some(time)) => {
                    let order = Order { by: Expression::column(&time.name), direction: Direction::Descending };
                    (MeasureFunction::First { by: vec![order] }, format!("last by {}", time.name))
                }
                (Aggregate::Mean | Aggregate::Last, _) => (MeasureFunction::Mean, "mean".into()),
                (Aggregate::Median, _) => (MeasureFunction::Median, "median".into()),
                (Aggregate::Min, _) => (MeasureFunction::Min, "min".into()),
                (Aggregate::Max, _) => (MeasureFunction::Max, "max".into()),
                (Aggregate::Sum, _) => (MeasureFunction::Sum, "sum".into()),
                (Aggregate::Count, _) => (MeasureFunction::Count, "count".into()),
            };
            let is_date = column(added_column).is_some_and(|column| !column.logical.is_numeric());
            // Dates have no mean.
            let (function, word) = if is_date && aggregate != Aggregate::Count {
                (MeasureFunction::Max, "max".to_string())
            } else {
                (function, word)
            };
            (with.then(Step::Group(Grouping { keys, measures: vec![measured(function)] })), word)
        }
    };
    let on =
        on.iter().map(|pair| JoinKey { left: pair.query_column.clone(), right: pair.column.clone(), exact: false });
    let columns = vec![Kept { column: name.into(), name: None }];
    (Step::Join(Join { with, kind: JoinKind::Left, on: on.collect(), columns }), word)
}

/// The name of a feature: its column's, else with its table's, else numbered.
pub(crate) fn free_name((table, column): (&str, &str), on: &[KeyPair], taken: &[String]) -> String {
    let is_free = |name: &String| {
        !taken.iter().any(|other| other.eq_ignore_ascii_case(name))
            && on.iter().all(|pair| !pair.column.eq_ignore_ascii_case(name))
    };
    let stem = table.rsplit('/').next().unwrap_or(table);
    let with_table = format!("{column} ({stem})");
    let numbered = (2..).map(|number| format!("{with_table} {number}"));
    let mut names = [column.to_string(), with_table.clone()].into_iter().chain(numbered);
    names.find(is_free).unwrap_or(with_table)
}

/// Whether this column is of the table that the relation starts from, or a join of it adds it already.
fn is_there(relation: &Relation, answer: &CorrelationAnswer) -> bool {
    let own = relation.source == Input::Table(answer.table.clone());
    own || relation.steps.iter().any(|step| {
        let Step::Join(join) = step else { return false };
        let of_table = join.with.source == Input::Table(answer.table.clone());
        let adds = |step: &Step| {
            let Step::Group(grouping) = step else { return false };
            let values = grouping.measures.iter().filter_map(|measure| measure.of.as_ref());
            let values = values.chain(grouping.keys.iter().map(|key| &key.of));
            values.filter_map(Expression::as_column).any(|column| column == answer.column)
        };
        let kept = join.columns.iter().any(|kept| kept.column == answer.column);
        of_table && (kept || join.with.steps.iter().any(adds))
    })
}
