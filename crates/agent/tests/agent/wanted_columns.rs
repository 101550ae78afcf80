//! Columns of other tables that a request wants beside the rows it speaks of.

use std::fmt::Write;
use std::fs;

use lakeward_agent::config::Config;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::monitor::Silent;
use lakeward_core::plan::{Plan, Step};
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::{LakeContext, Limits, PlanPreview, PreviewLimits, plan_preview};

/// Sixty harbours of twelve countries, the countries with their capitals, and storms by harbour.
fn lake() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut harbours, mut countries) = ("harbour,country_code,depth\n".to_string(), "iso,capital,area\n".to_string());
    let mut storms = "harbour,storm,wind_speed\n".to_string();
    for harbour in 0..60 {
        writeln!(harbours, "Port {harbour},C{:02},{}", harbour % 12, 5.0 + f64::from(harbour) / 7.0).expect("text");
        for storm in 0..3 {
            writeln!(storms, "Port {harbour},Storm {harbour}-{storm},{}", 40 + (harbour * 7 + storm * 13) % 60)
                .expect("text");
        }
    }
    for country in 0..12 {
        writeln!(countries, "C{country:02},City {country},{}", 1_000 + 317 * country).expect("text");
    }
    for (name, text) in [("harbours", harbours), ("countries", countries), ("storms", storms)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("a file");
    }
    build::build(
        folder.path(),
        &folder.path().join(".lakeward"),
        StaticModel::builtin(),
        &BuildOptions::default(),
        &Silent,
    )
    .expect("an index");
    folder
}

/// What the first operation makes.
fn first(text: &str, table: Option<&str>) -> (Plan, PlanPreview, String) {
    let lake = lake();
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
    let answer = agent.turn(&mut Session::new("wanted", "lake"), &request).expect("an answer");
    let first = answer.operations.first().expect("an operation").clone();
    let plan = first.runnable.clone().unwrap_or_else(|| panic!("{first:?}"));
    let context = LakeContext::new(lake.path(), &index, Limits::default()).expect("a context");
    let preview = plan_preview(&context, &plan, &PreviewLimits::default()).expect("a preview");
    (plan, preview, first.reason)
}

fn has(preview: &PlanPreview, column: &str) -> bool {
    preview.columns.iter().any(|known| known.name == column)
}

#[test]
fn what_is_wanted_is_found_where_the_table_is_not_at_hand() {
    for text in [
        "for each of the harbours with their depth, add the capital",
        "a list of the harbours with their depth, and beside each the capital of its country",
    ] {
        let (plan, preview, reason) = first(text, None);
        assert_eq!(plan.inputs().len(), 2, "{text}: {reason}");
        assert!(has(&preview, "capital") && has(&preview, "depth"), "{text}: {reason}");
        assert_eq!(preview.rows_out, 60, "{text}: {reason}");
    }
}

#[test]
fn a_figure_of_single_rows_is_one_of_another_table() {
    let (_, preview, reason) = first("the total number of storms per harbour", Some("harbours"));
    assert_eq!(preview.rows_out, 60, "{reason}");
    assert!(has(&preview, "count") && has(&preview, "depth"), "{reason}");
    // What the table at hand has itself is computed of it.
    let (_, preview, reason) = first("average depth by country_code", Some("harbours"));
    assert_eq!(preview.rows_out, 12, "{reason}");
}

#[test]
fn what_a_turn_adds_is_in_its_result() {
    let (plan, preview, reason) = first("mean depth per country_code plus the capital", Some("harbours"));
    assert_eq!(plan.inputs().len(), 2, "{reason}");
    assert!(has(&preview, "capital") && has(&preview, "country_code"), "{reason}");
    assert_eq!((preview.rows_out, preview.columns.len()), (12, 3), "{reason}");
}

#[test]
fn what_a_joined_table_has_can_be_spoken_of() {
    let lake = lake();
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let mut session = Session::new("joined", "lake");
    let mut last = None;
    for (text, table) in
        [("add the capital of the country", Some("harbours")), ("only those with an area above 2000", None)]
    {
        let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
        let answer = agent.turn(&mut session, &request).expect("an answer");
        last = answer.operations.first().and_then(|first| first.runnable.clone());
    }
    let context = LakeContext::new(lake.path(), &index, Limits::default()).expect("a context");
    let preview = plan_preview(&context, &last.expect("a plan"), &PreviewLimits::default()).expect("a preview");
    assert!(has(&preview, "capital") && has(&preview, "area"));
    // Eight of the twelve countries.
    assert_eq!(preview.rows_out, 40);
}

#[test]
fn a_join_by_a_key_that_a_group_dropped_is_said_to_be_none() {
    let lake = lake();
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let mut session = Session::new("dropped", "lake");
    let mut said = Vec::new();
    for (text, table) in [("how many rows for each depth", Some("harbours")), ("add the capital of the country", None)]
    {
        let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
        let answer = agent.turn(&mut session, &request).expect("an answer");
        said = answer.operations[0].preconditions.iter().map(|part| part.what.clone()).collect();
    }
    assert!(said.iter().any(|what| what.contains("no column `country_code`")), "{said:?}");
}

#[test]
fn a_count_of_what_is_joined_counts_it() {
    let (plan, preview, reason) = first("join the storms table and count the rows per harbour", Some("harbours"));
    let steps = &plan.relation.steps;
    let place = |is: fn(&Step) -> bool| steps.iter().position(is);
    let (join, group) = (place(|step| matches!(step, Step::Join(_))), place(|step| matches!(step, Step::Group(_))));
    // Three storms a harbour, counted after they are joined, or still listed.
    assert!(preview.rows_out == if group.is_some() { 60 } else { 180 }, "{reason}");
    assert!(join.is_some() && group.is_none_or(|group| join < Some(group)), "{reason}");
}
