//! Operations carried out over the sample lake.

mod gain;
mod hostile_plans;
mod operations;
mod plan_warnings;
mod plans;

/// The folder of the repository.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
