//! `lakeward serve`: the lake over HTTP.

use std::sync::Arc;

use super::args::{Arguments, ServeCommand};
use super::{Status, lake, printer};
use crate::service::Service;
use crate::service::http::{self, ServeOptions};
use lakeward_core::error::Result;

/// Serves until the process is asked to stop.
pub fn run(arguments: &Arguments, command: &ServeCommand) -> Result<Status> {
    let lakeward = lake::open_with_model(arguments)?;
    let options = ServeOptions {
        listen: command.listen,
        token_file: command.token_file.clone(),
        hosts: command.host.clone(),
        queries: !command.no_query,
    };
    let quiet = arguments.quiet;
    let log = Box::new(move |line: &str| {
        if !quiet {
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
