//! Shards as services, and the service in front of them.

use super::*;

const TOKEN: &str = "a token of the tests";

/// A running `lakeward serve`.
struct Serving {
    process: Child,
    port: u16,
}

impl Serving {
    /// A service at `port`, or at any if that is 0.
    fn start(parted: &Parted, port: u16, arguments: &[&str], settings: Option<&Path>) -> Self {
        let tokens = parted.folder.path().join("tokens.toml");
        let hash: String = Sha256::digest(TOKEN).iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(&tokens, format!("[front]\nsha256 = \"{hash}\"\nrights = \"read\"\n")).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
        command.arg("--lake").arg(&parted.place().lake).args([
            "--no-llm",
            "serve",
            "--listen",
            &format!("127.0.0.1:{port}"),
        ]);
        command.arg("--token-file").arg(&tokens).args(arguments).env("LAKEWARD_SHARD_TOKEN", TOKEN);
        match settings {
            Some(settings) => command.env("LAKEWARD_CONFIG", settings),
            None => command.env_remove("LAKEWARD_CONFIG"),
        };
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("stdout")).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("an address: {line}"));
        let port = rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
        Self { process, port }
    }

    fn shard(parted: &Parted, number: u32, of: u32) -> Self {
        Self::start(parted, 0, &["--shard", &format!("{number}/{of}")], None)
    }

    fn front(parted: &Parted, ports: &[u16]) -> Self {
        let addresses: Vec<String> = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        Self::start(parted, 0, &["--shards", &addresses.join(",")], None)
    }

    /// The status and the body of GET.
    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n", self.port);
        write!(stream, "{head}authorization: Bearer {TOKEN}\r\n\r\n").expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|_| json!(body)))
    }

    fn ask(&self, question: &SharedQuestion) -> Value {
        let (status, answer) = self.get(&path_of(question));
        assert_eq!(status, 200, "{question:?}: {answer}");
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn path_of(question: &SharedQuestion) -> String {
    let escaped = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    match question {
        SharedQuestion::Search { text, k } => format!("/api/v1/search?q={}&k={k}", escaped(text)),
        SharedQuestion::Join { table, column, k } => {
            let column = column.as_ref().map(|column| format!("&column={}", escaped(column))).unwrap_or_default();
            format!("/api/v1/join?table={}&k={k}{column}", escaped(table))
        }
        SharedQuestion::Union { table, k } => format!("/api/v1/union?table={}&k={k}", escaped(table)),
    }
}

fn some_questions(parted: &Parted) -> Vec<SharedQuestion> {
    let tables = parted.tables(30);
    let of_tables = tables.iter().flat_map(|table| [join(table), union(table)]);
    ["rain by station and day", "population of countries", "penguins"]
        .map(search)
        .into_iter()
        .chain(of_tables)
        .collect()
}

/// By the numbers of shards that are missing, why.
fn missing(answer: &Value) -> BTreeMap<u64, String> {
    let missing = answer["shards"]["missing"].as_array().expect("a list").iter();
    missing.map(|shard| (shard["shard"].as_u64().expect("a number"), shard["reason"].to_string())).collect()
}

#[test]
fn a_shard_that_goes_down_is_told_and_the_others_answer() {
    let parted = sample_lake(true);
    let mut shards: Vec<Serving> = (0..3).map(|number| Serving::shard(&parted, number, 3)).collect();
    let ports: Vec<u16> = shards.iter().map(|shard| shard.port).collect();
    let front = Serving::front(&parted, &ports);
    let opened = parted.shards(3);
    let questions = some_questions(&parted);
    for question in &questions {
        let answer = front.ask(question);
        assert!(is_same(&answer["answers"], &parted.expected(question)), "{question:?}: {answer:#}");
        assert_eq!(
            (answer["shards"]["answered"].as_str(), missing(&answer).len()),
            (Some("3 of 3 shards answered"), 0)
        );
    }
    // Only these paths are there, and a shard does not answer for the others.
    assert_eq!(front.get("/api/v1/columns?q=a").0, 404);
    let (status, refused) = shards[0].get("/api/v1/search?q=a");
    assert!(status == 404 && refused["error"].as_str().is_some_and(|error| error.contains("in shards")), "{refused}");
    let (status, refused) = front.get("/api/v1/join?table=no/such/table");
    assert!(
        status == 404 && refused["error"].as_str().is_some_and(|error| error.contains("no/such/table")),
        "{refused}"
    );
    assert_eq!(front.get("/api/v1/join?table=rain_v1&column=station,day").0, 400);

    // Killed while questions are asked: each answer is that of three or of two, and says which.
    let down = (0..3).max_by_key(|number| (!opened[*number].index().is_empty(), *number)).expect("a shard");
    let rest: Vec<Lakeward> =
        opened.iter().enumerate().filter(|(number, _)| *number != down).map(|(_, shard)| shard.clone()).collect();
    let held: BTreeSet<String> = rest
        .iter()
        .flat_map(|shard| {
            shard.index().tables().map(|table| shard.index().id(table).expect("an id").to_string()).collect::<Vec<_>>()
        })
        .collect();
    let kept: Vec<&SharedQuestion> = questions
        .iter()
        .filter(|question| match question {
            SharedQuestion::Search { .. } => true,
            SharedQuestion::Join { table, .. } | SharedQuestion::Union { table, .. } => held.contains(table),
        })
        .collect();
    let both: Vec<(Value, Value)> =
        kept.iter().map(|question| (parted.expected(question), answered(&rest, question).0)).collect();
    let mut counts = [0, 0];
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut counts = [0, 0];
            for _ in 0..3 {
                for (question, (of_three, of_two)) in kept.iter().zip(&both) {
                    let answer = front.ask(question);
                    let without = missing(&answer);
                    let expected = if without.is_empty() { of_three } else { of_two };
                    assert!(is_same(&answer["answers"], expected), "{question:?}: {answer:#}");
                    assert!(without.keys().all(|shard| *shard == down as u64), "{without:?}");
                    counts[without.len()] += 1;
                }
            }
            counts
        });
        std::thread::sleep(Duration::from_millis(60));
        shards[down].process.kill().expect("killed");
        counts = asking.join().expect("answers");
    });
    assert!(counts[1] > 0, "{counts:?}");
    let answer = front.ask(kept[0]);
    assert_eq!(answer["shards"]["answered"], "2 of 3 shards answered");
    let lost = parted.tables(1).into_iter().find(|table| !held.contains(table)).expect("a table of the shard");
    let (status, refused) = front.get(&path_of(&join(&lost)));
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(status == 404 && error.contains("2 of 3 shards answered"), "{refused}");

    // Back again, at the same address.
    drop(shards.remove(down));
    let again = Serving::start(&parted, ports[down], &["--shard", &format!("{down}/3")], None);
    let until = Instant::now() + Duration::from_secs(20);
    while !missing(&front.ask(kept[0])).is_empty() {
        assert!(Instant::now() < until, "it is asked again");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop((again, shards));
    let (status, refused) = front.get(&path_of(kept[0]));
    assert!(status == 503 && refused["error"] == "no shard of the index answers", "{refused}");
}

/// A server that answers each request with `text`, or not at all.
fn strange(text: Option<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            match text {
                Some(text) => drop(stream.write_all(text.as_bytes())),
                None => held.push(stream),
            }
        }
    });
    port
}

#[test]
fn strange_shards_and_those_of_another_lake_are_named_and_left_out() {
    let parted = sample_lake(true);
    let shards: Vec<Serving> = (0..4).map(|number| Serving::shard(&parted, number, 4)).collect();
    let opened = parted.shards(4);
    let number = (0..4).rev().find(|number| !opened[*number].index().segments().is_empty()).expect("a shard");
    let rest: Vec<Lakeward> =
        opened.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, shard)| shard.clone()).collect();
    let question = search("population of countries");
    let expected = answered(&rest, &question).0;
    let settings = parted.folder.path().join("settings.toml");
    fs::write(&settings, "[synonyms]\n\"bicycle\" = [\"velocipede\"]\n").expect("a file");
    let other = Serving::start(&parted, 0, &["--shard", &format!("{number}/4")], Some(&settings));
    let misplaced = Serving::shard(&parted, (number as u32 + 1) % 4, 4);
    let strangers = [
        (strange(Some("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")), "what a shard says"),
        (strange(Some("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{\"state\"")), "ended early"),
        (strange(Some("HTTP/1.1 500 Oh\r\ncontent-length: 22\r\n\r\n{\"error\": \"no memory\"}")), "500: no memor"),
        (strange(Some("\u{0}\u{1} nothing that is known")), "ended early"),
        (strange(None), "does not answer within"),
        (1, "cannot be reached"),
        (other.port, "other notes or synonyms"),
        (misplaced.port, "it is shard"),
    ];
    for (port, reason) in strangers {
        let ports: Vec<u16> = (0..4).map(|other| if other == number { port } else { shards[other].port }).collect();
        let answer = Serving::front(&parted, &ports).ask(&question);
        let without = missing(&answer);
        assert!(
            without.keys().eq([&(number as u64)]) && without[&(number as u64)].contains(reason),
            "{reason}: {without:?}"
        );
        assert!(is_same(&answer["answers"], &expected), "{reason}: {answer:#}");
    }
    // An index that changes: shards follow, and until they do, they say so.
    let ports: Vec<u16> = shards.iter().map(|shard| shard.port).collect();
    let front = Serving::front(&parted, &ports);
    fs::write(parted.place().lake.join("velocipedes.csv"), "velocipede,wheels\nordinary,2\ntricycle,3\n")
        .expect("a file");
    Lakeward::build(parted.place().clone(), &BuildOptions::default(), &Silent).expect("an index");
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let (status, answer) = front.get(&path_of(&search("velocipedes")));
        if status == 200 && missing(&answer).is_empty() && tables_of(&answer["answers"]).first() == Some(&"velocipedes")
        {
            break;
        }
        assert!(Instant::now() < until, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
