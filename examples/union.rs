//! Finds tables whose rows fit below those of a table: `cargo run --release --example union`.

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::path::Path;

use lakeward::{BuildOptions, Lakeward, Place, Silent};

/// Shows which column of each table found stands for which of the query's.
pub fn main() -> lakeward::Result<()> {
    let place = Place::new(Path::new("lake"), Some(Path::new("target/example-index")))?;
    let (lake, _) = Lakeward::build(place, &BuildOptions::default(), &Silent)?;

    let storms = lake.query_table("disasters/storms/atlantic_1980s")?;
    for answer in lake.union(&storms, 3)?.iter() {
        println!("{:.3}  {}  {}", answer.score, answer.table, answer.reason);
        for pair in answer.alignment.iter().filter(|pair| pair.query_column != pair.column) {
            println!("       {} stands for {}", pair.column, pair.query_column);
        }
    }
    Ok(())
}
