//! Filters of a catalogue: when it was published apart from what it covers, levels, institutions, and values that mean the same.

use std::fs;

use super::{indexed, say, write_forms};
use lakeward::Lakeward;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;

fn line(id: &str, issued: &str, temporal: &str, place: &str, team: &str, levels: &str) -> String {
    format!(
        "{{\"id\": \"{id}\", \"title\": \"Air quality {id}\", \"issued\": \"{issued}\", \"temporal\": \"{temporal}\", \"spatial\": [\"{place}\"], \
         \"institutions\": [\"{team}\"], \"taxonomy\": [\"{levels}\"]}}\n"
    )
}

fn catalogue() -> (tempfile::TempDir, Lakeward) {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        line("a", "2021-03-04", "1965/1990", "Quebec", "Air Quality Team (GLA)", "Earth science > Atmosphere"),
        line("b", "2022", "1995/2021", "Québec", "Air Quality Team at the GLA", "Earth science > Hydrology"),
        line("c", "2015-06-01", "1970/2021", "Norway", "Ministry of Health", "Biology > Zoology"),
        line("d", "2010-06-01", "2021/2022", "Norway", "Ministry of Health", "Biology > Botany"),
    ];
    fs::write(folder.path().join("records.jsonl"), lines.concat()).expect("a file");
    let (lakeward, stats) = indexed(folder.path());
    assert_eq!((stats.records, stats.records_left_out), (4, 0), "{:?}", stats.problems);
    (folder, lakeward)
}

/// The records that meet all that `text` states, and the notes.
fn met(lakeward: &Lakeward, text: &str) -> (Vec<String>, Vec<String>) {
    let mut session = lakeward.new_session();
    let answer = say(lakeward, &mut session, text);
    let passing = answer
        .tables
        .iter()
        .filter(|table| table.evidence.record.as_ref().is_some_and(|record| record.relaxed.is_empty()));
    let mut ids: Vec<String> = passing.map(|table| table.table.clone()).collect();
    ids.sort();
    (ids, answer.notes.into_iter().map(String::from).collect())
}

#[test]
fn published_is_not_covered() {
    let (_folder, lakeward) = catalogue();
    for (text, expected) in [
        ("air quality data published since 2021", vec!["a", "b"]),
        ("air quality data released before 2016", vec!["c", "d"]),
        ("air quality data published in 2022", vec!["b"]),
        ("air quality data that covers 2021", vec!["b", "c", "d"]),
        ("air quality data going back to at least 1970", vec!["a", "c"]),
        ("air quality data covering 1990, published since 2015", vec!["a", "c"]),
    ] {
        assert_eq!(met(&lakeward, text).0, expected, "{text}");
    }
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "air quality data published since 2021");
    let year = session.demands.iter().find(|demand| demand.role == Respect::Published).expect("a demand");
    assert_eq!(year.value, Demanded::Period(RequestedYears::StartsIn(2021)));
    // A period said later is one more demand, another publication date takes the place of the first.
    say(&lakeward, &mut session, "make it published since 2022");
    let years: Vec<String> =
        session.demands.iter().filter(|demand| demand.role == Respect::Published).map(ToString::to_string).collect();
    assert_eq!(years, ["2022 onward"]);
}

#[test]
fn values_that_mean_the_same_are_one_and_it_is_said() {
    let (_folder, lakeward) = catalogue();
    for text in ["air quality in Quebec", "air quality in Québec"] {
        let (ids, notes) = met(&lakeward, text);
        assert_eq!(ids, ["a", "b"], "{text}: {notes:?}");
        assert!(notes.iter().any(|note| note.contains("is taken for the same as")), "{text}: {notes:?}");
    }
    let (ids, notes) = met(&lakeward, "air quality figures from the Air Quality Team at the GLA");
    assert_eq!(ids, ["a", "b"], "{notes:?}");
    let (_, notes) = met(&lakeward, "air quality in Norway");
    assert!(notes.iter().all(|note| !note.contains("taken for the same")), "{notes:?}");
    // Set by command it is exactly the one.
    let mut session = lakeward.new_session();
    let words = lakeward.demand("place", "Québec", session.next_turn()).expect("a demand");
    session.demands.push(words);
    let only = &session.demands[0].value;
    assert_eq!(*only, Demanded::Values(vec![vec!["Québec".into()]]));
}

#[test]
fn levels_of_a_taxonomy_are_subjects_and_paths() {
    let (_folder, lakeward) = catalogue();
    let values = |value: &str| lakeward.demand("subject", value, 1).map(|demand| demand.value);
    assert_eq!(values("Biology").unwrap(), Demanded::Values(vec![vec!["Biology".into()]]));
    assert_eq!(values("Biology > Zoology").unwrap(), Demanded::Values(vec![vec!["Biology > Zoology".into()]]));
    assert!(values("Astronomy").is_err());
}

#[test]
fn a_place_that_was_corrected_is_no_longer_searched_for() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    // Though it was said, and what was said counts.
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "coral cover in Quebec");
    let answer = say(&lakeward, &mut session, "no, in Ontario");
    assert!(answer.tables[0].title.starts_with("Coral cover in Ontario"), "{}", answer.tables[0].title);
}

/// Conversations with the filters that hold after each turn: see the file.
const FILTERS: &str = include_str!("../data/filters.tsv");
/// Turns of these that may have a wrong one.
const MISREAD: usize = 12;
/// Filters of these that may be missing: what is read in doubt weighs instead.
const MISSED: usize = 385;

/// A hard demand as the file writes it: `!place=Kenya|Norway`, `period=1990-?`.
fn written(demand: &Demand) -> Vec<String> {
    let not = if demand.avoid { "!" } else { "" };
    let values = match &demand.value {
        Demanded::Words => Vec::new(),
        Demanded::Period(years) => {
            let year = |year: Option<i32>| year.map_or("?".to_string(), |year| year.to_string());
            let (from, to) = years.bounds();
            vec![format!("{}-{}", year(from), year(to))]
        }
        values => values
            .things()
            .iter()
            .map(|thing| {
                let mut values = thing.clone();
                values.sort();
                values.join("|")
            })
            .collect(),
    };
    values.into_iter().map(|value| format!("{not}{}={value}", demand.role)).collect()
}

#[test]
fn hard_filters_are_those_that_were_stated() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut session = lakeward.new_session();
    let (mut turns, mut wrong, mut missed) = (0, Vec::new(), 0);
    for line in FILTERS.lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            session = lakeward.new_session();
            continue;
        }
        let (text, filters) = line.split_once('\t').unwrap_or((line, ""));
        let mut expected: Vec<String> = Vec::new();
        for word in filters.split(' ').filter(|word| !word.is_empty()) {
            match (word.contains('='), expected.last_mut()) {
                (false, Some(last)) => last.push_str(&format!(" {word}")),
                _ => expected.push(word.to_string()),
            }
        }
        for filter in &mut expected {
            let (role, values) = filter.split_once('=').expect("role=values");
            let mut values: Vec<&str> = values.split('|').collect();
            values.sort_unstable();
            *filter = format!("{role}={}", values.join("|"));
        }
        say(&lakeward, &mut session, text);
        let hard: Vec<String> = session.demands.iter().filter(|demand| demand.is_held_to()).flat_map(written).collect();
        missed += expected.iter().filter(|filter| !hard.contains(filter)).count();
        let others: Vec<String> = hard.into_iter().filter(|filter| !expected.contains(filter)).collect();
        if !others.is_empty() {
            wrong.push(format!("{text}: {others:?}, expected {expected:?}"));
        }
        turns += 1;
    }
    assert_eq!(turns, 600);
    assert!(wrong.len() <= MISREAD, "{} of {turns}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(missed <= MISSED, "{missed} filters are missing");
}
