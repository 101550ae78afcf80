//! Plans of a conversation: what their SQL can name, and carrying one out.

use super::Agent;
use crate::session::{NewStep, Session, SessionStore, StepInput};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;
use lakeward_core::respect::Respect;
use lakeward_operate::{LakeContext, Limits, Outcome, PlanPreview, PreviewLimits, WarningKind, plan_preview};

/// Lets queries name the results of the session's steps, as `session.step_1` and so on.
///
/// # Errors
/// [`Error::DamagedFile`] for a step whose file lies outside the folder of sessions; a file that is gone fails where it
/// is asked for.
pub fn connect(context: &LakeContext, store: &SessionStore, session: &Session) -> Result<()> {
    for step in &session.steps {
        if step.undone {
            context.remove_step(step.number);
            continue;
        }
        match store.step_path(session, step.number) {
            Ok(path) => context.set_step(step.number, &path),
            Err(Error::Io { .. }) => context.remove_step(step.number),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The limits of a preview of what a session does, which says where a column that it asks for would be lost.
pub fn limits(session: &Session) -> PreviewLimits {
    let asked = session.demands.iter().filter(|demand| demand.role == Respect::Column && !demand.avoid);
    PreviewLimits { asked_for: asked.map(|demand| demand.said.clone()).collect(), ..PreviewLimits::default() }
}

/// A preview of `plan` that shows none of its rows.
///
/// # Errors
/// Those of [`plan_preview`].
pub(crate) fn preview_rows(context: &LakeContext, plan: &Plan) -> Result<PlanPreview> {
    plan_preview(context, plan, &PreviewLimits { sample_rows: 0, ..PreviewLimits::default() })
}

/// Carries `plan` out; its result is the session's working table. The session is not written.
///
/// # Errors
/// As [`lakeward_operate::run_step`]; then the session is as before.
pub fn run(
    context: &LakeContext,
    store: &SessionStore,
    session: &mut Session,
    plan: &Plan,
    limits: &PreviewLimits,
) -> Result<Outcome> {
    let (path, file) = store.new_step(session)?;
    let outcome = lakeward_operate::run_step(context, plan, limits, &path)?;
    let inputs = outcome.inputs.iter();
    session.push_step(NewStep {
        plan: plan.clone(),
        sql: outcome.sql.clone(),
        inputs: inputs
            .map(|input| StepInput { name: input.name.clone(), content: input.content.to_string() })
            .collect(),
        rows: outcome.rows,
        columns: outcome.columns.iter().map(|column| column.name.clone()).collect(),
        file,
    });
    Ok(outcome)
}

/// What `plan` would do to the working table of the session, whose steps `context` knows.
///
/// # Errors
/// As [`plan_preview`]; [`Error::Usage`] with what keeps it from being carried out, as [`changes_working_table`].
pub fn preview(context: &LakeContext, session: &Session, plan: &Plan, limits: &PreviewLimits) -> Result<PlanPreview> {
    let preview = plan_preview(context, plan, limits)?;
    if let Some(reason) = preview.stopped {
        return Err(Error::usage(reason));
    }
    changes_working_table(session, plan, &preview)?;
    Ok(preview)
}

/// That `plan`, of which `preview` tells, makes another table than the working table of the session.
///
/// # Errors
/// [`Error::Usage`] with what keeps it from that.
pub fn changes_working_table(session: &Session, plan: &Plan, preview: &PlanPreview) -> Result<()> {
    let Some(before) = session.plan() else { return Ok(()) };
    let known = before.relation.steps.len();
    let idle =
        if *plan == before { known > 0 } else { plan.continues(&before) && preview.changes_nothing_after(known) };
    if !idle {
        return Ok(());
    }
    let reasons =
        preview.warnings.iter().filter(|warning| warning.step > known && warning.kind == WarningKind::NoChange);
    let reasons: Vec<&str> = reasons.map(|warning| warning.text.as_str()).collect();
    let why =
        if reasons.is_empty() { "the plan is the one of the working table".to_string() } else { reasons.join("; ") };
    Err(Error::usage(format!("not carried out: {why}")))
}

impl Agent<'_> {
    /// The SQL that carries `plan` out.
    pub(super) fn sql(&self, session: &Session, plan: &Plan) -> Result<String> {
        lakeward_operate::plan_sql(self.connected(session)?, plan)
    }

    /// What queries of the session run in; opened when it is first needed.
    pub(super) fn connected(&self, session: &Session) -> Result<&LakeContext> {
        let context = match self.context.get() {
            Some(context) => context,
            None => {
                let context = LakeContext::new(self.lake, self.index, Limits::default())?;
                self.context.get_or_init(|| context)
            }
        };
        connect(context, &self.sessions, session)?;
        Ok(context)
    }
}
