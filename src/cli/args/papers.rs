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
    /// Add documents: PDF, plain text, Markdown, or JSON lines with fields such as `title`, `abstract`, `text`. Only new or
    /// changed files are read; failed ones are tried again.
    Add {
        /// Files, or folders, which are read recursively.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Read all files again, also unchanged ones; removed documents come back.
        #[arg(long)]
        again: bool,
    },
    /// List the documents, and the files that could not be read.
    List {
        /// Only documents whose id or title contains this text.
        containing: Option<String>,
    },
    /// Show a document: its sections with their text, and the tasks and datasets extracted from it.
    Show {
        /// Its id.
        id: String,
    },
    /// Extract datasets and tasks from new or changed documents, by the configured language model or else by rules. A model
    /// is given title, abstract and up to 60 sentences about data, and must name the sentence of each dataset. `lakeward graph
    /// build` uses the result.
    Extract {
        /// Extract from all documents again.
        #[arg(long)]
        again: bool,
        /// Use rules even if a model is configured, and replace what a model extracted.
        #[arg(long)]
        rules: bool,
        /// Token budget of the language model for the whole run; the remaining documents are extracted by rules.
        #[arg(long, value_name = "N", conflicts_with = "rules")]
        tokens: Option<u64>,
        /// Money budget of the language model for the whole run, at the configured prices.
        #[arg(long, value_name = "AMOUNT", conflicts_with = "rules")]
        money: Option<f64>,
    },
    /// Remove documents.
    Remove {
        /// Their ids.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}
