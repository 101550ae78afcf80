//! The lake over HTTP: JSON with the types of `--json`, the tools for agents at `/mcp`, and a page.
//!
//! [`guard`](guard::guard) stands before everything; [`connections`] bounds what a client can hold. On this machine there is one user; on
//! other addresses a token file names them. HTTPS is the business of a proxy in front.

mod actions;
mod api;
mod app;
mod background;
mod chart;
mod connections;
mod download;
mod endpoint;
mod guard;
mod lake_map;
mod metrics;
mod page;
mod refusal;
mod shards;
mod users;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

use super::Service;
use super::mcp::LakeServer;
use crate::messages::{self, Language};
pub use app::RequestLog;

use app::App;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use refusal::Refusal;
use users::Users;

/// Bytes of a request's body.
const MOST_BODY_BYTES: usize = 1 << 20;
/// Time for each part of a request's body to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where to listen; port 0 chooses one.
    pub listen: SocketAddr,
    /// Users other than that of this machine.
    pub token_file: Option<PathBuf>,
    /// Further names that the service is reached by, with the port where it is not 80 or 443.
    pub hosts: Vec<String>,
    /// Whether agents may run SQL.
    pub queries: bool,
    /// The language of the page, whatever browsers prefer.
    pub language: Option<Language>,
    /// Addresses of the shards that answer, in the order of their numbers, and the token that they know.
    pub shards: (Vec<String>, Option<String>),
}

/// Where the service is reached.
#[derive(Debug, Clone)]
pub struct Address {
    /// The address of the page; on this machine with a code that is good once.
    pub page: String,
    /// The token for other programs of this machine.
    pub token: Option<String>,
}

/// Serves until the process is asked to stop (Ctrl-C, SIGTERM); answers in flight are finished. `announce` is told the address, and `log`
/// one line for each request with the status of its answer.
///
/// # Errors
/// [`Error::Usage`] for an address that cannot be listened on, or that others reach while there is no token file.
pub fn serve(
    service: Arc<Service>,
    options: &ServeOptions,
    announce: impl FnOnce(&Address),
    log: RequestLog,
) -> Result<()> {
    let (users, secrets) = match &options.token_file {
        Some(path) => (Users::of_file(path)?, None),
        None if options.listen.ip().is_loopback() => {
            let (users, secrets) = Users::local()?;
            (users, Some(secrets))
        }
        None => {
            let ip = options.listen.ip();
            return Err(Error::usage(format!(
                "others reach `{ip}`: name the users with `--token-file FILE`, or listen on 127.0.0.1"
            )));
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Error::Internal(error.to_string()))?.block_on(async {
        let taken = |error| Error::usage(format!("cannot listen on `{}`: {error}", options.listen));
        let listener = TcpListener::bind(options.listen).await.map_err(taken)?;
        let own = listener.local_addr().map_err(taken)?;
        let hosts = hosts(own, &options.hosts);
        let code = secrets.as_ref().map(|secrets| format!("?code={}", secrets.code)).unwrap_or_default();
        let address =
            Address { page: format!("http://{own}/login{code}"), token: secrets.map(|secrets| secrets.token) };
        let app = Arc::new(App::new(service, users, (hosts, own.port()), log)?);
        let router = router(Arc::clone(&app), options)?;
        let stop = stop_signal()?;
        announce(&address);
        connections::serve(listener, router, stop).await;
        // Whoever watched them is gone.
        app.jobs.cancel();
        Ok(())
    })
}

/// The values of `Host` by which `own` is reached.
fn hosts(own: SocketAddr, further: &[String]) -> BTreeSet<String> {
    let port = own.port();
    let mut hosts: BTreeSet<String> = further.iter().map(|host| host.to_ascii_lowercase()).collect();
    hosts.insert(own.to_string());
    if own.ip().is_loopback() {
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    hosts
}

/// Ends when the process is asked to stop.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(async move {
        #[cfg(unix)]
        let other = terminate.recv();
        #[cfg(not(unix))]
        let other = std::future::pending::<()>();
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = other => {}
        }
    })
}

/// Answers in the language that is set, else in the one that the browser prefers.
async fn in_language(State(set): State<Option<Language>>, request: Request, next: Next) -> Response {
    let header = request.headers().get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let language = set.unwrap_or_else(|| Language::accepted(header.unwrap_or_default()));
    messages::within(language, next.run(request)).await
}

/// The paths of the service: of an index in shards, those of a shard or of the service in front of them alone.
fn router(app: Arc<App>, options: &ServeOptions) -> Result<Router> {
    let (addresses, token) = &options.shards;
    let router = match app.service.lake().in_use().place().shard {
        None => whole(&app, options),
        Some(_) => {
            let router = match addresses.is_empty() {
                true => shards::of_shard(),
                false => shards::Shards::new(addresses, token.clone())?.routes(),
            };
            router.route("/healthz", get(healthz)).route("/metrics", get(metrics)).fallback(in_shards)
        }
    };
    let mut router = router
        .layer(CatchPanicLayer::custom(panicked))
        .layer(RequestBodyTimeoutLayer::new(BODY_WITHIN))
        .layer(from_fn_with_state(Arc::clone(&app), guard::guard))
        .layer(from_fn_with_state(options.language, in_language));
    for (name, value) in guard::HEADERS {
        router = router.layer(SetResponseHeaderLayer::overriding(name, value));
    }
    Ok(router.with_state(app))
}

/// The paths of a service of a whole index.
fn whole(app: &Arc<App>, options: &ServeOptions) -> Router<Arc<App>> {
    let endpoints = api::endpoints();
    let document = Arc::new(endpoint::openapi(&endpoints));
    let mut router: Router<Arc<App>> = page::routes()
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .route("/api/v1/openapi.json", get(move || async move { Json((*document).clone()) }));
    for endpoint in endpoints {
        router = router.route(endpoint.path, endpoint.handler);
    }
    router
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .layer(RequestBodyLimitLayer::new(MOST_BODY_BYTES))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), page::as_pages))
        .layer(from_fn_with_state(Arc::clone(app), background::in_background))
        // It has a limit of its own.
        .route_service("/mcp", mcp(app, options.queries))
}

/// The tools for agents; hosts and origins are checked here too, should the guard be taken away.
fn mcp(app: &App, queries: bool) -> StreamableHttpService<LakeServer, LocalSessionManager> {
    let server = LakeServer::new(Arc::clone(&app.service), queries);
    let origins = app.hosts.iter().flat_map(|host| [format!("http://{host}"), format!("https://{host}")]);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(app.hosts.iter().cloned())
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(MOST_BODY_BYTES);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn metrics(State(app): State<Arc<App>>) -> Result<String, Refusal> {
    app.metrics.text(&app.service, app.jobs.running()).map_err(|error| app.refusal(&error.into()))
}

async fn unknown() -> Refusal {
    let mut refusal = Refusal::new(StatusCode::NOT_FOUND, message!("there is nothing at this path"), None);
    refusal.document.error.hint = Some(message!("`/api/v1/openapi.json` lists the paths"));
    refusal
}

async fn in_shards() -> Refusal {
    let hint = "search, join and union are there where `lakeward serve --shards` runs; all else needs the whole index in one process";
    Refusal::new(StatusCode::NOT_FOUND, "the index is served in shards, and there is nothing at this path", Some(hint))
}

async fn not_allowed() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this path has no such method", None)
}

/// What the panic said is for the log of the process, not for clients.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    let failure = super::Failure::from(Error::Internal("the request ended early".into()));
    Refusal::of(&failure, std::path::Path::new("")).into_response()
}
