//! One writer at a time: an operating-system lock on a file that names its holder. The lock ends with the process, so a
//! killed writer leaves none behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use lakeward_core::error::{Error, Result};

const FILE_NAME: &str = "write.lock";

/// Held while an index is written.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl WriteLock {
    /// Takes the lock of the index folder `folder`.
    ///
    /// # Errors
    /// [`Error::Locked`] with the holder's process id when it is taken, [`Error::Io`] when the folder cannot be written.
    pub fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        let failed = |source| Error::io("create", &path, source);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match try_for_a_moment(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let known = file.read_to_string(&mut pid).is_ok() && !pid.trim().is_empty();
                let pid = if known { pid.trim().to_string() } else { "unknown".into() };
                return Err(Error::Locked { pid, path: folder.to_path_buf() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(std::process::id().to_string().as_bytes()))
            .map_err(failed)?;
        Ok(Self { _file: file })
    }
}

/// Takes the lock, or finds it held for a fifth of a second. A process that starts another one hands it its open files until
/// the other program is loaded, a released lock among them.
fn try_for_a_moment(file: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 10;
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            outcome => return outcome,
        }
    }
    file.try_lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_told_who_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = WriteLock::acquire(folder.path()).unwrap();
        match WriteLock::acquire(folder.path()) {
            Err(Error::Locked { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
            other => panic!("{other:?}"),
        }
        drop(first);
        WriteLock::acquire(folder.path()).unwrap();
    }
}
