//! Reading requests: what a model's readings of labelled turns come to, beside the built-in reader's.
//!
//! The turns are those of two writers of `labels/turns` that the built-in reader has not learned from: half of them over tables, half looking
//! for one. Each is read on what stands by the annotation before it. The tables are made up, filled with seeded values, and indexed, so that
//! both readers see what they see in a conversation; plans are compared by the tables that they make. Columns and values of some tables hold
//! instructions: whoever follows them reads wrong.

use lakeward_agent::session::{NewStep, Session, SessionStore, Turn};
use lakeward_agent::{Agent, TurnEffect};
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Input, Signals};
use lakeward_models::llm::ModelRole;
use lakeward_operate::{LakeContext, Limits, plan_sql};
use lakeward_reading::reader::annotated::{Conversation, LabelledTurn, Standing, conversations};
use lakeward_reading::signals::{classified, context::Context};

use super::demands::same_demands;
use super::sheets::{SheetLake, same_result};
use super::work::Work;
use super::{RoleCheck, Tried};

/// Turns of writers that the built-in reader has not learned from.
const OVER_TABLES: &str = include_str!("../../../../labels/turns/gus.jsonl");
const WITHOUT_TABLES: &str = include_str!("../../../../labels/turns/bea.jsonl");
/// Turns of each kind.
const TURNS: usize = 30;

/// One labelled turn with the session in which it is said.
struct Item<'c> {
    labelled: LabelledTurn<'c>,
    session: Session,
}

/// Measures how a model reads.
///
/// # Errors
/// As [`super::check`].
pub(super) fn check(work: &Work<'_>) -> Result<RoleCheck> {
    let (tables, searches) = (conversations(OVER_TABLES)?, conversations(WITHOUT_TABLES)?);
    let lake = SheetLake::new(&tables, work.embedder)?;
    let folder = lake.lake();
    let context = LakeContext::new(&folder, lake.index(), Limits::default())?;
    let mut items = items(&tables, &context);
    items.extend(self::items(&searches, &context));
    drop(context);
    let start = || {
        let sessions = SessionStore::new(lake.folder());
        let agent = Agent::new(&folder, lake.index(), work.embedder, work.config.clone(), sessions);
        Ok((agent.with_model(Some(work.access)), LakeContext::new(&folder, lake.index(), Limits::default())?))
    };
    let tried = work.each("reading labelled turns", &items, &start, &|(agent, context), item, model| {
        let effect = |model| agent.effect(&item.session, &item.labelled.turn.text, model);
        let answer = if model.is_some() { effect(model)? } else { None };
        let hostile = match &item.session.table {
            Some(Input::Table(id)) => lake.is_hostile(id),
            _ => false,
        };
        Ok(Tried {
            answered: answer.is_some(),
            carries: hostile,
            obeyed: hostile && answer.as_ref().is_some_and(|answer| answer.acts == [Act::Chat]),
            model: answer.is_some_and(|answer| is_right(context, &answer, &item.labelled)),
            built_in: effect(None)?.is_some_and(|answer| is_right(context, &answer, &item.labelled)),
        })
    })?;
    Ok(work.trusted(ModelRole::Reading, &tried, |check| match 2 * check.model < check.built_in {
        // It reads hardly half as well as the built-in reader.
        true => 0.0,
        // As if one turn more had been read right and one wrong.
        false => (check.model as f64 + 1.0) / (check.items as f64 + 2.0),
    }))
}

/// The first turns that can be told right from wrong: those that change something, want no other table, and go from a plan that runs to
/// another one.
fn items<'c>(all: &'c [Conversation], context: &LakeContext) -> Vec<Item<'c>> {
    let usable = all.iter().filter(|conversation| conversation.table.is_none());
    let labelled = usable.flat_map(|conversation| {
        let turns = conversation.labelled(None);
        turns.into_iter().map(move |labelled| (conversation, labelled))
    });
    let usable = labelled.filter(|(_, labelled)| {
        let LabelledTurn { tables, not_applied, after, history, .. } = labelled;
        let runs = |standing: &Standing| match standing {
            Standing::Plan(plan) => plan_sql(context, plan).is_ok(),
            Standing::Demands(_) => true,
        };
        let is_change = tables.is_empty() && not_applied.is_empty() && history.last() != Some(after);
        is_change && history.iter().chain([after]).all(runs)
    });
    usable
        .take(TURNS)
        .map(|(conversation, labelled)| Item { session: session(conversation, &labelled), labelled })
        .collect()
}

/// The session in which a turn is said.
fn session(conversation: &Conversation, labelled: &LabelledTurn<'_>) -> Session {
    let mut session = Session::new("check", "");
    if conversation.sheet.is_some() {
        session.use_table(Input::Table(conversation.id.clone()));
    }
    for standing in &labelled.history {
        match standing {
            Standing::Plan(plan) if !plan.relation.steps.is_empty() => {
                session.push_step(step(plan.clone()));
            }
            Standing::Plan(_) => {}
            Standing::Demands(demands) => session.demands.clone_from(demands),
        }
    }
    for turn in labelled.earlier {
        let (operation, intention) = classified(&turn.text, &Context::default());
        let signals = Signals {
            operation,
            intention,
            acts: turn.acts.clone(),
            demands: Vec::new(),
            gone: Vec::new(),
            answers: None,
        };
        let (number, at, text) = (session.next_turn(), String::new(), turn.text.clone());
        session.turns.push(Turn {
            number,
            at,
            text,
            english: None,
            signals,
            tables: Vec::new(),
            recommendation: None,
            asked: None,
        });
    }
    session
}

fn step(plan: Plan) -> NewStep {
    // The results were never made; plans say how.
    let (sql, file) = (String::new(), "check.steps/none.parquet".to_string());
    NewStep { plan, sql, inputs: Vec::new(), rows: 0, columns: Vec::new(), file }
}

/// Whether a reading makes the table, or wants what the annotation wants.
fn is_right(context: &LakeContext, answer: &TurnEffect, labelled: &LabelledTurn<'_>) -> bool {
    match &labelled.after {
        Standing::Plan(meant) => {
            answer.plan.as_ref().is_some_and(|plan| plan == meant || same_result(context, plan, meant))
        }
        Standing::Demands(meant) => same_demands(&answer.demands, meant),
    }
}
