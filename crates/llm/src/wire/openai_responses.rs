//! OpenAI Responses: `POST /v1/responses`, streamed, with nothing stored at the server.
//!
//! The whole conversation is sent with every request, reasoning included, as on every other wire: no request depends on
//! a server's memory.

mod decode;
mod encode;
mod reasoner;

use serde_json::Value;
use sortie_protocol::Usage;

use super::{Decoder, EncodedRequest, ListQuery, Wire, bearer_headers, json_body};
use crate::route::Route;
use crate::{ModelError, ModelRequest};

/// Field of an opaque item whose fields belong to the message after it; all other opaque items are reasoning, as
/// received.
const MESSAGE: &str = "message";

pub(super) struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn encode(&self, route: &Route, request: &ModelRequest<'_>) -> Result<EncodedRequest, ModelError> {
        let body = encode::body(request, route.max_output);
        let url = route.base_url.join("/v1", "/responses");
        Ok(EncodedRequest { url, headers: bearer_headers(route)?, body: json_body(&body)? })
    }

    fn model_list(&self, route: &Route) -> Result<ListQuery, ModelError> {
        Ok(ListQuery { url: route.base_url.join("/v1", "/models"), headers: bearer_headers(route)? })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<decode::ResponsesDecoder>::default()
    }

    fn usage_in(&self, document: &Value) -> Usage {
        decode::counted(&document["usage"])
    }
}
