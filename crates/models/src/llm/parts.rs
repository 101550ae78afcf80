//! Several models, of one server or of several, as one: each does its part of the work.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, ModelPart};

/// Models for parts of the work, `[llm.parts]`; where one is missing the main one does it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PartModels {
    /// Plans searches and judges what they found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner: Option<PartModel>,
    /// Reads requests, conversations and papers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<PartModel>,
    /// Orders candidates and compares datasets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranker: Option<PartModel>,
    /// Writes questions and answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<PartModel>,
}

/// A model for a part of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PartModel {
    /// Its name on the main server.
    Name(String),
    /// One of another server.
    Served(ServedModel),
}

/// A model with its server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServedModel {
    /// Its name there.
    pub model: String,
    /// Base URL of a server with the OpenAI protocol. In the folder of a lake: only a server on this machine.
    pub url: String,
}

impl PartModels {
    /// Whether one model does all.
    pub fn is_empty(&self) -> bool {
        self.named().next().is_none()
    }

    /// The parts with a model of their own: its name, and its server if that is another one.
    pub fn named(&self) -> impl Iterator<Item = (ModelPart, &str, Option<&str>)> {
        let all = [
            (ModelPart::Planner, &self.planner),
            (ModelPart::Reader, &self.reader),
            (ModelPart::Ranker, &self.ranker),
            (ModelPart::Writer, &self.writer),
        ];
        let named = all.into_iter().filter_map(|(part, model)| match model.as_ref()? {
            PartModel::Name(name) => Some((part, name.trim(), None)),
            PartModel::Served(server) => Some((part, server.model.trim(), Some(server.url.as_str()))),
        });
        named.filter(|(_, name, _)| !name.is_empty())
    }

    /// The servers of parts.
    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.named().filter_map(|(_, _, url)| url)
    }
}

/// A main model, and others for parts of the work.
pub struct PartedChat {
    id: String,
    main: Box<dyn Chat>,
    parts: Vec<(ModelPart, Box<dyn Chat>)>,
}

impl PartedChat {
    /// `main` for all but the `parts`, each of which has a model of its own.
    pub fn new(main: Box<dyn Chat>, parts: Vec<(ModelPart, Box<dyn Chat>)>) -> Self {
        let others = parts.iter().map(|(part, chat)| format!(",{}={}", part.name(), chat.id()));
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
