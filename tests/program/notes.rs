//! What users know: notes and synonyms are searched, shown as theirs and read in turns, without another index and after one.

use std::fs;

use lakeward::{Lakeward, Place};
use lakeward_agent::Request;
use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use lakeward_lake::notes::NoteEdit;

use crate::place::Folder;

/// A lake of tables whose names say nothing, with these settings.
fn lake_with(settings: &str) -> (Folder, Lakeward) {
    let folder = Folder::of(&[
        ("t17.csv", "d,c1,c2\nNorth,3,120.5\nSouth,4,99.25\nEast,5,77.5\nWest,1,60\n"),
        ("t18.csv", "d,c1,c2\nOslo,1,3\nBergen,2,5\nTromso,3,8\nBodo,7,9\n"),
        ("income.csv", "country,gdp,year\nNorway,82000,2020\nSpain,27000,2020\nItaly,31000,2020\nChad,700,2020\n"),
        ("bread.csv", "item,price\nrye,2.5\nwheat,1.9\nspelt,3.1\n"),
        ("lakeward.toml", settings),
    ]);
    let lake = folder.lake();
    (folder, lake)
}

fn note(lake: &Lakeward, table: &str, edits: Vec<NoteEdit>) -> Lakeward {
    lake.note(table, edits).expect("a note");
    lake.reopened().expect("the next snapshot")
}

fn text(text: &str) -> Option<String> {
    Some(text.to_string())
}

#[test]
fn notes_are_found_and_said_to_be_the_users() {
    let (folder, lake) = lake_with("");
    let wage_bill = "wage bill of the town halls";
    assert_ne!(lake.search(wage_bill, 1).expect("answers").first().map(|first| &*first.table), Some("t17"));
    let about = text("what the town halls pay their staff, by district");
    let lake = note(&lake, "t17", vec![NoteEdit::Title(text("Municipal payroll")), NoteEdit::Description(about)]);
    let lake = note(&lake, "t17", vec![NoteEdit::Column("C2".into(), text("salaries in thousands of euros"))]);
    let found_by = |lake: &Lakeward| {
        for asked in [wage_bill, "municipal payroll", "salaries"] {
            let first = lake.search(asked, 1).expect("answers").first().cloned().expect("an answer");
            assert_eq!(first.table, "t17", "{asked}: {}", first.reason);
            assert!(first.reason.starts_with("your note: Municipal payroll"), "{}", first.reason);
        }
        let column = lake.columns("salaries of the staff", 1).expect("columns").first().cloned().expect("a column");
        assert_eq!((&*column.table, &*column.column), ("t17", "c2"), "{column:?}");
        assert_eq!(column.note.as_deref(), Some("salaries in thousands of euros"));
        let request = Request { text: wage_bill.into(), table: None, column: None, k: 1 };
        let (answer, _) = lake.ask(&mut lake.new_session(), &request).expect("an answer");
        assert!(
            answer.tables[0].table == "t17" && answer.tables[0].reason.contains("your note"),
            "{:?}",
            answer.tables
        );
    };
    found_by(&lake);
    let place = Place::new(folder.path(), None).expect("a folder");
    let rebuilt = Lakeward::build(place, &BuildOptions { rebuild: true, ..BuildOptions::default() }, &Silent);
    found_by(&rebuilt.expect("an index").0);
    // Other tables are found as before.
    assert_eq!(lake.search("price of bread", 1).expect("answers")[0].table, "bread");
    let lake = note(&lake, "t17", vec![NoteEdit::Remove]);
    assert_eq!(lake.index().notes().all().len(), 0);
    assert!(lake.search(wage_bill, 3).expect("answers").iter().all(|answer| !answer.reason.contains("your note")));
}

#[test]
fn what_a_note_is_on_must_be_there_and_a_table_that_went_keeps_its_note() {
    let (folder, lake) = lake_with("");
    match lake.note("t16", vec![NoteEdit::Title(text("x"))]) {
        Err(Error::UnknownTable { nearest, .. }) => assert!(nearest.contains(&"t17".to_string())),
        other => panic!("{other:?}"),
    }
    match lake.note("t17", vec![NoteEdit::Column("c3".into(), text("x"))]) {
        Err(Error::UnknownColumn { nearest, .. }) => assert!(nearest.contains(&"c2".to_string())),
        other => panic!("{other:?}"),
    }
    assert!(lake.index().notes().all().len() == 0);
    let lake = note(&lake, "t17", vec![NoteEdit::Title(text("Municipal payroll"))]);
    fs::remove_file(folder.at("t17.csv")).expect("a file");
    lake.place().build(&BuildOptions::default(), &Silent).expect("an index");
    let lake = lake.reopened().expect("a snapshot");
    assert!(lake.search("municipal payroll", 5).expect("answers").iter().all(|answer| answer.table != "t17"));
    assert!(lake.index().notes().of("t17").is_some());
    assert!(lake.note("t17", vec![NoteEdit::Remove]).expect("a note").is_empty());
}

#[test]
fn a_turn_knows_a_column_by_its_note() {
    let (_folder, lake) = lake_with("");
    let averaged = |lake: &Lakeward| {
        let request = Request { text: "average takings by district".into(), table: text("t17"), column: None, k: 1 };
        let (answer, _) = lake.ask(&mut lake.new_session(), &request).expect("an answer");
        answer.operations[0].reason.clone()
    };
    // Nothing says which of the two figures are takings, before a note does.
    for column in ["c1", "c2"] {
        let noted = note(&lake, "t17", vec![NoteEdit::Column(column.into(), text("takings"))]);
        let after = averaged(&noted);
        assert!(after.contains(&format!("mean of {column}")), "{after}");
        note(&noted, "t17", vec![NoteEdit::Remove]);
    }
}

#[test]
fn synonyms_mean_the_same_in_searches_columns_and_turns() {
    let synonyms = "[synonyms]\nGDP = [\"gross domestic product\", \"national income\"]\nrye = [\"ruis\"]\n";
    let (folder, lake) = lake_with(synonyms);
    let found = lake.search("national income of nations", 1).expect("answers");
    assert_eq!(found[0].table, "income");
    let found = lake.search("ruis", 1).expect("answers");
    assert!(found[0].table == "bread" && found[0].reason.starts_with("your synonym `rye`"), "{found:?}");
    let columns = lake.columns("national income", 1).expect("columns");
    assert_eq!((&*columns[0].table, &*columns[0].column), ("income", "gdp"), "{columns:?}");
    let names = |text| lake.index().synonyms().names(text);
    assert_eq!(names("gdp"), ["gross domestic product", "national income"]);
    folder.write("lakeward.toml", "[synonyms]\nGDP = [\"\"]\n");
    let wrong = Lakeward::open(folder.path()).expect_err("no synonym").to_string();
    assert!(wrong.contains("lakeward.toml") && wrong.contains("synonyms"), "{wrong}");
}
