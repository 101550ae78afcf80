//! SQL over a lake: every format, types by the profile, names, refusals, limits. `commands/sql.console` has whole commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use lakeward_core::Error;
use lakeward_operate::{LakeContext, Limits, NoteKind};

use crate::place::{Folder, sample};

fn sample_lake() -> PathBuf {
    Path::new(crate::REPOSITORY).join("lake")
}

fn context() -> LakeContext {
    sample().context(Limits::default()).expect("a context")
}

/// All rows as text, cells joined by `|`, NULL as `-`.
fn ask(context: &LakeContext, sql: &str) -> Result<Vec<String>, Error> {
    let mut rows = context.query(sql, None)?;
    let mut lines = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let options = FormatOptions::default().with_null("-");
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|array| ArrayFormatter::try_new(array, &options).expect("a formatter"))
            .collect();
        for row in 0..batch.num_rows() {
            lines.push(columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join("|"));
        }
    }
    Ok(lines)
}

fn answer(context: &LakeContext, sql: &str) -> Vec<String> {
    ask(context, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[test]
fn tables_of_two_formats_join() {
    let rows = answer(
        &context(),
        r#"SELECT a.iata_code, a.name, count(*) AS routes
           FROM transport.routes_us_2026_07 r JOIN transport.airports_world a ON r."Destination" = a.iata_code
           GROUP BY 1, 2 ORDER BY routes DESC, 1 LIMIT 2"#,
    );
    assert_eq!(rows.len(), 2);
    assert!(rows[0].contains("International Airport"), "{rows:?}");
}

#[test]
fn a_packed_file_is_grouped() {
    let rows = answer(
        &context(),
        r#"SELECT carrier, count(*) n, round(avg(dep_delay), 1) FROM "transport/nyc2013/flights_2013_05" GROUP BY 1 ORDER BY n DESC LIMIT 2"#,
    );
    assert_eq!(rows, ["UA|512|10.9", "EV|501|12.3"]);
    let rows = answer(
        &context(),
        "SELECT count(*) FROM disasters.earthquakes_2018w05 WHERE magnitude >= 4.5 AND time >= timestamp '2018-02-05T00:00:00'",
    );
    assert_ne!(rows, ["0"]);
}

#[test]
fn codes_keep_their_zeros_and_na_stays_a_code() {
    let context = context();
    assert_eq!(answer(&context, "SELECT fips, name FROM us.states WHERE code = 'AL'"), ["01|Alabama"]);
    assert_eq!(answer(&context, "SELECT min(zip_code) FROM zip_ma"), ["01001"]);
    assert_eq!(answer(&context, "SELECT name FROM geo.countries WHERE iso = 'NA'"), ["Namibia"]);
    assert_eq!(answer(&context, "SELECT iso, capital FROM geo.countries WHERE iso = 'AQ'"), ["AQ|-"]);
}

#[test]
fn dates_filter_however_they_are_written() {
    let context = context();
    let days = |table: &str, from: &str| {
        answer(&context, &format!("SELECT count(*), min(date) FROM climate.daily.{table} WHERE date >= date '{from}'"))
    };
    assert_eq!(days("seattle_2012", "2012-12-01"), ["31|2012-12-01"]);
    // 01/02/2014 is the first of February: the column tells.
    assert_eq!(days("seattle_2014", "2014-12-01"), ["31|2014-12-01"]);
}

#[test]
fn messy_numbers_are_numbers() {
    let rows = answer(&context(), r#"SELECT max("2020"), min("1990") FROM us.federal_receipts_omb"#);
    assert_eq!(rows, ["2118356000|-790790"]);
    // Yes and no as 1 and 0 can be averaged.
    let rows = answer(&context(), "SELECT round(avg(survived), 2) FROM titanic_passengers");
    assert_eq!(rows, ["0.34"]);
}

#[test]
fn names_are_found_by_id_by_folder_and_by_their_end() {
    let context = context();
    let count = |from: &str| answer(&context, &format!("SELECT count(*) FROM {from}"));
    let expected = count(r#""us/zip/zip_ma""#);
    for from in
        ["us.zip.zip_ma", r#""us/zip".zip_ma"#, "zip.zip_ma", "zip_ma", "US.Zip.ZIP_MA", r#"lake."us/zip/zip_ma""#]
    {
        assert_eq!(count(from), expected, "{from}");
    }
    assert_eq!(answer(&context, "WITH zip_ma AS (SELECT 1 AS x) SELECT x FROM zip_ma"), ["1"]);
    assert_eq!(answer(&context, "SELECT count(*) FROM generate_series(1, 3)"), ["3"]);
    assert_eq!(
        answer(&context, "SELECT table_schema FROM information_schema.tables WHERE table_name = 'zip_ma'"),
        ["us/zip"]
    );
}

#[test]
fn columns_are_found_without_quotes() {
    let context = context();
    let quoted =
        answer(&context, r#"SELECT "Airline", count(*) FROM routes_us_2026_07 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3"#);
    let bare = "SELECT r.airline, count(*) FROM routes_us_2026_07 r WHERE Source <> '' GROUP BY AIRLINE ORDER BY 2 DESC, 1 LIMIT 3";
    assert_eq!(answer(&context, bare), quoted);
    let aliased = "SELECT airline FROM (SELECT \"Airline\" AS airline FROM routes_us_2026_07) ORDER BY 1 LIMIT 1";
    assert_eq!(answer(&context, aliased).len(), 1);
    let error = ask(&context, "SELECT airlin FROM routes_us_2026_07").expect_err("no such column").to_string();
    assert!(error.contains("\"Airline\"") && !error.contains("configuration"), "{error}");
}

#[test]
fn an_unknown_table_is_reported_with_its_nearest_names() {
    match ask(&context(), "SELECT * FROM transport.airport_world") {
        Err(Error::UnknownTable { name, nearest }) => {
            assert_eq!(name, "transport/airport_world");
            assert_eq!(nearest[0], "transport/airports_world");
        }
        other => panic!("{other:?}"),
    }
    let error = ask(&context(), "SELECT nothing FROM zip_ma").expect_err("no such column");
    assert!(matches!(&error, Error::Sql { reason } if reason.contains("zip_ma.county")), "{error}");
}

#[test]
fn what_is_no_query_is_refused_and_leaves_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let target = place.path().join("out.csv");
    let target = target.display();
    let context = context();
    for sql in [
        format!("COPY (SELECT 1) TO '{target}'"),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{target}'"),
        "CREATE TABLE t AS SELECT 1".into(),
        format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{target}'"),
        "INSERT INTO zip_ma SELECT * FROM zip_ma".into(),
        "DROP TABLE zip_ma".into(),
        "SET datafusion.execution.batch_size = 1".into(),
        "SELECT 1 INTO t".into(),
        "SELECT 1; SELECT 2".into(),
        " ; ".into(),
    ] {
        let error = ask(&context, &sql).expect_err(&sql);
        assert!(matches!(error, Error::Usage(_)), "{sql}: {error}");
    }
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 0);
    let path = sample_lake().join("us/states.csv");
    let error = ask(&context, &format!("SELECT * FROM '{}'", path.display())).expect_err("a path");
    assert!(matches!(error, Error::UnknownTable { .. } | Error::Sql { .. }), "{error}");
}

#[test]
fn a_query_beyond_its_memory_fails_clearly_and_the_next_one_runs() {
    let limits = Limits { memory_bytes: 100_000, spill_bytes: 0 };
    let context = sample().context(limits).expect("a context");
    let sql = "SELECT a.name, b.name FROM transport.airports_world a JOIN transport.airports_world b ON a.iso_country = b.iso_country ORDER BY 1, 2";
    let error = ask(&context, sql).expect_err("too little memory");
    assert!(matches!(&error, Error::Sql { reason } if reason.contains("memory")), "{error}");
    assert_eq!(answer(&context, "SELECT count(*) FROM us.states").len(), 1);
}

#[test]
fn a_limit_says_whether_there_is_more() {
    let context = context();
    let mut rows = context.query("SELECT * FROM zip_ma", Some(2)).expect("rows");
    let mut count = 0;
    while let Some(batch) = rows.next_batch().expect("a batch") {
        count += batch.num_rows();
    }
    assert!(rows.truncated());
    assert_eq!(count, 2);
    let mut rows = context.query("SELECT * FROM zip_ma LIMIT 2", Some(2)).expect("rows");
    while rows.next_batch().expect("a batch").is_some() {}
    assert!(!rows.truncated());
}

/// A lake of few files with hard names and cells.
fn odd_lake() -> (Folder, LakeContext) {
    let lake = Folder::of(&[("a/same/prices.csv", "k,v\nx,1\ny,2\n"), ("b/same/prices.csv", "k,v\nx,1\ny,2\n")]);
    let mut text = String::from("id,amount,part,seen,big\n");
    for row in 0..100 {
        let amount = if row % 50 == 7 { "oops".to_string() } else { format!("\"${row},000\"") };
        let seen = format!("2020-01-02T00:00:0{}.25Z", row % 10);
        text.push_str(&format!("{row},{amount},{row}%,{seen},1234567890123456789{row}\n"));
    }
    lake.write("sums.csv", text);
    fs::copy(sample_lake().join("film/critic_scores.parquet"), lake.at("we ird%20*#?[a].parquet")).expect("a copy");
    let batch = RecordBatch::try_from_iter([
        ("n", Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef),
        ("t", Arc::new(StringArray::from(vec!["a", "NA"])) as ArrayRef),
    ])
    .expect("a batch");
    let out = fs::File::create(lake.at("typed.arrow")).expect("a file");
    let mut writer = arrow::ipc::writer::FileWriter::try_new(out, &batch.schema()).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("a file");
    let context = lake.lake().context(Limits::default()).expect("a context");
    (lake, context)
}

#[test]
fn cells_that_do_not_fit_are_null_and_counted_once() {
    let (_lake, context) = odd_lake();
    let rows = answer(
        &context,
        "SELECT count(*), count(a.amount), sum(a.amount), max(b.part) FROM sums a JOIN sums b ON a.id = b.id",
    );
    assert_eq!(rows, ["100|98|4886000.0|99.0"]);
    let notes = context.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(matches!(&notes[0].kind, NoteKind::Misfits { column, cells: 2, .. } if column == "amount"), "{notes:?}");
    assert_eq!(
        notes[0].to_string(),
        "2 cells of `sums`, column `amount` (Float64), did not fit its type and were read as NULL"
    );
    // A query that does not touch the column has nothing to report.
    assert_eq!(
        answer(&context, "SELECT max(seen), min(big) FROM sums"),
        ["2020-01-02T00:00:09.250|12345678901234567890"]
    );
    assert!(context.notes().is_empty());
}

#[test]
fn odd_names_and_declared_types_are_read() {
    let (_lake, context) = odd_lake();
    assert_eq!(answer(&context, "SELECT n, t, arrow_typeof(n) FROM typed"), ["1|a|Int32", "-|NA|Int32"]);
    assert_ne!(answer(&context, r#"SELECT count(*) FROM "we ird%20*#?[a]""#), ["0"]);
    let error = ask(&context, "SELECT * FROM prices").expect_err("two tables");
    assert!(error.to_string().contains("\"a/same/prices\""), "{error}");
    assert_eq!(answer(&context, "SELECT sum(v) FROM a.same.prices"), ["3"]);
}

#[test]
fn a_file_that_changed_or_went_is_named() {
    let (lake, context) = odd_lake();
    lake.write("a/same/prices.csv", "key,value,more\nx,1,2\n");
    let error = ask(&context, "SELECT * FROM a.same.prices").expect_err("changed");
    assert!(matches!(&error, Error::Unreadable { reason, .. } if reason.contains("changed")), "{error}");
    for (name, table) in [("sums.csv", "sums"), ("we ird%20*#?[a].parquet", "\"we ird%20*#?[a]\"")] {
        fs::remove_file(lake.at(name)).expect("a file");
        let error = ask(&context, &format!("SELECT * FROM {table}")).expect_err("gone");
        assert!(matches!(&error, Error::Unreadable { reason, .. } if reason.contains("lakeward index")), "{error:?}");
    }
}

#[test]
fn a_table_damaged_after_indexing_is_named() {
    let lake = Folder::of(&[]);
    let mut bytes = fs::read(sample_lake().join("transport/airports_world.parquet")).expect("a file");
    let file = lake.write("airports.parquet", &bytes);
    let indexed = lake.lake();
    bytes[1_000..100_000].fill(0xff);
    fs::write(&file, &bytes).expect("a file");
    let context = indexed.context(Limits::default()).expect("a context");
    let error = ask(&context, "SELECT * FROM airports").expect_err("damaged");
    assert!(matches!(&error, Error::Unreadable { path, .. } if *path == file), "{error}");
}
