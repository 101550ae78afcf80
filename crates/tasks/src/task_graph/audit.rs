//! A random sample of the merges in a graph, for manual review: two names, their records' descriptions, and who merged them.

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::dataset::DatasetRecord;
use super::verdicts::{Decision, Named, Stage, Verdict, Verdicts};
use lakeward_core::text::shown;

/// Bytes of a description that are shown.
const DESCRIPTION_BYTES: usize = 300;

/// A sample of merges.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergeAudit {
    /// Number of merges by rules or by a judge; the user's own are not counted.
    pub of_merges: u64,
    /// Seed of the sample.
    pub seed: u64,
    /// The sampled merges.
    pub merges: Vec<AuditedMerge>,
}

/// A merge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditedMerge {
    /// One name.
    pub a: AuditedName,
    /// The other.
    pub b: AuditedName,
    /// The rule, or the model with its prompt and the prompt's version.
    pub by: String,
    /// Why they were joined.
    pub sentence: String,
}

/// A name with what is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditedName {
    /// The name in a document, or the title of the record.
    pub name: String,
    /// The record's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The record's description, truncated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub described: String,
}

/// At most `count` of the merges in `verdicts`, chosen by the SHA-256 of seed and names: the same seed gives the same sample, and
/// the same choice among merges that two graphs share. `records` are sorted by id.
pub fn audit(verdicts: &Verdicts, records: &[DatasetRecord], count: usize, seed: u64) -> MergeAudit {
    let is_merge = |verdict: &&Verdict| verdict.decision == Decision::Same && verdict.stage != Stage::User;
    let mut sampled: Vec<([u8; 32], &Verdict)> =
        verdicts.iter().filter(is_merge).map(|verdict| (key(verdict, seed), verdict)).collect();
    let of_merges = sampled.len() as u64;
    sampled.sort_by_key(|(key, _)| *key);
    sampled.truncate(count);
    let merge = |(_, verdict): ([u8; 32], &Verdict)| AuditedMerge {
        a: named(&verdict.a, records),
        b: named(&verdict.b, records),
        by: verdict.by.clone(),
        sentence: verdict.sentence.clone(),
    };
    MergeAudit { of_merges, seed, merges: sampled.into_iter().map(merge).collect() }
}

fn key(verdict: &Verdict, seed: u64) -> [u8; 32] {
    Sha256::digest(format!("{seed}\0{}\0{}", verdict.a.as_str(), verdict.b.as_str())).into()
}

fn named(named: &Named, records: &[DatasetRecord]) -> AuditedName {
    let id = match named {
        Named::Name(name) => return AuditedName { name: name.clone(), record: None, described: String::new() },
        Named::Record(id) => id,
    };
    let record = records.binary_search_by(|record| record.id.as_str().cmp(id)).ok().map(|place| &records[place]);
    AuditedName {
        name: record.map_or_else(|| id.clone(), |record| record.title.clone()),
        record: Some(id.clone()),
        described: record.map_or_else(String::new, |record| shown(&record.description, DESCRIPTION_BYTES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task_graph::verdicts::VERSION;
    use crate::task_graph::why::users_word;

    #[test]
    fn a_sample_is_reproducible_and_has_no_verdict_of_the_user() {
        let records: Vec<DatasetRecord> = (0..30)
            .map(|number| DatasetRecord {
                id: format!("r{number:02}"),
                title: format!("Set {number}"),
                ..DatasetRecord::default()
            })
            .collect();
        let mut verdicts = Verdicts::default();
        for record in &records {
            verdicts.put(Verdict {
                version: VERSION,
                a: Named::Record(record.id.clone()),
                b: Named::Name(record.title.to_lowercase()),
                stage: Stage::Dictionary,
                decision: Decision::Same,
                by: "name".into(),
                sentence: "they are equal".into(),
            });
        }
        verdicts.put(users_word(&Named::Record("r01".into()), &Named::Record("r02".into()), true));
        let sample = audit(&verdicts, &records, 10, 1);
        assert_eq!((sample.of_merges, sample.merges.len()), (30, 10));
        assert_eq!(sample, audit(&verdicts, &records, 10, 1));
        assert_ne!(sample.merges, audit(&verdicts, &records, 10, 2).merges);
        assert!(sample.merges[0].a.name.starts_with("Set "), "{sample:?}");
    }
}
