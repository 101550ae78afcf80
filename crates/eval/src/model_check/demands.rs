//! Whether two lists of demands want the same.

use std::collections::{BTreeMap, BTreeSet};

use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;
use lakeward_core::text::{Stemmer, is_function_word, lower_words};

/// Words of a topic, and of another demand, that have to be shared (Jaccard).
const TOPIC: f64 = 0.6;
const OTHER: f64 = 0.75;

/// What is wanted in one respect: years, and words.
type YearsAndWords = (BTreeSet<(Option<i32>, Option<i32>)>, BTreeSet<String>);

/// Whether both want the same in every respect: the same years, and mostly the same words.
pub(super) fn same_demands(answer: &[Demand], meant: &[Demand]) -> bool {
    let (answer, meant) = (by_respect(answer), by_respect(meant));
    answer.len() == meant.len()
        && answer.iter().zip(&meant).all(|((respect, answer), (meant_in, meant))| {
            let least = if respect.0 == Respect::Topic { TOPIC } else { OTHER };
            respect == meant_in && answer.0 == meant.0 && shared(&answer.1, &meant.1) >= least
        })
}

fn by_respect(demands: &[Demand]) -> BTreeMap<(Respect, bool), YearsAndWords> {
    let mut stemmer = Stemmer::default();
    let mut by_role: BTreeMap<(Respect, bool), YearsAndWords> = BTreeMap::new();
    for demand in demands {
        let (years, words) = by_role.entry((demand.role.clone(), demand.avoid)).or_default();
        if let Demanded::Period(period) = demand.value {
            years.insert(period.bounds());
        } else {
            let content = lower_words(&demand.said).filter(|word| !is_function_word(word));
            words.extend(content.map(|word| stemmer.stem(&word).to_string()));
        }
    }
    by_role
}

fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 { 1.0 } else { a.intersection(b).count() as f64 / all as f64 }
}
