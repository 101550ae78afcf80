//! `lakeward ask TEXT`: one answer, and one of its operations carried out where that is wanted.

use std::time::Instant;

use super::args::{Arguments, AskCommand};
use super::plan::check_out;
use super::{Status, lake, printer, replay};
use lakeward::documents::{AskDocument, ModelCost, Ran};
use lakeward::{Lakeward, functions};
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_agent::{Request, execution};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Input;
use lakeward_core::text::counted;
use lakeward_operate::{Limits, PreviewLimits, export, plan_preview, run_plan};

/// Answers one request, alone or as the next turn of a session.
pub fn run(arguments: &Arguments, command: &AskCommand) -> Result<Status> {
    match (&command.run, &command.out, &command.session) {
        (Some(_), None, None) => {
            return Err(Error::usage("where should the result go? name a file with `--out`, or a session"));
        }
        (_, Some(out), _) => check_out(out, command.overwrite)?,
        _ => {}
    }
    let lakeward = lake::open_with_model(arguments)?;
    let agent = lakeward.agent();
    let (store, lake) = (agent.sessions(), lakeward.place().lake.to_string_lossy());
    let mut session = match &command.session {
        Some(name) => match store.open(name) {
            Err(Error::UnknownSession { .. }) => store.create(Some(name), &lake)?,
            opened => opened?,
        },
        None => Session::new("", lake),
    };
    let trace_file = command.trace.as_deref().map(replay::create).transpose()?;
    let request = Request {
        text: command.text.join(" "),
        table: command.table.clone(),
        column: command.column.clone(),
        k: command.answers.k.map_or(0, |k| k as usize),
    };
    let started = Instant::now();
    let (recommendation, provenance) = match trace_file {
        None => agent.traced_turn(&mut session, &request)?,
        Some(file) => {
            let trace = agent.trace(&mut session, &request)?;
            replay::write(&trace, file)?;
            (lakeward.gate().admit(trace.answer)?, trace.provenance)
        }
    };
    let mut document = AskDocument::new(request.text, &session, recommendation, &provenance, started);
    if command.session.is_some() {
        store.save(&mut session)?;
    }
    if let Some(number) = command.run {
        document.ran = Some(carry_out(&lakeward, command, &mut session, &document.recommendation, number)?);
        if command.session.is_some() {
            store.save(&mut session)?;
        }
    }
    let recommendation = &document.recommendation;
    lake::warn_without_vectors(&lakeward);
    if arguments.json {
        printer::json(&document)?;
    } else {
        printer::recommendation::screen(recommendation);
        if command.answers.explain {
            printer::recommendation::why(recommendation);
        }
        if let Some(ran) = &document.ran {
            print_ran(command, ran);
        }
        if !arguments.quiet {
            next(command, document.elapsed_ms, document.model.as_ref());
        }
    }
    Ok(if recommendation.is_answer() { Status::Done } else { Status::NothingFound })
}

/// Carries an operation of the answer out: as a step of the session where there is one, and into the file that is named.
fn carry_out(
    lakeward: &Lakeward,
    command: &AskCommand,
    session: &mut Session,
    answer: &Recommendation,
    number: usize,
) -> Result<Ran> {
    let plan = answer.plan(number)?;
    let (context, store) = (functions::context(lakeward, Limits::default())?, lakeward.sessions());
    let limits = PreviewLimits { sample_rows: 0, ..execution::limits(session) };
    execution::connect(&context, &store, session)?;
    let preview = plan_preview(&context, plan, &limits)?;
    if let Some(reason) = preview.stopped {
        return Err(Error::usage(reason));
    }
    if command.out.is_none() {
        execution::changes_working_table(session, plan, &preview)?;
    }
    let outcome = match (&command.session, &command.out) {
        (None, Some(out)) => run_plan(&context, plan, &limits, out)?,
        (_, out) => {
            let outcome = execution::run(&context, &store, session, plan, &limits)?;
            if let Some(out) = out {
                execution::connect(&context, &store, session)?;
                export(&context, &Input::Step(session.steps.len()), out, command.overwrite)?;
            }
            outcome
        }
    };
    Ok(Ran { operation: number, warnings: preview.warnings, outcome })
}

fn print_ran(command: &AskCommand, ran: &Ran) {
    printer::line("");
    printer::safe_line(&format!("operation {} carried out:", ran.operation));
    printer::plan::sql(&ran.outcome.sql, "  ");
    ran.warnings.iter().for_each(|warning| printer::note(&format!("warning: {}", warning.text)));
    ran.outcome.notes.iter().for_each(|note| printer::note(&format!("note: {note}")));
    let rows = counted(ran.outcome.rows, "row");
    match &command.out {
        Some(out) => printer::note(&format!("{rows} written to `{}`", out.display())),
        None => printer::note(&format!("{rows}, the working table of the session")),
    }
}

/// What to type next, on stderr.
fn next(command: &AskCommand, elapsed_ms: f64, cost: Option<&ModelCost>) {
    let next = match (&command.session, command.answers.explain) {
        (Some(session), _) => format!("`lakeward repl --session {session}` continues and runs operations"),
        (None, true) => "`lakeward repl` runs operations".into(),
        (None, false) => "`--explain` shows every score term, `lakeward repl` runs operations".into(),
    };
    let model = cost.map(|cost| format!(" ({})", printer::conversation::model_cost(cost))).unwrap_or_default();
    printer::narrate(&format!("answered in {elapsed_ms:.0} ms{model}; {next}"));
}
