//! Annotated turns as examples for training: the model's input, and what it should answer.

use std::ops::Range;

use serde_json::{Value, json};

use super::{Conversation, KnownTable, LabelledTurn};
use crate::reader::demands::schema_of_demands;
use crate::reader::input::{FEATURES, Input, Pieces, features};
use crate::reader::schema::Schema;
use crate::reader::span::{Function, How, Operator, PARTS, Role, TurnReading};
use crate::reader::value_match::{VALUE_FEATURES, value_features};
use crate::reader::{Reader, ValueMatch};
use lakeward_core::plan::DatePart;
use lakeward_core::request::{Act, Intention, Label, OperationKind};

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

/// The turns of a conversation without a table, one JSON object each: the vector that the built-in reader makes of it, in thousandths, and its
/// act, for `scripts/train_acts.py`.
pub fn search_acts(conversation: &Conversation) -> Vec<Value> {
    let example = |labelled: LabelledTurn<'_>| {
        let act = labelled.turn.acts.first()?;
        let encoded =
            Reader::builtin().encode(&labelled.turn.text, labelled.previous(), &labelled.schema, &|_, _| false);
        let vector: Vec<i32> = encoded.turn.iter().map(|value| (value * 1000.0).round() as i32).collect();
        Some(json!({ "act": act.place(), "vector": vector }))
    };
    match (&conversation.table, &conversation.sheet) {
        (None, None) => conversation.labelled(None).into_iter().filter_map(example).collect(),
        _ => Vec::new(),
    }
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

fn example(text: &str, input: &Input, reading: &TurnReading, schema: &Schema, matches: &[ValueMatch]) -> Value {
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
