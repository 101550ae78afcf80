//! The tables that a conversation works with: from their names to their contents.

use std::path::Path;

use super::Agent;
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Measure, Step};
use lakeward_core::request::Input;
use lakeward_index::LakeIndex;
use lakeward_lake::location::Location;
use lakeward_lake::source::{TableId, file_path};
use lakeward_search::QueryTable;

/// Tables that nobody asked to open are opened only up to this size.
const MOST_BYTES_UNASKED: u64 = 32 << 20;

impl Agent<'_> {
    /// The input that `name` means: a table of the lake, else a file.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids.
    pub fn input(&self, name: &str) -> Result<Input> {
        if self.index.get(name)?.is_some() {
            return Ok(Input::Table(name.to_string()));
        }
        if Location::of(Path::new(name)).is_table() {
            let path = std::path::absolute(name).map_err(|error| Error::io("read", Path::new(name), error))?;
            return Ok(Input::File(path.to_string_lossy().into_owned()));
        }
        // With the nearest names.
        self.index.find(name).map(|_| Input::Table(name.to_string()))
    }

    /// The table that a session works with; a record that was accepted is none, its data is not in the lake.
    ///
    /// # Errors
    /// A damaged index.
    pub fn working(&self, session: &Session) -> Result<Option<Input>> {
        let working = session.working();
        let Some(Input::Table(id)) = &working else { return Ok(working) };
        let is_record = match self.index.get(id)? {
            Some(table) => self.index.dataset(table)?.is_record(),
            None => false,
        };
        Ok(working.filter(|_| !is_record))
    }

    /// Reads and sketches a table that the conversation works with.
    ///
    /// # Errors
    /// [`Error::Usage`] for a step that the session does not have; whatever reading a table reports.
    pub fn open_input(&self, session: &Session, input: &Input) -> Result<QueryTable> {
        match input {
            Input::Table(id) => QueryTable::resolve(self.index, self.lake, id, self.embedder),
            Input::File(path) => QueryTable::read(Path::new(path), None, self.embedder),
            Input::Step(number) => {
                let path = self.sessions.step_path(session, *number)?;
                let mut table = QueryTable::read(&path, None, self.embedder)?;
                table.rename(TableId::new(format!("result of step {number}")));
                let figures = session.step(*number).map(|step| figures(&step.plan.relation.steps)).unwrap_or_default();
                table.columns.iter_mut().for_each(|column| column.is_figure = figures.contains(&column.profile.name));
                Ok(table)
            }
        }
    }

    /// Reads a candidate that nobody asked to open, where that is quick.
    pub(super) fn open_candidate(&self, id: &str) -> Result<Option<QueryTable>> {
        let entry = self.index.table(self.index.find(id)?)?;
        let path = file_path(self.lake, &entry.path)?;
        let small = Location::of(&path).file_stamp().is_ok_and(|(bytes, _)| bytes <= MOST_BYTES_UNASKED);
        // A file that vanished or broke since it was indexed proposes nothing.
        Ok(if small { QueryTable::resolve(self.index, self.lake, id, self.embedder).ok() } else { None })
    }
}

/// The columns that steps compute of groups, and of their figures.
fn figures(steps: &[Step]) -> Vec<String> {
    let Some(grouped) = steps.iter().rposition(|step| matches!(step, Step::Group(_))) else { return Vec::new() };
    let computed = steps[grouped..].iter().flat_map(|step| match step {
        Step::Group(grouping) => grouping.measures.iter().map(Measure::column_name).collect(),
        Step::Derive { name, .. } => vec![name.clone()],
        _ => Vec::new(),
    });
    computed.collect()
}

/// Whether column `place` of table `id` holds the value of `hash`, by the index; beyond its sample of a column, no.
pub(super) fn is_held(index: &LakeIndex, id: &str, place: usize, hash: u64) -> Result<bool> {
    is_any_held(index, id, place, &[hash])
}

/// [`is_held`] of any of several values.
pub(super) fn is_any_held(index: &LakeIndex, id: &str, place: usize, hashes: &[u64]) -> Result<bool> {
    let table = index.find(id)?;
    let segment = index.segment(table.segment)?;
    let Some(column) = segment.tables.columns(table.table)?.nth(place) else { return Ok(false) };
    let record = segment.columns.record(column)?;
    let held = segment.columns.hashes(record)?;
    Ok(hashes.iter().any(|hash| held.binary_search(hash).is_ok()))
}
