//! The program as its users meet it: exit codes, what goes to stdout and what to stderr, JSON that keeps to its schema, hostile
//! names and cells, updates, and lakes that cannot be written.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::place::{Folder, Run, lakeward};

/// A lake in a folder of its own, with its index beside it.
struct Lake {
    place: Folder,
}

const PEOPLE: &str = "person_id,name,city\np01,Ann Lee,Oslo\np02,Bo Li,Bern\np03,Cy Wu,Rome\np04,Di Ek,Kyiv\n";
const MORE_PEOPLE: &str =
    "person_id,name,city\np05,Ed Fox,Oslo\np06,Flo Ray,Riga\np07,Gus May,Bonn\np08,Hal Orr,Kyiv\n";
const CITIES: &str = "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\nKyiv,Ukraine,2952301\n\
                      Riga,Latvia,605273\nBonn,Germany,335975\n";
const HEIGHTS: &str = "mountain,height_m\nEiger,3967\nTriglav,2864\nMusala,2925\nGaldhøpiggen,2469\n";

impl Lake {
    fn new(files: &[(&str, &str)]) -> Self {
        let lake = Self { place: Folder::of(&[]) };
        files.iter().for_each(|(name, text)| lake.write(name, text.as_bytes()));
        lake
    }

    fn small() -> Self {
        Self::new(&[
            ("people.csv", PEOPLE),
            ("more_people.csv", MORE_PEOPLE),
            ("geo/cities.csv", CITIES),
            ("geo/heights.csv", HEIGHTS),
        ])
    }

    fn folder(&self) -> PathBuf {
        self.place.at("lake")
    }

    fn index(&self) -> PathBuf {
        self.place.at("index")
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        self.place.write(&format!("lake/{name}"), bytes);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = lakeward(arguments);
        command.current_dir(self.place.path()).env("LAKEWARD_LAKE", self.folder()).env("LAKEWARD_INDEX", self.index());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json()
    }
}

/// Every file below `folder` with its bytes.
fn files(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert((entry.path(), fs::read(entry.path()).expect("a file")));
        }
    }
    found
}

#[test]
fn a_damaged_index_is_refused_with_the_way_to_repair_it() {
    let lake = Lake::small();
    lake.run(&["index"]);
    let before = answers(&lake);
    for part in ["catalog.seg", "columns.seg", "facets.seg", "join.seg", "tokens.seg", "vectors.seg", "words.seg"] {
        let (path, bytes) =
            files(&lake.index()).into_iter().find(|(path, _)| path.ends_with(part)).expect("a part of the index");
        fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
        for arguments in [&["join", "people"][..], &["verify"], &["index"]] {
            let run = lake.run(arguments);
            assert_eq!(run.code, 3, "{path:?} {arguments:?}: {}", run.stderr);
            assert!(run.stderr.contains("damaged") && run.stderr.contains("--repair"), "{path:?}: {}", run.stderr);
        }
        assert_eq!(lake.json(&["index", "--repair"])["repaired_segments"], 1, "{path:?}");
        assert_eq!(answers(&lake), before, "{path:?}");
    }
    assert_eq!(lake.json(&["index", "--repair"])["repaired_segments"], 0);
    fs::write(lake.index().join("manifest.json"), "{").expect("a file");
    assert_eq!(lake.run(&["search", "towns"]).code, 3);
    assert_eq!(lake.run(&["index", "--rebuild"]).code, 0);
    assert_eq!(lake.run(&["verify"]).code, 0);
}

/// Whether `value` fits `schema`: types, required and known properties, items, references and alternatives.
fn fits(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        return fits(value, root.pointer(name.trim_start_matches('#')).ok_or(name)?, root);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[key].as_array()
            && !choices.iter().any(|choice| fits(value, choice, root).is_ok())
        {
            return Err(format!("{value} fits none of {key}"));
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(value, part, root)?;
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !types.is_empty() && !types.into_iter().any(is) {
        return Err(format!("{value} is no {}", schema["type"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        value.get(name).ok_or_else(|| format!("`{name}` is missing in {value}"))?;
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, field) in fields {
            fits(field, known.get(name).ok_or_else(|| format!("`{name}` is not in the schema"))?, root)?;
        }
    }
    if let Some(values) = value.as_array() {
        for (place, item) in values.iter().enumerate() {
            let schema = schema["prefixItems"].get(place).unwrap_or(&schema["items"]);
            fits(item, schema, root)?;
        }
    }
    Ok(())
}

#[test]
fn json_keeps_to_its_schema() {
    let lake = Lake::small();
    lake.write("ragged.csv", b"a,b\n1,2,3\n4\n");
    lake.write("bad/empty.csv", b"");
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("index", &["index"], &["tables", "added", "changed", "removed", "unchanged", "skipped", "repaired"]),
        ("search", &["search", "towns"], &["lakeward", "query", "answers", "elapsed_ms"]),
        ("join", &["join", "people", "--column", "city"], &["query", "answers"]),
        ("join", &["join", "people"], &["query", "answers", "composite_keys", "notes"]),
        ("join", &["join", "people", "--column", "city,name"], &["query", "answers", "composite_keys", "notes"]),
        ("union", &["union", "people"], &["query", "answers"]),
        ("profile", &["profile", "people"], &["id", "path", "profile", "report", "in_lake", "composite_keys"]),
        ("profile", &["profile", "ragged"], &["id"]),
        ("tables", &["tables"], &["tables"]),
        ("verify", &["verify"], &["files", "read_bytes", "damaged"]),
    ];
    for (schema, arguments, fields) in cases {
        let document = lake.json(arguments);
        for field in *fields {
            assert!(document.get(field).is_some(), "{arguments:?}: {field}: {document}");
        }
        let schema = lake.json(&["schema", schema]);
        fits(&document, &schema, &schema).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    }
    assert_eq!(lake.json(&["join", "people", "--column", "city"])["answers"][0]["table"], "geo/cities");
    assert_eq!(lake.json(&["union", "people"])["answers"][0]["table"], "more_people");
}

#[test]
fn nothing_of_the_lake_reaches_the_terminal_raw() {
    let hostile = "id,na\u{1b}[31mme,\u{202e}txet\nx1,\u{1b}]0;owned\u{7},\u{202e}abc\nx2,\u{9b}2J,\u{2066}q\u{2069}\nx3,\u{200b}\u{feff}z,\rback\n";
    let lake = Lake::new(&[("plain.csv", PEOPLE), ("more_people.csv", MORE_PEOPLE)]);
    lake.write("e\u{1b}[2Jvil\u{202e}.csv", hostile.as_bytes());
    lake.write("twin.csv", hostile.as_bytes());
    lake.write("bro\u{1b}[5mken.csv", b"");
    let raw = |text: &str| {
        text.chars().find(|c| {
            (c.is_control() && *c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        })
    };
    for arguments in [
        &["index"][..],
        &["tables"],
        &["profile", "twin"],
        &["profile", "e\u{1b}[2Jvil\u{202e}"],
        &["profile", "e\u{1b}[2J"],
        &["search", "owned", "--explain"],
        &["join", "twin", "--explain"],
        &["join", "twin", "--column", "\u{1b}[31m"],
        &["union", "twin", "--explain"],
        &["index", "no\u{1b}[2Jwhere"],
    ] {
        let run = lake.run(arguments);
        assert_eq!(
            (raw(&run.stdout), raw(&run.stderr)),
            (None, None),
            "{arguments:?}: {:?} {:?}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let lake = Lake::small();
    lake.run(&["index"]);
    for arguments in
        [&["tables"][..], &["profile", "people"], &["search", "towns", "--explain"], &["schema", "profile"]]
    {
        let mut child =
            lake.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().expect("stderr").read_to_string(&mut stderr).expect("UTF-8");
        assert!(child.wait().is_ok() && !stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
    let mut child = lake.command(&["join", "nowhere"]).stderr(Stdio::piped()).spawn().expect("the program");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("an end").code(), Some(2), "nobody reads stderr");
}

/// The answers of an index by table, without times and with numbers to three digits. Scores and order are left out: tables
/// struck out still count in the statistics of words and values until their segment is written anew.
fn answers(lake: &Lake) -> Vec<Value> {
    let asked: &[&[&str]] = &[
        &["tables"],
        &["search", "towns", "and", "their", "inhabitants"],
        &["join", "people", "--column", "city"],
        &["union", "people"],
        &["profile", "people"],
    ];
    let mut answers: Vec<Value> = asked.iter().map(|arguments| lake.json(arguments)).collect();
    for document in answers.iter_mut().filter_map(Value::as_object_mut) {
        document.remove("elapsed_ms");
        let Some(found) = document.get_mut("answers").and_then(Value::as_array_mut) else { continue };
        found.sort_by_key(|answer| answer["table"].to_string());
        for answer in found.iter_mut().filter_map(Value::as_object_mut) {
            answer.retain(|name, _| {
                let by_statistics = ["lexical_score", "rarity", "score", "parts", "features", "cosine"];
                !by_statistics.contains(&name.as_str())
            });
            // So does how close in meaning a text is: its rare words weigh more.
            if let Some(reason) = answer.get("reason").and_then(Value::as_str).map(str::to_string) {
                let until = reason.find("close in meaning").unwrap_or(reason.len());
                answer.insert("reason".into(), Value::from(&reason[..until]));
            }
        }
    }
    answers.iter_mut().for_each(round);
    answers
}

fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = (number.as_f64().expect("a number") * 1000.0).round() / 1000.0;
            *value = Value::from(rounded);
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

#[test]
fn an_update_touches_what_changed_and_answers_like_a_new_index() {
    let lake = Lake::small();
    let counts = |stats: &Value| {
        ["added", "changed", "removed", "renamed", "unchanged"].map(|name| stats[name].as_u64().expect("a count"))
    };
    assert_eq!(counts(&lake.json(&["index"])), [4, 0, 0, 0, 0]);
    type Step = (&'static str, fn(&Lake), [u64; 5]);
    let steps: &[Step] = &[
        ("nothing", |_| {}, [0, 0, 0, 0, 4]),
        ("write the same", |lake| lake.write("people.csv", PEOPLE.as_bytes()), [0, 0, 0, 0, 4]),
        (
            "add",
            |lake| lake.write("geo/towns.csv", CITIES.replace("inhabitants", "people").as_bytes()),
            [1, 0, 0, 0, 4],
        ),
        ("change", |lake| lake.write("people.csv", format!("{PEOPLE}p09,Ivy Tan,Riga\n").as_bytes()), [0, 1, 0, 0, 4]),
        ("remove", |lake| fs::remove_file(lake.folder().join("geo/heights.csv")).expect("a file"), [0, 0, 1, 0, 4]),
        (
            "rename",
            |lake| {
                fs::rename(lake.folder().join("geo/cities.csv"), lake.folder().join("geo/places.csv")).expect("a file")
            },
            [0, 0, 0, 1, 3],
        ),
        ("nothing again", |_| {}, [0, 0, 0, 0, 4]),
    ];
    for (name, change, expected) in steps {
        change(&lake);
        let stats = lake.json(&["index"]);
        assert_eq!(counts(&stats), *expected, "{name}: {stats}");
        let updated = answers(&lake);
        let second = Lake::new(&[]);
        Run::of(lake.command(&["index", "--quiet"]).env("LAKEWARD_INDEX", second.index())).succeeded();
        std::os::unix::fs::symlink(lake.folder(), second.folder()).expect("a link");
        for (updated, fresh) in updated.iter().zip(answers(&second)) {
            assert_eq!(*updated, fresh, "after {name}");
        }
    }
    assert_eq!(lake.run(&["verify"]).code, 0);
}

#[test]
fn the_lake_is_never_written_when_the_index_is_elsewhere() {
    let lake = Lake::small();
    let before = files(&lake.folder());
    let mode = |mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(lake.folder(), fs::Permissions::from_mode(mode)).expect("permissions");
    };
    mode(0o555);
    for arguments in
        [&["index"][..], &["search", "towns"], &["join", "people"], &["union", "people"], &["profile", "people"]]
    {
        assert_eq!(lake.run(arguments).code, 0, "{arguments:?}");
    }
    mode(0o755);
    assert_eq!(files(&lake.folder()), before);
}

#[test]
#[cfg(unix)]
fn a_watched_lake_stays_fresh_until_ctrl_c() {
    let lake = Lake::small();
    assert_eq!(lake.run(&["index"]).code, 0);
    let mut watching = lake.command(&["index", "--watch"]).stdout(Stdio::null()).spawn().expect("the program");
    let wait_for = |what: &str, good: &dyn Fn(&Run) -> bool| {
        let began = std::time::Instant::now();
        loop {
            let run = lake.run(&["tables"]);
            if good(&run) {
                return;
            }
            assert!(began.elapsed().as_secs() < 30, "{what}: {}", run.said());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    wait_for("first index", &|run| run.stdout.contains("geo/cities"));
    // Watching begins after the first update; until then a change may pass unheard, so it is made again and again.
    wait_for("a new table", &|run| {
        if !run.stdout.contains("late/comer") {
            lake.write("late/comer.csv", HEIGHTS.as_bytes());
        }
        run.stdout.contains("late/comer")
    });
    fs::remove_file(lake.folder().join("people.csv")).expect("a file");
    wait_for("a table less", &|run| {
        run.code == 0 && !run.stdout.contains("\n people ") && !run.stdout.contains("people.csv")
    });
    let stop = Command::new("kill").arg("-INT").arg(watching.id().to_string()).status().expect("kill");
    assert!(stop.success());
    assert_eq!(watching.wait().expect("an end").code(), Some(0));
    assert_eq!(lake.run(&["verify"]).code, 0);
}

#[test]
fn a_sampled_lake_says_so_in_every_answer() {
    let orders = |rows: std::ops::Range<u32>| {
        let lines = rows.map(|row| format!("O{row:04},{},Customer {}\n", row % 7, row % 90));
        format!("order_id,quantity,customer\n{}", lines.collect::<String>())
    };
    let lake =
        Lake::new(&[("orders.csv", &orders(0..600)), ("older_orders.csv", &orders(300..900)), ("people.csv", PEOPLE)]);
    let built = lake.json(&["index", "--sample-rows", "200"]);
    assert_eq!((&built["sampled"], &built["rows"], &built["partial"]), (&2.into(), &404.into(), &Value::Array(vec![])));
    assert_eq!(lake.json(&["index", "--sample-rows", "200"])["unchanged"], 3, "read once");

    let profile = lake.json(&["profile", "orders"]);
    let sample = &profile["report"]["sample"];
    assert_eq!((&profile["sampled"], &sample["rows"], &sample["estimated"]), (&true.into(), &200.into(), &true.into()));
    assert!((540..660).contains(&sample["total_rows"].as_u64().unwrap()), "{sample}");
    let shown = lake.run(&["profile", "orders"]);
    assert!(shown.code == 0 && shown.stdout.contains("the first 200 rows of about "), "{}", shown.said());
    assert_eq!(lake.json(&["profile", "people"])["sampled"], false);

    let tables = lake.json(&["tables"]);
    let sampled: Vec<bool> =
        tables["tables"].as_array().unwrap().iter().map(|table| table["sampled"].is_object()).collect();
    assert_eq!(sampled, [true, true, false]);
    lake.place.write("outside.csv", orders(100..350));
    let outside = &lake.place.text("outside.csv");
    for arguments in [
        vec!["search", "order customer"],
        vec!["join", "orders", "--column", "customer"],
        vec!["join", outside, "--column", "order_id"],
        vec!["join", outside, "--column", "order_id,customer"],
        vec!["union", "orders"],
    ] {
        let document = lake.json(&arguments);
        let answers = document["answers"].as_array().unwrap();
        assert!(!answers.is_empty(), "{arguments:?}");
        let of_orders = |answer: &&Value| answer["table"].as_str().unwrap().contains("orders");
        for answer in answers.iter().filter(of_orders) {
            assert_eq!(answer["sampled"], true, "{arguments:?}: {answer}");
            assert!(answer["reason"].as_str().unwrap().contains("from a sample: the first 200 rows"), "{answer}");
            assert_ne!(answer.get("exact"), Some(&Value::Bool(true)), "{arguments:?}");
        }
        let shown = lake.run(&arguments).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("sample"), "{arguments:?}: {shown}");
    }

    // Other samples, then all rows: what was cut is read again, what was read whole is not.
    let other = lake.json(&["index", "--sample-rows", "500"]);
    assert_eq!((&other["changed"], &other["unchanged"], &other["sampled"]), (&2.into(), &1.into(), &2.into()));
    let whole = lake.json(&["index"]);
    assert_eq!((&whole["changed"], &whole["unchanged"], &whole["sampled"]), (&2.into(), &1.into(), &0.into()));
    assert_eq!(lake.json(&["profile", "orders"])["profile"]["rows"], 600);
    assert_eq!(lake.json(&["join", outside, "--column", "order_id"])["answers"][0]["exact"], true);
    assert_eq!(lake.json(&["index"])["unchanged"], 3);
    let back = lake.json(&["index", "--sample-rows", "50"]);
    assert_eq!((&back["changed"], &back["unchanged"]), (&2.into(), &1.into()));
}
