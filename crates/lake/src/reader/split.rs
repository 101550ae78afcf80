//! Splits one record of delimited text into the spans of its cells, without copying.
//!
//! Quotes count only at the start of a cell, as in RFC 4180; text after a closing quote is kept. A quote that opens and
//! never properly closes must not swallow the lines after it. It is read as an ordinary character when the closing quote
//! is on a later line and followed by other text, when the lines it would swallow look like rows of the table, or when
//! the file or a megabyte ends before it closes. Records end at LF, CR LF or CR.

/// Bytes searched for the closing quote of a cell.
const QUOTED_BYTES: usize = 1 << 20;
/// A quoted cell of this many lines is suspected of having swallowed rows.
const SUSPECT_LINES: usize = 50;
/// Bytes checked one by one before a vectorised search takes over: most cells are short.
const SHORT_CELL_BYTES: usize = 24;

/// The position of a cell in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the span still holds quotes that [`Splitter::unquote`] resolves.
    pub(super) quoted: bool,
}

/// How a record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    CrLf,
    Cr,
    /// The text ended.
    Text,
}

/// Result of a search for a record in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A record; `next` is where the following one begins.
    Record { next: usize, end: LineEnd },
    /// The window ends within the record.
    NeedMore,
    /// The text has ended.
    Nothing,
}

/// The rules for splitting records.
#[derive(Debug, Clone)]
pub(super) struct Splitter {
    delimiter: Option<u8>,
    quote: Option<u8>,
    backslash: bool,
    /// Cells a row should have, for recognising swallowed rows; 0 where unknown.
    pub(super) expected_cells: usize,
    /// Quotes read as ordinary characters so far.
    pub(super) unclosed_quotes: u64,
    /// Whether a cell of the last record began with a quote.
    pub(super) met_quote: bool,
    is_stop: [bool; 256],
}

/// A cell and the place of the delimiter, line end or end of text that stops it.
struct Cell {
    span: Span,
    stop: usize,
}

enum Quoted {
    Cell(Cell),
    Unclosed,
    NeedMore,
}

impl Splitter {
    pub(super) fn new(delimiter: Option<u8>, quote: Option<u8>, backslash: bool) -> Self {
        let mut is_stop = [false; 256];
        is_stop[usize::from(b'\n')] = true;
        is_stop[usize::from(b'\r')] = true;
        if let Some(delimiter) = delimiter {
            is_stop[usize::from(delimiter)] = true;
        }
        Splitter { delimiter, quote, backslash, expected_cells: 0, unclosed_quotes: 0, met_quote: false, is_stop }
    }

    pub(super) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    pub(super) fn quote(&self) -> Option<u8> {
        self.quote
    }

    /// Splits the record at the start of `window`; `at_end`: the window reaches the end of the text.
    /// An empty line gives one empty span that is not quoted.
    #[inline]
    pub(super) fn record(&mut self, window: &[u8], at_end: bool, spans: &mut Vec<Span>) -> Found {
        spans.clear();
        self.met_quote = false;
        if window.is_empty() {
            return if at_end { Found::Nothing } else { Found::NeedMore };
        }
        let mut start = 0;
        loop {
            let Some(Cell { span, stop }) = self.cell(window, start, at_end) else { return Found::NeedMore };
            spans.push(span);
            match window.get(stop) {
                None => return Found::Record { next: window.len(), end: LineEnd::Text },
                Some(b'\n') => return Found::Record { next: stop + 1, end: LineEnd::Lf },
                Some(b'\r') => match window.get(stop + 1) {
                    Some(b'\n') => return Found::Record { next: stop + 2, end: LineEnd::CrLf },
                    None if !at_end => return Found::NeedMore,
                    _ => return Found::Record { next: stop + 1, end: LineEnd::Cr },
                },
                Some(_) => start = stop + 1,
            }
        }
    }

    /// Number of cells of a whole line.
    pub(super) fn count_cells(&mut self, line: &[u8]) -> usize {
        let mut spans = Vec::new();
        self.record(line, true, &mut spans);
        spans.len()
    }

    /// The cell that begins at `start`; `None` when its end is beyond the window.
    #[inline]
    fn cell(&mut self, window: &[u8], start: usize, at_end: bool) -> Option<Cell> {
        if let (Some(quote), Some(&first)) = (self.quote, window.get(start))
            && quote == first
        {
            self.met_quote = true;
            match self.quoted(window, start, quote, at_end) {
                Quoted::Cell(cell) => return Some(cell),
                Quoted::NeedMore => return None,
                Quoted::Unclosed => self.unclosed_quotes += 1,
            }
        }
        let end = self.find_stop(window, start, at_end)?;
        Some(Cell { span: Span { start, end, quoted: false }, stop: end })
    }

    #[inline]
    fn find_stop(&self, window: &[u8], start: usize, at_end: bool) -> Option<usize> {
        let rest = window.get(start..).unwrap_or_default();
        let near = &rest[..rest.len().min(SHORT_CELL_BYTES)];
        if let Some(at) = near.iter().position(|&byte| self.is_stop[usize::from(byte)]) {
            return Some(start + at);
        }
        let far = &rest[near.len()..];
        let found = match self.delimiter {
            Some(delimiter) => memchr::memchr3(delimiter, b'\n', b'\r', far),
            None => memchr::memchr2(b'\n', b'\r', far),
        };
        let found = found.map(|at| start + near.len() + at);
        if at_end { found.or(Some(window.len())) } else { found }
    }

    fn quoted(&self, window: &[u8], start: usize, quote: u8, at_end: bool) -> Quoted {
        let mut at = start + 1;
        let mut plain = true;
        loop {
            let Some(close) = memchr::memchr(quote, &window[at..]).map(|offset| at + offset) else {
                let too_long = window.len() - start > QUOTED_BYTES && self.swallows_rows(&window[start..]);
                return if at_end || too_long { Quoted::Unclosed } else { Quoted::NeedMore };
            };
            if close - start > QUOTED_BYTES && self.swallows_rows(&window[start..close]) {
                return Quoted::Unclosed;
            }
            if self.backslash && is_escaped(&window[at..close]) {
                (plain, at) = (false, close + 1);
                continue;
            }
            match window.get(close + 1) {
                None if !at_end => return Quoted::NeedMore,
                Some(&next) if next == quote => (plain, at) = (false, close + 2),
                Some(&next) if !self.is_stop[usize::from(next)] => {
                    return self.followed_by_text(window, start, close, at_end);
                }
                _ => {
                    let content = &window[start + 1..close];
                    if content.len() > SUSPECT_LINES && self.is_suspect(content) {
                        return Quoted::Unclosed;
                    }
                    let span = if plain {
                        Span { start: start + 1, end: close, quoted: false }
                    } else {
                        Span { start, end: close + 1, quoted: true }
                    };
                    return Quoted::Cell(Cell { span, stop: close + 1 });
                }
            }
        }
    }

    /// The cell whose closing quote is followed by something other than a delimiter or line end: mostly blanks, or a quote
    /// that is not doubled. A closing quote on a later line opened another cell, and the first was never closed.
    fn followed_by_text(&self, window: &[u8], start: usize, close: usize, at_end: bool) -> Quoted {
        let Some(end) = self.find_stop(window, close + 1, at_end) else { return Quoted::NeedMore };
        let is_blank = window[close + 1..end].iter().all(|&byte| byte == b' ' || byte == b'\t');
        if !is_blank && memchr::memchr2(b'\n', b'\r', &window[start..close]).is_some() {
            return Quoted::Unclosed;
        }
        Quoted::Cell(Cell { span: Span { start, end, quoted: true }, stop: end })
    }

    fn is_suspect(&self, content: &[u8]) -> bool {
        memchr::memchr_iter(b'\n', content).take(SUSPECT_LINES).count() == SUSPECT_LINES && self.swallows_rows(content)
    }

    /// Whether most lines of `content` have as many delimiters as a row of the table (or the same number as each other, where
    /// that is unknown). The first and last line are parts of rows and do not count.
    fn swallows_rows(&self, content: &[u8]) -> bool {
        const LINES: usize = 100;
        let mut lines = content.split(|&byte| byte == b'\n').take(LINES).peekable();
        lines.next();
        let mut counts: Vec<usize> = Vec::new();
        while let (Some(line), true) = (lines.next(), lines.peek().is_some()) {
            counts.push(self.delimiter.map_or(0, |delimiter| memchr::memchr_iter(delimiter, line).count()));
        }
        let usual = match self.expected_cells {
            0 => counts.iter().copied().max_by_key(|&count| counts.iter().filter(|&&other| other == count).count()),
            cells => Some(cells - 1),
        };
        let alike = counts.iter().filter(|&&count| Some(count) == usual).count();
        !counts.is_empty() && alike * 10 >= counts.len() * 8
    }

    /// Appends the text of a quoted span to `out`: without its quotes, doubled and escaped quotes resolved.
    pub(super) fn unquote(&self, cell: &[u8], out: &mut Vec<u8>) {
        let Some(quote) = self.quote else { return out.extend_from_slice(cell) };
        let mut rest = cell.get(1..).unwrap_or_default();
        loop {
            let Some(at) = memchr::memchr(quote, rest) else { return out.extend_from_slice(rest) };
            if self.backslash && is_escaped(&rest[..at]) {
                out.extend_from_slice(&rest[..at - 1]);
                out.push(quote);
                rest = &rest[at + 1..];
                continue;
            }
            out.extend_from_slice(&rest[..at]);
            if rest.get(at + 1) != Some(&quote) {
                return out.extend_from_slice(&rest[at + 1..]);
            }
            out.push(quote);
            rest = &rest[at + 2..];
        }
    }
}

/// Whether the quote after `before` is escaped, i.e. preceded by an odd number of backslashes.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}
