//! The loop: plan, retrieve, evaluate, until it is enough or a limit is reached; then the final order.

use std::time::Instant;

use super::agents::{Allowance, Earlier, Evaluator, Fault, Planner, Reranker, Retriever};
use super::artifact::{Artifact, Malformed};
use super::cache::RunCache;
use super::candidate_set::CandidateSet;
use super::clock::Moment;
use super::key_of;
use super::plan::{MOST_QUERIES, PlannedQuery, QueryPlan};
use super::ranking::FinalRanking;
use super::report::EvaluationReport;
use super::search_goal::{SearchGoal, Settings, Style};
use super::search_run::{Agents, RunTable, SearchRun, SearchedQuery, Tools};
use super::shortened;
use super::trace::{AgentVersions, Degraded, IterationTrace, LakeVersions, RunTrace, Stopped, Timings, VERSION};
use lakeward_core::error::Result;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{FailureKind, LanguageModel, Unanswered};

/// Searches for `goal` with the agents of `settings`, by rules where there is no `model`.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where no channel can be searched at all. Everything else degrades a step and is told in the answer.
pub fn search_for(
    tools: &Tools<'_>,
    goal: &SearchGoal,
    settings: &Settings,
    model: Option<&LanguageModel<'_>>,
) -> Result<SearchRun> {
    let agents = match model {
        Some(model) => Agents::with_model(tools, settings, model, (Share::Schema, 1.0)),
        None => Agents::by_rules(tools, settings),
    };
    run_with(tools, goal, settings, (&agents, None))
}

/// Searches for `goal` with these agents. What a plain search found ([`super::plain_search`]) comes first, where it is
/// given: if it is enough, nobody plans.
///
/// # Errors
/// As [`search_for`].
pub fn run_with(
    tools: &Tools<'_>,
    goal: &SearchGoal,
    settings: &Settings,
    (agents, plain): (&Agents<'_>, Option<IterationTrace>),
) -> Result<SearchRun> {
    let started = Instant::now();
    let rules = Agents::by_rules(tools, settings);
    let goal = goal.bounded();
    let mut run = Run::new(tools, &goal, settings, agents, &rules);
    let enough = plain.as_ref().is_some_and(|plain| plain.report.sufficient);
    run.tool_calls = plain.as_ref().map_or(0, |plain| plain.candidates.channels.len());
    run.plain = plain.is_some();
    run.iterations.extend(plain);
    let stopped = if enough { Stopped::Enough } else { run.search()? };
    let chosen = run.chosen();
    let reranking = Instant::now();
    let ranking = run.rank(chosen);
    run.timings.rerank_ms = ms(reranking);
    run.timings.total_ms = ms(started);
    Ok(run.finish(stopped, chosen, ranking))
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// More than any number of searches: the moments behind them.
const AFTER_SEARCHES: usize = 1_000;

struct Run<'a, 'b> {
    tools: &'a Tools<'b>,
    goal: &'a SearchGoal,
    settings: &'a Settings,
    agents: &'a Agents<'b>,
    rules: &'a Agents<'b>,
    versions: AgentVersions,
    lake: LakeVersions,
    plans: Vec<QueryPlan>,
    /// Whether the first iteration is the plain search.
    plain: bool,
    iterations: Vec<IterationTrace>,
    tool_calls: usize,
    degraded: Vec<Degraded>,
    /// From now on all is done by rules.
    by_rules: bool,
    timings: Timings,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(
        tools: &'a Tools<'b>,
        goal: &'a SearchGoal,
        settings: &'a Settings,
        agents: &'a Agents<'b>,
        rules: &'a Agents<'b>,
    ) -> Self {
        let lake = LakeVersions {
            index: tools.index.manifest().checksum.clone(),
            weights: tools.weights.hash(),
            questions: tools.questions.to_string(),
            channels: tools.channels.iter().map(|channel| format!("{}@{}", channel.name(), channel.weight())).collect(),
        };
        Self {
            tools,
            goal,
            settings,
            agents,
            rules,
            versions: agents.versions(),
            lake,
            plans: Vec::new(),
            plain: false,
            iterations: Vec::new(),
            tool_calls: 0,
            degraded: Vec::new(),
            by_rules: false,
            timings: Timings::default(),
        }
    }

    /// Plans and searches until there is a reason to end.
    fn search(&mut self) -> Result<Stopped> {
        loop {
            let iteration = self.plans.len() + 1;
            let planning = Instant::now();
            let Some(plan) = self.plan() else { return Ok(Stopped::NothingNew) };
            let plan_ms = ms(planning);
            let searching = Instant::now();
            let before = self.before().map_or(0, |set| set.channels.len());
            self.plans.push(plan.clone());
            let candidates = match self.retrieve(&plan, iteration) {
                Ok(candidates) => candidates,
                Err(error) if self.iterations.is_empty() => return Err(error),
                Err(error) => {
                    self.degrade("retriever", &error.to_string());
                    return Ok(Stopped::Failure);
                }
            };
            let searched = candidates.channels.len() - before;
            self.tool_calls += searched;
            for list in &candidates.channels[before..] {
                if let Some(problem) = &list.problem {
                    self.degrade(&format!("channel {}", list.channel), problem);
                }
            }
            let retrieve_ms = ms(searching);
            let judging = Instant::now();
            let report = self.evaluate(&plan, &candidates, iteration);
            self.timings.iterations_ms.push([plan_ms, retrieve_ms, ms(judging)]);
            let sufficient = report.sufficient;
            let asked = plan.queries.len() * self.tools.channels.len();
            self.iterations.push(IterationTrace { plan, candidates, report });
            if sufficient {
                return Ok(Stopped::Enough);
            }
            if self.tools.clock.is_over(Moment { iteration, step: AFTER_SEARCHES + 1 }) {
                return Ok(Stopped::Seconds);
            }
            if searched < asked || self.tool_calls >= self.settings.tool_calls {
                return Ok(Stopped::ToolCalls);
            }
            if iteration >= self.settings.iterations {
                return Ok(Stopped::Iterations);
            }
        }
    }

    /// What earlier plans of this run found.
    fn before(&self) -> Option<&CandidateSet> {
        self.iterations[usize::from(self.plain)..].last().map(|last| &last.candidates)
    }

    /// The next plan, of queries that were not searched yet; none where nobody knows one.
    fn plan(&mut self) -> Option<QueryPlan> {
        let asked = self.next_plan(&*self.acting().planner);
        let plan = match asked {
            Ok(plan) => plan,
            Err(problem) => {
                self.fail("planner", problem);
                self.next_plan(&*self.rules.planner).unwrap_or_else(|problem| {
                    self.fail("planner", problem);
                    None
                })
            }
        };
        let is_first = self.plans.is_empty();
        let mut plan = match plan {
            Some(plan) => plan,
            // Without any plan the request is searched as it is.
            None if is_first && !self.plain => {
                QueryPlan { queries: Vec::new(), must_have: self.goal.must_have.clone() }
            }
            None => return None,
        };
        let searched: Vec<String> =
            self.plans.iter().flat_map(|plan| &plan.queries).map(|query| key_of(&query.text)).collect();
        plan.queries.retain(|query| !searched.contains(&key_of(&query.text)));
        if is_first {
            // Whatever is planned, the request itself is searched, first of all.
            let own = key_of(&self.goal.words);
            plan.queries.retain(|query| key_of(&query.text) != own);
            plan.queries.insert(0, PlannedQuery::new(&self.goal.words, "the request as it is"));
            plan.queries.truncate(MOST_QUERIES);
        }
        (!plan.queries.is_empty()).then_some(plan)
    }

    fn next_plan(&self, planner: &dyn Planner) -> Result<Option<QueryPlan>, Problem> {
        let plans: Vec<QueryPlan> = self.iterations.iter().map(|iteration| iteration.plan.clone()).collect();
        let earlier = self.iterations.last().map(|last| Earlier {
            plans: &plans,
            candidates: &last.candidates,
            report: &last.report,
        });
        match planner.plan(self.goal, earlier.as_ref())? {
            Some(text) => Ok(Some(QueryPlan::accept(&text)?)),
            None => Ok(None),
        }
    }

    fn retrieve(&mut self, plan: &QueryPlan, iteration: usize) -> Result<CandidateSet> {
        let tools = self.tools;
        let key = self.key("candidates", &[&self.versions.retriever]);
        // A run that was cut short here has to be cut short again.
        let after = Moment { iteration, step: AFTER_SEARCHES };
        let whole = tools.clock.over_at().is_none_or(|over_at| over_at >= after);
        let cached = self.cached(&key).filter(|_| whole);
        let is_table = |id: &str| tools.index.get(id).is_ok_and(|found| found.is_some());
        if let Some(set) = cached.and_then(|text| CandidateSet::accept(&text, &is_table).ok()) {
            self.timings.cached += 1;
            return Ok(set);
        }
        let before = self.before();
        let allowance = Allowance {
            channels: tools.channels,
            tool_calls: self.settings.tool_calls.saturating_sub(self.tool_calls).max(usize::from(iteration == 1)),
            clock: tools.clock,
            iteration,
        };
        let lists_before = before.map_or(0, |set| set.channels.len());
        let asked = |retriever: &dyn Retriever| -> Result<CandidateSet, Problem> {
            let text = retriever.retrieve(self.goal, plan, before, &allowance)?;
            let set = CandidateSet::accept(&text, &is_table)?;
            let kept = before.is_none_or(|before| set.channels.starts_with(&before.channels));
            if !kept {
                return Err(CandidateSet::malformed("it lost lists that were there before").into());
            }
            Ok(set)
        };
        let set = match asked(&*self.acting().retriever) {
            Ok(set) => set,
            Err(problem) => {
                let again = asked(&*self.rules.retriever);
                self.fail("retriever", problem);
                again.map_err(Problem::into_error)?
            }
        };
        let whole = set.channels.len() - lists_before == plan.queries.len() * tools.channels.len();
        if whole && set.channels.iter().all(|list| list.problem.is_none()) {
            self.keep(&key, &set.to_json());
        }
        Ok(set)
    }

    fn evaluate(&mut self, plan: &QueryPlan, candidates: &CandidateSet, iteration: usize) -> EvaluationReport {
        // When the time is over nobody is waited for: the rules judge.
        let in_time = !self.tools.clock.is_over(Moment { iteration, step: AFTER_SEARCHES });
        let acting = if in_time { self.acting() } else { self.rules };
        let key = self.key_of_set("report", &self.versions.evaluator, candidates);
        let cached = self.cached(&key).filter(|_| in_time && self.is_kept());
        if let Some(report) = cached.and_then(|text| EvaluationReport::accept(&text).ok()) {
            self.timings.cached += 1;
            return report;
        }
        let asked = |evaluator: &dyn Evaluator| -> Result<EvaluationReport, Problem> {
            Ok(EvaluationReport::accept(&evaluator.evaluate(self.goal, plan, candidates)?)?)
        };
        match asked(&*acting.evaluator) {
            Ok(report) => {
                if in_time {
                    self.keep_unless_by_rules(&key, &report.to_json());
                }
                report
            }
            Err(problem) => {
                let again = asked(&*self.rules.evaluator);
                self.fail("evaluator", problem);
                again.unwrap_or_else(|problem| {
                    self.fail("evaluator", problem);
                    EvaluationReport {
                        sufficient: true,
                        reason: "nobody could judge it".into(),
                        ..EvaluationReport::default()
                    }
                })
            }
        }
    }

    /// The iteration whose candidates are ranked: the last that was enough; else the one that meets most constraints, then holds most
    /// of the request, then the later, which has seen more.
    fn chosen(&self) -> usize {
        let key = |at: &usize| {
            let report = &self.iterations[*at].report;
            (report.sufficient, report.signals.constraints_met, report.signals.coverage)
        };
        let better = |a: &usize, b: &usize| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        };
        (0..self.iterations.len()).max_by(better).unwrap_or_default()
    }

    fn rank(&mut self, chosen: usize) -> FinalRanking {
        let Some(iteration) = self.iterations.get(chosen) else { return FinalRanking::default() };
        let candidates = iteration.candidates.clone();
        let at = Moment { iteration: self.plans.len(), step: AFTER_SEARCHES + 2 };
        let in_time = !self.tools.clock.is_over(at);
        let acting = if in_time { self.acting() } else { self.rules };
        let key = self.key_of_set("ranking", &self.versions.reranker, &candidates);
        let cached = self.cached(&key).filter(|_| in_time && self.is_kept());
        if let Some(ranking) = cached.and_then(|text| FinalRanking::accept(&text, &candidates).ok()) {
            self.timings.cached += 1;
            return ranking;
        }
        let asked = |reranker: &dyn Reranker| -> Result<FinalRanking, Problem> {
            Ok(FinalRanking::accept(&reranker.rerank(self.goal, &candidates)?, &candidates)?)
        };
        let Some(reranker) = &acting.reranker else { return FinalRanking::as_fused(&candidates) };
        match asked(&**reranker) {
            Ok(ranking) => {
                if in_time {
                    self.keep_unless_by_rules(&key, &ranking.to_json());
                }
                ranking
            }
            Err(problem) => {
                // A model that gives no order leaves that of the rules.
                let by_model = matches!(problem, Problem::Fault(Fault::Model(_)));
                let again = self.rules.reranker.as_ref().filter(|_| by_model).and_then(|rules| asked(&**rules).ok());
                self.fail("reranker", problem);
                again.unwrap_or_else(|| FinalRanking::as_fused(&candidates))
            }
        }
    }

    fn finish(self, stopped: Stopped, chosen: usize, ranking: FinalRanking) -> SearchRun {
        let mut queries: Vec<SearchedQuery> = Vec::new();
        // Beside the request itself, as the plain search or the first list has it.
        let lists = self.iterations.iter().take(1).chain(self.iterations.last());
        for list in lists.flat_map(|iteration| &iteration.candidates.channels) {
            match queries.iter_mut().find(|known| known.text == list.query) {
                Some(known) => known.weight = known.weight.max(list.weight),
                None => queries.push(SearchedQuery { text: list.query.clone(), weight: list.weight }),
            }
        }
        let tables = ranking.ranking.iter().map(|ranked| RunTable {
            id: ranked.id.clone(),
            score: ranked.score,
            reason: ranking.reasons.get(&ranked.id).cloned().unwrap_or_default(),
        });
        SearchRun {
            ranking: tables.collect(),
            queries,
            stopped,
            partial: stopped.is_partial(),
            degraded: self.degraded.clone(),
            iterations: self.iterations.len(),
            tool_calls: self.tool_calls,
            trace: RunTrace {
                version: VERSION,
                sought: self.goal.clone(),
                settings: self.settings.clone(),
                agents: self.versions,
                lake: self.lake,
                iterations: self.iterations,
                chosen,
                ranking,
                stopped,
                tool_calls: self.tool_calls,
                degraded: self.degraded,
                over_at: self.tools.clock.over_at(),
                timings: self.timings,
            },
        }
    }

    /// The agents that work now.
    fn acting(&self) -> &'a Agents<'b> {
        if self.by_rules { self.rules } else { self.agents }
    }

    /// Notes a failure. A limit of the model that is reached stays reached; the single agent does not recover from its own failure.
    fn fail(&mut self, component: &str, problem: Problem) {
        let limit = match &problem {
            Problem::Fault(Fault::Model(Unanswered::Limit(_))) => true,
            // As a replay has it.
            Problem::Fault(Fault::Model(Unanswered::Failed(failure))) => failure.kind == FailureKind::Limit,
            _ => false,
        };
        self.by_rules |= limit || self.settings.style == Style::SingleAgent;
        self.degrade(component, &problem.to_string());
    }

    fn degrade(&mut self, component: &str, problem: &str) {
        let degraded = Degraded { component: component.to_string(), problem: shortened(problem, 300) };
        if !self.degraded.contains(&degraded) {
            self.degraded.push(degraded);
        }
    }

    /// The key of an artifact of the plans so far.
    fn key(&self, artifact: &str, depends_on: &[&str]) -> String {
        if self.tools.cache.is_none() {
            return String::new();
        }
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let (plans, lake) = (json(serde_json::to_string(&self.plans)), json(serde_json::to_string(&self.lake)));
        let (goal, settings) = (json(serde_json::to_string(self.goal)), json(serde_json::to_string(self.settings)));
        let version = format!("{artifact}@{VERSION}");
        let mut parts = vec![version.as_str(), &plans, &lake, &goal, &settings];
        parts.extend_from_slice(depends_on);
        RunCache::key(&parts)
    }

    /// The key of what `version` makes of a set.
    fn key_of_set(&self, artifact: &str, version: &str, set: &CandidateSet) -> String {
        if self.tools.cache.is_some() { self.key(artifact, &[version, &set.to_json()]) } else { String::new() }
    }

    /// Whether verdicts and orders are kept: those of a single agent come with its next queries, which they alone do not tell.
    fn is_kept(&self) -> bool {
        self.settings.style == Style::MultiAgent
    }

    fn cached(&self, key: &str) -> Option<String> {
        self.tools.cache?.get(key)
    }

    fn keep(&self, key: &str, artifact: &str) {
        if let Some(cache) = self.tools.cache {
            cache.put(key, artifact);
        }
    }

    /// Keeps what the agents of this run made; what the rules made in their place is not theirs.
    fn keep_unless_by_rules(&self, key: &str, artifact: &str) {
        if !self.by_rules && self.is_kept() {
            self.keep(key, artifact);
        }
    }
}

/// Why a step has to be done by others.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Fault(#[from] Fault),
    #[error("{0}")]
    Malformed(#[from] Malformed),
}

impl Problem {
    fn into_error(self) -> lakeward_core::Error {
        match self {
            Problem::Fault(Fault::Lake(error)) => error,
            other => lakeward_core::Error::Internal(other.to_string()),
        }
    }
}
