//! From arguments to an opened lake: finds it, and builds its index if needed.

use std::path::Path;
use std::time::Instant;

use super::args::Arguments;
use super::{progress, timing};
use lakeward::model::{Model, model_options};
use lakeward::{Lakeward, Place};
use lakeward_agent::config::Config;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::counted;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_models::embed::{BuiltIn, Embedder, EmbedderExt};
use lakeward_models::llm::config::ModelOptions;

/// The place given by `folder` or the arguments, else the nearest folder upward that has an index.
pub fn place(arguments: &Arguments, folder: Option<&Path>) -> Result<Place> {
    let lake = match folder.map(Path::to_path_buf).or_else(|| arguments.lake.clone()) {
        Some(lake) => lake,
        None => Place::nearest()?,
    };
    Place::new(&lake, arguments.index.as_deref())
}

/// Opens the lake that the arguments name. If it has no index and was given with `--lake`, the index is built first.
pub fn open(arguments: &Arguments) -> Result<Lakeward> {
    let place = place(arguments, None)?;
    let started = Instant::now();
    let opened = Lakeward::open_at(place.clone());
    if arguments.timing && opened.is_ok() {
        timing::step("index opened", started);
    }
    match opened {
        Err(Error::NoIndex { .. }) if arguments.lake.is_some() => {
            let stats = build(arguments, &place, &BuildOptions::default())?;
            if !arguments.quiet {
                super::printer::build_summary(&stats);
            }
            Lakeward::open_at(place)
        }
        other => other,
    }
}

/// [`open`] with the language model that the arguments name, if any.
pub fn open_with_model(arguments: &Arguments) -> Result<Lakeward> {
    let lakeward = open(arguments)?;
    if arguments.llm.no_llm { Ok(lakeward) } else { lakeward.with_model(&options_of(arguments)) }
}

/// Builds or updates the index, with a progress bar on a terminal.
pub fn build(arguments: &Arguments, place: &Place, options: &BuildOptions) -> Result<BuildStats> {
    let progress = progress::Bar::new(arguments.quiet)?;
    let stats = place.build(options, &progress);
    progress.finish();
    stats
}

/// The language model that the arguments name, if any.
pub fn model(arguments: &Arguments, place: &Place, config: &Config) -> Result<Option<Model>> {
    if arguments.llm.no_llm { Ok(None) } else { Model::of(&options_of(arguments), place, config) }
}

/// The language model that the arguments name.
pub fn options_of(arguments: &Arguments) -> ModelOptions {
    model_options(arguments.llm.llm_url.clone(), arguments.llm.llm_model.clone())
}

/// The built-in embedding model.
pub fn built_in() -> &'static dyn Embedder {
    BuiltIn::get()
}

/// Warns on stderr if the embedding model failed, or has not read all texts of the lake yet.
pub fn warn_without_vectors(lakeward: &Lakeward) {
    if let Some(failure) = lakeward.embedder().failure() {
        super::printer::note(&format!("searched by words and values only, without vectors: {failure}"));
    }
    let unread = lakeward.index().texts_unread();
    if unread > 0 && lakeward.embedder().as_text_encoder().is_some() {
        let all = counted(lakeward.index().len() as u64, "table");
        super::printer::note(&format!(
            "searched by words and static vectors: the texts of {unread} of {all} are not read yet; `lakeward index` goes on with them"
        ));
    }
}
