//! Tables in several files: which layouts are one table, what their rows are, and what differs between files.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow::datatypes::DataType;
use lakeward_core::Error;
use lakeward_lake::layout::{Choice, Choices};
use lakeward_lake::location::Location;
use lakeward_lake::reader::{ReadOptions, RepairKind, open_path};
use lakeward_lake::source::{assign_ids, content_hash, list_files, list_tables};

use crate::holders::read;
use crate::log_files::parquet;

pub fn write(lake: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = lake.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn ids(lake: &Path, choices: &Choices) -> Vec<String> {
    let files = list_tables(lake, choices).unwrap().files;
    assign_ids(&files).iter().map(ToString::to_string).collect()
}

#[test]
fn keys_in_the_names_of_folders_are_names_of_columns_like_others() {
    let lake = tempfile::tempdir().unwrap();
    write(
        lake.path(),
        &[("hive/fjord  side =north/x.csv", "town\nAby\n"), ("hive/fjord  side =south/y.csv", "town\nBo\n")],
    );
    let found = read(&lake.path().join("hive"));
    assert_eq!(found.names, ["town", "fjord side"]);
    assert_eq!(found.rows, [["Aby", "north"], ["Bo", "south"]]);
}

#[test]
fn files_are_one_table_where_their_layout_says_so_and_only_there() {
    let lake = tempfile::tempdir().unwrap();
    let towns = "town,people\nAby,3\n";
    write(
        lake.path(),
        &[
            ("hive/year=2020/region=a%20b/x.csv", towns),
            ("hive/year=2021/region=__HIVE_DEFAULT_PARTITION__/y.csv", towns),
            ("hive/notes.csv", "a,b\n1,2\n"),
            ("spark/_SUCCESS", ""),
            ("spark/part-00000-1f-c000.csv", towns),
            ("spark/part-00001-1f-c000.csv", towns),
            ("mixed/part-0.csv", towns),
            ("mixed/part-1.csv", towns),
            ("mixed/part-time.csv", towns),
            ("dates/2020/01/a.csv", towns),
            ("dates/2020/02/b.csv", towns),
            // Two tables a month, tables of single years, folders of years and keys that differ: these say nothing.
            ("two/2020/01/a.csv", towns),
            ("two/2020/01/b.csv", towns),
            ("daily/2020/01/02/orders_0102.csv", towns),
            ("daily/2020/01/02/customers_0102.csv", towns),
            ("sensors/2020/01/02/sensor_12.csv", towns),
            ("sensors/2020/01/02/sensor_13.csv", towns),
            // A stream's files, many an hour.
            ("clicks/2020/01/02/03/clicks-1-2020-01-02-03-00-05-7f3a21bc-aced-4d11-9c2e-0a1b2c3d4e5f.csv", towns),
            ("clicks/2020/01/02/03/clicks-1-2020-01-02-03-05-05-7f3a21be-aced-4d11-9c2e-0a1b2c3d4e5f.csv", towns),
            ("clicks/2020/01/02/04/clicks-1-2020-01-02-04-00-05-7f3a21bd-aced-4d11-9c2e-0a1b2c3d4e5f.csv", towns),
            ("years/sales_2019.csv", towns),
            ("years/sales_2020.csv", towns),
            ("old/2019/sales.csv", towns),
            ("old/2020/sales.csv", towns),
            ("keys/a=1/x.csv", towns),
            ("keys/b=1/x.csv", towns),
            ("kinds/y=1/x.csv", towns),
            ("kinds/y=2/x.ndjson", "{\"a\": 1}\n"),
        ],
    );
    let separate = [
        "kinds/y=1/x",
        "kinds/y=2/x",
        "keys/a=1/x",
        "keys/b=1/x",
        "old/2019/sales",
        "old/2020/sales",
        "years/sales_2019",
        "years/sales_2020",
        "two/2020/01/a",
        "two/2020/01/b",
        "daily/2020/01/02/orders_0102",
        "daily/2020/01/02/customers_0102",
        "sensors/2020/01/02/sensor_12",
        "sensors/2020/01/02/sensor_13",
    ];
    let mut expected = vec!["clicks", "dates", "hive", "hive/notes", "mixed/part-[0-9]*", "mixed/part-time", "spark"];
    expected.extend(separate);
    expected.sort_unstable();
    let mut found = ids(lake.path(), &Choices::new());
    found.sort_unstable();
    assert_eq!(found, expected);

    let choices = Choices::from([
        ("years/sales_*.csv".to_string(), Choice::One),
        ("old/".to_string(), Choice::One),
        ("spark".to_string(), Choice::Separate),
        ("nowhere".to_string(), Choice::One),
        ("../elsewhere".to_string(), Choice::One),
    ]);
    let found = ids(lake.path(), &choices);
    assert!(found.contains(&"years/sales_*".to_string()) && found.contains(&"old".to_string()), "{found:?}");
    assert!(!found.iter().any(|id| id.starts_with("years/sales_2") || id.starts_with("old/")), "{found:?}");
    assert!(found.contains(&"spark/part-00000-1f-c000".to_string()), "{found:?}");
    assert_eq!(list_tables(lake.path(), &choices).unwrap().problems.len(), 2);
    assert_eq!(read(&lake.path().join("years/sales_*.csv")).rows.len(), 2);

    let hive = read(&lake.path().join("hive"));
    assert_eq!(hive.names, ["town", "people", "year", "region"]);
    assert_eq!(hive.rows, [["Aby", "3", "2020", "a b"], ["Aby", "3", "2021", ""]]);
    let parts = hive.report.parts.unwrap();
    assert_eq!(
        (parts.files, parts.keys, parts.reason.as_str()),
        (2, vec!["year".into(), "region".into()], "folders `year=…`")
    );
    assert_eq!(read(&lake.path().join("dates")).rows[1], ["Aby", "3", "2020", "02"]);
    assert_eq!(read(&lake.path().join("mixed/part-[0-9]*.csv")).rows.len(), 2);
    // A folder that says nothing is no table for who types its path, a folder that does is.
    assert!(
        Location::of(&lake.path().join("spark")).is_table() && !Location::of(&lake.path().join("years")).is_table()
    );
}

#[test]
fn a_lake_that_is_one_table_has_a_pattern_for_its_path() {
    let lake = tempfile::tempdir().unwrap();
    write(lake.path(), &[("k=1/a.csv", "x,y\n1,2\n"), ("k=2/a.csv", "x,y\n3,4\n")]);
    let listing = list_files(lake.path()).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["k=*"]);
    assert_eq!(read(&listing.files[0].path).rows, [["1", "2", "1"], ["3", "4", "2"]]);
}

#[test]
fn differences_between_files_are_reported_and_nothing_is_lost() {
    let lake = tempfile::tempdir().unwrap();
    let text = |words: &[&str]| Arc::new(StringArray::from(words.to_vec())) as ArrayRef;
    let at = |year: u32| lake.path().join(format!("t/year={year}/p.parquet"));
    parquet(&at(2020), vec![("a", Arc::new(Int32Array::from(vec![1]))), ("b", text(&["x"]))]);
    parquet(&at(2021), vec![("a", Arc::new(Int64Array::from(vec![1 << 40])))]);
    parquet(&at(2022), vec![("a", text(&["many"])), ("c", text(&["new"]))]);
    fs::create_dir_all(at(2023).parent().unwrap()).unwrap();
    fs::write(at(2023), "damaged").unwrap();
    let found = read(&lake.path().join("t"));
    assert_eq!(found.names, ["a", "b", "c", "year"]);
    assert_eq!(found.rows, [["1", "x", "", "2020"], ["1099511627776", "", "", "2021"], ["many", "", "new", "2022"]]);
    let said = |kind| found.report.repair(kind).unwrap().to_string();
    let drift = said(RepairKind::DriftingColumns);
    assert!(
        drift.starts_with("2 files have columns unlike") && drift.contains("no `b`") && drift.contains("`c` is new"),
        "{drift}"
    );
    let lost = said(RepairKind::UnreadableParts);
    assert!(lost.starts_with("1 file cannot be read") && lost.contains("year=2023/p.parquet"), "{lost}");
    assert!(found.report.lost_rows());
    let reader = open_path(&lake.path().join("t"), &ReadOptions::default()).unwrap();
    let types = reader.declared_types().unwrap();
    assert_eq!((types.field(0).data_type(), types.field(3).data_type()), (&DataType::Utf8, &DataType::Int64));
    // Where no file can be read there is an error.
    fs::create_dir_all(lake.path().join("u/k=1")).unwrap();
    fs::write(lake.path().join("u/k=1/p.parquet"), "damaged").unwrap();
    assert!(matches!(open_path(&lake.path().join("u"), &ReadOptions::default()), Err(Error::Unreadable { .. })));
}

#[test]
fn a_table_is_read_as_long_as_one_of_its_files_can_be() {
    let lake = tempfile::tempdir().unwrap();
    for (name, files, damaged) in [("one", 2, vec![1]), ("two", 4, vec![1, 3]), ("three", 4, vec![0, 1, 2])] {
        for file in 0..files {
            let path = lake.path().join(format!("{name}/part-{file}.parquet"));
            parquet(&path, vec![("a", Arc::new(Int64Array::from(vec![file])))]);
            if damaged.contains(&file) {
                fs::write(&path, "damaged").unwrap();
            }
        }
        let found = read(&lake.path().join(name).join("part-*.parquet"));
        assert_eq!(found.rows.len(), files as usize - damaged.len(), "{name}");
        assert_eq!(found.report.count(RepairKind::UnreadableParts), damaged.len() as u64, "{name}");
    }
}

#[test]
fn files_of_one_row_and_of_none_are_parts_like_others() {
    let lake = tempfile::tempdir().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let nothing = gzip.try_finish().map(|()| gzip.get_ref().clone()).unwrap();
    for name in ["text", "packed"] {
        write(&lake.path().join(name), &[("_SUCCESS", ""), ("part-0.csv", ""), ("part-1.csv", "a,b\n1,2\n")]);
    }
    fs::write(lake.path().join("packed/part-2.csv.gz"), nothing).unwrap();
    // The only row of a file may hold an array of objects, which are no rows.
    let (two, one) = ("{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 3, \"b\": [{\"c\": 4}, {\"c\": 5}]}\n");
    write(&lake.path().join("lines"), &[("part-0.json", one), ("part-1.json", ""), ("part-2.json", two)]);
    write(&lake.path().join("rows"), &[("part-0.json", "{\"a\": 1}\n"), ("part-1.json", "{\n\"a\": 2\n}")]);
    // Pages of a service are documents with an array of rows.
    write(
        &lake.path().join("pages"),
        &[
            ("part-0.json", "{\"n\": 1, \"rows\": [{\"a\": 1}]}\n"),
            ("part-1.json", "{\"n\": 2, \"rows\": [{\"a\": 2}]}"),
        ],
    );
    for (name, rows) in [
        ("text", vec![vec!["1", "2"]]),
        ("packed", vec![vec!["1", "2"]]),
        ("lines", vec![vec!["3", r#"[{"c": 4}, {"c": 5}]"#], vec!["1", ""], vec!["2", ""]]),
        ("rows", vec![vec!["1"], vec!["2"]]),
    ] {
        let found = read(&lake.path().join(name).join("part-*"));
        assert_eq!(found.rows, rows, "{name}");
        assert!(!found.report.partial(), "{name}: {:?}", found.report.repairs);
    }
    assert_eq!(read(&lake.path().join("pages/part-*.json")).rows, [["1"], ["2"]]);
    write(&lake.path().join("empty"), &[("_SUCCESS", ""), ("part-0.csv", ""), ("part-1.csv", "")]);
    assert!(open_path(&lake.path().join("empty"), &ReadOptions::default()).is_err());
}

#[test]
fn files_whose_names_tell_nothing_are_read_by_their_first_bytes_or_named() {
    let lake = tempfile::tempdir().unwrap();
    let at = |name: &str| lake.path().join(name);
    for day in 1..3 {
        parquet(&at(&format!("hive/day={day}/000000_0")), vec![("n", Arc::new(Int64Array::from(vec![day])))]);
        let lines = format!("{{\"n\": {day}}}\n{{\"n\": 5}}\n");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut gzip, lines.as_bytes()).unwrap();
        write(&at("plain"), &[(&format!("2023/02/2{day}/00/stream-1-2023-02-2{day}-00-00-57c4"), &lines)]);
        write(&at("packed"), &[(&format!("2023/02/2{day}/00/stream-1-2023-02-2{day}-00-00-57c4.gz"), "")]);
        let packed = format!("packed/2023/02/2{day}/00/stream-1-2023-02-2{day}-00-00-57c4.gz");
        fs::write(at(&packed), gzip.finish().unwrap()).unwrap();
    }
    fs::copy(at("hive/day=1/000000_0"), at("extract")).unwrap();
    fs::copy(at("hive/day=1/000000_0"), at("half.part")).unwrap();
    let cells = "a,b\n1,2\n3,4\n";
    write(
        lake.path(),
        &[
            ("dask/0.part", cells),
            ("other.db", "not a database"),
            ("numbers", "\0\u{1}\u{2}"),
            ("_numbers", "\0\u{1}\u{2}"),
            ("nothing", ""),
            ("LICENSE", "You may do with it,\nas is.\n"),
            ("photo.jpg", "\0"),
        ],
    );
    let listing = list_files(lake.path()).unwrap();
    let names = |paths: Vec<&Path>| {
        paths
            .iter()
            .map(|path| path.strip_prefix(lake.path()).unwrap().to_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let tables = listing.files.iter().map(|file| file.path.as_path()).collect();
    assert_eq!(names(tables), ["extract", "half.part", "hive", "packed", "plain"]);
    let named = listing.problems.iter().map(|(path, _)| path.as_path()).collect();
    assert_eq!(names(named), ["dask/0.part", "numbers", "other.db"], "{:?}", listing.problems);
    assert_eq!(read(&at("hive")).rows, [["1", "1"], ["2", "2"]]);
    assert_eq!(read(&at("extract")).rows, [["1"]]);
    for name in ["plain", "packed"] {
        let rows = read(&at(name)).rows;
        assert_eq!(rows.len(), 4, "{name}");
        assert_eq!(rows[0], ["1", "2023", "02", "21", "00"], "{name}");
    }
}

#[test]
fn a_sample_has_rows_of_every_file_and_the_content_changes_with_each() {
    let lake = tempfile::tempdir().unwrap();
    let rows: String = (0..100).map(|row| format!("{row},{row}\n")).collect();
    for part in 0..4 {
        write(lake.path(), &[(&format!("t/k={part}/p.csv"), &format!("a,b\n{rows}"))]);
    }
    let table = lake.path().join("t");
    let mut reader = open_path(&table, &ReadOptions { max_rows: Some(40), ..ReadOptions::default() }).unwrap();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!((rows, reader.report().sample.unwrap().rows), (40, 40));
    let before = (content_hash(&table).unwrap(), Location::of(&table).file_stamp().unwrap());
    fs::rename(table.join("k=3"), table.join("k=4")).unwrap();
    let after = (content_hash(&table).unwrap(), Location::of(&table).file_stamp().unwrap());
    assert!(before.0 != after.0 && before.1 != after.1, "a renamed folder changes values");
}
