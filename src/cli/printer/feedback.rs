//! Output of what was learned from sessions, and how much it improves the results.

use super::{list, out, safe_line, turns};
use lakeward_agent::session::TableUse;
use lakeward_core::text::{counted, shown};
use lakeward_eval::compare::PairedDifference;
use lakeward_eval::feedback::FeedbackReport;

/// Characters of a request in a list.
const REQUEST_CHARS: usize = 100;

/// The scores before and after learning, by stage.
pub fn report(report: &FeedbackReport) {
    turns::reader(&report.produced);
    let mut table = list();
    let ndcg = format!("nDCG@{}", report.k);
    table.set_header([
        "sessions",
        "tested requests",
        "of",
        &ndcg,
        "after",
        "difference",
        "hit@1",
        "after",
        "difference",
    ]);
    for stage in &report.stages {
        let mut lead = format!("{} ({} found in the list)", stage.sessions, stage.found);
        for scores in &stage.scores {
            let [ndcg, ndcg_after] = scores.ndcg;
            let [hit, hit_after] = scores.hit_at_1;
            table.add_row([
                std::mem::take(&mut lead),
                scores.requests.clone(),
                scores.count.to_string(),
                format!("{ndcg:.3}"),
                format!("{ndcg_after:.3}"),
                interval(&scores.ndcg_difference),
                format!("{hit:.3}"),
                format!("{hit_after:.3}"),
                interval(&scores.hit_difference),
            ]);
        }
    }
    out(&table.to_string());
    out(&format!(
        "{}: known: a session accepted a table relevant to the request; others: none did; 95% intervals by paired bootstrap",
        report.benchmark
    ));
}

fn interval(difference: &PairedDifference) -> String {
    format!("{:+.3} [{:+.3}, {:+.3}]", difference.mean, difference.low, difference.high)
}

/// The learned uses, oldest first.
pub fn uses(uses: &[TableUse], unread: usize) {
    for TableUse { at, operation, table, request } in uses {
        let day = at.get(..10).unwrap_or(at);
        safe_line(&format!("{day}  {operation}  {table}  “{}”", shown(request, REQUEST_CHARS)));
    }
    let unread =
        if unread > 0 { format!("; {} cannot be read", counted(unread as u64, "line")) } else { String::new() };
    out(&format!("{} of tables for requests{unread}", counted(uses.len() as u64, "use")));
}
