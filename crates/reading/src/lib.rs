//! What a request asks for: operation and intention ([`signals`]), what a turn says span by span and what it makes of the plan and of the
//! demands in force ([`reader`]), which fields of a record a question asks for ([`fields`]), and what words mean in a catalogue ([`catalogue`]).
//!
//! What it does not do: nothing is searched here, and no state is kept.

pub mod catalogue;
pub mod fields;
mod logistic;
pub mod reader;
pub mod signals;
