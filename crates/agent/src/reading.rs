//! What a request says in its session: operation and intention, what it does to the demands in force and to the plan at hand, the words to
//! search by, the table at hand.

use std::borrow::Cow;

use super::acts::asks_to_change_files;
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
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Demand, Input, Intention, OperationKind, Ranked, Signals, in_role, topic_words};
use lakeward_core::respect::Respect;
use lakeward_models::languages::Translated;
use lakeward_models::llm::LanguageModel;
use lakeward_reading::reader::{Act, Control, Revised, Role, TurnReading};
use lakeward_reading::signals::{classified, context::Context};
use lakeward_search::text_search::Respelt;
use lakeward_search::weights::{OperationWeights, TurnWeights};
use lakeward_search::{QueryTable, text_search};

/// What a request says in its session: the first stage of a turn. Nothing has been searched yet.
pub(super) struct Reading<'r> {
    /// As it is read: in English.
    pub(super) request: Cow<'r, Request>,
    /// As it was typed.
    asked: &'r str,
    /// How it was put into English, where it was.
    pub(super) translated: Option<Translated>,
    /// Its misspelt words as the lake spells them, where it has such.
    pub(super) respelt: Option<Respelt>,
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
    pub(super) notes: Vec<Message>,
}

/// The table that a request is about.
struct OpenTable {
    working: Option<Input>,
    query: Option<QueryTable>,
    /// Its key column, where the request names one.
    column: Option<usize>,
}

/// The words of a request.
struct Said<'r> {
    /// In English.
    request: Cow<'r, Request>,
    /// As it was typed.
    asked: &'r str,
    translated: Option<Translated>,
    /// With its misspelt words as the lake spells them, where it has such.
    respelt: Option<Respelt>,
    /// The respect and value that it chooses of those that were offered.
    chosen: Option<(Respect, String)>,
    /// The demands in force where it tells two of them apart, and what to say of it.
    apart: Option<(Vec<Demand>, Message)>,
    /// The choice that it makes among those of the question before.
    answered: Option<Choice>,
}

impl Said<'_> {
    /// Whether it has a closed form that nothing is read from.
    fn is_closed(&self) -> bool {
        self.chosen.is_some() || self.apart.is_some()
    }

    /// Whether it has words that have to be read.
    fn is_free(&self) -> bool {
        self.answered.is_none() && !self.is_closed() && !self.request.text.trim().is_empty()
    }
}

/// What is wanted of datasets after a turn.
struct Wanted {
    acts: Vec<Act>,
    demands: Vec<Demand>,
    gone: Vec<Demand>,
    /// How many are wanted, where it is said.
    answers: Option<usize>,
    notes: Vec<Message>,
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

    /// An answer that finds and proposes nothing.
    pub(super) fn empty_answer(&self, weights: &TurnWeights) -> Recommendation {
        Recommendation {
            signals: self.signals.clone(),
            spec: self.spec(weights),
            tables: Vec::new(),
            operations: Vec::new(),
            nothing_found: false,
            summary: Vec::new(),
            narrowings: Vec::new(),
            facts: Vec::new(),
            carry_out: false,
            notes: Vec::new(),
        }
    }

    /// Whether it forgets what was asked for.
    pub(super) fn starts_over(&self) -> bool {
        Control::of_text(&self.request.text) == Some(Control::StartOver)
    }

    /// The same with nothing asked for, where it starts over.
    pub(super) fn or_started_over(mut self) -> Self {
        if self.starts_over() {
            self.signals.gone = std::mem::take(&mut self.signals.demands);
        }
        self
    }

    /// The same with nothing but what was `asked` for before, where it only thanks.
    pub(super) fn or_thanked(mut self, asked: &[Demand]) -> Self {
        if Control::of_text(&self.request.text) == Some(Control::Thanks) {
            (self.signals.acts, self.signals.demands) = (vec![Act::Chat], asked.to_vec());
            self.turn.spans.clear();
        }
        self
    }

    /// The same as an undo, where it takes back all of `pending` plans ("forget that").
    pub(super) fn or_undone(mut self, pending: usize) -> Self {
        let moves = self.over.as_ref().and_then(|over| over.moves(pending));
        if let (Some((act, _)), [Act::Retract]) = (moves, &self.signals.acts[..]) {
            self.signals.acts = vec![act];
        }
        self
    }

    /// Whether a language model wrote a plan that has all that was asked for.
    pub(super) fn is_settled(&self) -> bool {
        self.over.as_ref().is_some_and(PlanReading::is_settled)
    }

    /// Whether it is this likely to combine tables that it is not read as one about the rows of the table at hand.
    pub(super) fn surely_combines(&self, weights: &TurnWeights) -> bool {
        let operation = &self.signals.operation;
        operation.label.combines() && operation.confidence >= weights.surely_combines
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
        let OpenTable { working, query, column } = self.open_table(session, request)?;
        let said = self.said(session, request, working.is_some())?;
        let at_hand = working.as_ref().zip(query.as_ref()).map(|(input, table)| AtHand { input, table });
        let plan = working.as_ref().filter(|_| said.is_free()).map(|input| session.plan_of(input));
        let text = said.request.text.as_str();
        let to_read = TurnToRead { session, text, previous, plan: plan.as_ref(), at_hand };
        let understood = if said.is_free() { self.understood(&to_read, model)? } else { Understood::default() };
        let (operation, intention) = self.purpose(session, &said, &understood);
        let Wanted { acts, demands, gone, answers, notes } = self.wanted(&to_read, &said, &understood)?;
        let signals = Signals { operation, intention, acts, demands, gone, answers };
        let by_model = understood.all_demands.is_some();
        let Understood { turn, over, .. } = understood;
        let (hidden, turned_down) = match over {
            Some(_) => (Vec::new(), Vec::new()),
            None if turn.is_surely(Act::More) => (session.shown_for_demands(), turned_down(session, &turn)),
            None => (Vec::new(), turned_down(session, &turn)),
        };
        let is_understood = by_model || !turn.spans.is_empty();
        let words = self.search_text(session, text, &signals, (over.is_some(), is_understood));
        let added = over.iter().flat_map(|_| turn.of(Role::Add)).map(|span| span.words.clone());
        let wanted = in_role(&signals.demands, &Respect::Column).map(str::to_string);
        let requested_columns = wanted.chain(added).collect();
        let is_new = request.table.is_some() && !session.turns.is_empty() && working != session.working();
        let named = request.table.iter().filter(|_| is_new).map(|id| message!("`{}` is worked with from now on", id));
        let left_out = (!hidden.is_empty()).then(|| message!("{} shown before are left out", hidden.len()));
        let refused =
            (!turned_down.is_empty()).then(|| message!("turned down, and not shown again: {}", turned_down.join(", ")));
        let as_read = said.translated.iter().map(|translated| translated.note().into());
        let as_read = as_read.chain(said.respelt.iter().map(Respelt::message));
        let unchanged = asks_to_change_files(&said.request.text)
            .then(|| message!("files are never changed: rows are only left out of what is shown"));
        let notes = as_read.chain(named).chain(notes).chain(left_out).chain(refused).chain(unchanged).collect();
        let Said { request, asked, translated, respelt, answered, .. } = said;
        Ok(Reading {
            request,
            asked,
            translated,
            respelt,
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

    /// The table that a request is about, opened: the one that it names, else the one that the session works with.
    fn open_table(&self, session: &Session, request: &Request) -> Result<OpenTable> {
        let named = request.table.as_deref().map(|name| self.input(name)).transpose()?;
        let working = match named {
            Some(named) => Some(named),
            None => self.working(session)?,
        };
        if request.text.trim().is_empty() && working.is_none() {
            return Err(Error::usage("ask something, or name a table"));
        }
        let query = working.as_ref().map(|input| self.open_input(session, input)).transpose()?;
        let column = match (&request.column, &query) {
            (Some(name), Some(query)) => Some(query.column(name)?),
            (Some(name), None) => return Err(Error::usage(format!("column `{name}` of which table? name it, too"))),
            (None, _) => None,
        };
        Ok(OpenTable { working, query, column })
    }

    /// A request in English, and what it chooses of what was asked about.
    fn said<'r>(&self, session: &Session, request: &'r Request, is_at_hand: bool) -> Result<Said<'r>> {
        let asked = request.text.as_str();
        let chosen = chosen(session, asked);
        let apart = if is_at_hand { None } else { set_apart(&session.demands, asked) };
        let is_closed = chosen.is_some() || apart.is_some();
        let translated = if is_closed { None } else { self.in_english(asked)? };
        let answered = answered(session, translated.as_ref().map_or(asked, |translated| &translated.text));
        let is_typed = !is_closed && translated.is_none() && answered.is_none();
        let respelt = if is_typed { text_search::respelt(self.index, asked)? } else { None };
        let other = translated.as_ref().map(|translated| &translated.text);
        let request = match other.or(respelt.as_ref().map(|respelt| &respelt.text)) {
            Some(text) => Cow::Owned(Request { text: text.clone(), ..request.clone() }),
            None => Cow::Borrowed(request),
        };
        Ok(Said { request, asked, translated, respelt, chosen, apart, answered })
    }

    /// A turn as the built-in reader understands it, or the model where that is less sure.
    fn understood(&self, to_read: &TurnToRead<'_>, model: Option<&LanguageModel<'_>>) -> Result<Understood> {
        let built_in = BuiltIn.read(self, to_read)?.unwrap_or_default();
        let is_measured = self.config.llm.reading.is_some();
        // Of a model that was not measured only a plan is taken, and it is said to be one.
        let may_ask = built_in.certainty() < self.trust_in_reading() && (is_measured || to_read.plan.is_some());
        let by_model = match model.filter(|_| may_ask) {
            Some(model) => model.read(self, to_read)?,
            None => None,
        };
        Ok(match by_model {
            Some(read) if is_measured => read,
            Some(read) => {
                let written = read.over.and_then(|over| over.written);
                Understood { over: built_in.over.map(|over| over.with_plan(written)), ..built_in }
            }
            None => built_in,
        })
    }

    /// Operation and intention of a request in its session.
    fn purpose(
        &self,
        session: &Session,
        said: &Said<'_>,
        understood: &Understood,
    ) -> (Ranked<OperationKind>, Ranked<Intention>) {
        let latest = session.remembered().last().map(|turn| &turn.signals);
        if let (Some(choice), Some(before)) = (&said.answered, latest) {
            let operation = match choice.operation {
                Some(kind) => before.operation.certain(kind),
                None => without_clarify(&before.operation, &self.ranking.operations),
            };
            return (operation, before.intention.clone());
        }
        let (operation, intention) = classified(&said.request.text, &Context { texts: self.window(session) });
        let operation = match latest.filter(|_| said.is_closed()) {
            Some(before) => without_clarify(&before.operation, &self.ranking.operations),
            None => operation,
        };
        let (operation, intention) = match understood.purpose {
            Some((kind, purpose)) => {
                let trust = self.trust_in_reading();
                (model::with_voice(&operation, kind, trust), model::with_voice(&intention, purpose, trust))
            }
            None => (operation, intention),
        };
        // What the plan changes is what is asked for now, whatever the model calls the whole of it.
        let written = understood.over.as_ref().and_then(PlanReading::written_kind);
        match written {
            Some(kind) => (operation.certain(kind), intention),
            None => (operation, intention),
        }
    }

    /// What is wanted of datasets after a turn.
    fn wanted(&self, to_read: &TurnToRead<'_>, said: &Said<'_>, understood: &Understood) -> Result<Wanted> {
        let (session, turn) = (to_read.session, &understood.turn);
        let before = session.remembered().last().and_then(|turn| turn.signals.answers);
        let answers = before.filter(|_| said.answered.is_some());
        if let Some((demands, note)) = &said.apart {
            let gone = session.demands.iter().filter(|demand| !demands.contains(demand)).cloned().collect();
            let (acts, demands, notes) = (vec![Act::Correct], demands.clone(), vec![note.clone()]);
            return Ok(Wanted { acts, demands, gone, answers, notes });
        }
        if let Some((role, value)) = &said.chosen {
            let Revised { demands, gone, .. } = self.demands_with(session, role, value)?;
            return Ok(Wanted { acts: vec![Act::Refine], demands, gone, answers, notes: Vec::new() });
        }
        let acts = turn.acts.clone();
        if !said.is_free() {
            let (demands, gone, notes) = (session.demands.clone(), Vec::new(), Vec::new());
            return Ok(Wanted { acts, demands, gone, answers, notes });
        }
        let mut after = understood.demands(self, to_read)?;
        let mut notes = match understood.all_demands {
            Some(_) => Vec::new(),
            None => hold_to_stated(&mut after, turn, session.next_turn()),
        };
        let Revised { demands, gone, not_found } = after;
        let not_found = not_found.iter();
        notes.extend(
            not_found.map(|words| message!("nothing like `{}` is asked for, so nothing was taken back", words)),
        );
        notes.extend(merged_values(&demands, session));
        notes.extend(self.unknown_values(&demands, session)?);
        let halved = turn.is_surely(Act::Fewer).then(|| (session.listed().len() / 2).max(1));
        let stated = turn.requested_answers().or(halved).filter(|_| understood.over.is_none());
        let answers = stated.or(before.filter(|_| !turn.has(Act::New)));
        Ok(Wanted { acts, demands, gone, answers, notes })
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
    let narrowing = latest.narrowings.iter().find(|narrowing| question::asking_for(narrowing) == *asked.computed())?;
    let value = narrowing.values.iter().find(|value| *value.value == *choice.label && choice.tables.is_empty())?;
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
