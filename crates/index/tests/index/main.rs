//! What every structure of a segment promises.

mod structure_behaviour;
mod unread_texts;
