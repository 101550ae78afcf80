//! Files that hold several tables: which tables are found in workbooks and databases, under which paths, and what hostile ones do.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use arrow::util::display::array_value_to_string;
use lakeward_core::Error;
use lakeward_lake::location::{Location, foreign_keys};
use lakeward_lake::reader::{ReadOptions, ReadReport, RepairKind, open_path};
use lakeward_lake::source::{assign_ids, content_hash, file_path, list_files};
use rusqlite::Connection;

use crate::workbook_file::{Cell, escaped, xlsx, zipped};

/// Rows of a sheet from lines of cells: numbers where they are, `@` before a date's number, `#` for an error.
fn sheet(lines: &[&str]) -> Vec<Vec<Cell>> {
    let cell = |text: &str| match text.trim() {
        "" => Cell::Empty,
        "#" => Cell::Error,
        date if date.starts_with('@') => Cell::Date(date[1..].parse().unwrap()),
        text => text.parse().map_or_else(|_| Cell::Text(text.to_string()), Cell::Number),
    };
    lines.iter().map(|line| line.split('|').map(cell).collect()).collect()
}

/// An `.ods` whose `content.xml` has these tables.
pub fn ods(tables: &str) -> Vec<u8> {
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">\
         <office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    let manifest = "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content.as_bytes()),
        ("META-INF/manifest.xml", manifest.as_bytes()),
    ])
}

pub fn ods_row(cells: &[&str]) -> String {
    let cell = |text: &&str| match text.parse::<f64>() {
        Ok(number) => format!(
            "<table:table-cell office:value-type=\"float\" office:value=\"{number}\"><text:p>{text}</text:p></table:table-cell>"
        ),
        Err(_) if text.is_empty() => "<table:table-cell/>".to_string(),
        Err(_) => format!(
            "<table:table-cell office:value-type=\"string\"><text:p>{}</text:p></table:table-cell>",
            escaped(text)
        ),
    };
    format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
}

pub struct Found {
    pub names: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub report: ReadReport,
}

pub fn read(path: &Path) -> Found {
    let mut reader = open_path(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let names = reader.columns().iter().map(|column| column.name.clone()).collect();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        rows.extend((0..batch.num_rows()).map(|row| {
            batch.columns().iter().map(|array| array_value_to_string(array, row).unwrap()).collect::<Vec<_>>()
        }));
    }
    Found { names, rows, report: reader.report().clone() }
}

fn reason(path: &Path) -> String {
    match open_path(path, &ReadOptions::default()).err() {
        Some(Error::Unreadable { path: named, reason }) => {
            assert!(path.starts_with(&named), "{named:?}");
            reason
        }
        other => panic!("{path:?}: {other:?}"),
    }
}

pub fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The ids and paths of the tables in a lake.
fn listed(lake: &Path) -> Vec<(String, String)> {
    let listing = list_files(lake).unwrap();
    let ids = assign_ids(&listing.files);
    ids.iter().zip(&listing.files).map(|(id, file)| (id.to_string(), file.relative.clone())).collect()
}

#[test]
fn each_table_of_a_workbook_has_a_path_below_it() {
    let lake = tempfile::tempdir().unwrap();
    let towns = || sheet(&["town|people", "Aby|1200", "Bro|310"]);
    written(lake.path(), "one.xlsx", &xlsx(&[("Sheet1", towns()), ("Empty", Vec::new())]));
    let two = sheet(&[
        "town|people||river|km|deep",
        "Aby|1200||Ems|20|1",
        "Bro|310||Ill|7|2",
        "||||",
        "year|rain",
        "2001|7",
        "2002|8",
    ]);
    let two = written(lake.path(), "two.xlsx", &xlsx(&[("A & B", two), ("Zoo", towns())]));
    let expected = [
        ("one", "one.xlsx"),
        ("two/A & B", "two.xlsx/A & B"),
        ("two/A & B!A5", "two.xlsx/A & B!A5"),
        ("two/A & B!D1", "two.xlsx/A & B!D1"),
        ("two/Zoo", "two.xlsx/Zoo"),
    ];
    let found = listed(lake.path());
    let found: Vec<(&str, &str)> = found.iter().map(|(id, path)| (id.as_str(), path.as_str())).collect();
    assert_eq!(found, expected);
    assert_eq!(read(&two.join("A & B!D1")).rows, [["Ems", "20", "1"], ["Ill", "7", "2"]]);
    assert_eq!(read(&two.join("A & B!A5")).names, ["year", "rain"]);
    assert_eq!(read(&lake.path().join("one.xlsx")).rows, [["Aby", "1200"], ["Bro", "310"]]);
    assert_eq!(file_path(lake.path(), "two.xlsx/Zoo").unwrap(), two.join("Zoo"));
    // What is not there is told with what is.
    assert!(reason(&two).contains("4 tables") && reason(&two).contains("`Zoo`"), "{}", reason(&two));
    assert!(reason(&two.join("Zo")).contains("no table `Zo`") && reason(&two.join("Zo")).contains("`Zoo`"));
}

#[test]
fn titles_notes_totals_merged_names_dates_and_errors() {
    let lake = tempfile::tempdir().unwrap();
    let rows = sheet(&[
        "People of the coast",
        "",
        "town|men||women||since",
        "|young|old|young|old|",
        "Aby|10|20|11|21|@36526",
        "Bro|1|#|3|4.5|@36527.5",
        "Cis|5|6|7|8|@36528",
        "All|16|26|21|33.5|",
        "",
        "Source: the towns",
    ]);
    let path = written(lake.path(), "people.xlsx", &xlsx(&[("People", rows)]));
    let found = read(&path);
    assert_eq!(found.names, ["town", "men young", "men old", "women young", "women old", "since"]);
    assert_eq!(found.rows[0], ["Aby", "10", "20", "11", "21", "2000-01-01"]);
    assert_eq!(found.rows[1], ["Bro", "1", "", "3", "4.5", "2000-01-02 12:00:00"]);
    assert_eq!(found.rows.len(), 3, "{:?}", found.rows);
    assert_eq!(found.report.preamble, ["People of the coast"]);
    for kind in [RepairKind::MergedHeaders, RepairKind::ErrorCells, RepairKind::TotalRows, RepairKind::NotesBelow] {
        assert_eq!(found.report.count(kind), 1, "{kind:?}");
    }
    // Titles right above a narrow table, or one with few values.
    let rows = sheet(&["Rain, by year", "in millimetres", "year|rain", "2001|7", "2002|8"]);
    let found = read(&written(lake.path(), "rain.xlsx", &xlsx(&[("S", rows)])));
    assert_eq!((found.names, found.rows.len()), (vec!["year".to_string(), "rain".to_string()], 2));
    assert_eq!(found.report.preamble, ["\"Rain, by year\"", "in millimetres"]);
    // A last row that adds nothing up stays, and so does a name over one column.
    let rows = sheet(&["town|men|women", "Aby|10|20", "Bro|1|2", "Cis|5|6", "Dun|16|29"]);
    let found = read(&written(lake.path(), "plain.xlsx", &xlsx(&[("S", rows)])));
    assert!(found.rows.len() == 4 && found.report.repairs.is_empty(), "{:?}", found.report);
}

#[test]
fn every_program_s_workbooks_have_the_same_cells() {
    let lake = tempfile::tempdir().unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lake/data/towns.xls");
    let found = read(&old);
    assert_eq!(found.names, ["town", "people", "founded"]);
    assert_eq!(found.rows[1], ["Bro", "310.5", "1950-12-31"]);
    let rows = [&["town", "people"], &["Aby", "1200"], &["B \"r\", <o>", "310.5"]].map(|row| ods_row(row)).concat();
    let path = written(
        lake.path(),
        "towns.ods",
        &ods(&format!(
            "<table:table table:name=\"a/b%\">{rows}</table:table><table:table table:name=\"c\">{rows}</table:table>"
        )),
    );
    let found = listed(lake.path());
    assert_eq!(found[0].1, "towns.ods/a%2Fb%25");
    let table = file_path(lake.path(), &found[0].1).unwrap();
    assert_eq!(read(&table).rows, [["Aby", "1200"], ["B \"r\", <o>", "310.5"]]);
    assert_eq!(table, path.join("a%2Fb%25"));
}

#[test]
fn what_a_workbook_says_of_itself_is_not_believed() {
    let lake = tempfile::tempdir().unwrap();
    let huge = vec![b' '; 513 << 20];
    let bomb = zipped(&[("xl/workbook.xml", b"<workbook/>"), ("xl/sharedStrings.xml", &huge)]);
    assert!(bomb.len() < 2 << 20);
    assert!(reason(&written(lake.path(), "bomb.xlsx", &bomb)).contains("unpacks to more than 512 MB"));
    // A sheet is read cell by cell and takes no memory, but time.
    let slow = zipped(&[("xl/workbook.xml", b"<workbook/>"), ("xl/worksheets/sheet1.xml", &huge)]);
    assert!(reason(&written(lake.path(), "slow.xlsx", &slow)).contains("unpacks to more than 512 MB"));
    let cell =
        "<table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-repeated=\"16384\"/>";
    let row = format!("<table:table-row table:number-rows-repeated=\"1048576\">{cell}</table:table-row>");
    let bomb = ods(&format!("<table:table table:name=\"t\">{row}</table:table>"));
    assert!(reason(&written(lake.path(), "bomb.ods", &bomb)).contains("more than the limit"));

    let compound = |streams: &[(&str, Vec<u8>)]| {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        for (name, bytes) in streams {
            file.create_stream(name).unwrap().write_all(bytes).unwrap();
        }
        file.flush().unwrap();
        file.into_inner().into_inner()
    };
    let number = |row: u16, column: u16| {
        let body = [row.to_le_bytes(), column.to_le_bytes(), [0, 0]].concat();
        [&0x0203u16.to_le_bytes()[..], &14u16.to_le_bytes(), &body, &1f64.to_le_bytes()].concat()
    };
    let bomb = compound(&[("Workbook", [number(0, 0), number(65_535, 65_535)].concat())]);
    assert!(reason(&written(lake.path(), "corners.xls", &bomb)).contains("more than the limit"));
    // A sheet that begins inside of another record, and tells 2^32 rows there: found by changing files at random.
    let dimensions =
        [&0x0200u16.to_le_bytes()[..], &14u16.to_le_bytes(), &[0; 4], &[0xff; 4], &[0, 0, 0xff, 0xff, 0, 0]].concat();
    let sheet_at = |place: u32| [&0x0085u16.to_le_bytes()[..], &4u16.to_le_bytes(), &place.to_le_bytes()].concat();
    let hidden =
        [sheet_at(12), [&[0xff, 0x0f], &(dimensions.len() as u16).to_le_bytes()[..], &dimensions].concat()].concat();
    let bomb = compound(&[("Workbook", hidden)]);
    assert!(reason(&written(lake.path(), "hidden.xls", &bomb)).contains("more than the limit"));
    // Columns that begin where they end are taken for all before.
    let dimensions = [&0x0200u16.to_le_bytes()[..], &14u16.to_le_bytes(), &[0; 4], &[0xff; 8], &[0, 0]].concat();
    let bomb = compound(&[("Workbook", [sheet_at(8), dimensions].concat())]);
    assert!(reason(&written(lake.path(), "columns.xls", &bomb)).contains("more than the limit"));
    let locked = compound(&[("EncryptedPackage", vec![1; 100])]);
    assert_eq!(reason(&written(lake.path(), "locked.xlsx", &locked)), "it is protected by a password");
    // A record says how the others of an `.xls` are locked; an `.ods` lists its parts with what they are locked by.
    let filepass = [0x002fu16.to_le_bytes(), 6u16.to_le_bytes(), [1, 0], [0, 0], [0, 0]].concat();
    let begin = [&0x0809u16.to_le_bytes()[..], &16u16.to_le_bytes(), &[0, 6, 5, 0], &[0; 12]].concat();
    let locked = compound(&[("Workbook", [begin, filepass].concat())]);
    assert_eq!(reason(&written(lake.path(), "locked.xls", &locked)), "it is protected by a password");
    let listed_parts = "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\">\
        <manifest:file-entry manifest:full-path=\"content.xml\" manifest:size=\"900\"><manifest:encryption-data \
        manifest:checksum-type=\"SHA1/1K\"/></manifest:file-entry></manifest:manifest>";
    let locked = zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &[0xb3; 900]),
        ("META-INF/manifest.xml", listed_parts.as_bytes()),
    ]);
    assert_eq!(reason(&written(lake.path(), "locked.ods", &locked)), "it is protected by a password");
    assert!(reason(&written(lake.path(), "text.xls", b"town\tpeople\n")).contains("no workbook"));
    assert!(reason(&written(lake.path(), "other.xlsx", &zipped(&[("a.txt", b"a")]))).contains("without a workbook"));
    // A far corner costs nothing in a format that is read cell by cell.
    let far = "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>\
               <row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row></sheetData></worksheet>";
    let with_sheet = |text: &str| {
        let plain = xlsx(&[("S", sheet(&["a|b"]))]);
        let mut archive = zip::ZipArchive::new(Cursor::new(plain)).unwrap();
        let mut entries = Vec::new();
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            std::io::copy(&mut entry, &mut bytes).unwrap();
            let name = entry.name().to_string();
            let bytes = if name.contains("sheet1") { text.as_bytes().to_vec() } else { bytes };
            entries.push((name, bytes));
        }
        let entries: Vec<(&str, &[u8])> =
            entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        zipped(&entries)
    };
    assert_eq!(reason(&written(lake.path(), "far.xlsx", &with_sheet(far))), "no table in it");
    // A column that no sheet has would be a row of gigabytes.
    let wide = far.replace("XFD1048576", "ZZZZZZ2").replace("r=\"1048576\"", "r=\"2\"");
    let said = reason(&written(lake.path(), "wide.xlsx", &with_sheet(&wide)));
    assert!(said.contains("a sheet has 16384 at most"), "{said}");
    // Listing goes on past all of them.
    assert_eq!(listed(lake.path()).len(), 13);
}

/// A database of these statements.
pub fn database(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn each_table_of_a_database_is_a_table_with_its_declared_keys() {
    let lake = tempfile::tempdir().unwrap();
    // A name that means something in an address.
    let path = lake.path().join("100% a?b#c.sqlite");
    database(
        &path,
        "CREATE TABLE town (code TEXT PRIMARY KEY, name TEXT, \"size\" REAL, note BLOB);
         CREATE TABLE sale (id INTEGER PRIMARY KEY, Town TEXT REFERENCES TOWN, day TEXT, FOREIGN KEY (day) REFERENCES day(iso));
         CREATE TABLE day (iso TEXT PRIMARY KEY); CREATE TABLE \"od\"\"d/x\" (a, b) ;
         CREATE VIEW v AS SELECT * FROM town;
         INSERT INTO town VALUES ('02134', 'Aby', 1.5, x'ff00'), ('1', NULL, 2, 'text');
         INSERT INTO day VALUES ('2020-01-01'); INSERT INTO sale VALUES (1, '02134', '2020-01-01'); INSERT INTO \"od\"\"d/x\" VALUES (1, 2);",
    );
    written(lake.path(), "Thumbs.db", b"no database");
    let ids: Vec<String> = listed(lake.path()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["100% a?b#c/day", "100% a?b#c/od\"d%2Fx", "100% a?b#c/sale", "100% a?b#c/town"]);
    let towns = read(&path.join("town"));
    assert_eq!(towns.names, ["code", "name", "size", "note"]);
    assert_eq!(towns.rows, [["02134", "Aby", "1.5", "ff00"], ["1", "", "2", "text"]]);
    assert_eq!(read(&file_path(lake.path(), "100% a?b#c.sqlite/od\"d%2Fx").unwrap()).rows, [["1", "2"]]);
    let listing = list_files(lake.path()).unwrap();
    let keys = foreign_keys(&listing.files[2]).unwrap();
    let keys: Vec<(&str, &str, &str)> =
        keys.iter().map(|key| (key.columns[0].as_str(), key.to_path.as_str(), key.to_columns[0].as_str())).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [("Town", "100% a?b#c.sqlite/town", "code"), ("day", "100% a?b#c.sqlite/day", "iso")]);
    // Nothing was written beside it.
    assert_eq!(fs::read_dir(lake.path()).unwrap().count(), 2);
}

#[test]
fn the_content_of_a_table_in_a_database_is_its_own() {
    let lake = tempfile::tempdir().unwrap();
    let path = lake.path().join("d.db");
    database(&path, "CREATE TABLE a (x); INSERT INTO a VALUES (1); CREATE TABLE b (x); INSERT INTO b VALUES (1), (2);");
    let hashes = || [content_hash(&path.join("a")).unwrap(), content_hash(&path.join("b")).unwrap()];
    let before = hashes();
    assert_ne!(before[0], before[1]);
    database(&path, "UPDATE a SET x = 3");
    let after = hashes();
    assert!(before[0] != after[0] && before[1] == after[1]);
    assert_eq!(Location::of(&path.join("a")).file(), path);
}

#[test]
fn a_database_is_not_trusted() {
    let lake = tempfile::tempdir().unwrap();
    let path = lake.path().join("evil.sqlite");
    database(
        &path,
        "CREATE TABLE t (a, b AS (a || 'x')); INSERT INTO t VALUES ('1'), ('2');
         CREATE TABLE u (a, slow AS (length(hex(zeroblob(a)))));
         INSERT INTO u VALUES (100000000);
         CREATE VIEW w AS SELECT load_extension('/tmp/evil.so');
         CREATE TRIGGER k AFTER INSERT ON t BEGIN SELECT load_extension('/tmp/evil.so'); END;
         PRAGMA writable_schema = on;
         INSERT INTO sqlite_schema VALUES ('table', 'virtual', 'virtual', 0, 'CREATE VIRTUAL TABLE virtual USING nosuch(x)');
         INSERT INTO sqlite_schema VALUES ('table', 'lost', 'lost', 999999, 'CREATE TABLE lost (x)');",
    );
    let ids: Vec<String> = listed(lake.path()).into_iter().map(|(_, path)| path).collect();
    assert!(ids.contains(&"evil.sqlite/t".to_string()) || ids == ["evil.sqlite"], "{ids:?}");
    if ids.len() > 1 {
        assert_eq!(read(&path.join("t")).rows, [["1", "1x"], ["2", "2x"]]);
        // A value longer than the limit ends the rows, and is told.
        assert!(read(&path.join("u")).report.lost_rows());
    } else {
        assert!(reason(&path).contains("SQLite"), "{}", reason(&path));
    }
    // Every page but the first is overwritten.
    let damaged = lake.path().join("damaged.sqlite");
    let rows: String =
        (0..2000).map(|row| format!("INSERT INTO t VALUES ({row}, 'some words that fill pages');")).collect();
    database(&damaged, &format!("BEGIN; CREATE TABLE t (a, b); {rows} COMMIT;"));
    let mut bytes = fs::read(&damaged).unwrap();
    let from = bytes.len() * 3 / 4;
    bytes[from..].fill(0xff);
    fs::write(&damaged, &bytes).unwrap();
    let found = read(&damaged);
    assert!(found.rows.len() < 2000 && found.report.lost_rows(), "{:?}", found.report);
    assert!(reason(&written(lake.path(), "locked.sqlite", &[7; 8192])).contains("encrypted"));
}

#[test]
fn changes_in_a_write_ahead_log_are_reported() {
    let lake = tempfile::tempdir().unwrap();
    let path = lake.path().join("d.sqlite");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA wal_checkpoint; INSERT INTO t VALUES (2);").unwrap();
    let found = read(&path);
    assert_eq!(found.rows, [["1"]]);
    assert_eq!(found.report.count(RepairKind::PendingChanges), 1);
    drop(writer);
    let found = read(&path);
    assert!(found.rows.len() == 2 && found.report.repairs.is_empty());
}
