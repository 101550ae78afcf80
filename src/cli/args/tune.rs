//! Arguments of learning the ranking weights.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use lakeward_eval::form::DocumentForm;
use lakeward_eval::tune::Ranker;

#[derive(Debug, Args)]
pub struct TuneCommand {
    /// Folders of the benchmarks.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Only this ranker; repeatable. All by default.
    #[arg(long, value_name = "RANKER", value_parser = ranker_parser())]
    pub ranker: Vec<Ranker>,
    /// Use each benchmark in this form; repeatable, and each form counts as a separate set.
    #[arg(long, value_name = "FORM", value_parser = form_parser())]
    pub form: Vec<DocumentForm>,
    /// Learn nothing from this label set; repeatable.
    #[arg(long, value_name = "LABELS")]
    pub leave_out: Vec<String>,
    /// Start from these weights instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Where to write the learned weights.
    #[arg(long, value_name = "FILE", default_value = "weights.json")]
    pub out: PathBuf,
}

fn ranker_parser() -> impl TypedValueParser<Value = Ranker> {
    let names = PossibleValuesParser::new(Ranker::ALL.map(Ranker::name));
    names.map(|name| Ranker::named(&name).unwrap_or(Ranker::Join))
}

pub(super) fn form_parser() -> impl TypedValueParser<Value = DocumentForm> {
    let names = PossibleValuesParser::new(DocumentForm::ALL.map(DocumentForm::name));
    names.map(|name| DocumentForm::named(&name).unwrap_or_default())
}
