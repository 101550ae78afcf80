//! Requirements of every baseline: the identical table comes first, the order of rows and of documents changes nothing,
//! queries without the parts that a baseline needs have no answers.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::plain_table::tests::table;
use super::*;

/// A baseline over tables in memory.
fn baseline(kind: BaselineKind, tables: &[PlainTable]) -> Baseline {
    let mut method = kind.method();
    tables.iter().for_each(|table| method.add(table).expect("a table"));
    method.finish().expect("finished");
    let ids = tables.iter().map(|table| table.id.clone()).collect();
    Baseline { kind, ids, method, unread: Vec::new(), cut: Vec::new() }
}

fn ranking(baseline: &Baseline, query: &PlainTable) -> Vec<(String, f64)> {
    let query = PlainQuery { text: None, table: Some(query), column: Some(0) };
    let ranking = baseline.rank(&query, 10).expect("a ranking");
    // Floating-point sums depend on their order in the last digit, and so does what is a tie.
    let rounded = ranking.into_iter().map(|(id, score)| (id.to_string(), (score * 1e9).round() / 1e9));
    let mut rounded: Vec<(String, f64)> = rounded.collect();
    rounded.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rounded
}

fn lake() -> Vec<PlainTable> {
    vec![
        table("a", &["city", "people"], &[&["Oslo", "700"], &["Rome", "2800"], &["Bonn", "330"], &["Nice", "340"]]),
        table("b", &["town", "area"], &[&["Oslo", "454"], &["Rome", "1285"], &["Lima", "2672"]]),
        table("c", &["protein", "mass"], &[&["insulin", "5808"], &["lipase", "50000"]]),
        table("d", &["city", "mayor"], &[&["Turin", "Ada"], &["Milan", "Bo"]]),
    ]
}

#[test]
fn the_identical_table_comes_first() {
    let tables = lake();
    for kind in BaselineKind::ALL {
        let baseline = baseline(kind, &tables);
        for query in &tables {
            let ranking = ranking(&baseline, query);
            assert_eq!(ranking.first().map(|(id, _)| id), Some(&query.id), "{kind}: {ranking:?}");
        }
    }
}

#[test]
fn queries_without_what_a_baseline_needs_have_no_answers() {
    let tables = lake();
    for kind in BaselineKind::ALL {
        let baseline = baseline(kind, &tables);
        let empty = PlainQuery::default();
        assert!(baseline.rank(&empty, 10).expect("a ranking").is_empty(), "{kind}");
        let text = PlainQuery { text: Some("people of Oslo"), ..empty };
        let answers = baseline.rank(&text, 10).expect("a ranking");
        let lexical = matches!(kind, BaselineKind::Bm25 | BaselineKind::TfIdf);
        assert_eq!(!answers.is_empty(), lexical, "{kind}");
        let beyond = PlainQuery { table: Some(&tables[0]), column: Some(7), text: None };
        baseline.rank(&beyond, 10).expect("no panic");
        assert!(baseline.rank(&PlainQuery { table: Some(&tables[0]), ..beyond }, 0).expect("a ranking").is_empty());
    }
}

#[test]
fn a_lake_is_read_from_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("x.csv"), "city,people\nOslo,700\nRome,2800\n").expect("a file");
    fs::write(folder.path().join("y.csv"), "protein,mass\ninsulin,5808\nlipase,50000\n").expect("a file");
    fs::write(folder.path().join("z.parquet"), "damaged").expect("a file");
    let documents = Documents { lake: Some(folder.path().to_path_buf()), corpus: None };
    let query = PlainTable::read(&folder.path().join("y.csv"), "query").expect("a table");
    for kind in BaselineKind::ALL {
        let baseline = Baseline::build(kind, &documents).expect("a baseline");
        assert_eq!((baseline.len(), baseline.unread().len()), (2, 1), "{kind}");
        assert_eq!(ranking(&baseline, &query)[0].0, "y", "{kind}");
    }
    let nowhere = Documents { lake: Some(Path::new("/no/such/folder").to_path_buf()), corpus: None };
    assert!(Baseline::build(BaselineKind::Bm25, &nowhere).is_err());
}

fn with_rows_turned(table: &PlainTable, by: usize) -> PlainTable {
    let mut turned = table.clone();
    for cells in &mut turned.columns {
        let rows = cells.len().max(1);
        cells.rotate_left(by % rows);
        cells.reverse();
    }
    turned
}

fn any_table() -> impl Strategy<Value = PlainTable> {
    let cell =
        prop::sample::select(vec!["", "Oslo", "oslo", "Rome ", "1,000", "1000", "São Paulo", "†", "a b", "B, a"]);
    let header = prop::sample::select(vec!["", "city", "City", "n", "名前"]);
    (1..4_usize, 0..6_usize).prop_flat_map(move |(columns, rows)| {
        let headers = prop::collection::vec(header.clone(), columns);
        let cells = prop::collection::vec(prop::collection::vec(cell.clone(), rows), columns);
        (headers, cells).prop_map(|(headers, cells)| PlainTable {
            headers: headers.into_iter().map(String::from).collect(),
            columns: cells.into_iter().map(|cells| cells.into_iter().map(String::from).collect()).collect(),
            is_whole: true,
            ..PlainTable::default()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_rows_and_of_tables_changes_nothing(
        tables in prop::collection::vec(any_table(), 1..6),
        query in any_table(),
        by in 0..9_usize,
    ) {
        let mut tables = tables;
        for (at, table) in tables.iter_mut().enumerate() {
            table.id = format!("t{at}");
        }
        let mut turned: Vec<PlainTable> = tables.iter().map(|table| with_rows_turned(table, by)).collect();
        turned.reverse();
        for kind in BaselineKind::ALL {
            // It reads only the first rows, and reports that.
            if kind == BaselineKind::Bm25Head {
                continue;
            }
            let plain = ranking(&baseline(kind, &tables), &query);
            let other = ranking(&baseline(kind, &turned), &with_rows_turned(&query, by));
            prop_assert_eq!(&plain, &other, "{}", kind);
            prop_assert!(plain.iter().all(|(_, score)| score.is_finite()), "{}: {:?}", kind, plain);
        }
    }
}
