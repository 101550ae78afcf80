//! A [`Plan`] as one query in readable SQL, previewed and run.
//!
//! Steps become clauses of one SELECT as long as SQL computes them in the order of the steps; then the SELECT becomes a part
//! of a WITH that is named after what it does. Names are looked up in the columns that the steps before have made, and
//! whatever is typed by them: numbers are compared as numbers, dates as spans of time, words in their normal form. An order
//! of rows is kept through all later steps, by hidden columns where the plan leaves a column out that it orders by.
//!
//! Decided: *a preview counts, it does not sample*: a join of 10¹² rows is counted as fast as one of a thousand, in
//! one pass over each table. *One core and a fixed order for stored results*: the same operation on the same files
//! makes the same rows. *Steps are known by what they come from* (`kept`), in the index's folder, not the session's:
//! `plan`, `ask`, `repl` and Python share them, and one bound holds for all; the query that is shown always starts
//! from the source. Rows beyond 32 MB are not kept, unless a session keeps them as a result.

mod block;
mod cautions;
mod combine;
mod condition;
mod counter;
mod equality;
mod join_count;
mod kept;
mod key_pair;
mod literal_values;
mod measure;
mod preview;
mod protected;
mod run;
mod table;
mod totals;
mod turn;
mod value;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;

pub(crate) use kept::KeptSteps;
pub use preview::{PlanPreview, PlanWarning, PreviewLimits, StepPreview, WarningKind, plan_preview};
pub use run::{Outcome, OutcomeInput, PlanInput, plan_inputs, run_plan, run_step};

use super::context::{LakeContext, Strategy};
use super::counts::with_memory;
use super::inputs::{Family, InputTable};
use block::indented;
use kept::KeptRelation;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Plan, Relation};
use lakeward_core::request::Input;

/// The query that carries `plan` out.
///
/// # Errors
/// [`Error::UnknownTable`] and [`Error::UnknownColumn`] with the nearest names, [`Error::Usage`] for what cannot be computed
/// from values of their type, and what reading a table's head meets.
pub fn plan_sql(context: &LakeContext, plan: &Plan) -> Result<String> {
    plan.check()?;
    Compiler::new(context).compile(plan)
}

/// The parts of that query before its last SELECT, by their quoted names, and that.
///
/// # Errors
/// As [`plan_sql`].
pub(crate) fn plan_parts(context: &LakeContext, plan: &Plan) -> Result<(Vec<(String, String)>, String)> {
    plan.check()?;
    let mut compiler = Compiler::new(context);
    let last = compiler.compile_parts(plan)?;
    Ok((compiler.parts, last))
}

/// A column that a relation has.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationColumn {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub family: Family,
    /// Whether they are whole numbers.
    pub whole: bool,
}

/// The columns that `relation` has, in their order; nothing is computed.
///
/// # Errors
/// As [`plan_sql`].
pub fn relation_columns(context: &LakeContext, relation: &Relation) -> Result<Vec<RelationColumn>> {
    let made = Compiler::new(context).relation(relation)?;
    let column = |column: &crate::inputs::InputColumn| RelationColumn {
        name: column.name.clone(),
        family: column.family,
        whole: column.data_type.is_integer(),
    };
    Ok(made.table.columns.iter().map(column).collect())
}

/// Puts queries together. Tables are looked up once, however many queries name them.
struct Compiler<'a> {
    context: &'a LakeContext,
    inputs: Vec<(Input, InputTable)>,
    /// Relations whose rows are kept, to start from.
    kept: Vec<KeptRelation>,
    /// Parts of the query: their names, quoted, and their SQL.
    parts: Vec<(String, String)>,
    /// Names of parts and tables in lower case.
    names: Vec<String>,
}

impl<'a> Compiler<'a> {
    fn new(context: &'a LakeContext) -> Self {
        Self { context, inputs: Vec::new(), kept: Vec::new(), parts: Vec::new(), names: Vec::new() }
    }

    /// The query of a plan.
    fn compile(&mut self, plan: &Plan) -> Result<String> {
        let last = self.compile_parts(plan)?;
        Ok(self.with(&last))
    }

    /// The last SELECT of that query; the parts before are kept. Its tables are looked up first: no part may have the name of a
    /// table.
    fn compile_parts(&mut self, plan: &Plan) -> Result<String> {
        for input in plan.inputs() {
            self.input(input)?;
        }
        self.clear();
        let mut made = self.relation(&plan.relation)?;
        Ok(self.last(&mut made))
    }

    /// Forgets the parts of the query.
    fn clear(&mut self) {
        self.parts.clear();
        self.names = self.inputs.iter().map(|(_, input)| input.name.to_lowercase()).collect();
    }

    /// A compiler for queries beside this one, over the same parts.
    fn clone_parts(&self) -> Compiler<'a> {
        let (parts, names) = (self.parts.clone(), self.names.clone());
        Compiler { context: self.context, inputs: self.inputs.clone(), kept: Vec::new(), parts, names }
    }

    /// The table that an input stands for.
    fn input(&mut self, input: &Input) -> Result<InputTable> {
        if let Some((_, known)) = self.inputs.iter().find(|(known, _)| known == input) {
            return Ok(known.clone());
        }
        let table = InputTable::resolve(self.context, input)?;
        self.inputs.push((input.clone(), table.clone()));
        Ok(table)
    }

    /// `select` behind the parts of the query that it stands on.
    fn with(&self, select: &str) -> String {
        if self.parts.is_empty() {
            return select.to_string();
        }
        let parts: Vec<String> =
            self.parts.iter().map(|(name, sql)| format!("{name} AS (\n{}\n)", indented(sql))).collect();
        format!("WITH {}\n{select}", parts.join(",\n"))
    }
}

/// At most `most` values of the first column of the answer to `sql`, as text.
fn first_column(context: &LakeContext, sql: &str, most: usize) -> Result<Vec<String>> {
    let internal = |error: arrow::error::ArrowError| Error::Internal(error.to_string());
    with_memory(Strategy::Parallel, context, |strategy| {
        let mut values = Vec::new();
        let mut rows = context.query_by(sql, Some(most), strategy)?;
        while let Some(batch) = rows.next_batch()? {
            let column = cast(batch.column(0), &DataType::Utf8).map_err(internal)?;
            values.extend(column.as_string::<i32>().iter().flatten().map(str::to_string));
        }
        Ok(values)
    })
}

/// `name_asked`, or with a number behind it where a column of that name, upper and lower case aside, is among `taken`; then
/// taken itself.
pub(super) fn free_name(name_asked: &str, taken: &mut Vec<String>) -> String {
    let is_taken = |name: &str, taken: &[String]| {
        let lower = name.to_lowercase();
        taken.contains(&lower)
    };
    let mut name = name_asked.to_string();
    let mut number = 2;
    while is_taken(&name, taken) {
        name = format!("{name_asked}_{number}");
        number += 1;
    }
    taken.push(name.to_lowercase());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered() {
        let mut taken = vec!["id".to_string()];
        assert_eq!(free_name("ID", &mut taken), "ID_2");
        assert_eq!(free_name("id", &mut taken), "id_3");
        assert_eq!(free_name("other", &mut taken), "other");
    }
}
