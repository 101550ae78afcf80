//! What every [`TableReader`] promises, tried with one table in every format: the same columns and cells in batches of any size, limits
//! that are kept, and no panic whatever is cut off or changed.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::writer::format::AvroOcfFormat;
use lakeward_core::Error;
use lakeward_lake::reader::{ReadOptions, RepairKind, TableReader, open_path};

use crate::holders::{self, written};
use crate::log_files::parquet_bytes;
use crate::workbook_file;

/// A table as texts: names, then rows. A cell that is missing is none.
pub struct Content {
    names: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

/// Writes a table in a format.
pub type Written = fn(&Content) -> Vec<u8>;

/// Names of files, each with what writes a table under it and whether cells have types there.
pub const FORMATS: [(&str, Written, bool); 16 + cfg!(feature = "orc") as usize] = [
    ("t.csv", |table| delimited(table, ','), false),
    ("t.tsv", |table| delimited(table, '\t'), false),
    ("t.csv.gz", |table| gzip(&delimited(table, ';')), false),
    ("t.csv.zst", |table| zstd::encode_all(&delimited(table, '|')[..], 3).unwrap(), false),
    ("t.ndjson", lines, false),
    ("t.ndjson.gz", |table| gzip(&lines(table)), false),
    ("t.json", |table| document(table).into_bytes(), false),
    ("t.parquet", |table| parquet_bytes(&batch(table)), true),
    ("t.arrow", arrow_file, true),
    ("t.arrows", arrow_stream, true),
    ("t.arrows.gz", |table| gzip(&arrow_stream(table)), true),
    ("t.avro", avro_file, true),
    #[cfg(feature = "orc")]
    ("t.orc", orc_file, true),
    ("t.xlsx", workbook, false),
    ("t.xlsb", |table| workbook_file::xlsb("Sheet1", &lines_of(table)), false),
    ("t.ods", open_document, false),
    ("t.sqlite", database_file, false),
];

pub fn towns(rows: usize) -> Content {
    let cell = |row: usize, column: &str| match column {
        // No text format can tell a missing cell from an empty one.
        "note" if row % 3 == 1 => None,
        "note" => Some(format!("a \"note\" of {row}, in words; or not")),
        "people" => Some((row * 37 + 11).to_string()),
        _ => Some(format!("Town {row}")),
    };
    let names = ["town", "people", "note"];
    let row = |row| names.iter().map(|name| cell(row, name)).collect();
    Content { names: names.map(str::to_string).to_vec(), rows: (0..rows).map(row).collect() }
}

fn wide(columns: usize) -> Content {
    let row = |row: usize| (0..columns).map(|column| Some(format!("v{row} {column}"))).collect();
    Content { names: (0..columns).map(|column| format!("field_{column}")).collect(), rows: (0..3).map(row).collect() }
}

fn delimited(table: &Content, delimiter: char) -> Vec<u8> {
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let mut text = table.names.join(&delimiter.to_string());
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.as_deref().map_or_else(String::new, quoted)).collect();
        text = text + "\n" + &cells.join(&delimiter.to_string());
    }
    (text + "\n").into_bytes()
}

fn objects(table: &Content) -> Vec<String> {
    let object = |row: &Vec<Option<String>>| {
        let fields: Vec<String> = (table.names.iter().zip(row))
            .map(|(name, cell)| format!("{}: {}", serde_json::json!(name), serde_json::json!(cell)))
            .collect();
        format!("{{{}}}", fields.join(", "))
    };
    table.rows.iter().map(object).collect()
}

fn lines(table: &Content) -> Vec<u8> {
    (objects(table).join("\n") + "\n").into_bytes()
}

fn document(table: &Content) -> String {
    format!("[{}]", objects(table).join(",\n"))
}

fn batch(table: &Content) -> RecordBatch {
    let fields: Vec<Field> = table.names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let column =
        |column: usize| Arc::new(table.rows.iter().map(|row| row[column].clone()).collect::<StringArray>()) as ArrayRef;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), (0..table.names.len()).map(column).collect()).unwrap()
}

fn arrow_file(table: &Content) -> Vec<u8> {
    let batch = batch(table);
    let mut writer = arrow::ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(table: &Content) -> Vec<u8> {
    let batch = batch(table);
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn avro_file(table: &Content) -> Vec<u8> {
    let batch = batch(table);
    let schema = batch.schema().as_ref().clone();
    let writer = arrow_avro::writer::WriterBuilder::new(schema).with_compression(Some(CompressionCodec::Snappy));
    let mut writer = writer.build::<_, AvroOcfFormat>(Vec::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner()
}

#[cfg(feature = "orc")]
fn orc_file(table: &Content) -> Vec<u8> {
    let (batch, mut bytes) = (batch(table), Vec::new());
    let writer = orc_rust::ArrowWriterBuilder::new(&mut bytes, batch.schema());
    let writer = writer.with_compression(orc_rust::compression::CompressionType::Zstd);
    let mut writer = writer.try_build().unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn workbook(table: &Content) -> Vec<u8> {
    let cell = |text: &str| workbook_file::Cell::Text(text.to_string());
    let names = table.names.iter().map(|name| cell(name)).collect();
    let row = |row: &Vec<Option<String>>| {
        row.iter().map(|text| text.as_deref().map_or(workbook_file::Cell::Empty, cell)).collect()
    };
    workbook_file::xlsx(&[("Sheet1", std::iter::once(names).chain(table.rows.iter().map(row)).collect())])
}

/// The names of a table and its rows.
fn lines_of(table: &Content) -> Vec<Vec<Option<&str>>> {
    let names = table.names.iter().map(|name| Some(name.as_str())).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(Option::as_deref).collect());
    std::iter::once(names).chain(rows).collect()
}

fn open_document(table: &Content) -> Vec<u8> {
    let row =
        |row: Vec<Option<&str>>| holders::ods_row(&row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>());
    let rows = lines_of(table).into_iter().map(row).collect::<String>();
    holders::ods(&format!("<table:table table:name=\"Sheet1\">{rows}</table:table>"))
}

fn database_file(table: &Content) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.sqlite");
    let quoted =
        |cell: &Option<String>| cell.as_ref().map_or("NULL".into(), |cell| format!("'{}'", cell.replace('\'', "''")));
    let rows = table
        .rows
        .iter()
        .map(|row| format!("INSERT INTO t VALUES ({});", row.iter().map(quoted).collect::<Vec<_>>().join(", ")));
    let (names, rows) = (table.names.join(", "), rows.collect::<String>());
    holders::database(&path, &format!("BEGIN; CREATE TABLE t ({names}); {rows} COMMIT;"));
    fs::read(path).unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Puts a table into a folder: as a file, and as files of its rows that are one table, where a format holds one table a
/// file.
fn placed(folder: &Path, name: &str, encoded: Written, table: &Content) -> Vec<PathBuf> {
    let mut places = vec![written(folder, name, &encoded(table))];
    let (_, ending) = name.split_once('.').unwrap();
    if !["xlsx", "xlsb", "ods", "sqlite"].contains(&ending) {
        let parts = folder.join(format!("{ending}-parts"));
        fs::create_dir_all(&parts).unwrap();
        for (number, rows) in table.rows.chunks(table.rows.len().div_ceil(3)).enumerate() {
            let part = Content { names: table.names.clone(), rows: rows.to_vec() };
            written(&parts, &format!("part-{number}.{ending}"), &encoded(&part));
        }
        places.push(parts);
    }
    places
}

/// Reads all of a table and checks what holds of every reader; an empty cell counts as missing.
pub fn drained(mut reader: Box<dyn TableReader>, options: &ReadOptions) -> Result<Content, Error> {
    let columns = reader.columns().to_vec();
    assert!(!columns.is_empty());
    for (place, column) in columns.iter().enumerate() {
        assert!(!column.name.is_empty() && column.name.trim() == column.name, "{column:?}");
        assert!(columns[..place].iter().all(|other| other.name != column.name), "{column:?} stands there twice");
    }
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        assert_eq!(batch.num_columns(), columns.len());
        assert!((1..=options.batch_rows).contains(&batch.num_rows()), "{} rows", batch.num_rows());
        assert!(reader.is_typed() || batch.columns().iter().all(|column| *column.data_type() == DataType::Utf8));
        for row in 0..batch.num_rows() {
            let cell = |array: &ArrayRef| array.is_valid(row).then(|| array_value_to_string(array, row).unwrap());
            rows.push(batch.columns().iter().map(|array| cell(array).filter(|cell| !cell.is_empty())).collect());
        }
        assert_eq!(reader.report().rows, rows.len() as u64, "the report runs along");
    }
    assert!(reader.next_batch()?.is_none(), "after the end comes nothing");
    assert_eq!(reader.columns(), columns, "columns stay");
    Ok(Content { names: columns.into_iter().map(|column| column.name).collect(), rows })
}

#[test]
fn every_format_gives_the_same_table_in_batches_of_any_size() {
    let folder = tempfile::tempdir().unwrap();
    let table = towns(50);
    for (name, encoded, is_typed) in FORMATS {
        for path in placed(folder.path(), name, encoded, &table) {
            let name = path.file_name().unwrap().to_string_lossy();
            for batch_rows in [1, 7, 8_192] {
                let options = ReadOptions { batch_rows, ..ReadOptions::default() };
                let reader = open_path(&path, &options).unwrap();
                assert_eq!(reader.is_typed(), is_typed, "{name}");
                let found = drained(reader, &options).unwrap();
                assert_eq!(
                    (&found.names, &found.rows),
                    (&table.names, &table.rows),
                    "{name}, {batch_rows} rows a batch"
                );
            }
        }
    }
}

#[test]
fn columns_that_are_wanted_are_whole_and_others_may_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    let table = towns(50);
    let last = table.names.len() - 1;
    let choices = [vec![table.names[last].clone()], vec![table.names[0].clone(), "no such column".into()], Vec::new()];
    let all = FORMATS.into_iter().flat_map(|(name, encoded, _)| placed(folder.path(), name, encoded, &table));
    for path in all {
        let name = path.file_name().unwrap().to_string_lossy();
        for only in &choices {
            let options = ReadOptions { only: Some(only.clone().into()), ..ReadOptions::default() };
            let found = drained(open_path(&path, &options).unwrap(), &options).unwrap();
            assert_eq!((&found.names, found.rows.len()), (&table.names, 50), "{name}");
            for (found, row) in found.rows.iter().zip(&table.rows) {
                for (place, cell) in found.iter().enumerate() {
                    let may_be_empty = !only.contains(&table.names[place]);
                    assert!(*cell == row[place] || (may_be_empty && cell.is_none()), "{name}: {cell:?}");
                }
            }
            if name.ends_with(".parquet") && !only.is_empty() {
                let others = found.names.iter().enumerate().filter(|(_, name)| !only.contains(name));
                assert!(others.map(|(place, _)| place).all(|place| found.rows[7][place].is_none()), "{name}");
            }
        }
    }
}

#[test]
fn every_format_keeps_limits() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let all = |content: &dyn Fn(&str) -> Content| -> Vec<PathBuf> {
        FORMATS.iter().flat_map(|(name, encoded, _)| placed(place, name, *encoded, &content(name))).collect()
    };
    for path in all(&|_| towns(50)) {
        let name = path.file_name().unwrap().to_string_lossy();
        let options = ReadOptions { max_rows: Some(5), ..ReadOptions::default() };
        let mut reader = open_path(&path, &options).unwrap();
        let mut rows = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            rows += batch.num_rows();
        }
        let report = reader.report();
        // Of several files each has its share, so that a sample has the values of all paths.
        let expected = if path.is_dir() { 2 * 3 } else { 5 };
        assert_eq!((rows, report.rows), (expected, expected as u64), "{name}");
        assert!(report.count(RepairKind::RowLimit) > 0 && report.sample.is_some(), "{name}: {report:?}");
    }
    // SQLite has no more columns.
    let most = |name: &str| if name.ends_with(".sqlite") { 2_000 } else { 10_000 };
    for path in all(&|name| wide(most(name))) {
        let name = path.file_name().unwrap().to_string_lossy();
        let columns = most(&name);
        let found = drained(open_path(&path, &ReadOptions::default()).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!((found.names.len(), found.rows.len()), (columns, 3), "{name}");
        let last = format!("v2 {}", columns - 1);
        assert_eq!(found.rows[2][columns - 1].as_ref(), Some(&last), "{name}");
        let options = ReadOptions { max_columns: columns - 1, ..ReadOptions::default() };
        match open_path(&path, &options).err() {
            Some(Error::Unreadable { reason, .. }) => assert!(reason.contains("columns"), "{name}: {reason}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn every_format_refuses_a_file_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _, _) in FORMATS {
        let path = written(folder.path(), name, b"");
        match open_path(&path, &ReadOptions::default()).err() {
            Some(Error::Unreadable { path: named, reason }) => assert!(named == path && !reason.is_empty(), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// A damaged file gives rows or the error that names it. What a reader makes of it is another test's matter.
#[test]
fn every_format_survives_damage() {
    let folder = tempfile::tempdir().unwrap();
    let survives = |name: &str, bytes: &[u8], what: &str| {
        let path = written(folder.path(), name, bytes);
        let options = ReadOptions::default();
        let found = open_path(&path, &options).and_then(|reader| drained(reader, &options));
        match found {
            Ok(_) => {}
            Err(Error::Unreadable { path: named, reason }) => {
                assert!(named == path && !reason.is_empty(), "{name} {what}")
            }
            Err(other) => panic!("{name} {what}: {other:?}"),
        }
    };
    for (name, encoded, _) in FORMATS {
        let good = encoded(&towns(50));
        for length in (1..good.len()).step_by(1 + good.len() / 30) {
            survives(name, &good[..length], &format!("cut at {length}"));
        }
        for at in (0..good.len()).step_by(1 + good.len() / 150) {
            for change in [0x01, 0xFF] {
                let mut bad = good.clone();
                bad[at] ^= change;
                survives(name, &bad, &format!("byte {at} changed by {change}"));
            }
        }
    }
}

/// Who meets an ORC file with the usual program reads what to do.
#[test]
#[cfg(not(feature = "orc"))]
fn an_orc_file_asks_for_its_feature() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "t.orc", b"ORC");
    match open_path(&path, &ReadOptions::default()) {
        Err(Error::Unreadable { reason, .. }) => assert!(reason.contains("`--features orc`"), "{reason}"),
        _ => panic!("it was read"),
    }
}

/// The decoder would follow types that contain themselves without end; found by changing files at random.
#[test]
#[cfg(feature = "orc")]
fn an_orc_file_of_types_in_themselves_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // A struct whose field is the struct; then a field that stands nowhere, and one that is a part of two.
    for (types, expected) in [
        (&[&[18, 1, 0][..]][..], "no tree"),
        (&[&[18, 1, 7]], "no tree"),
        (&[&[18, 2, 1, 2], &[8, 12, 18, 1, 2], &[8, 3]], "no tree"),
    ] {
        let types: Vec<u8> =
            types.iter().flat_map(|kind| [&[8 * 4 + 2, kind.len() as u8 + 2, 8, 12], *kind].concat()).collect();
        let postscript = [8, types.len() as u8, 16, 0, 40, 0];
        let bytes = [b"ORC", &types[..], &postscript[..], &[postscript.len() as u8]].concat();
        match open_path(&written(folder.path(), "t.orc", &bytes), &ReadOptions::default()) {
            Err(Error::Unreadable { reason, .. }) => assert!(reason.contains(expected), "{reason}"),
            _ => panic!("it was read"),
        }
    }
}

/// The decoder would allocate what the postscript says of a block.
#[test]
#[cfg(feature = "orc")]
fn an_orc_file_of_blocks_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // Footer and metadata of no bytes, LZ4, blocks of 2^62 bytes.
    let postscript = [&[8, 0, 16, 4, 24][..], &[0x80; 8], &[0x40, 40, 0]].concat();
    let path = written(folder.path(), "t.orc", &[b"ORC", &postscript[..], &[postscript.len() as u8]].concat());
    match open_path(&path, &ReadOptions::default()) {
        Err(Error::Unreadable { reason, .. }) => assert!(reason.contains("blocks of 4611686018427387904"), "{reason}"),
        _ => panic!("it was read"),
    }
}

/// arrow-avro does not end where a block has more bytes than the rows that it announces; found by changing files at random.
#[test]
fn an_avro_block_of_more_bytes_than_rows_is_reported() {
    let schema = br#"{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}"#;
    let length = u8::try_from(schema.len() * 2).unwrap();
    let head = [&b"Obj\x01\x02\x16avro.schema"[..], &[0x80 | (length & 0x7f), length >> 7], schema, b"\0", &[7; 16]];
    let folder = tempfile::tempdir().unwrap();
    for (rows, ends_well) in [(2u8, true), (1, false), (0, false), (3, false)] {
        let block = [&[rows * 2, 4, 2, 4][..], &[7; 16]].concat();
        let path = written(folder.path(), "t.avro", &[head.concat(), block].concat());
        let found =
            open_path(&path, &ReadOptions::default()).and_then(|reader| drained(reader, &ReadOptions::default()));
        match found {
            Ok(table) => assert!(ends_well && table.rows.len() == 2, "{rows}"),
            Err(Error::Unreadable { reason, .. }) => {
                assert!(!ends_well && reason.contains("block"), "{rows}: {reason}")
            }
            Err(other) => panic!("{rows}: {other:?}"),
        }
    }
}
