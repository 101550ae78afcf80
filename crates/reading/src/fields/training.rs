//! Training the model of fields on labelled questions, and how well it does on questions of writers that it was not trained on.
//!
//! Logistic regression ([`crate::logistic`]) over the features of [`FieldModel`]. A question that asks for several fields counts most for the
//! first. Questions that look for data instead are learned as asking for nothing, so that the two can be told apart.

use std::collections::{BTreeMap, BTreeSet};

use lakeward_core::error::{Error, Result};
use lakeward_core::request::Act;
use lakeward_models::embed::{EmbedderExt, SentenceModel};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classifier::FieldModel;
use super::{CLASSES, Likelihoods, Other, RequestedPart};
use crate::logistic::{calibration_error, descend, likeliest, softmax, temperature};
use crate::reader::annotated::Conversation;
use crate::signals::features::Counts;

/// Folds of writers.
const FOLDS: usize = 8;
/// Words of fewer questions are left out.
const LEAST_QUESTIONS: u32 = 2;
/// C of the penalty, chosen by cross-validation.
const INVERSE_PENALTY: f32 = 10.0;
/// How much a field after the first counts beside it.
const FURTHER: f32 = 0.4;

/// A question with what it asks for, likeliest first.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LabelledQuestion {
    /// The conversation that it is from; the letters that it begins with are its writer.
    pub c: String,
    /// As typed.
    pub text: String,
    /// What it asks for.
    pub fields: Vec<RequestedPart>,
}

/// What training came to, by the model that was not trained on a question's writer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FieldReport {
    /// Labelled questions.
    pub questions: u64,
    /// Questions that look for data.
    pub searches: u64,
    /// Words and pairs of words with a weight.
    pub words: u64,
    /// Share of the questions that ask for something whose likeliest class is among their labels, 0..=1.
    pub among: f64,
    /// Share whose likeliest class is the first label, 0..=1.
    pub first: f64,
    /// The same as `among` by the model of all questions, which saw them.
    pub among_kept_in: f64,
    /// Expected calibration error over ten bins of equal mass, 0..=1.
    pub calibration_error: f64,
    /// Share of them that are taken to ask for what a record says, 0..=1.
    pub taken_for_questions: f64,
    /// Share of those that look for data that are, 0..=1.
    pub searches_taken_for_questions: f64,
}

/// Reads labelled questions, one JSON object a line.
///
/// # Errors
/// [`Error::Usage`] with the line that is none.
pub fn parse(text: &str) -> Result<Vec<LabelledQuestion>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let question = |(at, line): (usize, &str)| {
        let question: LabelledQuestion = serde_json::from_str(line)
            .map_err(|error| Error::usage(format!("line {} is no labelled question: {error}", at + 1)))?;
        match question.fields.is_empty() {
            true => Err(Error::usage(format!("line {} is labelled with nothing", at + 1))),
            false => Ok(question),
        }
    };
    lines.map(question).collect()
}

/// The questions of a conversation without a table that look for data, labelled as asking for nothing that a record says.
pub fn searches(conversation: &Conversation) -> Vec<LabelledQuestion> {
    const OF_ANSWERS: [Act; 3] = [Act::Ask, Act::Compare, Act::Pick];
    if conversation.table.is_some() || conversation.sheet.is_some() {
        return Vec::new();
    }
    let looks = conversation
        .turns
        .iter()
        .filter(|turn| turn.text.trim_end().ends_with('?') && !turn.acts.iter().any(|act| OF_ANSWERS.contains(act)));
    let of = |text: &str| LabelledQuestion {
        c: conversation.id.clone(),
        text: text.into(),
        fields: vec![RequestedPart::Other(Other::None)],
    };
    looks.map(|turn| of(&turn.text)).collect()
}

/// A question as the model sees it.
struct Example<'q> {
    question: &'q LabelledQuestion,
    words: Counts,
    sentence: Vec<f32>,
    fold: usize,
    /// How much each class is asked for; they sum to 1.
    truth: [f32; CLASSES],
}

/// Trains a model on `questions` and on `searches`, which look for data, and measures it with each writer left out in turn.
///
/// # Errors
/// [`Error::Usage`] when there are fewer writers than folds.
pub fn train(questions: &[LabelledQuestion], searches: &[LabelledQuestion]) -> Result<(FieldModel, FieldReport)> {
    let writers: BTreeSet<&str> = questions.iter().chain(searches).map(writer).collect();
    if writers.len() < FOLDS {
        return Err(Error::usage(format!("questions of {} writers; {FOLDS} are needed", writers.len())));
    }
    let writers: Vec<&str> = writers.into_iter().collect();
    let examples: Vec<Example<'_>> = questions
        .par_iter()
        .chain(searches)
        .map(|question| Example {
            question,
            words: Counts::of_words(&question.text),
            sentence: SentenceModel::builtin().embed(&question.text),
            fold: writers.binary_search(&writer(question)).unwrap_or_default() % FOLDS,
            truth: truth(&question.fields),
        })
        .collect();
    let of_folds: Vec<FieldModel> = (0..=FOLDS)
        .into_par_iter()
        .map(|fold| fit(&examples.iter().filter(|example| example.fold != fold).collect::<Vec<_>>()))
        .collect();
    let logits = |model: &FieldModel, example: &Example<'_>| model.logits(&example.question.text, &example.sentence);
    let held_out: Vec<[f32; CLASSES]> =
        examples.iter().map(|example| logits(&of_folds[example.fold], example)).collect();
    let temperature = temperature(|temperature| {
        // Any of the labels is a right answer.
        let loss = |(example, logits): (&Example<'_>, &[f32; CLASSES])| -> f64 {
            let probabilities = softmax(logits, temperature);
            let right: f64 = example.question.fields.iter().map(|asked| probabilities[asked.class()]).sum();
            -right.max(1e-12).ln()
        };
        examples.iter().zip(&held_out).map(loss).sum()
    });
    let mut model = of_folds.into_iter().next_back().unwrap_or_default();
    model.temperature = temperature;
    // What is asked for is told apart among the questions that ask for something.
    let asking: Vec<usize> =
        (0..questions.len()).filter(|at| questions[*at].fields[0] != RequestedPart::Other(Other::None)).collect();
    let prediction = |logits: &[f32; CLASSES]| {
        let likelihoods = Likelihoods::of(logits, temperature).if_any();
        let best = likeliest(&likelihoods);
        (best, likelihoods[best])
    };
    let is_among = |at: usize, class: usize| questions[at].fields.iter().any(|asked| asked.class() == class);
    let share = |of: &[usize], is: &dyn Fn(usize) -> bool| {
        of.iter().filter(|at| is(**at)).count() as f64 / of.len().max(1) as f64
    };
    let taken = |at: usize| Likelihoods::of(&held_out[at], temperature).of_any() >= 0.5;
    let confidences = asking.iter().map(|at| {
        let (class, confidence) = prediction(&held_out[*at]);
        (confidence, is_among(*at, class))
    });
    let report = FieldReport {
        questions: questions.len() as u64,
        searches: searches.len() as u64,
        words: model.places.len() as u64,
        among: share(&asking, &|at| is_among(at, prediction(&held_out[at]).0)),
        first: share(&asking, &|at| questions[at].fields[0].class() == prediction(&held_out[at]).0),
        among_kept_in: share(&asking, &|at| is_among(at, prediction(&logits(&model, &examples[at])).0)),
        calibration_error: calibration_error(confidences.collect()),
        taken_for_questions: share(&asking, &taken),
        searches_taken_for_questions: share(&(questions.len()..examples.len()).collect::<Vec<_>>(), &taken),
    };
    Ok((model, report))
}

/// Who wrote a question: the letters that its conversation's name begins with.
fn writer(question: &LabelledQuestion) -> &str {
    let end = question.c.find(|c: char| !c.is_alphabetic()).unwrap_or(question.c.len());
    &question.c[..end]
}

fn truth(fields: &[RequestedPart]) -> [f32; CLASSES] {
    let mut truth = [0.0; CLASSES];
    let sum = 1.0 + FURTHER * (fields.len() - 1) as f32;
    for (at, asked) in fields.iter().enumerate() {
        truth[asked.class()] += if at == 0 { 1.0 } else { FURTHER } / sum;
    }
    truth
}

/// A model of the examples, uncalibrated.
fn fit(examples: &[&Example<'_>]) -> FieldModel {
    let mut frequency: BTreeMap<u32, u32> = BTreeMap::new();
    for place in examples.iter().flat_map(|example| example.words.places()) {
        *frequency.entry(place).or_default() += 1;
    }
    frequency.retain(|_, questions| *questions >= LEAST_QUESTIONS);
    let total = examples.len() as f32;
    let places: Vec<u32> = frequency.keys().copied().collect();
    let idf: Vec<f32> =
        frequency.values().map(|questions| ((1.0 + total) / (1.0 + *questions as f32)).ln() + 1.0).collect();
    let row = |example: &&Example<'_>| FieldModel::row(&places, &idf, &example.words, &example.sentence);
    let rows: Vec<Vec<(usize, f32)>> = examples.iter().map(row).collect();
    let truths: Vec<[f32; CLASSES]> = examples.iter().map(|example| example.truth).collect();
    let dims = examples.first().map_or(0, |example| example.sentence.len());
    let all = std::iter::once(0..CLASSES).collect::<Vec<_>>();
    let weights = descend(&rows, &truths, &all, places.len() + dims + 1, INVERSE_PENALTY);
    FieldModel { places, idf, weights, temperature: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    #[test]
    fn labels_are_read_and_broken_ones_refused() {
        let line =
            r#"{"c": "wd104", "t": 2, "text": "who made it, may I use it?", "fields": ["publisher", "licence"]}"#;
        let questions = parse(&format!("{line}\n\n")).unwrap();
        assert_eq!(questions[0].fields, [RequestedPart::Field(Field::Publisher), RequestedPart::Field(Field::Licence)]);
        assert_eq!(writer(&questions[0]), "wd");
        let truth = truth(&questions[0].fields);
        assert!((truth.iter().sum::<f32>() - 1.0).abs() < 1e-6 && truth[Field::Publisher as usize] > 0.7);
        for broken in [r#"{"c": "a1", "text": "?", "fields": []}"#, r#"{"c": "a1", "text": "?", "fields": ["colour"]}"#]
        {
            assert!(parse(broken).unwrap_err().to_string().contains("line 1"), "{broken}");
        }
        assert!(train(&questions, &[]).unwrap_err().to_string().contains("writers"));
    }
}
