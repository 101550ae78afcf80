//! Files of Avro with types that have no counterpart in a table: what is read as text, what is left out, and what is said of it.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use arrow::datatypes::DataType;
use lakeward_lake::reader::{ReadOptions, RepairKind, open_path};
use serde_json::{Value, json};

use crate::holders::{Found, read};

/// A number or length as Avro writes it.
fn number(number: i64) -> Vec<u8> {
    let (mut rest, mut bytes) = (((number << 1) ^ (number >> 63)) as u64, Vec::new());
    while rest > 0x7f {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [number(text.len() as i64), text.as_bytes().to_vec()].concat()
}

/// Writes a table of a number, a value of type `kind` and a word, with one row for each of `values`; reads it.
fn table(folder: &Path, kind: Value, values: &[Vec<u8>]) -> Found {
    let field = |name: &str, kind: Value| json!({"name": name, "type": kind});
    let fields = [field("n", "long".into()), field("value", kind), field("word", "string".into())];
    let schema = json!({"type": "record", "name": "row", "fields": fields}).to_string();
    let rows = values.iter().enumerate().map(|(at, value)| [number(at as i64), value.clone(), text("end")].concat());
    let rows: Vec<u8> = rows.collect::<Vec<_>>().concat();
    let head = [b"Obj\x01".to_vec(), number(1), text("avro.schema"), text(&schema), number(0), vec![7; 16]].concat();
    let block = [number(values.len() as i64), number(rows.len() as i64), rows, vec![7; 16]].concat();
    fs::write(folder.join("t.avro"), [head, block].concat()).unwrap();
    let found = read(&folder.join("t.avro"));
    assert!(found.report.repair(RepairKind::DamagedData).is_none(), "{:?}", found.report.repairs);
    let all_there =
        found.rows.iter().enumerate().all(|(at, row)| row[0] == at.to_string() && row.last().unwrap() == "end");
    assert!(all_there && found.rows.len() == values.len(), "{:?}", found.rows);
    found
}

#[test]
fn values_of_several_types_are_what_all_of_them_are_or_text() {
    let folder = tempfile::tempdir().unwrap();
    let of = |kind: i64, value: Vec<u8>| [number(kind), value].concat();
    let double = |value: f64| value.to_le_bytes().to_vec();
    let point = json!({"type": "record", "name": "point", "fields": [{"name": "x", "type": ["int", "string"]}]});
    for (kind, values, expected, declared) in [
        (
            json!(["null", "int", "string"]),
            vec![of(0, vec![]), of(1, number(-3)), of(2, text("many"))],
            vec!["", "-3", "many"],
            DataType::Utf8,
        ),
        (json!(["string"]), vec![of(0, text("a"))], vec!["a"], DataType::Utf8),
        (
            json!(["int", "long"]),
            vec![of(0, number(1)), of(1, number(1 << 40))],
            vec!["1", "1099511627776"],
            DataType::Int64,
        ),
        (json!(["long", "double"]), vec![of(0, number(2)), of(1, double(1.5))], vec!["2", "1.5"], DataType::Utf8),
        (
            json!({"type": "map", "values": ["null", "string", "long"]}),
            vec![[number(2), text("a"), of(1, text("x")), text("b"), of(0, vec![]), number(0)].concat()],
            vec![r#"{"a":"x"}"#],
            DataType::Utf8,
        ),
        (
            json!(["null", "string", point]),
            vec![of(1, text("none")), of(2, of(0, number(4))), of(2, of(1, text("far")))],
            vec!["none", r#"{"x":4}"#, r#"{"x":"far"}"#],
            DataType::Utf8,
        ),
        (
            json!({"type": "string", "logicalType": "uuid"}),
            vec![text("861c7d6e-a9b3-4131-aa6c-b34000000001"), text("none")],
            vec!["861c7d6e-a9b3-4131-aa6c-b34000000001", "none"],
            DataType::Utf8,
        ),
    ] {
        let found = table(folder.path(), kind.clone(), &values);
        assert_eq!(found.rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), expected, "{kind}");
        let types =
            open_path(&folder.path().join("t.avro"), &ReadOptions::default()).unwrap().declared_types().unwrap();
        assert_eq!(types.field(1).data_type(), &declared, "{kind}");
    }
}

#[test]
fn what_cannot_be_read_is_named_and_its_neighbours_are_read() {
    let folder = tempfile::tempdir().unwrap();
    // A list: each value with what follows it.
    let tree = json!({"type": "record", "name": "tree", "namespace": "a.b", "fields": [
        {"name": "v", "type": "int"}, {"name": "next", "type": ["null", "tree"]}, {"name": "w", "type": "string"}]});
    let (leaf, end) = ([number(2), number(0), text("b")].concat(), text("a"));
    let found = table(
        folder.path(),
        json!(["null", tree]),
        &[number(0), [number(1), number(1), number(1), leaf, end].concat()],
    );
    assert_eq!(found.names, ["n", "value", "word"]);
    assert_eq!([&found.rows[0][1], &found.rows[1][1]], ["", r#"{"v":1,"w":"a"}"#]);
    let said = found.report.repair(RepairKind::UnreadableColumns).unwrap().to_string();
    assert_eq!(said, "1 column cannot be read and left out: value.next");

    let empty = json!({"type": "record", "name": "empty", "fields": []});
    let found = table(folder.path(), json!({"type": "array", "items": empty}), &[[number(3), number(0)].concat()]);
    assert_eq!(found.names, ["n", "word"]);
    let said = found.report.repair(RepairKind::UnreadableColumns).unwrap().to_string();
    assert_eq!(said, "1 column cannot be read and left out: value");
}

#[test]
fn a_file_that_breaks_off_says_so() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path(), json!("int"), &[number(1), number(2)]);
    let bytes = fs::read(folder.path().join("t.avro")).unwrap();
    // After the block the beginning of another: a row of 100 bytes, of which there are two.
    let again = [bytes.clone(), number(1), number(100), vec![1, 2]].concat();
    for (cut, rows) in [(&bytes[..bytes.len() - 20], 0), (&again[..], 2)] {
        fs::write(folder.path().join("t.avro"), cut).unwrap();
        let found = read(&folder.path().join("t.avro"));
        assert_eq!(found.rows.len(), rows);
        let said = found.report.repair(RepairKind::DamagedData).unwrap().to_string();
        assert!(said.contains("the file breaks off"), "{said}");
    }
}
