//! Carries plans out with DataFusion: every table of the lake can be queried, nothing can be changed.
//!
//! A statement is checked ([`statement`]: one query, nothing else), its table names are looked up ([`names`]) and answered by
//! a catalogue that opens a table only when a query names it ([`lake_catalog`]). Parquet goes through DataFusion's own reader; all
//! other formats stream through [`lakeward_lake::reader`] ([`table`]) and get the types of the catalogue's profile ([`cells`]).
//! Errors of the lake pass through DataFusion whole ([`fault()`]). Besides this module only `functions` touches
//! DataFusion.

mod aggregates;
mod barrier;
mod calls;
mod cells;
mod columns;
mod context;
mod counts;
mod export;
mod fault;
pub mod functions;
mod gain;
mod inputs;
mod lake_catalog;
mod names;
mod notes;
mod optimizer_rules;
mod order;
mod output;
mod plan;
mod quote;
mod rows;
mod script;
mod session_tables;
mod statement;
mod stop;
mod table;

pub use context::{LakeContext, Limits};
pub use export::{Exported, export, table_rows};
pub use fault::{LakeFault, fault};
pub use gain::{Gain, GainOptions, Split, feature_gain};
pub use inputs::Family;
pub use lake_catalog::{CATALOG, LakeCatalog, column_types};
pub use names::sql_name;
pub use notes::{Note, NoteKind};
pub use output::{RowWriter, exists, finish};
pub use plan::{
    Outcome, OutcomeInput, PlanInput, PlanPreview, PlanWarning, PreviewLimits, RelationColumn, StepPreview,
    WarningKind, plan_inputs, plan_preview, plan_sql, relation_columns, run_plan, run_step,
};
pub use rows::{CellForm, ResultColumn, Rows, texts};
pub use script::{own_functions, plan_script};
