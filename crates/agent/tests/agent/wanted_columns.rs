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
    index(folder)
}

pub(super) fn index(folder: tempfile::TempDir) -> tempfile::TempDir {
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
    first_of(lake(), text, table)
}

pub(super) fn first_of(lake: tempfile::TempDir, text: &str, table: Option<&str>) -> (Plan, PlanPreview, String) {
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
    let answer = agent.turn(&mut Session::new("wanted", "lake"), &request).expect("an answer");
    let first = answer.operations.first().expect("an operation").clone();
    let plan = first.runnable.clone().unwrap_or_else(|| panic!("{first:?}"));
    let context = LakeContext::new(lake.path(), &index, Limits::default()).expect("a context");
    let preview = plan_preview(&context, &plan, &PreviewLimits::default()).expect("a preview");
    (plan, preview, first.reason.into())
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
    assert!(has(&preview, "storms") && has(&preview, "depth"), "{reason}");
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

/// Sixty crossings between twelve lands, what they cost, tables of weather by station, and one that shares nothing with any.
fn ferries() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut crossings = "crossing,from_code,to_code,minutes\n".to_string();
    let (mut lands, mut prices) = ("iso,capital,phone\n".to_string(), "crossing,fare\n".to_string());
    let mut paintings = "painter,title,colour\n".to_string();
    for line in 0..60 {
        writeln!(crossings, "Line {line},C{:02},C{:02},{}", line % 12, (line * 5 + 3) % 12, 30 + line).expect("text");
        writeln!(prices, "Line {line},{}", 5.0 + f64::from(line) / 4.0).expect("text");
        writeln!(paintings, "Painter {line},Picture {line},{}", ["red", "blue"][line as usize % 2]).expect("text");
    }
    for land in 0..12 {
        writeln!(lands, "C{land:02},City {land},+{}", 300 + land * 7).expect("text");
    }
    let mut files = vec![("crossings", crossings), ("lands", lands), ("prices", prices), ("paintings", paintings)];
    for (number, station) in ["weather/KAAA", "weather/KBBB", "weather/KCCC", "weather/KDDD"].into_iter().enumerate() {
        let mut days = "date,rain,wind\n".to_string();
        for day in 1..29 {
            writeln!(days, "2023-0{}-{day:02},{},{}", number + 1, (day * 7 + number) % 20, (day * 3) % 30)
                .expect("text");
        }
        files.push((station, days));
    }
    fs::create_dir_all(folder.path().join("ferries/weather")).expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(format!("ferries/{name}.csv")), text).expect("a file");
    }
    index(folder)
}

#[test]
fn what_is_wanted_is_found_among_all_tables_that_share_keys() {
    let (plan, preview, reason) = first_of(ferries(), "add the phone prefix of the country", Some("ferries/crossings"));
    assert_eq!(plan.inputs().len(), 2, "{reason}");
    assert!(has(&preview, "phone") && preview.rows_out == 60, "{reason}");
}

#[test]
fn several_things_that_are_wanted_come_of_several_tables() {
    let (plan, preview, reason) = first_of(ferries(), "add the capital and the fare", Some("ferries/crossings"));
    assert_eq!(plan.inputs().len(), 3, "{reason}");
    assert!(has(&preview, "capital") && has(&preview, "fare") && preview.rows_out == 60, "{reason}");
}

#[test]
fn a_key_that_is_named_is_the_one_that_is_joined_by() {
    let wanted = "add the capital from ferries/lands by to_code";
    let (_, preview, reason) = first_of(ferries(), wanted, Some("ferries/crossings"));
    assert!(has(&preview, "capital") && reason.contains("to_code = iso"), "{reason}");
}

#[test]
fn a_table_that_is_named_is_never_another_one() {
    let (lake, wanted) = (ferries(), "add the colour from ferries/paintings");
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let request = Request { text: wanted.into(), table: Some("ferries/crossings".into()), ..Request::default() };
    let answer = agent.turn(&mut Session::new("named", "lake"), &request).expect("an answer");
    let first = answer.operations.first().expect("an operation");
    let joined = first.runnable.as_ref().map_or(0, |plan| plan.inputs().len());
    assert!(joined < 2, "{first:?}");
    assert!(first.reason.contains("`ferries/paintings` has values of the rows at hand"), "{first:?}");
}

#[test]
fn codes_name_the_tables_beside_the_one_at_hand() {
    let (plan, preview, reason) = first_of(ferries(), "append KCCC and KDDD", Some("ferries/weather/KAAA"));
    let inputs: Vec<String> = plan.inputs().iter().map(ToString::to_string).collect();
    assert!(["KCCC", "KDDD"].iter().all(|code| inputs.iter().any(|input| input.contains(code))), "{inputs:?} {reason}");
    assert_eq!(preview.rows_out, 3 * 28, "{inputs:?} {reason}");
}

#[test]
fn of_two_keys_that_join_as_well_the_one_spoken_of_is_taken_or_it_is_told() {
    let doubts = |text: &str| {
        let lake = ferries();
        let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
        let agent =
            Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
        let request = Request { text: text.into(), table: Some("ferries/crossings".into()), ..Request::default() };
        let answer = agent.turn(&mut Session::new("keys", "lake"), &request).expect("an answer");
        let first = answer.operations.first().expect("an operation").clone();
        let doubts: Vec<String> =
            first.preconditions.iter().filter(|part| !part.met).map(|part| part.what.to_string()).collect();
        (first.reason, doubts)
    };
    let (reason, unmet) = doubts("add the capital");
    assert!(unmet.iter().any(|what| what.contains("from_code or to_code")), "{reason} {unmet:?}");
    let (reason, unmet) = doubts("add the capital of the to_code");
    assert!(reason.contains("to_code = iso") && !unmet.iter().any(|what| what.contains(" or ")), "{reason} {unmet:?}");
}

/// Three hundred games of fifty players in three seasons, the players with their years of birth, and 250 surveys of each season.
fn games() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut games, mut players) = ("player_id,season,H\n".to_string(), "player_id,bats,birth_year\n".to_string());
    let mut surveys = "season,survey,sample_size\n".to_string();
    for game in 0..300 {
        writeln!(games, "play{:03},{},{}", game % 50, 2015 + game % 3, game * 7 % 31).expect("text");
    }
    for player in 0..50 {
        let bats = if player % 3 == 0 { "L" } else { "R" };
        writeln!(players, "play{player:03},{bats},{}", 1970 + player * 13 % 29).expect("text");
    }
    for survey in 0..750 {
        writeln!(surveys, "{},S{survey},{}", 2015 + survey % 3, 400 + survey * 17 % 301).expect("text");
    }
    for (name, text) in [("games", games), ("players", players), ("surveys", surveys)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("a file");
    }
    index(folder)
}

#[test]
fn the_name_of_what_is_predicted_is_a_word_of_its_own() {
    let text = "add the birth year of the players, I want to predict H";
    let (plan, preview, reason) = first_of(games(), text, Some("games"));
    assert!(has(&preview, "birth_year") && has(&preview, "H") && !has(&preview, "bats"), "{reason}: {plan:?}");
    assert_eq!(preview.rows_out, 300, "{reason}");
}

#[test]
fn a_join_that_would_be_stopped_is_made_at_one_row_a_key() {
    let (_, preview, reason) = first_of(games(), "add the sample size by season", Some("games"));
    assert_eq!((preview.stopped.as_deref(), preview.rows_out), (None, 300), "{reason}");
    assert!(preview.columns.iter().any(|column| column.name.contains("sample_size")), "{reason}");
}

#[test]
fn of_two_columns_as_near_the_one_called_so_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut boats = "vessel_no,vessel_name,length_m,built\n".to_string();
    let mut landings = "landing_id,vessel_no,species,kg\n".to_string();
    for (place, name) in
        ["Solveig", "Havbris", "Nordlys", "Terna", "Maake", "Stormen", "Alke", "Lunde"].iter().enumerate()
    {
        writeln!(boats, "V{place:02},{name},{},{}", 9 + place * 2, 1974 + place * 5).expect("text");
    }
    for landing in 0..80 {
        writeln!(landings, "{landing},V{:02},cod,{}", landing % 8, 40 + landing * 13 % 900).expect("text");
    }
    for (name, text) in [("fleet", boats), ("landings", landings)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("a file");
    }
    let (_, preview, reason) = first_of(index(folder), "put the year each boat was built next to the landings", None);
    assert!(has(&preview, "built") && has(&preview, "kg"), "{reason}");
}

#[test]
fn a_question_is_asked_once() {
    let lake = lake();
    let index = LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let agent =
        Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), SessionStore::new(lake.path()));
    let mut session = Session::new("vague", "lake");
    let mut asked: Vec<String> = Vec::new();
    for text in ["something about harbours", "hm, I don't know", "not sure", "whatever helps me"] {
        let request = Request { text: text.into(), ..Request::default() };
        let answer = agent.turn(&mut session, &request).expect("an answer");
        let question = answer.operations.first().and_then(|first| first.question.clone());
        asked.extend(question.map(|question| question.text.to_string()));
    }
    let mut different = asked.clone();
    different.sort();
    different.dedup();
    assert!(!asked.is_empty() && different.len() == asked.len(), "{asked:?}");
}
