//! Rows written in JSON.

use super::*;

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
