//! A conversation: a request, its answer, and the first operation carried out: `cargo run --release --example conversation`.

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::path::Path;

use lakeward::{BuildOptions, Lakeward, Place, Request, Silent};

/// Asks for columns of another table, joins them, and asks about the result.
pub fn main() -> lakeward::Result<()> {
    let place = Place::new(Path::new("lake"), Some(Path::new("target/example-index")))?;
    let (lake, _) = Lakeward::build(place, &BuildOptions::default(), &Silent)?;
    let mut session = lake.sessions().create(None, "lake")?;

    let request = Request {
        text: "Add manufacturer and model of the aircraft to each flight".into(),
        table: Some("transport/nyc2013/flights_2013_01".into()),
        ..Request::default()
    };
    let (answer, _) = lake.ask(&mut session, &request)?;
    for table in answer.tables.iter().take(3) {
        println!("{:.2}  {}  {}", table.utility.total, table.table, table.reason);
    }
    let first = &answer.operations[0];
    println!("{:?}: {}", first.kind, first.reason);

    // The result becomes the working table, which the next request speaks of.
    if let Some(operation) = &first.runnable {
        let outcome = lake.run(&mut session, operation)?;
        println!("{}\n{} rows", outcome.sql, outcome.rows);
    }
    let request = Request { text: "how many flights per manufacturer".into(), ..Request::default() };
    let (answer, _) = lake.ask(&mut session, &request)?;
    println!("{}", answer.operations[0].reason);
    Ok(())
}
