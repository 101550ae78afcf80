//! The lake for other agents, over the Model Context Protocol: tools that only read, on standard input and output or HTTP.
//!
//! Every answer is a page with counts ([`answer`]) of short items ([`cards`]); text of the lake is cleaned and said to be data. No tool takes a
//! path or an address, so none can be led out of the lake, and none writes.

mod answer;
mod cards;
mod conversations;
mod names;
mod queries;
mod resources;
mod searches;
mod server;
mod tables;

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::transport::stdio;

use super::Service;
use lakeward_core::error::{Error, Result};

pub use names::{query_table, table_id};
pub use searches::features;
pub use server::LakeServer;

/// Serves one client on standard input and output until it closes them; `queries` allows SQL.
///
/// # Errors
/// [`Error::Usage`] if the client does not speak the protocol.
pub fn serve_stdio(service: Arc<Service>, queries: bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::Internal(error.to_string()))?;
    runtime.block_on(async {
        let refused = |error: &dyn std::fmt::Display| Error::usage(format!("the client ended the connection: {error}"));
        let server = LakeServer::new(service, queries);
        let running = server.serve(stdio()).await.map_err(|error| refused(&error))?;
        running.waiting().await.map_err(|error| refused(&error))?;
        Ok(())
    })?;
    // A pending read of standard input must not keep the process.
    runtime.shutdown_background();
    Ok(())
}
