//! `lakeward harvest` against a server that fails in every way that servers do.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::oai_server::{
    OaiServer, Reply, introduction, introduction_with, list, nth_page, page, page_asked, parameter, record,
};
use super::{indexed, named, write_forms};
use crate::place::{Run, lakeward};

const PAGES: usize = 5;
const EACH: usize = 20;

fn command(url: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = lakeward(["harvest", url, "--json", "--quiet", "--into"]);
    command.arg(folder).args(more);
    command
}

fn harvest(url: &str, folder: &Path, more: &[&str]) -> (i32, Value, String) {
    let pause: &[&str] = if more.contains(&"--pause") { &[] } else { &["--pause", "0"] };
    let Run { code, stdout, stderr } = Run::of(&mut command(url, folder, &[pause, more].concat()));
    (code, serde_json::from_str(&stdout).unwrap_or(Value::Null), stderr)
}

#[test]
fn a_repository_is_harvested_then_what_changed() {
    let server = OaiServer::start(|query, _| {
        introduction(query).unwrap_or_else(|| match parameter(query, "from") {
            Some(_) => {
                let gone = "<record><header status=\"deleted\"><identifier>oai:here:7</identifier></header></record>";
                list(&format!("{}{gone}{}", record(3, "Snow gauge"), record(500, "New gauge")), "")
            }
            None => nth_page(page_asked(query), PAGES, EACH),
        })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (code, stats, stderr) = harvest(&server.url, folder.path(), &["--pause", "0.05"]);
    assert_eq!((code, stats["records"].as_u64(), stats["pages"].as_u64()), (0, Some(100), Some(5)), "{stderr}");
    assert_eq!((stats["format"].as_str(), stats["complete"].as_bool()), (Some("oai_dc"), Some(true)));
    let times: Vec<Instant> = server.asked().into_iter().map(|(_, time)| time).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= Duration::from_millis(45)), "one at a time, with pauses");
    let (lakeward, built) = indexed(folder.path());
    assert_eq!((built.records, built.records_left_out), (100, 0), "{:?}", built.problems);
    assert_eq!(named(&lakeward, "10.5072/here.3").1.title.as_deref(), Some("Rain gauge 3"));
    assert_eq!(named(&lakeward, "oai:here:3").0, "oai:here:3");
    drop(lakeward);
    let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
    assert_eq!((code, stats["run"].as_u64(), stats["deleted"].as_u64()), (0, Some(2), Some(1)), "{stderr}");
    // In the precision of the server's dates.
    assert_eq!(stats["from"].as_str(), Some("2024-05-01"));
    let (lakeward, built) = indexed(folder.path());
    assert_eq!((built.records, built.records_replaced, built.records_deleted), (100, 1, 1), "{:?}", built.problems);
    // One that comes again is of another page.
    assert_eq!((built.added, built.removed, built.unchanged), (2, 2, 98), "{built:?}");
    assert_eq!(named(&lakeward, "oai:here:3").1.title.as_deref(), Some("Snow gauge 3"));
    // Of another repository, in the same folder: nothing is mixed.
    let (code, _, stderr) = harvest(&format!("{}2", server.url), folder.path(), &[]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("use another folder"), "{stderr}");
}

#[test]
fn the_richest_format_of_a_set_is_harvested() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 40, 0) {
        return;
    }
    let text = fs::read_to_string(folder.path().join("oai-datacite/oai_datacite.xml")).expect("a file");
    let records: Vec<String> = text
        .split_inclusive("</record>")
        .filter_map(|part| Some(part[part.find("<record>")?..].to_string()))
        .map(|record| record.replace("</header>", "<setSpec>soil</setSpec></header>"))
        .collect();
    assert_eq!(records.len(), 40);
    let server = OaiServer::start(move |query, _| {
        let formats = ["oai_dc", "oai_datacite", "marc21"];
        introduction_with(query, &formats).unwrap_or_else(|| match (page_asked(query), parameter(query, "set")) {
            (0, set) if set != Some("soil") => Reply::of(page("<error code=\"noRecordsMatch\">no such set</error>")),
            (0, _) => list(&records[..25].concat(), "page-1"),
            _ => list(&records[25..].concat(), ""),
        })
    });
    let harvested = folder.path().join("harvested");
    let (code, stats, stderr) = harvest(&server.url, &harvested, &["--set", "soil"]);
    assert_eq!(
        (code, stats["format"].as_str(), stats["records"].as_u64()),
        (0, Some("oai_datacite"), Some(40)),
        "{stderr}"
    );
    let asked: Vec<String> = server.asked().into_iter().map(|(query, _)| query).collect();
    let first = asked.iter().find(|query| query.contains("metadataPrefix")).expect("a list");
    assert_eq!((parameter(first, "metadataPrefix"), parameter(first, "set")), (Some("oai_datacite"), Some("soil")));
    // A token says it all: nothing beside it is allowed.
    let next = asked.last().expect("a list");
    assert!(parameter(next, "set").is_none() && parameter(next, "metadataPrefix").is_none(), "{next}");
    let (lakeward, built) = indexed(&harvested);
    assert_eq!((built.records, built.records_left_out), (40, 0), "{:?}", built.problems);
    // What only the richer format says.
    let (_, metadata) = named(&lakeward, "10.5072/made.7");
    assert_eq!(metadata.version.as_deref(), Some("V4"));
    assert!(
        metadata.facets.iter().any(|facet| facet.field == "set" && facet.values == ["soil"]),
        "{:?}",
        metadata.facets
    );
    // Another set is another harvest, and the format can be chosen.
    let (code, _, stderr) = harvest(&server.url, &harvested, &["--set", "snow"]);
    assert_eq!(code, 2, "{stderr}");
    let (code, stats, stderr) =
        harvest(&server.url, &folder.path().join("none"), &["--set", "snow", "--format", "oai_dc"]);
    // Nothing was found, and that is all there is.
    assert_eq!((code, stats["records"].as_u64(), stats["complete"].as_bool()), (0, Some(0), Some(true)), "{stderr}");
    assert_eq!(
        server.asked().last().and_then(|(query, _)| parameter(query, "metadataPrefix").map(str::to_string)).as_deref(),
        Some("oai_dc")
    );
}

#[test]
fn a_harvest_with_nothing_new_is_complete() {
    let server = OaiServer::start(|query, _| {
        introduction(query).unwrap_or_else(|| match parameter(query, "from") {
            Some(_) => Reply::of(page("<error code=\"noRecordsMatch\">nothing</error>")),
            None => nth_page(page_asked(query), 1, EACH),
        })
    });
    let folder = tempfile::tempdir().expect("a folder");
    for (run, records) in [(1, EACH as u64), (2, 0), (3, 0)] {
        let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
        assert_eq!((code, stats["complete"].as_bool()), (0, Some(true)), "{stderr} {stats}");
        assert_eq!((stats["run"].as_u64(), stats["records"].as_u64()), (Some(run), Some(records)), "{stats}");
    }
}

#[test]
fn faults_on_the_way_are_overcome() {
    let server = OaiServer::start(|query, before| {
        introduction(query).unwrap_or_else(|| {
            let whole = nth_page(page_asked(query), PAGES, EACH);
            match before {
                // The first two requests are the introduction.
                2 => Reply {
                    status: "503 Service Unavailable",
                    headers: "Retry-After: 1\r\n".into(),
                    ..Reply::of("busy")
                },
                4 => Reply { cut: Some(whole.body.len() / 2), ..whole },
                6 => Reply::of(whole.body[..whole.body.len() / 2].to_string()),
                8 => Reply::of("<html><body>Down for maintenance</body></html>"),
                _ => whole,
            }
        })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
    assert_eq!((code, &stats["records"], &stats["retries"]), (0, &100.into(), &4.into()), "{stderr} {stats}");
    let asked = server.asked();
    assert!(asked[3].1 - asked[2].1 >= Duration::from_millis(950), "it waits as long as it is asked to");
    assert_eq!(indexed(folder.path()).1.records, 100);
}

#[test]
fn a_token_that_is_forgotten_begins_the_list_anew() {
    let server = OaiServer::start(|query, before| {
        introduction(query).unwrap_or_else(|| match page_asked(query) {
            2 if before < 6 => Reply::of(page("<error code=\"badResumptionToken\">expired</error>")),
            number => nth_page(number, PAGES, EACH),
        })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
    assert_eq!((code, stats["complete"].as_bool()), (0, Some(true)), "{stderr} {stats}");
    let (_, built) = indexed(folder.path());
    assert_eq!((built.records, built.records_left_out), (100, 0), "{:?}", built.problems);
}

#[test]
fn a_list_without_end_is_an_error() {
    for changes in [false, true] {
        let server = OaiServer::start(move |query, before| {
            introduction(query).unwrap_or_else(|| {
                let token = if changes { format!("token-{before}") } else { "the-same".to_string() };
                let records: String = (0..EACH).map(|number| record(number, "Rain gauge")).collect();
                list(&records, &token)
            })
        });
        let folder = tempfile::tempdir().expect("a folder");
        let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
        assert_eq!(code, 4, "{stderr}");
        assert!(stats["ended"].as_str().is_some_and(|why| why.contains("does not end")), "{stats}");
        assert!(server.asked().len() < 10, "{}", server.asked().len());
        // What came is kept.
        assert_eq!(indexed(folder.path()).1.records, EACH as u64);
    }
}

#[test]
fn a_server_that_is_none_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = OaiServer::start(|_, _| Reply { status: "404 Not Found", ..Reply::of("no") });
    let (code, _, stderr) = harvest(&missing.url, &folder.path().join("a"), &[]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("404"), "{stderr}");
    let patient = OaiServer::start(|_, _| Reply {
        status: "503 Wait",
        headers: "Retry-After: 999999\r\n".into(),
        ..Reply::of("")
    });
    let (code, _, stderr) = harvest(&patient.url, &folder.path().join("b"), &[]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("asks to wait 999999 s"), "{stderr}");
    for url in ["ftp://here/oai", "nonsense", "http://"] {
        assert_eq!(harvest(url, &folder.path().join("c"), &[]).0, 2, "{url}");
    }
    let elsewhere = OaiServer::start(|_, _| Reply {
        status: "302 Found",
        headers: "Location: http://192.0.2.1/oai\r\n".into(),
        ..Reply::of("")
    });
    assert_eq!(harvest(&elsewhere.url, &folder.path().join("d"), &[]).0, 3, "another server is not followed to");
}

#[cfg(unix)]
#[test]
fn a_harvest_that_is_killed_goes_on_where_it_was() {
    let server =
        OaiServer::start(|query, _| introduction(query).unwrap_or_else(|| nth_page(page_asked(query), PAGES, EACH)));
    let folder = tempfile::tempdir().expect("a folder");
    let mut killed = command(&server.url, folder.path(), &["--pause", "0.3"]).spawn().expect("a process");
    let stored = folder.path().join("run-0001/000002.xml");
    let started = Instant::now();
    while !stored.exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().expect("killed with SIGKILL");
    killed.wait().expect("an end");
    let before = server.asked().len();
    let (code, stats, stderr) = harvest(&server.url, folder.path(), &[]);
    assert_eq!((code, &stats["resumed"], &stats["complete"]), (0, &true.into(), &true.into()), "{stderr}");
    let (query, _) = server.asked()[before].clone();
    assert!(page_asked(&query) >= 1, "it goes on from a token and asks for nothing else: {query}");
    let pages = fs::read_dir(folder.path().join("run-0001")).expect("a folder").count();
    assert_eq!(pages, PAGES);
    assert_eq!(indexed(folder.path()).1.records, 100);
}
