//! Nothing is wrong and silent: rows without a value, things that no table has, years of a table in parts, files that were skipped,
//! keys that are too few.

use lakeward::Lakeward;
use lakeward_agent::recommend::RankedOperation;
use lakeward_agent::session::Session;
use lakeward_core::plan::{Comparison, Condition, Expression, Plan, Step, Value};
use lakeward_core::request::{Demand, Input};
use lakeward_core::respect::Respect;
use lakeward_operate::{Limits, PreviewLimits, plan_preview};

use crate::place::{Folder, built, say};

fn lake() -> (Folder, Lakeward) {
    let folder = Folder::of(&[("torn.parquet", "PAR1 no footer")]);
    let mut hives = String::from("hive,apiary,honey_kg,queen_marked\n");
    for hive in 1..=18 {
        let apiary = ["Orchard", "Heath", ""][hive % 3];
        hives.push_str(&format!("H{hive},{apiary},{},{}\n", 3 * hive % 14, ["yes", "no"][hive % 2]));
    }
    folder.write("hives.csv", hives);
    for year in [2020, 2021] {
        let rows: String = (1..40)
            .map(|day| format!("{}-05-{:02},{},{}\n", year, day % 28 + 1, ["Orchard", "Heath"][day % 2], day % 9 + 1))
            .collect();
        folder.write(&format!("swarms/year={year}/part.csv"), format!("caught,apiary,bees_kg\n{rows}"));
    }
    let (lakeward, stats) = built(folder.path());
    assert_eq!((stats.tables, stats.skipped.len()), (2, 1), "{:?}", stats.skipped);
    (folder, lakeward)
}

fn first(lakeward: &Lakeward, session: &mut Session, text: &str) -> RankedOperation {
    say(lakeward, session, text).operations.into_iter().next().expect("an operation")
}

fn on(lakeward: &Lakeward, table: &str) -> Session {
    let mut session = lakeward.new_session();
    session.use_table(Input::Table(table.into()));
    session
}

fn doubts(operation: &RankedOperation) -> String {
    let unmet = operation.preconditions.iter().filter(|condition| !condition.met);
    unmet.map(|condition| condition.what.as_str()).collect::<Vec<_>>().join("; ")
}

#[test]
fn rows_without_a_value_are_reported() {
    let (_folder, lakeward) = lake();
    let context = lakeward::functions::context(&lakeward, Limits::default()).expect("a context");
    let apiary = || Expression::column("apiary");
    let heath = Condition::Compare {
        left: apiary(),
        comparison: Comparison::Different,
        right: Expression::Value(Value::Text("Heath".into())),
    };
    let no_heath =
        Condition::Not(Box::new(Condition::OneOf { value: apiary(), values: vec![Value::Text("Heath".into())] }));
    for (condition, fact, rows) in [
        (heath, "6 rows without a value in apiary are left out, too", 6),
        (no_heath, "of these, 6 rows without a value in apiary are kept", 12),
    ] {
        let plan = Plan::of(Input::Table("hives".into())).then(Step::Filter(condition));
        let preview = plan_preview(&context, &plan, &PreviewLimits::default()).expect("a preview");
        assert_eq!((preview.steps[0].facts.as_slice(), preview.rows_out), ([fact.to_string()].as_slice(), rows));
    }
}

#[test]
fn what_is_counted_is_called_so_or_that_is_said() {
    let (_folder, lakeward) = lake();
    let badgers = first(&lakeward, &mut on(&lakeward, "hives"), "how many badgers");
    assert!(doubts(&badgers).contains("`badgers` is not applied"), "{badgers:?}");
    let hives = first(&lakeward, &mut on(&lakeward, "hives"), "how many hives");
    assert_eq!(doubts(&hives), "", "{hives:?}");
}

#[test]
fn another_year_of_a_table_in_parts_changes_the_condition() {
    let (_folder, lakeward) = lake();
    let mut session = on(&lakeward, "swarms");
    first(&lakeward, &mut session, "total bees_kg per apiary in 2020");
    let other = first(&lakeward, &mut session, "same but for 2021");
    let steps: Vec<String> =
        other.runnable.iter().flat_map(|plan| &plan.relation.steps).map(ToString::to_string).collect();
    assert!(steps.first().is_some_and(|step| step.contains("2021") && !step.contains("2020")), "{steps:?}");
    assert_eq!(steps.get(1).map(String::as_str), Some("computes the total bees_kg for each apiary"));
}

#[test]
fn a_table_that_was_no_answer_leaves_the_topic_behind() {
    let (_folder, lakeward) = lake();
    let mut session = lakeward.new_session();
    session.demand(Demand::in_words(Respect::Topic, "lighthouse keepers", 1));
    session.use_table(Input::Table("hives".into()));
    assert!(session.demands.iter().all(|demand| demand.role != Respect::Topic), "{:?}", session.demands);
}

#[test]
fn what_is_missing_has_a_reason() {
    let (_folder, lakeward) = lake();
    for name in ["torn", "torn.parquet"] {
        let error = lakeward.index().find(name).expect_err("no table").to_string();
        assert!(error.starts_with("`torn.parquet` was skipped when the lake was indexed: "), "{error}");
    }
    let query = lakeward.query_table("hives").expect("a table");
    let (target, key) = (query.column("honey_kg").expect("a column"), query.column("hive").expect("a column"));
    let found = lakeward.correlate(&query, target, &[key], 5).expect("an answer");
    assert_eq!(found.notes, ["too few keys with a value to compare: `hive` has 18 values; 25 are needed"]);
}
