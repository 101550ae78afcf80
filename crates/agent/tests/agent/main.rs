//! Plan, retrieve, evaluate; hostile texts; turns answered again; a real model.

mod agentic;
mod feature_table;
mod injection;
mod looked_up;
mod model_reading;
mod reader_behaviour;
mod real_model;
mod replay;
mod searches;
mod sharing;
mod wanted_columns;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
