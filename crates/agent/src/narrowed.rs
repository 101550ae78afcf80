//! How the answers of a turn can be narrowed, and the question that tells most: the sixth stage of a turn.

use super::Agent;
use super::found::Found;
use super::model;
use super::scored::Scored;
use super::turn::ReadTurn;
use crate::recommend::{Narrowing, Question, question};
use lakeward_core::error::Result;
use lakeward_core::request::OperationKind;

/// What the answers of a turn can be narrowed by.
pub(super) struct Narrowed {
    /// The fields of records that divide them, the most telling first.
    pub narrowings: Vec<Narrowing>,
    /// The question to ask, should it come to that.
    pub question: Option<Question>,
}

impl Agent<'_> {
    /// What the candidates of a turn can be narrowed by; the model words the question where one is asked for.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn narrowed(&self, turn: ReadTurn<'_>, found: &Found<'_>, scored: &[Scored]) -> Result<Narrowed> {
        let ReadTurn { session, reading, model } = turn;
        let are_records = scored.first().is_some_and(|scored| scored.candidate.dataset.is_record());
        let records =
            scored.iter().map(|scored| &scored.candidate.dataset).filter(|dataset| are_records && dataset.is_record());
        // What is wanted may only rank: of those that meet it there is more to choose from than of the others.
        let meets = |id: &str| {
            let known = found.records.as_ref().and_then(|records| records.get(id));
            known.is_some_and(|(_, _, answer)| answer.relaxed.is_empty())
        };
        let meeting = records.clone().filter(|dataset| meets(dataset.id().as_str())).count();
        let records = records.filter(|dataset| meeting < 2 || meets(dataset.id().as_str()));
        let narrowings = Narrowing::of(records, self.index.facets()?);
        let candidates = scored.iter().map(|scored| &scored.candidate);
        let was_asked = |question: &str| session.questions().any(|asked| asked == question);
        let operation = &reading.signals.operation;
        let (known, least_bits) = ((was_asked, reading.working.is_some()), self.ranking.operations.least_bits);
        let question = question::best(candidates, operation, &narrowings, known, least_bits);
        let asking = model.filter(|_| operation.label == OperationKind::Clarify);
        let question = match (asking, question) {
            (Some(model), Some(question)) => {
                let text = model::reworded((model, self.config.llm.share), &reading.request.text, &question);
                let computed = if question.text == text.as_str() { question.computed } else { Some(question.text) };
                Some(Question { text: text.into(), computed, ..question })
            }
            (_, question) => question,
        };
        Ok(Narrowed { narrowings, question })
    }
}
