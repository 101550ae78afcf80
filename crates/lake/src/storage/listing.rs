//! What a store has below one of its folders: the folders, files and entries that cannot be used, from a flat list of keys.

use std::collections::{BTreeMap, HashMap};

use object_store::ObjectMeta;

use super::address::is_name;

/// What a store says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    pub bytes: u64,
    /// Without quotes.
    pub etag: Option<String>,
    /// Seconds since 1970; lists know them finer than single files do.
    pub modified_seconds: i64,
}

impl Object {
    pub fn of(found: &ObjectMeta) -> Object {
        // Lists and files are answered with and without quotes.
        let etag = found.e_tag.as_deref().map(|etag| etag.replace('"', "")).filter(|etag| !etag.is_empty());
        Object { bytes: found.size, etag, modified_seconds: found.last_modified.timestamp() }
    }

    /// A number that stands for a time of change in nanoseconds and is another one where the content is: the store's
    /// seconds, and below them a hash of size and ETag. It lies two seconds in the past. A file of a disk that changed
    /// a moment ago is read again, as it may change within the same tick of the clock; here the ETag tells such a
    /// change.
    pub fn changed_ns(&self) -> u64 {
        const NS: u64 = 1_000_000_000;
        let seconds = u64::try_from(self.modified_seconds).unwrap_or(0).saturating_sub(2);
        let state = format!("{} {}", self.bytes, self.etag.as_deref().unwrap_or(""));
        seconds * NS + xxhash_rust::xxh3::xxh3_64(state.as_bytes()) % NS
    }

    /// The ETag in quotes where it stands for the very bytes: a weak one does not.
    pub fn strong_etag(&self) -> Option<String> {
        self.etag.as_deref().filter(|etag| !etag.starts_with("W/")).map(|etag| format!("\"{etag}\""))
    }
}

/// Something in a folder.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Folder,
    File(Object),
    /// What cannot be used, with the reason.
    Unusable(String),
}

/// All that is below one folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By key; each with its entries by name.
    folders: HashMap<String, BTreeMap<String, Entry>>,
    /// Folders that could not be listed, with the reason.
    problems: HashMap<String, String>,
    pub files: usize,
}

/// The names in a folder, and what each is.
type Names<'a> = Vec<(&'a str, &'a Entry)>;

impl Listing {
    /// The listing of the folder `key`, nothing of which is known yet.
    pub fn new(key: &str) -> Listing {
        let folders = HashMap::from([(key.to_string(), BTreeMap::new())]);
        Listing { folders, ..Listing::default() }
    }

    /// Adds the file `key`, and the folders in which it is below `root`.
    pub fn add_file(&mut self, root: &str, key: &str, entry: Entry) {
        // Some tools mark a folder by an object without bytes.
        if key == root || key.ends_with('/') {
            return;
        }
        self.files += 1;
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        self.add_folder(root, folder);
        let beside = self.folders.entry(folder.to_string()).or_default();
        if matches!(beside.get(name), Some(Entry::Folder)) {
            return self.add_problem(&format!("{folder}/{name}"), "it is a file and a folder".into());
        }
        beside.insert(name.to_string(), entry);
    }

    /// Adds a folder, which is `root` or below it, and those in which it is.
    pub fn add_folder(&mut self, root: &str, key: &str) {
        if key == root || self.folders.contains_key(key) {
            return;
        }
        let (above, name) = key.rsplit_once('/').unwrap_or(("", key));
        self.add_folder(root, above);
        self.folders.insert(key.to_string(), BTreeMap::new());
        if is_name(name) {
            self.folders.entry(above.to_string()).or_default().insert(name.to_string(), Entry::Folder);
        }
    }

    /// Notes that a folder cannot be listed, or only in part.
    pub fn add_problem(&mut self, key: &str, reason: String) {
        self.problems.entry(key.trim_end_matches('/').to_string()).or_insert(reason);
    }

    /// What is at `key`; `None` where nothing is.
    pub fn entry(&self, key: &str) -> Option<Entry> {
        if self.folders.contains_key(key) {
            return Some(Entry::Folder);
        }
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        self.folders.get(folder)?.get(name).cloned()
    }

    /// The names in the folder `key`, and why more may be there; `None` where there is no such folder.
    pub fn names(&self, key: &str) -> Option<(Names<'_>, Option<&str>)> {
        let names = self.folders.get(key)?.iter().map(|(name, entry)| (name.as_str(), entry)).collect();
        Some((names, self.problems.get(key).map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(bytes: u64, etag: &str) -> Object {
        Object { bytes, etag: Some(etag.into()), modified_seconds: 1_700_000_000 }
    }

    #[test]
    fn keys_become_folders_and_files() {
        let mut listing = Listing::new("lake");
        for key in ["lake/a/b/c.csv", "lake/d.csv", "lake/marker/", "lake", "lake/a", "lake/a/x"] {
            listing.add_file("lake", key, Entry::File(object(1, "e")));
        }
        let names = |key: &str| {
            let (names, problem) = listing.names(key).unwrap();
            (names.into_iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(), problem.map(str::to_string))
        };
        assert_eq!(names("lake").0, ["a", "d.csv"]);
        assert_eq!(names("lake/a"), (vec!["b".into(), "x".into()], Some("it is a file and a folder".into())));
        assert_eq!(names("lake/a/b").0, ["c.csv"]);
        assert!(matches!(listing.entry("lake/a"), Some(Entry::Folder)));
        assert!(matches!(listing.entry("lake/a/b/c.csv"), Some(Entry::File(_))) && listing.entry("lake/z").is_none());
        let mut whole = Listing::new("");
        whole.add_file("", "a/b.csv", Entry::File(object(1, "e")));
        whole.add_file("", "c.csv", Entry::File(object(1, "e")));
        assert_eq!(whole.names("").unwrap().0.len(), 2);
        assert_eq!(whole.names("a").unwrap().0.len(), 1);
    }

    #[test]
    fn a_change_of_the_etag_is_a_change_of_the_file() {
        let (one, other) = (object(5, "a").changed_ns(), object(5, "b").changed_ns());
        assert!(one != other && one < 1_700_000_000_000_000_000 && one / 1_000_000_000 == other / 1_000_000_000);
        assert_eq!(one, object(5, "a").changed_ns());
    }
}
