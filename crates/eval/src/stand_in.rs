//! Models that are none: they know the truth about candidates, half of it or nothing, and show how much of what a model knows reaches the
//! answers, and how much one that knows nothing costs.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use lakeward_core::error::{Error, Result};
use lakeward_models::llm::listwise::Listed;
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Role};

/// How a stand-in orders candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// By their grades as shares of the best, with normal noise of this deviation.
    Oracle(f64),
    /// By chance.
    Random,
    /// As they are listed.
    Constant,
    /// The computed order turned round.
    Reversing,
    /// Those first that say what is to be done with them, then as an oracle.
    Obeying,
}

/// The names of the kinds.
pub const KINDS: [&str; 6] = ["oracle", "noisy", "random", "constant", "reversing", "obeying"];
/// Deviation of a noisy oracle.
const NOISE: f64 = 0.6;

/// A stand-in for a language model; it only orders.
pub struct StandIn {
    kind: Kind,
    name: String,
    /// By request: the grades of the candidates in computed order.
    known: Mutex<HashMap<String, Vec<f64>>>,
}

impl StandIn {
    /// The stand-in called `name`, one of [`KINDS`].
    ///
    /// # Errors
    /// [`Error::Usage`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        let kind = match name {
            "oracle" => Kind::Oracle(0.0),
            "noisy" => Kind::Oracle(NOISE),
            "random" => Kind::Random,
            "constant" => Kind::Constant,
            "reversing" => Kind::Reversing,
            "obeying" => Kind::Obeying,
            _ => return Err(Error::usage(format!("`{name}` is none of {}", KINDS.join(", ")))),
        };
        Ok(Self { kind, name: format!("{name}@stand-in"), known: Mutex::default() })
    }

    /// Tells it what is relevant for a request: the grades of the candidates in computed order.
    pub fn knows(&self, request: &str, grades: &[f64]) {
        let most = grades.iter().copied().fold(0.0, f64::max).max(1.0);
        let shares = grades.iter().map(|grade| grade / most).collect();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(request.to_string(), shares);
    }

    /// How well it likes a candidate.
    fn liking(&self, request: &str, place: usize, grade: f64, card: &Value) -> f64 {
        let chance = |what: &str| {
            let hash = xxh3_64(format!("{}\0{request}\0{place}\0{card}\0{what}", self.name).as_bytes());
            ((hash >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        match self.kind {
            // Box and Muller, 1958.
            Kind::Oracle(noise) => {
                grade + noise * (-2.0 * chance("a").ln()).sqrt() * (std::f64::consts::TAU * chance("b")).cos()
            }
            Kind::Random => chance("c"),
            Kind::Constant => 0.0,
            Kind::Reversing => place as f64,
            Kind::Obeying => grade + if card.to_string().contains("NOTE:") { 2.0 } else { 0.0 },
        }
    }
}

impl Chat for StandIn {
    fn id(&self) -> &str {
        &self.name
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> std::result::Result<ChatAnswer, ChatFailure> {
        let user = call.messages.iter().find(|message| message.role == Role::User);
        let line = |name: &str| {
            let line = user.and_then(|user| user.content.lines().find_map(|line| line.strip_prefix(name)));
            line.and_then(|line| serde_json::from_str::<Value>(line).ok())
        };
        let request = line("request: ").or_else(|| line("task: "));
        let (Some(Value::String(request)), Some(Value::Array(cards))) = (request, line("candidates: ")) else {
            return Err(ChatFailure::new(FailureKind::Refused, "a stand-in only orders"));
        };
        let grades = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&request).cloned();
        let Some(grades) = grades else {
            return Err(ChatFailure::new(FailureKind::Refused, "a stand-in does not know this request"));
        };
        let listed = Listed::of(&request, grades.len());
        let mut liked: Vec<(f64, &str)> = cards
            .iter()
            .filter_map(|card| {
                let (id, place) = listed.iter().find(|(id, _)| card["id"] == **id)?;
                Some((self.liking(&request, place, grades[place], card), card["id"].as_str().unwrap_or(id)))
            })
            .collect();
        // The sort is stable: what it likes equally stays as it is listed.
        liked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ids: Vec<&str> = liked.into_iter().map(|(_, id)| id).collect();
        Ok(ChatAnswer { text: json!({"ranking": ids}).to_string(), usage: None })
    }
}
