//! How long queries with table functions take in process, planned and run. `LAKEWARD_BENCH=DIR cargo bench --bench functions`
//!
//! Indexes the lake of `lakebench-webtable` into a temporary folder (without LAKEWARD_BENCH the sample lake) and asks, for each of
//! its first tables, what joins with it, beside what is known of those tables, in the context of `lakeward sql` and in a
//! plain session. `first` is the first time a table is asked about: its file is read and sketched.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use datafusion::execution::context::SessionContext;
use lakeward::Lakeward;
use lakeward::Place;
use lakeward::functions;
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use lakeward_operate::Limits;

/// Tables asked about.
const TABLES: usize = 200;

fn main() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("lake");
    let bench = std::env::var_os("LAKEWARD_BENCH").map(|root| Path::new(&root).join("lakebench-webtable/lake"));
    let lake = bench.filter(|lake| lake.is_dir()).unwrap_or(sample);
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(&lake, Some(folder.path())).unwrap();
    let (lakeward, stats) = Lakeward::build(place, &BuildOptions::default(), &Silent).unwrap();
    println!("{}: {} tables, {} columns", lake.display(), stats.tables, stats.columns);
    let index = lakeward.index();
    let step = (index.len() / TABLES).max(1);
    let ids: Vec<String> = index.tables().step_by(step).map(|table| index.id(table).unwrap().to_string()).collect();
    println!("  ms, {} queries              p50     p95     max", ids.len());

    let context = functions::context(&lakeward, Limits::default()).unwrap();
    let began = Instant::now();
    drain(&context, "SELECT count(*) FROM lake_tables()");
    println!("  the list of tables, first time {:>8.2}", began.elapsed().as_secs_f64() * 1e3);
    for what in ["lakeward sql, first", "lakeward sql, again"] {
        tell(what, ids.iter().map(|id| time(|| drain(&context, &query(id)))).collect());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let session = SessionContext::new();
    functions::register_all(&session, &lakeward).unwrap();
    let ask = |sql: &str| {
        runtime.block_on(async { session.sql(sql).await.unwrap().collect().await.unwrap() });
    };
    tell("a plain session", ids.iter().map(|id| time(|| ask(&query(id)))).collect());
    tell("planning alone", ids.iter().map(|id| time(|| drain(&context, &format!("EXPLAIN {}", query(id))))).collect());
    let join = |id: &String| {
        let table = lakeward.cached_query_table(id).unwrap();
        let again = time(|| drop(lakeward.cached_query_table(id).unwrap()));
        time(|| drop(lakeward.join(&table, &[], 10).unwrap())) + again
    };
    tell("the join alone", ids.iter().map(join).collect());
    let tables = "SELECT id, title, rows FROM lake_tables() WHERE rows >= 3";
    tell("lake_tables alone", ids.iter().map(|_| time(|| drain(&context, tables))).collect());
    let search = |id: &String| format!("SELECT id, score FROM lake_search('{}')", id.replace('\'', "''"));
    tell("lake_search", ids.iter().map(|id| time(|| ask(&search(id)))).collect());
}

fn query(id: &str) -> String {
    let id = id.replace('\'', "''");
    format!(
        "SELECT j.rank, t.id, t.title, t.rows, j.containment, j.reason FROM lake_joinable('{id}') j \
         JOIN lake_tables() t ON t.id = j.id WHERE t.rows >= 3 AND j.containment > 0.1 ORDER BY j.rank"
    )
}

fn drain(context: &lakeward_operate::LakeContext, sql: &str) {
    let mut rows = context.query(sql, None).unwrap();
    while rows.next_batch().unwrap().is_some() {}
}

fn time(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e3
}

fn tell(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).or(times.last()).copied().unwrap_or(f64::NAN);
    println!("  {what:<24} {:>8.2} {:>7.2} {:>7.2}", at(50), at(95), at(100));
}
