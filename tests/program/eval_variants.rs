//! `lakeward eval --variant`: the seven variants of agentic hybrid retrieval on a small made-up benchmark, their measures held against
//! values worked out by hand, failures, identical runs, and subsets of records.

use std::fs;

use serde_json::{Value, json};

use crate::eval::system;
use crate::place::Folder;

/// Id, title, description, tags.
const RECORDS: [(&str, &str, &str, &str); 12] = [
    ("r01", "Bicycle counts at bridges", "Cyclists counted every hour at four bridges of the city", "cycling traffic"),
    ("r02", "Bicycle parking", "Racks and covered places where bicycles can be left", "cycling"),
    ("r03", "Car parks", "Garages with the number of free spaces", "traffic"),
    ("r04", "Tram stops", "Stops of the tram with lines and shelters", "transport"),
    ("r05", "Bird ringing", "Herons and storks that were ringed at the lake", ""),
    ("r06", "Heron nests", "Nests of herons in the wetlands by year", "birds"),
    ("r07", "Hospital beds", "Beds of each hospital by ward", "health"),
    ("r08", "Waiting times in hospitals", "Days that patients wait for surgery", "health"),
    ("r09", "Drinking water", "Nitrate and chlorine in the water of wells", "environment"),
    ("r10", "Rain gauges", "Rain in millimetres an hour", ""),
    ("r11", "School meals", "Meals served in schools, with allergens", "schools"),
    ("r12", "Pupils by school", "Girls and boys of each school and grade", "schools"),
];
const QUERIES: [(&str, &str, &str); 5] = [
    ("q1", "keyword", "bicycle counts"),
    ("q2", "question", "Where can I leave my bicycle in the city?"),
    ("q3", "keyword", "herons"),
    ("q4", "question", "How long do patients wait for surgery, and how many beds do hospitals have?"),
    ("q5", "keyword", "nitrate wells"),
];
const QRELS: &str =
    "q1 0 r01 2\nq1 0 r02 1\nq2 0 r02 2\nq3 0 r05 1\nq3 0 r06 1\nq3 0 r09 0\nq4 0 r07 1\nq4 0 r08 2\nq5 0 r09 1\n";
const VARIANTS: [&str; 7] =
    ["v1-words", "v2-meaning", "v3-fusion", "v4-agent", "v5-agent-questions", "v6-agents", "v7-agents-questions"];

fn benchmark() -> Folder {
    let records = RECORDS.map(|(id, title, description, tags)| {
        let tags: Vec<&str> = tags.split_whitespace().collect();
        json!({"id": id, "title": title, "description": description, "tags": tags}).to_string() + "\n"
    });
    let queries = QUERIES
        .map(|(id, style, text)| json!({"id": id, "task": "search", "style": style, "text": text}).to_string() + "\n");
    Folder::of(&[
        ("bench/corpus.jsonl", &records.concat()),
        ("bench/queries.jsonl", &queries.concat()),
        ("bench/qrels.txt", QRELS),
    ])
}

/// The groups of a system.
fn groups<'a>(report: &'a Value, name: &str) -> &'a Vec<Value> {
    system(report, name)["groups"].as_array().expect("groups")
}

fn rankings(report: &Value, name: &str) -> Vec<(String, Vec<String>)> {
    let rows = system(report, name)["rows"].as_array().expect("rows");
    let ids = |row: &Value| {
        let pairs = row["ranking"].as_array().cloned().unwrap_or_default();
        pairs.iter().map(|pair| pair[0].as_str().expect("an id").to_string()).collect()
    };
    rows.iter().map(|row| (row["query"].as_str().expect("an id").to_string(), ids(row))).collect()
}

#[test]
fn every_variant_runs_and_is_accounted_for() {
    let bench = benchmark();
    let report = bench.report(&["--variant", "all", "--runs", "5", "--per-query"]);
    let systems = report["systems"].as_array().expect("systems").iter();
    let names: Vec<&str> = systems.map(|own| own["system"].as_str().expect("a name")).collect();
    assert_eq!(names[..7], VARIANTS);
    assert_eq!(names[7], "lakeward", "a plain search stands beside them");
    assert_eq!(report["variants"]["runs"], 5);
    assert_eq!(report["variants"]["questions"], "concatenated");
    assert!(report["variants"]["model"].is_null());
    for name in VARIANTS {
        for group in groups(&report, name) {
            let work = &group["work"];
            assert_eq!(work["provenance_complete"], 1.0, "{name}: {work}");
            assert_eq!((&work["stability"]["jaccard"], &work["stability"]["identical"]), (&1.0.into(), &1.0.into()));
            assert!(work["tokens"].is_null(), "nobody was asked: {work}");
            assert_eq!((&work["schema_failures"], &work["partial"]), (&0.into(), &0.0.into()));
            let is_agentic = name > "v4";
            assert_eq!(work["trace_complete"].is_null(), !is_agentic, "{name}: {work}");
            assert!(!is_agentic || work["trace_complete"] == 1.0, "{name}: {work}");
        }
        let of_words = &rankings(&report, name)[0];
        assert_eq!(of_words.1.first().map(String::as_str), Some("r01"), "{name}: {of_words:?}");
    }
    assert_eq!(groups(&report, "v3-fusion")[0]["work"]["tool_calls"], 2.0);
    // Fusion is by the ranks of its channels: Σ 1 / (60 + rank).
    let (words, meaning) = (rankings(&report, "v1-words"), rankings(&report, "v2-meaning"));
    for (place, (query, fused)) in rankings(&report, "v3-fusion").into_iter().enumerate() {
        let rank = |list: &[String], id: &String| list.iter().position(|own| own == id);
        let score = |id: &String| -> f64 {
            let lists = [&words[place].1, &meaning[place].1];
            lists.iter().filter_map(|list| rank(list, id)).map(|rank| 1.0 / (61.0 + rank as f64)).sum()
        };
        assert!(fused.is_sorted_by(|a, b| score(a) >= score(b)), "{query}: {fused:?}");
    }
    let steps = report["comparisons"].as_array().expect("comparisons");
    let is_step =
        |system: &str, against: &str| steps.iter().any(|own| own["system"] == system && own["against"] == against);
    assert!(is_step("v3-fusion", "v1-words") && is_step("v5-agent-questions", "v4-agent"), "{steps:?}");
    assert!(!is_step("v1-words", "v3-fusion"));
}

#[test]
fn measures_are_those_worked_out_by_hand() {
    let bench = benchmark();
    let report = bench.report(&["--variant", "V1", "--per-query"]);
    for ((_, ranking), row) in
        rankings(&report, "v1-words").iter().zip(report["systems"][0]["rows"].as_array().expect("rows"))
    {
        let query = row["query"].as_str().expect("an id");
        let grade = |id: &str| {
            let line = QRELS
                .lines()
                .map(|line| line.split(' ').collect::<Vec<_>>())
                .find(|line| line[0] == query && line[2] == id);
            line.map_or(0.0, |line| line[3].parse::<f64>().expect("a grade"))
        };
        let mut ideal: Vec<f64> = RECORDS.iter().map(|record| grade(record.0)).filter(|grade| *grade > 0.0).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let gain = |gains: &[f64], k: usize| -> f64 {
            gains.iter().take(k).enumerate().map(|(place, gain)| gain / ((place + 2) as f64).log2()).sum()
        };
        let gains: Vec<f64> = ranking.iter().map(|id| grade(id)).collect();
        for k in [5, 10, 20] {
            let relevant: Vec<usize> = (0..gains.len().min(k)).filter(|place| gains[*place] > 0.0).collect();
            let precision = |(found, place): (usize, &usize)| (found + 1) as f64 / (place + 1) as f64;
            let expected = [
                ("ndcg", gain(&gains, k) / gain(&ideal, k)),
                ("average_precision", relevant.iter().enumerate().map(precision).sum::<f64>() / ideal.len() as f64),
                ("recall", relevant.len() as f64 / ideal.len() as f64),
                ("reciprocal_rank", relevant.first().map_or(0.0, |place| 1.0 / (place + 1) as f64)),
            ];
            for (measure, value) in expected {
                let reported = row["scores"]["raw"]["at"][k.to_string()][measure].as_f64().expect("a figure");
                assert!((reported - value).abs() < 1e-9, "{query} {measure}@{k}: {reported} and not {value}");
            }
        }
    }
}

#[test]
fn a_component_that_fails_costs_itself_and_the_rest_answers() {
    let bench = benchmark();
    let report = bench.report(&["--variant", "all", "--faults"]);
    for (name, failing) in VARIANTS.iter().zip([1usize, 1, 2, 5, 6, 5, 6]) {
        for group in groups(&report, name) {
            let faults = group["work"]["faults"].as_array().expect("faults");
            assert_eq!(faults.len(), failing, "{name}");
            for fault in faults {
                let said = format!("{name}: {fault}");
                if failing == 1 {
                    // Nothing is left of a variant of one channel.
                    assert_eq!((&fault["answered"], &fault["ndcg"]), (&0.0.into(), &0.0.into()), "{said}");
                    continue;
                }
                assert!(fault["answered"].as_f64().expect("a share") > 0.0, "{said}");
                assert_eq!(fault["partial"], fault["answered"], "{said}");
            }
        }
    }
    let arguments = ["--variant", "v3", "--variant", "V7", "--faults", "--runs", "2", "--report", "out"];
    let run = bench.eval(&arguments).succeeded();
    for said in ["nDCG@20", "MRR@5", "rounds", "reranker", "sourced"] {
        assert!(run.stdout.contains(said), "`{said}` is not in: {}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    let markdown = fs::read_to_string(bench.at("out/report.md")).expect("a file");
    assert!(markdown.contains("| v7-agents-questions | reranker |"), "{markdown}");
}

#[test]
fn the_uses_of_questions_can_be_chosen_and_kept() {
    let bench = benchmark();
    for how in ["concatenated", "dedicated", "beside"] {
        let arguments = ["--variant", "v5", "--questions", how, "--keep-index", "kept", "--per-query"];
        let first = bench.report(&arguments);
        assert_eq!(first["variants"]["questions"], how);
        // What is kept is used again and gives the same.
        assert_eq!(rankings(&first, "v5-agent-questions"), rankings(&bench.report(&arguments), "v5-agent-questions"));
    }
    let searches = |how: &str| {
        let report = bench.report(&["--variant", "v5", "--questions", how]);
        groups(&report, "v5-agent-questions")[0]["work"]["tool_calls"].as_f64().expect("a figure")
    };
    assert!(searches("beside") > searches("dedicated"));
    assert!(bench.at("kept/pseudo_queries.jsonl").is_file());
}

#[test]
fn a_subset_keeps_what_it_says() {
    let bench = benchmark();
    let taken = |arguments: &[&str]| bench.report(&[&["--variant", "v1", "--per-query"], arguments].concat());
    let report = taken(&["--records", "6", "--seed", "3"]);
    let subset = &report["subset"];
    assert_eq!((&subset["records"], &subset["of_records"], &subset["seed"]), (&6.into(), &12.into(), &3.into()));
    let strata = subset["strata"].as_array().expect("strata");
    let sum = |field: &str| strata.iter().map(|stratum| stratum[field].as_u64().expect("a count")).sum::<u64>();
    assert_eq!((sum("records"), sum("of_records")), (6, 12));
    let queries = subset["queries"].as_u64().expect("a count");
    assert_eq!(queries + subset["queries_left_out"].as_u64().expect("a count"), 5);
    assert_eq!(report["queries"].as_u64(), Some(queries));
    // Nothing but the records taken is found, and every query left has a relevant one among them.
    let found: std::collections::BTreeSet<String> =
        rankings(&report, "v1-words").into_iter().flat_map(|(_, ranking)| ranking).collect();
    assert!(found.len() <= 6, "{found:?}");
    for row in report["systems"][0]["rows"].as_array().expect("rows") {
        assert!(!row["scores"].is_null(), "{row}");
    }
    assert_eq!(subset, &taken(&["--records", "6", "--seed", "3"])["subset"]);
    let all = taken(&["--records", "500"]);
    assert_eq!((&all["subset"]["records"], &all["subset"]["queries_left_out"]), (&12.into(), &0.into()));
    // The order of the file draws nothing.
    let corpus = fs::read_to_string(bench.at("bench/corpus.jsonl")).expect("a file");
    let reversed: Vec<&str> = corpus.lines().rev().collect();
    bench.write("bench/corpus.jsonl", reversed.join("\n") + "\n");
    let again = taken(&["--records", "6", "--seed", "3"]);
    assert_eq!(rankings(&again, "v1-words").len(), queries as usize);
    assert_eq!(&again["subset"], subset);
    assert!(bench.eval(&["--variant", "v1", "--records", "6"]).stdout.starts_with("A subset: 6 of 12 records"));
}

#[test]
fn what_cannot_be_is_said_with_what_can() {
    let bench = benchmark();
    bench.refuses(&["--variant", "v3-fusoin"], &["`v3-fusion`"]);
    bench.refuses(&["--variant", "V8"], &["`V1` to `V7`"]);
    bench.refuses(&["--variant", "masked"], &["--form masked"]);
    bench.refuses(&["--system", "v3-fusio"], &["`v3-fusion`"]);
    bench.refuses(&["--variant", "v4", "--llm"], &["--llm-model"]);
    bench.write("bench/lake/t.csv", "a,b\n1,x\n2,y\n3,z\n");
    bench.refuses(&["--variant", "v1", "--records", "3"], &["subset is of records"]);
    bench.write("bench/queries.jsonl", "{\"id\":\"q1\",\"task\":\"union\",\"table\":\"lake/t.csv\"}\n");
    bench.refuses(&["--variant", "v1"], &["`v1-words`", "`union`", "search"]);
}
