//! Annotated turns, each read over the table at hand and over another one that a search for its words finds: what
//! [`Explained::other_is_meant`] is fitted on (`scripts/other_table.py`).

use serde::Serialize;

use super::annotated::{Conversation, LabelledTurn, Standing};
use super::{Explained, FoundBeside, READINGS, Reader, assemble, meanings};
use lakeward_core::request::Act;

/// Tables found that a turn is read over.
const READ: usize = 3;

/// A turn read over the table at hand and over one that a search for its words finds.
#[derive(Debug, Serialize)]
pub struct TurnBeside {
    /// The turn.
    pub text: String,
    /// Whether it begins a conversation about another table than the one at hand.
    pub begins: bool,
    /// Whether it is about the table found.
    pub is_it: bool,
    /// Whether it is read as a request of its own.
    pub new: bool,
    /// What the table at hand explains.
    pub own: Explained,
    /// What the other one explains.
    pub other: Explained,
    /// What the search tells.
    pub found: FoundBeside,
}

/// Every later turn of the conversations at its own table, and every first one at the table of the conversation before, beside what `search` finds: ids
/// of conversations with the probability that their table serves, best first. Turns that correct, take back, ask or combine tables are left out.
pub fn turns_beside(all: &[Conversation], search: &dyn Fn(&str) -> Vec<(String, f64)>) -> Vec<TurnBeside> {
    let all: Vec<&Conversation> = all.iter().filter(|conversation| conversation.sheet.is_some()).collect();
    let mut pairs = Vec::new();
    for (at, conversation) in all.iter().enumerate() {
        let labelled = conversation.labelled(None);
        let next = all[(at + 1) % all.len()].labelled(None);
        let own = labelled.iter().skip(1).map(|turn| (turn, turn, conversation.id.as_str()));
        let begun = labelled.last().into_iter().zip(next.first());
        let begun = begun.map(|(current, turn)| (current, turn, all[(at + 1) % all.len()].id.as_str()));
        for (current, turn, about) in own.chain(begun) {
            let text = turn.turn.text.as_str();
            let previous = if about == conversation.id { current.previous() } else { current.turn.text.as_str() };
            let Some((is_new, explained)) = read(text, previous, current) else { continue };
            let found = search(text);
            let own_relevance = found.iter().find(|(id, _)| *id == conversation.id).map_or(0.0, |(_, likely)| *likely);
            let others = found.into_iter().filter(|(id, _)| *id != conversation.id).take(READ);
            for (rank, (id, relevance)) in others.enumerate() {
                let Some(other) = all.iter().find(|other| other.id == id) else { continue };
                let theirs = other.labelled(None);
                let Some((_, theirs)) = theirs.first().and_then(|first| read(text, previous, first)) else { continue };
                pairs.push(TurnBeside {
                    text: text.to_string(),
                    begins: about != conversation.id,
                    is_it: id == about,
                    new: is_new,
                    own: explained,
                    other: theirs,
                    found: FoundBeside { rank, relevance, own_relevance },
                });
            }
        }
    }
    pairs
}

/// Whether a text is new over the columns of a turn, and what they explain of it.
fn read(text: &str, previous: &str, over: &LabelledTurn<'_>) -> Option<(bool, Explained)> {
    let Standing::Plan(plan) = &over.base else { return None };
    let readings = Reader::builtin().readings(text, previous, &over.schema, &|_, _| false, READINGS);
    let meant = meanings(readings, plan, &|turn| assemble(turn, &over.schema, plan)).into_iter().next()?;
    let (turn, made) = (meant.turn, meant.assembly);
    let continues = !matches!(turn.acts.first(), Some(Act::New | Act::Refine)) || !made.tables.is_empty();
    (!continues).then(|| (turn.acts.first() == Some(&Act::New), Explained::of(&turn, &over.schema, &made)))
}
