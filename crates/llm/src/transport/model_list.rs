//! Lists of models, as the servers of routes give them.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::timeout;

use super::document::fetched;
use super::http_clients::HttpClients;
use crate::route::{Route, is_model_id};
use crate::wire;

/// A gateway to many providers lists hundreds of models, each with a description.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Collection that a Gemini server writes before each id.
const COLLECTION: &str = "models/";

/// Returns the ids of all models at a route's server; `None` if it does not list them whole within this time.
pub(crate) async fn model_list(clients: &HttpClients, route: &Route, within: Duration) -> Option<Vec<String>> {
    let query = wire::for_kind(route.wire).model_list(route).ok()?;
    let request = clients.client_for(&route.base_url).ok()?.get(query.url).headers(query.headers);
    let list: List = timeout(within, fetched(request, MAX_BYTES)).await.ok()??;
    if list.has_more || list.next_page_token.is_some_and(|token| !token.is_empty()) {
        return None;
    }
    // Some servers give their models under both names.
    let listed = if list.data.is_empty() { list.models } else { list.data };
    let ids = listed.into_iter().filter_map(|model| model.id.or(model.name));
    let ids = ids.map(|id| id.strip_prefix(COLLECTION).map(str::to_owned).unwrap_or(id)).filter(|id| is_model_id(id));
    let ids: Vec<String> = ids.collect();
    (!ids.is_empty()).then_some(ids)
}

/// A list in the form of any provider.
#[derive(Deserialize)]
struct List {
    #[serde(default)]
    data: Vec<Listed>,
    /// Gemini's name for it.
    #[serde(default)]
    models: Vec<Listed>,
    /// Anthropic's mark of a list that continues.
    #[serde(default)]
    has_more: bool,
    /// Gemini's mark of a list that continues.
    #[serde(default, rename = "nextPageToken")]
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    id: Option<String>,
    name: Option<String>,
}
