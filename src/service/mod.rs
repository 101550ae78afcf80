//! The lake as a service: its tools for other agents over the Model Context Protocol ([`mcp`]), and everything that the program
//! does with a lake over HTTP, with a page ([`http`]).
//!
//! Both call the façade and answer with its types. Work runs on a few threads with a bounded queue and deadlines ([`Workers`]), each
//! piece on the snapshot of the index that was current when it began ([`SharedLake`]). Nothing here prints, ranks, or writes to the lake;
//! over HTTP only sessions are written.
//!
//! Decided: *part of the program*: one binary, and the Python package does not carry it. *As many threads as
//! processors, with 32 places to wait for each*; who comes then is told 503. *Endpoints and their OpenAPI description
//! are one list.* *A loop of connections of our own on hyper*: axum's has no deadlines for headers and for clients
//! that do not read. *Any POST can be a job* (`jobs`), so forms of the page and JSON have the same progress, resume
//! and cancel; one that is cancelled while it changes a session changes nothing, as it is asked once more before the
//! session is saved. *The map has boxes by topic*: a force layout of 80 tables shows neither topics nor names; a line
//! is never more than `join` would say. *A cookie alone changes nothing* (`http::guard`): forms carry a token keyed
//! by it, scripts a header of ours. *The schema of a tool's answer leaves out its items* (`mcp`): with them the list
//! of tools has 35 KB, without 18.

mod failure;
pub mod http;
mod jobs;
pub mod mcp;
mod percent;
mod random_id;
mod shared_lake;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use lakeward::Lakeward;
use lakeward_core::error::Result;
use lakeward_operate::{LakeContext, Limits};

pub use failure::Failure;
pub use shared_lake::SharedLake;
pub use workers::{Stop, Workers};

/// What one query of a service may use: several run at once.
const QUERY_LIMITS: Limits = Limits { memory_bytes: 256 << 20, spill_bytes: 2 << 30 };

/// A lake with the threads that answer requests about it.
pub struct Service {
    lake: SharedLake,
    workers: Workers,
}

impl Service {
    /// A service of `lake`, with as many threads as there are processors.
    pub fn new(lake: Lakeward) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { lake: SharedLake::new(lake), workers: Workers::new(threads) }
    }

    pub fn lake(&self) -> &SharedLake {
        &self.lake
    }

    /// The threads.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// The outcome of `work` on the current snapshot of the lake, within `deadline`.
    ///
    /// # Errors
    /// [`Failure::Busy`] if too much is waiting, [`Failure::Late`] after `deadline`, and the error of `work`.
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        deadline: Duration,
        work: impl FnOnce(&Lakeward, &Stop) -> Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let service = Arc::clone(self);
        self.workers.run(deadline, move |stop| work(&service.lake.snapshot(), stop)).await
    }
}

/// A context for queries over the tables of `lake` that ends when `stop` says so. It has no function that reads a file.
///
/// # Errors
/// Those of [`Lakeward::context`].
pub fn query_context(lake: &Lakeward, stop: &Stop) -> Result<LakeContext> {
    let stop = stop.clone();
    Ok(lake.context(QUERY_LIMITS)?.stopping_when(move || stop.requested()))
}
