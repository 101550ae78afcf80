//! Joins on several columns: counts against a nested loop over the rows as written here, the sample lake's panels, files that
//! change or vanish behind the index, and times on the benchmark lakes.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_lake::composite_key;
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::join::MatchKind;
use lakeward_search::{CompositeAnswers, CompositeOptions, JoinAnswer, QueryTable, RankingWeights, composite};
use lakeward_sketch::Difference;
use proptest::prelude::*;

/// A lake in a folder of its own, with its index beside it.
struct Lake {
    place: tempfile::TempDir,
}

impl Lake {
    fn new(files: &[(String, String)]) -> Self {
        let lake = Self { place: tempfile::tempdir().expect("a folder") };
        fs::create_dir(lake.folder()).expect("a folder");
        for (name, text) in files {
            fs::write(lake.folder().join(name), text).expect("a file");
        }
        build_index(&lake.folder(), &lake.place.path().join("index"));
        lake
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("lake")
    }

    fn index(&self) -> LakeIndex {
        open(&self.place.path().join("index"))
    }

    fn join(&self, table: &Path, columns: &[&str], k: usize) -> CompositeAnswers {
        let index = self.index();
        let query = QueryTable::read(table, None, StaticModel::builtin()).expect("a table");
        join(&index, &self.folder(), &query, columns, k)
    }
}

fn build_index(lake: &Path, index: &Path) {
    build::build(lake, index, StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
}

fn open(index: &Path) -> LakeIndex {
    LakeIndex::open(index, StaticModel::builtin().id()).expect("an index")
}

fn join(index: &LakeIndex, lake: &Path, query: &QueryTable, columns: &[&str], k: usize) -> CompositeAnswers {
    let columns = columns.iter().map(|name| query.column(name).expect("a column")).collect();
    composite::search(index, lake, query, &CompositeOptions { k, columns, weights: RankingWeights::shipped() })
        .expect("answers")
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

/// A combination in normal form.
type Tuple = Vec<String>;

/// The distinct combinations of `columns`, by a plain normal form: lower case; empty cells are missing.
fn tuples(rows: &[Vec<String>], columns: &[usize]) -> BTreeSet<Tuple> {
    let of = |row: &Vec<String>| -> Tuple { columns.iter().map(|column| row[*column].to_lowercase()).collect() };
    rows.iter().map(of).filter(|tuple| tuple.iter().all(|part| !part.is_empty())).collect()
}

/// Every way to choose `count` of `width` columns, each once, in order.
fn choices(width: usize, count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in choices(width, count - 1) {
        let rest = (0..width).filter(|column| !shorter.contains(column));
        all.extend(rest.map(|column| [shorter.clone(), vec![column]].concat()));
    }
    all
}

fn csv_of(rows: &[Vec<String>], names: &str) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    format!("{names}\n{}\n", lines.join("\n"))
}

/// A cell of a small domain, so that rows meet: a word in either case, or nothing.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0usize..6).prop_map(|place| ["ant", "bee", "cat", "dog", "eel", "fox"][place].to_string()),
        3 => (0usize..3).prop_map(|place| ["ANT", "Bee", "CAT"][place].to_string()),
        1 => Just(String::new()),
    ]
}

fn rows(width: usize, most: usize) -> impl Strategy<Value = Vec<Vec<String>>> {
    // The first rows are full, so that no table looks like one without columns.
    let head = (0..width).map(|place| format!("head{place}")).collect::<Vec<_>>();
    proptest::collection::vec(proptest::collection::vec(cell(), width), 3..most)
        .prop_map(move |rows| [vec![head.clone()], rows].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every table that shares enough combinations is found, no other is, and its figures are those of a nested loop under the
    /// mapping that is reported.
    #[test]
    fn answers_are_what_a_nested_loop_finds(
        query in rows(3, 20),
        tables in proptest::collection::vec(rows(4, 25), 1..7),
        key in proptest::sample::subsequence(vec![0usize, 1, 2], 2..=3),
    ) {
        let files: Vec<(String, String)> = tables
            .iter()
            .enumerate()
            .map(|(number, rows)| (format!("t{number}.csv"), csv_of(rows, "qa,rb,sc,td")))
            .collect();
        let lake = Lake::new(&files);
        let path = lake.place.path().join("query.csv");
        fs::write(&path, csv_of(&query, "one,two,three")).expect("a file");
        let names: Vec<&str> = key.iter().map(|place| ["one", "two", "three"][*place]).collect();
        let found = lake.join(&path, &names, 50);
        prop_assert!(found.notes.is_empty(), "{:?}", found.notes);
        let ours = tuples(&query, &key);
        let mut expected: BTreeSet<String> = BTreeSet::new();
        for (number, rows) in tables.iter().enumerate() {
            let is_enough = |columns: &Vec<usize>| {
                let theirs = tuples(rows, columns);
                let shared = ours.intersection(&theirs).count() as f64;
                shared > 0.0 && (shared >= 0.05 * ours.len() as f64 || shared >= 0.2 * theirs.len() as f64)
            };
            if choices(4, key.len()).iter().any(is_enough) {
                expected.insert(format!("t{number}"));
            }
        }
        let tables_found: BTreeSet<String> = found.answers.iter().map(|answer| answer.table.clone()).collect();
        prop_assert_eq!(&tables_found, &expected);
        for answer in found.answers.iter() {
            let number: usize = answer.table[1..].parse().expect("a number");
            let place = |name: &str| ["qa", "rb", "sc", "td"].iter().position(|known| *known == name).expect("a column");
            let columns: Vec<usize> = answer.on.iter().map(|pair| place(&pair.column)).collect();
            let theirs = tuples(&tables[number], &columns);
            let shared = ours.intersection(&theirs).count();
            prop_assert_eq!(answer.shared_values, shared as u64);
            prop_assert_eq!(answer.containment, shared as f64 / ours.len() as f64);
            prop_assert_eq!(answer.containment_of_candidate, shared as f64 / theirs.len() as f64);
            prop_assert_eq!(answer.jaccard, shared as f64 / (ours.len() + theirs.len() - shared) as f64);
            prop_assert!(answer.exact && answer.containment_as_written <= answer.containment);
            let full = tables[number].iter().filter(|row| columns.iter().all(|column| !row[*column].is_empty())).count();
            prop_assert!((answer.uniqueness - theirs.len() as f64 / full as f64).abs() < 1e-9);
            prop_assert_eq!(answer.adds.len(), 4 - key.len());
        }
        // The best few are the first of all.
        let scores = |found: &CompositeAnswers| -> Vec<(String, u64)> {
            found.answers.iter().map(|answer| (answer.table.clone(), answer.score.to_bits())).collect()
        };
        for k in 1..=3 {
            let first: Vec<(String, u64)> = scores(&found).into_iter().take(k).collect();
            prop_assert_eq!(scores(&lake.join(&path, &names, k)), first);
        }
    }
}

#[test]
fn what_is_written_otherwise_or_stands_elsewhere_matches() {
    let lake = Lake::new(&owned(&[(
        "flights.csv",
        "carrier,delay,flown\nUA,3,13/02/2020\nua,5,01/02/2020\nAA,8,29/03/2020\nAA,9,\n,1,01/02/2020\n",
    )]));
    let path = lake.place.path().join("days.csv");
    fs::write(&path, "day,line,note\n2020-02-13,UA,x\n2020-02-01,UA,y\n2020-02-01,AA,z\n2020-03-29,aa,w\n,UA,v\n")
        .expect("a file");
    let found = lake.join(&path, &["day", "line"], 5);
    let answer = &found.answers[0];
    assert_eq!(answer.on.iter().map(|pair| pair.column.as_str()).collect::<Vec<_>>(), ["flown", "carrier"]);
    assert_eq!((answer.shared_values, answer.containment, answer.containment_as_written), (3, 0.75, 0.0));
    assert_eq!(answer.kind, MatchKind::Normalised);
    assert_eq!(answer.normalised, [Difference::Case, Difference::DateStyle]);
    assert_eq!((answer.query_column.as_str(), answer.column.as_str()), ("day + line", "flown + carrier"));
    assert_eq!(answer.adds, ["delay"]);
    assert!(
        answer.reason.contains("75% of 4 `day` + `line` combinations are in `flown` + `carrier`"),
        "{}",
        answer.reason
    );
}

#[test]
fn a_file_that_changed_or_vanished_is_said_to_have() {
    let panel = "country,year,gdp\nFrance,2001,1\nFrance,2002,2\nSpain,2001,3\nSpain,2002,4\n";
    let lake =
        Lake::new(&owned(&[("gone.csv", panel), ("same.csv", panel), ("touched.csv", panel), ("changed.csv", panel)]));
    let path = lake.place.path().join("query.csv");
    fs::write(&path, "country,year\nFrance,2001\nFrance,2002\nSpain,2001\nSpain,2002\n").expect("a file");
    fs::remove_file(lake.folder().join("gone.csv")).expect("a file");
    fs::write(lake.folder().join("touched.csv"), panel).expect("a file");
    fs::write(lake.folder().join("changed.csv"), "year,country\n2001,France\n2009,Spain\n").expect("a file");
    let found = lake.join(&path, &["country", "year"], 5);
    let answer = |name: &str| found.answers.iter().find(|answer| answer.table == name);
    for name in ["same", "touched"] {
        let answer = answer(name).expect(name);
        assert_eq!((answer.containment, answer.exact), (1.0, true), "{name}");
    }
    let changed = answer("changed").expect("an answer");
    assert_eq!((changed.containment, changed.rows, changed.exact), (0.25, 2, false));
    assert!(changed.reason.contains("changed since it was indexed"), "{}", changed.reason);
    assert!(answer("gone").is_none());
    assert!(found.notes.len() == 1 && found.notes[0].contains("`gone`"), "{:?}", found.notes);
}

/// The sample lake: query, its key, a table that must be among the first answers, its columns, and the containment as
/// computed by a script of its own.
type Panel = (&'static str, &'static [&'static str], &'static str, &'static [&'static str], f64);

#[rustfmt::skip]
const PANELS: &[Panel] = &[
    ("energy/co2_per_person/co2pp_1970_1984", &["country", "year"], "population/country_pops_1960_2022", &["country_name", "year"], 0.869),
    ("health/us_diseases/measles", &["state", "year"], "health/us_diseases/pertussis", &["STATE_NAME", "YR"], 0.714),
    ("health/us_diseases/polio", &["year", "state"], "health/us_diseases/measles", &["year", "state"], 1.000),
    ("health/who_tb_new_cases", &["iso3", "year"], "population/country_pops_1960_2022", &["country_code_3", "year"], 0.965),
    ("transport/delays_2001q1_sample", &["origin", "destination"], "transport/od_counts_2008", &["origin", "destination"], 0.907),
    ("transport/nyc2013/flights_2013_01", &["origin", "dest"], "transport/od_counts_2008", &["origin", "destination"], 0.928),
    ("transport/nyc2013/flights_2013_01", &["carrier", "tailnum"], "transport/nyc2013/ontime_201304", &["OP_CARRIER", "TAIL_NUM"], 0.545),
    ("sport/baseball/salaries_2010_2016", &["yearID", "teamID"], "sport/baseball/teams", &["yearID", "teamID"], 1.000),
    ("nature/portal/surveys_2002", &["species_id", "sex", "plot_id"], "nature/portal/surveys_2001", &["species_id", "sex", "plot_id"], 0.694),
    ("food/bakeoff/bakes", &["series", "baker"], "food/bakeoff/bakers", &["series", "baker"], 1.000),
];

#[test]
fn panels_of_the_sample_lake_join() {
    let lake = Path::new(crate::REPOSITORY).join("lake");
    let place = tempfile::tempdir().expect("a folder");
    build_index(&lake, place.path());
    let index = open(place.path());
    for (table, key, right, columns, containment) in PANELS {
        let query = QueryTable::resolve(&index, &lake, table, StaticModel::builtin()).expect(table);
        let found = join(&index, &lake, &query, key, 5);
        let answer: Option<&JoinAnswer> = found.answers.iter().find(|answer| answer.table == *right);
        let answer = answer.unwrap_or_else(|| panic!("{table}: {right} is not among the answers"));
        assert_eq!(answer.on.iter().map(|pair| pair.column.as_str()).collect::<Vec<_>>(), *columns, "{table}");
        assert!((answer.containment - containment).abs() < 0.002, "{table}: {}", answer.containment);
        assert!(answer.exact);
    }
}

#[test]
fn two_column_joins_on_benchmark_lakes_take() {
    let Some(benches) = std::env::var_os("LAKEWARD_BENCH") else {
        return println!("LAKEWARD_BENCH is not set: skipped");
    };
    for name in ["lakebench-webtable", "wiki-split"] {
        let folder = Path::new(&benches).join(name);
        if !folder.join("lake").is_dir() {
            println!("{name}: not there, skipped");
            continue;
        }
        let place = tempfile::tempdir().expect("a folder");
        build_index(&folder.join("lake"), place.path());
        let index = open(place.path());
        let mut latencies: Vec<f64> = Vec::new();
        let (mut passes, mut answered) = (0, 0);
        for line in fs::read_to_string(folder.join("queries.jsonl")).expect("queries").lines() {
            let query: serde_json::Value = serde_json::from_str(line).expect("a query");
            let (Some(column), Some(table)) = (query["column"].as_str(), query["table"].as_str()) else { continue };
            let query = QueryTable::read(&folder.join(table), None, StaticModel::builtin()).expect("a table");
            let first = query.column(column).expect("the column");
            let others = query
                .columns
                .iter()
                .enumerate()
                .filter(|(place, column)| *place != first && column.sketch.distinct > 1);
            let Some((second, _)) = others.max_by(|a, b| a.1.profile.key_likeness.total_cmp(&b.1.profile.key_likeness))
            else {
                continue;
            };
            let options = CompositeOptions { k: 10, columns: vec![first, second], weights: RankingWeights::shipped() };
            let started = Instant::now();
            let found = composite::search(&index, &folder.join("lake"), &query, &options).expect("answers");
            latencies.push(started.elapsed().as_secs_f64() * 1e3);
            assert!(found.notes.is_empty(), "{:?}", found.notes);
            passes += found.passes;
            answered += usize::from(!found.answers.is_empty());
        }
        latencies.sort_by(f64::total_cmp);
        let count = latencies.len();
        let percentile = |share: usize| latencies[(count * share / 100).min(count - 1)];
        println!(
            "{name}: {count} joins on two columns, {answered} with answers, {:.1} files read each; p50 {:.1} ms, p95 {:.1} ms, most {:.1} ms",
            passes as f64 / count as f64,
            percentile(50),
            percentile(95),
            percentile(100)
        );
    }
}

#[test]
fn finding_the_keys_of_several_columns_takes() {
    let mut lakes = vec![Path::new(crate::REPOSITORY).join("lake")];
    lakes.extend(std::env::var_os("LAKEWARD_BENCH").map(|benches| Path::new(&benches).join("lakebench-webtable/lake")));
    for lake in lakes.iter().filter(|lake| lake.is_dir()) {
        let place = tempfile::tempdir().expect("a folder");
        build_index(lake, place.path());
        let index = open(place.path());
        let mut times: Vec<f64> = Vec::new();
        let mut with_keys = 0;
        for table in index.tables() {
            let entry = index.table(table).expect("an entry");
            let started = Instant::now();
            let keys = composite_key::find(&lake.join(&entry.path), &entry.profile).expect("keys");
            times.push(started.elapsed().as_secs_f64() * 1e3);
            with_keys += usize::from(!keys.is_empty());
            assert!(keys.iter().all(|key| key.complete && (2..=3).contains(&key.columns.len())), "{keys:?}");
        }
        times.sort_by(f64::total_cmp);
        let (half, most) = (times[times.len() / 2], times[times.len() - 1]);
        let p95 = times[times.len() * 95 / 100];
        let count = times.len();
        println!(
            "{}: {with_keys} of {count} tables have composite keys; p50 {half:.2} ms, p95 {p95:.1} ms, most {most:.1} ms",
            lake.display()
        );
    }
}
