//! A turn that can be read in several ways: the likeliest plans are offered one after the other.

use std::fmt::Write;

use lakeward::Lakeward;
use lakeward_agent::Request;
use lakeward_agent::recommend::RankedOperation;

use crate::place::Folder;

/// What happened in a climbing hall.
fn lake() -> (Folder, Lakeward) {
    let mut incidents = "happened_on,sector,kind,severity,ambulance,member_id\n".to_string();
    for day in 0..90 {
        let (sector, kind) = (["Cave", "Tower", "Slab"][day % 3], ["sprain", "cut", "bruise"][day % 4 % 3]);
        let (severity, ambulance) = (["low", "severe"][day % 2], ["yes", "no"][day % 5 % 2]);
        let date = format!("2024-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
        writeln!(incidents, "{date},{sector},{kind},{severity},{ambulance},M{:03}", day % 37).expect("text");
    }
    let folder = Folder::of(&[("incidents.csv", &incidents)]);
    let lakeward = folder.lake();
    (folder, lakeward)
}

fn operations(lakeward: &Lakeward, text: &str) -> Vec<RankedOperation> {
    let mut session = lakeward.new_session();
    let request = Request { text: text.into(), table: Some("incidents".into()), ..Request::default() };
    lakeward.ask(&mut session, &request).expect("an answer").0.into_inner().operations
}

#[test]
fn other_plans_are_offered_behind_the_likeliest() {
    let (_folder, lakeward) = lake();
    let found = operations(&lakeward, "how often did we have to call an ambulance");
    assert!(found.is_sorted_by(|a, b| a.score >= b.score), "the likeliest comes first");
    let (first, others) = found.split_first().expect("operations");
    let others: Vec<&RankedOperation> = others.iter().filter(|other| other.reason.starts_with("or: ")).collect();
    assert!(!others.is_empty() && others.len() <= 2, "{found:?}");
    for other in others {
        assert!(other.runnable.is_some() && other.runnable != first.runnable && other.sql.is_some());
    }
    // What is said plainly is one plan, or nearly.
    let plain = operations(&lakeward, "number of rows per sector");
    assert!(plain[0].score > 0.7 && plain[1..].iter().all(|other| other.score < 0.15), "{plain:?}");
}
