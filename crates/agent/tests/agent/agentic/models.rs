//! Planner and evaluator with a scripted model: what it says is used only as far as it is valid.

use std::sync::Mutex;
use std::time::Duration;

use lakeward_agent::agentic::{
    Agents, LiveClock, RunCache, SearchGoal, SearchRun, Settings, Stopped, Style, plain_search, run_with, search_for,
};
use lakeward_models::embed::StaticModel;
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, LanguageModel, Limits, Prompts};

use lakeward_search::weights::SufficiencyWeights;
use lakeward_search::{RankingWeights, SearchedText};

use super::{REQUEST, ids, index, plain, with_tools};

/// Answers in turn, whatever it is asked; at last it is not there any more.
struct Script {
    answers: Mutex<Vec<Result<String, FailureKind>>>,
    asked: Mutex<Vec<String>>,
}

impl Chat for Script {
    fn id(&self) -> &str {
        "script"
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        self.asked.lock().expect("a lock").push(call.messages.last().expect("a message").content.clone());
        let mut answers = self.answers.lock().expect("a lock");
        let answer = if answers.is_empty() { Err(FailureKind::Unreachable) } else { answers.remove(0) };
        answer.map(|text| ChatAnswer { text, usage: None }).map_err(|kind| ChatFailure::new(kind, "scripted"))
    }
}

const LIMITS: Limits = Limits {
    calls: 20,
    tokens: 100_000,
    time: Duration::from_secs(60),
    call_time: Duration::from_secs(60),
    money: None,
    question_price: 0.0,
    answer_price: 0.0,
};

/// The run, and what the model was asked.
fn run(style: Style, limits: Limits, answers: Vec<Result<&str, FailureKind>>) -> (SearchRun, Vec<String>) {
    let answers = answers.into_iter().map(|answer| answer.map(str::to_string)).collect();
    let chat = Script { answers: Mutex::new(answers), asked: Mutex::default() };
    let model = LanguageModel::new(&chat, Prompts::shipped(), limits, None);
    let clock = LiveClock::start(60.0);
    let settings = Settings { style, ..Settings::default() };
    let goal = SearchGoal::words(REQUEST);
    let outcome = with_tools(&[], &clock, None, |tools| search_for(tools, &goal, &settings, Some(&model)));
    let asked = chat.asked.lock().expect("a lock").clone();
    (outcome.expect("an outcome"), asked)
}

const PLAN: &str = r#"{"queries": [{"text": "aircraft registry", "aim": "planes"}], "must_have": []}"#;
const ENOUGH: &str = r#"{"sufficient": true, "missing": [], "reason": "planes are there"}"#;
/// Of none of them it says that it serves: the order of the rules stays.
const UNRANKED: &str = r#"{"ranking": []}"#;
const MISSING: &str = r#"{"sufficient": false, "missing": ["tail number", "blood type"], "reason": "no tail number"}"#;

#[test]
fn a_model_plans_and_judges() {
    let (outcome, asked) = run(Style::MultiAgent, LIMITS, vec![Ok(PLAN), Ok(ENOUGH), Ok(UNRANKED)]);
    assert_eq!((outcome.stopped, outcome.iterations, asked.len()), (Stopped::Enough, 1, 3));
    let texts: Vec<&str> = outcome.queries.iter().map(|query| query.text.as_str()).collect();
    assert_eq!(texts, [REQUEST, "aircraft registry"]);
    assert_eq!(ids(&outcome)[0], "transport/nyc2013/planes_faa");
    assert!(outcome.trace.agents.planner.starts_with("script plan@") && outcome.degraded.is_empty());
    // What nobody asked for is not missing; what is missing reaches the next plan.
    let again = r#"{"queries": [{"text": "tail numbers", "aim": ""}], "must_have": ["number", "Atlantis"]}"#;
    let answers = vec![Ok(PLAN), Ok(MISSING), Ok(again), Ok(ENOUGH), Ok(UNRANKED)];
    let (outcome, asked) = run(Style::MultiAgent, LIMITS, answers);
    assert_eq!(outcome.trace.iterations[0].report.missing, ["tail number"]);
    assert!(asked[2].contains("aircraft registry") && asked[2].contains("no tail number"), "{}", asked[2]);
    assert_eq!(outcome.trace.iterations[1].plan.must_have, ["number"]);
    assert_eq!(outcome.iterations, 2);
}

#[test]
fn the_single_agent_looks_first_at_what_a_plain_search_found() {
    let searched =
        SearchedText::of(index(), StaticModel::builtin(), REQUEST, 100, RankingWeights::shipped()).expect("a search");
    let goal = SearchGoal { likely: Some(0.1), ..SearchGoal::words(REQUEST) };
    let more = r#"{"sufficient": false, "missing": [], "reason": "no tails", "queries": [{"text": "tail numbers", "aim": ""}], "ranking": []}"#;
    let done = r#"{"sufficient": true, "missing": [], "reason": "they are there", "queries": [], "ranking": []}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let cache = RunCache::new(folder.path());
    let run = || {
        let answers = Mutex::new([more, done].map(|answer| Ok(answer.to_string())).to_vec());
        let script = Script { answers, asked: Mutex::default() };
        let model = LanguageModel::new(&script, Prompts::shipped(), LIMITS, None);
        let settings = Settings { style: Style::SingleAgent, ..Settings::default() };
        let clock = LiveClock::start(60.0);
        let plain = plain_search(index(), &goal, &searched, 100, SufficiencyWeights::default()).expect("an iteration");
        let found = with_tools(&[], &clock, Some(&cache), |tools| {
            let agents = Agents::with_model(tools, &settings, &model, (Default::default(), 1.0));
            run_with(tools, &goal, &settings, (&agents, Some(plain))).expect("an outcome")
        });
        (found, model.calls().len())
    };
    // What was kept of the first run changes nothing in the second: its verdicts come with its next queries.
    for _ in 0..2 {
        let (found, calls) = run();
        assert_eq!((found.stopped, found.iterations, calls), (Stopped::Enough, 2, 2), "{:?}", found.degraded);
        assert_eq!(found.trace.iterations[1].plan.queries[1].text, "tail numbers");
    }
}

/// Ranks the candidates that it is shown by their titles' letters, last first.
struct Backwards;

impl Chat for Backwards {
    fn id(&self) -> &str {
        "backwards"
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let user = &call.messages.last().expect("a message").content;
        let cards = user.lines().find_map(|line| line.strip_prefix("candidates: ")).unwrap_or("[]");
        let cards: Vec<serde_json::Value> = serde_json::from_str(cards).expect("JSON");
        let mut cards: Vec<(String, String)> =
            cards.iter().map(|card| (card["title"].to_string(), card["id"].to_string())).collect();
        cards.sort_by(|a, b| b.cmp(a));
        let ids = cards.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>().join(",");
        let text = match call.answer {
            "query_plan" => PLAN.to_string(),
            "verdict" => ENOUGH.to_string(),
            "step" if ids.is_empty() => {
                let queries = r#"[{"text": "aircraft registry", "aim": "planes"}]"#;
                format!(
                    r#"{{"sufficient": false, "missing": [], "reason": "at first", "queries": {queries}, "ranking": []}}"#
                )
            }
            "step" => format!(
                r#"{{"sufficient": true, "missing": [], "reason": "so it is", "queries": [], "ranking": [{ids}]}}"#
            ),
            _ => format!(r#"{{"ranking": [{ids}]}}"#),
        };
        Ok(ChatAnswer { text, usage: None })
    }
}

#[test]
fn a_model_sees_candidates_and_ranks_them_in_both_styles() {
    for (style, calls) in [(Style::SingleAgent, 2), (Style::MultiAgent, 3)] {
        let model = LanguageModel::new(&Backwards, Prompts::shipped(), LIMITS, None);
        let clock = LiveClock::start(60.0);
        let settings = Settings { style, ..Settings::default() };
        let goal = SearchGoal::words(REQUEST);
        let outcome = with_tools(&[], &clock, None, |tools| search_for(tools, &goal, &settings, Some(&model)));
        let outcome = outcome.expect("an outcome");
        assert_eq!((outcome.stopped, model.calls().len()), (Stopped::Enough, calls), "{:?}", outcome.degraded);
        assert_eq!(outcome.queries[1].text, "aircraft registry");
        assert!(outcome.degraded.is_empty() && outcome.ranking.is_sorted_by(|a, b| a.score >= b.score));
        let titles: Vec<&str> = {
            let found = &outcome.trace.iterations[0].candidates.candidates;
            let title = |id: &str| found.iter().find(|found| found.id == id).expect("a candidate").title.as_str();
            outcome.ranking.iter().take(8).map(|table| title(&table.id)).collect()
        };
        assert!(titles.is_sorted_by(|a, b| a >= b), "{titles:?}");
        // What it is shown is quoted from the tables: titles, columns, descriptions.
        let shown = &model.calls()[1].messages.last().expect("a question").content.clone();
        assert!(shown.contains("\"columns\"") && shown.contains("\"description\""), "{shown}");
    }
}

#[test]
fn the_single_agent_goes_on_from_what_it_saw_and_by_rules_when_it_fails() {
    let first = r#"{"sufficient": false, "missing": [], "reason": "at first", "queries": [{"text": "aircraft registry", "aim": ""}], "ranking": []}"#;
    let more = r#"{"sufficient": false, "missing": ["tail number"], "reason": "no tail", "queries": [{"text": "tail numbers", "aim": ""}], "ranking": []}"#;
    let done = r#"{"sufficient": true, "missing": [], "reason": "planes are there", "queries": [], "ranking": []}"#;
    let (outcome, asked) = run(Style::SingleAgent, LIMITS, vec![Ok(first), Ok(more), Ok(done)]);
    assert_eq!((outcome.stopped, outcome.iterations, asked.len()), (Stopped::Enough, 2, 3));
    assert!(asked[1].contains("rounds_left: 2") && asked[2].contains("tail numbers"), "{}", asked[2]);
    assert_eq!(outcome.trace.iterations[1].plan.queries[0].text, "tail numbers");
    assert_eq!(ids(&outcome)[0], "transport/nyc2013/planes_faa");
    let wrong = r#"{"sufficient": true, "missing": [], "reason": "x", "queries": [], "ranking": ["c99"]}"#;
    let (outcome, asked) = run(Style::SingleAgent, LIMITS, vec![Ok(first), Ok(wrong), Ok(wrong)]);
    assert_eq!(asked.len(), 3);
    assert_eq!(
        (outcome.degraded[0].component.as_str(), ids(&outcome)[0]),
        ("evaluator", "transport/nyc2013/planes_faa")
    );
}

#[test]
fn plans_that_break_their_contract_are_replaced() {
    let many = format!(
        r#"{{"queries": [{}], "must_have": []}}"#,
        (0..1_000).map(|at| format!(r#"{{"text": "q{at}", "aim": ""}}"#)).collect::<Vec<_>>().join(",")
    );
    let wrong = [
        r#"{"queries": [{"text": "planes", "aim": "", "k": 500}], "must_have": []}"#,
        r#"{"queries": [{"text": "planes", "aim": ""}], "must_have": [], "weights": {"words": 9}}"#,
        r#"{"queries": [], "must_have": []}"#,
        r#"{"queries": "planes"}"#,
        "I cannot help with that.",
        &many,
    ];
    let by_rules = plain(REQUEST, &Settings::default());
    for answer in wrong {
        let (outcome, _) = run(Style::MultiAgent, LIMITS, vec![Ok(answer), Ok(answer), Ok(ENOUGH), Ok(UNRANKED)]);
        assert_eq!(outcome.degraded.len(), 1, "{answer}: {:?}", outcome.degraded);
        assert_eq!(outcome.degraded[0].component, "planner");
        assert_eq!(outcome.trace.iterations[0].plan, by_rules.trace.iterations[0].plan);
        assert_eq!(outcome.trace.iterations[0].report.reason, "planes are there");
    }
    // One that is put right when asked again counts.
    let (outcome, asked) = run(Style::MultiAgent, LIMITS, vec![Ok(wrong[0]), Ok(PLAN), Ok(ENOUGH), Ok(UNRANKED)]);
    assert!(outcome.degraded.is_empty() && asked.len() == 4);
}

#[test]
fn verdicts_that_break_their_contract_are_replaced() {
    let by_rules = plain(REQUEST, &Settings::default());
    for answer in [
        r#"{"sufficient": true, "missing": ["number"], "reason": "x"}"#,
        r#"{"sufficient": "yes", "missing": [], "reason": "x"}"#,
        r#"{"sufficient": true, "missing": [], "reason": "x", "ranking": ["us/states"]}"#,
        r#"{"sufficient": true, "missing": [], "reason": ""}"#,
    ] {
        let plan = format!(r#"{{"queries": [{{"text": "{REQUEST}", "aim": ""}}], "must_have": []}}"#);
        let (outcome, _) = run(Style::MultiAgent, LIMITS, vec![Ok(&plan), Ok(answer), Ok(answer), Ok(UNRANKED)]);
        assert_eq!(outcome.degraded[0].component, "evaluator", "{answer}");
        assert_eq!(outcome.trace.iterations[0].report.sufficient, by_rules.trace.iterations[0].report.sufficient);
    }
}

#[test]
fn without_answers_all_is_as_by_rules() {
    let failures = [FailureKind::Unreachable, FailureKind::TimedOut, FailureKind::Broken, FailureKind::Busy];
    for style in [Style::SingleAgent, Style::MultiAgent] {
        let by_rules = plain(REQUEST, &Settings { style, ..Settings::default() });
        for failure in failures {
            let (outcome, asked) = run(style, LIMITS, vec![Err(failure)]);
            assert_eq!((ids(&outcome), outcome.iterations), (ids(&by_rules), by_rules.iterations));
            assert_eq!(asked.len(), 1);
            assert!(!outcome.degraded.is_empty());
        }
        // A limit that is reached ends the model's help, and is told once.
        let (outcome, asked) = run(style, Limits { calls: 0, ..LIMITS }, vec![Ok(PLAN)]);
        assert_eq!((ids(&outcome), asked.len(), outcome.degraded.len()), (ids(&by_rules), 0, 1));
    }
}
