//! Catalogues of research data as publishers give them: their forms, their harvest, filters and questions over their records.

mod broken;
mod filters;
mod forms;
mod harvest;
mod languages;
pub(crate) mod oai_server;
mod questions;
mod shown;

use std::path::Path;
use std::process::Command;

use lakeward::{Lakeward, Place};
use lakeward_agent::Request;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_core::monitor::Silent;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_lake::metadata::TableMetadata;

/// Writes the made catalogue in every form below `folder`; false, with the reason printed, where there is no Python.
pub fn write_forms(folder: &Path, records: usize, broken: usize) -> bool {
    write_forms_with(folder, &["--records", &records.to_string(), "--broken", &broken.to_string()])
}

/// The same with these arguments of the script.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn write_forms_with(folder: &Path, arguments: &[&str]) -> bool {
    let script = Path::new(crate::REPOSITORY).join("scripts/catalogue_forms.py");
    match Command::new("python3").arg(script).arg(folder).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            eprintln!("skipped: there is no python3 here: {error}");
            false
        }
    }
}

/// An index of the lake at `folder`, without the model that reads whole texts.
fn indexed(folder: &Path) -> (Lakeward, BuildStats) {
    let place = Place { fast: true, ..Place::new(folder, None).expect("a place") };
    Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index")
}

fn say(lakeward: &Lakeward, session: &mut Session, text: &str) -> Recommendation {
    let request = Request { text: text.into(), k: 3, ..Request::default() };
    lakeward.ask(session, &request).expect("an answer").0.into_inner()
}

/// The metadata of the only dataset that `identifier` names, with its id.
fn named(lakeward: &Lakeward, identifier: &str) -> (String, TableMetadata) {
    let found = lakeward.resolve(identifier).expect("a resolution");
    assert_eq!(found.tables.len(), 1, "{identifier}: {}", found.explanation);
    let id = found.tables[0].table.clone();
    let index = lakeward.index();
    let dataset = index.dataset(index.find(&id).expect("a record")).expect("a dataset");
    (id, dataset.metadata().cloned().unwrap_or_default())
}
