//! Columns by meaning: the labelled asks over the sample lake, and asks that are hostile.

#![allow(clippy::print_stdout, reason = "the measured figures are worth reading")]

use std::path::Path;

use lakeward_core::text::NameParts;
use serde_json::Value;

use crate::place::sample;

/// Shares of asks whose first answer, and one of whose first five, is a target.
fn hits(asks: &[Value], answers: impl Fn(&str) -> Vec<(String, String)>) -> (f64, f64) {
    let (mut first, mut five) = (0.0, 0.0);
    for ask in asks {
        let targets = ask["targets"].as_array().expect("targets");
        let is_target = |(table, column): &(String, String)| {
            targets.iter().any(|target| target["table"] == **table && target["column"] == **column)
        };
        let rank = answers(ask["ask"].as_str().expect("an ask")).iter().take(5).position(is_target);
        first += f64::from(u8::from(rank == Some(0)));
        five += f64::from(u8::from(rank.is_some()));
    }
    (first / asks.len() as f64, five / asks.len() as f64)
}

/// Measured: .82 and .96; column names alone .2 and .3 (`eval/search.md`).
#[test]
fn columns_are_found_by_what_they_hold() {
    let lake = sample();
    let labels = std::fs::read_to_string(Path::new(crate::REPOSITORY).join("labels/columns.jsonl")).expect("labels");
    let asks: Vec<Value> = labels.lines().map(|line| serde_json::from_str(line).expect("an ask")).collect();
    let (first, five) = hits(&asks, |ask| {
        let found = lake.columns(ask, 5).expect("columns");
        found.iter().map(|answer| (answer.table.clone(), answer.column.clone())).collect()
    });
    println!("hit@1 {first:.3}, hit@5 {five:.3}");
    let mut columns: Vec<(String, String, NameParts)> = Vec::new();
    for table in lake.index().tables() {
        for column in lake.index().dataset(table).expect("a table").columns() {
            let id = lake.index().id(table).expect("an id").to_string();
            columns.push((id, column.name.clone(), NameParts::of(&column.name)));
        }
    }
    let (by_name, _) = hits(&asks, |ask| {
        let asked = NameParts::of(ask);
        let like = |of: &(String, String, NameParts)| asked.likeness(&of.2);
        let best = columns.iter().max_by(|a, b| like(a).total_cmp(&like(b)));
        best.map(|(table, column, _)| (table.clone(), column.clone())).into_iter().collect()
    });
    assert!(first > 0.77 && five > 0.92, "hit@1 {first:.3}, hit@5 {five:.3}");
    assert!(first > by_name + 0.3, "names alone have {by_name:.3}");
}

#[test]
fn an_answer_says_what_matched_and_any_text_is_an_ask() {
    let lake = sample();
    let found = lake.columns("Lisbon", 2).expect("columns");
    assert!(found.iter().all(|answer| answer.values == ["Lisbon"]), "{found:?}");
    assert!(found[0].reason.contains("has `Lisbon`"), "{}", found[0].reason);
    let found = lake.columns("which columns hold latitudes of airports", 5).expect("columns");
    assert!(found[0].column.starts_with("lat") && found[0].min.is_some() && found[0].max.is_some(), "{found:?}");
    let of_one_table = found.iter().filter(|answer| answer.table == found[0].table).count();
    assert!(of_one_table <= 3);
    let long = "population ".repeat(10_000);
    for hostile in ["", "   ", "columns", "\u{202e}\u{0}", "SELECT * FROM \"x\"; --", "🦀🦀🦀", &long] {
        let found = lake.columns(hostile, 3).expect(hostile);
        assert!(found.len() <= 3 && found.iter().all(|answer| (0.0..=1.0).contains(&answer.score)));
    }
}
