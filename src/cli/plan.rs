//! `lakeward plan FILE`: a plan in plain words with its figures and warnings, its SQL, or its result in a file.

use std::io::Read;
use std::path::Path;

use super::args::{Arguments, PlanCommand};
use super::{Status, lake, printer};
use lakeward::functions;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{MOST_BYTES, Plan};
use lakeward_core::text::counted;
use lakeward_operate::{Limits, PlanPreview, PreviewLimits, exists, plan_preview, plan_sql, run_plan};

/// Shows a plan or carries it out.
pub fn run(arguments: &Arguments, command: &PlanCommand) -> Result<Status> {
    let plan = read(&command.file)?;
    let context = functions::context(&lake::open(arguments)?, Limits::default())?;
    if command.sql {
        printer::data(format!("{}\n", plan_sql(&context, &plan)?).as_bytes());
        return Ok(Status::Done);
    }
    let limits = PreviewLimits::default();
    if let Some(out) = &command.out {
        check_out(out, command.overwrite)?;
        let outcome = run_plan(&context, &plan, &limits, out)?;
        if arguments.json {
            printer::json(&outcome)?;
        } else {
            outcome.notes.iter().for_each(|note| printer::note(&note.to_string()));
            printer::note(&format!("{} written to `{}`", counted(outcome.rows, "row"), out.display()));
        }
        return Ok(status(outcome.rows));
    }
    let preview = plan_preview(&context, &plan, &limits)?;
    if arguments.json {
        printer::json(&preview)?;
    } else {
        print(&plan, &preview);
    }
    Ok(status(preview.rows_out))
}

fn status(rows: u64) -> Status {
    if rows == 0 { Status::NothingFound } else { Status::Done }
}

fn read(file: &Path) -> Result<Plan> {
    if file.as_os_str() != "-" {
        return Plan::read(file);
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| Error::io("read", file, error))?;
    Plan::from_json(&text)
}

pub(super) fn check_out(out: &Path, overwrite: bool) -> Result<()> {
    let known = ["csv", "parquet"];
    let extension = out.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !known.contains(&extension.as_str()) {
        let out = out.display();
        return Err(Error::usage(format!("`{out}` names no format of a result; end it with `.csv` or `.parquet`")));
    }
    if !overwrite && out.symlink_metadata().is_ok() { Err(exists(out)) } else { Ok(()) }
}

fn print(plan: &Plan, preview: &PlanPreview) {
    printer::plan::preview(plan, preview);
    printer::line("");
    printer::plan::sql(&preview.sql, "");
    if let Some(reason) = &preview.stopped {
        printer::note(&format!("not run: {reason}"));
    } else if !preview.sample.is_empty() {
        printer::line("");
        printer::plan::sample(preview);
    }
    preview.notes.iter().for_each(|note| printer::note(&note.to_string()));
}
