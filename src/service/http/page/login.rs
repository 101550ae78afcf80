//! Trades a one-time code or a token for a cookie.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::fault::Fault;
use super::layout::{Form, page as whole, phrase, text};
use crate::messages::say;
use crate::service::http::app::App;
use crate::service::http::endpoint::Query;
use crate::service::http::guard::{Proof, cookie};
use crate::service::http::users::User;
use crate::service::percent::percent_encoded;

/// What an address of the login says.
#[derive(Default, Deserialize)]
pub struct Of {
    code: Option<String>,
    /// The page that was asked for.
    #[serde(default)]
    next: String,
    /// There is a cookie that is not known.
    ended: Option<String>,
}

#[derive(Deserialize)]
pub struct Token {
    secret: String,
    #[serde(default)]
    next: String,
}

/// The form, or the end of the way that begins with the printed address.
pub async fn page(
    State(app): State<Arc<App>>,
    proof: Option<Extension<Proof>>,
    headers: HeaderMap,
    Query(of): Query<Of>,
) -> Result<Response, Fault> {
    let Some(code) = &of.code else {
        let ended = say("You are not logged in any more: the service was started again, or half a day has passed.");
        return Ok(form(&app, of.ended.as_ref().map(|_| ended), &of.next).into_response());
    };
    match app.users.with_code(code) {
        Some(user) => logged_in(&app, user, &headers, &of.next),
        // Whoever opens the printed address again is there already.
        None if proof.is_some() => Ok(Redirect::to("/").into_response()),
        None => {
            let used = say("This address was used already or is not valid: an address is good once.");
            Ok((StatusCode::FORBIDDEN, form(&app, Some(used), &of.next)).into_response())
        }
    }
}

fn form(app: &App, warning: Option<&str>, next: &str) -> Markup {
    whole(
        say("Log in"),
        None,
        &html! {
            h1 { (say("Log in")) }
            @if let Some(warning) = warning { p.warn role="alert" { (warning) } }
            form method="post" action="/login" {
                @if let Some(next) = own_path(next) { input type="hidden" name="next" value=(text(next)); }
                label for="secret" { (say("Token")) }
                input id="secret" name="secret" type="password" autocomplete="current-password" required autofocus;
                p { button.main { (say("Log in")) } }
            }
            @if app.users.are_local() {
                p {
                    (phrase("The token stands in the terminal in which {} runs, after {}.", &[html! { code { "lakeward serve" } }, html! { code { "Authorization: Bearer" } }]))
                    " " (say("Each start of the service has a new one, and prints a new address that logs in without it."))
                }
            } @else {
                p { (say("Whoever runs the service has given you the token; their token file knows it by your name.")) }
            }
        },
    )
}

/// A path of this page, and no address of another place.
fn own_path(next: &str) -> Option<&str> {
    let is_own = next.len() <= 500
        && next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(['\\', '\n', '\r', '\t']);
    (is_own && next.is_ascii()).then_some(next)
}

/// Logs in with a token.
pub async fn with_token(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Form(of): Form<Token>,
) -> Result<Response, Fault> {
    match app.users.with_token(of.secret.trim()) {
        Some(user) => logged_in(&app, user, &headers, &of.next),
        None => Ok((StatusCode::FORBIDDEN, form(&app, Some(say("No user has this token.")), &of.next)).into_response()),
    }
}

/// The way of somebody who is not known to the page that was asked for.
pub fn unknown_user(app: &App, request: &Request) -> Response {
    let had = cookie(request.headers(), &app.cookie).is_some_and(|cookie| !cookie.is_empty());
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let lost =
            say("Nothing was done: you are not logged in any more. The service was started again, or half a day has \
                    passed. Log in, then send it again.");
        return (StatusCode::UNAUTHORIZED, form(app, Some(lost), "")).into_response();
    }
    let asked = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let mut parts = Vec::new();
    parts.extend(had.then(|| "ended=1".to_string()));
    parts.extend((asked != "/").then(|| format!("next={}", percent_encoded(asked))));
    let query = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
    Redirect::to(&format!("/login{query}")).into_response()
}

fn logged_in(app: &App, user: User, headers: &HeaderMap, next: &str) -> Result<Response, Fault> {
    // Behind a proxy with HTTPS the cookie is never sent without it.
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or_default();
    let secure = if origin.starts_with("https://") { "; Secure" } else { "" };
    let cookie = app.users.new_cookie(user).map_err(|error| app.refusal(&error.into()))?;
    let value = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}", app.cookie);
    Ok(with_cookie(Redirect::to(own_path(next).unwrap_or("/")), &value))
}

/// Ends the cookie.
pub async fn end(State(app): State<Arc<App>>, proof: Extension<Proof>, _: Form<Empty>) -> Response {
    if let Proof::Cookie(cookie) = &*proof {
        app.users.end_cookie(cookie);
    }
    with_cookie(Redirect::to("/login"), &format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", app.cookie))
}

/// A form of nothing but its token.
#[derive(Deserialize)]
pub struct Empty {}

fn with_cookie(to: Redirect, value: &str) -> Response {
    let mut response = to.into_response();
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_no_other_place() {
        for own in ["/", "/sessions/a?x=1#y", "/table?id=a%20b"] {
            assert_eq!(own_path(own), Some(own));
        }
        for other in ["", "//evil.example", "/\\evil.example", "https://evil.example", "evil", "/\t/evil.example"] {
            assert_eq!(own_path(other), None, "{other}");
        }
    }
}
