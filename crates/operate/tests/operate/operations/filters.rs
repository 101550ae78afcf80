//! Conditions, and the columns that are kept.

use super::*;

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
    let count =
        |condition: Condition| run_rows(&context, &filter(input.clone(), vec![condition]), folder.path(), 1).len();
    assert_eq!(count(one_of("city", &["NEW YORK[1]"])), 2);
    assert_eq!(count(none_of("city", &["new york"])), 3);
    assert_eq!(count(none_of("city", &["new york", "n/a"])), 2);
    assert_eq!(count(one_of("city", &["n/a", "oslo 100%"])), 2);
    assert_eq!(count(present("city")), 4);
    assert_eq!(count(contains("city", "100%")), 1);
    assert_eq!(count(contains("city", "%")), 1);
    assert_eq!(count(contains("city", "_")), 1);
    assert_eq!(count(contains("city", "yOrK")), 2);
    assert_eq!(count(between("when", "2020", "2020")), 2);
    assert_eq!(count(between("when", "2020-12", "2021")), 3);
    assert_eq!(count(compare("when", Comparison::AtMost, "1 January 2021")), 3);
    assert_eq!(count(one_of("when", &["2021", "2020-01"])), 3);
    assert_eq!(count(none_of("when", &["2021"])), 3);
    assert_eq!(count(between("size", "2", "$1,000")), 3);
    assert_eq!(count(one_of("size", &["1000.0", "-3"])), 2);
    assert_eq!(count(none_of("size", &["5"])), 4);
    assert_eq!(count(between("loose", "7", "1500")), 3);
    assert_eq!(count(one_of("yes", &["Y"])), 3);
    assert_eq!(count(one_of("CITY ", &["'; DROP TABLE x; --"])), 0);
    assert_eq!(count(one_of("yes", &["no"]).and(compare("when", Comparison::AtLeast, "2021"))), 1);
    for condition in [
        one_of("size", &["many"]),
        compare("when", Comparison::AtLeast, "soon"),
        one_of("yes", &["maybe"]),
        one_of("city", &[]),
    ] {
        let error = plan_sql(&context, &filter(input.clone(), vec![condition])).expect_err("no such value");
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
    let error = plan_sql(&context, &filter(input, vec![present("siez")])).expect_err("unknown");
    assert!(matches!(&error, Error::UnknownColumn { nearest, .. } if nearest[0] == "size"), "{error}");
}

#[test]
fn a_filter_keeps_columns_in_the_order_asked_for() {
    let context = sample();
    let kept = ["POPULATION", "iso"].map(|name| Kept { column: name.into(), name: None });
    let plan = filter(table("geo/countries"), vec![one_of("continentcode", &["eu"])]).then(Step::Select(kept.into()));
    let previewed = preview(&context, &plan);
    assert_eq!(names(&previewed), ["population", "iso"]);
    let mut reader = csv::Reader::from_path(sample_lake().join("geo/countries.csv")).expect("a file");
    let european = reader.records().filter(|row| row.as_ref().is_ok_and(|row| &row[7] == "EU")).count();
    assert_eq!(previewed.rows_out, european as u64);
    let error = plan_sql(&context, &Plan::of(table("geo/countrys"))).expect_err("unknown");
    assert!(matches!(&error, Error::UnknownTable { nearest, .. } if nearest[0] == "geo/countries"), "{error}");
    // Namibia is found by its code, however it is typed.
    let codes = |code: &str| preview(&context, &filter(table("geo/countries"), vec![one_of("iso", &[code])])).rows_out;
    assert_eq!((codes("na"), codes("NA"), codes("")), (1, 1, 0));
}
