use std::fs;
use std::path::PathBuf;

use super::*;

/// Writes the `files` into a lake and reads them all as sidecars.
fn read(files: &[(&str, &str)]) -> (MetadataIndex, Vec<(PathBuf, String)>) {
    let lake = tempfile::tempdir().unwrap();
    let mut sidecars = Vec::new();
    for (path, text) in files {
        let full = lake.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, text).unwrap();
        sidecars.push(PathBuf::from(path));
    }
    MetadataIndex::read(lake.path(), &sidecars)
}

fn read_well(files: &[(&str, &str)]) -> MetadataIndex {
    let (index, problems) = read(files);
    assert!(problems.is_empty(), "{problems:?}");
    index
}

fn some(text: &str) -> Option<String> {
    Some(text.to_string())
}

#[test]
fn frictionless_packages_describe_resources_and_fields() {
    let index = read_well(&[(
        "energy/datapackage.json",
        r#"{
          "name": "energy-prices", "title": "Energy prices", "id": "https://doi.org/10.5281/zenodo.12345",
          "description": "Monthly prices.", "homepage": "https://example.org/energy",
          "keywords": ["energy", "prices"], "created": "2024-01-02",
          "licenses": [{"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}],
          "contributors": [{"title": "Ann", "role": "author"}, {"title": "Energy Agency", "role": "publisher"}],
          "resources": [
            {"name": "gas", "title": "Gas", "path": "data/gas.csv",
             "schema": {"fields": [{"name": "price", "title": "Price", "unit": "EUR/MWh", "description": "Day-ahead"}, {"name": "month"}]}},
            {"name": "power", "path": ["data/power-1.csv", "./data/power-2.csv"]}
          ]}"#,
    )]);
    let gas = index.get("energy/data/gas.csv").unwrap();
    assert_eq!(gas.title, some("Energy prices — Gas"));
    assert_eq!(gas.identifier, some("https://doi.org/10.5281/zenodo.12345"));
    assert_eq!(gas.publisher, some("Energy Agency"));
    assert_eq!(gas.licence, some("Creative Commons Attribution 4.0"));
    assert_eq!(gas.tags, ["energy", "prices"]);
    assert_eq!(gas.source_url, some("https://example.org/energy"));
    assert_eq!(gas.columns["price"].unit, some("EUR/MWh"));
    assert_eq!(gas.columns.len(), 2);
    assert_eq!((gas.standard, gas.file.clone()), (Some(Standard::Frictionless), some("energy/datapackage.json")));
    assert_eq!(index.get("energy/data/power-2.csv").unwrap().title, some("Energy prices"));
    assert!(index.get("energy/data/power-2.csv.gz").is_some());
    assert!(index.get("energy/other.csv").is_none());
}

#[test]
fn croissant_fields_become_columns_of_their_file() {
    let index = read_well(&[(
        "wine/croissant.json",
        r##"{
          "@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"},
          "@type": "sc:Dataset", "name": "Wine quality", "description": "<p>Physicochemical <b>tests</b></p>",
          "license": "https://creativecommons.org/licenses/by/4.0/", "url": "https://example.org/wine",
          "keywords": "wine, quality", "datePublished": "2009-10-07", "creator": [{"@type": "Person", "name": "P. Cortez"}],
          "distribution": [
            {"@type": "cr:FileObject", "@id": "winequality.csv", "name": "winequality.csv", "contentUrl": "https://example.org/d/winequality.csv"},
            {"@type": "cr:FileSet", "@id": "images", "includes": "*.jpg"}],
          "recordSet": [{"@type": "cr:RecordSet", "name": "wines", "field": [
            {"@type": "cr:Field", "@id": "wines/ph", "name": "wines/ph", "description": "Acidity",
             "source": {"fileObject": {"@id": "winequality.csv"}, "extract": {"column": "pH"}}},
            {"@type": "cr:Field", "name": "alcohol", "source": {"distribution": "winequality.csv"}}]}]
        }"##,
    )]);
    let wine = index.get("wine/raw/WineQuality.csv").unwrap();
    assert_eq!(wine.standard, Some(Standard::Croissant));
    assert_eq!(wine.title, some("Wine quality"));
    assert_eq!(wine.description, some("Physicochemical tests"));
    assert_eq!(wine.tags, ["wine", "quality"]);
    assert_eq!(wine.publisher, some("P. Cortez"));
    assert_eq!(wine.columns["pH"].description, some("Acidity"));
    assert!(wine.columns.contains_key("alcohol"));
    assert!(index.get("elsewhere/winequality.csv").is_none());
}

#[test]
fn schema_org_without_files_describes_the_table_of_its_name() {
    let text = r#"[{"@context": "https://schema.org", "@type": "Dataset", "name": {"de": "Bahnhöfe", "en": "Stations"},
        "identifier": [{"@type": "PropertyValue", "propertyID": "internal", "value": "77"}, "doi:10.11922/sciencedb.1"],
        "variableMeasured": [{"name": "height", "unitText": "m"}],
        "spatialCoverage": {"@type": "Place", "name": "Bavaria"}, "temporalCoverage": "2001/2010",
        "keywords": ["rail", "rail", 7]}]"#;
    let index = read_well(&[("rail/stations.jsonld", text)]);
    let stations = index.get("rail/stations.parquet").unwrap();
    assert_eq!(stations.title, some("Stations"));
    assert_eq!(stations.identifier, some("https://doi.org/10.11922/sciencedb.1"));
    assert_eq!(
        (stations.spatial.as_slice(), stations.temporal.clone()),
        (&["Bavaria".to_string()][..], TimeCovered::of("2001/2010"))
    );
    assert_eq!(stations.tags, ["rail", "7"]);
    assert_eq!(stations.columns["height"].unit, some("m"));
    assert!(index.get("rail/other.csv").is_none());
}

const CKAN: &str = r#"{"id": "1234", "name": "bike-counts", "title": "Bicycle counts", "notes": "Counts per hour\r\nand station",
    "organization": {"name": "city", "title": "City of Bern"}, "license_title": "Open use", "url": "",
    "tags": [{"name": "bicycle", "display_name": "Bicycle"}, {"name": "traffic"}],
    "extras": [{"key": "doi", "value": "10.1234/bikes"}, {"key": "spatial", "value": "{\"type\":\"Point\"}"}],
    "metadata_created": "2020-01-01T00:00:00",
    "resources": [
      {"id": "a1", "name": "Counts 2020", "format": "CSV", "url": "https://data.example.org/dl/counts%202020.csv?x=1"},
      {"id": "b2", "name": "Stations", "format": ".csv", "url": "https://data.example.org/api/3/dump/b2"}]}"#;

#[test]
fn ckan_packages_are_read_with_and_without_their_envelope() {
    let wrapped = format!(r#"{{"help": "…", "success": true, "result": {CKAN}}}"#);
    for text in [CKAN, &wrapped] {
        let index = read_well(&[("bikes/package.json", text)]);
        let counts = index.get("bikes/raw/counts 2020.csv").unwrap();
        assert_eq!(counts.standard, Some(Standard::Ckan));
        assert_eq!(counts.title, some("Bicycle counts — Counts 2020"));
        assert_eq!(counts.description, some("Counts per hour\nand station"));
        assert_eq!(counts.publisher, some("City of Bern"));
        assert_eq!(counts.identifier, some("https://doi.org/10.1234/bikes"));
        assert!(counts.spatial.is_empty());
        assert_eq!(counts.tags, ["bicycle", "traffic"]);
        assert_eq!(index.get("bikes/stations.csv").unwrap().title, some("Bicycle counts — Stations"));
        assert!(index.get("bikes/b2.csv").is_some());
    }
}

#[test]
fn dcat_catalogues_describe_their_distributions() {
    let index = read_well(&[(
        "data.json",
        r#"{"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [
          {"@type": "dcat:Dataset", "title": "Air quality", "description": "PM10", "keyword": ["air"], "identifier": "EPA-1",
           "publisher": {"@type": "org:Organization", "name": "EPA"}, "modified": "2021-05-06", "landingPage": "https://epa.example/air",
           "temporal": [{"startDate": "2001", "endDate": "2002"}],
           "distribution": [{"downloadURL": "https://epa.example/files/air.csv", "mediaType": "text/csv"}, {"accessURL": "https://epa.example/air.html"}]},
          {"title": "Water", "distribution": {"downloadURL": "water.tsv", "title": "CSV"}}]}"#,
    )]);
    let air = index.get("deep/down/air.csv").unwrap();
    assert_eq!((air.title.clone(), air.publisher.clone()), (some("Air quality"), some("EPA")));
    assert_eq!((air.temporal.clone(), air.modified.clone()), (TimeCovered::of("2001/2002"), some("2021-05-06")));
    assert_eq!(air.identifier, some("https://epa.example/air"));
    assert_eq!(air.standard, Some(Standard::Dcat));
    assert_eq!(index.get("water.tsv").unwrap().title, some("Water"));
}

#[test]
fn dcat_ap_graphs_are_followed() {
    let index = read_well(&[(
        "catalogue/export.jsonld",
        r#"{"@context": {"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/"}, "@graph": [
          {"@id": "http://x/d1", "@type": "dcat:Dataset", "dct:title": [{"@language": "fr", "@value": "Forêts"}, {"@language": "en", "@value": "Forests"}],
           "dct:publisher": {"@id": "http://x/p"}, "dcat:keyword": [{"@language": "en", "@value": "trees"}], "dcat:distribution": {"@id": "http://x/f"}},
          {"@id": "http://x/p", "@type": "foaf:Organization", "foaf:name": "Forest Office"},
          {"@id": "http://x/f", "@type": "dcat:Distribution", "dcat:downloadURL": {"@id": "http://x/forests.csv"}, "dct:license": {"@id": "http://l/by"}}]}"#,
    )]);
    let forests = index.get("catalogue/forests.csv").unwrap();
    assert_eq!((forests.title.clone(), forests.publisher.clone()), (some("Forests"), some("Forest Office")));
    assert_eq!((forests.licence.clone(), forests.tags.clone()), (some("http://l/by"), vec!["trees".to_string()]));
}

#[test]
fn csvw_describes_one_table_or_a_group() {
    let one = r#"{"@context": "http://www.w3.org/ns/csvw", "dc:title": "Trees", "dc:description": {"@value": "Street trees", "@language": "en"},
        "dcat:keyword": ["tree"], "dc:publisher": {"schema:name": {"@value": "City"}}, "dc:license": {"@id": "http://l/0"},
        "tableSchema": {"columns": [{"name": "h", "titles": ["Height", "H"], "dc:description": "Height of the tree", "unit": "m"}, {"titles": {"en": ["On street"]}}]}}"#;
    let group = r#"{"@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}], "dc:title": "Transport",
        "tables": [{"url": "bus.csv", "dc:title": "Buses", "tableSchema": {"columns": [{"name": "line"}]}}, {"url": "tram.csv"}]}"#;
    let index = read_well(&[("city/trees.csv-metadata.json", one), ("transport/csv-metadata.json", group)]);
    let trees = index.get("city/trees.csv").unwrap();
    assert_eq!((trees.title.clone(), trees.standard), (some("Trees"), Some(Standard::Csvw)));
    assert_eq!((trees.publisher.clone(), trees.licence.clone()), (some("City"), some("http://l/0")));
    assert_eq!(trees.columns["Height"].unit, some("m"));
    assert!(trees.columns.contains_key("On street"));
    assert_eq!(index.get("transport/bus.csv").unwrap().title, some("Transport — Buses"));
    assert_eq!(index.get("transport/tram.csv").unwrap().title, some("Transport"));
    assert!(index.get("transport/bus.csv").unwrap().columns.contains_key("line"));
}

#[test]
fn paths_that_leave_the_folder_count_by_their_file_name_only() {
    let package = r#"{"title": "T", "resources": [{"path": "../secret/a.csv"}, {"path": "/etc/b.csv"},
        {"path": "http://example.org/c.csv"}, {"path": "sub/../../d.csv"}, {"path": "C:\\data\\e.csv"}]}"#;
    let index = read_well(&[("x/datapackage.json", package)]);
    for name in ["a", "b", "c", "d", "e"] {
        assert!(index.get(&format!("x/{name}.csv")).is_some(), "{name}");
        assert!(index.get(&format!("secret/{name}.csv")).is_none(), "{name}");
        assert!(index.get(&format!("{name}.csv")).is_none(), "{name}");
    }
    let (_, problems) = read(&[]);
    assert!(problems.is_empty());
    let lake = tempfile::tempdir().unwrap();
    let (_, problems) = MetadataIndex::read(lake.path(), &["../datapackage.json".into(), "/etc/hostname".into()]);
    assert!(problems.iter().all(|(_, reason)| reason == "it lies outside the lake") && problems.len() == 2);
}

#[test]
fn the_nearest_sidecar_wins_a_file_name() {
    let package = |title: &str| format!(r#"{{"title": "{title}", "resources": [{{"path": "http://h/t.csv"}}]}}"#);
    let (outer, inner) = (package("outer"), package("inner"));
    let index = read_well(&[("datapackage.json", &outer), ("in/datapackage.json", &inner)]);
    assert_eq!(index.get("in/deep/t.csv").unwrap().title, some("inner"));
    assert_eq!(index.get("other/t.csv").unwrap().title, some("outer"));
}

#[test]
fn a_folder_description_without_files_covers_its_folder_only() {
    let index = read_well(&[(
        "f/metadata.json",
        r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "Folder"}"#,
    )]);
    assert_eq!(index.get("f/any.csv").unwrap().title, some("Folder"));
    assert!(index.get("f/g/any.csv").is_none() && index.get("any.csv").is_none());
}

#[test]
fn broken_documents_are_problems_and_stop_nothing() {
    let deep = "[".repeat(100_000);
    let (index, problems) = read(&[
        ("a/datapackage.json", "{\"title\": "),
        ("b/datapackage.json", ""),
        ("c/x.jsonld", &deep),
        ("d/datapackage.json", "\u{FEFF}{\"title\": \"Good\", \"resources\": [{\"path\": \"g.csv\"}]}"),
        ("e/package.json", r#"{"name": "npm", "version": "1.0"}"#),
        ("f/data.json", "42"),
    ]);
    assert_eq!(index.get("d/g.csv").unwrap().title, some("Good"));
    let files: Vec<String> = problems.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    assert_eq!(files, ["a/datapackage.json", "b/datapackage.json", "c/x.jsonld", "e/package.json", "f/data.json"]);
}

#[test]
fn any_type_may_stand_anywhere() {
    let odd = [
        "null",
        "7",
        "true",
        "\"text\"",
        "[]",
        "{}",
        "[[[[[[1]]]]]]",
        "{\"en\": {\"en\": {\"en\": {\"en\": {\"en\": 1}}}}}",
        "[null, {\"name\": []}, 3]",
    ];
    let keys = [
        "title",
        "name",
        "description",
        "keywords",
        "keyword",
        "tags",
        "licenses",
        "license",
        "publisher",
        "contributors",
        "organization",
        "extras",
        "temporal",
        "spatial",
        "identifier",
        "schema",
        "tableSchema",
        "distribution",
        "recordSet",
        "resources",
        "dataset",
        "tables",
        "path",
        "url",
        "@type",
        "@graph",
        "@context",
        "result",
        "variableMeasured",
    ];
    for value in odd {
        let all: Vec<String> = keys.iter().map(|key| format!("\"{key}\": {value}")).collect();
        let flat = format!("{{{}}}", all.join(","));
        let mut files = Vec::new();
        for key in keys {
            let nested = format!(
                r#"{{"{key}": [{flat}], "title": {value}, "resources": [{flat}], "dataset": [{flat}], "@type": "Dataset"}}"#
            );
            let alone = format!(r#"{{"{key}": {value}, "@type": "Dataset"}}"#);
            for (folder, document) in [("nested", nested), ("alone", alone)] {
                for name in ["datapackage.json", "data.json", "x.jsonld", "package.json", "x.csv-metadata.json"] {
                    files.push((format!("{folder}/{key}/{name}"), document.clone()));
                }
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        read(&files);
    }
}

#[test]
fn long_and_hidden_texts_are_cut_and_cleaned() {
    let tags: Vec<String> = (0..500).map(|tag| format!("\"t{tag}\"")).collect();
    let text = format!(
        r#"{{"title": "a\u202eb\u0000c", "description": "{}", "keywords": [{}], "resources": [{{"path": "t.csv"}}]}}"#,
        "word ".repeat(10_000),
        tags.join(",")
    );
    let index = read_well(&[("datapackage.json", &text)]);
    let table = index.get("t.csv").unwrap();
    assert_eq!(table.title, some("ab c"));
    assert!(table.description.as_ref().unwrap().len() <= 16 * 1024);
    assert_eq!(table.tags.len(), 64);
}
