//! The lake in the session of another program: a plain `SessionContext` with `register_all`, the user's own tables beside it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::util::pretty::pretty_format_batches;
use datafusion::execution::context::SessionContext;
use lakeward::Lakeward;
use lakeward::functions::{self, TableCall};
use lakeward_core::Error;
use lakeward_operate::LakeFault;

use crate::place::{Folder, sample};

fn session(lakeward: &Lakeward) -> SessionContext {
    let session = SessionContext::new_with_config(
        datafusion::execution::context::SessionConfig::new().with_information_schema(true),
    );
    functions::register_all(&session, lakeward).expect("functions");
    session
}

/// The rows of a query as a table of text.
async fn ask(session: &SessionContext, sql: &str) -> Result<String, datafusion::error::DataFusionError> {
    let batches = session.sql(sql).await?.collect().await?;
    Ok(pretty_format_batches(&batches)?.to_string())
}

async fn answer(session: &SessionContext, sql: &str) -> String {
    ask(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[tokio::test]
async fn filters_and_projections_reach_the_parquet_file() {
    let session = session(sample());
    let plan =
        answer(&session, "EXPLAIN SELECT name FROM lake.transport.airports_world WHERE iso_country = 'FI'").await;
    assert!(plan.contains("file_type=parquet"), "{plan}");
    // The filter is gone from the plan above: the reader applies it, and leaves out row groups by it.
    assert!(plan.contains("predicate=iso_country") && plan.contains("pruning_predicate="), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");
    let scan = plan.lines().find(|line| line.contains("DataSourceExec")).expect("a scan");
    assert!(scan.contains("projection=[name]"), "{scan}");
    let rows =
        answer(&session, "SELECT count(*) AS n FROM lake.transport.airports_world WHERE iso_country = 'FI'").await;
    assert!(!rows.contains("| 0 "), "{rows}");
}

#[tokio::test]
async fn lake_tables_join_with_the_users_own() {
    let session = session(sample());
    let names: ArrayRef = Arc::new(StringArray::from(vec!["MA", "TX", "??"]));
    session.register_batch("mine", RecordBatch::try_from_iter([("abbr", names)]).expect("a batch")).expect("a table");
    let rows = answer(
        &session,
        "SELECT m.abbr, s.name FROM mine m LEFT JOIN lake.us.states s ON s.code = m.abbr ORDER BY m.abbr",
    )
    .await;
    assert!(rows.contains("Massachusetts") && rows.contains("Texas") && rows.contains("??"), "{rows}");
    let rows = answer(&session, "SELECT count(*) FROM lake.\"us/zip\".zip_ma z JOIN mine m ON m.abbr = z.state").await;
    assert!(rows.contains("711"), "{rows}");
    let rows = answer(
        &session,
        "SELECT table_schema FROM information_schema.tables WHERE table_catalog = 'lake' AND table_name = 'zip_ma'",
    )
    .await;
    assert!(rows.contains("us/zip"), "{rows}");
}

#[tokio::test]
async fn table_functions_answer_and_explain_searches_nothing() {
    let session = session(sample());
    let rows = answer(
        &session,
        "SELECT t.id FROM lake_joinable('us/states', 'code', 3) j JOIN lake_tables() t ON t.id = j.id ORDER BY j.rank",
    )
    .await;
    assert!(rows.contains("us/gun_murders_2010"), "{rows}");
    let plan = answer(&session, "EXPLAIN SELECT id FROM lake_search('delays')").await;
    assert!(plan.contains("StreamingTableExec") && plan.contains("projection=[id]"), "{plan}");
    // Columns may be read alone, or none of them.
    assert!(answer(&session, "SELECT count(*) FROM lake_search('delays', 4)").await.contains("| 4 "));
    // The rows of a call without SQL.
    let call = TableCall::parse("lake_search", &["delays".into()]).expect("a call");
    let frame = session.read_table(functions::provider(sample(), call)).expect("a frame");
    assert_eq!(frame.count().await.expect("rows"), 10);
}

#[tokio::test]
async fn unknown_names_are_reported_with_the_nearest_and_as_errors_of_the_lake() {
    let session = session(sample());
    let error = ask(&session, "SELECT * FROM lake.us.stetes").await.expect_err("no such table");
    let text = error.to_string();
    assert!(text.contains("`us/stetes`") && text.contains("did you mean `us/states`"), "{text}");
    assert!(matches!(LakeFault::take(&error), Some(Error::UnknownTable { .. })));
    let error = ask(&session, "SELECT * FROM lake_joinable('us/states', 'nmae')").await.expect_err("no such column");
    assert!(error.to_string().contains("did you mean `name`"), "{error}");
    assert!(matches!(LakeFault::take(&error), Some(Error::UnknownColumn { .. })));
    // With the lake as the default catalogue, names of functions are still no tables.
    answer(&session, "SET datafusion.catalog.default_catalog = 'lake'").await;
    answer(&session, "SET datafusion.catalog.default_schema = 'lake'").await;
    assert!(answer(&session, "SELECT count(*) FROM lake_search('delays', 2)").await.contains("| 2 "));
    assert!(answer(&session, "SELECT count(*) FROM generate_series(1, 3)").await.contains("| 3 "));
    assert!(answer(&session, "SELECT count(*) FROM \"us/zip/zip_ma\"").await.contains("711"));
}

#[tokio::test]
async fn a_table_removed_since_indexing_says_what_to_do() {
    let folder = Folder::of(&[]);
    let from = Path::new(crate::REPOSITORY).join("lake");
    for (file, to) in [("us/states.csv", "states.csv"), ("transport/airports_world.parquet", "airports_world.parquet")]
    {
        folder.write(to, fs::read(from.join(file)).expect("a file"));
    }
    let lakeward = folder.lake();
    let session = session(&lakeward);
    assert!(answer(&session, "SELECT count(*) FROM lake.lake.states").await.contains("51"));
    // Planned while the file was there.
    let planned = session.sql("SELECT count(*) FROM lake_unionable('states')").await.expect("a plan");
    for file in ["states.csv", "airports_world.parquet"] {
        fs::remove_file(folder.at(file)).expect("a file");
    }
    let error = planned.collect().await.expect_err("removed").to_string();
    assert!(error.contains("run `lakeward index` again"), "{error}");
    for sql in [
        "SELECT * FROM lake.lake.airports_world",
        "SELECT * FROM lake_joinable('states', 'code')",
        "SELECT * FROM lake_profile('airports_world')",
        "SELECT * FROM lake_ask('airports', 'airports_world')",
    ] {
        let error = ask(&session, sql).await.expect_err(sql);
        let text = error.to_string();
        assert!(text.contains("removed") && text.contains("run `lakeward index` again"), "{sql}: {text}");
    }
    // What the index knows is still told.
    assert!(answer(&session, "SELECT count(*) FROM lake_tables()").await.contains("| 2 "));
    assert!(answer(&session, "SELECT count(*) FROM lake_search('airports')").await.contains("| "));
}

#[tokio::test]
async fn a_changed_file_is_read_anew_for_a_search() {
    let (a, b) = ("k,v\nred,1\ngreen,2\nblue,3\n", "colour,w\nred,1\ngreen,2\nblue,3\nblack,4\n");
    let folder = Folder::of(&[("a.csv", a), ("b.csv", b)]);
    let session = session(&folder.lake());
    let containment = "SELECT round(containment, 2) AS c FROM lake_joinable('a', 'k', 1)";
    assert!(answer(&session, containment).await.contains("1.0"));
    folder.write("a.csv", "k,v\nred,1\nwhite,2\ngrey,3\nteal,4\n");
    assert!(answer(&session, containment).await.contains("0.25"));
}

#[tokio::test]
async fn many_calls_in_one_query_all_answer() {
    let session = session(sample());
    let parts: Vec<String> = (0..40).map(|n| format!("SELECT id FROM lake_search('table {n}', 2)")).collect();
    let rows = answer(&session, &format!("SELECT count(*) FROM ({})", parts.join(" UNION ALL "))).await;
    assert!(rows.contains("| 80 "), "{rows}");
    let sql =
        "SELECT (SELECT count(*) FROM lake_search('table', 2)) + (SELECT count(*) FROM lake_search('table', 3)) AS n";
    assert!(answer(&session, sql).await.contains("| 5 "));
}
