//! Operations of a conversation: shown as SQL, previewed, carried out, taken back, exported.

use std::path::Path;

use super::Agent;
use crate::error::{Error, Result};
use crate::operate::{self, Exported, LakeContext, Limits, Outcome, Preview, PreviewLimits};
use crate::request::{Input, Operation};
use crate::session::{NewStep, Session, StepInput};

impl Agent<'_> {
    /// The context that runs SQL over the lake, with the results of the session's steps as tables.
    pub fn context(&self, session: &Session) -> Result<&LakeContext> {
        let context = match self.context.get() {
            Some(context) => context,
            None => {
                let context = LakeContext::new(self.lake, self.index, Limits::default())?;
                self.context.get_or_init(|| context)
            }
        };
        for step in session.steps.iter().filter(|step| !step.undone) {
            context.set_step(step.number, &self.sessions.step_path(session, step.number)?);
        }
        Ok(context)
    }

    /// The SQL that carries `operation` out.
    ///
    /// # Errors
    /// As [`operate::sql`].
    pub fn sql(&self, session: &Session, operation: &Operation) -> Result<String> {
        operate::sql(self.context(session)?, operation)
    }

    /// What `operation` would do.
    ///
    /// # Errors
    /// As [`operate::preview()`].
    pub fn preview(&self, session: &Session, operation: &Operation) -> Result<Preview> {
        operate::preview(self.context(session)?, operation, &PreviewLimits::default())
    }

    /// Carries `operation` out; its result is the session's working table. The session is not written.
    ///
    /// # Errors
    /// As [`operate::run()`]; then the session is as before.
    pub fn run(&self, session: &mut Session, operation: &Operation) -> Result<Outcome> {
        let folder = self.sessions.steps_folder(session);
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("create", &folder, error))?;
        let name = format!("step-{}.parquet", session.steps.len() + 1);
        let outcome = operate::run(self.context(session)?, operation, &PreviewLimits::default(), &folder.join(&name))?;
        let below = folder.file_name().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        session.push_step(NewStep {
            operation: operation.clone(),
            sql: outcome.sql.clone(),
            inputs: outcome
                .inputs
                .iter()
                .map(|input| StepInput { name: input.name.clone(), content: input.content.to_string() })
                .collect(),
            rows: outcome.rows,
            columns: outcome.columns.iter().map(|column| column.name.clone()).collect(),
            file: format!("{below}/{name}"),
        });
        Ok(outcome)
    }

    /// Writes the working table to `path`, as CSV or Parquet by its extension.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no working table; as [`operate::export()`].
    pub fn export(&self, session: &Session, path: &Path, overwrite: bool) -> Result<Exported> {
        let working: Input = session.working().ok_or_else(|| {
            Error::Usage("there is no working table to export; choose one or run an operation".into())
        })?;
        operate::export(self.context(session)?, &working, path, overwrite)
    }
}
