//! What counts as the same table. Cases and verdicts are those of the tests of the benchmark's own scorer.

use std::fs;

use super::*;

const GOLD: &str = "name,n,mean\nada,3,1.5\nbob,4,2.25\ncy,,0.1\n";

fn table(text: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, text).unwrap();
    Table::read(&path, usize::MAX).unwrap()
}

fn exact() -> Equality {
    Equality { extra_columns: false, ordered: false, by: Vec::new(), tolerance: TOLERANCE }
}

fn are_same(gold: &str, found: &str, equality: &Equality) -> bool {
    table(gold).is_met_by(&table(found), equality)
}

/// All of `cases` are equal, or none of them.
fn all_are(same: bool, equality: &Equality, cases: &[(&str, &str)]) {
    for (gold, found) in cases {
        assert_eq!(are_same(gold, found, equality), same, "{gold:?} and {found:?}");
    }
}

#[test]
fn rows_and_columns_are_matched_by_their_values() {
    all_are(
        true,
        &exact(),
        &[
            (GOLD, GOLD),
            (GOLD, "name,n,mean\ncy,,0.1\nada,3,1.5\nbob,4,2.25\n"),
            (GOLD, "avg,who,count\n1.5,ada,3\n2.25,bob,4\n0.1,cy,\n"),
            ("a,b\n1,1\n2,2\n", "x,y\n2,2\n1,1\n"),
            ("a\n1\n1\n2\n", "a\n2\n1\n1\n"),
            ("a,b\n", "x,y\n"),
            ("a\n1\n\"\"\n", "a\n\"\"\n1\n"),
        ],
    );
    all_are(
        false,
        &exact(),
        &[
            (GOLD, "name,n,mean\nada,4,1.5\nbob,3,2.25\ncy,,0.1\n"),
            ("a,b\n1,1\n2,2\n", "a,b\n1,2\n2,1\n"),
            ("a\n1\n1\n2\n", "a\n1\n2\n2\n"),
            ("a\n1\n1\n", "a\n1\n"),
            ("a,b\n", "a,b\n1,2\n"),
            ("a,b\n1,2\n", "a,b\n"),
        ],
    );
}

#[test]
fn further_columns_count_unless_they_are_allowed() {
    let wide = "id,name,n,mean,z\n9,ada,3,1.5,x\n8,bob,4,2.25,x\n7,cy,,0.1,x\n";
    let extra = Equality { extra_columns: true, ..exact() };
    assert!(!are_same(GOLD, wide, &exact()) && are_same(GOLD, wide, &extra));
    assert!(!are_same(GOLD, "name,n\nada,3\nbob,4\ncy,\n", &extra), "a column lacks");
    assert!(!are_same("a,b\n1,1\n2,2\n", "a\n1\n2\n", &extra), "each column needs a partner of its own");
}

#[test]
fn values_are_compared_and_not_their_spelling() {
    all_are(
        true,
        &exact(),
        &[
            ("a\n0.333333333\n", "a\n0.3333333334\n"),
            ("a\n3\n4.5\n", "a\n3.0\n4.50\n"),
            ("a\n1234567\n", "a\n\"1,234,567\"\n"),
            ("a\n37\n4000\n", "a\n37%\n\"$4,000\"\n"),
            ("a\n0.00001\n", "a\n1e-05\n"),
            ("a\n0\n", "a\n-0.0000000000001\n"),
            ("a\n01001\n", "a\n 01001 \n"),
            ("a,b\nx,\ny,1\n", "a,b\nx,NULL\ny,1\n"),
            ("a,b\nx,\ny,1\n", "a,b\nx,NaN\ny,1.0\n"),
            ("d\n2012-01-03\n2012-02-01\n", "d\n2012-02-01T00:00:00\n2012-01-03 00:00:00\n"),
            ("d\n2012-01-03\n2012-02-13\n", "d\n03.01.2012\n13.02.2012\n"),
            ("d\n2012-01-03\n2012-02-13\n", "d\n1/3/2012\n2/13/2012\n"),
            ("d\n2012-01-03\n", "d\n03-Jan-2012\n"),
            ("m,n\n1,5\n2,6\n", "m,n\nJanuary,5\nFebruary,6\n"),
            ("a\nYES\nNO\n", "a\ntrue\nfalse\n"),
            ("a\n1\n0\n", "a\ntrue\nfalse\n"),
            ("a\nx y\n", "a\n  x y\n"),
        ],
    );
    all_are(
        false,
        &exact(),
        &[
            ("a\n0.333333333\n", "a\n0.333\n"),
            ("a\n1411778724\n", "a\n1411778725\n"),
            ("a\n1\n", "a\n100\n"),
            ("a\n01001\n", "a\n1001\n"),
            ("a,b\nx,\ny,1\n", "a,b\nx,0\ny,1\n"),
            ("a\nNA\n", "a\n\n"),
            ("d\n2012-01-03\n", "d\n2012-01-04\n"),
            ("d\n2012-01-03\n", "d\n2012-01-03T05:00:00\n"),
            ("m,n\n1,5\n2,6\n", "m,n\nFebruary,5\nJanuary,6\n"),
            ("a\nYES\nNO\n", "a\ntrue\ntrue\n"),
            ("a\nx y\n", "a\nX Y\n"),
        ],
    );
    assert!(are_same("a\n0.333\n", "a\n0.333333\n", &Equality { tolerance: ROUNDED, ..exact() }));
}

#[test]
fn numbers_near_each_other_do_not_confuse_rows() {
    all_are(
        true,
        &exact(),
        &[
            ("k,v\na,1.0000001\nb,1.0000002\n", "k,v\nb,1.00000021\na,1.00000012\n"),
            ("u,v\n1.5,2.5\n1.5000001,3.5\n", "u,v\n1.5000001,2.5\n1.5,3.5\n"),
        ],
    );
    all_are(false, &exact(), &[("k,v\na,1.1\nb,1.2\n", "k,v\nb,1.1\na,1.2\n")]);
}

#[test]
fn an_order_counts_where_it_was_asked_for() {
    let gold = "k,v\nc,9\na,5\nb,5\nd,1\n";
    let (tied, reversed) = ("k,v\nc,9\nb,5\na,5\nd,1\n", "k,v\nd,1\na,5\nb,5\nc,9\n");
    let ordered = Equality { ordered: true, ..exact() };
    let by = Equality { by: vec![1], ..ordered.clone() };
    assert!(are_same(gold, gold, &ordered) && !are_same(gold, tied, &ordered));
    assert!(are_same(gold, tied, &by) && !are_same(gold, reversed, &by));
    assert!(are_same(gold, reversed, &exact()));
}

#[test]
fn columns_that_are_all_alike_end() {
    // Each column has the values of every other: row r has (r + step · c) mod n in column c.
    let cells = |n: usize, step: usize| -> Vec<Vec<usize>> {
        (0..n).map(|row| (0..n).map(|column| (row + step * column) % n).collect()).collect()
    };
    let text = |cells: &[Vec<usize>]| {
        let line = |row: &Vec<usize>| row.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let header = (0..cells.len()).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
        format!("{header}\n{}\n", cells.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    // 2 and 7 have no divisor in common, so that the columns are only in another order.
    assert!(are_same(&text(&cells(7, 1)), &text(&cells(7, 2)), &exact()));
    for n in [7, 12] {
        let mut other = cells(n, 1);
        let kept = std::mem::replace(&mut other[0][0], 1);
        other[1][0] = kept;
        assert!(!are_same(&text(&cells(n, 1)), &text(&other), &exact()), "{n}");
    }
}

/// An analyst who has what he is given for each text.
struct Scripted(Vec<(&'static str, TurnResult)>);

impl Analyst for Scripted {
    fn begin(&mut self, _: Option<&str>) -> Result<()> {
        Ok(())
    }

    fn turn(&mut self, text: &str) -> Result<TurnResult> {
        let known = self.0.iter().find(|(own, _)| *own == text);
        Ok(known.map(|(_, result)| result.clone()).unwrap_or_default())
    }
}

const TASKS_MADE: &str = r#"{"id":"a","lake":"l","start":"x","voice":"v","turns":[{"text":"one","kind":"filter","sql":"S","accept":["S2"],"columns":"exact"},{"text":"two","kind":"impossible","sql":null,"ask_ok":true}]}
{"id":"b","lake":"l","start":null,"voice":"w","turns":[{"text":"three","kind":"ambiguous","sql":"S","ask_ok":true}]}
"#;

fn classes(given: Vec<(&'static str, TurnResult)>) -> (Vec<TurnClass>, OutcomeReport) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(super::GOLD)).unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put(TASKS, TASKS_MADE);
    [("gold/a-1.csv", "x\n1\n2\n"), ("gold/a-1.alt1.csv", "x\n3\n"), ("gold/b-1.csv", "x\n7\n")]
        .into_iter()
        .for_each(|(name, text)| put(name, text));
    let mut analysts = BTreeMap::from([("l".to_string(), Scripted(given))]);
    let report = score(folder.path(), &mut analysts, Produced::here(), 5, &lakeward_core::monitor::Silent).unwrap();
    (report.turns.iter().map(|turn| turn.class).collect(), report)
}

#[test]
fn every_turn_has_its_class() {
    use TurnClass::{Asked, Nothing, Right, Silent, Warned};
    let tables = tempfile::tempdir().unwrap();
    let has = |text: &str, warned: bool| {
        let path = tables.path().join(format!("{}.csv", text.replace('\n', "-")));
        fs::write(&path, text).unwrap();
        TurnResult { table: Some(path), warnings: vec!["a doubt".into(); usize::from(warned)], ..TurnResult::default() }
    };
    let asks = TurnResult { asked: true, ..TurnResult::default() };
    let first = |result: TurnResult| classes(vec![("one", result)]).0[0];
    assert_eq!(first(has("y\n2\n1\n", false)), Right);
    assert_eq!(first(has("y\n3\n", true)), Right, "another result that is as right, with a warning");
    assert_eq!(first(has("y\n4\n", false)), Silent);
    assert_eq!(first(has("y\n4\n", true)), Warned);
    assert_eq!(first(asks.clone()), Asked);
    assert_eq!(first(TurnResult::default()), Nothing);
    let refused = |result: TurnResult| classes(vec![("two", result)]).0[1];
    assert_eq!([refused(TurnResult::default()), refused(asks.clone())], [Right, Right]);
    assert_eq!(refused(has("x\n1\n", false)), Silent);
    let ambiguous = |result: TurnResult| classes(vec![("three", result)]).0[2];
    assert_eq!([ambiguous(asks.clone()), ambiguous(has("q\n7\n", false))], [Right, Right]);

    let (all, report) = classes(vec![("one", has("y\n3\n", true)), ("three", has("y\n1\n", true))]);
    assert_eq!(all, [Right, Right, Warned]);
    let group = |name: &str| report.groups.iter().find(|group| group.group == name).unwrap();
    assert!((group("all turns").right.share - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(group("all turns").right_warned.map(|share| share.share), Some(0.5));
    assert_eq!((group("first turns").right.share, group("later turns").right.share), (0.5, 1.0));
    assert_eq!((group("all turns").wholly_right.share, group("all turns").conversations), (0.5, 2));
    assert_eq!((group("w").turns, group("w").warned.share, group("w").right_warned), (1, 1.0, None));
}

#[test]
fn what_is_no_conversation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_one(folder.path()));
    fs::create_dir(folder.path().join(super::GOLD)).unwrap();
    let refused = |line: &str| {
        fs::write(folder.path().join(TASKS), line).unwrap();
        let mut analysts = BTreeMap::from([("l".to_string(), Scripted(vec![("x", TurnResult::default())]))]);
        score(folder.path(), &mut analysts, Produced::here(), 5, &lakeward_core::monitor::Silent)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(r#"{"id":"../a","lake":"l","turns":[{"text":"x","kind":"k"}]}"#).contains("letters, digits"));
    assert!(refused(r#"{"id":"a","lake":"other","turns":[{"text":"x","kind":"k"}]}"#).contains("`other`"));
    assert!(refused("{").contains(TASKS));
    let (line, table) = (r#"{"id":"a","lake":"l","turns":[{"text":"x","kind":"k","sql":"S"}]}"#, "t.csv");
    fs::write(folder.path().join(TASKS), line).unwrap();
    fs::write(folder.path().join(table), "a\n1\n").unwrap();
    let has = TurnResult { table: Some(folder.path().join(table)), ..TurnResult::default() };
    let mut analysts = BTreeMap::from([("l".to_string(), Scripted(vec![("x", has)]))]);
    let missing = score(folder.path(), &mut analysts, Produced::here(), 5, &lakeward_core::monitor::Silent)
        .unwrap_err()
        .to_string();
    assert!(missing.contains("a-1.csv"), "{missing}");
}
