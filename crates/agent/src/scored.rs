//! Candidates with their scores: which of them serves an operation best, and what the answer says of each.

use super::trace::RankedList;
use crate::recommend::fit::is_informative;
use crate::recommend::utility::as_operand;
use crate::recommend::{Evidence, IntentionFit, RankedTable, TaskEvidence, Utility};
use lakeward_core::message;
use lakeward_core::message::{CLAUSES, Message};
use lakeward_core::request::OperationKind;
use lakeward_core::text::name_words;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::Identifier;
use lakeward_search::{Candidate, RankingWeights, RecordAnswer};

/// A candidate with its scores.
#[derive(Clone)]
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) fit: IntentionFit,
    /// U(T, O) of each operation, greatest first.
    pub(super) utilities: Vec<(OperationKind, Utility)>,
    /// Among the records that meet what is wanted: its rank there, from 0.
    pub(super) record: Option<(usize, RecordAnswer)>,
    /// By the tasks that it served.
    pub(super) task: Option<TaskEvidence>,
    pub(super) accepted: bool,
    /// Its rank in the model's order, from 1.
    pub(super) model_rank: Option<usize>,
}

impl Scored {
    pub(super) fn best(&self) -> (OperationKind, Utility) {
        self.utilities[0]
    }

    /// Whether columns are wanted and most of them are not called like one of its own.
    pub(super) fn lacks_columns(&self) -> bool {
        self.fit.constraints.iter().any(|(name, check)| name == "columns" && !check.met)
    }

    pub(super) fn id(&self) -> &str {
        self.candidate.dataset.id().as_str()
    }
}

/// The best candidate that an operation can start from: its data is in the lake.
pub(super) fn best_table(scored: &[Scored]) -> Option<&Scored> {
    scored.iter().find(|scored| !scored.candidate.dataset.is_record())
}

/// The candidates, the first of them whose id `is_it` before all.
pub(super) fn with_first(mut scored: Vec<Scored>, is_it: impl Fn(&str) -> bool) -> Vec<Scored> {
    if let Some(place) = scored.iter().position(|scored| is_it(scored.id())) {
        scored[..=place].rotate_right(1);
    }
    scored
}

/// The candidate that serves an operation best, if one makes it possible at all; accepted ones first.
pub(super) fn best_for<'a>(
    kind: OperationKind,
    scored: &'a [Scored],
    to_add: &[String],
    weights: &RankingWeights,
) -> Option<&'a Candidate> {
    let possible = |scored: &&Scored| match kind {
        OperationKind::Join => scored.candidate.join.is_some(),
        OperationKind::Union => scored.candidate.union.as_ref().is_some_and(|union| !union.near_copy),
        OperationKind::Filter | OperationKind::Aggregate | OperationKind::Clarify => false,
    };
    let key = |scored: &Scored| (scored.accepted, as_operand(kind, &scored.candidate, to_add, weights));
    let mut best: Option<&Scored> = None;
    for scored in scored.iter().filter(possible) {
        let better = best.is_none_or(|best| {
            let (a, b) = (key(scored), key(best));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).is_gt()
        });
        if better {
            best = Some(scored);
        }
    }
    best.map(|scored| &scored.candidate)
}

/// The candidates to append: the accepted ones that fit; else the best, with those that fit nearly as well where all of a
/// kind are asked for.
pub(super) fn supplements<'a>(
    scored: &'a [Scored],
    to_add: &[String],
    text: &str,
    weights: &RankingWeights,
) -> Vec<&'a Candidate> {
    const ALL: [&str; 8] = ["all", "every", "each", "other", "others", "rest", "remaining", "both"];
    const MOST: usize = 12;
    let Some(best) = best_for(OperationKind::Union, scored, to_add, weights) else { return Vec::new() };
    let fits = |candidate: &Candidate| candidate.union.as_ref().map_or(0.0, |union| union.parts.alignment);
    let least = weights.fit.least_alignment;
    let nearly = least.max(weights.turn.nearly_aligned * fits(best));
    let accepted = scored.iter().any(|scored| scored.accepted && fits(&scored.candidate) >= least);
    let several = accepted || name_words(text).iter().any(|word| ALL.contains(&word.as_str()));
    let more = scored.iter().filter(|scored| several && (scored.accepted || !accepted)).map(|scored| &scored.candidate);
    let more = more.filter(|candidate| {
        let copy = candidate.union.as_ref().is_some_and(|union| union.near_copy);
        candidate.dataset.id() != best.dataset.id() && !copy && fits(candidate) >= nearly
    });
    std::iter::once(best).chain(more.take(MOST - 1)).collect()
}

pub(super) fn ranked_table(scored: &Scored) -> RankedTable {
    let (operation, utility) = scored.best();
    let reason = reason(scored, operation);
    let Scored { candidate, fit, record, task, accepted, model_rank, .. } = scored.clone();
    let record = record.map(|(_, answer)| answer);
    let Candidate { dataset, search, join, union, .. } = candidate;
    RankedTable {
        table: dataset.id().to_string(),
        citation: dataset.citation().to_string(),
        link: link_of(&dataset),
        title: dataset.title(),
        record: dataset.is_record(),
        rows: dataset.table().map_or(0, |table| table.profile.rows),
        columns: dataset.columns().len(),
        operation,
        utility,
        fit,
        evidence: Evidence { search, join, union, record, task },
        accepted,
        model_rank,
        reason,
    }
}

/// Where a dataset is on the web, where its citation is no address.
pub(super) fn link_of(dataset: &Dataset) -> Option<String> {
    let identifier = Identifier::of_publisher(dataset.citation());
    let is_address = identifier.to_string().starts_with("http");
    let known = || dataset.metadata().and_then(|metadata| metadata.source_url.clone());
    identifier.url().or_else(known).filter(|_| !is_address)
}

/// The strongest evidence for the operation that a table serves best, and what speaks against it.
pub(super) fn reason(scored: &Scored, operation: OperationKind) -> Message {
    let candidate = &scored.candidate;
    let join = candidate.join.as_ref().map(|answer| answer.reason.clone());
    let union = candidate.union.as_ref().map(|answer| answer.reason.clone());
    let search = candidate.search.as_ref().map(|answer| answer.reason.clone());
    let mut parts: Vec<Message> = Vec::new();
    let main = match operation {
        _ if scored.record.is_some() => scored.record.as_ref().map(|(_, answer)| answer.reason.clone()),
        OperationKind::Join => join.or(union).or(search),
        OperationKind::Union => union.or(join).or(search),
        OperationKind::Filter | OperationKind::Aggregate | OperationKind::Clarify => search.or(union).or(join),
    };
    parts.extend(main);
    parts.extend(scored.task.as_ref().map(|task| Message::from(&task.reason)));
    let fit = &scored.fit;
    // Few columns that all say something speak against nothing.
    let richness = Some(&fit.richness).filter(|_| !scored.candidate.dataset.columns().iter().all(is_informative));
    let unmet = [Some(&fit.granularity), richness, Some(&fit.compatibility)].into_iter().flatten();
    if scored.record.is_none() {
        // What a search for words found says where a place stands.
        let by_words = !matches!(operation, OperationKind::Join | OperationKind::Union) && candidate.search.is_some();
        let met = scored.fit.constraints.iter().filter(|(name, check)| check.met && !(by_words && name == "place"));
        parts.extend(met.map(|(_, check)| check.evidence.clone()));
    }
    parts.extend(unmet.filter(|check| !check.met).map(|check| message!("but {}", &check.evidence)));
    if let Some(rank) = scored.model_rank.filter(|rank| *rank <= 3) {
        parts.push(message!("the model's number {}", rank));
    }
    if scored.accepted {
        parts.insert(0, message!("accepted"));
    }
    Message::list(CLAUSES, parts)
}

/// What each search ranked, and the utility.
pub(super) fn lists(scored: &[Scored]) -> Vec<RankedList> {
    let by = |name, score: &dyn Fn(&Scored) -> Option<f64>| {
        let mut hits: Vec<(&str, f64)> =
            scored.iter().filter_map(|scored| Some((scored.id(), score(scored)?))).collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        RankedList::of(name, hits.into_iter().map(|(id, score)| (id, Some(score))))
    };
    let found = |scored: &Scored| scored.candidate.search.as_ref().map(|answer| answer.score);
    let joined = |scored: &Scored| scored.candidate.join.as_ref().map(|answer| answer.score);
    let aligned = |scored: &Scored| scored.candidate.union.as_ref().map(|answer| answer.score);
    let supported = |scored: &Scored| scored.task.as_ref().map(|task| task.share);
    let all = [by("search", &found), by("join", &joined), by("union", &aligned), by("task", &supported)];
    let utility = by("utility", &|scored| Some(scored.best().1.total));
    all.into_iter().filter(|list| !list.hits.is_empty()).chain([utility]).collect()
}
