//! The two models inside the program as one: columns and lists of values by the static one, a thousand times faster; requests and what a
//! table is about by the one that reads whole texts.

use std::sync::OnceLock;

use super::{Embedder, SentenceModel, StaticModel};

/// [`StaticModel`] with [`SentenceModel`] as its text encoder.
pub struct BuiltIn {
    id: String,
    columns: &'static StaticModel,
}

impl BuiltIn {
    /// The one there is. The sentence model is only read when a text is encoded.
    pub fn get() -> &'static Self {
        static MODELS: OnceLock<BuiltIn> = OnceLock::new();
        MODELS.get_or_init(|| {
            let columns = StaticModel::builtin();
            Self { id: format!("{}+{}", columns.id(), SentenceModel::builtin_id()), columns }
        })
    }
}

impl Embedder for BuiltIn {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.columns.dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        self.columns.embed_weighted(texts, out)
    }

    fn as_text_encoder(&self) -> Option<&dyn Embedder> {
        Some(SentenceModel::builtin())
    }
}
