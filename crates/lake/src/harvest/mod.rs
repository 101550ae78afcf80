//! Harvests the records of a repository by OAI-PMH 2.0 into a folder of XML pages, which `lakeward index` reads.
//!
//! Each answer is stored as it came, in `run-0001/000001.xml` and so on, before the next is asked for; `.harvest.json` says where the harvest
//! stands. A page that was fetched and not yet recorded is fetched again over itself, so a harvest that is killed goes on where it was. A
//! finished harvest is continued by a new run of what changed since the first answer of the one before (the server's clock counts,
//! not ours); records that come again replace those of earlier runs when they are indexed.
//!
//! One request at a time, with a pause between; `Retry-After` is obeyed. Answers are bounded; one that does not end as XML is fetched again.
//! A list that does not end (the same token or the same records again) is an error and not an endless harvest.

mod client;
mod page;
mod state;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use client::Client;
use state::State;

use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{FileLock, Purpose, make_folder, remove_unfinished, write_atomic};

/// Formats in the order in which they are asked for, where the server has several: the richest first.
const FORMATS: [&str; 8] =
    ["oai_datacite4", "oai_datacite", "datacite4", "datacite", "oai_iso19139", "iso19139", "iso19115-3", "oai_dc"];
/// Times that a list is begun anew because the server does not know its own token any more.
const MOST_RESTARTS: u32 = 2;

/// What to harvest, and how.
#[derive(Debug, Clone)]
pub struct HarvestOptions {
    /// The base URL of the repository.
    pub url: String,
    /// The folder for the pages; created if missing.
    pub folder: PathBuf,
    /// The metadata format; by default the richest that the server has.
    pub format: Option<String>,
    /// Only this set of the repository.
    pub set: Option<String>,
    /// Only records changed since this date, `YYYY-MM-DD`; only for the first run.
    pub from: Option<String>,
    /// Pause between two requests.
    pub pause: Duration,
}

/// The result of a harvest.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HarvestStats {
    /// The number of the run in this folder.
    pub run: u32,
    /// Whether it goes on with a run that was interrupted.
    pub resumed: bool,
    /// The metadata format.
    pub format: String,
    /// Since when records were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Pages stored now.
    pub pages: u64,
    /// Records in them, with deleted ones.
    pub records: u64,
    /// Of these, how many the server says are deleted.
    pub deleted: u64,
    /// Requests that were made again.
    pub retries: u64,
    /// Bytes received.
    pub read_bytes: u64,
    /// Wall time in milliseconds, with pauses.
    pub elapsed_ms: u64,
    /// Whether the list was read to its end.
    pub complete: bool,
    /// Why not, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// Harvests the repository into the folder, going on where an earlier harvest stopped. Stops after a page when the monitor says so.
///
/// # Errors
/// [`Error::Usage`] for an address that is none, and a folder with the harvest of something else; [`Error::Server`] where the server
/// does not answer as the protocol says; [`Error::DamagedFile`]; [`Error::Io`]; [`Error::Locked`]. What was stored stays.
pub fn harvest(options: &HarvestOptions, monitor: &dyn Monitor) -> Result<HarvestStats> {
    let started = Instant::now();
    make_folder(&options.folder)?;
    let _lock = FileLock::acquire_file(&options.folder.join(".harvest.lock"))?;
    let mut client = Client::new(&options.url, options.pause, monitor)?;
    let (mut state, resumed) = State::begin(options, &mut client)?;
    let mut stats = HarvestStats {
        run: state.run,
        resumed,
        format: state.format.clone(),
        from: state.from.clone(),
        ..HarvestStats::default()
    };
    let folder = options.folder.join(format!("run-{:04}", state.run));
    make_folder(&folder)?;
    monitor.begin("harvesting records", Total::Unknown);
    let outcome = pages(&mut client, &mut state, options, &folder, &mut stats, monitor);
    stats.retries = client.retries;
    stats.read_bytes = client.read_bytes;
    stats.elapsed_ms = started.elapsed().as_millis() as u64;
    match outcome {
        Ok(()) => Ok(stats),
        Err(error) if stats.pages > 0 && !matches!(error, Error::Io { .. }) => {
            stats.ended = Some(error.to_string());
            Ok(stats)
        }
        Err(error) => Err(error),
    }
}

fn pages(
    client: &mut Client<'_>,
    state: &mut State,
    options: &HarvestOptions,
    folder: &Path,
    stats: &mut HarvestStats,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (mut tokens, mut contents) = (HashSet::new(), HashSet::new());
    loop {
        let mut asked = vec![("verb", "ListRecords")];
        match &state.token {
            Some(token) => asked.push(("resumptionToken", token)),
            None => {
                asked.push(("metadataPrefix", &state.format));
                asked.extend(state.from.as_deref().map(|from| ("from", from)));
                asked.extend(state.set.as_deref().map(|set| ("set", set)));
            }
        }
        let (bytes, page) = client.page(&asked)?;
        if let Some((code, words)) = &page.error {
            match code.as_str() {
                // Nothing has changed: the list is empty, and read to its end.
                "noRecordsMatch" => {
                    stats.complete = true;
                    return state.finish(options, &page);
                }
                "badResumptionToken" if state.token.is_some() && state.restarts < MOST_RESTARTS => {
                    // Its tokens expire: the list is begun anew, and records that come again are the same records.
                    state.restarts += 1;
                    state.token = None;
                    state.save(options)?;
                    tokens.clear();
                    contents.clear();
                    continue;
                }
                _ => return Err(client.failed(format!("it answered `{code}`: {words}"))),
            }
        }
        let is_new_list = state.token.is_none();
        let repeats = (page.records > 0 && !contents.insert(page.content))
            || page
                .token
                .as_ref()
                .is_some_and(|token| !tokens.insert(token.clone()) || Some(token) == state.token.as_ref());
        if repeats && !is_new_list {
            // The next run begins this list anew.
            state.token = None;
            state.save(options)?;
            return Err(
                client.failed(format!("its list does not end: page {} brings what was there before", state.pages + 1))
            );
        }
        if page.records == 0 && page.token.is_none() && !page.is_list {
            return Err(client.failed("it answered with no list of records".to_string()));
        }
        state.note_first(&page);
        if page.records > 0 {
            let path = folder.join(format!("{:06}.xml", state.pages + 1));
            remove_unfinished(&path);
            write_atomic(&path, Purpose::Index, &bytes)?;
            monitor.note(&format!("page {} stored", state.pages + 1));
            state.pages += 1;
            stats.pages += 1;
        }
        stats.records += page.records;
        stats.deleted += page.deleted;
        monitor.advance(page.records);
        if page.token.is_none() {
            stats.complete = true;
            return state.finish(options, &page);
        }
        state.token.clone_from(&page.token);
        state.save(options)?;
        if monitor.is_stopped() {
            return Err(Error::Interrupted);
        }
    }
}
