//! Conversations about a catalogue: what is wanted is remembered, overridden, asked about and edited, and what is shown meets it.

use lakeward::Lakeward;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_core::respect::Respect;

use crate::place::{Folder, built, say};

const PLACES: [&str; 4] = ["Leinster", "Munster", "Ulster", "Connacht"];
const SUBJECTS: [&str; 3] = ["Farming", "Transport", "Health care"];
const FREQUENCIES: [&str; 2] = ["Monthly", "Annual"];

/// A catalogue of 24 records, one for each place, subject and frequency, without a file.
fn catalogue() -> (Folder, Lakeward) {
    let mut lines = String::new();
    for place in PLACES {
        for (subject, title) in SUBJECTS.iter().zip(["Cattle on farms", "Passengers of buses", "Beds in hospitals"]) {
            for (frequency, first) in FREQUENCIES.iter().zip([2015, 1990]) {
                let id = format!("{}-{}-{}", &place[..3], &subject[..3], &frequency[..3]).to_lowercase();
                lines.push_str(&format!(
                    r#"{{"id": "{id}", "title": "{title}", "geography": "{place}", "subjects": ["{subject}"], "frequency": "{frequency}",
                        "start": "{first}-01-01", "end": "2022-01-01", "status": "current"}}"#
                ).replace('\n', " "));
                lines.push('\n');
            }
        }
    }
    let folder = Folder::of(&[("corpus.jsonl", &lines)]);
    let (lakeward, stats) = built(folder.path());
    assert_eq!(stats.records, 24, "{:?}", stats.problems);
    (folder, lakeward)
}

fn shown(answer: &Recommendation) -> Vec<&str> {
    answer.tables.iter().map(|table| table.table.as_str()).collect()
}

fn demands_of(session: &Session) -> Vec<(String, String, usize)> {
    let known = session.demands.iter().filter(|demand| demand.role != Respect::Topic);
    known.map(|demand| (demand.role.to_string(), demand.to_string(), demand.turn)).collect()
}

#[test]
fn a_record_is_found_step_by_step() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    let first = say(&lakeward, &mut session, "Do you have anything on passengers of buses?");
    assert_eq!(first.tables.len(), 3, "three records, where nobody said how many");
    assert!(first.tables.iter().all(|table| table.record && table.table.contains("-tra-")), "{:?}", shown(&first));
    say(&lakeward, &mut session, "It has to be about Munster.");
    let third = say(&lakeward, &mut session, "I need monthly figures.");
    assert_eq!(shown(&third)[0], "mun-tra-mon");
    assert_eq!(
        demands_of(&session),
        [("place".into(), "Munster".into(), 2), ("frequency".into(), "Monthly".into(), 3)]
    );
    // What is said last counts, and the words of what it replaces are gone.
    let fourth = say(&lakeward, &mut session, "Sorry, scratch that. Ulster instead of Munster.");
    assert_eq!(shown(&fourth)[0], "uls-tra-mon");
    assert_eq!(demands_of(&session)[0], ("frequency".into(), "Monthly".into(), 3));
    let five = say(&lakeward, &mut session, "Show me the top 5");
    assert_eq!(five.tables.len(), 5);
    assert_eq!(shown(&five)[0], "uls-tra-mon");
}

#[test]
fn what_cannot_be_met_is_left_out_step_by_step_and_said() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "beds in hospitals");
    say(&lakeward, &mut session, "for Leinster, annual figures");
    // The oldest begin in 1990.
    session.demand(lakeward.demand("period", "1950", 2).expect("as the test made it"));
    let answer = say(&lakeward, &mut session, "only Leinster");
    let note = answer.notes.iter().find(|note| note.contains("leave")).unwrap_or_else(|| panic!("{:?}", answer.notes));
    assert!(note.contains("nothing meets all"), "{note}");
    assert!(shown(&answer)[0].starts_with("lei-hea-"), "{:?}", shown(&answer));
    let relaxed = &answer.tables[0].evidence.record.as_ref().expect("as the test made it").relaxed;
    assert_eq!(relaxed.len(), 1, "{relaxed:?}");
}

#[test]
fn what_is_said_last_holds_and_the_rest_is_said_to_go() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "cattle on farms");
    say(&lakeward, &mut session, "only for Munster");
    let answer = say(&lakeward, &mut session, "sorry, I meant Ulster");
    assert!(shown(&answer)[0].starts_with("uls-far-"), "{:?}", shown(&answer));
    let gone: Vec<&str> = answer.signals.gone.iter().map(|gone| gone.said.as_str()).collect();
    assert_eq!(gone, ["Munster"]);
    say(&lakeward, &mut session, "undo that");
    assert_eq!(demands_of(&session), [("place".into(), "Munster".into(), 2)]);
}

#[test]
fn a_hundred_turns_lose_nothing_that_is_in_force() {
    let (folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "passengers of buses");
    say(&lakeward, &mut session, "It has to be about Connacht.");
    for turn in 0..100 {
        say(&lakeward, &mut session, if turn % 2 == 0 { "please make it monthly" } else { "no, make it annual" });
    }
    // The document as another process reads it, bounded as it is written.
    let store = lakeward.sessions();
    let mut kept = store.create(Some("long"), "lake").expect("as the test made it");
    (kept.turns, kept.demands, kept.retrievals) = (session.turns, session.demands, session.retrievals);
    store.save(&mut kept).expect("as the test made it");
    let again = Lakeward::open(folder.path()).expect("as the test made it");
    let mut session = again.sessions().open("long").expect("as the test made it");
    let answer = say(&again, &mut session, "only current ones");
    assert_eq!(shown(&answer)[0], "con-tra-ann");
    let demanded = demands_of(&session);
    assert!(demanded.iter().any(|(role, said, _)| role == "place" && said == "Connacht"), "{demanded:?}");
    assert!(demanded.iter().any(|(role, said, _)| role == "frequency" && said == "Annual"), "{demanded:?}");
    let bytes = serde_json::to_vec(&(&session.demands, &session.retrievals)).expect("as the test made it").len();
    assert!(bytes < 100_000, "{bytes} bytes of memory");
}

#[test]
fn what_is_wanted_can_be_changed_by_hand() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "beds in hospitals in Leinster");
    session.demand(lakeward.demand("place", "munster", 1).expect("as the test made it"));
    session.demand(lakeward.demand("frequency", "every month", 1).expect("as the test made it"));
    let answer = say(&lakeward, &mut session, "only current ones");
    assert_eq!(shown(&answer)[0], "mun-hea-mon");
    assert_eq!(session.forget(&Respect::Place), 1);
    let error = lakeward.demand("plaice", "Munster", 1).unwrap_err().to_string();
    assert!(error.contains("`place`"), "{error}");
    let error = lakeward.demand("place", "Mnstre", 1).unwrap_err().to_string();
    assert!(error.contains("`Munster`"), "{error}");
}

#[test]
fn the_same_again_is_taken_from_what_was_found() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "passengers of buses");
    let before = say(&lakeward, &mut session, "It has to be about Ulster.");
    let again = say(&lakeward, &mut session, "only the interesting ones");
    assert_eq!(shown(&before), shown(&again));
    let keys: Vec<&str> = session.retrievals.iter().map(|retrieval| retrieval.key.as_str()).collect();
    assert_eq!(keys[1], keys[2]);
}

#[test]
fn turns_about_answers_search_nothing_or_show_others() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    let first = say(&lakeward, &mut session, "beds in hospitals");
    let before: Vec<String> = first.tables.iter().map(|table| table.table.clone()).collect();
    let more = say(&lakeward, &mut session, "any others?");
    assert!(!more.tables.is_empty() && more.tables.iter().all(|table| !before.contains(&table.table)), "{more:?}");
    let asked = say(&lakeward, &mut session, "what licence does the first one have?");
    assert!(asked.tables.is_empty() && asked.operations.is_empty());
    assert!(
        asked.notes[0].starts_with("licence of ") && asked.notes[0].ends_with("the record does not say"),
        "{:?}",
        asked.notes
    );
    let demands_before = demands_of(&session);
    let shown_before = session.listed();
    let refused = say(&lakeward, &mut session, "no, none of those");
    assert!(refused.tables.iter().all(|table| !shown_before.contains(&table.table)), "{refused:?}");
    assert!(refused.notes.iter().any(|note| note.starts_with("turned down")), "{:?}", refused.notes);
    assert_eq!(demands_of(&session), demands_before);
}

#[test]
fn a_record_that_was_accepted_blocks_nothing() {
    let (_folder, lakeward) = catalogue();
    let mut session = lakeward.new_session();
    let first = say(&lakeward, &mut session, "passengers of buses");
    session.accept(&first.tables[0].table);
    let next = say(&lakeward, &mut session, "only monthly ones");
    assert!(!next.tables.is_empty(), "{next:?}");
    assert_eq!(lakeward.agent().working(&session).expect("a session"), None);
}
