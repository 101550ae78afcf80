//! Trades a one-time code or a token for a cookie.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

use super::layout::{Fault, Form, page as whole};
use crate::service::http::app::App;
use crate::service::http::endpoint::Query;
use crate::service::http::guard::Proof;
use crate::service::http::refusal::Refusal;
use crate::service::http::users::User;

#[derive(Deserialize)]
pub struct Code {
    code: Option<String>,
}

#[derive(Deserialize)]
pub struct Token {
    secret: String,
}

/// The form, or the end of the way that begins with the printed address.
pub async fn page(State(app): State<Arc<App>>, headers: HeaderMap, Query(of): Query<Code>) -> Result<Response, Fault> {
    if let Some(code) = of.code {
        let user = app.users.with_code(&code).ok_or_else(|| {
            let hint = "an address is good once; start the service again, or log in with a token";
            Refusal::new(StatusCode::FORBIDDEN, "this address was used or is not valid", Some(hint))
        })?;
        return logged_in(&app, user, &headers);
    }
    let form = whole(
        "Log in",
        None,
        &html! {
            h1 { "Log in" }
            form method="post" action="/login" {
                label for="secret" { "Token" }
                input id="secret" name="secret" type="password" autocomplete="current-password" required;
                p { button { "Log in" } }
            }
        },
    );
    Ok(form.into_response())
}

/// Logs in with a token.
pub async fn with_token(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Form(of): Form<Token>,
) -> Result<Response, Fault> {
    let user = app.users.with_token(of.secret.trim());
    let user = user.ok_or_else(|| Refusal::new(StatusCode::FORBIDDEN, "no user has this token", None))?;
    logged_in(&app, user, &headers)
}

fn logged_in(app: &App, user: User, headers: &HeaderMap) -> Result<Response, Fault> {
    // Behind a proxy with HTTPS the cookie is never sent without it.
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or_default();
    let secure = if origin.starts_with("https://") { "; Secure" } else { "" };
    let cookie = app.users.new_cookie(user).map_err(|error| app.refusal(&error.into()))?;
    let value = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}", app.cookie);
    Ok(with_cookie(Redirect::to("/"), &value))
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
