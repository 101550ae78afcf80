//! Whole searches over small lakes and the sample lake.

mod composite;
mod correlate;
mod flow;
mod records;
mod sentence_model;
#[path = "../../../models/tests/models/tiny_model.rs"]
mod tiny_model;
mod variants;
mod world;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
