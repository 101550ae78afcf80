//! Operations in a conversation: show SQL, preview, run, undo; queries and exports.

use std::path::Path;

use super::command::Keys;
use super::{Repl, Status};
use crate::cli::printer::{self, conversation};
use crate::cli::sessions::write_new;
use crate::cli::{interrupt, sql};
use crate::messages::{count, fill, say};
use lakeward::functions;
use lakeward_agent::execution;
use lakeward_agent::session::transcript;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::plan::{Edit, Plan, Step};
use lakeward_core::request::Label;
use lakeward_operate::{LakeContext, Limits, PlanPreview, plan_preview, plan_sql};

/// Most rows of a query that are shown.
const ROWS: usize = 100;

impl Repl<'_> {
    /// The numbered operation of the latest answer, or its first, with its number.
    fn operation(&self, number: Option<usize>) -> Result<(usize, Plan)> {
        let Some(answer) = self.latest() else {
            return Err(Error::usage(message!("there is no operation yet; ask for something first")));
        };
        let Some(number) = number else {
            return match answer.plan(1) {
                Ok(plan) => Ok((1, plan.clone())),
                // What was not looked at is not run in its place.
                Err(error) => match answer.worth_showing().position(|ranked| ranked.runnable.is_some()) {
                    Some(place) => {
                        Err(Error::usage(message!("{}; `/run {}` runs another one", error.message(), place + 1)))
                    }
                    None => Err(Error::usage(message!("no operation of the latest answer can be run yet"))),
                },
            };
        };
        Ok((number, answer.plan(number)?.clone()))
    }

    /// Runs `work` with the tables of the lake and of the session's steps.
    fn with_context<T>(&mut self, work: impl FnOnce(&mut Self, &LakeContext) -> Result<T>) -> Result<T> {
        let context = match self.context.take() {
            Some(context) => context,
            None => functions::context(&self.lakeward, Limits::default())?.stopping_when(interrupt::requested),
        };
        let outcome = execution::connect(&context, &self.store, &self.session).and_then(|()| work(self, &context));
        self.context = Some(context);
        outcome
    }

    pub(super) fn sql_of(&mut self, number: Option<usize>) -> Result<Status> {
        let (_, plan) = self.operation(number)?;
        let text = self.with_context(|_, context| plan_sql(context, &plan))?;
        text.lines().for_each(printer::safe_line);
        Ok(Status::Done)
    }

    pub(super) fn query(&mut self, query: &str) -> Result<Status> {
        let arguments = self.arguments;
        self.with_context(|_, context| sql::show(arguments, context, query, ROWS))
    }

    /// Shows SQL and preview, then runs the operation; its result becomes the working table.
    pub(super) fn run(&mut self, number: Option<usize>, keys: Option<Keys>) -> Result<Status> {
        let (number, mut plan) = self.operation(number)?;
        let kind = plan.kind().name();
        if let Some(keys) = keys {
            let Some(Step::Join(join)) = plan.relation.steps.last_mut() else {
                return Err(Error::usage(format!("operation {number} is a {kind}; only a join compares keys")));
            };
            join.on.iter_mut().for_each(|key| key.exact = keys == Keys::AsWritten);
        }
        self.carry_out(&fill("operation {}: {}", &[&number.to_string(), say(kind)]), &plan)
    }

    /// The plan of the working table, or that of an operation with what it would do.
    pub(super) fn plan(&mut self, number: Option<usize>) -> Result<Status> {
        let json = self.arguments.json;
        let Some(number) = number else {
            let plan = self.session.plan().ok_or_else(no_working_table)?;
            if json {
                printer::json_line(&plan)?;
            } else {
                printer::plan::steps(&plan);
            }
            return Ok(Status::Done);
        };
        let (_, plan) = self.operation(Some(number))?;
        let limits = execution::limits(&self.session);
        self.with_context(|_, context| {
            let preview = plan_preview(context, &plan, &limits)?;
            if json {
                return printer::json_line(&preview);
            }
            show(&plan, &preview);
            match &preview.stopped {
                Some(reason) => printer::note(&fill("not to be run: {}", &[reason])),
                None => printer::plan::short_sample(&preview),
            }
            Ok(())
        })?;
        Ok(Status::Done)
    }

    /// Changes the plan of the working table and runs it.
    pub(super) fn edit(&mut self, edit: &Edit) -> Result<Status> {
        let plan = match (self.session.plan(), edit) {
            (None, Edit::Start(plan)) => plan.clone(),
            (before, _) => {
                let before = before.ok_or_else(no_working_table)?;
                before.edited(edit).map_err(|error| Error::usage(error.to_string()))?
            }
        };
        self.carry_out(say("the changed plan:"), &plan)
    }

    /// Shows what a plan would do and runs it; its result becomes the working table.
    fn carry_out(&mut self, title: &str, plan: &Plan) -> Result<Status> {
        let (json, limits) = (self.arguments.json, execution::limits(&self.session));
        self.with_context(|repl, context| {
            let preview = plan_preview(context, plan, &limits)?;
            if !json {
                printer::safe_line(title);
                show(plan, &preview);
            }
            if let Some(reason) = &preview.stopped {
                return Err(Error::usage(reason.clone()));
            }
            execution::changes_working_table(&repl.session, plan, &preview)?;
            let outcome = execution::run(context, &repl.store, &mut repl.session, plan, &limits)?;
            let Some(step) = repl.session.steps.last() else { return Ok(()) };
            if json {
                printer::json_line(step)?;
            } else {
                printer::line(&conversation::step_line(step));
                printer::plan::short_sample(&preview);
            }
            outcome.notes.iter().for_each(|note| printer::note(&fill("note: {}", &[&note.to_string()])));
            repl.save()
        })?;
        self.say(say("the result is now the working table; `/export FILE.csv` writes it, `/undo` undoes it"));
        Ok(Status::Done)
    }

    pub(super) fn undo(&mut self, again: bool) -> Result<Status> {
        let step = self.session.step_back(again)?;
        printer::line(&conversation::step_line(step));
        self.save()?;
        self.print_working()
    }

    pub(super) fn export(&mut self, path: &Path) -> Result<Status> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
            write_new(path, &transcript::markdown(&self.session))?;
            printer::safe_line(&fill("transcript written to {}", &[&path.display().to_string()]));
            return Ok(Status::Done);
        }
        let input = self.input_or_working(None)?;
        let exported = self.with_context(|_, context| lakeward_operate::export(context, &input, path, false))?;
        let (rows, bytes) = (exported.rows, printer::bytes(exported.written_bytes));
        let path = path.display().to_string();
        printer::safe_line(&fill("{} rows ({}) written to {}", &[&rows.to_string(), &bytes, &path]));
        exported.notes.iter().for_each(|note| printer::note(&note.to_string()));
        Ok(Status::Done)
    }
}

/// SQL, steps with rows and warnings, size of the result.
fn show(plan: &Plan, preview: &PlanPreview) {
    printer::plan::sql(&preview.sql, "  ");
    printer::plan::preview(plan, preview);
    if preview.stopped.is_none() {
        let (rows, columns) = (count(preview.rows_out, "row"), count(preview.columns.len() as u64, "column"));
        printer::line(&fill("gives {}, {}", &[&rows, &columns]));
    }
}

fn no_working_table() -> Error {
    Error::usage(message!("there is no working table yet; set one with `/use TABLE`, or run an operation"))
}
