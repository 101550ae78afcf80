//! A table as a file of its own, for other programs.
//!
//! CSV is UTF-8 with a header, quoted where needed; a missing value is an empty cell, as an empty text is. Cells that begin
//! with `=`, `+`, `-` or `@` stay as they are: an apostrophe in front would keep a spreadsheet from computing them, but would
//! change the data for every other reader. Whoever opens files of strangers in a spreadsheet should import them as text.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{LakeContext, Strategy};
use super::inputs::InputTable;
use super::notes::Note;
use super::output::{RowWriter, exists, finish};
use super::rows::Rows;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Input;
use lakeward_core::store::{AtomicFile, Purpose};

/// What was exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exported {
    /// Rows written.
    pub rows: u64,
    /// Size of the file.
    pub written_bytes: u64,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
}

/// The rows of the table `input`, in their order.
///
/// # Errors
/// What reading the table meets.
pub fn table_rows<'c>(context: &'c LakeContext, input: &Input) -> Result<Rows<'c>> {
    let table = InputTable::resolve(context, input)?;
    context.query_by(&format!("SELECT * FROM {}", table.sql), None, Strategy::InOrder)
}

/// Writes the table `input` to `path`, as CSV or Parquet by its extension; over a file that is there only with `overwrite`.
///
/// # Errors
/// [`Error::Usage`] for other extensions and for a file that is there, [`Error::Io`], [`Error::Interrupted`], and what reading
/// the table meets. Then there is no new file.
pub fn export(context: &LakeContext, input: &Input, path: &Path, overwrite: bool) -> Result<Exported> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let make = match extension.as_str() {
        "csv" => RowWriter::csv,
        "parquet" => RowWriter::parquet,
        _ => {
            let reason = format!("`{}` names no format that tables are exported in", path.display());
            return Err(Error::usage(format!("{reason}; end it with `.csv` or `.parquet`")));
        }
    };
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    let mut answer = table_rows(context, input)?;
    let output = AtomicFile::create(path, Purpose::Output)?;
    let mut writer = make(output.handle()?, answer.schema(), path)?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        writer.write(&batch, path)?;
    }
    writer.finish(path)?;
    let written_bytes = finish(output, overwrite)?;
    Ok(Exported { rows, written_bytes, notes: context.notes() })
}
