//! `lakeward features TABLE --target C`: a table of features for a model, with what each adds to one

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::args::{Arguments, FeaturesCommand};
use super::plan::check_out;
use super::{Status, lake, printer};
use lakeward::documents::FeatureDocument;
use lakeward::functions;
use lakeward_agent::feature_table::FeatureOptions;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_core::text::counted;
use lakeward_operate::{Limits, PreviewLimits, exists, run_plan};

/// Proposes features, and writes the table if it is asked for.
pub fn run(arguments: &Arguments, command: &FeaturesCommand) -> Result<Status> {
    if let Some(out) = &command.out {
        check_out(out, command.overwrite)?;
        if !command.overwrite && dictionary_path(out).symlink_metadata().is_ok() {
            return Err(exists(&dictionary_path(out)));
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
        let beside = dictionary_path(out);
        write_atomic(&beside, Purpose::Output, text.as_bytes())?;
        let (rows, out, beside) = (counted(outcome.rows, "row"), out.display(), beside.display());
        printer::note(&format!("{rows} written to `{out}`, what each column is to `{beside}`"));
    }
    if arguments.json {
        printer::json(&document)?;
    } else {
        printer::features(&document);
    }
    Ok(if document.table.features.is_empty() { Status::NothingFound } else { Status::Done })
}

/// The file that says what the columns of the table in `out` are.
fn dictionary_path(out: &Path) -> PathBuf {
    out.with_extension("dictionary.json")
}
