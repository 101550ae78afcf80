//! A language model with retrieval, as a baseline of conversations: BM25 over all turns proposes records, and a model that is shown the
//! turns and what the records say puts them in order. Nothing of Lakeward's reading, memory or ranking is in it.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::benchmark::BenchQuery;
use super::layout::lines::read_json;
use super::system::{Ranked, System};
use super::variant::system::VariantModel;
use super::variant::work::Work;
use lakeward_core::error::Result;
use lakeward_models::llm::listwise::{Entry, Listed};
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{LanguageModel, PromptUse};

/// Its name.
pub const NAME: &str = "llm-rag";
/// Records that the model is shown, and characters of what each says.
const PROPOSED: usize = 30;
const TITLE: usize = 200;
const TEXT: usize = 500;
/// Characters of a turn.
const TURN: usize = 1_500;

/// BM25 with a model behind it.
pub struct LlmRag<'a> {
    bm25: Box<dyn System + 'a>,
    records: HashMap<String, Value>,
    model: VariantModel<'a>,
}

impl<'a> LlmRag<'a> {
    /// `model` behind `bm25`, both over the records of `corpus`.
    ///
    /// # Errors
    /// Those of reading `corpus`.
    pub fn new(bm25: Box<dyn System + 'a>, corpus: &Path, model: VariantModel<'a>) -> Result<Self> {
        let mut records = HashMap::new();
        read_json(corpus, |_, record: Value| {
            if let Some(id) = record.get("id").and_then(Value::as_str) {
                let title = record.get("title").and_then(Value::as_str).unwrap_or_default();
                let others: Vec<String> = record
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(field, _)| !matches!(field.as_str(), "id" | "title"))
                    .map(|(field, value)| {
                        format!("{field}: {}", value.as_str().map_or(value.to_string(), str::to_string))
                    })
                    .collect();
                let card = json!({"title": clean(title, TITLE), "description": clean(&others.join("; "), TEXT)});
                records.insert(id.to_string(), card);
            }
            Ok(())
        })?;
        Ok(Self { bm25, records, model })
    }
}

impl System for LlmRag<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> Result<Vec<Ranked>> {
        Ok(self.rank_with_work(query, depth)?.0)
    }

    /// Where the model has no answer there is none: it scores 0, and [`Work::partial`] counts it.
    fn rank_with_work(&self, query: &BenchQuery, depth: usize) -> Result<(Vec<Ranked>, Option<Work>)> {
        let proposed = self.bm25.rank(query, PROPOSED)?;
        let turns: Vec<String> = query.text.iter().chain(&query.turns).map(|turn| clean(turn, TURN)).collect();
        let Some((request, earlier)) = turns.split_last() else { return Ok((Vec::new(), None)) };
        let values = [
            ("earlier", json!(earlier)),
            ("request", json!(request)),
            ("operation", json!("Filter")),
            ("intention", json!("Exploration")),
            ("specification", Value::Null),
            ("table", Value::Null),
        ];
        let card = |id: &str, place: usize| {
            let mut card = self.records.get(&proposed[place].id).cloned().unwrap_or_else(|| json!({}));
            card["id"] = json!(id);
            card
        };
        let cards = |listed: &[Entry<'_>]| listed.iter().map(|(id, place)| card(id, *place)).collect::<Value>();
        let VariantModel { access, limits, .. } = self.model;
        let model = LanguageModel::new(access.chat, access.prompts, limits, access.cache);
        let order = Listed::of(request, proposed.len()).order(&model, PromptUse::Rerank, &values, &cards);
        let spent = model.spent();
        let work = Work {
            iterations: 1,
            tool_calls: 1,
            model_calls: spent.calls as u32,
            tokens: spent.usage.tokens(),
            estimated: spent.estimated,
            schema_failures: spent.refused as u32,
            partial: order.is_err(),
            provenance_complete: true,
            ..Work::default()
        };
        let places = order.map(|order| order.places).unwrap_or_default();
        let ranked = places
            .into_iter()
            .take(depth)
            .enumerate()
            .map(|(rank, place)| Ranked::new(proposed[place].id.clone(), 1.0 / (rank + 1) as f64));
        Ok((ranked.collect(), Some(work)))
    }

    fn answers(&self, query: &BenchQuery) -> bool {
        self.bm25.answers(query)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Task;
    use crate::baseline::{BaselineKind, BaselineSystem, Documents};
    use lakeward_agent::model::ModelAccess;
    use lakeward_models::llm::config::{LlmConfig, Share};
    use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Prompts};

    /// Puts the record first whose description it looks for; without one it fails.
    struct Looking(&'static str);

    impl Chat for Looking {
        fn id(&self) -> &str {
            "looking@test"
        }

        fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
            let shown = &call.messages.last().expect("a message").content;
            assert!(shown.contains("rain in town"), "the turn before: {shown}");
            let start = shown.find("candidates: ").expect("candidates") + "candidates: ".len();
            let cards: Vec<Value> =
                serde_json::Deserializer::from_str(&shown[start..]).into_iter().next().expect("a list").expect("JSON");
            let found =
                cards.iter().find(|card| !self.0.is_empty() && card["description"].to_string().contains(self.0));
            let found = found.ok_or_else(|| ChatFailure::new(FailureKind::ServerError, "down"))?;
            Ok(ChatAnswer { text: json!({"ranking": [found["id"]]}).to_string(), usage: None })
        }
    }

    #[test]
    fn the_model_orders_what_words_propose() {
        let folder = tempfile::tempdir().expect("a folder");
        let corpus = folder.path().join("corpus.jsonl");
        let line = |id: &str, text: &str| json!({"id": id, "title": "Rain in town", "text": text}).to_string();
        std::fs::write(&corpus, [line("a", "hourly"), line("b", "daily")].join("\n")).expect("a file");
        let query = BenchQuery {
            id: "q".into(),
            task: Task::Dialogue,
            table: None,
            origin: None,
            column: None,
            columns: Vec::new(),
            text: None,
            turns: vec!["rain in town".into(), "by the day".into()],
            exclude_paper: None,
        };
        let ranked = |chat: &Looking| {
            let documents = Documents { lake: None, corpus: Some(corpus.clone()) };
            let bm25 = Box::new(BaselineSystem::build(BaselineKind::Bm25, &documents).expect("a system"));
            let access = ModelAccess { chat, prompts: Prompts::shipped(), cache: None };
            let model =
                VariantModel { access, limits: LlmConfig::default().limits(), share: Share::Values, ranking: 1.0 };
            let system = LlmRag::new(bm25, &corpus, model).expect("a system");
            let (ranked, work) = system.rank_with_work(&query, 10).expect("a ranking");
            (ranked.into_iter().map(|it| it.id).collect::<Vec<_>>(), work.expect("work"))
        };
        let (ids, work) = ranked(&Looking("daily"));
        assert_eq!((ids, work.partial), (vec!["b".to_string(), "a".to_string()], false));
        assert!(work.model_calls > 0 && work.tokens > 0);
        let (ids, work) = ranked(&Looking(""));
        assert!(ids.is_empty() && work.partial);
    }
}
