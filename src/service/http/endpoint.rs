//! An endpoint and its description in one: the router and the OpenAPI document are made from the same list.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::routing::MethodRouter;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::app::App;
use super::refusal::{Refusal, RefusalDocument};
use crate::service::jobs::JobDocument;

/// Makes the schema of a type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub struct Endpoint {
    /// `get`, `post` or `delete`.
    pub method: &'static str,
    /// The path; parameters in braces.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// The parameters behind `?`: the properties of this schema.
    pub query: SchemaOf,
    /// The JSON body.
    pub body: Option<SchemaOf>,
    /// The JSON answer; none for a file.
    pub answer: Option<SchemaOf>,
    /// What answers.
    pub handler: MethodRouter<Arc<App>>,
}

pub fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The OpenAPI 3.1 document of `endpoints`.
pub fn openapi(endpoints: &[Endpoint]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let refusal = generator.subschema_for::<RefusalDocument>();
    let job = generator.subschema_for::<JobDocument>();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints {
        let answer = match endpoint.answer {
            Some(schema) => json!({"application/json": {"schema": schema(&mut generator)}}),
            None => json!({"application/octet-stream": {}}),
        };
        let mut operation = json!({
            "summary": endpoint.summary,
            "parameters": parameters(endpoint, &mut generator),
            "responses": {
                "200": {"description": "The answer", "content": answer},
                "default": {"description": "Why there is none", "content": {"application/json": {"schema": refusal}}},
            },
        });
        if endpoint.method == "post" {
            let later = "With `Prefer: respond-async`: a job, at the address in `Location`";
            operation["responses"]["202"] =
                json!({"description": later, "content": {"application/json": {"schema": job}}});
        }
        if let Some(schema) = endpoint.body {
            let content = json!({"application/json": {"schema": schema(&mut generator)}});
            operation["requestBody"] = json!({"required": true, "content": content});
        }
        let methods = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        methods[endpoint.method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Lakeward", "version": env!("CARGO_PKG_VERSION"), "description": env!("CARGO_PKG_DESCRIPTION")},
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    })
}

fn parameters(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let path = in_path.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let mut all: Vec<Value> = path.collect();
    let schema = (endpoint.query)(generator);
    // A struct is a reference to its definition.
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let found = name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema.as_value()).clone();
    let is_required = |name: &String| found["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name));
    for (name, schema) in found["properties"].as_object().into_iter().flatten() {
        let description = schema["description"].clone();
        let required = is_required(name);
        all.push(
            json!({"name": name, "in": "query", "required": required, "description": description, "schema": schema}),
        );
    }
    all
}

/// The parameters behind `?`, whose mistakes are told as JSON.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<App>) -> Result<Self, Refusal> {
        let axum::extract::Query(query) = axum::extract::Query::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// A JSON body, whose mistakes are told as JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &Arc<App>) -> Result<Self, Refusal> {
        let axum::Json(body) = axum::Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}
