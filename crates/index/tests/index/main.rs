//! What every structure of a segment promises.

#[path = "../../../models/tests/models/embedder_behaviour.rs"]
mod embedder_behaviour;
mod structure_behaviour;
mod unread_texts;
mod without_texts;
