//! The operation that a request asks for and the intention behind it, each with a calibrated confidence, without a language
//! model: a linear classifier over words, letters and cue phrases ([`features`], [`cues`]), trained on the labelled requests of
//! `labels/` ([`training`]) and shipped in the binary ([`classifier`]), tempered by the turns before ([`context`]); and the
//! constraints in force after it, by rules ([`constraints`]).
//!
//! All of it knows English only.

pub mod classifier;
pub mod constraints;
pub mod context;
pub mod cues;
pub mod features;
pub mod training;

use std::sync::OnceLock;

use classifier::SignalModel;
use constraints::lexicon;
use constraints::{Grounding, NoLake};
use context::Context;
use lakeward_core::request::Intent;
pub use lakeward_core::request::{Ranked, Signals};

/// The signals of `text` by itself, with no lake at hand: [`read`] as the first turn of a conversation.
pub fn extract(text: &str) -> Signals {
    read(text, &Context::default(), &NoLake)
}

/// The signals of `text` as the next turn of a conversation: operation and intention by the model in the binary and the turns
/// before, constraints by rules. Any text is accepted; only its first 20,000 characters are read.
pub fn read(text: &str, context: &Context<'_>, grounding: &dyn Grounding) -> Signals {
    static MODEL: OnceLock<SignalModel> = OnceLock::new();
    let model = MODEL.get_or_init(|| match SignalModel::parse(classifier::BUILTIN) {
        Ok(model) => model,
        // The tests open it.
        Err(error) => panic!("built-in signal model: {error}"),
    });
    let (operation, intention) = context.rank(model, text);
    let (constraints, overrides) = constraints::read(text, context.turn(), &context.constraints, grounding);
    Signals { operation, intention, constraints, overrides, intent: Intent::default() }
}

/// The signals of each turn of a conversation, read with the latest `window` before it; the constraints that one leaves in force
/// are those before the next.
pub fn read_conversation(turns: &[&str], window: usize, grounding: &dyn Grounding) -> Vec<Signals> {
    let mut context = Context::default();
    let mut signals = Vec::with_capacity(turns.len());
    for (place, turn) in turns.iter().enumerate() {
        context.texts = turns[place.saturating_sub(window)..place].to_vec();
        let told = read(turn, &context, grounding);
        context.last_turn += 1;
        context.constraints = told.constraints.clone();
        signals.push(told);
    }
    signals
}

/// The words of a request that say what it is about, for searching: without those that only bind others and those that deny;
/// all of it where nothing is left.
pub fn content_words(text: &str) -> String {
    let is_idle = |word: &&str| {
        let bare = lakeward_core::text::bare(word).to_lowercase();
        // `don't`, as typed with either apostrophe.
        let denies = bare.ends_with("n't") || bare.ends_with("n\u{2019}t");
        bare.is_empty() || denies || lexicon::binds(&bare)
    };
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_idle(word)).collect();
    if words.is_empty() { text.to_string() } else { words.join(" ") }
}
