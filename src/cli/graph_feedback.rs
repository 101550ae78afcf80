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
    /// Whether the settings enable learning from sessions and the use of what was learned.
    pub record: bool,
    /// The learned uses, oldest first.
    pub uses: Vec<TableUse>,
    /// Number of lines of the file that cannot be read.
    pub unread: usize,
}

/// Shows or forgets what was learned from sessions.
pub fn run(arguments: &Arguments, command: &FeedbackCommand) -> Result<Status> {
    match &command.what {
        FeedbackAction::List => list(arguments),
        FeedbackAction::Forget { table, request, all } => {
            if table.is_none() && request.is_none() && !all {
                return Err(Error::usage("nothing to forget is named; give `--table`, `--request` or `--all`"));
            }
            let matches = |table_use: &TableUse| {
                let is = |requested: &Option<String>, own: &str| requested.as_ref().is_none_or(|name| name == own);
                is(table, &table_use.table) && is(request, &table_use.request)
            };
            forget(arguments, &matches, [(table, "table"), (request, "request")])
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
            "learning is off, so these are not used and none is added; `[learning] record = true` in lakeward.toml enables it",
        );
    }
    Ok(status)
}

fn forget(
    arguments: &Arguments,
    matches: &dyn Fn(&TableUse) -> bool,
    filters: [(&Option<String>, &str); 2],
) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let (uses, _) = lakeward.learned().uses()?;
    for (name, what) in filters {
        let Some(name) = name else { continue };
        let own = |table_use: &TableUse| match what {
            "table" => table_use.table.clone(),
            _ => table_use.request.clone(),
        };
        let known: Vec<String> = uses.iter().map(own).collect();
        if !known.contains(name) {
            let nearest = nearest_names(name, known.iter().map(String::as_str), 1);
            let advice = nearest.first().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
            return Err(Error::usage(format!("nothing was learned about the {what} `{name}`{advice}")));
        }
    }
    let removed = lakeward.forget_learned(matches)?;
    printer::note(&format!("{} forgotten", lakeward_core::text::counted(removed as u64, "use")));
    // Rebuilt, because the graph must forget them too.
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
