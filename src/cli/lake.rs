//! From arguments to an opened lake: where it is, where its index is, and building the index on the way.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use super::args::Arguments;
use super::{progress, timing};
use crate::agent::config::{self, Config};
use crate::embed::{Embedder, ServedModel, StaticModel};
use crate::error::{Error, Result};
use crate::index::LakeIndex;
use crate::index::build::{self, BuildOptions, BuildStats};
use crate::index::manifest::Manifest;
use crate::llm::config::{EmbeddingConfig, Said};
use crate::llm::{Key, Server};
use crate::retrieve::RankingWeights;

/// Name of the index folder inside a lake.
const INDEX_FOLDER: &str = ".lakeward";

/// Where a lake and its index are.
pub struct Place {
    pub lake: PathBuf,
    pub index: PathBuf,
}

impl Place {
    /// The place that the arguments name, else the nearest folder upward that holds an index.
    pub fn of(arguments: &Arguments, named: Option<&Path>) -> Result<Self> {
        let lake = match named.map(Path::to_path_buf).or_else(|| arguments.lake.clone()) {
            Some(lake) => lake,
            None => nearest_lake()?,
        };
        if !lake.is_dir() {
            return Err(Error::Usage(format!("`{}` is not a folder", lake.display())));
        }
        let index = arguments.index.clone().unwrap_or_else(|| lake.join(INDEX_FOLDER));
        Ok(Self { lake, index })
    }

    /// The settings: of the file that `LAKEWARD_CONFIG` names, else of `lakeward.toml` in the folder of the lake.
    pub fn config(&self) -> Result<Config> {
        match std::env::var_os("LAKEWARD_CONFIG") {
            Some(path) if Path::new(&path).is_file() => Config::load(Path::new(&path)),
            Some(path) => Err(Error::Usage(format!("LAKEWARD_CONFIG names no file: `{}`", Path::new(&path).display()))),
            None => {
                let config = Config::load(&self.lake.join(config::FILE_NAME))?;
                Ok(Config { llm: config.llm.of_a_lake()?, embedding: config.embedding.of_a_lake()?, ..config })
            }
        }
    }

    /// The weights to rank with, as the settings have them.
    pub fn ranking(&self) -> Result<RankingWeights> {
        Ok(self.config()?.ranking)
    }

    /// Opens the index; builds it first when there is none and the user named the lake.
    pub fn open(&self, arguments: &Arguments) -> Result<LakeIndex> {
        let started = Instant::now();
        let embedder = self.embedder()?;
        let opened = LakeIndex::open(&self.index, embedder.id());
        if arguments.timing && opened.is_ok() {
            timing::step("index opened", started);
        }
        match opened {
            Err(Error::NoIndex { .. }) if arguments.lake.is_some() => {
                let stats = self.build(arguments, &BuildOptions::default())?;
                if !arguments.quiet {
                    super::printer::build_summary(&stats);
                }
                LakeIndex::open(&self.index, embedder.id())
            }
            other => other,
        }
    }

    /// Builds or updates the index, with a progress bar on a terminal.
    pub fn build(&self, arguments: &Arguments, options: &BuildOptions) -> Result<BuildStats> {
        let progress = progress::Bar::new(arguments.quiet)?;
        let stats = if options.rebuild {
            // Whatever model built the index that is there.
            match self.embedding_server()? {
                Some((server, config)) => {
                    let model = ServedModel::connect(&server, config.manners(), config.timeout())?;
                    build::build(&self.lake, &self.index, &model, options, &progress)
                }
                None => build::build(&self.lake, &self.index, built_in(), options, &progress),
            }
        } else {
            build::build(&self.lake, &self.index, self.embedder()?, options, &progress)
        };
        progress.finish();
        stats
    }

    /// The embedding model that environment and settings name, else the one inside the program. A server is not asked
    /// before it is needed where the index says which model it has.
    pub fn embedder(&self) -> Result<&'static dyn Embedder> {
        static SERVED: OnceLock<ServedModel> = OnceLock::new();
        if let Some(model) = SERVED.get() {
            return Ok(model);
        }
        let Some((server, config)) = self.embedding_server()? else { return Ok(built_in()) };
        let (manners, timeout) = (config.manners(), config.timeout());
        let indexed = match Manifest::read(&self.index) {
            Ok(manifest) => ServedModel::of_index(&server, manners, timeout, &manifest.embedder)?,
            Err(_) => None,
        };
        let model = match indexed {
            Some(model) => model,
            None => ServedModel::connect(&server, manners, timeout)?,
        };
        Ok(SERVED.get_or_init(|| model))
    }

    /// The server of the embedding model, where one is named.
    fn embedding_server(&self) -> Result<Option<(Server, EmbeddingConfig)>> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let config = self.config()?.embedding;
        let mut said = Said {
            url: set("LAKEWARD_EMBEDDING_URL"),
            model: set("LAKEWARD_EMBEDDING_MODEL"),
            key: set("LAKEWARD_EMBEDDING_KEY").map(|key| Key::new(&key)),
            ..Said::default()
        };
        if said.url.is_none() && config.url.is_some() && std::env::var_os("LAKEWARD_CONFIG").is_none() {
            // The lake named this server: it may have been made to collect keys.
            said.key = None;
        }
        Ok(config.server(&said)?.map(|server| (server, config)))
    }
}

/// The embedding model inside the program.
pub fn built_in() -> &'static dyn Embedder {
    StaticModel::builtin()
}

/// Says on stderr that vectors were missing, where they were.
pub fn tell_of_trouble(embedder: &dyn Embedder) {
    if let Some(failure) = embedder.trouble() {
        super::printer::note(&format!("found by words and values only, not by meaning: {failure}"));
    }
}

fn nearest_lake() -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(|error| Error::io("read", Path::new("."), error))?;
    let holds_index = |folder: &&Path| folder.join(INDEX_FOLDER).join(crate::index::manifest::FILE_NAME).is_file();
    here.ancestors().find(holds_index).map(Path::to_path_buf).ok_or(Error::NoLake)
}
