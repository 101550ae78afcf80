//! One turn, a straight line of stages. Each takes what the stages before it gave, changes none of it, and returns a value of
//! its own:
//!
//! 1. [`Reading`]: what the request says in its session, and which table it is about ([`super::reading`], [`super::other_table`]);
//! 2. [`Found`]: what the searches find ([`super::found`]);
//! 3. [`super::weighed::Weighed`]: the candidates with their scores ([`super::weighed`]);
//! 4. [`super::start::Start`]: the table that operations start from, and [`super::start::Partners`]: what goes with it;
//! 5. [`super::read_operations::Requested`]: the operation that the words ask for, its SQL tried;
//! 6. [`super::narrowed::Narrowed`]: what the answers can be narrowed by, and the question that may be asked;
//! 7. [`super::ranked_operations::RankedOperations`]: all operations, each with its probability;
//! 8. [`Recommendation`]: the answer ([`super::answer`]).
//!
//! A turn that takes steps back, or speaks of what was shown, is answered after the first stage ([`super::undo`], [`super::acts`]).
//! Only [`Agent::answer`] and those two change the session.

use super::found::Found;
use super::reading::Reading;
use super::scored::Scored;
use super::trace::{ModelUse, Provenance};
use super::{Agent, Request};
use crate::agentic::RunCache;
use crate::recommend::{Recommendation, Utility};
use crate::session::{Retrieval, Session};
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::request::Act;
use lakeward_models::llm::{LanguageModel, Limits};
use lakeward_search::cite::{Checked, Gate};

/// Words of a turn at most that only thanks or chats.
const MOST_THANKS: usize = 4;

/// An answer, and what led to it.
pub(super) type Turned = (Checked<Recommendation>, Provenance);

/// A turn that was read.
#[derive(Clone, Copy)]
pub(super) struct ReadTurn<'t> {
    /// The session that it is read in.
    pub session: &'t Session,
    /// What it says there.
    pub reading: &'t Reading<'t>,
    /// The model that may be asked.
    pub model: Option<&'t LanguageModel<'t>>,
}

/// What the stages after the reading come to.
struct Recommended {
    turned: Turned,
    /// What is remembered of the search for records, where there was one.
    retrieval: Option<Retrieval>,
}

impl Agent<'_> {
    /// Answers a request and adds the turn to the session, which is not written.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for a request without words and table; [`lakeward_core::Error::UnknownTable`] and
    /// [`lakeward_core::Error::UnknownColumn`]; whatever reading the working table and the index reports.
    pub fn turn(&self, session: &mut Session, request: &Request) -> Result<Checked<Recommendation>> {
        self.traced_turn(session, request).map(|(recommendation, _)| recommendation)
    }

    /// The same with what led to the answer, for [`super::trace::TurnTrace`].
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub fn traced_turn(&self, session: &mut Session, request: &Request) -> Result<Turned> {
        self.answer(session, request, self.runs.as_ref())
    }

    /// The answer to a request, with what led to it. Runs of the search are taken from and kept in `runs`; what is traced asks
    /// anew, so that its trace has every question.
    pub(super) fn answer(&self, session: &mut Session, request: &Request, runs: Option<&RunCache>) -> Result<Turned> {
        let _turn = self.searches.begin_turn();
        let model =
            self.model.map(|access| LanguageModel::new(access.chat, access.prompts, self.limits(), access.cache));
        let model = model.as_ref();
        let read = self.read(session, request, model)?;
        let reading = match self.continued_proposal(session, &read, request, model)? {
            Some((at_hand, over)) => {
                *session = at_hand;
                over
            }
            None => read,
        }
        .or_started_over()
        .or_thanked(&session.demands)
        .or_undone(session.pending().len());
        if let Some(answered) = self.answer_without_search(session, &reading)? {
            return Ok(answered);
        }
        reading.turned_down.iter().for_each(|id| session.reject(id));
        let anew = self.is_about_other(session, &reading)?.then(|| session.without_table());
        let reading = match &anew {
            Some(anew) => self.read_about_other(anew, request, &session.demands)?,
            None => reading,
        };
        let turn = ReadTurn { session: anew.as_ref().unwrap_or(session), reading: &reading, model };
        let recommended = self.recommend(turn, runs)?;
        if let Some((at_hand, over)) = self.kept_proposal(session, (&reading, request), &recommended.turned.0)? {
            *session = at_hand;
            let Recommended { turned, retrieval } =
                self.recommend(ReadTurn { session, reading: &over, model: None }, runs)?;
            over.push(session, &turned.0);
            session.retrievals.extend(retrieval);
            return Ok(turned);
        }
        let Recommended { turned, retrieval } = recommended;
        if let (Some(_), Some(named)) = (&request.table, &reading.working) {
            session.use_table(named.clone());
        }
        reading.push(session, &turned.0);
        session.retrievals.extend(retrieval);
        Ok(turned)
    }

    /// The answer to a turn that only takes steps back or makes them again, or speaks of what was shown; none for any other.
    fn answer_without_search(&self, session: &mut Session, reading: &Reading<'_>) -> Result<Option<Turned>> {
        if reading.over.is_none() && reading.starts_over() {
            let forgotten = vec![message!("what was asked for is forgotten")];
            return self.answer_with_notes(session, reading, forgotten).map(Some);
        }
        // "Thanks" asks for nothing.
        let is_short = reading.request.text.split_whitespace().count() <= MOST_THANKS;
        let chats = reading.signals.acts == [Act::Chat] && reading.turn.spans.is_empty() && is_short;
        if chats && reading.request.table.is_none() && !session.remembered().is_empty() {
            return self.answer_with_notes(session, reading, Vec::new()).map(Some);
        }
        let pending = session.pending().len();
        match reading.over.as_ref().and_then(|over| over.moves(pending)) {
            Some((act, steps)) => self.move_back(session, reading, act, steps).map(Some),
            None => self.answer_shown(session, reading),
        }
    }

    /// The stages after the reading.
    fn recommend(&self, turn: ReadTurn<'_>, runs: Option<&RunCache>) -> Result<Recommended> {
        // Where the plan is written nothing is left to be found by a model.
        let searching = ReadTurn { model: turn.model.filter(|_| !turn.reading.is_settled()), ..turn };
        let found = self.find(searching, runs)?;
        let weighed = self.weigh_found(searching, &found)?;
        let start = self.start(turn, &weighed)?;
        let partners = self.partners(turn.reading, &start)?;
        let requested = self.requested(turn, &start, &partners)?;
        let narrowed = self.narrowed(turn, &found, &weighed.scored)?;
        let ranked = self.ranked_operations(turn, (&start, &partners), &requested, narrowed.question.as_ref())?;
        let answer = self.recommendation(turn, (&found, &weighed.scored), narrowed.narrowings, ranked)?;
        let answer = Gate::new(self.index).admit(answer)?;
        let Found { records, by_loop, .. } = found;
        let retrieval = records.map(|records| records.logged(turn.session.next_turn(), answer.tables.len()));
        let run = by_loop.map(|by_loop| by_loop.run.trace);
        let provenance = Provenance { lists: weighed.lists, run, model: turn.model.map(ModelUse::of) };
        Ok(Recommended { turned: (answer, provenance), retrieval })
    }

    /// U(T, O) of every candidate, once for each operation with it: what the first turn of a session ranks by. Candidates
    /// are in the order of their ids.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub fn weigh(&self, request: &Request) -> Result<Vec<(String, Vec<Utility>)>> {
        let _turn = self.searches.begin_turn();
        let session = Session::new("weigh", "");
        let reading = self.read(&session, request, None)?;
        let records = self.record_request(&session, &reading, &[])?;
        let records = records.map(|request| request.find(self.index, self.embedder, &self.ranking)).transpose()?;
        let found = self.find_with(&session, &reading, None, None, records)?;
        let weighed = self.weigh_found(ReadTurn { session: &session, reading: &reading, model: None }, &found)?;
        let utilities = |scored: &Scored| scored.utilities.iter().map(|(_, utility)| *utility).collect();
        let mut all: Vec<(String, Vec<Utility>)> =
            weighed.scored.iter().map(|scored| (scored.id().to_string(), utilities(scored))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }

    /// What the model may cost in a turn; a replay is bounded by what was recorded.
    fn limits(&self) -> Limits {
        if self.replayed.is_some() { Limits::NONE } else { self.config.llm.limits() }
    }
}
