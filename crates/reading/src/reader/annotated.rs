//! Annotated turns (`labels/turns`): read into spans and walked through as conversations, written as [examples](fn@examples) for training, and
//! [compared](checked) with what the built-in reader reads.

use std::fmt;

use lakeward_core::plan::{DatePart, Plan, Relation};
use lakeward_core::request::{Demand, Input as Source};
use lakeward_core::text::lower_words;

use super::demands::{revised, schema_of_demands};
use super::schema::{Schema, SchemaColumn, StandIn, columns_by_steps, schema_of};
use super::span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
use super::{NotApplied, RequestedTable, assemble};
use lakeward_core::request::{Act, Intention, OperationKind};

mod check;
mod examples;
mod written;

use written::WrittenSpan;

pub use check::{TurnCheck, checked};
pub use examples::{classes, examples, request_example, search_acts};
pub use written::conversations;

/// A conversation with the columns that it is about; none where there is no table yet.
#[derive(Debug)]
pub struct Conversation {
    /// Its name.
    pub id: String,
    /// The id of a table of the lake.
    pub table: Option<String>,
    /// The columns of a made-up table.
    pub sheet: Option<Vec<SchemaColumn>>,
    /// Its turns.
    pub turns: Vec<AnnotatedTurn>,
}

/// A turn with its annotation; columns are named, not numbered yet.
#[derive(Debug)]
pub struct AnnotatedTurn {
    /// What is typed.
    pub text: String,
    /// What it does; nothing where only what its words point at is annotated.
    pub acts: Vec<Act>,
    /// Whether it is about the result.
    pub on_result: bool,
    /// What it asks for and what for, where that is annotated.
    pub purpose: Option<(OperationKind, Intention)>,
    /// Its spans with their attributes as written.
    spans: Vec<WrittenSpan>,
}

impl AnnotatedTurn {
    /// The turn as a perfect model would read it over `schema`.
    pub fn reading(&self, schema: &Schema) -> TurnReading {
        let span = |(bytes, role, attributes): &WrittenSpan| {
            let mut span = Span::of(&self.text, bytes.clone(), *role);
            for (name, value) in attributes {
                match name.as_str() {
                    "col" => linked(&mut span, value, schema),
                    "col2" | "by" => span.second = named(value, schema),
                    "op" => span.operator = Operator::of(value).unwrap_or(Operator::Equal),
                    "fn" => span.function = Function::of(value),
                    "dir" => span.descending = value == "desc",
                    "part" => span.part = part(value),
                    "how" => span.how = How::of(value).unwrap_or(How::Join),
                    "not" => span.unwanted = true,
                    "val" => span.value = Some(value.clone()),
                    "n" => span.number = value.parse().ok(),
                    _ => {}
                }
            }
            if *role == Role::Derive && span.columns.len() == 2 {
                span.second = span.columns.pop();
            }
            if span.value.is_none() && matches!(role, Role::Value | Role::Old) {
                span.value = span.column().and_then(|column| schema.columns[column].value_as_written(&span));
            }
            span
        };
        let spans = self.spans.iter().map(span).collect();
        let (acts, text) = (self.acts.clone(), self.text.clone());
        let reading =
            TurnReading { text, acts, confidence: 1.0, on_result: self.on_result, spans, ..TurnReading::default() };
        reading.with_written_forms()
    }
}

/// The column of this name. A computed column has no name that its annotator could know: the one whose name is most alike, else the latest.
fn named(name: &str, schema: &Schema) -> Option<usize> {
    if let Some(place) = schema.place(name) {
        return Some(place);
    }
    if name == "?" {
        return None;
    }
    let likeness = schema.names().likenesses(name);
    let computed = (0..schema.columns.len()).filter(|place| schema.columns[*place].of_result);
    let of_result = computed.filter(|place| schema.columns[*place].stand_in.is_none());
    let figure = || schema.columns.iter().position(|column| column.stand_in == Some(StandIn::Figure));
    of_result.max_by(|a, b| likeness[*a].total_cmp(&likeness[*b]).then(a.cmp(b))).or_else(figure)
}

fn linked(span: &mut Span, names: &str, schema: &Schema) {
    if let Some(place) = schema.place(names) {
        span.columns.push(place);
        return;
    }
    for name in names.split(',') {
        match named(name.trim(), schema) {
            Some(place) => span.columns.push(place),
            None => span.unknown_column = true,
        }
    }
}

fn part(name: &str) -> Option<DatePart> {
    PARTS.into_iter().find(|part| part.word() == name)
}

/// Whether a column, by its number, holds a value, in the index's normal form.
pub type HoldsValue<'a> = Box<dyn Fn(usize, &str) -> bool + 'a>;

/// What is known of a table: its columns, and whether one of them holds a value.
pub struct KnownTable<'a> {
    /// Its columns.
    pub columns: Vec<SchemaColumn>,
    /// Whether a column holds a value, in the index's normal form.
    pub holds: HoldsValue<'a>,
}

/// What stands in a conversation: the plan of the table at hand, or what is wanted of datasets while there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// The plan.
    Plan(Plan),
    /// The demands in force.
    Demands(Vec<Demand>),
}

/// An annotated turn in its place.
#[derive(Debug)]
pub struct LabelledTurn<'c> {
    /// The turn.
    pub turn: &'c AnnotatedTurn,
    /// The turns before it, oldest first.
    pub earlier: &'c [AnnotatedTurn],
    /// What stood at each step before it that still counts, the latest last; never empty.
    pub history: Vec<Standing>,
    /// The columns that it is read over.
    pub schema: Schema,
    /// Its annotation over these columns.
    pub meant: TurnReading,
    /// What it goes on from: what stands, or stood before the turns that it takes back.
    pub base: Standing,
    /// What it comes to.
    pub after: Standing,
    /// The other tables that it wants.
    pub tables: Vec<RequestedTable>,
    /// What finds no place.
    pub not_applied: Vec<NotApplied>,
}

/// The year of the annotated turns: only what is counted from it depends on it.
const LABELLED_YEAR: i32 = 2025;

impl Standing {
    /// The columns that a turn can speak of.
    fn schema(&self, source: &[SchemaColumn]) -> Schema {
        match self {
            Self::Plan(plan) => schema_of(plan, &|relation: &Relation| columns_by_steps(source, &relation.steps)),
            Self::Demands(demands) => Schema { is_of_catalogue: true, ..schema_of_demands(demands) },
        }
    }

    /// What stands after turn `number`, which was read over `schema`, the other tables that it wants, and what finds no place.
    fn after(
        &self,
        reading: &TurnReading,
        schema: &Schema,
        number: usize,
    ) -> (Self, Vec<RequestedTable>, Vec<NotApplied>) {
        match self {
            Self::Plan(plan) => {
                let assembly = assemble(reading, schema, plan);
                (Self::Plan(assembly.plan), assembly.tables, assembly.not_applied)
            }
            Self::Demands(demands) => {
                let after = revised(demands, reading, true, number, LABELLED_YEAR);
                let lost = |words| NotApplied::left_out(words, "nothing like it is in force");
                (Self::Demands(after.demands), Vec::new(), after.not_found.into_iter().map(lost).collect())
            }
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = match self {
            Self::Plan(plan) => plan.relation.steps.iter().map(ToString::to_string).collect(),
            Self::Demands(demands) => demands.iter().map(|demand| format!("{}: {demand}", demand.role)).collect(),
        };
        formatter.write_str(&words.join("; "))
    }
}

impl Conversation {
    /// Its turns, each on what stands by the annotation before it; `table` is the table of the lake that it is about.
    pub fn labelled(&self, table: Option<&KnownTable<'_>>) -> Vec<LabelledTurn<'_>> {
        let source: Option<&[SchemaColumn]> = self.source(table);
        let id = self.table.clone().unwrap_or_else(|| self.id.clone());
        let start = match source {
            Some(_) => Standing::Plan(Plan::of(Source::Table(id))),
            None => Standing::Demands(Vec::new()),
        };
        let source = source.unwrap_or_default();
        let mut history = vec![start.clone()];
        let mut found = Vec::with_capacity(self.turns.len());
        for (at, turn) in self.turns.iter().enumerate() {
            let latest = |history: &[Standing]| history.last().unwrap_or(&start).clone();
            let current = latest(&history);
            let schema = current.schema(source);
            let mut meant = turn.reading(&schema);
            if let Standing::Demands(demands) = &current {
                let olds = meant.spans.iter_mut().filter(|span| span.role == Role::Old);
                olds.for_each(|span| link_to_demand(span, demands));
            }
            let before = history.clone();
            if meant.has(Act::Undo) {
                history.truncate(history.len().saturating_sub(meant.steps()).max(1));
            }
            let base = latest(&history);
            let only_points = turn.acts.is_empty();
            let (after, tables, not_applied) = match only_points {
                true => (base.clone(), Vec::new(), Vec::new()),
                false => base.after(&meant, &schema, at + 1),
            };
            if after != base {
                history.push(after.clone());
            }
            let earlier = if only_points { &[] } else { &self.turns[..at] };
            found.push(LabelledTurn {
                turn,
                earlier,
                history: before,
                schema,
                meant,
                base,
                after,
                tables,
                not_applied,
            });
        }
        found
    }

    fn source<'s>(&'s self, table: Option<&'s KnownTable<'_>>) -> Option<&'s [SchemaColumn]> {
        self.sheet.as_deref().or_else(|| table.map(|table| table.columns.as_slice()))
    }

    /// Whether a column of a schema holds a value, as far as the table at hand is known.
    fn holds<'s>(&'s self, schema: &'s Schema, table: Option<&'s KnownTable<'_>>) -> impl Fn(usize, &str) -> bool + 's {
        let known = table.filter(|_| self.sheet.is_none());
        move |place: usize, value: &str| {
            known.is_some_and(|table| {
                let same = |column: &SchemaColumn| column.name == schema.columns[place].name;
                table.columns.get(place).is_some_and(same) && (table.holds)(place, value)
            })
        }
    }
}

impl LabelledTurn<'_> {
    pub(super) fn previous(&self) -> &str {
        self.earlier.last().map_or("", |turn| turn.text.as_str())
    }
}

/// Links what is taken back with the demand of the role that is written, or whose words it has; the latest where several do.
fn link_to_demand(span: &mut Span, demands: &[Demand]) {
    let role = span.column().and_then(|column| demands.get(column)).map(|demand| demand.role.clone());
    let words: Vec<String> = lower_words(span.value.as_deref().unwrap_or(&span.words)).collect();
    let fits = |demand: &Demand| role.as_ref().is_none_or(|role| *role == demand.role);
    let shared = |demand: &Demand| lower_words(&demand.said).filter(|word| words.contains(word)).count();
    let best = (0..demands.len()).filter(|at| fits(&demands[*at])).max_by_key(|at| (shared(&demands[*at]), *at));
    let best = best.filter(|at| role.is_some() || shared(&demands[*at]) > 0);
    span.columns = best.into_iter().collect();
    span.unknown_column = span.columns.is_empty();
}
