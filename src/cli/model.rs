//! `lakeward model show` and `lakeward model check`

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, CheckCommand, ModelCommand, OfModel};
use super::progress::Bar;
use super::{Status, lake, printer};
use lakeward::model::Model;
use lakeward::{Lakeward, Place};
use lakeward_agent::config::Config;
use lakeward_core::error::{Error, Result};
use lakeward_eval::model_check::{CheckLimits, RoleCheck, check};
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{MeasuredTrust, ModelRole, Spent, TrustStore, tokens_text};

/// What `model show --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelShown {
    /// Model and server.
    pub model: String,
    /// What it may see of tables.
    pub share: Share,
    /// How far it is trusted, role by role.
    pub roles: Vec<RoleShown>,
}

/// How far a model is trusted in one role.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoleShown {
    /// The role.
    pub role: ModelRole,
    /// Model and server that have it.
    pub model: String,
    /// Name, version and hash of its prompt.
    pub prompt: String,
    /// As the settings say, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<f64>,
    /// What was measured of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredTrust>,
}

pub fn run(arguments: &Arguments, command: &ModelCommand) -> Result<Status> {
    let mut lakeward = lake::open(arguments)?;
    let mut config = lakeward.config().clone();
    if let OfModel::Check(check) = &command.what {
        config.llm.concurrency = check.concurrency.into();
    }
    let Some(model) = lake::model(arguments, lakeward.place(), &config)? else {
        return Err(Error::usage("no language model is configured: name one with --llm-model and --llm-url"));
    };
    match &command.what {
        OfModel::Show => show(arguments.json, &lakeward, &model),
        OfModel::Check(command) => measure(arguments, &mut lakeward, &model, command),
    }
}

/// The model with how far it is trusted.
pub(super) fn shown(config: &Config, place: &Place, model: &Model) -> Result<ModelShown> {
    let access = model.access();
    let of = |role: ModelRole| -> Result<RoleShown> {
        let (by, prompt) = (access.chat.id_of(role.prompt().part()), access.prompts.of(role.prompt()).id());
        let (set, measured) = (config.llm.trust(role), model.measured(place, role)?);
        Ok(RoleShown { role, model: by.to_string(), prompt, set, measured })
    };
    let roles: Vec<RoleShown> = ModelRole::ALL.into_iter().map(of).collect::<Result<_>>()?;
    Ok(ModelShown { model: access.chat.id().to_string(), share: model.share(), roles })
}

fn show(json: bool, lakeward: &Lakeward, model: &Model) -> Result<Status> {
    let shown = shown(lakeward.config(), lakeward.place(), model)?;
    if json {
        printer::json(&shown)?;
    } else {
        print(&shown);
    }
    Ok(Status::Done)
}

/// Prints the model and its roles, one line each.
pub(super) fn print(shown: &ModelShown) {
    let sees = match shown.share {
        Share::Schema => "names and types of columns",
        Share::Values => "names, types, ranges and some values of columns",
    };
    printer::line(&format!("{}; it may see {sees}", shown.model));
    for RoleShown { role, model, prompt, set, measured } in &shown.roles {
        let trusted = match (set, measured) {
            (Some(set), _) => format!("{}: trusted as far as {set:.2}, as the settings say", role.purpose()),
            (None, Some(MeasuredTrust { at, items, model_right, built_in_right, trust, .. })) => format!(
                "{}: trusted as far as {trust:.2}: {model_right} of {items} right, {built_in_right} without it ({at})",
                role.purpose()
            ),
            (None, None) => format!("{}: not measured yet: `lakeward model check` does", role.purpose()),
        };
        printer::line(&format!("{trusted}; {model}, {prompt}"));
    }
}

fn measure(arguments: &Arguments, lakeward: &mut Lakeward, model: &Model, command: &CheckCommand) -> Result<Status> {
    let mut config = lakeward.config().clone();
    config.llm.share = Share::Values;
    let limits = CheckLimits { tokens: command.tokens, concurrency: command.concurrency.into() };
    let bar = Bar::new(arguments.quiet)?;
    let report = check(model.access(), (&config, lakeward.embedder()), &ModelRole::ALL, limits, &bar)?;
    bar.finish();
    if report.roles.iter().all(|role| role.answered == 0) {
        let why = report.trouble.clone().unwrap_or_else(|| "no answer was valid".into());
        return Err(Error::usage(format!("`{}` answered nothing: {why}", report.model)));
    }
    let store = TrustStore::new(&lakeward.place().index);
    // Of a role that the limit kept from being asked nothing is known.
    for role in report.roles.iter().filter(|role| role.answered > 0) {
        let right = [role.model, role.built_in];
        store.keep(MeasuredTrust::now(&role.model_id, &role.prompt, role.items, right, role.trust))?;
    }
    if arguments.json {
        printer::json(&report)?;
        return Ok(Status::Done);
    }
    printer::line(&report.model);
    for RoleCheck { role, items, answered, model, built_in, obeyed, trust, .. } in &report.roles {
        let led = if *obeyed > 0 { format!(", {obeyed} as a text of the data said") } else { String::new() };
        printer::line(&format!(
            "{}: {model} of {items} right ({answered} answered{led}), {built_in} without it: trusted as far as {trust:.2} from now on",
            role.purpose()
        ));
    }
    if let Some(trouble) = &report.trouble {
        printer::line(&format!("first trouble: {trouble}"));
    }
    let Spent { calls, usage, estimated, .. } = report.spent;
    printer::line(&format!(
        "{calls} calls, {} tokens",
        tokens_text(calls as f64, usage.tokens() as f64, estimated > 0)
    ));
    Ok(Status::Done)
}
