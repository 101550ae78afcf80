//! `lakeward config show`

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::{Arguments, ConfigCommand, OfConfig};
use super::model::{ModelShown, print, shown};
use super::{Status, lake, printer};
use lakeward_agent::config::Config;
use lakeward_core::error::{Error, Result};

/// What `config show --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingsShown {
    /// The settings in force: of the file, else their defaults; keys are no settings.
    pub settings: Config,
    /// The language model with its roles, where one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelShown>,
}

/// Prints each value below `name` as a line of `lakeward.toml` with its whole name.
fn write(name: &str, value: &Value) {
    match value {
        Value::Object(members) => {
            let below = |key: &String| if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            members.iter().for_each(|(key, value)| write(&below(key), value));
        }
        Value::Null => {}
        value => printer::safe_line(&format!("{name} = {value}")),
    }
}

pub fn run(arguments: &Arguments, command: &ConfigCommand) -> Result<Status> {
    let OfConfig::Show = command.what;
    let place = lake::place(arguments, None)?;
    let settings = place.config()?;
    let model = lake::model(arguments, &place, &settings)?;
    let model = model.map(|model| shown(&settings, &place, &model)).transpose()?;
    let document = SettingsShown { settings, model };
    if arguments.json {
        printer::json(&document)?;
        return Ok(Status::Done);
    }
    let settings = serde_json::to_value(&document.settings).map_err(|error| Error::Internal(error.to_string()))?;
    write("", &settings);
    match &document.model {
        Some(model) => print(model),
        None => printer::line("no language model is configured"),
    }
    Ok(Status::Done)
}
