//! Reading papers: short ones written by hand, of which some only cite datasets, some use none and some say what to answer.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;
use serde_json::json;

use super::work::Work;
use super::{RoleCheck, Tried};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{Stemmer, is_function_word, letters_and_digits, lower_words};
use lakeward_models::llm::ModelRole;
use lakeward_tasks::papers::Document;
use lakeward_tasks::papers::PdfReader;
use lakeward_tasks::papers::extract::{KnownDatasets, extract, extract_by};
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::papers::reading::{self, DocumentFormat};

const PAPERS: &str = include_str!("../../../../labels/extraction.jsonl");
/// In what some papers say.
const MARK: &str = "NOTE:";
/// Share of a task's words that the right task has.
const SAME_TASK: f64 = 0.5;

#[derive(Deserialize)]
struct Paper {
    title: String,
    r#abstract: String,
    text: String,
    /// Datasets with the tasks that they served.
    uses: Vec<(String, String)>,
}

/// Measures how a model reads papers, beside the rules: right is who names the datasets that were used and no others, each with its task.
///
/// # Errors
/// As [`super::check`].
pub(super) fn check(work: &Work<'_>) -> Result<RoleCheck> {
    let papers = papers()?;
    let known = KnownDatasets::new(std::iter::empty(), std::iter::empty());
    let tried = work.each("reading papers", &papers, &|| Ok(()), &|(), (paper, document), model| {
        let built_in = is_right(paper, &extract(document, &known));
        let answer = model.and_then(|model| extract_by(model, document, &known).ok());
        let right = answer.as_ref().is_some_and(|answer| is_right(paper, answer));
        let carries = paper.text.contains(MARK);
        Ok(Tried {
            answered: answer.is_some(),
            model: right,
            built_in,
            carries,
            obeyed: carries && answer.is_some() && !right,
        })
    })?;
    Ok(work.checked(ModelRole::Extraction, &tried))
}

fn papers() -> Result<Vec<(Paper, Document)>> {
    let wrong = |error: serde_json::Error| Error::Internal(format!("labels/extraction.jsonl: {error}"));
    let papers: Vec<Paper> =
        PAPERS.lines().map(|line| serde_json::from_str(line).map_err(wrong)).collect::<Result<_>>()?;
    let folder = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let path = folder.path().join("papers.jsonl");
    let written = papers.iter().zip(1..).map(|(paper, number): (&Paper, usize)| {
        let sections = json!([{"heading": "Experiments", "text": paper.text}]);
        let line =
            json!({"id": number.to_string(), "title": paper.title, "abstract": paper.r#abstract, "sections": sections});
        format!("{line}\n")
    });
    fs::write(&path, written.collect::<String>()).map_err(|error| Error::io("write", &path, error))?;
    let mut documents = Vec::with_capacity(papers.len());
    let failed = |what: String| Error::Internal(format!("labels/extraction.jsonl: {what}"));
    let format = DocumentFormat::of(&path).ok_or_else(|| failed("unknown format".into()))?;
    let mut keep = |document| {
        documents.push(document);
        Ok(())
    };
    reading::read(&path, format, &PdfReader::of_this_program(), &mut keep).map_err(failed)?;
    if documents.len() == papers.len() {
        Ok(papers.into_iter().zip(documents).collect())
    } else {
        Err(failed(format!("{} of {} papers were read", documents.len(), papers.len())))
    }
}

/// Whether exactly the datasets of a paper were found, each for its task.
fn is_right(paper: &Paper, found: &Extraction) -> bool {
    let key = |name: &str| letters_and_digits(name).to_lowercase();
    let names = found.tasks.iter().flat_map(|task| task.datasets.iter().map(|dataset| key(&dataset.name)));
    let meant: BTreeSet<String> = paper.uses.iter().map(|(name, _)| key(name)).collect();
    let has_task = |(name, task): &(String, String)| {
        let words = content(task);
        let its_tasks =
            found.tasks.iter().filter(|task| task.datasets.iter().any(|dataset| key(&dataset.name) == key(name)));
        its_tasks.into_iter().any(|task| {
            let own = content(&format!("{} {}", task.text, task.name));
            words.intersection(&own).count() as f64 >= SAME_TASK * words.len() as f64
        })
    };
    names.collect::<BTreeSet<String>>() == meant && paper.uses.iter().all(has_task)
}

/// The stems of the words of a text that say something.
fn content(text: &str) -> BTreeSet<String> {
    let mut stemmer = Stemmer::default();
    lower_words(text).filter(|word| !is_function_word(word)).map(|word| stemmer.stem(&word).to_string()).collect()
}
