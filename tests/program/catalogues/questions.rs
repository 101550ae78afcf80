//! Questions about a record in free words, answered from its fields with the field named, or that it does not say.

use super::{indexed, say, write_forms};
use lakeward_agent::recommend::{Note, RecordFact};
use lakeward_agent::session::Session;
use lakeward_core::request::OperationKind;
use lakeward_core::respect::Respect;

/// A question, the respect in which it is answered, the field that says it, and a part of the value.
const ASKED: [(&str, &str, &str, &str); 22] = [
    ("who published the first one?", "publisher", "publisher", "Data Archive"),
    ("who made it?", "publisher", "publisher", "Northern"),
    ("what licence does the first one have?", "licence", "licence", "CC BY 4.0"),
    ("am I allowed to sell it?", "licence", "licence", "CC BY 4.0"),
    ("can I use it commercially, what are the terms of use?", "licence", "licence", "CC BY 4.0"),
    ("how big is it?", "size", "files", "bytes"),
    ("how large is the download of the first?", "size", "files", "bytes"),
    ("which files are in it?", "files", "files", "series-"),
    ("what are the file names?", "files", "files", "series-"),
    ("which file format does it come in?", "format", "format", "CSV"),
    ("which years does it cover?", "period", "temporal", "to"),
    ("how far back does it go?", "period", "temporal", "to"),
    ("which places does it cover?", "places", "spatial", "Quebec"),
    ("how was it measured?", "method", "method", "reflectometry"),
    ("which instruments were used to collect it?", "method", "method", "reflectometry"),
    ("which papers are related to it?", "related works", "related", "paper."),
    ("is there an article that describes the dataset?", "related works", "related", "paper."),
    ("when was it last updated?", "last change", "modified", "-02-03"),
    ("when was it published?", "publication", "issued", "20"),
    ("which version is it?", "version", "version", "V"),
    ("how do I cite it?", "citation", "identifier", "10.5072/made."),
    ("where can I download it?", "link", "source_url", "archive.example.org"),
];

#[test]
fn questions_are_answered_from_the_fields_of_the_record() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 48, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut wrong = Vec::new();
    for (question, about, field, part) in ASKED {
        let mut session = lakeward.new_session();
        let first = say(&lakeward, &mut session, "soil moisture in Quebec");
        assert_eq!(first.tables[0].table, "made-0");
        assert_eq!(first.tables[0].citation, "https://doi.org/10.5072/made.0", "in every answer");
        let answer = say(&lakeward, &mut session, question);
        match answer.facts.first() {
            Some(fact) if fact.about == about && fact.field.as_deref() == Some(field) => {
                let value = fact.value.clone().unwrap_or_default();
                if !value.contains(part) || fact.citation != "https://doi.org/10.5072/made.0" {
                    wrong.push(format!("{question}: {}", fact.line()));
                }
                assert!(answer.notes[0].contains(&format!("(field `{field}`)")), "{:?}", answer.notes);
            }
            Some(fact) => wrong.push(format!("{question}: {}", fact.line())),
            None => wrong.push(format!("{question}: no answer from a record; {:?}", answer.signals.acts)),
        }
    }
    assert!(wrong.len() <= MISREAD, "{} of {}:\n{}", wrong.len(), ASKED.len(), wrong.join("\n"));
}

/// Questions that may be misread: the reader of turns is trained and not told.
const MISREAD: usize = 2;

/// Turns with what they ask for: see the file.
const TURNS: &str = include_str!("../data/record_questions.tsv");
/// Of these turns so many may be taken otherwise.
const TAKEN_OTHERWISE: usize = 6;

#[test]
fn questions_are_no_searches_and_searches_no_questions() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut shown = lakeward.new_session();
    let listed: Vec<String> =
        say(&lakeward, &mut shown, "soil moisture in Quebec").tables.iter().map(|table| table.table.clone()).collect();
    let (mut wrong, mut turns) = (Vec::new(), 0);
    for line in TURNS.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split('\t');
        let (kind, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let list = |part: Option<&str>| -> Vec<String> {
            part.unwrap_or_default().split(',').filter(|part| !part.is_empty()).map(str::to_string).collect()
        };
        let (respects, numbers) = (list(parts.next()), list(parts.next()));
        let answer = say(&lakeward, &mut shown.clone(), text);
        let mut records: Vec<String> =
            numbers.iter().map(|number| listed[number.parse::<usize>().expect("a number") - 1].clone()).collect();
        let mut stated: Vec<String> = answer.facts.iter().map(|fact| fact.record.clone()).collect();
        let about: Vec<&str> = answer.facts.iter().map(|fact| fact.about.as_str()).collect();
        for ids in [&mut records, &mut stated] {
            ids.sort();
            ids.dedup();
        }
        let in_many = respects.is_empty() && about.len() > records.len();
        let is_answered =
            in_many || (!respects.is_empty() && respects.iter().all(|respect| about.contains(&respect.as_str())));
        let right = match kind {
            "search" => answer.facts.is_empty() && !answer.tables.is_empty(),
            _ => stated == records && is_answered,
        };
        if !right {
            wrong.push(format!("{kind} {text}: {about:?} of {stated:?}"));
        }
        assert!(
            answer.facts.iter().all(|fact| fact.cited().contains("10.5072/made.")),
            "{text}: cited in every answer"
        );
        turns += 1;
    }
    assert_eq!(turns, 135);
    assert!(wrong.len() <= TAKEN_OTHERWISE, "{} of {turns}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn it_is_what_was_spoken_of_last() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut session = lakeward.new_session();
    let first = say(&lakeward, &mut session, "soil moisture in Quebec");
    let stated = |answer: &lakeward_agent::recommend::Recommendation| {
        let mut ids: Vec<String> = answer.facts.iter().map(|fact| fact.record.clone()).collect();
        ids.dedup();
        ids
    };
    let listed: Vec<String> = first.tables.iter().map(|table| table.table.clone()).collect();
    assert_eq!(stated(&say(&lakeward, &mut session, "how big is the second one?")), listed[1..2]);
    assert_eq!(stated(&say(&lakeward, &mut session, "and who made it?")), listed[1..2]);
    assert_eq!(stated(&say(&lakeward, &mut session, "compare the first and the third")), [&*listed[0], &*listed[2]]);
    let cited = say(&lakeward, &mut session, "how do I cite the third?");
    let value = cited.facts[0].value.clone().unwrap_or_default();
    for part in ["Soil moisture in Quebec", "https://doi.org/10.5072/made.", "31253.11.made."] {
        assert!(value.contains(part), "{part}: {value}");
    }
}

#[test]
fn what_a_record_does_not_say_is_said_and_records_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 48, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("oai-dc"));
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "soil moisture in Quebec");
    let answer = say(&lakeward, &mut session, "how was the first one measured?");
    assert_eq!((answer.facts[0].about.as_str(), &answer.facts[0].value), ("method", &None), "{:?}", answer.notes);
    assert!(answer.notes[0].ends_with("the record does not say"), "{:?}", answer.notes);
    let compared = say(&lakeward, &mut session, "compare the first and the second");
    let (records, respects) = RecordFact::table(&compared.facts).expect("a table");
    assert_eq!(records.len(), 2, "{:?}", compared.notes);
    assert!(respects.len() >= 10, "{respects:?}");
    for about in ["licence (`licence`)", "period (`temporal`)", "publisher (`publisher`)", "publication (`issued`)"] {
        let row = respects.iter().find(|(name, _)| name == about).unwrap_or_else(|| panic!("{about}: {respects:?}"));
        assert!(row.1.iter().all(|stated| stated != "the record does not say"), "{row:?}");
    }
    assert!(compared.typed_notes().all(|note| matches!(note, Note::Fact(_))), "{:?}", compared.notes);
    // Works that the catalogue does not have are quoted from the record.
    let related = say(&lakeward, &mut session, "which papers are related to the first one?");
    assert!(related.notes[0].contains("10.5072/paper.0"), "{:?}", related.notes);
}

#[test]
fn operations_on_records_say_what_is_missing_and_where_to_get_it() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 48, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut session = lakeward.new_session();
    let first = say(&lakeward, &mut session, "soil moisture in Quebec");
    let listed: Vec<&str> = first.tables.iter().map(|table| table.table.as_str()).collect();
    for (text, kind, numbers) in [
        ("Sum number 2 by province", OperationKind::Aggregate, vec![2]),
        ("glue numbers 1, 2 and 3 underneath one another", OperationKind::Union, vec![1, 2, 3]),
        ("stack 3 and 2 into one table", OperationKind::Union, vec![3, 2]),
        ("from the first, drop everything before 2010", OperationKind::Filter, vec![1]),
    ] {
        let mut after = session.clone();
        let answer = say(&lakeward, &mut after, text);
        let operation = answer.operations.first().unwrap_or_else(|| panic!("{text}: {:?}", answer.notes));
        assert_eq!((operation.kind, operation.requested), (kind, true), "{text}");
        assert!(operation.runnable.is_none() && operation.preconditions.iter().all(|part| !part.met), "{text}");
        assert!(operation.preconditions[0].what.ends_with("data is not in the lake"), "{:?}", operation.preconditions);
        assert_eq!(operation.table.as_deref(), Some(listed[numbers[0] - 1]), "{text}");
        // Nothing is searched, and of each record it is told where its data is and as what.
        assert!(answer.tables.is_empty() && after.demands == session.demands, "{text}: {:?}", after.demands);
        let links = answer.facts.iter().filter(|fact| fact.about == "link" && fact.value.is_some());
        let records: Vec<&str> = links.map(|fact| fact.record.as_str()).collect();
        assert_eq!(records, numbers.iter().map(|number| listed[number - 1]).collect::<Vec<_>>(), "{text}");
        assert!(answer.facts.iter().any(|fact| fact.about == "format"), "{text}");
    }
    // Choosing, asking and wanting others are no operations.
    for text in ["I'll take the third", "who published number 2?", "more like number 2", "compare 1 and 3"] {
        let answer = say(&lakeward, &mut session.clone(), text);
        assert!(!answer.operations.iter().any(|operation| operation.requested), "{text}: {:?}", answer.operations);
    }
}

#[test]
fn operations_on_tables_of_a_list_are_none_on_records() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, place) in [("rain_west", "Mayo"), ("rain_east", "Dublin")] {
        let rows: String = (0..30).map(|day| format!("2020-01-{:02},{place},{}\n", day + 1, day * 3 % 7)).collect();
        std::fs::write(folder.path().join(format!("{name}.csv")), format!("day,county,rain_mm\n{rows}"))
            .expect("a file");
    }
    let (lakeward, _) = indexed(folder.path());
    let mut session = lakeward.new_session();
    assert_eq!(say(&lakeward, &mut session, "daily rain by county").tables.len(), 2);
    let answer = say(&lakeward, &mut session, "Sum number 2 by county");
    let is_missing = |what: &str| what.ends_with("data is not in the lake");
    let parts = answer.operations.iter().flat_map(|operation| &operation.preconditions);
    assert!(!parts.clone().any(|part| is_missing(&part.what)), "{:?}", answer.operations);
}

#[test]
fn a_record_is_named_by_any_of_its_identifiers() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 48, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("datacite-xml"));
    for named in ["10.5072/made.9", "https://doi.org/10.5072/MADE.9", "CSTR:31253.11.made.00009"] {
        let answer = say(&lakeward, &mut lakeward.new_session(), &format!("what is the licence of {named}?"));
        let fact =
            answer.facts.first().unwrap_or_else(|| panic!("{named}: {:?} {:?}", answer.signals.acts, answer.notes));
        assert_eq!((fact.about.as_str(), fact.record.as_str()), ("licence", "10.5072/made.9"), "{named}");
    }
}

#[test]
fn answers_tell_what_they_can_be_narrowed_by() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 200, 0) {
        return;
    }
    let (lakeward, _) = indexed(&folder.path().join("own"));
    let mut session = lakeward.new_session();
    let answer = say(&lakeward, &mut session, "soil moisture in Quebec");
    assert!(!answer.narrowings.is_empty() && answer.narrowings.is_sorted_by(|a, b| a.information >= b.information));
    let first = &answer.narrowings[0];
    assert!(first.values.len() > 1 && first.values_line().contains(&first.values[0].value), "{first:?}");
    let asked = answer.operations.iter().find_map(|operation| operation.question.as_ref()).expect("a question");
    assert_eq!(*asked.text, format!("Which {} should it be?", first.role));
    // What all of them have divides nothing.
    let narrowed = say(&lakeward, &mut session, &format!("only from {}", "Science Data Bank"));
    let sources = narrowed.narrowings.iter().filter(|narrowing| narrowing.role.name() == "source");
    assert!(
        sources.flat_map(|source| &source.values).all(|value| value.value != "Science Data Bank" || value.answers < 30)
    );
    // Of answers that are no records nothing is told.
    let question = say(&lakeward, &mut session, "who made the first?");
    assert!(question.narrowings.is_empty());
    // Where it is asked, a number chooses a value, which then filters.
    let mut session = lakeward.new_session();
    let vague = say(&lakeward, &mut session, "help me find monitoring data");
    assert_eq!(vague.operations[0].kind, OperationKind::Clarify, "{:?}", vague.operations);
    let (role, value) = (&vague.narrowings[0].role, &vague.narrowings[0].values[1].value);
    let chosen = say(&lakeward, &mut session, "2");
    assert!(!chosen.tables.is_empty() && session.accepted.is_empty(), "{:?}", chosen.notes);
    let demand = session.demands.iter().find(|demand| demand.role == *role).expect("the demand");
    assert!(demand.filters && demand.to_string() == *value, "{demand}");
}

#[test]
fn access_comparisons_and_fields_with_their_values_are_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |number: u32, title: &str, dates: serde_json::Value, rights: &[&str]| {
        let rights: Vec<_> = rights.iter().map(|rights| serde_json::json!({"rights": rights})).collect();
        serde_json::json!({"id": format!("10.1234/s.{number}"), "attributes": {
            "doi": format!("10.1234/s.{number}"), "titles": [{"title": title}], "publisher": "Arctic Archive",
            "dates": dates, "rightsList": rights, "descriptions": [{"description": title, "descriptionType": "Abstract"}]}})
    };
    let date = |date: &str, kind: &str| serde_json::json!({"date": date, "dateType": kind});
    let embargoed = serde_json::json!([date("2023-05-02", "Issued"), date("2027-01-01", "Available")]);
    let open = serde_json::json!([date("2019-02-11", "Issued")]);
    let records = [
        record(1, "Salmon telemetry in the Tana", embargoed, &["info:eu-repo/semantics/embargoedAccess", "CC BY 4.0"]),
        record(2, "Salmon scales of the Teno", open, &["CC0 1.0"]),
    ];
    let document = serde_json::json!({ "data": records }).to_string();
    std::fs::write(folder.path().join("records.json"), document).expect("a file");
    let (lakeward, _) = indexed(folder.path());
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "salmon");
    let facts = |session: &mut Session, text: &str| say(&lakeward, session, text).facts;
    let access = facts(&mut session, "is the telemetry one under embargo?");
    assert_eq!((access.len(), access[0].about.as_str()), (1, "access"), "{access:?}");
    let of = |id: &str, facts: &[RecordFact]| {
        facts.iter().find(|fact| fact.record == id).and_then(|fact| fact.value.clone()).unwrap_or_default()
    };
    let both = facts(&mut session, "which is newer?");
    assert_eq!((of("10.1234/s.1", &both), of("10.1234/s.2", &both)), ("2023-05-02".into(), "2019-02-11".into()));
    let both = facts(&mut session, "compare the two");
    let access: Vec<RecordFact> = both.into_iter().filter(|fact| fact.about == "access").collect();
    assert_eq!(of("10.1234/s.1", &access), "embargoed; available from 2027-01-01");
    // A field and a value, as they are listed, are no words to search for.
    let mut session = lakeward.new_session();
    let answer = say(&lakeward, &mut session, "licence: CC BY 4.0");
    assert_eq!(answer.tables[0].table, "10.1234/s.1");
    let demands: Vec<(Respect, String)> =
        session.demands.iter().map(|one| (one.role.clone(), one.to_string())).collect();
    assert_eq!(demands, [(Respect::Licence, "CC BY 4.0".to_string())]);
    let answer = say(&lakeward, &mut session, "licence: MIT");
    assert!(answer.notes.iter().any(|note| note.starts_with("no record has `MIT` as licence")), "{:?}", answer.notes);
}

#[test]
fn values_that_mean_the_same_are_one_to_narrow_by() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |number: usize| {
        let place = ["Québec", "Quebec", "Tasmania", "Hokkaido"][number % 4];
        // As many years as there are records guide nobody, though they tell them all apart.
        let issued = format!("{}-05-01", 1980 + number);
        let title = format!("Kelp canopy {number}");
        serde_json::json!({"id": format!("r{number}"), "title": title, "spatial": [place], "issued": issued, "license": "CC0"})
    };
    let lines: String = (0..24).map(|number| format!("{}\n", record(number))).collect();
    std::fs::write(folder.path().join("records.jsonl"), lines).expect("a file");
    let (lakeward, _) = indexed(folder.path());
    let mut session = lakeward.new_session();
    let answer = say(&lakeward, &mut session, "kelp canopy");
    let lines: Vec<String> = answer.narrowings.iter().map(|narrowing| narrowing.values_line()).collect();
    assert_eq!(answer.narrowings[0].role.to_string(), "place");
    assert_eq!(lines, ["Quebec (12), Hokkaido (6), Tasmania (6)"]);
    // What was merged is told, and undone by what is remembered.
    let merged = say(&lakeward, &mut session, "in Quebec");
    let note = merged.notes.iter().find(|note| note.contains("`Quebec` is taken for the same as `Québec`"));
    assert!(note.is_some(), "{:?}", merged.notes);
    assert_eq!(session.retrievals.last().map(|found| found.met), Some(12));
    // In words, as the note says, and it stays so.
    let only = say(&lakeward, &mut session, "only Québec");
    assert_eq!(session.retrievals.last().map(|found| found.met), Some(6), "{:?}", only.notes);
    assert!(only.notes.iter().any(|note| note == "place is `Québec` alone from now on"), "{:?}", only.notes);
    say(&lakeward, &mut session, "published since 1990");
    let places = session.demands.iter().filter(|demand| demand.role == Respect::Place).map(ToString::to_string);
    assert_eq!(places.collect::<Vec<_>>(), ["Québec"]);
    say(&lakeward, &mut session, "undo that");
    say(&lakeward, &mut session, "no, in Quebec");
    assert_eq!(session.retrievals.last().map(|found| found.met), Some(12));
    say(&lakeward, &mut session, "they are not the same");
    assert_eq!(session.retrievals.last().map(|found| found.met), Some(6));
    // By command.
    session.demand(lakeward.demand("place", "Quebec", session.next_turn()).expect("a demand"));
    let only = say(&lakeward, &mut session, "show me what there is on kelp canopy");
    assert_eq!(session.retrievals.last().map(|found| found.met), Some(6), "{:?}", only.notes);
}
