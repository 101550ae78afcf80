//! Lakeward's agent in a conversation with a simulated user.

use lakeward::Lakeward;
use lakeward_agent::Request;
use lakeward_agent::session::Session;
use lakeward_core::error::Result;
use lakeward_eval::simulation::{Conversation, Reply};

/// Tables requested per turn.
const TABLES: usize = 10;

/// A conversation with an opened lake that is not stored.
pub struct LakewardConversation<'a> {
    lakeward: &'a Lakeward,
    session: Session,
}

impl<'a> LakewardConversation<'a> {
    /// A new conversation.
    pub fn new(lakeward: &'a Lakeward) -> Self {
        Self { lakeward, session: lakeward.new_session() }
    }
}

impl Conversation for LakewardConversation<'_> {
    fn say(&mut self, text: &str) -> Result<Reply> {
        let request = Request { text: text.to_string(), table: None, column: None, k: TABLES };
        let (answer, provenance) = self.lakeward.ask(&mut self.session, &request)?;
        let shown = answer.tables.iter().map(|table| (table.table.clone(), table.title.clone())).collect();
        let tokens = provenance.model.map_or(0, |used| used.spent.usage.tokens());
        Ok(Reply { shown, tokens })
    }

    fn turn_down(&mut self, table: &str) {
        self.session.reject(table);
    }
}
