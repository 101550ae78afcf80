//! Arguments of `lakeward cite` and `lakeward resolve`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CiteCommand {
    /// Ids of tables or records, or identifiers: a DOI, a CSTR, a handle, an ARK, a URL, `lakeward:…@…`.
    #[arg(required = true, num_args = 1.., value_name = "ID")]
    pub ids: Vec<String>,
    /// How to write the citations.
    #[arg(long, short, value_enum, default_value_t = CiteFormat::Text)]
    pub format: CiteFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiteFormat {
    /// One line, as DataCite recommends.
    Text,
    /// Entries for BibTeX and biblatex.
    Bibtex,
    /// A list of items for citation managers.
    CslJson,
    /// All three.
    All,
}

#[derive(Debug, Args)]
pub struct ResolveCommand {
    /// The identifier, in any common spelling, or the id of a table.
    #[arg(required = true, num_args = 1.., value_name = "ID")]
    pub id: Vec<String>,
}
