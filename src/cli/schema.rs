//! `lakeward schema COMMAND`: the JSON Schema of a command's `--json` output, derived from its types; also of the artifacts
//! that agents exchange.

use schemars::schema_for;

use super::args::{SchemaCommand, SchemaOf};
use super::augment::AugmentDocument;
use super::config::SettingsShown;
use super::graph_feedback::FeedbackDocument;
use super::model::ModelShown;
use super::papers::{PaperList, PaperShown};
use super::replay::ReplayDocument;
use super::task::{GraphReport, TaskDocument};
use super::verify::Verification;
use super::{Status, printer};
use lakeward::answers::TaskTrace;
use lakeward::documents::{
    AskDocument, CiteDocument, CopyList, CorrelationDocument, Document, ErrorDocument, FeatureDocument, JoinDocument,
    NoteList, SessionList, SqlDocument, TableList, TableReport,
};
use lakeward::usage::UsageReport;
use lakeward_agent::agentic::{CandidateSet, EvaluationReport, FinalRanking, QueryPlan, RunTrace};
use lakeward_agent::session;
use lakeward_agent::trace;
use lakeward_core::error::Result;
use lakeward_core::plan::{Edit, Plan};
use lakeward_core::request::demands_schema;
use lakeward_eval::acts::ActScores;
use lakeward_eval::extraction::ExtractionScores;
use lakeward_eval::feedback::FeedbackReport;
use lakeward_eval::model_check::ModelCheck;
use lakeward_eval::model_gain::VoiceReport;
use lakeward_eval::outcomes::OutcomeReport;
use lakeward_eval::report::EvalReport;
use lakeward_eval::simulation::ConversationReport;
use lakeward_eval::tune::TuneReport;
use lakeward_index::build::BuildStats;
use lakeward_index::build::shards::{ListedShards, MissingShards, ShardRow};
use lakeward_lake::harvest::HarvestStats;
use lakeward_operate::PlanPreview;
use lakeward_search::augment::audit::Audit;
use lakeward_search::cite::Resolution;
use lakeward_search::{ColumnAnswer, SearchAnswer, UnionAnswer};
use lakeward_tasks::papers::AddStats;
use lakeward_tasks::papers::extract::run::ExtractStats;
use lakeward_tasks::task_graph::audit::MergeAudit;
use lakeward_tasks::task_graph::why::Why;

/// Prints a schema.
pub fn run(command: &SchemaCommand) -> Result<Status> {
    let schema = match command.of {
        SchemaOf::Ask => schema_for!(AskDocument),
        SchemaOf::Index => schema_for!(BuildStats),
        SchemaOf::Shards => schema_for!(ListedShards),
        SchemaOf::Shard => schema_for!(ShardRow),
        SchemaOf::Missing => schema_for!(MissingShards),
        SchemaOf::Harvest => schema_for!(HarvestStats),
        SchemaOf::Search => schema_for!(Document<SearchAnswer>),
        SchemaOf::Join => schema_for!(JoinDocument),
        SchemaOf::Union => schema_for!(Document<UnionAnswer>),
        SchemaOf::Columns => schema_for!(Document<ColumnAnswer>),
        SchemaOf::Copies => schema_for!(CopyList),
        SchemaOf::Note => schema_for!(NoteList),
        SchemaOf::Correlate => schema_for!(CorrelationDocument),
        SchemaOf::Features => schema_for!(FeatureDocument),
        SchemaOf::Profile => schema_for!(TableReport),
        SchemaOf::Tables => schema_for!(TableList),
        SchemaOf::Cite => schema_for!(CiteDocument),
        SchemaOf::Resolve => schema_for!(Resolution),
        SchemaOf::Sql => schema_for!(SqlDocument),
        SchemaOf::Usage => schema_for!(UsageReport),
        SchemaOf::Plan => schema_for!(Plan),
        SchemaOf::PlanPreview => schema_for!(PlanPreview),
        SchemaOf::Edit => schema_for!(Edit),
        SchemaOf::Sessions => schema_for!(SessionList),
        SchemaOf::Session => session::schema(),
        SchemaOf::Trace => trace::schema(),
        SchemaOf::TaskTrace => schema_for!(TaskTrace),
        SchemaOf::Replay => schema_for!(ReplayDocument),
        SchemaOf::Eval => schema_for!(EvalReport),
        SchemaOf::Acts => schema_for!(ActScores),
        SchemaOf::Outcomes => schema_for!(OutcomeReport),
        SchemaOf::Simulate => schema_for!(ConversationReport),
        SchemaOf::Voice => schema_for!(VoiceReport),
        SchemaOf::Tune => schema_for!(TuneReport),
        SchemaOf::Augment => schema_for!(AugmentDocument),
        SchemaOf::Audit => schema_for!(Audit),
        SchemaOf::Papers => schema_for!(PaperList),
        SchemaOf::Paper => schema_for!(PaperShown),
        SchemaOf::PapersExtracted => schema_for!(ExtractStats),
        SchemaOf::Extraction => schema_for!(ExtractionScores),
        SchemaOf::PapersAdded => schema_for!(AddStats),
        SchemaOf::Model => schema_for!(ModelShown),
        SchemaOf::Settings => schema_for!(SettingsShown),
        SchemaOf::ModelCheck => schema_for!(ModelCheck),
        SchemaOf::Verify => schema_for!(Verification),
        SchemaOf::Task => schema_for!(TaskDocument),
        SchemaOf::Graph => schema_for!(GraphReport),
        SchemaOf::GraphWhy => schema_for!(Why),
        SchemaOf::Demands => demands_schema(),
        SchemaOf::GraphLearned => schema_for!(FeedbackDocument),
        SchemaOf::Learning => schema_for!(FeedbackReport),
        SchemaOf::GraphAudit => schema_for!(MergeAudit),
        SchemaOf::QueryPlan => schema_for!(QueryPlan),
        SchemaOf::CandidateSet => schema_for!(CandidateSet),
        SchemaOf::EvaluationReport => schema_for!(EvaluationReport),
        SchemaOf::FinalRanking => schema_for!(FinalRanking),
        SchemaOf::RunTrace => schema_for!(RunTrace),
        SchemaOf::Error => schema_for!(ErrorDocument),
    };
    printer::json(&schema)?;
    Ok(Status::Done)
}
