//! Annotated turns (`labels/turns`): read into spans, walked through as conversations, and written as examples for training.

use std::ops::Range;

use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{DatePart, Plan, Relation};
use lakeward_core::request::{Demand, Input as Source};
use lakeward_core::text::lower_words;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Reader;
use super::assemble;
use super::demands::{revised, schema_of_demands};
use super::input::{FEATURES, Input, Pieces, features};
use super::schema::{ColumnKind, FIGURE, Schema, SchemaColumn, columns_by_steps, schema_of};
use super::span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
use lakeward_core::request::Act;

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
    /// What it does.
    pub acts: Vec<Act>,
    /// Whether it is about the result.
    pub on_result: bool,
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
        let acts = acts.filter(|acts| !acts.is_empty()).ok_or_else(|| wrong("unknown act"))?;
        let (text, spans) = marked(&line.m).map_err(|what| wrong(&what))?;
        let turn = AnnotatedTurn { text, acts, on_result: line.on.is_some(), spans };
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
            let mut span = Span::new(bytes.clone(), &self.text[bytes.clone()], *role);
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
            span
        };
        let spans = self.spans.iter().map(span).collect();
        TurnReading { acts: self.acts.clone(), confidence: 1.0, on_result: self.on_result, spans }
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
    let of_result = computed.filter(|place| schema.columns[*place].name != FIGURE);
    of_result.max_by(|a, b| likeness[*a].total_cmp(&likeness[*b]).then(a.cmp(b))).or_else(|| schema.place(FIGURE))
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
    })
}

/// What is known of a table: its columns, and whether one of them holds a value.
pub struct KnownTable<'a> {
    /// Its columns.
    pub columns: Vec<SchemaColumn>,
    /// Whether a column holds a value, in the index's normal form.
    pub holds: HoldsValue<'a>,
}

/// The examples of a conversation, one JSON object for each turn: the model's input and what it should answer. Also how many spans found no
/// place in the plan.
pub fn examples(
    conversation: &Conversation,
    table: Option<&KnownTable<'_>>,
    vocabulary: &dyn Pieces,
) -> (Vec<Value>, usize) {
    let source: Vec<SchemaColumn> = match (&conversation.sheet, table) {
        (Some(sheet), _) => sheet.clone(),
        (None, Some(table)) => table.columns.clone(),
        (None, None) => Vec::new(),
    };
    if conversation.sheet.is_none() && table.is_none() {
        return examples_of_search(conversation, vocabulary);
    }
    let start = Plan::of(Source::Table(conversation.table.clone().unwrap_or_else(|| conversation.id.clone())));
    let mut history = vec![start.clone()];
    let mut previous = "";
    let (mut found, mut lost) = (Vec::new(), 0);
    for turn in &conversation.turns {
        let plan = history.last().cloned().unwrap_or_else(|| start.clone());
        let columns = |relation: &Relation| columns_by_steps(&source, &relation.steps);
        let schema = schema_of(&plan, &columns);
        let holds = |place: usize, value: &str| {
            place < source.len()
                && schema.columns[place].name == source[place].name
                && table.is_some_and(|table| (table.holds)(place, value))
        };
        let matches = schema.matches(&turn.text, &holds);
        let input = Input::new(vocabulary, &turn.text, previous, &schema, &matches);
        let reading = turn.reading(&schema);
        found.push(example(&turn.text, &input, &reading, &schema, &matches));
        previous = &turn.text;
        if reading.has(Act::Undo) {
            history.truncate(history.len().saturating_sub(reading.steps()).max(1));
        }
        let plan = history.last().cloned().unwrap_or_else(|| start.clone());
        let assembly = assemble(&reading, &schema, &plan);
        lost += assembly.not_applied.len();
        if assembly.plan != plan {
            history.push(assembly.plan);
        }
    }
    (found, lost)
}

/// The year of the examples: only what is counted from it depends on it, and no example does.
const EXAMPLE_YEAR: i32 = 2025;

/// The same for a conversation without a table, read over the demands in force.
fn examples_of_search(conversation: &Conversation, vocabulary: &dyn Pieces) -> (Vec<Value>, usize) {
    let mut history: Vec<Vec<Demand>> = vec![Vec::new()];
    let mut previous = "";
    let (mut found, mut lost) = (Vec::new(), 0);
    for (at, turn) in conversation.turns.iter().enumerate() {
        let demands = history.last().cloned().unwrap_or_default();
        let schema = schema_of_demands(&demands);
        let matches = schema.matches(&turn.text, &|_, _| false);
        let input = Input::new(vocabulary, &turn.text, previous, &schema, &matches);
        let mut reading = turn.reading(&schema);
        reading.spans.iter_mut().filter(|span| span.role == Role::Old).for_each(|span| link_to_demand(span, &demands));
        found.push(example(&turn.text, &input, &reading, &schema, &matches));
        previous = &turn.text;
        if reading.has(Act::Undo) {
            history.truncate(history.len().saturating_sub(reading.steps()).max(1));
        }
        let before = history.last().cloned().unwrap_or_default();
        let after = revised(&before, &reading, true, at + 1, EXAMPLE_YEAR);
        lost += after.not_found.len();
        if after.demands != before {
            history.push(after.demands);
        }
    }
    (found, lost)
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
        spans.push(json!({
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
        "acts": reading.acts.iter().map(|act| act.place()).collect::<Vec<_>>(),
        "on_result": reading.on_result, "spans": spans,
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
    /// The least confidence among its spans.
    pub confidence: f32,
    /// Whether something of it could not be applied.
    pub lost: bool,
    /// What was typed, what it should come to and what it comes to.
    pub text: [String; 3],
}

/// Reads every turn of a conversation with the built-in reader, each on what stands by the annotation before it.
pub fn checked(conversation: &Conversation, table: Option<&KnownTable<'_>>) -> Vec<TurnCheck> {
    let source: Vec<SchemaColumn> = match (&conversation.sheet, table) {
        (Some(sheet), _) => sheet.clone(),
        (None, Some(table)) => table.columns.clone(),
        (None, None) => return checked_search(conversation),
    };
    let start = Plan::of(Source::Table(conversation.table.clone().unwrap_or_else(|| conversation.id.clone())));
    let mut history = vec![start.clone()];
    let mut previous = "";
    let mut found = Vec::new();
    for turn in &conversation.turns {
        let mut plan = history.last().cloned().unwrap_or_else(|| start.clone());
        let schema = schema_of(&plan, &|relation: &Relation| columns_by_steps(&source, &relation.steps));
        let holds = |place: usize, value: &str| {
            place < source.len()
                && schema.columns[place].name == source[place].name
                && table.is_some_and(|table| (table.holds)(place, value))
        };
        let (told, meant) = (Reader::builtin().read(&turn.text, previous, &schema, &holds), turn.reading(&schema));
        previous = &turn.text;
        if meant.has(Act::Undo) {
            history.truncate(history.len().saturating_sub(meant.steps()).max(1));
            plan = history.last().cloned().unwrap_or_else(|| start.clone());
        }
        let (said, right) = (assemble(&told, &schema, &plan), assemble(&meant, &schema, &plan));
        let tables = |assembly: &super::Assembly| assembly.tables.iter().map(|wish| wish.how).collect::<Vec<_>>();
        let words = |assembly: &super::Assembly| {
            let steps: Vec<String> = assembly.plan.relation.steps.iter().map(ToString::to_string).collect();
            format!("{} {:?}", steps.join("; "), tables(assembly))
        };
        found.push(TurnCheck {
            over_table: true,
            act: told.acts.first() == meant.acts.first(),
            same: said.plan == right.plan && tables(&said) == tables(&right),
            confidence: least(&told),
            lost: !said.not_applied.is_empty(),
            text: [turn.text.clone(), words(&right), words(&said)],
        });
        if right.plan != plan {
            history.push(right.plan);
        }
    }
    found
}

fn checked_search(conversation: &Conversation) -> Vec<TurnCheck> {
    let mut history: Vec<Vec<Demand>> = vec![Vec::new()];
    let mut previous = "";
    let mut found = Vec::new();
    for (at, turn) in conversation.turns.iter().enumerate() {
        let mut demands = history.last().cloned().unwrap_or_default();
        let schema = schema_of_demands(&demands);
        let mut meant = turn.reading(&schema);
        meant.spans.iter_mut().filter(|span| span.role == Role::Old).for_each(|span| link_to_demand(span, &demands));
        let told = Reader::builtin().read(&turn.text, previous, &schema, &|_, _| false);
        previous = &turn.text;
        if meant.has(Act::Undo) {
            history.truncate(history.len().saturating_sub(meant.steps()).max(1));
            demands = history.last().cloned().unwrap_or_default();
        }
        let after = |reading: &TurnReading| revised(&demands, reading, true, at + 1, EXAMPLE_YEAR);
        let (said, right) = (after(&told), after(&meant));
        let words = |demands: &[Demand]| {
            let all: Vec<String> = demands.iter().map(|demand| format!("{}: {demand}", demand.role)).collect();
            all.join("; ")
        };
        found.push(TurnCheck {
            over_table: false,
            act: told.acts.first() == meant.acts.first(),
            same: words(&said.demands) == words(&right.demands),
            confidence: least(&told),
            lost: !said.not_found.is_empty(),
            text: [turn.text.clone(), words(&right.demands), words(&said.demands)],
        });
        if right.demands != demands {
            history.push(right.demands);
        }
    }
    found
}

fn least(reading: &TurnReading) -> f32 {
    reading.spans.iter().map(|span| span.confidence).fold(reading.confidence, f32::min)
}

/// The plans of a conversation by its annotation, in plain words, one a turn: to look at.
pub fn plans_in_words(conversation: &Conversation, source: &[SchemaColumn]) -> Vec<(String, String)> {
    let start = Plan::of(Source::Table(conversation.id.clone()));
    let mut history = vec![start.clone()];
    let mut said = Vec::new();
    for turn in &conversation.turns {
        let plan = history.last().cloned().unwrap_or_else(|| start.clone());
        let schema = schema_of(&plan, &|relation: &Relation| columns_by_steps(source, &relation.steps));
        let reading = turn.reading(&schema);
        if reading.has(Act::Undo) {
            history.truncate(history.len().saturating_sub(reading.steps()).max(1));
        }
        let plan = history.last().cloned().unwrap_or_else(|| start.clone());
        let assembly = assemble(&reading, &schema, &plan);
        let steps: Vec<String> = assembly.plan.relation.steps.iter().map(ToString::to_string).collect();
        let mut line = steps.join("; ");
        for lost in &assembly.not_applied {
            line.push_str(&format!(" !! `{}`: {}", lost.words, lost.reason));
        }
        for wish in &assembly.tables {
            line.push_str(&format!(" ++ {:?} `{}` {:?}", wish.how, wish.words, wish.wanted));
        }
        said.push((turn.text.clone(), line));
        if assembly.plan != plan {
            history.push(assembly.plan);
        }
    }
    said
}
