//! What a conversation remembers: S_t = M(q̃_t, τ_t, r_t, S_{t−1}) of ScienceDB AI (Long et al., 2026), with the intent in force
//! for q̃, what was retrieved for τ and r. Recency wins within the intent, so that it stays as small as what is asked for; what
//! was retrieved is kept of the latest turns only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::{Demand, Demanded, Intent};
use lakeward_core::role::Role;
use lakeward_reading::intent::Conflict;

/// What is kept of a conversation besides its turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// What is wanted, each element with the turn that set it.
    pub intent: Intent,
    /// Two stated demands of which the analyst was asked which one holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<Conflict>,
    /// What was searched for in the catalogue and found, oldest first; of the latest turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retrievals: Vec<Retrieval>,
}

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
    pub relaxed: Vec<Role>,
    /// How many were found.
    pub found: usize,
    /// Ids of the first of them, best first.
    pub records: Vec<String>,
}

/// Retrievals that are kept.
const RETRIEVALS: usize = 20;
/// Records of one that are kept, and of older ones than the latest two.
const RECORDS: [usize; 2] = [30, 5];
/// Demands in force, and things refused, at the most.
const DEMANDS: usize = 60;
/// Topics, measures and columns at the most; the latest stay.
const SAID: usize = 100;
/// Values of one demand, and ways of writing one of them.
const VALUES: usize = 40;
/// Characters of one text.
const TEXT: usize = 400;

impl Memory {
    /// What was found for `key` in one of the latest turns.
    pub fn retrieved(&self, key: &str) -> Option<&Retrieval> {
        self.retrievals.iter().rev().find(|retrieval| retrieval.key == key)
    }

    /// Forgets what is demanded and refused in `role`; how many demands that were.
    pub fn forget(&mut self, role: &Role) -> usize {
        let Intent { demands, refused, .. } = &mut self.intent;
        let before = demands.len() + refused.len();
        demands.retain(|demand| demand.role != *role);
        refused.retain(|demand| demand.role != *role);
        before - demands.len() - refused.len()
    }

    /// Puts `demand` in force instead of what its role demanded.
    pub fn set(&mut self, demand: Demand) {
        self.intent.demands.retain(|other| other.role != demand.role);
        self.intent.demands.push(demand);
    }

    /// Notes what a turn asked and found.
    pub fn note(&mut self, open: Option<Conflict>, retrieval: Option<Retrieval>) {
        self.open = open;
        self.retrievals.extend(retrieval);
    }

    /// Cuts what nobody says and what the next answer does not depend on. Twice is the same as once.
    pub(super) fn bound(&mut self) {
        let Intent { topics, demands, refused, measures, columns_wanted, columns_excluded, .. } = &mut self.intent;
        for list in [topics, measures, columns_wanted, columns_excluded] {
            list.drain(..list.len().saturating_sub(SAID));
            list.iter_mut().for_each(|said| super::compress::cut(&mut said.text, TEXT));
        }
        for list in [demands, refused] {
            list.drain(..list.len().saturating_sub(DEMANDS));
            for demand in list {
                super::compress::cut(&mut demand.said, TEXT);
                if let Demanded::Values(values) = &mut demand.value {
                    values.truncate(VALUES);
                    values.iter_mut().for_each(|written| written.truncate(VALUES));
                }
            }
        }
        self.retrievals.drain(..self.retrievals.len().saturating_sub(RETRIEVALS));
        for (age, retrieval) in self.retrievals.iter_mut().rev().enumerate() {
            retrieval.records.truncate(RECORDS[usize::from(age >= 2)]);
        }
    }
}
