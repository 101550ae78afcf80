//! Formats of citations, and identifiers in running text.

use proptest::prelude::*;

use super::mention::{Kind, mentions};
use super::*;

fn citation() -> Citation {
    Citation {
        table: "geo/countries".into(),
        title: "Costs & {braces} of 50% \\ #1_a ~ ^ $".into(),
        creator: Some("Barnes and Noble, Inc.".into()),
        creators: Vec::new(),
        publisher: Some("Barnes and Noble, Inc.".into()),
        issued: CitedDate::of("2012-08-01"),
        identifier: Identifier::of_publisher("10.5281/zenodo.42"),
        own: "lakeward:lake/geo/countries@0123456789abcdef".into(),
        version: "0123456789abcdef".into(),
        url: Some("https://doi.org/10.5281/zenodo.42".into()),
        licence: Some("CC-BY-4.0".into()),
        record: false,
    }
}

/// An entry's type, key and fields; panics where BibTeX would fail: unbalanced braces, or TeX commands outside the fields that
/// are read verbatim.
fn read_bibtex(text: &str) -> (String, String, Vec<(String, String)>) {
    let rest = text.strip_prefix('@').expect("an entry");
    let (kind, rest) = rest.split_once('{').expect("a brace");
    let (key, mut rest) = rest.split_once(",\n").expect("a key");
    assert!(!key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{key}");
    let mut fields = Vec::new();
    while let Some((name, value)) = rest.split_once(" = {").filter(|_| rest.starts_with("  ")) {
        let mut depth = 1;
        let end = value.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        let (end, _) = end.expect("a closing brace");
        let value_text = &value[..end];
        let name = name.trim();
        if !["doi", "url"].contains(&name) {
            let mut before = ' ';
            for c in value_text.chars() {
                assert!(!"&%$#_".contains(c) || before == '\\', "bare `{c}` in {value_text}");
                assert!(!"~^".contains(c), "bare `{c}` in {value_text}");
                before = c;
            }
        }
        assert!(!value_text.contains('\n'), "{value_text}");
        fields.push((name.to_string(), value_text.to_string()));
        rest = value[end..].strip_prefix("},\n").expect("the end of a field");
    }
    assert_eq!(rest, "}\n");
    (kind.to_string(), key.to_string(), fields)
}

#[test]
fn bibtex_is_valid_for_any_title() {
    let (kind, key, fields) = read_bibtex(&bibtex(&citation()));
    let field = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    assert!(kind == "dataset" && key.starts_with("10_5281_zenodo_42_"), "{kind} {key}");
    assert_eq!(field("author"), Some("{Barnes and Noble, Inc.}"));
    assert_eq!(
        field("title"),
        Some(
            "{Costs \\& \\textbraceleft{}braces\\textbraceright{} of 50\\% \\textbackslash{} \\#1\\_a \\textasciitilde{} \
             \\textasciicircum{} \\$}"
        )
    );
    assert_eq!((field("year"), field("month"), field("doi")), (Some("2012"), Some("8"), Some("10.5281/zenodo.42")));
}

#[test]
fn each_author_is_an_author() {
    let author = |name: &str, given: Option<&str>| Author { name: name.into(), given: given.map(Into::into) };
    let creators = vec![author("Dushi", Some("Edmond")), author("Salt & Sons", None)];
    let citation = Citation { creators, ..citation() };
    let (_, _, fields) = read_bibtex(&bibtex(&citation));
    assert_eq!(fields[0], ("author".to_string(), "Dushi, Edmond and {Salt \\& Sons}".to_string()));
    let names = serde_json::json!([{"family": "Dushi", "given": "Edmond"}, {"literal": "Salt & Sons"}]);
    assert_eq!(csl_json(&citation)["author"], names);
}

proptest! {
    #[test]
    fn bibtex_of_any_text_is_valid(title in ".{0,60}", creator in ".{0,30}", doi in "10\\.[0-9]{4}/[!-~]{1,20}") {
        let identifier = Identifier::of_publisher(&doi);
        let url = identifier.url();
        let citation = Citation { title, creator: Some(creator), identifier, url, ..citation() };
        read_bibtex(&bibtex(&citation));
        prop_assert_eq!(plain(&citation).lines().count(), 1);
    }

    #[test]
    fn any_text_is_read_without_panic(text in ".{0,200}") {
        let _ = Identifier::parse(&text);
        let (cleaned, taken) = without_identifiers(&text, &[], &|_| false);
        prop_assert!(taken > 0 || cleaned == text);
    }
}

#[test]
fn csl_json_has_the_names_of_its_schema() {
    const KNOWN: [&str; 13] = [
        "id",
        "type",
        "title",
        "version",
        "archive",
        "archive_location",
        "author",
        "publisher",
        "issued",
        "DOI",
        "URL",
        "number",
        "note",
    ];
    let item = csl_json(&citation());
    assert!(item.as_object().unwrap().keys().all(|key| KNOWN.contains(&key.as_str())), "{item}");
    assert_eq!(item["type"], "dataset");
    assert_eq!(item["issued"]["date-parts"], serde_json::json!([[2012, 8, 1]]));
    assert_eq!(item["author"][0]["literal"], "Barnes and Noble, Inc.");
    assert_eq!(item["DOI"], "10.5281/zenodo.42");
    let own = Citation { identifier: Identifier::of_publisher(&citation().own), url: None, ..citation() };
    assert!(csl_json(&own).get("DOI").is_none() && csl_json(&own).get("number").is_none());
}

#[test]
fn text_is_as_datacite_recommends() {
    assert_eq!(
        plain(&Citation { title: "Costs".into(), ..citation() }),
        "Barnes and Noble, Inc. (2012): Costs. Version 0123456789abcdef. Barnes and Noble, Inc. Dataset. \
         https://doi.org/10.5281/zenodo.42"
    );
    let bare = Citation {
        title: "countries".into(),
        creator: None,
        publisher: None,
        issued: None,
        identifier: Identifier::of_publisher(&citation().own),
        ..citation()
    };
    assert_eq!(plain(&bare), "countries (n.d.). Dataset. lakeward:lake/geo/countries@0123456789abcdef");
}

#[test]
fn identifiers_are_found_in_any_disguise() {
    let all = [
        "See 10.9999/made.up for it.",
        "See (DOI: 10.9999/made.up).",
        "See doi 10.9999/made.up",
        "See https://doi.org/10.9999/made.up, please",
        "See 10.9999 /made.up",
        "See １０.９９９９／made.up",
        "See 10.99\u{200b}99/made.up",
        "See dоi:10.9999/made.up",
        "See CSTR:31253.11.x.1",
        "See cstr: 31253.11.x.1 now",
        "See hdl:20.500/x",
        "See ark:/12148/b",
        "See lakeward:lake/geo/none@0123456789abcdef.",
        "See lakeward: lake/geo/none@0123456789abcdef.",
        "See www.example.org/data",
        "See [10.9999/made.up](x)",
        "See urn:nbn:de:1",
    ];
    for text in all {
        let (cleaned, taken) = without_identifiers(text, &[], &|_| false);
        assert_eq!(taken, 1, "{text}: {cleaned}");
        assert!(!cleaned.contains("9999") && !cleaned.contains("lake/geo") && cleaned.contains(NOT_THERE), "{cleaned}");
        assert_eq!(without_identifiers(text, &[text], &|_| false).1, 0, "{text}");
    }
    for text in [
        "Is it about 10.5 million people, and/or the years 2010/2011?",
        "Which of the states (CO2, PM2.5) do you mean: one, or all of them?",
        "Was it 10.2500 km?",
        "Um 10:30 Uhr, z. B. in Köln",
        "Какие данные нужны?",
    ] {
        assert_eq!(without_identifiers(text, &[], &|_| false), (text.to_string(), 0));
        assert!(mentions(text, &|_| false).is_empty(), "{text}");
    }
    let kinds = |text: &str| mentions(text, &|_| false).into_iter().map(|mention| mention.kind).collect::<Vec<_>>();
    assert_eq!(kinds("the table sales_2019 or “orders” or a.csv"), [Kind::Name, Kind::Name, Kind::Name]);
    assert_eq!(kinds("gеo/countries"), [Kind::Disguised]);
}
