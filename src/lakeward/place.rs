//! Where a lake and its index are, with the settings and the embedding model that belong there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lakeward_agent::config::{self, Config};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_index::SearchShard;
use lakeward_index::build::shards::{self, ListFolder, ListedShards, ShardRow};
use lakeward_index::build::{self, BuildOptions, BuildStats};
use lakeward_index::index_store::{self, IndexStore};
use lakeward_index::manifest::{self, Manifest};
use lakeward_lake::storage::Address;
use lakeward_models::embed::{BuiltIn, Embedder, RemoteModel, SentenceModel, StaticModel};
use lakeward_models::llm::config::{EmbeddingConfig, ModelOptions};
use lakeward_models::llm::{Key, Server};

/// Name of the index folder inside a lake.
pub const INDEX_FOLDER: &str = ".lakeward";

/// Where a lake and its index are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder of the lake, or its address.
    pub lake: PathBuf,
    /// The folder of its index; of an index in a store, its folder on this machine.
    pub index: PathBuf,
    /// Whether a new index is built without the model that reads whole texts.
    pub fast: bool,
    /// The shard of the index that is opened; all of it without one.
    pub shard: Option<SearchShard>,
}

impl Place {
    /// The lake in the folder `lake`, or at that address, with its index in `index`, else in [`INDEX_FOLDER`] below it. Of an index at an
    /// address, [`local_folder`] has what was fetched of it and what users make beside it.
    ///
    /// # Errors
    /// [`Error::Usage`] if `lake` is neither a folder nor an address; if it is an address and there is no `index`; if `index` is an address that
    /// cannot be written.
    pub fn new(lake: &Path, index: Option<&Path>) -> Result<Self> {
        let wrong = |error: std::io::Error| Error::usage(format!("`{}`: {error}", lake.display()));
        let is_address = Address::of_lake(lake).map_err(wrong)?.is_some();
        if is_address && index.is_none() {
            let reason = "is only read: name a folder or an address for its index (`--index DIR`)";
            return Err(Error::usage(format!("`{}` {reason}", lake.display())));
        }
        if !is_address && !lake.is_dir() {
            return Err(Error::usage(format!("`{}` is not a folder", lake.display())));
        }
        let index = match index {
            None => lake.join(INDEX_FOLDER),
            Some(address) => index_folder(address)?,
        };
        Ok(Self { lake: lake.to_path_buf(), index, fast: false, shard: None })
    }

    /// The nearest folder that holds an index, from the current one upward.
    ///
    /// # Errors
    /// [`Error::NoLake`] if there is none.
    pub fn nearest() -> Result<PathBuf> {
        let here = std::env::current_dir().map_err(|error| Error::io("read", Path::new("."), error))?;
        let holds_index = |folder: &&Path| folder.join(INDEX_FOLDER).join(manifest::FILE_NAME).is_file();
        here.ancestors().find(holds_index).map(Path::to_path_buf).ok_or(Error::NoLake)
    }

    /// Where the index is, which may be a store.
    pub fn index_address(&self) -> PathBuf {
        IndexStore::of(&self.index).map_or_else(|| self.index.clone(), |store| store.address().to_path_buf())
    }

    /// The settings from the file that `LAKEWARD_CONFIG` names, else from `lakeward.toml` in the folder of the lake, or of the index where the
    /// lake is at an address.
    ///
    /// # Errors
    /// Those of [`Config::load`].
    pub fn config(&self) -> Result<Config> {
        match std::env::var_os("LAKEWARD_CONFIG") {
            Some(path) if Path::new(&path).is_file() => Config::load(Path::new(&path)),
            Some(path) => Err(Error::usage(format!("LAKEWARD_CONFIG names no file: `{}`", Path::new(&path).display()))),
            None => {
                let folder = if Address::is(&self.lake) { &self.index } else { &self.lake };
                let config = Config::load(&folder.join(config::FILE_NAME))?;
                Ok(Config { llm: config.llm.of_a_lake()?, embedding: config.embedding.of_a_lake()?, ..config })
            }
        }
    }

    /// The embedding model that environment or settings name, else the built-in one. An index in a store is looked at first. If the index records the server's
    /// model, the server is contacted only when a vector is needed.
    ///
    /// # Errors
    /// Those of [`Config::load`] and of contacting a server.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        match IndexStore::refresh(&self.index) {
            Ok(()) | Err(Error::NoIndex { .. }) => {}
            Err(error) => return Err(error),
        }
        let (server, config) = match self.embedding(self.fast || self.indexed_fast())? {
            Embedding::Local(embedder) => return Ok(embedder),
            Embedding::Remote(server, config) => (server, config),
        };
        let (manners, timeout) = (config.manners(), config.timeout());
        let indexed = match Manifest::read(&self.index) {
            Ok(manifest) => RemoteModel::of_index(&server, manners, timeout, &manifest.embedder)?,
            Err(_) => None,
        };
        Ok(match indexed {
            Some(model) => Arc::new(model),
            None => Arc::new(RemoteModel::connect(&server, manners, timeout)?),
        })
    }

    /// Builds the index, or brings it up to date.
    ///
    /// # Errors
    /// Those of [`build::build`] and of [`Place::embedder`].
    pub fn build(&self, options: &BuildOptions, monitor: &dyn Monitor) -> Result<BuildStats> {
        let embedder = if options.rebuild { self.new_embedder()? } else { self.embedder()? };
        let Config { tables, cells, .. } = self.config()?;
        let options = BuildOptions { tables, cells, ..options.clone() };
        build::build(&self.lake, &self.index, &*embedder, &options, monitor)
    }

    /// Lists what the index lacks in `count` shards, for machines that [`work`](Self::work) on one each.
    ///
    /// # Errors
    /// Those of [`shards::list`] and of [`Place::embedder`].
    pub fn list_shards(&self, options: &BuildOptions, count: u32) -> Result<ListedShards> {
        let embedder = self.embedder()?;
        let Config { tables, cells, .. } = self.config()?;
        let options = BuildOptions { tables, cells, ..options.clone() };
        shards::list(&self.lake, &self.index, &*embedder, &options, count)
    }

    /// The place of the list of shards at `address`, and the list.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, and those of [`Place::new`].
    pub fn of_list(address: &Path) -> Result<(Self, ListFolder)> {
        let (address, name) = ListFolder::divide(address)?;
        let index = index_folder(&address)?;
        let folder = ListFolder::of(&index, &name)?;
        let list = folder.read()?;
        let place = Self::new(Path::new(&list.lake), Some(&address))?;
        Ok((Self { fast: list.embedder == StaticModel::builtin().id(), ..place }, folder))
    }

    /// Reads one shard of `list`.
    ///
    /// # Errors
    /// Those of [`shards::work`] and of [`Place::embedder`].
    pub fn work(&self, list: &ListFolder, shard: u32, monitor: &dyn Monitor) -> Result<ShardRow> {
        shards::work(list, shard, &*self.embedder()?, monitor)
    }

    /// Commits the shards of `list`; with `in_part`, those that are there.
    ///
    /// # Errors
    /// Those of [`shards::commit`] and of [`Place::embedder`].
    pub fn commit(&self, list: &ListFolder, in_part: bool, monitor: &dyn Monitor) -> Result<BuildStats> {
        let Config { tables, cells, .. } = self.config()?;
        let options = BuildOptions { tables, cells, ..BuildOptions::default() };
        shards::commit(list, &self.index, &*self.embedder()?, &options, in_part, monitor)
    }

    /// Like [`Place::embedder`], but ignores the model of the existing index.
    fn new_embedder(&self) -> Result<Arc<dyn Embedder>> {
        Ok(match self.embedding(self.fast)? {
            Embedding::Local(embedder) => embedder,
            Embedding::Remote(server, config) => {
                Arc::new(RemoteModel::connect(&server, config.manners(), config.timeout())?)
            }
        })
    }

    /// The configured embedding model: the environment takes precedence over the settings.
    fn embedding(&self, fast: bool) -> Result<Embedding> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let config = self.config()?.embedding;
        let mut options = ModelOptions {
            url: set("LAKEWARD_EMBEDDING_URL"),
            model: set("LAKEWARD_EMBEDDING_MODEL"),
            key: set("LAKEWARD_EMBEDDING_KEY").map(|key| Key::new(&key)),
            ..ModelOptions::default()
        };
        if options.url.is_none() && config.url.is_some() && std::env::var_os("LAKEWARD_CONFIG").is_none() {
            // The lake names this server, which could be a trap to collect keys.
            options.key = None;
        }
        let folder = match (set("LAKEWARD_EMBEDDING_PATH"), &options.model) {
            (Some(folder), _) => Some(PathBuf::from(folder)),
            (None, None) => config.path.clone(),
            (None, Some(_)) => None,
        };
        if let Some(folder) = folder {
            return Ok(Embedding::Local(Arc::new(SentenceModel::open(&folder)?)));
        }
        Ok(match config.server(&options)? {
            Some(server) => Embedding::Remote(server, config),
            None if fast => Embedding::Local(Arc::new(StaticModel::builtin())),
            None => Embedding::Local(built_in()),
        })
    }

    /// Whether the index there is was built without the model that reads whole texts.
    fn indexed_fast(&self) -> bool {
        Manifest::read(&self.index).is_ok_and(|manifest| manifest.embedder == StaticModel::builtin().id())
    }
}

/// The folder of the index at `address`, a folder or an address in a store.
fn index_folder(address: &Path) -> Result<PathBuf> {
    if !Address::is(address) {
        return Ok(address.to_path_buf());
    }
    let folder = local_folder(address)?;
    IndexStore::attach(&folder, address)?;
    Ok(folder)
}

/// The folder on this machine of the index at `address`: below the folder that `LAKEWARD_STATE` names, else below the user's folder for data.
///
/// # Errors
/// [`Error::Usage`] if neither is known.
pub fn local_folder(address: &Path) -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = || {
        let home = set("HOME").map(|home| home.join(".local/share"));
        set("XDG_DATA_HOME").or_else(|| set("LOCALAPPDATA")).or(home).map(|data| data.join("lakeward/indexes"))
    };
    let place = set("LAKEWARD_STATE").or_else(data).ok_or_else(|| {
        let reason = "no folder of this machine for what is fetched of it: name one in LAKEWARD_STATE";
        Error::usage(format!("`{}`: {reason}", address.display()))
    })?;
    Ok(place.join(index_store::local_name(address)))
}

/// The configured embedding model.
enum Embedding {
    /// A model in this process.
    Local(Arc<dyn Embedder>),
    /// A model on a server.
    Remote(Server, EmbeddingConfig),
}

/// The built-in embedding model.
pub fn built_in() -> Arc<dyn Embedder> {
    Arc::new(BuiltIn::get())
}
