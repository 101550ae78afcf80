//! Memory that packed sections are unpacked into.
//!
//! For a large section it is a map of a file without a name: as with the files of an index, the system can take back what is not in use, by
//! writing it there. The space of the file is reserved first, and what is unpacked is written by a call and not through the map, so that a full
//! disk is an error at the worst and never a signal.

use std::fs::File;

use memmap2::{MmapMut, MmapRaw};

use lakeward_core::error::{Error, Result};

/// Sections of fewer bytes are not worth a file.
const LEAST_FILE_BYTES: usize = 1 << 20;
/// What Linux calls a huge page.
const LARGE_PAGE: usize = 2 << 20;

/// As many bytes as a section has unpacked.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) map: MmapRaw,
    /// The file behind a map that can only be read.
    pub(super) file: Option<File>,
}

impl Unpacked {
    /// Memory for so many bytes.
    pub(super) fn of(bytes: usize) -> Result<Self> {
        let in_file = if bytes >= LEAST_FILE_BYTES { Self::in_file(bytes) } else { None };
        in_file.map_or_else(|| Self::anonymous(bytes), Ok)
    }

    /// In a file; `None` where there is no disk for it.
    #[cfg(target_os = "linux")]
    fn in_file(bytes: usize) -> Option<Self> {
        use nix::fcntl::{FallocateFlags, fallocate};
        use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};

        let file = tempfile::tempfile().ok()?;
        if fstatfs(&file).ok()?.filesystem_type() == TMPFS_MAGIC {
            return None;
        }
        fallocate(&file, FallocateFlags::empty(), 0, i64::try_from(bytes).ok()?).ok()?;
        let map = memmap2::MmapOptions::new().len(bytes).map_raw_read_only(&file).ok()?;
        // What is read again after the system took it back lies here and there.
        map.advise(memmap2::Advice::Random).ok()?;
        Some(Self { map, file: Some(file) })
    }

    #[cfg(not(target_os = "linux"))]
    fn in_file(_bytes: usize) -> Option<Self> {
        None
    }

    fn anonymous(bytes: usize) -> Result<Self> {
        // Small pages that are never written take no memory; but to get them one by one takes as long as to unpack them.
        let is_large = bytes >= LARGE_PAGE / 2;
        let bytes = if is_large { bytes.next_multiple_of(LARGE_PAGE) } else { bytes };
        let map = MmapMut::map_anon(bytes)
            .map_err(|error| Error::Internal(format!("no memory for {bytes} bytes of an index: {error}")))?;
        #[cfg(target_os = "linux")]
        if is_large {
            // A system without large pages has small ones.
            map.advise(memmap2::Advice::HugePage).ok();
        }
        Ok(Self { map: map.into(), file: None })
    }
}

/// Writes a part of a section into the file behind its memory.
#[cfg(target_os = "linux")]
pub(super) fn write(file: &File, bytes: &[u8], at: usize) -> Result<()> {
    let written = std::os::unix::fs::FileExt::write_all_at(file, bytes, at as u64);
    written.map_err(|error| Error::io("write", &std::env::temp_dir(), error))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn write(_file: &File, _bytes: &[u8], _at: usize) -> Result<()> {
    Err(Error::Internal("a section of an index in a file".into()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_is_written_to_the_file_is_in_the_map() {
        assert!(Unpacked::of(LEAST_FILE_BYTES - 1).unwrap().file.is_none());
        // On a tmpfs there is none.
        let Some(memory) = Unpacked::in_file(LEAST_FILE_BYTES) else { return };
        memory.file.as_ref().unwrap().write_all_at(&[7; 5000], 9000).unwrap();
        assert_eq!(memory.map.len(), LEAST_FILE_BYTES);
        // SAFETY: the bytes are inside the map, and nobody writes them any more.
        let bytes = unsafe { std::slice::from_raw_parts(memory.map.as_ptr(), memory.map.len()) };
        assert_eq!(bytes.iter().filter(|byte| **byte == 7).count(), 5000);
        assert_eq!(bytes[9000..14_000], [7; 5000]);
    }
}
