//! Finds out how a delimited text is written: delimiter, quotes, lines above the table, header.
//!
//! Every candidate delimiter splits the first rows; the one that gives the same number of cells most often, without leaving
//! other likely delimiters inside the cells, wins. Lines above the first full row are the preamble. The first full row is
//! the header unless it is clearly data: when in doubt there is a header.

use super::cell_kind::CellKind;
use super::split::{Found, Span, Splitter};
use lakeward_core::text::years::{LIKELY, year};

/// Rows sampled.
const SAMPLE_ROWS: usize = 100;
/// Bytes sampled; more if these hold too few rows.
const SAMPLE_BYTES: usize = 1 << 15;
/// Most lines above the table.
const PREAMBLE_LINES: usize = 60;
/// Candidates, strongest evidence first.
const DELIMITERS: [u8; 7] = [b'\t', b'|', b';', b',', b':', b'~', b' '];
/// Share of rows that must agree on the number of cells.
const LEAST_AGREEMENT: f64 = 0.5;
/// The same where the file's name implies no delimiter.
const LEAST_UNNAMED: f64 = 0.8;

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
    /// The delimiter that the file's extension implies.
    pub(super) implied: Option<u8>,
    /// Whether the text is written as RFC 4180 has it: no comments, no other quote than `"`, and that doubled.
    pub(super) plain: bool,
}

struct Row<'a> {
    cells: Vec<&'a str>,
    start: usize,
}

/// Whether `window` holds enough complete rows for sniffing, or the whole text.
pub(super) fn is_enough(window: &[u8], at_end: bool) -> bool {
    const LEAST_LINES: usize = 4;
    at_end || memchr::memchr2_iter(b'\n', b'\r', window).take(LEAST_LINES).count() == LEAST_LINES
}

/// Sniffs the head of a text.
pub(super) fn sniff(window: &[u8], at_end: bool, known: Known) -> Sniffed {
    let (sample, whole) = sample(window, at_end);
    let (lead, hint) = if known.plain { (0, None) } else { separator_line(sample) };
    let comments = if known.plain { 0 } else { lead + comment_lines(&sample[lead..]) };
    let body = &sample[comments..];
    let quote = if known.plain { Some(b'"') } else { quote_of(body) };
    let backslash = !known.plain && uses_backslash(body);
    let delimiter = known.delimiter.or(hint).or_else(|| vote(body, whole, quote, backslash, known.implied));
    let mut splitter = Splitter::new(delimiter, quote, backslash);
    let rows = cut(&mut splitter, body, whole);
    let usual = usual_cells(rows.iter().map(|row| row.cells.len()).collect());
    let top = preamble_rows(&rows, usual);
    let mut table_start = comments + rows.get(top).map_or(0, |row| row.start);
    let mut hash_header = false;
    let mut rows = &rows[top.min(rows.len())..];
    let commented = (top == 0 && comments > lead).then(|| last_line(&sample[lead..comments]));
    let mut header = None;
    if let Some((offset, line)) = commented
        && usual >= 2
        && splitter.count_cells(line) == usual
    {
        (table_start, hash_header, header) = (lead + offset, true, Some(true));
    } else if let (Some(row), 0, true) = (rows.first(), comments, usual >= 2 && !known.plain) {
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

/// The part of the window to sniff, ending with a whole line if there is one; and whether the text ends with it.
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
    // `#,name` is a header whose first name is `#`.
    let is_cell = |line: &[u8]| line.get(1).is_some_and(|byte| DELIMITERS[..4].contains(byte));
    while sample[at..].starts_with(b"#") && !is_cell(&sample[at..]) {
        let Some(end) = memchr::memchr2(b'\n', b'\r', &sample[at..]) else { return 0 };
        let two = sample[at + end..].starts_with(b"\r\n");
        at += end + 1 + usize::from(two);
    }
    // Such a line may also be the header of the rows below: `#id,name`.
    if at < sample.len() { at } else { 0 }
}

/// The last line of `lines` (all of which end in a line end), and its offset.
fn last_line(lines: &[u8]) -> (usize, &[u8]) {
    let trimmed = lines.trim_ascii_end();
    let offset = memchr::memrchr2(b'\n', b'\r', trimmed).map_or(0, |at| at + 1);
    (offset, &trimmed[offset..])
}

/// The quote character: `'` only where `"` never occurs and every cell that begins with `'` also ends with it, on the same line.
fn quote_of(sample: &[u8]) -> Option<u8> {
    const DOUBLE: u8 = b'"';
    const SINGLE: u8 = b'\'';
    const LEAST_CELLS: usize = 2;
    if memchr::memchr(DOUBLE, sample).is_some() || !sample.contains(&SINGLE) {
        return Some(DOUBLE);
    }
    let is_edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r') || DELIMITERS[..5].contains(byte));
    let (mut cells, mut open) = (0, None);
    for at in memchr::memchr_iter(SINGLE, sample) {
        let begins = is_edge(at.checked_sub(1).and_then(|at| sample.get(at)));
        let ends = is_edge(sample.get(at + 1));
        match (begins, ends, open) {
            (false, false, _) => {}
            (true, false, None) => open = Some(at),
            (false, true, Some(start)) if !sample[start..at].contains(&b'\n') => (cells, open) = (cells + 1, None),
            _ => return Some(DOUBLE),
        }
    }
    Some(if cells >= LEAST_CELLS && open.is_none() { SINGLE } else { DOUBLE })
}

fn uses_backslash(sample: &[u8]) -> bool {
    let escapes = memchr::memmem::find_iter(sample, b"\\\"").take(100).count();
    let closing =
        memchr::memmem::find_iter(sample, b"\\\",").chain(memchr::memmem::find_iter(sample, b"\\\"\n")).count();
    escapes > closing && memchr::memmem::find(sample, b"\"\"\"").is_none()
}

/// The properties of a row that the vote uses.
struct Shape {
    cells: usize,
    /// Cells that contain another delimiter that also splits the rows well.
    dirty: usize,
    /// Whether every cell after the first begins with a blank.
    blanks: bool,
}

fn vote(body: &[u8], whole: bool, quote: Option<u8>, backslash: bool, implied: Option<u8>) -> Option<u8> {
    let mut best: Option<(u8, f64)> = None;
    let mut is_rival = [false; 256];
    let top = implied.and_then(|implied| first_shape(implied, body, whole, quote, backslash));
    // The implied delimiter splits the first row: another one can win only if it also fits from the first row on.
    let is_confirmed = top.is_some_and(|top| top.cells >= 2 && !top.blanks);
    let mut late: Option<(u8, f64)> = None;
    // A file whose name implies no delimiter may be prose.
    let least = if implied.is_some() { LEAST_AGREEMENT } else { LEAST_UNNAMED };
    for delimiter in DELIMITERS {
        let is_beaten = is_weak(delimiter) && (best.is_some() || is_confirmed);
        if is_beaten || memchr::memchr(delimiter, body).is_none() {
            continue;
        }
        let mut splitter = Splitter::new(Some(delimiter), quote, backslash);
        let rows = shapes(&mut splitter, body, whole, &is_rival);
        let Some((score, from_top)) = score(delimiter, &rows, least) else { continue };
        is_rival[usize::from(delimiter)] = from_top && (delimiter != b'|' || implied != Some(b','));
        let score = score * prior(delimiter, implied);
        let place = if is_confirmed && !from_top && Some(delimiter) != implied { &mut late } else { &mut best };
        if place.is_none_or(|(_, best)| score > best + 1e-9) {
            *place = Some((delimiter, score));
        }
    }
    // A title with commas may precede a table with semicolons or tabs; bars and the like are markup inside cells.
    let late = late.map(|(delimiter, _)| delimiter);
    let below_title = late.filter(|delimiter| matches!(delimiter, b';' | b'\t'));
    let confirmed = implied.filter(|_| is_confirmed);
    best.map(|(delimiter, _)| delimiter).or(below_title).or(confirmed).or(late)
}

fn first_shape(delimiter: u8, body: &[u8], whole: bool, quote: Option<u8>, backslash: bool) -> Option<Shape> {
    let mut splitter = Splitter::new(Some(delimiter), quote, backslash);
    let end = memchr::memchr(b'\n', body).map_or(body.len(), |at| at + 1);
    shapes(&mut splitter, &body[..end], whole || end < body.len(), &[false; 256]).into_iter().next()
}

/// How far the file's name supports a delimiter: `.csv` files often have semicolons, seldom bars, `.tsv` files tabs.
fn prior(delimiter: u8, implied: Option<u8>) -> f64 {
    match (implied, delimiter) {
        (Some(implied), _) if implied == delimiter => 1.0,
        (Some(b',') | None, b';' | b'\t') => 0.95,
        (Some(b','), b'|') => 0.85,
        (Some(_), _) => 0.7,
        (None, _) => 1.0,
    }
}

/// Delimiters that occur inside cells so often that they count only if no other one fits, and only if all rows agree.
fn is_weak(delimiter: u8) -> bool {
    matches!(delimiter, b':' | b'~' | b' ')
}

fn shapes(splitter: &mut Splitter, body: &[u8], whole: bool, is_rival: &[bool; 256]) -> Vec<Shape> {
    let mut shapes = Vec::new();
    each_record(splitter, body, whole, |spans, start| {
        let text = |span: &Span| &body[start + span.start..start + span.end];
        let is_dirty = |span: &&Span| text(span).iter().any(|&byte| is_rival[usize::from(byte)]);
        let dirty = spans.iter().filter(is_dirty).count();
        let blanks = spans[1..].iter().all(|span| text(span).starts_with(b" "));
        shapes.push(Shape { cells: spans.len(), dirty, blanks });
    });
    shapes
}

/// How well rows split at `delimiter` agree on their number of cells, 0 to 1, and whether they agree very well from the first
/// row on; `None` when they do not agree.
fn score(delimiter: u8, rows: &[Shape], least: f64) -> Option<(f64, bool)> {
    const RIVAL_AGREEMENT: f64 = 0.9;
    const BELOW_OTHER_LINES: f64 = 0.6;
    let cells = usual_cells(rows.iter().map(|row| row.cells).collect());
    if cells < 2 {
        return None;
    }
    let first = rows.iter().take(PREAMBLE_LINES).position(|row| row.cells == cells)?;
    let table = &rows[first..];
    let agreeing = table.iter().filter(|row| row.cells == cells).count();
    let agreement = agreeing as f64 / table.len() as f64;
    let least = if is_weak(delimiter) { 1.0 } else { least };
    let too_few = is_weak(delimiter) && (table.len() < 3 || first > 0);
    // `Smith, John` below a header without a comma: a character always followed by a blank separates words, not cells.
    let is_prose = delimiter != b' ' && first > 0 && table.iter().all(|row| row.blanks);
    if agreement < least || too_few || is_prose || (delimiter == b' ' && cells < 3) {
        return None;
    }
    let all: usize = table.iter().map(|row| row.cells).sum();
    let clean = 1.0 - table.iter().map(|row| row.dirty).sum::<usize>() as f64 / all as f64;
    let place = if first == 0 { 1.0 } else { BELOW_OTHER_LINES };
    let score = agreement * agreement * clean * place * (1.0 - 0.5 / cells as f64);
    Some((score, first == 0 && agreement >= RIVAL_AGREEMENT))
}

fn cut<'a>(splitter: &mut Splitter, body: &'a [u8], whole: bool) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    each_record(splitter, body, whole, |spans, start| {
        let text = |span: &Span| std::str::from_utf8(&body[start + span.start..start + span.end]).unwrap_or_default();
        rows.push(Row { cells: spans.iter().map(text).collect(), start });
    });
    rows
}

/// Calls `take` with the spans and the offset of each of the first non-blank records.
fn each_record(splitter: &mut Splitter, body: &[u8], whole: bool, mut take: impl FnMut(&[Span], usize)) {
    let mut spans: Vec<Span> = Vec::new();
    let (mut at, mut count) = (0, 0);
    while count < SAMPLE_ROWS {
        // The last record may go on after the sample, so it counts only when it is the only one.
        let at_end = whole || count == 0;
        let Found::Record { next, .. } = splitter.record(&body[at..], at_end, &mut spans) else { break };
        if !is_blank_record(&spans, &body[at..]) {
            take(&spans, at);
            count += 1;
        }
        at += next;
    }
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
fn usual_cells(mut counts: Vec<usize>) -> usize {
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

/// Number of rows above the table: titles and notes have few cells where the table's rows have many.
fn preamble_rows(rows: &[Row], usual: usize) -> usize {
    if usual < 2 {
        return 0;
    }
    if let Some(above) = titles_above_names(rows, usual) {
        return above;
    }
    let filled = |row: &Row| row.cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let mut body: Vec<usize> = rows.iter().filter(|row| row.cells.len() == usual).map(filled).collect();
    body.sort_unstable();
    let typical = body.get(body.len() / 2).copied().unwrap_or(0);
    let is_title = |at: usize, row: &Row| {
        let is_full = row.cells.len() >= usual;
        let few = if is_full { typical / 3 } else { (usual / 3).max(1) };
        // A title padded with delimiters; in a narrow table only if a row of names follows.
        let names_follow = || rows.get(at + 1).is_some_and(|row| row.cells.len() == usual && all_text(row));
        filled(row) <= few && (!is_full || typical >= 4 || names_follow())
    };
    let above = rows.iter().take(PREAMBLE_LINES).enumerate().take_while(|&(at, row)| is_title(at, row)).count();
    if above < rows.len() { above } else { 0 }
}

/// The position of the first row of full width if it holds names, shown by numbers or dates below it: the rows above it are
/// titles, even if one with a comma looks like cells.
fn titles_above_names(rows: &[Row], usual: usize) -> Option<usize> {
    let at = rows.iter().take(PREAMBLE_LINES + 1).position(|row| row.cells.len() >= usual).filter(|&at| at > 0)?;
    let body = &rows[at + 1..];
    let typed_below = |column| body_is(body, column, CellKind::Number) || body_is(body, column, CellKind::Date);
    let names = rows[at].cells.len() == usual && all_text(&rows[at]);
    (names && !body.is_empty() && (0..usual).any(typed_below)).then_some(at)
}

fn all_text(row: &Row) -> bool {
    row.cells.iter().all(|cell| CellKind::of(strip_quotes(cell)) == CellKind::Text)
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
    let is_year = |cell: &str| year(cell, LIKELY).is_some();
    let all_years = typed.iter().all(|&at| is_year(first[at]));
    if all_years {
        // `country,2019,2020` is a header; a single year above other years is data.
        let years_below = typed.iter().all(|&at| share(body, at, is_year) >= 0.8);
        return !(years_below && typed.len() == 1 && !body.is_empty());
    }
    if typed.len() == filled {
        return false;
    }
    // Some cells are numbers: data, if the cells below are numbers too and no other number column has a name on top.
    let agreeing = typed.iter().filter(|&&at| body_is(body, at, kinds[at])).count();
    let named = (0..first.len()).filter(|&at| kinds[at] == CellKind::Text);
    let named = named.filter(|&at| body_is(body, at, CellKind::Number) || body_is(body, at, CellKind::Date)).count();
    !(agreeing * 2 > typed.len() && named == 0)
}

fn strip_quotes(cell: &str) -> &str {
    if let [first, .., last] = cell.as_bytes()
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return cell;
    }
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

/// Whether the cells count up by one from any whole number: 0, 1, 2, … or 1, 2, 3, …; rounds, ranks, default names.
fn counts_up(cells: &[&str]) -> bool {
    let numbers: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() >= 3 && numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]))
}

/// Whether the text cells of the first row occur repeatedly below in the same columns: then they are values, not names.
/// Rows that mostly repeat the first row are headers as well: a second level, or tables one below the other.
fn repeats_below(first: &[&str], body: &[Row]) -> bool {
    const LEAST_SHARE: f64 = 0.2;
    let alike = |row: &Row| row.cells.iter().zip(first).filter(|(cell, first)| strip_quotes(cell) == **first).count();
    let is_copy = |row: &Row| if first.len() >= 3 { alike(row) * 2 >= first.len() } else { alike(row) == first.len() };
    if body.first().is_some_and(is_copy) {
        return false;
    }
    let copies = body.iter().filter(|row| is_copy(row)).count();
    if copies > 0 && copies * 2 < body.len() {
        return false;
    }
    let texts: Vec<usize> = (0..first.len()).filter(|&at| !first[at].is_empty()).collect();
    let repeated = texts.iter().filter(|&&at| share(body, at, |cell| cell == first[at]) >= LEAST_SHARE).count();
    repeated >= 2 && repeated * 2 >= texts.len()
}
