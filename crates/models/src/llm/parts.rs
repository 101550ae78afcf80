//! Several models of one server as one: each answers its part of the work.

use std::time::Duration;

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, ModelPart};

/// A main model, and others for parts of the work.
pub struct PartedChat {
    id: String,
    main: Box<dyn Chat>,
    parts: Vec<(ModelPart, Box<dyn Chat>)>,
}

impl PartedChat {
    /// `main` for all but the `parts`, each of which has a model of its own.
    pub fn new(main: Box<dyn Chat>, parts: Vec<(ModelPart, Box<dyn Chat>)>) -> Self {
        let others = parts.iter().map(|(part, chat)| format!(" {}={}", format!("{part:?}").to_lowercase(), chat.id()));
        Self { id: format!("{}{}", main.id(), others.collect::<String>()), main, parts }
    }

    fn of(&self, part: ModelPart) -> &dyn Chat {
        self.parts.iter().find(|(known, _)| *known == part).map_or(&*self.main, |(_, chat)| &**chat)
    }
}

impl Chat for PartedChat {
    fn id(&self) -> &str {
        &self.id
    }

    fn id_of(&self, part: ModelPart) -> &str {
        self.of(part).id()
    }

    fn complete(&self, call: &ChatCall, timeout: Duration) -> Result<ChatAnswer, ChatFailure> {
        self.of(call.part).complete(call, timeout)
    }
}
