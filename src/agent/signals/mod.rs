//! The operation that a request asks for and the intention behind it, each with a calibrated confidence, without a language
//! model: a linear classifier over words, letters and cue phrases ([`features`], [`cues`]), trained on the labelled requests of
//! `labels/` ([`training`]) and shipped in the binary ([`classifier`]).
//!
//! It reads one request, no conversation and no table, and it knows English.

pub mod classifier;
pub mod cues;
pub mod features;
pub mod training;

use std::sync::OnceLock;

pub use crate::request::{Ranked, Signals};
use classifier::SignalModel;

/// The signals of `text`, by the model in the binary. Any text is accepted; only its first 20,000 characters are read.
pub fn extract(text: &str) -> Signals {
    static MODEL: OnceLock<SignalModel> = OnceLock::new();
    let model = MODEL.get_or_init(|| match SignalModel::parse(classifier::BUILTIN) {
        Ok(model) => model,
        // The tests open it.
        Err(error) => panic!("built-in signal model: {error}"),
    });
    model.signals(text)
}
