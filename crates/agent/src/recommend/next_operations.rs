//! The operations that could come next, each with what has to hold for it and, where all is known, complete.
//!
//! A join needs a key with enough containment, a union an alignment, a filter a column for its condition, an aggregate a
//! group and a measure. What is asked for counts most; a precondition that fails lowers an operation, it does not remove it.

use super::fit::{alignment, key_overlap};
use super::{Precondition, Question, RankedOperation};
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message, PARTS};
use lakeward_core::plan::{Join, JoinKey, JoinKind, Kept, Plan, Relation, Step, Union, UnionPart};
use lakeward_core::request::{Input, Label, OperationKind, Signals};
use lakeward_core::text::NameParts;
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::profile::ColumnProfile;
use lakeward_search::join::ColumnPair;
use lakeward_search::{Candidate, JoinAnswer, RankingWeights, UnionAnswer};

use super::mentions::Phrases;

/// Name of the column that says which table a row of a union is from.
pub(crate) const SOURCE_COLUMN: &str = "source_table";

/// The table that operations start from.
pub struct Base<'a> {
    /// How it is made; an operation goes on from here.
    pub plan: Plan,
    /// What is in it.
    pub entry: &'a TableEntry,
}

/// What the ranking of operations looks at.
pub struct Situation<'a> {
    /// What was understood.
    pub signals: &'a Signals,
    /// The request's words.
    pub text: &'a str,
    /// Words for columns that are wanted.
    pub requested_columns: &'a [String],
    /// The working table, or the best candidate where there is none.
    pub base: Option<&'a Base<'a>>,
    /// Whether that is at hand already.
    pub is_at_hand: bool,
    /// Whether the request says nothing but its name, and it is not at hand: it is to be opened.
    pub opens: bool,
    /// The best record of a catalogue, where only such were found: there is nothing to start from.
    pub record: Option<&'a str>,
    /// What the request says of rows, columns and tables, as an operation.
    pub requested: Option<&'a RankedOperation>,
    /// Whether that is the plan at hand over other rows.
    pub is_over_other_rows: bool,
    /// Whether nobody could say what is wanted.
    pub unclear: bool,
    /// The table to join with, best first found.
    pub partner: Option<&'a Candidate>,
    /// The tables to append, best first.
    pub supplements: &'a [&'a Candidate],
    /// The question to ask, should it come to that.
    pub question: Option<&'a Question>,
    /// What decides the order.
    pub weights: &'a RankingWeights,
}

impl Situation<'_> {
    /// Whether the operation that was read from the words goes before the kind that the classifier of requests finds.
    /// It has to be one that can run. It does not go first where parts of it are in doubt and the classifier is sure
    /// of a join, a union or a question; a plan over other rows always does.
    fn leads(&self, requested: &RankedOperation) -> bool {
        let (asked, clearly) = (&self.signals.operation, self.weights.operations.clearly);
        let doubtful = requested.preconditions.iter().any(|part| !part.met);
        let says_nothing = matches!(asked.label, OperationKind::Filter | OperationKind::Aggregate);
        let is_another = requested.kind != asked.label && !says_nothing && asked.confidence >= clearly;
        requested.runnable.is_some() && (self.is_over_other_rows || !(is_another && doubtful))
    }

    /// Whether a question has to come first: nobody could say what is wanted, or nothing of it could be applied.
    fn asks(&self) -> bool {
        let asked = &self.signals.operation;
        let combines = asked.label.combines() && asked.confidence >= self.weights.operations.clearly;
        self.unclear || (!combines && self.requested.is_some_and(|requested| requested.runnable.is_none()))
    }
}

/// Where the request says nothing of rows and columns.
fn no_columns_named(situation: &Situation<'_>, kind: OperationKind) -> RankedOperation {
    let Some(base) = situation.base else { return without_table(situation, kind) };
    let id = base.entry.id.as_str();
    let nothing = match kind {
        OperationKind::Filter if situation.opens => vec![met(message!("`{}` is named", id))],
        OperationKind::Aggregate => vec![unmet(message!("nothing in the request names a figure or group of `{}`", id))],
        _ => vec![unmet(message!("nothing in the request names a column or value of `{}`", id))],
    };
    if kind == OperationKind::Filter && !situation.is_at_hand && situation.requested.is_none() {
        let others: Vec<String> = base.plan.tables().filter(|other| *other != id).map(str::to_string).collect();
        let reason = match others.is_empty() {
            true => message!("opens `{}`: all {}", id, Message::counted(base.entry.profile.rows, "row")),
            false => message!("opens `{}` and appends all rows of {}", id, listed(&others)),
        };
        return RankedOperation { runnable: Some(base.plan.clone()), ..proposal(kind, nothing, reason) };
    }
    proposal(kind, nothing, message!("could work on `{}`", id))
}

/// The operations, best first; their scores sum to 1 and are no probabilities yet.
pub fn rank(situation: &Situation<'_>) -> Vec<RankedOperation> {
    let phrases = Phrases::of(situation.text);
    let asked = &situation.signals.operation;
    let weights = &situation.weights.operations;
    let mut operations: Vec<RankedOperation> = OperationKind::ALL
        .iter()
        .map(|kind| {
            let requested = situation.requested.filter(|requested| requested.kind == *kind);
            let mut ranked = match (requested, kind) {
                (Some(requested), _) => requested.clone(),
                (None, OperationKind::Join) => join(situation, &phrases),
                (None, OperationKind::Union) => union(situation),
                (None, OperationKind::Filter | OperationKind::Aggregate) => no_columns_named(situation, *kind),
                (None, OperationKind::Clarify) => clarify(situation),
            };
            ranked.asked = asked.probability(*kind);
            let met = ranked.preconditions.iter().filter(|precondition| precondition.met).count();
            let share = met as f64 / ranked.preconditions.len().max(1) as f64;
            ranked.score = ranked.asked * (1.0 - weights.at_stake + weights.at_stake * share);
            // What the words say goes before what the kind of request suggests.
            let leads = match kind {
                OperationKind::Filter if situation.opens => true,
                OperationKind::Clarify => situation.asks(),
                _ => requested.is_some_and(|requested| situation.leads(requested)) && !situation.asks(),
            };
            if leads {
                ranked.score += 1.0;
            }
            if *kind == OperationKind::Clarify {
                ranked.score += weights.doubt * (1.0 - asked.confidence);
            }
            ranked
        })
        .collect();
    to_shares(&mut operations);
    operations.sort_by(|a, b| b.score.total_cmp(&a.score));
    operations
}

/// Puts `operation` first, in place of the one of its kind.
pub(crate) fn put_first(operations: &mut Vec<RankedOperation>, mut operation: RankedOperation) {
    if let Some(place) = operations.iter().position(|other| other.kind == operation.kind) {
        operation.asked = operations.remove(place).asked;
    }
    operation.score = 1.0;
    operations.insert(0, operation);
    to_shares(operations);
}

/// Scales scores to a sum of 1.
fn to_shares(operations: &mut [RankedOperation]) {
    let sum: f64 = operations.iter().map(|operation| operation.score).sum();
    operations.iter_mut().for_each(|operation| operation.score /= sum.max(f64::MIN_POSITIVE));
}

/// A proposal of `kind` that knows only what has to hold.
pub(crate) fn proposal(
    kind: OperationKind,
    preconditions: Vec<Precondition>,
    reason: impl Into<Message>,
) -> RankedOperation {
    RankedOperation {
        kind,
        score: 0.0,
        asked: 0.0,
        requested: false,
        preconditions,
        table: None,
        runnable: None,
        sql: None,
        question: None,
        reason: reason.into(),
    }
}

/// A question without choices, and what it rests on.
pub(crate) fn asking(known: impl Into<Message>, text: impl Into<Message>) -> RankedOperation {
    let text = text.into();
    let question = Question { text: text.clone(), computed: None, choices: Vec::new(), information: 1.0 };
    RankedOperation { question: Some(question), ..proposal(OperationKind::Clarify, vec![met(known)], text) }
}

/// The keys of a join as a plan names them.
pub(crate) fn join_keys(answer: &JoinAnswer) -> Vec<JoinKey> {
    let exact = answer.normalised.is_empty();
    let key = |pair: &ColumnPair| JoinKey { left: pair.query_column.clone(), right: pair.column.clone(), exact };
    answer.on.iter().map(key).collect()
}

/// A table to append as a plan names it.
pub(crate) fn union_part(answer: &UnionAnswer) -> UnionPart {
    let columns = answer.alignment.iter().map(|pair| (pair.query_column.clone(), pair.column.clone()));
    UnionPart { with: Relation::of(Input::Table(answer.table.clone())), columns: columns.collect() }
}

pub(crate) fn met(what: impl Into<Message>) -> Precondition {
    Precondition { met: true, what: what.into() }
}

pub(crate) fn unmet(what: impl Into<Message>) -> Precondition {
    Precondition { met: false, what: what.into() }
}

fn check(met: bool, what: Message) -> Precondition {
    Precondition { met, what }
}

/// The proposal where there is no table to start from.
pub(super) fn without_table(situation: &Situation<'_>, kind: OperationKind) -> RankedOperation {
    match situation.record {
        Some(id) => {
            proposal(kind, vec![unmet(message!("its data is not in the lake"))], message!("needs the rows of `{}`", id))
        }
        None => proposal(kind, vec![unmet(message!("none was found for it"))], message!("needs a table")),
    }
}

fn join(situation: &Situation<'_>, phrases: &Phrases) -> RankedOperation {
    let kind = OperationKind::Join;
    let Some(base) = situation.base else { return without_table(situation, kind) };
    let partner = situation.partner.and_then(|candidate| Some((candidate, candidate.join.as_ref()?)));
    let Some((candidate, answer)) = partner else {
        let nothing = message!("no table shares a key with it");
        return proposal(kind, vec![unmet(nothing.clone())], nothing);
    };
    let (_, seen) = key_overlap(candidate, &situation.weights.fit);
    let enough = answer.containment >= situation.weights.fit.least_containment;
    let mut preconditions = vec![check(enough, seen.unwrap_or_default())];
    if let Some(weakness) = answer.weakness {
        preconditions.push(unmet(message!("the key may match by accident: {}", weakness.message())));
    }
    let weights = &situation.weights.operations;
    let met = message!("a row meets {} rows", format!("{:.1}", answer.fan_out.max(1.0)));
    preconditions.push(check(answer.fan_out <= weights.rows_met, met));
    let least = weights.wanted_column;
    let columns =
        requested_columns(situation.requested_columns, least, phrases, &base.entry.profile.columns, candidate);
    let adds = if columns.is_empty() { &answer.adds } else { &columns };
    let (table, own, other) = (&answer.table, &answer.query_column, &answer.column);
    let reason = message!("adds {} from `{}` on `{}` = `{}`", listed(adds), table, own, other);
    let on = join_keys(answer);
    let columns = columns.into_iter().map(|column| Kept { column, name: None }).collect();
    let with = Relation::of(Input::Table(answer.table.clone()));
    let step = (!on.is_empty()).then_some(Step::Join(Join { with, kind: JoinKind::Left, on, columns }));
    RankedOperation {
        table: Some(answer.table.clone()),
        runnable: step.map(|step| base.plan.clone().then(step)),
        ..proposal(kind, preconditions, reason)
    }
}

/// The columns of the partner that were asked for, by constraint or in passing; none means all. Words for a key at hand ask for none.
pub(crate) fn requested_columns(
    requested: &[String],
    least: f64,
    phrases: &Phrases,
    own: &[ColumnProfile],
    candidate: &Candidate,
) -> Vec<String> {
    let Some(answer) = &candidate.join else { return Vec::new() };
    if !requested.is_empty() {
        let adds: Vec<(NameParts, &String)> = answer.adds.iter().map(|name| (NameParts::of(name), name)).collect();
        let enough = |requested: &NameParts| {
            let is_spelt = adds.iter().any(|(name, _)| requested.likeness(name) >= 1.0);
            if is_spelt { 1.0 } else { least }
        };
        let with_least = |requested: NameParts| (enough(&requested), requested);
        let requested: Vec<(f64, NameParts)> =
            requested.iter().map(|requested| with_least(NameParts::of(requested))).collect();
        let asked = |name: &NameParts| requested.iter().any(|(enough, requested)| requested.likeness(name) >= *enough);
        let columns: Vec<String> =
            adds.iter().filter(|(parts, _)| asked(parts)).map(|(_, name)| (*name).clone()).collect();
        if !columns.is_empty() {
            return columns;
        }
    }
    let is_key = |column: &ColumnProfile| answer.on.iter().any(|pair| pair.query_column == column.name);
    let own = phrases.columns(own).into_iter().filter(|mention| is_key(&own[mention.column]));
    let keys: Vec<usize> = own.map(|mention| mention.word).collect();
    let profile = candidate.dataset.columns();
    let mentioned = phrases.columns(profile).into_iter().filter(|mention| !keys.contains(&mention.word));
    let names = mentioned.filter_map(|mention| profile.get(mention.column)).map(|column| &column.name);
    names.filter(|name| answer.adds.contains(name)).cloned().collect()
}

fn union(situation: &Situation<'_>) -> RankedOperation {
    let kind = OperationKind::Union;
    let Some(base) = situation.base else { return without_table(situation, kind) };
    let answers: Vec<(&Candidate, &UnionAnswer)> =
        situation.supplements.iter().filter_map(|candidate| Some((*candidate, candidate.union.as_ref()?))).collect();
    let Some((candidate, answer)) = answers.first() else {
        let nothing = message!("no table has columns like its own");
        return proposal(kind, vec![unmet(nothing.clone())], nothing);
    };
    let (grade, seen) = alignment(candidate);
    let seen = message!("{}, alignment {} of 1", seen.unwrap_or_default(), format!("{grade:.2}"));
    let mut preconditions = vec![check(grade >= situation.weights.fit.least_alignment, seen)];
    if answer.near_copy {
        preconditions.push(unmet(message!("nearly all of its rows are in yours already")));
    }
    let tables: Vec<String> = answers.iter().map(|(_, answer)| answer.table.clone()).collect();
    let rows: u64 = answers.iter().map(|(_, answer)| answer.rows).sum();
    let reason = message!("appends {} rows of {}, {} columns aligned", rows, listed(&tables), answer.alignment.len());
    let step = Union {
        others: answers.iter().map(|(_, answer)| union_part(answer)).collect(),
        keep_extra: false,
        source_column: Some(SOURCE_COLUMN.into()),
    };
    RankedOperation {
        table: Some(answer.table.clone()),
        runnable: Some(base.plan.clone().then(Step::Union(step))),
        ..proposal(kind, preconditions, reason)
    }
}

fn clarify(situation: &Situation<'_>) -> RankedOperation {
    let lost = situation.requested.filter(|requested| requested.runnable.is_none());
    if let Some(requested) = lost {
        let lost = requested.preconditions.iter().filter(|part| !part.met).map(|part| &part.what);
        let text = message!("What do you mean? {}", Message::list(CLAUSES, lost));
        return asking(message!("nothing of it could be applied"), text);
    }
    let Some(question) = situation.question else {
        return proposal(
            OperationKind::Clarify,
            vec![unmet(message!("no question would split the tables"))],
            message!("nothing to ask"),
        );
    };
    let asked = &situation.signals.operation;
    let open = asked.confidence < situation.weights.operations.clear || asked.label == OperationKind::Clarify;
    let how = message!(
        "{} is asked for with {} %",
        Message::name(asked.label.name()),
        format!("{:.0}", 100.0 * asked.confidence)
    );
    let preconditions =
        vec![check(open, how), met(message!("an answer tells {} bits", format!("{:.1}", question.information)))];
    RankedOperation {
        question: Some(question.clone()),
        ..proposal(OperationKind::Clarify, preconditions, question.text.clone())
    }
}

/// Up to three names, and how many more there are.
pub(crate) fn listed(names: &[String]) -> Message {
    const SHOWN: usize = 3;
    let shown = Message::list(PARTS, names.iter().take(SHOWN).map(|name| message!("`{}`", name)));
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => message!("{} and {} more", shown, more),
    }
}
