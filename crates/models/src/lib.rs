//! Models behind two traits: [`llm::Chat`] for language models, [`embed::Embedder`] for vectors of texts.
//!
//! Beside them the words of other languages ([`languages`]), as the models in the program read English.
//!
//! Only this crate and the harvesting crate access the network.

pub mod embed;
pub mod languages;
pub mod llm;
