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
    /// Find what documents say of data sets and tasks, by the language model that is configured, else by rules; only in what is
    /// new or changed. A model is told title, abstract and up to 60 sentences that speak of data, and has to name the sentence
    /// of each data set. `lakeward graph build` takes what was found.
    Extract {
        /// Look at all of them anew.
        #[arg(long)]
        again: bool,
        /// By rules, also where a model is configured; what a model has made is made anew.
        #[arg(long)]
        rules: bool,
        /// Tokens that the language model may use in all; the documents left get what the rules find.
        #[arg(long, value_name = "N", conflicts_with = "rules")]
        tokens: Option<u64>,
        /// Money that the language model may cost in all, at the prices of the settings.
        #[arg(long, value_name = "AMOUNT", conflicts_with = "rules")]
        money: Option<f64>,
    },
    /// Forget documents.
    Remove {
        /// Their ids.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}
