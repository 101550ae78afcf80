//! The operation that a request asks for and the intention behind it, each with a calibrated confidence, without a language
//! model: a linear classifier over words, letters and cue phrases ([`features`], [`cues`]), trained on the labelled requests of
//! `labels/` ([`training`]) and shipped in the binary ([`classifier`]), tempered by the turns before ([`context`]); and the reader of turns,
//! which learned from the same requests. The two err differently: what is told is the weighted geometric mean of their probabilities.
//!
//! All of it knows English only.

pub mod classifier;
pub mod context;
pub mod cues;
pub mod features;
pub mod training;

use std::sync::OnceLock;

use crate::reader::{Reader, revised, schema_of_demands};
use classifier::SignalModel;
use context::Context;
use lakeward_core::request::{Demand, Intention, OperationKind};
pub use lakeward_core::request::{Ranked, Signals};

/// How much the reader counts beside the linear classifier: of .3, .5 and .7 the best on each of two sets of requests by others, so that each confirms
/// what the other would choose (labels/README.md).
const READER: f64 = 0.3;

/// Operation and intention of `text` after the turns before it. Any text is accepted; only its first 20,000 characters are read.
pub fn classified(text: &str, context: &Context<'_>) -> (Ranked<OperationKind>, Ranked<Intention>) {
    static MODEL: OnceLock<SignalModel> = OnceLock::new();
    let model = MODEL.get_or_init(|| match SignalModel::parse(classifier::BUILTIN) {
        Ok(model) => model,
        // The tests open it.
        Err(error) => panic!("built-in signal model: {error}"),
    });
    let (operation, intention) = context.rank(model, text);
    let previous = context.texts.last().copied().unwrap_or_default();
    let (operations, intentions) = Reader::builtin().purpose(text, previous);
    (operation.and(&operations, READER), intention.and(&intentions, READER))
}

/// The signals of each turn of a conversation without a table and without a lake, read with the latest `window` before it; the demands that
/// one leaves in force are those before the next. Years before now are counted from `this_year`.
pub fn read_conversation(turns: &[&str], window: usize, this_year: i32) -> Vec<Signals> {
    let mut demands: Vec<Demand> = Vec::new();
    let mut signals = Vec::with_capacity(turns.len());
    for (place, turn) in turns.iter().enumerate() {
        let context = Context { texts: turns[place.saturating_sub(window)..place].to_vec() };
        let (operation, intention) = classified(turn, &context);
        let previous = place.checked_sub(1).map_or("", |before| turns[before]);
        let reading = Reader::builtin().read(turn, previous, &schema_of_demands(&demands), &|_, _| false);
        let after = revised(&demands, &reading, true, place + 1, this_year);
        demands.clone_from(&after.demands);
        let answers = reading.requested_answers();
        signals.push(Signals {
            operation,
            intention,
            acts: reading.acts,
            demands: after.demands,
            gone: after.gone,
            answers,
        });
    }
    signals
}
