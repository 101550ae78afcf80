//! How a folder of a store is listed: by one flat list of an object store, or by the list that a web server's folder has.

use std::io;
use std::sync::Arc;

use futures::StreamExt;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Error::{BadSegment, EmptySegment};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};

use super::address::is_name;
use super::listing::{Entry, Listing, Object};
use super::store::io_error;

/// The file that names the others of a folder on a web server.
pub(super) const WEB_LIST: &str = "index.txt";
/// A longer list is an error, in bytes.
const LONGEST_LIST_BYTES: u64 = 64 << 20;
/// More files of one lake are an error: at .8 KB a file, their list takes 16 GB of memory (eval/scale.md).
const MOST_FILES: usize = 20_000_000;
/// Requests to a web server at a time.
const AT_ONCE: usize = 8;

/// Keys of one list that are no paths, beyond which the list is given up: each takes some requests.
const MOST_ODD_KEYS: usize = 100;
/// Of those, how many are named.
const SHOWN_KEYS: usize = 5;
/// Keys of a page of a list in which one is no path, to begin with.
const PAGE_KEYS: usize = 512;

/// All that is below the folder `root`; `pages` are its pages where the store has such.
pub(super) async fn store_listing(
    store: &Arc<dyn ObjectStore>,
    pages: Option<&dyn PaginatedListStore>,
    root: &str,
) -> io::Result<Listing> {
    let prefix = Key::parse(root).map_err(io::Error::other)?;
    let mut listing = Listing::new(root);
    let mut found = store.list(Some(&prefix));
    let failed = loop {
        match found.next().await {
            Some(Ok(object)) => {
                listing.add_file(root, object.location.as_ref(), Entry::File(Object::of(&object)));
                refuse_beyond(MOST_FILES, listing.files)?;
            }
            Some(Err(error)) => break error,
            None => return Ok(listing),
        }
    };
    if let (Some(pages), Some(odd)) = (pages, odd_key(&failed))
        && keeps_to_counts(pages, root, &odd).await
        && let Ok(listing) = listing_around(pages, root).await
    {
        refuse_beyond(MOST_FILES, listing.files)?;
        return Ok(listing);
    }
    // A folder that must not be listed spoils the list of all: each folder is asked by itself.
    let mut listing = Listing::new(root);
    let mut pending = vec![root.to_string()];
    while let Some(folder) = pending.pop() {
        let prefix = Key::parse(&folder).map_err(io::Error::other)?;
        match store.list_with_delimiter(Some(&prefix)).await {
            Ok(found) => {
                for object in found.objects {
                    listing.add_file(root, object.location.as_ref(), Entry::File(Object::of(&object)));
                }
                for below in found.common_prefixes {
                    listing.add_folder(root, below.as_ref());
                    pending.push(below.to_string());
                }
            }
            Err(_) if folder == root => return Err(io_error(&failed)),
            Err(error) => listing.add_problem(&folder, io_error(&error).to_string()),
        }
        refuse_beyond(MOST_FILES, listing.files)?;
    }
    Ok(listing)
}

/// An error that says what to do if a lake has more than `most` files.
fn refuse_beyond(most: usize, files: usize) -> io::Result<()> {
    if files <= most {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it has more than {most} files, which is the limit of one list; index its folders one by one, each with an index of its own"
    )))
}

/// Whether a page has no more keys than it is asked for: of a store that sends more, nobody knows which are before the one that is no path. It is
/// asked for one key at the beginning, and where that page cannot be read, behind the `odd` key.
async fn keeps_to_counts(store: &dyn PaginatedListStore, root: &str, odd: &str) -> bool {
    for offset in [None, Some(odd.to_string())] {
        let one = PaginatedListOptions { max_keys: Some(1), offset, ..PaginatedListOptions::default() };
        if let Ok(page) = store.list_paginated(below(root).as_deref(), one).await {
            return page.result.objects.len() <= 1 && page.page_token.is_some();
        }
    }
    false
}

/// What the keys below the folder `root` begin with.
fn below(root: &str) -> Option<String> {
    Some(format!("{root}/")).filter(|_| !root.is_empty())
}

/// All that is below the folder `root` but the keys that are no paths: one of them spoils its whole page, so pages are halved until it is alone.
async fn listing_around(store: &dyn PaginatedListStore, root: &str) -> object_store::Result<Listing> {
    let mut listing = Listing::new(root);
    let prefix = below(root);
    let (mut place, mut keys): (PaginatedListOptions, usize) = (PaginatedListOptions::default(), PAGE_KEYS);
    let mut odd: Vec<String> = Vec::new();
    loop {
        let options = PaginatedListOptions { max_keys: Some(keys), ..place.clone() };
        match store.list_paginated(prefix.as_deref(), options).await {
            Ok(page) => {
                for object in page.result.objects {
                    listing.add_file(root, object.location.as_ref(), Entry::File(Object::of(&object)));
                }
                if listing.files > MOST_FILES || page.page_token.is_none() {
                    break;
                }
                place = PaginatedListOptions { page_token: page.page_token, ..PaginatedListOptions::default() };
                if keys < PAGE_KEYS {
                    // What is left of the page that could not be read.
                    keys = (keys / 2).max(1);
                }
            }
            Err(error) => match odd_key(&error) {
                Some(_) if keys > 1 => keys /= 2,
                Some(key) if odd.len() < MOST_ODD_KEYS && odd.last() != Some(&key) => {
                    place = PaginatedListOptions { offset: Some(key.clone()), ..PaginatedListOptions::default() };
                    odd.push(key);
                    keys = PAGE_KEYS;
                }
                _ => return Err(error),
            },
        }
    }
    let named: Vec<String> = odd.iter().take(SHOWN_KEYS).map(|key| format!("{key:?}")).collect();
    let more = if odd.len() > SHOWN_KEYS { ", …" } else { "" };
    listing.add_problem(root, format!("keys that are no paths, left out: {}{more}", named.join(", ")));
    Ok(listing)
}

/// The key that is no path and for that a page cannot be read.
fn odd_key(error: &object_store::Error) -> Option<String> {
    match error {
        object_store::Error::InvalidPath { source: BadSegment { path, .. } | EmptySegment { path } } => {
            Some(path.clone())
        }
        _ => None,
    }
}

/// The lines of the list of a web server's folder `root`, each a path below it: its own, else what a list above it has there.
///
/// # Errors
/// Those of `root`'s own list where there is none above it, either.
pub(super) async fn web_list(store: &Arc<dyn ObjectStore>, root: &str) -> io::Result<Vec<String>> {
    let failed = match own_web_list(store, root).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        own => return own,
    };
    let mut folder = root;
    while !folder.is_empty() {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        if let Ok(lines) = own_web_list(store, folder).await {
            let below = format!("{}/", root[folder.len()..].trim_start_matches('/'));
            let lines: Vec<String> =
                lines.iter().filter_map(|line| line.strip_prefix(&below)).map(str::to_string).collect();
            return if lines.is_empty() { Err(failed) } else { Ok(lines) };
        }
    }
    Err(failed)
}

async fn own_web_list(store: &Arc<dyn ObjectStore>, root: &str) -> io::Result<Vec<String>> {
    let list = Key::parse(format!("{root}/{WEB_LIST}").trim_start_matches('/')).map_err(io::Error::other)?;
    let unlisted = |error: object_store::Error| {
        let reason = io_error(&error);
        let hint = format!("a folder on a web server is read by its list `{WEB_LIST}`, one path a line: {reason}");
        io::Error::new(reason.kind(), hint)
    };
    let answer = store.get(&list).await.map_err(unlisted)?;
    if answer.meta.size > LONGEST_LIST_BYTES {
        return Err(io::Error::other(format!("`{WEB_LIST}` is larger than {} MB", LONGEST_LIST_BYTES >> 20)));
    }
    let mut bytes = Vec::new();
    let mut stream = answer.into_stream();
    while let Some(chunk) = stream.next().await {
        bytes.extend_from_slice(&chunk.map_err(unlisted)?);
        if bytes.len() as u64 > LONGEST_LIST_BYTES {
            return Err(io::Error::other(format!("`{WEB_LIST}` is larger than {} MB", LONGEST_LIST_BYTES >> 20)));
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_string).collect())
}

/// What the list in the folder `root` of a web server names, with what the server says of each file.
pub(super) async fn web_listing(store: &Arc<dyn ObjectStore>, root: &str) -> io::Result<Listing> {
    let lines = web_list(store, root).await?;
    refuse_beyond(MOST_FILES, lines.len())?;
    let mut listing = Listing::new(root);
    let mut keys = Vec::new();
    for line in lines {
        match line.split('/').all(is_name) && !line.contains("://") {
            true => keys.push(format!("{root}/{line}").trim_start_matches('/').to_string()),
            false => {
                listing.add_problem(root, format!("`{WEB_LIST}` names `{line}`, which is no path below its folder"))
            }
        }
    }
    let heads = futures::stream::iter(keys).map(|key| async move {
        let entry = match Key::parse(&key) {
            Ok(place) => match store.head(&place).await {
                Ok(found) => Entry::File(Object::of(&found)),
                Err(error) => Entry::Unusable(io_error(&error).to_string()),
            },
            Err(error) => Entry::Unusable(error.to_string()),
        };
        (key, entry)
    });
    let found: Vec<(String, Entry)> = heads.buffer_unordered(AT_ONCE).collect().await;
    found.into_iter().for_each(|(key, entry)| listing.add_file(root, &key, entry));
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use object_store::list::PaginatedListResult;
    use object_store::{ListResult, ObjectMeta};

    use super::super::store::wait;
    use super::*;

    /// A store of these keys, in order, the most that it sends at once whatever it is asked for, and the requests that it was sent.
    struct Keys(Vec<String>, Option<usize>, Mutex<usize>);

    #[async_trait]
    impl PaginatedListStore for Keys {
        async fn list_paginated(
            &self,
            prefix: Option<&str>,
            options: PaginatedListOptions,
        ) -> object_store::Result<PaginatedListResult> {
            *self.2.lock().unwrap() += 1;
            let after = options.page_token.or(options.offset).unwrap_or_default();
            let below: Vec<&String> =
                self.0.iter().filter(|key| key.starts_with(prefix.unwrap_or_default()) && **key > after).collect();
            let page = &below[..below.len().min(self.1.unwrap_or(options.max_keys.unwrap()))];
            let object = |key: &&String| {
                let (location, last_modified) = (Key::parse(key)?, Default::default());
                Ok(ObjectMeta { location, last_modified, size: 1, e_tag: None, version: None })
            };
            let objects = page.iter().map(object).collect::<object_store::Result<_>>()?;
            let page_token = page.last().filter(|_| page.len() < below.len()).map(ToString::to_string);
            Ok(PaginatedListResult { result: ListResult { common_prefixes: Vec::new(), objects }, page_token })
        }
    }

    #[test]
    fn a_list_that_is_too_long_says_what_to_do() {
        assert!(refuse_beyond(3, 3).is_ok());
        let refused = refuse_beyond(3, 4).unwrap_err().to_string();
        assert!(refused.contains("more than 3 files") && refused.contains("index its folders one by one"), "{refused}");
    }

    #[test]
    fn keys_that_are_no_paths_hide_no_others() {
        let mut keys: Vec<String> = (0..2500).map(|number| format!("lake/{number:04}.csv")).collect();
        keys.extend(["lake/./b.csv", "lake/x/../evil.csv", "lake/0007/\t.csv", "lake/y//z.csv"].map(String::from));
        keys.extend(["lake/y/", "lake/y/a.csv", "lakes/c.csv"].map(String::from));
        keys.sort();
        let stubborn = Keys(keys.clone(), Some(1000), Mutex::new(0));
        assert!(!wait(async move { keeps_to_counts(&stubborn, "lake", "lake/./b.csv").await }).unwrap());
        let store = Arc::new(Keys(keys, None, Mutex::new(0)));
        let asked = Arc::clone(&store);
        let listing = wait(async move {
            assert!(keeps_to_counts(store.as_ref(), "lake", "lake/./b.csv").await);
            listing_around(store.as_ref(), "lake").await
        });
        let listing = listing.unwrap().unwrap();
        let (names, problem) = listing.names("lake").unwrap();
        assert_eq!(names.len(), 2501);
        assert_eq!(listing.names("lake/y").unwrap().0.len(), 1);
        let problem = problem.unwrap();
        for key in ["lake/./b.csv", "lake/x/../evil.csv", "lake/0007/\\t.csv", "lake/y//z.csv"] {
            assert!(problem.contains(&format!("\"{key}\"")), "{problem}");
        }
        let requests = *asked.2.lock().unwrap();
        assert!(requests < 80, "{requests}");
    }
}
