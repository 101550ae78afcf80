//! Operations as SQL, previewed, run and exported: every figure of a preview against a count made some other way, hostile
//! names and files, limits, interruption.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_core::request::{
    Aggregate, Condition, DatePart, Filter, GroupKey, Input, Join, Measure, MeasureFunction, Operation, Test, Union,
    UnionPart,
};
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::preview::{JoinPreview, PreviewDetail, UnionPreview};
use lakeward_operate::{Comparison, LakeContext, Limits, Preview, PreviewLimits};
use lakeward_sketch::normalise::Normaliser;
use proptest::prelude::*;
use tempfile::TempDir;

fn sample_lake() -> PathBuf {
    Path::new(crate::REPOSITORY).join("lake")
}

fn index_of(lake: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    build::build(lake, folder.path(), StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
    folder
}

fn context_of(lake: &Path, index: &Path, limits: Limits) -> LakeContext {
    let index = LakeIndex::open(index, StaticModel::builtin().id()).expect("an index");
    LakeContext::new(lake, &index, limits).expect("a context")
}

fn sample_limited(limits: Limits) -> LakeContext {
    static INDEX: OnceLock<TempDir> = OnceLock::new();
    let index = INDEX.get_or_init(|| index_of(&sample_lake()));
    context_of(&sample_lake(), index.path(), limits)
}

fn sample() -> LakeContext {
    sample_limited(Limits::default())
}

/// All rows as text, NULL as `-`.
fn ask(context: &LakeContext, sql: &str) -> Result<Vec<Vec<String>>, Error> {
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
            lines.push(columns.iter().map(|column| column.value(row).to_string()).collect());
        }
    }
    Ok(lines)
}

fn answer(context: &LakeContext, sql: &str) -> Vec<Vec<String>> {
    ask(context, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn preview(context: &LakeContext, operation: &Operation) -> Preview {
    lakeward_operate::preview(context, operation, &PreviewLimits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The rows of an operation, run into a file that becomes step `step`; the file must agree with the preview.
fn run_rows(context: &LakeContext, operation: &Operation, folder: &Path, step: usize) -> Vec<Vec<String>> {
    let told = preview(context, operation);
    let out = folder.join(format!("step_{step}.parquet"));
    let outcome = lakeward_operate::run(context, operation, &PreviewLimits::default(), &out)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.sql, told.sql);
    assert_eq!(outcome.columns, told.columns);
    assert_eq!(outcome.rows, told.rows_out, "{}", told.sql);
    context.set_step(step, &out);
    let rows = answer(context, &format!("SELECT * FROM session.step_{step}"));
    assert_eq!(rows.len() as u64, told.rows_out);
    let left: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".lakeward")))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    rows
}

fn table(id: &str) -> Input {
    Input::Table(id.into())
}

fn file(path: &Path) -> Input {
    Input::File(path.to_str().expect("a path").into())
}

fn written(folder: &TempDir, name: &str, text: &str) -> Input {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    file(&path)
}

fn join(left: Input, right: Input, on: &[(&str, &str)]) -> Join {
    Join {
        left,
        right,
        on: on.iter().map(|(left, right)| (left.to_string(), right.to_string())).collect(),
        normalised: false,
        matched_only: false,
        columns: Vec::new(),
    }
}

fn filter(input: Input, conditions: Vec<(&str, Test)>) -> Operation {
    let conditions =
        conditions.into_iter().map(|(column, test)| Condition { column: column.into(), test }).collect::<Vec<_>>();
    Operation::Filter(Filter { input, conditions, columns: Vec::new() })
}

fn one_of(values: &[&str]) -> Test {
    Test::OneOf { values: values.iter().map(|value| value.to_string()).collect() }
}

fn none_of(values: &[&str]) -> Test {
    Test::NoneOf { values: values.iter().map(|value| value.to_string()).collect() }
}

fn between(from: Option<&str>, to: Option<&str>) -> Test {
    Test::Between { from: from.map(str::to_string), to: to.map(str::to_string) }
}

fn join_detail(preview: &Preview) -> &JoinPreview {
    match &preview.detail {
        PreviewDetail::Join(join) => join,
        other => panic!("{other:?}"),
    }
}

fn union_detail(preview: &Preview) -> &UnionPreview {
    match &preview.detail {
        PreviewDetail::Union(union) => union,
        other => panic!("{other:?}"),
    }
}

fn names(preview: &Preview) -> Vec<&str> {
    preview.columns.iter().map(|column| column.name.as_str()).collect()
}

#[test]
fn a_join_of_real_tables_is_counted_as_by_hand() {
    let context = sample();
    let operation = Operation::Join(Join {
        columns: vec!["name".into(), "ISO_Country".into()],
        ..join(table("transport/routes_us_2026_07"), table("transport/airports_world"), &[("destination", "iata_code")])
    });
    let told = preview(&context, &operation);
    let detail = join_detail(&told);
    let left: Vec<String> =
        answer(&context, r#"SELECT "Destination" FROM routes_us_2026_07"#).into_iter().flatten().collect();
    let right = answer(&context, "SELECT iata_code, name FROM airports_world");
    let mut partners: HashMap<&str, u64> = HashMap::new();
    right.iter().filter(|row| row[0] != "-").for_each(|row| *partners.entry(&row[0]).or_default() += 1);
    let partners_of = |key: &String| partners.get(key.as_str()).copied().unwrap_or(0);
    assert_eq!(told.inputs[0].rows, left.len() as u64);
    assert_eq!(told.inputs[1].rows, right.len() as u64);
    let unmatched = left.iter().filter(|key| partners_of(key) == 0).count() as u64;
    let pairs: u64 = left.iter().map(partners_of).sum();
    assert_eq!(told.rows_out, pairs + unmatched);
    assert_eq!(detail.left.unmatched_rows, unmatched);
    assert_eq!(detail.left.missing_keys, left.iter().filter(|key| *key == "-").count() as u64);
    assert_eq!(detail.greatest_fan_out, left.iter().map(partners_of).max().unwrap_or(0));
    assert!((detail.mean_fan_out - pairs as f64 / (left.len() as u64 - unmatched) as f64).abs() < 1e-12);
    let ours: BTreeSet<&str> = left.iter().map(String::as_str).collect();
    let unmatched_right = right.iter().filter(|row| row[0] == "-" || !ours.contains(row[0].as_str())).count();
    assert_eq!(detail.right.unmatched_rows, unmatched_right as u64);
    assert_eq!(detail.right.missing_keys, right.iter().filter(|row| row[0] == "-").count() as u64);
    assert_eq!(detail.matched_keys, ours.iter().filter(|key| partners.contains_key(*key)).count() as u64);
    assert!(detail.right.unmatched_keys.iter().all(|key| !ours.contains(key.as_str())));
    assert_eq!(told.sample.len(), 10);
    assert_eq!(names(&told).last(), Some(&"iso_country"));
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &operation, folder.path(), 1);
    // The order of the working table.
    let kept: Vec<&String> = rows
        .iter()
        .map(|row| &row[names(&told).iter().position(|name| *name == "Destination").expect("a column")])
        .collect();
    assert_eq!(kept, left.iter().flat_map(|key| vec![key; partners_of(key).max(1) as usize]).collect::<Vec<_>>());
    let nulls = rows.iter().filter(|row| row[row.len() - 2] == "-").count() as u64;
    assert_eq!(detail.added[0].nulls, Some(nulls));
}

#[test]
fn normalised_keys_meet_however_they_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = written(
        &folder,
        "people.csv",
        "name,born,note\nNew York,2020-01-02,a\n\"Smith, John\",x,b\nOslo[1],y,c\n,z,d\nParis,w,e\n\"1,234\",v,f\nwords,u,g\n",
    );
    let right = written(
        &folder,
        "places.csv",
        "place,name,size\nnew  york,N,1\nJohn Smith,J,2\nOSLO,O,3\nOslo,O2,4\nn/a,M,5\nparis,P,\n1234,T,7\nnobody,X,8\n",
    );
    let context = sample();
    let plain = join(left, right, &[("name", "place")]);
    let as_written = preview(&context, &Operation::Join(plain.clone()));
    let detail = join_detail(&as_written);
    assert_eq!(detail.keys[0].comparison, Comparison::AsWritten);
    assert_eq!((as_written.rows_out, detail.matched_keys, detail.left.unmatched_rows), (7, 0, 7));
    assert_eq!(detail.normalising_gains, Some(5));
    assert_eq!(names(&as_written), ["name", "born", "note", "places_name", "size"]);
    let operation = Operation::Join(Join { normalised: true, ..plain });
    let told = preview(&context, &operation);
    let detail = join_detail(&told);
    assert_eq!(detail.normalising_gains, None);
    assert_eq!((told.rows_out, detail.matched_keys, detail.greatest_fan_out), (8, 5, 2));
    assert_eq!((detail.left.unmatched_rows, detail.left.missing_keys), (2, 1));
    assert_eq!(detail.left.unmatched_keys, ["words"]);
    assert_eq!(detail.right.unmatched_keys, ["nobody"]);
    assert_eq!((detail.right.unmatched_rows, detail.right.missing_keys), (2, 1));
    assert_eq!(detail.added[1].nulls, Some(3));
    assert!(told.sql.contains("value_normalize(l.\"name\") = value_normalize(r.\"place\")"), "{}", told.sql);
    let rows = run_rows(&context, &operation, folder.path(), 1);
    assert_eq!(rows.iter().filter(|row| row[0] == "Oslo[1]").count(), 2);
    assert_eq!(rows.iter().find(|row| row[0] == "Paris").expect("a row")[3..], ["P", "-"]);
}

#[test]
fn keys_of_two_types_are_compared_as_written_and_it_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = written(&folder, "codes.csv", "code,v\n01,a\n02,b\n3x,c\n1,d\n");
    let right = written(&folder, "numbers.csv", "number,w\n1,x\n2,y\n3,z\n");
    let context = sample();
    let told = preview(&context, &Operation::Join(join(left, right, &[("code", "number")])));
    let detail = join_detail(&told);
    assert_eq!(detail.keys[0].comparison, Comparison::AsText);
    assert!(detail.compares_types_as_text);
    assert_eq!((told.rows_out, detail.left.unmatched_rows), (4, 3));
    assert_eq!(detail.normalising_gains, Some(0));
    // Numbers of two types are numbers.
    let left = written(&folder, "whole.csv", "k,v\n1,a\n2,b\n");
    let right = written(&folder, "real.csv", "k,w\n1.0,x\n2.5,y\n");
    let told = preview(&context, &Operation::Join(join(left, right, &[("k", "k")])));
    assert_eq!(join_detail(&told).keys[0].comparison, Comparison::AsValues);
    assert_eq!(join_detail(&told).matched_keys, 1);
}

#[test]
fn a_filter_compares_values_as_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = written(
        &folder,
        "things.csv",
        "city,when,size,loose,yes\n\
         New York,2020-01-02,\"1,000\",12 apples,yes\n\
         \"York, New\",2020-12-31,5,7,no\n\
         Oslo 100%,2021-01-01,-3,\"1,500\",yes\n\
         ,2021-06-30,2.5,x,no\n\
         x_y,2022-02-01,,50%,yes\n",
    );
    let context = sample();
    let count = |conditions: Vec<(&str, Test)>| {
        let operation = filter(input.clone(), conditions);
        let told = preview(&context, &operation);
        assert_eq!(run_rows(&context, &operation, folder.path(), 1).len() as u64, told.rows_out);
        told.rows_out
    };
    assert_eq!(count(vec![("city", one_of(&["NEW YORK[1]"]))]), 2);
    assert_eq!(count(vec![("city", none_of(&["new york"]))]), 3);
    assert_eq!(count(vec![("city", none_of(&["new york", "n/a"]))]), 2);
    assert_eq!(count(vec![("city", one_of(&["n/a", "oslo 100%"]))]), 2);
    assert_eq!(count(vec![("city", Test::Present)]), 4);
    assert_eq!(count(vec![("city", Test::Contains { text: "100%".into() })]), 1);
    assert_eq!(count(vec![("city", Test::Contains { text: "%".into() })]), 1);
    assert_eq!(count(vec![("city", Test::Contains { text: "_".into() })]), 1);
    assert_eq!(count(vec![("city", Test::Contains { text: "yOrK".into() })]), 2);
    assert_eq!(count(vec![("when", between(Some("2020"), Some("2020")))]), 2);
    assert_eq!(count(vec![("when", between(Some("2020-12"), Some("2021")))]), 3);
    assert_eq!(count(vec![("when", between(None, Some("1 January 2021")))]), 3);
    assert_eq!(count(vec![("when", one_of(&["2021", "2020-01"]))]), 3);
    assert_eq!(count(vec![("when", none_of(&["2021"]))]), 3);
    assert_eq!(count(vec![("size", between(Some("2"), Some("$1,000")))]), 3);
    assert_eq!(count(vec![("size", one_of(&["1000.0", "-3"]))]), 2);
    assert_eq!(count(vec![("size", none_of(&["5"]))]), 4);
    assert_eq!(count(vec![("loose", between(Some("7"), Some("1500")))]), 3);
    assert_eq!(count(vec![("yes", one_of(&["Y"]))]), 3);
    assert_eq!(count(vec![("CITY ", one_of(&["'; DROP TABLE x; --"]))]), 0);
    let told = preview(
        &context,
        &filter(input.clone(), vec![("yes", one_of(&["no"])), ("when", between(Some("2021"), None))]),
    );
    let PreviewDetail::Filter(detail) = &told.detail else { panic!("{:?}", told.detail) };
    assert_eq!(detail.conditions.iter().map(|condition| condition.rows).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((told.inputs[0].rows, told.rows_out), (5, 1));
    for (column, test) in [
        ("size", one_of(&["many"])),
        ("when", between(Some("soon"), None)),
        ("yes", one_of(&["maybe"])),
        ("city", between(Some("a"), Some("b"))),
        ("city", between(None, None)),
        ("city", one_of(&[])),
    ] {
        let error = lakeward_operate::sql(&context, &filter(input.clone(), vec![(column, test)])).expect_err(column);
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
    let error = lakeward_operate::sql(&context, &filter(input, vec![("siez", Test::Present)])).expect_err("unknown");
    assert!(matches!(&error, Error::UnknownColumn { nearest, .. } if nearest[0] == "size"), "{error}");
}

#[test]
fn a_filter_keeps_columns_in_the_order_asked_for() {
    let context = sample();
    let operation = Operation::Filter(Filter {
        input: table("geo/countries"),
        conditions: vec![Condition { column: "continentcode".into(), test: one_of(&["eu"]) }],
        columns: vec!["POPULATION".into(), "iso".into(), "iso".into()],
    });
    let told = preview(&context, &operation);
    assert_eq!(names(&told), ["population", "iso"]);
    let mut reader = csv::Reader::from_path(sample_lake().join("geo/countries.csv")).expect("a file");
    let european = reader.records().filter(|row| row.as_ref().is_ok_and(|row| &row[7] == "EU")).count();
    assert_eq!(told.rows_out, european as u64);
    let error = lakeward_operate::sql(&context, &filter(table("geo/countrys"), Vec::new())).expect_err("unknown");
    assert!(matches!(&error, Error::UnknownTable { nearest, .. } if nearest[0] == "geo/countries"), "{error}");
    // Namibia is found by its code, and a missing code is not.
    let codes = preview(&context, &filter(table("geo/countries"), vec![("iso", one_of(&["na"]))]));
    assert_eq!(codes.rows_out, 0);
    let codes = preview(&context, &filter(table("geo/countries"), vec![("iso", one_of(&["NA"]))]));
    assert_eq!(codes.rows_out, 1);
}

fn seattle(year: u16) -> Input {
    table(&format!("climate/daily/seattle_{year}"))
}

fn same_columns(names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| (name.to_string(), name.to_string())).collect()
}

#[test]
fn a_union_over_years_says_where_rows_are_from() {
    let context = sample();
    let aligned = same_columns(&["date", "precipitation", "temp_max", "weather"]);
    let operation = Operation::Union(Union {
        first: seattle(2012),
        others: [2013, 2014].map(|year| UnionPart { input: seattle(year), alignment: aligned.clone() }).into(),
        keep_extra: false,
        source_column: Some("Weather".into()),
        distinct: false,
    });
    let told = preview(&context, &operation);
    assert_eq!(told.rows_out, 366 + 365 + 365);
    let detail = union_detail(&told);
    assert_eq!(detail.parts[0].left_empty, ["temp_min", "wind"]);
    assert_eq!(detail.source_column.as_deref(), Some("Weather_2"));
    assert!(detail.conflicts.is_empty(), "{:?}", detail.conflicts);
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &operation, folder.path(), 1);
    assert_eq!(rows[0].first().map(String::as_str), Some("2012-01-01"));
    assert_eq!(rows.last().expect("a row")[0], "2014-12-31");
    assert_eq!(rows.iter().filter(|row| row[6] == "climate/daily/seattle_2014").count(), 365);
    assert_eq!(rows.iter().filter(|row| row[3] == "-").count(), 730);
    let by_year = Operation::Aggregate(Aggregate {
        input: Input::Step(1),
        group_by: vec![GroupKey { column: "date".into(), part: Some(DatePart::Month) }],
        measures: vec![
            Measure { function: MeasureFunction::Count, column: None },
            Measure { function: MeasureFunction::Max, column: Some("temp_max".into()) },
        ],
    });
    let months = run_rows(&context, &by_year, folder.path(), 2);
    assert_eq!(months.len(), 36);
    assert_eq!(months[0][..2], ["2012-01", "31"]);
}

#[test]
fn a_union_reconciles_types_and_counts_what_does_not_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let first =
        written(&folder, "a.csv", "id,size,note,when\n1,10,x,2020-01-01\n2,20,y,2020-01-02\n2,20,y,2020-01-02\n");
    let second = written(
        &folder,
        "b.csv",
        "Key,size,extra,when\n2.5,many,1,2020-01-02 10:00:00\n3,7,2,2020-01-03 11:00:00\n4,8,3,2020-01-03 12:00:00\n",
    );
    let third = written(&folder, "c.csv", "key,size,extra\n2,,w\n");
    let union = Union {
        first,
        others: vec![
            UnionPart {
                input: second,
                alignment: vec![
                    ("id".into(), "key".into()),
                    ("size".into(), "size".into()),
                    ("when".into(), "when".into()),
                ],
            },
            UnionPart { input: third, alignment: vec![("id".into(), "key".into()), ("size".into(), "size".into())] },
        ],
        keep_extra: true,
        source_column: None,
        distinct: false,
    };
    let context = sample();
    let operation = Operation::Union(union.clone());
    let told = preview(&context, &operation);
    assert_eq!(names(&told), ["id", "size", "note", "when", "extra"]);
    let types: Vec<&str> = told.columns.iter().map(|column| column.data_type.as_str()).collect();
    assert_eq!(types[0], "Float64");
    assert!(types[3].starts_with("Timestamp(µs") || types[3].contains("icrosecond"), "{types:?}");
    let detail = union_detail(&told);
    let conflicts: Vec<(&str, &str, u64)> = detail
        .conflicts
        .iter()
        .map(|conflict| (conflict.column.as_str(), conflict.becomes.as_str(), conflict.misfits))
        .collect();
    assert_eq!(
        conflicts,
        [("id", "DOUBLE", 0), ("size", "VARCHAR", 1), ("when", "TIMESTAMP(6)", 0), ("extra", "VARCHAR", 1)]
    );
    assert_eq!(detail.extra_columns, ["extra"]);
    assert_eq!(told.rows_out, 7);
    let rows = run_rows(&context, &operation, folder.path(), 1);
    assert_eq!(rows[3], ["2.5", "many", "-", "2020-01-02T10:00:00", "1"]);
    assert_eq!(rows[6], ["2.0", "-", "-", "-", "w"]);
    let distinct = Operation::Union(Union { distinct: true, ..union.clone() });
    let told = preview(&context, &distinct);
    assert_eq!((told.rows_out, union_detail(&told).repeated_rows), (6, 1));
    assert_eq!(run_rows(&context, &distinct, folder.path(), 2).len(), 6);
    let with_source = Operation::Union(Union { distinct: true, source_column: Some("from".into()), ..union.clone() });
    let rows = run_rows(&context, &with_source, folder.path(), 3);
    assert_eq!(rows.len(), 6);
    let twice = Union {
        others: vec![UnionPart {
            input: union.others[0].input.clone(),
            alignment: vec![("id".into(), "key".into()), ("id".into(), "size".into())],
        }],
        ..union
    };
    assert!(matches!(lakeward_operate::sql(&context, &Operation::Union(twice)), Err(Error::Usage(_))));
}

#[test]
fn an_empty_column_does_not_make_numbers_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = written(&folder, "a.csv", "id,size\n1,10\n2,20\n");
    let second = written(&folder, "b.csv", "id,size\n3,\n4,n/a\n");
    let context = sample();
    let union = |first: &Input, second: &Input| {
        Operation::Union(Union {
            first: first.clone(),
            others: vec![UnionPart { input: second.clone(), alignment: same_columns(&["id", "size"]) }],
            keep_extra: false,
            source_column: None,
            distinct: false,
        })
    };
    for (a, b) in [(&first, &second), (&second, &first)] {
        let told = preview(&context, &union(a, b));
        assert_eq!(told.columns[1].data_type, "Int64", "{}", told.sql);
        assert_eq!(run_rows(&context, &union(a, b), folder.path(), 1).len(), 4);
    }
}

#[test]
fn an_aggregation_is_that_of_the_numbers() {
    let context = sample();
    let measure = |function, column: &str| Measure { function, column: Some(column.into()) };
    let operation = Operation::Aggregate(Aggregate {
        input: table("transport/nyc2013/flights_2013_05"),
        group_by: vec![
            GroupKey { column: "carrier".into(), part: None },
            GroupKey { column: "date".into(), part: Some(DatePart::Year) },
        ],
        measures: vec![
            Measure { function: MeasureFunction::Count, column: None },
            measure(MeasureFunction::Mean, "dep_delay"),
            measure(MeasureFunction::Median, "dep_delay"),
            measure(MeasureFunction::CountDistinct, "dest"),
            measure(MeasureFunction::Sum, "distance"),
        ],
    });
    let told = preview(&context, &operation);
    assert_eq!(
        names(&told),
        ["carrier", "date_year", "count", "mean_dep_delay", "median_dep_delay", "count_distinct_dest", "sum_distance"]
    );
    // By hand, from the file.
    let mut groups: HashMap<String, (u64, Vec<f64>, BTreeSet<String>, i64)> = HashMap::new();
    for row in answer(&context, "SELECT carrier, dep_delay, dest, distance FROM flights_2013_05") {
        let group = groups.entry(row[0].clone()).or_default();
        group.0 += 1;
        group.1.extend(row[1].parse::<f64>().ok());
        group.2.insert(row[2].clone());
        group.3 += row[3].parse::<i64>().unwrap_or(0);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &operation, folder.path(), 1);
    assert_eq!(rows.len(), groups.len());
    assert!(rows.is_sorted_by_key(|row| row[0].clone()));
    for row in &rows {
        let (count, delays, dests, distance) = groups.get_mut(&row[0]).expect("a group");
        delays.sort_by(f64::total_cmp);
        let middle = delays.len() / 2;
        let median = if delays.len() % 2 == 1 { delays[middle] } else { (delays[middle - 1] + delays[middle]) / 2.0 };
        assert_eq!(row[1], "2013");
        assert_eq!(row[2], count.to_string());
        assert!(
            (row[3].parse::<f64>().expect("a number") - delays.iter().sum::<f64>() / delays.len() as f64).abs() < 1e-9
        );
        assert_eq!(row[4].parse::<f64>().ok(), Some(median), "{row:?}");
        assert_eq!(row[5], dests.len().to_string());
        assert_eq!(row[6], distance.to_string());
    }
    let PreviewDetail::Aggregate(detail) = &told.detail else { panic!("{:?}", told.detail) };
    assert_eq!(detail.groups, groups.len() as u64);
    assert_eq!(detail.most_rows, groups.values().map(|group| group.0).max().expect("groups"));
    assert_eq!(detail.least_rows, groups.values().map(|group| group.0).min().expect("groups"));
    assert_eq!(told.inputs[0].rows, groups.values().map(|group| group.0).sum::<u64>());
}

#[test]
fn numbers_and_dates_in_text_are_aggregated_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = written(
        &folder,
        "loose.csv",
        "day,fare\n4 March 2020,\"$1,000\"\nsome day,free\n2020-03-05,20\nperhaps,n/a\n31/12/2020,7 (est)\nnever,3[1]\nunknown,x\n",
    );
    let context = sample();
    let by = |part| {
        Operation::Aggregate(Aggregate {
            input: input.clone(),
            group_by: vec![GroupKey { column: "day".into(), part: Some(part) }],
            measures: vec![
                Measure { function: MeasureFunction::Count, column: None },
                Measure { function: MeasureFunction::Sum, column: Some("fare".into()) },
            ],
        })
    };
    let rows = run_rows(&context, &by(DatePart::Year), folder.path(), 1);
    assert_eq!(rows, [["2020", "3", "1020.0"], ["-", "4", "3.0"]]);
    let rows = run_rows(&context, &by(DatePart::Month), folder.path(), 1);
    assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["2020-03", "2020-12", "-"]);
    let all = Operation::Aggregate(Aggregate {
        input,
        group_by: Vec::new(),
        measures: vec![Measure { function: MeasureFunction::Count, column: Some("fare".into()) }],
    });
    assert_eq!(run_rows(&context, &all, folder.path(), 1), [["6"]]);
}

#[test]
fn an_explosion_is_stopped_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |header: &str| (0..2000).fold(header.to_string(), |text, row| text + &format!("same,{row}\n"));
    let left = written(&folder, "left.csv", &text("k,a\n"));
    let right = written(&folder, "right.csv", &text("k,b\n"));
    let context = sample();
    let operation = Operation::Join(join(left.clone(), right.clone(), &[("k", "k")]));
    let told = preview(&context, &operation);
    assert_eq!(told.rows_out, 4_000_000);
    let reason = told.stopped.expect("stopped");
    assert!(reason.contains("4000000 rows of 2000") && reason.contains("aggregate `"), "{reason}");
    assert!(told.sample.is_empty());
    let out = folder.path().join("out.parquet");
    let error = lakeward_operate::run(&context, &operation, &PreviewLimits::default(), &out).expect_err("stopped");
    assert!(matches!(&error, Error::Usage(text) if *text == reason), "{error}");
    assert!(!out.exists());
    let limits = PreviewLimits { max_rows: 1_000, max_fan_out: 1e9, ..PreviewLimits::default() };
    let all = filter(left.clone(), Vec::new());
    assert!(lakeward_operate::preview(&context, &all, &limits).expect("a preview").stopped.is_some());
    assert!(matches!(lakeward_operate::run(&context, &all, &limits, &out), Err(Error::Usage(_))));
    assert!(!out.exists());
    assert!(lakeward_operate::preview(&context, &operation, &limits).expect("a preview").stopped.is_some());
    // One row with many partners is none.
    let one = written(&folder, "one.csv", "k,c\nsame,1\n");
    assert_eq!(preview(&context, &Operation::Join(join(one, right, &[("k", "k")]))).stopped, None);
}

#[test]
fn a_join_larger_than_memory_completes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |seed: u64| {
        (0..100_000u64).fold("k,text\n".to_string(), |text, row| {
            let key = (row * 7919 + seed) % 100_000;
            text + &format!("{key},{}\n", format!("{key:x}-{row:x}-").repeat(50))
        })
    };
    let left = written(&folder, "left.csv", &text(1));
    let right = written(&folder, "right.csv", &text(2));
    let operation = Operation::Join(join(left, right, &[("k", "k")]));
    let roomy = sample();
    let expected = run_rows(&roomy, &operation, folder.path(), 1);
    let tight = sample_limited(Limits { memory_bytes: 56 << 20, spill_bytes: 4 << 30 });
    let rows = run_rows(&tight, &operation, folder.path(), 2);
    assert_eq!(rows.len(), 100_000);
    assert!(rows == expected);
    // The same memory is too little where nothing can go to disk.
    let without_disk = sample_limited(Limits { memory_bytes: 56 << 20, spill_bytes: 0 });
    let out = folder.path().join("never.parquet");
    let error =
        lakeward_operate::run(&without_disk, &operation, &PreviewLimits::default(), &out).expect_err("too little");
    assert!(error.to_string().contains("memory") || error.to_string().contains("disk"), "{error}");
    assert!(!out.exists());
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let context = sample().stopping_when(move || asked.load(Ordering::Relaxed));
    let operation = Operation::Join(join(
        table("transport/airports_world"),
        table("transport/airports_world"),
        &[("iso_country", "iso_country")],
    ));
    let limits = PreviewLimits { max_fan_out: 1e9, max_rows: u64::MAX, ..PreviewLimits::default() };
    let rows = lakeward_operate::preview(&context, &operation, &limits).expect("a preview").rows_out;
    assert!(rows > 100_000, "{rows}");
    let out = folder.path().join("out.parquet");
    let setter = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        }
    });
    let started = std::time::Instant::now();
    let error = lakeward_operate::run(&context, &operation, &limits, &out).expect_err("interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    setter.join().expect("a thread");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    assert!(matches!(lakeward_operate::preview(&context, &operation, &limits), Err(Error::Interrupted)));
    stop.store(false, Ordering::Relaxed);
    assert_eq!(answer(&context, "SELECT count(*) FROM us.states").len(), 1);
}

#[test]
fn a_step_that_is_gone_or_damaged_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let context = sample();
    let states = filter(table("us/states"), Vec::new());
    run_rows(&context, &states, folder.path(), 3);
    let path = folder.path().join("step_3.parquet");
    let of_step = filter(Input::Step(3), vec![("code", one_of(&["AL"]))]);
    assert_eq!(preview(&context, &of_step).rows_out, 1);
    // Another result under the same name.
    run_rows(&context, &filter(table("us/states"), vec![("code", one_of(&["AK"]))]), folder.path(), 3);
    assert_eq!(preview(&context, &of_step).rows_out, 0);
    run_rows(&context, &states, folder.path(), 3);
    let error = lakeward_operate::sql(&context, &filter(Input::Step(4), Vec::new())).expect_err("no step");
    assert!(
        matches!(&error, Error::Usage(text) if text.contains("step_4") && text.contains("session.step_3")),
        "{error}"
    );
    let mut bytes = fs::read(&path).expect("a file");
    bytes[10..400].fill(0xff);
    fs::write(&path, &bytes).expect("a file");
    for damaged in [bytes.clone(), bytes[..20].to_vec(), Vec::new()] {
        fs::write(&path, damaged).expect("a file");
        let error = lakeward_operate::preview(&context, &filter(Input::Step(3), Vec::new()), &PreviewLimits::default())
            .expect_err("damaged");
        assert!(matches!(&error, Error::UnreadableStep { step: 3, .. }), "{error}");
        let error = ask(&context, "SELECT * FROM session.step_3 s, us.states").expect_err("damaged");
        assert!(matches!(&error, Error::UnreadableStep { step: 3, .. }), "{error}");
    }
    fs::remove_file(&path).expect("a file");
    let error = lakeward_operate::sql(&context, &of_step).expect_err("gone");
    assert!(matches!(&error, Error::UnreadableStep { step: 3, reason, .. } if reason == "it is gone"), "{error}");
    context.remove_step(3);
    let error = ask(&context, "SELECT * FROM session.step_3").expect_err("no step");
    assert!(matches!(error, Error::Usage(_) | Error::UnknownTable { .. }), "{error}");
    let error = lakeward_operate::sql(&context, &filter(file(Path::new("/no/such/file.csv")), Vec::new()))
        .expect_err("no file");
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn an_export_is_whole_and_overwrites_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "name,amount\n=1+1,5\n\"a,\"\"b\",-2\n\"two\nlines\",\n@x,7\n";
    let input = written(&folder, "in.csv", text);
    let context = sample();
    let out = folder.path().join("out.csv");
    let exported = lakeward_operate::export(&context, &input, &out, false).expect("an export");
    assert_eq!(exported.rows, 4);
    assert_eq!(fs::read_to_string(&out).expect("a file"), text);
    assert!(matches!(lakeward_operate::export(&context, &input, &out, false), Err(Error::Usage(_))));
    lakeward_operate::export(&context, &table("us/states"), &out, true).expect("an export");
    assert!(fs::read_to_string(&out).expect("a file").starts_with("code,name,fips\n"));
    let parquet = folder.path().join("out.PARQUET");
    lakeward_operate::export(&context, &table("us/states"), &parquet, false).expect("an export");
    assert_eq!(preview(&context, &filter(file(&parquet), Vec::new())).rows_out, 51);
    for name in ["out.xlsx", "out", "out.csv.gz"] {
        let error = lakeward_operate::export(&context, &input, &folder.path().join(name), false).expect_err(name);
        assert!(matches!(&error, Error::Usage(text) if text.contains(".parquet")), "{error}");
    }
    let error =
        lakeward_operate::export(&context, &input, &folder.path().join("no/such/x.csv"), false).expect_err("no folder");
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

#[test]
fn hostile_names_and_cells_are_data() {
    let lake = tempfile::tempdir().expect("a folder");
    let hostile = "\"; DROP TABLE x; --";
    fs::write(
        lake.path().join(format!("{hostile}.csv")),
        "\"a\"\"b\",a.b,\"x\ny\",a.b,'q',$(rm -rf)\n1,'; DROP,3,4,5,6\n2,\"\"\"; --\",3,4,5,6\n",
    )
    .expect("a file");
    fs::write(lake.path().join("l.csv"), "a.b,r\n'; DROP,1\n").expect("a file");
    fs::write(lake.path().join("r.csv"), "k,v\n1,2\n").expect("a file");
    fs::write(lake.path().join("empty.csv"), "a,b\n").expect("a file");
    fs::write(lake.path().join("no keys.csv"), "k,v\n,1\nn/a,2\n").expect("a file");
    let wide: Vec<String> = (0..500).map(|column| format!("column \"{column}\"")).collect();
    let header: Vec<String> = wide.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let cells: Vec<String> = (0..500).map(|column| column.to_string()).collect();
    fs::write(lake.path().join("wide.csv"), format!("{}\n{}\n", header.join(","), cells.join(","))).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
        fs::write(lake.path().join(name), "k,v\n1,2\n").expect("a file");
    }
    let index = index_of(lake.path());
    let context = context_of(lake.path(), index.path(), Limits::default());
    let folder = tempfile::tempdir().expect("a folder");
    let ids: Vec<String> =
        answer(&context, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'lake'")
            .into_iter()
            .flatten()
            .collect();
    assert!(ids.contains(&hostile.to_string()), "{ids:?}");
    let columns: Vec<String> =
        preview(&context, &filter(table(hostile), Vec::new())).columns.into_iter().map(|column| column.name).collect();
    for column in &columns {
        let operation = filter(table(hostile), vec![(column, Test::Present)]);
        assert_eq!(run_rows(&context, &operation, folder.path(), 1).len(), 2, "{column}");
        let operation = Operation::Aggregate(Aggregate {
            input: table(hostile),
            group_by: vec![GroupKey { column: column.clone(), part: None }],
            measures: vec![Measure { function: MeasureFunction::Count, column: Some(column.clone()) }],
        });
        run_rows(&context, &operation, folder.path(), 1);
        for normalised in [false, true] {
            let on = [("a.b", column.as_str())];
            let operation = Operation::Join(Join { normalised, ..join(table("l"), table(hostile), &on) });
            run_rows(&context, &operation, folder.path(), 1);
        }
    }
    let matched = preview(&context, &Operation::Join(join(table("l"), table(hostile), &[("a.b", "a.b")])));
    assert_eq!(join_detail(&matched).matched_keys, 1);
    let aligned: Vec<(String, String)> = vec![("a.b".into(), columns[0].clone()), ("r".into(), columns[2].clone())];
    for distinct in [false, true] {
        let operation = Operation::Union(Union {
            first: table("l"),
            others: vec![UnionPart { input: table(hostile), alignment: aligned.clone() }],
            keep_extra: true,
            source_column: Some(hostile.into()),
            distinct,
        });
        assert_eq!(run_rows(&context, &operation, folder.path(), 2).len(), 3);
    }
    // A result with such names is a table like any other.
    let names: Vec<String> =
        preview(&context, &filter(Input::Step(2), Vec::new())).columns.into_iter().map(|column| column.name).collect();
    for name in &names {
        preview(&context, &filter(Input::Step(2), vec![(name, Test::Contains { text: "'%_\\".into() })]));
    }
    let self_join = preview(&context, &Operation::Join(join(table("r"), table("l"), &[("k", "r")])));
    assert_eq!(self_join.rows_out, 1);
    for (left, right) in [("empty", "r"), ("r", "empty"), ("empty", "empty")] {
        let key = |id: &str| if id == "r" { "k" } else { "a" };
        let operation = Operation::Join(join(table(left), table(right), &[(key(left), key(right))]));
        let rows = run_rows(&context, &operation, folder.path(), 4);
        assert_eq!(rows.len(), usize::from(left == "r"));
        run_rows(&context, &filter(Input::Step(4), Vec::new()), folder.path(), 5);
    }
    let none = preview(&context, &Operation::Join(join(table("no keys"), table("no keys"), &[("k", "k")])));
    assert_eq!((none.rows_out, join_detail(&none).matched_keys, join_detail(&none).left.missing_keys), (2, 0, 2));
    let wide = Operation::Join(join(table("wide"), table("wide"), &[(&wide[3], &wide[3])]));
    let told = preview(&context, &wide);
    assert_eq!((told.columns.len(), told.rows_out), (999, 1));
    run_rows(&context, &wide, folder.path(), 6);
    let odd = ids.iter().find(|id| id.starts_with("caf")).expect("an id");
    assert_eq!(preview(&context, &filter(table(odd), Vec::new())).rows_out, 1);
    assert!(matches!(
        lakeward_operate::sql(&context, &Operation::Join(join(table("l"), table("r"), &[]))),
        Err(Error::Usage(_))
    ));
    assert_eq!(fs::read_dir(lake.path()).expect("a folder").count(), if cfg!(unix) { 7 } else { 6 });
}

#[test]
fn files_outside_the_lake_are_typed_as_those_within() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = written(
        &folder,
        "step_1.csv",
        "id,amount\n001,\"$1,000\"\n002,oops\n003,3\n004,4\n005,5\n006,6\n007,7\n008,8\n009,9\n010,10\n011,11\n012,12\n013,13\n014,14\n015,15\n016,16\n017,17\n018,18\n019,19\n020,20\n021,21\n022,22\n",
    );
    let context = sample();
    let told = preview(&context, &filter(input.clone(), Vec::new()));
    assert_eq!(told.sql, "SELECT *\nFROM session.\"file_step_1\"");
    assert_eq!(told.columns[1].data_type, "Float64");
    assert_eq!(told.notes.len(), 1, "{:?}", told.notes);
    let Input::File(path) = &input else { panic!() };
    assert_eq!(context.add_file(Path::new(path)).expect("a name"), "session.\"file_step_1\"");
    assert_eq!(answer(&context, "SELECT sum(amount) FROM session.file_step_1"), [["1250.0"]]);
    // It is read again when it changes.
    fs::write(path, "id,other\n1,x\n").expect("a file");
    assert_eq!(names(&preview(&context, &filter(input, Vec::new()))), ["id", "other"]);
    let schemas = answer(&context, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'session'");
    assert_eq!(schemas, [["file_step_1"]]);
}

fn normal_forms(context: &LakeContext, cells: &[String]) -> Vec<Option<String>> {
    let values: Vec<String> =
        cells.iter().enumerate().map(|(row, cell)| format!("({row}, '{}')", cell.replace('\'', "''"))).collect();
    let sql = format!("SELECT value_normalize(c) FROM (VALUES {}) AS t (n, c) ORDER BY n", values.join(", "));
    answer(context, &sql).into_iter().map(|mut row| row.pop().filter(|form| form != "-")).collect()
}

/// A small table: header and rows of short cells out of few.
fn small_table(first: &'static str) -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "",
        "a",
        "A",
        "b",
        "1",
        "01",
        "1.0",
        "2",
        "n/a",
        "2020-01-02",
        "2 Jan 2020",
        "x y",
        "Y, X",
    ]);
    prop::collection::vec((cell.clone(), cell), 0..9).prop_map(move |rows| {
        let mut text = format!("{first},other\n");
        for (key, other) in rows {
            text.push_str(&format!("\"{key}\",\"{other}\"\n"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn previews_count_what_runs_make(
        left in small_table("k"),
        right in small_table("k"),
        normalised: bool,
        matched_only: bool,
        distinct: bool,
        with_source: bool,
    ) {
        let context = sample();
        let folder = tempfile::tempdir().expect("a folder");
        let (left, right) = (written(&folder, "left.csv", &left), written(&folder, "right.csv", &right));
        let operation = Operation::Join(Join { normalised, matched_only, ..join(left.clone(), right.clone(), &[("k", "k")]) });
        run_rows(&context, &operation, folder.path(), 1);
        let both = [("k", "k"), ("other", "other")];
        run_rows(&context, &Operation::Join(Join { normalised, ..join(left.clone(), right.clone(), &both) }), folder.path(), 2);
        let operation = Operation::Union(Union {
            first: left.clone(),
            others: vec![UnionPart { input: right, alignment: same_columns(&["k"]) }],
            keep_extra: normalised,
            source_column: with_source.then(|| "source".to_string()),
            distinct,
        });
        run_rows(&context, &operation, folder.path(), 3);
        run_rows(&context, &filter(Input::Step(3), vec![("k", Test::Present), ("k", Test::Contains { text: "a".into() })]), folder.path(), 4);
        let aggregate = Operation::Aggregate(Aggregate {
            input: left,
            group_by: if distinct { Vec::new() } else { vec![GroupKey { column: "k".into(), part: None }] },
            measures: vec![Measure { function: MeasureFunction::Count, column: None }],
        });
        run_rows(&context, &aggregate, folder.path(), 5);
    }

    #[test]
    fn normal_forms_are_equal_exactly_when_the_index_says_so(
        cells in prop::collection::vec(
            "[ '(]{0,2}-?[0-2]{0,3}[.,]?[01]{0,3}%?[)* ]{0,2}|[aAé,' -]{0,4}|202[01]-0[12]-?(0[12])?|[12] Jan 2020|\\PC{0,6}",
            2..20,
        )
    ) {
        let mut normaliser = Normaliser::default();
        let hashes: Vec<u64> = cells.iter().map(|cell| normaliser.value(cell).hash).collect();
        let forms = normal_forms(&sample(), &cells);
        for a in 0..cells.len() {
            for b in 0..cells.len() {
                prop_assert_eq!(hashes[a] == hashes[b], forms[a] == forms[b], "{:?} / {:?}", cells[a], cells[b]);
            }
        }
    }
}
