//! A build that many machines share, step by step; what drives them is `lakeward.distributed`.

use std::path::PathBuf;

use lakeward::Place;
use lakeward_core::monitor::StopWhen;
use lakeward_index::build::BuildOptions;
use pyo3::prelude::*;
use serde_json::to_string;

use crate::found::{Answer, Found};
use crate::lake::place;
use crate::work;

/// The arguments of a list.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ListArguments {
    records: Option<PathBuf>,
    sample_rows: Option<u64>,
    fast: bool,
}

/// Lists what an index lacks in `count` shards.
#[pyfunction]
pub fn list_shards(
    py: Python<'_>,
    path: PathBuf,
    index: Option<PathBuf>,
    count: u32,
    arguments: ListArguments,
) -> PyResult<Found> {
    let ListArguments { records, sample_rows, fast } = arguments;
    let options = BuildOptions { records, sample_rows, ..BuildOptions::default() };
    let listed = work::run(py, move |_| {
        let place = Place { fast, ..place(Some(&path), index.as_deref())? };
        Answer::new(to_string(&place.list_shards(&options, count)?), None)
    })?;
    listed.into_found(py)
}

/// Reads shard `shard` of `list`; returns its row.
#[pyfunction]
pub fn work_on_shard(py: Python<'_>, list: PathBuf, shard: u32) -> PyResult<Found> {
    let row = work::run(py, move |stop| {
        let (place, list) = Place::of_list(&list)?;
        Answer::new(to_string(&place.work(&list, shard, &StopWhen(|| stop.requested()))?), None)
    })?;
    row.into_found(py)
}

/// Commits the shards of `list`; returns the statistics.
#[pyfunction]
pub fn commit_shards(py: Python<'_>, list: PathBuf, in_part: bool) -> PyResult<Found> {
    let stats = work::run(py, move |stop| {
        let (place, list) = Place::of_list(&list)?;
        Answer::new(to_string(&place.commit(&list, in_part, &StopWhen(|| stop.requested()))?), None)
    })?;
    stats.into_found(py)
}
