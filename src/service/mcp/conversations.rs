//! Conversations of agents: kept in memory, so that a tool that only reads writes nothing to the lake. The oldest is forgotten first.

use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Listing, Page, Paging, json_bytes, lake_text};
use super::cards::{OperationCard, QuestionCard, TableCard};
use super::names;
use super::searches::generation;
use crate::service::random_id::random_id;
use lakeward::{Lakeward, Request, Session};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;

/// Conversations that are kept.
const MOST: usize = 64;
/// Tables of an answer.
const TABLES: usize = 10;
/// Notes that are shown.
const NOTES: usize = 5;
/// Characters of a note.
const NOTE: usize = 200;

/// A request in plain language.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Ask {
    /// The task or the next turn in plain words: "add population to this", "only 2019", "the second one".
    pub request: String,
    /// Id of the table of the lake to start from.
    #[serde(default)]
    pub table: Option<String>,
    /// The `session` of an answer, to go on in its conversation.
    #[serde(default)]
    pub session: Option<String>,
    /// The part of the list of tables.
    #[serde(default)]
    pub max_tokens: Option<u32>,
}

/// What was understood, and what to do next.
#[derive(Debug, Serialize)]
pub struct TurnCard {
    /// Give it with the next turn of this conversation.
    pub session: String,
    /// What was understood.
    pub understood: String,
    /// Whether nothing in the lake seems to answer: the tables are but the nearest.
    pub nothing_found: bool,
    /// The answer in words, each sentence with the ids it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// Operations, likeliest first.
    pub operations: Vec<OperationCard>,
    /// A question to put to the user before going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionCard>,
    /// What was left out or could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl TurnCard {
    /// Leaves out what counts least; whether there was something.
    fn shrink(&mut self) -> bool {
        self.notes.pop().is_some()
            || self.summary.pop().is_some()
            || self.operations.len() > 1 && self.operations.pop().is_some()
    }
}

/// The conversations, the one used last at the end.
#[derive(Default)]
pub struct Conversations {
    kept: Mutex<Vec<(String, Session)>>,
}

impl Conversations {
    /// The answer to a turn, whose conversation is kept.
    pub fn ask(&self, lake: &Lakeward, asked: &Ask) -> Result<Answer<TableCard, TurnCard>> {
        let mut session = match asked.session.as_deref() {
            Some(id) => self.get(id)?,
            None => lake.new_session(),
        };
        let id = match asked.session.clone() {
            Some(id) => id,
            None => random_id::<16>()?,
        };
        let table = asked.table.as_deref().map(|name| names::table_id(lake, name)).transpose()?;
        let request = Request { text: asked.request.clone(), table, column: None, k: TABLES };
        let (answer, _) = lake.ask(&mut session, &request)?;
        self.put(id.clone(), session);
        let operations = answer.worth_showing().enumerate();
        let question = answer.worth_showing().next().and_then(|first| first.question.as_ref());
        let mut about = TurnCard {
            session: id,
            understood: lake_text(&answer.signals.understood(), NOTE),
            nothing_found: answer.nothing_found,
            summary: answer.summary.iter().map(|sentence| lake_text(&sentence.cited(), NOTE)).collect(),
            operations: operations.map(|(place, operation)| OperationCard::of(place + 1, operation)).collect(),
            question: question.map(QuestionCard::of),
            notes: answer.notes.iter().take(NOTES).map(|note| lake_text(note, NOTE)).collect(),
        };
        let hint = match (answer.nothing_found, about.question.is_some()) {
            (_, true) => "put the question to the user and give the answer with this `session`",
            (true, _) => "nothing in the lake seems to answer this: say so, rather than use the nearest",
            _ => "`preview_operation` with this `session` and a number shows what an operation would do",
        };
        let items: Vec<TableCard> = answer.tables.iter().map(TableCard::recommended).collect();
        let paging = Paging { cursor: None, max_tokens: asked.max_tokens };
        let page = Page::of(&paging, &asked.request, generation(lake))?;
        while json_bytes(&about) > page.about_bytes() && about.shrink() {}
        let total = Some(items.len());
        let mut answer = page.answer(Listing { about: Some(about), items, total, more: false, hint: hint.to_string() });
        // A conversation has no second page: its next turn may ask for more.
        answer.next_cursor = None;
        Ok(answer)
    }

    /// The plan of an operation of the latest answer.
    ///
    /// # Errors
    /// [`Error::Usage`] for a conversation that is not kept, one without an answer, and those of
    /// [`lakeward::answers::Recommendation::plan`].
    pub fn plan(&self, id: &str, operation: usize) -> Result<Plan> {
        let session = self.get(id)?;
        let answer = session.latest().and_then(|turn| turn.recommendation.as_ref());
        Ok(answer.ok_or_else(|| forgotten(id))?.plan(operation)?.clone())
    }

    fn get(&self, id: &str) -> Result<Session> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == id).map(|(_, session)| session.clone()).ok_or_else(|| forgotten(id))
    }

    fn put(&self, id: String, session: Session) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| *other != id);
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((id, session));
    }
}

fn forgotten(id: &str) -> Error {
    let id = lake_text(id, 40);
    Error::usage(format!("there is no conversation `{id}` any more; call `ask` without `session` to begin one"))
}
