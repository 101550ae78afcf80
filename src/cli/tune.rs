//! `lakeward tune DIR…`

use std::path::Path;

use super::args::{Arguments, TuneCommand};
use super::lake::built_in;
use super::progress::Bar;
use super::{Status, printer};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_eval::Task;
use lakeward_eval::evaluate::{EvalOptions, asking};
use lakeward_eval::form::DocumentForm;
use lakeward_eval::layout;
use lakeward_eval::systems::{BASELINES, Systems};
use lakeward_eval::tune::{PoolOptions, Pools, Ranker, TuneReport, add_pools, tune};
use lakeward_search::RankingWeights;

/// Collects the candidates of every benchmark's queries, learns the weights, prints their scores on held-out queries, and
/// writes them.
pub fn run(arguments: &Arguments, command: &TuneCommand) -> Result<Status> {
    let start = match &command.weights {
        Some(path) => RankingWeights::load(path)?,
        None => RankingWeights::shipped().clone(),
    };
    let rankers = if command.ranker.is_empty() { Ranker::ALL.to_vec() } else { command.ranker.clone() };
    let forms: Vec<DocumentForm> = match command.form.is_empty() {
        true => vec![DocumentForm::Titles],
        false => command.form.clone(),
    };
    let bar = Bar::new(arguments.quiet)?;
    let mut pools = Pools::new();
    for folder in &command.folders {
        for form in &forms {
            collect(&mut pools, folder, *form, command, &start, &rankers, &bar)?;
        }
    }
    if pools.is_empty() {
        let names: Vec<&str> = rankers.iter().map(|ranker| ranker.name()).collect();
        return Err(Error::usage(format!("these benchmarks have no query to learn {} from", names.join(", "))));
    }
    bar.begin("learning", Total::Unknown);
    let (weights, rankers) = tune(&pools, &start);
    bar.finish();
    write_atomic(&command.out, Purpose::Output, weights.to_json().as_bytes())?;
    let report = TuneReport { weights: weights.hash(), started_from: start.hash(), out: command.out.clone(), rankers };
    if arguments.json {
        printer::json(&report)?;
    } else {
        printer::evaluation::tuned(&report);
    }
    Ok(Status::Done)
}

fn collect(
    pools: &mut Pools,
    folder: &Path,
    form: DocumentForm,
    command: &TuneCommand,
    start: &RankingWeights,
    rankers: &[Ranker],
    bar: &Bar,
) -> Result<()> {
    let place = tempfile::tempdir().map_err(|error| Error::io("create", &std::env::temp_dir(), error))?;
    let benchmark = layout::read(folder)?;
    if benchmark.lake.is_none() && form != DocumentForm::Titles {
        // It has only records, which have no other form.
        return Ok(());
    }
    let benchmark = form.apply(benchmark, place.path())?;
    let systems = Systems::over(&benchmark, built_in(), start.clone(), None);
    let (index, _) = systems.index(bar)?;
    let mut plain = Vec::new();
    if rankers.iter().any(|ranker| ranker.is_compared()) {
        let options = EvalOptions { k: 10, depth: 100, tasks: vec![Task::Join, Task::Union] };
        for name in systems.names(&[BASELINES.to_string()], &benchmark, &options)? {
            plain.push(systems.make(&name, bar)?.system);
        }
    }
    bar.begin(&asking(&benchmark.name), Total::Steps(benchmark.queries.len() as u64));
    let options = PoolOptions { rankers, form, excluded: &command.leave_out, plain: &plain };
    add_pools(pools, &benchmark, &index, &options, bar)
}
