//! `lakeward serve`: the lake over HTTP.

use std::sync::Arc;

use super::args::{Arguments, ServeCommand};
use super::{Status, lake, printer};
use crate::service::Service;
use crate::service::http::{self, ServeOptions};
use lakeward::{Lakeward, Place};
use lakeward_core::error::{Error, Result};
use lakeward_index::SearchShard;

/// Statuses from here on are errors.
const LEAST_ERROR: u16 = 400;

/// Serves until the process is asked to stop.
pub fn run(arguments: &Arguments, command: &ServeCommand) -> Result<Status> {
    let place = lake::place(arguments, None)?;
    let shards = command.shards.len() as u32;
    let shard = command.shard.or((shards > 0).then_some(SearchShard { number: shards, of: shards }));
    if !arguments.quiet && shard.is_none() && matches!(Lakeward::open_at(place.clone()), Err(Error::NoIndex { .. })) {
        let (lake, index) = (place.lake.display(), place.index.display());
        printer::narrate(&format!(
            "indexing `{lake}` before it is served; the index is kept in `{index}` for later starts"
        ));
    }
    let lakeward = match shard {
        Some(_) => Lakeward::open_at(Place { shard, ..place })?,
        None => lake::open_with_model(arguments)?,
    };
    let options = ServeOptions {
        listen: command.listen,
        token_file: command.token_file.clone(),
        hosts: command.host.clone(),
        queries: !command.no_query,
        language: command.language,
        shards: (command.shards.clone(), std::env::var("LAKEWARD_SHARD_TOKEN").ok()),
    };
    let (quiet, all) = (arguments.quiet, command.log_requests);
    let log = Box::new(move |line: &str, status: u16| {
        if !quiet && (all || status >= LEAST_ERROR) {
            printer::narrate(line);
        }
    });
    let announce = |address: &http::Address| {
        printer::line(&address.page);
        if let Some(token) = &address.token {
            printer::note("the address is good once; other programs send this header, also to `/mcp`:");
            printer::note(&format!("Authorization: Bearer {token}"));
        }
    };
    http::serve(Arc::new(Service::new(lakeward)), &options, announce, log)?;
    Ok(Status::Done)
}
