//! The model as used by the rest of the program: every question within the limits of a turn, every answer validated.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Message, Role, Usage};
use super::prompt::{PromptUse, Prompts};
use super::quote;
use super::record::{CallOutcome, CallRecord};
use lakeward_core::store::BlobCache;

/// The limits of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Calls, including repairs.
    pub calls: usize,
    /// Tokens of questions and answers.
    pub tokens: u64,
    /// Total time waiting for the model.
    pub time: Duration,
    /// Maximum time of one call.
    pub call_time: Duration,
    /// Cost, in the currency of the prices.
    pub money: Option<f64>,
    /// Price of a million question tokens.
    pub question_price: f64,
    /// Price of a million answer tokens.
    pub answer_price: f64,
}

impl Limits {
    /// No limits: for a replay, whose trace records where limits were reached.
    pub const NONE: Limits = Limits {
        calls: usize::MAX,
        tokens: u64::MAX,
        time: Duration::from_secs(u32::MAX as u64),
        call_time: Duration::from_secs(60),
        money: None,
        question_price: 0.0,
        answer_price: 0.0,
    };

    fn price(&self, usage: Usage) -> f64 {
        (usage.prompt_tokens as f64 * self.question_price + usage.answer_tokens as f64 * self.answer_price) / 1e6
    }
}

/// The resources that a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Calls, including repairs, without those answered from the cache.
    pub calls: usize,
    /// Tokens, as the server counted them, or estimates where it did not.
    pub usage: Usage,
    /// Those of them that are estimates.
    #[serde(default)]
    pub estimated: u64,
    /// Answers that violated their contract.
    pub refused: usize,
    /// Waiting time in milliseconds.
    pub elapsed_ms: f64,
    /// Cost, if prices are configured.
    #[serde(default)]
    pub money: f64,
}

impl Spent {
    /// Adds what another turn has used.
    pub fn add(&mut self, other: Self) {
        let Spent { calls, usage, estimated, refused, elapsed_ms, money } = other;
        self.calls += calls;
        self.usage = self.usage.plus(usage);
        self.estimated += estimated;
        self.refused += refused;
        self.elapsed_ms += elapsed_ms;
        self.money += money;
    }
}

/// Tokens as people are told them: what was not asked has no measured cost, and an estimate is called one.
pub fn tokens_text(calls: f64, tokens: f64, estimated: bool) -> String {
    match (calls > 0.0, estimated) {
        (false, _) => "not asked".to_string(),
        (true, false) => format!("{tokens:.0}"),
        (true, true) => format!("about {tokens:.0}"),
    }
}

/// What is wrong with an answer; sent to the model once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The problem in a sentence.
    pub problem: String,
    /// The valid values, if they can be listed.
    pub valid: Vec<String>,
}

impl Refusal {
    /// A refusal without a list of valid values.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), valid: Vec::new() }
    }
}

/// Why there is no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The call failed.
    #[error("{0}")]
    Failed(#[from] ChatFailure),
    /// The turn's limit on this resource is reached.
    #[error("the limit of {0} for a turn is reached")]
    Limit(&'static str),
    /// The answer violated its contract, also after a repair.
    #[error("its answer cannot be used: {0}")]
    Contract(String),
}

#[derive(Default)]
struct State {
    spent: Spent,
    calls: Vec<CallRecord>,
    /// The first failure, and the use of the failed call.
    trouble: Option<(PromptUse, Unanswered)>,
    /// A failure after which no question of this turn can be answered.
    broken: Option<ChatFailure>,
}

/// A model for one turn.
pub struct LanguageModel<'a> {
    chat: &'a dyn Chat,
    prompts: &'a Prompts,
    cache: Option<&'a BlobCache>,
    limits: Limits,
    state: Mutex<State>,
}

impl<'a> LanguageModel<'a> {
    /// The model `chat` with `prompts` and `limits`; answers are read from and stored in `cache`, if given.
    pub fn new(chat: &'a dyn Chat, prompts: &'a Prompts, limits: Limits, cache: Option<&'a BlobCache>) -> Self {
        Self { chat, prompts, cache, limits, state: Mutex::default() }
    }

    /// The id of the model.
    pub fn id(&self) -> &str {
        self.chat.id()
    }

    /// Name, version and hash of the prompt for a use.
    pub fn prompt_id(&self, of: PromptUse) -> String {
        self.prompts.of(of).id()
    }

    /// The resources used so far.
    pub fn spent(&self) -> Spent {
        self.state().spent
    }

    /// The calls so far, in order.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.state().calls.clone()
    }

    /// Tokens of all questions so far, at a token for three bytes, also of those that were answered before: as a replay counts them.
    pub fn question_tokens(&self) -> u64 {
        let state = self.state();
        let messages = state.calls.iter().flat_map(|call| &call.messages);
        messages.map(|message| message.content.len() as u64).sum::<u64>() / 3
    }

    /// The first failure, for the analyst, and the use of the failed call.
    pub fn trouble(&self) -> Option<(PromptUse, Unanswered)> {
        self.state().trouble.clone()
    }

    /// Asks for `T`, an object of the JSON Schema `schema` in at most `max_tokens` tokens, and passes it to `accept`, which checks it
    /// against the closed set of valid values. A refused answer is sent back once with the reason and the valid values.
    ///
    /// # Errors
    /// [`Unanswered`]; the caller then answers without a model.
    pub fn ask<T: DeserializeOwned, U>(
        &self,
        of: PromptUse,
        values: &[(&str, Value)],
        shape: AnswerShape,
        accept: impl Fn(T) -> Result<U, Refusal>,
    ) -> Result<U, Unanswered> {
        let outcome = self.ask_twice(of, values, shape, accept);
        if let Err(error) = &outcome {
            self.state().trouble.get_or_insert_with(|| (of, error.clone()));
        }
        outcome
    }

    fn ask_twice<T: DeserializeOwned, U>(
        &self,
        of: PromptUse,
        values: &[(&str, Value)],
        shape: AnswerShape,
        accept: impl Fn(T) -> Result<U, Refusal>,
    ) -> Result<U, Unanswered> {
        let AnswerShape { name, schema, max_tokens } = shape;
        let prompt = self.prompts.of(of);
        let messages = prompt.messages(values);
        let mut call = ChatCall { messages, answer: name, schema, max_tokens, part: of.part() };
        let check = |text: &str| accept(parsed(text)?);
        let (text, refusal) = match self.call_once(&prompt.id(), &call, &check)? {
            (_, Ok(answer)) => return Ok(answer),
            (text, Err(refusal)) => (text, refusal),
        };
        let repair = self.prompts.of(PromptUse::Repair);
        let valid = if refusal.valid.is_empty() { Value::Null } else { json!(refusal.valid) };
        let messages = repair.messages(&[("problem", json!(refusal.problem)), ("valid", valid)]);
        // The model's own answer is sent back cleaned and cut: it may be anything, up to ten megabytes.
        call.messages.push(Message { role: Role::Assistant, content: quote::clean(&text, 2_000) });
        let content = messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n");
        call.messages.push(Message { role: Role::User, content });
        match self.call_once(&repair.id(), &call, &check)? {
            (_, Ok(answer)) => Ok(answer),
            (_, Err(refusal)) => Err(Unanswered::Contract(quote::clean(&refusal.problem, 200))),
        }
    }

    /// One call: the text and the result of `check`.
    fn call_once<U>(
        &self,
        prompt: &str,
        call: &ChatCall,
        check: &impl Fn(&str) -> Result<U, Refusal>,
    ) -> Result<(String, Result<U, Refusal>), Unanswered> {
        let key = call.key(self.chat.id());
        if let Some(text) = self.cache.and_then(|cache| cache.get(&key))
            && let Ok(answer) = check(&text)
        {
            let answered = Ok(ChatAnswer { text: text.clone(), usage: None });
            self.record(prompt, &key, call, &answered, CallOutcome::Accepted, None);
            return Ok((text, Ok(answer)));
        }
        let timeout = match self.allowed(call) {
            Ok(timeout) => timeout,
            Err(unanswered) => {
                if let Unanswered::Limit(_) = &unanswered {
                    // A replay must end here, too, however fast it is.
                    let failure = Err(ChatFailure::new(FailureKind::Limit, &unanswered.to_string()));
                    self.record(prompt, &key, call, &failure, CallOutcome::Failed, None);
                }
                return Err(unanswered);
            }
        };
        let started = Instant::now();
        let answered = self.chat.complete(call, timeout);
        let elapsed = started.elapsed();
        let checked = answered.as_ref().map(|answer| check(&answer.text));
        let outcome = match &checked {
            Ok(Ok(_)) => CallOutcome::Accepted,
            Ok(Err(refusal)) => CallOutcome::Refused(quote::clean(&refusal.problem, 300)),
            Err(_) => CallOutcome::Failed,
        };
        self.record(prompt, &key, call, &answered, outcome, Some(elapsed));
        let checked = match checked {
            Ok(checked) => checked,
            Err(failure) => {
                if !failure.is_of_the_question() {
                    self.state().broken.get_or_insert_with(|| failure.clone());
                }
                return Err(failure.clone().into());
            }
        };
        let text = answered.map(|answer| answer.text).unwrap_or_default();
        if let (Some(cache), true) = (self.cache, checked.is_ok()) {
            cache.put(&key, &text);
        }
        Ok((text, checked))
    }

    /// The time that a call may take; an error if the turn's limits do not allow it.
    fn allowed(&self, call: &ChatCall) -> Result<Duration, Unanswered> {
        let state = self.state();
        if let Some(failure) = &state.broken {
            return Err(failure.clone().into());
        }
        let spent = state.spent;
        let expected = Usage { prompt_tokens: call.estimated_tokens(), answer_tokens: call.max_tokens.into() };
        let left = self.limits.time.saturating_sub(Duration::from_secs_f64(spent.elapsed_ms / 1000.0));
        if spent.calls >= self.limits.calls {
            return Err(Unanswered::Limit("calls"));
        }
        if spent.usage.plus(expected).tokens() > self.limits.tokens {
            return Err(Unanswered::Limit("tokens"));
        }
        if self.limits.money.is_some_and(|most| spent.money + self.limits.price(expected) > most) {
            return Err(Unanswered::Limit("money"));
        }
        if left < Duration::from_millis(1) {
            return Err(Unanswered::Limit("seconds"));
        }
        Ok(left.min(self.limits.call_time))
    }

    fn record(
        &self,
        prompt: &str,
        key: &str,
        call: &ChatCall,
        answered: &Result<ChatAnswer, ChatFailure>,
        outcome: CallOutcome,
        elapsed: Option<Duration>,
    ) {
        let estimate =
            |text: &str| Usage { prompt_tokens: call.estimated_tokens(), answer_tokens: text.len() as u64 / 3 };
        let counted = answered.as_ref().ok().and_then(|answer| answer.usage);
        let usage = match answered {
            _ if elapsed.is_none() => Usage::default(),
            Ok(answer) => counted.unwrap_or_else(|| estimate(&answer.text)),
            // It was presumably sent.
            Err(_) => estimate(""),
        };
        let elapsed_ms = elapsed.map_or(0.0, |elapsed| elapsed.as_secs_f64() * 1000.0);
        let mut state = self.state();
        let spent = &mut state.spent;
        spent.calls += usize::from(elapsed.is_some());
        spent.usage = spent.usage.plus(usage);
        spent.estimated += if counted.is_some() { 0 } else { usage.tokens() };
        spent.refused += usize::from(matches!(outcome, CallOutcome::Refused(_)));
        spent.elapsed_ms += elapsed_ms;
        spent.money += self.limits.price(usage);
        state.calls.push(CallRecord {
            prompt: prompt.to_string(),
            key: key.to_string(),
            messages: call.messages.clone(),
            // Invalid answers are recorded, too, up to the maximum length.
            answer: answered.as_ref().ok().map(|answer| cut(&answer.text)),
            failure: answered.as_ref().err().cloned(),
            outcome,
            usage,
            elapsed_ms,
            cached: elapsed.is_none() && answered.is_ok(),
        });
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The required shape of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerShape {
    /// Its name: letters, digits and `_`.
    pub name: &'static str,
    /// Its JSON Schema.
    pub schema: Value,
    /// Tokens at the most.
    pub max_tokens: u32,
}

/// Bytes of an answer that are looked at: no answer that is asked for here has more.
const MOST_ANSWER_BYTES: usize = 64 << 10;

/// The beginning of an answer, as far as it is looked at.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_ANSWER_BYTES)].to_string()
}

/// The JSON object in an answer: the text itself, or a part of it inside a fence or surrounded by words.
fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    if text.len() > MOST_ANSWER_BYTES {
        return Err(Refusal::new("the answer is far too long"));
    }
    let text = text.trim();
    let object = match (text.find('{'), text.rfind('}')) {
        (Some(from), Some(to)) if from < to => &text[from..=to],
        _ => return Err(Refusal::new("the answer holds no JSON object")),
    };
    serde_json::from_str(object).map_err(|error| Refusal::new(format!("the answer is not of the asked shape: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Recorded;

    /// Returns its answers in turn, whatever the question.
    struct Script(Mutex<Vec<Result<&'static str, FailureKind>>>);

    impl Chat for Script {
        fn id(&self) -> &str {
            "script"
        }

        fn complete(&self, _: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
            match self.0.lock().unwrap().remove(0) {
                Ok(text) => {
                    Ok(ChatAnswer { text: text.into(), usage: Some(Usage { prompt_tokens: 10, answer_tokens: 5 }) })
                }
                Err(kind) => Err(ChatFailure::new(kind, "scripted")),
            }
        }
    }

    const LIMITS: Limits = Limits {
        calls: 3,
        tokens: 100_000,
        time: Duration::from_secs(5),
        call_time: Duration::from_secs(5),
        money: None,
        question_price: 0.0,
        answer_price: 0.0,
    };

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Picked {
        pick: String,
    }

    fn pick(model: &LanguageModel<'_>) -> Result<String, Unanswered> {
        let shape = AnswerShape { name: "pick", schema: json!({"type": "object"}), max_tokens: 10 };
        model.ask(PromptUse::Clarify, &[("request", json!("x"))], shape, |picked: Picked| match picked.pick.as_str() {
            "a" | "b" => Ok(picked.pick),
            _ => {
                Err(Refusal { problem: format!("`{}` is no choice", picked.pick), valid: vec!["a".into(), "b".into()] })
            }
        })
    }

    fn with<T>(
        script: Vec<Result<&'static str, FailureKind>>,
        limits: Limits,
        use_it: impl Fn(&LanguageModel<'_>) -> T,
    ) -> T {
        let chat = Script(Mutex::new(script));
        use_it(&LanguageModel::new(&chat, Prompts::shipped(), limits, None))
    }

    #[test]
    fn a_wrong_answer_is_repaired_once() {
        with(vec![Ok("{\"pick\": \"c\"}"), Ok("sure: ```json\n{\"pick\": \"b\"}\n```")], LIMITS, |model| {
            assert_eq!(pick(model), Ok("b".into()));
            let calls = model.calls();
            assert_eq!(calls.len(), 2);
            assert!(matches!(&calls[0].outcome, CallOutcome::Refused(why) if why.contains("`c` is no choice")));
            assert!(calls[1].messages.last().unwrap().content.contains("[\"a\",\"b\"]"));
            assert_eq!((model.spent().refused, model.spent().usage.tokens()), (1, 30));
            assert_eq!(model.trouble(), None);
        });
        with(vec![Ok("{\"pick\": \"c\"}"), Ok("{\"pick\": 1}")], LIMITS, |model| {
            assert!(matches!(pick(model), Err(Unanswered::Contract(_))));
            assert!(model.trouble().is_some());
        });
    }

    #[test]
    fn limits_hold_and_a_broken_server_is_asked_once() {
        with(vec![Ok("{\"pick\": \"a\"}"); 5], Limits { calls: 2, ..LIMITS }, |model| {
            assert!(pick(model).is_ok() && pick(model).is_ok());
            assert_eq!(pick(model), Err(Unanswered::Limit("calls")));
        });
        with(vec![Ok("{\"pick\": \"a\"}"); 5], Limits { tokens: 20, ..LIMITS }, |model| {
            assert_eq!(pick(model), Err(Unanswered::Limit("tokens")));
        });
        let priced = Limits { money: Some(1e-9), question_price: 1.0, ..LIMITS };
        with(vec![Ok("{\"pick\": \"a\"}"); 5], priced, |model| {
            assert_eq!(pick(model), Err(Unanswered::Limit("money")));
        });
        with(vec![Err(FailureKind::TimedOut)], LIMITS, |model| {
            assert!(pick(model).is_err() && pick(model).is_err());
            assert_eq!(model.spent().calls, 1);
        });
    }

    #[test]
    fn a_record_answers_as_the_model_did() {
        let script = vec![Ok("{\"pick\": \"c\"}"), Ok("{\"pick\": \"a\"}"), Err(FailureKind::Busy)];
        let (calls, first, second) = with(script, LIMITS, |model| {
            let (first, second) = (pick(model), pick(model));
            (model.calls(), first, second)
        });
        let recorded = Recorded::of("script", &calls);
        let model = LanguageModel::new(&recorded, Prompts::shipped(), LIMITS, None);
        assert_eq!((pick(&model), pick(&model)), (first, second));
        let again = model.calls();
        assert!(
            again.iter().zip(&calls).all(|(a, b)| (&a.key, &a.answer, &a.outcome) == (&b.key, &b.answer, &b.outcome))
        );
    }
}
