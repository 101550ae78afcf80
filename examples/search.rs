//! Indexes a folder and finds tables by words: `cargo run --release --example search`.

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::path::Path;

use lakeward::{BuildOptions, Lakeward, Place, Silent};

/// Builds an index beside the lake, or brings it up to date, and searches it.
pub fn main() -> lakeward::Result<()> {
    // Without the second path the index goes to `.lakeward` inside the lake.
    let place = Place::new(Path::new("lake"), Some(Path::new("target/example-index")))?;
    let (lake, stats) = Lakeward::build(place, &BuildOptions::default(), &Silent)?;
    println!("{} tables, {} of them new or changed", stats.tables, stats.added + stats.changed);

    for answer in lake.search("hurricane tracks", 3)?.iter() {
        println!("{:.3}  {}  {}", answer.score, answer.table, answer.reason);
    }
    Ok(())
}
