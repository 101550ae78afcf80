//! Operations as documents before version 3 kept them, made into plans.

use serde::Deserialize;
use serde_json::Value as Json;

use lakeward_core::plan::{
    Comparison, Condition, DatePart, Expression, Grouping, Join, JoinKey, JoinKind, Kept, Key, Measure,
    MeasureFunction, Plan, Relation, Step, TextTest, Union, UnionPart, Value,
};
use lakeward_core::request::Input;

/// The plan of an operation whose result has the columns `result`, where these are known; `None` for what is no operation.
pub fn plan(operation: &Json, result: &[String]) -> Option<Plan> {
    let operation: Operation = serde_json::from_value(operation.clone()).ok()?;
    let (source, steps) = operation.steps(result);
    Some(Relation { source, steps }.into())
}

#[derive(Deserialize)]
#[serde(tag = "operation")]
enum Operation {
    Filter {
        input: Input,
        #[serde(default)]
        conditions: Vec<OlderCondition>,
        #[serde(default)]
        columns: Vec<String>,
    },
    Join {
        left: Input,
        right: Input,
        on: Vec<(String, String)>,
        #[serde(default)]
        normalised: bool,
        #[serde(default)]
        matched_only: bool,
        #[serde(default)]
        columns: Vec<String>,
    },
    Union {
        first: Input,
        others: Vec<OlderPart>,
        #[serde(default)]
        keep_extra: bool,
        #[serde(default)]
        source_column: Option<String>,
        #[serde(default)]
        distinct: bool,
    },
    Aggregate {
        input: Input,
        #[serde(default)]
        group_by: Vec<GroupKey>,
        measures: Vec<OlderMeasure>,
    },
}

#[derive(Deserialize)]
struct OlderCondition {
    column: String,
    #[serde(flatten)]
    test: Test,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "test")]
enum Test {
    OneOf { values: Vec<String> },
    NoneOf { values: Vec<String> },
    Contains { text: String },
    Between { from: Option<String>, to: Option<String> },
    Present,
}

#[derive(Deserialize)]
struct OlderPart {
    input: Input,
    alignment: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct GroupKey {
    column: String,
    #[serde(default)]
    part: Option<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Year,
    Month,
    Day,
}

#[derive(Deserialize)]
struct OlderMeasure {
    #[serde(flatten)]
    function: MeasureFunction,
    #[serde(default)]
    column: Option<String>,
}

impl Operation {
    /// What it starts from, and its steps.
    fn steps(self, result: &[String]) -> (Input, Vec<Step>) {
        let kept = |columns: Vec<String>| -> Vec<Kept> {
            columns.into_iter().map(|column| Kept { column, name: None }).collect()
        };
        match self {
            Operation::Filter { input, conditions, columns } => {
                let filter = conditions.into_iter().map(OlderCondition::condition).reduce(Condition::and);
                let select = (!columns.is_empty()).then(|| Step::Select(kept(columns)));
                (input, filter.map(Step::Filter).into_iter().chain(select).collect())
            }
            Operation::Join { left, right, on, normalised, matched_only, columns } => {
                let key = |(left, right)| JoinKey { left, right, exact: !normalised };
                let join = Join {
                    with: Relation::of(right),
                    kind: if matched_only { JoinKind::Inner } else { JoinKind::Left },
                    on: on.into_iter().map(key).collect(),
                    columns: kept(columns),
                };
                (left, vec![Step::Join(join)])
            }
            Operation::Union { first, others, keep_extra, source_column, distinct } => {
                let part = |part: OlderPart| UnionPart { with: Relation::of(part.input), columns: part.alignment };
                let others = others.into_iter().map(part).collect();
                // Rows were compared without their source, which comes last.
                let compared = match source_column {
                    Some(_) => result.split_last().map_or(Vec::new(), |(_, others)| others.to_vec()),
                    None => Vec::new(),
                };
                let distinct = distinct.then_some(Step::Distinct(compared));
                let union = Step::Union(Union { others, keep_extra, source_column });
                (first, std::iter::once(union).chain(distinct).collect())
            }
            Operation::Aggregate { input, group_by, measures } => {
                let keys = group_by.into_iter().map(GroupKey::key).collect();
                let measures = measures.into_iter().map(OlderMeasure::measure).collect();
                (input, vec![Step::Group(Grouping { keys, measures })])
            }
        }
    }
}

impl OlderCondition {
    fn condition(self) -> Condition {
        let value = Expression::Column(self.column);
        let compare = |comparison, bound: String| Condition::Compare {
            left: value.clone(),
            comparison,
            right: Expression::Value(Value::Text(bound)),
        };
        let one_of = |values: Vec<String>| match <[String; 1]>::try_from(values) {
            Ok([one]) => compare(Comparison::Equal, one),
            Err(several) => {
                Condition::OneOf { value: value.clone(), values: several.into_iter().map(Value::Text).collect() }
            }
        };
        match self.test {
            Test::OneOf { values } => one_of(values),
            Test::NoneOf { values } => Condition::Not(Box::new(one_of(values))),
            Test::Contains { text } => Condition::Text { value, test: TextTest::Contains, text, exact: false },
            Test::Between { from: Some(from), to: Some(to) } => {
                Condition::Between { value, from: Value::Text(from), to: Value::Text(to) }
            }
            Test::Between { from: Some(from), to: None } => compare(Comparison::AtLeast, from),
            Test::Between { from: None, to: Some(to) } => compare(Comparison::AtMost, to),
            Test::Between { from: None, to: None } => Condition::All(Vec::new()),
            Test::Present => Condition::Not(Box::new(Condition::Missing(value))),
        }
    }
}

impl GroupKey {
    fn key(self) -> Key {
        let of = Expression::Column(self.column);
        let part = self.part.map(|part| match part {
            Part::Year => DatePart::Year,
            Part::Month => DatePart::YearMonth,
            Part::Day => DatePart::Date,
        });
        match part {
            Some(part) => Key { of: Expression::Part { part, of: Box::new(of) }, name: None },
            None => Key { of, name: None },
        }
    }
}

impl OlderMeasure {
    fn measure(self) -> Measure {
        Measure { function: self.function, of: self.column.map(Expression::Column), condition: None, name: None }
    }
}
