//! Gemini's own features: signatures on parts, calls that arrive whole, outputs that need a name.

mod decode;
mod encode;
mod failure;
mod replay;

use sortie_llm::{ModelRequest, Route, WireKind};
use sortie_protocol::{Message, ToolSpec};

use crate::fixture::{request, route};

const WIRE: WireKind = WireKind::Gemini;
/// A model that signs its calls.
const SIGNING: &str = "gemini-3-pro-preview";
/// A model that does not sign its calls.
const EARLY: &str = "gemini-2.5-flash";

fn to<'a>(model: &'a str, tools: &'a [ToolSpec], messages: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest { model, ..request(tools, messages) }
}

fn google() -> Route {
    route(WIRE, "https://host.example")
}
