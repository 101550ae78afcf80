//! One catalogue in twelve forms: the same records, found by the same questions, as far as a form has the fields.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use super::{indexed, named, say, write_forms};
use lakeward_lake::metadata::TableMetadata;

const RECORDS: usize = 64;

fn facet<'m>(metadata: &'m TableMetadata, field: &str) -> Vec<&'m str> {
    let facets = metadata.facets.iter().filter(|facet| facet.field.starts_with(field));
    facets.flat_map(|facet| facet.values.iter().map(String::as_str)).collect()
}

/// What `metadata` says other than `truth`, but for the fields that its form cannot say.
fn differences(truth: &Value, metadata: &TableMetadata, cannot: &[String]) -> Vec<String> {
    let text = |name: &str| truth[name].as_str().unwrap_or_default().to_string();
    let level =
        |name: &str| truth[name].as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_string()));
    let bytes = truth["file"]["bytes"].as_u64().unwrap_or_default();
    let format = truth["file"]["format"].as_str().unwrap_or_default();
    let year = |date: String| date[..4].parse::<i32>().ok();
    let begins = |own: &Option<String>, date: &str| own.as_ref().is_some_and(|own| own.starts_with(date));
    let paper = metadata.related.first().and_then(|work| work.identifier.clone()).unwrap_or_default();
    let relation = metadata.related.first().and_then(|work| work.relation.clone());
    let path = level("taxonomy").collect::<Vec<_>>().join(" > ");
    let size = format!("{bytes} bytes");
    let checks = [
        ("title", metadata.title.as_ref() == Some(&text("title"))),
        ("abstract", metadata.description.as_ref().is_some_and(|own| own.starts_with(&text("abstract")))),
        ("method", metadata.method.as_ref() == Some(&text("method"))),
        ("keywords", level("keywords").all(|tag| metadata.tags.contains(&tag))),
        ("taxonomy", level("taxonomy").all(|tag| metadata.tags.contains(&tag))),
        ("levels", facet(metadata, "taxonomy").contains(&path.as_str())),
        ("institution", level("institution").all(|name| facet(metadata, "institution").contains(&name.as_str()))),
        ("apart", !facet(metadata, "institution").contains(&text("publisher").as_str())),
        ("no person", !facet(metadata, "institution").contains(&text("creator").as_str())),
        ("creator", facet(metadata, "creator").contains(&text("creator").as_str())),
        ("publisher", metadata.publisher.as_ref() == Some(&text("publisher"))),
        ("licence", metadata.licence.as_ref() == Some(&text("licence"))),
        ("published", begins(&metadata.issued, &text("published"))),
        ("updated", begins(&metadata.modified, &text("updated"))),
        ("version", metadata.version.as_ref() == Some(&text("version"))),
        ("place", metadata.spatial == [text("place")]),
        ("period", metadata.years() == (year(text("start")), year(text("end")))),
        ("url", metadata.source_url.as_ref() == Some(&text("url"))),
        (
            "file",
            metadata.files.first().and_then(|file| file.name.clone()).as_deref() == truth["file"]["name"].as_str(),
        ),
        (
            "size",
            metadata.sizes.contains(&size) || metadata.files.first().and_then(|file| file.size_bytes) == Some(bytes),
        ),
        ("format", facet(metadata, "format").contains(&format)),
        ("paper", paper.ends_with(&text("paper"))),
        ("relation", relation.as_deref() == Some("IsSupplementTo")),
    ];
    let wrong = checks.into_iter().filter(|(name, holds)| !holds && !cannot.iter().any(|cannot| cannot == name));
    wrong.map(|(name, _)| name.to_string()).collect()
}

#[test]
fn every_form_has_the_same_records_and_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), RECORDS, 0) {
        return;
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    let truth: Vec<Value> = read("truth.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let forms: HashMap<String, Vec<String>> = serde_json::from_str(&read("cannot_say.json")).unwrap();
    assert_eq!((forms.len(), truth.len()), (12, RECORDS));
    let mut answers: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut wrong = Vec::new();
    for (form, cannot) in &forms {
        let (lakeward, stats) = indexed(&folder.path().join(form));
        assert_eq!((stats.records, stats.records_left_out), (RECORDS as u64, 0), "{form}: {:?}", stats.problems);
        for truth in &truth {
            let (doi, cstr) = (truth["doi"].as_str().unwrap(), truth["cstr"].as_str().unwrap());
            let (id, metadata) = named(&lakeward, doi);
            for other in [
                format!("https://doi.org/{doi}"),
                format!("CSTR:{cstr}"),
                format!("https://cstr.cn/{cstr}"),
                id.clone(),
            ] {
                assert_eq!(named(&lakeward, &other).0, id, "{form}: {other}");
            }
            let differ = differences(truth, &metadata, cannot);
            if !differ.is_empty() {
                wrong.push(format!("{form} {}: {}", truth["number"], differ.join(", ")));
            }
        }
        let asked = [
            "glacier mass balance in Norway",
            "nitrogen dioxide in Kenya",
            "coral cover in Patagonia, covering 1990",
            "wheat yields",
        ];
        let found = asked.map(|text| {
            let answer = say(&lakeward, &mut lakeward.new_session(), text);
            let mut cited: Vec<String> = answer.tables.iter().map(|table| table.citation.to_lowercase()).collect();
            cited.truncate(1);
            cited
        });
        answers.push((form.clone(), found.to_vec()));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    let (first, of_first) = &answers[0];
    for (form, found) in &answers {
        assert_eq!(found, of_first, "{form} and {first}");
    }
}
