//! Tables by words.

use std::sync::Arc;

use axum::extract::State;
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{Fault, Visitor, page as whole, text};
use crate::service::http::actions;
use crate::service::http::app::{App, LOOK};
use crate::service::http::endpoint::Query;
use crate::service::percent::percent_encoded;
use lakeward::SearchAnswer;
use lakeward::documents::Document;
use lakeward_core::text::counted;

/// What is looked for.
#[derive(Deserialize)]
pub struct Sought {
    #[serde(default)]
    q: String,
    k: Option<usize>,
}

/// The page.
pub async fn page(State(app): State<Arc<App>>, visitor: Visitor, Query(of): Query<Sought>) -> Result<Markup, Fault> {
    let words = of.q.clone();
    let found = match of.q.trim().is_empty() {
        true => None,
        false => Some(app.work(&visitor.user, LOOK, move |lake, _| actions::search(lake, &of.q, of.k)).await?),
    };
    Ok(whole(
        "Search",
        Some(&visitor),
        &html! {
            h1 { "Search" }
            form method="get" action="/search" role="search" {
                label for="q" { "Tables about" }
                input id="q" name="q" type="search" value=(words) required maxlength="1000";
                p { button { "Search" } }
            }
            @if let Some(found) = &found { (answers(found)) }
        },
    ))
}

fn answers(found: &Document<SearchAnswer>) -> Markup {
    html! {
        h2 { (counted(found.answers.len() as u64, "table")) }
        @if found.nothing_found {
            p class="warn" { "Nothing in the lake seems to answer this; these are but the nearest." }
        }
        ol class="answers" {
            @for answer in found.answers.iter() {
                li {
                    a href={ "/table?id=" (percent_encoded(&answer.table)) } { (text(&answer.title)) }
                    " – " code { (text(&answer.table)) }
                    @if let Some(rows) = answer.rows { ", " (counted(rows, "row")) } @else { " (catalogue record)" }
                    p class="why" { (text(&answer.reason)) }
                    @if let Some(relevance) = answer.relevance {
                        p class="why" { "Serves the request with probability " (format!("{relevance:.2}")) }
                    }
                }
            }
        }
    }
}
