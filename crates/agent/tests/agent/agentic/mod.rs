//! Plan, retrieve, evaluate: what each agent may hand over, what happens when one fails, and that every limit holds. On the sample
//! lake; `variants.rs` measures on outside benchmarks, `models.rs` puts scripted models in the agents' places, `artifacts.rs` has what
//! is malformed.

mod artifacts;
mod models;

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lakeward_agent::agentic::{
    Agents, Artifact, CandidateSet, Channel, ChannelKind, Clock, Earlier, Evaluator, Fault, FinalRanking, LiveClock,
    MeaningChannel, Planner, QueryPlan, RecordedClock, Reranker, RunCache, SearchGoal, SearchRun, Settings, Stopped,
    Style, Tools, WordsChannel, first_difference, plain_search, run_with, search_for,
};
use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::RankingWeights;
use lakeward_search::weights::SufficiencyWeights;

/// The sample lake, indexed once for all tests.
fn index() -> &'static LakeIndex {
    static INDEX: OnceLock<(tempfile::TempDir, LakeIndex)> = OnceLock::new();
    let (_, index) = INDEX.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let (lake, embedder) = (Path::new(crate::REPOSITORY).join("lake"), StaticModel::builtin());
        build(&lake, folder.path(), embedder, &BuildOptions::default(), &Silent).expect("a build");
        let index = LakeIndex::open(folder.path(), embedder.id()).expect("an index");
        (folder, index)
    });
    index
}

/// Calls `use_them` with the tools of a run over the sample lake.
fn with_tools<T>(
    channels: &[&dyn Channel],
    clock: &dyn Clock,
    cache: Option<&RunCache>,
    use_them: impl FnOnce(&Tools<'_>) -> T,
) -> T {
    let (words, meaning) = (WordsChannel(index()), MeaningChannel(index(), StaticModel::builtin()));
    let both: [&dyn Channel; 2] = [&words, &meaning];
    use_them(&Tools {
        index: index(),
        embedder: StaticModel::builtin(),
        weights: RankingWeights::shipped(),
        channels: if channels.is_empty() { &both } else { channels },
        questions: "",
        clock,
        cache,
    })
}

fn plain(text: &str, settings: &Settings) -> SearchRun {
    let clock = LiveClock::start(60.0);
    with_tools(&[], &clock, None, |tools| search_for(tools, &SearchGoal::words(text), settings, None))
        .expect("an outcome")
}

fn ids(outcome: &SearchRun) -> Vec<&str> {
    outcome.ranking.iter().map(|table| table.id.as_str()).collect()
}

const REQUEST: &str = "manufacturer and model of aircraft by tail number";

#[test]
fn a_request_is_found_and_every_step_is_told() {
    for style in [Style::SingleAgent, Style::MultiAgent] {
        let outcome = plain(REQUEST, &Settings { style, ..Settings::default() });
        assert_eq!(ids(&outcome)[0], "transport/nyc2013/planes_faa");
        assert!(!outcome.ranking[0].reason.is_empty() && outcome.degraded.is_empty());
        assert_eq!(outcome.queries[0].text, REQUEST);
        assert!(outcome.queries.iter().skip(1).all(|query| query.weight < outcome.queries[0].weight));
        let trace = &outcome.trace;
        assert_eq!((trace.iterations.len(), trace.tool_calls), (outcome.iterations, outcome.tool_calls));
        let lists = &trace.iterations[0].candidates.channels;
        assert!(lists.iter().all(|list| !list.hits.is_empty() && list.depth > 0 && list.weight > 0.0));
        assert!(!trace.lake.index.is_empty() && trace.agents.planner.starts_with("rules@"));
    }
}

#[test]
fn equal_runs_have_equal_traces_and_others_say_where_they_part() {
    let settings = Settings::default();
    let (one, same) = (plain("rent and income", &settings), plain("rent and income", &settings));
    assert_eq!(one.trace.without_timings(), same.trace.without_timings());
    assert_eq!(first_difference(&one.trace, &same.trace), None);
    let read: lakeward_agent::agentic::RunTrace =
        serde_json::from_str(&serde_json::to_string(&one.trace).expect("JSON")).expect("a trace");
    assert_eq!(read.without_timings(), one.trace.without_timings());
    // The first step that is not the same is named, whatever else differs after it.
    type Turn = fn(&mut lakeward_agent::agentic::RunTrace);
    let turns: [(Turn, &str, &str); 7] = [
        (|run| run.ranking.ranking.swap(0, 1), "ranking of the search", "from rank 1 on"),
        (|run| run.chosen += 1, "end of the search", "then"),
        (|run| run.iterations[0].report.reason = "told otherwise".into(), "verdict 1", "told otherwise"),
        (|run| run.iterations[0].candidates.candidates.reverse(), "fusion 1", "from rank 1 on"),
        (
            |run| run.iterations[0].candidates.channels[1].weight = 9.0,
            "channel meaning for `rent and income`",
            "weight",
        ),
        (
            |run| run.iterations[0].candidates.channels[0].hits.reverse(),
            "channel words for `rent and income`",
            "rank 1",
        ),
        (|run| run.iterations[0].plan.queries[0].text = "rent".into(), "plan 1", "`rent`"),
    ];
    let mut turned = one.trace.clone();
    for (turn, step, what) in turns {
        turn(&mut turned);
        let (name, difference) = first_difference(&one.trace, &turned).expect("a difference");
        assert!(name == step && difference.contains(what), "{name}: {difference}");
    }
    let other = plain("unemployment", &settings);
    assert_eq!(first_difference(&one.trace, &other.trace).expect("a difference").0, "search goal");
}

#[test]
fn a_plain_search_that_is_enough_is_the_whole_run() {
    let searched =
        lakeward_search::SearchedText::of(index(), StaticModel::builtin(), REQUEST, 100, RankingWeights::shipped())
            .expect("a search");
    let clock = LiveClock::start(60.0);
    let run = |likely: f64, must_have: &[&str]| {
        let must_have = must_have.iter().map(ToString::to_string).collect();
        let goal = SearchGoal { likely: Some(likely), must_have, ..SearchGoal::words(REQUEST) };
        let first =
            plain_search(index(), &goal, &searched, 100, SufficiencyWeights::default()).expect("a first iteration");
        with_tools(&[], &clock, None, |tools| {
            let settings = Settings::default();
            let agents = Agents { planner: Box::new(Restless), ..Agents::by_rules(tools, &settings) };
            run_with(tools, &goal, &settings, (&agents, Some(first))).expect("an outcome")
        })
    };
    let enough = run(0.9, &["model"]);
    assert_eq!((enough.stopped, enough.iterations, enough.tool_calls), (Stopped::Enough, 1, 2));
    let [first] = enough.trace.iterations.as_slice() else { panic!("{} iterations", enough.trace.iterations.len()) };
    assert_eq!(first.plan.queries[0].text, REQUEST);
    assert!(first.candidates.channels.iter().all(|list| list.hits.iter().all(|(_, score)| *score > 0.0)));
    assert_eq!(ids(&enough), searched.answers.iter().map(|answer| answer.table.as_str()).collect::<Vec<_>>());
    assert!(CandidateSet::accept(&first.candidates.to_json(), &|id| index().find(id).is_ok()).is_ok());
    // What is not likely to serve, or does not have what is demanded, is searched for further.
    for further in [run(0.2, &["model"]), run(0.9, &["phlogiston"])] {
        assert!(further.iterations > 1 && !further.trace.iterations[0].report.sufficient);
        assert_eq!(further.queries[0].text, REQUEST);
        assert!(further.queries.iter().any(|query| query.text == "query 1 0"), "{:?}", further.queries);
    }
}

#[test]
fn any_text_is_a_request() {
    for text in ["", "   ", "?!", "the of and", "\u{202e}\u{0}", &"x".repeat(10_000), &"rent income ".repeat(1_000)] {
        let outcome = plain(text, &Settings::default());
        assert!(outcome.degraded.is_empty(), "{:?}", outcome.degraded);
        assert!(outcome.tool_calls <= 36 && outcome.iterations <= 3);
    }
    let goal = SearchGoal { must_have: vec!["y".repeat(1_000); 100], ..SearchGoal::words("rent") };
    let clock = LiveClock::start(60.0);
    let outcome = with_tools(&[], &clock, None, |tools| search_for(tools, &goal, &Settings::default(), None));
    assert!(outcome.expect("an outcome").degraded.is_empty());
}

#[test]
fn misspelt_words_are_searched_as_the_lake_spells_them() {
    let outcome = plain("unemploymnt rates of counties", &Settings::default());
    assert!(
        outcome.queries.iter().any(|query| query.text.contains("unemploy") && !query.text.contains("unemploymnt")),
        "{:?}",
        outcome.queries
    );
    assert!(outcome.iterations > 1);
}

/// How a channel answers.
type Searching = fn(&str) -> lakeward_core::Result<Vec<(String, f64)>>;

/// A channel that does what a test wants.
struct Odd {
    name: &'static str,
    answer: Searching,
}

impl Channel for Odd {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> ChannelKind {
        ChannelKind::Meaning
    }

    fn search(&self, text: &str, _depth: usize) -> lakeward_core::Result<Vec<(String, f64)>> {
        (self.answer)(text)
    }
}

#[test]
fn a_channel_that_fails_leaves_the_others() {
    let words = WordsChannel(index());
    let broken = Odd { name: "broken", answer: |_| Err(Error::Internal("no connection".into())) };
    let clock = LiveClock::start(60.0);
    let settings = Settings::default();
    let goal = SearchGoal::words(REQUEST);
    let outcome = with_tools(&[&words, &broken], &clock, None, |tools| search_for(tools, &goal, &settings, None));
    let outcome = outcome.expect("an outcome");
    assert_eq!(ids(&outcome)[0], "transport/nyc2013/planes_faa");
    assert!(
        outcome
            .degraded
            .iter()
            .any(|part| part.component == "channel broken" && part.problem.contains("no connection"))
    );
    assert!(outcome.degraded.iter().all(|part| part.component.starts_with("channel")));
    let alone = with_tools(&[&broken], &clock, None, |tools| search_for(tools, &goal, &settings, None));
    assert!(alone.unwrap_err().to_string().contains("no connection"));
}

#[test]
fn a_channel_that_invents_tables_is_not_believed() {
    let (words, meaning) = (WordsChannel(index()), MeaningChannel(index(), StaticModel::builtin()));
    let inventions: [Searching; 3] = [
        |_| Ok(vec![("no/such/table".into(), 1.0)]),
        |_| Ok(vec![("us/states".into(), f64::NAN)]),
        |_| Ok(vec![("us/states".into(), 1.0), ("us/states".into(), 0.5)]),
    ];
    for answer in inventions {
        let liar = Odd { name: "liar", answer };
        let clock = LiveClock::start(60.0);
        let channels: [&dyn Channel; 3] = [&words, &meaning, &liar];
        let outcome = with_tools(&channels, &clock, None, |tools| {
            search_for(tools, &SearchGoal::words(REQUEST), &Settings::default(), None)
        });
        let outcome = outcome.expect("an outcome");
        assert_eq!(ids(&outcome)[0], "transport/nyc2013/planes_faa");
        assert!(outcome.degraded.iter().any(|part| part.component == "channel liar"), "{:?}", outcome.degraded);
    }
}

#[test]
fn time_ends_a_run_and_what_was_found_is_returned() {
    let slow = Odd {
        name: "slow",
        answer: |_| {
            std::thread::sleep(Duration::from_millis(40));
            Ok(vec![("us/states".into(), 1.0)])
        },
    };
    let words = WordsChannel(index());
    let channels: [&dyn Channel; 2] = [&words, &slow];
    let settings = Settings { seconds: 0.05, ..Settings::default() };
    let goal = SearchGoal::words("unemploymnt of counties, and rent with their income");
    let clock = LiveClock::start(settings.seconds);
    let started = Instant::now();
    let outcome =
        with_tools(&channels, &clock, None, |tools| search_for(tools, &goal, &settings, None)).expect("an outcome");
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!((outcome.stopped, outcome.partial), (Stopped::Seconds, true));
    assert!(!outcome.ranking.is_empty() && outcome.trace.over_at.is_some());
    // A clock that answers as that one did takes the same path, however fast the channel is now.
    let fast = Odd { name: "slow", answer: |_| Ok(vec![("us/states".into(), 1.0)]) };
    let channels: [&dyn Channel; 2] = [&words, &fast];
    let clock = RecordedClock::new(outcome.trace.over_at);
    let again =
        with_tools(&channels, &clock, None, |tools| search_for(tools, &goal, &settings, None)).expect("an outcome");
    assert_eq!(again.trace.without_timings(), outcome.trace.without_timings());
}

/// A planner that always has something new to search.
struct Restless;

impl Planner for Restless {
    fn version(&self) -> String {
        "restless".into()
    }

    fn plan(&self, _: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        let number = earlier.map_or(0, |earlier| earlier.plans.len());
        let queries = (0..4).map(|at| format!(r#"{{"text": "query {number} {at}", "aim": ""}}"#)).collect::<Vec<_>>();
        Ok(Some(format!(r#"{{"queries": [{}], "must_have": ["unobtainium"]}}"#, queries.join(","))))
    }
}

#[test]
fn plans_and_searches_end() {
    let clock = LiveClock::start(60.0);
    let run = |iterations: usize, tool_calls: usize| {
        let settings = Settings { iterations, tool_calls, ..Settings::default() };
        with_tools(&[], &clock, None, |tools| {
            let agents = Agents { planner: Box::new(Restless), ..Agents::by_rules(tools, &settings) };
            run_with(tools, &SearchGoal::words(REQUEST), &settings, (&agents, None)).expect("an outcome")
        })
    };
    let outcome = run(3, 1_000);
    assert_eq!((outcome.stopped, outcome.partial, outcome.iterations), (Stopped::Iterations, true, 3));
    assert_eq!(outcome.tool_calls, 2 * (1 + 3 * 4));
    for tool_calls in [0, 1, 2, 7, 12] {
        let outcome = run(3, tool_calls);
        assert_eq!((outcome.stopped, outcome.tool_calls), (Stopped::ToolCalls, tool_calls.max(1)));
        assert!(!outcome.ranking.is_empty());
    }
    let outcome = run(1_000, 1_000_000);
    assert!(outcome.tool_calls <= 128 && outcome.partial, "{}", outcome.tool_calls);
    assert_eq!(run(0, 10).iterations, 1);
}

/// An agent of any kind that hands over the same text whatever it is asked, or nothing.
struct Says(Option<&'static str>);

impl Says {
    fn said(&self) -> Result<String, Fault> {
        self.0.map(str::to_string).ok_or_else(|| Fault::Other("it is out of order".into()))
    }
}

impl Planner for Says {
    fn version(&self) -> String {
        "says".into()
    }

    fn plan(&self, _: &SearchGoal, _: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        self.said().map(Some)
    }
}

impl Evaluator for Says {
    fn version(&self) -> String {
        "says".into()
    }

    fn evaluate(&self, _: &SearchGoal, _: &QueryPlan, _: &CandidateSet) -> Result<String, Fault> {
        self.said()
    }
}

impl Reranker for Says {
    fn version(&self) -> String {
        "says".into()
    }

    fn rerank(&self, _: &SearchGoal, _: &CandidateSet) -> Result<String, Fault> {
        self.said()
    }
}

impl lakeward_agent::agentic::Retriever for Says {
    fn version(&self) -> String {
        "says".into()
    }

    fn retrieve(
        &self,
        _: &SearchGoal,
        _: &QueryPlan,
        _: Option<&CandidateSet>,
        _: &lakeward_agent::agentic::Allowance<'_>,
    ) -> Result<String, Fault> {
        self.said()
    }
}

/// No artifact at all, whichever is asked for.
const NO_ARTIFACTS: [Option<&str>; 7] = [
    None,
    Some(""),
    Some("null"),
    Some("[]"),
    Some("{}"),
    Some("{\"queries\": 3}"),
    Some("{\"candidates\": [], \"weight\": 1}"),
];

#[test]
fn an_agent_that_fails_degrades_its_own_step_only() {
    let settings = Settings::default();
    let whole = plain(REQUEST, &settings);
    let clock = LiveClock::start(60.0);
    for said in NO_ARTIFACTS {
        for component in ["planner", "retriever", "evaluator", "reranker"] {
            let outcome = with_tools(&[], &clock, None, |tools| {
                let mut agents = Agents::by_rules(tools, &settings);
                match component {
                    "planner" => agents.planner = Box::new(Says(said)),
                    "retriever" => agents.retriever = Box::new(Says(said)),
                    "evaluator" => agents.evaluator = Box::new(Says(said)),
                    _ => agents.reranker = Some(Box::new(Says(said))),
                }
                run_with(tools, &SearchGoal::words(REQUEST), &settings, (&agents, None)).expect("an outcome")
            });
            assert!(!outcome.degraded.is_empty(), "{component} {said:?}");
            assert!(outcome.degraded.iter().all(|part| part.component == component), "{:?}", outcome.degraded);
            assert_eq!(outcome.trace.iterations, whole.trace.iterations, "{component} {said:?}");
            match component {
                "reranker" => assert_eq!(
                    outcome.trace.ranking,
                    FinalRanking::as_fused(&outcome.trace.iterations[outcome.trace.chosen].candidates)
                ),
                _ => assert_eq!(ids(&outcome), ids(&whole)),
            }
        }
    }
}

#[test]
fn a_cache_gives_the_same_run_and_never_that_of_another_lake() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = RunCache::new(folder.path());
    let clock = LiveClock::start(60.0);
    let run = |text: &str, questions: &str| {
        with_tools(&[], &clock, Some(&cache), |tools| {
            let tools = Tools { questions, ..*tools };
            search_for(&tools, &SearchGoal::words(text), &Settings::default(), None).expect("an outcome")
        })
    };
    let first = run(REQUEST, "");
    assert_eq!(first.trace.timings.cached, 0);
    let second = run(REQUEST, "");
    assert_eq!(second.trace.timings.cached, 2 * second.iterations + 1);
    assert_eq!(second.trace.without_timings(), first.trace.without_timings());
    assert_eq!(run(REQUEST, "questions@2").trace.timings.cached, 0);
    assert_eq!(run("another request", "").trace.timings.cached, 0);
    for file in std::fs::read_dir(folder.path()).expect("files") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, text.replace('a', "b")).expect("a file");
    }
    let third = run(REQUEST, "");
    assert_eq!((third.trace.timings.cached, third.trace.without_timings()), (0, first.trace.without_timings()));
}
