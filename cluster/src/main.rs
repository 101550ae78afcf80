//! `lakeward-cluster`: indexes a lake with a [Ballista](https://datafusion.apache.org/ballista/) cluster.
//!
//! The scheduler and the executors are Ballista's. What is added is one node of a plan ([`plan::IndexShards`]) over the numbers of shards, one a partition,
//! which runs `lakeward index work LIST --shard K` and answers with the row of the shard. Nothing of Lakeward is linked: a worker that
//! runs out of memory or dies ends alone, and a list refuses a program of another version. `index` makes the list, submits the plan,
//! submits shards again that a job has left when it ended early, and commits, wherever it runs; whatever became of the jobs, a
//! commit names the shards that are missing.

use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use ballista_core::execution_plans::{ChaosExec, execute_physical_plan};
use ballista_core::extension::SessionConfigExt;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::{Args, Parser};
use datafusion::arrow::array::AsArray;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::{StreamExt, TryStreamExt};

mod plan;

use plan::{IndexShards, PROGRAM, ShardCodec};

/// Rounds that a shard is submitted again though the last one brought nothing.
const ROUNDS_IN_VAIN: u32 = 3;
/// Jobs of one shard at the same time; the scheduler queues what no executor has room for.
const JOBS_AT_ONCE: usize = 64;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Indexes a lake with a Ballista cluster.
#[derive(Parser)]
#[command(version)]
enum Arguments {
    /// Start the scheduler.
    Scheduler {
        /// Where it listens. It is not protected: keep it in a network of your own.
        #[arg(long, default_value = "127.0.0.1:50050")]
        bind: SocketAddr,
    },
    /// Start an executor.
    Executor(Executor),
    /// List a lake in shards, have the cluster work on them, and commit.
    Index(Index),
}

#[derive(Args)]
struct Executor {
    /// The scheduler.
    #[arg(long, default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// Address under which others reach it, if that is another.
    #[arg(long)]
    external_host: Option<String>,
    /// Port for results.
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Port for tasks.
    #[arg(long, default_value_t = 50052)]
    grpc_port: u16,
    /// Shards at the same time; each is a process with one thread, or as many as RAYON_NUM_THREADS says.
    #[arg(long, default_value_t = 1)]
    shards: usize,
}

#[derive(Args)]
struct Index {
    /// Folder or address of the lake, which every executor reaches.
    lake: String,
    /// The scheduler, as df://HOST:PORT.
    #[arg(long)]
    on: String,
    /// Number of shards.
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_SHARDS)))]
    shards: u32,
    /// Folder or address of the index, which every executor reaches.
    #[arg(long)]
    index: Option<String>,
    /// Settings of the job (`ballista.…=VALUE`).
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Print what the commit says as JSON.
    #[arg(long)]
    json: bool,
    /// No progress of the commit.
    #[arg(long, short)]
    quiet: bool,
    /// Further arguments for `lakeward index shards`.
    #[arg(last = true)]
    more: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse() {
        Arguments::Scheduler { bind } => scheduler(bind).await,
        Arguments::Executor(executor) => run_executor(executor).await,
        Arguments::Index(index) => run_index(index).await,
    };
    done.unwrap_or_else(|failure| {
        eprintln!("error: {failure}");
        ExitCode::from(3)
    })
}

/// One task is one shard: a retry repeats no other.
fn session_config() -> SessionConfig {
    let config =
        SessionConfig::new_with_ballista().with_ballista_physical_extension_codec(Arc::new(ShardCodec::default()));
    config.set_str("ballista.scheduler.max_partitions_per_task", "1")
}

async fn scheduler(bind: SocketAddr) -> Result<ExitCode, Failure> {
    let config = SchedulerConfig {
        bind_host: bind.ip().to_string(),
        bind_port: bind.port(),
        external_host: bind.ip().to_string(),
        override_config_producer: Some(Arc::new(session_config)),
        override_physical_codec: Some(Arc::new(ShardCodec::default())),
        executor_timeout_seconds: 30,
        expire_dead_executor_interval_seconds: 5,
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, bind, Arc::new(config)).await?;
    Ok(ExitCode::SUCCESS)
}

async fn run_executor(executor: Executor) -> Result<ExitCode, Failure> {
    let (host, port) = executor.scheduler.rsplit_once(':').ok_or("`--scheduler` is HOST:PORT")?;
    // For the rows, until the client has them.
    let results = tempfile::tempdir()?;
    let config = ExecutorProcessConfig {
        work_dir: Some(results.path().display().to_string()),
        bind_host: executor.bind,
        external_host: executor.external_host,
        port: executor.port,
        grpc_port: executor.grpc_port,
        scheduler_host: host.into(),
        scheduler_port: port.parse()?,
        scheduler_connect_timeout_seconds: 30,
        vcores: executor.shards.max(1),
        executor_heartbeat_interval_seconds: 5,
        override_config_producer: Some(Arc::new(session_config)),
        override_physical_codec: Some(Arc::new(ShardCodec::default())),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await?;
    Ok(ExitCode::SUCCESS)
}

async fn run_index(index: Index) -> Result<ExitCode, Failure> {
    let scheduler = index.on.strip_prefix("df://").ok_or("`--on` is df://HOST:PORT")?;
    let program = std::env::var(PROGRAM).unwrap_or_else(|_| "lakeward".into());
    let lakeward = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments);
        command.args(index.index.iter().flat_map(|folder| ["--index", folder]));
        command
    };
    let count = index.shards.to_string();
    let mut shards = lakeward(&["index", "shards", &index.lake, "-n", &count]);
    let shards = shards.args(&index.more).stderr(Stdio::inherit()).output()?;
    if !shards.status.success() {
        return Ok(exit(shards.status));
    }
    let list = String::from_utf8(shards.stdout)?.trim().to_string();
    let job = Job { scheduler, list: &list, index: &index };
    if let Err(failure) = job.submit((0..index.shards).collect(), 0).await {
        eprintln!("note: the job ended early: {failure}");
        job.submit_missing(&program).await?;
    }
    let mut commit = Command::new(&program);
    commit.args(["index", "commit", &list]);
    commit.args(index.json.then_some("--json")).args(index.quiet.then_some("--quiet"));
    Ok(exit(commit.status()?))
}

/// The shards of a list and the cluster that works on them.
struct Job<'a> {
    scheduler: &'a str,
    list: &'a str,
    index: &'a Index,
}

impl Job<'_> {
    /// Submits what a job that ended early has left, each shard by itself, so that none ends with another. Goes on while that brings
    /// something; which shards are missing after that, the commit says.
    async fn submit_missing(&self, program: &str) -> Result<(), Failure> {
        let (mut left, mut in_vain) = (usize::MAX, 0);
        for round in 1.. {
            let missing =
                Command::new(program).args(["index", "missing", self.list]).stderr(Stdio::inherit()).output()?;
            let missing = String::from_utf8(missing.stdout)?;
            let missing = missing.lines().map(str::parse).collect::<Result<Vec<u32>, _>>()?;
            in_vain = if missing.len() < left { 0 } else { in_vain + 1 };
            if missing.is_empty() || in_vain == ROUNDS_IN_VAIN {
                break;
            }
            left = missing.len();
            eprintln!("note: {left} of {} shards are missing and are submitted again", self.index.shards);
            let jobs = futures::stream::iter(missing).map(|shard| self.submit(vec![shard], round));
            let failures = jobs.buffer_unordered(JOBS_AT_ONCE).filter_map(|done| async { done.err() });
            failures.for_each(|failure| async move { eprintln!("note: a job ended early: {failure}") }).await;
        }
        Ok(())
    }

    async fn submit(&self, shards: Vec<u32>, round: u64) -> Result<(), Failure> {
        let Job { scheduler, list, index } = self;
        let mut config = session_config();
        for setting in &index.set {
            let (name, value) = setting.split_once('=').ok_or("`--set` is NAME=VALUE")?;
            config = config.set_str(name, value);
        }
        let (codec, settings) = (ShardCodec::default(), config.ballista_config());
        let first = shards.first().copied().unwrap_or_default();
        let mut plan: Arc<dyn ExecutionPlan> = Arc::new(IndexShards::of((*list).into(), &shards)?);
        if settings.chaos_execution_enabled() {
            // As Ballista does where it plans itself.
            let (probability, fault) = (settings.chaos_execution_probability(), settings.chaos_execution_fault_type());
            // The seed of a plan decides which shards are struck at every retry: another round has another one.
            let of_round = round * u64::from(plan::MOST_SHARDS) + u64::from(first);
            let seed = settings.chaos_execution_seed().map(|seed| seed.wrapping_add(of_round));
            plan = Arc::new(ChaosExec::new(plan, probability, &fault, seed)?);
        }
        let session = format!("lakeward-{}-{round}-{first}", list.rsplit('/').next().unwrap_or(list));
        let url = format!("http://{scheduler}");
        let mut rows = execute_physical_plan::<PhysicalPlanNode>(url, &settings, plan, &codec, session, config).await?;
        while let Some(batch) = rows.try_next().await? {
            for row in batch.column(0).as_string::<i32>().iter().flatten() {
                let row: serde_json::Value = serde_json::from_str(row)?;
                let skipped = row["skipped"].as_array().map_or(0, Vec::len);
                eprintln!(
                    "shard {}: {} tables, {skipped} skipped, {} ms",
                    row["shard"], row["tables"], row["elapsed_ms"]
                );
            }
        }
        Ok(())
    }
}

fn exit(status: std::process::ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::from(3), ExitCode::from)
}
