//! Where a harvest stands: `.harvest.json` in its folder.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::client::Client;
use super::page::Page;
use super::{FORMATS, HarvestOptions};
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{Bounds, Links, Purpose, remove_unfinished, version_of, write_atomic};

const FILE: &str = ".harvest.json";
const VERSION: u32 = 1;
const BOUNDS: Bounds = Bounds { most_bytes: 1 << 20, links: Links::Refused, damaged };

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    url: String,
    pub format: String,
    pub set: Option<String>,
    granularity: Option<String>,
    /// Runs from 1.
    pub run: u32,
    /// Pages of this run that are stored.
    pub pages: u64,
    pub from: Option<String>,
    /// Of the next page; none at the beginning of the list.
    pub token: Option<String>,
    /// The server's time at the first page of this run.
    first_date: Option<String>,
    pub complete: bool,
    pub restarts: u32,
}

impl State {
    /// The state of the folder's harvest, ready for the next page; and whether a run was interrupted.
    pub fn begin(options: &HarvestOptions, client: &mut Client<'_>) -> Result<(Self, bool)> {
        let path = options.folder.join(FILE);
        remove_unfinished(&path);
        let Some(bytes) = BOUNDS.read(&path)? else { return Ok((Self::new(options, client)?, false)) };
        let state = Self::parse(&path, &bytes)?;
        let differs = [
            (state.url != options.url, "address", state.url.as_str()),
            (options.format.as_ref().is_some_and(|format| *format != state.format), "format", state.format.as_str()),
            (options.set != state.set, "set", state.set.as_deref().unwrap_or("none")),
        ];
        if let Some((_, what, before)) = differs.into_iter().find(|(differs, ..)| *differs) {
            let folder = options.folder.display();
            return Err(Error::usage(format!(
                "the folder `{folder}` has a harvest with another {what}, `{before}`; use another folder"
            )));
        }
        if !state.complete {
            return Ok((Self { restarts: 0, ..state }, true));
        }
        let from = state.first_date.as_deref().map(|date| state.in_granularity(date)).or(state.from.clone());
        let next = Self {
            run: state.run + 1,
            pages: 0,
            from,
            token: None,
            first_date: None,
            complete: false,
            restarts: 0,
            ..state
        };
        Ok((next, false))
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let failed = |error: serde_json::Error| damaged(path, error.to_string());
        let version = version_of(bytes, "version").map_err(failed)?.unwrap_or(0);
        if version != u64::from(VERSION) {
            let reason = format!("it has version {version}; this program reads version {VERSION}");
            return Err(damaged(path, reason));
        }
        serde_json::from_slice(bytes).map_err(failed)
    }

    fn new(options: &HarvestOptions, client: &mut Client<'_>) -> Result<Self> {
        let (_, identity) = client.page(&[("verb", "Identify")])?;
        if let Some((code, words)) = identity.error {
            return Err(client.failed(format!("it answered `{code}`: {words}")));
        }
        let format = match &options.format {
            Some(format) => format.clone(),
            None => {
                let (_, listed) = client.page(&[("verb", "ListMetadataFormats")])?;
                let known = FORMATS.iter().find(|format| listed.formats.iter().any(|known| known == *format));
                let listed = listed.formats.join(", ");
                let none = || client.failed(format!("it has no format known here, only: {listed}"));
                known.ok_or_else(none)?.to_string()
            }
        };
        Ok(Self {
            version: VERSION,
            url: options.url.clone(),
            format,
            set: options.set.clone(),
            granularity: identity.granularity,
            run: 1,
            pages: 0,
            from: options.from.clone(),
            token: None,
            first_date: None,
            complete: false,
            restarts: 0,
        })
    }

    /// A date as precise as the server takes it.
    fn in_granularity(&self, date: &str) -> String {
        let is_day = self.granularity.as_deref() == Some("YYYY-MM-DD");
        let end = if is_day { date.find('T').unwrap_or(date.len()) } else { date.len() };
        date[..end].to_string()
    }

    /// Keeps the time of a run's first page: what changes from then on may be missing.
    pub fn note_first(&mut self, page: &Page) {
        if self.first_date.is_none() {
            self.first_date.clone_from(&page.date);
        }
    }

    /// The list is read to its end.
    pub fn finish(&mut self, options: &HarvestOptions, page: &Page) -> Result<()> {
        self.note_first(page);
        self.token = None;
        self.complete = true;
        self.save(options)
    }

    pub fn save(&self, options: &HarvestOptions) -> Result<()> {
        let json = serde_json::to_vec_pretty(self).map_err(|error| Error::Internal(error.to_string()))?;
        write_atomic(&options.folder.join(FILE), Purpose::Index, &json)
    }
}

fn damaged(path: &Path, reason: String) -> Error {
    Error::damaged_file(Holds::Harvest, path, reason)
}
