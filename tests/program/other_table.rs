//! Turns about another table than the one at hand: they leave it, tell so, and the conversation goes on from there.

use std::fmt::Write;

use lakeward::Lakeward;
use lakeward_agent::Request;
use lakeward_agent::recommend::RankedOperation;
use lakeward_agent::session::Session;
use lakeward_core::request::Input;

use crate::place::Folder;

/// Shifts of a climbing hall, what happened there, and what it burns.
fn lake() -> (Folder, Lakeward) {
    let mut shifts = "work_date,employee,duty,hours\n".to_string();
    let mut incidents = "happened_on,sector,kind,severity\n".to_string();
    let mut energy = "month,kwh_heating,m3_water\n".to_string();
    for day in 0..90 {
        let (duty, date) =
            (["desk", "coach", "setter"][day % 3], format!("2024-{:02}-{:02}", day / 28 + 1, day % 28 + 1));
        writeln!(shifts, "{date},Person {},{duty},{}", day % 11, 4 + day % 5).expect("text");
        let (sector, kind) = (["Cave", "Tower", "Slab"][day % 3], ["sprain", "cut", "bruise"][day % 4 % 3]);
        writeln!(incidents, "{date},{sector},{kind},{}", ["low", "severe"][day % 2]).expect("text");
    }
    for month in 1..=12 {
        writeln!(energy, "2024-{month:02},{},{}", 5_000 + 311 * month, 100 + 7 * month).expect("text");
    }
    let folder = Folder::of(&[("shifts.csv", &shifts), ("incidents.csv", &incidents), ("energy.csv", &energy)]);
    let lakeward = folder.lake();
    (folder, lakeward)
}

/// The first operation of a turn, what it starts from, and what speaks against it.
fn say(
    lakeward: &Lakeward,
    session: &mut Session,
    text: &str,
    table: Option<&str>,
) -> (RankedOperation, Input, String) {
    let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
    let answer = lakeward.ask(session, &request).expect("an answer").0.into_inner();
    let first = answer.operations.first().expect("an operation").clone();
    let source = first.runnable.as_ref().unwrap_or_else(|| panic!("{text}: {first:?}")).relation.source.clone();
    let against = first.preconditions.iter().filter(|condition| !condition.met).map(|condition| condition.what.clone());
    let against = against.map(String::from).collect::<Vec<_>>().join("; ");
    (first, source, against)
}

#[test]
fn a_question_about_another_table_leaves_the_one_at_hand() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let at = |table: &str| Input::Table(table.to_string());
    let (_, source, _) = say(&lakeward, &mut session, "how many hours did each employee work", Some("shifts"));
    assert_eq!(source, at("shifts"));
    // What goes on stays, whatever other tables have columns of the same kind.
    for text in ["only the coaches", "per month instead"] {
        let (_, source, against) = say(&lakeward, &mut session, text, None);
        assert_eq!(source, at("shifts"), "{text}");
        assert!(!against.contains("taken to be about"), "{text}: {against}");
    }
    let (first, source, against) = say(&lakeward, &mut session, "number of incidents in each sector by severity", None);
    assert_eq!(source, at("incidents"), "{}", first.reason);
    assert!(against.contains("it is taken to be about `incidents` and not about the table before"), "{against}");
    // It is what the next turn goes on from, and the demands of the table before are gone.
    let (first, source, _) = say(&lakeward, &mut session, "only the severe ones", None);
    assert_eq!(source, at("incidents"), "{}", first.reason);
    assert!(first.reason.contains("severe"), "{}", first.reason);
}

#[test]
fn without_a_table_at_hand_another_question_begins_anew() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let (_, source, _) = say(&lakeward, &mut session, "total hours of the shifts for each duty", None);
    assert_eq!(source, Input::Table("shifts".into()));
    let (_, source, _) = say(&lakeward, &mut session, "number of incidents in each sector by severity", None);
    assert_eq!(source, Input::Table("incidents".into()));
    assert!(session.demands.iter().all(|demand| demand.turn == 2), "{:?}", session.demands);
}

#[test]
fn a_proposal_that_was_not_carried_out_is_gone_on_from() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let shifts = Input::Table("shifts".into());
    let (first, source, _) = say(&lakeward, &mut session, "total hours for each employee", None);
    assert_eq!((source, first.requested), (shifts.clone(), true));
    let (second, source, _) = say(&lakeward, &mut session, "the average instead", None);
    assert_eq!(source, shifts);
    let written = |operation: &RankedOperation| serde_json::to_string(&operation.runnable).expect("JSON");
    assert_eq!(written(&second), written(&first).replace("\"sum\"", "\"mean\""));
    let (third, source, _) = say(&lakeward, &mut session, "only duty coach", None);
    assert_eq!(source, shifts);
    assert!(written(&third).contains("coach") && written(&third).contains("\"mean\""), "{}", written(&third));
    // Another question leaves the proposal, and what comes after it goes on from that one.
    let incidents = Input::Table("incidents".into());
    let (_, source, _) = say(&lakeward, &mut session, "how many incidents were there in each sector", None);
    assert_eq!(source, incidents);
    let (last, source, _) = say(&lakeward, &mut session, "only where severity is severe", None);
    assert_eq!(source, incidents);
    assert!(written(&last).contains("severe") && written(&last).contains("count"), "{}", written(&last));
    // What is asked of another table is not asked of the proposal.
    let mut session = lakeward.new_session();
    say(&lakeward, &mut session, "total hours for each employee", None);
    let (_, source, _) = say(&lakeward, &mut session, "how many incidents were there in each sector", None);
    assert_eq!(source, Input::Table("incidents".into()));
}

#[test]
fn rows_behind_a_figure_are_shown() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let (figure, ..) = say(&lakeward, &mut session, "how many incidents have severity severe", Some("incidents"));
    let written = |operation: &RankedOperation| serde_json::to_string(&operation.runnable).expect("JSON");
    assert!(written(&figure).contains("count") && written(&figure).contains("severe"), "{}", written(&figure));
    let (rows, ..) = say(&lakeward, &mut session, "show me those", None);
    assert!(!written(&rows).contains("count") && written(&rows).contains("severe"), "{}", written(&rows));
}

#[test]
fn closed_forms_speak_of_the_plan() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let mut steps = |text: &str, table: Option<&str>| {
        let (first, _, against) = say(&lakeward, &mut session, text, table);
        assert!(first.requested && against.is_empty(), "{text}: {first:?}");
        let plan = first.runnable.expect("a plan");
        plan.relation.steps.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    steps("sort the shifts by hours, longest first", Some("shifts"));
    assert_eq!(steps("the other way round", None), ["orders the rows by hours"]);
    let of_coaches = steps("only the coaches", None);
    assert_eq!(of_coaches.len(), 2, "{of_coaches:?}");
    assert_eq!(steps("only those of more than 5 hours", None).len(), 2);
    assert_eq!(steps("drop that last filter", None), of_coaches);
    assert_eq!(
        steps("how many is that?", None).last().map(String::as_str),
        Some("computes the number of rows of all rows")
    );
}

#[test]
fn what_is_asked_is_asked_of_the_table_at_hand() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    let mut ask = |text: &str, table: Option<&str>| {
        let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
        lakeward.ask(&mut session, &request).expect("an answer").0.into_inner()
    };
    ask("number of incidents in each sector", Some("incidents"));
    // Other tables were listed beside it.
    let answer = ask("what does the severity column mean?", None);
    let [fact] = &answer.facts[..] else { panic!("{:?}", answer.facts) };
    assert_eq!((fact.record.as_str(), fact.about.as_str()), ("incidents", "column `severity`"));
    assert_eq!(
        fact.value.as_deref(),
        Some("the publisher does not say what it means; 2 different values: low, severe")
    );
    let answer = ask("who published this data, and under which licence?", None);
    let about: Vec<&str> = answer.facts.iter().map(|fact| fact.about.as_str()).collect();
    assert_eq!(about, ["publisher", "licence"]);
    assert!(answer.facts.iter().all(|fact| fact.record == "incidents" && fact.value.is_none()), "{:?}", answer.facts);
    // Nothing of that is a question about what the table says.
    assert!(ask("is there anything on penguins?", None).facts.is_empty());
}
