//! "I want to predict X": joins that add columns of other tables to the table at hand, one row a key, each with what
//! it adds to a model of X.
//!
//! If the request names columns, they are those that a search for columns finds best among the tables that share keys
//! with the one at hand. They are added whatever they add to a model, unless they give X away. If it names none, the
//! columns that help most are added.

mod named;
mod one_row;
mod phrases;

use std::time::Duration;

pub(super) use self::named::Named;
use self::named::{READ, READ_EACH};
use self::phrases::phrases;
pub(super) use self::phrases::unexplained;
use super::Agent;
use super::scored::Scored;
use crate::doubts::doubts;
use crate::execution::preview_rows;
use crate::feature_table::{Aggregate, Feature, FeatureOptions, FeatureTable, feature_table};
use crate::known_columns::column_names;
use crate::plan_edit::first_steps;
use crate::recommend::mentions::Phrases;
use crate::recommend::next_operations::{self, Base, met, proposal, unmet};
use crate::recommend::{Precondition, RankedOperation};
use crate::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message::Message;
use lakeward_core::plan::{Join, Measure, Plan, Step};
use lakeward_core::request::{Input, Intention, OperationKind, Signals};
use lakeward_core::text::counted;
use lakeward_index::ColumnRef;
use lakeward_lake::join_keys;
use lakeward_lake::profile::ColumnProfile;
use lakeward_reading::reader::{Role, TurnReading};
use lakeward_search::QueryTable;
use lakeward_search::correlate;
use lakeward_search::weights::PredictionWeights;

/// Features of one answer; "what else explains it" asks for more.
const FEATURES: usize = 3;
/// Time for fitting models.
const WITHIN: Duration = Duration::from_secs(6);

/// What a turn for a prediction is answered with.
struct Predicted {
    /// The operation to go first.
    pub operation: RankedOperation,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// What the joins of a turn are made of.
#[derive(Clone, Copy)]
pub(super) struct Joining<'a> {
    /// The table at hand, else the best one.
    pub base: &'a Base<'a>,
    /// The same, as searches see it.
    pub table: &'a QueryTable,
    /// Whether it is at hand.
    pub is_at_hand: bool,
    /// What the words say of it.
    pub requested: Option<&'a RankedOperation>,
    /// What goes with it.
    pub partners: &'a [Scored],
    /// Whether the words that ask for a join were read as none.
    pub is_guess: bool,
}

/// Operations with what joins of other tables make of them.
pub(super) struct Joined {
    /// The operations, best first.
    pub operations: Vec<RankedOperation>,
    /// What is to be said of the first.
    pub notes: Vec<String>,
    /// Whether a search found the columns of the first, as the words do not give them.
    pub is_looked_up: bool,
}

impl Joined {
    /// Operations with which nothing is joined.
    pub fn of(operations: Vec<RankedOperation>) -> Self {
        Self { operations, notes: Vec::new(), is_looked_up: false }
    }
}

impl Agent<'_> {
    /// The operations, the first of which adds columns of other tables, with one row for each key, where the request wants
    /// such columns: to predict something, or beside the rows at hand. `read` is the request as it is read without a table.
    ///
    /// # Errors
    /// Those of [`feature_table`] and of previewing plans.
    pub(super) fn with_joins(
        &self,
        session: &Session,
        request: (&Signals, &str),
        joining: &Joining<'_>,
        (turn, read): (&TurnReading, &TurnReading),
        mut operations: Vec<RankedOperation>,
    ) -> Result<Joined> {
        let Joining { base, table, is_at_hand, requested, partners, is_guess } = *joining;
        if is_at_hand {
            return match self.features_for(session, request, base, table, (requested, partners), turn)? {
                Some(Predicted { operation, notes }) => {
                    next_operations::put_first(&mut operations, operation);
                    Ok(Joined { operations, notes, is_looked_up: true })
                }
                None => {
                    let notes = self.keep_rows(session, request, (base, table, turn), &mut operations)?;
                    Ok(Joined { operations, notes, is_looked_up: false })
                }
            };
        }
        // Without a table at hand a join of which the words were not read adds what they name rather than what fits best.
        if is_guess {
            let added: Vec<&str> = read.of(Role::Add).map(|span| span.words.as_str()).collect();
            let is_join = request.0.operation.label == OperationKind::Join;
            if (is_join || !added.is_empty())
                && let Some(mut named) = self.named_elsewhere(session, (request.1, &added), base, table, partners)?
            {
                if added.is_empty() || !is_join {
                    named.preconditions.push(unmet("which columns is guessed from the words"));
                }
                next_operations::put_first(&mut operations, named);
                let notes = self.keep_rows(session, request, (base, table, read), &mut operations)?;
                return Ok(Joined { operations, notes, is_looked_up: true });
            }
        }
        Ok(Joined::of(operations))
    }

    /// The joins of features for the column at hand that the request, or an earlier one of the session, wants to predict, and what to know
    /// of them; a question where it names no column. `requested` is what the words say of the table at hand. `None` where nothing is
    /// to be predicted, the table's columns are no longer those of its file, or nothing helps.
    ///
    /// # Errors
    /// Those of [`feature_table`], except for a table without a key or a target that cannot be predicted.
    fn features_for(
        &self,
        session: &Session,
        (signals, text): (&Signals, &str),
        base: &Base<'_>,
        query: &QueryTable,
        (requested, partners): (Option<&RankedOperation>, &[Scored]),
        turn: &TurnReading,
    ) -> Result<Option<Predicted>> {
        let PredictionWeights { sure, suspected, other_kind } = self.ranking.prediction;
        let mut added: Vec<&str> = turn.of(Role::Add).map(|span| span.words.as_str()).collect();
        let probability = signals.intention.probability(Intention::Prediction);
        // "What else explains it": a turn that says nothing of rows, after one for a prediction.
        let predicts = |signals: &Signals| {
            signals.intention.label == Intention::Prediction && signals.intention.confidence >= sure
        };
        let vague = matches!(signals.operation.label, OperationKind::Clarify | OperationKind::Join);
        let continues = requested.is_none()
            && vague
            && signals.operation.confidence < sure
            && session.remembered().iter().any(|turn| predicts(&turn.signals));
        // What the rows at hand rest on is no doubt of what is asked of them.
        let rests_on = doubts(session);
        let is_doubt = |part: &Precondition| !part.met && !rests_on.contains(&part.what);
        let doubtful = requested.is_some_and(|requested| requested.preconditions.iter().any(is_doubt));
        // "Net per supplier" is read without a doubt, whatever it may sound like.
        let may_predict = doubtful || requested.is_none() || signals.intention.confidence >= sure;
        let is_first = signals.intention.label == Intention::Prediction && may_predict || continues;
        let columns = &query.entry.profile.columns;
        let mut said = target_of_turn(turn, text, columns);
        // A column at hand that was taken for one wanted of other tables is what is to be predicted, where nothing else is named.
        if said.is_none() && is_first {
            let own = added.iter().position(|words| target_named(words, columns).is_some());
            said = own.and_then(|place| target_named(added.remove(place), columns));
        }
        // Something of another table is wanted in so many words, perhaps for a model or beside a column that is named.
        let is_join = signals.operation.label == OperationKind::Join;
        let beside = || is_join && turn.of(Role::Column).any(|span| !span.columns.is_empty());
        let asks = !added.is_empty() && (probability >= suspected || beside());
        let is_sure = predicts(signals) || continues || asks;
        // "More examples for my model" asks for rows, whatever they are for; "of the same day" does not.
        let has_key = turn.of(Role::Key).next().is_some();
        let wants_rows = !asks
            && !has_key
            && signals.operation.label == OperationKind::Union
            && signals.operation.confidence >= sure;
        // Nothing but a figure in doubt, of groups that hold one row each, is one of another table.
        let steps = base.plan.relation.steps.len();
        let is_idle = match requested.and_then(|requested| requested.runnable.as_ref()) {
            Some(plan) if added.is_empty() && doubtful && plan.relation.steps.len() == steps + 1 => {
                self.groups_single_rows(session, plan)?
            }
            _ => false,
        };
        if is_idle {
            added = turn.of(Role::Measure).map(|span| span.words.as_str()).collect();
        }
        let keeps_rows =
            |step: &Step| matches!(step, Step::Join(_) | Step::Filter(_) | Step::Sort(_) | Step::Limit { .. });
        // After a group it would be another table than the one that is read.
        let is_own = base.plan.relation.steps.iter().all(keeps_rows);
        // What is read over the rows at hand and in doubt may be a request for other tables, unless it surely is none.
        let is_other_kind = !is_join && signals.operation.confidence >= other_kind;
        let is_suspected = doubtful && probability >= suspected && !is_other_kind;
        if wants_rows
            || !(is_first || asks || is_idle || is_suspected)
            || !is_own
            || matches!(base.plan.relation.source, Input::Step(_))
        {
            return Ok(None);
        }
        let earlier = || session.remembered().iter().rev().find_map(|turn| target_named(turn.read(), columns));
        let target = said.or_else(earlier);
        // What the words plainly say stands, unless they name what is to be predicted.
        let may_overrule = asks
            || is_idle
            || match requested {
                None => true,
                Some(requested) if requested.kind.combines() => is_sure && said.is_some(),
                Some(_) => doubtful || said.is_some(),
            };
        let named = if may_overrule {
            let rest = target.map_or_else(|| text.to_string(), |target| without(text, &columns[target].name));
            let phrases: Vec<String> = phrases(&rest, &added).into_iter().map(str::to_string).collect();
            let read = (READ / phrases.len().max(1)).max(READ_EACH);
            let named =
                self.columns_named((&phrases, !added.is_empty() && !is_idle, read), base, query, (target, partners))?;
            let mut named = self.joinable(session, named, query, target, partners)?;
            // Who names a table wants no other one.
            let ids: Vec<&str> = turn.of(Role::Table).filter_map(|span| span.value.as_deref()).collect();
            named.retain(|named| ids.is_empty() || ids.contains(&named.table.as_str()));
            named
        } else {
            Vec::new()
        };
        // Nor does a join give way that brings the column which the words name best.
        let is_new = |step: &Step| matches!(step, Step::Join(_)) && !base.plan.relation.steps.contains(step);
        let joins = |requested: &RankedOperation| {
            let steps = requested.runnable.iter().flat_map(|plan| &plan.relation.steps);
            requested.kind.combines() || !doubtful && steps.into_iter().any(is_new)
        };
        let brings_best = |requested: &RankedOperation| joins(requested) && brings(requested, &named);
        if !requested.is_some_and(brings_best)
            && let Some(mut found) = self.add_named(session, &named, base, query, target)?
        {
            if !(is_first || asks) {
                found.operation.preconditions.push(unmet("that columns of other tables are wanted is guessed"));
            }
            return Ok(Some(found));
        }
        let Some(target) = target else {
            return Ok(
                (is_sure && requested.is_none()).then(|| Predicted { operation: which(columns), notes: Vec::new() })
            );
        };
        let name = &columns[target].name;
        let loses = |requested: &RankedOperation| {
            Ok::<bool, Error>(match &requested.runnable {
                Some(plan) => said.is_some() && !self.has_target(session, plan, name)?,
                None => false,
            })
        };
        let other = match requested {
            Some(requested) => {
                let applies = requested.runnable.is_some() && !only_selects(requested) && !loses(requested)?;
                !asks && applies || !named.is_empty() && brings_best(requested)
            }
            None => false,
        };
        if !is_sure || other {
            return Ok(None);
        }
        let context = self.connected(session)?;
        let options = self.options(base, target, (Vec::new(), Aggregate::Mean));
        match feature_table(self.index, self.lake, context, query, &options) {
            Ok(table) if table.features.is_empty() => {
                let operation = nothing_helps(&table);
                Ok((requested.is_none() && !asks).then(|| Predicted { operation, notes: notes(&table) }))
            }
            Ok(table) => {
                let mut operation = operation(&table);
                if asks {
                    let why = match named.first() {
                        Some(Named { table, column, .. }) => {
                            format!("a model must not have `{column}` of `{table}`, or it repeats rows")
                        }
                        None => "no column that joins is called so".into(),
                    };
                    let phrases = added.join("`, `");
                    operation.preconditions.push(unmet(format!("`{phrases}` is not added: {why}")));
                }
                Ok(Some(Predicted { operation, notes: notes(&table) }))
            }
            Err(Error::Usage(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn options(
        &self,
        base: &Base<'_>,
        target: usize,
        (only, aggregate): (Vec<ColumnRef>, Aggregate),
    ) -> FeatureOptions {
        let k = if only.is_empty() { FEATURES } else { only.len() };
        let base = Some(base.plan.clone());
        FeatureOptions { target, key: Vec::new(), k, aggregate, within: WITHIN, base, only }
    }

    /// Whether a plan computes figures of groups that hold one row each.
    fn groups_single_rows(&self, session: &Session, plan: &Plan) -> Result<bool> {
        let steps = &plan.relation.steps;
        let is_grouped = |step: &Step| matches!(step, Step::Group(grouping) if !grouping.keys.is_empty());
        let Some(place) = steps.iter().position(is_grouped) else { return Ok(false) };
        let context = self.connected(session)?;
        let rows = |count: usize| Ok::<u64, Error>(preview_rows(context, &first_steps(plan, count))?.rows_out);
        let before = rows(place)?;
        Ok(before > 1 && rows(place + 1)? == before)
    }

    /// Whether what a plan makes still has the column `name`, or a figure of it for each group.
    fn has_target(&self, session: &Session, plan: &Plan, name: &str) -> Result<bool> {
        let figure = |step: &Step| {
            let Step::Group(grouping) = step else { return false };
            let is_of = |measure: &Measure| measure.of.as_ref().is_some_and(|of| of.as_column() == Some(name));
            !grouping.keys.is_empty() && grouping.measures.iter().any(is_of)
        };
        let has = column_names(self.connected(session)?, &plan.relation)?.iter().any(|column| column == name);
        Ok(has || plan.relation.steps.iter().any(figure))
    }
}

/// The column that a turn speaks of as what is to be predicted: as it is read, else as its words name it outside of what is wanted of other
/// tables.
fn target_of_turn(turn: &TurnReading, text: &str, columns: &[ColumnProfile]) -> Option<usize> {
    let can_be = |place: &usize| *place < columns.len() && correlate::target_column(columns, *place).is_ok();
    let read = turn.of(Role::Column).filter_map(|span| span.columns.first().copied()).find(can_be);
    read.or_else(|| {
        let rest = turn.of(Role::Add).fold(text.to_string(), |rest, span| rest.replace(&span.words, " "));
        target_named(&rest, columns)
    })
}

/// The column that a text names as what is to be predicted: the first that is none of the things or times that rows are about.
fn target_named(text: &str, columns: &[ColumnProfile]) -> Option<usize> {
    let keys = join_keys::keys(columns);
    let is_key = |place: &usize| keys.iter().any(|key| key.contains(place)) && !columns[*place].logical.is_numeric();
    let can_be = |place: &usize| correlate::target_column(columns, *place).is_ok();
    let mentioned = || Phrases::of(text).columns(columns).into_iter().map(|mention| mention.column).filter(can_be);
    mentioned().find(|place| !is_key(place) && !join_keys::is_time(&columns[*place])).or_else(|| mentioned().next())
}

/// `text` without the words that are the name of a column, where they stand first.
fn without(text: &str, name: &str) -> String {
    let (lower, name) = (text.to_lowercase(), name.to_lowercase());
    let spaced = name.replace(['_', '-'], " ");
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_word = |at: usize, length: usize| {
        !is_inside(lower[..at].chars().next_back()) && !is_inside(lower[at + length..].chars().next())
    };
    let found = [&name, &spaced].into_iter().find_map(|name| {
        let at = lower.match_indices(name.as_str()).map(|(at, _)| at).find(|at| is_word(*at, name.len()))?;
        Some((at, at + name.len()))
    });
    match found {
        Some((from, to)) if text.is_char_boundary(from) && text.is_char_boundary(to) => {
            format!("{} {}", &text[..from], &text[to..])
        }
        _ => text.to_string(),
    }
}

/// Whether a join brings the column that words name best, or one that they name as well.
fn brings(requested: &RankedOperation, named: &[Named]) -> bool {
    let Some(best) = named.first() else { return true };
    let joins = requested.runnable.iter().flat_map(|plan| &plan.relation.steps);
    joins.into_iter().any(|step| {
        let Step::Join(Join { with, columns, .. }) = step else { return false };
        let is_of = |named: &&Named| with.source == Input::Table(named.table.clone());
        let is_kept = |named: &Named| columns.is_empty() || columns.iter().any(|kept| kept.column == named.column);
        named.iter().filter(is_of).any(|named| named.score >= best.score && is_kept(named))
    })
}

/// A column that is named to be predicted is easily read as one to be kept.
fn only_selects(requested: &RankedOperation) -> bool {
    let last = requested.runnable.as_ref().and_then(|plan| plan.relation.steps.last());
    matches!(last, Some(Step::Select(_)))
}

/// Asks for the column to be predicted.
fn which(columns: &[ColumnProfile]) -> RankedOperation {
    const SHOWN: usize = 6;
    let can_be =
        |place: &usize| columns[*place].logical.is_numeric() && correlate::target_column(columns, *place).is_ok();
    let names = (0..columns.len()).filter(can_be).take(SHOWN).map(|place| format!("`{}`", columns[place].name));
    let names: Vec<String> = names.collect();
    let text = format!("Which column do you want to predict? For example {}", names.join(", "));
    question("the request names no column to be predicted", text)
}

/// Tells that no column of other tables helps.
fn nothing_helps(table: &FeatureTable) -> RankedOperation {
    let tested = counted(table.tested, "column");
    let text =
        format!("Nothing of other tables is seen to go with `{}`. What do you want to do instead?", table.target);
    question(format!("{tested} tested"), text)
}

/// A question that is asked whatever else could be done, and what it rests on.
fn question(known: impl Into<Message>, text: impl Into<Message>) -> RankedOperation {
    RankedOperation { requested: true, ..next_operations::asking(known, text) }
}

fn operation(table: &FeatureTable) -> RankedOperation {
    let adds = |feature: &Feature| {
        let gain = feature.gain.as_ref().map(|gain| format!(": {gain}")).unwrap_or_default();
        format!("`{}`, {} of `{}`{gain}", feature.name, feature.aggregate, feature.found.table)
    };
    let features: Vec<String> = table.features.iter().map(adds).collect();
    let reason = format!("for a model of `{}` adds {}", table.target, features.join("; "));
    let preconditions = vec![
        met(format!("{} rows, as before", table.rows)),
        met(format!("{} tested", counted(table.tested, "column"))),
    ];
    RankedOperation {
        requested: true,
        table: table.features.first().map(|feature| feature.found.table.clone()),
        runnable: Some(Plan::clone(&table.plan)),
        ..proposal(OperationKind::Join, preconditions, reason)
    }
}

/// What together the features add, how many rows get none, and what was left out as it knows the target.
fn notes(table: &FeatureTable) -> Vec<String> {
    let mut notes = table.notes.clone();
    if let Some(gain) = table.gain.as_ref().filter(|_| table.features.len() > 1) {
        notes.push(format!("all of them: {gain}"));
    }
    for feature in &table.features {
        let missing = 1.0 - feature.found.coverage;
        if missing >= 0.005 {
            notes.push(format!("`{}` is missing in {:.0}% of the rows", feature.name, 100.0 * missing));
        }
        let cautions = feature.found.cautions.iter();
        notes.extend(cautions.map(|caution| format!("`{}`: {}", feature.name, caution.reason())));
    }
    let leaks = table.left_out.iter().filter(|left_out| left_out.leaks);
    notes.extend(
        leaks.map(|left_out| format!("left out: `{}` of `{}`: {}", left_out.column, left_out.table, left_out.reason)),
    );
    notes
}
