//! `lakeward eval` on tiny made-up benchmarks of every layout, whole runs through the program; and on folders that mean ill.

use std::fs;

use serde_json::Value;

use crate::place::{Folder, Run, lakeward};

const CITIES: &str = "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\nKyiv,Ukraine,2952301\n\
                      Riga,Latvia,605273\nBonn,Germany,335975\nLima,Peru,10092000\nCairo,Egypt,10107125\n";
const MAYORS: &str = "city,mayor\nOslo,Anne Lindboe\nBern,Alec von Graffenried\nRome,Roberto Gualtieri\nKyiv,Vitali Klitschko\n\
                      Riga,Viesturs Kleinbergs\nBonn,Katja Doerner\nLima,Rafael Lopez\n";
const MORE_CITIES: &str = "town,country,inhabitants\nParis,France,2102650\nMadrid,Spain,3332035\nVienna,Austria,2005760\n\
                           Porto,Portugal,248769\nGent,Belgium,267709\nTurin,Italy,841600\n";
const HEIGHTS: &str = "mountain,height_m\nEiger,3967\nTriglav,2864\nMusala,2925\nGaldhøpiggen,2469\nMont Blanc,4806\n";
const QUERY: &str = "place,visitors\nOslo,12\nBern,14\nRome,90\nKyiv,8\nRiga,5\n";

impl Folder {
    /// `lakeward eval` of the folder `bench` in it.
    pub fn eval(&self, arguments: &[&str]) -> Run {
        Run::of(lakeward(["eval", "bench", "-q"]).args(arguments).current_dir(self.path()))
    }

    pub fn report(&self, arguments: &[&str]) -> Value {
        self.eval(&[arguments, &["--json"]].concat()).succeeded().json()
    }

    /// The run fails as a mistake of the user and says all of `said`.
    pub fn refuses(&self, arguments: &[&str], said: &[&str]) {
        let run = self.eval(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        said.iter().for_each(|said| assert!(run.stderr.contains(said), "`{said}` is not in: {}", run.stderr));
    }
}

/// The system of a report that has this name.
pub fn system<'a>(report: &'a Value, name: &str) -> &'a Value {
    let systems = report["systems"].as_array().expect("systems");
    systems.iter().find(|own| own["system"] == name).unwrap_or_else(|| panic!("no {name}: {report}"))
}

/// A system's figures for a group.
fn group<'a>(report: &'a Value, name_of_system: &str, task: &str, name: &str) -> &'a Value {
    let mut groups = system(report, name_of_system)["groups"].as_array().expect("groups").iter();
    groups.find(|group| group["task"] == task && group["group"] == name).unwrap_or_else(|| panic!("no {task} {name}"))
}

fn ndcg(group: &Value) -> f64 {
    group["raw"]["at"]["10"]["ndcg"].as_f64().expect("a figure")
}

/// How often a problem that says `what` was met.
fn problem(report: &Value, what: &str) -> u64 {
    let problems = report["problems"].as_array().expect("problems");
    let met = problems.iter().filter(|problem| problem["what"].as_str().expect("text").contains(what));
    met.map(|problem| problem["count"].as_u64().expect("a count")).sum()
}

const QUERIES: &str = r#"{"id":"j1","task":"join","table":"queries/q.csv","column":"place","labels":"ours","note":"ignored"}
{"id":"u1","task":"union","table":"queries/u.csv"}
{"id":"s1","task":"search","text":"heights of mountains","style":"keyword","operation":"Filter","intention":"Exploration"}
{"id":"s2","task":"search","text":"zebra crossings"}
{"id":"d1","task":"dialogue","turns":[{"text":"Do you have tables about people?"},{"text":"I mean the mayors of cities"}]}
"#;
const QRELS: &str = "j1 0 geo/mayors 2\nj1 0 cities 1\nj1 0 heights 0\nu1 0 cities 1\ns1 0 heights 1\nd1 0 geo/mayors 1\nx9 0 cities 1\n\
                     s1 0 gone 0\n";

fn trec() -> Folder {
    Folder::of(&[
        ("bench/queries.jsonl", QUERIES),
        ("bench/qrels.txt", QRELS),
        ("bench/unjudged.txt", "u1 more\n"),
        ("bench/queries/q.csv", QUERY),
        (
            "bench/queries/u.csv",
            "town,country,inhabitants\nOslo,Norway,717710\nMilan,Italy,1371498\nSplit,Croatia,160577\n",
        ),
        ("bench/lake/cities.csv", CITIES),
        ("bench/lake/geo/mayors.csv", MAYORS),
        ("bench/lake/more.csv", MORE_CITIES),
        ("bench/lake/heights.csv", HEIGHTS),
    ])
}

#[test]
fn a_benchmark_is_asked_scored_and_told() {
    let place = trec();
    let report = place.report(&[]);
    assert_eq!(report["layout"], "trec");
    assert_eq!(report["version"], 2);
    let joins = group(&report, "lakeward", "join", "ours");
    assert_eq!(joins["raw"]["at"]["3"]["recall"], 1.0, "{joins}");
    assert!(joins["p50_ms"].as_f64().expect("a time") > 0.0);
    assert_eq!(group(&report, "lakeward", "search", "keyword")["raw"]["reciprocal_rank"], 1.0);
    // A query without judgments is asked and not scored.
    assert_eq!(group(&report, "lakeward", "search", "")["unscored"], 1);
    let dialogue = group(&report, "lakeward", "dialogue", "");
    assert_eq!(dialogue["average_turn"]["1"], 2.0, "{dialogue}");
    // What nobody judged stands before the answer and is dropped, or below it and changes nothing.
    let unions = group(&report, "lakeward", "union", "");
    assert_eq!(unions["condensed"]["reciprocal_rank"], 1.0, "{unions}");
    for task in [("join", "ours"), ("union", ""), ("search", "keyword"), ("dialogue", "")] {
        assert!((ndcg(group(&report, "IDEAL", task.0, task.1)) - 1.0).abs() < 1e-12);
    }
    assert_eq!(problem(&report, "queries.jsonl does not have"), 1);
    assert_eq!(problem(&report, "not in the benchmark"), 1);
    assert_eq!(report["signals"][0]["turns"], 1);
    assert!(report["systems"][0]["index_bytes"].as_u64().expect("a size") > 0);
    assert!(report["weights"].as_str().expect("a hash").len() == 16);
}

#[test]
fn a_run_written_is_scored_the_same_when_it_is_read() {
    let place = trec();
    let report = place.report(&["--run-out", "ours.run", "--task", "join", "--task", "union", "--task", "search"]);
    let text = fs::read_to_string(place.at("ours.run")).expect("a run");
    assert!(text.lines().all(|line| line.split(' ').count() == 6 && line.ends_with(" lakeward")), "{text}");
    let again = place.report(&["--run-in", "ours.run", "--task", "join", "--task", "union", "--task", "search"]);
    for task in [("join", "ours"), ("union", ""), ("search", "keyword")] {
        let (own, read) = (group(&report, "lakeward", task.0, task.1), group(&again, "ours", task.0, task.1));
        assert_eq!((&own["raw"], &own["condensed"]), (&read["raw"], &read["condensed"]));
    }
    place.write("other.run", b"nobody Q0 cities 1 1.0 x\n");
    place.refuses(&["--run-in", "other.run"], &["answers no query"]);
    place.write("broken.run", b"j1 Q0 cities 1 1.0 x\nj1 Q0 mayors\n");
    place.refuses(&["--run-in", "broken.run"], &["line 2", "six"]);
    place.refuses(&["--run-out", "no/such/folder/run"], &["a folder that exists"]);
}

#[test]
fn baselines_and_ablations_stand_beside_ours() {
    let place = trec();
    let systems = ["--system", "lakeward", "--system", "ablations"];
    let run = place.eval(&[&["--compare", "--report", "out", "--task", "join"], &systems[..]].concat()).succeeded();
    for said in ["IDEAL", "bm25", "containment", "lakeward-no-join-rarity", "95% interval", "peak memory"] {
        assert!(run.stdout.contains(said), "`{said}` is not in: {}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 121), "{}", run.stdout);
    let report: Value = serde_json::from_slice(&fs::read(place.at("out/report.json")).expect("a file")).expect("JSON");
    assert_eq!(report["comparisons"][0]["system"], "lakeward");
    assert!(!report["comparisons"][0]["against"].as_str().expect("a name").starts_with("lakeward"));
    let markdown = fs::read_to_string(place.at("out/report.md")).expect("a file");
    assert!(markdown.contains("| lakeward |"), "{markdown}");
    place.refuses(&["--system", "bm52"], &["`bm25`"]);
    place.refuses(&["--system", "lakeward-no-join-rareness"], &["`lakeward-no-join-rarity`"]);
    place.refuses(&["--task", "task-search"], &["`join`"]);
}

#[test]
fn every_query_can_be_shown_and_failures_are_counted() {
    let place = trec();
    let queries = QUERIES.replace("\"place\"", "\"no such column\"")
        + "{\"id\":\"j2\",\"task\":\"join\",\"table\":\"queries/q.csv\"}\n";
    place.write("bench/queries.jsonl", queries.as_bytes());
    place.write("bench/qrels.txt", format!("{QRELS}j2 0 geo/mayors 1\n").as_bytes());
    let run = place.eval(&["--per-query", "--task", "join"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(
        run.stdout.contains("query by query") && run.stdout.contains("1 queries failed and score 0"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("no column `no such column`"), "{}", run.stdout);
    let report = place.eval(&["--task", "join", "--json", "--per-query"]).json();
    let failed = group(&report, "lakeward", "join", "ours");
    assert_eq!((&failed["failed"], ndcg(failed)), (&Value::from(1), 0.0));
    assert_eq!(report["systems"][0]["rows"].as_array().expect("rows").len(), 2);
}

#[test]
fn forms_hide_titles_and_headers() {
    let place = trec();
    place.write("bench/corpus.jsonl", "{\"id\":\"heights\",\"title\":\"Alpine quokka register\"}\n".as_bytes());
    place.write("bench/queries.jsonl", b"{\"id\":\"s1\",\"task\":\"search\",\"text\":\"quokka\"}\n");
    let found = |form: &str| {
        let report = place.report(&["--form", form, "--per-query"]);
        report["systems"][0]["rows"][0]["ranking"].as_array().is_some_and(|ranking| !ranking.is_empty())
    };
    assert_eq!([found("titles"), found("cells")], [true, false]);
    let join = QUERIES.lines().next().expect("a query");
    place.write("bench/queries.jsonl", join.as_bytes());
    let report = place.report(&["--form", "masked", "--system", "lakeward", "--system", "header-jaccard"]);
    assert_eq!(group(&report, "lakeward", "join", "ours")["raw"]["at"]["3"]["recall"], 1.0);
    assert_eq!(report["form"], "masked");
    // All two-column tables have the query's headers now.
    assert_eq!(group(&report, "header-jaccard", "join", "ours")["answered"], 1);
}

#[test]
fn records_can_be_the_documents_and_a_lake_can_lie_elsewhere() {
    let place = Folder::of(&[
        (
            "bench/corpus.jsonl",
            "{\"id\":\"r1\",\"title\":\"Road traffic accidents\"}\n{\"id\":\"r2\",\"title\":\"Bird counts\"}\n",
        ),
        ("bench/queries.jsonl", "{\"id\":\"q\",\"task\":\"search\",\"text\":\"bird counts\"}\n"),
        ("bench/qrels.txt", "q 0 r2 1\n"),
    ]);
    assert_eq!(group(&place.report(&[]), "lakeward", "search", "")["raw"]["reciprocal_rank"], 1.0);
    place.refuses(&["--form", "masked"], &["records are all there is"]);
    fs::remove_file(place.at("bench/corpus.jsonl")).expect("gone");
    place.write("bench/benchmark.json", b"{\"version\":1,\"lake\":\"../tables\"}");
    place.refuses(&[], &["names no folder"]);
    place.write("tables/r1.csv", HEIGHTS.as_bytes());
    place.write("tables/r2.csv", b"bird,count\nheron,3\nstork,9\nwren,12\n");
    assert_eq!(group(&place.report(&[]), "lakeward", "search", "")["raw"]["reciprocal_rank"], 1.0);
    place.write("bench/benchmark.json", b"{\"version\":1,\"lake\":\"/etc\"}");
    place.refuses(&[], &["has to be a path from"]);
    place.write("bench/benchmark.json", b"{\"version\":7}");
    place.refuses(&[], &["version 7"]);
}

#[test]
fn lakebench_is_read_as_it_is_published() {
    let place = Folder::of(&[
        (
            "bench/webtable_join_query.csv",
            "query_table,query_column\nquery_table,query_column\nq.csv,place\ncities.csv,town\n",
        ),
        (
            "bench/webtable_join_ground_truth.csv",
            "query_table,candidate_table,query_column,candidate_column\nquery_table,candidate_table,query_column,candidate_column\n\
             q.csv,mayors.csv,place,city\nq.csv,cities.csv,place,town\ncities.csv,cities.csv,town,town\n\
             cities.csv,mayors.csv,town,city\ncities.csv,mayors.csv,town,mayor\nq.csv,gone.csv,place,x\n\
             q.csv,../../../etc/passwd,place,x\nother.csv,mayors.csv,a,b\n",
        ),
        (
            "bench/webtable_union_ground_truth.csv",
            "query_table,candidate_table\ncities.csv,more.csv\nlost.csv,more.csv\n",
        ),
        ("bench/tables/q.csv", QUERY),
        ("bench/tables/cities.csv", CITIES),
        ("bench/tables/mayors.csv", MAYORS),
        ("bench/tables/more.csv", MORE_CITIES),
    ]);
    let report = place.report(&["--per-query"]);
    assert_eq!(report["layout"], "lakebench");
    assert_eq!(group(&report, "lakeward", "join", "")["queries"], 2);
    assert_eq!(group(&report, "lakeward", "union", "")["queries"], 1);
    assert_eq!(report["relevant"], 4);
    for (what, count) in [
        ("repeat the header", 2),
        ("with itself", 1),
        ("answer is not in the lake", 2),
        ("in no list of queries", 1),
        ("more than once", 1),
        ("query tables that are in the lake", 3),
        ("queries whose table is missing", 1),
        ("pairs whose query table is missing", 1),
    ] {
        assert_eq!(problem(&report, what), count, "{what}: {}", report["problems"]);
    }
    // A query table of the lake is no answer to itself.
    for row in report["systems"][0]["rows"].as_array().expect("rows") {
        let own = row["query"].as_str().expect("an id").split(':').nth(1).expect("a table");
        assert!(row["ranking"].as_array().expect("a ranking").iter().all(|pair| pair[0] != own), "{row}");
    }
    place.write("bench/webtable_union_ground_truth.csv", b"query_table,candidate_table\ncities.csv\n");
    place.refuses(&[], &["line 2", "1 fields"]);
}

#[test]
fn lakebench_one_folder_deeper_is_pointed_at() {
    let place = Folder::of(&[
        ("bench/join/webtable_join_ground_truth.csv", "query_table,candidate_table\na.csv,b.csv\n"),
        ("bench/join/tables/a.csv", CITIES),
    ]);
    place.refuses(&[], &["are in subfolders", "bench/join"]);
}

#[test]
fn pairs_beside_query_and_datalake_are_read() {
    let place = Folder::of(&[
        (
            "bench/groundtruth.csv",
            "query_table,data_lake_table,manual_unionable\nu.csv,more.csv,1\nu.csv,cities.csv,True\nu.csv,heights.csv,0\n",
        ),
        ("bench/query/u.csv", "town,country,inhabitants\nMilan,Italy,1371498\nSplit,Croatia,160577\n"),
        ("bench/datalake/cities.csv", CITIES),
        ("bench/datalake/more.csv", MORE_CITIES),
        ("bench/datalake/heights.csv", HEIGHTS),
    ]);
    let report = place.report(&[]);
    assert_eq!((&report["layout"], &report["relevant"]), (&Value::from("pairs"), &Value::from(2)));
    assert!((ndcg(group(&report, "lakeward", "union", "")) - 1.0).abs() < 1e-12);
    place.write("bench/groundtruth.csv", b"query_table,data_lake_table,manual_unionable\nu.csv,more.csv,perhaps\n");
    place.refuses(&[], &["`perhaps` is not a grade", "line 2"]);
}

#[test]
fn requests_and_dialogues_are_scored_by_their_labels() {
    let place = Folder::of(&[
        (
            "bench/requests.jsonl",
            "{\"id\":\"r1\",\"text\":\"How many accidents were there per district, in total?\",\"operation\":\"Aggregate\",\"intention\":\"Summarization\"}\n\
             {\"id\":\"r2\",\"text\":\"Append the rows of 2019\",\"operation\":\"Union\",\"intention\":\"Integration\"}\n",
        ),
        (
            "bench/dialogues.jsonl",
            "{\"id\":\"d1\",\"turns\":[{\"text\":\"Show me the trees of Graz\",\"operation\":\"Filter\",\"intention\":\"Exploration\"},{\"text\":\"thanks\"}]}\n",
        ),
    ]);
    let report = place.report(&[]);
    let signals = report["signals"].as_array().expect("signals");
    let turns: Vec<(&Value, &Value)> = signals.iter().map(|group| (&group["group"], &group["turns"])).collect();
    assert_eq!(turns, [(&Value::from("dialogues"), &Value::from(1)), (&Value::from("requests"), &Value::from(2))]);
    assert_eq!(signals[1]["operation"]["accuracy"], 1.0, "{signals:?}");
    assert!(place.eval(&[]).stdout.contains("macro-F1"));
    place.write(
        "bench/requests.jsonl",
        b"{\"id\":\"r1\",\"text\":\"x\",\"operation\":\"Jion\",\"intention\":\"Integration\"}\n",
    );
    place.refuses(&[], &["line 1", "did you mean `Join`?"]);
}

#[test]
fn folders_that_mean_ill_open_nothing_outside() {
    let place = trec();
    place.write("secret.csv", b"password\nhunter2\n");
    let line = |table: &str| format!("{{\"id\":\"j1\",\"task\":\"join\",\"table\":\"{table}\"}}\n");
    for table in ["../secret.csv", "queries/../../secret.csv", "/etc/passwd"] {
        place.write("bench/queries.jsonl", line(table).as_bytes());
        place.refuses(&[], &["leads out of the benchmark's folder", "line 1"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.at("secret.csv"), place.at("bench/queries/link.csv")).expect("a link");
        place.write("bench/queries.jsonl", line("queries/link.csv").as_bytes());
        place.refuses(&[], &["leads out of the benchmark's folder"]);
    }
    for (queries, said) in [
        ("{\"id\":\"j1\",\"task\":\"jion\",\"table\":\"queries/q.csv\"}\n", "did you mean `join`?"),
        ("{\"id\":\"j1\",\"task\":\"join\"}\n", "needs `table`"),
        ("{\"id\":\"\",\"task\":\"search\",\"text\":\"x\"}\n", "empty `id`"),
        ("\n{\"id\":\"j1\"\n", "line 2"),
        ("\u{0}\u{ff}\n", "line 1"),
        ("", "no usable query"),
        ("{\"id\":\"j1\",\"task\":\"join\",\"table\":\"queries/gone.csv\"}\n", "no usable query"),
    ] {
        place.write("bench/queries.jsonl", queries.as_bytes());
        place.refuses(&[], &[said]);
    }
    place.write("bench/queries.jsonl", QUERIES.as_bytes());
    for (qrels, said) in [
        ("j1 0 cities\n", "3 fields"),
        ("j1 0 cities much\n", "`much` is not a grade"),
        ("j1 0 a 0.5\n", "not a grade"),
    ] {
        place.write("bench/qrels.txt", qrels.as_bytes());
        place.refuses(&[], &[said, "qrels.txt"]);
    }
    let empty = Folder::of(&[("bench/readme.txt", "nothing")]);
    empty.refuses(&[], &["no known benchmark layout", "queries.jsonl", "ground_truth"]);
}

#[test]
fn packed_files_are_read_and_a_broken_pack_is_reported() {
    let place = trec();
    fs::remove_file(place.at("bench/queries.jsonl")).expect("gone");
    place.write("bench/queries.jsonl.zst", zstd::encode_all(QUERIES.as_bytes(), 1).expect("packed"));
    assert_eq!(place.report(&["--task", "join"])["queries"], 5);
    place.write("bench/queries.jsonl.zst", b"no zstd at all");
    let run = place.eval(&[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("queries.jsonl.zst"), "{}", run.stderr);
}

#[test]
fn acts_over_a_catalogue_are_scored() {
    let act = |id: &str, text: &str, act: &str| {
        let before =
            r#"[{"role": "user", "text": "is there anything on bus passengers?"}, {"role": "system", "results": []}]"#;
        format!(r#"{{"id": "{id}", "task": "act", "context": {before}, "text": "{text}", "act": "{act}"}}"#)
    };
    let corpus = r#"{"id": "r1", "title": "Passenger bus statistics, monthly", "geography": {"n": 1, "members": ["Canada"]}}
{"id": "r2", "title": "Urban transit revenue", "geography": {"n": 1, "members": ["Ontario"]}}"#;
    let acts = [act("a1", "thanks, lovely weather today", "small_talk"), act("a2", "undo that", "undo")].join("\n");
    let place = Folder::of(&[("bench/acts.jsonl", &acts), ("records/corpus.jsonl", corpus)]);
    place.write("records/queries.jsonl", br#"{"id": "q", "task": "search", "text": "bus"}"#);
    place.write("records/qrels.txt", b"q 0 r1 1");

    let report = place.report(&["--corpus", "records"]);
    assert_eq!((&report["turns"], &report["acts"]["accuracy"]), (&2.into(), &1.0.into()), "{report}");
    assert_eq!(report["wrong"], Value::Array(Vec::new()));

    let without = place.eval(&[]);
    assert!(without.code != 0 && without.stderr.contains("`--corpus`"), "{}", without.stderr);
    place.write("bench/acts.jsonl", act("a1", "thanks", "gratitude").as_bytes());
    let unknown = place.eval(&["--corpus", "records"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("unknown act `gratitude`"), "{}", unknown.stderr);
}
