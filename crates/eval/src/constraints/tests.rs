//! Scores of what is wanted, on dialogues whose reading is plain.

use std::fs;

use super::*;

/// The counts of a field: what is in force, and what is replaced.
fn counts(scores: &ConstraintScores, field: Field) -> [[u64; 3]; 2] {
    let own = scores.fields.iter().find(|own| own.field == field).unwrap();
    [own.in_force, own.overrides].map(|items| [items.right, items.predicted, items.gold])
}

#[test]
fn what_is_in_force_and_what_is_replaced_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let line = |first: &str, second: &str| {
        format!(
            r#"{{"id":"d1","turns":[{{"text":"Thefts in Riga since 2012","constraints":{first}}},{{"text":"not Riga, Tallinn","constraints":{second},"overrides":[{{"constraint":"geography","was":"Riga","set_in_turn":1}}]}}]}}"#
        )
    };
    let first = r#"{"topic":"the thefts","geography":"Riga","time_range":"2012 onward","granularity":null,"required_columns":[],"excluded":[]}"#;
    let second = r#"{"topic":"theft","geography":"Tallinn","time_range":"after 2011"}"#;
    let put = |text: String| fs::write(folder.path().join(FILE), text).unwrap();
    put(line(first, second));
    let scores = score(folder.path()).unwrap().unwrap();
    assert_eq!((scores.dialogues, scores.turns), (1, 2));
    assert_eq!(counts(&scores, Field::TimeRange), [[2, 2, 2], [0, 0, 0]], "{scores:?}");
    assert_eq!(counts(&scores, Field::Geography), [[2, 2, 2], [1, 1, 1]]);
    assert_eq!(counts(&scores, Field::Topic)[0], [2, 2, 2], "plurals and articles do not count");
    assert_eq!(scores.overrides, ItemScores { precision: 1.0, recall: 1.0, f1: 1.0, right: 1, predicted: 1, gold: 1 });
    assert_eq!(scores.wrong, []);

    put(line(&first.replace("Riga", "Jelgava Riga"), second));
    let scores = score(folder.path()).unwrap().unwrap();
    assert_eq!(counts(&scores, Field::Geography)[0], [2, 2, 3]);
    let wrong = &scores.wrong[0];
    assert_eq!(
        (wrong.turn, wrong.field, wrong.predicted.as_slice()),
        (1, Field::Geography, ["Riga".to_string()].as_slice())
    );

    put(r#"{"id":"d1","turns":[{"text":"Thefts"}]}"#.to_string());
    assert_eq!(score(folder.path()).unwrap(), None, "no gold standard");
    put(r#"{"id":"d1","turns":[{"text":"Thefts","overrides":[{"constraint":"colour","was":"red"}]}]}"#.to_string());
    assert!(score(folder.path()).unwrap_err().to_string().contains("colour"));
}
