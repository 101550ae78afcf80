//! What was learned from sessions, and what that is worth, for people.

use super::{list, out, safe_line};
use lakeward_agent::session::TableUse;
use lakeward_core::text::{counted, shown};
use lakeward_eval::compare::PairedDifference;
use lakeward_eval::feedback::FeedbackReport;

/// Characters of a request in a list.
const REQUEST_CHARS: usize = 100;

/// Before and after, stage by stage.
pub fn report(report: &FeedbackReport) {
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
        "{}: known: a session took a table that is relevant to the request; others: none did; 95% intervals by paired bootstrap",
        report.benchmark
    ));
}

fn interval(difference: &PairedDifference) -> String {
    format!("{:+.3} [{:+.3}, {:+.3}]", difference.mean, difference.low, difference.high)
}

/// What stands, oldest first.
pub fn uses(uses: &[TableUse], unread: usize) {
    for known in uses {
        let day = known.at.get(..10).unwrap_or(&known.at);
        safe_line(&format!("{day}  {}  {}  “{}”", known.operation, known.table, shown(&known.request, REQUEST_CHARS)));
    }
    let unread =
        if unread > 0 { format!("; {} cannot be read", counted(unread as u64, "line")) } else { String::new() };
    out(&format!("{} of a table for a request{unread}", counted(uses.len() as u64, "use")));
}
