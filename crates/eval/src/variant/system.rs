//! A variant as a [`System`]: searches its channels, fuses and ranks their results, and reports the work for each answer.
//!
//! V1 to V3 search the channels directly. V4 to V7 use [`lakeward_agent::agentic`]: the same request, channels and limits in both
//! styles, and in V5 and V7 channels over an index with pseudo-queries; if that fails, the lake's own channels are used instead.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use super::outage;
use super::work::Work;
use super::{Component, QuestionUse, Variant};
use crate::benchmark::{BenchQuery, Task};
use crate::lakeward_system::LakeIndexOf;
use crate::system::{Ranked, System};
use lakeward_agent::agentic::{
    Agents, Channel, ChannelKind, LiveClock, MeaningChannel, SearchGoal, SearchRun, Settings, Style, Tools,
    WordsChannel, run_with,
};
use lakeward_agent::model::ModelAccess;
use lakeward_core::error::{Error, Result};
use lakeward_models::embed::Embedder;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{LanguageModel, Limits, Spent};
use lakeward_search::augment::QuestionIndex;
use lakeward_search::fuse::reciprocal_rank_fusion;
use lakeward_search::weights::FusionWeights;

/// Weight of a channel of questions that is searched in addition to the lake's own.
const WEIGHT_BESIDE: f64 = 0.5;

/// A language model for V4 to V7, and its limits per query.
#[derive(Clone, Copy)]
pub struct VariantModel<'a> {
    /// The model.
    pub access: ModelAccess<'a>,
    /// Limits per query.
    pub limits: Limits,
    /// What it may see of a candidate.
    pub share: Share,
    /// How much its order counts beside the computed one, 0..=1: in the paper it is the order.
    pub ranking: f64,
}

/// The parts of a variant.
pub struct VariantParts<'a> {
    /// The documents.
    pub over: Rc<LakeIndexOf<'a>>,
    /// The pseudo-queries and how they are used; for V5 and V7.
    pub questions: Option<(QuestionUse, Rc<QuestionIndex>)>,
    /// Limits, depths and weights of V4 to V7; V3 has the same constant of fusion.
    pub settings: Settings,
    /// The model; without one, rules.
    pub model: Option<VariantModel<'a>>,
}

/// A variant over the documents of a benchmark.
pub struct VariantSystem<'a> {
    variant: Variant,
    parts: VariantParts<'a>,
    failing: Option<Component>,
}

impl<'a> VariantSystem<'a> {
    /// `variant` with its parts; the component `failing`, if given, fails at every query.
    pub fn new(variant: Variant, parts: VariantParts<'a>, failing: Option<Component>) -> Self {
        Self { variant, parts, failing }
    }

    /// A channel of the lake itself.
    fn own(&self, kind: ChannelKind) -> Box<dyn Channel + '_> {
        let over = &self.parts.over;
        let channel: Box<dyn Channel> = match kind {
            ChannelKind::Words => Box::new(WordsChannel(over.index())),
            ChannelKind::Meaning => Box::new(MeaningChannel(over.index(), over.embedder())),
        };
        match (self.failing, kind) {
            (Some(Component::Words), ChannelKind::Words) | (Some(Component::Meaning), ChannelKind::Meaning) => {
                Box::new(outage::Channel(channel))
            }
            _ => channel,
        }
    }

    /// The channels of the variant. `fell_back` is set if the index of questions fails.
    fn channels<'b>(&'b self, fell_back: &'b Cell<bool>) -> Vec<Box<dyn Channel + 'b>> {
        let kinds = match self.variant {
            Variant::V1 => vec![ChannelKind::Words],
            Variant::V2 => vec![ChannelKind::Meaning],
            _ => vec![ChannelKind::Words, ChannelKind::Meaning],
        };
        let own = || kinds.iter().map(|kind| self.own(*kind));
        let Some((how, index)) = &self.parts.questions else { return own().collect() };
        let over_questions = kinds.iter().map(|kind| -> Box<dyn Channel + 'b> {
            let own = self.own(*kind);
            // A failing kind of search fails over either index.
            let is_out = matches!(
                (self.failing, kind),
                (Some(Component::Words), ChannelKind::Words) | (Some(Component::Meaning), ChannelKind::Meaning)
            );
            if is_out {
                return own;
            }
            Box::new(QuestionChannel {
                index,
                embedder: self.parts.over.embedder(),
                own,
                weight: if *how == QuestionUse::Beside { WEIGHT_BESIDE } else { 1.0 },
                is_out: self.failing == Some(Component::Questions),
                fell_back,
            })
        });
        match how {
            QuestionUse::Beside => own().chain(over_questions.collect::<Vec<_>>()).collect(),
            QuestionUse::Concatenated | QuestionUse::Dedicated => over_questions.collect(),
        }
    }

    /// Searches the channels of the variant, alone or fused; failing channels are skipped unless all fail.
    fn plain(&self, text: &str, depth: usize) -> Result<(Vec<Ranked>, Work)> {
        let fell_back = Cell::new(false);
        let channels = self.channels(&fell_back);
        let mut lists: Vec<Vec<(String, f64)>> = Vec::with_capacity(channels.len());
        let mut failure = None;
        for channel in &channels {
            match channel.search(text, depth) {
                Ok(list) => lists.push(list),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failure = Some(error),
            }
        }
        let partial = failure.is_some();
        if let (Some(error), true) = (failure, lists.is_empty()) {
            return Err(error);
        }
        let ids = |list: &[(String, f64)]| list.iter().map(|(id, _)| id.clone()).collect::<HashSet<String>>();
        let found: HashSet<String> = lists.iter().flat_map(|list| ids(list)).collect();
        let ranking = if channels.len() == 1 { alone(lists.concat()) } else { self.fused(&lists) };
        let work = Work {
            iterations: 1,
            tool_calls: channels.len() as u32,
            partial,
            provenance_complete: ranking.iter().all(|ranked| found.contains(&ranked.id)),
            ..Work::default()
        };
        Ok((ranking, work))
    }

    /// Reciprocal rank fusion with equal weights, ties by id.
    fn fused(&self, lists: &[Vec<(String, f64)>]) -> Vec<Ranked> {
        let lists: Vec<(f64, Vec<&str>)> =
            lists.iter().map(|list| (1.0, list.iter().map(|(id, _)| id.as_str()).collect())).collect();
        let constant = FusionWeights { rank_constant: self.parts.settings.retrieval.rank_constant };
        let fused = reciprocal_rank_fusion(&lists, &constant);
        fused.into_iter().map(|(id, score)| Ranked::new(id, score)).collect()
    }

    /// Searches with the agents.
    fn agentic(&self, text: &str) -> Result<(Vec<Ranked>, Work)> {
        let fell_back = Cell::new(false);
        let channels = self.channels(&fell_back);
        let channels: Vec<&dyn Channel> = channels.iter().map(AsRef::as_ref).collect();
        let style = if self.variant.has_several_agents() { Style::MultiAgent } else { Style::SingleAgent };
        let mut settings = Settings { style, ..self.parts.settings.clone() };
        let over = &self.parts.over;
        let clock = LiveClock::start(settings.seconds);
        let tools = Tools {
            index: over.index(),
            embedder: over.embedder(),
            weights: over.weights(),
            channels: &channels,
            questions: self.parts.questions.as_ref().map_or("", |(how, _)| how.name()),
            clock: &clock,
            cache: None,
        };
        let of_model = self.parts.model.as_ref();
        // Answers are not cached: repeated runs must really ask again.
        let model = of_model.map(|of| LanguageModel::new(of.access.chat, of.access.prompts, of.limits, None));
        let mut agents = match (&model, of_model) {
            (Some(model), Some(of)) => Agents::with_model(&tools, &settings, model, (of.share, of.ranking)),
            _ => Agents::by_rules(&tools, &settings),
        };
        if let Some(component) = self.failing {
            outage::of_agent(component, &mut agents, &mut settings);
        }
        let pursuit = run_with(&tools, &SearchGoal::words(text), &settings, (&agents, None))?;
        let spent = model.as_ref().map(LanguageModel::spent).unwrap_or_default();
        let work = account(&pursuit, &spent, fell_back.get());
        Ok((pursuit.ranking.into_iter().map(|found| Ranked::new(found.id, found.score)).collect(), work))
    }
}

/// The list of the only channel.
fn alone(list: Vec<(String, f64)>) -> Vec<Ranked> {
    list.into_iter().map(|(id, score)| Ranked::new(id, score)).collect()
}

/// The work of a run, and how far it can be traced.
fn account(pursuit: &SearchRun, spent: &Spent, fell_back: bool) -> Work {
    let trace = &pursuit.trace;
    let malformed = pursuit.degraded.iter().filter(|degraded| degraded.problem.contains(" is malformed: ")).count();
    let has_all_stages = |iteration: &lakeward_agent::agentic::IterationTrace| {
        let lists = &iteration.candidates.channels;
        let searched = lists.iter().all(|list| list.depth > 0 && (list.problem.is_none() || list.hits.is_empty()));
        let fused = iteration.candidates.candidates.is_empty() == lists.iter().all(|list| list.hits.is_empty());
        !iteration.plan.queries.is_empty()
            && !lists.is_empty()
            && searched
            && fused
            && !iteration.report.reason.is_empty()
    };
    let chosen = trace.iterations.get(trace.chosen);
    let lists = chosen.map_or(&[][..], |iteration| &iteration.candidates.channels);
    let found: HashSet<&str> = lists.iter().flat_map(|list| &list.hits).map(|(id, _)| id.as_str()).collect();
    Work {
        iterations: pursuit.iterations as u32,
        tool_calls: pursuit.tool_calls as u32,
        model_calls: spent.calls as u32,
        tokens: spent.usage.tokens(),
        estimated: spent.estimated,
        schema_failures: (spent.refused + malformed) as u32,
        partial: fell_back || !pursuit.degraded.is_empty(),
        limited: pursuit.partial,
        trace_complete: Some(
            !trace.iterations.is_empty()
                && trace.iterations.iter().all(has_all_stages)
                && trace.ranking.ranking.len() == pursuit.ranking.len(),
        ),
        provenance_complete: pursuit.ranking.iter().all(|table| found.contains(table.id.as_str())),
    }
}

/// A channel over an index with pseudo-queries; the lake's own channel if that fails.
struct QuestionChannel<'a> {
    index: &'a QuestionIndex,
    embedder: &'a dyn Embedder,
    own: Box<dyn Channel + 'a>,
    weight: f64,
    is_out: bool,
    fell_back: &'a Cell<bool>,
}

impl Channel for QuestionChannel<'_> {
    fn name(&self) -> &str {
        match self.own.kind() {
            ChannelKind::Words => "questions-words",
            ChannelKind::Meaning => "questions-meaning",
        }
    }

    fn kind(&self) -> ChannelKind {
        self.own.kind()
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        let found = match (self.is_out, self.kind()) {
            (true, _) => Err(outage::error("the index of questions")),
            (_, ChannelKind::Words) => self.index.by_words(text, depth),
            (_, ChannelKind::Meaning) => self.index.by_meaning(self.embedder, text, depth),
        };
        found.or_else(|_| {
            self.fell_back.set(true);
            self.own.search(text, depth)
        })
    }
}

impl System for VariantSystem<'_> {
    fn name(&self) -> &str {
        self.variant.name()
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        Ok(self.rank_with_work(query, depth)?.0)
    }

    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        let text = query.text.as_deref().unwrap_or_default();
        // One more, in case the query's own table is in the lake.
        let depth_with_own = depth.saturating_add(usize::from(query.origin.is_some()));
        let (mut ranking, work) =
            if self.variant.is_agentic() { self.agentic(text)? } else { self.plain(text, depth_with_own)? };
        ranking.retain(|ranked| query.origin.as_ref() != Some(&ranked.id));
        ranking.truncate(depth);
        Ok((ranking, Some(work)))
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        answers(query)
    }

    fn index_bytes(&self) -> Option<u64> {
        let of_questions = |index: &QuestionIndex| folder_bytes(index.documents().folder());
        let questions = self.parts.questions.as_ref().map_or(0, |(_, index)| of_questions(index));
        Some(self.parts.over.stats.index_bytes + questions)
    }
}

/// Bytes of the files of an index; unreadable files count as 0.
fn folder_bytes(folder: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
        _ => 0,
    };
    entries.flatten().map(bytes).sum()
}

/// Whether the variants can answer `query`: they search by text and ignore a query table.
pub fn answers(query: &BenchQuery) -> bool {
    query.task == Task::Search && query.text.is_some()
}
