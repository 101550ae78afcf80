//! A file of a store that is read in any order and fetched once: what came is kept in a temporary file.
//!
//! Requests are what costs, not bytes: a small file comes whole, and of a large one each request brings what is missing of the next
//! 16 MiB. A file that is too large to be kept is read through a window of that size.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures::StreamExt;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, GetResult, ObjectStore};
use tempfile::TempPath;

use super::listing::Object;
use super::store::{io_error, wait};

/// What is fetched or not, as a whole.
const BLOCK_BYTES: u64 = 64 << 10;
/// First fetched of a file: many are no larger, and of others only the start is looked at.
const FIRST_BYTES: u64 = 1 << 20;
/// Fetched by one further request.
const PIECE_BYTES: u64 = 16 << 20;
/// Larger files are not kept.
pub(super) const LARGEST_KEPT_BYTES: u64 = 4 << 30;
/// Times that a piece is fetched again where the store has broken off.
const RETRIES: usize = 3;

/// A temporary file in which files of a store have their places.
pub(super) struct Spool {
    file: Mutex<fs::File>,
    /// Where the next file begins.
    end: AtomicU64,
}

impl Spool {
    pub fn new() -> io::Result<Spool> {
        Ok(Spool { file: Mutex::new(tempfile::tempfile()?), end: AtomicU64::new(0) })
    }

    /// Bytes of all files that have a place here.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    fn at(&self, place: u64, act: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
        let mut file = self.file.lock().map_err(|_| super::poisoned())?;
        file.seek(SeekFrom::Start(place))?;
        act(&mut file)
    }
}

/// A file of a store.
pub struct RemoteFile {
    store: Arc<dyn ObjectStore>,
    key: Key,
    pub(super) object: Object,
    kept: Mutex<Kept>,
    /// Why it could not be fetched, the last time that it was not.
    failure: Mutex<Option<String>>,
    /// A copy of its own, for libraries that open paths.
    copy: OnceLock<TempPath>,
}

enum Kept {
    /// In the spool from this place on; and which blocks are there.
    Spooled(Arc<Spool>, u64, Vec<bool>),
    /// The last piece, and where it begins.
    Window(u64, Vec<u8>),
}

/// The body of an answer, which has to have `length` bytes.
pub(super) async fn body_of(answer: GetResult, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    let mut stream = answer.into_stream();
    while let Some(chunk) = stream.next().await {
        bytes.extend_from_slice(&chunk.map_err(|error| io_error(&error))?);
        if bytes.len() > length {
            break;
        }
    }
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the store broke off while it sent it")),
    }
}

impl RemoteFile {
    pub(super) fn new(store: Arc<dyn ObjectStore>, key: Key, object: Object, spool: &Arc<Spool>) -> RemoteFile {
        let kept = match object.bytes {
            bytes if bytes > LARGEST_KEPT_BYTES => Kept::Window(0, Vec::new()),
            bytes => {
                let blocks = usize::try_from(bytes.div_ceil(BLOCK_BYTES)).unwrap_or(0);
                Kept::Spooled(Arc::clone(spool), spool.end.fetch_add(bytes, Ordering::Relaxed), vec![false; blocks])
            }
        };
        RemoteFile { store, key, object, kept: Mutex::new(kept), failure: Mutex::default(), copy: OnceLock::new() }
    }

    /// Why it could not be fetched, if it could not.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().ok()?.clone()
    }

    /// Where a copy of it is, which is made once.
    ///
    /// # Errors
    /// As [`RemoteFile::read_at`].
    pub fn copy(self: &Arc<Self>) -> io::Result<&Path> {
        if let Some(copy) = self.copy.get() {
            return Ok(copy);
        }
        let mut copy = tempfile::NamedTempFile::new()?;
        io::copy(&mut super::File::Remote(Arc::clone(self), Arc::default()), &mut copy)?;
        Ok(self.copy.get_or_init(|| copy.into_temp_path()))
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.object.bytes
    }

    /// Reads bytes from `place` on; none at its end.
    ///
    /// # Errors
    /// Those of the store; that the file has changed.
    pub fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes().saturating_sub(place)).unwrap_or(usize::MAX);
        let most = usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX);
        let count = buffer.len().min(left).min(most);
        self.fill(place, &mut buffer[..count])?;
        Ok(count)
    }

    /// Reads the bytes from `place` on that fill `buffer`.
    ///
    /// # Errors
    /// As [`RemoteFile::read_at`], and where the file ends before.
    pub fn fill(&self, place: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = place.saturating_add(buffer.len() as u64);
        if end > self.bytes() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if buffer.is_empty() {
            return Ok(());
        }
        let mut kept = self.kept.lock().map_err(|_| super::poisoned())?;
        match &mut *kept {
            Kept::Spooled(spool, start, blocks) => {
                while let Some(missing) = missing(blocks, place..end, self.bytes()) {
                    let bytes = self.fetch(missing.clone())?;
                    spool.at(*start + missing.start, |file| file.write_all(&bytes))?;
                    let fetched = missing.start / BLOCK_BYTES..missing.end.div_ceil(BLOCK_BYTES);
                    fetched.for_each(|block| blocks[block as usize] = true);
                }
                spool.at(*start + place, |file| file.read_exact(buffer))
            }
            Kept::Window(start, piece) => {
                let mut done = 0;
                while done < buffer.len() {
                    let at = place + done as u64;
                    let inside = at.checked_sub(*start).and_then(|inside| usize::try_from(inside).ok());
                    let Some(rest) = inside.and_then(|inside| piece.get(inside..)).filter(|rest| !rest.is_empty())
                    else {
                        piece.clear();
                        *start = at;
                        *piece = self.fetch(at..self.bytes().min(at + PIECE_BYTES))?;
                        continue;
                    };
                    let count = rest.len().min(buffer.len() - done);
                    buffer[done..done + count].copy_from_slice(&rest[..count]);
                    done += count;
                }
                Ok(())
            }
        }
    }

    /// Fetches a piece of the file, which is the one that was listed.
    fn fetch(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut left = RETRIES;
        loop {
            let (store, key, asked) = (Arc::clone(&self.store), self.key.clone(), range.clone());
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                if_match: self.object.strong_etag(),
                ..GetOptions::default()
            };
            let listed = self.object.clone();
            let fetched = wait(async move {
                let answer = store.get_opts(&key, options).await.map_err(|error| io_error(&error))?;
                let found = Object::of(&answer.meta);
                // Not every server compares.
                if found != listed {
                    return Err(changed());
                }
                if answer.range != asked {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the store sent another part of it"));
                }
                let length = usize::try_from(asked.end - asked.start).map_err(io::Error::other)?;
                body_of(answer, length).await
            })?;
            match fetched {
                Err(error) if left > 0 && may_pass(&error) => left -= 1,
                fetched => {
                    if let Ok(mut failure) = self.failure.lock() {
                        *failure = fetched.as_ref().err().map(ToString::to_string);
                    }
                    return fetched;
                }
            }
        }
    }
}

/// Whether the same request may be answered otherwise: what the store refuses, it was asked often enough.
pub(super) fn may_pass(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

pub(super) fn changed() -> io::Error {
    io::Error::other("it has changed since it was listed")
}

/// The next bytes to fetch so that all of `asked` is there; `None` once it is.
fn missing(blocks: &[bool], asked: Range<u64>, bytes: u64) -> Option<Range<u64>> {
    // Whatever is wanted of a small file, all of it comes.
    let asked = if bytes <= FIRST_BYTES { 0..bytes } else { asked };
    let last = asked.end.div_ceil(BLOCK_BYTES);
    let first = (asked.start / BLOCK_BYTES..last).find(|block| !blocks[*block as usize])?;
    let most = if first == 0 { FIRST_BYTES } else { PIECE_BYTES };
    let most = first + most / BLOCK_BYTES;
    let end = (first + 1..most.min(blocks.len() as u64)).find(|block| blocks[*block as usize]);
    let end = end.unwrap_or(most) * BLOCK_BYTES;
    Some(first * BLOCK_BYTES..end.min(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_is_missing() {
        let mut blocks = vec![false; 1000];
        let bytes = 1000 * BLOCK_BYTES - 5;
        assert_eq!(missing(&blocks, 0..10, bytes), Some(0..FIRST_BYTES));
        assert_eq!(missing(&blocks, bytes - 8..bytes, bytes), Some(999 * BLOCK_BYTES..bytes));
        assert_eq!(
            missing(&[false; 3], 2 * BLOCK_BYTES..2 * BLOCK_BYTES + 8, 3 * BLOCK_BYTES),
            Some(0..3 * BLOCK_BYTES)
        );
        blocks[20] = true;
        assert_eq!(
            missing(&blocks, 17 * BLOCK_BYTES..30 * BLOCK_BYTES, bytes),
            Some(17 * BLOCK_BYTES..20 * BLOCK_BYTES)
        );
        assert_eq!(missing(&blocks, 20 * BLOCK_BYTES..21 * BLOCK_BYTES, bytes), None);
        assert_eq!(
            missing(&blocks, 20 * BLOCK_BYTES..22 * BLOCK_BYTES, bytes),
            Some(21 * BLOCK_BYTES..21 * BLOCK_BYTES + PIECE_BYTES)
        );
    }
}
