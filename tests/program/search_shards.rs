//! An index that is searched in shards: the answers of one process, and shards that are down, late, strange or of another lake.
#![cfg(unix)]

mod serving;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lakeward::shards::{ShardRound, SharedQuestion};
use lakeward::{Lakeward, Place};
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use lakeward_index::{AllFigures, SearchShard};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::REPOSITORY;

/// Of groups of files, how much larger than those before, so that their segments are not merged; and how many there are of one size.
const STEP: u64 = 8;
const OF_A_SIZE: u32 = 3;

/// A lake whose index has several segments, as after many updates.
struct Parted {
    folder: TempDir,
    whole: Lakeward,
}

impl Parted {
    /// With the files of `from`, in `segments` groups.
    fn of(from: &Path, segments: u32, is_fast: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (lake, first) = (folder.path().join("lake"), folder.path().join("first"));
        let files = files_by_values(from, &first);
        let place = || Place { fast: is_fast, ..Place::new(&lake, None).expect("a folder") };
        let total: u64 = files.iter().map(|(_, values)| values).sum();
        let (mut files, mut taken, mut size) =
            (files.into_iter().peekable(), 0, total / STEP.pow(segments.div_ceil(OF_A_SIZE)));
        for number in 0..segments {
            if number % OF_A_SIZE == 0 && number > 0 {
                size = taken * 5 / 2;
            }
            let until = if number + 1 == segments { u64::MAX } else { taken + size };
            while let Some((path, values)) = files.next_if(|_| taken < until || taken == 0) {
                let to = lake.join(path.strip_prefix(from).expect("below it"));
                fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                fs::copy(&path, to).expect("a copy");
                taken += values;
            }
            Lakeward::build(place(), &BuildOptions::default(), &Silent).expect("an index");
        }
        let whole = Lakeward::open_at(place()).expect("an index");
        let found = whole.index().segments().len();
        assert!(found * 10 >= segments as usize * 7, "{found} segments of {segments}");
        Self { folder, whole }
    }

    fn place(&self) -> &Place {
        self.whole.place()
    }

    fn shards(&self, of: u32) -> Vec<Lakeward> {
        let open =
            |number| Lakeward::open_at(Place { shard: Some(SearchShard { number, of }), ..self.place().clone() });
        let shards: Vec<Lakeward> = (0..of).map(|number| open(number).expect("a shard")).collect();
        let tables: usize = shards.iter().map(|shard| shard.index().len()).sum();
        assert_eq!(tables, self.whole.index().len());
        shards
    }

    /// Every so-manieth table of the lake.
    fn tables(&self, step: usize) -> Vec<String> {
        let index = self.whole.index();
        let tables = index.tables().filter(|table| !index.origin(*table).expect("an origin").is_record());
        let mut ids: Vec<String> = tables.map(|table| index.id(table).expect("an id").to_string()).collect();
        ids.sort();
        ids.into_iter().step_by(step).collect()
    }

    /// What the whole index answers.
    fn expected(&self, question: &SharedQuestion) -> Value {
        let (lake, query) = (&self.whole, |table: &String| self.whole.cached_query_table(table).expect("a table"));
        match question {
            SharedQuestion::Search { text, k } => json!(lake.search(text, *k).expect("an answer")),
            SharedQuestion::Join { table, column, k } => {
                let query = query(table);
                let columns = query.columns_named(column.as_slice()).expect("a column");
                json!(lake.join(&query, &columns, *k).expect("an answer").answers)
            }
            SharedQuestion::Union { table, k } => json!(lake.union(&query(table), *k).expect("an answer")),
        }
    }
}

/// The files of a lake with how many values they have, fewest first; before them those that describe others, as these would change what is
/// there.
fn files_by_values(lake: &Path, index: &Path) -> Vec<(PathBuf, u64)> {
    let place = Place { fast: true, ..Place::new(lake, Some(index)).expect("a folder") };
    let (whole, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let mut values: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for table in whole.index().tables() {
        let segment = whole.index().segment(table.segment).expect("a segment");
        let columns = segment.tables.columns(table.table).expect("columns");
        let of_column =
            |column| segment.columns.hashes(segment.columns.record(column).expect("a record")).expect("hashes").len();
        let origin = segment.tables.stamp(table.table).expect("a stamp").path;
        *values.entry(lake.join(origin)).or_default() += 1 + columns.map(of_column).sum::<usize>() as u64;
    }
    let mut files = Vec::new();
    listed(lake, &mut files);
    let mut files: Vec<(PathBuf, u64)> = files
        .into_iter()
        .map(|(path, _)| (values.get(&path).copied().unwrap_or(0), path))
        .map(|(values, path)| (path, values))
        .collect();
    files.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    files
}

fn listed(folder: &Path, files: &mut Vec<(PathBuf, u64)>) {
    for file in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, about) = (file.path(), file.metadata().expect("a file"));
        if about.is_dir() {
            listed(&path, files);
        } else {
            files.push((path, about.len()));
        }
    }
}

fn search(text: &str) -> SharedQuestion {
    SharedQuestion::Search { text: text.into(), k: 10 }
}

fn join(table: &str) -> SharedQuestion {
    SharedQuestion::Join { table: table.into(), column: None, k: 10 }
}

fn union(table: &str) -> SharedQuestion {
    SharedQuestion::Union { table: table.into(), k: 10 }
}

/// What the shards answer together, and in how many rounds.
fn answered(shards: &[Lakeward], question: &SharedQuestion) -> (Value, usize) {
    let shards: Vec<&Lakeward> = shards.iter().filter(|shard| !shard.index().segments().is_empty()).collect();
    let mut of_all = AllFigures::new();
    for round in 1.. {
        let (mut reported, mut answers): (Vec<_>, Vec<Value>) = (Vec::new(), Vec::new());
        for (number, shard) in shards.iter().enumerate() {
            match shard.shard_round(question, of_all.clone(), number == 0).expect("a round") {
                ShardRound::Figures(labels) => reported.push(labels),
                ShardRound::Answer(answer) => answers.push(answer),
                other => panic!("{other:?}"),
            }
        }
        if reported.is_empty() {
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{question:?}: {answers:#?}");
            return (answers.swap_remove(0)["answers"].take(), round);
        }
        assert!(
            answers.is_empty() && reported.windows(2).all(|pair| pair[0].keys().eq(pair[1].keys())),
            "{question:?}"
        );
        for label in reported[0].keys().cloned().collect::<Vec<_>>() {
            let figures = reported.iter_mut().map(|own| own.remove(&label).expect("a label")).collect();
            assert!(of_all.insert(label, figures).is_none());
        }
    }
    unreachable!()
}

/// Whether two answers are the same: figures within 1e-6.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().zip(right.as_f64()).is_some_and(|(left, right)| (left - right).abs() <= 1e-6)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| is_same(left, right)))
        }
        (left, right) => left == right,
    }
}

fn tables_of(answers: &Value) -> Vec<&str> {
    let answers = answers.as_array().expect("answers");
    answers.iter().map(|answer| answer["table"].as_str().or(answer["id"].as_str()).expect("a table")).collect()
}

/// Asks all of it of 1, 3 and 10 shards; the most rounds.
fn answers_are_those_of_one_process(parted: &Parted, questions: &[SharedQuestion]) -> usize {
    let expected: Vec<Value> = questions.iter().map(|question| parted.expected(question)).collect();
    let mut most = 0;
    for of in [1, 3, 10] {
        let shards = parted.shards(of);
        for (question, expected) in questions.iter().zip(&expected) {
            let (found, rounds) = answered(&shards, question);
            most = most.max(rounds);
            assert_eq!(tables_of(&found), tables_of(expected), "{of} shards: {question:?}");
            assert!(is_same(&found, expected), "{of} shards: {question:?}\n{found:#}\n{expected:#}");
        }
    }
    most
}

fn sample_lake(is_fast: bool) -> Parted {
    let from = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    let lake = Path::new(REPOSITORY).join("lake");
    listed(&lake, &mut files);
    for (path, _) in &files {
        let to = from.path().join(path.strip_prefix(&lake).expect("below it"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(path, to).expect("a copy");
    }
    // Editions, so much larger or smaller that they are in other segments.
    let rows = |days: std::ops::Range<u32>| -> String {
        let rows = days.map(|day| {
            format!("Ghent,{:04}-{:02}-{:02},{}.5\n", 1900 + day / 336, 1 + day / 28 % 12, 1 + day % 28, day % 97)
        });
        std::iter::once("station,day,millimetres of rain\n".to_string()).chain(rows).collect()
    };
    for (name, days) in
        [("rain_v1.csv", 0..60), ("rain_v2.csv", 0..90), ("rain_v3.csv", 0..9000), ("rain_v4.csv", 0..9100)]
    {
        fs::write(from.path().join(name), rows(days)).expect("a file");
    }
    Parted::of(from.path(), 10, is_fast)
}

const TEXTS: [&str; 14] = [
    "rain by station and day",
    "station day millimetres of rain",
    "how many people live in each country",
    "energy prices since 1990",
    "airports in Niger",
    "life expectancy and GDP per capita",
    "penguins",
    "the of and",
    "",
    "zxqv wqpk",
    "rain_v3",
    "2019",
    "各国人口",
    "población por país",
];

#[test]
fn shards_of_the_sample_lake_answer_as_one_process() {
    for is_fast in [true, false] {
        let parted = sample_lake(is_fast);
        let mut questions: Vec<SharedQuestion> = TEXTS.iter().map(|text| search(text)).collect();
        questions.push(SharedQuestion::Search { text: "country".into(), k: 200 });
        for table in parted.tables(if is_fast { 2 } else { 20 }) {
            questions.extend([join(&table), union(&table)]);
            let column = parted.whole.query_table(&table).expect("a table").columns[0].profile.name.clone();
            if parted
                .whole
                .query_table(&table)
                .expect("a table")
                .columns_named(std::slice::from_ref(&column))
                .is_ok_and(|at| at.len() == 1)
            {
                questions.push(SharedQuestion::Join { table, column: Some(column), k: 3 });
            }
        }
        let most = answers_are_those_of_one_process(&parted, &questions);
        println!("{} questions of the sample lake, at most {most} rounds", questions.len());
        let copies = parted.whole.search("rain by station and day", 10).expect("answers");
        assert!(copies.iter().any(|answer| !answer.also.is_empty()), "copies across shards are put together");
    }
}

#[test]
fn shards_of_a_benchmark_answer_as_one_process() {
    let Some(bench) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH names no folder");
        return;
    };
    let bench = Path::new(&bench).join("lakebench-webtable");
    let parted = Parted::of(&bench.join("lake"), 10, true);
    let texts = fs::read_to_string(bench.join("queries.jsonl")).expect("queries");
    let texts = texts.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["text"].as_str().map(search));
    let mut questions: Vec<SharedQuestion> = texts.collect();
    let tables = parted.tables(46);
    questions.extend(tables.iter().flat_map(|table| [join(table), union(table)]));
    let most = answers_are_those_of_one_process(&parted, &questions);
    println!("{} questions of LakeBench, at most {most} rounds", questions.len());
}

#[test]
fn what_other_shards_tell_is_not_trusted() {
    let parted = sample_lake(true);
    let shards = parted.shards(3);
    let shard = shards.iter().max_by_key(|shard| shard.index().len()).expect("a shard");
    let (index, some) = (shard.index(), shard.index().tables().nth(3).expect("a table"));
    let table = index.id(some).expect("an id").to_string();
    for question in [search("rain by station and day"), join(&table), union(&table)] {
        let mut of_all = AllFigures::new();
        while let ShardRound::Figures(reported) = shard.shard_round(&question, of_all.clone(), true).expect("a round") {
            assert!(!reported.is_empty());
            for (label, own) in &reported {
                let hostile = [
                    "null",
                    "{}",
                    "[[1,2,3]]",
                    "[[1e308,[4294967295,4294967295]]]",
                    "[18446744073709551615]",
                    "\"\u{fffd}\"",
                    "[[0,0,0],[]]",
                ];
                for hostile in hostile {
                    let of_all =
                        reported.iter().map(|(label, own)| (label.clone(), vec![own.clone()])).chain(of_all.clone());
                    let mut of_all: AllFigures = of_all.collect();
                    of_all.insert(label.clone(), vec![own.clone(), hostile.to_string()]);
                    // Any outcome but a panic, or that another is blamed.
                    if let Ok(ShardRound::Unreadable(place)) = shard.shard_round(&question, of_all, true) {
                        assert_eq!(place, 1, "{label}: {hostile}");
                    }
                }
            }
            of_all.extend(reported.into_iter().map(|(label, own)| (label, vec![own])));
        }
    }
}
