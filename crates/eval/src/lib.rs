//! Measuring: benchmarks read from their folders, systems that answer them, metrics, comparisons and reports.
//!
//! It measures what the other modules do and changes nothing of it. The line: [`layout`] reads a folder as a [`Benchmark`], a
//! [`System`] ranks documents for each of its queries, [`metrics`] scores the rankings. Judgments and labels never reach a system.

pub mod baseline;
pub mod benchmark;
pub mod chart;
pub mod compare;
pub mod comparison;
pub mod dialogue;
pub mod evaluate;
pub mod extraction;
pub mod facets;
pub mod form;
pub mod labels;
pub mod lakeward;
pub mod late;
pub mod layout;
pub mod learn;
pub mod learning;
pub mod memory;
pub mod metrics;
pub mod provenance;
pub mod report;
pub mod run;
pub mod signals;
pub mod simulation;
pub mod subset;
pub mod system;
pub mod systems;
pub mod task_agent;
pub mod task_report;
pub mod task_search;
pub mod tune;
pub mod variant;
pub mod voice;

pub use benchmark::{BenchQuery, Benchmark, Task};
pub use system::{Ranked, System};
