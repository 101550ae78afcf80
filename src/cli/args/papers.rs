//! Arguments of `lakeward papers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct PapersCommand {
    #[command(subcommand)]
    pub what: PapersWhat,
}

#[derive(Debug, Subcommand)]
pub enum PapersWhat {
    /// Add documents: PDF, plain text, Markdown, or JSON lines with `title`, `abstract`, `text` and the like. Only what is new
    /// or changed is read; what failed is tried again.
    Add {
        /// Files, or folders whose files are added with those of all folders below.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Read all of them anew, also those that are as they were; removed ones come back.
        #[arg(long)]
        again: bool,
    },
    /// List the documents, and the files that could not be read.
    List {
        /// Only documents whose id or title contains this.
        containing: Option<String>,
    },
    /// Show a document: its sections and their text, and what was extracted from it.
    Show {
        /// Its id.
        id: String,
    },
    /// Find what documents say of data sets and tasks, by rules; only in what is new or changed. `lakeward graph build --papers`
    /// takes the file that this names.
    Extract {
        /// Look at all of them anew.
        #[arg(long)]
        again: bool,
    },
    /// Forget documents.
    Remove {
        /// Their ids.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}
