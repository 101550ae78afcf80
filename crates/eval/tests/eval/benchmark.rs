//! Benchmark folders of `LAKEWARD_BENCH`.

#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::path::{Path, PathBuf};

/// The folder of a benchmark; says why where there is none.
pub fn bench(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return None;
    };
    let folder = Path::new(&root).join(name);
    if !folder.is_dir() {
        println!("skipped: no benchmark `{name}` in LAKEWARD_BENCH");
        return None;
    }
    Some(folder)
}
