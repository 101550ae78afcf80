//! `lakeward graph learned …`

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, FeedbackAction, FeedbackCommand};
use super::{Status, lake, printer, task};
use lakeward_agent::session::TableUse;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_tasks::task_graph::TaskGraph;

/// What `graph learned list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeedbackDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// Whether the settings let sessions teach, and what they taught count.
    pub record: bool,
    /// What stands, oldest first.
    pub uses: Vec<TableUse>,
    /// Lines of the file that cannot be read.
    pub unread: usize,
}

/// Shows or forgets what sessions have taught.
pub fn run(arguments: &Arguments, command: &FeedbackCommand) -> Result<Status> {
    match &command.what {
        FeedbackAction::List => list(arguments),
        FeedbackAction::Forget { table, request, all } => {
            if table.is_none() && request.is_none() && !all {
                return Err(Error::Usage("forget what? name it with `--table`, `--request`, or say `--all`".into()));
            }
            let fits = |known: &TableUse| {
                let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|wanted| wanted == own);
                is(table, &known.table) && is(request, &known.request)
            };
            forget(arguments, &fits, [(table, "table"), (request, "request")])
        }
    }
}

fn list(arguments: &Arguments) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let (uses, unread) = lakeward.learned().uses()?;
    let record = lakeward.config().learning.record;
    let status = if uses.is_empty() { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&FeedbackDocument { lakeward: env!("CARGO_PKG_VERSION"), record, uses, unread })?;
        return Ok(status);
    }
    printer::feedback::uses(&uses, unread);
    if !record {
        printer::note(
            "not used, and nothing is added: `[learning] record = true` in lakeward.toml lets sessions teach",
        );
    }
    Ok(status)
}

fn forget(
    arguments: &Arguments,
    fits: &dyn Fn(&TableUse) -> bool,
    named: [(&Option<String>, &str); 2],
) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let (uses, _) = lakeward.learned().uses()?;
    for (name, what) in named {
        let Some(name) = name else { continue };
        let own = |known: &TableUse| if what == "table" { known.table.clone() } else { known.request.clone() };
        let known: Vec<String> = uses.iter().map(own).collect();
        if !known.contains(name) {
            let near = nearest_names(name, known.iter().map(String::as_str), 1);
            let near = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(Error::Usage(format!("nothing was learned of the {what} `{name}`{near}")));
        }
    }
    let gone = lakeward.forget_learned(fits)?;
    printer::note(&format!("{} forgotten", lakeward_core::text::counted(gone as u64, "use")));
    // What is forgotten is no longer in the graph either.
    match TaskGraph::open_any(&lakeward.task_graph_folder()) {
        Ok(graph) if !graph.learned_documents()?.is_empty() => {
            let (documents, resolved) = (graph.extractions()?, graph.meta().resolved);
            drop(graph);
            task::build(arguments, &lakeward, &documents, (!resolved, 0))?;
        }
        Ok(_) | Err(Error::NoTaskGraph { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(Status::Done)
}
