//! Every way a lake's files can be written badly, through the public API of the readers.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, ListArray, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use lakeward_core::Error;
use lakeward_lake::reader::{ReadOptions, ReadReport, RepairKind, TableReader, open_path};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::log_files::parquet_bytes;
use crate::reader_behaviour::gzip;

struct Table {
    names: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
    report: ReadReport,
}

impl Table {
    fn row(&self, at: usize) -> Vec<&str> {
        self.rows[at].iter().map(|cell| cell.as_deref().unwrap_or("∅")).collect()
    }

    fn count(&self, kind: RepairKind) -> u64 {
        self.report.count(kind)
    }
}

fn drain(mut reader: Box<dyn TableReader>) -> Table {
    let names = reader.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        assert_eq!(batch.num_columns(), names.len());
        assert!(batch.num_rows() > 0);
        for row in 0..batch.num_rows() {
            let cell = |array: &ArrayRef| array.is_valid(row).then(|| array_value_to_string(array, row).unwrap());
            rows.push(batch.columns().iter().map(cell).collect());
        }
    }
    assert!(reader.next_batch().unwrap().is_none());
    let report = reader.report().clone();
    assert_eq!(report.rows, rows.len() as u64);
    report.repairs.iter().for_each(|repair| assert!(!repair.to_string().is_empty()));
    Table { names, rows, report }
}

fn write(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Table {
    let (_folder, path) = write(name, bytes);
    drain(open_path(&path, &ReadOptions::default()).unwrap())
}

fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let (_folder, path) = write(name, bytes);
    refusal_of(&path)
}

fn refusal_of(path: &Path) -> String {
    match open_path(path, &ReadOptions::default()) {
        Err(Error::Unreadable { reason, .. }) => reason,
        Err(other) => format!("other error: {other}"),
        Ok(_) => "readable".into(),
    }
}

fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    let units = mark.encode_utf16().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

// Dialects

#[test]
fn every_delimiter_is_found() {
    for delimiter in [',', ';', '\t', '|', ':'] {
        let d = delimiter;
        let table = read("t.csv", format!("id{d}name{d}score\n1{d}Ann{d}3.5\n2{d}Bob{d}4\n3{d}Cy{d}5\n"));
        assert_eq!(table.names, ["id", "name", "score"], "{delimiter:?}");
        assert_eq!(table.row(2), ["3", "Cy", "5"]);
        assert_eq!(table.report.dialect.unwrap().delimiter, Some(delimiter));
        assert_eq!(table.report.repairs, []);
    }
}

#[test]
fn decimal_commas_do_not_win_over_semicolons() {
    let rows: String = (0..50).map(|i| format!("Ort {i};{i},5;{i},25\n")).collect();
    assert_eq!(read("t.csv", format!("ort;breite;länge\n{rows}")).names, ["ort", "breite", "länge"]);
    let rows: String = (0..50).map(|i| format!("{i},5;{i},25\n")).collect();
    assert_eq!(read("t.csv", rows).names, ["column_1", "column_2"]);
}

#[test]
fn quotes_are_resolved_and_everything_else_is_kept() {
    let table = read("t.csv", "a,b\n\" x, \"\"y\"\"\nz \", w \n\"\",\n\"said \"so\" ok\",1\n");
    assert_eq!(table.row(0), [" x, \"y\"\nz ", " w "]);
    assert_eq!(table.row(1), ["", ""]);
    assert_eq!(table.row(2)[1], "1");
    assert_eq!(table.rows.len(), 3);
}

#[test]
fn backslash_escapes_are_resolved() {
    let table = read("t.csv", "a,b\n\"say \\\"hi\\\", you\",1\n\"x\",2\n");
    assert_eq!(table.row(0), ["say \"hi\", you", "1"]);
    assert!(table.report.dialect.unwrap().backslash_escapes);
}

#[test]
fn single_quotes_count_where_cells_come_in_pairs_of_them() {
    let table = read("t.csv", "a,b\n'x, y',1\n'z',2\n");
    assert_eq!(table.row(0), ["x, y", "1"]);
    let lone = read("t.csv", "a,b,c\n,',\n',,\n");
    assert_eq!(lone.row(0), ["", "'", ""]);
}

#[test]
fn a_title_with_a_comma_is_no_header() {
    let table = read(
        "t.csv",
        "World Prospects 2024, medium variant\nPersons, 1 July\n\nid,area,m,f\n004,Aland,22,21\n008,Bland,13,14\n",
    );
    assert_eq!(table.names, ["id", "area", "m", "f"]);
    assert_eq!(table.report.rows, 2);
}

#[test]
fn titles_notes_and_comments_above_the_table_are_set_apart() {
    let table = read("t.csv", "Population by region\nSource: census\n\nregion,year,people\nN,2019,5\nS,2019,6\n");
    assert_eq!(table.names, ["region", "year", "people"]);
    assert_eq!(table.report.preamble, ["Population by region", "Source: census"]);
    assert_eq!(table.report.dialect.unwrap().preamble_lines, 3);
    let padded = read("t.csv", "Title,,,,\nregion,a,b,c,d\nN,1,2,3,4\nS,1,2,3,4\n");
    assert_eq!(padded.names, ["region", "a", "b", "c", "d"]);
    let narrow = read("t.csv", "Raiders at Jets 9/7/14,,\nstate,sales,sold\nNJ,1,2\nNY,1,2\n");
    assert_eq!(narrow.names, ["state", "sales", "sold"]);
    let comments = read("t.csv", "# made by x, 2020\n# units: m\na,b\n1,2\n3,4\n");
    assert_eq!(comments.names, ["a", "b"]);
    let hash = read("t.tsv", "#id\tname\n1\tAnn\n2\tBob\n");
    assert_eq!(hash.names, ["id", "name"]);
    assert_eq!(hash.rows.len(), 2);
    let excel = read("t.csv", "sep=;\na;b\n1;2\n");
    assert_eq!(excel.names, ["a", "b"]);
}

#[test]
fn headers_are_told_from_data() {
    let header = |text: &str| read("t.csv", text).report.dialect.unwrap().header;
    assert!(!header("1,2\n3,4\n5,6\n"));
    assert!(!header("Ann,34,2020-01-01\nBob,25,2020-02-01\nCy,31,2020-03-01\n"));
    assert!(header("name,2019,2020\nx,5,6\ny,7,8\n"));
    assert!(header("0,1,2,3\na,b,c,d\n"));
    assert!(header("name,city\nAnn,Rome\nBob,Oslo\n"));
    assert!(header("Team,P,W\nA,3,4\nB,5,6\n"));
    assert!(header("Rank,% (1960),% (2000)\n1,13.2,11.3\n2,6.3,10.4\n"));
    assert!(header("#,Title,\"Budget, $\"\n1,Viy,49\n2,Burnt,45\n"));
    assert!(header(
        "Athlete,Event,Race,Race\nAthlete,Event,Time,Rank\nAnn,Downhill,3:10.09,73\nBob,Slalom,2:57.79,78\n"
    ));
    assert!(header("11,17,Pos,14\n0,0,37,0\n42,36,10,42\n"));
    assert!(header("Year,Film\n1985,King David\n1986,Other\n1987,X\nYear,Film\n1990,Y\n"));
    assert!(!header("M,yes\nF,no\nM,no\nF,yes\n"));
    assert!(header("name\nAnn\nBob\n"));
    assert!(header("a,b,c\n"));
}

#[test]
fn markup_inside_cells_is_no_delimiter() {
    let rows: String = (0..9).map(|i| format!("{{{{flag|C{i}}}}},{i},x; y\n")).collect();
    assert_eq!(read("t.csv", format!("Country,Wins,Notes\n{rows}")).names, ["Country", "Wins", "Notes"]);
    let podium = "GOLD,SILVER,BRONZE\n{{flag|A}}\n{{flag|B}}\n{{flag|C}}\n";
    let table = read("t.csv", podium);
    assert_eq!((table.names.len(), table.rows.len()), (3, 3));
}

#[test]
fn one_column_is_a_table_and_its_lines_stay_whole() {
    let table = read("t.csv", "city\nRome\nOslo, Norway\n\"Lima, Peru\"\n");
    assert_eq!(table.names, ["city"]);
    assert_eq!(table.row(1), ["Oslo, Norway"]);
    assert_eq!(table.row(2), ["Lima, Peru"]);
}

#[test]
fn line_ends_of_all_kinds() {
    for end in ["\n", "\r\n", "\r"] {
        let table = read("t.csv", ["a,b", "1,2", "3,4", "5,6"].join(end));
        assert_eq!((table.names.len(), table.rows.len()), (2, 3), "{end:?}");
        assert_eq!(table.report.repairs, []);
    }
    let mixed = read("t.csv", "a,b\r\n1,2\r\n3,4\n5,6\r7,8\r\n");
    assert_eq!(mixed.rows.len(), 4);
    assert_eq!(mixed.count(RepairKind::MixedLineEnds), 2);
}

// Encodings

#[test]
fn encodings_are_decoded() {
    let text = "name,city\nZoë,Zürich\nÅsa,Malmö\n";
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(text);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (text.as_bytes().to_vec(), "UTF-8"),
        ([b"\xef\xbb\xbf", text.as_bytes()].concat(), "UTF-8"),
        (utf16(text, false, true), "UTF-16LE"),
        (utf16(text, true, true), "UTF-16BE"),
        (utf16(text, false, false), "UTF-16LE"),
        (utf16(text, true, false), "UTF-16BE"),
        (latin.to_vec(), "windows-1252"),
    ];
    for (bytes, encoding) in cases {
        let table = read("t.csv", bytes);
        assert_eq!(table.names, ["name", "city"], "{encoding}");
        assert_eq!(table.row(1), ["Åsa", "Malmö"]);
        assert_eq!(table.report.dialect.as_ref().unwrap().encoding, encoding);
    }
}

#[test]
fn a_latin_alphabet_is_that_of_the_languages_written_in_it() {
    let names = "Île-de-France\nGrèce\nÅland\nHaïti\nKoweït\nAlgérie\nLibéria\nCôte d’Ivoire\nÉtats-Unis\nÎles Caïmans\nBénin\nViêt Nam\n\
        Curaçao\nSuède\nNouvelle-Zélande\nBahreïn\nThaïlande\nÉrythrée\nÉquateur\nÎles Féroé\nGuinée équatoriale\nÉthiopie\n";
    let czech = "Afghánistán\nAlžírsko\nArménie\nÁzerbájdžán\nBělorusko\nČeská republika\nČína\nDánsko\nŘecko\nPobřeží slonoviny\n\
        Španělsko\nŠvédsko\nVelká Británie\nZápadní Sahara\nSpojené státy americké\nJižní Súdán\nIrák\nÍrán\nLotyšsko\nMaďarsko\nNěmecko\n";
    for (text, encoding) in [(names.repeat(3), encoding_rs::WINDOWS_1252), (czech.repeat(3), encoding_rs::WINDOWS_1250)]
    {
        let rows: String = text.lines().enumerate().map(|(place, name)| format!("{place},{name}\n")).collect();
        let table = read("t.csv", encoding.encode(&format!("number,name\n{rows}")).0);
        assert_eq!(table.report.dialect.as_ref().unwrap().encoding, encoding.name());
        assert_eq!(table.row(2)[1], text.lines().nth(2).unwrap());
    }
}

#[test]
fn notes_below_a_table_are_no_rows_of_it() {
    let rows = "region,people,area\nN,5,1\nS,6,2\n";
    let table = read(
        "t.csv",
        format!("{rows}\"Source: the census, 2019\"\n* without islands,,\nFigures of the north are estimates.\n"),
    );
    assert_eq!((table.rows.len(), table.report.rows), (2, 2));
    assert_eq!(
        table.report.notes,
        ["Source: the census, 2019", "* without islands", "Figures of the north are estimates."]
    );
    let repair = table.report.repair(RepairKind::NoteRows).expect("a repair");
    assert_eq!((repair.count, repair.first_line, table.count(RepairKind::ShortRows)), (3, Some(4), 0));
    // What other rows come after, what has figures, what is cut short, and what is all of the table stays.
    for (text, kept) in [
        (format!("{rows}Source: the census\nW,7,3\n"), 4),
        (format!("{rows}Source: the census,1,\n"), 3),
        (format!("{rows}A region that has no figures,,\n"), 3),
        (format!("{rows}W\n"), 3),
        (format!("{rows}{}", "Note of a region\n".repeat(30)), 32),
        ("name,note\nSource: one\nSource: two\n".to_string(), 2),
    ] {
        let table = read("t.csv", &text);
        assert_eq!((table.rows.len(), table.count(RepairKind::NoteRows)), (kept, 0), "{text}");
    }
}

#[test]
fn a_late_invalid_byte_loses_nothing() {
    let rows: String = (0..400_000).map(|i| format!("{i},plain text\n")).collect();
    let mut latin = format!("id,name\n{rows}").into_bytes();
    assert!(latin.len() > 4 << 20);
    latin.extend_from_slice(b"400000,Z\xfcrich\n");
    let table = read("t.csv", &latin);
    assert_eq!(table.rows.len(), 400_001);
    assert_eq!(table.row(400_000), ["400000", "Zürich"]);
    assert_eq!(table.count(RepairKind::GuessedEncoding), 1);
    let rows: String = (0..400_000).map(|i| format!("{i},Zürich\n")).collect();
    let mut mixed = format!("id,name\n{rows}").into_bytes();
    mixed.extend_from_slice(b"400000,Z\xfcrich\n400001,Z\xc3\xbcrich\n");
    let table = read("t.csv", &mixed);
    assert_eq!(table.row(400_000), ["400000", "Zürich"]);
    assert_eq!(table.row(400_001), ["400001", "Zürich"]);
    assert!(table.rows.iter().all(|row| row[1].as_deref() == Some("Zürich")));
    assert_eq!(table.count(RepairKind::UndecodableBytes), 1);
    assert_eq!(table.report.dialect.unwrap().encoding, "UTF-8");
}

// Rows and headers in disorder

#[test]
fn ragged_rows_are_counted() {
    let mut text = "a,b,c\n".to_string();
    text.extend((0..40).map(|i| format!("{i},x,y\n")));
    text.push_str("1,2\n1,2,3,4\n1,2,3,,\n");
    let table = read("t.csv", text);
    assert_eq!(table.row(40), ["1", "2", "∅"]);
    assert_eq!(table.row(41), ["1", "2", "3"]);
    assert_eq!(table.count(RepairKind::ShortRows), 1);
    let long = table.report.repair(RepairKind::LongRows).unwrap();
    assert_eq!((long.count, long.first_line), (1, Some(43)));
    assert!(!table.report.partial());
}

#[test]
fn many_long_rows_get_columns_of_their_own() {
    let table = read("t.csv", "a,b\n1,2\n1,2,3\n1,2,3,4\n");
    assert_eq!(table.names, ["a", "b", "extra_1", "extra_2"]);
    assert_eq!(table.row(1), ["1", "2", "3", "∅"]);
    assert_eq!(table.count(RepairKind::ExtraColumns), 2);
}

#[test]
fn row_names_without_a_header_of_their_own() {
    let table = read("t.csv", "mpg,cyl\nMazda,21,6\nFiat,32,4\nVolvo,21,4\n");
    assert_eq!(table.names, ["column_1", "mpg", "cyl"]);
    assert_eq!(table.count(RepairKind::RowNames), 1);
    let trailing = read("t.csv", "a,b\n1,2,\n3,4,\n");
    assert_eq!(trailing.names, ["a", "b"]);
    assert_eq!(trailing.report.repairs, []);
}

#[test]
fn duplicate_and_empty_headers_are_renamed() {
    let table = read("t.csv", "a,a, a ,a_2,,A,\n1,2,3,4,5,6,7\n");
    assert_eq!(table.names, ["a", "a_3", "a_4", "a_2", "column_5", "A", "column_7"]);
    assert_eq!(table.count(RepairKind::DuplicateHeaders), 2);
    assert_eq!(table.count(RepairKind::EmptyHeaders), 2);
}

#[test]
fn nul_bytes_and_blank_lines() {
    let table = read("t.csv", "a,b\n\n1,\0x\n   \n2,y\n\n");
    assert_eq!(table.row(0), ["1", "x"]);
    assert_eq!(table.rows.len(), 2);
    assert_eq!(table.count(RepairKind::NulBytes), 1);
    assert_eq!(table.count(RepairKind::BlankLines), 3);
}

#[test]
fn an_unclosed_quote_swallows_nothing() {
    let mut text = "id,name,n\n".to_string();
    text.extend((0..5_000).map(|i| format!("{i},{}row {i},x\n", if i == 100 { "\"" } else { "" })));
    let table = read("t.csv", &text);
    assert_eq!(table.rows.len(), 5_000);
    assert_eq!(table.row(100), ["100", "\"row 100", "x"]);
    let unclosed = table.report.repair(RepairKind::UnclosedQuotes).unwrap();
    assert_eq!((unclosed.count, unclosed.first_line), (1, Some(102)));
    // A later quoted cell would close it.
    text.push_str("5000,\"a, b\",x\n");
    let table = read("t.csv", &text);
    assert_eq!(table.rows.len(), 5_001);
    assert_eq!(table.row(5_000), ["5000", "a, b", "x"]);
    // And far beyond what is held in memory.
    text.extend((0..600_000).map(|i| format!("{i},row {i},x\n")));
    let table = read("t.csv", &text);
    assert_eq!(table.rows.len(), 605_001);
}

#[test]
fn long_quoted_cells_with_line_ends_stay_whole() {
    let essay = "A line of prose, with commas, and more.\nshort\n".repeat(2_000);
    let table = read("t.csv", format!("id,text\n1,\"{essay}\"\n2,x\n3,y\n"));
    assert_eq!(table.rows.len(), 3);
    assert_eq!(table.rows[0][1].as_ref().unwrap().len(), 64 << 10);
    assert_eq!(table.count(RepairKind::CutCells), 1);
}

// Sizes

#[test]
fn a_header_without_rows_is_a_table() {
    let table = read("t.csv", "a,b,c\n");
    assert_eq!((table.names.len(), table.rows.len()), (3, 0));
    assert_eq!(read("t.csv", "a,b,c").names, ["a", "b", "c"]);
}

#[test]
fn ten_thousand_columns_are_read_and_too_many_refused() {
    let line = |count: usize, start: &str| (0..count).map(|i| format!("{start}{i}")).collect::<Vec<_>>().join(",");
    let text = |count| format!("{}\n{}\n{}\n", line(count, "c"), line(count, ""), line(count, "1"));
    let table = read("t.csv", text(10_000));
    assert_eq!((table.names.len(), table.rows.len()), (10_000, 2));
    assert_eq!(table.rows[0][9_999].as_deref(), Some("9999"));
    assert!(refusal("t.csv", text(20_000)).contains("20000 columns, more than the limit of 16384"));
}

#[test]
fn a_cell_of_a_hundred_megabytes_is_cut() {
    for quote in ["", "\""] {
        let mut text = format!("id,text,n\n1,{quote}").into_bytes();
        text.resize(text.len() + (100 << 20), b'x');
        text.extend_from_slice(format!("{quote},7\n2,y,8\n").as_bytes());
        let table = read("t.csv", text);
        assert_eq!(table.rows.len(), 2, "{quote}");
        assert_eq!(table.rows[0][1].as_ref().unwrap().len(), 64 << 10);
        assert_eq!(table.rows[0][2].as_deref(), Some("7"));
        assert_eq!(table.row(1), ["2", "y", "8"]);
        let cut = table.report.repair(RepairKind::CutCells).unwrap();
        assert_eq!((cut.count, cut.first_line), (1, Some(2)));
    }
}

#[test]
fn a_row_limit_is_kept_and_told() {
    let (_folder, path) = write("t.csv", "a,b\n1,2\n3,4\n5,6\n");
    let read = |max| drain(open_path(&path, &ReadOptions { max_rows: Some(max), ..ReadOptions::default() }).unwrap());
    assert_eq!(read(2).rows.len(), 2);
    assert!(read(2).report.partial());
    assert!(!read(3).report.partial());
}

// Compression

#[test]
fn packed_files_are_unpacked_whatever_their_name() {
    let text = b"a,b\n1,2\n3,4\n";
    for name in ["t.csv.gz", "t.csv"] {
        assert_eq!(read(name, gzip(text)).rows.len(), 2);
    }
    let zstd = zstd::stream::encode_all(&text[..], 3).unwrap();
    assert_eq!(read("t.csv.zst", zstd).rows.len(), 2);
    assert_eq!(read("t.csv.gz", text).rows.len(), 2);
    let twice = [gzip(b"a,b\n1,2\n"), gzip(b"3,4\n")].concat();
    assert_eq!(read("t.csv.gz", twice).rows.len(), 2);
}

#[test]
fn a_truncated_stream_keeps_its_whole_rows() {
    let text: String = (0..200_000).map(|i| format!("{i},{}\n", i * 7919 % 100_003)).collect();
    let packed = gzip(format!("id,n\n{text}").as_bytes());
    let zstd = zstd::stream::encode_all(format!("id,n\n{text}").as_bytes(), 3).unwrap();
    for (name, packed) in [("t.csv.gz", packed), ("t.csv.zst", zstd)] {
        let table = read(name, &packed[..packed.len() / 2]);
        assert!(table.report.partial());
        assert_eq!(table.count(RepairKind::TruncatedStream), 1);
        assert!(table.rows.len() > 10_000, "{}", table.rows.len());
        for (at, row) in table.rows.iter().enumerate() {
            assert_eq!(row[1], Some((at * 7919 % 100_003).to_string()));
        }
    }
    assert!(refusal("t.csv.gz", &gzip(b"a,b\n1,2\n")[..12]).contains("compressed"));
}

// What is no table

#[test]
fn what_is_no_table_is_refused_with_a_reason() {
    assert_eq!(refusal("t.csv", ""), "empty file");
    assert_eq!(refusal("t.csv", "\n\n  \n"), "no text in it");
    assert_eq!(refusal("t.csv", "<!DOCTYPE html>\n<html><body>404, not found</body></html>"), "an HTML page");
    assert_eq!(refusal("t.csv", "<?xml version=\"1.0\"?><Error/>"), "an XML document");
    assert_eq!(refusal("t.csv", "{\"error\": \"no, not found\"}"), "a JSON document");
    assert!(refusal("t.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").contains("Git LFS"));
    assert!(refusal("t.csv", b"PK\x03\x04rest").contains("spreadsheet"));
    let mut noise = 1_u64;
    let random: Vec<u8> = (0..5_000)
        .map(|_| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (noise >> 56) as u8
        })
        .collect();
    assert_eq!(refusal("t.csv", random), "binary data");
    assert_eq!(
        refusal("notes.txt", "Dear all,\nthis is a letter.\nIt has, as letters do, commas.\n"),
        "text without columns"
    );
    assert_eq!(read("t.txt", "a\tb\n1\t2\n").names, ["a", "b"]);
    assert!(refusal("t.parquet.gz", gzip(b"x")).contains("packed"));
}

#[test]
fn files_that_cannot_be_opened_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    assert!(matches!(open_path(&path, &ReadOptions::default()), Err(Error::Io { .. })));
    fs::create_dir(&path).unwrap();
    assert_eq!(refusal_of(&path), "no table files of a single format in it");
    let secret = folder.path().join("secret.csv");
    fs::write(&secret, "a,b\n1,2\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read it all the same.
        if fs::read(&secret).is_err() {
            assert!(matches!(open_path(&secret, &ReadOptions::default()), Err(Error::Io { .. })));
        }
    }
}

// JSON

#[test]
fn ndjson_with_broken_lines_and_varying_keys() {
    let text =
        "{\"a\":1,\"b\":\"x\\u00e9\"}\n{broken\n\n{\"b\":null,\"c\":[1, 2]}\n42\n{\"a\":1.10,\"c\":{\"d\":\"e\"}}\n";
    let table = read("t.ndjson", text);
    assert_eq!(table.names, ["a", "b", "c"]);
    assert_eq!(table.row(0), ["1", "xé", "∅"]);
    assert_eq!(table.row(1), ["∅", "∅", "[1, 2]"]);
    assert_eq!(table.row(2), ["1.10", "∅", "{\"d\":\"e\"}"]);
    let broken = table.report.repair(RepairKind::BrokenRows).unwrap();
    assert_eq!((broken.count, broken.first_line), (2, Some(2)));
    assert_eq!(table.count(RepairKind::NestedColumns), 1);
    assert!(table.report.partial());
}

#[test]
fn late_keys_are_counted() {
    let mut text: String = (0..20_000).map(|i| format!("{{\"a\":{i}}}\n")).collect();
    text.push_str("{\"a\":1,\"z\":2}\n");
    let table = read("t.jsonl", text);
    assert_eq!(table.rows.len(), 20_001);
    assert_eq!(table.report.repair(RepairKind::LateKeys).unwrap().first_line, Some(20_001));
}

#[test]
fn json_documents_of_many_shapes() {
    assert_eq!(read("t.json", "[{\"a\":1},{\"a\":2,\"b\":3}]").names, ["a", "b"]);
    let nested =
        read("t.json", "{\"help\":\"x\",\"result\":{\"fields\":[{\"id\":1}],\"records\":[{\"a\":1},{\"a\":2}]}}");
    assert_eq!((nested.names, nested.rows.len()), (vec!["a".to_string()], 2));
    assert_eq!(nested.report.count(RepairKind::OtherArrays), 1);
    let positions = read("t.json", "[[\"a\",\"b\"],[1,2],[3,4]]");
    assert_eq!((positions.names, positions.rows.len()), (vec!["a".to_string(), "b".to_string()], 2));
    let lines = read("t.json", "{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(lines.rows.len(), 2);
    let sequence = read("t.json", "{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n");
    assert_eq!(sequence.rows.len(), 2);
    let array = read("t.jsonl", "[\n{\"a\":1},\n{\"a\":2}\n]");
    assert_eq!(array.rows.len(), 2);
    let places = "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"properties\":{\"n\":\"x\"},\
                  \"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}]}";
    assert_eq!(read("t.geojson", places).names, ["n", "geometry"]);
    let cut = read("t.json", "[{\"a\":1},{\"a\":2},{\"a\":");
    assert_eq!(cut.rows.len(), 2);
    assert!(cut.report.partial());
    assert!(refusal("t.json", "{\"a\":1}").contains("without an array of rows"));
    assert!(refusal("t.json", "[1,2,3]").contains("no objects"));
    assert!(refusal("t.json", "not json").contains("JSON"));
}

#[test]
fn deep_json_overflows_no_stack() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read("t.ndjson", &deep).rows.len(), 1);
    assert_eq!(read("t.json", format!("[{deep}]")).rows.len(), 1);
    assert!(refusal("t.json", "[".repeat(100_000)).contains("JSON"));
    assert!(refusal("t.json", "{\"a\":".repeat(100_000)).contains("JSON"));
}

#[test]
fn a_giant_json_row_is_left_out() {
    let giant = format!("{{\"a\":\"{}\"}}", "x".repeat(40 << 20));
    let lines = read("t.ndjson", format!("{{\"a\":1}}\n{giant}\n{{\"a\":2}}\n"));
    assert_eq!((lines.rows.len(), lines.report.count(RepairKind::BrokenRows)), (2, 1));
    let array = read("t.json", format!("[{{\"a\":1}},\n{giant},\n{{\"a\":2}}]"));
    assert_eq!((array.rows.len(), array.report.count(RepairKind::BrokenRows)), (2, 1));
}

// Typed formats

fn sample_batch() -> RecordBatch {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    let pair = StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Int32, true)),
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
    )]);
    let binary = arrow::array::BinaryArray::from(vec![&b"text"[..], b"\xff\x00", b""]);
    RecordBatch::try_from_iter(vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
        ("name", Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef),
        ("list", Arc::new(list) as ArrayRef),
        ("pair", Arc::new(pair) as ArrayRef),
        ("bytes", Arc::new(binary) as ArrayRef),
    ])
    .unwrap()
}

fn check_sample(table: &Table) {
    assert_eq!(table.names, ["id", "name", "list", "pair", "bytes"]);
    assert_eq!(table.row(0), ["1", "a", "[1,null]", "{\"x\":1}", "text"]);
    assert_eq!(table.row(1)[..3], ["2", "∅", "∅"]);
    assert_eq!(table.row(1)[4], "ff00");
    assert_eq!(table.count(RepairKind::NestedColumns), 2);
}

#[test]
fn parquet_with_nested_types() {
    let (_folder, path) = write("t.parquet", parquet_bytes(&sample_batch()));
    let reader = open_path(&path, &ReadOptions::default()).unwrap();
    assert!(reader.is_typed());
    check_sample(&drain(reader));
}

#[test]
fn arrow_files_and_streams() {
    let batch = sample_batch();
    let mut file = Vec::new();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    check_sample(&read("t.arrow", &file));
    let mut stream = Vec::new();
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    check_sample(&read("t.arrows", &stream));
    check_sample(&read("t.arrows.gz", gzip(&stream)));
    assert!(refusal("t.arrow", &file[..file.len() - 20]).contains("damaged Arrow file"));
    assert!(refusal("t.arrow", "no arrow").contains("no Arrow"));
}

#[test]
fn damaged_parquet() {
    let ids = Int32Array::from_iter_values((0..200_000).map(|i| i * 7919 % 100_003));
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int32, false)]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(ids)]).unwrap();
    let bytes = parquet_bytes(&batch);
    assert_eq!(read("t.parquet", &bytes).rows.len(), 200_000);
    assert!(refusal("t.parquet", &bytes[..bytes.len() / 2]).contains("damaged Parquet footer"));
    assert!(refusal("t.parquet", b"PAR1").contains("damaged Parquet footer"));
    assert_eq!(refusal("t.parquet", b""), "empty file");
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle - 5_000..middle + 5_000].fill(0xff);
    let (_folder, path) = write("t.parquet", &damaged);
    // Damage may hit values without breaking the encoding; what must not happen is a panic or a silent loss of rows.
    let table = drain(open_path(&path, &ReadOptions::default()).unwrap());
    assert!(table.report.partial() || table.rows.len() == 200_000);
    let mut damaged = bytes.clone();
    damaged[4..200].fill(0xff);
    let table = read("t.parquet", damaged);
    assert!(table.report.partial());
    assert_eq!(table.report.count(RepairKind::DamagedData), 1);
}

// Properties

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9 .-]{0,12}",
        1 => "[a-z,;|\t\"'\n\r]{0,8}",
        1 => "[a-zé0-9ü]{0,6}",
    ]
}

fn tables() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1_usize..6).prop_flat_map(|width| prop::collection::vec(prop::collection::vec(cell(), width), 1..30))
}

fn encode(text: &str, encoding: usize) -> Vec<u8> {
    match encoding {
        0 => text.as_bytes().to_vec(),
        1 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        2 => utf16(text, false, true),
        3 => utf16(text, true, true),
        // Latin-1 is guessed from what there is, so it must have some.
        _ => encoding_rs::WINDOWS_1252.encode(text).0.to_vec(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), name in 0_usize..7) {
        let names = ["t.csv", "t.txt", "t.json", "t.ndjson", "t.parquet", "t.arrow", "t.csv.gz"];
        let (_folder, path) = write(names[name], bytes);
        if let Ok(reader) = open_path(&path, &ReadOptions::default()) {
            drain(reader);
        }
    }

    #[test]
    fn random_text_never_panics(text in "[a-c0-9,;\t\"'\n\r#{}\\[\\]:\\\\ é]{0,300}", name in 0_usize..4) {
        let (_folder, path) = write(["t.csv", "t.txt", "t.json", "t.ndjson"][name], text);
        if let Ok(reader) = open_path(&path, &ReadOptions::default()) {
            drain(reader);
        }
    }

    #[test]
    fn well_formed_tables_read_back_equal(
        rows in tables(), delimiter in 0_usize..4, crlf in any::<bool>(), always in any::<bool>(), encoding in 0_usize..5,
    ) {
        let delimiter = [b',', b';', b'\t', b'|'][delimiter];
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter).terminator(terminator).quote_style(style).from_writer(Vec::new());
        let header: Vec<String> = (0..rows[0].len()).map(|i| format!("näme {i}")).collect();
        writer.write_record(&header).unwrap();
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let (_folder, path) = write("t.csv", encode(&text, encoding));
        let options = ReadOptions { delimiter: Some(delimiter), header: Some(true), ..ReadOptions::default() };
        let table = drain(open_path(&path, &options).unwrap());
        // In a table of one column a bare cell of blanks is a blank line.
        let is_blank = |cell: &str| !cell.is_empty() && cell.chars().all(|c| c == ' ' || (c == '\t' && delimiter != b'\t'));
        let is_kept = |row: &&Vec<String>| always || row.len() > 1 || !is_blank(&row[0]);
        let expected: Vec<Vec<Option<String>>> =
            rows.iter().filter(is_kept).map(|row| row.iter().cloned().map(Some).collect()).collect();
        prop_assert_eq!(&table.rows, &expected, "{:?}", text);
        if encoding < 4 {
            prop_assert_eq!(&table.names, &header);
        }
    }

    #[test]
    fn friendly_tables_are_sniffed_and_read_back_equal(
        rows in (2_usize..6).prop_flat_map(|width| prop::collection::vec(prop::collection::vec("[a-zA-Z0-9.-]{1,12}", width), 3..30)),
        delimiter in 0_usize..4,
    ) {
        let delimiter = [",", ";", "\t", "|"][delimiter];
        let header: Vec<String> = (0..rows[0].len()).map(|i| format!("name {i}")).collect();
        let lines: Vec<String> = std::iter::once(&header).chain(&rows).map(|row| row.join(delimiter)).collect();
        let table = read("t.csv", lines.join("\n"));
        let expected: Vec<Vec<Option<String>>> = rows.iter().map(|row| row.iter().cloned().map(Some).collect()).collect();
        prop_assert_eq!(table.rows, expected);
        prop_assert_eq!(table.names, header);
    }
}

// Measurements on real lakes: `LAKEWARD_BENCH=dir cargo test --release --test readers -- --ignored --nocapture`

/// Every table file below the folder of benchmarks.
fn bench_files() -> Vec<lakeward_lake::source::LakeFile> {
    let Some(folder) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return Vec::new();
    };
    lakeward_lake::source::list_files(Path::new(&folder)).unwrap().files
}

/// One JSON line a file in `LAKEWARD_DUMP`: what was found, for comparison with other readers.
#[test]
#[ignore = "reads the lakes that LAKEWARD_BENCH names"]
fn dump_what_is_found() {
    let mut out = String::new();
    for file in bench_files() {
        let line = match lakeward_lake::reader::open(&file, &ReadOptions::default()) {
            Ok(reader) => {
                let columns = reader.columns().to_vec();
                let table = drain(reader);
                let repairs: Vec<String> = table.report.repairs.iter().map(ToString::to_string).collect();
                serde_json::json!({
                    "path": file.path, "names": table.names, "headers": columns, "rows": table.rows.len(), "repairs": repairs,
                    "dialect": table.report.dialect, "preamble": table.report.preamble,
                    "head": table.rows.iter().take(3).collect::<Vec<_>>(),
                })
            }
            Err(error) => serde_json::json!({ "path": file.path, "error": error.to_string() }),
        };
        out.push_str(&line.to_string());
        out.push('\n');
    }
    let place = std::env::var_os("LAKEWARD_DUMP").map(PathBuf::from);
    fs::write(place.unwrap_or_else(|| std::env::temp_dir().join("readers.jsonl")), out).unwrap();
}

/// Seconds that this thread has run on a core: other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Megabytes a second on one core, beside the bare `csv` crate and beside only reading the bytes.
#[test]
#[ignore = "reads the lakes that LAKEWARD_BENCH names"]
fn measure_speed() {
    let files = bench_files();
    let megabytes = files.iter().map(|file| file.read_bytes).sum::<u64>() as f64 / 1e6;
    let time = |name: &str, mut read: Box<dyn FnMut(&Path) -> u64>| {
        let best = (0..5).map(|_| {
            let start = cpu_seconds();
            let rows: u64 = files.iter().map(|file| read(&file.path)).sum();
            (cpu_seconds() - start, rows)
        });
        let (seconds, rows) = best.fold((f64::MAX, 0), |a, b| if b.0 < a.0 { b } else { a });
        let each = seconds / files.len() as f64 * 1e6;
        println!("{name}: {:.0} MB/s, {each:.0} µs a file, {rows} rows, {megabytes:.0} MB", megabytes / seconds);
    };
    time("bytes", Box::new(|path| fs::read(path).unwrap().len() as u64));
    time(
        "csv crate",
        Box::new(|path| {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
            let mut record = csv::ByteRecord::new();
            let mut rows = 0;
            while reader.read_byte_record(&mut record).unwrap_or(false) {
                rows += 1;
            }
            rows
        }),
    );
    time(
        "lakeward open",
        Box::new(|path| open_path(path, &ReadOptions::default()).map_or(0, |reader| reader.columns().len() as u64)),
    );
    time(
        "lakeward",
        Box::new(|path| {
            let Ok(mut reader) = open_path(path, &ReadOptions::default()) else { return 0 };
            while let Some(batch) = reader.next_batch().unwrap() {
                std::hint::black_box(&batch);
            }
            reader.report().rows
        }),
    );
}

// Listing

#[test]
fn listing_sorts_tables_sidecars_and_problems() {
    use lakeward_lake::source::{assign_ids, content_hash, list_files};
    let lake = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = lake.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let table = "a,b\n1,2\n3,4\n";
    for name in [
        "b/x.csv",
        "b/x.tsv",
        "b/x.csv.csv",
        "a.csv.gz",
        "z.PARQUET",
        ".git/h.csv",
        "b/.hidden.csv",
        "folder.csv/part.csv",
    ] {
        put(name, table);
    }
    put("notes.txt", "Dear all,\nno table.\n");
    put("table.txt", "a\tb\n1\t2\n");
    put("README.md", "x");
    put("datapackage.json", "{}");
    put("data.json", "{\"conformsTo\": \"https://project-open-data.cio.gov/v1.1/schema\", \"dataset\": []}");
    put("rows/data.json", "[{\"a\": 1}]");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(lake.path(), lake.path().join("b/loop")).unwrap();
        std::os::unix::fs::symlink("/nowhere", lake.path().join("broken.csv")).unwrap();
    }
    let listing = list_files(lake.path()).unwrap();
    let ids: Vec<String> = assign_ids(&listing.files).iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["a", "b/x.csv", "b/x.csv.csv", "b/x.tsv", "folder.csv/part", "rows/data", "table", "z"]);
    assert_eq!(listing.sidecars.len(), 3, "a README is one");
    assert_eq!(listing.problems.len(), if cfg!(unix) { 2 } else { 0 }, "{:?}", listing.problems);
    let hash = content_hash(&listing.files[1].path).unwrap();
    assert_eq!(hash.to_string(), blake3::hash(table.as_bytes()).to_string());
    assert!(list_files(&lake.path().join("nowhere")).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_escaped() {
    use std::os::unix::ffi::OsStrExt;
    let lake = tempfile::tempdir().unwrap();
    fs::write(lake.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9\n.csv")), "a,b\n1,2\n").unwrap();
    let files = lakeward_lake::source::list_files(lake.path()).unwrap().files;
    assert_eq!(files[0].relative, "caf%E9%0A.csv");
    assert!(lakeward_lake::reader::open(&files[0], &ReadOptions::default()).is_ok());
    let found = lakeward_lake::source::file_path(lake.path(), &files[0].relative).unwrap();
    assert_eq!(found, files[0].path);
    let literal = lake.path().join("100%25.csv");
    fs::write(&literal, "a\n").unwrap();
    assert_eq!(lakeward_lake::source::file_path(lake.path(), "100%25.csv").unwrap(), literal);
    for outside in ["../a.csv", "/etc/passwd", "a/../../b.csv"] {
        assert!(lakeward_lake::source::file_path(lake.path(), outside).is_err(), "{outside}");
    }
}
