//! The trained model: an encoder over the input, a role for each word, and for each span its columns and attributes.
//!
//! `scripts/train_reader.py` makes the weights. They are those of a small encoder, in signed bytes; its word pieces are shared with the
//! sentence model. What is computed here is what that script computes, so that a span has the same scores in both. What a turn does while there is
//! no table has weights of its own over the same vector (`scripts/train_acts.py`).

use std::ops::Range;
use std::sync::OnceLock;

use lakeward_models::embed::{PieceEncoder, SentenceModel, dot_of_sixteen as dot, gelu};
use safetensors::SafeTensors;

use super::demands::schema_of_demands;
use super::grounding;
use super::input::{FEATURES, Input, Pieces, features};
use super::readings::Slot;
use super::schema::{Schema, SchemaColumn, StandIn};
use super::span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
use super::tags::Run;
use super::value_match::{Holds, VALUE_FEATURES, ValueMatch, value_features};
use lakeward_core::request::{Act, Intention, Label, OperationKind};

static WEIGHTS: &[u8] = include_bytes!("model/reader.safetensors");
static ACTS: &[u8] = include_bytes!("model/acts.safetensors");

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

/// The built-in reader.
pub struct Reader {
    encoder: PieceEncoder,
    tags: Head,
    act: Head,
    search_act: Head,
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
        BUILT_IN.get_or_init(|| match Self::open(WEIGHTS, ACTS) {
            Ok(reader) => reader,
            // The bytes are part of the program; a test opens them.
            Err(what) => unreachable!("the reader inside the program: {what}"),
        })
    }

    /// Identifies what the reader inside the program and the classifier beside it have learned: `reader@` and a hash of their weights.
    pub fn builtin_id() -> &'static str {
        static ID: OnceLock<String> = OnceLock::new();
        ID.get_or_init(|| {
            let mut hash = xxhash_rust::xxh3::Xxh3::new();
            hash.update(WEIGHTS);
            hash.update(ACTS);
            hash.update(crate::signals::classifier::BUILTIN);
            format!("reader@{:08x}", hash.digest() >> 32)
        })
    }

    fn open(bytes: &'static [u8], acts: &[u8]) -> Result<Self, String> {
        let encoder = SentenceModel::with_layers(bytes)?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let acts = SafeTensors::deserialize(acts).map_err(|error| error.to_string())?;
        let hidden = encoder.dims();
        let spans = file.tensor("head.span.bias").map_err(|error| error.to_string())?.shape().iter().product();
        let tags = file.tensor("head.tags.bias").map_err(|error| error.to_string())?.shape().iter().product();
        let of_text = |name, outputs| Head::read(&file, name, hidden, outputs);
        let of_span = |name, outputs| Head::read(&file, name, spans, outputs);
        let link = LINK + FEATURES + 1;
        Ok(Self {
            tags: of_text("tags", tags)?,
            act: of_text("act", Act::ALL.len())?,
            search_act: Head::read(&acts, "search_act", hidden, Act::ALL.len())?,
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
        self.readings(text, previous, schema, holds, 1).swap_remove(0).turn
    }

    /// What the encoder and the heads that look at words and turns make of a text.
    pub(super) fn encode<'a>(
        &self,
        text: &'a str,
        previous: &str,
        schema: &'a Schema,
        holds: Holds<'_>,
    ) -> Encoded<'a> {
        let previous = if previous.trim().eq_ignore_ascii_case(text.trim()) { "" } else { previous };
        let matches = schema.matches(text, holds);
        let input = Input::new(&BuiltInPieces, text, previous, schema, &matches);
        let hidden = self.encoder.dims();
        let rows = Rows { rows: self.encoder.encode(&input.pieces), hidden };
        let words: Vec<Vec<f32>> = input.word_pieces.iter().map(|pieces| rows.mean(pieces)).collect();
        let columns = input
            .column_pieces
            .iter()
            .map(|pieces| (!pieces.is_empty()).then(|| self.column.apply(&rows.mean(pieces))))
            .collect();
        let turn = rows.row(0).to_vec();
        // The first request is often about rows of a table that is still to be found.
        let act = if schema.is_of_catalogue && !previous.is_empty() { &self.search_act } else { &self.act };
        Encoded {
            acts: softmax(act.apply(&turn)),
            second_act: Act::ALL.get(best(&self.second_act.apply(&turn))).copied(),
            on_result: softmax(self.on_result.apply(&turn)),
            tags: words.iter().map(|word| softmax(self.tags.apply(word))).collect(),
            text,
            schema,
            input,
            matches,
            rows,
            words,
            columns,
            turn,
        }
    }

    /// Probabilities of the operation that a text asks for and of what it is for, in the order of their classes; `previous` is the turn before.
    pub fn purpose(&self, text: &str, previous: &str) -> (Vec<f32>, Vec<f32>) {
        let input = Input::new(&BuiltInPieces, text, previous, &schema_of_demands(&[]), &[]);
        let rows = self.encoder.encode(&input.pieces);
        let turn = rows.get(..self.encoder.dims()).unwrap_or_default();
        (softmax(self.operation.apply(turn)), softmax(self.intention.apply(turn)))
    }

    /// A run of words as a span, with what else could be chosen of it and the logarithm of how likely that is beside what is chosen. `groups`: there
    /// are groups whose rows can be counted; `forced` chooses a class.
    pub(super) fn span(
        &self,
        of: &Encoded<'_>,
        run: &Run,
        groups: bool,
        forced: Option<(Slot, usize)>,
    ) -> (Span, Vec<(Slot, usize, f32)>) {
        let Encoded { text, input, schema, matches, words, columns, turn, .. } = of;
        let (range, role) = (run.words.clone(), run.role);
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
        let mut others = Vec::new();
        // The least sure of what matters for the role.
        let mut least = run.sure;
        let mut choose = |scores: Vec<f32>, matters: bool, slot: Slot| {
            let scores = softmax(scores);
            let chosen = forced.filter(|(own, _)| *own == slot).map_or_else(|| best(&scores), |(_, class)| class);
            if matters {
                least = least.min(scores[chosen]);
                let beside = scores.iter().enumerate().filter(|(class, _)| *class != chosen);
                others.extend(beside.map(|(class, likely)| (slot, class, (likely / scores[chosen]).ln())));
            }
            chosen
        };
        let compares = matches!(role, Role::Value | Role::Test | Role::Compare);
        span.operator = Operator::ALL[choose(allowed(self.operator.apply(&vector), role), compares, Slot::Operator)];
        let computes = matches!(role, Role::Measure | Role::Derive);
        span.function = Function::ALL.get(choose(self.function.apply(&vector), computes, Slot::Function)).copied();
        span.descending = choose(self.descending.apply(&vector), role == Role::Order, Slot::Descending) == 1;
        let dated = matches!(role, Role::Value | Role::Group);
        span.part = PARTS.get(choose(self.part.apply(&vector), dated, Slot::Part)).copied();
        span.how = How::ALL[choose(self.how.apply(&vector), role == Role::Table, Slot::How)];
        span.unwanted = best(&self.unwanted.apply(&vector)) == 1;
        let features = features(text, range.clone(), input, schema, matches);
        let linked = |head: &Head| {
            let mut scores = link(&head.apply(&vector), columns, &features);
            let counts = |column: &SchemaColumn| column.stand_in == Some(StandIn::Rows);
            if let Some(rows) = schema.columns.iter().position(counts).filter(|_| !groups) {
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
                let scores = with_whole_value(linked(&self.first), range, role, of);
                if role == Role::Value {
                    span.others = likeliest_columns(softmax(scores.clone()));
                    span.likely_column = span.others.first().map_or(0.0, |(_, likely)| *likely);
                }
                choose(scores, of_columns, Slot::First)
            }
        };
        span.columns.extend(first.checked_sub(1));
        span.unknown_column = first == 0;
        if matches!(role, Role::Compare | Role::Measure | Role::Derive) {
            let second = choose(linked(&self.second), role != Role::Measure, Slot::Second);
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
            let (value, sure) = self.value_meant(of, &span, column, &vector);
            span.confidence = span.confidence.min(sure);
            span.value = value;
        }
        (span, others)
    }

    /// The value of a column that a span means, and how surely: the one that it names, else the one of those shown that the model takes it for;
    /// none where it says neither.
    fn value_meant(&self, of: &Encoded<'_>, span: &Span, column: usize, vector: &[f32]) -> (Option<String>, f32) {
        let named = value_of(span, column, &of.input, &of.matches);
        if let Some(named) = named.filter(|named| named.likeness >= 1.0) {
            return (Some(named.value.clone()), 1.0);
        }
        let shown = &of.input.values[column];
        let wanted = self.value.apply(vector);
        let (link, rest) = wanted.split_at(LINK);
        let (minds, none) = rest.split_at(VALUE_FEATURES);
        let scale = (LINK as f32).sqrt();
        let score = |(value, pieces): &(String, Range<usize>)| {
            dot(link, &self.value_key.apply(&of.rows.mean(pieces))) / scale
                + dot(minds, &value_features(&span.words, value))
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

/// Vectors of the encoder, one a word piece.
pub(super) struct Rows {
    rows: Vec<f32>,
    hidden: usize,
}

impl Rows {
    fn row(&self, at: usize) -> &[f32] {
        self.rows.get(at * self.hidden..(at + 1) * self.hidden).unwrap_or_default()
    }

    fn mean(&self, pieces: &Range<usize>) -> Vec<f32> {
        let mut sum = vec![0.0f32; self.hidden];
        for at in pieces.clone() {
            sum.iter_mut().zip(self.row(at)).for_each(|(sum, value)| *sum += value);
        }
        sum.iter_mut().for_each(|value| *value /= pieces.len().max(1) as f32);
        sum
    }
}

/// What the readings of a text are told from.
pub(super) struct Encoded<'a> {
    pub text: &'a str,
    pub schema: &'a Schema,
    pub input: Input,
    pub matches: Vec<ValueMatch>,
    rows: Rows,
    /// A vector for each word of the text, for each column that had room, and for the turn.
    words: Vec<Vec<f32>>,
    columns: Vec<Option<Vec<f32>>>,
    pub turn: Vec<f32>,
    /// Probabilities of the tags of each word.
    pub tags: Vec<Vec<f32>>,
    /// Probabilities of the acts, in the order of [`Act::ALL`].
    pub acts: Vec<f32>,
    /// A second act, if one is said.
    pub second_act: Option<Act>,
    /// Probabilities that it is about the source, and about the table that was just made.
    pub on_result: Vec<f32>,
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
fn with_whole_value(mut scores: Vec<f32>, words: Range<usize>, role: Role, of: &Encoded<'_>) -> Vec<f32> {
    let Some(first) = best(&scores).checked_sub(1).filter(|_| role == Role::Value) else { return scores };
    let column = &of.schema.columns[first];
    let has: Vec<usize> = grounding::with_value(words, &of.matches).map(|found| found.column).collect();
    if column.has_words() && !column.of_result && !has.is_empty() && !has.contains(&first) {
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

pub(super) fn best(scores: &[f32]) -> usize {
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
