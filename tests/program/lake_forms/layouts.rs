//! What declared keys and layouts of files are good for.

use super::*;

/// The rows of a query as text, with what was missing of the files.
fn asked(lake: &Lakeward, sql: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let context = lake.context(Limits::default()).expect("a context");
    let mut rows = context.query(sql, None).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut lines = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap_or_else(|error| panic!("{sql}: {error}")) {
        lines.extend(texts(&batch, CellForm::Data).expect("texts"));
    }
    drop(rows);
    (lines, context.notes().iter().map(|note| format!("{note:?}")).collect())
}

#[test]
fn declared_keys_are_the_first_joins_and_say_so() {
    let folder = Folder::of(&[]);
    let database = rusqlite::Connection::open(folder.at("shop.sqlite")).expect("a database");
    // No value of the key is in the table that it is declared for; another table shares all values of another column.
    database
        .execute_batch(
            "PRAGMA foreign_keys = off;
             CREATE TABLE customer (number INTEGER PRIMARY KEY, name TEXT);
             CREATE TABLE buyer (who TEXT, town TEXT);
             CREATE TABLE sale (buyer TEXT, amount REAL, \"by\" INTEGER REFERENCES customer);
             INSERT INTO customer VALUES (901, 'Ann'), (902, 'Bob'), (903, 'Cid');
             INSERT INTO buyer VALUES ('Ann', 'Aby'), ('Bob', 'Bro'), ('Cid', 'Cis');
             INSERT INTO sale VALUES ('Ann', 1.5, 1), ('Bob', 2.5, 2), ('Cid', 3.5, 3);",
        )
        .expect("tables");
    let lake = folder.lake();
    for (table, other, column) in [("shop/sale", "shop/customer", "by"), ("shop/customer", "shop/sale", "number")] {
        let found = lake.join(&lake.query_table(table).expect("a table"), &[], 5).expect("answers").answers;
        let first = &found[0];
        assert_eq!((&first.table[..], &first.query_column[..], first.declared), (other, column, true), "{found:?}");
        assert!(first.reason.starts_with("declared as a foreign key; ") && first.score == 1.0, "{}", first.reason);
    }
    let found = lake.join(&lake.query_table("shop/buyer").expect("a table"), &[], 5).expect("answers").answers;
    assert!(!found.is_empty() && found.iter().all(|answer| !answer.declared), "{found:?}");
}

#[test]
fn declared_keys_of_several_columns_are_joined_on_all_of_them() {
    let folder = Folder::of(&[]);
    let database = rusqlite::Connection::open(folder.at("shop.sqlite")).expect("a database");
    database
        .execute_batch(
            "CREATE TABLE stock (shop TEXT, item INTEGER, pieces INTEGER, PRIMARY KEY (shop, item));
             CREATE TABLE sale (day TEXT, what INTEGER, place TEXT, amount REAL, FOREIGN KEY (place, what) REFERENCES stock);
             INSERT INTO stock VALUES ('Aby', 1, 5), ('Aby', 2, 7), ('Bro', 1, 9), ('Bro', 2, 4), ('Cis', 3, 1);
             INSERT INTO sale VALUES ('2024-03-01', 1, 'Aby', 2.5), ('2024-03-01', 2, 'Bro', 1.5), ('2024-03-02', 1, 'Bro', 9);",
        )
        .expect("tables");
    let lake = folder.lake();
    for (table, other, own, theirs) in [
        ("shop/sale", "shop/stock", "place + what", "shop + item"),
        ("shop/stock", "shop/sale", "shop + item", "place + what"),
    ] {
        let found = lake.join(&lake.query_table(table).expect("a table"), &[], 5).expect("answers").answers;
        let first = &found[0];
        assert_eq!((&first.table[..], &first.query_column[..], &first.column[..]), (other, own, theirs), "{found:?}");
        assert!(first.declared && first.score == 1.0 && first.shared_values == 3, "{found:?}");
        assert!(first.reason.starts_with("declared as a foreign key; "), "{}", first.reason);
    }
}

/// Files of single years have the same columns and are tables of their own: each is offered the others as what can be
/// put below it.
#[test]
fn yearly_files_are_tables_and_offered_as_a_union() {
    let lake = crate::place::sample();
    for (table, others) in [
        ("climate/daily/seattle_2012", &["climate/daily/seattle_2013", "climate/daily/seattle_2014"][..]),
        ("transport/birdstrikes/strikes_2000", &["transport/birdstrikes/strikes_2001"]),
    ] {
        let found = lake.union(&lake.query_table(table).expect("a table"), 5).expect("answers");
        let first: Vec<&str> = found.iter().take(others.len()).map(|answer| &answer.table[..]).collect();
        assert!(others.iter().all(|other| first.contains(other)), "{table}: {first:?}");
    }
}

#[test]
fn a_query_reads_the_partitions_that_it_needs() {
    let folder = Folder::of(&[]);
    let write = |year: u32, text: &str| folder.write(&format!("sales/year={year}/part-0.csv"), text);
    for year in 2019..2023 {
        write(year, &format!("town,amount\nAby,{}\nBro,{}\n", year - 2000, year - 1990));
    }
    let lake = folder.lake();
    let entry = lake.index().table(lake.index().find("sales").expect("a table")).expect("an entry");
    assert_eq!((entry.profile.rows, entry.report.parts.as_ref().map(|parts| parts.files)), (8, Some(4)));
    let sql = "SELECT sum(amount) FROM sales WHERE year = 2021";
    assert_eq!(asked(&lake, sql).0, [["52"]]);
    // Only a query that needs the file meets its damage.
    write(2019, "PAR1 is no text");
    let (rows, notes) = asked(&lake, sql);
    assert!(rows == [["52"]] && notes.is_empty(), "{rows:?} {notes:?}");
    let (rows, notes) = asked(&lake, "SELECT count(*) FROM sales WHERE town = 'Aby'");
    assert!(rows == [["3"]] && notes.iter().any(|note| note.contains("year=2019/part-0.csv")), "{rows:?} {notes:?}");
    // A lake's settings make tables of the parts.
    write(2024, "town,amount\nCis,7\n");
    assert_eq!(asked(&folder.lake(), "SELECT count(*) FROM sales WHERE year > 2020").0, [["5"]]);
    folder.write("lakeward.toml", "[tables]\nsales = \"separate\"\n");
    let lake = folder.lake();
    let ids: Vec<&str> = lake.index().tables().map(|table| lake.index().id(table).expect("an id")).collect();
    assert!(ids.contains(&"sales/year=2024/part-0") && !ids.contains(&"sales"), "{ids:?}");
}
