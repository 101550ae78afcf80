//! The document: its size, older versions, its published schema.

use super::*;
use lakeward_core::respect::Respect;

#[test]
fn a_document_stays_bounded_and_opens_at_once() {
    // Wide tables take the longest to make up here; they go as far as their oldest turns are cut.
    for (columns, turns) in [(10, 2000), (500, 300)] {
        let place = Place::new();
        let mut session = place.store.create(Some("long"), "lake").expect("a session");
        session.accept("kept/accepted");
        session.reject("kept/rejected");
        session.push_step(step(Input::Table("t".into()), "long.steps/1.parquet"));
        let template = answer(0, 10, columns);
        let mut sizes = Vec::new();
        for turn in 1..=turns {
            let mut answer = template.clone();
            answer.signals.demands[1] = Demand::in_words(Respect::Topic, format!("topic of turn {turn}"), turn);
            session.push_turn(&format!("request {turn}: {}", "word ".repeat(400)), &answer);
            if turn % 10 == 0 {
                place.store.save(&mut session).expect("a save");
            }
            if turn % 100 != 0 {
                continue;
            }
            sizes.push(place.file("long").metadata().expect("a file").len());
            if turn == 100 {
                let started = Instant::now();
                let opened = place.store.open("long").expect("a session");
                let elapsed = started.elapsed();
                println!("{columns} columns: 100 turns, {} bytes, opened in {elapsed:?}", sizes[0]);
                assert_eq!(opened, session);
                assert!(elapsed < Duration::from_millis(50), "{elapsed:?}");
            }
        }
        println!("{columns} columns: {} bytes at 200 turns, {sizes:?} at every 100", sizes[1]);
        assert!(sizes[1] < 400 << 10, "{sizes:?}");
        assert!(session.is_accepted("kept/accepted") && session.is_rejected("kept/rejected"));
        assert_eq!((session.steps.len(), session.turns.len(), session.next_turn()), (1, turns.min(1000), turns + 1));
        assert_eq!(session.demands[1].said, format!("topic of turn {turns}"));
        assert_eq!((session.demands[0].said.as_str(), session.demands[0].turn), ("Ohio", 1));
        // The two latest keep their answers, recent ones what was understood, old ones what they changed.
        let kept: Vec<usize> =
            session.turns.iter().filter(|turn| turn.recommendation.is_some()).map(|turn| turn.number).collect();
        assert_eq!(kept, [turns - 1, turns]);
        let turn = |number: usize| session.turns.iter().find(|turn| turn.number == number).expect("a turn");
        assert_eq!((turn(turns - 10).tables.len(), turn(turns - 10).signals.operation.all.len()), (10, 2));
        let old = turn(turns - 50);
        assert_eq!((old.tables.len(), old.signals.operation.all.len()), (3, 0));
        let said: Vec<&str> = old.signals.demands.iter().map(|demand| demand.said.as_str()).collect();
        assert_eq!(said, [format!("topic of turn {}", turns - 50)], "turn 1 set the place");
        assert!(old.text.starts_with("request") && old.text.chars().count() == 120, "{}", old.text);
        if turns == 2000 {
            assert!(sizes[19] < 1200 << 10, "{sizes:?}");
            assert!(sizes[19] < sizes[10] + 8192, "no more grows once the oldest turns go: {sizes:?}");
        }
        // What is compressed stays as it is.
        let before = session.clone();
        place.store.save(&mut session).expect("a save");
        (session.revision, session.updated) = (before.revision, before.updated.clone());
        assert_eq!(session, before);
    }
}

#[test]
fn a_hostile_turn_stays_bounded() {
    let place = Place::new();
    let mut session = place.store.create(Some("s"), "lake").expect("a session");
    for turn in 1..=30 {
        let mut answer = answer(turn, 1000, 3);
        let many = (0..5000).map(|number| format!("{number}{}", "y".repeat(900)));
        let long = std::iter::once("\u{1}é".repeat(100_000)).chain(many);
        answer.signals.demands = long.map(|said| Demand::in_words(Respect::Topic, said, turn)).collect();
        answer.tables[0].table = "deep/".repeat(100_000);
        session.push_turn(&"é\u{7}".repeat(1 << 20), &answer);
        place.store.save(&mut session).expect("a save");
    }
    let bytes = place.file("s").metadata().expect("a file").len();
    assert!(bytes < 3 << 20, "{bytes}");
    assert_eq!(session.demands.len(), 60);
    assert_eq!(place.store.open("s").expect("a session"), session);
}

#[test]
fn what_turns_of_the_versions_before_wanted_is_kept() {
    let place = Place::new();
    for document in [include_str!("../data/formats/session/v4.json"), include_str!("../data/formats/session/v5.json")] {
        place.write("s", document);
        let session = place.store.open("s").expect("a session of an older version");
        assert!(session.turns.iter().all(|turn| !turn.signals.demands.is_empty()), "{:?}", session.turns);
    }
}

#[test]
fn operations_of_version_2_are_plans_now() {
    let place = Place::new();
    place.write("s", include_str!("../data/formats/session/v2.json"));
    let session = place.store.open("s").expect("a session of version 2");
    assert_eq!((session.version, session.working()), (VERSION, Some(Input::Step(3))));
    let steps_done: Vec<Vec<String>> =
        session.steps.iter().map(|step| step.plan.relation.steps.iter().map(ToString::to_string).collect()).collect();
    assert_eq!(
        steps_done,
        [
            vec!["adds height from stations by station = name"],
            vec![
                "keeps the rows whose station is not Ghent and day is at least 2020 and rain is there",
                "keeps the columns station and rain"
            ],
            vec!["appends the rows of more, with their table as source", "keeps one row for each station and rain"],
            vec!["computes the number of rows and the mean of rain for each month and year of day"],
        ]
    );
    let sources: Vec<String> = session.steps.iter().map(|step| step.plan.relation.source.to_string()).collect();
    assert_eq!(sources, ["gauges", "step 1", "step 2", "step 3"]);
    let kinds: Vec<&str> = session.steps.iter().map(|step| step.plan.kind().name()).collect();
    assert_eq!(kinds, ["Join", "Filter", "Union", "Aggregate"]);
    let answer = session.turns.iter().filter_map(|turn| turn.recommendation.as_ref()).next_back().expect("an answer");
    assert!(answer.operations[0].runnable.is_some());
    let mut spoilt: Value = serde_json::from_str(include_str!("../data/formats/session/v2.json")).expect("JSON");
    spoilt["steps"][0]["operation"]["on"] = json!("station");
    place.write("s", spoilt.to_string());
    assert!(matches!(place.store.open("s"), Err(Error::DamagedFile { .. })));
}

#[test]
fn the_published_schema_of_demands_is_that_of_the_program() {
    let published = fs::read(Path::new(crate::REPOSITORY).join("schemas/demands.schema.json")).expect("a file");
    let published: Value = serde_json::from_slice(&published).expect("JSON");
    assert_eq!(published, serde_json::to_value(demands_schema()).expect("a schema"));
}

#[test]
fn the_published_schema_is_that_of_the_document() {
    let path = Path::new(crate::REPOSITORY).join("schemas/session.schema.json");
    let expected = serde_json::to_value(schema()).expect("a schema");
    if std::env::var_os("LAKEWARD_WRITE_SCHEMAS").is_some() {
        let text = serde_json::to_string_pretty(&expected).expect("JSON") + "\n";
        fs::write(&path, text).expect("a file");
    }
    let published: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
    assert!(published == expected, "out of date: run this test with LAKEWARD_WRITE_SCHEMAS=1");
    let place = Place::new();
    assert_eq!(Run::of(&mut lakeward(["schema", "session", "--json"])).succeeded().json(), expected);
    // What is written has the fields that the schema demands, and no other.
    let mut session = place.store.create(Some("s"), "lake").expect("a session");
    push(&mut session, 2);
    place.store.save(&mut session).expect("a save");
    let document: Value = serde_json::from_slice(&fs::read(place.file("s")).expect("a file")).expect("JSON");
    let fields = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(fields(&document), fields(&expected["properties"]));
}
