//! A lake and its index in a store, served: what the store is asked meanwhile, and that a commit of another machine is seen.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::mcp;
use super::server::Server;
use crate::place::{Folder, Run, lakeward};
use crate::store_server::{BUCKET, KEY_ID, StoreServer};
use crate::stores::environment;

const CITIES: &str = "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\n";
const RIVERS: &str = "river,length\nDon,1870\nPo,652\n";
/// How long a service may take to see a commit: it looks every ten seconds.
const PATIENCE: Duration = Duration::from_secs(40);

/// A bucket with a lake and its index.
struct Bucket {
    store: StoreServer,
    machines: Folder,
}

impl Bucket {
    fn new() -> Self {
        let bucket = Self { store: StoreServer::start(), machines: Folder::of(&[]) };
        bucket.store.put(&format!("{BUCKET}/lake/cities.csv"), CITIES);
        bucket.index();
        bucket
    }

    /// The program on a machine, whose folder of this name has what it fetches.
    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = lakeward(arguments);
        command.env_clear().envs(environment(&self.store, KEY_ID)).current_dir(self.machines.path());
        command.env("LAKEWARD_LAKE", format!("s3://{BUCKET}/lake"));
        command.env("LAKEWARD_INDEX", format!("s3://{BUCKET}/index"));
        command.env("LAKEWARD_STATE", self.machines.at(machine));
        command
    }

    fn index(&self) {
        Run::of(&mut self.command("writer", &["index", "--fast"])).succeeded();
    }
}

/// The tables of the answers to a search.
fn found(server: &Server, words: &str) -> Vec<Value> {
    let answer = server.get(&format!("/api/v1/search?q={words}"));
    let answers = answer.json()["answers"].as_array().cloned();
    answers.unwrap_or_else(|| panic!("{}", answer.text())).into_iter().map(|one| one["table"].clone()).collect()
}

#[test]
fn a_service_over_addresses_asks_for_nothing_twice_and_sees_a_commit() {
    let bucket = Bucket::new();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::run(bucket.command("server", &["--no-llm"]), folder, &[], None);
    assert_eq!(found(&server, "inhabitants")[0], "cities");
    let rows = server.post("/api/v1/sql", &json!({"query": "SELECT max(inhabitants) AS m FROM lake.cities"}));
    assert!(rows.text().contains("2755309"), "{}", rows.text());
    bucket.store.asked();
    assert_eq!(found(&server, "inhabitants")[0], "cities");
    // Only what looks for newer commits.
    let asked = bucket.store.asked();
    assert!(asked.iter().all(|asked| asked.path.contains("list-type")), "{asked:?}");
    bucket.store.put(&format!("{BUCKET}/lake/rivers.csv"), RIVERS);
    bucket.index();
    let begun = Instant::now();
    while !found(&server, "length+of+a+river").contains(&json!("rivers")) {
        assert!(begun.elapsed() < PATIENCE, "the commit is not seen");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn tools_over_addresses() {
    let bucket = Bucket::new();
    let mut server = mcp::Server::run_and_greeted(&mut bucket.command("server", &["--no-llm"]));
    let found = server.call("find_tables", &json!({"request": "inhabitants of cities", "k": 3})).to_string();
    assert!(found.contains("cities"), "{found}");
    let described = server.call("describe_table", &json!({"table": "cities", "fields": ["sample"]})).to_string();
    assert!(described.contains("2755309"), "{described}");
}
