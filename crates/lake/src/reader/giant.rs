//! Reads one record that is too long for the window, keeping only the start of each cell.
//!
//! The slow path of [`super::delimited`], for a cell of a hundred megabytes or a file without line ends. Memory is bounded
//! whatever the record's length.

use super::batch::cut_text;
use super::decode::Text;
use super::split::Splitter;

/// Most bytes kept of all cells of a record together.
const KEPT_BYTES: usize = 64 << 20;

/// A record read cell by cell.
#[derive(Default)]
pub(super) struct GiantRecord {
    pub(super) cells: Vec<Vec<u8>>,
    /// Cells of which only the start was kept.
    pub(super) cut_cells: u64,
    /// Non-empty cells beyond `max_cells`.
    pub(super) extra_cells: u64,
    /// Line ends passed, including the record's own.
    pub(super) lines: u64,
    /// Whether the text ended inside a quoted cell.
    pub(super) unclosed: bool,
    kept_bytes: usize,
}

enum State {
    CellStart,
    Bare,
    Quoted,
    /// After a quote inside a quoted cell: the cell's end, or half of a doubled quote.
    QuoteMet,
}

/// Limits of one record.
#[derive(Clone, Copy)]
pub(super) struct GiantLimits {
    pub(super) cell_bytes: usize,
    pub(super) max_cells: usize,
}

/// Consumes one record of `text`.
pub(super) fn read_giant(text: &mut Text, splitter: &Splitter, limits: GiantLimits) -> GiantRecord {
    let mut record = GiantRecord::default();
    let mut state = State::CellStart;
    let mut cell = Vec::new();
    let mut cell_bytes = 0;
    'text: loop {
        let window = text.window();
        for (at, &byte) in window.iter().enumerate() {
            let is_quote = splitter.quote() == Some(byte);
            let is_quoted = matches!(state, State::Quoted);
            record.lines += u64::from(byte == b'\n');
            state = match state {
                State::CellStart if is_quote => State::Quoted,
                State::Quoted if is_quote => State::QuoteMet,
                State::QuoteMet if is_quote => {
                    keep(&mut cell, &mut cell_bytes, byte, limits);
                    State::Quoted
                }
                _ if !is_quoted && Some(byte) == splitter.delimiter() => {
                    record.end_cell(&mut cell, &mut cell_bytes, limits);
                    State::CellStart
                }
                _ if !is_quoted && matches!(byte, b'\n' | b'\r') => {
                    let two = byte == b'\r' && window.get(at + 1) == Some(&b'\n');
                    record.lines += u64::from(byte == b'\r');
                    text.consume(at + 1 + usize::from(two));
                    break 'text;
                }
                _ => {
                    keep(&mut cell, &mut cell_bytes, byte, limits);
                    if is_quoted { State::Quoted } else { State::Bare }
                }
            };
        }
        let length = window.len();
        text.consume(length);
        if text.at_end() {
            record.unclosed = matches!(state, State::Quoted);
            break;
        }
        text.fill();
    }
    record.end_cell(&mut cell, &mut cell_bytes, limits);
    record
}

fn keep(cell: &mut Vec<u8>, cell_bytes: &mut usize, byte: u8, limits: GiantLimits) {
    *cell_bytes += 1;
    // One byte more than the limit, so that the cut can see whether it falls between two characters.
    if cell.len() <= limits.cell_bytes {
        cell.push(byte);
    }
}

impl GiantRecord {
    fn end_cell(&mut self, cell: &mut Vec<u8>, cell_bytes: &mut usize, limits: GiantLimits) {
        let room = limits.cell_bytes.min(KEPT_BYTES.saturating_sub(self.kept_bytes));
        if self.cells.len() >= limits.max_cells {
            self.extra_cells += u64::from(*cell_bytes > 0);
        } else {
            let kept = cut_text(cell, room).to_vec();
            self.cut_cells += u64::from(kept.len() < *cell_bytes);
            self.kept_bytes += kept.len();
            self.cells.push(kept);
        }
        cell.clear();
        *cell_bytes = 0;
    }
}
