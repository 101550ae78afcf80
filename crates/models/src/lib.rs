//! Models behind two traits: [`llm::Chat`] for language models, [`embed::Embedder`] for vectors of texts.
//!
//! Only this crate and the harvesting crate access the network.

pub mod embed;
pub mod llm;
