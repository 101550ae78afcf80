//! Catalogue records: what they say of tables, what they are where they describe none, and that updates keep them.

use std::fs;
use std::path::Path;

use lakeward_core::monitor::Silent;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, BuildStats, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::cite::Citation;
use lakeward_search::late::{BuiltinTokens, LateQuery};
use lakeward_search::record_search::{self, DemandState, Route};
use lakeward_search::weights::LateModels;
use lakeward_search::{QueryTable, RankingWeights, RecordQuery, SearchAnswer, SearchOptions, text_search};

const RECORDS: &str = concat!(
    r#"{"id": "t1", "title": "Airports of Niger", "description": "Where planes land", "tags": ["aviation"]}"#,
    "\n",
    r#"{"id": "r-1", "title": "Drinking water quality", "description": "Nitrate in wells", "author": "Water board"}"#,
    "\nnonsense\n",
    r#"{"id": "r-2", "title": "Bus stops"}"#,
    "\n",
);

fn indexed(lake: &Path, options: &BuildOptions) -> BuildStats {
    build(lake, &lake.join(".lakeward"), StaticModel::builtin(), options, &Silent).expect("a build")
}

fn found(lake: &Path, text: &str) -> Vec<SearchAnswer> {
    let index = LakeIndex::open(&lake.join(".lakeward"), lakeward_models::embed::Embedder::id(StaticModel::builtin()))
        .expect("an index");
    text_search::search(&index, StaticModel::builtin(), text, &SearchOptions::new(10)).expect("answers")
}

fn with_records(records: &Path) -> BuildOptions {
    BuildOptions { records: Some(records.to_path_buf()), ..BuildOptions::default() }
}

#[test]
fn records_describe_tables_and_stand_for_what_is_elsewhere() {
    let lake = tempfile::tempdir().expect("an index");
    fs::write(lake.path().join("t1.csv"), "code,town\nNIM,Niamey\nAJY,Agadez\n").expect("an index");
    let records = lake.path().join("corpus.jsonl");
    fs::write(&records, RECORDS).expect("an index");
    let stats = indexed(lake.path(), &with_records(&records));
    assert_eq!((stats.tables, stats.records, stats.records_left_out, stats.added), (1, 2, 1, 3));
    assert!(stats.problems.iter().any(|(_, reason)| reason.starts_with("line 3: ")), "{:?}", stats.problems);
    let table = &found(lake.path(), "airports of Niger")[0];
    assert_eq!((table.table.as_str(), table.record, table.rows), ("t1", false, Some(2)));
    let record = &found(lake.path(), "nitrate water board")[0];
    assert_eq!((record.table.as_str(), record.record, record.rows), ("r-1", true, None));
    assert!(record.reason.contains("not in the lake"), "{}", record.reason);
    let index =
        LakeIndex::open(&lake.path().join(".lakeward"), lakeward_models::embed::Embedder::id(StaticModel::builtin()))
            .expect("an index");
    assert!(QueryTable::resolve(&index, lake.path(), "r-1", StaticModel::builtin()).is_err());
    // Remembered, and nothing is read again.
    let again = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((again.records, again.added, again.changed, again.unchanged), (2, 0, 0, 3));
    // A record that goes, one that changes, one that comes.
    fs::write(
        &records,
        "{\"id\": \"t1\", \"title\": \"Airfields\"}\n{\"id\": \"r-2\", \"title\": \"Tram stops\"}\n{\"id\": \"r-3\"}\n",
    )
    .expect("an index");
    let after = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((after.tables, after.records, after.added, after.changed, after.removed), (1, 2, 1, 2, 1));
    assert!(found(lake.path(), "nitrate").is_empty());
    assert_eq!(found(lake.path(), "tram stops")[0].table, "r-2");
    assert_eq!(found(lake.path(), "airfields")[0].table, "t1");
    // A table of a record's name takes it over.
    fs::write(lake.path().join("r-2.csv"), "stop,line\nDam,4\nOost,9\n").expect("an index");
    let taken = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((taken.tables, taken.records), (2, 1));
    assert_eq!(found(lake.path(), "tram stops")[0].rows, Some(2));
    let forgotten = indexed(lake.path(), &BuildOptions { rebuild: true, ..BuildOptions::default() });
    assert_eq!(forgotten.records, 0);
}

#[test]
fn a_lake_of_records_alone_is_a_lake() {
    let lake = tempfile::tempdir().expect("an index");
    let elsewhere = tempfile::tempdir().expect("an index");
    let records = elsewhere.path().join("records.jsonl.zst");
    fs::write(&records, zstd::encode_all(RECORDS.as_bytes(), 3).expect("packed")).expect("a file");
    let stats = indexed(lake.path(), &with_records(&records));
    assert_eq!((stats.tables, stats.columns, stats.records), (0, 0, 3));
    assert_eq!(found(lake.path(), "where do planes land")[0].table, "t1");
    fs::remove_file(&records).expect("an index");
    let gone =
        build(lake.path(), &lake.path().join(".lakeward"), StaticModel::builtin(), &BuildOptions::default(), &Silent);
    assert!(gone.unwrap_err().to_string().contains("records.jsonl.zst"));
}

/// A small catalogue: places, years, frequencies, subjects.
const CATALOGUE: &str = concat!(
    r#"{"id": "rents", "title": "Rents of flats", "start": "2000-01-01", "end": "2020-01-01", "frequency": "Annual", "subjects": ["Housing"], "geography": {"members": ["Canada", "Ontario"], "n": 2}}"#,
    "\n",
    r#"{"id": "prices", "title": "House prices", "start": "2005-01-01", "end": "2020-01-01", "frequency": "Monthly", "subjects": ["Housing", "Prices"], "geography": {"members": ["Canada"], "n": 12}}"#,
    "\n",
    r#"{"id": "wages", "title": "Wages by trade", "start": "2000-01-01", "end": "2010-01-01", "frequency": "Monthly", "subjects": ["Labour"], "geography": {"members": ["Ontario"], "n": 1}}"#,
    "\n",
    r#"{"id": "strikes", "title": "Strikes and lockouts", "frequency": "Annual", "subjects": ["Labour"], "dimensions": [{"name": "Trade", "members": ["Builders"]}, {"name": "Length"}]}"#,
    "\n",
);

fn catalogue(lines: &str) -> (tempfile::TempDir, LakeIndex) {
    let lake = tempfile::tempdir().expect("a folder");
    fs::write(lake.path().join("corpus.jsonl"), lines).expect("a file");
    indexed(lake.path(), &BuildOptions::default());
    let index = opened(lake.path());
    (lake, index)
}

fn opened(lake: &Path) -> LakeIndex {
    LakeIndex::open(&lake.join(".lakeward"), Embedder::id(StaticModel::builtin())).expect("an index")
}

fn wants(role: &str, values: &[&str]) -> Demand {
    let value = Demanded::Values(values.iter().map(|value| vec![value.to_string()]).collect());
    Demand {
        value,
        hard: true,
        filters: true,
        ..Demand::in_words(Respect::from(role.to_string()), values.join(" and "), 1)
    }
}

fn years(value: RequestedYears) -> Demand {
    Demand { value: Demanded::Period(value), ..wants("period", &[]) }
}

fn soft(demand: Demand) -> Demand {
    Demand { hard: false, filters: false, ..demand }
}

/// Each answer with the roles it violates: `rents`, `wages -place`.
fn asked(index: &LakeIndex, text: &str, demands: &[Demand], k: usize, route: Route) -> Vec<String> {
    let texts = [(text.to_string(), 1.0)];
    let query = RecordQuery {
        texts: &texts,
        said: &[],
        earlier: &[],
        demands,
        k,
        exclude: &[],
        among: None,
        route,
        weights: RankingWeights::shipped(),
    };
    let found = record_search::search(index, StaticModel::builtin(), &query).expect("answers");
    let shown = |answer: &record_search::RecordAnswer| {
        answer.relaxed.iter().fold(answer.table.clone(), |text, role| format!("{text} -{role}"))
    };
    found.answers.iter().map(shown).collect()
}

#[test]
fn stated_demands_filter_and_are_relaxed_step_by_step() {
    let (_lake, index) = catalogue(CATALOGUE);
    let ask = |demands: &[Demand], k| asked(&index, "", demands, k, Route::Auto);
    let ontario = wants("place", &["Ontario"]);
    let monthly = wants("frequency", &["Monthly"]);
    assert_eq!(ask(&[ontario.clone(), monthly.clone()], 1), ["wages"]);
    // Then what violates one; the list of places of `prices` is cut short: Ontario may be in it.
    assert_eq!(ask(&[ontario.clone(), monthly.clone()], 2), ["wages", "prices -place", "rents -frequency"][..2]);
    let all = ask(&[ontario.clone(), monthly], 10);
    assert_eq!(all, ["wages", "prices -place", "rents -frequency", "strikes -place -frequency"]);
    // All things of one role.
    assert_eq!(ask(&[wants("place", &["Canada", "Ontario"])], 1), ["rents"]);
    assert_eq!(ask(&[wants("dimension", &["Trade"])], 1), ["strikes"]);
    assert_eq!(ask(&[years(RequestedYears::Cover { from: 2001, to: 2015 })], 1), ["rents"]);
    assert_eq!(ask(&[years(RequestedYears::StartsIn(2005))], 1), ["prices"]);
    assert_eq!(ask(&[years(RequestedYears::Exactly { from: 2000, to: 2010 })], 1), ["wages"]);
    // Nobody has it: everybody violates it.
    assert_eq!(ask(&[wants("place", &["Mars"])], 4).len(), 4);
    let refused = Demand { avoid: true, ..wants("subject", &["Housing"]) };
    assert_eq!(asked(&index, "", &[wants("place", &["Ontario"]), refused], 1, Route::Auto), ["wages"]);
    // What was only inferred leaves nothing out.
    assert_eq!(ask(&[soft(ontario)], 10).len(), 4);
    let query = RecordQuery { exclude: &["wages".into()], ..query_of(&[]) };
    let found = record_search::search(&index, StaticModel::builtin(), &query).expect("answers");
    assert_eq!((found.matching, found.answers.len()), (3, 3));
}

#[test]
fn what_has_no_end_covers_every_year_from_its_start() {
    let (_lake, index) = catalogue(concat!(
        r#"{"id": "moths", "title": "Moths", "temporal": "1969-05-01/.."}"#,
        "\n",
        r#"{"id": "mosses", "title": "Mosses", "temporal": "../1960"}"#,
        "\n",
        r#"{"id": "ferns", "title": "Ferns", "temporal": "1969"}"#,
        "\n",
    ));
    let ask = |from, to| {
        let demand = years(RequestedYears::Cover { from, to });
        let mut found = asked(&index, "", &[demand], 3, Route::Auto);
        found.sort();
        found
    };
    assert_eq!(ask(1970, 1980), ["ferns -period", "mosses -period", "moths"]);
    assert_eq!(ask(1950, 1951), ["ferns -period", "mosses", "moths -period"]);
    assert_eq!(ask(1969, 1969), ["ferns", "mosses -period", "moths"]);
}

#[test]
fn records_are_read_beside_tables_and_what_is_not_read_is_named() {
    let lake = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(lake.path().join(name), text).expect("a file");
    let record = |title: &str| {
        format!(
            "<record><header><identifier>oai:{title}</identifier></header><metadata><dc><title>{title}</title></dc></metadata></record>"
        )
    };
    write("t1.csv", "code,town\nNIM,Niamey\nAJY,Agadez\n");
    write("rows.json", r#"[{"result": 1, "stop": "Dam"}, {"result": 2, "stop": "Oost"}]"#);
    write("oai.xml", &format!("<OAI-PMH>{}{}</OAI-PMH>", record("Glaciers"), record("Moths")));
    write("moths.jsonld", r#"[{"@type": "Dataset", "name": "Light traps", "@id": "https://doi.org/10.5072/traps"}]"#);
    let packages = r#"{"name": "air", "title": "Airfields of Niger", "resources": [{"url": "https://x.example/t1.csv"}]}, {"name": "bus", "title": "Bus stops"}"#;
    write("search.json", &format!(r#"{{"success": true, "result": {{"results": [{packages}]}}}}"#));
    write("pom.xml", "<project/>");
    write("shapes.ttl", "@prefix a: <b> .");
    write("odd.jsonld", r#"{"@context": "https://schema.org", "@type": "Person"}"#);
    let stats = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((stats.tables, stats.records), (2, 4), "{:?}", stats.problems);
    let mut named: Vec<&str> = stats.problems.iter().filter_map(|(path, _)| path.rsplit('/').next()).collect();
    named.sort();
    assert_eq!(named, ["odd.jsonld", "pom.xml", "shapes.ttl"]);
    assert_eq!(found(lake.path(), "airfields of niger")[0].table, "t1");
    assert!(found(lake.path(), "light traps")[0].record);
    let again = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((again.added, again.changed, again.unchanged), (0, 0, 6));
    fs::remove_file(lake.path().join("oai.xml")).expect("a file");
    let after = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((after.tables, after.records, after.removed), (2, 2, 2));
}

#[test]
fn a_citation_has_the_authors_and_the_version_of_its_record() {
    let (_lake, index) = catalogue(concat!(
        r#"{"doi": "10.5072/quake", "titles": [{"title": "Aftershocks"}], "version": "2.1", "creators": [{"name": "Dushi, Edmond"},"#,
        r#" {"name": "Quakes, Inc.", "nameType": "Organizational"}]}"#,
        "\n",
    ));
    let dataset = index.dataset(index.find("10.5072/quake").expect("a record")).expect("a dataset");
    let citation = Citation::of(&dataset, "lake");
    let named: Vec<(&str, Option<&str>)> =
        citation.creators.iter().map(|author| (author.name.as_str(), author.given.as_deref())).collect();
    assert_eq!(named, [("Dushi", Some("Edmond")), ("Quakes, Inc.", None)]);
    assert_eq!((citation.version.as_str(), citation.creator.as_deref()), ("2.1", Some("Dushi, Edmond; Quakes, Inc.")));
}

fn query_of(demands: &[Demand]) -> RecordQuery<'_> {
    RecordQuery {
        texts: &[],
        said: &[],
        earlier: &[],
        demands,
        k: 10,
        exclude: &[],
        among: None,
        route: Route::Auto,
        weights: RankingWeights::shipped(),
    }
}

#[test]
fn answers_say_what_they_meet() {
    let (_lake, index) = catalogue(CATALOGUE);
    let demands =
        [wants("place", &["Ontario"]), wants("subject", &["Labour"]), soft(years(RequestedYears::EndsIn(2010)))];
    let found = record_search::search(&index, StaticModel::builtin(), &query_of(&demands)).expect("answers");
    let states = |id: &str| {
        let answer = found.answers.iter().find(|answer| answer.table == id).expect("an answer");
        answer.demands.iter().map(|check| check.state).collect::<Vec<_>>()
    };
    use DemandState::{Met, Partly, Unsaid, Violated};
    assert_eq!(states("wages"), [Met, Met, Met]);
    assert_eq!(states("rents"), [Met, Violated, Partly]);
    assert_eq!(states("prices"), [Partly, Violated, Partly]);
    assert_eq!(states("strikes"), [Unsaid, Met, Unsaid]);
    let best = &found.answers[0];
    assert!(best.reason.contains("meets place (Ontario), subject (Labour)"), "{}", best.reason);
    let facets = index.facets().expect("facets");
    let values: Vec<String> = facets.values().map(|(role, value, count)| format!("{role}={value}:{count}")).collect();
    assert_eq!(
        values,
        [
            "place=Canada:2",
            "place=Ontario:2",
            "subject=Housing:2",
            "subject=Labour:2",
            "subject=Prices:1",
            "frequency=Annual:2",
            "frequency=Monthly:2",
            "dimension=Length:1",
            "dimension=Trade:1"
        ]
    );
    assert!(facets.has_years() && facets.records() == 4);
    assert!(facets.title_words().any(|(word, count)| (word, count) == ("wages", 1)));
}

/// A catalogue drawn at random.
fn drawn(records: u64, seed: u64) -> String {
    let words = ["rent", "price", "wage", "school", "river", "birth", "trade", "crime", "tax", "forest"];
    let mut state = seed;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut lines = String::new();
    for number in 0..records {
        let (a, b, c) = (draw(10) as usize, draw(10) as usize, draw(10) as usize);
        let (place, subject, start) = (draw(7), draw(5), 1990 + draw(20));
        lines.push_str(&format!(
            "{{\"id\": \"r{number:05}\", \"title\": \"{} {} {}\", \"place\": \"Place {place}\", \"subject\": [\"S{subject}\"], \
             \"start\": \"{start}\", \"end\": \"{}\"}}\n",
            words[a], words[b], words[c], start + draw(12)
        ));
    }
    lines
}

#[test]
fn proposals_answer_as_all_records_do() {
    let (_lake, index) = catalogue(&drawn(3000, 7));
    let place = wants("place", &["Place 3"]);
    let subject = soft(wants("subject", &["S1"]));
    let cases = [
        ("wage trade", vec![]),
        ("crime", vec![place.clone()]),
        ("river forest", vec![place, subject.clone(), years(RequestedYears::Cover { from: 1999, to: 2003 })]),
        ("tax", vec![subject]),
    ];
    for (text, demands) in cases {
        let exact = asked(&index, text, &demands, 20, Route::Exact);
        assert_eq!(exact.len(), 20);
        assert_eq!(asked(&index, text, &demands, 20, Route::Proposed), exact, "{text} {demands:?}");
    }
}

#[test]
fn an_updated_catalogue_answers_as_one_built_anew() {
    let before = drawn(400, 1);
    let after: String =
        before.lines().enumerate().filter(|(at, _)| at % 9 != 0).map(|(_, line)| format!("{line}\n")).collect();
    let after = after.replace("\"Place 6\"", "\"Place 7\"").replace("school", "college") + CATALOGUE;
    let (lake, _) = catalogue(&before);
    fs::write(lake.path().join("corpus.jsonl"), &after).expect("a file");
    let stats = indexed(lake.path(), &BuildOptions::default());
    assert!(stats.changed > 0 && stats.removed > 0 && stats.added == 4, "{stats:?}");
    let (updated, (_fresh_lake, fresh)) = (opened(lake.path()), catalogue(&after));
    assert!(updated.segments().len() > 1 || stats.merged_segments > 0);
    let all = |index: &LakeIndex| -> Vec<String> {
        let facets = index.facets().expect("facets");
        let words = facets.title_words().map(|(word, count)| format!("{word} {count}"));
        let values = facets.values().map(|(role, value, count)| format!("{role} {value} {count}"));
        values.chain(words).collect()
    };
    assert_eq!(all(&updated), all(&fresh));
    let demands = [wants("place", &["Place 7"]), soft(wants("subject", &["S2"]))];
    let mut ids = [&updated, &fresh].map(|index| asked(index, "", &demands, 1000, Route::Auto));
    ids.iter_mut().for_each(|ids| ids.sort());
    assert_eq!(ids[0], ids[1]);
    let pieces = |index: &LakeIndex| {
        let vectors = BuiltinTokens::of(index, LateModels::default().builtin).expect("pieces");
        let mut query = LateQuery::new(&vectors, "college rents").expect("a request");
        let mut scores: Vec<(String, String)> = Vec::new();
        for table in index.tables() {
            let score = query.score(table).expect("a score");
            scores.push((index.id(table).expect("an id").to_string(), format!("{score:.5}")));
        }
        scores.sort();
        scores
    };
    assert_eq!(pieces(&updated), pieces(&fresh));
}

#[test]
fn hostile_records_are_indexed_within_bounds() {
    let many: Vec<String> = (0..5000).map(|number| format!("\"v{number}\"")).collect();
    let lines = [
        format!(
            r#"{{"id": "a", "title": "x", "subjects2": [{}], "n": {{"members": [null, {{}}, []], "n": 1e400}}}}"#,
            many.join(",")
        ),
        r#"{"id": "b", "title": "\u0000\u202e", "start": "9999-99-99", "end": "0000", "place": ["", " ", "\n"]}"#
            .to_string(),
        r#"{"id": "c", "title": "x", "place": {"members": "Paris", "n": -4}, "": "empty", "\u0000": "nul"}"#
            .to_string(),
        format!(
            r#"{{"id": "d", "title": "y", {}}}"#,
            (0..2000).map(|n| format!("\"f{n}\": \"{}\"", "w".repeat(190))).collect::<Vec<_>>().join(",")
        ),
    ];
    let (_lake, index) = catalogue(&lines.join("\n"));
    let demands = [wants("place", &["Paris", ""]), years(RequestedYears::Cover { from: i32::MAX, to: i32::MIN })];
    let many: Vec<Demand> = (0..500).map(|_| wants("place", &["x"])).collect();
    for demands in [&demands[..], &many] {
        let found = asked(&index, &"w ".repeat(10_000), demands, 10, Route::Auto);
        assert!(found.len() >= 3, "{found:?}");
    }
    assert_eq!(asked(&index, "x", &[], 0, Route::Auto), Vec::<String>::new());
}

#[test]
fn dumps_of_portals_are_lakes() {
    let lake = tempfile::tempdir().expect("a folder");
    let search = r#"{"success": true, "result": {"count": 2, "results": [
        {"name": "air", "title": "Airports", "notes": "Where planes land", "organization": {"title": "ICAO"}, "state": "active",
         "tags": [{"name": "aviation"}], "frequency": "yearly", "extras": [{"key": "update_cycle", "value": "weekly"}],
         "resources": [{"format": "CSV", "url": "https://x.y/air.csv"}]},
        {"name": "bus", "title": "Bus stops", "organization": {"title": "City"}, "frequency": "monthly", "state": "active"}]}}"#;
    fs::write(lake.path().join("search.json"), search).expect("a file");
    let dcat = r#"{"dataset": [{"title": "Trees", "identifier": "https://x.y/d/trees", "accrualPeriodicity": "R/P1Y",
        "publisher": {"name": "City"}, "spatial": "Ghent", "temporal": "2001-01-01/2005-01-01",
        "distribution": [{"downloadURL": "https://x.y/trees.csv", "format": "CSV"}]}]}"#;
    fs::write(lake.path().join("data.json"), dcat).expect("a file");
    let stats = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((stats.tables, stats.records, stats.problems.len()), (0, 3, 0), "{stats:?}");
    let index = opened(lake.path());
    let ask = |demands: &[Demand]| asked(&index, "", demands, 1, Route::Auto);
    assert_eq!(ask(&[wants("source", &["City"]), wants("frequency", &["monthly"])]), ["bus"]);
    assert_eq!(ask(&[wants("place", &["Ghent"]), years(RequestedYears::EndsIn(2005))]), ["trees"]);
    // The file of a dataset comes: it is a table now, described by the same document.
    fs::write(lake.path().join("trees.csv"), "kind,height\noak,20\nelm,12\n").expect("a file");
    let after = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((after.tables, after.records), (1, 2), "{after:?}");
    assert_eq!(found(lake.path(), "trees")[0].rows, Some(2));
    assert_eq!(found(lake.path(), "trees")[0].title, "Trees");
}
