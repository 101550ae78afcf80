//! Language models: one question at a time, each bounded, validated and recorded.
//!
//! [`Chat`] is the one interface to a model; [`OpenAiChat`] calls a server with the OpenAI protocol, [`Recorded`] replays the answers of
//! another run. No other code calls a [`Chat`] directly: [`LanguageModel`] renders a [`Prompts`] file, keeps the limits of the turn, checks
//! the answer against the closed set that the caller gives, lets the model repair it once, and records each call. Every failure is returned
//! as [`Unanswered`]; the caller then answers without a model.
//!
//! Texts of the lake reach a model only as cleaned JSON ([`quote`]). Nothing here knows tables, requests or sessions.

mod cache;
mod call;
mod complaint;
pub mod config;
pub(crate) mod connection;
mod contract;
pub mod listwise;
mod openai;
mod parts;
pub mod prompt;
pub mod quote;
mod record;
mod run_budget;
mod server;
mod trust;

pub use cache::answer_cache;
pub use call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Message, ModelPart, Role, Usage};
pub(crate) use complaint::words_of as complaint_words;
pub use contract::{AnswerShape, LanguageModel, Limits, Refusal, Spent, Unanswered, tokens_text};
pub use openai::OpenAiChat;
pub use parts::{PartModel, PartModels, PartedChat, ServedModel};
pub use prompt::{PromptUse, Prompts};
pub use record::{CallOutcome, CallRecord, Recorded};
pub use run_budget::{RunBudget, RunLimits};
pub use server::{Key, Manners, Server};
pub use trust::{MeasuredTrust, ModelRole, TrustStore};
