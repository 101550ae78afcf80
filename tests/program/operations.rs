//! What the compiler does not see of an operation: its sentence in the prompts, its requests among the labels.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lakeward_core::request::{Label, OperationKind};

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(crate::REPOSITORY).join(path)).expect("a file of the repository")
}

#[test]
fn prompts_name_every_operation() {
    for prompt in ["prompts/read.md", "prompts/rerank.md"] {
        let text = text(prompt);
        let missing: Vec<&str> =
            OperationKind::ALL.iter().map(|kind| kind.name()).filter(|name| !text.contains(name)).collect();
        assert!(missing.is_empty(), "{prompt} says nothing of {missing:?}");
    }
}

#[test]
fn every_operation_has_labelled_requests() {
    const LEAST: usize = 20;
    let text = text("labels/requests.jsonl");
    let labels: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    for kind in OperationKind::ALL {
        let requests = labels.iter().filter(|label| label["operation"] == kind.name()).count();
        assert!(requests >= LEAST, "{} has {requests} requests", kind.name());
    }
    let known: BTreeSet<&str> = OperationKind::ALL.iter().map(|kind| kind.name()).collect();
    let unknown: BTreeSet<&str> =
        labels.iter().filter_map(|label| label["operation"].as_str()).filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
