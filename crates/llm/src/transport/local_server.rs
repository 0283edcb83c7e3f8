//! Local model servers: the program that answers at an address on this machine, and its models.
//!
//! The caller decides whether, where and when to ask; nothing here looks for servers or uses one.

use std::time::Duration;

use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::document::fetched;
use super::http_clients::HttpClients;
use crate::route::{BaseUrl, is_model_id};

/// Lists of models are short; anything longer is not one.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_MODELS: usize = 200;
const MAX_ID_BYTES: usize = 200;

/// A model server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The program's name.
    pub name: &'static str,
    /// The address for a route on the wire `openai-chat`.
    pub base_url: BaseUrl,
    /// Ids of its models; empty if none is installed.
    pub models: Vec<String>,
}

/// Asks within a time limit whether a known model server answers at an address. Any doubt gives `None`.
pub async fn local_server(base: &BaseUrl, within: Duration) -> Option<LocalServer> {
    let clients = HttpClients::default();
    let client = clients.client_for(base).ok()?;
    let (name, models) = timeout(within, recognised(client, base)).await.ok()??;
    let models = models.into_iter().filter(|id| is_model_id(id) && id.len() <= MAX_ID_BYTES).take(MAX_MODELS).collect();
    Some(LocalServer { name, base_url: base.clone(), models })
}

async fn recognised(client: &Client, base: &BaseUrl) -> Option<(&'static str, Vec<String>)> {
    if get::<OllamaVersion>(client, base, "/api/version").await.is_some() {
        let tags: OllamaTags = get(client, base, "/api/tags").await?;
        return Some(("Ollama", tags.models.into_iter().map(|model| model.name).collect()));
    }
    let list: ModelList = get(client, base, "/v1/models").await?;
    let owner = list.data.first()?.owned_by.as_deref()?;
    let name = match owner {
        "llamacpp" => "llama.cpp",
        "vllm" => "vLLM",
        _ => return None,
    };
    Some((name, list.data.into_iter().map(|model| model.id).collect()))
}

/// Reply at `/api/version`, a path that only Ollama has.
#[derive(Deserialize)]
struct OllamaVersion {
    #[serde(rename = "version")]
    _version: String,
}

#[derive(Deserialize)]
struct OllamaTags {
    #[serde(default)]
    models: Vec<OllamaModel>,
}

#[derive(Deserialize)]
struct OllamaModel {
    name: String,
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
    owned_by: Option<String>,
}

/// Fetches a JSON document below the address's root.
async fn get<Document: DeserializeOwned>(client: &Client, base: &BaseUrl, path: &str) -> Option<Document> {
    fetched(client.get(base.at_root(path)), MAX_BYTES).await
}
