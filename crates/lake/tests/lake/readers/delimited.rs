//! Delimited text: dialects, titles, headers, encodings, ragged rows, limits.

use super::*;

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
