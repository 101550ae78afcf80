//! One object store or web server: what is known of its files, and how it is asked.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use futures::StreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::Metadata;
use super::address::{Address, Kind};
use super::connection::Connector;
use super::listing::{Entry, Listing, Object};
use super::lists::{WEB_LIST, store_listing, web_list, web_listing};
use super::remote_file::{RemoteFile, Spool};

/// Bytes of a spool after which a new one is begun.
const LARGEST_SPOOL_BYTES: u64 = 8 << 30;
const RETRIES: usize = 5;

/// A store.
pub(super) struct Store {
    kind: Kind,
    inner: Arc<dyn ObjectStore>,
    /// Its lists page by page, where it has such.
    pages: Option<Pages>,
    known: Mutex<Known>,
    sent: Arc<AtomicU64>,
}

type Pages = Arc<dyn PaginatedListStore>;

/// What is known of a store, until it is forgotten.
#[derive(Default)]
struct Known {
    /// By the folder that was listed.
    listings: HashMap<String, Arc<Listing>>,
    /// Of files and folders that are in no listing; `None` where nothing is.
    single: HashMap<String, Option<Entry>>,
    files: HashMap<String, Arc<RemoteFile>>,
    spool: Option<Arc<Spool>>,
}

/// Requests that were sent to the store of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requests {
    /// How many, those that failed included.
    pub sent: u64,
}

/// The requests that this process has sent to the store of `path`; none where that is no address.
pub fn requests(path: &Path) -> Requests {
    let store = Address::of(path).ok().flatten().and_then(|address| Store::of(&address).ok());
    Requests { sent: store.map_or(0, |store| store.sent.load(Ordering::Relaxed)) }
}

impl Store {
    /// The store of an address, which this process opens once.
    ///
    /// # Errors
    /// Where its settings in the environment are wrong.
    pub fn of(address: &Address) -> io::Result<Arc<Store>> {
        static STORES: Mutex<Option<HashMap<String, Arc<Store>>>> = Mutex::new(None);
        let mut stores = STORES.lock().map_err(|_| super::poisoned())?;
        let stores = stores.get_or_insert_default();
        if let Some(store) = stores.get(&address.root) {
            return Ok(Arc::clone(store));
        }
        let store = Arc::new(Store::open(address)?);
        stores.insert(address.root.clone(), Arc::clone(&store));
        Ok(store)
    }

    fn open(address: &Address) -> io::Result<Store> {
        let sent = Arc::new(AtomicU64::new(0));
        let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"];
        let endpoint = match address.kind {
            Kind::Web => Some(address.root.clone()),
            _ => endpoints.iter().find_map(|name| std::env::var(name).ok()),
        };
        let host = endpoint.and_then(|endpoint| url::Url::parse(&endpoint).ok()?.host_str().map(str::to_string));
        let is_here = host.is_some_and(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"));
        let connector = Connector { sent: Arc::clone(&sent), is_here };
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(10),
                base: 2.0,
            },
            max_retries: RETRIES,
            retry_timeout: Duration::from_secs(180),
        };
        let root = address.root.as_str();
        // Credentials come from the environment or from where it points, never from an address.
        let inner: object_store::Result<(Arc<dyn ObjectStore>, Option<Pages>)> = match address.kind {
            Kind::S3 => AmazonS3Builder::from_env()
                .with_url(root.replacen("s3a://", "s3://", 1))
                .with_http_connector(connector)
                .with_retry(retry)
                .build()
                .map(in_pages),
            Kind::Google => GoogleCloudStorageBuilder::from_env()
                .with_url(root)
                .with_http_connector(connector)
                .with_retry(retry)
                .build()
                .map(in_pages),
            Kind::Azure => MicrosoftAzureBuilder::from_env()
                .with_url(root)
                .with_http_connector(connector)
                .with_retry(retry)
                .build()
                .map(in_pages),
            Kind::Web => HttpBuilder::new()
                .with_url(root)
                .with_http_connector(connector)
                .with_retry(retry)
                .build()
                .map(|store| (Arc::new(store) as _, None)),
        };
        let (inner, pages) = inner.map_err(|error| io_error(&error))?;
        Ok(Store { kind: address.kind, inner, pages, known: Mutex::default(), sent })
    }

    /// The objects of the store, of which nothing is remembered.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.inner)
    }

    /// Forgets what is known below `address`; files that are open stay as they are.
    pub fn forget(&self, address: &Address) {
        let Ok(mut known) = self.known.lock() else { return };
        let is_elsewhere = |key: &String| !is_below(key, &address.key) && !is_below(&address.key, key);
        known.files.retain(|key, file| is_elsewhere(key) || file.failure().is_none());
        known.listings.retain(|key, _| is_elsewhere(key));
        known.single.retain(|key, _| is_elsewhere(key));
    }

    /// What is at `address`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where nothing is; those of the store.
    pub fn metadata(&self, address: &Address) -> io::Result<Metadata> {
        match self.entry(&address.key)? {
            Some(Entry::Folder) => Ok(Metadata { is_dir: true, is_file: false, bytes: 0, changed_ns: 0 }),
            Some(Entry::File(object)) => {
                Ok(Metadata { is_dir: false, is_file: true, bytes: object.bytes, changed_ns: object.changed_ns() })
            }
            Some(Entry::Unusable(reason)) => Err(io::Error::other(reason)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The paths of what is in the folder at `address`, which is `path`.
    ///
    /// # Errors
    /// Those of the store; [`io::ErrorKind::NotFound`] where there is no such folder.
    pub fn read_dir(&self, address: &Address, path: &Path) -> io::Result<Vec<io::Result<PathBuf>>> {
        let listing = self.listing(&address.key)?;
        let (names, problem) = listing.names(&address.key).ok_or(io::ErrorKind::NotFound)?;
        if let (true, Some(reason)) = (names.is_empty(), problem) {
            return Err(io::Error::other(reason.to_string()));
        }
        // A store has no empty folders.
        if names.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let named = names.into_iter().map(|(name, entry)| match entry {
            Entry::Unusable(reason) => Err(io::Error::other(format!("`{name}`: {reason}"))),
            _ => Ok(path.join(name)),
        });
        Ok(named.chain(problem.map(|reason| Err(io::Error::other(reason.to_string())))).collect())
    }

    /// The file at `address`.
    ///
    /// # Errors
    /// As [`Store::metadata`].
    pub fn file(&self, address: &Address) -> io::Result<Arc<RemoteFile>> {
        let object = match self.entry(&address.key)? {
            Some(Entry::File(object)) => object,
            Some(Entry::Folder) => return Err(io::ErrorKind::IsADirectory.into()),
            Some(Entry::Unusable(reason)) => return Err(io::Error::other(reason)),
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        let mut known = self.known.lock().map_err(|_| super::poisoned())?;
        if let Some(file) = known.files.get(&address.key).filter(|file| file.object == object) {
            return Ok(Arc::clone(file));
        }
        if known.spool.as_ref().is_none_or(|spool| spool.bytes() > LARGEST_SPOOL_BYTES) {
            // Files that are open keep their spool.
            known.files.clear();
            known.spool = Some(Arc::new(Spool::new()?));
        }
        let key = Key::parse(&address.key).map_err(io::Error::other)?;
        let spool = known.spool.clone().ok_or_else(super::poisoned)?;
        let file = Arc::new(RemoteFile::new(Arc::clone(&self.inner), key, object, &spool));
        known.files.insert(address.key.clone(), Arc::clone(&file));
        Ok(file)
    }

    /// Why a file at or below `address` could not be fetched, the last time that it was not.
    pub fn failure(&self, address: &Address) -> Option<String> {
        let known = self.known.lock().ok()?;
        let below = known.files.iter().filter(|(key, _)| is_below(key, &address.key));
        below.filter_map(|(_, file)| file.failure()).next()
    }

    /// What is at `key`, from a listing if there is one.
    fn entry(&self, key: &str) -> io::Result<Option<Entry>> {
        {
            let known = self.known.lock().map_err(|_| super::poisoned())?;
            if let Some(entry) =
                known.listings.iter().find_map(|(root, listing)| is_below(key, root).then(|| listing.entry(key)))
            {
                return Ok(entry);
            }
            if let Some(entry) = known.single.get(key) {
                return Ok(entry.clone());
            }
        }
        let entry = self.asked(key)?;
        let mut known = self.known.lock().map_err(|_| super::poisoned())?;
        known.single.insert(key.to_string(), entry.clone());
        Ok(entry)
    }

    /// Asks the store what is at `key`.
    fn asked(&self, key: &str) -> io::Result<Option<Entry>> {
        if key.is_empty() && self.kind != Kind::Web {
            return Ok(Some(Entry::Folder));
        }
        let (inner, kind, key) = (Arc::clone(&self.inner), self.kind, key.to_string());
        wait(async move {
            // A web server may answer to a folder with a page.
            if kind == Kind::Web && crate::source::classify(Path::new(&key)).is_none() {
                let list = Key::parse(format!("{key}/{WEB_LIST}").trim_start_matches('/')).map_err(io::Error::other)?;
                if inner.head(&list).await.is_ok() || web_list(&inner, &key).await.is_ok() {
                    return Ok(Some(Entry::Folder));
                }
            }
            let place = Key::parse(&key).map_err(io::Error::other)?;
            match inner.head(&place).await {
                Ok(found) => Ok(Some(Entry::File(Object::of(&found)))),
                Err(object_store::Error::NotFound { .. }) if kind == Kind::Web => Ok(None),
                Err(object_store::Error::NotFound { .. }) => match inner.list(Some(&place)).next().await {
                    Some(Ok(_)) => Ok(Some(Entry::Folder)),
                    Some(Err(error)) => Err(io_error(&error)),
                    None => Ok(None),
                },
                Err(error) => Err(io_error(&error)),
            }
        })?
    }

    /// The listing that has the folder `key`.
    fn listing(&self, key: &str) -> io::Result<Arc<Listing>> {
        {
            let known = self.known.lock().map_err(|_| super::poisoned())?;
            if let Some(listing) =
                known.listings.iter().find_map(|(root, listing)| is_below(key, root).then_some(listing))
            {
                return Ok(Arc::clone(listing));
            }
        }
        let (inner, pages, root) = (Arc::clone(&self.inner), self.pages.clone(), key.to_string());
        let listing = match self.kind {
            Kind::Web => wait(async move { web_listing(&inner, &root).await })??,
            _ => wait(async move { store_listing(&inner, pages.as_deref(), &root).await })??,
        };
        let listing = Arc::new(listing);
        let mut known = self.known.lock().map_err(|_| super::poisoned())?;
        known.listings.insert(key.to_string(), Arc::clone(&listing));
        Ok(listing)
    }
}

fn in_pages<S: ObjectStore + PaginatedListStore>(store: S) -> (Arc<dyn ObjectStore>, Option<Pages>) {
    let store = Arc::new(store);
    (Arc::clone(&store) as _, Some(store))
}

/// Whether `key` is `folder` or below it.
fn is_below(key: &str, folder: &str) -> bool {
    folder.is_empty() || key.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Waits for `asked`, which runs on threads of its own: any thread may wait, also one that belongs to another runtime.
pub(super) fn wait<T: Send + 'static>(asked: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let build = || Builder::new_multi_thread().worker_threads(2).thread_name("stores").enable_all().build();
    let runtime = RUNTIME.get_or_init(|| build().map_err(|error| error.to_string())).as_ref();
    let runtime = runtime.map_err(|error| io::Error::other(error.clone()))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        let _ = sender.send(asked.await);
    });
    receiver.recv().map_err(|_| super::poisoned())
}

/// The error of a store as one of the file: its kind, and the innermost reason.
pub(super) fn io_error(error: &object_store::Error) -> io::Error {
    use object_store::Error::{NotFound, PermissionDenied, Precondition, Unauthenticated};
    const LONGEST: usize = 400;
    const REFUSED: &str = "the store refuses access to it";
    let mut kind = match error {
        NotFound { .. } => return io::ErrorKind::NotFound.into(),
        Precondition { .. } => return super::remote_file::changed(),
        PermissionDenied { .. } | Unauthenticated { .. } => {
            return io::Error::new(io::ErrorKind::PermissionDenied, REFUSED);
        }
        _ => io::ErrorKind::Other,
    };
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
        if cause.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Interrupted) {
            kind = io::ErrorKind::UnexpectedEof;
        }
    }
    let reason = cause.to_string();
    let reason = reason.lines().next().unwrap_or_default();
    // Of a list that is refused the store's library says no more than the status.
    if ["401 Unauthorized", "403 Forbidden"].iter().any(|status| reason.contains(status)) {
        return io::Error::new(io::ErrorKind::PermissionDenied, REFUSED);
    }
    io::Error::new(kind, lakeward_core::text::shown(reason, LONGEST).to_string())
}
