//! `lakeward eval` of conversations whose end tables are known: each class of turn through the program, and the shown set where it is.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::place::{Folder, Run, copy_lake, lakeward};

const SALES: &str = "shop,kind,amount\nNorth,tea,10\nNorth,coffee,20\nSouth,tea,5\nSouth,tea,7\nEast,coffee,40\n";
const SHOPS: &str = "shop,town\nNorth,Riga\nSouth,Oslo\nEast,Bern\n";
const TASKS: &str = r#"{"id":"c1","lake":"shops","start":"sales","voice":"ann","turns":[{"text":"total amount per shop","kind":"aggregate","sql":"S","columns":"exact"},{"text":"undo that","kind":"undo","sql":"S","columns":"exact"}]}
{"id":"c2","lake":"shops","start":"sales","voice":"ann","turns":[{"text":"only tea","kind":"filter","sql":"S","columns":"exact"}]}
{"id":"c3","lake":"shops","start":"sales","voice":"bo","turns":[{"text":"only tea, and add the margin","kind":"filter","sql":"S","columns":"extra ok"}]}
{"id":"c4","lake":"shops","start":null,"voice":"bo","turns":[{"text":"I need some data","kind":"filter","sql":"S","columns":"extra ok"}]}
{"id":"c5","lake":"shops","start":"sales","voice":"bo","turns":[{"text":"undo that","kind":"filter","sql":"S","columns":"exact"},{"text":"thanks again","kind":"impossible","sql":null,"ask_ok":true}]}
"#;
/// The amounts by shop in another order and under another name; the table before; coffee where tea was asked for; and what no turn comes to.
const GOLD: [(&str, &str); 5] = [
    ("bench/gold/c1-1.csv", "total,shop\n40,East\n30,North\n12,South\n"),
    ("bench/gold/c1-2.csv", SALES),
    ("bench/gold/c2-1.csv", "shop,kind,amount\nNorth,coffee,20\nEast,coffee,40\n"),
    ("bench/gold/c3-1.csv", "shop\nWest\n"),
    ("bench/gold/c4-1.csv", "shop\nWest\n"),
];

fn place() -> Folder {
    let files = [("lake/sales.csv", SALES), ("lake/shops.csv", SHOPS), ("bench/tasks.jsonl", TASKS)];
    let place = Folder::of(&[&files[..], &GOLD[..]].concat());
    place.write("bench/gold/c5-1.csv", SALES);
    Run::of(lakeward(["index", "lake", "-q"]).current_dir(place.path())).succeeded();
    place
}

fn group<'r>(report: &'r Value, name: &str) -> &'r Value {
    let mut groups = report["groups"].as_array().expect("groups").iter();
    groups.find(|group| group["group"] == name).unwrap_or_else(|| panic!("no {name}: {report}"))
}

#[test]
fn conversations_are_had_and_scored_by_their_end_tables() {
    let place = place();
    let report = place.report(&["--over", "shops=lake"]);
    let turns = report["turns"].as_array().expect("turns");
    let classes: Vec<String> = turns
        .iter()
        .map(|turn| format!("{}-{} {}", turn["conversation"], turn["turn"], turn["class"]).replace('"', ""))
        .collect();
    let said = turns.iter().map(|turn| turn["said"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let expected =
        ["c1-1 right", "c1-2 right", "c2-1 silent", "c3-1 warned", "c4-1 asked", "c5-1 nothing", "c5-2 right"];
    assert_eq!(classes, expected, "{said}");
    assert_eq!(group(&report, "all turns")["right"]["share"], 3.0 / 7.0);
    assert_eq!(group(&report, "conversations of several turns")["wholly_right"]["share"], 0.5);
    assert_eq!(group(&report, "shops")["turns"], 7);
    assert_eq!(group(&report, "ann")["right"]["share"], 2.0 / 3.0);
    assert!(report["reader"].as_str().is_some_and(|reader| reader.starts_with("reader@")), "{report}");
    let sessions = std::fs::read_dir(place.at("lake/.lakeward/sessions"));
    assert!(sessions.is_err(), "the lake has no session of a measurement");
    assert_eq!(place.report(&["--over", "shops=lake"]), report, "the same again");

    let shown = place.eval(&["--over", "shops=lake", "--per-query"]).succeeded().stdout;
    for said in ["read by reader@", "all turns", "c2-1 filter: silent", "ann"] {
        assert!(shown.contains(said), "`{said}` is not in: {shown}");
    }
    place.refuses(&[], &["--over shops=DIR"]);
    place.refuses(&["--over", "shops"], &["NAME=DIR"]);
}

#[test]
fn a_lake_that_is_not_the_one_is_refused() {
    let place = place();
    place.write("bench/tasks.jsonl", TASKS.replace("\"start\":\"sales\"", "\"start\":\"sails\""));
    let run = place.eval(&["--over", "shops=lake"]);
    assert!(run.code != 0 && run.stderr.contains("`sails`"), "{}", run.stderr);
}

/// The shown sets, of which nothing is learned: a change that costs what people get in the end is seen here. Each bound lies some points below
/// what `eval/turns.md` has.
#[test]
fn what_people_get_in_the_end_does_not_fall() {
    let Some(bench) = std::env::var_os("LAKEWARD_BENCH").map(PathBuf::from) else {
        println!("skipped: LAKEWARD_BENCH names no folder");
        return;
    };
    // The conversations over the sample lake: they need nothing unpacked.
    let place = Folder::of(&[]);
    let tasks = fs::read_to_string(bench.join("outcomes/tasks.jsonl")).expect("the shown conversations");
    let over_sample: Vec<&str> = tasks.lines().filter(|line| line.contains("\"lake\": \"sample\"")).collect();
    assert_eq!(over_sample.len(), 87);
    place.write("bench/tasks.jsonl", over_sample.join("\n"));
    for file in fs::read_dir(bench.join("outcomes/gold")).expect("end tables") {
        let file = file.expect("an end table");
        let name = file.file_name().into_string().expect("a name");
        place.write(&format!("bench/gold/{name}"), fs::read(file.path()).expect("an end table"));
    }
    copy_lake(&Path::new(crate::REPOSITORY).join("lake"), &place.at("lake"));
    Run::of(lakeward(["index", "lake", "-q"]).current_dir(place.path())).succeeded();
    let report = place.report(&["--over", "sample=lake"]);
    let share = |kind: &str| group(&report, "all turns")[kind]["share"].as_f64().expect("a share");
    let (right, silent) = (share("right"), share("silent"));
    println!("right {right:.3}, wrong and silent {silent:.3}");
    assert!(right >= 0.53 && silent <= 0.08, "right {right:.3}, wrong and silent {silent:.3}");

    let over = ["eval", "acts", "--corpus", "statcan", "--json", "-q"];
    let acts = Run::of(lakeward(over).current_dir(&bench)).succeeded().json();
    let figure = |part: &str, name: &str| acts[part][name].as_f64().expect("a figure");
    let (macro_f1, effects) = (figure("acts", "macro_f1"), figure("effects", "right"));
    println!("acts: macro-F1 {macro_f1:.3}; effects right: {effects:.3}");
    assert!(macro_f1 >= 0.81 && effects >= 0.62, "acts {macro_f1:.3}, effects {effects:.3}");
}
