//! A name of a place stays one place, whatever is in it: through turns, filters, `/memory` and sessions of older versions.

use std::fs;

use lakeward::{Lakeward, Place};
use lakeward_agent::Request;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, VERSION};
use lakeward_core::monitor::Silent;
use lakeward_core::plan::{Condition, Expression, Step, Value};
use lakeward_core::request::{Demand, Demanded, Input, RequestedYears, in_role};
use lakeward_core::respect::Respect;
use lakeward_index::build::BuildOptions;

use crate::place::Folder;

/// Names that hold what stands between others.
const NAMES: [&str; 3] = ["Trinidad and Tobago", "Bosnia and Herzegovina", "Washington, D.C."];

/// A table by place and year, and a record of each place.
fn lake() -> (Folder, Lakeward) {
    let mut table = "country,year,visitors\n".to_string();
    let mut records = String::new();
    for (number, name) in NAMES.iter().chain(&["Ireland", "Tobago", "Oslo"]).enumerate() {
        table.push_str(&format!("\"{name}\",2015,{}\n\"{name}\",2016,{}\n", 400 + number, 500 + number));
        records.push_str(&format!(
            "{{\"id\": \"r-{number}\", \"title\": \"Museums\", \"geography\": [\"{name}\"], \"frequency\": \"Annual\"}}\n"
        ));
    }
    let folder = Folder::of(&[("visitors.csv", &table), ("corpus.jsonl", &records)]);
    let place = Place::new(folder.path(), None).expect("a place");
    let options = BuildOptions { records: Some(folder.at("corpus.jsonl")), ..BuildOptions::default() };
    let (lakeward, stats) = Lakeward::build(place, &options, &Silent).expect("an index");
    assert_eq!((stats.tables, stats.records), (1, 6), "{:?}", stats.problems);
    (folder, lakeward)
}

fn say(lakeward: &Lakeward, session: &mut Session, text: &str) -> Recommendation {
    let request = Request { text: text.into(), table: Some("visitors".into()), ..Request::default() };
    lakeward.ask(session, &request).expect("an answer").0.into_inner()
}

fn places(demands: &[Demand]) -> Vec<&str> {
    in_role(demands, &Respect::Place).collect()
}

fn years(demands: &[Demand]) -> Vec<RequestedYears> {
    let years = |demand: &Demand| if let Demanded::Period(years) = demand.value { Some(years) } else { None };
    demands.iter().filter_map(years).collect()
}

/// The places that the filter of `answer` keeps.
fn kept(answer: &Recommendation) -> Vec<String> {
    let plans = answer.operations.iter().filter_map(|operation| operation.runnable.as_ref());
    let conditions = plans.flat_map(|plan| &plan.relation.steps).flat_map(|step| match step {
        Step::Filter(condition) => condition.parts(),
        _ => Vec::new(),
    });
    let is_country = |value: &Expression| value.as_column() == Some("country");
    let values = conditions.flat_map(|condition| match condition {
        Condition::OneOf { value, values } if is_country(value) => values.clone(),
        Condition::Compare { left, right: Expression::Value(value), .. } if is_country(left) => vec![value.clone()],
        _ => Vec::new(),
    });
    values.map(|value| if let Value::Text(text) = value { text } else { value.to_string() }).collect()
}

#[test]
fn a_name_with_and_or_a_comma_is_one_place_through_turns() {
    let (_folder, lakeward) = lake();
    for name in NAMES {
        let mut session = Session::new("visitors", "lake");
        session.use_table(Input::Table("visitors".into()));
        let answer = say(&lakeward, &mut session, &format!("only {name} since 2015"));
        assert_eq!(kept(&answer), [name]);
        let plan = answer.operations.iter().find_map(|operation| operation.runnable.clone()).expect("a plan");
        lakeward.run(&mut session, &plan).expect("a result");
        // The working table is the result now.
        let request = Request { text: "include Ireland too".into(), ..Request::default() };
        let answer = lakeward.ask(&mut session, &request).expect("an answer").0.into_inner();
        assert_eq!(kept(&answer), [name, "Ireland"]);
    }
}

#[test]
fn it_is_one_value_of_the_catalogue() {
    let (_folder, lakeward) = lake();
    for name in NAMES {
        let demand = lakeward.demand("place", name, 1).expect("a place of the catalogue");
        assert_eq!(demand.value, Demanded::Values(vec![vec![name.to_string()]]));
        let mut session = lakeward.new_session();
        session.demand(demand);
        say(&lakeward, &mut session, "museums");
        assert_eq!(places(&session.demands), [name]);
    }
}

#[test]
fn a_session_of_version_1_is_read_and_goes_on() {
    let (_folder, lakeward) = lake();
    let store = lakeward.sessions();
    store.make_folder().expect("a folder");
    let file = store.folder().join("s.json");
    fs::write(&file, include_str!("data/formats/session/v1.json")).expect("a file");
    let mut session = store.open("s").expect("a session of version 1");
    let mut found = places(&session.demands);
    found.sort_unstable();
    assert_eq!(found, ["Bosnia and Herzegovina", "Ireland", "Trinidad and Tobago"]);
    assert_eq!(years(&session.demands), [RequestedYears::StartsIn(2015)]);
    assert_eq!(in_role(&session.demands, &Respect::Grain).collect::<Vec<_>>(), ["country", "year"]);
    let mut found = places(&session.turns[0].signals.demands);
    found.sort_unstable();
    assert_eq!(found, ["Ireland", "Trinidad and Tobago"]);
    let answer = say(&lakeward, &mut session, "Oslo as well");
    assert_eq!(kept(&answer), ["Oslo"]);
    store.save(&mut session).expect("a save");
    assert_eq!((session.version, store.open("s").expect("a session")), (VERSION, session));
}
