//! Annotated turns (`labels/turns`): read into spans, walked through as conversations, and written as examples for training.

use std::fmt;
use std::ops::Range;

use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{DatePart, Plan, Relation};
use lakeward_core::request::{Demand, Input as Source};
use lakeward_core::text::lower_words;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Reader;
use super::demands::{revised, schema_of_demands};
use super::input::{FEATURES, Input, Pieces, features};
use super::readings::{READINGS, meanings};
use super::schema::{
    ColumnKind, Schema, SchemaColumn, StandIn, VALUE_FEATURES, columns_by_steps, schema_of, value_features,
};
use super::span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
use super::{NotApplied, TableWish, assemble};
use lakeward_core::request::{Act, Intention, Label, OperationKind};

/// A line of an annotated file: a conversation's head, or one of its turns.
#[derive(Debug, Deserialize)]
struct Line {
    c: String,
    #[serde(default)]
    table: Option<String>,
    #[serde(default)]
    columns: Option<Vec<String>>,
    #[serde(default)]
    t: Option<usize>,
    #[serde(default)]
    act: String,
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    m: String,
    #[serde(default)]
    points: Option<String>,
    #[serde(default)]
    operation: Option<OperationKind>,
    #[serde(default)]
    intention: Option<Intention>,
}

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

/// Reads one file.
///
/// # Errors
/// [`Error::Usage`] with the line for what is no annotation.
pub fn conversations(text: &str) -> Result<Vec<Conversation>> {
    let mut found: Vec<Conversation> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| Error::Usage(format!("line {}: {what}", number + 1));
        let line: Line = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        if line.t.is_none() {
            let sheet = line.columns.map(|columns| columns.iter().map(|column| sheet_column(column)).collect());
            found.push(Conversation { id: line.c, table: line.table, sheet, turns: Vec::new() });
            continue;
        }
        let acts: Option<Vec<Act>> = line.act.split_whitespace().map(Act::of).collect();
        let acts = acts.filter(|acts| acts.is_empty() == line.points.is_some()).ok_or_else(|| wrong("unknown act"))?;
        let (text, spans) = marked(line.points.as_ref().unwrap_or(&line.m)).map_err(|what| wrong(&what))?;
        let purpose = line.operation.zip(line.intention);
        let turn = AnnotatedTurn { text, acts, on_result: line.on.is_some(), purpose, spans };
        match found.last_mut() {
            Some(conversation) if conversation.id == line.c => conversation.turns.push(turn),
            _ => return Err(wrong("a turn of another conversation")),
        }
    }
    Ok(found)
}

/// `region:text=North|South` as a column.
fn sheet_column(text: &str) -> SchemaColumn {
    let (head, values) = text.split_once('=').map_or((text, None), |(head, values)| (head, Some(values)));
    let (name, kind) = head.rsplit_once(':').unwrap_or((head, "text"));
    let kind = match kind {
        "integer" => ColumnKind::Integer,
        "number" => ColumnKind::Number,
        "date" => ColumnKind::Date,
        "boolean" => ColumnKind::Boolean,
        _ => ColumnKind::Text,
    };
    let values: Vec<String> = values.map(|values| values.split('|').map(str::to_string).collect()).unwrap_or_default();
    SchemaColumn { complete: !values.is_empty(), values, ..SchemaColumn::new(name, kind) }
}

/// A span as it is written: its bytes, its role, its attributes.
type WrittenSpan = (Range<usize>, Role, Vec<(String, String)>);

/// A plain text and its spans.
type Marked = (String, Vec<WrittenSpan>);

/// `the [north|value col=region]` as plain text and spans.
fn marked(text: &str) -> std::result::Result<Marked, String> {
    let (mut plain, mut spans) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        plain.push_str(&rest[..open]);
        let close = rest[open..].find(']').ok_or("a bracket that is not closed")? + open;
        let (words, marks) = rest[open + 1..close].split_once('|').ok_or("a span without a role")?;
        let (role, attributes) = attributes(marks)?;
        let role = Role::of(&role).ok_or_else(|| format!("unknown role `{role}`"))?;
        let from = plain.len();
        plain.push_str(words);
        spans.push((from..plain.len(), role, attributes));
        rest = &rest[close + 1..];
    }
    plain.push_str(rest);
    Ok((plain, spans))
}

/// `value col="Phase of flight" op=!=` as the role and pairs.
fn attributes(text: &str) -> std::result::Result<(String, Vec<(String, String)>), String> {
    let mut parts: Vec<String> = Vec::new();
    let (mut part, mut quoted, mut open) = (String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if open {
                    parts.push(std::mem::take(&mut part));
                }
                open = false;
                continue;
            }
            c => part.push(c),
        }
        open = true;
    }
    if open {
        parts.push(part);
    }
    let mut parts = parts.into_iter();
    let role = parts.next().ok_or("a span without a role")?;
    let pairs = parts.map(|part| part.split_once('=').map(|(name, value)| (name.to_string(), value.to_string())));
    Ok((role, pairs.collect::<Option<_>>().ok_or("an attribute without a value")?))
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
                span.value = span.column().and_then(|column| schema.columns[column].as_it_stands(&span));
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
    let of_result = computed.filter(|place| schema.columns[*place].stands_for.is_none());
    let figure = || schema.columns.iter().position(|column| column.stands_for == Some(StandIn::Figure));
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

/// The names of the model's classes by head, in their order: the first line of a file of examples.
pub fn classes() -> Value {
    fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
        all.iter().map(|one| name(*one)).collect()
    }
    json!({
        "roles": names(Role::ALL, Role::name), "acts": names(Act::ALL, Act::name),
        "operators": names(Operator::ALL, Operator::name), "functions": names(Function::ALL, Function::name),
        "parts": names(&PARTS, DatePart::word), "hows": names(How::ALL, How::name), "features": FEATURES,
        "value_features": VALUE_FEATURES, "operations": names(OperationKind::ALL, OperationKind::name),
        "intentions": names(Intention::ALL, Intention::name),
    })
}

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
    pub tables: Vec<TableWish>,
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
            Self::Demands(demands) => schema_of_demands(demands),
        }
    }

    /// What stands after turn `number`, which was read over `schema`, the other tables that it wants, and what finds no place.
    fn after(&self, reading: &TurnReading, schema: &Schema, number: usize) -> (Self, Vec<TableWish>, Vec<NotApplied>) {
        match self {
            Self::Plan(plan) => {
                let assembly = assemble(reading, schema, plan);
                (Self::Plan(assembly.plan), assembly.tables, assembly.not_applied)
            }
            Self::Demands(demands) => {
                let after = revised(demands, reading, true, number, LABELLED_YEAR);
                let lost = |words| NotApplied { words, reason: "nothing like it is in force".into() };
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
            let stands = latest(&history);
            let schema = stands.schema(source);
            let mut meant = turn.reading(&schema);
            if let Standing::Demands(demands) = &stands {
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

/// The examples of a conversation, one JSON object for each turn: the model's input and what it should answer. Also how many spans found no
/// place in the plan or among the demands.
pub fn examples(
    conversation: &Conversation,
    table: Option<&KnownTable<'_>>,
    vocabulary: &dyn Pieces,
) -> (Vec<Value>, usize) {
    let (mut found, mut lost) = (Vec::new(), 0);
    for labelled in conversation.labelled(table) {
        let LabelledTurn { turn, schema, meant, .. } = &labelled;
        let matches = schema.matches(&turn.text, &conversation.holds(schema, table));
        let input = Input::new(vocabulary, &turn.text, labelled.previous(), schema, &matches);
        let mut example = example(&turn.text, &input, meant, schema, &matches);
        example["over_table"] = (table.is_some() || conversation.sheet.is_some()).into();
        found.push(example);
        if let Some((operation, intention)) = turn.purpose {
            found.push(request_example((&turn.text, labelled.previous()), operation, intention, vocabulary));
        }
        lost += labelled.not_applied.len();
    }
    (found, lost)
}

/// The example of a labelled request, of which only the operation and the intention are known: the input without a table or demands.
pub fn request_example(
    (text, previous): (&str, &str),
    operation: OperationKind,
    intention: Intention,
    vocabulary: &dyn Pieces,
) -> Value {
    let input = Input::new(vocabulary, text, previous, &schema_of_demands(&[]), &[]);
    let words: Vec<_> = input.word_pieces.iter().map(|range| [range.start, range.end]).collect();
    json!({
        "pieces": input.pieces, "words": words, "columns": [], "values": [], "kinds": [], "spans": [], "acts": [], "on_result": false,
        "over_table": false, "operation": operation.place(), "intention": intention.place(),
    })
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

fn example(text: &str, input: &Input, reading: &TurnReading, schema: &Schema, matches: &[super::ValueMatch]) -> Value {
    let mut spans = Vec::new();
    for span in &reading.spans {
        let inside: Vec<usize> = input
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| word.bytes.start < span.bytes.end && span.bytes.start < word.bytes.end)
            .map(|(place, _)| place)
            .collect();
        let (Some(from), Some(last)) = (inside.first(), inside.last()) else { continue };
        let range = *from..last + 1;
        let seen = |place: &usize| !input.column_pieces[*place].is_empty();
        let columns: Vec<usize> = span.columns.iter().copied().filter(seen).collect();
        let features = features(text, range.clone(), input, schema, matches);
        let features: Vec<Vec<f32>> = features.into_iter().map(|row| row.to_vec()).collect();
        let values = span.columns.first().map_or(&[][..], |column| &input.values[*column]);
        let meant = span.value.as_deref().and_then(|value| values.iter().position(|(shown, _)| shown == value));
        let value_features: Vec<_> = values.iter().map(|(value, _)| value_features(&span.words, value)).collect();
        spans.push(json!({
            "value": meant, "value_features": value_features,
            "from": range.start, "to": range.end, "role": span.role.place(),
            "columns": columns, "second": span.second.filter(seen),
            "operator": span.operator.place(), "function": span.function.map(Function::place),
            "descending": span.descending, "part": span.part.and_then(|part| PARTS.iter().position(|known| *known == part)),
            "how": span.how.place(), "unwanted": span.unwanted, "features": features,
        }));
    }
    let pair = |range: &Range<usize>| [range.start, range.end];
    json!({
        "text": text, "pieces": input.pieces,
        "words": input.word_pieces.iter().map(pair).collect::<Vec<_>>(),
        "columns": input.column_pieces.iter().map(pair).collect::<Vec<_>>(),
        "values": input.values.iter().map(|values| values.iter().map(|(_, pieces)| pair(pieces)).collect()).collect::<Vec<Vec<_>>>(),
        "acts": reading.acts.iter().map(|act| act.place()).collect::<Vec<_>>(),
        "on_result": reading.on_result, "spans": spans,
        "kinds": schema.columns.iter().map(|column| column.kind.word()).collect::<Vec<_>>(),
    })
}

/// How a turn was read beside its annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnCheck {
    /// Whether there is a table at hand.
    pub over_table: bool,
    /// Whether the act is the annotated one.
    pub act: bool,
    /// Whether plan and tables wanted, or the demands, are those of the annotation.
    pub same: bool,
    /// How sure the reader was.
    pub certainty: f64,
    /// Whether something of it could not be applied.
    pub lost: bool,
    /// What was typed, what it should come to and what it comes to.
    pub text: [String; 3],
}

/// Reads every turn of a conversation with the built-in reader, each on what stands by the annotation before it.
pub fn checked(conversation: &Conversation, table: Option<&KnownTable<'_>>) -> Vec<TurnCheck> {
    let mut found = Vec::new();
    let labelled = conversation.labelled(table).into_iter().enumerate();
    for (at, labelled) in labelled.filter(|(_, labelled)| !labelled.turn.acts.is_empty()) {
        let LabelledTurn { turn, schema, meant, base, after, tables, .. } = &labelled;
        let holds = conversation.holds(schema, table);
        let read = |most| Reader::builtin().readings(&turn.text, labelled.previous(), schema, &holds, most);
        let (told, certainty) = match base {
            Standing::Plan(plan) => {
                let mut all = meanings(read(READINGS), plan, &|turn| assemble(turn, schema, plan));
                let first = all.swap_remove(0);
                (first.turn, first.probability)
            }
            Standing::Demands(_) => {
                let turn = read(1).swap_remove(0).turn;
                let certainty = turn.certainty();
                (turn, certainty)
            }
        };
        let (said, wanted, lost) = base.after(&told, schema, at + 1);
        let words = |standing: &Standing, tables: &[TableWish]| {
            let hows: Vec<&str> = tables.iter().map(|wish| wish.how.name()).collect();
            format!("{standing} {}", hows.join(" "))
        };
        let texts = [turn.text.clone(), words(after, tables), words(&said, &wanted)];
        let hows = |tables: &[TableWish]| tables.iter().map(|wish| wish.how).collect::<Vec<_>>();
        found.push(TurnCheck {
            over_table: matches!(base, Standing::Plan(_)),
            act: told.acts.first() == meant.acts.first(),
            // Demands have other words where they come to the same.
            same: match base {
                Standing::Plan(_) => said == *after && hows(&wanted) == hows(tables),
                Standing::Demands(_) => texts[1] == texts[2],
            },
            certainty,
            lost: !lost.is_empty(),
            text: texts,
        });
    }
    found
}
