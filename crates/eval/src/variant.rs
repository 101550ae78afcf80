//! The seven variants of agentic hybrid retrieval (Terrenzi et al. 2026), each a [`System`](super::System): lexical and semantic
//! search alone, their fusion, and what planning, agents and pseudo-queries add to it.
//!
//! | | retrieval | planned | index |
//! |---|---|---|---|
//! | V1 | BM25 | no | metadata |
//! | V2 | dense vectors | no | metadata |
//! | V3 | both, fused | no | metadata |
//! | V4, V5 | both, fused | by one agent | metadata; V5 with pseudo-queries |
//! | V6, V7 | both, fused | by planner, retriever, evaluator, reranker | metadata; V7 with pseudo-queries |
//!
//! [`system`] runs them, [`work`] counts the work per answer, [`drill`] compares runs that should be equal and runs in which a
//! component fails, [`table`] writes the tables.

pub mod drill;
mod outage;
pub mod system;
pub mod table;
pub mod work;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_search::augment::QuestionMode;

/// The name for all variants on the command line.
pub const ALL: &str = "all";

/// A variant of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// BM25 alone.
    V1,
    /// Dense vectors alone.
    V2,
    /// Reciprocal rank fusion of both, k = 60, weights 1.
    V3,
    /// One agent that plans, searches, evaluates and ranks.
    V4,
    /// V4 over an index with pseudo-queries.
    V5,
    /// Planner, retriever, evaluator and reranker as agents that exchange checked artifacts.
    V6,
    /// V6 over an index with pseudo-queries.
    V7,
}

lakeward_core::names! { Variant, "Its name as a system.":
    V1 = "v1-words",
    V2 = "v2-meaning",
    V3 = "v3-fusion",
    V4 = "v4-agent",
    V5 = "v5-agent-questions",
    V6 = "v6-agents",
    V7 = "v7-agents-questions",
}

impl Variant {
    /// Pairs to compare, the simpler first: fusion with each channel, and every step after it.
    pub const STEPS: [(Variant, Variant); 10] = [
        (Variant::V1, Variant::V3),
        (Variant::V2, Variant::V3),
        (Variant::V3, Variant::V4),
        (Variant::V3, Variant::V5),
        (Variant::V3, Variant::V6),
        (Variant::V3, Variant::V7),
        (Variant::V4, Variant::V5),
        (Variant::V4, Variant::V6),
        (Variant::V5, Variant::V7),
        (Variant::V6, Variant::V7),
    ];

    /// Its number in the paper.
    pub fn number(self) -> &'static str {
        match self {
            Variant::V1 => "V1",
            Variant::V2 => "V2",
            Variant::V3 => "V3",
            Variant::V4 => "V4",
            Variant::V5 => "V5",
            Variant::V6 => "V6",
            Variant::V7 => "V7",
        }
    }

    /// The variants for `requested`, with [`ALL`] expanded, each once, in the order of the paper.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, with the nearest ones.
    pub fn of_names(requested: &[String]) -> Result<Vec<Variant>> {
        let mut found = Vec::new();
        for name in requested {
            if name.trim().eq_ignore_ascii_case(ALL) {
                found.extend(Variant::ALL);
                continue;
            }
            let is = |variant: &Variant| {
                [variant.number(), variant.name()].iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
            };
            found.push(Variant::ALL.into_iter().find(is).ok_or_else(|| unknown(name))?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Whether it plans, evaluates and repeats the search.
    pub fn is_agentic(self) -> bool {
        self >= Variant::V4
    }

    /// Whether its roles are separate agents.
    pub fn has_several_agents(self) -> bool {
        self >= Variant::V6
    }

    /// Whether it searches an index with pseudo-queries.
    pub fn uses_questions(self) -> bool {
        matches!(self, Variant::V5 | Variant::V7)
    }

    /// Its components, which a drill makes fail one after the other.
    pub fn components(self) -> Vec<Component> {
        let has = |component: &Component| match component {
            Component::Words => self != Variant::V2,
            Component::Meaning => self != Variant::V1,
            Component::Questions => self.uses_questions(),
            Component::Planner | Component::Evaluator | Component::Reranker => self.is_agentic(),
        };
        Component::ALL.into_iter().filter(has).collect()
    }
}

fn unknown(name: &str) -> Error {
    let known = Variant::ALL.iter().flat_map(|variant| [variant.number(), variant.name()]);
    let near: Vec<String> = nearest_names(name, known, 2).iter().map(|near| format!("`{near}`")).collect();
    let hint = match near.is_empty() {
        true => "there are `V1` to `V7` and `all`".to_string(),
        false => format!("did you mean {}? There are `V1` to `V7` and `all`", near.join(" or ")),
    };
    // In earlier versions, `--variant` selected the form.
    let form = ["titles", "cells", "masked"].iter().find(|form| form.eq_ignore_ascii_case(name.trim()));
    let hint = form.map_or(hint, |form| format!("the form of the documents is asked for with `--form {form}`"));
    Error::usage(format!("there is no variant `{name}`; {hint}"))
}

/// How V5 and V7 use pseudo-queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionUse {
    /// Appended to the metadata, one document per table, searched instead of the metadata alone: the paper's mode B.
    #[default]
    Concatenated,
    /// One document per question, searched instead of the metadata: the paper's mode A.
    Dedicated,
    /// One document per question, searched in addition to the metadata with half the weight.
    Beside,
}

lakeward_core::names! { QuestionUse, "Its name on the command line and in reports.":
    Concatenated = "concatenated",
    Dedicated = "dedicated",
    Beside = "beside",
}

impl QuestionUse {
    /// How it indexes the questions.
    pub fn mode(self) -> QuestionMode {
        match self {
            QuestionUse::Concatenated => QuestionMode::Concatenated,
            QuestionUse::Dedicated | QuestionUse::Beside => QuestionMode::Dedicated,
        }
    }
}

/// A part of a variant that can fail by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Plans what to search for.
    Planner,
    /// Lexical search.
    Words,
    /// Semantic search.
    Meaning,
    /// The index with pseudo-queries.
    Questions,
    /// Decides whether the candidates suffice.
    Evaluator,
    /// Orders the candidates.
    Reranker,
}

lakeward_core::names! { Component, "Its name in reports.":
    Planner = "planner",
    Words = "words",
    Meaning = "meaning",
    Questions = "questions",
    Evaluator = "evaluator",
    Reranker = "reranker",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_go_by_number_and_by_name() {
        let names = |requested: &[&str]| {
            let requested: Vec<String> = requested.iter().map(|name| name.to_string()).collect();
            Variant::of_names(&requested).map(|found| found.into_iter().map(Variant::number).collect::<Vec<_>>())
        };
        assert_eq!(names(&["v3", "V1", "v3-FUSION"]).unwrap(), ["V1", "V3"]);
        assert_eq!(names(&["V2", "ALL"]).unwrap().len(), 7);
        let error = |name: &str| names(&[name]).unwrap_err().to_string();
        assert!(error("v3-fusoin").contains("`v3-fusion`"), "{}", error("v3-fusoin"));
        assert!(error("V8").contains("`V1` to `V7`"), "{}", error("V8"));
        assert!(error("masked").contains("--form masked"), "{}", error("masked"));
        assert!(error("").contains("`V1` to `V7`"));
    }

    #[test]
    fn each_variant_has_its_components() {
        assert_eq!(Variant::V1.components(), [Component::Words]);
        assert_eq!(Variant::V3.components(), [Component::Words, Component::Meaning]);
        assert_eq!(Variant::V7.components(), Component::ALL);
        assert!(Variant::STEPS.iter().all(|(plainer, other)| plainer < other));
    }
}
