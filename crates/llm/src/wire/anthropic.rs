//! Anthropic Messages: `POST /v1/messages`, streamed.

mod decode;
mod encode;

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, Wire, json_body, key_header};
use crate::route::Route;
use crate::{ModelError, ModelRequest};

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let endpoint = if route.base_url.path().ends_with("/v1") { "/messages" } else { "/v1/messages" };
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        if let Some(key) = key_header(route, "")? {
            headers.insert("x-api-key", key);
        }
        let body = encode::body(request, route.max_output);
        Ok(EncodedRequest { url: route.base_url.join("", endpoint), headers, body: json_body(&body)? })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<decode::AnthropicDecoder>::default()
    }

    fn usage_in(&self, document: &Value) -> Usage {
        let mut usage = Usage::default();
        decode::count_usage(&mut usage, &document["usage"]);
        usage
    }
}
