//! Cuts a sheet into the regions that are tables.
//!
//! Blank rows and blank columns cut a sheet, as in the XY-cut of page layout (Nagy and Seth, ICPR 1984). What a cut leaves is then
//! judged: rows of a single cell above a table are its title and below it its notes; a block whose first row holds values, in
//! the columns of the block above, continues that one; a blank column within narrow columns is a spacer.

/// Runs of cells held for one sheet; 8 bytes each.
const MOST_RUNS: usize = 16 << 20;
/// Blank rows over which a title or a continuation still belongs to a table.
const MOST_BLANK_ROWS: u32 = 3;
/// Tables of one sheet.
const MOST_TABLES: usize = 1000;

/// Which cells of a sheet have a value: runs of neighbours, row by row.
#[derive(Default)]
pub(super) struct RowRuns {
    rows: Vec<Row>,
    runs: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    at: u32,
    first_run: usize,
    /// Whether all its cells are text.
    all_text: bool,
}

/// A rectangle of cells that is a table; bounds are inclusive and count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// First row, of its title where it has one.
    pub(super) top: u32,
    pub(super) bottom: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// First row without the title.
    table_top: u32,
    /// Rows of notes below it.
    pub(super) notes_below: u32,
}

impl Region {
    /// The upper left cell of the table as spreadsheets name it: `B7`.
    pub(super) fn corner(&self) -> String {
        let mut letters = Vec::new();
        let mut left = u64::from(self.left) + 1;
        while left > 0 {
            letters.push(char::from(b'A' + ((left - 1) % 26) as u8));
            left = (left - 1) / 26;
        }
        letters.iter().rev().chain(&[]).collect::<String>() + &(u64::from(self.table_top) + 1).to_string()
    }

    fn width(&self) -> u32 {
        self.right - self.left + 1
    }
}

impl RowRuns {
    /// Takes the next cell.
    ///
    /// # Errors
    /// Where the rows are not in order, or the cells too scattered to be held.
    pub(super) fn push(&mut self, row: u32, column: u32, is_text: bool) -> Result<(), String> {
        match self.rows.last_mut() {
            Some(last) if last.at > row => return Err("its rows are not in order".into()),
            Some(last) if last.at == row => {
                last.all_text &= is_text;
                match self.runs.last_mut() {
                    Some(run) if run.1 + 1 == column => {
                        run.1 = column;
                        return Ok(());
                    }
                    Some(run) if column <= run.1 => return Err("its cells are not in order".into()),
                    _ => {}
                }
            }
            _ => self.rows.push(Row { at: row, first_run: self.runs.len(), all_text: is_text }),
        }
        if self.runs.len() >= MOST_RUNS {
            return Err(format!("more than {MOST_RUNS} groups of cells"));
        }
        self.runs.push((column, column));
        Ok(())
    }

    fn runs(&self, row: usize) -> &[(u32, u32)] {
        let end = self.rows.get(row + 1).map_or(self.runs.len(), |next| next.first_run);
        &self.runs[self.rows[row].first_run..end]
    }

    /// The runs of a row between two columns.
    fn within(&self, row: usize, left: u32, right: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let runs = self.runs(row).iter().filter(move |run| run.1 >= left && run.0 <= right);
        runs.map(move |run| (run.0.max(left), run.1.min(right)))
    }

    fn cells(&self, row: usize, left: u32, right: u32) -> u32 {
        self.within(row, left, right).map(|(from, to)| to - from + 1).sum()
    }
}

/// The tables of a sheet, from above and from the left.
pub(super) fn tables_of(sheet: &RowRuns) -> Vec<Region> {
    let mut found = Vec::new();
    if !sheet.rows.is_empty() {
        cut_rows(sheet, 0..sheet.rows.len(), 0, u32::MAX, 0, &mut found);
    }
    found.sort_by_key(|region| (region.table_top, region.left));
    found.truncate(MOST_TABLES);
    found
}

/// A block of rows without a blank row among them: places in [`RowRuns::rows`], and the columns it reaches.
#[derive(Debug, Clone)]
struct Block {
    rows: std::ops::Range<usize>,
    left: u32,
    right: u32,
    /// Most cells of a row.
    widest: u32,
    /// Rows with at least two cells.
    wide_rows: usize,
}

fn cut_rows(sheet: &RowRuns, rows: std::ops::Range<usize>, left: u32, right: u32, depth: u32, found: &mut Vec<Region>) {
    const MOST_DEPTH: u32 = 6;
    let blocks = join_blocks(sheet, blocks(sheet, rows, left, right));
    let mut titles: Option<Block> = None;
    let first_found = found.len();
    for block in &blocks {
        let gap = |above: &Block| row_at(sheet, block.rows.start) - row_at(sheet, above.rows.end - 1) - 1;
        if block.wide_rows < 2 && !is_list(block, &blocks) {
            // Titles of the next table, or notes on the one above.
            if let Some(table) = found[first_found..].last_mut()
                && row_at(sheet, block.rows.start).saturating_sub(table.bottom) <= MOST_BLANK_ROWS
                && block.left >= table.left
                && block.left <= table.right
            {
                table.notes_below += (block.rows.end - block.rows.start) as u32;
            }
            titles = Some(block.clone());
            continue;
        }
        let above = titles.take().filter(|title| gap(title) <= MOST_BLANK_ROWS);
        if let Some(title) = &above
            && let Some(table) = found[first_found..].last_mut()
        {
            // Those rows are this table's title, not notes on the one before.
            table.notes_below = table.notes_below.saturating_sub((title.rows.end - title.rows.start) as u32);
        }
        let top = row_at(sheet, block.rows.start);
        let cut = if depth < MOST_DEPTH { blank_column(sheet, block) } else { None };
        if let Some(blank) = cut {
            let cut_from = found.len();
            cut_rows(sheet, block.rows.clone(), block.left, blank - 1, depth + 1, found);
            cut_rows(sheet, block.rows.clone(), blank + 1, block.right, depth + 1, found);
            if let Some(title) = above {
                // It is that of the table below its first cell.
                let is_below =
                    |table: &&mut Region| table.top == top && (table.left..=table.right).contains(&title.left);
                if let Some(table) = found[cut_from..].iter_mut().find(is_below) {
                    table.top = row_at(sheet, title.rows.start);
                }
            }
            continue;
        }
        let last = row_at(sheet, block.rows.end - 1);
        let from = above.map_or(top, |title| row_at(sheet, title.rows.start));
        found.push(Region {
            top: from,
            bottom: last,
            left: block.left,
            right: block.right,
            table_top: top,
            notes_below: 0,
        });
    }
    // Notes directly below a table are in its block.
    for region in &mut found[first_found..] {
        trim_notes(sheet, region);
    }
}

fn row_at(sheet: &RowRuns, place: usize) -> u32 {
    sheet.rows[place].at
}

/// A column of texts or numbers alone: at least three rows, and no wider block beside it.
fn is_list(block: &Block, blocks: &[Block]) -> bool {
    const LEAST_ROWS: usize = 3;
    block.widest == 1
        && block.left == block.right
        && block.rows.len() >= LEAST_ROWS
        && blocks.iter().all(|other| other.wide_rows < 2)
        && blocks.iter().all(|other| other.rows.len() <= block.rows.len())
}

fn blocks(sheet: &RowRuns, rows: std::ops::Range<usize>, left: u32, right: u32) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before: Option<u32> = None;
    for row in rows {
        let cells = sheet.cells(row, left, right);
        if cells == 0 {
            continue;
        }
        let from = sheet.within(row, left, right).next().map_or(left, |run| run.0);
        let to = sheet.within(row, left, right).last().map_or(left, |run| run.1);
        let at = sheet.rows[row].at;
        match blocks.last_mut().filter(|_| before.is_some_and(|before| before + 1 == at)) {
            Some(block) => {
                block.rows.end = row + 1;
                (block.left, block.right) = (block.left.min(from), block.right.max(to));
                block.widest = block.widest.max(cells);
                block.wide_rows += usize::from(cells >= 2);
            }
            None => blocks.push(Block {
                rows: row..row + 1,
                left: from,
                right: to,
                widest: cells,
                wide_rows: usize::from(cells >= 2),
            }),
        }
        before = Some(at);
    }
    blocks
}

/// Joins each block with the one above where it continues its rows: its first row has values, not names, in the same columns.
fn join_blocks(sheet: &RowRuns, blocks: Vec<Block>) -> Vec<Block> {
    let mut joined: Vec<Block> = Vec::new();
    for block in blocks {
        if let Some(above) = joined.last_mut() {
            let gap = row_at(sheet, block.rows.start) - row_at(sheet, above.rows.end - 1) - 1;
            let inside = block.left >= above.left && block.right <= above.right;
            // Names alone, and below them one column more on the left: that of an index, which has no name.
            let has_index = block.right == above.right
                && block.left + 1 == above.left
                && above.rows.clone().all(|row| sheet.rows[row].all_text);
            let first = sheet.cells(block.rows.start, block.left, block.right);
            let as_wide = first >= 2 && first * 2 >= above.widest;
            let has_values = !sheet.rows[block.rows.start].all_text;
            if above.wide_rows >= 2 && (inside || has_index) && as_wide && has_values && gap <= MOST_BLANK_ROWS {
                above.rows.end = block.rows.end;
                above.left = above.left.min(block.left);
                above.wide_rows += block.wide_rows;
                continue;
            }
        }
        joined.push(block);
    }
    joined
}

/// The first blank column with at least two columns of cells on either side; rows of one cell, such as titles, do not count.
fn blank_column(sheet: &RowRuns, block: &Block) -> Option<u32> {
    // The union of the rows' runs, merged.
    let rows = block.rows.clone().filter(|&row| sheet.cells(row, block.left, block.right) >= 2);
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for row in rows {
        runs.extend(sheet.within(row, block.left, block.right));
        // Rows mostly repeat: what is merged stays small.
        if runs.len() > 1 << 16 {
            merge(&mut runs);
        }
    }
    merge(&mut runs);
    let cells = |runs: &[(u32, u32)]| runs.iter().map(|run| run.1 - run.0 + 1).sum::<u32>();
    (1..runs.len()).find(|&at| cells(&runs[..at]) >= 2 && cells(&runs[at..]) >= 2).map(|at| runs[at].0 - 1)
}

fn merge(runs: &mut Vec<(u32, u32)>) {
    runs.sort_unstable();
    runs.dedup();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for &(from, to) in runs.iter() {
        match merged.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    *runs = merged;
}

/// Leaves rows of a single cell at the end of a table of at least three columns out of it: they are notes, unless other rows have no
/// more cells either.
fn trim_notes(sheet: &RowRuns, region: &mut Region) {
    const LEAST_COLUMNS: u32 = 3;
    if region.width() < LEAST_COLUMNS {
        return;
    }
    let after = sheet.rows.partition_point(|row| row.at <= region.bottom);
    let notes = (0..after).rev().map(|row| (sheet.cells(row, region.left, region.right), sheet.rows[row]));
    let single = |(cells, row): &(u32, Row)| *cells <= 1 && row.at > region.table_top + 1;
    let count = notes.take_while(single).count();
    let first = sheet.rows.partition_point(|row| row.at <= region.table_top);
    let mut body = first..after.saturating_sub(count);
    let is_sparse = body.any(|row| sheet.cells(row, region.left, region.right) == 1);
    if count > 0 && count < after && !is_sparse {
        region.notes_below += count as u32;
        region.bottom = sheet.rows[after - count - 1].at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet drawn with `t` for texts and `9` for numbers.
    fn sheet(drawing: &[&str]) -> RowRuns {
        let mut rows = RowRuns::default();
        for (row, line) in drawing.iter().enumerate() {
            for (column, cell) in line.bytes().enumerate().filter(|(_, cell)| *cell != b' ') {
                rows.push(row as u32, column as u32, cell == b't').unwrap();
            }
        }
        rows
    }

    fn drawn(drawing: &[&str]) -> Vec<(String, u32, u32, u32, u32)> {
        let regions = tables_of(&sheet(drawing));
        regions.iter().map(|r| (r.corner(), r.right - r.left + 1, r.top, r.bottom, r.notes_below)).collect()
    }

    #[test]
    fn a_table_with_title_notes_and_spacer() {
        assert_eq!(drawn(&["t", "", "ttt", "t99", "t99", "", "t"]), [("A3".into(), 3, 0, 4, 1)]);
        assert_eq!(drawn(&["ttt", "t", "t99", "t"]), [("A1".into(), 3, 0, 3, 0)]);
        // Notes directly below, and a blank column in a table whose left part is one column.
        assert_eq!(drawn(&["t tt", "t 99", "t 99", "t"]), [("A1".into(), 4, 0, 2, 1)]);
    }

    #[test]
    fn blank_rows_within_a_table_do_not_cut_it_but_new_names_do() {
        assert_eq!(drawn(&["ttt", "t99", "", "t99", "t99"]).len(), 1);
        let two = drawn(&["ttt", "t99", "t99", "", "ttt", "t99"]);
        assert_eq!(two, [("A1".into(), 3, 0, 2, 0), ("A5".into(), 3, 4, 5, 0)]);
    }

    #[test]
    fn names_over_an_index_without_one_are_its_tables() {
        assert_eq!(drawn(&[" t t ", " tttt", "", "99999", "99999"]), [("A1".into(), 5, 0, 4, 0)]);
        assert_eq!(drawn(&["  ttt", "  ttt", "", "99999", "99999"]).len(), 2);
        assert_eq!(drawn(&[" tttt", " t999", "", "99999", "99999"]).len(), 2);
    }

    #[test]
    fn a_title_above_two_tables_is_that_of_the_one_below_it() {
        let found = drawn(&["t", "", "ttt  tt", "t99  t9", "t99  t9"]);
        assert_eq!(found, [("A3".into(), 3, 0, 4, 0), ("F3".into(), 2, 2, 4, 0)]);
        let found = drawn(&["     t", "", "ttt  tt", "t99  t9", "t99  t9"]);
        assert_eq!(found.iter().map(|table| table.2).collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn tables_side_by_side_and_far_away() {
        let found = drawn(&["tt ttt", "t9 t99", "t9 t99", "   t99"]);
        assert_eq!(found, [("A1".into(), 2, 0, 2, 0), ("D1".into(), 3, 0, 3, 0)]);
        let mut rows = RowRuns::default();
        for row in [1_048_000, 1_048_001, 1_048_002] {
            rows.push(row, 16_382, row == 1_048_000).unwrap();
            rows.push(row, 16_383, row == 1_048_000).unwrap();
        }
        assert_eq!(tables_of(&rows)[0].corner(), "XFC1048001");
    }

    #[test]
    fn a_single_column_is_a_list_only_alone() {
        assert_eq!(drawn(&["t", "t", "t", "t"]), [("A1".into(), 1, 0, 3, 0)]);
        assert!(drawn(&["t", "t"]).is_empty() && drawn(&[""]).is_empty());
    }
}
