//! `lakeward mcp`: the lake's tools for one client on standard input and output.

use std::sync::Arc;

use super::args::{Arguments, McpCommand};
use super::{Status, lake};
use crate::service::{Service, mcp};
use lakeward_core::error::Result;

/// Serves until the client closes standard input.
pub fn run(arguments: &Arguments, command: &McpCommand) -> Result<Status> {
    let lakeward = lake::open_with_model(arguments)?;
    mcp::serve_stdio(Arc::new(Service::new(lakeward)), !command.no_query)?;
    Ok(Status::Done)
}
