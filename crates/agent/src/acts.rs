//! Turns that speak of answers shown before: one of them is taken, turned down or asked about, or more or fewer
//! answers are wanted.

use super::Agent;
use super::Request;
use super::column_facts::{asks_for_a_meaning, may_be_of_column};
use super::reading::Reading;
use super::record_questions::{
    Meant, asks_for_a_field, asks_for_others, compares, is_question, requested_fields, wants_others,
};
use super::trace::Provenance;
use super::turn::Turned;
use crate::recommend::{RankedOperation, Recommendation, RecordFact, next_operations};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Act, Input, OperationKind, Ranked};
use lakeward_core::text::lower_words;
use lakeward_reading::fields::Field;
use lakeward_reading::reader::{Control, Role, Span, TurnReading, number_in_words, says_only_yes};
use lakeward_search::cite::Gate;
use lakeward_search::text_search::Respelt;

/// Words of a turn that says little more than an identifier.
const SHORT: usize = 4;
/// Answers that a comparison without numbers is about.
const COMPARED: usize = 3;
/// Answers that a question about all of them is about.
const MOST_MEANT: usize = 10;

impl Agent<'_> {
    /// The answer to a turn that speaks of what was shown; none where it is a request like others.
    ///
    /// # Errors
    /// Those of [`Agent::turn`].
    pub(super) fn answer_shown(&self, session: &mut Session, reading: &Reading<'_>) -> Result<Option<Turned>> {
        let turn = &reading.turn;
        let listed = session.listed();
        let mentioned = self.records_mentioned(&reading.request.text)?;
        let text = reading.request.text.as_str();
        if asks_for_help(text) {
            let mut answer =
                Recommendation { notes: vec![Message::name(HELP)], ..reading.empty_answer(&self.ranking.turn) };
            answer.signals.acts = vec![Act::Ask];
            return self.given(session, reading, answer).map(Some);
        }
        if reading.working.is_some()
            && let Some(answer) = self.operation_picked(session, reading)?
        {
            return Ok(Some(answer));
        }
        let surely = turn.acts.first().copied().filter(|act| turn.is_surely(*act));
        let mut meant = Meant::by(text, listed.len());
        let is_compared = reading.over.is_none() && !listed.is_empty() && compares(text, &meant);
        meant.several |= is_compared;
        let surely = if is_compared { Some(Act::Compare) } else { surely };
        if reading.working.is_none()
            && self.operation_on_answers(text, turn, &reading.signals.operation).is_some()
            && let Some(answer) = self.operation_on_records(session, reading, &meant, &listed)?
        {
            return Ok(Some(answer));
        }
        let is_asked = matches!(surely, Some(Act::Ask | Act::Compare));
        // What a column or a code means is asked of the tables at hand.
        let at_hand = match &reading.working {
            _ if !is_asked && !asks_for_a_meaning(text) => Vec::new(),
            Some(Input::Table(id)) => vec![id.clone()],
            _ => session.tables_at_hand(),
        };
        if !at_hand.is_empty() && surely != Some(Act::Compare) && may_be_of_column(&requested_fields(text, false)) {
            let facts = self.column_facts(session, text, &at_hand)?;
            if !facts.is_empty() {
                return self.answer_with_facts(session, reading, facts).map(Some);
            }
        }
        if (is_asked || asks_for_a_meaning(text)) && surely != Some(Act::Compare) && mentioned.is_empty() {
            let (facts, notes) = self.facts_of_spelt_columns(session, text)?;
            if !facts.is_empty() || !notes.is_empty() {
                let mut answer = Recommendation { notes, ..reading.empty_answer(&self.ranking.turn) };
                answer.add_facts(facts);
                return self.given(session, reading, answer).map(Some);
            }
        }
        if !is_asked && reading.over.is_none() {
            // A question with an identifier, or little more than one, asks for what that record says, unless it is for others like it.
            let is_short = text.split_whitespace().count() <= SHORT + mentioned.len();
            let of_mentioned = !mentioned.is_empty() && !wants_others(text) && (is_short || is_question(text));
            if of_mentioned || (!listed.is_empty() && asks_for_a_field(text, turn, &meant)) {
                let about = if of_mentioned { mentioned } else { answers_meant(session, turn, &meant, &listed) };
                let facts = self.facts(&requested_fields(text, about.len() > 1 && of_mentioned), &about)?;
                return self.answer_with_facts(session, reading, facts).map(Some);
            }
        }
        // "Yes", "do it": what has no other word over a table agrees to what was proposed.
        let agrees = reading.over.is_some() && says_only_yes(text);
        let surely = if agrees { Some(Act::Accept) } else { surely };
        let Some(act) = surely else { return Ok(None) };
        if let Some(answer) = self.carry_out(session, reading, act)? {
            return Ok(Some(answer));
        }
        if agrees {
            let notes =
                vec![message!("nothing was asked for that could be carried out; what is proposed has a number")];
            return self.answer_with_notes(session, reading, notes).map(Some);
        }
        match act {
            Act::Pick | Act::Accept if !listed.is_empty() && reading.over.is_none() => {
                let id = named(turn, &listed).into_iter().next().unwrap_or_else(|| listed[0].clone());
                self.picked(session, reading, &id).map(Some)
            }
            Act::Ask | Act::Compare if (!listed.is_empty() || !mentioned.is_empty()) && !asks_for_others(text) => {
                let mut about = mentioned;
                let is_named = !meant.places.is_empty() || about.is_empty() || turn.of(Role::Answer).next().is_some();
                if is_named {
                    let asked = answers_meant(session, turn, &meant, &listed);
                    about.extend(asked.into_iter().filter(|id| !about.contains(id)).collect::<Vec<_>>());
                }
                let alone = ["more", "about", "details"];
                let side_by_side = act == Act::Compare
                    && !(about.len() == 1 && lower_words(text).any(|word| alone.contains(&word.as_str())));
                if side_by_side && about.len() < 2 {
                    let others: Vec<String> = listed.into_iter().filter(|id| !about.contains(id)).collect();
                    about.extend(others.into_iter().take(COMPARED - about.len()));
                }
                let facts = self.facts(&requested_fields(text, side_by_side), &about)?;
                self.answer_with_facts(session, reading, facts).map(Some)
            }
            Act::Chat if turn.spans.is_empty() => {
                self.answer_with_notes(session, reading, vec![message!("nothing to look for in that")]).map(Some)
            }
            Act::Accept if turn.spans.is_empty() && !session.pending().is_empty() => {
                let note =
                    message!("nothing in that says what to do; what was proposed stands, `run it` carries it out");
                self.answer_with_notes(session, reading, vec![note]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The answer to a turn that says no more than that what was proposed is to be carried out, "run it", or agrees to it over a table; with its number,
    /// if it names one. None for other turns.
    fn carry_out(&self, session: &mut Session, reading: &Reading<'_>, act: Act) -> Result<Option<Turned>> {
        let turn = &reading.turn;
        let only_runs = turn.spans.iter().all(|span| matches!(span.role, Role::Answer | Role::Format));
        let number = turn.of(Role::Answer).find_map(number_of);
        let over = reading.working.is_some();
        // "Tables to join with it" wants something done that was not proposed.
        let asked = &reading.signals.operation;
        let combines = asked.label.combines() && asked.confidence >= self.ranking.turn.combines;
        let is_meant = match act {
            // Without a table at hand numbers are those of tables.
            Act::Run => !combines && (over || number.is_none()),
            // "Hello", "interesting" and "is that right?" sound like agreement to the reader, and agree to nothing.
            Act::Accept => over && says_only_yes(&reading.request.text),
            _ => false,
        };
        if !is_meant || !only_runs || turn.acts.len() > 1 {
            return Ok(None);
        }
        let proposed = session.remembered().iter().rev().find_map(|turn| {
            let answer = turn.recommendation.as_ref().filter(|answer| !answer.operations.is_empty())?;
            Some((turn.number, answer))
        });
        let Some((at, answer)) = proposed else { return Ok(None) };
        if session.steps.iter().any(|step| step.turn == at && !step.undone) {
            let done = message!("nothing is left to be carried out: what was proposed last is the working table");
            return self.answer_with_notes(session, reading, vec![done]).map(Some);
        }
        let place = number.map_or(0, |number| (number as usize).saturating_sub(1));
        let Some(operation) = answer.worth_showing().nth(place) else { return Ok(None) };
        if let (Act::Run, None, Some(question)) = (act, number, &operation.question) {
            let first = message!("a question comes first: {}", &question.text);
            let note = match answer.worth_showing().position(|operation| operation.runnable.is_some()) {
                Some(place) => message!("{} `run {}` carries out what is proposed", first, place + 1),
                None => first,
            };
            return self.answer_with_notes(session, reading, vec![note]).map(Some);
        }
        if operation.runnable.is_none() || (number.is_none() && act == Act::Accept && !operation.requested) {
            let why = answer.plan(place + 1).err().map_or_else(Message::default, |error| error.to_string().into());
            return match act {
                Act::Run => self.answer_with_notes(session, reading, vec![why]).map(Some),
                _ => Ok(None),
            };
        }
        // Who agrees has seen the doubts: what follows does not rest on them any more.
        let operation = RankedOperation { requested: true, score: 1.0, preconditions: Vec::new(), ..operation.clone() };
        let answer =
            Recommendation { carry_out: true, operations: vec![operation], ..reading.empty_answer(&self.ranking.turn) };
        let answer = wanting_no_others(session, answer);
        self.given(session, reading, answer).map(Some)
    }

    /// The answer to a turn that only names another operation of the answer before by its number: "the second one". It is what is asked for from then on.
    fn operation_picked(&self, session: &mut Session, reading: &Reading<'_>) -> Result<Option<Turned>> {
        let Some(number) = operation_named(&reading.request.text) else { return Ok(None) };
        let latest = session.remembered().last().and_then(|turn| turn.recommendation.as_ref());
        let operation = latest.and_then(|answer| answer.worth_showing().nth(number - 1));
        let Some(operation) = operation.filter(|operation| operation.runnable.is_some()).cloned() else {
            return Ok(None);
        };
        let (Some(current), Some(plan)) = (session.plan(), operation.runnable.clone()) else { return Ok(None) };
        let reason = self.changed_plan(session, &current, plan, operation.kind, Vec::new())?.reason;
        // Who chooses has seen the doubts.
        let chosen = RankedOperation { requested: true, score: 1.0, preconditions: Vec::new(), reason, ..operation };
        let notes = vec![message!("operation {} of the answer before is meant", number)];
        self.answer_with_operations(session, reading, vec![chosen], notes).map(Some)
    }

    /// The answer to an operation with answers of which all are records: what is missing, and where their data can be had. None where one of them
    /// is a table, or the turn names none.
    fn operation_on_records(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        meant: &Meant,
        listed: &[String],
    ) -> Result<Option<Turned>> {
        let turn = &reading.turn;
        let asked = &reading.signals.operation;
        let Some(kind) = self.operation_on_answers(&reading.request.text, turn, asked) else { return Ok(None) };
        if !meant.numbered && turn.of(Role::Answer).next().is_none() {
            return Ok(None);
        }
        let about = answers_named(turn, meant, listed);
        for id in &about {
            let Some(table) = self.index.get(id)? else { return Ok(None) };
            if !self.index.dataset(table)?.is_record() {
                return Ok(None);
            }
        }
        let Some(first) = about.first() else { return Ok(None) };
        let missing = if about.len() > 1 { "their data is not in the lake" } else { "its data is not in the lake" };
        let reason = format!("needs the rows of {}", next_operations::listed(&about));
        let operation = RankedOperation {
            score: 1.0,
            asked: asked.probability(kind),
            requested: true,
            table: Some(first.clone()),
            ..next_operations::proposal(kind, vec![next_operations::unmet(missing)], reason)
        };
        let facts = self.facts(&[Field::Link, Field::Format], &about)?;
        let mut answer = Recommendation { operations: vec![operation], ..reading.empty_answer(&self.ranking.turn) };
        answer.add_facts(facts);
        let answer = wanting_no_others(session, answer);
        self.given(session, reading, answer).map(Some)
    }

    /// The operation that a turn wants done with answers that it names; `None` unless that is sure. A turn that wants
    /// something run is sure. One that begins, narrows or corrects a request is sure where the classifier of requests is,
    /// and where it does not want other answers. A turn that was read as comparing may mean a union or an aggregate, but
    /// no join: tables side by side may be either.
    fn operation_on_answers(
        &self,
        text: &str,
        turn: &TurnReading,
        operation: &Ranked<OperationKind>,
    ) -> Option<OperationKind> {
        let is_clear = operation.confidence >= self.ranking.operations.clearly;
        let kind = operation.label;
        let is_sure = match turn.acts.first()? {
            Act::Run => true,
            Act::Refine | Act::New | Act::Correct => is_clear && !wants_others(text),
            Act::Compare => {
                // Tables side by side are compared or joined.
                let is_unambiguous = matches!(kind, OperationKind::Union | OperationKind::Aggregate);
                is_unambiguous && !is_question(text) && is_clear
            }
            _ => false,
        };
        (is_sure && kind != OperationKind::Clarify).then_some(kind)
    }

    /// One of the answers is what is worked with from now on.
    fn picked(&self, session: &mut Session, reading: &Reading<'_>, id: &str) -> Result<Turned> {
        let proposed = session.at_proposal();
        session.accept(id);
        let dataset = match self.index.get(id)? {
            Some(table) => self.index.dataset(table)?,
            None => {
                return self.answer_with_notes(
                    session,
                    reading,
                    vec![message!("`{}` is not in the lake any more", id)],
                );
            }
        };
        if dataset.is_record() {
            let citation = dataset.citation().to_string();
            let note = message!("`{}` is chosen; it is a record, its data is not in the lake: {}", id, citation);
            return self.answer_with_notes(session, reading, vec![note]);
        }
        // What is said besides is said of it.
        let says_more = reading.turn.acts.len() > 1;
        let table = Input::Table(id.to_string());
        // "Thank you" takes nothing back of what was proposed over it.
        if let Some(mut at_hand) = proposed.filter(|at_hand| !says_more && at_hand.working().as_ref() == Some(&table)) {
            at_hand.accept(id);
            *session = at_hand;
            let note = message!("`{}` is worked with from now on; what was proposed stands", id);
            return self.answer_with_notes(session, reading, vec![note]);
        }
        session.use_table(table);
        let text = if says_more { reading.request.text.clone() } else { String::new() };
        let request = Request { text, table: Some(id.to_string()), column: None, k: reading.request.k };
        let answer = self.answer(session, &request, None)?;
        reading.as_typed(session);
        Ok(answer)
    }

    /// An answer of what records say.
    fn answer_with_facts(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        facts: Vec<RecordFact>,
    ) -> Result<Turned> {
        let mut answer = reading.empty_answer(&self.ranking.turn);
        answer.add_facts(facts);
        self.given(session, reading, answer)
    }

    /// An answer that searches nothing and proposes nothing.
    pub(super) fn answer_with_notes(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        notes: Vec<Message>,
    ) -> Result<Turned> {
        self.answer_with_operations(session, reading, Vec::new(), notes)
    }

    /// An answer that searches nothing and proposes what is given.
    pub(super) fn answer_with_operations(
        &self,
        session: &mut Session,
        reading: &Reading<'_>,
        operations: Vec<RankedOperation>,
        notes: Vec<Message>,
    ) -> Result<Turned> {
        let answer = Recommendation { operations, notes, ..reading.empty_answer(&self.ranking.turn) };
        self.given(session, reading, answer)
    }

    fn given(&self, session: &mut Session, reading: &Reading<'_>, mut answer: Recommendation) -> Result<Turned> {
        let respelt = reading.respelt.iter().map(Respelt::message);
        answer.notes.splice(0..0, reading.translated.iter().map(|translated| translated.note().into()).chain(respelt));
        let recommendation = Gate::new(self.index).admit(answer)?;
        reading.push(session, &recommendation);
        Ok((recommendation, Provenance { lists: Vec::new(), run: None, model: None }))
    }
}

/// The answer to what is done with answers that were shown: it is no request for others, so the demands stay as they are.
fn wanting_no_others(session: &Session, mut answer: Recommendation) -> Recommendation {
    answer.signals.demands.clone_from(&session.demands);
    answer.signals.gone.clear();
    answer
}

/// The answers that a turn turns down: those that it names, else all that were shown; none where it says what is wanted instead ("no, monthly
/// figures").
pub(super) fn turned_down(session: &Session, turn: &TurnReading) -> Vec<String> {
    let says_more = turn.acts.len() > 1;
    let wants = says_more || turn.spans.iter().any(|span| !span.unwanted && span.role != Role::Answer);
    if !turn.is_surely(Act::Reject) {
        return Vec::new();
    }
    let listed = session.listed();
    match named(turn, &listed) {
        named if !named.is_empty() => named,
        _ if wants => Vec::new(),
        _ => listed,
    }
}

/// The answers that a question is about: those that it names, else all if it speaks of several, else the one that was spoken of last.
fn answers_meant(session: &Session, turn: &TurnReading, meant: &Meant, listed: &[String]) -> Vec<String> {
    let about = answers_named(turn, meant, listed);
    if !about.is_empty() {
        return about;
    }
    let before = session.spoken_of();
    let at_hand = if before.is_empty() { session.tables_at_hand() } else { Vec::new() };
    if !at_hand.is_empty() {
        return at_hand;
    }
    match (meant.several, before.len()) {
        (true, 2..) => before,
        (true, _) => listed.iter().take(MOST_MEANT).cloned().collect(),
        (false, 0) => listed.iter().take(1).cloned().collect(),
        (false, _) => before.into_iter().take(1).collect(),
    }
}

/// The answers that a turn names, in closed forms or as the reader finds them.
fn answers_named(turn: &TurnReading, meant: &Meant, listed: &[String]) -> Vec<String> {
    let mut about: Vec<String> = meant.places.iter().filter_map(|place| listed.get(*place).cloned()).collect();
    for id in named(turn, listed) {
        if !about.contains(&id) {
            about.push(id);
        }
    }
    about
}

/// The answers that a turn names by their numbers.
fn named(turn: &TurnReading, listed: &[String]) -> Vec<String> {
    let number = |span: &Span| {
        let last = || span.words.to_lowercase().contains("last").then_some(listed.len() as f64);
        number_of(span).or_else(last)
    };
    let places = turn.of(Role::Answer).filter_map(number);
    places.filter_map(|place| listed.get((place as usize).checked_sub(1)?).cloned()).collect()
}

/// The number that a span says.
fn number_of(span: &Span) -> Option<f64> {
    span.number.or_else(|| number_in_words(&span.words).map(|number| number.value))
}

/// What can be asked, as an answer to "help".
const HELP: &str = "ask for tables by what they are about, or name one; then say what you want of its rows: conditions, figures by groups, an order, \
    columns of other tables; ask what a column or a code means; `undo`, `start over` and `run it` are said in words, too";

/// Whether a text asks for help and says nothing else.
fn asks_for_help(text: &str) -> bool {
    let words: Vec<String> = lower_words(text).filter(|word| word != "please").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(
        words[..],
        ["help"] | ["help", "me"] | ["what", "can", "you", "do"] | ["what", "can", "i", "ask" | "say" | "do"]
    )
}

/// Whether a text begins with a word for changing a file itself, unless it only takes a step of the plan back.
pub(super) fn asks_to_change_files(text: &str) -> bool {
    const CHANGES: [&str; 5] = ["delete", "erase", "wipe", "truncate", "overwrite"];
    let first = lower_words(text).find(|word| word != "please");
    first.is_some_and(|word| CHANGES.contains(&word.as_str())) && Control::of_text(text).is_none()
}

/// The operation that a text names by its number and says nothing else: `the second one`, `option 3`. The first stands already.
fn operation_named(text: &str) -> Option<usize> {
    const BESIDE: &str =
        "the one option operation number no nr proposal please take use choose pick i mean meant want rather then go";
    let mut named = None;
    for word in lower_words(text) {
        match number_in_words(&word).filter(|said| said.value.fract() == 0.0 && said.value >= 2.0) {
            Some(said) if named.is_none() => named = Some((said.value as usize, said.ordinal)),
            None if BESIDE.split(' ').any(|beside| beside == word) => {}
            _ => return None,
        }
    }
    let (number, is_ordinal) = named?;
    let is_called =
        lower_words(text).any(|word| matches!(word.as_str(), "option" | "operation" | "number" | "proposal"));
    (is_ordinal || is_called).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::operation_named;

    #[test]
    fn operations_are_named_by_their_numbers() {
        for text in ["the second one", "Option 2", "take number two please"] {
            assert_eq!(operation_named(text), Some(2), "{text}");
        }
        for text in ["the first one", "2", "two", "the second quarter", "the second and the third", "one of the two"] {
            assert_eq!(operation_named(text), None, "{text}");
        }
    }
}
