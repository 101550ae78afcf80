//! From the pieces of a page to its lines in reading order.
//!
//! Typesetting programs write one column after the other, and that order is kept. Where two columns are drawn row by row across their
//! gutter, the left one is read first. If a page often jumps up within a column,
//! its order is unreliable, and the page is cut along its widest white gaps instead (the recursive XY-cut of
//! Nagy and Seth, ICPR 1984).

use super::direction;
use super::piece::Piece;

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedLine {
    /// Its words.
    pub text: String,
    /// Its left edge, in points.
    pub left: f64,
    /// Its right edge.
    pub right: f64,
    /// Its baseline.
    pub y: f64,
    /// Its type size.
    pub size: f64,
    /// Whether all of it is bold.
    pub is_bold: bool,
}

/// Maximum share of lines that jump up, other than to the next column, for the order of a page to be reliable.
const MAX_JUMPS: f64 = 0.15;

/// The lines of a page, in reading order.
pub fn lines(pieces: Vec<Piece>) -> Vec<PlacedLine> {
    let lines = joined(unwoven(pieces));
    let jumps = lines.windows(2).filter(|pair| jumps_up(&pair[0], &pair[1])).count();
    if jumps as f64 <= MAX_JUMPS * lines.len() as f64 {
        return as_read(lines);
    }
    let mut pieces: Vec<Piece> = lines.into_iter().map(Piece::from).collect();
    let mut ordered = Vec::with_capacity(pieces.len());
    cut(&mut pieces, 0, &mut ordered);
    as_read(joined(ordered))
}

/// The pieces with columns that are drawn row by row one after the other, as far as rows keep to the same two columns.
fn unwoven(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if (piece.y - row[0].y).abs() < 0.4 * piece.size.max(row[0].size) => row.push(piece),
            _ => rows.push(vec![piece]),
        }
    }
    let turned = rows.iter().flatten().any(|piece| piece.text.chars().any(direction::is_right_to_left));
    let Some(gutter) = gutter(&rows).filter(|_| !turned) else { return rows.concat() };
    let (mut ordered, mut right): (Vec<Piece>, Vec<Piece>) = (Vec::new(), Vec::new());
    for row in rows {
        // What crosses the gutter, as a title does, ends the columns above it.
        if row.iter().any(|piece| piece.left < gutter && piece.right > gutter) {
            ordered.append(&mut right);
            ordered.extend(row);
            continue;
        }
        let (of_left, of_right): (Vec<Piece>, Vec<Piece>) = row.into_iter().partition(|piece| piece.left < gutter);
        ordered.extend(of_left);
        right.extend(of_right);
    }
    ordered.append(&mut right);
    ordered
}

/// Where the right one of two columns begins whose rows are drawn across both: at the same place in most rows, both columns as wide as
/// text and not as the cells of a table.
fn gutter(rows: &[Vec<Piece>]) -> Option<f64> {
    const MIN_GAP: f64 = 0.9;
    const MIN_ROWS: usize = 5;
    const MIN_WIDTH: f64 = 10.0;
    // Of each row the widest gap: the left edge behind it, and the widths of both sides, in units of the type size.
    let split = |row: &Vec<Piece>| {
        let mut row: Vec<&Piece> = row.iter().collect();
        row.sort_by(|a, b| a.left.total_cmp(&b.left));
        let at = (1..row.len())
            .max_by(|a, b| (row[*a].left - row[*a - 1].right).total_cmp(&(row[*b].left - row[*b - 1].right)))?;
        let size = row[at].size.max(1.0);
        let gap = row[at].left - row[at - 1].right;
        let widths = [row[at - 1].right - row[0].left, row[row.len() - 1].right - row[at].left];
        (gap >= MIN_GAP * size).then_some((row[at].left, widths.map(|width| width / size), size))
    };
    let splits: Vec<(f64, [f64; 2], f64)> = rows.iter().filter_map(split).collect();
    let edge = median(splits.iter().map(|(edge, ..)| *edge));
    let same: Vec<&(f64, [f64; 2], f64)> =
        splits.iter().filter(|(at, _, size)| (at - edge).abs() < 0.5 * size).collect();
    let wide = |side: usize| median(same.iter().map(|(_, widths, _)| widths[side])) >= MIN_WIDTH;
    let enough = same.len() >= MIN_ROWS && 2 * same.len() >= rows.len();
    (enough && wide(0) && wide(1)).then(|| same.iter().map(|(edge, ..)| *edge).fold(f64::INFINITY, f64::min))
}

/// Puts letters from visual order into reading order.
fn as_read(mut lines: Vec<PlacedLine>) -> Vec<PlacedLine> {
    lines.iter_mut().for_each(|line| line.text = direction::as_read(std::mem::take(&mut line.text)));
    lines
}

impl From<PlacedLine> for Piece {
    fn from(line: PlacedLine) -> Self {
        let PlacedLine { text, left, right, y, size, is_bold } = line;
        Self { text, left, right, y, size, is_bold }
    }
}

/// Whether a line jumps up within a column; a jump up to the right is the next column.
fn jumps_up(before: &PlacedLine, after: &PlacedLine) -> bool {
    after.y > before.y + before.size && after.left < before.right
}

/// Joins consecutive pieces on one line, except across a wide gap.
fn joined(pieces: Vec<Piece>) -> Vec<PlacedLine> {
    const WIDEST_GAP: f64 = 1.6;
    let mut lines: Vec<PlacedLine> = Vec::new();
    for piece in pieces {
        if let Some(line) = lines.last_mut() {
            let size = line.size.max(piece.size);
            let gap = piece.left - line.right;
            let turned = line.left - piece.right;
            let is_turned = || line.text.chars().chain(piece.text.chars()).any(direction::is_right_to_left);
            if (piece.y - line.y).abs() < 0.4 * size && (0.0..WIDEST_GAP * size).contains(&turned) && is_turned() {
                line.text = format!("{} {}", piece.text.trim_end(), line.text.trim_start());
                line.left = piece.left;
                line.size = size;
                line.is_bold &= piece.is_bold;
                continue;
            }
            if (piece.y - line.y).abs() < 0.4 * size && (-0.6 * size..WIDEST_GAP * size).contains(&gap) {
                line.text = format!("{} {}", line.text.trim_end(), piece.text.trim_start());
                line.right = line.right.max(piece.right);
                line.size = size;
                line.is_bold &= piece.is_bold;
                continue;
            }
        }
        let Piece { text, left, right, y, size, is_bold } = piece;
        lines.push(PlacedLine { text: text.trim().to_string(), left, right, y, size, is_bold });
    }
    lines
}

/// Cuts a region at its widest white gap, columns before rows, until there is none, and outputs the rest from top to bottom.
fn cut(region: &mut [Piece], depth: usize, ordered: &mut Vec<Piece>) {
    const DEEPEST: usize = 24;
    const MIN_GUTTER: f64 = 0.9;
    const MIN_ROW_GAP: f64 = 0.6;
    let size = median(region.iter().map(|piece| piece.size));
    if depth < DEEPEST && region.len() > 1 {
        region.sort_by(|a, b| a.left.total_cmp(&b.left));
        let gutter = widest_gap(region.iter().map(|piece| (piece.left, piece.right)), MIN_GUTTER * size);
        if let Some(at) = gutter.filter(|at| is_column(&region[..*at]) && is_column(&region[*at..])) {
            let (left, right) = region.split_at_mut(at);
            cut(left, depth + 1, ordered);
            cut(right, depth + 1, ordered);
            return;
        }
        region.sort_by(|a, b| b.y.total_cmp(&a.y));
        let rows = widest_gap(
            region.iter().map(|piece| (-piece.y - 0.8 * piece.size, -piece.y + 0.2 * piece.size)),
            MIN_ROW_GAP * size,
        );
        if let Some(at) = rows {
            let (above, below) = region.split_at_mut(at);
            cut(above, depth + 1, ordered);
            cut(below, depth + 1, ordered);
            return;
        }
    }
    // Baselines of one line differ slightly; rounding to half a line makes them equal.
    let row = |piece: &Piece| (piece.y / (0.5 * size.max(1.0))).round();
    region.sort_by(|a, b| row(b).total_cmp(&row(a)).then(a.left.total_cmp(&b.left)));
    ordered.extend(region.iter().cloned());
}

/// A column has several lines; a single cell next to a gap has not.
fn is_column(region: &[Piece]) -> bool {
    const MIN_LINES: usize = 3;
    region.len() >= MIN_LINES
}

/// The index of the interval after the widest gap of at least `least`; intervals are sorted by their start.
fn widest_gap(intervals: impl Iterator<Item = (f64, f64)>, least: f64) -> Option<usize> {
    let mut end = f64::INFINITY;
    let mut widest = (least, None);
    for (at, (from, to)) in intervals.enumerate() {
        if at == 0 {
            end = to;
            continue;
        }
        if from - end >= widest.0 {
            widest = (from - end, Some(at));
        }
        end = end.max(to);
    }
    widest.1
}

/// The median; 0 without values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, left: f64, y: f64) -> Piece {
        Piece { text: text.into(), left, right: left + 200.0, y, size: 10.0, is_bold: false }
    }

    #[test]
    fn columns_written_across_are_read_one_after_the_other() {
        let mut pieces = vec![Piece { right: 500.0, ..piece("title", 50.0, 760.0) }];
        // Every second row is written after the one below it, as no reader would.
        for row in [1, 0, 3, 2, 5, 4, 7, 6] {
            let y = 700.0 - 12.0 * f64::from(row);
            pieces.push(piece(&format!("l{row}"), 50.0, y));
            pieces.push(piece(&format!("r{row}"), 300.0, y));
        }
        let found: Vec<String> = lines(pieces).into_iter().map(|line| line.text).collect();
        let expected: Vec<String> = std::iter::once("title".into())
            .chain((0..8).map(|row| format!("l{row}")))
            .chain((0..8).map(|row| format!("r{row}")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn columns_drawn_row_by_row_are_not_woven_into_each_other() {
        let mut pieces = vec![Piece { right: 500.0, ..piece("title", 50.0, 760.0) }];
        for row in 0..12 {
            let y = 700.0 - 12.0 * f64::from(row);
            // The gutter is narrower than what parts words of one line from a far cell.
            pieces.push(Piece { right: 282.0, ..piece(&format!("l{row}"), 50.0, y) });
            pieces.push(piece(&format!("r{row}"), 300.0, y));
        }
        for gutter in [300.0, 294.0] {
            let mut pieces = pieces.clone();
            pieces.iter_mut().filter(|piece| piece.left == 300.0).for_each(|piece| piece.left = gutter);
            let found: Vec<String> = lines(pieces).into_iter().map(|line| line.text).collect();
            let columns = (0..12).map(|row| format!("l{row}")).chain((0..12).map(|row| format!("r{row}")));
            assert_eq!(
                found,
                std::iter::once("title".to_string()).chain(columns).collect::<Vec<_>>(),
                "gutter at {gutter}"
            );
        }
        // Cells of a table of few rows stay beside each other.
        let cells = [("a", 50.0, 100.0), ("b", 300.0, 100.0), ("c", 50.0, 88.0), ("d", 300.0, 88.0)];
        let table = cells.map(|(text, left, y)| Piece { right: left + 40.0, ..piece(text, left, y) });
        let found: Vec<String> = lines(table.to_vec()).into_iter().map(|line| line.text).collect();
        assert_eq!(found, ["a", "b", "c", "d"]);
    }

    #[test]
    fn the_order_of_the_page_is_kept_where_it_is_one() {
        let mut pieces: Vec<Piece> =
            (0..8).map(|row| piece(&format!("l{row}"), 50.0, 700.0 - 12.0 * f64::from(row))).collect();
        pieces.extend((0..8).map(|row| piece(&format!("r{row}"), 300.0, 700.0 - 12.0 * f64::from(row))));
        let found: Vec<String> = lines(pieces.clone()).into_iter().map(|line| line.text).collect();
        assert_eq!(found, pieces.into_iter().map(|piece| piece.text).collect::<Vec<_>>());
    }
}
