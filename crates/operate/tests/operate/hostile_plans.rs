//! Plans that are too large, that name what is not there, that explode: each gets a clear answer, and nothing is half written.

use std::path::Path;
use std::time::Instant;

use lakeward_core::Error;
use lakeward_core::plan::Plan;
use lakeward_index::LakeIndex;
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::{LakeContext, Limits, PreviewLimits, plan_preview, plan_sql, run_plan};
use serde_json::{Value, json};

use super::plans::{column, is, lake, plan, preview, rows};

#[test]
fn hostile_plans_get_an_answer() {
    let lake = lake(&[
        ("odd.csv", "\"a\"\"b; DROP TABLE odd --\",\"x'y\"\n1,q\n2,\"it's\"\n"),
        ("many.csv", &format!("k,v\n{}", "1,2\n".repeat(3000))),
    ]);
    let named = "a\"b; DROP TABLE odd --";
    let odd = json!([{"filter": is("x'y", "equal", json!("it's"))}, {"derive": {"name": "\"; --\n", "value": column(named)}}]);
    assert_eq!(rows(&lake, "odd", odd), ["[2,it's,2]"]);
    let error = |source: &str, steps: Value| plan_sql(&lake.context, &plan(source, steps)).expect_err("an error");
    assert!(
        matches!(error("odd", json!([{"drop": ["x_y"]}])), Error::UnknownColumn { nearest, .. } if nearest[0] == "x'y")
    );
    assert!(matches!(error("od", json!([])), Error::UnknownTable { .. }));
    assert!(matches!(error("odd", json!([{"drop": [named, "x'y"]}])), Error::Usage(_)));
    assert!(matches!(error("odd", json!([{"rename": [[named, "X'Y"]]}])), Error::Usage(_)));
    let explodes = plan(
        "many",
        json!([{"join": {"with": {"source": {"table": "many"}}, "on": [{"left": "k", "right": "k"}], "columns": [{"column": "v"}]}}]),
    );
    let started = Instant::now();
    let preview = preview(&lake, &explodes);
    assert!(preview.stopped.is_some_and(|reason| reason.contains("9000000 rows")) && preview.sample.is_empty());
    assert!(started.elapsed().as_secs() < 20);
    let out = lake.folder.path().join("out.parquet");
    assert!(matches!(run_plan(&lake.context, &explodes, &PreviewLimits::default(), &out), Err(Error::Usage(_))));
    assert!(!Path::new(&out).exists(), "nothing is half written");
    let within = plan(
        "odd",
        json!([{"union": {"others": [{"with": {"source": {"table": "many"}, "steps": [
        {"join": {"with": {"source": {"table": "many"}}, "on": [{"left": "k", "right": "k"}], "columns": [{"column": "v"}]}},
        {"group": {"measures": [{"function": "count", "as": named}]}}]}}]}}]),
    );
    assert!(
        matches!(run_plan(&lake.context, &within, &PreviewLimits::default(), &out), Err(Error::Usage(_))),
        "in a table to append"
    );
    assert!(
        plan_preview(&lake.context, &within, &PreviewLimits::default()).is_ok_and(|preview| preview.stopped.is_some())
    );
    let many: Vec<Value> = (0..500).map(|number| is("k", "different", json!(number + 5))).collect();
    assert_eq!(rows(&lake, "many", json!([{"filter": {"all": many}}, {"limit": {"rows": 2}}])).len(), 2);
    let deep: Vec<Value> = (0..150).map(|_| json!({"limit": {"rows": 2}})).collect();
    assert_eq!(rows(&lake, "many", Value::Array(deep)).len(), 2);
    let steps: Vec<Value> = (0..1000).map(|_| json!({"limit": {"rows": 2}})).collect();
    let text = json!({"version": 1, "source": {"table": "many"}, "steps": steps}).to_string();
    assert!(matches!(Plan::from_json(&text), Err(Error::Usage(reason)) if reason.contains("200 steps")));
    assert!(matches!(Plan::from_json("{\"version\": 9}"), Err(Error::Usage(reason)) if reason.contains("version 9")));
}

#[test]
fn a_group_of_more_keys_than_memory_holds_ends() {
    const KEYS: usize = 400_000;
    let mut text = String::from("key,v\n");
    (0..KEYS).for_each(|key| text.push_str(&format!("a long key with the number {key},1\n")));
    let lake = lake(&[("keys.csv", &text)]);
    let index = LakeIndex::open(&lake.folder.path().join(".lakeward"), StaticModel::builtin().id()).expect("an index");
    let group =
        plan("keys", json!([{"group": {"keys": [{"of": column("key")}], "measures": [{"function": "count"}]}}]));
    let out = lake.folder.path().join("out.parquet");
    let run = |limits: Limits| {
        let context = LakeContext::new(lake.folder.path(), &index, limits).expect("a context");
        let context = context.keeping_steps_in(&lake.folder.path().join("kept"));
        let preview = plan_preview(&context, &group, &PreviewLimits::default())?;
        Ok::<_, Error>((preview.rows_out, run_plan(&context, &group, &PreviewLimits::default(), &out)?.rows))
    };
    let error = run(Limits { memory_bytes: 16 << 20, spill_bytes: 0 }).expect_err("too little memory");
    assert!(error.to_string().contains("memory") || error.to_string().contains("disk"), "{error}");
    assert!(!out.exists(), "nothing is half written");
    let found = run(Limits { memory_bytes: 24 << 20, spill_bytes: 4 << 30 }).expect("groups");
    assert_eq!(found, (KEYS as u64, KEYS as u64));
}

#[test]
fn plans_that_stand_on_themselves_or_on_nothing_are_refused() {
    let lake = lake(&[("one.csv", "a,b\n1,2\n3,4\n")]);
    let limits = PreviewLimits::default();
    let of = |source: Value| {
        Plan::from_json(&json!({"version": 1, "source": source, "steps": [{"limit": {"rows": 1}}]}).to_string())
            .expect("a plan")
    };
    let error = plan_preview(&lake.context, &of(json!({"step": 1})), &limits).expect_err("an error");
    assert!(error.to_string().contains("there is no `session.step_1`"), "{error}");
    // A file that is both read and written is read to its end before it is replaced.
    let file = lake.folder.path().join("self.csv");
    std::fs::write(&file, "a,b\n1,2\n3,4\n").expect("a file");
    let outcome = run_plan(&lake.context, &of(json!({"file": file})), &limits, &file).expect("a run");
    assert_eq!((outcome.rows, std::fs::read_to_string(&file).expect("a file")), (1, "a,b\n1,2\n".to_string()));
    for text in [
        "",
        "{",
        "[]",
        "{\"version\": \"1\"}",
        "{\"version\": 1}",
        "{\"version\": 2, \"source\": {\"table\": \"one\"}}",
    ] {
        assert!(matches!(Plan::from_json(text), Err(Error::Usage(_))), "{text}");
    }
    let nested = format!("{}1{}", "{\"not\":".repeat(3000), "}".repeat(3000));
    let text = format!("{{\"version\": 1, \"source\": {{\"table\": \"one\"}}, \"steps\": [{{\"filter\": {nested}}}]}}");
    assert!(matches!(Plan::from_json(&text), Err(Error::Usage(_))));
}
