//! A table of features: the right ones, at one row a key, and nothing lost.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::feature_table::{Aggregate, FeatureOptions, FeatureTable, feature_table};
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::monitor::Silent;
use lakeward_core::request::OperationKind;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::{LakeContext, Limits, PreviewLimits, plan_preview, run_plan};
use lakeward_search::QueryTable;

/// Numbers in 0..1 that look independent.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Twelve hundred visits to 300 towns: `bill` is made of the town's wealth, written in months, and its mood, and of the guest's age.
fn lake() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("as the test made it");
    let mut next = noise(11);
    let towns: Vec<[f64; 2]> = (0..300).map(|_| [next(), next()]).collect();
    let mut visits = "town,age,bill,bill copy\n".to_string();
    for visit in 0..1_200 {
        let [wealth, mood] = towns[visit % 300];
        let age = next();
        let bill = 3.0 * wealth + 2.0 * mood + age + 0.3 * next();
        writeln!(visits, "Town {},{age},{bill},{}", visit % 300, 2.0 * bill).expect("as the test made it");
    }
    let (mut wealth, mut moods) = ("TOWN,month,wealth,random\n".to_string(), "town,mood\n".to_string());
    let mut totals = "town,takings\n".to_string();
    for (town, [rich, mood]) in towns.iter().enumerate() {
        for month in 1..=6 {
            // Two ways to write a town: still one key.
            let name = if month % 2 == 0 { format!("TOWN {town}") } else { format!("town {town}") };
            writeln!(wealth, "{name},{month},{},{}", rich + 0.05 * f64::from(month), next())
                .expect("as the test made it");
        }
        let kind = ["glum", "calm", "gay"][(mood * 3.0) as usize];
        for _ in 0..2 {
            writeln!(moods, "Town {town},{kind}").expect("as the test made it");
        }
        // What was billed there: the target under another name.
        let bills: f64 = visits
            .lines()
            .filter(|line| line.starts_with(&format!("Town {town},")))
            .map(|line| {
                line.split(',').nth(2).expect("as the test made it").parse::<f64>().expect("as the test made it")
            })
            .sum();
        writeln!(totals, "Town {town},{bills}").expect("as the test made it");
    }
    for (name, text) in [("visits", visits), ("wealth", wealth), ("moods", moods), ("totals", totals)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("as the test made it");
    }
    let index = folder.path().join(".lakeward");
    build::build(folder.path(), &index, StaticModel::builtin(), &BuildOptions::default(), &Silent)
        .expect("as the test made it");
    folder
}

fn table(lake: &std::path::Path, aggregate: Aggregate) -> (LakeContext, QueryTable, FeatureTable) {
    let index = LakeIndex::open(&lake.join(".lakeward"), StaticModel::builtin().id()).expect("as the test made it");
    let context = LakeContext::new(lake, &index, Limits::default()).expect("as the test made it");
    let query = QueryTable::resolve(&index, lake, "visits", StaticModel::builtin()).expect("as the test made it");
    let options = FeatureOptions {
        target: 2,
        key: vec![0],
        k: 4,
        aggregate,
        within: Duration::from_secs(60),
        base: None,
        only: Vec::new(),
    };
    let found = feature_table(&index, lake, &context, &query, &options).expect("as the test made it");
    (context, query, found)
}

#[test]
fn features_come_at_one_row_a_key_with_what_they_add() {
    let lake = lake();
    let (context, query, found) = table(lake.path(), Aggregate::Mean);
    let names: Vec<&str> = found.features.iter().map(|feature| feature.name.as_str()).collect();
    assert!(names.contains(&"wealth") && names.contains(&"mood"), "{names:?}, left out: {:?}", found.left_out);
    for feature in &found.features {
        let gain = feature.gain.as_ref().expect("as the test made it");
        assert!(gain.gain > 0.0, "{}: {gain}", feature.name);
    }
    let wealth = &found.features[0];
    assert!(wealth.gain.as_ref().expect("as the test made it").helps() && wealth.aggregate == "mean", "{wealth:?}");
    let leak = found.left_out.iter().find(|left_out| left_out.column == "takings").expect("as the test made it");
    assert!(leak.reason.contains("leaks"), "{leak:?}");
    // Nothing is repeated, nothing lost: the target stands in every row as before.
    let preview = plan_preview(&context, &found.plan, &PreviewLimits::default()).expect("as the test made it");
    assert_eq!((preview.rows_in, preview.rows_out, found.rows), (1_200, 1_200, 1_200));
    let out = lake.path().join("features.csv");
    run_plan(&context, &found.plan, &PreviewLimits::default(), &out).expect("as the test made it");
    let (before, after) = (
        fs::read_to_string(lake.path().join("visits.csv")).expect("as the test made it"),
        fs::read_to_string(&out).expect("as the test made it"),
    );
    for (before, after) in before.lines().zip(after.lines()).skip(1) {
        let number = |line: &str, place: usize| {
            line.split(',').nth(place).expect("as the test made it").parse::<f64>().expect("as the test made it")
        };
        assert!((number(before, 2) - number(after, 2)).abs() < 1e-9, "{before} {after}");
    }
    let header: Vec<String> =
        after.lines().next().expect("as the test made it").split(',').map(str::to_string).collect();
    let dictionary = found.dictionary(&query, &header);
    let entry = dictionary.columns.iter().find(|entry| entry.name == "wealth").expect("as the test made it");
    assert_eq!((entry.table.as_str(), entry.aggregate.as_deref()), ("wealth", Some("mean")));
    assert!(entry.citation.contains("wealth@") && dictionary.columns[2].aggregate.is_none());
}

#[test]
fn another_aggregate_is_another_value() {
    let lake = lake();
    let (context, _, last) = table(lake.path(), Aggregate::Last);
    let wealth = last.features.iter().find(|feature| feature.name == "wealth").expect("as the test made it");
    assert_eq!(wealth.aggregate, "last by month");
    let preview = plan_preview(&context, &last.plan, &PreviewLimits::default()).expect("as the test made it");
    assert_eq!(preview.rows_out, 1_200);
}

#[test]
fn a_request_to_predict_proposes_features_and_never_repeats_a_row() {
    let lake = lake();
    let index =
        LakeIndex::open(&lake.path().join(".lakeward"), StaticModel::builtin().id()).expect("as the test made it");
    let sessions = SessionStore::new(lake.path());
    let agent = Agent::new(lake.path(), &index, StaticModel::builtin(), Config::default(), sessions);
    let mut session = Session::new("predict", "lake");
    let context = LakeContext::new(lake.path(), &index, Limits::default()).expect("as the test made it");
    let mut ask = |text: &str, table: Option<&str>| {
        let request = Request { text: text.into(), table: table.map(str::to_string), ..Request::default() };
        let answer = agent.turn(&mut session, &request).expect("as the test made it");
        let first = answer.operations[0].clone();
        let plan = first.runnable.clone().unwrap_or_else(|| panic!("{first:?}"));
        let preview = plan_preview(&context, &plan, &PreviewLimits::default()).expect("as the test made it");
        assert_eq!((first.kind, first.requested, preview.rows_out), (OperationKind::Join, true, 1_200), "{first:?}");
        assert!(preview.columns.iter().any(|column| column.name == "bill"));
        (first, preview, answer.notes.clone())
    };
    let (first, preview, notes) = ask("I want to predict the bill", Some("visits"));
    assert!(preview.columns.iter().any(|column| column.name == "wealth"), "{first:?}");
    assert!(first.reason.contains("adds") && first.reason.contains("R²"), "{}", first.reason);
    assert!(notes.iter().any(|note| note.contains("takings") && note.contains("leaks")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("bill copy")), "{notes:?}");
    // What the words name is added and nothing else, whatever would help more.
    let (first, preview, _) =
        ask("I want to predict the bill, please add the random number of each town", Some("visits"));
    assert!(preview.columns.iter().any(|column| column.name == "random"), "{first:?}");
    assert!(!preview.columns.iter().any(|column| column.name == "mood"), "{first:?}");
}

/// A lake of four tables with what breaks joins: keys written in several ways, repeated, missing, as numbers and texts, columns with names of
/// others, and columns that go with the target of `base` and that do not.
fn hostile_lake(seed: u64) -> (tempfile::TempDir, u64) {
    let folder = tempfile::tempdir().expect("as the test made it");
    let mut next = noise(seed);
    let mut below = |count: usize| (next() * count as f64) as usize;
    let (things, repeats) = (30 + below(40), 1 + below(3));
    let numbered = below(2) == 0;
    let spelt = |thing: usize, way: usize| match (numbered, way) {
        (true, 0) => format!("{thing}"),
        (true, 1) => format!("{thing}.0"),
        (true, 2) => format!("0{thing}"),
        (true, _) => format!(" {thing} "),
        (false, 0) => format!("Thing {thing}"),
        (false, 1) => format!("THING  {thing}"),
        (false, 2) => format!(" thing {thing}"),
        (false, _) => format!("\"Thing, {thing}\""),
    };
    let names = ["key", "Key", "thing", "year", "target", "rows of the label", "a\"\"b"];
    let mut rows = 0;
    for table in ["base", "one", "two", "three"] {
        let is_base = table == "base";
        let mut used = vec!["target".to_string(), "key".to_string()];
        let mut pick = |below: &mut dyn FnMut(usize) -> usize| loop {
            let name = format!("\"{}\"", names[below(names.len())]);
            if !used.iter().any(|other| name.trim_matches('"').eq_ignore_ascii_case(other)) || below(4) == 0 {
                let name = if used.iter().any(|other| name.trim_matches('"').eq_ignore_ascii_case(other)) {
                    format!("\"value {}\"", used.len())
                } else {
                    name
                };
                used.push(name.trim_matches('"').to_string());
                return name;
            }
        };
        let (value, label) = (pick(&mut below), pick(&mut below));
        let first = if is_base { "target" } else { ["target", "Target", "measure"][below(3)] };
        let mut text = format!("key,year,{first},{value},{label}\n");
        for thing in 0..things {
            for repeat in 0..if is_base { repeats } else { 1 + below(4) } {
                let key = if below(12) == 0 { String::new() } else { spelt(thing, if is_base { 0 } else { below(4) }) };
                let year = if below(15) == 0 { String::new() } else { (1990 + (repeat + thing) % 7).to_string() };
                let number = thing as f64 * 1.5 + below(10) as f64;
                let target = if !is_base && below(9) == 0 { "NA".to_string() } else { format!("{number}") };
                let other = ["", "-0.0", "0", "7.25"][below(4)];
                let kind = ["\"x, y\"", "X", "x", ""][(thing * 4 / things + below(2)).min(3)];
                writeln!(text, "{key},{year},{target},{other},{kind}").expect("as the test made it");
                rows += u64::from(is_base);
            }
        }
        fs::write(folder.path().join(format!("{table}.csv")), text).expect("as the test made it");
    }
    let index = folder.path().join(".lakeward");
    build::build(folder.path(), &index, StaticModel::builtin(), &BuildOptions::default(), &Silent)
        .expect("as the test made it");
    (folder, rows)
}

#[test]
fn no_plan_repeats_rows_or_loses_the_target() {
    const AGGREGATES: [Aggregate; 7] = [
        Aggregate::Mean,
        Aggregate::Median,
        Aggregate::Min,
        Aggregate::Max,
        Aggregate::Sum,
        Aggregate::Count,
        Aggregate::Last,
    ];
    let mut joined = 0;
    for seed in 0..10 {
        let (lake, _) = hostile_lake(900 + seed);
        let lake = lake.path();
        let index = LakeIndex::open(&lake.join(".lakeward"), StaticModel::builtin().id()).expect("as the test made it");
        let context = LakeContext::new(lake, &index, Limits::default()).expect("as the test made it");
        let query = QueryTable::resolve(&index, lake, "base", StaticModel::builtin()).expect("as the test made it");
        let target = query.column("target").expect("as the test made it");
        let mut targets =
            context.query("SELECT \"target\" FROM \"base\" ORDER BY 1", None).expect("as the test made it");
        let mut before = Vec::new();
        while let Some(batch) = targets.next_batch().expect("as the test made it") {
            before.push(format!("{:?}", batch.columns()));
        }
        drop(targets);
        for (turn, aggregate) in AGGREGATES.into_iter().enumerate() {
            let key = [vec![0], vec![0, 1], Vec::new()][turn % 3].clone();
            let options =
                FeatureOptions { target, key, k: 5, aggregate, within: Duration::ZERO, base: None, only: Vec::new() };
            // A lake whose columns are no keys is refused; that is no plan.
            let Ok(found) = feature_table(&index, lake, &context, &query, &options) else { continue };
            joined += found.features.len();
            let out = lake.join(format!("out {turn}.csv"));
            let outcome =
                run_plan(&context, &found.plan, &PreviewLimits::default(), &out).expect("as the test made it");
            let name = |feature: &lakeward_agent::feature_table::Feature| feature.name.clone();
            let made: Vec<String> = found.features.iter().map(name).collect();
            assert_eq!(outcome.rows, found.rows, "seed {seed} {aggregate:?} {made:?}");
            for (place, column) in query.entry.profile.columns.iter().enumerate() {
                assert_eq!(
                    outcome.columns[place].name, column.name,
                    "seed {seed} {aggregate:?}: own columns stay first"
                );
            }
            let sql = lakeward_operate::plan_sql(&context, &found.plan).expect("as the test made it");
            let after = format!("SELECT \"target\" FROM ({sql}) AS t ORDER BY 1");
            let mut rows = context.query(&after, None).expect("as the test made it");
            let mut kept = Vec::new();
            while let Some(batch) = rows.next_batch().expect("as the test made it") {
                kept.push(format!("{:?}", batch.columns()));
            }
            assert_eq!(kept, before, "seed {seed} {aggregate:?}");
        }
    }
    assert!(joined > 40, "only {joined} features were joined: the lakes test nothing");
}
