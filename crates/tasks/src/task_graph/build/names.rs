//! What documents call datasets: names without a record, and names that are said to be of one dataset.

use std::collections::{BTreeMap, BTreeSet};

use crate::papers::extraction::{DatasetMention, Extraction};
use crate::task_graph::dataset::DatasetRecord;
use crate::task_graph::names::flat;
use crate::task_graph::nodes::mention_record;
use crate::task_graph::verdicts::{self, Decision, Named, Stage, Verdict};

/// Each mention of a dataset, with its document.
fn mentions<'d>(documents: &[&'d Extraction]) -> Vec<(&'d Extraction, &'d DatasetMention)> {
    let of = |document: &&'d Extraction| {
        let document = *document;
        document.tasks.iter().flat_map(|task| &task.datasets).map(move |mention| (document, mention))
    };
    documents.iter().flat_map(of).collect()
}

/// Names without a record, each with its description, and other names that documents give for datasets.
pub(super) fn names_of(documents: &[&Extraction], datasets: &[DatasetRecord]) -> BTreeSet<(String, String)> {
    let mut names = BTreeSet::new();
    for (_, mention) in mentions(documents) {
        if mention_record(datasets, mention).is_none() {
            names.insert((mention.name.clone(), mention.description.clone().unwrap_or_default()));
        }
        names.extend(mention.also.iter().map(|name| (name.clone(), String::new())));
    }
    names
}

/// That two names are one dataset, where documents say so and none says otherwise.
pub(super) fn same_by_documents(documents: &[&Extraction], datasets: &[DatasetRecord]) -> Vec<Verdict> {
    let mut said: BTreeMap<&str, Vec<(Named, &Extraction)>> = BTreeMap::new();
    for (document, mention) in mentions(documents) {
        let meant = match mention_record(datasets, mention) {
            Some(place) => Named::Record(datasets[place].id.clone()),
            None => Named::Name(mention.name.clone()),
        };
        for other in mention.also.iter().filter(|other| other.as_str() != meant.as_str()) {
            let known = said.entry(other).or_default();
            if !known.iter().any(|(named, _)| *named == meant) {
                known.push((meant.clone(), document));
            }
        }
    }
    let key = |named: &Named| match named {
        Named::Record(id) => format!("record {id}"),
        Named::Name(name) => flat(name),
    };
    let mut said_verdicts = Vec::new();
    for (other, meant) in said {
        // A short form that stands for different things in different documents tells nothing.
        let agree = meant.iter().all(|(named, _)| key(named) == key(&meant[0].0));
        for (named, document) in meant.into_iter().filter(|_| agree) {
            said_verdicts.push(Verdict {
                version: verdicts::VERSION,
                a: Named::Name(other.to_string()),
                sentence: format!("`{}` calls it both", document.document),
                b: named,
                stage: Stage::Dictionary,
                decision: Decision::Same,
                by: "rule document@1".into(),
            });
        }
    }
    said_verdicts
}
