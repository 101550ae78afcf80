//! What is kept of records as publishers write them, and which files of a lake are read as records.

use std::fs;

use lakeward_lake::metadata::{Records, TableMetadata, record_files, unread_catalogues};
use lakeward_lake::source;

/// The metadata of the records in a file called `name`, by id.
fn read(name: &str, text: &str) -> Vec<(String, TableMetadata)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    let records = Records::read(&path, name).expect("records");
    assert_eq!(records.left_out, 0, "{:?}", records.problems);
    let (_, records) = records.divide(&[]).expect("records");
    records.iter().map(|record| (record.id.to_string(), record.metadata().expect("metadata"))).collect()
}

fn only(name: &str, text: &str) -> TableMetadata {
    let mut records = read(name, text);
    assert_eq!(records.len(), 1, "{records:?}");
    records.remove(0).1
}

fn facet(metadata: &TableMetadata, field: &str) -> Vec<String> {
    let facets = metadata.facets.iter().filter(|facet| facet.field == field);
    facets.flat_map(|facet| facet.values.clone()).collect()
}

/// The value noted as not used of `field`.
fn unused(metadata: &TableMetadata, field: &str) -> Option<String> {
    metadata.unused.iter().find(|unused| unused.field == field).map(|unused| unused.value.clone().unwrap_or_default())
}

/// The files of records in a lake of these files, and those of XML and RDF that are not read.
fn of_lake(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let lake = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = lake.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let listing = source::list_files(lake.path()).expect("a listing");
    let records = record_files(lake.path(), &listing, &|_| false);
    let unread = unread_catalogues(lake.path(), &listing, &records);
    let name = |path: &std::path::Path| path.strip_prefix(lake.path()).expect("a path").display().to_string();
    (records, unread.iter().map(|(path, _)| name(path)).collect())
}

const OWN_LINE: &str = "{\"id\": \"a\", \"title\": \"Airports\"}\n";
const CKAN: &str = r#"{"success": true, "result": {"count": 1, "results": [{"name": "air-ports", "title": "Air"}]}}"#;
const MOTHS: &str = r#"{"@context": "https://schema.org/", "@type": "Dataset", "@id": "https://doi.org/10.5072/moths", "name": "Moths",
    "alternateName": "Nachtvlinders", "temporalCoverage": "1969-05-01/..", "inLanguage": "nl", "funder": {"name": "NWO"}, "isAccessibleForFree": true,
    "variableMeasured": ["individual count"], "distribution": [
    {"@type": "DataDownload", "contentSize": "1,2 GB", "contentUrl": "https://a.example/all.zip"}, {"name": "b.zip", "contentSize": "-5"}]}"#;
const OAI: &str = "<OAI-PMH><ListRecords><record><header><identifier>oai:a:1</identifier></header><metadata><dc><title>Water</title>
    <rights>info:eu-repo/semantics/openAccess</rights><rights>https://creativecommons.org/licenses/by-sa/4.0/</rights>
    <date>info:eu-repo/date/embargoEnd/2031-06-01</date><date>2020-06-01</date>
    <coverage>Sevilla</coverage><coverage>start=2004-01; end=2019-12</coverage><coverage>name=Etna; east=15.0; north=37.7</coverage>
    </dc></metadata></record></ListRecords></OAI-PMH>";

#[test]
fn files_of_records_are_told_whatever_lies_beside_them() {
    let records = |files: &[(&str, &str)]| of_lake(files).0;
    assert_eq!(records(&[("corpus.jsonl", OWN_LINE), ("search.json", CKAN)]), ["corpus.jsonl", "search.json"]);
    let parts = ["records-00.jsonl", "records-01.jsonl"];
    assert_eq!(records(&parts.map(|name| (name, OWN_LINE))), parts);
    let table = ("notes.csv", "a,b\n1,2\n");
    let rows = ("rows.json", r#"[{"id": 1, "title": "x"}]"#);
    let answer = ("answer.json", r#"{"success": true, "result": [{"year": 2020, "rain": 5}]}"#);
    let cells = ("cells.json", r#"{"dataset": [{"title": 1, "value": 2}], "@type": "Table"}"#);
    // Lines in our own form may be a table.
    let lines = ("corpus.jsonl", OWN_LINE);
    let dumps = [
        ("a/search.json", CKAN),
        ("a/packages.json", r#"[{"name": "a", "title": "A", "notes": "b", "metadata_created": "2020"}]"#),
        ("a/names.json", r#"{"success": true, "result": ["bus-stops"]}"#),
        ("a/data.json", r#"{"dataset": [{"title": "x", "identifier": "y"}]}"#),
        ("a/moths.json", MOTHS),
        ("a/page.jsonld", &format!("[{MOTHS}]")),
        (
            "a/version.json",
            r#"{"status": "OK", "data": {"id": 1, "latestVersion": {"metadataBlocks": {"citation": {"fields": []}}}}}"#,
        ),
        ("a/bank.json", r#"{"code": 20000, "data": {"content": [{"dataSetId": "d", "titleEn": "T"}]}}"#),
        ("a/dois.jsonl", "{\"doi\": \"10.5072/x\", \"titles\": [{\"title\": \"x\"}]}\n"),
        ("a/oai.xml", OAI),
    ];
    let mut files = vec![table, rows, answer, cells, lines, ("pom.xml", "<project/>"), ("c.ttl", "@prefix a: <b> .")];
    files.extend(dumps);
    let (found, unread) = of_lake(&files);
    let mut expected: Vec<&str> = dumps.iter().map(|(name, _)| *name).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(unread, ["c.ttl", "pom.xml"]);
    assert!(records(&[("films.jsonl", OWN_LINE)]).is_empty());
    assert!(records(&[("corpus.jsonl", "")]).is_empty());
    assert!(records(&[("corpus.jsonl", "{\"id\": 1, \"x\": 2}\n")]).is_empty());
}

#[test]
fn a_description_of_a_table_beside_it_is_no_record() {
    let moths = MOTHS.replace("all.zip", "all");
    let records = |names: &[&str]| {
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (*name, if name.ends_with(".csv") { "a,b\n1,2\n" } else { &moths })).collect();
        of_lake(&files).0
    };
    assert!(records(&["moths.jsonld", "moths.csv"]).is_empty());
    assert!(records(&["in/metadata.json", "in/any.csv"]).is_empty());
    assert_eq!(records(&["moths.jsonld", "in/moths.csv", "other.csv"]), ["moths.jsonld"]);
    assert_eq!(records(&["in/metadata.json", "out/any.csv"]), ["in/metadata.json"]);
}

#[test]
fn a_record_stays_where_its_files_may_be_anothers() {
    let package = |name: &str, file: &str| {
        format!(r#"{{"name": "{name}", "title": "{name}", "resources": [{{"url": "https://x.example/{file}"}}]}}"#)
    };
    let packages = [("a", "mine.csv"), ("b", "data.csv"), ("c", "data.csv"), ("d", "else.csv")]
        .map(|(name, file)| package(name, file));
    let text = format!(r#"{{"success": true, "result": [{}]}}"#, packages.join(","));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("list.json");
    fs::write(&path, text).expect("a file");
    let mut records = Records::read(&path, "portal/list.json").expect("records");
    let describing = records.without_files_in(["portal/in/mine.csv.gz", "portal/data.csv", "else.csv"].into_iter());
    assert_eq!(describing.iter().map(|name| name.to_string()).collect::<Vec<_>>(), ["portal/list.json"]);
    let (_, left) = records.divide(&[]).expect("records");
    assert_eq!(left.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["b", "c", "d"]);
}

#[test]
fn one_dataset_of_schema_org_is_read_whole() {
    for (name, text) in [
        ("a.jsonld", MOTHS.to_string()),
        ("a.json", format!("[{MOTHS}]")),
        (
            "b.json",
            format!(r#"{{"@type": "ItemList", "itemListElement": [{{"@type": "ListItem", "item": {MOTHS}}}]}}"#),
        ),
    ] {
        let moths = only(name, &text);
        assert_eq!((moths.title.as_deref(), moths.years()), (Some("Moths"), (Some(1969), None)), "{name}");
        let sizes: Vec<Option<u64>> = moths.files.iter().map(|file| file.size_bytes).collect();
        assert_eq!(sizes, [Some(1_200_000_000), None]);
        assert_eq!(unused(&moths, "file size").as_deref(), Some("-5"));
        assert_eq!(unused(&moths, "other title").as_deref(), Some("Nachtvlinders"));
        assert_eq!(unused(&moths, "isAccessibleForFree").as_deref(), Some("true"));
        assert_eq!((facet(&moths, "funder"), facet(&moths, "language")), (vec!["NWO".into()], vec!["nl".into()]));
        assert!(moths.words_beside().any(|word| word == "individual count"));
    }
}

#[test]
fn dublin_core_tells_licence_access_and_coverage_apart() {
    let water = only("oai.xml", OAI);
    assert_eq!(water.licence.as_deref(), Some("https://creativecommons.org/licenses/by-sa/4.0/"));
    assert_eq!(facet(&water, "access"), ["open"]);
    assert_eq!(water.spatial, ["Sevilla", "Etna"]);
    assert_eq!(water.years(), (Some(2004), Some(2019)));
    assert_eq!(water.issued.as_deref(), Some("2020-06-01"));
    assert_eq!(unused(&water, "embargo").as_deref(), Some("2031-06-01"));
}

#[test]
fn datacite_in_its_variants() {
    let record = only(
        "x.json",
        r#"[{"doi": "10.5072/quake", "titles": [{"title": "Aftershocks"}, {"title": "Nachbeben", "titleType": "TranslatedTitle"}],
        "creators": [{"name": "Dushi, Edmond"}], "contributors": [{"name": "GFZ", "contributorType": "HostingInstitution"}, {"name": "Ann", "contributorType": "DataCurator"}],
        "subjects": ["ecology", {"subject": "Oceanography > Tides"}], "dates": [{"date": "1918/2022", "dateType": "Valid"},
        {"date": "2031-12-31", "dateType": "Available"}, {"date": "2023-03-09", "dateType": "Issued"}],
        "rightsList": [{"rights": "Embargoed Access"}, {"rightsUri": "https://creativecommons.org/licenses/by-nc/4.0/"}],
        "fundingReferences": [{"funderName": "DFG", "awardNumber": "GR 1234/5"}]}]"#,
    );
    assert_eq!(record.tags, ["Oceanography > Tides", "ecology", "Oceanography", "Tides"]);
    assert_eq!(facet(&record, "taxonomy"), ["Oceanography", "Oceanography > Tides"]);
    assert_eq!(facet(&record, "institution"), ["GFZ"]);
    assert_eq!(record.years(), (Some(1918), Some(2022)));
    assert_eq!(record.licence.as_deref(), Some("https://creativecommons.org/licenses/by-nc/4.0/"));
    assert_eq!(facet(&record, "access"), ["embargoed"]);
    for (field, value) in [
        ("other title", "Nachbeben"),
        ("available", "2031-12-31"),
        ("award number", "GR 1234/5"),
        ("contributor", "Ann"),
    ] {
        assert_eq!(unused(&record, field).as_deref(), Some(value), "{field}");
    }
    let plain = only("x.json", r#"[{"doi": "10.5072/p", "titles": "A plain title", "creators": ["A"]}]"#);
    assert_eq!(plain.title.as_deref(), Some("A plain title"));
}

#[test]
fn the_answers_of_dataverse_are_read_as_its_export() {
    let version = r#""versionNumber": 4, "versionMinorNumber": 2, "datasetPersistentId": "doi:10.5072/wages", "metadataBlocks": {"citation": {"fields":
        [{"typeName": "title", "value": "Wages"}]}}, "files": [{"label": "w.tab", "dataFile": {"persistentId": "doi:10.5072/wages/1", "filesize": 5}}]"#;
    for text in [
        format!(r#"{{"status": "OK", "data": {{"id": 7, "latestVersion": {{{version}}}}}}}"#),
        format!(r#"{{"id": 7, "datasetVersion": {{{version}}}}}"#),
        format!("{{{version}}}"),
    ] {
        let wages = only("x.json", &text);
        assert_eq!((wages.title.as_deref(), wages.version.as_deref()), (Some("Wages"), Some("4.2")), "{text}");
        assert_eq!(wages.identifier.as_deref(), Some("https://doi.org/10.5072/wages"));
        assert_eq!(wages.files[0].url.as_deref(), Some("https://doi.org/10.5072/wages/1"));
    }
}

#[test]
fn names_in_a_catalogue_resolve_and_places_are_those_with_words() {
    let package = only(
        "x.json",
        r#"[{"id": "b0a1-aaaa", "name": "no2", "title": "Nitrogen", "notes": "n", "metadata_created": "2014-03-02", "doi": "10.5072/no2",
        "extras": [{"key": "spatial", "value": "{\"type\": \"Polygon\"}"}, {"key": "geographic_coverage", "value": "London"}]}]"#,
    );
    assert_eq!(
        (package.spatial.as_slice(), package.identifiers.as_slice()),
        (&["London".into()][..], &["b0a1-aaaa".into()][..])
    );
    let banked = only(
        "x.json",
        r#"{"data": {"content": [{"id": "63f0", "dataSetId": "e7a1", "titleEn": "T", "doi": "10.5072/t"}]}}"#,
    );
    assert_eq!(banked.identifiers, ["63f0"]);
}

#[test]
fn references_of_dcat_are_followed_to_what_they_name() {
    let alm = only(
        "x.jsonld",
        r#"{"@context": {"dcat": "http://www.w3.org/ns/dcat#"}, "@graph": [
        {"@id": "https://x.example/d", "@type": "dcat:Dataset", "dct:title": "Alm", "dct:identifier": "AT-17", "adms:identifier": {"@id": "_:i"},
         "dct:spatial": {"@id": "_:s"}, "dct:temporal": {"@id": "_:t"}, "dcat:distribution": {"@id": "https://x.example/f"},
         "dct:accrualPeriodicity": {"@id": "http://publications.europa.eu/resource/authority/frequency/ANNUAL"},
         "dct:language": {"@id": "http://publications.europa.eu/resource/authority/language/DEU"},
         "dct:accessRights": {"@id": "http://publications.europa.eu/resource/authority/access-right/PUBLIC"},
         "dcat:theme": {"@id": "http://publications.europa.eu/resource/authority/data-theme/AGRI"}, "dct:conformsTo": {"@id": "https://x.example/rules"}},
        {"@id": "_:i", "@type": "adms:Identifier", "skos:notation": "10.5072/alm"}, {"@id": "_:s", "skos:prefLabel": "Tirol"},
        {"@id": "_:t", "dcat:startDate": "1952-01-01", "dcat:endDate": "2023-12-31"}, {"@id": "_:l", "dct:title": "CC BY 4.0"},
        {"@id": "https://x.example/f", "dct:title": "alm.zip", "dct:license": {"@id": "_:l"},
         "dct:format": {"@id": "http://publications.europa.eu/resource/authority/file-type/CSV"}}]}"#,
    );
    assert_eq!((alm.spatial.as_slice(), alm.years()), (&["Tirol".into()][..], (Some(1952), Some(2023))));
    assert_eq!(
        (alm.identifier.as_deref(), alm.licence.as_deref()),
        (Some("https://doi.org/10.5072/alm"), Some("CC BY 4.0"))
    );
    assert!(alm.identifiers.contains(&"AT-17".to_string()), "{:?}", alm.identifiers);
    assert_eq!(alm.tags, ["Agriculture, fisheries, forestry and food"]);
    let of = ["format", "frequency", "language", "access"].map(|field| facet(&alm, field).join(";"));
    assert_eq!(of, ["CSV", "annual", "DEU", "open"]);
    assert_eq!(unused(&alm, "conformsTo").as_deref(), Some("https://x.example/rules"));
}

#[test]
fn iso_tells_who_answers_for_the_data_from_who_wrote_the_record() {
    let party = |name: &str, role: &str| {
        format!(
            "<CI_ResponsibleParty><organisationName>{name}</organisationName><role><CI_RoleCode codeListValue='{role}'/></role></CI_ResponsibleParty>"
        )
    };
    let (helpdesk, owner) = (party("Helpdesk", "pointOfContact"), party("Institute", "owner"));
    let ice = only(
        "iso.xml",
        &format!(
            "<MD_Metadata><fileIdentifier>ice</fileIdentifier><contact>{helpdesk}</contact><identificationInfo><MD_DataIdentification>
            <citation><CI_Citation><title>Ice</title></CI_Citation></citation><pointOfContact>{owner}</pointOfContact>
            <extent><EX_Extent><temporalElement><EX_TemporalExtent><extent><TimePeriod><beginPosition>1853-01-01</beginPosition>
            <endPosition indeterminatePosition='now'/></TimePeriod></extent></EX_TemporalExtent></temporalElement></EX_Extent></extent>
            </MD_DataIdentification></identificationInfo><distributionInfo><MD_Distribution><transferOptions><MD_DigitalTransferOptions>
            <transferSize><Real>3.5</Real></transferSize></MD_DigitalTransferOptions></transferOptions></MD_Distribution></distributionInfo></MD_Metadata>"
        ),
    );
    assert_eq!((facet(&ice, "institution"), ice.publisher.as_deref()), (vec!["Institute".into()], Some("Institute")));
    assert_eq!((ice.years(), ice.sizes.as_slice()), ((Some(1853), None), &["3.5 MB".into()][..]));
}
