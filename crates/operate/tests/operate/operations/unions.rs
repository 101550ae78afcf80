//! Tables one below the other.

use super::*;

fn seattle(year: u16) -> Input {
    table(&format!("climate/daily/seattle_{year}"))
}

#[test]
fn a_union_over_years_says_where_rows_are_from() {
    let context = sample();
    let aligned = same_columns(&["date", "precipitation", "temp_max", "weather"]);
    let others = [2013, 2014].map(|year| (seattle(year), aligned.clone())).into();
    let plan = united(seattle(2012), others, false, Some("Weather"));
    let previewed = preview(&context, &plan);
    assert_eq!(previewed.rows_out, 366 + 365 + 365);
    assert_eq!(facts(&previewed)[0], "empty in the rows of climate/daily/seattle_2013: temp_min, wind");
    assert_eq!(names(&previewed).last(), Some(&"Weather_2"));
    assert_eq!(warned(&previewed, WarningKind::ColumnBecomesText), None);
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &plan, folder.path(), 1);
    assert_eq!(rows[0].first().map(String::as_str), Some("2012-01-01"));
    assert_eq!(rows.last().expect("a row")[0], "2014-12-31");
    assert_eq!(rows.iter().filter(|row| row[6] == "climate/daily/seattle_2014").count(), 365);
    assert_eq!(rows.iter().filter(|row| row[3] == "-").count(), 730);
    let measures = vec![measure(MeasureFunction::Count, None), measure(MeasureFunction::Max, Some("temp_max"))];
    for from in [plan, Plan::of(Input::Step(1))] {
        let by_month = grouped(from, vec![part(DatePart::YearMonth, "date")], measures.clone());
        let months = run_rows(&context, &by_month, folder.path(), 2);
        assert_eq!(months.len(), 36);
        assert_eq!(months[0][..2], ["2012-01-01", "31"]);
    }
}

#[test]
fn a_union_reconciles_types_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let first =
        written(&folder, "a.csv", "id,size,note,when\n1,10,x,2020-01-01\n2,20,y,2020-01-02\n2,20,y,2020-01-02\n");
    let second = written(
        &folder,
        "b.csv",
        "Key,size,extra,when\n2.5,many,1,2020-01-02 10:00:00\n3,7,2,2020-01-03 11:00:00\n4,8,3,2020-01-03 12:00:00\n",
    );
    let third = written(&folder, "c.csv", "key,size,extra\n2,,w\n");
    let pair = |here: &str, there: &str| (here.to_string(), there.to_string());
    let others = vec![
        (second.clone(), vec![pair("id", "key"), pair("size", "size"), pair("when", "when")]),
        (third, vec![pair("id", "key"), pair("size", "size")]),
    ];
    let context = sample();
    let plan = united(first.clone(), others.clone(), true, None);
    let previewed = preview(&context, &plan);
    assert_eq!(names(&previewed), ["id", "size", "note", "when", "extra"]);
    let types: Vec<&str> = previewed.columns.iter().map(|column| column.data_type.as_str()).collect();
    assert_eq!(types[0], "Float64");
    assert!(types[3].starts_with("Timestamp(µs") || types[3].contains("icrosecond"), "{types:?}");
    let become_text: Vec<&str> =
        previewed.warnings.iter().filter_map(|warning| warning.text.split(' ').next()).collect();
    assert_eq!(become_text, ["size", "extra"]);
    assert_eq!(previewed.rows_out, 7);
    let rows = run_rows(&context, &plan, folder.path(), 1);
    assert_eq!(rows[3], ["2.5", "many", "-", "2020-01-02T10:00:00", "1"]);
    assert_eq!(rows[6], ["2.0", "-", "-", "-", "w"]);
    let distinct = plan.then(Step::Distinct(Vec::new()));
    assert_eq!(run_rows(&context, &distinct, folder.path(), 2).len(), 6);
    let names = ["id", "size", "note", "when", "extra"].map(str::to_string);
    let with_source = united(first.clone(), others, true, Some("from")).then(Step::Distinct(names.into()));
    assert_eq!(run_rows(&context, &with_source, folder.path(), 3).len(), 6);
    let twice = united(first, vec![(second, vec![pair("id", "key"), pair("id", "size")])], true, None);
    assert!(matches!(plan_sql(&context, &twice), Err(Error::Usage(_))));
}

#[test]
fn an_empty_column_does_not_make_numbers_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = written(&folder, "a.csv", "id,size\n1,10\n2,20\n");
    let second = written(&folder, "b.csv", "id,size\n3,\n4,n/a\n");
    let context = sample();
    for (a, b) in [(&first, &second), (&second, &first)] {
        let plan = united(a.clone(), vec![(b.clone(), same_columns(&["id", "size"]))], false, None);
        let previewed = preview(&context, &plan);
        assert_eq!(previewed.columns[1].data_type, "Int64", "{}", previewed.sql);
        assert_eq!(run_rows(&context, &plan, folder.path(), 1).len(), 4);
    }
}
