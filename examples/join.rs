//! Finds tables that share the keys of one column, and of two columns together: `cargo run --release --example join`.

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::path::Path;

use lakeward::answers::CompositeAnswers;
use lakeward::{BuildOptions, Lakeward, Place, Silent};

/// Asks for partners of two tables of the lake; a path to any other file would do as well.
pub fn main() -> lakeward::Result<()> {
    let place = Place::new(Path::new("lake"), Some(Path::new("target/example-index")))?;
    let (lake, _) = Lakeward::build(place, &BuildOptions::default(), &Silent)?;

    let countries = lake.query_table("geo/countries")?;
    let currency = countries.column("currencycode")?;
    show(&lake.join(&countries, &[currency], 2)?);

    // Neither the disease nor the state is a key, with the year they are one.
    let measles = lake.query_table("health/us_diseases/measles")?;
    let key = [measles.column("state")?, measles.column("year")?];
    show(&lake.join(&measles, &key, 2)?);
    Ok(())
}

fn show(found: &CompositeAnswers) {
    for answer in found.answers.iter() {
        println!("{:.3}  {}  {}", answer.score, answer.table, answer.reason);
        println!("       it would add {}", answer.adds.join(", "));
    }
}
