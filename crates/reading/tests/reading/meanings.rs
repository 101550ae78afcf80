//! What several readings of a turn come to: those that make one plan speak for it together; a plan that does nothing, groups or cuts for nothing is
//! hardly what was meant; and how likely the first is, is told.

use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Input};
use lakeward_reading::reader::{
    ColumnKind, Function, Meaning, READINGS, Reader, Reading, Role, Schema, SchemaColumn, Span, TurnReading, assemble,
    meanings,
};

fn schema() -> Schema {
    let column = |(name, kind): (&str, ColumnKind)| SchemaColumn::new(name, kind);
    let columns = [("city", ColumnKind::Text), ("fare", ColumnKind::Number), ("tip", ColumnKind::Number)];
    Schema { columns: columns.map(column).into(), ..Schema::default() }
}

fn span(words: &str, role: Role, column: usize) -> Span {
    Span { columns: vec![column], function: Some(Function::Mean), ..Span::new(0..words.len(), words, role) }
}

fn reading(act: Act, spans: Vec<Span>, ratio: f32) -> Reading {
    let turn =
        TurnReading { text: "fare by city".into(), acts: vec![act], confidence: 1.0, spans, ..TurnReading::default() };
    Reading { turn, ratio }
}

fn meant(readings: Vec<Reading>) -> Vec<Meaning> {
    let (schema, plan) = (schema(), Plan::of(Input::Table("rides".into())));
    meanings(readings, &plan, &|turn| assemble(turn, &schema, &plan))
}

fn steps(meaning: &Meaning) -> Vec<String> {
    meaning.assembly.plan.relation.steps.iter().map(ToString::to_string).collect()
}

#[test]
fn readings_that_come_to_one_plan_speak_for_it_together() {
    let by = |column, words: &str, ratio| {
        let spans = vec![span("fare", Role::Measure, column), span(words, Role::Group, 0)];
        reading(Act::Refine, spans, ratio)
    };
    let found = meant(vec![by(2, "city", 0.0), by(1, "city", -0.1), by(1, "by city", -0.1)]);
    assert_eq!(steps(&found[0]), ["computes the mean of fare for each city"]);
    assert_eq!(steps(&found[1]), ["computes the mean of tip for each city"]);
    assert_eq!(found.len(), 2);
    assert!(found[0].probability > found[1].probability);
}

#[test]
fn what_groups_for_nothing_or_changes_nothing_is_hardly_meant() {
    let grouped = reading(Act::Refine, vec![span("city", Role::Group, 0)], 0.0);
    let nothing = reading(Act::Refine, Vec::new(), -0.1);
    let figure = reading(Act::Refine, vec![span("fare", Role::Measure, 1), span("city", Role::Group, 0)], -0.5);
    let found = meant(vec![grouped, nothing, figure]);
    assert_eq!(steps(&found[0]), ["computes the mean of fare for each city"]);
    assert_eq!(found.len(), 3);
}

#[test]
fn what_does_something_else_than_change_rows_is_not_weighed() {
    let thanks = reading(Act::Chat, Vec::new(), 0.0);
    let figure = reading(Act::Refine, vec![span("fare", Role::Measure, 1)], -0.1);
    let found = meant(vec![thanks, figure.clone()]);
    assert_eq!((found.len(), found[0].turn.acts.as_slice()), (1, &[Act::Chat][..]));
    let undo = reading(Act::Undo, Vec::new(), -0.1);
    let figure = Reading { ratio: 0.0, ..figure };
    assert_eq!(meant(vec![figure, undo]).len(), 1);
}

#[test]
fn a_plain_turn_is_likelier_read_right_than_a_vague_one() {
    let schema = schema();
    let plan = Plan::of(Input::Table("rides".into()));
    let likely = |text: &str| {
        let readings = Reader::builtin().readings(text, "", &schema, &|_, _| false, READINGS);
        meanings(readings, &plan, &|turn| assemble(turn, &schema, &plan))[0].probability
    };
    let (plain, vague) = (likely("average fare per city"), likely("who leaves the most beside the price, sorted"));
    assert!(plain > 0.7 && vague < 0.5, "{plain} {vague}");
}
