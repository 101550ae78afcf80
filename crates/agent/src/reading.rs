//! What a request says in its session: operation and intention, what it does to the demands in force and to the plan at hand, the words to
//! search by, the table at hand.

use std::borrow::Cow;

use super::acts::turned_down;
use super::known_columns::AtHand;
use super::model;
use super::plan_reading::PlanReading;
use super::readers::{BuiltIn, TurnReader, TurnToRead, Understood};
use super::same_values::{merged_values, set_apart};
use super::stated::hold_to_stated;
use super::{Agent, Request};
use crate::recommend::task_spec::TaskSpec;
use crate::recommend::{Choice, NarrowingValue, Recommendation, question};
use crate::session::{Session, Turn};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Demand, Input, OperationKind, Ranked, Signals, in_role, topic_words};
use lakeward_core::respect::Respect;
use lakeward_models::languages::{Translated, translated};
use lakeward_models::llm::LanguageModel;
use lakeward_reading::reader::{Act, Role, TurnReading};
use lakeward_reading::signals::{classified, context::Context};
use lakeward_search::weights::{OperationWeights, TurnWeights};
use lakeward_search::{QueryTable, text_search};

/// Words of a request in another language that are looked up one by one.
const MOST_WORDS: usize = 32;

/// What a request says in its session: the first stage of a turn. Nothing has been searched yet.
pub(super) struct Reading<'r> {
    /// As it is read: in English.
    pub(super) request: Cow<'r, Request>,
    /// As it was typed.
    asked: &'r str,
    /// How it was put into English, where it was.
    pub(super) translated: Option<Translated>,
    /// The words to search by.
    pub(super) words: String,
    /// What it says, span by span.
    pub(super) turn: TurnReading,
    pub(super) signals: Signals,
    /// The working table, and it opened.
    pub(super) working: Option<Input>,
    pub(super) query: Option<QueryTable>,
    /// Its key column, where the request names one.
    pub(super) column: Option<usize>,
    /// The choice that the request makes among those of the question before.
    pub(super) answered: Option<Choice>,
    /// The request as it is read over the plan at hand; none without a table, and for an answer to a question.
    pub(super) over: Option<PlanReading>,
    /// Words for the columns that are wanted: in force, and of another table in this turn.
    pub(super) requested_columns: Vec<String>,
    /// Ids of answers that are not to be shown again, where more are wanted.
    pub(super) hidden: Vec<String>,
    /// Ids of answers that it turns down.
    pub(super) turned_down: Vec<String>,
    /// Whether a language model read it.
    pub(super) by_model: bool,
    /// Whether it is taken to be about other data than the table at hand: a table that its words find.
    pub(super) is_about_other: bool,
    /// What the analyst should know of how it was read.
    pub(super) notes: Vec<String>,
}

impl Reading<'_> {
    /// Adds the turn with its answer to the session.
    pub(super) fn push(&self, session: &mut Session, answer: &Recommendation) {
        session.push_turn(self.asked, answer);
        self.as_typed(session);
    }

    /// Writes the turn that was added last as it was typed, and as it was read.
    pub(super) fn as_typed(&self, session: &mut Session) {
        if let Some(turn) = session.turns.last_mut() {
            turn.text = self.asked.to_string();
            turn.english = self.translated.as_ref().map(|translated| translated.text.clone());
        }
    }

    /// What the intention asks of tables, as the request and the table at hand change it.
    pub(super) fn spec(&self, weights: &TurnWeights) -> TaskSpec {
        let Signals { operation, intention, demands, .. } = &self.signals;
        TaskSpec::of(intention.label).adjusted(operation, demands, self.query.is_some(), weights)
    }
}

impl Agent<'_> {
    /// Reads a request in its session; a table that it names is the working table from now on.
    ///
    /// # Errors
    /// As [`Agent::turn`].
    pub(super) fn read<'r>(
        &self,
        session: &Session,
        request: &'r Request,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Reading<'r>> {
        self.read_after(session, request, model, session.remembered().last().map_or("", Turn::read))
    }

    /// Reads a request that is about other data than the table that the session works with; `session` is it without that table, and with none of the
    /// `demands` that were in force.
    ///
    /// # Errors
    /// As [`Agent::turn`].
    pub(super) fn read_about_other<'r>(
        &self,
        session: &Session,
        request: &'r Request,
        demands: &[Demand],
    ) -> Result<Reading<'r>> {
        let mut reading = self.read_after(session, request, None, "")?;
        let Signals { acts, demands: current, gone, .. } = &mut reading.signals;
        gone.extend(demands.iter().filter(|demand| !current.contains(demand)).cloned());
        *acts = vec![Act::New];
        reading.words = reading.request.text.trim().to_string();
        reading.is_about_other = true;
        Ok(reading)
    }

    fn read_after<'r>(
        &self,
        session: &Session,
        request: &'r Request,
        model: Option<&LanguageModel<'_>>,
        previous: &str,
    ) -> Result<Reading<'r>> {
        let named = request.table.as_deref().map(|name| self.input(name)).transpose()?;
        let working = match named {
            Some(named) => Some(named),
            None => self.working(session)?,
        };
        if request.text.trim().is_empty() && working.is_none() {
            return Err(Error::Usage("ask something, or name a table".into()));
        }
        let query = working.as_ref().map(|input| self.open_input(session, input)).transpose()?;
        let column = match (&request.column, &query) {
            (Some(name), Some(query)) => Some(query.column(name)?),
            (Some(name), None) => return Err(Error::Usage(format!("column `{name}` of which table? name it, too"))),
            (None, _) => None,
        };
        let asked = request.text.as_str();
        let chosen = chosen(session, asked);
        let apart = if working.is_none() { set_apart(&session.demands, asked) } else { None };
        let translated = if chosen.is_some() || apart.is_some() { None } else { self.in_english(asked)? };
        let request = match &translated {
            Some(translated) => Cow::Owned(Request { text: translated.text.clone(), ..request.clone() }),
            None => Cow::Borrowed(request),
        };
        let text = translated.as_ref().map_or(asked, |translated| translated.text.as_str());
        let answered = answered(session, text);
        let is_closed = chosen.is_some() || apart.is_some();
        let says = answered.is_none() && !is_closed && !text.trim().is_empty();
        let at_hand = working.as_ref().zip(query.as_ref()).map(|(input, table)| AtHand { input, table });
        let plan = working.as_ref().filter(|_| says).map(|input| session.plan_of(input));
        let asked_of = TurnToRead { session, text, previous, plan: plan.as_ref(), at_hand };
        let built_in = if says { BuiltIn.read(self, &asked_of)? } else { None };
        let built_in = built_in.unwrap_or_default();
        let mut signals = self.classified(session, text, answered.as_ref());
        if let Some(latest) = session.remembered().last().filter(|_| is_closed && answered.is_none()) {
            signals.operation = without_clarify(&latest.signals.operation, &self.ranking.operations);
        }
        let trust = self.config.llm.reading;
        let by_model = match model.filter(|_| says && built_in.certainty() < self.trust_in_reading()) {
            // Of a model that was not measured only a plan is taken, and it is said to be one.
            Some(model) if trust.is_some() || plan.is_some() => model.read(self, &asked_of)?,
            _ => None,
        };
        let understood = match by_model {
            Some(read) if trust.is_none() => {
                let written = read.over.and_then(|over| over.written);
                Understood { over: built_in.over.map(|over| over.with_plan(written)), ..built_in }
            }
            Some(read) => read,
            None => built_in,
        };
        if let Some((operation, intention)) = understood.purpose {
            signals.operation = model::with_voice(&signals.operation, operation, self.trust_in_reading());
            signals.intention = model::with_voice(&signals.intention, intention, self.trust_in_reading());
        }
        if let Some(kind) = understood.over.as_ref().and_then(PlanReading::written_kind) {
            // What the plan changes is what is asked for now, whatever the model calls the whole of it.
            signals.operation = signals.operation.certain(kind);
        }
        let by_model = understood.all_demands.is_some();
        let after = if says { Some(understood.demands(self, &asked_of)?) } else { None };
        let Understood { turn, over, .. } = understood;
        signals.acts.clone_from(&turn.acts);
        let mut notes: Vec<String> = translated.iter().map(Translated::note).collect();
        if let (Some(id), false) = (&request.table, session.turns.is_empty())
            && working != session.working()
        {
            notes.push(format!("`{id}` is worked with from now on"));
        }
        if let Some(mut after) = after {
            if !by_model {
                notes.extend(hold_to_stated(&mut after, &turn, session.next_turn()));
            }
            notes.extend(
                after
                    .not_found
                    .iter()
                    .map(|words| format!("nothing like `{words}` is asked for, so nothing was taken back")),
            );
            notes.extend(merged_values(&after.demands, session));
            notes.extend(self.unknown_values(&after.demands, session)?);
            (signals.demands, signals.gone) = (after.demands, after.gone);
            let before =
                session.remembered().last().filter(|_| !turn.has(Act::New)).and_then(|turn| turn.signals.answers);
            let halved = turn.is_surely(Act::Fewer).then(|| (session.listed().len() / 2).max(1));
            let said = if over.is_none() { turn.requested_answers().or(halved) } else { None };
            signals.answers = said.or(before);
        }
        if let Some((role, value)) = &chosen {
            let after = self.demands_with(session, role, value)?;
            (signals.demands, signals.gone) = (after.demands, after.gone);
            signals.acts = vec![Act::Refine];
        }
        if let Some((demands, note)) = apart {
            signals.gone = session.demands.iter().filter(|demand| !demands.contains(demand)).cloned().collect();
            (signals.demands, signals.acts) = (demands, vec![Act::Correct]);
            notes.push(note);
        }
        let wants_more = over.is_none() && turn.is_surely(Act::More);
        let hidden = if wants_more { session.shown_for_demands() } else { Vec::new() };
        if !hidden.is_empty() {
            notes.push(format!("{} shown before are left out", hidden.len()));
        }
        let turned_down = if over.is_none() { turned_down(session, &turn) } else { Vec::new() };
        if !turned_down.is_empty() {
            notes.push(format!("turned down, and not shown again: {}", turned_down.join(", ")));
        }
        let understood = by_model || !turn.spans.is_empty();
        let words = self.search_text(session, text, &signals, (over.is_some(), understood));
        let mut requested_columns: Vec<String> =
            in_role(&signals.demands, &Respect::Column).map(str::to_string).collect();
        if over.is_some() {
            requested_columns.extend(turn.of(Role::Add).map(|span| span.words.clone()));
        }
        Ok(Reading {
            request,
            asked,
            translated,
            words,
            signals,
            turn,
            working,
            query,
            column,
            answered,
            over,
            requested_columns,
            hidden,
            turned_down,
            by_model,
            is_about_other: false,
            notes,
        })
    }

    /// A request in another language in English words, unless the lake says more of it as it is: then its tables are in that language, too.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn in_english(&self, text: &str) -> Result<Option<Translated>> {
        let Some(translated) = translated(text) else { return Ok(None) };
        let said = |of: fn(&(String, String)) -> &String| -> Vec<&str> {
            translated.words.iter().map(|word| of(word).as_str()).collect()
        };
        let coverage = |words: Vec<&str>| -> Result<f64> {
            Ok(self.searched(&words.join(" "))?.map_or(0.0, |searched| searched.coverage(&self.ranking)))
        };
        let (as_said, in_english) = (coverage(said(|word| &word.0))?, coverage(said(|word| &word.1))?);
        // Of records in its language the index has the English words, too, so what is as good in English stays if all of it is known as it is said.
        let all_known = || -> Result<bool> {
            let words = said(|word| &word.0).join(" ");
            let words = self.index.lexical().informative_words(&words, MOST_WORDS)?;
            Ok(words.iter().all(|(_, rarity)| rarity.tables > 0))
        };
        let stays = as_said > in_english || (as_said > 0.0 && as_said >= in_english && all_known()?);
        Ok((!stays).then_some(translated))
    }

    /// Operation and intention of a request in its session, with the demands in force before it.
    fn classified(&self, session: &Session, text: &str, answered: Option<&Choice>) -> Signals {
        if let (Some(choice), Some(latest)) = (answered, session.remembered().last()) {
            let before = &latest.signals;
            let operation = match choice.operation {
                Some(kind) => before.operation.certain(kind),
                None => without_clarify(&before.operation, &self.ranking.operations),
            };
            let (acts, demands) = (Vec::new(), session.demands.clone());
            return Signals { operation, acts, demands, gone: Vec::new(), ..before.clone() };
        }
        let (operation, intention) = classified(text, &Context { texts: self.window(session) });
        let (acts, demands) = (Vec::new(), session.demands.clone());
        Signals { operation, intention, acts, demands, gone: Vec::new(), answers: None }
    }

    /// What is searched for: a first request as it is said, where the index knows sentences; else the topic and what else is wanted in words, and
    /// over a table what the request says.
    fn search_text(
        &self,
        session: &Session,
        text: &str,
        signals: &Signals,
        (over, understood): (bool, bool),
    ) -> String {
        let reads_texts = text_search::reads_texts(self.index, self.embedder);
        if session.remembered().is_empty() && reads_texts {
            return text.trim().to_string();
        }
        let mut parts: Vec<&str> = topic_words(&signals.demands).collect();
        for role in &[Respect::Place, Respect::Column] {
            parts.extend(in_role(&signals.demands, role));
        }
        // What is said of a table at hand is no demand; a turn of which nothing was understood may still say what is meant.
        if over || parts.is_empty() || (!understood && changes_demands(&signals.acts)) {
            parts.push(text);
        }
        parts.join(" ").trim().to_string()
    }

    /// How far the model's reading is trusted, 0..=1: it is asked where the built-in reader is less sure.
    pub(super) fn trust_in_reading(&self) -> f64 {
        self.config.llm.reading.unwrap_or(self.ranking.likelihood.unmeasured)
    }

    /// The texts of the turns that a request is read with, oldest first.
    pub(super) fn window<'s>(&self, session: &'s Session) -> Vec<&'s str> {
        let turns = session.remembered();
        turns[turns.len().saturating_sub(self.config.conversation.window)..].iter().map(Turn::read).collect()
    }
}

/// Whether a turn says what is wanted of datasets.
fn changes_demands(acts: &[Act]) -> bool {
    matches!(acts.first(), Some(Act::New | Act::Refine | Act::Correct))
}

/// The choice that `text` makes, where the latest turn asked a question first of all.
fn answered(session: &Session, text: &str) -> Option<Choice> {
    let latest = session.remembered().last()?.recommendation.as_ref()?;
    let question = latest.operations.first()?.question.as_ref()?;
    question::understood(question, text).cloned()
}

/// The respect and value that `text` chooses: one that the latest turn asked about, or `place: Norway` of those that its answers can be narrowed by.
fn chosen(session: &Session, text: &str) -> Option<(Respect, String)> {
    let latest = session.remembered().last()?.recommendation.as_ref()?;
    for narrowing in &latest.narrowings {
        let is_it = |value: &&NarrowingValue| narrowing.choice(value).eq_ignore_ascii_case(text.trim());
        if let Some(value) = narrowing.values.iter().find(is_it) {
            return Some((narrowing.role.clone(), value.value.clone()));
        }
    }
    let (choice, asked) = (answered(session, text)?, latest.operations.first()?.question.as_ref()?);
    let narrowing = latest.narrowings.iter().find(|narrowing| question::asking_for(narrowing) == asked.computed())?;
    let value = narrowing.values.iter().find(|value| value.value == choice.label && choice.tables.is_empty())?;
    Some((narrowing.role.clone(), value.value.clone()))
}

/// Probabilities of the operations where asking is not one of them: once the question is answered, and for what a table
/// serves. Where hardly anything is left of the others, looking at one table is likeliest.
pub(super) fn without_clarify(asked: &Ranked<OperationKind>, weights: &OperationWeights) -> Ranked<OperationKind> {
    let least = weights.likeliest_left;
    let weight = |kind: OperationKind, p: f64| match kind {
        OperationKind::Clarify => 0.0,
        OperationKind::Filter => p + 2.0 * least,
        OperationKind::Join | OperationKind::Union | OperationKind::Aggregate => p + least,
    };
    let sum = asked.all.iter().map(|(kind, p)| weight(*kind, *p)).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut all: Vec<(OperationKind, f64)> =
        asked.all.iter().map(|(kind, p)| (*kind, weight(*kind, *p) / sum)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ranked { label: all[0].0, confidence: all[0].1, all }
}
