//! `TypedTool`: a tool with typed input, from which [`Tool`] follows.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sortie_protocol::{Fault, Resource, ToolOutput, ToolSpec};

use super::context::CallContext;
use super::decoded_call::DecodedCall;
use super::tool::{Order, Tool};
use crate::port::future::BoxFuture;

/// A tool with typed input. Implement this; [`Tool`] follows from it.
pub trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + Send;

    const NAME: &'static str;
    const IDEMPOTENT: bool;
    const SETTLES_ITSELF: bool = false;
    const ORDER: Order = Order::Free;
    const DELEGATES: bool = false;
    const NEEDS_CHILDREN: bool = false;

    /// The description that the model reads. Few words, the right ones.
    fn description(&self) -> String;

    /// JSON schema of [`Self::Input`], an object schema.
    fn schema(&self) -> Value;

    /// See [`Tool::resource`].
    fn resource(&self, _input: &Self::Input, _context: CallContext<'_>) -> Resource {
        Resource::Nothing
    }

    /// See [`Tool::preview`].
    fn preview(&self, _input: Self::Input, _context: CallContext<'_>) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    fn run(&self, input: Self::Input, context: CallContext<'_>) -> impl Future<Output = ToolOutput> + Send;
}

impl<T: TypedTool> Tool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: T::NAME.to_owned(), description: self.description(), schema: self.schema() }
    }

    fn idempotent(&self) -> bool {
        T::IDEMPOTENT
    }

    fn settles_itself(&self) -> bool {
        T::SETTLES_ITSELF
    }

    fn order(&self, _arguments: &str, _decoded: &DecodedCall) -> Order {
        T::ORDER
    }

    fn delegates(&self) -> bool {
        T::DELEGATES
    }

    fn needs_children(&self) -> bool {
        T::NEEDS_CHILDREN
    }

    fn resource(&self, arguments: &str, context: CallContext<'_>) -> Resource {
        parse(arguments).map_or(Resource::Nothing, |input| TypedTool::resource(self, &input, context))
    }

    fn preview<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            match parse(arguments) {
                Ok(input) => TypedTool::preview(self, input, context).await,
                Err(_) => None,
            }
        })
    }

    fn run<'a>(&'a self, arguments: &'a str, context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            match parse(arguments) {
                Ok(input) => TypedTool::run(self, input, context).await,
                Err(error) => ToolOutput::not_run(format!(
                    "{} was not run: its arguments do not fit ({}). They must match this schema: {}",
                    T::NAME,
                    shortened(&error.to_string()),
                    self.schema()
                ))
                .because(Fault::Arguments),
            }
        })
    }
}

fn parse<T: DeserializeOwned>(arguments: &str) -> serde_json::Result<T> {
    // Models write an empty string where a tool takes no arguments.
    serde_json::from_str(if arguments.trim().is_empty() { "{}" } else { arguments })
}

/// The start of an error about arguments. Such errors repeat the arguments, which may be long.
fn shortened(error: &str) -> String {
    const MAX_CHARS: usize = 300;
    match error.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… (cut)", &error[..end]),
        None => error.to_owned(),
    }
}
