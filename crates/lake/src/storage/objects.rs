//! Objects of a store below one address, read and written by name: what an index in a store is made of. Lakes are never written.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, WriteMultipart};

use super::address::{Address, Kind};
use super::listing::Object;
use super::remote_file::{body_of, may_pass};
use super::store::{Store, io_error, wait};

/// Larger files are sent in parts of this size, each from memory.
const PART_BYTES: usize = 64 << 20;
/// Times that an object or a list is asked for again where the store has broken off.
const RETRIES: usize = 3;

/// The answer of `ask`, which is asked again where the store has broken off.
fn persistently<T>(ask: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut left = RETRIES;
    loop {
        match ask() {
            Err(error) if left > 0 && may_pass(&error) => left -= 1,
            answered => return answered,
        }
    }
}

/// The objects below an address.
pub struct Objects {
    address: PathBuf,
    root: String,
    inner: Arc<dyn ObjectStore>,
}

/// An object as a store lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name below the address.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What the store calls its content, without quotes.
    pub etag: Option<String>,
    /// When it was last written, in seconds since 1970 by the store's clock.
    pub written_seconds: i64,
}

impl Objects {
    /// The objects below `address`.
    ///
    /// # Errors
    /// For a path of this machine or a web server, which cannot be written; where the settings in the environment are wrong.
    pub fn at(address: &Path) -> io::Result<Objects> {
        let found = match Address::of(address)? {
            Some(Address { kind: Kind::Web, .. }) => Err("a web server is only read"),
            Some(found) => Ok(found),
            None => Err("it is no address of a store"),
        };
        let found = found.map_err(|reason| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
        let store = Store::of(&found)?;
        Ok(Objects { address: address.to_path_buf(), root: found.key, inner: store.objects() })
    }

    /// The address.
    pub fn address(&self) -> &Path {
        &self.address
    }

    fn key(&self, name: &str) -> io::Result<Key> {
        Key::parse(format!("{}/{name}", self.root).trim_start_matches('/')).map_err(io::Error::other)
    }

    /// The objects in `folder` and below by name; only those after the name `after`, if one is given.
    ///
    /// # Errors
    /// Those of the store.
    pub fn list(&self, folder: &str, after: Option<&str>) -> io::Result<Vec<Listed>> {
        let (prefix, start) = (self.key(folder)?, self.key("")?);
        let after = after.map(|name| self.key(name)).transpose()?;
        let found = persistently(|| {
            let (inner, prefix, after) = (Arc::clone(&self.inner), prefix.clone(), after.clone());
            wait(async move {
                let found = match &after {
                    Some(after) => inner.list_with_offset(Some(&prefix), after),
                    None => inner.list(Some(&prefix)),
                };
                found.try_collect::<Vec<_>>().await.map_err(|error| io_error(&error))
            })?
        })?;
        let named = found.into_iter().filter_map(|found| {
            let name = found.location.as_ref().strip_prefix(start.as_ref())?.trim_start_matches('/').to_string();
            let Object { bytes, etag, modified_seconds: written_seconds } = Object::of(&found);
            Some(Listed { name, bytes, etag, written_seconds })
        });
        let mut listed: Vec<Listed> = named.collect();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    /// The content of an object; `None` where there is none of this name.
    ///
    /// # Errors
    /// Those of the store; for an object of more than `most_bytes`.
    pub fn get(&self, name: &str, most_bytes: usize) -> io::Result<Option<Vec<u8>>> {
        match self.fetch(name, None, most_bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            fetched => fetched.map(Some),
        }
    }

    /// A part of an object.
    ///
    /// # Errors
    /// Those of the store; where it does not send this part.
    pub fn range(&self, name: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
        self.fetch(name, Some(range), length)
    }

    fn fetch(&self, name: &str, range: Option<Range<u64>>, most_bytes: usize) -> io::Result<Vec<u8>> {
        let key = self.key(name)?;
        persistently(|| {
            let (inner, key, range) = (Arc::clone(&self.inner), key.clone(), range.clone());
            let options = GetOptions { range: range.clone().map(GetRange::Bounded), ..GetOptions::default() };
            wait(async move {
                let answer = inner.get_opts(&key, options).await.map_err(|error| io_error(&error))?;
                if range.is_some_and(|range| range != answer.range) {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the store sent another part of it"));
                }
                let length = usize::try_from(answer.range.end - answer.range.start).map_err(io::Error::other)?;
                if length > most_bytes {
                    return Err(io::Error::other(format!("it has {length} bytes, more than {most_bytes}")));
                }
                body_of(answer, length).await
            })?
        })
    }

    /// Writes an object, in place of one of the same name.
    ///
    /// # Errors
    /// Those of the store.
    pub fn put(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        let (inner, key) = (Arc::clone(&self.inner), self.key(name)?);
        wait(async move { inner.put(&key, bytes.into()).await.map(|_| ()).map_err(|error| io_error(&error)) })?
    }

    /// Writes the content of a file of this machine as [`put`](Self::put) does.
    ///
    /// # Errors
    /// Those of the store and of the operating system.
    pub fn put_file(&self, name: &str, path: &Path) -> io::Result<()> {
        let mut file = std::fs::File::open(path)?;
        let mut part = next_part(&mut file)?;
        if part.len() < PART_BYTES {
            return self.put(name, part);
        }
        let (inner, key) = (Arc::clone(&self.inner), self.key(name)?);
        wait(async move {
            let upload = inner.put_multipart(&key).await.map_err(|error| io_error(&error))?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
            while !part.is_empty() {
                upload.wait_for_capacity(1).await.map_err(|error| io_error(&error))?;
                upload.put(Bytes::from(part));
                part = next_part(&mut file)?;
            }
            upload.finish().await.map(|_| ()).map_err(|error| io_error(&error))
        })?
    }

    /// Writes an object if there is none of this name; false if there is. Only a store that keeps to the condition is to be trusted in
    /// this. After an error it may have been written.
    ///
    /// # Errors
    /// Those of the store.
    pub fn create(&self, name: &str, bytes: Vec<u8>) -> io::Result<bool> {
        let (inner, key) = (Arc::clone(&self.inner), self.key(name)?);
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        wait(async move {
            match inner.put_opts(&key, bytes.into(), options).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
                Err(error) => Err(io_error(&error)),
            }
        })?
    }

    /// Removes objects; that one is not there is no error.
    ///
    /// # Errors
    /// Those of the store.
    pub fn remove(&self, names: &[String]) -> io::Result<()> {
        let inner = Arc::clone(&self.inner);
        let keys: Vec<Key> = names.iter().map(|name| self.key(name)).collect::<io::Result<_>>()?;
        wait(async move {
            let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
            let mut removed = inner.delete_stream(keys);
            while let Some(one) = removed.next().await {
                match one {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(io_error(&error)),
                }
            }
            Ok(())
        })?
    }
}

fn next_part(file: &mut std::fs::File) -> io::Result<Vec<u8>> {
    let mut part = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut part)?;
    Ok(part)
}
