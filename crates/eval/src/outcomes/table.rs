//! Whether a result is the table that was meant: columns are matched by their values, whatever their names and order, and rows are a
//! multiset, or a list where an order was asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::cell::{Cell, EXACT_WHOLE, date_forms};
use crate::layout::lines::bad_file;
use lakeward_core::error::Result;

/// Assignments of columns that are compared, and steps towards one, before two tables count as different.
const ASSIGNMENTS: usize = 20_000;
const STEPS: usize = 1_000_000;
/// Rows alike but for their fractions that are matched by search.
const SEARCHED: usize = 200;
/// Two cells of the columns that an order is by share a place if they differ by no more.
const TIED: f64 = 1e-12;

/// What counts as equal.
#[derive(Debug, Clone)]
pub struct Equality {
    /// Whether the result may have further columns.
    pub extra_columns: bool,
    /// Whether the order of rows counts.
    pub ordered: bool,
    /// Columns of the gold table by which rows are in order: rows equal in these may change places. All of them where it is empty.
    pub by: Vec<usize>,
    /// By what share of the greater one numbers with a fraction may differ.
    pub tolerance: f64,
}

/// A table, column by column.
pub struct Table {
    /// Names of the columns.
    pub names: Vec<String>,
    columns: Vec<Column>,
    /// Number of rows.
    pub rows: usize,
}

struct Column {
    texts: Vec<String>,
    cells: Vec<Cell>,
}

impl Table {
    /// Reads a CSV file in UTF-8 with a header, as far as one row more than `most`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Benchmark`] for a file that cannot be read.
    pub fn read(path: &Path, most: usize) -> Result<Self> {
        let bad = |error: csv::Error| bad_file(path, error.to_string());
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).map_err(bad)?;
        let header = reader.byte_headers().map_err(bad)?;
        let names: Vec<String> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let mut texts: Vec<Vec<String>> = vec![Vec::new(); names.len()];
        let mut rows = 0;
        for record in reader.byte_records().take(most.saturating_add(1)) {
            let record = record.map_err(bad)?;
            rows += 1;
            for (place, column) in texts.iter_mut().enumerate() {
                let text = String::from_utf8_lossy(record.get(place).unwrap_or_default());
                column.push(text.trim().to_string());
            }
        }
        let columns =
            texts.into_iter().map(|texts| Column { cells: texts.iter().map(|text| Cell::of(text)).collect(), texts });
        Ok(Self { names, columns: columns.collect(), rows })
    }

    /// Whether `result` is this table.
    pub fn is_met_by(&self, result: &Self, equality: &Equality) -> bool {
        let (wanted, found) = (self.columns.len(), result.columns.len());
        if self.rows != result.rows || found < wanted || (found != wanted && !equality.extra_columns) {
            return false;
        }
        if self.rows == 0 {
            return true;
        }
        let sorted: Vec<Vec<&Cell>> = result.columns.iter().map(|column| in_order(&column.cells)).collect();
        let mut fits = Vec::with_capacity(wanted);
        for gold in &self.columns {
            let partners = gold.partners(&result.columns, &sorted, equality.tolerance);
            if partners.is_empty() {
                return false;
            }
            fits.push(partners);
        }
        let mut places: Vec<usize> = (0..wanted).collect();
        places.sort_by_key(|place| fits[*place].len());
        let mut search = Assignment {
            gold: self,
            fits: &fits,
            places,
            equality,
            chosen: vec![(0, <&[Cell]>::default()); wanted],
            compared: 0,
            steps: 0,
        };
        search.complete(0)
    }
}

/// A column of the result that may be one of the gold table, by its place, as it is read for that.
type Partner<'t> = (usize, Cow<'t, [Cell]>);

impl Column {
    /// The columns of a result with the same values as this one.
    fn partners<'t>(&self, columns: &'t [Column], sorted: &[Vec<&Cell>], tolerance: f64) -> Vec<Partner<'t>> {
        let own = in_order(&self.cells);
        let fits = |cells: &[&Cell]| own.iter().zip(cells).all(|(a, b)| a.is_same(b, tolerance));
        let mut partners = Vec::new();
        for (place, (column, sorted)) in columns.iter().zip(sorted).enumerate() {
            if fits(sorted) {
                partners.push((place, Cow::Borrowed(column.cells.as_slice())));
            }
            for cells in self.other_readings(column) {
                if fits(&in_order(&cells)) {
                    partners.push((place, Cow::Owned(cells)));
                }
            }
        }
        partners
    }

    /// Other ways to read a column of a result beside this one: dates written otherwise, and names of months for 1 to 12.
    fn other_readings(&self, column: &Self) -> Vec<Vec<Cell>> {
        let mut readings = Vec::new();
        if !column.cells.iter().any(|cell| matches!(cell, Cell::Text(_))) {
            return readings;
        }
        let all_are = |holds: &dyn Fn(&Cell) -> bool| {
            let mut known = self.cells.iter().filter(|cell| **cell != Cell::Empty).peekable();
            known.peek().is_some() && known.all(holds)
        };
        let both = || column.texts.iter().zip(&column.cells);
        if all_are(&|cell| matches!(cell, Cell::Date(_))) {
            for form in 0..date_forms() {
                let read = both().map(|(text, cell)| match cell {
                    Cell::Empty => Some(Cell::Empty),
                    _ => Cell::of_date(text, form),
                });
                readings.extend(read.collect::<Option<Vec<Cell>>>());
            }
        }
        if all_are(&|cell| matches!(cell, Cell::Whole(1..=12))) {
            let read = both().map(|(text, cell)| match Cell::of_month(text).unwrap_or_else(|| cell.clone()) {
                cell @ (Cell::Whole(_) | Cell::Fraction(_) | Cell::Empty) => Some(cell),
                _ => None,
            });
            readings.extend(read.collect::<Option<Vec<Cell>>>());
        }
        readings
    }
}

fn in_order(cells: &[Cell]) -> Vec<&Cell> {
    let mut sorted: Vec<&Cell> = cells.iter().collect();
    sorted.sort();
    sorted
}

/// The search for a column of the result for each of the gold table.
struct Assignment<'t> {
    gold: &'t Table,
    fits: &'t [Vec<Partner<'t>>],
    /// Columns of the gold table, those with few partners first.
    places: Vec<usize>,
    equality: &'t Equality,
    /// The partner of each: its place and its cells.
    chosen: Vec<(usize, &'t [Cell])>,
    compared: usize,
    steps: usize,
}

impl Assignment<'_> {
    /// Whether the columns from `next` on have partners so that the rows match.
    fn complete(&mut self, next: usize) -> bool {
        if self.compared > ASSIGNMENTS || self.steps > STEPS {
            return false;
        }
        self.steps += 1;
        let Some(place) = self.places.get(next).copied() else {
            self.compared += 1;
            return self.rows_match();
        };
        let fits = self.fits;
        for (partner, cells) in &fits[place] {
            let is_taken = self.places[..next].iter().any(|earlier| self.chosen[*earlier].0 == *partner);
            if is_taken {
                continue;
            }
            self.chosen[place] = (*partner, &**cells);
            if self.complete(next + 1) {
                return true;
            }
        }
        false
    }

    fn rows_match(&self) -> bool {
        let gold: Vec<&[Cell]> = self.gold.columns.iter().map(|column| column.cells.as_slice()).collect();
        let found: Vec<&[Cell]> = self.chosen.iter().map(|(_, cells)| *cells).collect();
        let Equality { ordered, by, tolerance, .. } = self.equality;
        if *ordered && by.is_empty() {
            let same = |(a, b): (&&[Cell], &&[Cell])| a.iter().zip(*b).all(|(a, b)| a.is_same(b, *tolerance));
            return gold.iter().zip(&found).all(same);
        }
        let loose: Vec<bool> = gold.iter().zip(&found).map(|(a, b)| is_loose(a, b, *tolerance)).collect();
        let same = |rows: Range<usize>| rows_match([&gold, &found], &loose, *tolerance, rows);
        if *ordered { ties(&gold, by, self.gold.rows).into_iter().all(same) } else { same(0..self.gold.rows) }
    }
}

/// Runs of rows that are equal in the columns `by`.
fn ties(columns: &[&[Cell]], by: &[usize], rows: usize) -> Vec<Range<usize>> {
    let (mut runs, mut start) = (Vec::new(), 0);
    for row in 1..=rows {
        let continues =
            row < rows && by.iter().all(|place| columns[*place][row].is_same(&columns[*place][start], TIED));
        if !continues {
            runs.push(start..row);
            start = row;
        }
    }
    runs
}

/// Whether the cells of two columns are compared within the tolerance.
fn is_loose(gold: &[Cell], found: &[Cell], tolerance: f64) -> bool {
    let is_number = |cell: &Cell| matches!(cell, Cell::Whole(_) | Cell::Fraction(_));
    gold.iter().chain(found).any(Cell::is_fraction) || (tolerance > EXACT_WHOLE && gold.iter().any(is_number))
}

/// Whether `rows` of the gold table and of a result are the same as multisets: equal in columns that are compared exactly, and then one to one
/// in the `loose` ones.
fn rows_match(tables: [&[&[Cell]]; 2], loose: &[bool], tolerance: f64, rows: Range<usize>) -> bool {
    let mut alike: BTreeMap<Vec<&Cell>, [Vec<Vec<&Cell>>; 2]> = BTreeMap::new();
    for (side, columns) in tables.into_iter().enumerate() {
        for row in rows.clone() {
            let of = |wanted: bool| {
                let chosen = columns.iter().zip(loose).filter(move |(_, loose)| **loose == wanted);
                chosen.map(|(column, _)| &column[row]).collect::<Vec<&Cell>>()
            };
            alike.entry(of(false)).or_default()[side].push(of(true));
        }
    }
    alike.into_values().all(|[gold, found]| gold.len() == found.len() && fractions_match(gold, found, tolerance))
}

/// Whether rows match one to one, in their order or, where values are close to each other, in any.
fn fractions_match(mut gold: Vec<Vec<&Cell>>, mut found: Vec<Vec<&Cell>>, tolerance: f64) -> bool {
    gold.sort();
    found.sort();
    let same = |a: &[&Cell], b: &[&Cell]| a.iter().zip(b).all(|(a, b)| a.is_same(b, tolerance));
    if gold.iter().zip(&found).all(|(a, b)| same(a, b)) {
        return true;
    }
    if gold.len() > SEARCHED {
        return false;
    }
    let fits: Vec<Vec<usize>> =
        gold.iter().map(|a| (0..found.len()).filter(|place| same(a, &found[*place])).collect()).collect();
    let mut partner = vec![None; found.len()];
    (0..gold.len()).all(|row| is_placed(row, &fits, &mut partner, &mut vec![false; found.len()]))
}

/// Finds a partner for `row`, moving others to another of theirs (augmenting paths, Kuhn 1955).
fn is_placed(row: usize, fits: &[Vec<usize>], partner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for place in &fits[row] {
        if std::mem::replace(&mut seen[*place], true) {
            continue;
        }
        if partner[*place].is_none_or(|other| is_placed(other, fits, partner, seen)) {
            partner[*place] = Some(row);
            return true;
        }
    }
    false
}
