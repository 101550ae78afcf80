//! Reads what a conversation wants out of its turns, grounded in the values that a catalogue really has, and keeps
//! what is in force. No language model, no ranking, no search.
//!
//! A [`Vocabulary`] is made once a catalogue; a [`Reader`] reads a turn into facts; [`apply`] brings them into force
//! in an [`Intent`](lakeward_core::request::Intent). Values that stand in the catalogue carry most of it: a turn is first
//! looked through for all of them, longest first, and the words around a value tell whether it is meant and in which
//! role. Only years, frequencies, the status and second thoughts have closed forms of their own, so another catalogue
//! needs no other rules.
//!
//! The elements follow ScienceDB AI (Long et al., 2026); so does recency over earlier turns and the one clarifying
//! question where a stated value meets another ([`Conflict`]).

mod catalogue_words;
mod conflict;
mod cues;
mod free_text;
mod frequency;
mod nation;
mod period;
mod phrases;
mod reader;
mod reading;
mod retraction;
mod spelling;
mod state;
mod status;
mod turn;
mod values;
mod vocabulary;
mod wishes;
mod words;

pub use catalogue_words::CatalogueWords;
pub use conflict::{Conflict, Settlement};
pub use reader::Reader;
pub use reading::{Fact, TurnReading, WordsKind};
pub use state::{Changes, apply};
pub use vocabulary::Vocabulary;
