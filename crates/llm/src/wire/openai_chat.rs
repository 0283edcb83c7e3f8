//! OpenAI Chat Completions: `POST /v1/chat/completions`, streamed; most compatible servers speak it.

mod decode;
mod encode;
mod opaque;

use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, ListQuery, Wire, bearer_headers, json_body};
use crate::route::Route;
use crate::{ModelError, ModelRequest};

pub(super) struct OpenAiChat;

impl Wire for OpenAiChat {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let body = encode::body(request, encode::Dialect::of(route), route.max_output);
        let url = route.base_url.join("/v1", "/chat/completions");
        Ok(EncodedRequest { url, headers: bearer_headers(route)?, body: json_body(&body)? })
    }

    fn model_list(&self, route: &Route) -> Result<ListQuery, ModelError> {
        Ok(ListQuery { url: route.base_url.join("/v1", "/models"), headers: bearer_headers(route)? })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<decode::ChatDecoder>::default()
    }

    fn usage_in(&self, document: &Value) -> Usage {
        decode::counted(&document["usage"])
    }
}
