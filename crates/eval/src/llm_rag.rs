//! A language model with retrieval, as a baseline of conversations: BM25 over all turns proposes records, and a model that is shown the
//! turns and what the records say puts them in order. Nothing of Lakeward's reading, memory or ranking is in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::benchmark::BenchQuery;
use super::layout::lines::read_json;
use super::system::{Ranked, System};
use super::variant::system::VariantModel;
use super::variant::work::Work;
use lakeward_core::error::Result;
use lakeward_models::llm::listwise::{Entry, Listed};
use lakeward_models::llm::quote::clean;
use lakeward_models::llm::{LanguageModel, PromptUse, Spent};

/// Its name.
pub const NAME: &str = "llm-rag";
/// Records that the model is shown, and characters of what each says.
const PROPOSED: usize = 30;
const TITLE: usize = 200;
const TEXT: usize = 500;
/// Characters of a turn.
const TURN: usize = 1_500;

/// The records of a benchmark, each with its fields as text.
pub struct Records(BTreeMap<String, BTreeMap<String, String>>);

impl Records {
    /// Those of `corpus`.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn read(corpus: &Path) -> Result<Self> {
        let mut records = BTreeMap::new();
        read_json(corpus, |_, record: Map<String, Value>| {
            if let Some(id) = record.get("id").and_then(Value::as_str) {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
                let fields = record.iter().filter(|(field, _)| *field != "id");
                records.insert(id.to_string(), fields.map(|(field, value)| (field.clone(), text(value))).collect());
            }
            Ok(())
        })?;
        Ok(Self(records))
    }

    /// Each record by its id.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &BTreeMap<String, String>)> {
        self.0.iter()
    }

    /// What a field of a record says.
    pub(super) fn field(&self, id: &str, field: &str) -> Option<&str> {
        self.0.get(id)?.get(field).map(String::as_str)
    }

    /// The title of a record, quoted.
    pub(super) fn title(&self, id: &str) -> String {
        clean(self.field(id, "title").unwrap_or_default(), TITLE)
    }

    /// Title and other fields of a record, quoted; nothing of one that there is not.
    pub(super) fn card(&self, id: &str) -> Value {
        let Some(fields) = self.0.get(id) else { return json!({}) };
        let others = fields.iter().filter(|(field, _)| *field != "title");
        let others: Vec<String> = others.map(|(field, text)| format!("{field}: {text}")).collect();
        json!({"title": self.title(id), "description": clean(&others.join("; "), TEXT)})
    }
}

/// What the user said, turn by turn, quoted.
pub(super) fn turns_of(query: &BenchQuery) -> Vec<String> {
    query.text.iter().chain(&query.turns).map(|turn| clean(turn, TURN)).collect()
}

/// What a model spent on an answer.
pub(super) fn work_of(spent: &Spent, partial: bool) -> Work {
    Work {
        iterations: 1,
        tool_calls: 1,
        model_calls: spent.calls as u32,
        tokens: spent.usage.tokens(),
        estimated: spent.estimated,
        schema_failures: spent.refused as u32,
        partial,
        provenance_complete: true,
        ..Work::default()
    }
}

/// BM25 with a model behind it.
pub struct LlmRag<'a> {
    bm25: Box<dyn System + 'a>,
    records: Records,
    model: VariantModel<'a>,
}

impl<'a> LlmRag<'a> {
    /// `model` behind `bm25`, both over `records`.
    pub fn new(bm25: Box<dyn System + 'a>, records: Records, model: VariantModel<'a>) -> Self {
        Self { bm25, records, model }
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
        let turns = turns_of(query);
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
            let mut card = self.records.card(&proposed[place].id);
            card["id"] = json!(id);
            card
        };
        let cards = |listed: &[Entry<'_>]| listed.iter().map(|(id, place)| card(id, *place)).collect::<Value>();
        let VariantModel { access, limits, .. } = self.model;
        let model = LanguageModel::new(access.chat, access.prompts, limits, access.cache);
        let order = Listed::of(request, proposed.len()).order(&model, PromptUse::Rerank, &values, &cards);
        let work = work_of(&model.spent(), order.is_err());
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
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Task;
    use crate::baseline::{BaselineKind, BaselineSystem, Documents};
    use lakeward_agent::model::ModelAccess;
    use lakeward_models::llm::config::{LlmConfig, Share};
    use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Prompts};

    /// Answers a question by what is in it; fails where that is nothing.
    struct Answering<F>(F);

    impl<F: Fn(&str) -> Option<Value> + Send + Sync> Chat for Answering<F> {
        fn id(&self) -> &str {
            "answering@test"
        }

        fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
            let shown = call.messages.iter().map(|message| message.content.as_str()).collect::<String>();
            assert!(shown.contains("rain in town"), "the turn before: {shown}");
            let answer = (self.0)(&shown).ok_or_else(|| ChatFailure::new(FailureKind::ServerError, "down"))?;
            Ok(ChatAnswer { text: answer.to_string(), usage: None })
        }
    }

    /// What a system makes of a conversation of two turns about records of such texts, with a model that answers so.
    pub fn answered(
        texts: &[(&str, &str)],
        answer: impl Fn(&str) -> Option<Value> + Send + Sync,
        system: impl for<'c> Fn(Box<dyn System + 'c>, Records, VariantModel<'c>) -> Box<dyn System + 'c>,
    ) -> (Vec<String>, Work) {
        let folder = tempfile::tempdir().expect("a folder");
        let corpus = folder.path().join("corpus.jsonl");
        let line = |(id, text): &(&str, &str)| json!({"id": id, "title": "Rain in town", "text": text}).to_string();
        std::fs::write(&corpus, texts.iter().map(line).collect::<Vec<_>>().join("\n")).expect("a file");
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
        let documents = Documents { lake: None, corpus: Some(corpus.clone()) };
        let bm25 = Box::new(BaselineSystem::build(BaselineKind::Bm25, &documents).expect("a system"));
        let chat = Answering(answer);
        let access = ModelAccess { chat: &chat, prompts: Prompts::shipped(), cache: None };
        let limits = LlmConfig::default().limits();
        let model = VariantModel { access, limits, share: Share::Values, ranking: 1.0 };
        let system = system(bm25, Records::read(&corpus).expect("records"), model);
        let (ranked, work) = system.rank_with_work(&query, 10).expect("a ranking");
        (ranked.into_iter().map(|it| it.id).collect(), work.expect("work"))
    }

    #[test]
    fn the_model_orders_what_words_propose() {
        let texts = [("a", "hourly"), ("b", "daily")];
        let looks_for_daily = |shown: &str| {
            let cards = &shown[shown.find("candidates: ").expect("candidates") + "candidates: ".len()..];
            let cards: Value = serde_json::Deserializer::from_str(cards).into_iter().next()?.ok()?;
            let found = cards.as_array()?.iter().find(|card| card["description"].to_string().contains("daily"))?;
            Some(json!({"ranking": [found["id"]]}))
        };
        let (ids, work) =
            answered(&texts, looks_for_daily, |bm25, records, model| Box::new(LlmRag::new(bm25, records, model)));
        assert_eq!((ids, work.partial), (vec!["b".to_string(), "a".to_string()], false));
        assert!(work.model_calls > 0 && work.tokens > 0);
        let (ids, work) =
            answered(&texts, |_| None, |bm25, records, model| Box::new(LlmRag::new(bm25, records, model)));
        assert!(ids.is_empty() && work.partial);
    }
}
