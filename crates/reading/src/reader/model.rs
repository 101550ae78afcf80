//! The trained model: an encoder over the input, a role for each word, and for each span its columns and attributes.
//!
//! `scripts/train_reader.py` makes the weights. They are those of a small encoder, in signed bytes; its word pieces are shared with the
//! sentence model. What is computed here is what that script computes, so that a span has the same scores in both.

use std::ops::Range;
use std::sync::OnceLock;

use lakeward_models::embed::{PieceEncoder, SentenceModel, gelu};
use safetensors::SafeTensors;

use super::demands::schema_of_demands;
use super::grounding;
use super::input::{FEATURES, Input, Pieces, features};
use super::schema::{ColumnKind, Holds, Schema, SchemaColumn, StandIn, VALUE_FEATURES, ValueMatch, value_features};
use super::span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
use lakeward_core::request::{Act, Intention, Label, OperationKind};

static WEIGHTS: &[u8] = include_bytes!("model/reader.safetensors");

/// Length of the vectors that link spans with columns.
const LINK: usize = 128;
/// The score of a column that cannot be meant.
const NEVER: f32 = -1e4;
/// A value that words only begin is less alike than this.
const ALIKE: f32 = 0.6;
/// Words before and after a span that its vector knows of.
const AROUND: usize = 2;

/// A matrix and what is added: y = W · x + b.
struct Head {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Head {
    fn read(file: &SafeTensors<'_>, name: &str, inputs: usize, outputs: usize) -> Result<Self, String> {
        let tensor = |part: &str, bytes: usize| -> Result<Vec<u8>, String> {
            let full = format!("head.{name}.{part}");
            let view = file.tensor(&full).map_err(|error| format!("`{full}`: {error}"))?;
            if view.data().len() == bytes {
                Ok(view.data().to_vec())
            } else {
                Err(format!("`{full}` has {} bytes, not {bytes}", view.data().len()))
            }
        };
        let floats = |part: &str| -> Result<Vec<f32>, String> {
            let bytes = tensor(part, 4 * outputs)?;
            Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
        };
        let (rounded, scales) = (tensor("rounded", inputs * outputs)?, floats("scales")?);
        let row =
            |(row, scale): (&[u8], &f32)| row.iter().map(|byte| f32::from(*byte as i8) * scale).collect::<Vec<f32>>();
        let weight = rounded.chunks_exact(inputs).zip(&scales).flat_map(row).collect();
        Ok(Self { weight, bias: floats("bias")? })
    }

    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let row = |(row, bias): (&[f32], &f32)| dot(row, x) + bias;
        self.weight.chunks_exact(x.len()).zip(&self.bias).map(row).collect()
    }
}

/// In sixteen sums, so that they are computed side by side.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0f32; 16];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The built-in reader.
pub struct Reader {
    encoder: PieceEncoder,
    tags: Head,
    act: Head,
    second_act: Head,
    on_result: Head,
    operation: Head,
    intention: Head,
    span: Head,
    operator: Head,
    function: Head,
    descending: Head,
    part: Head,
    how: Head,
    unwanted: Head,
    column: Head,
    value: Head,
    value_key: Head,
    first: Head,
    second: Head,
    each: Head,
}

/// The vocabulary of the sentence model.
pub struct BuiltInPieces;

impl Pieces for BuiltInPieces {
    fn pieces(&self, word: &str) -> Vec<u32> {
        SentenceModel::builtin().word_pieces(word)
    }

    fn marks(&self) -> [u32; 3] {
        SentenceModel::builtin().special_pieces()
    }
}

impl Reader {
    /// The reader inside the program, opened when it is first needed.
    pub fn builtin() -> &'static Self {
        static BUILT_IN: OnceLock<Reader> = OnceLock::new();
        BUILT_IN.get_or_init(|| match Self::open(WEIGHTS) {
            Ok(reader) => reader,
            // The bytes are part of the program; a test opens them.
            Err(what) => unreachable!("the reader inside the program: {what}"),
        })
    }

    fn open(bytes: &'static [u8]) -> Result<Self, String> {
        let encoder = SentenceModel::with_layers(bytes)?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let hidden = encoder.dims();
        let spans = file.tensor("head.span.bias").map_err(|error| error.to_string())?.shape().iter().product();
        let tags = file.tensor("head.tags.bias").map_err(|error| error.to_string())?.shape().iter().product();
        let of_text = |name, outputs| Head::read(&file, name, hidden, outputs);
        let of_span = |name, outputs| Head::read(&file, name, spans, outputs);
        let link = LINK + FEATURES + 1;
        Ok(Self {
            tags: of_text("tags", tags)?,
            act: of_text("act", Act::ALL.len())?,
            second_act: of_text("second_act", Act::ALL.len() + 1)?,
            on_result: of_text("on_result", 2)?,
            operation: of_text("operation", OperationKind::ALL.len())?,
            intention: of_text("intention", Intention::ALL.len())?,
            span: Head::read(&file, "span", 4 * hidden, spans)?,
            operator: of_span("operator", Operator::ALL.len())?,
            function: of_span("function", Function::ALL.len() + 1)?,
            descending: of_span("descending", 2)?,
            part: of_span("part", PARTS.len() + 1)?,
            how: of_span("how", How::ALL.len())?,
            unwanted: of_span("unwanted", 2)?,
            column: of_text("column", LINK)?,
            value: of_span("value", LINK + VALUE_FEATURES + 1)?,
            value_key: of_text("value_key", LINK)?,
            first: of_span("first", link)?,
            second: of_span("second", link)?,
            each: of_span("each", link)?,
            encoder,
        })
    }

    /// Reads a text over a schema; `previous` is the turn before, `holds` whether a column holds a value. What is said again word for word is read
    /// by itself: a second "undo that" is no redo.
    pub fn read(&self, text: &str, previous: &str, schema: &Schema, holds: Holds<'_>) -> TurnReading {
        let previous = if previous.trim().eq_ignore_ascii_case(text.trim()) { "" } else { previous };
        let matches = schema.matches(text, holds);
        let input = Input::new(&BuiltInPieces, text, previous, schema, &matches);
        let hidden = self.encoder.dims();
        let rows = self.encoder.encode(&input.pieces);
        let row = |at: usize| rows.get(at * hidden..(at + 1) * hidden).unwrap_or_default();
        let mean = |pieces: &Range<usize>| {
            let mut sum = vec![0.0f32; hidden];
            for at in pieces.clone() {
                sum.iter_mut().zip(row(at)).for_each(|(sum, value)| *sum += value);
            }
            sum.iter_mut().for_each(|value| *value /= pieces.len().max(1) as f32);
            sum
        };
        let words: Vec<Vec<f32>> = input.word_pieces.iter().map(mean).collect();
        let columns: Vec<Option<Vec<f32>>> = input
            .column_pieces
            .iter()
            .map(|pieces| (!pieces.is_empty()).then(|| self.column.apply(&mean(pieces))))
            .collect();
        let turn = row(0);
        let acts = softmax(self.act.apply(turn));
        let first_act = best(&acts);
        let mut said = vec![Act::ALL[first_act]];
        said.extend(Act::ALL.get(best(&self.second_act.apply(turn))).filter(|act| **act != said[0]));
        let tags: Vec<Vec<f32>> = words.iter().map(|word| softmax(self.tags.apply(word))).collect();
        let runs = runs(&tags);
        let value_key = |pieces: &Range<usize>| self.value_key.apply(&mean(pieces));
        let view = View {
            text,
            input: &input,
            schema,
            matches: &matches,
            words: &words,
            columns: &columns,
            value_key: &value_key,
            turn,
            groups: runs.iter().any(|(_, role, _)| matches!(role, Role::Group | Role::Measure)) || schema.is_grouped(),
        };
        let is_outside = |word: &usize| !runs.iter().any(|(range, ..)| range.contains(word));
        let overlooked = (0..tags.len()).filter(is_outside).map(|word| 1.0 - tags[word][0]).fold(0.0, f32::max);
        let mut spans: Vec<Span> =
            runs.into_iter().map(|(range, role, sure)| self.span(&view, range, role, sure)).collect();
        grounding::whole_values(text, &mut spans, &input, &matches);
        grounding::settle(&mut spans, schema);
        TurnReading {
            text: text.to_string(),
            acts: said,
            confidence: acts[first_act],
            overlooked,
            on_result: best(&self.on_result.apply(turn)) == 1,
            spans,
            decimals: None,
        }
        .with_written_forms()
    }

    /// Probabilities of the operation that a text asks for and of what it is for, in the order of their classes; `previous` is the turn before.
    pub fn purpose(&self, text: &str, previous: &str) -> (Vec<f32>, Vec<f32>) {
        let input = Input::new(&BuiltInPieces, text, previous, &schema_of_demands(&[]), &[]);
        let rows = self.encoder.encode(&input.pieces);
        let turn = rows.get(..self.encoder.dims()).unwrap_or_default();
        (softmax(self.operation.apply(turn)), softmax(self.intention.apply(turn)))
    }

    fn span(&self, view: &View<'_>, range: Range<usize>, role: Role, sure: f32) -> Span {
        let View { text, input, schema, matches, words, columns, turn, .. } = view;
        let hidden = self.encoder.dims();
        let mean = |range: Range<usize>| {
            let mut sum = vec![0.0f32; hidden];
            let count = range.len().max(1) as f32;
            for word in &words[range] {
                sum.iter_mut().zip(word).for_each(|(sum, value)| *sum += value / count);
            }
            sum
        };
        let before = range.start.saturating_sub(AROUND)..range.start;
        let after = range.end..(range.end + AROUND).min(words.len());
        let mut joined = mean(range.clone());
        joined.extend_from_slice(turn);
        joined.extend(mean(before));
        joined.extend(mean(after));
        let mut vector = self.span.apply(&joined);
        vector.iter_mut().for_each(|value| *value = gelu(*value));
        let bytes = input.words[range.start].bytes.start..input.words[range.end - 1].bytes.end;
        let mut span = Span::of(text, bytes, role);
        // The least sure of what matters for the role.
        let mut least = sure;
        let mut choose = |scores: Vec<f32>, matters: bool| {
            let scores = softmax(scores);
            let chosen = best(&scores);
            if matters {
                least = least.min(scores[chosen]);
            }
            chosen
        };
        let compares = matches!(role, Role::Value | Role::Test | Role::Compare);
        span.operator = Operator::ALL[choose(allowed(self.operator.apply(&vector), role), compares)];
        let computes = matches!(role, Role::Measure | Role::Derive);
        span.function = Function::ALL.get(choose(self.function.apply(&vector), computes)).copied();
        span.descending = choose(self.descending.apply(&vector), role == Role::Order) == 1;
        let dated = matches!(role, Role::Value | Role::Group);
        span.part = PARTS.get(choose(self.part.apply(&vector), dated)).copied();
        span.how = How::ALL[choose(self.how.apply(&vector), role == Role::Table)];
        span.unwanted = choose(self.unwanted.apply(&vector), false) == 1;
        let features = features(text, range.clone(), input, schema, matches);
        let linked = |head: &Head| {
            let mut scores = link(&head.apply(&vector), columns, &features);
            let counts = |column: &SchemaColumn| column.stands_for == Some(StandIn::Rows);
            if let Some(rows) = schema.columns.iter().position(counts).filter(|_| !view.groups) {
                scores[rows + 1] = NEVER;
            }
            scores
        };
        let spelt =
            grounding::spelt(&span.words, schema).filter(|_| is_name(role) && span.function != Some(Function::Count));
        let of_columns = !matches!(role, Role::Limit | Role::Table | Role::Add) && role.place() < Role::Steps.place();
        let first = match spelt {
            Some(place) => place + 1,
            None => {
                let scores = with_whole_value(linked(&self.first), range, role, view);
                if role == Role::Value {
                    span.others = likeliest_columns(softmax(scores.clone()));
                    span.likely_column = span.others.first().map_or(0.0, |(_, likely)| *likely);
                }
                choose(scores, of_columns)
            }
        };
        span.columns.extend(first.checked_sub(1));
        span.unknown_column = first == 0;
        if matches!(role, Role::Compare | Role::Measure | Role::Derive) {
            let second = choose(linked(&self.second), role != Role::Measure);
            span.second = second.checked_sub(1).filter(|column| span.columns.first() != Some(column));
        }
        span.confidence = least;
        if matches!(role, Role::Show | Role::Hide | Role::Group | Role::Measure | Role::Old)
            && first > 0
            && spelt.is_none()
        {
            let each = linked(&self.each);
            let also = (1..each.len()).filter(|place| *place != first && each[*place] > 0.0).map(|place| place - 1);
            span.columns.extend(also);
        }
        if matches!(role, Role::Value | Role::Old)
            && let Some(column) = span.column()
        {
            let (value, sure) = self.value_meant(view, &span, column, &vector);
            span.confidence = span.confidence.min(sure);
            span.value = value;
        }
        span
    }

    /// The value of a column that a span means, and how surely: the one that it names, else the one of those shown that the model takes it for;
    /// none where it says neither.
    fn value_meant(&self, view: &View<'_>, span: &Span, column: usize, vector: &[f32]) -> (Option<String>, f32) {
        let named = value_of(span, column, view.input, view.matches);
        if let Some(named) = named.filter(|named| named.likeness >= 1.0) {
            return (Some(named.value.clone()), 1.0);
        }
        let shown = &view.input.values[column];
        let wanted = self.value.apply(vector);
        let (link, rest) = wanted.split_at(LINK);
        let (minds, none) = rest.split_at(VALUE_FEATURES);
        let scale = (LINK as f32).sqrt();
        let score = |(value, pieces): &(String, Range<usize>)| {
            dot(link, &(view.value_key)(pieces)) / scale + dot(minds, &value_features(&span.words, value))
        };
        let scores = softmax(none.iter().copied().chain(shown.iter().map(score)).collect());
        let chosen = best(&scores);
        if let Some(place) = chosen.checked_sub(1) {
            return (Some(shown[place].0.clone()), scores[chosen]);
        }
        // What begins a value may mean another one.
        match named {
            Some(named) => (Some(named.value.clone()), if named.likeness < ALIKE { named.likeness } else { 1.0 }),
            None => (None, 1.0),
        }
    }
}

/// What the spans of a text are told from.
struct View<'a> {
    text: &'a str,
    input: &'a Input,
    schema: &'a Schema,
    matches: &'a [ValueMatch],
    words: &'a [Vec<f32>],
    columns: &'a [Option<Vec<f32>>],
    value_key: &'a dyn Fn(&Range<usize>) -> Vec<f32>,
    turn: &'a [f32],
    /// Whether there are groups whose rows can be counted.
    groups: bool,
}

/// The value of the column that a span names, as the table has it.
fn value_of<'m>(span: &Span, column: usize, input: &Input, matches: &'m [ValueMatch]) -> Option<&'m ValueMatch> {
    let inside = |found: &&ValueMatch| {
        let (first, last) = (&input.words[found.words.0], &input.words[found.words.1]);
        found.column == column && first.bytes.start < span.bytes.end && span.bytes.start < last.bytes.end
    };
    matches.iter().filter(inside).max_by(|a, b| a.likeness.total_cmp(&b.likeness))
}

/// The likeliest columns of the probabilities of none and of each.
fn likeliest_columns(likely: Vec<f32>) -> Vec<(usize, f32)> {
    const KEPT: usize = 6;
    let mut columns: Vec<(usize, f32)> = likely.into_iter().skip(1).enumerate().collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1));
    columns.truncate(KEPT);
    columns
}

/// Whether the words of a span of this role can be nothing but the name of a column, if one is called so.
fn is_name(role: Role) -> bool {
    matches!(role, Role::Show | Role::Hide | Role::Group | Role::Measure | Role::Order | Role::Column | Role::Test)
}

/// The scores of columns for the words of a condition, where the likeliest one is of text and has no such value: those alone that have them as a
/// whole one, if there are any.
fn with_whole_value(mut scores: Vec<f32>, words: Range<usize>, role: Role, view: &View<'_>) -> Vec<f32> {
    let Some(first) = best(&scores).checked_sub(1).filter(|_| role == Role::Value) else { return scores };
    let column = &view.schema.columns[first];
    let has: Vec<usize> = grounding::with_value(words, view.matches).map(|found| found.column).collect();
    if column.kind == ColumnKind::Text && !column.of_result && !has.is_empty() && !has.contains(&first) {
        let lacks = |place: &usize| !place.checked_sub(1).is_some_and(|column| has.contains(&column));
        (0..scores.len()).filter(lacks).for_each(|place| scores[place] = NEVER);
    }
    scores
}

/// Operators of a role; a test has no value and a value no test.
fn allowed(mut scores: Vec<f32>, role: Role) -> Vec<f32> {
    for (score, operator) in scores.iter_mut().zip(Operator::ALL) {
        let tests = matches!(operator, Operator::Missing | Operator::Present | Operator::Yes | Operator::No);
        let compares = operator.place() <= Operator::AtLeast.place();
        let fits = match role {
            Role::Test => tests,
            Role::Compare => compares,
            _ => !tests,
        };
        if !fits {
            *score = f32::MIN;
        }
    }
    scores
}

/// Scores of no column, then of every column; one that the model has not seen cannot be meant.
fn link(wanted: &[f32], columns: &[Option<Vec<f32>>], features: &[[f32; FEATURES]]) -> Vec<f32> {
    let (vector, rest) = wanted.split_at(LINK);
    let (minds, none) = rest.split_at(FEATURES);
    let scale = (LINK as f32).sqrt();
    let score = |(column, features): (&Option<Vec<f32>>, &[f32; FEATURES])| match column {
        Some(column) => dot(vector, column) / scale + dot(minds, features),
        None => NEVER,
    };
    none.iter().copied().chain(columns.iter().zip(features).map(score)).collect()
}

/// Runs of words with one role: their words, the role, and the mean probability of the tags.
fn runs(tags: &[Vec<f32>]) -> Vec<(Range<usize>, Role, f32)> {
    let chosen = likeliest(tags);
    let mut found = Vec::new();
    let mut at = 0;
    while at < chosen.len() {
        if chosen[at] == 0 {
            at += 1;
            continue;
        }
        let role = (chosen[at] - 1) / 2;
        let from = at;
        at += 1;
        while at < chosen.len() && chosen[at] == 2 + 2 * role {
            at += 1;
        }
        let sure = (from..at).map(|word| tags[word][chosen[word]]).sum::<f32>() / (at - from) as f32;
        found.push((from..at, Role::ALL[role], sure));
    }
    found
}

/// The likeliest sequence of tags in which a word goes on with a role only behind one that has it (Viterbi). Tag 0 is no role, 1 + 2r begins
/// role r, 2 + 2r goes on with it.
fn likeliest(tags: &[Vec<f32>]) -> Vec<usize> {
    const LEAST: f32 = 1e-9;
    let Some(first) = tags.first() else { return Vec::new() };
    let goes_on = |tag: usize| tag > 0 && tag.is_multiple_of(2);
    let mut scores: Vec<f32> =
        (0..first.len()).map(|tag| if goes_on(tag) { f32::NEG_INFINITY } else { first[tag].max(LEAST).ln() }).collect();
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(tags.len());
    for word in &tags[1..] {
        let anywhere = best(&scores);
        let from: Vec<usize> = (0..word.len())
            .map(|tag| match goes_on(tag) {
                true if scores[tag] >= scores[tag - 1] => tag,
                true => tag - 1,
                false => anywhere,
            })
            .collect();
        scores = from.iter().zip(word).map(|(from, p)| scores[*from] + p.max(LEAST).ln()).collect();
        before.push(from);
    }
    let mut tag = best(&scores);
    let mut chosen = vec![tag];
    for from in before.iter().rev() {
        tag = from[tag];
        chosen.push(tag);
    }
    chosen.reverse();
    chosen
}

fn best(scores: &[f32]) -> usize {
    let mut best = 0;
    for (place, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = place;
        }
    }
    best
}

fn softmax(mut scores: Vec<f32>) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - greatest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_goes_on_only_behind_itself() {
        // None, begins A, goes on A, begins B, goes on B.
        let tags = [vec![0.1, 0.5, 0.0, 0.4, 0.0], vec![0.1, 0.1, 0.3, 0.0, 0.5], vec![0.9, 0.1, 0.0, 0.0, 0.0]];
        assert_eq!(likeliest(&tags), [3, 4, 0]);
        assert_eq!(likeliest(&[]), Vec::<usize>::new());
    }
}
