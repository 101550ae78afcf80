//! One writer at a time: an operating-system lock on a file that contains the holder's process id. The lock ends with the process, so a
//! killed writer leaves none behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::folder_of;
use crate::error::{Error, Result};

/// The lock file of a folder.
const FILE_NAME: &str = "write.lock";
/// How long to retry a lock that is held: while a process starts another program, the child briefly inherits its open files, including a
/// lock that was just released.
const RETRY_TIME: Duration = Duration::from_millis(200);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// A held lock.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Acquires the lock `write.lock` of `folder` at once, or fails.
    ///
    /// # Errors
    /// As [`FileLock::wait`].
    pub fn acquire(folder: &Path) -> Result<Self> {
        Self::acquire_file(&folder.join(FILE_NAME))
    }

    /// Acquires the lock file `path` at once, or fails.
    ///
    /// # Errors
    /// As [`FileLock::wait`].
    pub fn acquire_file(path: &Path) -> Result<Self> {
        Self::wait(path, RETRY_TIME)
    }

    /// Acquires the lock file `path`, creating it if missing, as soon as it is free; waits at most `patience`.
    ///
    /// # Errors
    /// [`Error::Locked`] with the folder and the holder's process id if the lock is still held, [`Error::Io`] if the folder cannot be
    /// written.
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
        // The process id is only for messages: the lock holds even if the disk is full.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
        Ok(Self { _file: file })
    }
}

/// The process id in a lock file. It is untrusted: only digits are accepted, at most 20.
fn holder(file: &mut File) -> String {
    const DIGITS: u64 = 20;
    let mut pid = String::new();
    let read = file.take(DIGITS).read_to_string(&mut pid);
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if read.is_ok() && is_number { pid } else { "unknown".into() }
}
