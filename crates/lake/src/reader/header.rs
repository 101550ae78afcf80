//! Column names from the header cells: trimmed, never empty, unique.

use std::collections::HashMap;
use std::collections::HashSet;

use super::Column;
use super::report::{ReadReport, RepairKind};
use super::sniff::RowWidth;
use lakeward_core::text::on_one_line;

/// Names the columns of a table whose header cells are `written`, and reports the repairs at `line`.
///
/// Runs of white space become one blank. An empty name becomes e.g. `column_7` for the seventh column; a name that an earlier
/// column has becomes `name_2`, `name_3`, ….
pub(super) fn name_columns(written: Vec<String>, report: &mut ReadReport, line: Option<u64>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::with_capacity(written.len());
    // Names in the header are reserved for the first column that has them.
    let plain: Vec<String> = written.iter().map(|header| on_one_line(header)).collect();
    let mut taken: HashSet<String> = plain.iter().cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let (mut empty, mut duplicate) = (0, 0);
    for (position, (header, plain)) in written.into_iter().zip(plain).enumerate() {
        let is_empty = plain.is_empty();
        empty += u64::from(is_empty);
        let base = if is_empty { format!("column_{}", position + 1) } else { plain };
        let is_first = !seen.contains_key(&base) && (!is_empty || !taken.contains(&base));
        duplicate += u64::from(!is_first && !is_empty);
        let name =
            if is_first { base.clone() } else { numbered(&base, &mut taken, seen.entry(base.clone()).or_insert(1)) };
        seen.entry(base).or_insert(1);
        taken.insert(name.clone());
        columns.push(Column { name, header });
    }
    report.add(RepairKind::EmptyHeaders, empty, line);
    report.add(RepairKind::DuplicateHeaders, duplicate, line);
    columns
}

fn numbered(base: &str, taken: &mut HashSet<String>, last: &mut usize) -> String {
    loop {
        *last += 1;
        let name = format!("{base}_{last}");
        if !taken.contains(&name) {
            return name;
        }
    }
}

/// The header's cells, extended to the rows' width where many rows are wider than it.
pub(super) fn fit_header(
    mut header: Vec<String>,
    widths: &[RowWidth],
    report: &mut ReadReport,
    line: u64,
) -> Vec<String> {
    let named = header.len();
    let wider: Vec<&RowWidth> = widths.iter().filter(|width| width.used > named).collect();
    if wider.is_empty() {
        return header;
    }
    let by_one = widths.iter().filter(|width| width.cells == named + 1).count();
    let is_row_names = widths.len() >= 2 && by_one * 20 >= widths.len() * 19 && wider.len() * 2 >= widths.len();
    if is_row_names && !header.iter().any(|name| name.trim().is_empty()) {
        report.add(RepairKind::RowNames, 1, Some(line));
        header.insert(0, String::new());
    } else if wider.len() * 10 >= widths.len() {
        let used = wider.iter().map(|width| width.used).max().unwrap_or(named);
        report.add(RepairKind::ExtraColumns, (used - named) as u64, Some(line));
        header.extend((1..=used - named).map(|number| format!("extra_{number}")));
    }
    header
}
