//! Records that are broken in every way, in every form: named and counted, and none lost silently.

use std::path::Path;

use super::{named, write_forms};
use lakeward::{Lakeward, Place};
use lakeward_core::monitor::Silent;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_lake::metadata::UnusedReason;

/// Broken records of each form; of each of eight ways 50, but that two of the first way are too long instead.
const BROKEN: u64 = 400;
const OF_A_WAY: u64 = BROKEN / 8;
const LONG: u64 = 2;

/// What a form comes to: records left out, and what stands in the documents' place where it is no record of anything.
struct Outcome {
    form: &'static str,
    left_out: u64,
    no_records: u64,
    /// What is said of those that are left out.
    said: &'static [&'static str],
    /// Records without an id that are kept, and with entities.
    nameless: u64,
    entities: u64,
}

impl Outcome {
    /// Of JSON: what is no record and what follows no standard is left out.
    const fn json(form: &'static str) -> Self {
        let said = &["records in all cannot be used"];
        Self { form, left_out: 2 * OF_A_WAY, no_records: 0, said, nameless: OF_A_WAY, entities: 0 }
    }

    /// Of a graph, in which anything may stand beside datasets.
    const fn graph(form: &'static str) -> Self {
        Self { left_out: 0, no_records: 2 * OF_A_WAY, said: &[], ..Self::json(form) }
    }

    /// Of XML: what is closed otherwise than it was opened and what has neither title nor description is left out.
    const fn xml(form: &'static str) -> Self {
        let said = &["`title` is closed by `xtitle`", "neither title nor description"];
        Self { left_out: 2 * OF_A_WAY - LONG, said, entities: OF_A_WAY, ..Self::json(form) }
    }

    /// Of OAI-PMH, which also says what the metadata follow.
    const fn oai(form: &'static str) -> Self {
        let said = &["`title` is closed by `xtitle`", "neither title nor description", "no standard known"];
        Self { left_out: 3 * OF_A_WAY - LONG, said, ..Self::xml(form) }
    }
}

const OUTCOMES: [Outcome; 12] = [
    // A line has to have an id.
    Outcome {
        left_out: 3 * OF_A_WAY,
        nameless: 0,
        said: &["not valid JSON", "it has no `id`", "its `id` is empty", "lines in all hold no record"],
        ..Outcome::json("own")
    },
    Outcome::json("ckan"),
    Outcome::json("dcat"),
    Outcome::graph("dcat-ap"),
    Outcome::graph("schema-org"),
    Outcome::json("datacite-json"),
    Outcome::xml("datacite-xml"),
    Outcome::oai("oai-dc"),
    Outcome::oai("oai-datacite"),
    Outcome::json("dataverse"),
    Outcome {
        said: &["`CharacterString` is closed by `xCharacterString`", "neither title nor description"],
        ..Outcome::xml("iso-19115")
    },
    Outcome::json("science-db"),
];

/// The index of a folder of records. A file of lines whose first are broken is not known to be of records by itself, and is named.
fn indexed_as_records(folder: &Path) -> (Lakeward, BuildStats) {
    let place = Place { fast: true, ..Place::new(folder, None).expect("a place") };
    let lines = folder.join("records.jsonl");
    let options = BuildOptions { records: lines.exists().then_some(lines), ..BuildOptions::default() };
    Lakeward::build(place, &options, &Silent).expect("an index")
}

#[test]
fn broken_records_of_every_form_are_named_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 1, BROKEN as usize) {
        return;
    }
    let mut wrong = Vec::new();
    for expected in OUTCOMES {
        let Outcome { form, .. } = expected;
        let (lakeward, stats) = indexed_as_records(&folder.path().join("broken").join(form));
        let mut is = |what: &str, found: u64, expected: u64| {
            if found != expected {
                wrong.push(format!(
                    "{form}: {what} {found}, expected {expected}: {:?} {:?}",
                    stats.problems, stats.record_flaws
                ));
            }
        };
        is("left out", stats.records_left_out, expected.left_out);
        is("records", stats.records, BROKEN + 1 - expected.left_out - expected.no_records);
        let counted =
            |reason| stats.record_flaws.iter().find(|flaw| flaw.reason == reason).map_or(0, |flaw| flaw.records);
        is("no dates", counted(UnusedReason::NoDate), OF_A_WAY);
        is("hidden characters", counted(UnusedReason::HiddenCharacters), OF_A_WAY);
        // Science Data Bank writes all its abstracts in markup.
        let in_markup = form == "science-db";
        is("markup", counted(UnusedReason::Markup), if in_markup { stats.records } else { OF_A_WAY });
        is("cycles", counted(UnusedReason::Cycle), OF_A_WAY);
        is("too long", counted(UnusedReason::Cut), LONG);
        is("without an id", counted(UnusedReason::NoId), expected.nameless);
        is("entities", counted(UnusedReason::Entity), expected.entities);
        let said = stats.problems.iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>().join("\n");
        for reason in expected.said.iter().filter(|reason| !said.contains(**reason)) {
            wrong.push(format!("{form}: `{reason}` is not said: {said}"));
        }
        // The one that is whole is read after all of them.
        let (_, whole) = named(&lakeward, &format!("10.5072/made.{BROKEN}"));
        assert!(
            whole.unused.iter().all(|unused| {
                unused.reason == UnusedReason::UnknownField || in_markup && unused.reason == UnusedReason::Markup
            }),
            "{form}: {:?}",
            whole.unused
        );
        let (_, long) = named(&lakeward, "10.5072/made.200");
        assert!(long.description.is_some_and(|text| text.len() <= 16 << 10), "{form}");
        let (_, turned) = named(&lakeward, "10.5072/made.3");
        let title = turned.title.expect("a title");
        assert!(!title.contains('<') && !title.contains('\u{202E}'), "{form}: {title}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
