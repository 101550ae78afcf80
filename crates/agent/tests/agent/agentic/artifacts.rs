//! What is no artifact that an agent may hand over, and the schemas of those that are.

use std::path::Path;

use lakeward_agent::agentic::{Artifact, CandidateSet, EvaluationReport, FinalRanking, QueryPlan, Settings, schemas};

use super::{REQUEST, index, plain};

/// What makes an artifact malformed, and what is then said of it.
type Change<T> = (fn(&mut T), &'static str);

#[test]
fn malformed_artifacts_of_every_kind_are_named() {
    let many = |what: &str, count: usize| vec![what; count].join(",");
    let query = r#"{"text": "rent", "aim": ""}"#;
    let plans = [
        (r#"{"queries": [], "must_have": []}"#.to_string(), "no query"),
        (format!(r#"{{"queries": [{query}, {query}], "must_have": []}}"#), "twice"),
        (format!(r#"{{"queries": [{}], "must_have": []}}"#, many(query, 1_000)), "1000 queries"),
        (format!(r#"{{"queries": [{query}], "must_have": [], "top_k": 1000}}"#), "unknown field"),
        (r#"{"queries": [{"text": "rent", "aim": "", "weight": 9}], "must_have": []}"#.into(), "unknown field"),
        (
            format!(r#"{{"queries": [{{"text": "{}", "aim": ""}}], "must_have": []}}"#, "x".repeat(2_001)),
            "2001 characters",
        ),
        (format!(r#"{{"queries": [{query}], "must_have": [" "]}}"#), "empty"),
        (format!(r#"{{"queries": [{query}], "must_have": []}} {{}}"#), "trailing"),
        ("[".repeat(100_000), "invalid type"),
    ];
    for (text, problem) in plans {
        let error = QueryPlan::accept(&text).unwrap_err().to_string();
        assert!(error.starts_with("the query-plan is malformed") && error.contains(problem), "{error}");
    }
    let whole = plain(REQUEST, &Settings::default());
    let set = &whole.trace.iterations[0].candidates;
    let is_table = |id: &str| index().get(id).is_ok_and(|table| table.is_some());
    assert_eq!(&CandidateSet::accept(&set.to_json(), &is_table).expect("a set"), set);
    let changes: [Change<CandidateSet>; 9] = [
        (|set| set.candidates[0].id = "no/table".into(), "no list has"),
        (|set| set.channels[0].hits[0].0 = "no/table".into(), "there is no table"),
        (|set| set.candidates.swap(0, 1), "order of their scores"),
        (|set| set.candidates[1] = set.candidates[0].clone(), "twice"),
        (|set| set.candidates[0].ranks[0].rank = 0, "where it says"),
        (|set| set.candidates[0].ranks[0].list = 999, "where it says"),
        (|set| set.channels[0].weight = -1.0, "weighs"),
        (|set| set.candidates[0].title = "x".repeat(201), "201 characters"),
        (|set| set.channels = vec![set.channels[0].clone(); 129], "129 lists"),
    ];
    for (change, problem) in changes {
        let mut changed = set.clone();
        change(&mut changed);
        let error = CandidateSet::accept(&changed.to_json(), &is_table).unwrap_err().to_string();
        assert!(error.contains(problem), "{error} for {problem}");
    }
    let report = &whole.trace.iterations[0].report;
    let changes: [Change<EvaluationReport>; 4] = [
        (|report| report.signals.coverage = 1.5, "`coverage` is 1.5"),
        (|report| report.reason = String::new(), "reason is empty"),
        (|report| report.missing = vec!["x".into(); 17], "17 things missing"),
        (|report| (report.sufficient, report.missing) = (true, vec!["x".into()]), "sufficient"),
    ];
    for (change, problem) in changes {
        let mut changed = report.clone();
        change(&mut changed);
        let error = EvaluationReport::accept(&changed.to_json()).unwrap_err().to_string();
        assert!(error.contains(problem), "{error} for {problem}");
    }
    let ranking = &whole.trace.ranking;
    let changes: [Change<FinalRanking>; 4] = [
        (|ranking| ranking.ranking[0].id = "us/nowhere".into(), "no candidate"),
        (|ranking| ranking.ranking[1] = ranking.ranking[0].clone(), "twice"),
        (|ranking| ranking.ranking.reverse(), "order of their scores"),
        (|ranking| ranking.reasons = [("us/nowhere".into(), "x".into())].into(), "no candidate"),
    ];
    for (change, problem) in changes {
        let mut changed = ranking.clone();
        change(&mut changed);
        let error = FinalRanking::accept(&changed.to_json(), set).unwrap_err().to_string();
        assert!(error.contains(problem), "{error} for {problem}");
    }
    let best = FinalRanking { ranking: ranking.ranking[..1].to_vec(), ..FinalRanking::default() };
    let filled = FinalRanking::accept(&best.to_json(), set).expect("a ranking");
    assert_eq!((filled.ranking.len(), &filled.ranking[0]), (set.candidates.len(), &ranking.ranking[0]));
}

#[test]
fn the_published_schemas_are_those_of_the_artifacts() {
    for (name, schema) in schemas() {
        let path = Path::new(crate::REPOSITORY).join(format!("schemas/{name}.schema.json"));
        let expected = serde_json::to_value(schema).expect("a schema");
        if std::env::var_os("LAKEWARD_WRITE_SCHEMAS").is_some() {
            let text = serde_json::to_string_pretty(&expected).expect("JSON") + "\n";
            std::fs::write(&path, text).expect("a file");
        }
        let published: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        assert!(published == expected, "{name} is out of date: run this test with LAKEWARD_WRITE_SCHEMAS=1");
    }
}
