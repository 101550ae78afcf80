//! Carries a plan out: its rows go to a Parquet file, which is the next working table.
//!
//! Rows come in the order of the working table, on one core, so that the same plan on the same files makes the same
//! file. Steps whose rows a preview has kept are not computed again. A join that does not fit into memory so is done again by sorting both tables in temporary files; only then is the
//! order of rows not fixed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counter::Counter;
use super::preview::{PreviewLimits, too_many_rows};
use crate::context::{LakeContext, Strategy};
use crate::counts::{add_notes, with_memory};
use crate::inputs::InputTable;
use crate::notes::Note;
use crate::output::RowWriter;
use crate::rows::ResultColumn;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_lake::source::{ContentHash, content_hash};

/// What a plan has made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The query that was run.
    pub sql: String,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// The tables that were read, the source first.
    pub inputs: Vec<OutcomeInput>,
    /// Size of the file.
    pub written_bytes: u64,
    /// Time it took, in milliseconds.
    pub elapsed_ms: f64,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
}

/// A table that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeInput {
    /// The id, the file, or `step 2`.
    pub name: String,
    /// Hash of its file's whole content.
    pub content: ContentHash,
}

/// Runs `plan` and writes its rows to the file `out`, CSV where its name says so, else Parquet, in place of one that is there.
///
/// # Errors
/// [`Error::Usage`] for what [`super::plan_preview`] stops; [`Error::Interrupted`]; [`Error::Io`] where `out` cannot be written; those
/// of [`super::plan_sql`]; what reading the tables meets. Then `out` is as before.
pub fn run_plan(context: &LakeContext, plan: &Plan, limits: &PreviewLimits, out: &Path) -> Result<Outcome> {
    let started = Instant::now();
    plan.check()?;
    let mut counter = Counter::new(context, limits);
    let sql = counter.compiler.compile(plan)?;
    counter.joins_within(None, &plan.relation)?;
    if let Some(reason) = counter.stopped {
        return Err(Error::usage(reason));
    }
    let from_kept = counter.compiler.compile(plan)?;
    let inputs = counter.compiler.inputs.iter();
    let inputs = inputs
        .map(|(_, input)| Ok(OutcomeInput { name: input.name.clone(), content: content_hash(&input.path)? }))
        .collect::<Result<Vec<_>>>()?;
    let (rows, columns, output) =
        with_memory(Strategy::InOrder, context, |strategy| write(context, &from_kept, strategy, limits, out))?;
    add_notes(&mut counter.notes, context.notes());
    counter.notes.retain(|note| note.concerns(&sql, &columns));
    let written_bytes = output.replace()?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(Outcome { sql, rows, columns, inputs, written_bytes, elapsed_ms, notes: counter.notes })
}

/// [`run_plan`] to the Parquet file `out`, which is never changed after that: plans that go on from this one start there.
///
/// # Errors
/// As [`run_plan`].
pub fn run_step(context: &LakeContext, plan: &Plan, limits: &PreviewLimits, out: &Path) -> Result<Outcome> {
    let before = Counter::new(context, limits).key_of_whole(&plan.relation)?;
    let outcome = run_plan(context, plan, limits, out)?;
    // Tables that have changed meanwhile make another key.
    if before.is_some() && before == Counter::new(context, limits).key_of_whole(&plan.relation)? {
        context.kept().into_iter().zip(before).for_each(|(kept, key)| kept.put_file(&key, out));
    }
    Ok(outcome)
}

/// A table of a plan as its query knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanInput {
    /// What the query calls it.
    pub sql: String,
    /// Its file.
    pub path: PathBuf,
    /// Hash of the file's whole content.
    pub content: ContentHash,
}

/// The tables that `plan` reads, the source first.
///
/// # Errors
/// Those of [`super::plan_sql`], and of reading the files.
pub fn plan_inputs(context: &LakeContext, plan: &Plan) -> Result<Vec<PlanInput>> {
    let tables = plan.inputs().into_iter().map(|input| {
        let InputTable { sql, path, .. } = InputTable::resolve(context, input)?;
        let content = content_hash(&path)?;
        Ok(PlanInput { sql, path, content })
    });
    tables.collect()
}

/// Writes the answer to `sql` to a file that is to lie at `out`: CSV where its name says so, else Parquet.
fn write(
    context: &LakeContext,
    sql: &str,
    strategy: Strategy,
    limits: &PreviewLimits,
    out: &Path,
) -> Result<(u64, Vec<ResultColumn>, AtomicFile)> {
    let mut answer = context.query_by(sql, None, strategy)?;
    let output = AtomicFile::create(out, Purpose::Output)?;
    let is_csv = out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let make = if is_csv { RowWriter::csv } else { RowWriter::parquet };
    let mut writer = make(output.handle()?, answer.schema(), out)?;
    let mut rows = 0;
    while let Some(batch) = answer.next_batch()? {
        rows += batch.num_rows() as u64;
        if rows > limits.max_rows {
            // The exact number is known to the preview; counting on would take as long as writing.
            return Err(Error::usage(too_many_rows(rows, limits.max_rows)));
        }
        writer.write(&batch, out)?;
    }
    writer.finish(out)?;
    Ok((rows, answer.columns().to_vec(), output))
}
