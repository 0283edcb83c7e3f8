//! Anthropic Messages: `POST /v1/messages`, streamed.

mod decode;
mod encode;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, ListQuery, Wire, bearer_headers, json_body, key_header};
use crate::route::{Route, Secret};
use crate::{ModelError, ModelRequest};

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let body = encode::body(request, route.max_output);
        Ok(EncodedRequest { url: url(route, "/messages"), headers: headers(route)?, body: json_body(&body)? })
    }

    fn model_list(&self, route: &Route) -> Result<ListQuery, ModelError> {
        let mut url = url(route, "/models");
        url.query_pairs_mut().append_pair("limit", "1000");
        Ok(ListQuery { url, headers: headers(route)? })
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

fn url(route: &Route, endpoint: &str) -> Url {
    let version = if route.base_url.path().ends_with("/v1") { "" } else { "/v1" };
    route.base_url.join("", &format!("{version}{endpoint}"))
}

fn headers(route: &Route) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    if route.api_key.as_ref().is_some_and(Secret::is_bearer) {
        headers.extend(bearer_headers(route)?);
    } else if let Some(key) = key_header(route, "")? {
        headers.insert("x-api-key", key);
    }
    Ok(headers)
}
