//! How the built-in reader reads annotated turns.

use super::{Conversation, KnownTable, LabelledTurn, Standing};
use crate::reader::readings::{READINGS, meanings};
use crate::reader::{Reader, RequestedTable, assemble};

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
        let mut schema = schema.clone();
        schema.add_computed(&turn.text);
        let schema = &schema;
        let holds = conversation.holds(schema, table);
        let read = |most| Reader::builtin().readings(&turn.text, labelled.previous(), schema, &holds, most);
        let (reading, certainty) = match base {
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
        let (said, wanted, lost) = base.after(&reading, schema, at + 1);
        let words = |standing: &Standing, tables: &[RequestedTable]| {
            let hows: Vec<&str> = tables.iter().map(|table| table.how.name()).collect();
            format!("{standing} {}", hows.join(" "))
        };
        let texts = [turn.text.clone(), words(after, tables), words(&said, &wanted)];
        let hows = |tables: &[RequestedTable]| tables.iter().map(|table| table.how).collect::<Vec<_>>();
        found.push(TurnCheck {
            over_table: matches!(base, Standing::Plan(_)),
            act: reading.acts.first() == meant.acts.first(),
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
