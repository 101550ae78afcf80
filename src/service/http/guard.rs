//! What every request passes before a handler sees it: the host it was sent to, the page it comes from, who sends it, how often.
//!
//! A page of a stranger can send requests to this machine from a browser. It cannot choose `Host` (which alone reveals DNS rebinding), nor
//! `Origin`, nor read the cookie, which browsers do not send along with requests from other sites.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::page;
use super::refusal::Refusal;
use super::users::User;

/// Headers of every answer.
pub const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Paths that need no user.
const OPEN: [&str; 4] = ["/healthz", "/login", "/style.css", "/app.js"];
/// The header that scripts of our own page send, and a form of another page cannot.
pub const OWN_HEADER: &str = "x-lakeward";

/// How a request proved who sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A token in a header.
    Token,
    Cookie(String),
}

/// Lets a request through to its handler, or refuses it; counts and logs it.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_string();
    let mut name = "-".to_string();
    let (is_shown, at) = (page::shows_pages(request.headers()), request.uri().clone());
    let response = match admitted(&app, &request) {
        Ok(found) => {
            if let Some((user, proof)) = found {
                name = user.shown().to_string();
                request.extensions_mut().insert(user);
                request.extensions_mut().insert(proof);
            }
            next.run(request).await
        }
        Err(response) => page::as_page(*response, is_shown, None, &at),
    };
    let (status, elapsed) = (response.status().as_u16(), started.elapsed());
    app.metrics.count(&route, status, elapsed);
    // The path without its parameters: they may hold secrets.
    let path: String = path.chars().filter(|c| !c.is_control()).take(200).collect();
    (app.log)(&format!("{name} {method} {path} {status} {:.1} ms", elapsed.as_secs_f64() * 1000.0), status);
    response
}

/// The user who sends `request`, `None` where none is needed.
fn admitted(app: &App, request: &Request) -> Result<Option<(User, Proof)>, Box<Response>> {
    let (headers, path) = (request.headers(), request.uri().path());
    let refused = |refusal: Refusal| Box::new(refusal.into_response());
    check_host(app, request).map_err(refused)?;
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    check_origin(app, headers, reads).map_err(refused)?;
    let found = identified(app, headers);
    if !reads && !path.starts_with("/login") && matches!(found, Some((_, Proof::Cookie(_)))) {
        check_own(headers).map_err(refused)?;
    }
    let Some((user, proof)) = found else {
        return match OPEN.contains(&path) {
            true => Ok(None),
            false => Err(Box::new(unknown_user(app, request))),
        };
    };
    app.users.count(&user).map_err(|wait| {
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests in this minute", None);
        refused(refusal.after(wait))
    })?;
    Ok(Some((user, proof)))
}

fn check_host(app: &App, request: &Request) -> Result<(), Refusal> {
    let mut values = request.headers().get_all(header::HOST).iter();
    let host = match (values.next(), values.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    // A request to a proxy names the host in its first line too.
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let known = |host: &str| app.hosts.contains(&host.to_ascii_lowercase());
    if host.is_some_and(known) && authority.is_none_or(known) {
        return Ok(());
    }
    let hint = "`lakeward serve --host NAME` answers to another name";
    Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "this service does not answer to this host", Some(hint)))
}

/// A browser names the page that sends a request, except with plain reading.
fn check_origin(app: &App, headers: &HeaderMap, reads: bool) -> Result<(), Refusal> {
    let refused = |what: &str| Err(Refusal::new(StatusCode::FORBIDDEN, what, None));
    match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) => {
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            match host.is_some_and(|host| app.hosts.contains(&host.to_ascii_lowercase())) {
                true => Ok(()),
                false => refused("requests from pages of other sites are refused"),
            }
        }
        None if reads || headers.contains_key(header::AUTHORIZATION) => Ok(()),
        None => refused("a request that is not GET needs `Origin`, or a token in `Authorization`"),
    }
}

/// A request with a cookie that changes something is a form with its token, which its handler checks, or has our header.
fn check_own(headers: &HeaderMap) -> Result<(), Refusal> {
    let content = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if content.starts_with("application/x-www-form-urlencoded") || headers.contains_key(OWN_HEADER) {
        return Ok(());
    }
    let what = format!("a request with a cookie needs the header `{OWN_HEADER}`");
    Err(Refusal::new(StatusCode::FORBIDDEN, what, None))
}

fn identified(app: &App, headers: &HeaderMap) -> Option<(User, Proof)> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let user = app.users.with_token(token.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"))?;
        return Some((user, Proof::Token));
    }
    let cookie = cookie(headers, &app.cookie)?;
    Some((app.users.with_cookie(&cookie)?, Proof::Cookie(cookie)))
}

/// The value of a cookie.
pub fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(other, _)| *other == name).map(|(_, value)| value.to_string())
}

/// People are led to the login, programs told.
fn unknown_user(app: &App, request: &Request) -> Response {
    if page::shows_pages(request.headers()) {
        return page::unknown_user(app, request);
    }
    let hint = "send `Authorization: Bearer TOKEN`, or open the address that the service printed";
    Refusal::new(StatusCode::UNAUTHORIZED, "no user is known by this token or cookie", Some(hint)).into_response()
}
