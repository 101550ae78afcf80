//! Lakeward's functions and tables in a DataFusion session of one's own: `cargo run --release --example sql`.

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;
use std::path::Path;

use datafusion::prelude::SessionContext;
use lakeward::{BuildOptions, Lakeward, Place, Silent, register_all};

/// Finds partners of a table by a table function, and joins one with rows of the session's own.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::new(Path::new("lake"), Some(Path::new("target/example-index")))?;
    let (lake, _) = Lakeward::build(place, &BuildOptions::default(), &Silent)?;
    let session = SessionContext::new();
    register_all(&session, &lake)?;

    session.sql("SELECT rank, id, reason FROM lake_joinable('us/states', 'code', 3)").await?.show().await?;
    let query = "SELECT mine.state, s.name, s.fips
                 FROM (VALUES ('MA'), ('TX')) AS mine(state)
                 JOIN lake.us.states s ON s.code = mine.state";
    session.sql(query).await?.show().await?;
    Ok(())
}
