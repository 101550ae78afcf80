//! Reads what an analyst says over a table, and turns it into a plan.
//!
//! A small trained model ([`model`]) tells what a turn does and what each span of words is for; spans are linked to columns and values of the
//! table at hand; [`assemble()`] puts them into the plan that stands, under type constraints, and [`meanings()`] weighs the plans of several
//! readings. There are no phrases in the code: language is in the weights, which annotated turns (`labels/turns`) train, and closed forms
//! (numbers, dates) in a small grammar.

pub mod annotated;
pub mod annotated_pairs;
mod assemble;
mod computed;
mod control;
mod demands;
mod explained;
mod grounding;
mod input;
mod layout;
mod model;
mod not_applied;
mod number;
mod period;
mod place;
mod readings;
mod schema;
mod span;
mod tags;
mod unit;
mod unread;
mod value_match;
mod words;

pub use assemble::{Assembly, RequestedTable, assemble, with_table};
pub use computed::Computed;
pub use control::{ALL_STEPS, Control, says_only_yes};
pub use demands::{Revised, period_demand, revised, schema_of_demands, this_year};
pub use explained::{Explained, FoundBeside};
pub use input::{Input, Pieces};
pub use lakeward_core::request::Act;
pub use model::{BuiltInPieces, Reader};
pub use not_applied::{NotApplied, WhyNot};
pub use number::{MONTHS, month as month_in_words, number as number_in_words};
pub use place::country_in;
pub use readings::{Meaning, READINGS, Reading, meanings};
pub use schema::{ColumnKind, Schema, SchemaColumn, StandIn, columns_by_steps, schema_of};
pub use span::{Function, How, Operator, PARTS, Role, Span, TurnReading};
pub use unit::Unit;
pub use value_match::{Holds, ValueMatch};
pub(crate) use words::words;
