//! Finds out how a delimited text is written: delimiter, quotes, lines above the table, header.
//!
//! Every candidate delimiter cuts the first rows; the one that gives the same number of cells most often, without leaving
//! other likely delimiters inside the cells, wins. Lines above the first full row are the preamble. The first full row is
//! the header unless it is plainly data: when in doubt there is a header.

use super::kind::{CellKind, is_year};
use super::split::{Found, Span, Splitter};

/// Rows looked at.
const SAMPLE_ROWS: usize = 128;
/// Bytes looked at, as long as they hold some rows.
const SAMPLE_BYTES: usize = 1 << 16;
/// Lines above the table at most.
const PREAMBLE_LINES: usize = 60;
/// Candidates, strongest evidence first.
const DELIMITERS: [u8; 7] = [b'\t', b'|', b';', b',', b':', b'~', b' '];
/// Share of rows that must agree on the number of cells.
const LEAST_AGREEMENT: f64 = 0.5;

/// How a delimited text is written, and where its table begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sniffed {
    pub(super) delimiter: Option<u8>,
    pub(super) quote: Option<u8>,
    pub(super) backslash: bool,
    pub(super) header: bool,
    /// Byte offset of the header (or first row) in the sample.
    pub(super) table_start: usize,
    /// Whether the header is a comment whose `#` is not part of the first name.
    pub(super) hash_header: bool,
    /// Number of cells of the sampled rows after the header, and how many of them are not empty.
    pub(super) widths: Vec<RowWidth>,
}

/// Cells of one sampled row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowWidth {
    pub(super) cells: usize,
    /// Cells up to the last that is not empty.
    pub(super) used: usize,
}

/// What the caller knows already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) delimiter: Option<u8>,
    pub(super) header: Option<bool>,
}

struct Row<'a> {
    cells: Vec<&'a str>,
    start: usize,
}

/// Whether `window` holds enough complete rows to sniff on, or is all there is.
pub(super) fn is_enough(window: &[u8], at_end: bool) -> bool {
    const LEAST_LINES: usize = 4;
    at_end || memchr::memchr2_iter(b'\n', b'\r', window).take(LEAST_LINES).count() == LEAST_LINES
}

/// Sniffs the head of a text.
pub(super) fn sniff(window: &[u8], at_end: bool, known: Known) -> Sniffed {
    let (sample, whole) = sample(window, at_end);
    let (lead, hint) = separator_line(sample);
    let comments = lead + comment_lines(&sample[lead..]);
    let body = &sample[comments..];
    let quote = quote_of(body);
    let backslash = uses_backslash(body);
    let delimiter = known.delimiter.or(hint).or_else(|| vote(body, whole, quote, backslash));
    let mut splitter = Splitter::new(delimiter, quote, backslash);
    let rows = cut(&mut splitter, body, whole, SAMPLE_ROWS);
    let usual = usual_cells(&rows);
    let top = preamble_rows(&rows, usual);
    let mut table_start = comments + rows.get(top).map_or(0, |row| row.start);
    let mut hash_header = false;
    let mut rows = &rows[top.min(rows.len())..];
    let commented = (top == 0 && comments > lead).then(|| last_line(&sample[lead..comments]));
    let mut header = None;
    if let Some((offset, line)) = commented
        && usual >= 2
        && delimiter.is_some_and(|delimiter| memchr::memchr_iter(delimiter, line).count() + 1 == usual)
    {
        (table_start, hash_header, header) = (lead + offset, true, Some(true));
    } else if let (Some(row), 0, true) = (rows.first(), comments, usual >= 2) {
        hash_header = row.cells.first().is_some_and(|cell| cell.starts_with("# "));
    }
    let header = known.header.or(header).unwrap_or_else(|| has_header(rows));
    if header && !(hash_header && comments > lead) {
        rows = rows.get(1..).unwrap_or_default();
    }
    Sniffed { delimiter, quote, backslash, header, table_start, hash_header, widths: rows.iter().map(width).collect() }
}

fn width(row: &Row) -> RowWidth {
    let used = row.cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1);
    RowWidth { cells: row.cells.len(), used }
}

/// The part of the window to sniff on, ending with a whole line where there is one; whether the text ends with it.
fn sample(window: &[u8], at_end: bool) -> (&[u8], bool) {
    if at_end && window.len() <= SAMPLE_BYTES {
        return (window, true);
    }
    let mut end = window.len().min(SAMPLE_BYTES);
    while !is_enough(&window[..end], false) && end < window.len() {
        end = (end * 2).min(window.len());
    }
    if at_end && end == window.len() {
        return (window, true);
    }
    let cut = memchr::memrchr2(b'\n', b'\r', &window[..end]).map_or(end, |at| at + 1);
    (&window[..cut], false)
}

/// Excel's first line `sep=;`: its length and the delimiter it names.
fn separator_line(sample: &[u8]) -> (usize, Option<u8>) {
    let Some(rest) = sample.strip_prefix(b"sep=").or_else(|| sample.strip_prefix(b"SEP=")) else { return (0, None) };
    match rest {
        [delimiter, b'\r', b'\n', ..] => (7, Some(*delimiter)),
        [delimiter, b'\n' | b'\r', ..] => (6, Some(*delimiter)),
        _ => (0, None),
    }
}

/// Length of the lines at the start that begin with `#`, as long as another line follows them.
fn comment_lines(sample: &[u8]) -> usize {
    let mut at = 0;
    while sample[at..].starts_with(b"#") {
        let Some(end) = memchr::memchr2(b'\n', b'\r', &sample[at..]) else { return 0 };
        let two = sample[at + end..].starts_with(b"\r\n");
        at += end + 1 + usize::from(two);
    }
    // One such line may as well be the header of the rows below: `#id,name`.
    if at < sample.len() { at } else { 0 }
}

/// The last line of `lines` (all of which end in a line end), and its offset.
fn last_line(lines: &[u8]) -> (usize, &[u8]) {
    let trimmed = lines.trim_ascii_end();
    let offset = memchr::memrchr2(b'\n', b'\r', trimmed).map_or(0, |at| at + 1);
    (offset, &trimmed[offset..])
}

/// `'` quotes cells only where `"` never occurs and cells both begin and end with it.
fn quote_of(sample: &[u8]) -> Option<u8> {
    const DOUBLE: u8 = b'"';
    const SINGLE: u8 = b'\'';
    if memchr::memchr(DOUBLE, sample).is_some() || !sample.contains(&SINGLE) {
        return Some(DOUBLE);
    }
    let is_edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r') || DELIMITERS[..5].contains(byte));
    let (mut opening, mut closing, mut inner) = (0, 0, 0);
    for at in memchr::memchr_iter(SINGLE, sample) {
        let before = is_edge(at.checked_sub(1).and_then(|at| sample.get(at)));
        let after = is_edge(sample.get(at + 1));
        opening += u32::from(before);
        closing += u32::from(after);
        inner += u32::from(!before && !after);
    }
    Some(if opening >= 2 && opening == closing && inner <= opening { SINGLE } else { DOUBLE })
}

fn uses_backslash(sample: &[u8]) -> bool {
    let escapes = memchr::memmem::find_iter(sample, b"\\\"").take(100).count();
    let closing =
        memchr::memmem::find_iter(sample, b"\\\",").chain(memchr::memmem::find_iter(sample, b"\\\"\n")).count();
    escapes > closing && memchr::memmem::find(sample, b"\"\"\"").is_none()
}

fn vote(body: &[u8], whole: bool, quote: Option<u8>, backslash: bool) -> Option<u8> {
    let mut best: Option<(u8, f64)> = None;
    for delimiter in DELIMITERS {
        if memchr::memchr(delimiter, body).is_none() {
            continue;
        }
        let mut splitter = Splitter::new(Some(delimiter), quote, backslash);
        let rows = cut(&mut splitter, body, whole, SAMPLE_ROWS);
        if let Some(score) = score(delimiter, &rows)
            && best.is_none_or(|(_, best)| score > best + 1e-9)
        {
            best = Some((delimiter, score));
        }
    }
    best.map(|(delimiter, _)| delimiter)
}

/// How well rows cut at `delimiter` agree: 0 to 1, `None` when they do not.
fn score(delimiter: u8, rows: &[Row]) -> Option<f64> {
    let cells = usual_cells(rows);
    if cells < 2 {
        return None;
    }
    let is_usual = |row: &&Row| row.cells.len() == cells;
    let first = rows.iter().take(PREAMBLE_LINES).position(|row| row.cells.len() == cells)?;
    let table = &rows[first..];
    let agreeing = table.iter().filter(is_usual).count();
    let agreement = agreeing as f64 / table.len() as f64;
    let is_weak = matches!(delimiter, b':' | b'~' | b' ');
    let least = if is_weak { 1.0 } else { LEAST_AGREEMENT };
    if agreement < least || (is_weak && (table.len() < 3 || first > 0)) || (delimiter == b' ' && cells < 3) {
        return None;
    }
    if delimiter != b'\t' && is_prose(delimiter, table, first) {
        return None;
    }
    let stronger: Vec<char> = DELIMITERS.iter().take_while(|&&other| other != delimiter).map(|&b| b as char).collect();
    let looked_at: Vec<&&str> = table.iter().flat_map(|row| &row.cells).take(4096).collect();
    let dirty = looked_at.iter().filter(|cell| cell.contains(&stronger[..])).count();
    let clean = 1.0 - dirty as f64 / looked_at.len().max(1) as f64;
    let above = 1.0 - 0.3 * first as f64 / rows.len() as f64;
    let strength = if is_weak { 0.5 } else { 1.0 };
    Some(agreement * clean * above * strength * (1.0 - 0.5 / cells as f64))
}

/// `Smith, John` below a header without a comma: a delimiter that a blank always follows separates words, not cells.
fn is_prose(delimiter: u8, table: &[Row], lines_above: usize) -> bool {
    if delimiter == b' ' || lines_above == 0 {
        return false;
    }
    table.iter().all(|row| row.cells.iter().skip(1).all(|cell| cell.starts_with(' ')))
}

fn cut<'a>(splitter: &mut Splitter, body: &'a [u8], whole: bool, limit: usize) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut spans: Vec<Span> = Vec::new();
    let mut at = 0;
    while rows.len() < limit {
        // What follows the sample is unknown; its last record counts only when it is the first.
        let at_end = whole || rows.is_empty();
        let Found::Record { next, .. } = splitter.record(&body[at..], at_end, &mut spans) else { break };
        let text = |span: &Span| std::str::from_utf8(&body[at + span.start..at + span.end]).unwrap_or_default();
        if !is_blank_record(&spans, &body[at..]) {
            rows.push(Row { cells: spans.iter().map(text).collect(), start: at });
        }
        at += next;
    }
    rows
}

/// Whether the record is an empty line, or one of blanks only.
pub(super) fn is_blank_record(spans: &[Span], window: &[u8]) -> bool {
    match spans {
        [span] => {
            let is_bare = span.start == 0 && !span.quoted;
            is_bare && window[span.start..span.end].iter().all(|byte| byte.is_ascii_whitespace())
        }
        _ => false,
    }
}

/// The most frequent number of cells, two or more before one; 0 for no rows.
fn usual_cells(rows: &[Row]) -> usize {
    let mut counts: Vec<usize> = rows.iter().map(|row| row.cells.len()).collect();
    counts.sort_unstable();
    let mut best = (0, 0);
    for group in counts.chunk_by(|a, b| a == b) {
        // A preamble may be longer than the table.
        let weight = if group[0] == 1 { group.len() / 4 } else { group.len() };
        if (weight, group[0]) > best {
            best = (weight, group[0]);
        }
    }
    best.1.max(counts.first().copied().unwrap_or(0).min(1))
}

/// How many rows stand above the table: titles and notes have few cells where the table's rows have many.
fn preamble_rows(rows: &[Row], usual: usize) -> usize {
    if usual < 2 {
        return 0;
    }
    let filled = |row: &Row| row.cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let mut body: Vec<usize> = rows.iter().filter(|row| row.cells.len() == usual).map(filled).collect();
    body.sort_unstable();
    let typical = body.get(body.len() / 2).copied().unwrap_or(0);
    let is_title = |row: &Row| {
        let few = if row.cells.len() >= usual { typical / 3 } else { (usual / 3).max(1) };
        let is_padded = row.cells.len() >= usual && typical >= 4;
        filled(row) <= few && (row.cells.len() < usual || is_padded)
    };
    let above = rows.iter().take(PREAMBLE_LINES).take_while(|row| is_title(row)).count();
    if above < rows.len() { above } else { 0 }
}

fn has_header(rows: &[Row]) -> bool {
    let Some((first, body)) = rows.split_first() else { return true };
    let first: Vec<&str> = first.cells.iter().map(|cell| strip_quotes(cell)).collect();
    let kinds: Vec<CellKind> = first.iter().map(|cell| CellKind::of(cell)).collect();
    let typed: Vec<usize> = (0..first.len()).filter(|&at| kinds[at].is_typed()).collect();
    if typed.is_empty() {
        return !repeats_below(&first, body);
    }
    if counts_up(&typed.iter().map(|&at| first[at]).collect::<Vec<_>>()) {
        return true;
    }
    let filled = kinds.iter().filter(|&&kind| kind != CellKind::Empty).count();
    let all_years = typed.iter().all(|&at| is_year(first[at]));
    if all_years {
        // `country,2019,2020` is a header; a lone year under which years stand is data.
        let years_below = typed.iter().all(|&at| share(body, at, is_year) >= 0.8);
        return !(years_below && typed.len() == 1 && !body.is_empty());
    }
    if typed.len() == filled {
        return false;
    }
    // Some cells are numbers: data, if they stand over numbers and no other number column has a name on top.
    let agreeing = typed.iter().filter(|&&at| body_is(body, at, kinds[at])).count();
    let named = (0..first.len()).filter(|&at| kinds[at] == CellKind::Text);
    let named = named.filter(|&at| body_is(body, at, CellKind::Number) || body_is(body, at, CellKind::Date)).count();
    !(agreeing * 2 > typed.len() && named < agreeing)
}

fn strip_quotes(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

fn share(body: &[Row], at: usize, test: impl Fn(&str) -> bool) -> f64 {
    let cells = body.iter().filter_map(|row| row.cells.get(at)).map(|cell| strip_quotes(cell));
    let (mut all, mut hits) = (0, 0);
    for cell in cells.filter(|cell| !cell.is_empty()) {
        all += 1;
        hits += u32::from(test(cell));
    }
    if all == 0 { 0.0 } else { f64::from(hits) / f64::from(all) }
}

fn body_is(body: &[Row], at: usize, kind: CellKind) -> bool {
    share(body, at, |cell| CellKind::of(cell) == kind) >= 0.8
}

/// Whether numbers run 0, 1, 2, … or 1, 2, 3, … or onward from any whole number: rounds, ranks, default names.
fn counts_up(cells: &[&str]) -> bool {
    let numbers: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() >= 3 && numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]))
}

/// Whether the text cells of the first row come again below in the same columns: then they are values, not names.
fn repeats_below(first: &[&str], body: &[Row]) -> bool {
    let texts: Vec<usize> = (0..first.len()).filter(|&at| !first[at].is_empty()).collect();
    let is_copy =
        |row: &&Row| row.cells.len() == first.len() && row.cells.iter().zip(first).all(|(a, b)| strip_quotes(a) == *b);
    let rows: Vec<&Row> = body.iter().filter(|row| !is_copy(row)).collect();
    let repeated =
        |at: &&usize| rows.iter().filter_map(|row| row.cells.get(**at)).any(|cell| strip_quotes(cell) == first[**at]);
    let count = texts.iter().filter(repeated).count();
    count >= 2 && count * 2 >= texts.len()
}
