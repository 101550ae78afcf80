//! What a request asks for: operation and intention ([`signals`]), and what is demanded of a catalogue's records ([`intent`]).
//!
//! What it does not do: nothing is searched here, and no state is kept.

pub mod grounding;
pub mod intent;
pub mod reader;
pub mod signals;
