//! `lakeward features TABLE --target C`: a table of features for a model, with what each adds to one

use std::path::Path;
use std::time::{Duration, Instant};

use super::args::{Arguments, FeaturesCommand};
use super::plan::check_out;
use super::sessions::plan_text;
use super::{Status, lake, printer};
use lakeward::documents::FeatureDocument;
use lakeward::functions;
use lakeward_agent::feature_table::FeatureOptions;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_core::text::counted;
use lakeward_operate::{Limits, PreviewLimits, exists, run_plan};

/// Endings of the files beside the rows: what each column is, and the plan as a query and as a script.
const DICTIONARY: &str = "dictionary.json";
const QUERY: &str = "sql";
const SCRIPT: &str = "py";

/// Proposes features, and writes the table if it is asked for.
pub fn run(arguments: &Arguments, command: &FeaturesCommand) -> Result<Status> {
    if let Some(out) = &command.out {
        check_out(out, command.overwrite)?;
        let beside = [DICTIONARY, QUERY, SCRIPT].map(|ending| out.with_extension(ending));
        if let Some(path) = beside.iter().find(|path| !command.overwrite && path.symlink_metadata().is_ok()) {
            return Err(exists(path));
        }
    }
    let lakeward = lake::open(arguments)?;
    let started = Instant::now();
    let query = lakeward.query_table(&command.table)?;
    let options = FeatureOptions {
        target: query.column(&command.target)?,
        key: query.columns_named(&command.key)?,
        k: command.most as usize,
        aggregate: command.aggregate.into(),
        within: Duration::from_secs(u64::from(command.seconds)),
        base: None,
        only: Vec::new(),
    };
    let context = functions::context(&lakeward, Limits::default())?;
    let table = lakeward.features(&context, &query, &options)?;
    let document = FeatureDocument::new(command.table.clone(), table, started);
    if let Some(out) = &command.out {
        let outcome = run_plan(&context, &document.table.plan, &PreviewLimits::default(), out)?;
        let names: Vec<String> = outcome.columns.iter().map(|column| column.name.clone()).collect();
        let dictionary = document.table.dictionary(&query, &names);
        let text = serde_json::to_string_pretty(&dictionary).map_err(|error| Error::Internal(error.to_string()))?;
        write(out, DICTIONARY, &text)?;
        let (plan, lake) = (&document.table.plan, &lakeward.place().lake);
        let title = format!("Features of `{}` for a model of `{}`", command.table, document.table.target);
        let again = |python| plan_text(&context, plan, lake, title.clone(), python);
        write(out, QUERY, &again(false)?)?;
        let mut written = vec![DICTIONARY, QUERY];
        match again(true) {
            Ok(script) => {
                write(out, SCRIPT, &script)?;
                written.push(SCRIPT);
            }
            // Not every file is read alike by other programs.
            Err(error @ Error::Usage(_)) => printer::note(&format!("no script: {error}")),
            Err(error) => return Err(error),
        }
        let written: Vec<String> = written.iter().map(|ending| format!("`.{ending}`")).collect();
        let (rows, out) = (counted(outcome.rows, "row"), out.display());
        printer::note(&format!(
            "{rows} written to `{out}`, what they are and how they are made beside it: {}",
            written.join(", ")
        ));
    }
    if arguments.json {
        printer::json(&document)?;
    } else {
        printer::features(&document);
    }
    Ok(if document.table.features.is_empty() { Status::NothingFound } else { Status::Done })
}

fn write(out: &Path, ending: &str, text: &str) -> Result<()> {
    write_atomic(&out.with_extension(ending), Purpose::Output, text.as_bytes())
}
