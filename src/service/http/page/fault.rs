//! What cannot be done, on a page with the same navigation as all others, with the nearest names as links and the way back.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::layout::{Visitor, marked, page, phrase};
use crate::messages::{in_language, say};
use crate::service::http::app::App;
use crate::service::http::refusal::{Notice, Refusal};
use crate::service::percent::{percent_decoded, percent_encoded};

/// Nearest names that are offered.
const OFFERED: usize = 5;

/// A refusal as a page, whatever the client accepts.
#[derive(Debug)]
pub struct Fault(pub Refusal);

/// Marks the response of a [`Fault`].
#[derive(Debug, Clone)]
struct AsPage;

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.extensions_mut().insert(AsPage);
        response
    }
}

/// Makes pages of refusals: those of the page itself, and all for clients that show pages to people.
pub async fn as_pages(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let visitor = Visitor::from_request_parts(&mut parts, &app).await.ok();
    let (is_shown, at) = (shows_pages(&parts.headers), parts.uri.clone());
    let response = next.run(Request::from_parts(parts, body)).await;
    as_page(response, is_shown, visitor.as_ref(), &at)
}

/// Whether the client is a browser that shows what it gets.
pub fn shows_pages(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|it| it.contains("text/html"))
}

/// `response` to a request for `at` as a page, if it is a refusal and the client shows pages.
pub fn as_page(mut response: Response, is_shown: bool, visitor: Option<&Visitor>, at: &Uri) -> Response {
    let is_page = response.extensions_mut().remove::<AsPage>().is_some();
    let Some(refused) = response.extensions_mut().remove::<Notice>().filter(|_| is_page || is_shown) else {
        return response;
    };
    let main = html! {
        h1 { (say("This could not be done")) }
        (alert(&refused))
        (nearest_addresses(&refused, at))
        @match conversation_of(at).filter(|_| response.status() != StatusCode::NOT_FOUND) {
            Some(id) => p { a href={ "/sessions/" (id) } { (say("← Back to the conversation")) } },
            None => p { (phrase("{}, {} or look at the {}.", &[
                html! { a href="/" { (say("Ask")) } }, html! { a href="/search" { (say("search")) } }, html! { a href="/map" { (say("map")) } },
            ])) },
        }
    };
    let page = (response.status(), page(say("Not done"), visitor, &main)).into_response();
    let mut headers = page.headers().clone();
    // Headers as programs get them.
    for name in [header::RETRY_AFTER, header::WWW_AUTHENTICATE] {
        if let Some(value) = response.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let mut page = page;
    *page.headers_mut() = headers;
    page
}

/// What failed and what to do next; the nearest names are offered apart from it.
pub fn alert(refused: &Notice) -> Markup {
    html! {
        div.warn role="alert" {
            p { (marked(&capitalised(&in_language(&refused.error)))) (say(".")) }
            @if let (Some(hint), None) = (&refused.hint, &refused.unknown) { p { (marked(&capitalised(&in_language(hint)))) (say(".")) } }
        }
    }
}

/// A message as a sentence without its end.
pub fn capitalised(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// The nearest names, each as `offer` shows it; nothing where none is near.
pub fn nearest(refused: &Notice, offer: impl Fn(&str) -> Markup) -> Markup {
    html! {
        @if let Some((_, names)) = refused.unknown.as_ref().filter(|(_, names)| !names.is_empty()) {
            div.row { span { (say("Did you mean")) } @for name in names.iter().take(OFFERED) { (offer(name)) } }
        }
    }
}

/// The address that was asked for with each of the nearest names in place of the one that is not known.
fn nearest_addresses(refused: &Notice, at: &Uri) -> Markup {
    let Some((typed, _)) = &refused.unknown else { return html! {} };
    let with = |name: &str| {
        let pairs = at.query().unwrap_or_default().split('&').map(|pair| {
            let (field, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decoded(&value.replace('+', " ")).unwrap_or_default();
            let value = if value.trim() == typed { name } else { &value };
            format!("{field}={}", percent_encoded(value))
        });
        format!("{}?{}", at.path(), pairs.collect::<Vec<_>>().join("&"))
    };
    let is_conversation = conversation_of(at).is_some_and(|id| id == *typed);
    nearest(refused, |name| {
        let address = if is_conversation { format!("/sessions/{}", percent_encoded(name)) } else { with(name) };
        html! { a.button href=(address) { (super::text(name)) } }
    })
}

/// The conversation that an address is about.
fn conversation_of(at: &Uri) -> Option<&str> {
    let id = at.path().strip_prefix("/sessions/")?.split('/').next()?;
    (!id.is_empty()).then_some(id)
}
