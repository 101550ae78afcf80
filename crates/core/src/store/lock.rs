//! One writer at a time: an operating-system lock on a file that names its holder. The lock ends with the process, so that a
//! killed writer leaves none behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::folder_of;
use crate::error::{Error, Result};

/// The lock of a folder with one writer.
const FILE_NAME: &str = "write.lock";
/// How long a lock that somebody holds is tried again: a process that starts another one hands it its open files until the other
/// program is loaded, a released lock among them.
const A_MOMENT: Duration = Duration::from_millis(200);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Held while something is written.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock `write.lock` of `folder`, at once or not at all.
    ///
    /// # Errors
    /// As [`FileLock::wait`].
    pub fn acquire(folder: &Path) -> Result<Self> {
        Self::acquire_file(&folder.join(FILE_NAME))
    }

    /// Takes the lock file `path`, at once or not at all.
    ///
    /// # Errors
    /// As [`FileLock::wait`].
    pub fn acquire_file(path: &Path) -> Result<Self> {
        Self::wait(path, A_MOMENT)
    }

    /// Takes the lock file `path`, which is made where there is none, as soon as its holder lets go; waits for `patience` at the
    /// most.
    ///
    /// # Errors
    /// [`Error::Locked`] with the folder and the holder's process id when the lock stays taken, [`Error::Io`] when the folder cannot
    /// be written.
    pub fn wait(path: &Path, patience: Duration) -> Result<Self> {
        let failed = |source| Error::io("create", path, source);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked { pid: holder(&mut file), path: folder_of(path).to_path_buf() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        // Only the message to others needs it: on a full disk the lock still holds.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
        Ok(Self { _file: file })
    }
}

/// The process id in a lock file. Nobody trusts it: it is shown, and cut.
fn holder(file: &mut File) -> String {
    const DIGITS: u64 = 20;
    let mut pid = String::new();
    let read = file.take(DIGITS).read_to_string(&mut pid);
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if read.is_ok() && is_number { pid } else { "unknown".into() }
}
