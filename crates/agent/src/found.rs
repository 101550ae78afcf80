//! What the searches of a turn find: the second stage of a turn. Each search runs once.

use super::Agent;
use super::catalogue_demands::{RecordRequest, RecordsFound};
use super::code_lists::Explained;
use super::loop_search::LoopFound;
use super::reading::Reading;
use super::task::TaskFound;
use super::turn::ReadTurn;
use crate::agentic::RunCache;
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::in_role;
use lakeward_core::respect::Respect;
use lakeward_index::TableRef;
use lakeward_search::SearchedText;
use lakeward_search::candidates::{self, Grains, TableAnswers, TableRequest, TextAnswers, TextRequest};

/// Best answers among which lists of codes are looked for.
const LISTS: usize = 3;
/// Answers asked of each search.
pub(super) const DEPTH: usize = 100;

/// What the searches found for a request.
pub(super) struct Found<'r> {
    /// The tables that the texts find.
    pub(super) texts: TextAnswers,
    /// Those that go with the table at hand.
    pub(super) table: Option<TableAnswers<'r>>,
    /// What a row should stand for.
    pub(super) grains: Grains,
    /// Records that meet what is wanted; they are candidates whatever else finds them.
    pub(super) records: Option<RecordsFound>,
    /// Tables whose codes lists among the best answers explain.
    pub(super) explained: Vec<Explained>,
    /// Tables that served tasks like the request.
    pub(super) tasks: TaskFound,
    /// How the words were searched for, where there are any.
    pub(super) by_loop: Option<LoopFound>,
}

impl Agent<'_> {
    /// Searches for what a request says, with the loop where that finds more.
    ///
    /// # Errors
    /// Whatever the index reports.
    pub(super) fn find<'r>(&self, turn: ReadTurn<'r>, runs: Option<&RunCache>) -> Result<Found<'r>> {
        let ReadTurn { session, reading, model } = turn;
        // Most turns search for nothing but the request, so that both searches can run at once.
        let request = self.record_request(session, reading, &[])?;
        let (index, embedder, weights) = (self.index, self.embedder, &self.ranking);
        let find = |request: RecordRequest<'_>| request.find(index, embedder, weights);
        let (own, records) = self.searched_beside(&reading.words, || request.map(find).transpose());
        let (own, mut records) = (own?, records?);
        let by_loop = own.as_ref().map(|own| self.loop_search(session, reading, own, (model, runs))).transpose()?;
        if let Some(others) = self.texts(reading, by_loop.as_ref()).get(1..).filter(|others| !others.is_empty()) {
            records = self.record_request(session, reading, others)?.map(find).transpose()?;
        }
        self.find_with(session, reading, own, by_loop, records)
    }

    /// What is searched for, each text with how much it counts.
    fn texts(&self, reading: &Reading<'_>, by_loop: Option<&LoopFound>) -> Vec<(String, f64)> {
        match by_loop {
            Some(found) => found.texts(&reading.words, self.config.llm.weight_of_plans(), &self.ranking.turn),
            None => vec![(reading.words.clone(), 1.0)],
        }
    }

    /// The same where `own` is what a plain search found, `by_loop` what the loop found, and `records` what meets the demands.
    ///
    /// # Errors
    /// Whatever the index reports.
    pub(super) fn find_with<'r>(
        &self,
        session: &Session,
        reading: &'r Reading<'_>,
        own: Option<SearchedText>,
        by_loop: Option<LoopFound>,
        records: Option<RecordsFound>,
    ) -> Result<Found<'r>> {
        let tasks = self.tasks_like(&reading.words);
        let texts = self.texts(reading, by_loop.as_ref());
        let mut proposed: Vec<TableRef> = by_loop.as_ref().map(|found| self.proposed(found)).unwrap_or_default();
        for answer in records.iter().flat_map(|found| &found.answers.answers) {
            proposed.extend(self.index.get(&answer.table)?);
        }
        let explained = match reading.query {
            Some(_) => Vec::new(),
            None => {
                let best = own.iter().flat_map(|own| own.answers.iter()).take(LISTS);
                let best = best.map(|answer| self.index.find(&answer.table)).collect::<Result<Vec<_>>>()?;
                self.explained_tables(session, &reading.words, &best)?
            }
        };
        proposed.extend(explained.iter().map(|explained| explained.table));
        if records.is_some() || !explained.is_empty() {
            proposed.sort_unstable();
            proposed.dedup();
        }
        let by_loop_searched = by_loop.iter().flat_map(|found| &found.searched);
        let searched: Vec<&SearchedText> = own.iter().chain(by_loop_searched).collect();
        let texts: Vec<(&str, f64)> = texts.iter().map(|(text, weight)| (text.as_str(), *weight)).collect();
        let request = TextRequest {
            texts: &texts,
            searched: &searched,
            proposed: &proposed,
            supported: &tasks.gains(),
            depth: DEPTH,
        };
        let table = reading.query.as_ref().map(|query| TableRequest { query, column: reading.column, depth: DEPTH });
        let (texts, table) = candidates::find(self.index, self.lake, self.embedder, (&request, table), &self.ranking)?;
        let grains = Grains::of(self.index, self.embedder, in_role(&reading.signals.demands, &Respect::Grain))?;
        Ok(Found { texts, table, grains, records, explained, tasks, by_loop })
    }
}
