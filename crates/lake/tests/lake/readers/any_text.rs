//! Any table in any encoding comes back as it was written.

use super::*;

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

// Measurements on real lakes: `LAKEWARD_BENCH=dir cargo test --release --workspace --locked --test lake -- readers:: --ignored --nocapture`
