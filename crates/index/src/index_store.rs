//! An index in an object store, and its folder on this machine.
//!
//! ```text
//! ADDRESS/manifests/00000000000000000042.json   one object a commit, created and never replaced
//! ADDRESS/heads/00000000000000000042-CHECKSUM   headers and footers of all files that manifest names, and small sections of large ones:
//!                                               all that opening them reads
//! ADDRESS/segments/NAME/CHECKSUM-words.seg      what manifests name; a name has one content
//! ```
//!
//! The local folder looks like any index: the newest manifest as `manifest.json`, and its segments as sparse files with header and footer,
//! whose blocks come from the store when they are first read ([`Blocks`]). Everything that opens a folder reads it. What users make
//! beside an index (sessions, notes, answers that are kept) is in the local folder alone.
//!
//! **A commit creates the manifest with the next number**, which succeeds for one writer; others take the new manifest, make their edit of it and try
//! the next number. A failure that leaves open whether the object was written is settled by reading it. All of it needs a store
//! that keeps to conditions, so the first commit of a process tries that and refuses a store that does not.
//!
//! **Removal cannot race a writer, however slow**: an object goes once it is a day older than the newest manifest that the remover has listed, and
//! no manifest that is left names it. A writer looks at the newest manifest, then writes all objects that it does not name, so they are
//! younger than it; then it creates the next one. Whoever removes by a newer manifest has found that one committed, so the writer
//! loses, and writes its objects anew. A reader has a day: a manifest goes once the one after it is a day old.
//!
//! The idea of numbered manifests that are created and never replaced is from Delta Lake and Lance.
//!
//! Decided: *no map of what is there*: a hole reads as zeros and fails its checksum, so whatever is missing, torn or
//! damaged is fetched in one way. *Heads of all files in one object*: opening is three requests for any number of
//! segments. *What one search reads of a file comes at once* (`SegmentFile::read_together`); other parts in windows
//! of 1, 8, 64 MB. A search reads no column: the catalogue says which table a column is of, by which name, and by up
//! to 128 hashes a column whether two tables may be copies; its entries are packed one by one with zstd and a
//! dictionary of the format (88 MB of JSON of 25,000 tables are 24 MB). Who loses a race looks at the manifest first
//! and at the lake then, so a table that another has found is never taken for deleted.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::manifest::{self, FileEntry, Manifest, SEGMENTS, SegmentEntry};
use super::segment::Blocks;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Bounds, Links, Purpose, make_folder, version_of, write_atomic};
use lakeward_lake::storage::{Listed, Objects};

mod heads;

const MANIFESTS: &str = "manifests";
const HEADS: &str = "heads";
const PROBES: &str = "probes";
/// Which manifest of the store the local folder has, and the version of that file: of another one, the manifest is
/// fetched again.
const SEEN: &str = "store.json";
const SEEN_VERSION: u32 = 1;
/// Maximum sizes of a manifest and of the heads: more is an attack.
const MOST_BYTES: usize = 4 << 30;
/// What is superseded is kept for so long.
const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// Times that a manifest is created again where it is certain that it was not written.
const ATTEMPTS: usize = 3;

/// The stores of local folders in this process; a folder itself does not name one, as a lake that brings its index would then choose
/// what is asked.
static ATTACHED: Mutex<Option<HashMap<PathBuf, Arc<IndexStore>>>> = Mutex::new(None);

/// An index in a store.
pub struct IndexStore {
    folder: PathBuf,
    objects: Arc<Objects>,
    /// Names of objects that the newest manifest names or this process has written.
    stored: Mutex<HashSet<String>>,
    is_probed: Mutex<bool>,
    /// Whether the heads give blocks, too; else all come from the files themselves.
    with_blocks: bool,
}

/// What the local folder has of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    version: u32,
    name: String,
    bytes: u64,
    etag: Option<String>,
}

impl IndexStore {
    /// The index at `address`, with `folder` as its local one, from now on in this process.
    ///
    /// # Errors
    /// [`Error::Usage`] if nothing can be written at such an address, [`Error::Io`] if the folder cannot.
    pub fn attach(folder: &Path, address: &Path) -> Result<()> {
        Self::attach_with(folder, address, true)
    }

    fn attach_with(folder: &Path, address: &Path, with_blocks: bool) -> Result<()> {
        let wrong = |error: io::Error| Error::usage(format!("`{}` cannot have an index: {error}", address.display()));
        let objects = Arc::new(Objects::at(address).map_err(wrong)?);
        make_folder(&folder.join(SEGMENTS))?;
        let store = IndexStore {
            folder: folder.to_path_buf(),
            objects,
            stored: Mutex::default(),
            is_probed: Mutex::new(false),
            with_blocks,
        };
        let mut attached = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
        attached.get_or_insert_default().entry(folder.to_path_buf()).or_insert(Arc::new(store));
        Ok(())
    }

    /// The store of the index in `folder`, if there is one.
    pub fn of(folder: &Path) -> Option<Arc<IndexStore>> {
        ATTACHED.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(folder).cloned()
    }

    /// Brings the local folder of an index in a store up to date; nothing for one that is only local. One list, if nothing has changed;
    /// three requests otherwise, whatever the number of segments.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if the store has none, [`Error::DamagedIndex`], [`Error::IndexVersion`], [`Error::Io`].
    pub fn refresh(folder: &Path) -> Result<()> {
        Self::of(folder).map_or(Ok(()), |store| store.fetch_newest().map(|_| ()))
    }

    /// Calls `act` with a folder that has the newest manifest and nothing that was fetched before: all of a file comes from its object.
    ///
    /// # Errors
    /// Those of [`refresh`](Self::refresh) and of `act`.
    pub fn with_nothing_local<T>(&self, act: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let folder = tempfile::tempdir_in(&self.folder).map_err(|error| Error::io("create", &self.folder, error))?;
        Self::attach_with(folder.path(), self.address(), false)?;
        let done = Self::refresh(folder.path()).and_then(|()| act(folder.path()));
        ATTACHED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().remove(folder.path());
        done
    }

    /// Where the index is.
    pub fn address(&self) -> &Path {
        self.objects.address()
    }

    /// Its objects.
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// A name of a segment that no other writer chooses.
    pub fn unique(&self, name: &str) -> String {
        format!("{name}-{:016x}", RandomState::new().hash_one(name))
    }

    /// The number of the newest manifest that the local folder has seen, readable or not.
    pub fn newest_generation(&self) -> u64 {
        self.seen().and_then(|seen| generation_of(&seen.name)).unwrap_or(0)
    }

    fn failed(&self, action: &'static str, name: &str) -> impl FnOnce(io::Error) -> Error {
        let path = self.address().join(name);
        move |error| Error::io(action, &path, error)
    }

    fn seen(&self) -> Option<Seen> {
        const BOUNDS: Bounds = Bounds {
            most_bytes: 1 << 20,
            links: Links::Followed,
            damaged: |path, reason| Error::damaged(path, reason),
        };
        let text = BOUNDS.read(&self.folder.join(SEEN)).ok()??;
        version_of(&text, "version").ok()?.filter(|version| *version == u64::from(SEEN_VERSION))?;
        serde_json::from_slice(&text).ok()
    }

    /// The newest manifest in the store's list, if there is one.
    fn newest(&self, seen: Option<&Seen>) -> Result<Option<Listed>> {
        // From just before the last one on, which shows also whether that is still the one that was seen.
        let before = seen.and_then(|seen| generation_of(&seen.name)).and_then(|generation| generation.checked_sub(1));
        let list = |after: Option<&str>| {
            let listed = self.objects.list(MANIFESTS, after).map_err(self.failed("list", MANIFESTS))?;
            Ok(listed.into_iter().filter(|listed| generation_of(&listed.name).is_some()).collect::<Vec<_>>())
        };
        if let Some(before) = before {
            let after = list(Some(&manifest_name(before)))?;
            if after.first().is_some_and(|first| seen.is_some_and(|seen| first.name == seen.name)) {
                return Ok(after.into_iter().next_back());
            }
        }
        Ok(list(None)?.into_iter().next_back())
    }

    /// The newest manifest; the local folder has it then.
    fn fetch_newest(&self) -> Result<Manifest> {
        for _ in 0..ATTEMPTS {
            let seen = self.seen().filter(|_| self.folder.join(manifest::FILE_NAME).is_file());
            let Some(newest) = self.newest(seen.as_ref())? else {
                // What was there is gone.
                let _ = fs::remove_file(self.folder.join(manifest::FILE_NAME));
                let _ = fs::remove_file(self.folder.join(SEEN));
                return Err(Error::NoIndex { path: self.address().to_path_buf() });
            };
            let found = Seen { version: SEEN_VERSION, name: newest.name, bytes: newest.bytes, etag: newest.etag };
            let known = if seen.as_ref() == Some(&found) { Manifest::read(&self.folder).ok() } else { None };
            let manifest = match known {
                Some(manifest) => manifest,
                None => {
                    let text = self.objects.get(&found.name, MOST_BYTES).map_err(self.failed("read", &found.name))?;
                    // Removed since it was listed.
                    let Some(text) = text else { continue };
                    let parsed = Manifest::parse(&self.address().join(&found.name), &text);
                    if let Ok(manifest) = &parsed {
                        self.place(manifest)?;
                    }
                    write_atomic(&self.folder.join(manifest::FILE_NAME), Purpose::Index, &text)?;
                    self.note(&found)?;
                    parsed?
                }
            };
            self.place(&manifest)?;
            let names = objects_of(&manifest);
            *self.stored.lock().unwrap_or_else(PoisonError::into_inner) = names.collect();
            return Ok(manifest);
        }
        Err(Error::damaged(&self.address().join(MANIFESTS), "manifests vanish while they are read"))
    }

    fn note(&self, seen: &Seen) -> Result<()> {
        let text = serde_json::to_vec(seen).map_err(|error| Error::Internal(error.to_string()))?;
        write_atomic(&self.folder.join(SEEN), Purpose::Index, &text)
    }

    /// Makes the files of `manifest` that the local folder lacks, from their heads.
    fn place(&self, manifest: &Manifest) -> Result<()> {
        let local = |segment: &SegmentEntry, file: &FileEntry| {
            Manifest::segment_folder(&self.folder, &segment.name).join(&file.name)
        };
        let is_there = |path: &Path, bytes: u64| fs::metadata(path).is_ok_and(|found| found.len() == bytes);
        let mut absent: HashMap<(String, String), &FileEntry> = HashMap::new();
        for segment in &manifest.segments {
            for file in segment.files.iter().filter(|file| !is_there(&local(segment, file), file.bytes)) {
                absent.insert((segment.name.clone(), file.name.clone()), file);
            }
        }
        if absent.is_empty() {
            return Ok(());
        }
        let name = heads_name(manifest);
        let damaged = |reason: String| Error::damaged(&self.address().join(&name), reason);
        let heads = self.objects.get(&name, MOST_BYTES).map_err(self.failed("read", &name))?;
        let heads = heads.ok_or_else(|| damaged("it is missing".into()))?;
        heads::place(&self.folder, &heads, absent, self.with_blocks, &damaged)
    }

    /// Makes the local files of `manifest` anew, where some of them are damaged.
    pub(super) fn renew(&self, manifest: &Manifest) -> Result<()> {
        for segment in &manifest.segments {
            let _ = fs::remove_dir_all(Manifest::segment_folder(&self.folder, &segment.name));
        }
        self.place(manifest)
    }

    /// Commits `manifest`, which was made from the newest one that was fetched and has the next number; `None` once it is there. If another
    /// writer was faster, nothing is committed, and the local folder has what that one did, which is returned.
    ///
    /// # Errors
    /// [`Error::Io`] if the store refuses or does not keep to conditions; nothing is committed then, or the whole.
    pub fn publish(&self, manifest: &mut Manifest) -> Result<Option<Manifest>> {
        self.probe()?;
        let seen = self.seen();
        let newest = self.newest(seen.as_ref())?.and_then(|newest| generation_of(&newest.name));
        if newest.is_some_and(|newest| newest >= manifest.generation) {
            return self.fetch_newest().map(Some);
        }
        for segment in &manifest.segments {
            for file in &segment.files {
                let name = object_name(&segment.name, file);
                if !self.stored.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
                    let path = Manifest::segment_folder(&self.folder, &segment.name).join(&file.name);
                    self.objects.put_file(&name, &path).map_err(self.failed("write", &name))?;
                    self.stored.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
                }
            }
        }
        let text = manifest.sealed()?;
        let heads = heads_name(manifest);
        self.objects.put(&heads, heads::of(&self.folder, manifest)?).map_err(self.failed("write", &heads))?;
        self.create(&manifest_name(manifest.generation), text)
    }

    fn create(&self, name: &str, text: Vec<u8>) -> Result<Option<Manifest>> {
        let mut failure = None;
        for _ in 0..ATTEMPTS {
            let created = self.objects.create(name, text.clone());
            // What another made, or this process by a request whose answer was lost.
            let is_ours = match &created {
                Ok(true) => true,
                _ => match self.objects.get(name, MOST_BYTES).map_err(self.failed("read", name))? {
                    Some(found) if found == text => true,
                    Some(_) => return self.fetch_newest().map(Some),
                    None => false,
                },
            };
            if is_ours {
                // Fetched once more, as its ETag is not known.
                let bytes = text.len() as u64;
                self.note(&Seen { version: SEEN_VERSION, name: name.to_string(), bytes, etag: None })?;
                return Ok(None);
            }
            failure = created.err();
        }
        let failure = failure.unwrap_or_else(|| io::Error::other("the store says that it is there, and has it not"));
        Err(self.failed("write", name)(failure))
    }

    /// Finds out whether the store creates an object of one name once only.
    fn probe(&self) -> Result<()> {
        let mut is_probed = self.is_probed.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_probed {
            return Ok(());
        }
        let mut tried = self.try_condition();
        for _ in 1..ATTEMPTS {
            // A creation whose outcome is open tells nothing.
            tried = tried.or_else(|_| self.try_condition());
        }
        let (first, second) = tried?;
        if !first || second {
            let reason = "the store ignores the condition `If-None-Match: *`, so two writers would overwrite each other's index; \
                          keep the index in a folder, or in a store that keeps to conditions";
            return Err(Error::io("write", self.address(), io::Error::other(reason)));
        }
        *is_probed = true;
        Ok(())
    }

    /// Whether an object of a new name was created, and then once more.
    fn try_condition(&self) -> Result<(bool, bool)> {
        let name = format!("{PROBES}/{}", self.unique("probe"));
        let create = || self.objects.create(&name, b"probe".to_vec());
        let created = create().and_then(|first| Ok((first, create()?)));
        let _ = self.objects.remove(std::slice::from_ref(&name));
        created.map_err(self.failed("write", &name))
    }

    /// Removes what was superseded more than a day ago; called by who has just committed. Returns the number of objects removed.
    ///
    /// # Errors
    /// [`Error::Io`]; what is left the next writer removes.
    pub fn remove_superseded(&self) -> Result<usize> {
        let manifests = self.objects.list(MANIFESTS, None).map_err(self.failed("list", MANIFESTS))?;
        // The newest was just written, so that the store's clock can be read off it.
        let Some(now) = manifests.last().map(|newest| newest.written_seconds) else { return Ok(0) };
        let is_old = |listed: &Listed| listed.written_seconds.saturating_add(KEPT_SECONDS) < now;
        let old = manifests.windows(2).take_while(|pair| is_old(&pair[1])).count();
        if old == 0 {
            return Ok(0);
        }
        let (old, kept) = manifests.split_at(old);
        let mut reachable = HashSet::new();
        for listed in kept {
            let text = self.objects.get(&listed.name, MOST_BYTES).map_err(self.failed("read", &listed.name))?;
            let Some(text) = text else { continue };
            // One of a newer program may name what this one cannot read: then nothing goes.
            let manifest = Manifest::parse(&self.address().join(&listed.name), &text)?;
            reachable.extend(objects_of(&manifest).chain([heads_name(&manifest)]));
        }
        let mut gone: Vec<String> = old.iter().map(|listed| listed.name.clone()).collect();
        for folder in [HEADS, SEGMENTS, PROBES] {
            let listed = self.objects.list(folder, None).map_err(self.failed("list", folder))?;
            let unnamed = listed.into_iter().filter(|listed| is_old(listed) && !reachable.contains(&listed.name));
            gone.extend(unnamed.map(|listed| listed.name));
        }
        self.objects.remove(&gone).map_err(self.failed("remove", MANIFESTS))?;
        Ok(gone.len())
    }

    /// Where the blocks of the file at `path` come from, if its folder is that of an index in a store.
    pub(super) fn blocks_of(path: &Path, checksum: u64) -> Option<Blocks> {
        let (file, segment) = (path.file_name()?.to_str()?, path.parent()?);
        let store = Self::of(segment.parent()?.parent()?)?;
        let name = format!("{SEGMENTS}/{}/{checksum:016x}-{file}", segment.file_name()?.to_str()?);
        Some(Blocks::new(Arc::clone(&store.objects), name, path))
    }
}

/// The name of the folder on a machine for the index at `address`: the last part of that, and a hash of the whole.
pub fn local_name(address: &Path) -> String {
    let text = address.to_string_lossy();
    let text = text.trim_end_matches('/');
    let name = text.rsplit('/').next().unwrap_or_default().chars().filter(char::is_ascii_alphanumeric);
    format!("{}-{:016x}", name.collect::<String>(), xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

fn manifest_name(generation: u64) -> String {
    format!("{MANIFESTS}/{generation:020}.json")
}

fn generation_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(MANIFESTS)?.strip_prefix('/')?.strip_suffix(".json")?;
    if digits.len() == 20 { digits.parse().ok() } else { None }
}

fn heads_name(manifest: &Manifest) -> String {
    format!("{HEADS}/{:020}-{}", manifest.generation, manifest.checksum)
}

fn object_name(segment: &str, file: &FileEntry) -> String {
    format!("{SEGMENTS}/{segment}/{}-{}", file.checksum, file.name)
}

/// The names of the objects of all files of `manifest`.
fn objects_of(manifest: &Manifest) -> impl Iterator<Item = String> + '_ {
    let files = |segment: &'_ SegmentEntry| -> Vec<String> {
        segment.files.iter().map(|file| object_name(&segment.name, file)).collect()
    };
    manifest.segments.iter().flat_map(files)
}
