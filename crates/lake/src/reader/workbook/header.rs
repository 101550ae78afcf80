//! Names of merged cells: a row above the names of the columns that spans several of them (`Population` above `men` and
//! `women`) goes before their names.
//!
//! Only the first cell of a merged range has a text, and `.ods` and `.xlsb` say nothing else that calamine reads; so the rows
//! themselves decide. Two rows are joined where the lower one names columns of numbers or dates, and the upper one has texts
//! above some of the lower one's, in fewer cells or above gaps.

use crate::reader::cell_kind::CellKind;

/// A row of cells as text, with those that are text in the workbook marked.
#[derive(Debug, Default, Clone)]
pub(super) struct HeadRow {
    cells: Vec<(String, bool)>,
}

impl HeadRow {
    pub(super) fn new(width: usize) -> HeadRow {
        HeadRow { cells: vec![(String::new(), false); width] }
    }

    pub(super) fn set(&mut self, at: usize, text: &str, is_text: bool) {
        if let Some(cell) = self.cells.get_mut(at) {
            *cell = (text.to_string(), is_text);
        }
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|(text, _)| text.as_str())
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.cells.get(at).is_some_and(|(text, _)| !text.is_empty())
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.cells.get(at).is_some_and(|(text, is_text)| *is_text && !text.is_empty())
    }

    /// The number in a cell that is one in the workbook.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        self.cells.get(at).filter(|(_, is_text)| !is_text).and_then(|(text, _)| text.parse().ok())
    }

    fn filled(&self) -> usize {
        self.cells.iter().filter(|(text, _)| !text.is_empty()).count()
    }

    fn all_text(&self) -> bool {
        (0..self.cells.len())
            .all(|at| !self.has(at) || (self.is_text(at) && !CellKind::of(&self.cells[at].0).is_typed()))
    }
}

/// Joins the rows of names at the top of a table, below its titles; returns how many were joined with the one below.
pub(super) fn join_merged(rows: &mut Vec<HeadRow>) -> u64 {
    let mut joined = 0;
    let top = title_rows(rows);
    while rows.len() > top + 2 && spans(&rows[top], &rows[top + 1], &rows[top + 2..]) {
        let upper = rows.remove(top);
        join(&upper, &mut rows[top]);
        joined += 1;
    }
    joined
}

/// The number of rows of a single cell above the first with more; 0 where no row has more.
pub(super) fn title_rows(rows: &[HeadRow]) -> usize {
    rows.iter().position(|row| row.filled() >= 2).unwrap_or(0)
}

/// Whether `upper` names groups of the columns that `lower` names, above the rows `body`.
fn spans(upper: &HeadRow, lower: &HeadRow, body: &[HeadRow]) -> bool {
    let width = lower.cells.len();
    let above: Vec<usize> = (0..width).filter(|&at| upper.has(at)).collect();
    // A title stands in the first cell alone.
    let is_title = above.iter().all(|&at| at == 0 && lower.has(0));
    // Groups of columns: a text with a gap to its right, below which there are names.
    let over_gap = above.iter().any(|&at| lower.has(at) && !upper.has(at + 1) && at + 1 < width && lower.has(at + 1));
    let typed_below = |at: usize| {
        let kinds = body.iter().filter(|row| row.has(at));
        let typed = |row: &&HeadRow| row.number(at).is_some() || CellKind::of(&row.cells[at].0).is_typed();
        let (count, typed) =
            kinds.fold((0, 0), |(count, typed_rows), row| (count + 1, typed_rows + usize::from(typed(&row))));
        count > 0 && typed * 2 > count
    };
    let is_name = |at: usize| lower.is_text(at) || (lower.has(at) && lower.cells[at].0.len() == 4);
    let names_numbers = (0..width).any(|at| lower.has(at) && is_name(at) && typed_below(at));
    // Cells of the lower row that are numbers, such as years, are names only where all of them have names above.
    let is_names = lower.all_text() || (0..width).all(|at| !lower.has(at) || is_name(at));
    !above.is_empty()
        && upper.all_text()
        && !is_title
        && over_gap
        && names_numbers
        && is_names
        && lower.filled() * 2 >= width
}

/// Puts the texts of `upper` before the names below and to the right of them.
fn join(upper: &HeadRow, lower: &mut HeadRow) {
    let mut group = String::new();
    for (at, (name, is_text)) in lower.cells.iter_mut().enumerate() {
        let above = upper.cells.get(at).map_or("", |(text, _)| text);
        match (above.is_empty(), name.is_empty()) {
            // A name over both rows spans no other column.
            (false, true) => {
                group.clear();
                *name = above.to_string();
            }
            (false, false) => group = above.to_string(),
            (true, true) => group.clear(),
            (true, false) => {}
        }
        if !group.is_empty() && *name != group {
            *name = format!("{group} {name}");
        }
        *is_text = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> Vec<HeadRow> {
        let row = |line: &&str| {
            let cells: Vec<&str> = line.split('|').collect();
            let mut row = HeadRow::new(cells.len());
            cells.iter().enumerate().for_each(|(at, cell)| row.set(at, cell, cell.parse::<f64>().is_err()));
            row
        };
        lines.iter().map(row).collect()
    }

    fn joined(lines: &[&str]) -> (u64, String) {
        let mut rows = rows(lines);
        (join_merged(&mut rows), rows[0].cells().collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn only_names_above_names_are_joined() {
        let two = [
            "Persons||||",
            "town|men||women|",
            "|young|old|young|old",
            "a|1|2|3|4",
            "b|1|2|3|4",
            "c|1|2|3|4",
            "d|5|6|7|8",
        ];
        assert_eq!(joined(&two[1..]), (1, "town|men young|men old|women young|women old".into()));
        // A title stays.
        assert_eq!(joined(&two), (1, "Persons||||".into()));
        // A row without one of its values is no row of names, nor are names above texts.
        assert_eq!(joined(&["town|men|women", "a|1|", "b|2|3"]).0, 0);
        assert_eq!(joined(&["a||c", "d|e|f", "g|h|i", "j|k|l"]).0, 0);
    }
}
