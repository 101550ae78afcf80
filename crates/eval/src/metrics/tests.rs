//! The metrics against values of trec_eval (made by `scripts/trec_eval_values.py`), and cases that trec_eval leaves open.

use std::collections::HashSet;
use std::fs;

use serde_json::Value;

use super::*;
use crate::benchmark::Problems;
use crate::layout;
use crate::run;

const TOLERANCE: f64 = 1e-6;

fn close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap_or_else(|| panic!("no {what}"));
    assert!((ours - theirs).abs() < TOLERANCE, "{what}: {ours} is not {theirs}");
}

fn lines(of: &Value) -> String {
    of.as_array().unwrap().iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect()
}

fn compare(scores: &Scores, theirs: &Value, query: &str) {
    for k in CUTS {
        let at = scores.at(k);
        for (name, ours) in [
            ("P", at.precision),
            ("recall", at.recall),
            ("success", at.hit),
            ("ndcg_cut", at.ndcg),
            ("map_cut", at.average_precision),
        ] {
            close(ours, &theirs[format!("{name}_{k}")], &format!("{query} {name}_{k}"));
        }
        let first = theirs["recip_rank"].as_f64().unwrap();
        let cut = if first * k as f64 >= 1.0 - 1e-9 { first } else { 0.0 };
        assert!((at.reciprocal_rank - cut).abs() < TOLERANCE, "{query} recip_rank at {k}");
    }
    close(scores.reciprocal_rank, &theirs["recip_rank"], query);
    close(scores.average_precision, &theirs["map"], query);
}

#[test]
fn every_measure_is_that_of_trec_eval() {
    let values: Value = serde_json::from_str(include_str!("trec_eval.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, lines(&values[name])).unwrap();
        path
    };
    let qrels = layout::read_qrels(&write("qrels"), &mut Problems::default()).unwrap();
    let unjudged = layout::read_unjudged(&write("unjudged")).unwrap();
    let (run, _) = run::read(&write("run")).unwrap();
    assert_eq!(run.len(), 40);
    for (query, ranking) in &run {
        let ranking: Vec<&str> = ranking.iter().map(|ranked| ranked.id.as_str()).collect();
        let both = score_both(&ranking, &qrels[query], unjudged.get(query), 10);
        compare(&both.raw, &values["raw"][query], query);
        if let Some(theirs) = values["condensed"].get(query) {
            compare(&both.condensed, theirs, query);
        }
    }
}

fn grades(pairs: &[(&str, i64)]) -> Grades {
    pairs.iter().map(|(id, grade)| (id.to_string(), *grade)).collect()
}

#[test]
fn the_ideal_ranking_scores_one_and_repeats_count_once() {
    let grades = grades(&[("a", 3), ("b", 1), ("c", 2), ("d", 0), ("e", -1)]);
    let ideal = ideal_ranking(&grades);
    assert_eq!(ideal, ["a", "c", "b"]);
    let scores = score(&ideal, &grades, 10);
    assert!((scores.at(10).ndcg - 1.0).abs() < 1e-12 && (scores.average_precision - 1.0).abs() < 1e-12);
    assert!((scores.at(5).precision - 0.6).abs() < 1e-12);
    assert_eq!(score(&["a", "a", "a", "c"], &grades, 10), score(&["a", "c"], &grades, 10));
    assert_eq!(score(&[], &grades, 10).at(10), AtDepth::default());
}

#[test]
fn condensing_never_drops_what_is_judged() {
    let grades = grades(&[("a", 1), ("b", 0)]);
    let unjudged: HashSet<String> = ["x", "a", "b"].map(String::from).into();
    let both = score_both(&["x", "b", "a"], &grades, Some(&unjudged), 10);
    assert!((both.raw.reciprocal_rank - 1.0 / 3.0).abs() < 1e-12);
    assert!((both.condensed.reciprocal_rank - 0.5).abs() < 1e-12);
}

#[test]
fn a_query_without_an_answer_counts_as_zero_in_the_mean() {
    let grades = grades(&[("a", 1)]);
    let (right, silent) = (score(&["a"], &grades, 10), score(&[], &grades, 10));
    let mean = mean([&right, &silent].into_iter()).unwrap();
    assert!((mean.at(10).ndcg - 0.5).abs() < 1e-12 && (mean.reciprocal_rank - 0.5).abs() < 1e-12);
    assert!(!is_scorable(&Grades::from([("a".to_string(), 0)])));
}
