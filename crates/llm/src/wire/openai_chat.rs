//! OpenAI Chat Completions: `POST /v1/chat/completions`, streamed; most compatible servers speak it.

mod decode;
mod encode;
mod opaque;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, Wire, json_body, key_header};
use crate::route::Route;
use crate::{ModelError, ModelRequest};

pub(super) struct OpenAiChat;

impl Wire for OpenAiChat {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key_header(route, "Bearer ")? {
            headers.insert(AUTHORIZATION, key);
        }
        let body = encode::body(request, encode::Dialect::of(route), route.max_output);
        Ok(EncodedRequest { url: route.base_url.join("/v1", "/chat/completions"), headers, body: json_body(&body)? })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<decode::ChatDecoder>::default()
    }

    fn usage_in(&self, document: &Value) -> Usage {
        decode::counted(&document["usage"])
    }
}
