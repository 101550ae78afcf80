//! One turn, a straight line of stages that nothing changes afterwards: what the request says ([`super::reading`]), what the searches
//! find ([`super::found`]), the candidates with their scores ([`super::weighed`]), the recommendation. Then the session is written.

use super::acts::asks_to_change_files;
use super::doubts::{carried_out_in_doubt, in_doubt_without};
use super::found::Found;
use super::known_columns::AtHand;
use super::model;
use super::plan_reading::PlanReading;
use super::prediction::Joining;
use super::readers::{TurnReader, TurnToRead};
use super::reading::Reading;
use super::scored::{Scored, best_for, best_table, ranked_table, supplements};
use super::trace::{ModelUse, Provenance};
use super::weighed::Weighed;
use super::{Agent, Request};
use crate::agentic::RunCache;
use crate::recommend::likelihood::{Basis, to_probabilities};
use crate::recommend::next_operations::{self, Base, Situation};
use crate::recommend::{Narrowing, RankedOperation, Recommendation, Utility, question, summary};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Demanded, Input, Label, OperationKind, topic_words};
use lakeward_core::text::{counted, shown as shown_text, words};
use lakeward_models::embed::EmbedderExt;
use lakeward_models::languages::is_readable;
use lakeward_models::llm::{LanguageModel, Limits, Unanswered};
use lakeward_reading::reader::{ALL_STEPS, Act, Control};
use lakeward_search::Candidate;
use lakeward_search::cite::{Checked, Gate};

/// An answer, and what led to it.
pub(super) type Turned = (Checked<Recommendation>, Provenance);

/// A request that is this likely to combine tables is not read as one about the rows of the table at hand.
const SURE_TO_COMBINE: f64 = 0.8;
/// Operations whose SQL is shown at once.
const WITH_SQL: usize = 2;

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
        let mut reading = self.read(session, request, model)?;
        if let Some((at_hand, over)) = self.continued_proposal(session, &reading, request, model)? {
            reading = over;
            *session = at_hand;
            let table = session.working().map(|input| input.to_string()).unwrap_or_default();
            reading.notes.push(format!("this continues the plan that was proposed over {table} and has not been run"));
        }
        if asks_to_change_files(&reading.request.text) {
            reading.notes.push("files are never changed: rows are only left out of what is shown".into());
        }
        if reading.over.is_none() && Control::of_text(&reading.request.text) == Some(Control::StartOver) {
            reading.signals.gone = std::mem::take(&mut reading.signals.demands);
            let forgotten = vec!["what was asked for is forgotten".to_string()];
            return self.answer_with_notes(session, &reading, forgotten);
        }
        if let Some((act, steps)) = reading.over.as_ref().and_then(|over| Some((over.only_moves()?, over.turn.steps())))
        {
            return self.move_back(session, reading, act, steps);
        }
        if reading.over.as_ref().is_some_and(PlanReading::only_rejects) && !session.pending().is_empty() {
            return self.move_back(session, reading, Act::Undo, 1);
        }
        if reading.over.as_ref().is_some_and(PlanReading::only_drops_pending) {
            let pending = session.pending().len();
            return self.move_back(session, reading, Act::Undo, pending);
        }
        if let Some(answer) = self.answer_shown(session, &reading)? {
            return Ok(answer);
        }
        reading.turned_down.iter().for_each(|id| session.reject(id));
        let anew = self.is_about_other(session, &reading)?.then(|| session.without_table());
        let reading = match &anew {
            Some(anew) => self.read_about_other(anew, request, &session.demands)?,
            None => reading,
        };
        let before = anew.as_ref().unwrap_or(session);
        // Where the plan is written nothing is left to be found by a model.
        let searching = model.filter(|_| !reading.over.as_ref().is_some_and(PlanReading::is_settled));
        let found = self.find(before, &reading, searching, runs)?;
        let weighed = self.weigh_found(before, &reading, &found, searching)?;
        let recommendation = self.recommend(before, &reading, &found, &weighed, model)?;
        let recommendation = Gate::new(self.index).admit(recommendation)?;
        let Found { records, by_loop, .. } = found;
        let retrieval = records.map(|records| records.logged(session.next_turn(), recommendation.tables.len()));
        if let (Some(_), Some(named)) = (&request.table, &reading.working) {
            session.use_table(named.clone());
        }
        reading.push(session, &recommendation);
        session.retrievals.extend(retrieval);
        let run = by_loop.map(|by_loop| by_loop.run.trace);
        Ok((recommendation, Provenance { lists: weighed.lists, run, model: model.map(ModelUse::of) }))
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
        let weighed = self.weigh_found(&session, &reading, &found, None)?;
        let utilities = |scored: &Scored| scored.utilities.iter().map(|(_, utility)| *utility).collect();
        let mut all: Vec<(String, Vec<Utility>)> =
            weighed.scored.iter().map(|scored| (scored.id().to_string(), utilities(scored))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }

    /// The answer to a turn that only takes steps back or makes them again: nothing is searched for, and nothing else is proposed.
    fn move_back(&self, session: &mut Session, reading: Reading<'_>, act: Act, steps: usize) -> Result<Turned> {
        let mut notes = Vec::new();
        let pending = if act == Act::Undo { session.pending().len().min(steps) } else { 0 };
        if pending > 0 {
            notes.push("what was asked for and not carried out is dropped".into());
        }
        let before = (pending > 0 && pending == steps).then(|| session.plan_before(steps)).flatten();
        for _ in pending..steps {
            let (step, did, nothing) = match act {
                Act::Redo => (session.redo(), "is made again", "there is nothing more to make again"),
                _ => (session.undo(), "is taken back", "there is nothing more to take back"),
            };
            let Some(step) = step else {
                if steps < ALL_STEPS || notes.is_empty() {
                    notes.push(nothing.into());
                }
                break;
            };
            notes.push(format!("step {} {did}", step.number));
        }
        notes.extend(in_doubt_without(session, pending).map(|doubt| format!("warning: {}", doubt.what)));
        match session.working() {
            Some(Input::Step(number)) => {
                let step = session.step(number);
                notes.extend(
                    step.map(|step| format!("the working table is now step {number}: {}", counted(step.rows, "row"))),
                );
            }
            Some(input) => notes.push(format!("the working table is now {input}")),
            None => {}
        }
        let current = session.plan();
        let operations = match (before, current) {
            (Some(before), Some(current)) if before != current => {
                let kind = before.kind();
                let operation = self.changed_plan(session, &current, before, kind, Vec::new())?;
                vec![RankedOperation { score: 1.0, asked: 1.0, requested: true, ..operation }]
            }
            _ => Vec::new(),
        };
        self.answer_with_operations(session, &reading, operations, notes)
    }

    fn recommend(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        found: &Found<'_>,
        weighed: &Weighed,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Recommendation> {
        let Reading { signals, query, working, .. } = reading;
        let Weighed { spec, scored, pair, .. } = weighed;
        let mut notes = reading.notes.clone();
        let first_turn = session.remembered().is_empty() && query.is_none();
        let base_query = query.as_ref().or(pair.as_ref().map(|(base, _)| base));
        let base = match (working, base_query, best_table(scored).and_then(|best| best.candidate.dataset.table())) {
            (Some(input), Some(query), _) => Some((session.plan_of(input), &*query.entry)),
            (None, Some(query), _) => Some((Plan::of(Input::Table(query.entry.id.to_string())), &*query.entry)),
            (_, None, Some(best)) => {
                let own = Plan::of(Input::Table(best.id.to_string()));
                let found = weighed.over_first.as_ref().map(PlanReading::found_rows);
                Some((found.filter(|rows| rows.relation.source == own.relation.source).unwrap_or(own), best))
            }
            _ => None,
        };
        let base = base.map(|(plan, entry)| Base { plan, entry });
        let partners = weighed.partners();
        let text = reading.request.text.as_str();
        // The best table stands for one at hand; what cannot be read of it proposes nothing.
        let asked = model.filter(|_| reading.by_model && signals.operation.label.needs_table());
        let by_model = match (&weighed.over_first, &base, asked) {
            (Some(_), Some(base), Some(model)) => {
                let asked = TurnToRead { session, text, previous: "", plan: Some(&base.plan), at_hand: None };
                model.read(self, &asked)?.and_then(|read| read.over)
            }
            _ => None,
        };
        let over = reading.over.as_ref().or(by_model.as_ref()).or(weighed.over_first.as_ref());
        let unclear = working.is_some() && over.is_some_and(PlanReading::is_unclear);
        let to_add = self.columns_to_add(&reading.requested_columns, base_query);
        let at_grain = match base_query.filter(|_| signals.operation.label == OperationKind::Join) {
            Some(table) => self.at_grain(text, &reading.requested_columns, table, partners)?,
            None => None,
        };
        let partner = at_grain.as_ref().or(best_for(OperationKind::Join, partners, &to_add, &self.ranking));
        let supplements = supplements(partners, &to_add, &reading.request.text, &self.ranking);
        let found_input = base.as_ref().map(|base| base.plan.relation.source.clone());
        let input = working.as_ref().or(found_input.as_ref());
        let at_hand = input.zip(base_query).map(|(input, table)| AtHand { input, table });
        let lacks = working.is_none() && best_table(scored).is_some_and(Scored::lacks_columns);
        // Where the words name a grain, only the partner that has it.
        let has_grain = |candidate: &Candidate| {
            let known = partners.iter().filter(|scored| scored.id() == candidate.dataset.id().as_str());
            known.map(|scored| Scored { candidate: candidate.clone(), ..scored.clone() }).collect::<Vec<_>>()
        };
        let only = at_grain.as_ref().map(has_grain);
        let requested_plan = match over {
            Some(over) => {
                let partners = only.as_deref().unwrap_or(partners);
                let requested_plan = self.requested_plan(session, text, over, (partners, &supplements), at_hand)?;
                requested_plan
                    .or_else(|| over.rows_counted().filter(|_| signals.operation.label == OperationKind::Filter))
            }
            None => None,
        };
        let lost = requested_plan.as_ref().is_some_and(|plan| !plan.not_applied.is_empty());
        let mut requested = match (over, requested_plan) {
            (Some(over), Some(requested_plan)) => Some(self.requested_operation(session, over, requested_plan)?),
            _ => None,
        };
        if let (Some(requested), Some(base)) = (requested.as_mut().filter(|_| reading.is_about_other), &base) {
            let what = format!("it is taken to be about `{}` and not about the table before", base.entry.id);
            requested.preconditions.insert(0, next_operations::unmet(what));
        }
        // Without a table at hand the words may speak of what is looked for: only what can be done with the best table is proposed, and
        // nothing where the request is too vague.
        let kind = &signals.operation;
        // What corrects the plan that stands, or has it over another edition, combines nothing with it.
        let corrects = over.is_some_and(|over| over.turn.has(Act::Correct) || over.is_over_other_rows());
        let requested = requested.filter(|requested| {
            let combines =
                !corrects && kind.label.combines() && kind.confidence >= SURE_TO_COMBINE && !requested.kind.combines();
            match working {
                Some(_) => !combines,
                None if lacks && requested.kind == OperationKind::Join => requested.runnable.is_some(),
                None if reading.by_model || is_of_kind(requested.kind, kind.label) => requested.runnable.is_some(),
                // What the columns explain is asked for, whatever operation the words look like.
                None => requested.runnable.is_some() && !combines && !requested.kind.combines(),
            }
        });
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
        let mut question = question::best(candidates, &signals.operation, &narrowings, (was_asked, working.is_some()));
        if let (Some(model), Some(question), OperationKind::Clarify) = (model, &mut question, signals.operation.label) {
            let reworded = model::reworded((model, self.config.llm.share), &reading.request.text, question);
            if reworded != question.text {
                question.computed = Some(std::mem::replace(&mut question.text, reworded));
            }
        }
        let record = scored.first().filter(|scored| scored.candidate.dataset.is_record()).map(Scored::id);
        let weights = &self.ranking;
        let situation = Situation {
            signals,
            text,
            requested_columns: &reading.requested_columns,
            base,
            is_at_hand: working.is_some(),
            record,
            requested,
            is_over_other_rows: over.is_some_and(PlanReading::is_over_other_rows),
            unclear,
            partner,
            supplements,
            question,
            weights,
        };
        let mut operations = next_operations::rank(&situation);
        let mut is_looked_up = false;
        if let (Some(base), Some(table)) = (&situation.base, base_query) {
            let requested = situation.requested.as_ref();
            let is_surely_join = kind.label == OperationKind::Join && kind.confidence >= SURE_TO_COMBINE;
            let is_guess = (is_surely_join || lacks)
                && at_grain.is_none()
                && !requested.is_some_and(|requested| requested.kind.combines());
            let joining = Joining { base, table, is_at_hand: working.is_some(), requested, partners, is_guess };
            let turns = (over.map_or(&reading.turn, |over| &over.turn), &reading.turn);
            let (said, was_put_first) = self.put_joins(session, (signals, text), &joining, turns, &mut operations)?;
            notes.extend(said);
            is_looked_up = was_put_first;
        }
        if over.is_some() {
            // What is asked for of the table and could not be read is guessed.
            let guessed = |operation: &&mut RankedOperation| {
                let is_read = operation.kind == OperationKind::Join && at_grain.is_some();
                !operation.requested && !is_read && operation.kind == kind.label && operation.kind.combines()
            };
            for operation in operations.iter_mut().filter(guessed) {
                let what = "which table and columns is not read from the words: this one fits best";
                operation.preconditions.push(next_operations::unmet(what));
            }
        }
        let basis = match operations.first().filter(|first| first.requested) {
            Some(_) if is_looked_up => Basis::Named,
            Some(_) => {
                let certainty = over.map_or(0.0, |over| self.certainty(over));
                let anew = over.is_some_and(|over| over.turn.has(Act::New));
                let doubt = carried_out_in_doubt(session).filter(|_| !anew);
                Basis::Read { certainty, lost, standing: doubt.map_or(1.0, |doubt| doubt.likelihood) }
            }
            None => Basis::Fits,
        };
        to_probabilities(&mut operations, basis);
        if let (Basis::Read { .. }, Some(over)) = (basis, over) {
            let first = operations.first();
            let likeliest = first.map_or(0.0, |first| first.score);
            let mut others = self.other_operations(session, over, first.and_then(|first| first.runnable.as_ref()))?;
            others.iter_mut().for_each(|other| other.score = other.score.min(likeliest));
            operations.extend(others);
            if let Some((_, rest)) = operations.split_first_mut() {
                rest.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
        }
        for operation in operations.iter_mut().take(WITH_SQL) {
            let (Some(runnable), None) = (&operation.runnable, &operation.sql) else { continue };
            match self.sql(session, runnable) {
                Ok(sql) => operation.sql = Some(sql),
                Err(error) => {
                    notes.push(format!("{} cannot be run as it stands: {error}", operation.kind.name()));
                    operation.runnable = None;
                }
            }
        }
        if scored.is_empty() {
            let more =
                if reading.hidden.is_empty() { "no table of the lake was found for this" } else { "there are no more" };
            notes.push(more.into());
        }
        let unread = match working {
            Some(_) => Vec::new(),
            None if first_turn && found.texts.any(says_words) => Vec::new(),
            None => self.unread_words(reading, first_turn)?,
        };
        let shown = if unread.is_empty() { shown(reading, scored) } else { 0 };
        let tables: Vec<_> = scored.iter().take(shown).map(ranked_table).collect();
        // A later turn or a table at hand says what is meant besides the words; without a topic there is nothing to be found yet.
        let first = first_turn && reading.answered.is_none();
        let first = first && topic_words(&signals.demands).next().is_some();
        let nothing_found = first && found.records.is_none() && !found.texts.may_serve() || !unread.is_empty();
        if !unread.is_empty() {
            notes.push(format!(
                "neither the lake nor the reader knows a word of this: {}; it reads English and, word by word, German, French, Spanish and Chinese",
                unread.join(", ")
            ));
            operations.clear();
        }
        let (signals, spec) = (signals.clone(), spec.clone());
        let mut answer = Recommendation {
            signals,
            spec,
            tables,
            operations,
            nothing_found,
            summary: Vec::new(),
            narrowings,
            facts: Vec::new(),
            carry_out: false,
            notes: Vec::new(),
        };
        // Of a plan over the table at hand the operation says all.
        if !reading.over.as_ref().is_some_and(PlanReading::is_settled) {
            notes.extend(self.summarise(session, reading, model, &mut answer));
        }
        if let Some((of, trouble)) = model.and_then(LanguageModel::trouble) {
            let trouble = match trouble {
                // It quotes what the model answered.
                Unanswered::Contract(_) => Gate::new(self.index).text(&trouble.to_string(), &[])?,
                other => other.to_string(),
            };
            notes.push(format!("the language model did not help with {}: {trouble}", of.purpose()));
        }
        if let Some(trouble) = self.embedder.failure() {
            notes.push(format!("found by words and values only, not by meaning: {trouble}"));
        }
        notes.extend(found.records.as_ref().and_then(|records| records.note(answer.tables.len())));
        notes.extend(found.by_loop.as_ref().and_then(|by_loop| by_loop.note()));
        notes.extend(found.tasks.trouble.clone());
        answer.notes = notes;
        Ok(answer)
    }

    /// Puts the answer in words, by the model where it can; what of its text had no evidence is said.
    fn summarise(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        model: Option<&LanguageModel<'_>>,
        answer: &mut Recommendation,
    ) -> Option<String> {
        let described = |id: &str| {
            let dataset = self.index.get(id).ok().flatten().and_then(|table| self.index.dataset(table).ok());
            let metadata = dataset.as_ref().and_then(|dataset| dataset.metadata());
            metadata.and_then(|metadata| metadata.description.clone()).unwrap_or_default()
        };
        let said = (reading.request.text.as_str(), &*self.window(session));
        let model = model.filter(|_| !answer.tables.is_empty() && !reading.request.text.trim().is_empty());
        let share = self.config.llm.share;
        let written = model.and_then(|model| summary::by_model((model, share), said, answer, &described));
        let (sentences, struck) =
            written.unwrap_or_else(|| (summary::by_template(answer, reading.working.is_some()), 0));
        answer.summary = sentences;
        (struck > 0)
            .then(|| format!("{} of the model had no evidence and was left out", counted(struck as u64, "sentence")))
    }

    /// The words of a request, quoted, where neither the lake nor the reader knows any of them: then whatever is found is arbitrary. What
    /// a remote embedding model knows is not known here.
    fn unread_words(&self, reading: &Reading<'_>, is_first: bool) -> Result<Vec<String>> {
        const MOST: usize = 8;
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

    /// What the model may cost in a turn; a replay is bounded by what was recorded.
    fn limits(&self) -> Limits {
        if self.replayed.is_some() { Limits::NONE } else { self.config.llm.limits() }
    }
}

/// Whether an answer has words of the request.
fn says_words(answer: &lakeward_search::SearchAnswer) -> bool {
    answer.features.coverage > 0.0 || answer.features.coverage_of_bare > 0.0
}

/// Whether a plan of one kind may be what a request of another asks for: one about rows and one about figures are told apart by the plan alone.
fn is_of_kind(plan: OperationKind, asked: OperationKind) -> bool {
    let is_single = |kind: OperationKind| matches!(kind, OperationKind::Filter | OperationKind::Aggregate);
    plan == asked || (is_single(plan) && is_single(asked))
}

/// How many tables a turn shows: as many as the caller or the conversation asks for, else few records or some tables.
fn shown(reading: &Reading<'_>, scored: &[Scored]) -> usize {
    const RECORDS: usize = 3;
    const TABLES: usize = 10;
    let are_records = scored.first().is_some_and(|scored| scored.candidate.dataset.is_record());
    match (reading.request.k, reading.signals.answers) {
        (0, Some(asked)) => asked.max(1),
        (0, None) => {
            if are_records {
                RECORDS
            } else {
                TABLES
            }
        }
        (k, _) => k,
    }
}
