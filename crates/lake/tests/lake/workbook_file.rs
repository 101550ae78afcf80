//! Writes workbooks for tests.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATED: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// A cell of a workbook.
pub enum Cell {
    Empty,
    Text(String),
    Number(f64),
    /// A number shown as a date.
    Date(f64),
    Error,
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// The bytes of a zip file.
pub fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// An `.xlsx` of the sheets with their names.
pub fn xlsx(sheets: &[(&str, Vec<Vec<Cell>>)]) -> Vec<u8> {
    let column = |at: usize| {
        let (mut at, mut name) = (at + 1, String::new());
        while at > 0 {
            name.insert(0, char::from(b'A' + ((at - 1) % 26) as u8));
            at = (at - 1) / 26;
        }
        name
    };
    let mut entries: Vec<(String, String)> = Vec::new();
    let (mut listed, mut related) = (String::new(), String::new());
    for (number, (name, rows)) in sheets.iter().enumerate() {
        let mut body = String::new();
        for (row, cells) in rows.iter().enumerate() {
            body += &format!("<row r=\"{}\">", row + 1);
            for (at, cell) in cells.iter().enumerate() {
                let place = format!("{}{}", column(at), row + 1);
                body += &match cell {
                    Cell::Empty => String::new(),
                    Cell::Text(text) => {
                        format!(
                            "<c r=\"{place}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>",
                            escaped(text)
                        )
                    }
                    Cell::Number(number) => format!("<c r=\"{place}\"><v>{number}</v></c>"),
                    Cell::Date(number) => format!("<c r=\"{place}\" s=\"1\"><v>{number}</v></c>"),
                    Cell::Error => format!("<c r=\"{place}\" t=\"e\"><v>#DIV/0!</v></c>"),
                };
            }
            body += "</row>";
        }
        let number = number + 1;
        entries.push((
            format!("xl/worksheets/sheet{number}.xml"),
            format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{body}</sheetData></worksheet>"),
        ));
        listed += &format!("<sheet name=\"{}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>", escaped(name));
        related += &format!(
            "<Relationship Id=\"rId{number}\" Type=\"{RELATED}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        );
    }
    entries.push((
        "xl/workbook.xml".into(),
        format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATED}\"><sheets>{listed}</sheets></workbook>"),
    ));
    entries.push(("xl/_rels/workbook.xml.rels".into(), format!("<Relationships xmlns=\"{PACKAGE}\">{related}<Relationship Id=\"rIdS\" Type=\"{RELATED}/styles\" Target=\"styles.xml\"/></Relationships>")));
    entries.push((
        "xl/styles.xml".into(),
        format!(
            "<styleSheet xmlns=\"{MAIN}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
        ),
    ));
    entries.push(("_rels/.rels".into(), format!("<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"r\" Type=\"{RELATED}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>")));
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    zipped(&entries)
}

/// An `.xlsb` of one sheet of texts.
pub fn xlsb(name: &str, rows: &[Vec<Option<&str>>]) -> Vec<u8> {
    fn record(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Seven bits a byte, of the kind and of the length.
        for mut number in [usize::from(kind), body.len()] {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        bytes.extend(body);
        bytes
    }
    fn wide(text: &str) -> Vec<u8> {
        let units: Vec<u16> = text.encode_utf16().collect();
        (units.len() as u32).to_le_bytes().into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
    }
    let columns = rows.first().map_or(0, Vec::len) as u32;
    let corners = [0, rows.len() as u32 - 1, 0, columns - 1].map(u32::to_le_bytes).concat();
    let mut sheet = [record(0x81, &[]), record(0x94, &corners), record(0x91, &[])].concat();
    for (row, cells) in rows.iter().enumerate() {
        sheet.extend(record(0x00, &(row as u32).to_le_bytes()));
        for (column, text) in cells.iter().enumerate().filter_map(|(column, cell)| Some((column, (*cell)?))) {
            sheet.extend(record(0x06, &[&(column as u32).to_le_bytes()[..], &[0; 4], &wide(text)].concat()));
        }
    }
    sheet.extend([record(0x92, &[]), record(0x82, &[])].concat());
    let listed = [&0u32.to_le_bytes()[..], &1u32.to_le_bytes(), &wide("rId1"), &wide(name)].concat();
    let book = [(0x83, &[][..]), (0x8f, &[]), (0x9c, &listed), (0x90, &[]), (0x84, &[])];
    let book = book.map(|(kind, body)| record(kind, body)).concat();
    let related = format!(
        "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"rId1\" Type=\"{RELATED}/worksheet\" Target=\"worksheets/sheet1.bin\"/></Relationships>"
    );
    zipped(&[
        ("xl/workbook.bin", &book),
        ("xl/_rels/workbook.bin.rels", related.as_bytes()),
        ("xl/worksheets/sheet1.bin", &sheet),
    ])
}
