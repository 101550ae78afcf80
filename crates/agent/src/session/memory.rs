//! What a conversation remembers: S_t = M(q̃_t, τ_t, r_t, S_{t−1}) of ScienceDB AI (Long et al., 2026), with the demands in force
//! for q̃, what was retrieved for τ and r. Recency wins among demands, so that they stay as few as what is asked for; what
//! was retrieved is kept of the latest turns only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Session, Turn};
use lakeward_core::plan::Plan;
use lakeward_core::request::{Act, Demand, Demanded, Input};
use lakeward_core::respect::Respect;

/// One search of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retrieval {
    /// The turn, from 1.
    pub turn: usize,
    /// Identifies index and query: the same again has the same answer.
    pub key: String,
    /// Records that met all that was stated.
    pub met: usize,
    /// What was not held to any more, because otherwise there were too few answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxed: Vec<Respect>,
    /// How many were found.
    pub found: usize,
    /// Ids of the first of them, best first.
    pub records: Vec<String>,
}

/// Retrievals that are kept.
const RETRIEVALS: usize = 20;
/// Records of one that are kept, and of older ones than the latest two.
const RECORDS: [usize; 2] = [30, 5];
/// Demands in force, and in an old turn.
const DEMANDS: [usize; 2] = [60, 6];
/// Values of one demand, and ways of writing one of them.
const VALUES: [usize; 2] = [40, 3];
/// Characters of the words of a demand.
const TEXT: [usize; 2] = [400, 60];

impl Session {
    /// What was found for `key` in one of the latest turns.
    pub fn retrieved(&self, key: &str) -> Option<&Retrieval> {
        self.retrievals.iter().rev().find(|retrieval| retrieval.key == key)
    }

    /// Forgets what is wanted or not wanted in `role`; how many demands that were.
    pub fn forget(&mut self, role: &Respect) -> usize {
        let before = self.demands.len();
        self.demands.retain(|demand| demand.role != *role);
        before - self.demands.len()
    }

    /// Puts `demand` in force instead of what its role demanded.
    pub fn demand(&mut self, demand: Demand) {
        self.demands.retain(|other| other.role != demand.role || other.avoid);
        self.demands.push(demand);
    }

    /// Leaves behind what is wanted, proposed, chosen and said so far. The table at hand, the steps and the transcript stay.
    pub fn forget_all(&mut self) {
        if self.table.is_none() {
            self.table = self.accepted.last().map(|choice| Input::Table(choice.table.clone()));
        }
        self.demands.clear();
        self.retrievals.clear();
        self.accepted.clear();
        self.rejected.clear();
        self.turns_forgotten = self.latest().map_or(0, |turn| turn.number);
    }

    /// The turns that are not forgotten, oldest first.
    pub fn remembered(&self) -> &[Turn] {
        let first = self.turns.partition_point(|turn| turn.number <= self.turns_forgotten);
        &self.turns[first..]
    }

    /// The demands that were in force before the last turns that changed them, `steps` of these back; as far as the turns are kept whole.
    pub fn demands_before(&self, steps: usize) -> Vec<Demand> {
        let mut states: Vec<&[Demand]> = vec![&self.demands];
        for turn in self.remembered().iter().rev() {
            if states.last() != Some(&turn.signals.demands.as_slice()) {
                states.push(&turn.signals.demands);
            }
        }
        if states.last().is_some_and(|first| !first.is_empty()) {
            states.push(&[]);
        }
        states.get(steps.min(states.len() - 1)).map(|state| state.to_vec()).unwrap_or_default()
    }

    /// Ids of the answers shown last, which "the second one" counts.
    pub fn listed(&self) -> Vec<String> {
        let latest = self.turns.iter().rev().find(|turn| !turn.tables.is_empty());
        latest.map(|turn| turn.tables.clone()).unwrap_or_default()
    }

    /// The questions that turns asked first of all since one last began anew, as they were computed, the latest first.
    pub fn questions(&self) -> impl Iterator<Item = &str> {
        let mut is_over = false;
        let since = self.remembered().iter().rev().take_while(move |turn| {
            let continues = !is_over;
            is_over |= turn.signals.acts.contains(&Act::New);
            continues
        });
        let first = since.filter_map(|turn| turn.recommendation.as_ref()?.operations.first());
        first.filter_map(|operation| Some(operation.question.as_ref()?.computed().as_str()))
    }

    /// Ids of the records that the latest turn asked about, or of the answer that it took.
    pub fn spoken_of(&self) -> Vec<String> {
        let Some(latest) = self.turns.last() else { return Vec::new() };
        let mut ids: Vec<String> = Vec::new();
        for fact in latest.recommendation.iter().flat_map(|answer| &answer.facts) {
            if !ids.contains(&fact.record) {
                ids.push(fact.record.clone());
            }
        }
        let is_latest = |turn: usize| turn == latest.number || (turn + 1 == latest.number && latest.tables.is_empty());
        let taken = self.accepted.last().filter(|choice| is_latest(choice.turn));
        if ids.is_empty() { taken.map(|choice| choice.table.clone()).into_iter().collect() } else { ids }
    }

    /// Ids of the tables of the lake that are worked with: those of the plan that was asked for last, where the latest turn has one.
    pub fn tables_at_hand(&self) -> Vec<String> {
        let at_proposal = self.at_proposal();
        let session = at_proposal.as_ref().unwrap_or(self);
        let plan = session.pending().last().map(|plan| (*plan).clone()).or_else(|| session.plan());
        plan.iter().flat_map(Plan::tables).map(str::to_string).collect()
    }

    /// Ids of all answers shown since what is wanted changed.
    pub fn shown_for_demands(&self) -> Vec<String> {
        let same = self.remembered().iter().rev().take_while(|turn| turn.signals.demands == self.demands);
        same.flat_map(|turn| turn.tables.iter().cloned()).collect()
    }

    /// Cuts what nobody says and what the next answer does not depend on. Twice is the same as once.
    pub(super) fn bound_memory(&mut self) {
        bound(&mut self.demands, 0);
        self.retrievals.drain(..self.retrievals.len().saturating_sub(RETRIEVALS));
        for (age, retrieval) in self.retrievals.iter_mut().rev().enumerate() {
            retrieval.records.truncate(RECORDS[usize::from(age >= 2)]);
        }
    }
}

/// Cuts demands that are more or longer than anything a person wants; `old` is 1 for those of old turns.
pub(super) fn bound(demands: &mut Vec<Demand>, old: usize) {
    demands.drain(..demands.len().saturating_sub(DEMANDS[old]));
    for demand in demands {
        super::compress::cut(&mut demand.said, TEXT[old]);
        match &mut demand.value {
            Demanded::Values(things) => {
                things.truncate(VALUES[old]);
                things.iter_mut().for_each(|ways| ways.truncate(VALUES[old]));
            }
            Demanded::AnyOf(values) => values.truncate(VALUES[old]),
            Demanded::Words | Demanded::Period(_) => {}
        }
    }
}
