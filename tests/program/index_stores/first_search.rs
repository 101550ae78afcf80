//! What searches ask of an index in a store, and how long they take.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{INDEX, Place};
use crate::benchmark;
use crate::place::Run;

/// What a run of the program asked of the store, and how long it and its search took.
struct Cost {
    requests: usize,
    bytes: u64,
    milliseconds: u128,
    output: String,
}

/// A lake of 300 small tables: what a first search asks for does not grow with their number.
#[test]
fn a_first_search_of_a_made_lake_asks_for_little() {
    const WORDS: [&str; 12] = [
        "river", "harvest", "school", "hospital", "election", "goal", "storm", "museum", "airport", "forest", "salary",
        "album",
    ];
    let place = Place::new();
    for number in 0..300 {
        let (thing, of) = (WORDS[number % 12], WORDS[number / 12 % 12]);
        let rows: String = (0..20).map(|row| format!("{of} {row},{},{}\n", number * 20 + row, row * 7 % 11)).collect();
        place.write(&format!("{thing}_by_{of}_{number}.csv"), &format!("{of},{thing}_count,rank\n{rows}"));
    }
    place.index("a");
    place.server.wait(Duration::from_millis(30));
    place.server.asked();
    let started = Instant::now();
    let first = place.run("b", &["search", "storms by school"]);
    let (lists, others) = place.asked();
    println!("a first search: {lists} lists and {others} others, {} ms", started.elapsed().as_millis());
    assert!(first.code == 0 && first.stdout.contains("storm_by_school"), "{}", first.said());
    assert!(lists + others <= 12, "{lists} lists and {others} others");
    place.run("b", &["search", "albums and salaries"]).succeeded();
    assert!(place.asked().1 <= 4);
    place.run("b", &["search", "storms by school"]).succeeded();
    assert_eq!(place.asked(), (1, 0), "what was fetched is kept");
}

/// Requests, bytes and time of first and later searches behind 30 ms, beside those of the same index in a folder: of LakeBench's 4,741
/// tables, or of the lake that `LAKEWARD_TEST_SEARCHED` names.
#[test]
fn a_first_search_asks_for_little() {
    let named = std::env::var_os("LAKEWARD_TEST_SEARCHED").map(PathBuf::from);
    let Some(lake) = named.or_else(|| benchmark::bench("lakebench-webtable/lake")) else { return };
    let with_texts = std::env::var_os("LAKEWARD_TEST_SEARCHED_TEXTS").is_some();
    let place = Place::new();
    let run = |machine: &str, index: &str, arguments: &[&str]| {
        let mut command = place.command(machine, arguments);
        let started = Instant::now();
        let output = Run::of(command.env("LAKEWARD_LAKE", &lake).env("LAKEWARD_INDEX", index)).succeeded().stderr;
        let milliseconds = started.elapsed().as_millis();
        let (asked, bytes) = (place.server.asked(), place.server.sent_bytes());
        for asked in &asked {
            println!("  {} {}", asked.path, asked.range.as_deref().unwrap_or_default());
        }
        println!("{arguments:?} at {index}: {} requests, {} kB, {milliseconds} ms", asked.len(), bytes / 1000);
        Cost { requests: asked.len(), bytes, milliseconds, output }
    };
    let indexed: &[&str] = if with_texts { &["index", "-q"] } else { &["index", "--fast", "-q"] };
    run("a", INDEX, indexed);
    // What the machine that has indexed keeps is an index in a folder, too.
    let state = fs::read_dir(place.folder.at("a")).expect("a folder").flatten().next().expect("an index");
    let folder = state.path().to_string_lossy().into_owned();
    let files = fs::read_dir(state.path().join("segments")).expect("a folder").flatten();
    let files = files.flat_map(|segment| fs::read_dir(segment.path()).expect("a folder").flatten());
    let all_bytes: u64 = files.map(|file| file.metadata().expect("a file").len()).sum();
    println!("an index of {} kB", all_bytes / 1000);
    place.server.wait(Duration::from_millis(30));
    let (cities, goals) = ("population of cities in europe", "goals scored by football players");
    let first = run("b", INDEX, &["search", cities]);
    // Of LakeBench's tables 18.7 of 29.6 MB; what is not asked for is packed more than the rest.
    assert!(first.requests <= 12 && first.bytes <= all_bytes * 2 / 3, "{} {}", first.requests, first.bytes);
    let other = run("b", INDEX, &["search", goals]);
    assert!(other.requests <= 6, "{}", other.requests);
    // A process each, by turns: all of it, and what its search took.
    let mut times: [Vec<(u128, u128)>; 2] = Default::default();
    for text in [cities, goals].repeat(5) {
        for (times, (index, requests)) in times.iter_mut().zip([(INDEX, 1), (&folder, 0)]) {
            let again = run("b", index, &["search", text]);
            assert_eq!(again.requests, requests, "what was fetched is kept");
            let output = again.output.split(" ms;").next().and_then(|output| output.rsplit(' ').next()?.parse().ok());
            times.push((again.milliseconds, output.expect("its milliseconds")));
        }
    }
    for (times, place) in times.iter_mut().zip(["the store", "a folder"]) {
        times.sort_unstable();
        println!("again in {place}: {} ms at the median, {:?}", times[times.len() / 2].0, times);
    }
}
