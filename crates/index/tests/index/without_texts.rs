//! A model without the one that reads whole texts behaves as the model does.

use lakeward_index::build::WithoutTexts;
use lakeward_models::embed::{BuiltIn, Embedder, StaticModel};

use crate::embedder_behaviour::embedder_behaves;

#[test]
fn a_model_without_texts_behaves() {
    for whole in [BuiltIn::get() as &dyn Embedder, StaticModel::builtin()] {
        let model = WithoutTexts(whole);
        embedder_behaves(&model, ["population of towns by year", "goalkeeper"]);
        assert!(model.as_text_encoder().is_none() && model.id() == whole.id());
    }
}
