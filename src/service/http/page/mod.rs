//! The page: HTML made on the server, of forms and links, so that it works without scripts; nothing comes from another place.
//!
//! maud escapes every text; [`text`] also takes out what could hide or reorder it.

mod answer;
mod command;
mod conversation;
mod dataset;
mod edit;
mod edit_fields;
mod fault;
mod fresh;
mod home;
mod layout;
mod login;
mod map;
mod memory;
mod preview;
mod result;
mod results;
mod search;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::app::App;

pub use fault::{as_page, as_pages, shows_pages};
pub use layout::text;
pub use login::unknown_user;

/// The routes of the page.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home::page))
        .route("/style.css", get(layout::style))
        .route("/app.js", get(layout::script))
        .route("/map", get(map::page))
        .route("/login", get(login::page).post(login::with_token))
        .route("/logout", post(login::end))
        .route("/ask", post(home::ask))
        .route("/search", get(search::page))
        .route("/table", get(dataset::page))
        .route("/sessions/{id}", get(conversation::page))
        .route("/sessions/{id}/ask", post(conversation::ask))
        .route("/sessions/{id}/choose", post(conversation::choose))
        .route("/sessions/{id}/preview", get(preview::page).post(preview::edited))
        .route("/sessions/{id}/result", get(result::page))
        .route("/sessions/{id}/forget", post(memory::forget))
        .route("/sessions/{id}/demand", post(memory::demand))
        .route("/sessions/{id}/run", post(preview::run))
        .route("/sessions/{id}/undo", post(conversation::undo))
        .route("/sessions/{id}/redo", post(conversation::redo))
}
