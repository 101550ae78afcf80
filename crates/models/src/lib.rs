//! Models behind two traits: [`llm::Chat`] for language models, [`embed::Embedder`] for vectors of texts.
//!
//! Only this crate and those that harvest touch a network.

pub mod embed;
pub mod llm;
