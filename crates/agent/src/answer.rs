//! The answer of a turn, put together of what its stages found: the last one.

use super::Agent;
use super::found::Found;
use super::ranked_operations::RankedOperations;
use super::reading::Reading;
use super::scored::{Scored, ranked_table};
use super::turn::ReadTurn;
use crate::recommend::{Narrowing, Recommendation, Sentence, summary};
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Demanded, Input, topic_words};
use lakeward_core::text::{shown as shown_text, words};
use lakeward_models::embed::EmbedderExt;
use lakeward_models::languages::is_readable;
use lakeward_models::llm::{LanguageModel, Unanswered};
use lakeward_search::SearchAnswer;
use lakeward_search::cite::Gate;

impl Agent<'_> {
    /// The answer of a turn: the tables that are shown, the operations, what was not found or not understood, all of it in words.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) fn recommendation(
        &self,
        turn: ReadTurn<'_>,
        (found, scored): (&Found<'_>, &[Scored]),
        narrowings: Vec<Narrowing>,
        ranked: RankedOperations,
    ) -> Result<Recommendation> {
        let reading = turn.reading;
        let is_first = turn.session.remembered().is_empty() && reading.query.is_none();
        let unread = self.unread_words(reading, found, is_first)?;
        let is_read = unread.is_empty();
        let shown = if is_read { shown(reading, scored) } else { 0 };
        // A later turn or a table at hand says what is meant besides the words; without a topic there is nothing to be found yet.
        let is_searched =
            is_first && reading.answered.is_none() && topic_words(&reading.signals.demands).next().is_some();
        let answer = Recommendation {
            tables: scored.iter().take(shown).map(ranked_table).collect(),
            operations: if is_read { ranked.operations } else { Vec::new() },
            nothing_found: !is_read || is_searched && found.records.is_none() && !found.texts.may_serve(),
            narrowings,
            ..reading.empty_answer(&self.ranking.turn)
        };
        // Of a plan over the table at hand the operation says all.
        let (summary, struck) = if reading.is_settled() { (Vec::new(), 0) } else { self.summary(turn, &answer) };
        // What is done with the table at hand needs no other one.
        let is_done = answer.operations.first().is_some_and(|first| first.requested);
        let not_found = (scored.is_empty() && is_read && !is_done).then(|| match reading.hidden.is_empty() {
            true => message!("no table of the lake was found for this"),
            false => message!("there are no more"),
        });
        let unread = (!is_read).then(|| {
            message!(
                "neither the lake nor the reader knows a word of this: {}; it reads English and, word by word, German, French, Spanish and Chinese",
                unread.join(", ")
            )
        });
        let struck = (struck > 0).then(|| {
            message!("{} of the model had no evidence and was left out", Message::counted(struck as u64, "sentence"))
        });
        let said = reading.notes.iter().cloned().chain(ranked.notes).chain(not_found).chain(unread).chain(struck);
        let troubles = self.troubles(turn.model, found, answer.tables.len())?;
        Ok(Recommendation { summary, notes: said.chain(troubles).collect(), ..answer })
    }

    /// The answer in words, by the model where it can, and how many sentences of the model had no evidence.
    fn summary(&self, turn: ReadTurn<'_>, answer: &Recommendation) -> (Vec<Sentence>, usize) {
        let ReadTurn { session, reading, model } = turn;
        let described = |id: &str| {
            let dataset = self.index.get(id).ok().flatten().and_then(|table| self.index.dataset(table).ok());
            let metadata = dataset.as_ref().and_then(|dataset| dataset.metadata());
            metadata.and_then(|metadata| metadata.description.clone()).unwrap_or_default()
        };
        let said = (reading.request.text.as_str(), &*self.window(session));
        let model = model.filter(|_| !answer.tables.is_empty() && !reading.request.text.trim().is_empty());
        let written =
            model.and_then(|model| summary::by_model((model, self.config.llm.share), said, answer, &described));
        written.unwrap_or_else(|| (summary::by_template(answer, reading.working.is_some()), 0))
    }

    /// What kept the searches and the model from helping, and what the search for records left out; `shown` records are shown.
    fn troubles(&self, model: Option<&LanguageModel<'_>>, found: &Found<'_>, shown: usize) -> Result<Vec<Message>> {
        let of_model = model.and_then(LanguageModel::trouble).map(|(of, trouble)| -> Result<Message> {
            let trouble = match trouble {
                // It quotes what the model answered.
                Unanswered::Contract(_) => Gate::new(self.index).text(&trouble.to_string(), &[])?,
                other => other.to_string(),
            };
            Ok(message!("the language model did not help with {}: {}", of.purpose(), trouble))
        });
        let of_meaning = self.embedder.failure();
        let of_meaning = of_meaning
            .map(|trouble| message!("found by words and values only, not by meaning: {}", trouble.to_string()));
        let of_records = found.records.as_ref().and_then(|records| records.note(shown));
        let of_loop = found.by_loop.as_ref().and_then(|by_loop| by_loop.note()).map(Message::from);
        let all =
            [of_model.transpose()?, of_meaning, of_records, of_loop, found.tasks.trouble.clone().map(Message::from)];
        Ok(all.into_iter().flatten().collect())
    }

    /// The words of a request, quoted, where neither the lake nor the reader knows any of them: then whatever is found
    /// is arbitrary. What a remote embedding model knows is not known here.
    fn unread_words(&self, reading: &Reading<'_>, found: &Found<'_>, is_first: bool) -> Result<Vec<String>> {
        const MOST: usize = 8;
        // The words of a file outside the lake are in no index.
        let is_of_lake = reading.working.as_ref().is_none_or(|input| !matches!(input, Input::File(_)));
        // Words that are read as one of a column's values are nearly that: "Brugge" for Bruges.
        let has_values = reading.turn.spans.iter().any(|span| span.value.is_some());
        if !is_of_lake || has_values || (is_first && found.texts.any(says_words)) {
            return Ok(Vec::new());
        }
        let text = reading.request.text.as_str();
        let words: Vec<&str> = words(text).collect();
        let words = if words.is_empty() { vec![text.trim()] } else { words };
        // What holds from turns before says nothing of this one.
        let is_grounded = match is_first {
            true => reading.signals.demands.iter().any(|demand| demand.value != Demanded::Words),
            false => text.contains(|letter: char| letter.is_ascii_digit()),
        };
        let is_read = self.embedder.as_remote().is_some()
            || is_grounded
            || reading.translated.is_some()
            || words[0].is_empty()
            || words.iter().any(|word| is_readable(word))
            || !self.index.lexical_query(text)?.best_of_all(1)?.is_empty();
        Ok(match is_read {
            true => Vec::new(),
            false => words.into_iter().take(MOST).map(|word| format!("`{}`", shown_text(word, 40))).collect(),
        })
    }
}

/// Whether an answer has words of the request.
fn says_words(answer: &SearchAnswer) -> bool {
    answer.features.coverage > 0.0 || answer.features.coverage_of_bare > 0.0
}

/// How many tables a turn shows: as many as the caller or the conversation asks for, else few records or some tables.
fn shown(reading: &Reading<'_>, scored: &[Scored]) -> usize {
    const RECORDS: usize = 3;
    const TABLES: usize = 10;
    let are_records = scored.first().is_some_and(|scored| scored.candidate.dataset.is_record());
    match (reading.request.k, reading.signals.answers) {
        (0, Some(asked)) => asked.max(1),
        (0, None) if are_records => RECORDS,
        (0, None) => TABLES,
        (k, _) => k,
    }
}
