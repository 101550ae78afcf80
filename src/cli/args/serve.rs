//! Arguments of `serve` and `mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::messages::Language;
use lakeward_index::SearchShard;

#[derive(Debug, Args)]
pub struct ServeCommand {
    /// Where to listen; port 0 chooses a free one. An address that others reach needs `--token-file`.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8642")]
    pub listen: SocketAddr,
    /// Users with the SHA-256 of their tokens, in TOML: `[ana]`, `sha256 = "…"`, `rights = "read"` or `"write"`, and
    /// `requests_per_minute = N` and `model_tokens_per_day = N` for quotas.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Another name that the service is reached by, with its port if that is not 80 or 443.
    #[arg(long, value_name = "NAME[:PORT]")]
    pub host: Vec<String>,
    /// Open one shard of the index and answer the service in front of all of them: `0/10` to `9/10`.
    #[arg(long, value_name = "NUMBER/OF", value_parser = shard, conflicts_with = "shards")]
    pub shard: Option<SearchShard>,
    /// Open nothing and answer search, join and union from the shards at these addresses, in the order of their numbers. LAKEWARD_SHARD_TOKEN is the
    /// token that they know.
    #[arg(long, value_name = "URL,…", value_delimiter = ',', env = "LAKEWARD_SHARDS")]
    pub shards: Vec<String>,
    /// Leave out the agents' tool that runs SQL queries.
    #[arg(long)]
    pub no_query: bool,
    /// Language of the page; by default the one that the browser prefers.
    #[arg(long, value_enum, env = "LAKEWARD_LANGUAGE")]
    pub language: Option<Language>,
    /// Print a line for every request; by default only for those that are refused or fail.
    #[arg(long)]
    pub log_requests: bool,
}

fn shard(text: &str) -> Result<SearchShard, String> {
    let read = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let (number, of) =
        read.filter(|(number, of)| number < of).ok_or("write a number and how many: `0/10` to `9/10`")?;
    Ok(SearchShard { number, of })
}

#[derive(Debug, Args)]
pub struct McpCommand {
    /// Leave out the tool that runs SQL queries.
    #[arg(long)]
    pub no_query: bool,
}

#[derive(Debug, Args)]
pub struct UsageCommand {
    /// Remove all that was kept.
    #[arg(long)]
    pub forget: bool,
}
