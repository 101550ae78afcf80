//! What every model promises, tried on each of them.

mod chat_behaviour;
mod embedder_behaviour;
mod embedders;
mod languages;
mod recorded;
mod tiny_model;
