//! How a folder of a store is listed: by one flat list of an object store, or by the list that a web server's folder has.

use std::io;
use std::sync::Arc;

use futures::StreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};

use super::address::is_name;
use super::listing::{Entry, Listing, Object};
use super::store::io_error;

/// The file that names the others of a folder on a web server.
pub(super) const WEB_LIST: &str = "index.txt";
/// A longer list is an error, in bytes.
const LONGEST_LIST_BYTES: u64 = 64 << 20;
/// More files of one lake are an error.
const MOST_FILES: usize = 2_000_000;
/// Requests to a web server at a time.
const AT_ONCE: usize = 8;

/// All that is below the folder `root`.
pub(super) async fn store_listing(store: &Arc<dyn ObjectStore>, root: &str) -> io::Result<Listing> {
    let prefix = Key::parse(root).map_err(io::Error::other)?;
    let mut listing = Listing::new(root);
    let mut found = store.list(Some(&prefix));
    let failed = loop {
        match found.next().await {
            Some(Ok(object)) => {
                listing.add_file(root, object.location.as_ref(), Entry::File(Object::of(&object)));
                if listing.files > MOST_FILES {
                    return Err(io::Error::other(format!("more than {MOST_FILES} files")));
                }
            }
            Some(Err(error)) => break error,
            None => return Ok(listing),
        }
    };
    // A folder that must not be listed, or a key that is no path, spoils the list of all: each folder is asked by itself.
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
        if listing.files > MOST_FILES {
            return Err(io::Error::other(format!("more than {MOST_FILES} files")));
        }
    }
    Ok(listing)
}

/// What the list in the folder `root` of a web server names, with what the server says of each file.
pub(super) async fn web_listing(store: &Arc<dyn ObjectStore>, root: &str) -> io::Result<Listing> {
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
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    if lines.len() > MOST_FILES {
        return Err(io::Error::other(format!("`{WEB_LIST}` names more than {MOST_FILES} files")));
    }
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
