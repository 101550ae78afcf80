//! Figures of the service, in the text format of Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::service::Service;
use lakeward_core::error::{Error, Result};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

/// The figures.
pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Route, Histogram>,
    occupied: Gauge,
    jobs: Gauge,
    tables: Gauge,
    generation: Gauge<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("lakeward");
        let requests = Family::default();
        let histogram: fn() -> Histogram = || Histogram::new(exponential_buckets(0.002, 2.0, 15));
        let seconds = Family::new_with_constructor(histogram);
        let (occupied, jobs, tables, generation) =
            (Gauge::default(), Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit("answer", "Time to answer", Unit::Seconds, seconds.clone());
        registry.register("work", "Requests that are worked on or wait for a thread", occupied.clone());
        registry.register("jobs", "Jobs that have no answer yet", jobs.clone());
        registry.register("tables", "Tables and records in the index", tables.clone());
        registry.register("index_generation", "Number of the index's commits", generation.clone());
        Self { registry, requests, seconds, occupied, jobs, tables, generation }
    }
}

impl Metrics {
    /// Counts a request to `route`, a path with its parameters' names.
    pub fn count(&self, route: &str, status: u16, elapsed: Duration) {
        self.requests.get_or_create(&Answered { route: route.to_string(), status }).inc();
        self.seconds.get_or_create(&Route { route: route.to_string() }).observe(elapsed.as_secs_f64());
    }

    /// All figures as text, with the number of running `jobs`.
    ///
    /// # Errors
    /// [`Error::Internal`] if they cannot be written.
    pub fn text(&self, service: &Service, jobs: usize) -> Result<String> {
        let lake = service.lake().in_use();
        self.occupied.set(service.workers().occupied() as i64);
        self.jobs.set(jobs as i64);
        self.tables.set(lake.index().len() as i64);
        self.generation.set(lake.index().manifest().generation);
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(text)
    }
}
