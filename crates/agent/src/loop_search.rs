//! The queries that a turn searches for besides the request's own words; the plan–retrieve–evaluate loop finds them.

use super::Agent;
use super::conversation_summary;
use super::found::DEPTH;
use super::reading::Reading;
use crate::agentic::{
    Agents, Channel, ChannelKind, LiveClock, MeaningChannel, ModelPlanner, RecordedClock, RunCache, SearchGoal,
    SearchRun, SearchedQuery, Stopped, Tools, WordsChannel, plain_search, run_with,
};
use crate::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::{Demand, in_role};
use lakeward_core::respect::Respect;
use lakeward_index::TableRef;
use lakeward_models::embed::Embedder;
use lakeward_models::llm::LanguageModel;
use lakeward_search::SearchedText;
use lakeward_search::augment::{QuestionIndex, QuestionMode};
use lakeward_search::weights::TurnWeights;

/// Tables that a run may propose.
const MOST_PROPOSED: usize = 30;
/// Texts searched for besides.
const MOST_TEXTS: usize = 4;

/// What was searched for a request, by the plan–retrieve–evaluate loop where a plain search was not enough.
pub(super) struct LoopFound {
    pub(super) run: SearchRun,
    /// Of the request and of each query besides whether a plain search finds what its words say.
    covered: Vec<bool>,
    /// The queries besides that were searched for to know it.
    pub(super) searched: Vec<SearchedText>,
}

impl LoopFound {
    /// All that is searched for, each with how much it counts: the request's own `words` first. Where nothing has them, as when
    /// they are misspelt, what was searched for in their stead and found counts more than they do; where something has them, what
    /// a model wants searched besides counts `planned`.
    pub(super) fn texts(&self, words: &str, planned: f64, weights: &TurnWeights) -> Vec<(String, f64)> {
        let queries = &self.run.queries;
        let own = queries.first().map_or(1.0, |query| query.weight).max(f64::MIN_POSITIVE);
        let is_covered = |place: usize| self.covered.get(place).copied().unwrap_or_default();
        let in_stead = !is_covered(0) && (1..=MOST_TEXTS).any(is_covered);
        let most = if is_covered(0) { planned } else { weights.further_texts };
        let weight = |(place, query): (usize, &SearchedQuery)| match in_stead && is_covered(place) {
            true => (query.text.clone(), 1.0),
            false => (query.text.clone(), (query.weight / own).clamp(0.0, 1.0) * most),
        };
        let further = queries.iter().enumerate().skip(1).take(MOST_TEXTS).map(weight);
        let own = if in_stead { weights.uncovered_words } else { 1.0 };
        std::iter::once((words.to_string(), own)).chain(further).collect()
    }

    /// What the analyst should know of the search.
    pub(super) fn note(&self) -> Option<String> {
        let limit = match self.run.stopped {
            Stopped::Seconds => "seconds",
            Stopped::ToolCalls => "searches",
            _ => return None,
        };
        Some(format!("the search for words ended at its limit of {limit}; what was found until then is shown"))
    }
}

impl Agent<'_> {
    /// The tables that a plain search finds for `text`; `None` where it has no words. A turn searches for each text once.
    pub(super) fn searched(&self, text: &str) -> Result<Option<SearchedText>> {
        self.searched_beside(text, || ()).0
    }

    /// The same, and what `beside` makes at the same time.
    pub(super) fn searched_beside<T: Send>(
        &self,
        text: &str,
        beside: impl FnOnce() -> T + Send,
    ) -> (Result<Option<SearchedText>>, T) {
        if text.trim().is_empty() {
            return (Ok(None), beside());
        }
        let known = self.searches.get(text);
        if known.is_some() {
            return (Ok(known), beside());
        }
        let (index, embedder, weights) = (self.index, self.embedder, &self.ranking);
        let (found, made) = rayon::join(|| SearchedText::of(index, embedder, text, DEPTH, weights), beside);
        if let Ok(found) = &found {
            self.searches.keep(found);
        }
        (found.map(Some), made)
    }

    /// Whether one of the best tables says most of the words.
    fn is_covered(&self, searched: &SearchedText) -> bool {
        searched.coverage(&self.ranking) >= self.ranking.turn.covered
    }

    /// Searches for a request, for whose words a plain search found `own`. The loop goes on from there only where that is not enough: its best answer
    /// is not likely to serve, or something that is wanted is not met.
    pub(super) fn loop_search(
        &self,
        session: &Session,
        reading: &Reading<'_>,
        own: &SearchedText,
        (model, runs): (Option<&LanguageModel<'_>>, Option<&RunCache>),
    ) -> Result<LoopFound> {
        let mut goal = SearchGoal {
            request: reading.request.text.clone(),
            words: reading.words.clone(),
            must_have: must_have(&reading.signals.demands),
            likely: own.answers.iter().filter_map(|answer| answer.relevance).max_by(f64::total_cmp),
            ..SearchGoal::default()
        };
        let plain = plain_search(self.index, &goal, own, DEPTH, self.ranking.sufficiency)?;
        let llm = &self.config.llm;
        // Whose plans weigh nothing is not asked for them.
        let model = model.filter(|_| llm.weight_of_plans() > 0.0);
        if let (Some(model), false) = (model, plain.report.sufficient) {
            goal.memory = conversation_summary::memory(session, self.config.memory.max_tokens, Some(model));
        }
        let (by_words, by_meaning) = (WordsChannel(self.index), MeaningChannel(self.index, self.embedder));
        let questions = self.questions();
        let asked = |kind| questions.map(|index| Questions { index, embedder: self.embedder, kind });
        let (asked_by_words, asked_by_meaning) = (asked(ChannelKind::Words), asked(ChannelKind::Meaning));
        let mut channels: Vec<&dyn Channel> = vec![&by_words, &by_meaning];
        channels.extend(asked_by_words.iter().chain(&asked_by_meaning).map(|channel| channel as &dyn Channel));
        let mut version = questions.map_or(String::new(), |index| index.documents().manifest().checksum.clone());
        let by_task = self.task_channel();
        if let Some((graph, channel)) = &by_task {
            channels.push(channel);
            // Another graph may find other tables: what was found with one is no answer with another.
            version.push_str(&format!("+tasks-{graph}"));
        }
        let settings = &self.config.search;
        let live = LiveClock::start(settings.seconds);
        let recorded = self.replayed.map(|turn| RecordedClock::new(turn.run.as_ref().and_then(|run| run.over_at)));
        let tools = Tools {
            index: self.index,
            embedder: self.embedder,
            weights: &self.ranking,
            channels: &channels,
            questions: &version,
            clock: recorded.as_ref().map_or(&live, |recorded| recorded),
            cache: runs,
        };
        let mut agents = match model {
            Some(model) if llm.judging.is_some_and(|trust| trust > 0.0) => {
                Agents::with_model(&tools, settings, model, (llm.share, llm.ranking.unwrap_or_default()))
            }
            // Who writes titles would have a say in when it is enough, by a model that was not measured.
            Some(model) => Agents { planner: Box::new(ModelPlanner::new(model)), ..Agents::by_rules(&tools, settings) },
            // What says most of the words is not searched for by the rules in other spellings.
            None if self.is_covered(own) => Agents { planner: Box::new(()), ..Agents::by_rules(&tools, settings) },
            None => Agents::by_rules(&tools, settings),
        };
        // The turn orders tables itself, by more than words.
        agents.reranker = None;
        let run = run_with(&tools, &goal, settings, (&agents, Some(plain)))?;
        let searched: Vec<Option<SearchedText>> = run
            .queries
            .iter()
            .skip(1)
            .take(MOST_TEXTS)
            .map(|query| self.searched(&query.text))
            .collect::<Result<_>>()?;
        let is_covered = |text: &Option<SearchedText>| text.as_ref().is_some_and(|text| self.is_covered(text));
        let covered = std::iter::once(self.is_covered(own)).chain(searched.iter().map(is_covered)).collect();
        Ok(LoopFound { run, covered, searched: searched.into_iter().flatten().collect() })
    }

    /// The questions that `lakeward augment` made, where it did and they can be used.
    fn questions(&self) -> Option<&QuestionIndex> {
        let open = |mode| QuestionIndex::open(self.index, mode, self.embedder.id()).ok();
        // Documents of their own find more (eval/variants.md).
        let found = || open(QuestionMode::Dedicated).or_else(|| open(QuestionMode::Concatenated));
        self.questions.get_or_init(found).as_ref()
    }

    /// The tables that a run ranked first, where it went on from the plain search.
    pub(super) fn proposed(&self, found: &LoopFound) -> Vec<TableRef> {
        let more = if found.run.trace.iterations.len() > 1 { MOST_PROPOSED } else { 0 };
        let first = found.run.ranking.iter().take(more);
        first.filter_map(|table| self.index.get(&table.id).ok().flatten()).collect()
    }
}

/// The questions of tables as a channel.
struct Questions<'a> {
    index: &'a QuestionIndex,
    embedder: &'a dyn Embedder,
    kind: ChannelKind,
}

impl Channel for Questions<'_> {
    fn name(&self) -> &str {
        match self.kind {
            ChannelKind::Words => "questions-words",
            ChannelKind::Meaning => "questions-meaning",
        }
    }

    fn kind(&self) -> ChannelKind {
        self.kind
    }

    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        match self.kind {
            ChannelKind::Words => self.index.by_words(text, depth),
            ChannelKind::Meaning => self.index.by_meaning(self.embedder, text, depth),
        }
    }
}

/// Words that a table has to hold.
fn must_have(demands: &[Demand]) -> Vec<String> {
    [Respect::Place, Respect::Column].iter().flat_map(|role| in_role(demands, role)).map(str::to_string).collect()
}
