//! Google Gemini: `POST /v1beta/models/MODEL:streamGenerateContent`, streamed.

mod decode;
mod encode;
mod generation;
mod opaque;
mod outputs;

use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, ListQuery, Wire, json_body, key_header};
use crate::route::{Route, is_model_id};
use crate::{ErrorKind, ModelError, ModelRequest};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let mut url = endpoint(route, request.model)?;
        // Without it the reply is one JSON list, not events. Parameters of the base URL stay.
        url.query_pairs_mut().append_pair("alt", "sse");
        let body = encode::body(request, route.max_output);
        Ok(EncodedRequest { url, headers: headers(route)?, body: json_body(&body)? })
    }

    fn model_list(&self, route: &Route) -> Result<ListQuery, ModelError> {
        let mut url = route.base_url.join("/v1beta", "/models");
        url.query_pairs_mut().append_pair("pageSize", "1000");
        Ok(ListQuery { url, headers: headers(route)? })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<decode::GeminiDecoder>::default()
    }

    fn usage_in(&self, document: &Value) -> Usage {
        let mut usage = Usage::default();
        decode::count_usage(&mut usage, &document["usageMetadata"]);
        usage
    }
}

fn headers(route: &Route) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key_header(route, "")? {
        headers.insert("x-goog-api-key", key);
    }
    Ok(headers)
}

/// Prefixes of model ids that are complete resource names already.
const COLLECTIONS: [&str; 4] = ["models/", "tunedModels/", "publishers/", "projects/"];

/// Returns the address of a model. The id is part of the path, so it must not lead elsewhere.
fn endpoint(route: &Route, model: &str) -> Result<Url, ModelError> {
    if !is_model_id(model) {
        let message = format!("`{}` cannot be part of a model's address; choose another id", model.escape_debug());
        return Err(ModelError::new(ErrorKind::Setup, message));
    }
    let is_resource = COLLECTIONS.iter().any(|collection| model.starts_with(collection));
    let collection = if is_resource { "" } else { "models/" };
    let resource = format!("{collection}{model}:streamGenerateContent");
    Ok(route.base_url.join_segments("/v1beta", resource.split('/')))
}
