//! The resources: the description of each table, an overview, and the schema of plans.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use schemars::schema_for;

use super::answer::{MOST_TOKENS, Paging, lake_text};
use super::cards::NAME;
use super::tables::{self, LakeOverview};
use crate::service::percent::{percent_decoded, percent_encoded};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;

const REPORT: &str = "lake://report";
const PLAN_SCHEMA: &str = "lake://schema/plan";
const TABLE: &str = "lake://table/";
/// Tables of a page.
const PAGE: usize = 50;

/// One page of the resources; `cursor` is the number of tables before it.
///
/// # Errors
/// [`Error::Usage`] for a cursor that is no number; [`Error::DamagedIndex`].
pub fn list(lake: &Lakeward, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let wrong = |_| Error::usage("this is no cursor of a list of resources");
    let start = cursor.map(|cursor| cursor.parse::<usize>().map_err(wrong)).transpose()?.unwrap_or(0);
    let index = lake.index();
    let mut resources = Vec::new();
    if start == 0 {
        resources.push(described(Resource::new(REPORT, "report"), "What is in the lake", "application/json"));
        resources.push(described(
            Resource::new(PLAN_SCHEMA, "plan schema"),
            "JSON Schema of a plan",
            "application/json",
        ));
    }
    for table in index.tables().skip(start).take(PAGE) {
        let dataset = index.dataset(table)?;
        let id = lake_text(dataset.id().as_str(), NAME);
        let resource = Resource::new(format!("{TABLE}{}", percent_encoded(&id)), id);
        resources.push(described(resource, &lake_text(&dataset.title(), NAME), "application/json"));
    }
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = (start + PAGE < index.len()).then(|| (start + PAGE).to_string());
    Ok(page)
}

fn described(mut resource: Resource, description: &str, mime_type: &str) -> Resource {
    resource.description = Some(description.to_string());
    resource.mime_type = Some(mime_type.to_string());
    resource
}

/// The template of the tables' descriptions.
pub fn templates() -> ListResourceTemplatesResult {
    let mut template = ResourceTemplate::new(format!("{TABLE}{{id}}"), "table");
    template.description = Some("Everything known about a table except its rows".into());
    template.mime_type = Some("application/json".into());
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The resource at `uri`.
///
/// # Errors
/// [`Error::Usage`] for another address, [`Error::UnknownTable`] with the nearest ids.
pub fn read(lake: &Lakeward, uri: &str) -> Result<ReadResourceResult> {
    let internal = |error: serde_json::Error| Error::Internal(error.to_string());
    let text = match uri {
        REPORT => {
            let paging = Paging { cursor: None, max_tokens: Some(MOST_TOKENS) };
            let overview = tables::lake_overview(lake, &LakeOverview { paging })?;
            serde_json::to_string(&overview).map_err(internal)?
        }
        PLAN_SCHEMA => serde_json::to_string(&schema_for!(Plan)).map_err(internal)?,
        _ => match uri.strip_prefix(TABLE).and_then(percent_decoded) {
            Some(id) => tables::table_text(lake, &id)?,
            None => {
                let known = format!("`{REPORT}`, `{PLAN_SCHEMA}` and `{TABLE}ID`");
                return Err(Error::usage(format!(
                    "there is no resource `{}`; there are {known}",
                    lake_text(uri, NAME)
                )));
            }
        },
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type("application/json")]))
}
