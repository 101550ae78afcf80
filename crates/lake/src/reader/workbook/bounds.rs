//! What a workbook may take in memory, found before calamine opens it.
//!
//! A workbook of 40 KB can unpack to gigabytes, and declare cells in the corners of a sheet of 17 thousand million. The entries
//! of a zip are unpacked to nothing and counted, whatever sizes it declares; the repeated cells of `.ods` are counted, since
//! calamine writes each of them out; so are the cells between the first and the last of each sheet of an `.xls`, for which it
//! takes memory at once. `.xlsx` and `.xlsb` are read cell by cell.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufReader, Read};
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use crate::reader::parquet::open_regular;
use crate::reader::typed::guarded;
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};

/// Bytes of all entries unpacked.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes that a byte unpacks to, where more than [`MOST_HELD_BYTES`] are unpacked: sheets have some tens, what is made to take time a thousand.
const MOST_RATIO: u64 = 100;
/// Bytes unpacked of an entry that is held in memory whole: all but the sheets of `.xlsx` and `.xlsb`.
const MOST_HELD_BYTES: u64 = 512 << 20;
/// Bytes of an `.xls`, which is held in memory whole.
const MOST_XLS_BYTES: u64 = 512 << 20;
/// Cells of a workbook that is held in memory whole; 32 bytes each.
const MOST_CELLS: u64 = 20_000_000;
const MOST_ENTRIES: usize = 50_000;
/// Bytes of the list of an `.ods`' parts that are looked at.
const MOST_LIST_BYTES: u64 = 1 << 20;

/// Which program's format a workbook has, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

/// The format of the workbook at `path`.
///
/// # Errors
/// [`Error::Unreadable`] where it is no workbook, protected by a password, or too large.
pub(super) fn check(path: &Path) -> Result<Kind> {
    let mut file = open_regular(path)?;
    let mut magic = Vec::new();
    (&mut file).take(8).read_to_end(&mut magic).map_err(|source| Error::io("read", path, source))?;
    let found = match magic.as_slice() {
        [] => Err("empty file".into()),
        [b'P', b'K', 3 | 5, ..] => guarded(|| check_zip(path)).and_then(|kind| kind),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] => guarded(|| check_compound(path)).and_then(|kind| kind),
        _ => Err("no workbook, whatever its name says".into()),
    };
    found.map_err(|reason| Error::unreadable(path, reason))
}

fn opened(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|error| error.to_string())
}

fn check_zip(path: &Path) -> Result<Kind, String> {
    let damaged = |error: zip::result::ZipError| format!("damaged workbook: {error}");
    let mut archive = ZipArchive::new(opened(path)?).map_err(damaged)?;
    if archive.len() > MOST_ENTRIES {
        return Err(format!("{} entries, more than the limit of {MOST_ENTRIES}", archive.len()));
    }
    let names: Vec<String> = archive.file_names().map(str::to_lowercase).collect();
    let has = |name: &str| names.iter().any(|entry| entry == name);
    let kind = match () {
        () if has("xl/workbook.bin") => Kind::Xlsb,
        () if names.iter().any(|name| name.ends_with("workbook.xml")) => Kind::Xlsx,
        () if has("content.xml") => Kind::Ods,
        () => return Err("a zip file without a workbook".into()),
    };
    if kind == Kind::Ods && is_locked(&mut archive) {
        return Err("it is protected by a password".into());
    }
    let packed_bytes = storage::metadata(path).map_or(0, |meta| meta.len());
    let most_bytes = packed_bytes.saturating_mul(MOST_RATIO).clamp(MOST_HELD_BYTES, MOST_BYTES);
    let mut all_bytes = 0;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(|error| {
            if error.to_string().to_lowercase().contains("password") {
                return "it is protected by a password".to_string();
            }
            damaged(error)
        })?;
        let name = entry.name().to_lowercase();
        let is_streamed = kind != Kind::Ods && name.contains("worksheets/");
        let most = if is_streamed { most_bytes } else { MOST_HELD_BYTES };
        let mut bounded = (&mut entry).take(most.min(most_bytes - all_bytes) + 1);
        let bytes = if kind == Kind::Ods && name == "content.xml" {
            let mut counted = Counted { input: bounded, bytes: 0 };
            let cells = ods_cells(BufReader::new(&mut counted))?;
            if cells > MOST_CELLS {
                return Err(format!("{cells} cells, more than the limit of {MOST_CELLS}"));
            }
            counted.bytes
        } else {
            // A broken entry is calamine's to report, if it needs it.
            std::io::copy(&mut bounded, &mut std::io::sink()).unwrap_or(0)
        };
        all_bytes += bytes;
        if bytes > most || all_bytes > most_bytes {
            let limit = if bytes > most { most } else { most_bytes } >> 20;
            return Err(format!("`{name}` unpacks to more than {limit} MB"));
        }
    }
    Ok(kind)
}

/// Whether the parts of an `.ods` are encrypted: its list of them says how.
fn is_locked(archive: &mut ZipArchive<BufReader<File>>) -> bool {
    let mut list = Vec::new();
    let read = archive.by_name("META-INF/manifest.xml").map(|entry| entry.take(MOST_LIST_BYTES).read_to_end(&mut list));
    read.is_ok() && memchr::memmem::find(&list, b"encryption-data").is_some()
}

struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// The cells that calamine makes of the tables in `content.xml`.
fn ods_cells(content: impl std::io::BufRead) -> Result<u64, String> {
    let mut reader = quick_xml::Reader::from_reader(content);
    let mut buffer = Vec::new();
    let (mut cells, mut row_cells, mut pending, mut row_times) = (0u64, 0u64, 0u64, 1u64);
    let mut end_row = |row_cells: &mut u64, pending: &mut u64, times: u64| {
        cells = cells.saturating_add(row_cells.saturating_mul(times));
        (*row_cells, *pending) = (0, 0);
        cells
    };
    loop {
        let event = reader.read_event_into(&mut buffer).map_err(|error| format!("damaged workbook: {error}"))?;
        let is_empty = matches!(event, Event::Empty(_));
        match &event {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                b"table-row" => row_times = repeats(tag, "number-rows-repeated"),
                b"table-cell" | b"covered-table-cell" => {
                    pending = pending.saturating_add(repeats(tag, "number-columns-repeated"));
                    // Blank cells at the end of a row are left out.
                    let has_value = !is_empty
                        || tag.attributes().flatten().any(|one| one.key.local_name().as_ref() == b"value-type");
                    if has_value {
                        row_cells = row_cells.saturating_add(std::mem::take(&mut pending));
                    }
                }
                _ => {}
            },
            Event::End(tag) if tag.local_name().as_ref() == b"table-row" => {
                let times = if row_cells > 0 { row_times } else { 0 };
                if end_row(&mut row_cells, &mut pending, times) > MOST_CELLS {
                    break;
                }
            }
            Event::Eof => break,
            _ => {}
        }
        buffer.clear();
    }
    Ok(end_row(&mut row_cells, &mut pending, 1))
}

fn repeats(tag: &BytesStart<'_>, name: &str) -> u64 {
    let found = tag.attributes().flatten().find(|one| one.key.local_name().as_ref() == name.as_bytes());
    found.and_then(|one| std::str::from_utf8(&one.value).ok()?.parse().ok()).unwrap_or(1)
}

fn check_compound(path: &Path) -> Result<Kind, String> {
    let damaged = |error: std::io::Error| format!("damaged workbook: {error}");
    check_tables(path)?;
    let mut compound = cfb::CompoundFile::open(opened(path)?).map_err(damaged)?;
    if compound.exists("/EncryptedPackage") {
        return Err("it is protected by a password".into());
    }
    let stream = ["/Workbook", "/Book", "/WORKBOOK", "/BOOK"].into_iter().find(|name| compound.exists(name));
    let stream = stream.ok_or_else(|| "a compound file without a workbook".to_string())?;
    let mut stream = compound.open_stream(stream).map_err(damaged)?;
    if stream.len() > MOST_XLS_BYTES {
        return Err(format!("a workbook of more than {} MB", MOST_XLS_BYTES >> 20));
    }
    let mut records = Vec::new();
    stream.read_to_end(&mut records).map_err(damaged)?;
    let cells = xls_cells(&records)?;
    if cells > MOST_CELLS {
        return Err(format!("its sheets span {cells} cells, more than the limit of {MOST_CELLS}"));
    }
    Ok(Kind::Xls)
}

/// Checks the sizes of tables of sectors that the head of a compound file tells: calamine takes memory for them at once, for one of
/// them from the wrong place.
fn check_tables(path: &Path) -> Result<(), String> {
    /// Of four bytes each: far more than any workbook has.
    const MOST_SECTORS: u32 = 1 << 26;
    let mut head = [0; 68];
    let mut file = opened(path)?;
    file.read_exact(&mut head).map_err(|error| format!("damaged workbook: {error}"))?;
    let sectors = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    match [44, 62, 64].into_iter().all(|at| sectors(at) <= MOST_SECTORS) {
        true => Ok(()),
        false => Err("damaged workbook: tables of more sectors than a workbook has".into()),
    }
}

/// The cells between the first and the last cell of each sheet, over all sheets; records as in [MS-XLS] 2.3. Of a sheet that tells more than it
/// has, what it tells: calamine takes memory for that, too. Sheets are read where the workbook says that they begin, as calamine does, and
/// from first to last.
fn xls_cells(stream: &[u8]) -> Result<u64, String> {
    const SHEET: u16 = 0x0085;
    let mut spans = Spans::default();
    spans.extend(stream, false);
    let begins: BTreeSet<usize> = records(stream)
        .filter(|(kind, body)| *kind == SHEET && body.len() >= 4)
        .map(|(_, body)| u32::from_le_bytes([body[0], body[1], body[2], body[3]]) as usize)
        .collect();
    let (mut begun, mut walked) = (Spans::default(), 0);
    for sheet in begins.into_iter().filter_map(|begin| stream.get(begin..)) {
        walked += begun.extend(sheet, true);
        if walked > stream.len() {
            return Err("damaged workbook: its sheets lie in each other".into());
        }
    }
    Ok(spans.cells().max(begun.cells()))
}

/// The records of a stream, each with its kind; a last one that is cut as far as it goes.
fn records(mut stream: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = stream.split_first_chunk::<4>()?;
        let length = usize::from(u16::from_le_bytes([head[2], head[3]])).min(rest.len());
        let (body, after) = rest.split_at(length);
        stream = after;
        Some((u16::from_le_bytes([head[0], head[1]]), body))
    })
}

/// The first and last rows and columns of sheets, and the most cells that one of them tells.
#[derive(Default)]
struct Spans {
    sheets: HashMap<usize, [u64; 4]>,
    sheet: usize,
    most_cells: u64,
}

impl Spans {
    /// Adds the sheets of a stream, or its first one; returns the bytes that were read.
    fn extend(&mut self, stream: &[u8], first: bool) -> usize {
        const BEGIN_OF_SHEET: u16 = 0x0809;
        const END_OF_SHEET: u16 = 0x000a;
        /// FORMULA, BLANK, NUMBER, LABEL, BOOLERR, RK, MULRK, MULBLANK, RSTRING, LABELSST.
        const CELLS: [u16; 10] = [0x0006, 0x0201, 0x0203, 0x0204, 0x0205, 0x027e, 0x00bd, 0x00be, 0x00d6, 0x00fd];
        const MULTIPLE: u16 = 0x00bd;
        const DIMENSIONS: u16 = 0x0200;
        self.sheet += 1;
        let mut read = 0;
        for (kind, body) in records(stream) {
            read += 4 + body.len();
            if kind == BEGIN_OF_SHEET && !first {
                self.sheet += 1;
            }
            let number =
                |at: usize| body.get(at..at + 2).map_or(0, |bytes| u64::from(u16::from_le_bytes([bytes[0], bytes[1]])));
            if kind == DIMENSIONS {
                let wide = |at: usize| number(at) | number(at + 2) << 16;
                let (rows, columns) = match body.len() {
                    10 => ([number(0), number(2)], [number(4), number(6)]),
                    _ => ([wide(0), wide(4)], [number(8), number(10)]),
                };
                // What ends before it begins is taken for as many as there are numbers; columns are counted from the first one of all.
                let count = |[first, end]: [u64; 2]| if end < first { u64::from(u32::MAX) } else { end - first };
                let cells = if rows[1] == 0 { 0 } else { count(rows).saturating_mul(columns[1]) };
                self.most_cells = self.most_cells.max(cells);
            }
            if CELLS.contains(&kind) && body.len() >= 4 {
                let (row, column) = (number(0), number(2));
                let last = if kind == MULTIPLE { column.max(number(body.len() - 2)) } else { column };
                let span = self.sheets.entry(self.sheet).or_insert([row, row, column, last]);
                *span = [span[0].min(row), span[1].max(row), span[2].min(column), span[3].max(last)];
            }
            if first && kind == END_OF_SHEET {
                break;
            }
        }
        read
    }

    fn cells(&self) -> u64 {
        let of = |[top, bottom, left, right]: &[u64; 4]| (bottom - top + 1).saturating_mul(right - left + 1);
        self.sheets.values().map(of).fold(0, u64::saturating_add).max(self.most_cells)
    }
}
