//! Lakeward's agent in conversations that are measured: with a simulated user, and with an analyst who carries out what is offered.

use std::path::PathBuf;

use super::interrupt;
use lakeward::{Lakeward, functions};
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_agent::{Request, execution};
use lakeward_core::error::{Error, Result};
use lakeward_core::message::Message;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Input, Label, OperationKind};
use lakeward_eval::outcomes::{Analyst, TurnResult};
use lakeward_eval::simulation::{Conversation, Reply};
use lakeward_operate::{LakeContext, Limits, export};

/// The file of a turn's table, in the folder of the sessions.
const TABLE: &str = "table.csv";

/// Tables requested per turn.
const TABLES: usize = 10;

/// A conversation with an opened lake that is not stored.
pub struct LakewardConversation<'a> {
    lakeward: &'a Lakeward,
    session: Session,
}

impl<'a> LakewardConversation<'a> {
    /// A new conversation.
    pub fn new(lakeward: &'a Lakeward) -> Self {
        Self { lakeward, session: lakeward.new_session() }
    }
}

impl Conversation for LakewardConversation<'_> {
    fn say(&mut self, text: &str) -> Result<Reply> {
        let request = Request { text: text.to_string(), table: None, column: None, k: TABLES };
        let (answer, provenance) = self.lakeward.ask(&mut self.session, &request)?;
        let shown = answer.tables.iter().map(|table| (table.table.clone(), table.title.clone())).collect();
        let tokens = provenance.model.map_or(0, |used| used.spent.usage.tokens());
        Ok(Reply { shown, tokens })
    }

    fn turn_down(&mut self, table: &str) {
        self.session.reject(table);
    }
}

/// An analyst at the keyboard of `lakeward repl`, who types what the benchmark says and runs the first operation of each answer.
pub struct LakewardAnalyst {
    lakeward: Lakeward,
    session: Session,
    /// Created by the first operation of a conversation.
    context: Option<LakeContext>,
    /// Whether what is offered is carried out apart from the session, which goes on as if it had not been.
    only_looks: bool,
}

impl LakewardAnalyst {
    /// An analyst whose sessions are those of `lakeward`.
    pub fn new(lakeward: Lakeward) -> Self {
        Self { session: lakeward.new_session(), lakeward, context: None, only_looks: false }
    }

    /// One who never carries out what is offered, only says the next thing.
    pub fn only_looking(self) -> Self {
        Self { only_looks: true, ..self }
    }

    fn save(&mut self) -> Result<()> {
        self.lakeward.sessions().save(&mut self.session)
    }

    /// The answer to `text`, after which the session goes on.
    fn ask(&mut self, text: &str) -> Result<Recommendation> {
        let request = Request { text: text.to_string(), ..Request::default() };
        let mut session = self.session.clone();
        let (answer, _) = self.lakeward.ask(&mut session, &request)?;
        self.session = session;
        self.save()?;
        Ok(answer.into_inner())
    }

    /// The queries of the conversation, whose steps they can name.
    fn context(&mut self) -> Result<&LakeContext> {
        let context = match self.context.take() {
            Some(context) => context,
            None => functions::context(&self.lakeward, Limits::default())?.stopping_when(interrupt::requested),
        };
        execution::connect(&context, &self.lakeward.sessions(), &self.session)?;
        Ok(self.context.insert(context))
    }

    /// Carries `plan` out; the warnings that came with it.
    fn carry_out(&mut self, plan: &Plan) -> Result<Vec<String>> {
        let (store, mut session) = (self.lakeward.sessions(), self.session.clone());
        let limits = execution::limits(&session);
        let context = self.context()?;
        let preview = execution::preview(context, &session, plan, &limits)?;
        let outcome = execution::run(context, &store, &mut session, plan, &limits)?;
        self.session = session;
        self.save()?;
        let of_steps = 1..=preview.steps.len();
        let of_plan = preview.warnings.into_iter().filter(|warning| of_steps.contains(&warning.step));
        Ok(outcome.notes.iter().map(ToString::to_string).chain(of_plan.map(|warning| warning.text)).collect())
    }

    /// The working table as a file.
    fn exported(&mut self) -> Result<Option<PathBuf>> {
        let Some(working) = self.session.working() else { return Ok(None) };
        let path = self.lakeward.sessions().folder().join(TABLE);
        export(self.context()?, &working, &path, true)?;
        Ok(Some(path))
    }

    fn answered(&mut self, text: &str) -> Result<TurnResult> {
        let before = self.session.working();
        let answer = self.ask(text)?;
        let Some(first) = answer.worth_showing().next() else {
            let said = said(&answer);
            let moved = self.session.working() != before;
            let table = if moved { self.exported()? } else { None };
            return Ok(TurnResult {
                asked: table.is_none() && said.contains('?'),
                table,
                said,
                ..TurnResult::default()
            });
        };
        let said = format!("{}: {}", first.kind.name(), first.reason);
        if first.kind == OperationKind::Clarify {
            return Ok(TurnResult { asked: true, said, ..TurnResult::default() });
        }
        let doubts = first.preconditions.iter().filter(|part| !part.met).map(|part| part.what.to_string());
        let asked = self.session.clone();
        let warnings = doubts.chain(self.carry_out(answer.plan(1)?)?).collect();
        let table = self.exported()?;
        if self.only_looks {
            let revision = std::mem::replace(&mut self.session, asked).revision;
            self.session.revision = revision;
            self.save()?;
        }
        Ok(TurnResult { table, asked: false, warnings, likelihood: Some(first.score), said })
    }
}

impl Analyst for LakewardAnalyst {
    fn begin(&mut self, start: Option<&str>) -> Result<()> {
        let lake = self.lakeward.place().lake.display().to_string();
        self.context = None;
        self.session = self.lakeward.sessions().create(None, &lake)?;
        if let Some(table) = start {
            self.lakeward.index().find(table)?;
            self.session.use_table(Input::Table(table.to_string()));
            self.save()?;
        }
        Ok(())
    }

    fn turn(&mut self, text: &str) -> Result<TurnResult> {
        match self.answered(text) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => Ok(TurnResult { said: error.to_string(), ..TurnResult::default() }),
            answered => answered,
        }
    }
}

/// What an answer without operations says.
fn said(answer: &Recommendation) -> String {
    let sentences = answer.summary.iter().map(|sentence| sentence.cited());
    Message::list("\n", sentences.chain(answer.notes.iter().cloned())).into()
}
