//! Requests in other languages, and texts that nobody reads.

use std::fs;

use super::{indexed, say, write_forms};

#[test]
fn what_is_said_in_another_language_finds_english_records_and_it_is_said_how() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    for (text, title, word) in [
        ("Bodenfeuchte in Bayern", "Soil moisture in Bavaria", "German: `Bodenfeuchte` soil moisture"),
        ("humidité du sol au Québec", "Soil moisture in Quebec", "French: `humidité du sol` soil moisture"),
        ("aves en Noruega", "Bird ringing recoveries in Norway", "Spanish: `aves` bird"),
        ("冰岛的地震", "Seismic tremor in Iceland", "Chinese: `冰岛` Iceland, `地震` earthquake"),
    ] {
        let mut session = lakeward.new_session();
        let answer = say(&lakeward, &mut session, text);
        assert!(answer.tables[0].title.starts_with(title), "{text}: {:?}", answer.tables[0].title);
        assert!(answer.notes[0].contains(&format!("read word by word as {word}")), "{text}: {:?}", answer.notes);
        let turn = &session.turns[0];
        assert_eq!(turn.text, text, "the session has it as it was typed");
        assert!(turn.english.is_some() && turn.read() != text, "{turn:?}");
        let searched = lakeward.search(text, 3).expect("answers").into_inner();
        assert!(searched[0].title.starts_with(title), "{text}: {:?}", searched[0].title);
    }
    // The turns that follow are read in the same way, and with what was said before.
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "Bodenfeuchte in Bayern");
    let asked = say(&lakeward, &mut session, "who published the second one?");
    assert_eq!(asked.facts[0].about, "publisher", "{:?}", asked.notes);
    let further = say(&lakeward, &mut session, "nicht in Bayern, sondern in Norwegen");
    assert!(
        further.signals.demands.iter().any(|demand| demand.to_string().contains("Norway")),
        "{:?}",
        further.signals.demands
    );
}

#[test]
fn records_in_the_language_of_the_request_are_found_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |id: &str, title: &str| format!("{{\"id\": \"{id}\", \"title\": \"{title}\"}}\n");
    let lines = [
        line("a", "Taux de chômage par province"),
        line("b", "Qualité de l'eau des rivières"),
        line("c", "Prix des logements à Montréal"),
    ];
    fs::write(folder.path().join("records.jsonl"), lines.concat()).expect("a file");
    let (lakeward, _) = indexed(folder.path());
    let answer = say(&lakeward, &mut lakeward.new_session(), "la qualité de l'eau des rivières");
    assert_eq!(answer.tables[0].table, "b");
    assert!(answer.notes.iter().all(|note| !note.contains("word by word")), "{:?}", answer.notes);
}

/// Records in four languages, and questions in English: see the file.
const FOREIGN: &str = include_str!("../../../eval/foreign_records.tsv");
/// The least share of the questions that find the record in the first ten, of that in English.
const LEAST_OF_ENGLISH: f64 = 0.75;

#[test]
fn english_requests_find_records_in_other_languages() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 400, 0) {
        return;
    }
    let rows: Vec<Vec<&str>> =
        FOREIGN.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    let questions: Vec<(&str, &str)> = rows.iter().filter(|row| row[1] == "?").map(|row| (row[0], row[2])).collect();
    let made = fs::read_to_string(folder.path().join("own/records.jsonl")).expect("a file");
    let found = |language: &str| {
        let records = rows.iter().filter(|row| row[1] == language).map(|row| {
            let record = serde_json::json!({"id": row[0], "title": row[2], "description": row[3]});
            format!("{record}\n")
        });
        let lake = folder.path().join(language);
        fs::create_dir(&lake).expect("a folder");
        fs::write(lake.join("records.jsonl"), made.clone() + "\n" + &records.collect::<String>()).expect("a file");
        let (lakeward, stats) = indexed(&lake);
        assert_eq!(stats.records, 400 + questions.len() as u64, "{:?}", stats.problems);
        let finds = |(id, text): &&(&str, &str)| {
            let request = lakeward_agent::Request { text: (*text).into(), k: 10, ..Default::default() };
            let answer = lakeward.ask(&mut lakeward.new_session(), &request).expect("an answer").0.into_inner();
            answer.tables.iter().any(|table| table.table == *id)
        };
        questions.iter().filter(finds).count() as f64 / questions.len() as f64
    };
    let english = found("en");
    let others = ["de", "fr", "es", "zh"].map(|language| (language, found(language)));
    println!("R@10 of {} questions: en {english:.3}, {others:.3?}", questions.len());
    assert!(others.iter().all(|(_, share)| *share >= LEAST_OF_ENGLISH * english), "en {english:.3}, {others:.3?}");
}

#[test]
fn a_text_that_no_reader_understands_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 48, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    for text in
        ["xqzv blorf", "سطح البحيرات", "влажность почвы", "토양 수분", "wilgotność gleby", "🦀🦀", "ааа ббб ввв"]
    {
        let answer = say(&lakeward, &mut lakeward.new_session(), text);
        assert!(answer.tables.is_empty() && answer.nothing_found, "{text}: {} records", answer.tables.len());
        assert!(answer.operations.is_empty(), "{text}");
        let searched = lakeward.search(text, 3).expect("answers").into_inner();
        let calibration = &lakeward.config().ranking.calibration;
        assert!(!searched.iter().any(|answer| answer.may_serve(calibration)), "{text}");
    }
    for text in ["soil", "reflectometry", "polychlorinated biphenyls in eels", "made-3", "glaciology of 2015", "GDP"] {
        let answer = say(&lakeward, &mut lakeward.new_session(), text);
        assert!(answer.notes.iter().all(|note| !note.contains("knows a word")), "{text}: {:?}", answer.notes);
    }
    // Nor does a later turn pass for one that was read.
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "glaciology");
    let answer = say(&lakeward, &mut session, "xqzt flurbl wommit");
    assert!(answer.notes.iter().any(|note| note.contains("knows a word of this")), "{:?}", answer.notes);
}
