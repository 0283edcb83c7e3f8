//! JSON documents: fetched whole, within a size, or not at all.

use reqwest::RequestBuilder;
use serde::de::DeserializeOwned;

/// Fetches a JSON document; `None` if it is missing, larger than `max_bytes` or of another form.
pub(super) async fn fetched<Document: DeserializeOwned>(request: RequestBuilder, max_bytes: usize) -> Option<Document> {
    let mut response = request.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > max_bytes {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}
