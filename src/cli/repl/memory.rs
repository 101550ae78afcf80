//! `/memory`: shows the session's memory, and changes its demands.

use super::command::Remember;
use super::{Repl, Status};
use crate::cli::printer::{self, conversation};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::message;
use lakeward_core::respect::Respect;

impl Repl<'_> {
    pub(super) fn remember(&mut self, what: Remember) -> Result<Status> {
        match what {
            Remember::Show => {}
            Remember::Clear => self.session.forget_all(),
            Remember::Forget(role) => self.forget(&role)?,
            Remember::Set(role, value) => {
                let demand = self.lakeward.demand(&role, &value, self.session.next_turn())?;
                self.session.demand(demand);
            }
        }
        self.save()?;
        if self.arguments.json {
            printer::json_line(&self.session)?;
        } else {
            conversation::memory(&self.session);
        }
        Ok(Status::Done)
    }

    fn forget(&mut self, role: &str) -> Result<()> {
        if self.session.forget(&Respect::from(role.to_string())) > 0 {
            return Ok(());
        }
        let mut known: Vec<String> = self.session.demands.iter().map(|demand| demand.role.to_string()).collect();
        known.sort_unstable();
        known.dedup();
        let nearest = nearest_names(role, known.iter().map(String::as_str), 1).into_iter().next();
        Err(Error::usage(match (nearest, known.is_empty()) {
            (Some(nearest), _) => message!("there is no demand in `{}`; did you mean `{}`?", role, nearest),
            (None, true) => message!("there is no demand in `{}`; there are no demands yet", role),
            (None, false) => message!("there is no demand in `{}`; there is {}", role, known.join(", ")),
        }))
    }
}
