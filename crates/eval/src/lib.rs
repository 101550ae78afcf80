//! Evaluation: reads benchmarks from their folders, runs systems on them, computes metrics, comparisons and reports.
//!
//! It only measures the other modules. [`layout`] reads a folder as a [`Benchmark`], a [`System`] ranks documents for each of its
//! queries, [`metrics`] scores the rankings. Judgments and labels never reach a system.

pub mod acts;
pub mod baseline;
pub mod benchmark;
pub mod compare;
pub mod comparison;
pub mod constraints;
pub mod coordinate_ascent;
pub mod dialogue;
pub mod evaluate;
pub mod extraction;
pub mod feedback;
pub mod form;
pub mod free_text;
pub mod interec;
pub mod labels;
pub mod lakeward_system;
pub mod late;
pub mod layout;
pub mod left_out;
pub mod llm_rag;
pub mod metrics;
pub mod model_check;
pub mod model_gain;
pub mod outcomes;
pub mod peak_memory;
pub mod provenance;
pub mod report;
pub mod run;
pub mod share;
pub mod signals;
pub mod simulation;
pub mod stand_in;
pub mod subset;
pub mod system;
pub mod systems;
pub mod task_agent;
pub mod task_report;
pub mod task_search;
pub mod tune;
pub mod variant;

pub use benchmark::{BenchQuery, Benchmark, Task};
pub use system::{Ranked, System};
