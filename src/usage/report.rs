//! What users' doings say about the answers.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

use super::{Did, UsageEvent};

/// Requests that are listed.
const LISTED: usize = 20;

/// How answers were used.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageReport {
    /// The program's version.
    pub lakeward: &'static str,
    /// Answers with tables that were shown.
    pub shown: usize,
    /// Those of which a table was opened, accepted or used.
    pub clicked: usize,
    /// `clicked` of `shown`, 0..=1.
    pub click_through_rate: f64,
    /// Mean of 1/rank of the best table that was opened, accepted or used, over all `shown`; 0 for those of which none was.
    pub mean_reciprocal_rank: f64,
    /// Answers of which a table was accepted.
    pub accepted: usize,
    /// Answers of which a table was used in an operation that ran.
    pub ran: usize,
    /// Requests that nothing in the lake seemed to answer, or of whose answers none was opened; most frequent first.
    pub unanswered: Vec<Unanswered>,
    /// The comparison of two rankings, where answers were interleaved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

/// A request without an answer.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unanswered {
    /// The request.
    pub request: String,
    /// How often it was asked.
    pub times: usize,
    /// Whether nothing was found; else nothing was opened.
    pub nothing_found: bool,
}

/// Two rankings whose answers were interleaved: `a` is the one in use, `b` the one of `[usage] compare`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Interleaved answers of which something was opened.
    pub answers: usize,
    /// Answers in which more was opened of `a`.
    pub a: usize,
    /// Answers in which more was opened of `b`.
    pub b: usize,
    /// Probability of a difference this great between equal rankings: two-sided sign test without ties.
    pub p: f64,
}

impl UsageReport {
    /// The report on `events`, oldest first.
    pub fn of(events: &[UsageEvent]) -> Self {
        let shown: Vec<&UsageEvent> = events.iter().filter(|event| event.did == Did::Shown).collect();
        let mut done: HashMap<&str, Vec<(Did, &str)>> = HashMap::new();
        for event in events.iter().filter(|event| event.did != Did::Shown) {
            let doings = event.tables.iter().map(|table| (event.did, table.as_str()));
            done.entry(event.answer.as_str()).or_default().extend(doings);
        }
        let mut report = Self { lakeward: env!("CARGO_PKG_VERSION"), ..Self::default() };
        let mut without: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        let (mut wins, mut compared) = ([0, 0], 0);
        for answer in shown {
            let doings = done.get(answer.answer.as_str()).map(Vec::as_slice).unwrap_or_default();
            let clicked: Vec<usize> = (0..answer.tables.len())
                .filter(|place| doings.iter().any(|(_, table)| *table == answer.tables[*place]))
                .collect();
            let has = |did: Did| usize::from(doings.iter().any(|it| it.0 == did));
            report.shown += usize::from(!answer.tables.is_empty());
            report.clicked += usize::from(!clicked.is_empty());
            report.mean_reciprocal_rank += clicked.first().map_or(0.0, |place| 1.0 / (place + 1) as f64);
            report.accepted += has(Did::Accepted);
            report.ran += has(Did::Ran);
            if clicked.is_empty() {
                *without.entry((&answer.request, answer.nothing_found || answer.tables.is_empty())).or_default() += 1;
            } else if !answer.rankings.is_empty() {
                let of = |which| {
                    clicked.iter().filter(|place| answer.rankings.as_bytes().get(**place) == Some(&which)).count()
                };
                compared += 1;
                match of(b'a').cmp(&of(b'b')) {
                    std::cmp::Ordering::Greater => wins[0] += 1,
                    std::cmp::Ordering::Less => wins[1] += 1,
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        let of = report.shown.max(1) as f64;
        report.click_through_rate = report.clicked as f64 / of;
        report.mean_reciprocal_rank /= of;
        report.unanswered = without
            .into_iter()
            .map(|((request, nothing_found), times)| Unanswered { request: request.into(), times, nothing_found })
            .collect();
        report.unanswered.sort_by(|a, b| b.times.cmp(&a.times).then(a.request.cmp(&b.request)));
        report.unanswered.truncate(LISTED);
        report.comparison =
            (compared > 0).then(|| Comparison { answers: compared, a: wins[0], b: wins[1], p: sign_test(wins) });
        report
    }
}

/// P(a split at least as uneven | p = ½), by the binomial distribution.
fn sign_test([a, b]: [usize; 2]) -> f64 {
    Binomial::new(0.5, (a + b) as u64).map_or(1.0, |even| (2.0 * even.cdf(a.min(b) as u64)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(answer: &str, did: Did, tables: &[&str]) -> UsageEvent {
        let tables = tables.iter().map(|table| table.to_string()).collect();
        UsageEvent { request: format!("request {answer}"), tables, ..super::super::event(answer, did) }
    }

    #[test]
    fn clicks_are_counted_by_answer_and_by_the_rank_of_the_first() {
        let mut events = vec![
            event("1", Did::Shown, &["a", "b", "c"]),
            event("2", Did::Shown, &["a", "b"]),
            event("3", Did::Shown, &[]),
            event("1", Did::Opened, &["c"]),
            event("1", Did::Opened, &["b"]),
            event("1", Did::Ran, &["b", "elsewhere"]),
            event("9", Did::Opened, &["a"]),
        ];
        events[0].rankings = "aba".into();
        let report = UsageReport::of(&events);
        assert_eq!((report.shown, report.clicked, report.accepted, report.ran), (2, 1, 0, 1));
        assert_eq!((report.click_through_rate, report.mean_reciprocal_rank), (0.5, 0.25));
        let unanswered: Vec<(&str, bool)> =
            report.unanswered.iter().map(|it| (it.request.as_str(), it.nothing_found)).collect();
        assert_eq!(unanswered, [("request 2", false), ("request 3", true)]);
        assert_eq!(report.comparison, Some(Comparison { answers: 1, a: 0, b: 0, p: 1.0 }));
        assert_eq!(UsageReport::of(&[]).click_through_rate, 0.0);
    }

    /// Against the tables of the binomial distribution.
    #[test]
    fn the_sign_test_is_the_binomial_one() {
        for (wins, p) in [([5, 0], 0.0625), ([8, 2], 0.109_375), ([0, 0], 1.0), ([6, 6], 1.0), ([900, 1000], 0.0231)] {
            assert!((sign_test(wins) - p).abs() < 5e-4, "{wins:?}: {}", sign_test(wins));
        }
    }
}
