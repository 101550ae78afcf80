//! What a request says in its session: its signals, what it wants of a catalogue, the words to search by, the table at hand.

use super::model;
use super::{Agent, Request};
use crate::recommend::task_spec::TaskSpec;
use crate::recommend::{Choice, question};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Constraints, Input, OperationKind, Ranked, Signals};
use lakeward_models::llm::LanguageModel;
use lakeward_reading::grounding::LakeGrounding;
use lakeward_reading::intent::Conflict;
use lakeward_reading::signals::{self, context::Context};
use lakeward_search::{QueryTable, text_search};

/// Tables of the turn before whose headers a request may name.
const SHOWN: usize = 5;

/// What a request says in its session: the first stage of a turn. Nothing has been searched yet.
pub(super) struct Reading<'r> {
    pub(super) request: &'r Request,
    /// The words to search by.
    pub(super) words: String,
    pub(super) signals: Signals,
    /// A question about what is wanted of the catalogue.
    pub(super) conflict: Option<Conflict>,
    /// The working table, and it opened.
    pub(super) working: Option<Input>,
    pub(super) query: Option<QueryTable>,
    /// Its key column, where the request names one.
    pub(super) column: Option<usize>,
    /// The choice that the request makes among those of the question before.
    pub(super) answered: Option<Choice>,
}

impl Reading<'_> {
    /// What the intention asks of tables, as the request and the table at hand change it.
    pub(super) fn spec(&self) -> TaskSpec {
        let Signals { operation, intention, constraints, .. } = &self.signals;
        TaskSpec::of(intention.label).adjusted(operation, constraints, self.query.is_some())
    }
}

impl Agent<'_> {
    /// Reads a request in its session; a table that it names is the working table from now on.
    ///
    /// # Errors
    /// As [`Agent::turn`].
    pub(super) fn read<'r>(
        &self,
        session: &Session,
        request: &'r Request,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Reading<'r>> {
        let named = request.table.as_deref().map(|name| self.input(name)).transpose()?;
        let working = named.or_else(|| session.working());
        if request.text.trim().is_empty() && working.is_none() {
            return Err(Error::Usage("ask something, or name a table".into()));
        }
        let query = working.as_ref().map(|input| self.open_input(session, input)).transpose()?;
        let column = match (&request.column, &query) {
            (Some(name), Some(query)) => Some(query.column(name)?),
            (Some(name), None) => return Err(Error::Usage(format!("column `{name}` of which table? name it, too"))),
            (None, _) => None,
        };
        let answered = answered(session, &request.text);
        let mut signals = self.signals(session, &request.text, answered.as_ref(), query.as_ref());
        if let (Some(model), None, false) = (model, &answered, request.text.trim().is_empty()) {
            let earlier = self.window(session);
            if let Some((operation, intention)) = model::signals(model, &request.text, &earlier) {
                signals.operation = model::with_voice(&signals.operation, operation, self.config.llm.reading);
                signals.intention = model::with_voice(&signals.intention, intention, self.config.llm.reading);
            }
        }
        let (intent, conflict) = self.demands(session, &request.text, answered.as_ref(), model)?;
        signals.intent = intent;
        let words = match session.turns.is_empty() && text_search::reads_texts(self.index, self.embedder) {
            // As it is said: that model reads sentences.
            true => request.text.trim().to_string(),
            false => search_text(session, &request.text, answered.as_ref(), &signals.constraints),
        };
        Ok(Reading { request, words, signals, conflict, working, query, column, answered })
    }

    /// The signals of a request in its session.
    fn signals(&self, session: &Session, text: &str, answered: Option<&Choice>, query: Option<&QueryTable>) -> Signals {
        if let (Some(choice), Some(latest)) = (answered, session.turns.last()) {
            let before = &latest.signals;
            let operation = match choice.operation {
                Some(kind) => before.operation.certain(kind),
                None => without_clarify(&before.operation),
            };
            return Signals { operation, overrides: Vec::new(), ..before.clone() };
        }
        let context = Context {
            texts: self.window(session),
            last_turn: session.turns.last().map_or(0, |turn| turn.number),
            constraints: session.constraints.clone(),
        };
        signals::read(text, &context, &LakeGrounding::new(self.index, self.headers_in_view(session, query)))
    }

    /// The texts of the turns that a request is read with, oldest first.
    pub(super) fn window<'s>(&self, session: &'s Session) -> Vec<&'s str> {
        let latest = &session.turns[session.turns.len().saturating_sub(self.config.conversation.window)..];
        latest.iter().map(|turn| turn.text.as_str()).collect()
    }

    /// The headers of the working table and of the tables shown last.
    fn headers_in_view(&self, session: &Session, query: Option<&QueryTable>) -> Vec<String> {
        let own = query.into_iter().flat_map(|query| query.entry.profile.columns.clone());
        let shown = session.turns.last().into_iter().flat_map(|turn| turn.tables.iter().take(SHOWN));
        let theirs = shown
            .filter_map(|id| self.index.dataset(self.index.get(id).ok()??).ok())
            .flat_map(|dataset| dataset.columns().to_vec());
        own.chain(theirs).map(|column| column.name).collect()
    }
}

/// The choice that `text` makes, where the latest turn asked a question first of all.
fn answered(session: &Session, text: &str) -> Option<Choice> {
    let latest = session.turns.last()?.recommendation.as_ref()?;
    let question = latest.operations.first()?.question.as_ref()?;
    question::understood(question, text).cloned()
}

/// Probabilities of the operations where asking is not one of them: once the question is answered, and for what a table
/// serves. Where hardly anything is left of the others, looking at one table is likeliest.
pub(super) fn without_clarify(asked: &Ranked<OperationKind>) -> Ranked<OperationKind> {
    const LEAST: f64 = 0.02;
    let weight = |kind: OperationKind, p: f64| match kind {
        OperationKind::Clarify => 0.0,
        OperationKind::Filter => p + 2.0 * LEAST,
        OperationKind::Join | OperationKind::Union | OperationKind::Aggregate => p + LEAST,
    };
    let sum: f64 = asked.all.iter().map(|(kind, p)| weight(*kind, *p)).sum();
    let mut all: Vec<(OperationKind, f64)> =
        asked.all.iter().map(|(kind, p)| (*kind, weight(*kind, *p) / sum)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ranked { label: all[0].0, confidence: all[0].1, all }
}

/// What is searched for: the request's words that say what it is about; in a conversation the topic and the constraints in
/// force with them.
fn search_text(session: &Session, text: &str, answered: Option<&Choice>, constraints: &Constraints) -> String {
    let Some(latest) = session.turns.last() else { return signals::content_words(text) };
    let words = signals::content_words(if answered.is_some() { &latest.text } else { text });
    let mut parts: Vec<&str> = Vec::new();
    parts.extend(constraints.topic.as_deref());
    parts.extend(constraints.geography.iter().map(String::as_str));
    parts.extend(constraints.required_columns.iter().map(String::as_str));
    parts.push(&words);
    parts.join(" ")
}
