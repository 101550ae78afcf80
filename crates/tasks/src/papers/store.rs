//! The documents of a lake: the list of added files and the texts read from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::document::{Document, Fingerprint};
use super::manifest::{self, DocumentEntry, FileRecord, Manifest};
use super::texts::{OpenTexts, Texts};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::store::{FileLock, make_folder, remove_unfinished};

/// The folder of papers in the index folder.
pub const FOLDER: &str = "papers";

/// A snapshot of the documents.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) texts: Texts,
}

impl Store {
    /// The documents of the index in `index_folder`, which need not exist yet.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if the list of files cannot be read; [`Error::Io`].
    pub fn open(index_folder: &Path) -> Result<Self> {
        let folder = index_folder.join(FOLDER);
        Ok(Self { manifest: manifest::open(&folder)?, texts: Texts::new(&folder), folder })
    }

    /// The folder of papers.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The records of all files, by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &FileRecord> {
        self.manifest.records()
    }

    /// Every document once with its file, sorted by path and by position in the file.
    pub fn entries(&self) -> impl Iterator<Item = (&DocumentEntry, &FileRecord)> {
        let mut seen = BTreeSet::new();
        let all = self.manifest.records().flat_map(|file| file.documents.iter().map(move |entry| (entry, file)));
        all.filter(move |(entry, _)| seen.insert(&entry.fingerprint))
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    /// The fingerprints of all documents, to detect changes.
    pub fn fingerprints(&self) -> BTreeSet<&Fingerprint> {
        self.entries().map(|(entry, _)| &entry.fingerprint).collect()
    }

    /// Every document once, read lazily, one in memory at a time. In the order of [`Store::entries`].
    ///
    /// Items are errors as of [`Store::document`].
    pub fn documents(&self) -> impl Iterator<Item = Result<Document>> {
        self.documents_where(|_| true)
    }

    /// The documents of [`Store::documents`] whose entries satisfy `filter`; the texts of the others are not read.
    pub fn documents_where(&self, filter: impl Fn(&DocumentEntry) -> bool) -> impl Iterator<Item = Result<Document>> {
        let mut open: Option<(&Fingerprint, OpenTexts)> = None;
        self.entries().filter(move |(entry, _)| filter(entry)).map(move |(entry, file)| {
            let content = content_of(file)?;
            match &mut open {
                Some((current, texts)) if *current == content => texts.document(entry),
                _ => {
                    let mut texts = self.texts.open(content)?;
                    let document = texts.document(entry);
                    open = Some((content, texts));
                    document
                }
            }
        })
    }

    /// The document with the id `id`.
    ///
    /// # Errors
    /// [`Error::UnknownPaper`] with the nearest ids; [`Error::DamagedFile`] if its text has changed since it was written;
    /// [`Error::Io`].
    pub fn document(&self, id: &str) -> Result<Document> {
        let (entry, file) = self.entries().find(|(entry, _)| entry.id == id).ok_or_else(|| self.unknown(id))?;
        self.texts.open(content_of(file)?)?.document(entry)
    }

    fn unknown(&self, id: &str) -> Error {
        const NEAREST: usize = 5;
        let nearest = nearest_names(id, self.entries().map(|(entry, _)| entry.id.as_str()), NEAREST);
        Error::UnknownPaper { id: id.to_string(), nearest }
    }

    /// Removes the documents `ids`, under all paths where they occur. While their files are unchanged, adding those files again
    /// does not restore the documents, unless the files are read again from scratch.
    ///
    /// # Errors
    /// [`Error::UnknownPaper`] for an unknown id, and then nothing is removed; [`Error::Locked`]; [`Error::Io`].
    pub fn remove(index_folder: &Path, ids: &[String]) -> Result<Vec<DocumentEntry>> {
        let folder = index_folder.join(FOLDER);
        let found = |store: &Store| -> Result<Vec<DocumentEntry>> {
            let by_id: BTreeMap<&str, &DocumentEntry> =
                store.entries().map(|(entry, _)| (entry.id.as_str(), entry)).collect();
            ids.iter()
                .map(|id| by_id.get(id.as_str()).map(|entry| (*entry).clone()).ok_or_else(|| store.unknown(id)))
                .collect()
        };
        // Checked before locking, which creates a file: there may be nothing to lock.
        found(&Store::open(index_folder)?)?;
        make_folder(&folder)?;
        let _lock = FileLock::acquire(&folder)?;
        let mut store = Store::open(index_folder)?;
        let entries = found(&store)?;
        let prints: BTreeSet<&Fingerprint> = entries.iter().map(|entry| &entry.fingerprint).collect();
        for file in store.manifest.records_mut() {
            let (removed, kept): (Vec<_>, Vec<_>) =
                std::mem::take(&mut file.documents).into_iter().partition(|entry| prints.contains(&entry.fingerprint));
            file.documents = kept;
            file.removed.extend(removed.into_iter().map(|entry| entry.fingerprint));
        }
        store.manifest.finish()?;
        store.remove_unnamed();
        Ok(entries)
    }

    /// Removes texts that no file needs.
    pub(super) fn remove_unnamed(&self) {
        let needed: BTreeSet<&str> = self
            .manifest
            .records()
            .filter(|file| !file.documents.is_empty() || !file.removed.is_empty())
            .filter_map(|file| file.fingerprint.as_ref().map(Fingerprint::as_str))
            .collect();
        self.texts.retain(|print| needed.contains(print));
        remove_unfinished(self.manifest.path());
    }
}

fn content_of(file: &FileRecord) -> Result<&Fingerprint> {
    file.fingerprint
        .as_ref()
        .ok_or_else(|| Error::Internal(format!("`{}` has documents and no fingerprint", file.path)))
}
