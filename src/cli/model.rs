//! `lakeward model show` and `lakeward model check`

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, CheckCommand, ModelCommand, OfModel};
use super::progress::Bar;
use super::{Status, lake, printer};
use lakeward::{Lakeward, Model};
use lakeward_core::error::{Error, Result};
use lakeward_eval::model_check::{CheckLimits, ModelCheck, ReadingScore, check};
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{MeasuredTrust, TrustStore};

/// What `model show --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelShown {
    /// Model and server.
    pub model: String,
    /// What it may see of tables.
    pub share: Share,
    /// How far its readings are trusted as the settings say, 0..=1.
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
        return Err(Error::Usage("no language model is configured: name one with --llm-model and --llm-url".into()));
    };
    match &command.what {
        OfModel::Show => show(arguments.json, &lakeward, &model),
        OfModel::Check(command) => measure(arguments, &mut lakeward, &model, command),
    }
}

fn show(json: bool, lakeward: &Lakeward, model: &Model) -> Result<Status> {
    let (set, measured) = (lakeward.config().llm.reading, model.measured(lakeward.place())?);
    let shown = ModelShown { model: model.access().chat.id().to_string(), share: model.share(), set, measured };
    if json {
        printer::json(&shown)?;
        return Ok(Status::Done);
    }
    let sees = match shown.share {
        Share::Schema => "names and types of columns",
        Share::Values => "names, types, ranges and some values of columns",
    };
    printer::line(&format!("{}; it may see {sees}", shown.model));
    printer::line(&match (&shown.set, &shown.measured) {
        (Some(set), _) => format!("trusted as far as {set:.2} to read requests, as the settings say"),
        (None, Some(MeasuredTrust { at, items, model_right, built_in_right, trust, .. })) => format!(
            "trusted as far as {trust:.2} to read requests: {model_right} of {items} right, {built_in_right} by the \
             built-in reader ({at})"
        ),
        (None, None) => "not measured yet: `lakeward model check` lets it read labelled requests".into(),
    });
    Ok(Status::Done)
}

fn measure(arguments: &Arguments, lakeward: &mut Lakeward, model: &Model, command: &CheckCommand) -> Result<Status> {
    let mut config = lakeward.config().clone();
    config.llm.share = Share::Values;
    let limits = CheckLimits { tokens: command.tokens, concurrency: command.concurrency.into() };
    let bar = Bar::new(arguments.quiet)?;
    let report = check(model.access(), (&config, lakeward.embedder()), limits, &bar)?;
    bar.finish();
    let ModelCheck { over_table, searching, .. } = &report;
    let items = over_table.turns + searching.turns;
    let right = [over_table.model + searching.model, over_table.built_in + searching.built_in];
    if over_table.answered + searching.answered == 0 {
        let why = report.trouble.clone().unwrap_or_else(|| "no answer was valid".into());
        return Err(Error::Usage(format!("`{}` read nothing: {why}", report.model)));
    }
    let store = TrustStore::new(&lakeward.place().index);
    store.keep(MeasuredTrust::now(&report.model, &report.prompt, items, right, report.trust))?;
    if arguments.json {
        printer::json(&report)?;
        return Ok(Status::Done);
    }
    printer::line(&format!("{} with {}", report.model, report.prompt));
    for (what, score) in [("over a table", over_table), ("looking for one", searching)] {
        let ReadingScore { turns, answered, model, built_in } = score;
        printer::line(&format!(
            "{what}: {model} of {turns} read right ({answered} answered), {built_in} by the built-in reader"
        ));
    }
    if report.obeyed > 0 {
        printer::line(&format!("did what cells of the tables said in {} turns", report.obeyed));
    }
    if let Some(trouble) = &report.trouble {
        printer::line(&format!("first trouble: {trouble}"));
    }
    printer::line(&format!(
        "its readings are trusted as far as {:.2} from now on: it is asked where the built-in reader is less sure",
        report.trust
    ));
    let (calls, tokens) = (report.spent.calls, report.spent.usage.tokens());
    printer::line(&format!("{calls} calls, {tokens} tokens"));
    Ok(Status::Done)
}
