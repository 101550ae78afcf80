//! What all pages have in common: head, navigation, forms with their token, tables.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use serde::de::DeserializeOwned;

use super::fault::Fault;
use crate::messages::{self, say};
use crate::service::http::app::{App, Caller};
use crate::service::http::guard::Proof;
use crate::service::http::refusal::Refusal;
use lakeward_core::message::Message;
use lakeward_core::text::shown;

/// Characters of a text.
const TEXT: usize = 600;
/// Characters of a request.
const TYPED: usize = 4_000;

/// What the scripts say, in the order in which they take it.
const SCRIPT: [&str; 6] = [
    "Cancel",
    "Cancelling",
    "Cancelled; nothing was changed.",
    "Copy",
    "Copied",
    "Arrow keys go from table to table, Enter opens one, + and - change the size.",
];

/// Text of the lake, safe to show.
pub fn text(text: &str) -> String {
    shown(text, TEXT)
}

/// What somebody has typed, safe to show in the box that it was typed in.
pub fn typed(text: &str) -> String {
    text.lines().map(|line| shown(line, TYPED)).collect::<Vec<_>>().join("\n")
}

/// A message with pieces of the page filled in.
pub fn phrase(english: &'static str, parts: &[Markup]) -> Markup {
    let part = &mut |place: usize| parts.get(place).map(|part| part.0.clone()).unwrap_or_default();
    PreEscaped(messages::filled(say(english), part))
}

/// A message, with names, which stand in backticks, as code.
pub fn said(message: &Message) -> Markup {
    marked(&messages::in_language(message))
}

/// A text with names, which stand in backticks, as code.
pub fn marked(said: &str) -> Markup {
    let said = text(said);
    let parts: Vec<&str> = said.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) { (said) } @else {
            @for (place, part) in parts.iter().enumerate() { @if place % 2 == 1 { code { (part) } } @else { (part) } }
        }
    }
}

/// Who looks at a page, and the token of their forms.
pub struct Visitor {
    caller: Caller,
    token: String,
}

impl Deref for Visitor {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Visitor {
    /// The field that every form has.
    pub fn field(&self) -> Markup {
        html! { input type="hidden" name="token" value=(self.token); }
    }
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Fault> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let token = match parts.extensions.get::<Proof>() {
            Some(Proof::Cookie(cookie)) => app.users.form_token(cookie),
            // Without a cookie no other page can send a form in this user's name.
            _ => String::new(),
        };
        Ok(Self { caller, token })
    }
}

/// The fields of a form that our own page has sent.
pub struct Form<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Form<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Fault> {
        let proof = request.extensions().get::<Proof>().cloned();
        let refused = |error: String| Fault(Refusal::new(StatusCode::BAD_REQUEST, error, None));
        let body = axum::body::Bytes::from_request(request, app).await;
        let body = body.map_err(|error| Fault(Refusal::new(error.status(), error.body_text(), None)))?;
        let read = |error: axum::extract::rejection::FormRejection| refused(error.body_text());
        if let Some(Proof::Cookie(cookie)) = proof {
            let Fields { token } = fields(&body, app).await.map_err(read)?;
            if !app.users.is_form_token(&cookie, &token) {
                let hint = "load the page again and send the form from there";
                return Err(Refusal::new(StatusCode::FORBIDDEN, "the form is not from this page", Some(hint)).into());
            }
        }
        fields(&body, app).await.map(Form).map_err(read)
    }
}

#[derive(serde::Deserialize)]
struct Fields {
    #[serde(default)]
    token: String,
}

async fn fields<T: DeserializeOwned>(
    body: &axum::body::Bytes,
    app: &Arc<App>,
) -> Result<T, axum::extract::rejection::FormRejection> {
    let form = "application/x-www-form-urlencoded";
    let mut request = Request::new(axum::body::Body::from(body.clone()));
    *request.method_mut() = axum::http::Method::POST;
    request.headers_mut().insert(header::CONTENT_TYPE, axum::http::HeaderValue::from_static(form));
    axum::Form::<T>::from_request(request, app).await.map(|axum::Form(fields)| fields)
}

/// A whole page.
pub fn page(title: &str, visitor: Option<&Visitor>, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(messages::current().tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (text(title)) " · Lakeward" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                script type="module" src="/app.js" {}
            }
            body data-says=(SCRIPT.map(say).join("\n")) {
                a.skip href="#main" { (say("To the content")) }
                header {
                    nav aria-label=(say("Pages")) {
                        a.brand href="/" { "Lakeward" }
                        @if let Some(visitor) = visitor {
                            @for (address, name) in [("/", "Ask"), ("/search", "Search"), ("/map", "Map")] { a href=(address) { (say(name)) } }
                            form method="post" action="/logout" {
                                (visitor.field())
                                button.quiet { (say("Log out")) " " (visitor.user.shown()) }
                            }
                        }
                    }
                }
                main id="main" { (main) }
                @if visitor.is_some_and(|visitor| visitor.app.usage.is_some()) {
                    footer { (say("Requests, and which tables are opened, accepted and used for them, are kept beside the index of this lake; without names.")) }
                }
            }
        }
    }
}

/// A table that is wider than the screen at times, which its frame then scrolls.
pub fn grid(name: &str, heads: &[impl Render], rows: &[Vec<(String, bool)>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                caption { (name) }
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for (cell, number) in row { td.number[*number] { (cell) } } } } }
            }
        }
    }
}

/// The style sheet.
pub async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("style.css"))
}

/// What scripts add: progress of long work, copying, the map by keys.
pub async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("app.js"))
}
