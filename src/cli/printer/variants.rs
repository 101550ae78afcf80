//! Output of `lakeward eval` for variants: small tables per group, each narrow enough for a terminal of 100 columns.

use super::{list, out, right_align};
use lakeward_eval::report::{EvalReport, GroupReport, SystemReport};
use lakeward_eval::subset::Subset;
use lakeward_eval::variant::table::{
    CUTS, MEASURES, WORK_COLUMNS, WORK_LEGEND, accounted, difference, subset_sentence, work_cells,
};

/// Characters of a line of running text.
const WIDTH: usize = 100;

/// The paper's measures of the variants among `systems`, the cost of their answers, and the effect of failures.
pub fn tables(k: usize, systems: &[(&SystemReport, &GroupReport)]) {
    let variants = accounted(systems);
    if variants.is_empty() {
        return;
    }
    for pair in MEASURES {
        let mut table = list();
        let mut header = vec!["variant".to_string()];
        header.extend(pair.iter().flat_map(|(name, _)| CUTS.map(|cut| format!("{name}@{cut}"))));
        table.set_header(header);
        for (name, group, _) in &variants {
            let mut cells = vec![name.to_string()];
            let values = pair.iter().flat_map(|(_, measure)| CUTS.map(|cut| measure(&group.raw.at(cut))));
            cells.extend(values.map(|value| format!("{value:.3}")));
            table.add_row(cells);
        }
        right_align(&mut table, &(1..=2 * CUTS.len()).collect::<Vec<_>>());
        out(&table.trim_fmt());
    }
    let mut table = list();
    table.set_header(std::iter::once("variant").chain(WORK_COLUMNS));
    for (name, _, work) in &variants {
        table.add_row(std::iter::once(name.to_string()).chain(work_cells(work)));
    }
    right_align(&mut table, &(1..=WORK_COLUMNS.len()).collect::<Vec<_>>());
    out(&table.trim_fmt());
    faults(k, &variants.iter().map(|(name, group, _)| (*name, *group)).collect::<Vec<_>>());
}

/// The legend of the columns, if a variant was shown.
pub fn legend(report: &EvalReport) {
    if report.variants.is_some() {
        paragraph(WORK_LEGEND);
        out("");
    }
}

fn faults(k: usize, variants: &[(&str, &GroupReport)]) {
    let mut table = list();
    table.set_header(["variant", "fails", &format!("nDCG@{k}"), "difference", "95% interval", "answered", "partial"]);
    for (name, group) in variants {
        for fault in group.work.iter().flat_map(|work| &work.faults) {
            let (mean, interval) = difference(fault);
            table.add_row([
                name.to_string(),
                fault.component.name().to_string(),
                format!("{:.3}", fault.ndcg),
                mean,
                interval,
                format!("{:.2}", fault.answered),
                format!("{:.2}", fault.partial),
            ]);
        }
    }
    if table.row_count() > 0 {
        right_align(&mut table, &[2, 3, 5, 6]);
        out(&table.trim_fmt());
    }
}

/// The subset of the benchmark that was used.
pub fn subset(subset: &Subset) {
    paragraph(&subset_sentence(subset));
    out("");
}

/// Running text in lines of at most [`WIDTH`] characters.
fn paragraph(text: &str) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out(&line);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out(&line);
}
