//! What codes stand for is brought from the tables that explain them: names that a turn asks for, what it says of a code's owner, numbers of rows of
//! other tables for each row at hand.

use lakeward::Lakeward;
use lakeward_agent::recommend::Recommendation;
use lakeward_core::request::{Input, OperationKind};

use crate::place::{Folder, built, say};

/// Repairs of trams by mechanics in depots.
fn lake() -> (Folder, Lakeward) {
    let mut repairs = String::from("repair_no,mech,depot,tram_id,opened,cost_eur\n");
    for repair in 0..240 {
        repairs.push_str(&format!(
            "{},P{:03},D{},T{:02},2025-{:02}-{:02},{}\n",
            9000 + repair,
            repair % 12,
            repair % 6,
            repair * 7 % 30,
            repair % 12 + 1,
            repair % 28 + 1,
            80 + repair * 13 % 900
        ));
    }
    let mut staff = String::from("pers,name,grade\n");
    for person in 0..12 {
        staff.push_str(&format!("P{person:03},Mechanic Number{person},{}\n", ["junior", "senior"][person % 2]));
    }
    let mut depots = String::from("depot_code,depot_name,region,beds\n");
    for (place, name) in ["Arden", "Birk", "Corry", "Dunmore", "Eskdale", "Fallow"].iter().enumerate() {
        depots.push_str(&format!("D{place},{name},{},{}\n", ["North", "South"][place % 2], 4 + place));
    }
    let mut trams = String::from("tram_id,built,seats\n");
    for tram in 0..30 {
        trams.push_str(&format!("T{tram:02},{},{}\n", 1990 + tram, 60 + tram % 5));
    }
    let folder = Folder::of(&[
        ("workshop/repairs.csv", &repairs),
        ("people/staff.csv", &staff),
        ("places/depots.csv", &depots),
        ("fleet/trams.csv", &trams),
    ]);
    let (lakeward, _) = built(folder.path());
    (folder, lakeward)
}

/// The answer to the last of these turns over a table, and its first plan.
fn over(lakeward: &Lakeward, table: &str, turns: &[&str]) -> (String, Recommendation) {
    let mut session = lakeward.new_session();
    session.use_table(Input::Table(table.into()));
    let last = turns.iter().map(|turn| say(lakeward, &mut session, turn)).last().expect("a turn");
    let plan = last.operations.first().map(|first| serde_json::to_string(&first.runnable).expect("a plan"));
    (plan.unwrap_or_default(), last)
}

#[test]
fn names_come_beside_the_codes_that_they_are_of() {
    let (_folder, lakeward) = lake();
    for text in ["count per mech, with name", "number of repairs per mech with their names"] {
        let (plan, answer) = over(&lakeward, "workshop/repairs", &[text]);
        let (group, join) = (plan.find("group"), plan.find("people/staff"));
        assert!(group.is_some() && join > group && plan.contains("\"name\""), "{text}: {plan} {answer:?}");
    }
    let (plan, answer) = over(&lakeward, "workshop/repairs", &["cost above 500", "and the name of the depot as well"]);
    assert!(
        plan.contains("depot_name") && !plan.contains("region") && !plan.contains("people/staff"),
        "{plan} {answer:?}"
    );
    // Who speaks of a name that the rows have themselves wants no other.
    let (plan, _) = over(&lakeward, "people/staff", &["only the seniors, just their name"]);
    assert!(!plan.contains("join"), "{plan}");
}

#[test]
fn what_is_said_of_the_owner_of_a_code_is_looked_up() {
    let (_folder, lakeward) = lake();
    let (plan, answer) = over(&lakeward, "workshop/repairs", &["number of repairs by region of the depot"]);
    assert!(plan.contains("places/depots") && plan.contains("\"region\""), "{plan} {answer:?}");
}

#[test]
fn rows_of_another_table_are_counted_for_each_row_at_hand() {
    let (_folder, lakeward) = lake();
    let (plan, answer) =
        over(&lakeward, "fleet/trams", &["built after 2000", "how many repairs did each of them have?"]);
    assert!(plan.contains("workshop/repairs") && plan.contains("count"), "{plan} {answer:?}");
    assert!(plan.contains("2000"), "{plan}");
}

#[test]
fn a_figure_that_no_column_is_called_is_told_though_a_column_is_at_hand() {
    let (_folder, lakeward) = lake();
    for figure in ["tyre pressure", "boiler age"] {
        let (_, answer) = over(&lakeward, "workshop/repairs", &["cost above 500", &format!("average {figure}")]);
        let first = &answer.operations[0];
        let is_doubt = first.preconditions.iter().any(|part| !part.met && part.what.contains(figure));
        assert!(is_doubt || first.reason.contains(figure), "{first:?}");
    }
}

#[test]
fn what_nothing_can_be_applied_of_is_asked_about_and_what_was_proposed_stands() {
    let (_folder, lakeward) = lake();
    let turns = ["cost above 500", "what was the average hold-up there", "only depot D3"];
    let (_, asked) = over(&lakeward, "workshop/repairs", &turns[..2]);
    let first = &asked.operations[0];
    assert_eq!(first.kind, OperationKind::Clarify, "{asked:?}");
    assert!(first.question.as_ref().is_some_and(|question| question.text.contains("hold-up")), "{first:?}");
    let (plan, _) = over(&lakeward, "workshop/repairs", &turns);
    assert!(plan.contains("500") && plan.contains("D3"), "{plan}");
}

#[test]
fn nothing_is_an_answer_where_another_reading_would_lose_what_was_said() {
    let (_folder, lakeward) = lake();
    let (plan, answer) = over(&lakeward, "workshop/repairs", &["how many repairs in 2031"]);
    assert!(plan.contains("2031"), "{plan} {answer:?}");
}
