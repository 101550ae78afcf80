//! Lakes in object stores, as the program's users meet them: a bucket is indexed, searched and queried as a folder is, an update asks
//! for what has changed, and what the store refuses is named.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::place::{Folder, Run, lakeward};
use crate::store_server::{BUCKET, Fault, KEY_ID, StoreServer};

const PEOPLE: &str = "person_id,name,city\np01,Ann Lee,Oslo\np02,Bo Li,Bern\np03,Cy Wu,Rome\np04,Di Ek,Kyiv\n";
const CITIES: &str =
    "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\nKyiv,Ukraine,2952301\n";

/// A bucket with a lake in its folder `lake`, and a folder of this machine for the index.
struct Bucket {
    server: StoreServer,
    place: Folder,
    key_id: &'static str,
    is_google: bool,
}

/// What the program has to know of Google's storage.
pub fn google_environment(server: &StoreServer) -> (&'static str, String) {
    let key = json!({
        "gcs_base_url": server.url(), "disable_oauth": true, "client_email": "", "private_key": "", "private_key_id": ""
    });
    ("GOOGLE_SERVICE_ACCOUNT_KEY", key.to_string())
}

/// What the program has to know of a store.
pub fn environment(server: &StoreServer, key_id: &str) -> [(&'static str, String); 4] {
    [
        ("AWS_ENDPOINT_URL", server.url()),
        ("AWS_REGION", "us-east-1".into()),
        ("AWS_ACCESS_KEY_ID", key_id.into()),
        ("AWS_SECRET_ACCESS_KEY", "secret".into()),
    ]
}

impl Bucket {
    fn new(files: &[(&str, &str)]) -> Bucket {
        let (server, place) = (StoreServer::start(), Folder::of(&[]));
        let bucket = Bucket { server, place, key_id: KEY_ID, is_google: false };
        for (name, text) in files {
            bucket.server.put(&format!("{BUCKET}/lake/{name}"), *text);
        }
        bucket
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = lakeward(arguments);
        command.current_dir(self.place.path()).env_clear();
        if self.is_google {
            command.envs([google_environment(&self.server)]);
        } else {
            command.envs(environment(&self.server, self.key_id));
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.command(arguments);
        let scheme = if self.is_google { "gs" } else { "s3" };
        command.env("LAKEWARD_LAKE", format!("{scheme}://{BUCKET}/lake")).env("LAKEWARD_INDEX", self.place.at("index"));
        Run::of(&mut command)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json()
    }

    /// The ids of its tables.
    fn ids(&self) -> Vec<String> {
        let listed = self.json(&["tables"]);
        let tables = listed["tables"].as_array().expect("a list").iter();
        tables.filter_map(|one| one["table"].as_str().map(str::to_string)).collect()
    }

    /// How many lists, and how many parts of files, were asked for since the last call.
    fn asked(&self) -> (usize, usize) {
        let asked = self.server.asked();
        let lists = asked.iter().filter(|asked| asked.path.contains("list-type")).count();
        (lists, asked.iter().filter(|asked| asked.range.is_some()).count())
    }
}

#[test]
fn a_bucket_is_a_lake() {
    is_a_lake(false);
}

#[test]
fn a_bucket_of_google_is_a_lake() {
    is_a_lake(true);
}

/// A bucket is indexed, searched, queried and brought up to date by as few requests as there can be.
fn is_a_lake(is_google: bool) {
    let bucket = Bucket::new(&[
        ("people.csv", PEOPLE),
        ("geo/cities.csv", CITIES),
        ("geo/notes & more.md", "# Cities\n"),
        ("sales/year=2020/part-0.csv", "town,amount\nOslo,3\n"),
        ("sales/year=2021/part-0.csv", "town,amount\nOslo,5\nBern,6\n"),
    ]);
    let bucket = Bucket { is_google, ..bucket };
    if is_google {
        bucket.server.be_google();
    }
    bucket.server.put("bucket/elsewhere/x.csv", "a\n1\n");
    bucket.run(&["index"]).succeeded();
    // Five keys are two pages; each table file is one request.
    assert_eq!(bucket.asked(), (2, 4));
    assert_eq!(bucket.ids(), ["geo/cities", "people", "sales"]);
    let found = bucket.json(&["search", "inhabitants of cities"]);
    assert_eq!(found["answers"][0]["table"], "geo/cities", "{found}");
    assert_eq!(bucket.asked(), (0, 0), "a search asks the index alone");
    let joined = bucket.json(&["join", "people", "--column", "city"]);
    assert_eq!(joined["answers"][0]["table"], "geo/cities", "{joined}");
    let sql = bucket.run(&["sql", "SELECT sum(amount) AS s FROM sales WHERE year = 2021", "--format", "csv"]);
    assert_eq!((sql.code, sql.stdout.trim()), (0, "s\n11"), "{}", sql.stderr);
    bucket.run(&["verify"]).succeeded();

    // Nothing has changed: the lists, and nothing else.
    bucket.asked();
    assert_eq!(bucket.run(&["index"]).code, 0);
    assert_eq!(bucket.asked(), (2, 0));
    bucket.server.put("bucket/lake/people.csv", format!("{PEOPLE}p05,Ed Fox,Oslo\n"));
    bucket.server.remove("bucket/lake/geo/cities.csv");
    let updated = bucket.run(&["index"]);
    assert_eq!((updated.code, bucket.asked()), (0, (2, 1)), "{}", updated.stderr);
    let rows = bucket.run(&["sql", "SELECT count(*) AS n FROM people", "--format", "csv"]);
    assert_eq!(rows.stdout.trim(), "n\n5", "{}", rows.stderr);
    // What the store has is not what was indexed.
    bucket.server.put("bucket/lake/people.csv", "other,columns\n1,2\n");
    let changed = bucket.run(&["sql", "SELECT count(*) AS n FROM people", "--format", "csv"]);
    assert!(changed.code == 3 && changed.stderr.contains("changed since it was indexed"), "{}", changed.stderr);
}

/// Of a table in many files, a query asks for the first, which says how all are written, and for those of its partitions.
#[test]
fn a_query_asks_for_the_partitions_that_it_needs() {
    let bucket = Bucket::new(&[]);
    let written = |place: &Path, row: &str| {
        let query = format!("COPY (SELECT {row}) TO '{}' STORED AS PARQUET", place.display());
        let context = datafusion::prelude::SessionContext::new();
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async { context.sql(&query).await?.collect().await }).expect("a file");
        fs::read(place).expect("a file")
    };
    for year in 1990..2020 {
        let text = format!("town,amount\nOslo,{year}\nBern,6\n");
        bucket.server.put(&format!("{BUCKET}/lake/sales/year={year}/part-0.csv"), text);
        let file = written(&bucket.place.at("part.parquet"), &format!("'Oslo' AS town, {year} AS amount"));
        bucket.server.put(&format!("{BUCKET}/lake/typed/year={year}/part-0.parquet"), file);
        // Some have a column more, or wider numbers.
        let (name, value, amount) = if year % 10 == 0 { (",note", ",new", "1.5::DOUBLE") } else { ("", "", "2::INT") };
        let text = format!("town,amount{name}\nOslo,{year}{value}\n");
        bucket.server.put(&format!("{BUCKET}/lake/drifting/year={year}/part-0.csv"), text);
        let row = format!("'Oslo' AS town, {year} AS amount, {amount} AS \"share{name}\"");
        let file = written(&bucket.place.at("part.parquet"), &row);
        bucket.server.put(&format!("{BUCKET}/lake/drifting_typed/year={year}/part-0.parquet"), file);
    }
    bucket.run(&["index", "--fast"]).succeeded();
    for table in ["sales", "typed", "drifting", "drifting_typed"] {
        bucket.asked();
        let query = format!("SELECT max(amount) AS a FROM {table} WHERE year = 2005");
        let found = bucket.run(&["sql", &query, "--format", "csv"]);
        assert_eq!(found.stdout.trim(), "a\n2005", "{}", found.stderr);
        assert_eq!(bucket.asked().1, 2, "{table}");
    }
    // A file that is no longer like the others is told by who reads it, and by no one else.
    bucket.server.put("bucket/lake/sales/year=2005/part-0.csv", "town,other\nOslo,1\n");
    let changed = bucket.run(&["sql", "SELECT max(amount) AS a FROM sales WHERE year = 2005", "--format", "csv"]);
    assert!(changed.code == 3 && changed.stderr.contains("columns have changed"), "{}", changed.stderr);
    let other = bucket.run(&["sql", "SELECT max(amount) AS a FROM sales WHERE year = 2006", "--format", "csv"]);
    assert_eq!(other.stdout.trim(), "a\n2006", "{}", other.stderr);
    // An index that knows of differences still reads all heads.
    assert_eq!(bucket.run(&["index", "--fast"]).code, 0);
    let drifted = bucket.run(&["sql", "SELECT max(other) AS a FROM sales WHERE year = 2005", "--format", "csv"]);
    assert_eq!(drifted.stdout.trim(), "a\n1", "{}", drifted.stderr);
}

#[test]
fn what_a_store_refuses_is_named_and_the_rest_is_indexed() {
    let files = [
        ("a/people.csv", PEOPLE),
        ("private/cities.csv", CITIES),
        ("z/secret.csv", CITIES),
        ("z/open.csv", PEOPLE),
        ("sales/year=2020/part-0.csv", "town,amount\nOslo,3\n"),
        ("sales/year=2021/part-0.csv", "town,amount\nOslo,5\n"),
    ];
    let bucket = Bucket::new(&files);
    bucket.server.put(&format!("{BUCKET}/lake/odd//name.csv"), "a\n1\n");
    // Neither the whole nor this folder may be listed; one file and one part may not be read.
    bucket.server.fail("bucket/lake/private", Fault::Status(403, None), 3);
    bucket.server.fail("bucket/lake/z/secret.csv", Fault::Status(403, None), 1000);
    bucket.server.fail("bucket/lake/sales/year=2021", Fault::Status(403, None), 1000);
    let built = bucket.run(&["index"]);
    let output = built.said();
    assert_eq!(built.code, 4, "{output}");
    for name in ["private", "secret.csv", "year=2021", "odd"] {
        assert!(output.contains(name), "{name}: {output}");
    }
    assert!(output.contains("the store refuses access to it"), "{output}");
    assert_eq!(bucket.ids(), ["a/people", "sales", "z/open"]);
    // Access that comes later is used, though nothing has changed.
    let open = Bucket { place: bucket.place, ..Bucket::new(&files) };
    open.run(&["index"]).succeeded();
    assert_eq!(open.ids(), ["a/people", "private/cities", "sales", "z/open", "z/secret"]);
    let sum = open.run(&["sql", "SELECT sum(amount) AS s FROM sales", "--format", "csv"]);
    assert_eq!(sum.stdout.trim(), "s\n8", "{}", sum.stderr);
}

#[test]
fn places_and_credentials_that_are_wrong_are_reported() {
    let mut bucket = Bucket::new(&[("people.csv", PEOPLE)]);
    let lake = format!("s3://{BUCKET}/lake");
    let alone = Run::of(&mut bucket.command(&["index", &lake]));
    assert!(alone.code == 2 && alone.stderr.contains("--index DIR"), "{}", alone.stderr);
    let password = Run::of(&mut bucket.command(&["index", "https://user:word@host/x", "--index", "i"]));
    assert!(password.code == 2 && password.stderr.contains("come from the environment"), "{}", password.stderr);
    let watched = bucket.run(&["index", "--watch"]);
    assert!(watched.code == 2 && watched.stderr.contains("does not report changes"), "{}", watched.stderr);
    let nothing = Run::of(&mut bucket.command(&["index", "s3://bucket/nothing", "--index", "i"]));
    assert!(nothing.code != 0, "{}{}", nothing.stdout, nothing.stderr);
    bucket.key_id = "another-key";
    let refused = bucket.run(&["index"]);
    assert!(refused.code == 3 && refused.stderr.contains("refuses access"), "{}", refused.stderr);
    // Without credentials those of the machine would be asked for, at an address of the link.
    let mut command = bucket.command(&["index", &lake, "--index", "i"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let without = Run::of(&mut command);
    assert!(without.code == 3 && without.stderr.contains("AWS_ACCESS_KEY_ID"), "{}", without.stderr);
    // Public buckets need none.
    let mut command = bucket.command(&["index", &format!("{}/public", bucket.server.url()), "--index", "i"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    bucket.server.put("public/index.txt", "people.csv\n");
    bucket.server.put("public/people.csv", PEOPLE);
    Run::of(&mut command).succeeded();
    assert!(bucket.place.at("i/manifest.json").is_file());
}
